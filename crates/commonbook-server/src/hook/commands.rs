//! The user's own commands: read from the home, run in their place, and understood.

use std::path::Path;
use std::time::Instant;

use commonbook::base::error::Result;
use commonbook::base::{input, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::HookInput;
use crate::hook::steps::UserCommand;
use crate::{atomic, shell};

/// What a command may say.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandOutput {
    /// The task that is handed over instead.
    #[serde(default)]
    pub(super) task: Option<String>,
    /// What the agent is given to read besides.
    #[serde(default)]
    pub(super) context: Option<String>,
}

/// The commands of this home: a list in `hooks.json`.
///
/// # Errors
/// `unavailable` where it cannot be read, `invalid` where it is no such list.
pub(crate) fn read_user_commands(home: &Path) -> Result<Vec<UserCommand>> {
    match atomic::read(&home.join("hooks.json"))? {
        Some(text) => input::from_json(text.as_bytes()),
        None => Ok(Vec::new()),
    }
}

/// What a command is told of the moment.
fn command_input(input: &HookInput, agent: &str) -> Value {
    json!({
        "client": input.client.name(), "event": input.event, "moment": input.moment,
        "agent": agent, "session": input.session, "cwd": input.cwd,
        "transcript": input.transcript, "prompt": input.prompt,
        "task": input.delegation.as_ref().map(|delegation| &delegation.task),
        "last_message": input.last_message, "reason": input.reason,
    })
}

/// Runs a command until it ends, or until its time is over; answers what it says.
///
/// # Errors
/// `unavailable` for one that cannot be run, fails, or takes too long; `invalid` for what it says,
/// where that is something else than [`CommandOutput`].
pub(super) fn run(
    command: &UserCommand,
    input: &HookInput,
    agent: &str,
    end: Instant,
) -> Result<CommandOutput> {
    let cwd = input.cwd.as_ref().map(Path::new).filter(|cwd| cwd.is_dir());
    let facts = command_input(input, agent).to_string();
    let said = shell::run(&command.command, cwd, facts, limits::BODY_BYTES as u64, end)?;
    match said.trim_ascii() {
        [] => Ok(CommandOutput::default()),
        said => input::from_json(said),
    }
}
