//! What a hook answers, in the shape that its client takes.

use commonbook_text::echo::without_contexts;
use serde_json::{Map, Value, json};

use super::{Client, Input, Moment};

/// What a hook has to say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Nothing.
    Nothing,
    /// What the agent is to be given to read.
    Context(String),
    /// The arguments that the tool is to be called with instead; all of them.
    Arguments(Map<String, Value>),
}

/// The arguments of a tool that hands over a task, with what the other agent is given to read
/// behind the task. A context that the task holds already is taken out: there is one, the newest.
/// Nothing where the event hands over no task, or
/// where nothing changes.
pub(crate) fn delegated(input: &Input, context: &str) -> Answer {
    let (Some(delegation), Some(tool)) = (&input.delegation, &input.tool) else {
        return Answer::Nothing;
    };
    let mut arguments = tool.arguments.clone();
    let task = match context {
        "" => delegation.task.clone(),
        context => format!("{}\n\n{context}", without_contexts(&delegation.task).trim_end()),
    };
    let task = Value::from(task);
    if arguments.insert(delegation.argument.to_owned(), task.clone()) == Some(task) {
        return Answer::Nothing;
    }
    Answer::Arguments(arguments)
}

impl Answer {
    /// The answer to what a client told, as JSON on one line; `{}` where there is nothing to say, or
    /// where the client takes no such answer to this event.
    pub(crate) fn render(&self, input: &Input) -> String {
        let value = match self {
            Self::Nothing => None,
            Self::Context(text) if text.is_empty() || !takes_context(input) => None,
            Self::Context(text) => Some(context(input, text)),
            Self::Arguments(_) if !takes_arguments(input) => None,
            Self::Arguments(arguments) => Some(changed(input, arguments)),
        };
        value.unwrap_or_else(|| json!({})).to_string()
    }
}

/// Whether the client gives the agent to read what a hook answers to this event. A sub-agent gets
/// its context with its task, and so not again when it begins.
fn takes_context(input: &Input) -> bool {
    matches!(input.moment, Moment::SessionStart | Moment::Prompt)
}

fn takes_arguments(input: &Input) -> bool {
    matches!(input.moment, Moment::Delegation | Moment::OwnCall)
}

fn context(input: &Input, text: &str) -> Value {
    match input.client {
        Client::ClaudeCode | Client::Codex | Client::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "additionalContext": text}})
        }
        Client::Copilot => json!({"additionalContext": text}),
        Client::Opencode => json!({"context": text}),
    }
}

fn changed(input: &Input, arguments: &Map<String, Value>) -> Value {
    match input.client {
        Client::ClaudeCode => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "updatedInput": arguments}})
        }
        // Codex takes other arguments only together with a decision.
        Client::Codex => json!({"hookSpecificOutput": {
            "hookEventName": input.event, "permissionDecision": "allow", "updatedInput": arguments,
        }}),
        Client::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "tool_input": arguments}})
        }
        Client::Copilot => json!({"permissionDecision": "allow", "modifiedArgs": arguments}),
        Client::Opencode => json!({"args": arguments}),
    }
}
