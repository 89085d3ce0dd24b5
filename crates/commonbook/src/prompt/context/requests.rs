//! Asking for a context, and for what became of one.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choose::{
    CandidateReceipt, ContextDiagnostics, ContextSettings, ContextSource, OmissionReason,
};
use crate::base::error::{Error, Result};
use crate::base::id::ContextId;
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::workspace::Workspace;
use commonbook_text::secrets;
use commonbook_text::string_enum;

/// Gives what you need to know before you work on a task: your standing memory, what is known of
/// the user and of the task, what is new in your cases, and the memories that answer it, within a
/// budget of tokens. Ask for it when you begin, and put the task in plain words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContext {
    /// The task or the question, in plain words. Of a long one the first 8,000 characters count.
    #[serde(alias = "query")]
    #[schemars(length(min = 1), regex(pattern = input::TEXT_PATTERN))]
    pub task: String,
    /// The case whose new entries are told; that of your session, and those that you have read in,
    /// by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Tokens of the text at the most; 1,500 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::CONTEXT_TOKENS_MIN, max = limits::CONTEXT_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// Memories and entries at the most; 8 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::CONTEXT_MAXIMUM_MAX))]
    pub max_memories: Option<u32>,
    /// How well a memory has to answer the task, 0 to 1; 0.5 by default. With 1 none is searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// The user that you work for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
}

/// What is asked for, as it is carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextOptions {
    /// The task, without secrets and of at most [`limits::CONTEXT_TASK_CHARS`] characters.
    pub task: String,
    /// How much is told.
    pub settings: ContextSettings,
}

impl GetContext {
    /// What is asked for, where the settings do not say otherwise.
    ///
    /// # Errors
    /// `invalid` for a task that says nothing or has control characters, and for a number that is
    /// beyond its bounds.
    pub fn check(&self, settings: ContextSettings) -> Result<ContextOptions> {
        if self.task.trim().is_empty() {
            return Err(Error::invalid("task", "there is no task")
                .hint("Put what is to be done, or the question, into task."));
        }
        input::refuse_control_characters("task", &self.task)?;
        let task: String = self.task.trim().chars().take(limits::CONTEXT_TASK_CHARS).collect();
        let task = secrets::redact(&task).text.into_owned();
        let within =
            |field: &str, given: Option<u32>, usual: usize, least: u32, most: u32| match given {
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
        Ok(ContextOptions {
            task,
            settings: ContextSettings { budget, maximum, threshold, ..settings },
        })
    }
}

/// What an agent is given before it works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentContext {
    /// The id of its receipt, which tells why it is as it is.
    pub id: ContextId,
    /// The agent that it was made for.
    pub agent: Agent,
    /// What is told, between marks that no author can have known; empty when there is nothing.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// What it tells, in its order.
    pub items: Vec<ItemSummary>,
    /// The figures.
    pub diagnostics: ContextDiagnostics,
    /// What whoever keeps the standing memory should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One thing that a context tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemSummary {
    /// Its id; of the standing memory, the name of its file.
    pub id: String,
    /// Where it comes from.
    pub source: ContextSource,
    /// What it is: a memory's type, `entry`, `standing memory`.
    pub memory_type: String,
    /// Who wrote it.
    pub author: String,
    /// How well it answers the task, where it was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl ItemSummary {
    /// What a receipt says was told.
    #[must_use]
    pub fn of(receipt: &super::ContextReceipt) -> Vec<Self> {
        let told = receipt.candidates.iter().filter(|one| one.taken);
        told.map(|one| Self {
            id: one.id.clone(),
            source: one.source,
            memory_type: one.memory_type.clone(),
            author: one.author.clone(),
            score: one.score,
        })
        .collect()
    }
}

/// Tells why a context is as it is: what could have been told, what was, and why the rest was not.
/// Only the agent that it was made for is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainContext {
    /// The id of the context.
    pub context: ContextId,
    /// Build it again of what was considered, each as it was then, and tell whether it is the same.
    #[serde(default)]
    pub replay: bool,
}

/// Why a context is as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplanation {
    /// The id of the context.
    pub id: ContextId,
    /// The workspace it was made in.
    pub workspace: Workspace,
    /// The agent that it was made for.
    pub agent: Agent,
    /// When.
    pub at: Timestamp,
    /// The place of the last event of the workspace's journal that it knew of.
    pub sequence: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// The standing memory file that was read for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingSnapshot>,
    /// What was considered, and what became of it.
    #[serde(flatten)]
    pub receipt: super::ContextReceipt,
    /// What building it again gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ContextReplay>,
}

/// A standing memory file, as a context was given it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingSnapshot {
    /// Its path.
    pub file: String,
    /// Whose it is: the project's, or the home folder's.
    pub source: StandingLocation,
    /// Its bytes.
    pub bytes: u64,
    /// The SHA-256 of what it said.
    pub sha256: String,
}

string_enum! {
    /// Where a standing memory file is kept.
    StandingLocation {
        /// In the folder of the project.
        Project = "project",
        /// In the home folder, for every project.
        Home = "home",
    }
}

/// What building a context again gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReplay {
    /// Whether it is the same, to the byte.
    pub same: bool,
    /// Why it is not: what is gone, or no longer as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

/// A context as it is kept: its receipt, and what building it again takes. No text of what it told.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRecord {
    /// Its id.
    pub id: ContextId,
    /// The workspace it was made in.
    pub workspace: Workspace,
    /// The agent that it was made for.
    pub agent: Agent,
    /// When.
    pub at: Timestamp,
    /// The place of the last event of the journal that it knew of.
    pub sequence: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// What was in its marks.
    pub nonce: String,
    /// The standing memory file that was read for it.
    pub standing: Option<StandingSnapshot>,
    /// What was considered.
    pub receipt: super::ContextReceipt,
}

impl From<ContextRecord> for ContextExplanation {
    fn from(kept: ContextRecord) -> Self {
        let ContextRecord { id, workspace, agent, at, sequence, milliseconds, sha256, .. } = kept;
        let (standing, receipt, replay) = (kept.standing, kept.receipt, None);
        Self { id, workspace, agent, at, sequence, milliseconds, sha256, standing, receipt, replay }
    }
}

impl CandidateReceipt {
    /// Why it is not told, in words.
    #[must_use]
    pub fn omission_text(&self) -> String {
        let instead = self.instead.as_deref();
        match (self.left_out, instead) {
            (None, _) => "told".to_owned(),
            (Some(OmissionReason::Superseded), Some(by)) => format!("superseded by {by}"),
            (Some(OmissionReason::Duplicate), Some(of)) => format!("says the same as {of}"),
            (Some(why), _) => why.name().to_owned(),
        }
    }
}
