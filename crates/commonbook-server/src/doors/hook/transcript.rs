//! The transcripts of clients whose event for the end of a turn carries no prompt, or no message.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::input;
use jiff::Timestamp;
use serde_json::Value;

use super::SubagentIdentity;
use super::event::is_notification;
use super::saving;

/// Bytes at the end of a transcript that are read; a message that begins before them is not found.
const TAIL_BYTES_MAX: u64 = 1 << 20;

/// Bytes at the end of a transcript in which a run is looked for; of a longer one, its end is read.
const RUN_BYTES_MAX: u64 = 4 << 20;

/// The tool of Codex whose text is a change of files, which runs nothing.
const PATCH_TOOL: &str = "apply_patch";

/// How long to wait for the last message: Copilot writes its transcript while the hook runs.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// How often to look for the last message.
const WRITE_POLL: Duration = Duration::from_millis(25);

/// The last message of the main agent, once the transcript has it.
///
/// # Errors
/// `unavailable` if the file cannot be read.
#[expect(clippy::disallowed_methods, reason = "no event says that Copilot has written the file")]
pub(super) fn await_last_message(path: &Path) -> Result<Option<String>> {
    let end = Instant::now() + WRITE_TIMEOUT;
    loop {
        match last_message(path) {
            Ok(None) | Err(_) if Instant::now() < end => std::thread::sleep(WRITE_POLL),
            found => return found,
        }
    }
}

/// The last prompt that the user sent, or the task of a sub-agent with a transcript of its own;
/// `None` if the end of the transcript has none, or the client has not created it yet: Claude Code does
/// so while the hook of a short first turn runs.
///
/// # Errors
/// `unavailable` if the file cannot be read.
pub(super) fn last_prompt(path: &Path, of_subagent: bool) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let tail = tail_of(path)?;
    let mut events = events_from_last(&tail).filter(|event| {
        let of_other = event["isSidechain"] == true || !event["agentId"].is_null();
        event["isMeta"] != true && (of_subagent || !of_other)
    });
    Ok(events.find_map(|event| prompt_of(&event)))
}

/// Lines at the beginning of a result of Codex that may say how a command ended.
const CODEX_HEAD_LINES: usize = 6;

/// What an agent did in a run, as far as its transcript shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunExtent {
    /// Its tool calls.
    pub(super) calls: usize,
    /// The time between its first and its last event, in seconds.
    pub(super) seconds: i64,
    /// Whether it left something for other agents: a call that failed left nothing.
    pub(super) has_saved: bool,
}

/// The last run of an agent: since the last prompt, or the whole of a sub-agent. `None` if there is no
/// transcript.
///
/// # Errors
/// `unavailable` if the file cannot be read.
pub(super) fn last_run(
    path: &Path,
    subagent: Option<&SubagentIdentity>,
) -> Result<Option<RunExtent>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = end_of(path, RUN_BYTES_MAX)?;
    let is_own = |event: &Value| match subagent {
        Some(agent) if agent.has_own_transcript => true,
        Some(agent) => agent.id.is_some() && event["agentId"].as_str() == agent.id.as_deref(),
        None => event["isSidechain"] != true && event["agentId"].is_null(),
    };
    let events = events_of(&text).into_iter();
    let (mut run, mut known, mut begun) = (RunExtent::default(), BTreeSet::new(), None);
    let mut saving = BTreeSet::new();
    for event in events.filter(is_own) {
        let is_note = event["isMeta"] == true || event["isCompactSummary"] == true;
        if subagent.is_none() && !is_note && prompt_of(&event).is_some() {
            (run, begun) = (RunExtent::default(), None);
            saving.clear();
        }
        if let Some(at) = event["timestamp"].as_str().and_then(|at| at.parse::<Timestamp>().ok()) {
            let begun = begun.get_or_insert(at);
            run.seconds = at.as_second().saturating_sub(begun.as_second());
        }
        for call in tool_calls(&event) {
            if call.id.is_none_or(|id| known.insert(id.to_owned())) {
                run.calls += 1;
                if call.saves() {
                    saving.insert(call.id.map(str::to_owned));
                }
            }
        }
        for id in failed_calls(&event) {
            saving.remove(&Some(id.to_owned()));
        }
    }
    run.has_saved = !saving.is_empty();
    Ok(Some(run))
}

/// A call of a tool in a transcript.
struct RecordedCall<'e> {
    id: Option<&'e str>,
    content: CallContent<'e>,
}

/// What a call of a tool runs.
enum CallContent<'e> {
    /// A tool by its name.
    Named { name: String, arguments: &'e Value },
    /// Code that calls tools.
    Code(&'e str),
}

impl RecordedCall<'_> {
    /// Whether it leaves something for other agents.
    fn saves(&self) -> bool {
        match &self.content {
            CallContent::Named { name, arguments } => saving::saves(name, arguments),
            CallContent::Code(code) => saving::saves_in_code(code),
        }
    }
}

/// The calls in an event of Claude Code, Codex, Copilot or Gemini.
fn tool_calls(event: &Value) -> Vec<RecordedCall<'_>> {
    fn call<'e>(
        value: &'e Value,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Option<RecordedCall<'e>> {
        let (name, arguments) = (value[name].as_str()?.to_owned(), &value[arguments]);
        Some(RecordedCall {
            id: value[id].as_str(),
            content: CallContent::Named { name, arguments },
        })
    }
    match event["type"].as_str() {
        Some("assistant") => {
            let parts = event["message"]["content"].as_array().into_iter().flatten();
            let calls = parts.filter(|part| part["type"] == "tool_use");
            calls.filter_map(|part| call(part, "id", "name", "input")).collect()
        }
        Some("response_item") => codex_call(&event["payload"]).into_iter().collect(),
        Some("tool.execution_start") => {
            call(&event["data"], "toolCallId", "toolName", "arguments").into_iter().collect()
        }
        Some("gemini") => {
            let calls = event["toolCalls"].as_array().into_iter().flatten();
            calls.filter_map(|part| call(part, "id", "name", "args")).collect()
        }
        _ => Vec::new(),
    }
}

/// The ids of the calls that failed, in an event of Claude Code, Copilot, Gemini or Codex with their results.
fn failed_calls(event: &Value) -> Vec<&str> {
    fn ids<'e>(list: &'e Value, id: &str, has_failed: fn(&Value) -> bool) -> Vec<&'e str> {
        let failed = list.as_array().into_iter().flatten().filter(|it| has_failed(it));
        failed.filter_map(|it| it[id].as_str()).collect()
    }
    match event["type"].as_str() {
        Some("user") => {
            ids(&event["message"]["content"], "tool_use_id", |part| part["is_error"] == true)
        }
        Some("gemini") => ids(&event["toolCalls"], "id", |call| {
            ["error", "cancelled"].iter().any(|status| call["status"] == *status)
        }),
        Some("tool.execution_complete") if event["data"]["success"] == false => {
            event["data"]["toolCallId"].as_str().into_iter().collect()
        }
        Some("response_item") if codex_has_failed(&event["payload"]["output"]) => {
            event["payload"]["call_id"].as_str().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the result of a call of Codex says that it failed: an object, or one as JSON in a text, with `success` or the
/// exit code of a command, or the words that a shell's result begins with.
fn codex_has_failed(output: &Value) -> bool {
    let text = output.as_str().unwrap_or_default();
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    let result = parsed.as_ref().unwrap_or(output);
    let exit_code = result["metadata"]["exit_code"].as_i64();
    let exit_line = || {
        let code = ["Exit code: ", "Process exited with code "].iter().find_map(|mark| {
            text.lines().take(CODEX_HEAD_LINES).find_map(|it| it.strip_prefix(mark))
        });
        code.is_some_and(|code| code.trim() != "0")
    };
    result["success"] == false || exit_code.is_some_and(|code| code != 0) || exit_line()
}

/// The call in an item of Codex: of a function, which may stand in the namespace of a server, of a tool that
/// takes text, or of the shell, which has no name.
fn codex_call(item: &Value) -> Option<RecordedCall<'_>> {
    let name = || item["name"].as_str();
    let content = match item["type"].as_str()? {
        "custom_tool_call" if name() != Some(PATCH_TOOL) => {
            CallContent::Code(item["input"].as_str().unwrap_or_default())
        }
        "local_shell_call" => {
            CallContent::Named { name: String::new(), arguments: &item["action"] }
        }
        kind if kind.ends_with("_call") => {
            let namespace = item["namespace"].as_str().map(|it| it.trim_end_matches('_'));
            let prefix = namespace.map_or_else(String::new, |it| format!("{it}__"));
            let name = format!("{prefix}{}", name().unwrap_or_default());
            CallContent::Named { name, arguments: &item["arguments"] }
        }
        _ => return None,
    };
    Some(RecordedCall { id: item["call_id"].as_str(), content })
}

/// The prompt in an event of Copilot, Codex, Claude Code or Gemini. A notification is the client's own.
fn prompt_of(event: &Value) -> Option<String> {
    let text = match event["type"].as_str()? {
        "user.message" => event["data"]["content"].as_str()?.to_owned(),
        "event_msg" if event["payload"]["type"] == "user_message" => {
            event["payload"]["message"].as_str()?.to_owned()
        }
        "user" => message_text(event)?,
        _ => return None,
    };
    let is_prompt = !text.trim().is_empty() && !is_notification(&text);
    is_prompt.then_some(text)
}

/// The text of a message of the user to Claude Code, or to Gemini, whose parts have no type.
fn message_text(event: &Value) -> Option<String> {
    let content = event["message"].get("content").unwrap_or(&event["content"]);
    let part_text = |part: &Value| {
        let is_text = part["type"].is_null() || part["type"] == "text";
        part["text"].as_str().filter(|_| is_text).map(str::to_owned)
    };
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            Some(parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n"))
        }
        part => part_text(part),
    }
}

/// The last message of the main agent since the last prompt: each line is an event in JSON, and
/// events of sub-agents carry an `agentId`.
fn last_message(path: &Path) -> Result<Option<String>> {
    let tail = tail_of(path)?;
    let mut own = events_from_last(&tail).filter(|event| event["agentId"].is_null());
    let message = own.find_map(|event| match event["type"].as_str()? {
        "user.message" => Some(None),
        "assistant.message" => {
            let text = event["data"]["content"].as_str().filter(|text| !text.trim().is_empty())?;
            Some(Some(text.to_owned()))
        }
        _ => None,
    });
    Ok(message.flatten())
}

/// The event of a line of a transcript; `None` if the line is none, such as one that was cut.
fn event_of(line: &str) -> Option<Value> {
    input::json(line.as_bytes()).map(input::without_controls).ok()
}

/// The events of a transcript: one a line, or the messages of a whole document, as Gemini once wrote it.
fn events_of(text: &str) -> Vec<Value> {
    let document = event_of(text).filter(|document| document["messages"].is_array());
    match document {
        Some(mut document) => match document["messages"].take() {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        },
        None => text.lines().filter_map(event_of).collect(),
    }
}

/// The events of a transcript, last first: each line is one in JSON.
fn events_from_last(tail: &str) -> impl Iterator<Item = Value> {
    tail.lines().rev().filter_map(event_of)
}

/// The text at the end of a transcript that has the last messages.
fn tail_of(path: &Path) -> Result<String> {
    end_of(path, TAIL_BYTES_MAX)
}

/// The last bytes of a transcript.
fn end_of(path: &Path, bytes: u64) -> Result<String> {
    let tail = read_end(path, bytes).map_err(|error| {
        let message = format!("cannot read the transcript {}", path.display());
        Error::new(ErrorKind::Unavailable, message).with_cause(error)
    })?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

fn read_end(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut tail = Vec::new();
    file.take(bytes).read_to_end(&mut tail)?;
    Ok(tail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(text: &str, agent: Option<&str>) -> Value {
        let mut event = json!({"type": "assistant.message", "data": {"content": text}});
        if let Some(agent) = agent {
            event["agentId"] = json!(agent);
        }
        event
    }

    #[test]
    fn the_last_message_of_the_main_agent_since_the_prompt_counts() {
        let prompt = json!({"type": "user.message", "data": {"content": "go on"}});
        let table = [
            (vec![], None),
            (vec![prompt.clone(), said("Done.", None)], Some("Done.")),
            (
                vec![prompt.clone(), said("Done.", None), said("of a child", Some("a1"))],
                Some("Done."),
            ),
            (vec![prompt.clone(), said("Done.", None), said("", None)], Some("Done.")),
            (vec![said("An older turn", None), prompt.clone(), said(" ", None)], None),
            (vec![prompt, said("Done.", None), json!("not an event"), json!(7)], Some("Done.")),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        for (events, expected) in table {
            let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
            std::fs::write(file.path(), lines + "{ cut").unwrap();
            assert_eq!(last_message(file.path()).unwrap().as_deref(), expected, "{events:?}");
        }
        let long = format!("{}\n{}\n", json!({"x": "é".repeat(1 << 20)}), said("Done.", None));
        std::fs::write(file.path(), long).unwrap();
        assert_eq!(last_message(file.path()).unwrap().as_deref(), Some("Done."));
        assert!(last_message(Path::new("/nowhere/at/all")).is_err());
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn a_run_of_each_client_begins_at_its_prompt_and_shows_what_was_saved() {
        let item = |payload: Value| json!({"type": "response_item", "payload": payload});
        let gemini = |name: &str, arguments: Value| json!({"type": "gemini", "content": "", "toolCalls": [{"id": name, "name": name, "args": arguments}]});
        let gemini_prompt = |content: Value| json!({"id": "u", "type": "user", "content": content});
        let claude = json!({"type": "assistant", "message": {"content": [{"type": "tool_use",
            "id": "t", "name": "Bash", "input": {"command": "cd x && commonbook save 'a fact'"}}]}});
        let copilot = json!({"type": "tool.execution_start", "data": {"toolCallId": "c",
            "toolName": "commonbook-sessions", "arguments": {"action": "checkpoint", "title": "t"}}});
        let save = gemini("mcp_commonbook_save_memory", json!({"text": "x"}));
        let shell = gemini("run_shell_command", json!({"command": "commonbook case append k x"}));
        let code = |name: &str, input: &str| {
            item(json!({"type": "custom_tool_call", "call_id": "c", "name": name, "input": input}))
        };
        let parts = gemini_prompt(json!([{"text": "next"}]));
        let returned = gemini_prompt(json!([{"functionResponse": {"name": "save_memory"}}]));
        let result = |has_failed: bool| {
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t",
                "is_error": has_failed, "content": "the text has a secret"}]}})
        };
        let copilot_result = |success: bool| json!({"type": "tool.execution_complete", "data": {"toolCallId": "c", "success": success}});
        let call = item(json!({"type": "function_call", "call_id": "c", "name": "save_memory",
            "namespace": "mcp__commonbook", "arguments": "{}"}));
        let output = |output: Value| {
            item(json!({"type": "function_call_output", "call_id": "c", "output": output}))
        };
        let mut refused = save.clone();
        refused["toolCalls"][0]["status"] = json!("error");
        let mut again = claude.clone();
        again["message"]["content"][0]["id"] = json!("t2");
        let table = [
            (vec![claude.clone(), result(false)], 1, true),
            (vec![claude.clone(), result(true)], 1, false),
            (vec![claude.clone(), result(true), again], 2, true),
            (vec![copilot.clone(), copilot_result(true)], 1, true),
            (vec![copilot.clone(), copilot_result(false)], 1, false),
            (vec![refused], 1, false),
            (vec![call.clone(), output(json!("Saved."))], 1, true),
            (vec![call.clone(), output(json!({"content": "invalid", "success": false}))], 1, false),
            (
                vec![call.clone(), output(json!("Wall time: 1\nProcess exited with code 2\n"))],
                1,
                false,
            ),
            (vec![call, output(json!(r#"{"output":"","metadata":{"exit_code":3}}"#))], 1, false),
            (vec![claude], 1, true),
            (vec![copilot], 1, true),
            (vec![save.clone(), shell.clone()], 2, true),
            (vec![save.clone(), gemini_prompt(json!("next")), gemini("ls", json!({}))], 1, false),
            (vec![save.clone(), parts, gemini("ls", json!({}))], 1, false),
            (vec![save, returned, gemini("ls", json!({}))], 2, true),
            (vec![shell, gemini_prompt(json!({"text": "next"}))], 0, false),
            (vec![code("exec", "commonbook save foo")], 1, true),
            (vec![code("apply_patch", "+commonbook save foo")], 1, false),
            (
                vec![item(json!({"type": "local_shell_call", "call_id": "c", "action":
                    {"type": "exec", "command": ["bash", "-lc", "commonbook save foo"]}}))],
                1,
                true,
            ),
            (
                vec![item(json!({"type": "function_call", "call_id": "c", "name": "save_memory",
                    "namespace": "mcp__commonbook", "arguments": "{}"}))],
                1,
                true,
            ),
            (vec![item(json!({"type": "function_call_output", "call_id": "c"}))], 0, false),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        for (events, calls, has_saved) in table {
            let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
            let document = format!("{:#}", json!({"sessionId": "s1", "messages": events}));
            for text in [lines, document] {
                std::fs::write(file.path(), text).unwrap();
                let run = last_run(file.path(), None).unwrap().unwrap();
                assert_eq!((run.calls, run.has_saved), (calls, has_saved), "{events:?}");
            }
        }
    }

    #[test]
    fn the_last_prompt_is_found_in_the_transcript_of_each_client() {
        let claude = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
        let mut child = claude(json!("of a child"));
        child["isSidechain"] = json!(true);
        let mut meta = claude(json!("a caveat of the client"));
        meta["isMeta"] = json!(true);
        let codex =
            json!({"type": "event_msg", "payload": {"type": "user_message", "message": "Go on"}});
        let result = claude(json!([{"type": "tool_result", "content": "out"}]));
        let parts = claude(json!([{"type": "text", "text": "Go on"}]));
        let notice = claude(json!("<task-notification>\ndone"));
        let copilot = json!({"type": "user.message", "data": {"content": "Go on"}});
        let first = claude(json!("Go on"));
        let table = [
            (vec![first.clone(), result, said("Done.", None)], false, Some("Go on")),
            (vec![parts, notice, meta], false, Some("Go on")),
            (vec![first, child.clone()], false, Some("Go on")),
            (vec![child], true, Some("of a child")),
            (vec![codex], false, Some("Go on")),
            (vec![copilot, said("Done.", None)], false, Some("Go on")),
            (vec![said("Done.", None)], false, None),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        for (events, of_subagent, expected) in table {
            let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
            std::fs::write(file.path(), lines).unwrap();
            let found = last_prompt(file.path(), of_subagent).unwrap();
            assert_eq!(found.as_deref(), expected, "{events:?}");
        }
        assert_eq!(last_prompt(Path::new("/nowhere/at/all"), false).unwrap(), None);
    }
}
