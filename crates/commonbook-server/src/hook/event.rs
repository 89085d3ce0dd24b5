//! Which moment an event of a client is, and what it tells of it.

use serde_json::{Map, Value};

use super::{
    HookClient, HookEvent, HookFields, HookInput, HookToolCall, SubagentIdentity, TaskDelegation,
    first_text,
};

/// How our own tools begin, as each client calls the tools of a server named `commonbook`.
const OWN_TOOL_PREFIXES: [&str; 4] =
    ["mcp__commonbook__", "mcp_commonbook_", "commonbook-", "commonbook_"];

/// How a client hands over a task.
struct DelegationFormat {
    tools: &'static [&'static str],
    role: &'static [&'static str],
    task: &'static str,
}

const fn delegation_format(client: HookClient) -> DelegationFormat {
    match client {
        HookClient::ClaudeCode => {
            DelegationFormat { tools: &["Agent", "Task"], role: &["subagent_type"], task: "prompt" }
        }
        HookClient::Codex => {
            DelegationFormat { tools: &["spawn_agent"], role: &["agent_type"], task: "message" }
        }
        HookClient::Gemini => {
            DelegationFormat { tools: &["invoke_agent"], role: &["agent_name"], task: "prompt" }
        }
        HookClient::Copilot => DelegationFormat {
            tools: &["task"],
            role: &["agent_type", "subagent_type"],
            task: "prompt",
        },
        HookClient::Opencode => {
            DelegationFormat { tools: &["task"], role: &["subagent_type"], task: "prompt" }
        }
    }
}

/// The name that one of our tools has here, by what a client calls it.
pub(super) fn own_tool(name: &str) -> Option<&str> {
    OWN_TOOL_PREFIXES.iter().find_map(|own| name.strip_prefix(own))
}

/// What a client told about an event.
pub(super) fn parse_hook_input(client: HookClient, event: &str, given: &HookFields) -> HookInput {
    let event = given.text(&["hook_event_name"]).unwrap_or_else(|| event.to_owned());
    // The plugin for opencode hands on what it was given under `input`.
    let inner = HookFields(given.object(&["input"]).unwrap_or_default());
    let tool = parse_tool_call(given, &inner);
    let mut input = HookInput {
        client,
        moment: hook_event_named(client, &event),
        event,
        session: given
            .text(&["session_id", "sessionId", "sessionID"])
            .or_else(|| inner.text(&["sessionID"])),
        cwd: given.text(&["cwd", "directory"]),
        transcript: given.text(&["agent_transcript_path", "transcript_path", "transcriptPath"]),
        prompt: given
            .text(&["prompt", "initialPrompt"])
            .map(|prompt| without_hook_contexts(&prompt)),
        delegation: None,
        subagent: parse_subagent(client, given, &inner),
        last_message: given.text(&[
            "last_assistant_message",
            "prompt_response",
            "response",
            "last_message",
        ]),
        reason: given.text(&["source", "reason", "trigger"]),
        stop_hook_active: given.flag("stop_hook_active"),
        tool,
    };
    if let Some(info) = given.object(&["info"]) {
        input.cwd = input.cwd.or_else(|| first_text(&info, &["directory"]));
    }
    input.moment = refine_hook_event(&mut input, given);
    input.last_message = input.last_message.map(|said| without_hook_contexts(&said));
    input
}

/// The moment that an event is by its name.
fn hook_event_named(client: HookClient, event: &str) -> HookEvent {
    match (client, event) {
        (HookClient::ClaudeCode | HookClient::Codex, _) => match event {
            "SessionStart" => HookEvent::SessionStart,
            "UserPromptSubmit" => HookEvent::Prompt,
            "PreToolUse" => HookEvent::OwnCall,
            "SubagentStart" => HookEvent::SubagentStart,
            "SubagentStop" => HookEvent::SubagentStop,
            "PreCompact" => HookEvent::Compaction,
            "Stop" => HookEvent::TurnEnd,
            "SessionEnd" => HookEvent::SessionEnd,
            _ => HookEvent::Other,
        },
        (HookClient::Gemini, _) => match event {
            "SessionStart" => HookEvent::SessionStart,
            "BeforeAgent" => HookEvent::Prompt,
            "BeforeTool" => HookEvent::OwnCall,
            "AfterTool" => HookEvent::SubagentStop,
            "PreCompress" => HookEvent::Compaction,
            "AfterAgent" => HookEvent::TurnEnd,
            "SessionEnd" => HookEvent::SessionEnd,
            _ => HookEvent::Other,
        },
        (HookClient::Copilot, _) => match event {
            "sessionStart" => HookEvent::SessionStart,
            "userPromptSubmitted" => HookEvent::Prompt,
            "preToolUse" => HookEvent::OwnCall,
            "subagentStart" => HookEvent::SubagentStart,
            "subagentStop" => HookEvent::SubagentStop,
            "preCompact" => HookEvent::Compaction,
            "agentStop" => HookEvent::TurnEnd,
            "sessionEnd" => HookEvent::SessionEnd,
            _ => HookEvent::Other,
        },
        (HookClient::Opencode, _) => match event {
            "event:session.created" => HookEvent::SessionStart,
            "chat.message" | "experimental.chat.system.transform" | "system.transform" => {
                HookEvent::Prompt
            }
            "tool.execute.before" | "tool.before" => HookEvent::OwnCall,
            "tool.execute.after" | "tool.after" => HookEvent::SubagentStop,
            "experimental.session.compacting" => HookEvent::Compaction,
            "event:session.idle" => HookEvent::TurnEnd,
            "event:session.deleted" => HookEvent::SessionEnd,
            _ => HookEvent::Other,
        },
    }
}

/// The moment by all that is known: which tool it is about, and whether it comes from an agent that
/// was given a task.
fn refine_hook_event(input: &mut HookInput, given: &HookFields) -> HookEvent {
    let delegating = delegation_format(input.client);
    let of_tool = |tool: &&HookToolCall| delegating.tools.contains(&tool.name.as_str());
    let within = input.subagent.is_some();
    match input.moment {
        HookEvent::OwnCall => {
            if let Some(tool) = input.tool.as_ref().filter(of_tool) {
                input.delegation = parse_delegation(&delegating, &tool.arguments);
                return if input.delegation.is_some() {
                    HookEvent::Delegation
                } else {
                    HookEvent::Other
                };
            }
            let own = input.tool.as_ref().is_some_and(|tool| own_tool(&tool.name).is_some());
            if own { HookEvent::OwnCall } else { HookEvent::Other }
        }
        // Where a client has no event for it, an agent is done when the tool that ran it is.
        HookEvent::SubagentStop
            if matches!(input.client, HookClient::Gemini | HookClient::Opencode) =>
        {
            let Some(tool) = input.tool.as_ref().filter(of_tool) else { return HookEvent::Other };
            let role = first_text(&tool.arguments, delegating.role);
            input.subagent = Some(SubagentIdentity { id: None, role });
            input.last_message = tool_answer_text(given);
            HookEvent::SubagentStop
        }
        HookEvent::SessionStart if input.client == HookClient::Opencode && within => {
            HookEvent::SubagentStart
        }
        // The task of such an agent was given its context when it was handed over.
        HookEvent::Prompt if within || is_notification(input.prompt.as_deref()) => HookEvent::Other,
        // The client sends an event of its own for the end of a sub-agent.
        HookEvent::TurnEnd if within => HookEvent::Other,
        moment => moment,
    }
}

/// Whether a prompt is a message of the client itself, and not the user's.
fn is_notification(prompt: Option<&str>) -> bool {
    prompt.is_some_and(|prompt| prompt.trim_start().starts_with("<task-notification>"))
}

fn parse_tool_call(given: &HookFields, inner: &HookFields) -> Option<HookToolCall> {
    let name = given.text(&["tool_name", "toolName"]).or_else(|| inner.text(&["tool"]))?;
    let arguments = given
        .object(&["tool_input", "toolArgs", "toolInput", "args"])
        .or_else(|| inner.object(&["args"]));
    Some(HookToolCall { name, arguments: arguments.unwrap_or_default() })
}

fn parse_delegation(
    how: &DelegationFormat,
    arguments: &Map<String, Value>,
) -> Option<TaskDelegation> {
    let task = first_text(arguments, &[how.task])?;
    Some(TaskDelegation { role: first_text(arguments, how.role), task, argument: how.task })
}

/// The agent that an event is about or comes from, where it was given a task.
fn parse_subagent(
    client: HookClient,
    given: &HookFields,
    inner: &HookFields,
) -> Option<SubagentIdentity> {
    if client == HookClient::Opencode {
        let info = HookFields(given.object(&["info"]).unwrap_or_default());
        let parent = given.text(&["parentID"]).or_else(|| info.text(&["parentID"]));
        let role = given
            .text(&["agent"])
            .or_else(|| info.text(&["agent"]))
            .or_else(|| inner.text(&["agent"]));
        return parent.map(|_| SubagentIdentity { id: given.text(&["sessionID"]), role });
    }
    let id = given.text(&["agent_id", "agentId"])?;
    Some(SubagentIdentity {
        id: Some(id),
        role: given.text(&["agent_type", "agentType", "agentName"]),
    })
}

/// The answer of the tool that ran a sub-agent: the sub-agent's last message, if the client separates it.
fn tool_answer_text(given: &HookFields) -> Option<String> {
    let response = given.object(&["tool_response"]);
    let shown = response.as_ref().and_then(|it| it.get("returnDisplay")?.as_object());
    let told = || {
        let parts = response.as_ref()?.get("llmContent")?;
        let texts = |parts: &Vec<Value>| {
            parts
                .iter()
                .filter_map(|part| part.get("text")?.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        };
        parts.as_str().map(str::to_owned).or_else(|| parts.as_array().map(texts))
    };
    shown
        .and_then(|shown| first_text(shown, &["result"]))
        .or_else(told)
        .or_else(|| given.text(&["output"]))
}

/// A text without what Gemini puts into it for hooks.
fn without_hook_contexts(text: &str) -> String {
    let (open, close) = ("<hook_context>", "</hook_context>");
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once(open) {
        let Some((_, after)) = behind.split_once(close) else { break };
        kept.push_str(before);
        rest = after;
    }
    if kept.is_empty() && rest.len() == text.len() {
        return text.to_owned();
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}
