//! The user's own commands: read from the home, run in their place, and understood.

use std::path::Path;
use std::time::Instant;

use commonbook::base::error::Result;
use commonbook::base::{input, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Input;
use crate::hook::steps::Command;
use crate::{atomic, shell};

/// What a command may say.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
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
pub(crate) fn of(home: &Path) -> Result<Vec<Command>> {
    match atomic::read(&home.join("hooks.json"))? {
        Some(text) => input::from_json(text.as_bytes()),
        None => Ok(Vec::new()),
    }
}

/// What a command is told of the moment.
fn told(input: &Input, agent: &str) -> Value {
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
/// where that is something else than [`Said`].
pub(super) fn run(command: &Command, input: &Input, agent: &str, end: Instant) -> Result<Said> {
    let cwd = input.cwd.as_ref().map(Path::new).filter(|cwd| cwd.is_dir());
    let most = (limits::BODY_BYTES as u64, end);
    match shell::run(&command.command, cwd, told(input, agent).to_string(), most)?.trim_ascii() {
        [] => Ok(Said::default()),
        said => input::from_json(said),
    }
}
