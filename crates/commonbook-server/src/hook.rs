//! The hook door: what coding clients tell their hooks, in one shape, and the answers they take.
//!
//! Every client has its own events, names and answers. Here they become one [`HookInput`], by the
//! [`HookEvent`] that it is about; and one [`HookResponse`] becomes what the client expects, to the letter.
//! The answer never breaks a turn: where a client takes none, it is `{}`.

mod answer;
mod commands;
mod event;
mod invocation;
mod log;
mod news;
mod run;
mod steps;
#[cfg(test)]
mod tests;
mod verbs;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use commonbook::base::error::{Error, Result};
use commonbook::base::input;
use commonbook::model::agent::{Agent, AgentName};

use answer::{HookResponse, delegation_response};
pub(crate) use commands::read_user_commands as commands;
pub(crate) use log::log_writer as log;
pub(crate) use run::HookCommand;

/// A coding client that has hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode, through the plugin that setup writes.
    Opencode,
}

impl HookClient {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }
}

impl std::fmt::Display for HookClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What happens in a client's session, as far as memory has to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookEvent {
    /// A session begins, or goes on.
    SessionStart,
    /// The user has said something, and the agent has not yet answered.
    Prompt,
    /// The agent is about to hand a task to another.
    Delegation,
    /// The agent is about to call one of our own tools.
    OwnCall,
    /// An agent that was given a task begins.
    SubagentStart,
    /// An agent that was given a task is done.
    SubagentStop,
    /// The conversation is about to be shortened.
    Compaction,
    /// The agent has answered.
    TurnEnd,
    /// The session ends.
    SessionEnd,
    /// Anything else; there is nothing to do.
    Other,
}

impl HookEvent {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Prompt => "prompt",
            Self::Delegation => "delegation",
            Self::OwnCall => "own_call",
            Self::SubagentStart => "subagent_start",
            Self::SubagentStop => "subagent_stop",
            Self::Compaction => "compaction",
            Self::TurnEnd => "turn_end",
            Self::SessionEnd => "session_end",
            Self::Other => "other",
        }
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a client tells a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookInput {
    /// The client.
    pub(crate) client: HookClient,
    /// The event, as the client calls it.
    pub(crate) event: String,
    /// What it is about.
    pub(crate) moment: HookEvent,
    /// The session, as the client calls it.
    pub(crate) session: Option<String>,
    /// The folder that the client works in.
    pub(crate) cwd: Option<String>,
    /// The file that the conversation is recorded in.
    pub(crate) transcript: Option<String>,
    /// What the user said, without what hooks added to it.
    pub(crate) prompt: Option<String>,
    /// The tool that is about to be called, or was.
    pub(crate) tool: Option<HookToolCall>,
    /// The task that is about to be handed over.
    pub(crate) delegation: Option<TaskDelegation>,
    /// The agent that was given a task, where the event is about one or comes from one.
    pub(crate) subagent: Option<SubagentIdentity>,
    /// What the agent said last.
    pub(crate) last_message: Option<String>,
    /// Why a session begins (`startup`, `resume`, `clear`, `compact`) or ends, or what shortens it.
    pub(crate) reason: Option<String>,
    /// Whether the agent goes on only because a hook held it up.
    pub(crate) stop_hook_active: bool,
}

/// A tool with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookToolCall {
    /// Its name, as the client calls it.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
}

/// A task that is about to be handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskDelegation {
    /// What the other agent is there for: `engineer`.
    pub(crate) role: Option<String>,
    /// The task.
    pub(crate) task: String,
    /// The argument that holds the task.
    pub(crate) argument: &'static str,
}

/// An agent that was given a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SubagentIdentity {
    /// Its id, as the client calls it.
    pub(crate) id: Option<String>,
    /// What it is there for: `engineer`.
    pub(crate) role: Option<String>,
}

impl HookInput {
    /// What a client told its hook on the standard input. `event` is the one that the hook was set
    /// up for; it counts where the client does not name any.
    ///
    /// # Errors
    /// `invalid` for what is no JSON object.
    pub(crate) fn read(client: HookClient, event: &str, stdin: &[u8]) -> Result<Self> {
        let Value::Object(object) = input::json(stdin)? else {
            return Err(Error::invalid("stdin", "the client sent no JSON object"));
        };
        Ok(event::parse_hook_input(client, event, &HookFields(object)))
    }

    /// The agent that the event comes from or is about: the client's own, or the one below it that
    /// was given the task. A role that can be no name is passed over.
    pub(crate) fn agent(&self, client: &Agent) -> Agent {
        let role = self.subagent.as_ref().and_then(|subagent| subagent.role.as_deref());
        role.and_then(|role| child_agent(client, role)).unwrap_or_else(|| client.clone())
    }

    /// The tool of ours that is about to be called, by the name that it has here, with its arguments.
    pub(crate) fn own_tool(&self) -> Option<(&str, &Map<String, Value>)> {
        let tool = self.tool.as_ref()?;
        Some((event::own_tool(&tool.name)?, &tool.arguments))
    }

    /// The agent that the task is about to be handed to.
    pub(crate) fn target_agent(&self, client: &Agent) -> Option<Agent> {
        child_agent(client, self.delegation.as_ref()?.role.as_deref()?)
    }
}

/// The agent of this role below another.
fn child_agent(parent: &Agent, role: &str) -> Option<Agent> {
    let role = AgentName::nearest_agent_name(role, "role").ok()?.agent;
    format!("{parent}/{}", role.role()).parse().ok()
}

/// The fields that a client sent.
struct HookFields(Map<String, Value>);

impl HookFields {
    /// The first of these fields that is a text with something in it.
    fn text(&self, names: &[&str]) -> Option<String> {
        first_text(&self.0, names)
    }

    /// The first of these fields that is an object; one may be written as a text.
    fn object(&self, names: &[&str]) -> Option<Map<String, Value>> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        })
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// The first of these fields that is a text with something in it.
fn first_text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| object.get(*name)?.as_str());
    texts.map(str::to_owned).find(|text| !text.trim().is_empty())
}
