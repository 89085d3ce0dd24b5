//! The order of what is done at a moment: our own steps and the user's commands, by priority.

use serde::{Deserialize, Serialize};

use super::HookEvent;
use commonbook::base::error::{Error, Result};

/// The priority of giving memory; what comes before it may still change the task.
pub(crate) const MEMORY_PRIORITY: u8 = 20;
/// The priority of taking in learnings.
pub(crate) const LEARNING_PRIORITY: u8 = 80;
/// The greatest priority.
pub(crate) const PRIORITY_MAX: u8 = 100;

/// A command of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserCommand {
    /// When it is run.
    pub(crate) moment: HookEvent,
    /// Its place in the order: 0 first, 100 last.
    pub(crate) priority: u8,
    /// What is run.
    pub(crate) command: String,
}

/// Something that is done at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookStep<'a> {
    /// The agent is given what it should know.
    Memory,
    /// What the agent learned, and how far it came, is taken in.
    Learning,
    /// A command of the user's is run.
    Command(&'a UserCommand),
}

/// What is done at a moment, in order; of what has the same priority our own first, then the
/// commands as they were given.
///
/// # Errors
/// `invalid` for a priority over 100.
pub(crate) fn hook_steps(moment: HookEvent, commands: &[UserCommand]) -> Result<Vec<HookStep<'_>>> {
    if let Some(wrong) = commands.iter().find(|command| command.priority > PRIORITY_MAX) {
        return Err(Error::invalid(
            "priority",
            format!("{} is over {PRIORITY_MAX}", wrong.priority),
        ));
    }
    let own = match moment {
        HookEvent::SessionStart
        | HookEvent::Prompt
        | HookEvent::Delegation
        | HookEvent::OwnCall => {
            vec![(MEMORY_PRIORITY, HookStep::Memory)]
        }
        HookEvent::SubagentStop
        | HookEvent::TurnEnd
        | HookEvent::Compaction
        | HookEvent::SessionEnd => {
            vec![(LEARNING_PRIORITY, HookStep::Learning)]
        }
        _ => Vec::new(),
    };
    let others = commands.iter().filter(|command| command.moment == moment);
    let others = others.map(|command| (command.priority, HookStep::Command(command)));
    let mut all: Vec<(u8, HookStep<'_>)> = own.into_iter().chain(others).collect();
    all.sort_by_key(|(priority, _)| *priority);
    Ok(all.into_iter().map(|(_, step)| step).collect())
}
