//! The hook door: the input of each coding client in one form, and the output that it expects.
//!
//! Every client has its own events, names and output. Here each input becomes a [`HookInput`] with its
//! [`HookEvent`], and a [`HookResponse`] becomes the exact output of the client. The output never breaks
//! a turn: it is `{}` where a client accepts none.

mod answer;
mod command_line;
mod commands;
mod event;
mod invocation;
mod log;
mod progress;
mod question;
mod record;
mod run;
mod saving;
mod spool;
mod steps;
#[cfg(test)]
mod tests;
mod transcript;
mod verbs;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::base::input;
use commonbook::model::agent::{Agent, AgentName};

use crate::calls::call::run_blocking;
use crate::clients::hook_event::{HookClient, HookEvent};
use crate::settings::config::Config;

use answer::{HookResponse, delegation_response};
pub(crate) use commands::read_user_commands as commands;
pub(crate) use log::log_writer as log;
pub(crate) use run::HookCommand;

/// The input of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookInput {
    /// The client.
    pub(crate) client: HookClient,
    /// The name of the event in the client.
    pub(crate) event: String,
    /// The event.
    pub(crate) moment: HookEvent,
    /// The client's id of the session.
    pub(crate) session: Option<String>,
    /// The folder that the client works in.
    pub(crate) cwd: Option<String>,
    /// The transcript file of the conversation.
    pub(crate) transcript: Option<String>,
    /// The prompt of the user, without the text that hooks added.
    pub(crate) prompt: Option<String>,
    /// The tool that the agent is about to call, or has called.
    pub(crate) tool: Option<HookToolCall>,
    /// The delegated task.
    pub(crate) delegation: Option<TaskDelegation>,
    /// The sub-agent that the event concerns or comes from.
    pub(crate) subagent: Option<SubagentIdentity>,
    /// The last message of the agent.
    pub(crate) last_message: Option<String>,
    /// The reason of the event: `startup`, `resume`, `clear`, `compact` …
    pub(crate) reason: Option<String>,
    /// Whether the agent continues only because a hook asked it to.
    pub(crate) stop_hook_active: bool,
    /// Whether work of the session still runs in the background.
    pub(crate) has_background_work: bool,
}

/// Writes what hooks could not write in time to this book, with the settings of its home.
pub(crate) fn drain_spool(config: &Config, book: &Commonbook) {
    if let Some(home) = &config.home {
        let mut verbs = verbs::VerbClient::of_book(config, book.clone());
        spool::HookSpool::of(home).drain(config, &mut verbs, None);
    }
}

/// How often a server looks for what hooks could not write.
const SPOOL_DELAY: Duration = Duration::from_secs(5);

/// As [`drain_spool`], until the program stops.
pub(crate) async fn drain_spool_in_background(
    config: Arc<Config>,
    book: Commonbook,
    stopping: CancellationToken,
) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(SPOOL_DELAY) => {},
            () = stopping.cancelled() => return,
        }
        let (config, book) = (Arc::clone(&config), book.clone());
        let drain = move || {
            drain_spool(&config, &book);
            Ok(())
        };
        if let Err(error) = run_blocking(drain).await {
            tracing::warn!(%error, "cannot write what hooks could not write");
        }
    }
}

/// The number of records of hooks that wait in this home, and what was given up.
pub(crate) fn spool_state(home: &Path) -> (usize, Option<String>) {
    let spool = spool::HookSpool::of(home);
    (spool.waiting(), spool.loss().map(|loss| loss.to_string()))
}

/// A tool with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookToolCall {
    /// Its name in the client.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
}

/// A task that the agent delegates to a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskDelegation {
    /// The role of the sub-agent: `engineer`.
    pub(crate) role: Option<String>,
    /// The task.
    pub(crate) task: String,
    /// The argument of the tool that holds the task.
    pub(crate) argument: &'static str,
}

/// A sub-agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SubagentIdentity {
    /// Its id in the client.
    pub(crate) id: Option<String>,
    /// Its role: `engineer`.
    pub(crate) role: Option<String>,
    /// Whether its transcript is a file of its own.
    pub(crate) has_own_transcript: bool,
}

impl HookInput {
    /// Reads the input of a hook from the bytes of standard input. `event` comes from the command line;
    /// an event that the client names overrides it.
    ///
    /// # Errors
    /// `invalid` unless the input is a JSON object.
    pub(crate) fn read(client: HookClient, event: &str, stdin: &[u8]) -> Result<Self> {
        let Value::Object(object) = input::without_controls(input::json(stdin)?) else {
            return Err(Error::invalid("stdin", "the input of the hook is not a JSON object"));
        };
        Ok(event::parse_hook_input(client, event, &HookFields(object)))
    }

    /// The agent of the event: the client itself, or its sub-agent. Ignores a role that is not a valid
    /// name.
    pub(crate) fn agent(&self, client: &Agent) -> Agent {
        let role = self.subagent.as_ref().and_then(|subagent| subagent.role.as_deref());
        role.and_then(|role| child_agent(client, role)).unwrap_or_else(|| client.clone())
    }

    /// Whether the agent reads the answer to this event first in its session. opencode shows its agent
    /// nothing when a session starts: there it is the first prompt.
    pub(crate) fn begins_session(&self) -> bool {
        match self.client {
            HookClient::Opencode => {
                self.moment == HookEvent::Prompt && self.reason.as_deref() == Some("startup")
            }
            _ => self.moment == HookEvent::SessionStart,
        }
    }

    /// The Commonbook tool that the agent is about to call, by its own name, with its arguments.
    pub(crate) fn own_tool(&self) -> Option<(&str, &Map<String, Value>)> {
        let tool = self.tool.as_ref()?;
        Some((event::own_tool(&tool.name)?, &tool.arguments))
    }

    /// The agent that receives the delegated task.
    pub(crate) fn target_agent(&self, client: &Agent) -> Option<Agent> {
        child_agent(client, self.delegation.as_ref()?.role.as_deref()?)
    }
}

/// The child of an agent with this role. The engineer of a plugin, `plugin:engineer`, is the engineer.
fn child_agent(parent: &Agent, role: &str) -> Option<Agent> {
    let role = role.rsplit(':').find(|part| !part.trim().is_empty()).unwrap_or(role);
    let role = AgentName::nearest_agent_name(role, "role").ok()?.agent;
    // A reserved role stays a word of its own: `claude-code/role-human`.
    format!("{parent}/{}", role.as_str().replace('/', "-")).parse().ok()
}

/// The fields that a client sent.
struct HookFields(Map<String, Value>);

impl HookFields {
    /// The first of these fields that is a non-blank text.
    fn text(&self, names: &[&str]) -> Option<String> {
        first_text(&self.0, names)
    }

    /// The first of these fields that is an object, or a text of one.
    fn object(&self, names: &[&str]) -> Option<Map<String, Value>> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        })
    }

    /// The first item of this list, if it is a non-blank text.
    fn first_of(&self, name: &str) -> Option<String> {
        let first = self.0.get(name)?.as_array()?.first()?.as_str()?;
        Some(first.to_owned()).filter(|text| !text.trim().is_empty())
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// The first of these fields that is a non-blank text.
fn first_text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| object.get(*name)?.as_str());
    texts.map(str::to_owned).find(|text| !text.trim().is_empty())
}
