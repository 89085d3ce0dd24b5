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
use super::event::{is_notification, own_tool};

/// Bytes at the end of a transcript that are read; a message that begins before them is not found.
const TAIL_BYTES_MAX: u64 = 1 << 20;

/// Bytes at the end of a transcript in which a run is looked for; of a longer one, its end is read.
const RUN_BYTES_MAX: u64 = 4 << 20;

/// The tools of Commonbook with which an agent leaves something for others.
const SAVING_TOOLS: [&str; 10] = [
    "save_memory",
    "save_memories",
    "update_memory",
    "learn",
    "add_standing",
    "append_entries",
    "create_handoff",
    "complete_handoff",
    "create_checkpoint",
    "checkpoint_and_summarise",
];

/// The commands that do the same.
const SAVING_COMMANDS: [&str; 3] =
    ["commonbook save", "commonbook learn", "commonbook case append"];

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

/// What an agent did in a run, as far as its transcript shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunExtent {
    /// Its tool calls.
    pub(super) calls: usize,
    /// The time between its first and its last event, in seconds.
    pub(super) seconds: i64,
    /// Whether it left something for other agents.
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
    let events = text.lines().filter_map(event_of);
    let (mut run, mut known, mut begun) = (RunExtent::default(), BTreeSet::new(), None);
    for event in events.filter(is_own) {
        let is_note = event["isMeta"] == true || event["isCompactSummary"] == true;
        if subagent.is_none() && !is_note && prompt_of(&event).is_some() {
            (run, begun) = (RunExtent::default(), None);
        }
        if let Some(at) = event["timestamp"].as_str().and_then(|at| at.parse::<Timestamp>().ok()) {
            let begun = begun.get_or_insert(at);
            run.seconds = at.as_second().saturating_sub(begun.as_second());
        }
        for call in tool_calls(&event) {
            if call.id.is_none_or(|id| known.insert(id.to_owned())) {
                run.calls += 1;
                run.has_saved |= call.saves();
            }
        }
    }
    Ok(Some(run))
}

/// A call of a tool in a transcript.
struct RecordedCall<'e> {
    id: Option<&'e str>,
    name: &'e str,
    arguments: &'e Value,
}

impl RecordedCall<'_> {
    /// Whether it leaves something for other agents.
    fn saves(&self) -> bool {
        let says = || self.arguments.to_string();
        own_tool(self.name).is_some_and(|tool| SAVING_TOOLS.contains(&tool))
            || SAVING_COMMANDS.iter().any(|command| says().contains(command))
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
        let (name, arguments) = (value[name].as_str()?, &value[arguments]);
        Some(RecordedCall { id: value[id].as_str(), name, arguments })
    }
    match event["type"].as_str() {
        Some("assistant") => {
            let parts = event["message"]["content"].as_array().into_iter().flatten();
            let calls = parts.filter(|part| part["type"] == "tool_use");
            calls.filter_map(|part| call(part, "id", "name", "input")).collect()
        }
        Some("response_item") => {
            let payload = &event["payload"];
            let is_call = payload["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
            let called = is_call.then(|| call(payload, "call_id", "name", "arguments"));
            called.flatten().into_iter().collect()
        }
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

/// The prompt in an event of Copilot, Codex or Claude Code. A notification is the client's own.
fn prompt_of(event: &Value) -> Option<String> {
    let text = match event["type"].as_str()? {
        "user.message" => event["data"]["content"].as_str()?.to_owned(),
        "event_msg" if event["payload"]["type"] == "user_message" => {
            event["payload"]["message"].as_str()?.to_owned()
        }
        "user" => match &event["message"]["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts = parts.iter().filter(|part| part["type"] == "text");
                texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
            }
            _ => return None,
        },
        _ => return None,
    };
    let is_prompt = !text.trim().is_empty() && !is_notification(&text);
    is_prompt.then_some(text)
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
