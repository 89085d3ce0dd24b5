//! Requests about handoffs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choose::HandoffSettings;
use super::{HandoffFilter, HandoffKind, HandoffSide, HandoffStatus};
use crate::base::error::{Error, Result};
use crate::base::id::{HandoffId, MemoryId};
use crate::base::key::CaseKey;
use crate::base::page::{self, PageCursor};
use crate::base::{input, limits};
use crate::model::agent::{Agent, AgentName};
use crate::model::memory::{fit_line, fit_text};

/// Hands your work over to another agent, with the memories and entities that fit the task; do not
/// copy these into the context. The other agent takes it with `accept_handoff`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateHandoff {
    /// The agent that takes the work, such as `gemini-cli` or `claude-code/qa`, or a role, such as
    /// `developer`. Of the agents with a role, the first that accepts has it.
    #[serde(alias = "target_agent")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub to: String,
    /// The work to be done, in a few sentences. Up to 2,000 characters; by default the first line
    /// of the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_TASK_CHARS))]
    pub task: Option<String>,
    /// What the other agent has to know about the work so far. Up to 16,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::HANDOFF_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// The files that are being worked on, each with a remark. Up to 50 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub active_files: Vec<String>,
    /// The decisions made, with their reasons. Up to 50 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub decisions_made: Vec<String>,
    /// The next steps, in order. Up to 50 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub next_steps: Vec<String>,
    /// sequential (the other agent continues where you stop, the default), parallel, fork (it takes a
    /// part), or join (it joins parts).
    #[serde(default)]
    pub kind: HandoffKind,
    /// Ids of memories to include in any case. A private memory of yours is included only if you
    /// name it here, and goes only to this agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_MEMORIES_MAX))]
    pub memories: Vec<MemoryId>,
    /// The handoffs that this one continues. By default the one that you accepted or completed last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_FOLLOWS))]
    pub follows: Vec<HandoffId>,
    /// The key of the case of this work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::CASE_KEY_CHARS))]
    pub case: Option<String>,
    /// Maximum of the text in tokens; 5,000 by default. From 500 to 40,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::HANDOFF_TOKENS_MIN, max = limits::HANDOFF_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// Maximum number of memories, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_MEMORIES_MAX))]
    pub max_memories: Option<u32>,
    /// Maximum number of entities, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_ENTITIES_MAX))]
    pub max_entities: Option<u32>,
    /// Whether entities are included; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_entities: Option<bool>,
    /// Minimum score of a chosen memory, 0 to 1; 0.36 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// Hours until it expires; 24 by default. From 1 to 720. If it is not accepted until then, your
    /// text becomes an ordinary memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_HOURS_MAX))]
    pub expires_hours: Option<u32>,
    /// Ids of what it rests on. Memories and contexts; `id@revision` names the revision that you know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::BASED_ON), inner(length(min = 1, max = limits::BASIS_CHARS)))]
    pub based_on: Vec<String>,
    /// Fails with `conflict` if that has changed; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_current: bool,
    /// Only says what would go along. Also what would not, and why; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl CreateHandoff {
    /// What its author writes in it, as one text.
    #[must_use]
    pub fn written_text(&self) -> String {
        let parts = self.task.iter().chain(&self.context);
        let parts = parts.chain(&self.decisions_made).chain(&self.next_steps);
        parts.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Accepts a handoff for you, and returns its text with everything that you need. Repeating the
/// call returns the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptHandoff {
    /// The handoff's id.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
}

/// Marks a handoff that you accepted as done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteHandoff {
    /// The handoff's id.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// The result. Up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub result: Option<String>,
    /// What of it is still open, if it is done in part, a line each. The source reads it below the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub still_open: Vec<String>,
    /// Ids of what it rests on. Memories and contexts; `id@revision` names the revision that you know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::BASED_ON), inner(length(min = 1, max = limits::BASIS_CHARS)))]
    pub based_on: Vec<String>,
    /// Fails with `conflict` if that has changed; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_current: bool,
}

impl CompleteHandoff {
    /// The result with what is still open below it; `None` if neither is given.
    ///
    /// # Errors
    /// `invalid` and `too_large` for a line of what is open.
    pub fn note(&self) -> Result<Option<String>> {
        let open = checked_lines("still_open", &self.still_open)?;
        if open.is_empty() {
            return Ok(self.result.clone());
        }
        let open: String = open.iter().map(|line| format!("\n- {line}")).collect();
        let result = self.result.as_deref().map(|result| format!("{}\n\n", result.trim()));
        Ok(Some(format!("{}Still open:{open}", result.unwrap_or_default())))
    }
}

/// Refuses a handoff for you, before or after you accepted it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectHandoff {
    /// The handoff's id.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// The reason. Up to 2,000 characters.
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub reason: String,
}

/// Withdraws a handoff of yours that has not been accepted yet, or whose target has been silent for four hours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawHandoff {
    /// The handoff's id.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// The reason. Up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub reason: Option<String>,
}

/// Lists handoffs; by default those for you that are pending or accepted, oldest first, as a queue.
/// Other lists begin with the newest. Call this when you begin work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListHandoffs {
    /// Handoffs for you (received, the default), by you (sent), either, or of all agents. With `memory` the
    /// default is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<HandoffSide>,
    /// Only handoffs with one of these statuses. By default `pending` and `accepted` for those you
    /// receive, and all others otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<HandoffStatus>,
    /// Only handoffs from or to this other agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub with: Option<String>,
    /// Only handoffs of the chain of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<HandoffId>,
    /// Only handoffs of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only handoffs that include this memory: to whom it was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

impl ListHandoffs {
    /// The side that the request selects.
    #[must_use]
    pub fn side(&self) -> HandoffSide {
        match self.memory {
            Some(_) => self.side.unwrap_or(HandoffSide::All),
            None => self.side.unwrap_or_default(),
        }
    }

    /// The statuses that the request selects.
    #[must_use]
    pub fn wanted_statuses(&self) -> Vec<HandoffStatus> {
        if !self.status.is_empty() {
            return self.status.clone();
        }
        let open = self.side() == HandoffSide::Received && self.chain.is_none();
        let all = HandoffStatus::ALL.iter().copied();
        all.filter(|status| !open || status.is_open()).collect()
    }

    /// The filter for the store.
    ///
    /// # Errors
    /// `invalid` for a malformed agent name.
    pub fn filter(&self) -> Result<HandoffFilter> {
        let with = self.with.as_deref().map(Agent::with_any_name).transpose();
        let (side, status) = (self.side(), self.wanted_statuses());
        Ok(HandoffFilter {
            side,
            oldest_first: side == HandoffSide::Received
                && status.iter().all(|status| status.is_open()),
            status,
            with: with.map_err(|error| error.with_field("with"))?,
            chain: self.chain,
            case: self.case.as_ref().map(ToString::to_string),
            memory: self.memory,
        })
    }
}

/// Returns one handoff with its receipt: which memories it includes, and which candidates it leaves
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetHandoff {
    /// The handoff's id.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
}

/// A validated request for a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffDraft {
    /// The target agent, or the role.
    pub to: Agent,
    /// The role, if the target is one ([`HandoffTarget`](super::HandoffTarget)).
    pub role: Option<Agent>,
    /// The work to be done.
    pub task: String,
    /// What the target has to know about the work so far.
    pub context: Option<String>,
    /// The files that are being worked on.
    pub active_files: Vec<String>,
    /// The decisions made.
    pub decisions_made: Vec<String>,
    /// The next steps.
    pub next_steps: Vec<String>,
    /// How the target's work relates to the source's.
    pub kind: HandoffKind,
    /// The memories to include, without duplicates.
    pub memories: Vec<MemoryId>,
    /// The handoffs that it continues, without duplicates.
    pub follows: Vec<HandoffId>,
    /// The session in which it is created.
    pub session: Option<String>,
    /// The case of the work.
    pub case: Option<String>,
    /// How the memories are chosen.
    pub settings: HandoffSettings,
    /// Hours until it expires.
    pub expires_hours: u32,
}

/// A text by which a handoff searches its memories.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchText {
    /// The text.
    pub text: String,
    /// The factor for the relevance of what it finds.
    pub weight: f64,
}

/// The factor for memories that fit the decisions, next steps or files of a handoff.
const LINES_WEIGHT: f64 = 0.8;

/// A context longer than this is searched by besides the task, not only with it.
const LONG_CONTEXT_BYTES: usize = 400;

impl CreateHandoff {
    /// Validates the request of `from` in `session`. `defaults` are the settings of the workspace.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field: for a handoff to its own source, for one without a
    /// task, and for values out of range.
    pub fn check(
        &self,
        from: &Agent,
        session: Option<&str>,
        defaults: HandoffSettings,
    ) -> Result<HandoffDraft> {
        let to = target_name(&self.to)?;
        check_other_agent(&to, from)?;
        let context = self.context.as_deref();
        let context =
            context.map(|text| checked_prose("context", text, limits::HANDOFF_CONTEXT_CHARS));
        let context = context.transpose()?.filter(|text| !text.is_empty());
        let task = match (self.task.as_deref().map(str::trim), &context) {
            (Some(task), _) if !task.is_empty() => {
                checked_prose("task", task, limits::HANDOFF_TASK_CHARS)?
            }
            (_, Some(context)) => context
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(limits::HANDOFF_TASK_CHARS)
                .collect(),
            _ => {
                return Err(Error::invalid(
                    "task",
                    "task and context are both empty; expected one",
                )
                .hint("Set `task` to what the other agent is to do, in one or a few sentences."));
            }
        };
        let draft = HandoffDraft {
            to,
            role: None,
            task,
            context,
            active_files: checked_lines("active_files", &self.active_files)?,
            decisions_made: checked_lines("decisions_made", &self.decisions_made)?,
            next_steps: checked_lines("next_steps", &self.next_steps)?,
            kind: self.kind,
            memories: distinct_ids(&self.memories),
            follows: distinct_ids(&self.follows),
            session: session.map(str::to_owned),
            case: self
                .case
                .as_deref()
                .map(|key| input::line("case", key, limits::CASE_KEY_CHARS))
                .transpose()?,
            settings: self.settings(defaults)?,
            expires_hours: page::page_size(
                "expires_hours",
                self.expires_hours,
                limits::HANDOFF_HOURS,
                limits::HANDOFF_HOURS_MAX,
            )?,
        };
        draft.check_whole(self.max_memories)?;
        Ok(draft)
    }

    /// The settings of the workspace with the request's values.
    fn settings(&self, defaults: HandoffSettings) -> Result<HandoffSettings> {
        // A caller that names more memories than the default maximum wants all of them.
        let named = u32::try_from(distinct_ids(&self.memories).len()).unwrap_or(u32::MAX);
        let usual = defaults.max_memories.max(named.min(limits::HANDOFF_MEMORIES_MAX));
        let settings = HandoffSettings {
            budget: self.budget.unwrap_or(defaults.budget),
            threshold: self.threshold.unwrap_or(defaults.threshold),
            max_memories: self.max_memories.unwrap_or(usual),
            max_entities: self.max_entities.unwrap_or(defaults.max_entities),
            ..defaults
        };
        settings.check()?;
        let max_entities =
            if self.include_entities == Some(false) { 0 } else { settings.max_entities };
        Ok(HandoffSettings { max_entities, ..settings })
    }
}

/// The agent or role that a handoff names as its target.
fn target_name(text: &str) -> Result<Agent> {
    const HINT: &str = "Name an agent, such as gemini-cli, or a role, such as developer.";
    if text.trim().is_empty() {
        return Err(Error::empty("to").hint(HINT));
    }
    text.parse::<AgentName>().map(|name| name.agent).map_err(|error| {
        match Agent::with_any_name(text) {
            Ok(reserved) => {
                Error::invalid("to", format!("'{reserved}' cannot take handoffs")).hint(HINT)
            }
            Err(_) => {
                let reason = error.message.strip_prefix("agent: ").unwrap_or(&error.message);
                let renamed = Error::invalid("to", reason);
                Error { hint: error.hint.clone(), ..renamed }
            }
        }
    })
}

/// Checks that the target of a handoff is another agent than its source.
///
/// # Errors
/// `invalid` if it is the source.
pub fn check_other_agent(to: &Agent, from: &Agent) -> Result<()> {
    if to != from {
        return Ok(());
    }
    Err(Error::invalid("to", "is yourself; expected another agent").hint(
        "Name another agent, or make a checkpoint with `create_checkpoint` to continue later.",
    ))
}

impl HandoffDraft {
    /// All that the source wrote about the work.
    #[must_use]
    pub fn whole_text(&self) -> String {
        let parts = [&self.task].into_iter().chain(&self.context).chain(self.lines());
        parts.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The texts to search memories by. A memory counts by the one that it fits best: in one text, a
    /// long decision or context would hide what the task is about.
    #[must_use]
    pub fn search_texts(&self) -> Vec<SearchText> {
        let task = SearchText { text: self.task.clone(), weight: 1.0 };
        let context = self
            .context
            .as_ref()
            .map(|context| SearchText { text: format!("{}\n{context}", self.task), weight: 1.0 });
        let is_long =
            self.context.as_ref().is_some_and(|context| context.len() > LONG_CONTEXT_BYTES);
        let lines: Vec<&str> = self.lines().map(String::as_str).collect();
        let lines = SearchText { text: lines.join("\n"), weight: LINES_WEIGHT };
        let task = Some(task).filter(|_| context.is_none() || is_long);
        let texts = task.into_iter().chain(context).chain([lines]);
        texts.filter(|search| !search.text.is_empty()).collect()
    }

    fn lines(&self) -> impl Iterator<Item = &String> {
        self.next_steps.iter().chain(&self.decisions_made).chain(&self.active_files)
    }

    fn check_whole(&self, max_memories: Option<u32>) -> Result<()> {
        let bytes = self.whole_text().len();
        if bytes > limits::HANDOFF_BYTES {
            return Err(Error::too_large(
                "context",
                bytes,
                limits::HANDOFF_BYTES,
                "bytes with the lists",
            )
            .hint("Save long texts as memories, and name their ids in `memories`."));
        }
        let most = max_memories.unwrap_or(limits::HANDOFF_MEMORIES_MAX) as usize;
        if self.memories.len() > most {
            return Err(Error::too_large("memories", self.memories.len(), most, "memories")
                .hint("Name fewer, or raise `max_memories`."));
        }
        let follows = self.follows.len();
        if follows > limits::HANDOFF_FOLLOWS {
            return Err(Error::too_large("follows", follows, limits::HANDOFF_FOLLOWS, "handoffs")
                .hint("Name only the last handoff of each branch."));
        }
        Ok(())
    }
}

/// Trims a text of several lines.
fn checked_prose(field: &str, text: &str, limit: usize) -> Result<String> {
    let text = text.trim();
    input::refuse_control_characters(field, text)?;
    let chars = text.chars().count();
    if chars > limit {
        return Err(Error::too_large(field, chars, limit, "characters")
            .hint("State the essential; the memories about it are included."));
    }
    fit_text(field, text, limit)
}

/// Trims lines.
fn checked_lines(field: &str, lines: &[String]) -> Result<Vec<String>> {
    if lines.len() > limits::HANDOFF_LINES {
        return Err(Error::too_large(field, lines.len(), limits::HANDOFF_LINES, "lines")
            .hint("Keep only those that the other agent needs now."));
    }
    let line = |(place, text): (usize, &String)| {
        fit_line(&format!("{field}[{place}]"), text, limits::HANDOFF_LINE_CHARS)
    };
    lines.iter().enumerate().map(line).collect()
}

/// Removes duplicate ids; keeps their order.
fn distinct_ids<T: Copy + PartialEq>(ids: &[T]) -> Vec<T> {
    let mut distinct = Vec::with_capacity(ids.len());
    for id in ids {
        if !distinct.contains(id) {
            distinct.push(*id);
        }
    }
    distinct
}
