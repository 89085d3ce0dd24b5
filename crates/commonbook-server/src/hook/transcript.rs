//! The transcripts of clients whose event for the end of a turn carries no prompt, or no message.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::Value;

use super::event::is_notification;

/// Bytes at the end of a transcript that are read; a message that begins before them is not found.
const TAIL_BYTES_MAX: u64 = 1 << 20;

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

/// The events of a transcript, last first: each line is one in JSON.
fn events_from_last(tail: &str) -> impl Iterator<Item = Value> {
    tail.lines().rev().filter_map(|line| serde_json::from_str(line).ok())
}

/// The text at the end of a transcript.
fn tail_of(path: &Path) -> Result<String> {
    let tail = read_tail(path).map_err(|error| {
        let message = format!("cannot read the transcript {}", path.display());
        Error::new(ErrorKind::Unavailable, message).with_cause(error)
    })?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

fn read_tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
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
