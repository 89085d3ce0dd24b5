//! Asking: to hand over, to accept, complete, reject or withdraw, and to list handoffs.

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

/// Hands your work over to another agent, with the memories and entities that it needs for the
/// task: you need not copy them into the context. They are chosen by how well they fit what you
/// write here and by whether they were kept during this work; what came to you by an earlier
/// handoff goes along too. The other agent finds it with `list_handoffs` and accepts it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateHandoff {
    /// The agent that is to go on, such as `gemini-cli` or `claude-code/qa`.
    #[serde(alias = "target_agent")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub to: String,
    /// What is to be done, in a sentence or a few, up to 2,000 characters. Where you leave it out,
    /// it is the first line of the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_TASK_CHARS))]
    pub task: Option<String>,
    /// What the other agent has to know about the work so far, up to 16,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::HANDOFF_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// The files that are being worked on, each with what is to be said of it: up to 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub active_files: Vec<String>,
    /// What was decided, and why: up to 50 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub decisions_made: Vec<String>,
    /// What comes next, in order: up to 50 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_LINES), inner(length(min = 1, max = limits::HANDOFF_LINE_CHARS)))]
    pub next_steps: Vec<String>,
    /// Whether the other agent goes on where you stop (`sequential`, the default), works beside
    /// you (`parallel`), takes a part (`fork`), or brings several parts together (`join`).
    #[serde(default)]
    pub kind: HandoffKind,
    /// Memories that have to go along, by their ids, whatever they are about. A private one of
    /// yours goes to this agent alone, and goes along only if you name it here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_MEMORIES_MAX))]
    pub memories: Vec<MemoryId>,
    /// The handoffs that you go on from; the one that you accepted last when you name none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::HANDOFF_FOLLOWS))]
    pub follows: Vec<HandoffId>,
    /// The case that the work belongs to, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::CASE_KEY_CHARS))]
    pub case: Option<String>,
    /// How many tokens all of it may be for the other agent, 500 to 40,000; 5,000 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::HANDOFF_TOKENS_MIN, max = limits::HANDOFF_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// How many memories are chosen, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_MEMORIES_MAX))]
    pub max_memories: Option<u32>,
    /// How many entities go along, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_ENTITIES_MAX))]
    pub max_entities: Option<u32>,
    /// How well a memory has to fit, 0 to 1; 0.5 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// After how many hours it expires if nobody accepts it, 1 to 720; 24 by default. What you
    /// wrote then becomes an ordinary memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::HANDOFF_HOURS_MAX))]
    pub expires_hours: Option<u32>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Takes a handoff that is for you, and answers all that you need for it. Taking it again answers
/// the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptHandoff {
    /// The id of the handoff, as `list_handoffs` shows it.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
}

/// Says that what a handoff asked of you is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteHandoff {
    /// The id of the handoff.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// What came of it, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub result: Option<String>,
}

/// Says that you will not do what a handoff asks of you, before or after you accepted it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectHandoff {
    /// The id of the handoff.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// Why not, up to 2,000 characters.
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub reason: String,
}

/// Takes back a handoff of yours that nobody has accepted yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawHandoff {
    /// The id of the handoff.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
    /// Why, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HANDOFF_NOTE_CHARS))]
    pub reason: Option<String>,
}

/// Lists handoffs, newest first: those that wait for you or that you work on, unless you ask for
/// others. Look here when you begin work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListHandoffs {
    /// Those that are for you (`received`, the default), that you made (`sent`), `either`, or
    /// those of `all` agents.
    #[serde(default)]
    pub side: HandoffSide,
    /// Only those that have come so far; of those you receive, by default, the ones that are
    /// pending or accepted, else all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<HandoffStatus>,
    /// Only those from or to this other agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub with: Option<String>,
    /// Only those of the chain that this handoff belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<HandoffId>,
    /// Only those of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

impl ListHandoffs {
    /// How far the handoffs that are asked for have come.
    #[must_use]
    pub fn wanted_statuses(&self) -> Vec<HandoffStatus> {
        if !self.status.is_empty() {
            return self.status.clone();
        }
        let open = self.side == HandoffSide::Received && self.chain.is_none();
        let all = HandoffStatus::ALL.iter().copied();
        all.filter(|status| !open || status.is_open()).collect()
    }

    /// Which handoffs the store is asked for.
    ///
    /// # Errors
    /// `invalid` for what cannot be the name of an agent.
    pub fn filter(&self) -> Result<HandoffFilter> {
        let with = self.with.as_deref().map(Agent::with_any_name).transpose();
        Ok(HandoffFilter {
            side: self.side,
            status: self.wanted_statuses(),
            with: with.map_err(|error| error.with_field("with"))?,
            chain: self.chain,
            case: self.case.as_ref().map(ToString::to_string),
            in_turn: false,
        })
    }
}

/// Shows one handoff with its receipt: what went along, and what was looked at and stayed behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetHandoff {
    /// The id of the handoff.
    #[serde(alias = "handoff_id", alias = "id")]
    pub handoff: HandoffId,
}

/// A request for a handoff, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffDraft {
    /// The agent that is to go on.
    pub to: Agent,
    /// What is to be done.
    pub task: String,
    /// What it has to know about the work so far.
    pub context: Option<String>,
    /// The files that are being worked on.
    pub active_files: Vec<String>,
    /// What was decided.
    pub decisions_made: Vec<String>,
    /// What comes next.
    pub next_steps: Vec<String>,
    /// How the target's work stands to the source's.
    pub kind: HandoffKind,
    /// The memories that have to go along, each once.
    pub memories: Vec<MemoryId>,
    /// The handoffs that it goes on from, each once.
    pub follows: Vec<HandoffId>,
    /// The session that it is made in.
    pub session: Option<String>,
    /// The case that the work belongs to.
    pub case: Option<String>,
    /// How the memories are chosen.
    pub settings: HandoffSettings,
    /// After how many hours it expires.
    pub expires_hours: u32,
}

impl CreateHandoff {
    /// What `from` asks for in `session`, checked against the limits. `defaults` are the settings
    /// of the workspace.
    ///
    /// # Errors
    /// `invalid` and `too_large`, with the field: for a handoff to oneself, for one that says
    /// nothing, and for what `limits` does not admit.
    pub fn check(
        &self,
        from: &Agent,
        session: Option<&str>,
        defaults: HandoffSettings,
    ) -> Result<HandoffDraft> {
        let to = self.to.parse::<AgentName>().map_err(|error| error.with_field("to"))?.agent;
        if to == *from {
            return Err(Error::invalid("to", "a handoff to oneself hands nothing over")
                .hint("Make a checkpoint to go on later, or name another agent."));
        }
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
                return Err(Error::invalid("task", "nothing says what is to be done")
                    .hint("Say in task what the other agent is to do, in a sentence or a few."));
            }
        };
        let asked = HandoffDraft {
            to,
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
        asked.check_whole(self.max_memories)?;
        Ok(asked)
    }

    /// The settings of a workspace, as far as the request does not say otherwise.
    fn settings(&self, defaults: HandoffSettings) -> Result<HandoffSettings> {
        // Who names more than the usual number means all of them.
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
        Ok(settings)
    }
}

impl HandoffDraft {
    /// What memories are searched by: the task, and what its source says about the work.
    #[must_use]
    pub fn search_text(&self) -> String {
        let lines = self.next_steps.iter().chain(&self.decisions_made).chain(&self.active_files);
        let parts = [&self.task].into_iter().chain(&self.context).chain(lines);
        parts.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn check_whole(&self, max_memories: Option<u32>) -> Result<()> {
        let bytes = self.search_text().len();
        if bytes > limits::HANDOFF_BYTES {
            return Err(Error::too_large(
                "context",
                bytes,
                limits::HANDOFF_BYTES,
                "bytes with the lists",
            )
            .hint("Save what is long as memories, and name them in memories."));
        }
        let most = max_memories.unwrap_or(limits::HANDOFF_MEMORIES_MAX) as usize;
        if self.memories.len() > most {
            return Err(Error::too_large("memories", self.memories.len(), most, "memories")
                .hint("Name fewer, or send a greater max_memories."));
        }
        let follows = self.follows.len();
        if follows > limits::HANDOFF_FOLLOWS {
            return Err(Error::too_large("follows", follows, limits::HANDOFF_FOLLOWS, "handoffs")
                .hint("Name the last one of each branch."));
        }
        Ok(())
    }
}

/// Text of several lines, trimmed.
fn checked_prose(field: &str, text: &str, limit: usize) -> Result<String> {
    let text = text.trim();
    input::refuse_control_characters(field, text)?;
    let chars = text.chars().count();
    if chars > limit {
        return Err(Error::too_large(field, chars, limit, "characters")
            .hint("Say the essential; the memories about it go along."));
    }
    fit_text(field, text, limit)
}

/// Lines, trimmed.
fn checked_lines(field: &str, lines: &[String]) -> Result<Vec<String>> {
    if lines.len() > limits::HANDOFF_LINES {
        return Err(Error::too_large(field, lines.len(), limits::HANDOFF_LINES, "lines")
            .hint("Keep those that the other agent needs now."));
    }
    let line = |(place, text): (usize, &String)| {
        fit_line(&format!("{field}[{place}]"), text, limits::HANDOFF_LINE_CHARS)
    };
    lines.iter().enumerate().map(line).collect()
}

/// Ids, each once, in their order.
fn distinct_ids<T: Copy + PartialEq>(given: &[T]) -> Vec<T> {
    let mut kept = Vec::with_capacity(given.len());
    for id in given {
        if !kept.contains(id) {
            kept.push(*id);
        }
    }
    kept
}
