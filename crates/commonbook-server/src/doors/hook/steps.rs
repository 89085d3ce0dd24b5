//! The steps of a hook event: built-in steps and user commands, by priority.

use serde::{Deserialize, Serialize};

use crate::clients::hook_event::HookEvent;
use commonbook::base::error::{Error, Result};

/// The priority of the memory step; steps before it can still change the task.
pub(crate) const MEMORY_PRIORITY: u8 = 20;
/// The priority of the learning step.
pub(crate) const LEARNING_PRIORITY: u8 = 80;
/// The highest priority number.
pub(crate) const PRIORITY_MAX: u8 = 100;

/// A user command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserCommand {
    /// The event that runs it.
    pub(crate) moment: HookEvent,
    /// Its position in the order: 0 first, 100 last.
    pub(crate) priority: u8,
    /// The shell command.
    pub(crate) command: String,
}

/// A step of a hook event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookStep<'a> {
    /// Gives the agent its context.
    Memory,
    /// Saves the learnings of the agent, its checkpoint, or the end of its session.
    Learning,
    /// Runs a user command.
    Command(&'a UserCommand),
}

/// The steps of an event, in order; at equal priority the built-in step first, then the commands in
/// the order of the list.
///
/// # Errors
/// `invalid` if a priority is over 100.
pub(crate) fn hook_steps(moment: HookEvent, commands: &[UserCommand]) -> Result<Vec<HookStep<'_>>> {
    if let Some(wrong) = commands.iter().find(|command| command.priority > PRIORITY_MAX) {
        return Err(Error::invalid(
            "priority",
            format!("{} is out of range; expected 0 to {PRIORITY_MAX}", wrong.priority),
        ));
    }
    let own = match moment {
        HookEvent::SessionStart
        | HookEvent::Prompt
        | HookEvent::Delegation
        | HookEvent::OwnCall => {
            vec![(MEMORY_PRIORITY, HookStep::Memory)]
        }
        moment if moment.is_recorded() => vec![(LEARNING_PRIORITY, HookStep::Learning)],
        _ => Vec::new(),
    };
    let commands = commands.iter().filter(|command| command.moment == moment);
    let commands = commands.map(|command| (command.priority, HookStep::Command(command)));
    let mut steps: Vec<(u8, HookStep<'_>)> = own.into_iter().chain(commands).collect();
    steps.sort_by_key(|(priority, _)| *priority);
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}
