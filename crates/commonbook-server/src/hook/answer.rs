//! What a hook answers, in the shape that its client takes.

use commonbook_text::echo::without_contexts;
use serde_json::{Map, Value, json};

use super::{HookClient, HookEvent, HookInput};

/// What a hook has to say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HookResponse {
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
pub(crate) fn delegation_response(input: &HookInput, context: &str) -> HookResponse {
    let (Some(delegation), Some(tool)) = (&input.delegation, &input.tool) else {
        return HookResponse::Nothing;
    };
    let mut arguments = tool.arguments.clone();
    let task = match context {
        "" => delegation.task.clone(),
        context => format!("{}\n\n{context}", without_contexts(&delegation.task).trim_end()),
    };
    let task = Value::from(task);
    if arguments.insert(delegation.argument.to_owned(), task.clone()) == Some(task) {
        return HookResponse::Nothing;
    }
    HookResponse::Arguments(arguments)
}

impl HookResponse {
    /// The answer to what a client told, as JSON on one line; `{}` where there is nothing to say, or
    /// where the client takes no such answer to this event.
    pub(crate) fn render(&self, input: &HookInput) -> String {
        let value = match self {
            Self::Nothing => None,
            Self::Context(text) if text.is_empty() || !takes_context(input) => None,
            Self::Context(text) => Some(context_output(input, text)),
            Self::Arguments(_) if !takes_arguments(input) => None,
            Self::Arguments(arguments) => Some(arguments_output(input, arguments)),
        };
        value.unwrap_or_else(|| json!({})).to_string()
    }
}

/// Whether the client gives the agent to read what a hook answers to this event. A sub-agent gets
/// its context with its task, and so not again when it begins.
fn takes_context(input: &HookInput) -> bool {
    matches!(input.moment, HookEvent::SessionStart | HookEvent::Prompt)
}

fn takes_arguments(input: &HookInput) -> bool {
    matches!(input.moment, HookEvent::Delegation | HookEvent::OwnCall)
}

fn context_output(input: &HookInput, text: &str) -> Value {
    match input.client {
        HookClient::ClaudeCode | HookClient::Codex | HookClient::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "additionalContext": text}})
        }
        HookClient::Copilot => json!({"additionalContext": text}),
        HookClient::Opencode => json!({"context": text}),
    }
}

fn arguments_output(input: &HookInput, arguments: &Map<String, Value>) -> Value {
    match input.client {
        HookClient::ClaudeCode => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "updatedInput": arguments}})
        }
        // Codex takes other arguments only together with a decision.
        HookClient::Codex => json!({"hookSpecificOutput": {
            "hookEventName": input.event, "permissionDecision": "allow", "updatedInput": arguments,
        }}),
        HookClient::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "tool_input": arguments}})
        }
        HookClient::Copilot => json!({"permissionDecision": "allow", "modifiedArgs": arguments}),
        HookClient::Opencode => json!({"args": arguments}),
    }
}
