//! Sessions of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl`.
//!
//! As the readers of that format document it (agent-history's `docs/codex-format.md`, among others): a JSON
//! object a line with `timestamp`, `type` and `payload`; a `session_meta` first, and messages as
//! `response_item` with `role` and parts `input_text` or `output_text`. Older files have the payload itself as
//! the line. Events repeat the messages, and are not read.

use serde_json::Value;

use super::{MessageRole, TranscriptMessage, folder_name, session_rows};
use crate::files::SourceFile;
use crate::json_value::{message_text, text, time};
use crate::{Progress, RowIterator, SourceFormat};

pub(crate) fn recognises(line: &Value) -> bool {
    let is_known =
        matches!(line["type"].as_str(), Some("session_meta" | "response_item" | "turn_context"));
    is_known && line.get("payload").is_some()
}

pub(super) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    session_rows(SourceFormat::Codex, file, progress, "codex", |extractor, line, value| {
        let payload = value.get("payload").unwrap_or(value);
        let is_head =
            value["type"] == "session_meta" || (line == 1 && payload.get("role").is_none());
        if is_head {
            let session = &mut extractor.session;
            session.id = session.id.take().or_else(|| text(payload, "id").map(str::to_owned));
            session.project = session.project.take().or_else(|| folder_name(text(payload, "cwd")?));
            return;
        }
        let is_event = value["type"] == "event_msg";
        let role = match payload["role"].as_str() {
            Some("user") => MessageRole::User,
            Some("assistant") => MessageRole::Agent,
            _ => return,
        };
        if payload["type"] != "message" || is_event {
            return;
        }
        extractor.read(&TranscriptMessage {
            id: text(payload, "id").map(str::to_owned),
            role,
            text: message_text(&payload["content"], &["input_text", "output_text", "text"]),
            at: time(value.get("timestamp")),
            line,
        });
    })
}
