//! Reads the events of each client.

use serde_json::{Map, Value};

use super::{
    HookClient, HookEvent, HookFields, HookInput, HookToolCall, SubagentIdentity, TaskDelegation,
    first_text,
};

/// The prefixes that clients put before the tools of a server named `commonbook`, also of one that a plugin of
/// that name brings.
const OWN_TOOL_PREFIXES: [&str; 7] = [
    "mcp__commonbook__",
    "mcp__plugin_commonbook_commonbook__",
    "mcp_commonbook_",
    "commonbook__",
    "commonbook-",
    "commonbook_",
    "commonbook/",
];

/// The form of a client's delegation: the tools, and the arguments for role and task.
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
        // Setup installs no hook for its tools.
        HookClient::Cursor => DelegationFormat { tools: &[], role: &[], task: "" },
    }
}

/// The name of a Commonbook tool without the prefix of the client.
pub(super) fn own_tool(name: &str) -> Option<&str> {
    OWN_TOOL_PREFIXES.iter().find_map(|own| name.strip_prefix(own))
}

/// Reads the fields of an event.
pub(super) fn parse_hook_input(client: HookClient, event: &str, fields: &HookFields) -> HookInput {
    let event = fields.text(&["hook_event_name"]).unwrap_or_else(|| event.to_owned());
    // The plugin for opencode passes its own input on under `input`.
    let inner = HookFields(fields.object(&["input"]).unwrap_or_default());
    let tool = parse_tool_call(fields, &inner);
    let mut input = HookInput {
        client,
        moment: hook_event_named(client, &event),
        event,
        // The work of a sub-agent belongs to the session of the agent that delegated it; Copilot and
        // opencode give a sub-agent a session of its own and name its parent.
        session: fields
            .text(&["parentAgentId", "parentID", "session_id", "sessionId", "sessionID"])
            // Cursor names its session so at every event.
            .or_else(|| fields.text(&["conversation_id"]))
            .or_else(|| inner.text(&["sessionID"])),
        cwd: fields.text(&["cwd", "directory"]).or_else(|| fields.first_of("workspace_roots")),
        transcript: fields.text(&["agent_transcript_path", "transcript_path", "transcriptPath"]),
        prompt: fields
            .text(&["prompt", "initialPrompt"])
            .map(|prompt| without_hook_contexts(&prompt)),
        delegation: None,
        subagent: parse_subagent(client, fields, &inner),
        last_message: fields
            .text(&["last_assistant_message", "prompt_response", "response", "last_message"])
            .or_else(|| cursor_message(client, fields)),
        reason: fields.text(&["source", "reason", "trigger"]),
        stop_hook_active: fields.flag("stop_hook_active"),
        has_background_work: has_running_task(fields),
        tool,
    };
    if let Some(info) = fields.object(&["info"]) {
        input.cwd = input.cwd.or_else(|| first_text(&info, &["directory"]));
    }
    input.moment = refine_hook_event(&mut input, fields);
    input.last_message = input.last_message.map(|said| without_hook_contexts(&said));
    input
}

/// The event for this name in a client.
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
        // At a prompt Cursor shows its agent nothing, and `stop` has no text.
        (HookClient::Cursor, _) => match event {
            "sessionStart" => HookEvent::SessionStart,
            "subagentStop" => HookEvent::SubagentStop,
            "preCompact" => HookEvent::Compaction,
            "afterAgentResponse" => HookEvent::TurnEnd,
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
            "event:session.deleted" | "dispose" => HookEvent::SessionEnd,
            _ => HookEvent::Other,
        },
    }
}

/// The event by all fields: the name, the tool, and whether a sub-agent sends it.
fn refine_hook_event(input: &mut HookInput, fields: &HookFields) -> HookEvent {
    let delegating = delegation_format(input.client);
    let is_delegation = |tool: &&HookToolCall| delegating.tools.contains(&tool.name.as_str());
    let within = input.subagent.is_some();
    match input.moment {
        HookEvent::OwnCall => {
            if let Some(tool) = input.tool.as_ref().filter(is_delegation) {
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
        // These clients have no event for it: a sub-agent ends when the tool that ran it returns.
        HookEvent::SubagentStop
            if matches!(input.client, HookClient::Gemini | HookClient::Opencode) =>
        {
            let Some(tool) = input.tool.as_ref().filter(is_delegation) else {
                return HookEvent::Other;
            };
            let role = first_text(&tool.arguments, delegating.role);
            input.prompt = first_text(&tool.arguments, &[delegating.task]);
            input.subagent = Some(SubagentIdentity { role, ..SubagentIdentity::default() });
            input.last_message = tool_answer_text(fields);
            HookEvent::SubagentStop
        }
        HookEvent::SessionStart if input.client == HookClient::Opencode && within => {
            HookEvent::SubagentStart
        }
        // A sub-agent has received its context with its task.
        HookEvent::Prompt if within || input.prompt.as_deref().is_some_and(is_notification) => {
            HookEvent::Other
        }
        // The client sends an event of its own for the end of a sub-agent, whose session goes on.
        HookEvent::TurnEnd | HookEvent::SessionEnd if within => HookEvent::Other,
        moment => moment,
    }
}

/// Whether a sub-agent or a command of the agent still runs in the background.
fn has_running_task(fields: &HookFields) -> bool {
    let tasks = fields.0.get("background_tasks").and_then(Value::as_array);
    tasks.is_some_and(|tasks| tasks.iter().any(|task| task["status"] == "running"))
}

/// Whether the client itself, not the user, sent this prompt.
pub(super) fn is_notification(prompt: &str) -> bool {
    prompt.trim_start().starts_with("<task-notification>")
}

fn parse_tool_call(fields: &HookFields, inner: &HookFields) -> Option<HookToolCall> {
    let name = fields.text(&["tool_name", "toolName"]).or_else(|| inner.text(&["tool"]))?;
    let arguments = fields
        .object(&["tool_input", "toolArgs", "toolInput", "args"])
        .or_else(|| inner.object(&["args"]));
    Some(HookToolCall { name, arguments: arguments.unwrap_or_default() })
}

fn parse_delegation(
    format: &DelegationFormat,
    arguments: &Map<String, Value>,
) -> Option<TaskDelegation> {
    let task = first_text(arguments, &[format.task])?;
    Some(TaskDelegation { role: first_text(arguments, format.role), task, argument: format.task })
}

/// The last message of the agent, or of its sub-agent, in an event of Cursor.
fn cursor_message(client: HookClient, fields: &HookFields) -> Option<String> {
    (client == HookClient::Cursor).then(|| fields.text(&["text", "result", "summary"])).flatten()
}

/// The sub-agent that an event concerns or comes from.
fn parse_subagent(
    client: HookClient,
    fields: &HookFields,
    inner: &HookFields,
) -> Option<SubagentIdentity> {
    if client == HookClient::Opencode {
        let info = HookFields(fields.object(&["info"]).unwrap_or_default());
        let parent = fields.text(&["parentID"]).or_else(|| info.text(&["parentID"]));
        let role = fields
            .text(&["agent"])
            .or_else(|| info.text(&["agent"]))
            .or_else(|| inner.text(&["agent"]));
        let id = fields.text(&["sessionID"]);
        return parent.map(|_| SubagentIdentity { id, role, has_own_transcript: false });
    }
    if client == HookClient::Cursor {
        let role = fields.text(&["subagent_type"])?;
        let has_own_transcript = fields.text(&["agent_transcript_path"]).is_some();
        return Some(SubagentIdentity { id: None, role: Some(role), has_own_transcript });
    }
    let id = fields.text(&["agent_id", "agentId"])?;
    Some(SubagentIdentity {
        id: Some(id),
        role: fields.text(&["agent_type", "agentType", "agentName"]),
        has_own_transcript: fields.text(&["agent_transcript_path"]).is_some(),
    })
}

/// The response of the tool that ran a sub-agent; only the sub-agent's last message, if the client
/// separates it.
fn tool_answer_text(fields: &HookFields) -> Option<String> {
    let response = fields.object(&["tool_response"]);
    let shown = response.as_ref().and_then(|response| response.get("returnDisplay")?.as_object());
    let content = || {
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
        .or_else(content)
        .or_else(|| fields.text(&["output"]).map(without_task_result))
}

/// The answer of a sub-agent without the `<task>` and `<task_result>` that opencode puts around it.
fn without_task_result(output: String) -> String {
    let inner = || {
        let (_, inner) = output.split_once("<task_result>")?;
        Some(inner.rsplit_once("</task_result>")?.0.trim().to_owned())
    };
    inner().unwrap_or(output)
}

/// A text without the blocks that Gemini adds for hooks.
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
