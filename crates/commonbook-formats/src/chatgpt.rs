//! Data of ChatGPT: the list of saved memories, and `conversations.json` of its export.
//!
//! As other importers read them (basic-memory's `chatgpt_importer.py`; the answer of ChatGPT's own page of
//! saved memories, `{"memories":[{"id","content","created_timestamp"}]}`): a conversation has a tree of
//! messages as `mapping` with the last one as `current_node`, and what ChatGPT saved is a message of the
//! assistant to the recipient `bio`. Of a conversation only what [`crate::transcript`] extracts is read.

use serde_json::{Map, Value};

use crate::files::SourceFile;
use crate::json_value::{message_text, text, time};
use crate::row::RowDraft;
use crate::transcript::{MessageRole, SentenceExtractor, TranscriptMessage, TranscriptSession};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, json_members};

/// Parts of a message that somebody wrote or said; others are pictures and sounds.
const SPOKEN_PARTS: [&str; 2] = ["text", "audio_transcription"];
/// Fields of a saved memory that have their own place.
const SAVED_FIELDS: [&str; 5] = ["id", "content", "created_timestamp", "created_at", "updated_at"];
/// Messages of a conversation that are read; its tree cannot be a ring.
const MESSAGES_MAX: usize = 100_000;

pub(crate) fn reads(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    name.ends_with(".json")
        && ["conversations", "memories", "memory", "chatgpt"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

/// Whether an element is one of ChatGPT's.
pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    let is_saved = value.get("content").is_some_and(Value::is_string)
        && (value.get("created_timestamp").is_some() || key == Some("memories"));
    value.get("mapping").is_some_and(Value::is_object) || is_saved
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    let read = progress.clone();
    json_members::rows_of_members(file, progress, move |file, key, line, value| match value {
        Value::Object(fields) if fields.contains_key("mapping") => {
            conversation_rows(file, line, value, &read)
        }
        _ if matches!(key, None | Some("memories" | "results")) => {
            vec![saved_row(file, line, value)]
        }
        // Counts of the page of saved memories.
        _ => Vec::new(),
    })
}

fn saved_row(file: &SourceFile, line: usize, value: &Value) -> RowOutcome {
    let content = value.as_str().filter(|content| !content.trim().is_empty());
    let Some(content) = content.or_else(|| text(value, "content")) else {
        return RowOutcome::refused(
            file,
            line,
            "expected a conversation, or a memory with `content`",
        );
    };
    let at = ["created_timestamp", "created_at", "updated_at"].map(|key| time(value.get(key)));
    let at = at.into_iter().find(|at| !at.is_null()).unwrap_or_default();
    let no_fields = Map::new();
    RowDraft::new(content)
        .with("memory_type", "semantic")
        .with("created_at", at)
        .known_as(text(value, "id"))
        .keeping(value.as_object().unwrap_or(&no_fields), &SAVED_FIELDS)
        .finish(SourceFormat::ChatGpt, file, line)
}

fn conversation_rows(
    file: &SourceFile,
    line: usize,
    value: &Value,
    progress: &Progress,
) -> Vec<RowOutcome> {
    let Some(nodes) = value["mapping"].as_object() else { return Vec::new() };
    let id = text(value, "conversation_id").or_else(|| text(value, "id"));
    let title = text(value, "title").map(str::to_owned);
    let session =
        TranscriptSession { id: id.map(str::to_owned), title, owner: None, project: None };
    let mut extractor = SentenceExtractor::new(session, progress);
    let mut found = Vec::new();
    for message in branch(nodes, text(value, "current_node")) {
        let role = message["author"]["role"].as_str().unwrap_or_default();
        let recipient = message["recipient"].as_str().unwrap_or("all");
        let content = &message["content"];
        let is_text = content["content_type"]
            .as_str()
            .is_none_or(|kind| matches!(kind, "text" | "multimodal_text"));
        let is_hidden = message["metadata"]["is_visually_hidden_from_conversation"] == true;
        if content["content_type"] == "user_editable_context" {
            let reason = format!(
                "line {line}: your instructions for ChatGPT (user_editable_context), which each conversation repeats"
            );
            found.push(RowOutcome::left_out(file, reason));
            continue;
        }
        let parts = message_text(&content["parts"], &SPOKEN_PARTS);
        let id = text(message, "id").map(str::to_owned);
        let at = time(message.get("create_time"));
        if role == "assistant" && recipient == "bio" && !parts.trim().is_empty() {
            found.push(
                RowDraft::new(&parts)
                    .with("memory_type", "semantic")
                    .with("created_at", at)
                    .known_as(id.as_deref())
                    .finish(SourceFormat::ChatGpt, file, line),
            );
            continue;
        }
        let role = match role {
            "user" => MessageRole::User,
            "assistant" => MessageRole::Agent,
            _ => continue,
        };
        if is_text && recipient == "all" && !is_hidden {
            extractor.read(&TranscriptMessage { id, role, text: parts, at, line });
        }
    }
    found.extend(extractor.rows(SourceFormat::ChatGpt, file));
    found
}

/// The messages from the root to the current node; without one, all messages in the order of the file.
fn branch<'v>(nodes: &'v Map<String, Value>, current: Option<&str>) -> Vec<&'v Value> {
    let mut found = Vec::new();
    let mut next = current.and_then(|id| nodes.get(id));
    while let Some(node) = next.filter(|_| found.len() < MESSAGES_MAX) {
        found.push(node);
        next = node["parent"].as_str().and_then(|id| nodes.get(id));
    }
    found.reverse();
    if found.is_empty() {
        found.extend(nodes.values());
    }
    found.into_iter().map(|node| &node["message"]).filter(|message| message.is_object()).collect()
}
