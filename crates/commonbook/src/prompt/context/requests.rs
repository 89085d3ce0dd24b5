//! The requests for a context and for its explanation, and their responses.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choose::{
    CandidateReceipt, ContextDiagnostics, ContextReceipt, ContextSettings, ContextSource,
    OmissionReason,
};
use crate::base::error::{Error, Result};
use crate::base::id::ContextId;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::delivery::{ContextFilter, ContextRecord, StandingSnapshot};
use crate::model::search::period::{self, PeriodBound};
use crate::model::workspace::Workspace;
use commonbook_text::secrets;

/// Returns what you need to know before you work on a task, as one text: handoffs for you, standing
/// memory, the user, news of your cases, and memories that fit. Call it when you begin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContext {
    /// The task or the question, in plain words. Of a long one the first 8,000 characters count.
    #[serde(alias = "query")]
    #[schemars(length(min = 1), regex(pattern = input::TEXT_PATTERN))]
    pub task: String,
    /// The case of the work. By default that of your session, and those that you have read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Maximum of the text in tokens; 1,500 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::CONTEXT_TOKENS_MIN, max = limits::CONTEXT_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// Maximum number of memories and entries; 8 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::CONTEXT_MAXIMUM_MAX))]
    pub max_memories: Option<u32>,
    /// Minimum relevance of a memory in full, 0 to 1; 0.5 by default. With 1 the call searches for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// The user that you work for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Whether you can open memories by their handles; if not, the five that fit best come in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Looks back: only what held then, in the words of then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub at: Option<String>,
}

/// A checked request for a context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextOptions {
    /// The task, without secrets and of at most [`limits::CONTEXT_TASK_CHARS`] characters.
    pub task: String,
    /// How much the context may include.
    pub settings: ContextSettings,
}

impl GetContext {
    /// The request with the settings as defaults.
    ///
    /// # Errors
    /// `invalid` if the task is empty or has control characters, or if a number is out of range.
    pub fn check(&self, settings: ContextSettings) -> Result<ContextOptions> {
        if self.task.trim().is_empty() {
            return Err(Error::invalid("task", "there is no task")
                .hint("Put what is to be done, or the question, into task."));
        }
        input::refuse_control_characters("task", &self.task)?;
        let task: String = self.task.trim().chars().take(limits::CONTEXT_TASK_CHARS).collect();
        let task = secrets::redact(&task).text.into_owned();
        let within =
            |field: &str, number: Option<u32>, usual: usize, least: u32, most: u32| match number {
                None => Ok(usual),
                Some(number) => {
                    input::in_range(field, number, least..=most).map(|number| number as usize)
                }
            };
        let (least, most) = (limits::CONTEXT_TOKENS_MIN, limits::CONTEXT_TOKENS_MAX);
        let budget = within("budget", self.budget, settings.budget, least, most)?;
        let most = limits::CONTEXT_MAXIMUM_MAX;
        let maximum = within("max_memories", self.max_memories, settings.maximum, 1, most)?;
        let threshold =
            input::in_range("threshold", self.threshold.unwrap_or(settings.threshold), 0.0..=1.0)?;
        let full_first = if self.open == Some(false) { limits::UNOPENED_MEMORIES } else { 0 };
        Ok(ContextOptions {
            task,
            settings: ContextSettings {
                budget,
                maximum,
                threshold,
                standing: settings.standing.filter(|_| self.budget.is_none()),
                full_first,
                by_command: settings.by_command || full_first > 0,
                ..settings
            },
        })
    }

    /// The past time that it looks back to; `None` for a context of now.
    ///
    /// # Errors
    /// `invalid` on `at` if that is not a time.
    pub fn past_time(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        let read = |at: &String| period::parse_period_bound("at", at, PeriodBound::Last, now);
        self.at.as_ref().map(read).transpose()
    }
}

/// The context of an agent before it works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentContext {
    /// The id of its receipt, which explains the choice.
    pub id: ContextId,
    /// The agent that it was made for.
    pub agent: Agent,
    /// The session that it belongs to; name it in later calls to work in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The text, inside a fence that no author can have known; empty if nothing was chosen.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// What the text has in full, in its order.
    pub items: Vec<ItemSummary>,
    /// What the text names by headlines, best first; `get_memory` opens several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headlines: Vec<ItemSummary>,
    /// The figures.
    pub diagnostics: ContextDiagnostics,
    /// What to review, and where the standing memory exceeds its limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One item of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemSummary {
    /// Its id; for the standing memory, the name of its file.
    pub id: String,
    /// Its source.
    pub source: ContextSource,
    /// Its kind: a memory's type, `entry`, `standing memory`.
    pub memory_type: String,
    /// Its author.
    pub author: String,
    /// Its relevance to the task, if a search found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl ItemSummary {
    /// What a context has in full.
    #[must_use]
    pub fn of(receipt: &super::ContextReceipt) -> Vec<Self> {
        let items = receipt.included().filter(|candidate| !candidate.headline);
        items.map(Self::of_candidate).collect()
    }

    /// What a context names by headlines.
    #[must_use]
    pub fn headlines_of(receipt: &super::ContextReceipt) -> Vec<Self> {
        let named = receipt.candidates.iter().filter(|candidate| candidate.headline);
        named.map(Self::of_candidate).collect()
    }

    fn of_candidate(candidate: &CandidateReceipt) -> Self {
        Self {
            id: candidate.id.clone(),
            source: candidate.source,
            memory_type: candidate.memory_type.clone(),
            author: candidate.author.clone(),
            score: candidate.score,
        }
    }
}

/// Explains a context: lists every candidate with its score, whether the context includes it, and
/// the reason if not. The agent of the context, the agents above it and the person can ask; each sees
/// the candidates that it may read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainContext {
    /// The id of the context.
    pub context: ContextId,
    /// Whether to build the context again from the same candidates, each at its revision of then,
    /// and compare the two; for its agent alone.
    #[serde(default)]
    pub replay: bool,
}

/// Lists the contexts, briefings, handoffs and resumed sessions that you and the agents below you
/// received, newest first. `explain_context` shows one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListContexts {
    /// Only those of this agent.
    #[serde(default, alias = "agent", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only those of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Only those since this time: RFC 3339, a date, `yesterday`, or an age such as `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub since: Option<String>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

impl ListContexts {
    /// The filter of the list.
    ///
    /// # Errors
    /// `invalid` if the agent's name or the time is malformed; `too_large` for a session that is too long.
    pub fn filter(&self, now: Timestamp) -> Result<ContextFilter> {
        let first =
            |text: &String| period::parse_period_bound("since", text, PeriodBound::First, now);
        let session = self.session.as_deref();
        let line = |session| input::line("session", session, limits::SESSION_CHARS);
        Ok(ContextFilter {
            agent: self.owner.as_deref().map(Agent::with_any_name).transpose()?,
            session: session.map(line).transpose()?,
            since: self.since.as_ref().map(first).transpose()?,
        })
    }
}

/// The explanation of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplanation {
    /// The id of the context.
    pub id: ContextId,
    /// The workspace it was made in.
    pub workspace: Workspace,
    /// The agent that it was made for.
    pub agent: Agent,
    /// When it was made.
    pub at: Timestamp,
    /// The position of the last event of the workspace's journal that it considered.
    pub sequence: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// The SHA-256 of its text. Only its agent sees it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// The standing memory file that was read for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingSnapshot>,
    /// The candidates and their outcomes.
    #[serde(flatten)]
    pub receipt: ContextReceipt,
    /// The result of building it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ContextReplay>,
}

/// The result of building a context again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReplay {
    /// Whether both texts are equal, byte for byte.
    pub same: bool,
    /// The differences: candidates that are gone or have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

impl From<ContextRecord> for ContextExplanation {
    fn from(kept: ContextRecord) -> Self {
        let ContextRecord { id, workspace, agent, at, sequence, milliseconds, sha256, .. } = kept;
        let (standing, receipt, replay) = (kept.standing, kept.receipt, None);
        Self { id, workspace, agent, at, sequence, milliseconds, sha256, standing, receipt, replay }
    }
}

impl CandidateReceipt {
    /// The reason of the omission, in words.
    #[must_use]
    pub fn omission_text(&self) -> String {
        let instead = self.instead.as_deref();
        match (self.left_out, instead) {
            (None, _) if self.headline => "headline".to_owned(),
            (None, _) => "told".to_owned(),
            (Some(OmissionReason::Superseded), Some(by)) => format!("superseded by {by}"),
            (Some(OmissionReason::Duplicate), Some(of)) => format!("says the same as {of}"),
            (Some(why), _) => why.name().to_owned(),
        }
    }
}
