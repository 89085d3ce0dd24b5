//! Which moment an event of a client is, and what it tells of it.

use serde_json::{Map, Value};

use super::{Client, Delegation, Given, Input, Moment, Subagent, Tool, text_in};

/// How our own tools begin, as each client calls the tools of a server named `commonbook`.
const OWN: [&str; 4] = ["mcp__commonbook__", "mcp_commonbook_", "commonbook-", "commonbook_"];

/// How a client hands over a task.
struct Delegating {
    tools: &'static [&'static str],
    role: &'static [&'static str],
    task: &'static str,
}

const fn delegating(client: Client) -> Delegating {
    match client {
        Client::ClaudeCode => {
            Delegating { tools: &["Agent", "Task"], role: &["subagent_type"], task: "prompt" }
        }
        Client::Codex => {
            Delegating { tools: &["spawn_agent"], role: &["agent_type"], task: "message" }
        }
        Client::Gemini => {
            Delegating { tools: &["invoke_agent"], role: &["agent_name"], task: "prompt" }
        }
        Client::Copilot => {
            Delegating { tools: &["task"], role: &["agent_type", "subagent_type"], task: "prompt" }
        }
        Client::Opencode => {
            Delegating { tools: &["task"], role: &["subagent_type"], task: "prompt" }
        }
    }
}

/// The name that one of our tools has here, by what a client calls it.
pub(super) fn own_tool(name: &str) -> Option<&str> {
    OWN.iter().find_map(|own| name.strip_prefix(own))
}

/// What a client told about an event.
pub(super) fn of(client: Client, event: &str, given: &Given) -> Input {
    let event = given.text(&["hook_event_name"]).unwrap_or_else(|| event.to_owned());
    // The plugin for opencode hands on what it was given under `input`.
    let inner = Given(given.object(&["input"]).unwrap_or_default());
    let tool = tool(given, &inner);
    let mut input = Input {
        client,
        moment: moment(client, &event),
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
        subagent: subagent(client, given, &inner),
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
        input.cwd = input.cwd.or_else(|| text_in(&info, &["directory"]));
    }
    input.moment = narrowed(&mut input, given);
    input.last_message = input.last_message.map(|said| without_hook_contexts(&said));
    input
}

/// The moment that an event is by its name.
fn moment(client: Client, event: &str) -> Moment {
    match (client, event) {
        (Client::ClaudeCode | Client::Codex, _) => match event {
            "SessionStart" => Moment::SessionStart,
            "UserPromptSubmit" => Moment::Prompt,
            "PreToolUse" => Moment::OwnCall,
            "SubagentStart" => Moment::SubagentStart,
            "SubagentStop" => Moment::SubagentStop,
            "PreCompact" => Moment::Compaction,
            "Stop" => Moment::TurnEnd,
            "SessionEnd" => Moment::SessionEnd,
            _ => Moment::Other,
        },
        (Client::Gemini, _) => match event {
            "SessionStart" => Moment::SessionStart,
            "BeforeAgent" => Moment::Prompt,
            "BeforeTool" => Moment::OwnCall,
            "AfterTool" => Moment::SubagentStop,
            "PreCompress" => Moment::Compaction,
            "AfterAgent" => Moment::TurnEnd,
            "SessionEnd" => Moment::SessionEnd,
            _ => Moment::Other,
        },
        (Client::Copilot, _) => match event {
            "sessionStart" => Moment::SessionStart,
            "userPromptSubmitted" => Moment::Prompt,
            "preToolUse" => Moment::OwnCall,
            "subagentStart" => Moment::SubagentStart,
            "subagentStop" => Moment::SubagentStop,
            "preCompact" => Moment::Compaction,
            "agentStop" => Moment::TurnEnd,
            "sessionEnd" => Moment::SessionEnd,
            _ => Moment::Other,
        },
        (Client::Opencode, _) => match event {
            "event:session.created" => Moment::SessionStart,
            "chat.message" | "experimental.chat.system.transform" | "system.transform" => {
                Moment::Prompt
            }
            "tool.execute.before" | "tool.before" => Moment::OwnCall,
            "tool.execute.after" | "tool.after" => Moment::SubagentStop,
            "experimental.session.compacting" => Moment::Compaction,
            "event:session.idle" => Moment::TurnEnd,
            "event:session.deleted" => Moment::SessionEnd,
            _ => Moment::Other,
        },
    }
}

/// The moment by all that is known: which tool it is about, and whether it comes from an agent that
/// was given a task.
fn narrowed(input: &mut Input, given: &Given) -> Moment {
    let delegating = delegating(input.client);
    let of_tool = |tool: &&Tool| delegating.tools.contains(&tool.name.as_str());
    let within = input.subagent.is_some();
    match input.moment {
        Moment::OwnCall => {
            if let Some(tool) = input.tool.as_ref().filter(of_tool) {
                input.delegation = delegation(&delegating, &tool.arguments);
                return if input.delegation.is_some() { Moment::Delegation } else { Moment::Other };
            }
            let own = input.tool.as_ref().is_some_and(|tool| own_tool(&tool.name).is_some());
            if own { Moment::OwnCall } else { Moment::Other }
        }
        // Where a client has no event for it, an agent is done when the tool that ran it is.
        Moment::SubagentStop if matches!(input.client, Client::Gemini | Client::Opencode) => {
            let Some(tool) = input.tool.as_ref().filter(of_tool) else { return Moment::Other };
            let role = text_in(&tool.arguments, delegating.role);
            input.subagent = Some(Subagent { id: None, role });
            input.last_message = answer_of_tool(given);
            Moment::SubagentStop
        }
        Moment::SessionStart if input.client == Client::Opencode && within => Moment::SubagentStart,
        // The task of such an agent was given its context when it was handed over.
        Moment::Prompt if within || is_notification(input.prompt.as_deref()) => Moment::Other,
        // Its end is told by an event of its own.
        Moment::TurnEnd if within => Moment::Other,
        moment => moment,
    }
}

/// Whether a prompt is a message of the client itself, and not the user's.
fn is_notification(prompt: Option<&str>) -> bool {
    prompt.is_some_and(|prompt| prompt.trim_start().starts_with("<task-notification>"))
}

fn tool(given: &Given, inner: &Given) -> Option<Tool> {
    let name = given.text(&["tool_name", "toolName"]).or_else(|| inner.text(&["tool"]))?;
    let arguments = given
        .object(&["tool_input", "toolArgs", "toolInput", "args"])
        .or_else(|| inner.object(&["args"]));
    Some(Tool { name, arguments: arguments.unwrap_or_default() })
}

fn delegation(how: &Delegating, arguments: &Map<String, Value>) -> Option<Delegation> {
    let task = text_in(arguments, &[how.task])?;
    Some(Delegation { role: text_in(arguments, how.role), task, argument: how.task })
}

/// The agent that an event is about or comes from, where it was given a task.
fn subagent(client: Client, given: &Given, inner: &Given) -> Option<Subagent> {
    if client == Client::Opencode {
        let info = Given(given.object(&["info"]).unwrap_or_default());
        let parent = given.text(&["parentID"]).or_else(|| info.text(&["parentID"]));
        let role = given
            .text(&["agent"])
            .or_else(|| info.text(&["agent"]))
            .or_else(|| inner.text(&["agent"]));
        return parent.map(|_| Subagent { id: given.text(&["sessionID"]), role });
    }
    let id = given.text(&["agent_id", "agentId"])?;
    Some(Subagent { id: Some(id), role: given.text(&["agent_type", "agentType", "agentName"]) })
}

/// What the tool that ran an agent answered: the agent's own last words, where they are told apart.
fn answer_of_tool(given: &Given) -> Option<String> {
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
        .and_then(|shown| text_in(shown, &["result"]))
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
