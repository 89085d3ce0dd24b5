//! Sessions of Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`.
//!
//! As several readers of that format document it, and as the client wrote it in a recorded session: a JSON
//! object a line with `type`, `uuid`, `sessionId`, `timestamp`, `cwd` and `message`, whose content is a text or
//! parts. Sub-agents (`isSidechain`), notes of the client (`isMeta`) and summaries are not read.

use serde_json::Value;

use super::{MessageRole, TranscriptMessage, folder_name, session_rows};
use crate::files::SourceFile;
use crate::json_value::{message_text, text, time};
use crate::{Progress, RowIterator, SourceFormat};

/// Types of lines that a session begins with.
const TYPES: [&str; 9] = [
    "user",
    "assistant",
    "system",
    "summary",
    "queue-operation",
    "file-history-snapshot",
    "mode",
    "attachment",
    "permission-mode",
];

pub(crate) fn recognises(line: &Value) -> bool {
    let has = |field: &str| line.get(field).is_some();
    let is_known = line["type"].as_str().is_some_and(|kind| TYPES.contains(&kind));
    is_known && (has("sessionId") || has("leafUuid") || has("parentUuid") || has("messageId"))
}

pub(super) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    session_rows(
        SourceFormat::ClaudeCode,
        file,
        progress,
        "claude-code",
        |extractor, line, value| {
            let role = match value["type"].as_str() {
                Some("user") => MessageRole::User,
                Some("assistant") => MessageRole::Agent,
                _ => return,
            };
            let is = |flag: &str| value[flag] == true;
            if is("isSidechain")
                || is("isMeta")
                || is("isCompactSummary")
                || is("isApiErrorMessage")
            {
                return;
            }
            let session = &mut extractor.session;
            session.id = session.id.take().or_else(|| text(value, "sessionId").map(str::to_owned));
            session.project = session.project.take().or_else(|| folder_name(text(value, "cwd")?));
            extractor.read(&TranscriptMessage {
                id: text(value, "uuid").map(str::to_owned),
                role,
                text: message_text(&value["message"]["content"], &["text"]),
                at: time(value.get("timestamp")),
                line,
            });
        },
    )
}
