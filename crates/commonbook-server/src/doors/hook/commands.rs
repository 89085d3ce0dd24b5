//! User commands: reads them from hooks.json, runs them and reads their output.

use std::path::Path;
use std::time::Instant;

use commonbook::base::error::{Error, Result};
use commonbook::base::{input, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::HookInput;
use crate::doors::hook::steps::UserCommand;
use crate::settings::config::without_texts;
use crate::system::{atomic, shell};

/// The output of a user command.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandOutput {
    /// The task that replaces the delegated task.
    #[serde(default)]
    pub(super) task: Option<String>,
    /// Additional text for the agent.
    #[serde(default)]
    pub(super) context: Option<String>,
}

/// The user commands of this home: the list in `hooks.json`.
///
/// # Errors
/// `unavailable` if the file cannot be read, `invalid` if it is not a list of commands.
pub(crate) fn read_user_commands(home: &Path) -> Result<Vec<UserCommand>> {
    match atomic::read(&home.join("hooks.json"))? {
        Some(text) => {
            let value = input::json(text.as_bytes())?;
            // A command can hold a password, which no error repeats.
            input::from_value(value.clone()).map_err(|error| {
                let message = without_texts(&error.message, &value);
                Error { message, ..error }
            })
        }
        None => Ok(Vec::new()),
    }
}

/// The input of a user command.
fn command_input(input: &HookInput, agent: &str) -> Value {
    json!({
        "client": input.client.name(), "event": input.event, "moment": input.moment,
        "agent": agent, "session": input.session, "cwd": input.cwd,
        "transcript": input.transcript, "prompt": input.prompt,
        "task": input.delegation.as_ref().map(|delegation| &delegation.task),
        "last_message": input.last_message, "reason": input.reason,
    })
}

/// Runs a user command until it ends or `end` passes; returns its output.
///
/// # Errors
/// `unavailable` if it cannot be run, fails, or takes too long; `invalid` if its output is not a
/// [`CommandOutput`].
pub(super) fn run(
    command: &UserCommand,
    input: &HookInput,
    agent: &str,
    end: Instant,
) -> Result<CommandOutput> {
    let cwd = input.cwd.as_ref().map(Path::new).filter(|cwd| cwd.is_dir());
    let stdin = command_input(input, agent).to_string();
    let output = shell::run(&command.command, cwd, stdin, limits::BODY_BYTES as u64, end)?;
    match output.trim_ascii() {
        [] => Ok(CommandOutput::default()),
        json => input::from_json(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_of_the_file_repeats_a_text_of_it() {
        let home = tempfile::tempdir().unwrap();
        for text in [
            r#""curl hunter2pw""#,
            r#"["curl hunter2pw"]"#,
            r#"[{"command": "curl hunter2pw", "events": "hunter2pw"}]"#,
            r#"[{"command": ["curl hunter2pw"]}]"#,
            r#"[{"command": "x", "priority": "hunter2pw"}]"#,
            r#"[{"command": "x", "moment": "hunter2pw"}]"#,
        ] {
            std::fs::write(home.path().join("hooks.json"), text).unwrap();
            let error = read_user_commands(home.path()).unwrap_err();
            assert!(!error.message.contains("hunter2pw"), "{text}: {}", error.message);
        }
    }
}
