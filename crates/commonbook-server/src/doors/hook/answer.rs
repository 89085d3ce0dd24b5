//! The output of a hook, in the form that its client expects.

use commonbook_text::echo::without_contexts;
use serde_json::{Map, Value, json};

use super::HookInput;
use crate::clients::hook_event::{HookClient, HookEvent};

/// The response of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HookResponse {
    /// Nothing.
    Nothing,
    /// Text for the agent.
    Context(String),
    /// All arguments of the tool, with the changes of the hook.
    Arguments(Map<String, Value>),
    /// A question with which the agent goes on instead of ending.
    Question(&'static str),
}

/// The arguments of the delegating tool with `context` behind the task, in place of an older context
/// in it. Returns `Nothing` if the event delegates no task or nothing changes.
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
    /// The output for this input as JSON on one line; `{}` if the response is empty or the client
    /// accepts no such output for this event.
    pub(crate) fn render(&self, input: &HookInput) -> String {
        let value = match self {
            Self::Nothing => None,
            Self::Context(text) if text.is_empty() || !takes_context(input) => None,
            Self::Context(text) => Some(context_output(input, text)),
            Self::Arguments(_) if !takes_arguments(input) => None,
            Self::Arguments(arguments) => Some(arguments_output(input, arguments)),
            Self::Question(text) => Some(question_output(input.client, text)),
        };
        value.unwrap_or_else(|| json!({})).to_string()
    }
}

/// Whether the client shows the output of this event to the agent. A sub-agent has received its
/// context with its task, and gets none when it starts.
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
        HookClient::Cursor => json!({"additional_context": text}),
    }
}

/// The decision that keeps an agent from ending.
fn question_output(client: HookClient, text: &str) -> Value {
    let decision = if client == HookClient::Gemini { "deny" } else { "block" };
    json!({"decision": decision, "reason": text})
}

fn arguments_output(input: &HookInput, arguments: &Map<String, Value>) -> Value {
    match input.client {
        HookClient::ClaudeCode => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "updatedInput": arguments}})
        }
        // Codex accepts changed arguments only with a decision.
        HookClient::Codex => json!({"hookSpecificOutput": {
            "hookEventName": input.event, "permissionDecision": "allow", "updatedInput": arguments,
        }}),
        HookClient::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": input.event, "tool_input": arguments}})
        }
        HookClient::Copilot => json!({"modifiedArgs": arguments}),
        HookClient::Opencode => json!({"args": arguments}),
        HookClient::Cursor => json!({"updated_input": arguments}),
    }
}
