//! The question at the end of a long run that saved nothing: what must the next agent know? It is asked once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::hash::sha256;

use super::HookInput;
use super::transcript::{RunExtent, last_run};
use crate::clients::hook_event::{HookClient, HookEvent};
use crate::settings::sections::LearningSettings;
use crate::system::atomic;

/// The question.
pub(super) const QUESTION: &str = "Before you end: what did you learn here that the next agent at such a task \
    must know and would not see in the code? Save each fact with save_memory, or nothing if there is none. Then \
    give your final answer again, whole.";

/// The folder in the home that remembers which runs were asked.
const FOLDER: &str = "asked";

/// Runs that are remembered at least; the oldest beyond twice as many are forgotten.
const RUNS_KEPT: usize = 1_000;

/// Whether a run is long, by these settings.
fn is_long(run: &RunExtent, settings: &LearningSettings) -> bool {
    run.calls >= settings.calls as usize || run.seconds >= i64::from(settings.minutes) * 60
}

/// Whether the agent at whose end this hook runs is to be asked, as far as its input and its transcript show.
///
/// # Errors
/// `unavailable` if the transcript cannot be read.
pub(super) fn is_due(input: &HookInput, settings: &LearningSettings) -> Result<bool> {
    // The work in the background that a sub-agent names is that of its session, itself included.
    let is_waiting = input.has_background_work && input.subagent.is_none();
    if !settings.ask || !can_ask(input) || input.stop_hook_active || is_waiting {
        return Ok(false);
    }
    let Some(transcript) = &input.transcript else { return Ok(false) };
    let run = last_run(Path::new(transcript), input.subagent.as_ref())?;
    Ok(run.is_some_and(|run| !run.has_saved && is_long(&run, settings)))
}

/// Whether the client lets a hook of this event go on with a question.
fn can_ask(input: &HookInput) -> bool {
    match input.client {
        HookClient::ClaudeCode | HookClient::Codex | HookClient::Copilot => {
            matches!(input.moment, HookEvent::TurnEnd | HookEvent::SubagentStop)
        }
        // A sub-agent of Gemini has ended when its tool returns.
        HookClient::Gemini => input.moment == HookEvent::TurnEnd,
        HookClient::Opencode | HookClient::Cursor => false,
    }
}

/// The file that notes that this agent was asked in this session; `None` if nothing tells its session from others.
fn note_path(home: &Path, input: &HookInput) -> Option<PathBuf> {
    let session = input.session.as_ref()?;
    let subagent = input.subagent.as_ref();
    let agent = subagent.and_then(|agent| agent.id.as_ref().or(agent.role.as_ref()));
    let run = sha256(&format!("{}\n{session}\n{}", input.client, agent.map_or("", |id| id)));
    Some(home.join(FOLDER).join(run))
}

/// Whether this agent was asked in this session before.
pub(super) fn was_asked(home: &Path, input: &HookInput) -> bool {
    note_path(home, input).is_some_and(|path| path.exists())
}

/// Notes in the home that this agent is asked in this session; `false` if it was asked before, or nothing tells
/// its session from others.
///
/// # Errors
/// `unavailable` if the home cannot be written.
pub(super) fn note_asked(home: &Path, input: &HookInput) -> Result<bool> {
    let Some(path) = note_path(home, input) else { return Ok(false) };
    let folder = home.join(FOLDER);
    atomic::create_folders(&folder)?;
    match File::options().write(true).create_new(true).open(&path) {
        Ok(_) => {
            forget_oldest(&folder);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => {
            let message = format!("cannot write {}", path.display());
            Err(Error::new(ErrorKind::Unavailable, message).with_cause(error))
        }
    }
}

/// Removes the notes of the oldest runs, if there are many.
fn forget_oldest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut notes: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if notes.len() < 2 * RUNS_KEPT {
        return;
    }
    notes.sort_unstable();
    for (_, path) in &notes[..notes.len() - RUNS_KEPT] {
        if let Err(error) = fs::remove_file(path) {
            tracing::debug!(%error, file = %path.display(), "cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use commonbook_text::tokens;

    use super::*;

    #[test]
    fn the_question_is_short() {
        assert!(tokens::count(QUESTION) <= 60, "{}", tokens::count(QUESTION));
    }

    #[test]
    fn a_home_remembers_the_newest_runs() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        for number in 1..2 * RUNS_KEPT {
            File::create(folder.join(number.to_string())).unwrap();
        }
        let stdin = br#"{"session_id": "s1"}"#;
        let input = HookInput::read(HookClient::ClaudeCode, "Stop", stdin).unwrap();
        assert!(note_asked(home.path(), &input).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), RUNS_KEPT);
        assert!(!note_asked(home.path(), &input).unwrap());
    }
}
