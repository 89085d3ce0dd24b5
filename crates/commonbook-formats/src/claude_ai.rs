//! Data of the Claude app: `memories.json` and `conversations.json` of its export.
//!
//! As other importers read them (basic-memory's `claude_conversations_importer.py` for conversations with
//! `chat_messages`; several for `[{"conversations_memory","project_memories","account_uuid"}]`): a memory is
//! Markdown, of which each item and paragraph is a row. Of a conversation only what [`crate::transcript`]
//! extracts is read.

use serde_json::Value;

use crate::files::SourceFile;
use crate::json_value::{message_text, text, time};
use crate::markdown::blocks;
use crate::row::RowDraft;
use crate::transcript::{MessageRole, SentenceExtractor, TranscriptMessage, TranscriptSession};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, json_members};

pub(crate) fn reads(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    let is_memory = file.starts_with("memories/") || file.contains("/memories/");
    let is_known = ["conversations", "memories"].iter().any(|begin| name.starts_with(begin));
    name.ends_with(".json") && (is_known || is_memory)
}

/// Whether an element is one of the Claude app's.
pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    let has = |field: &str| value.get(field).is_some();
    has("chat_messages") || has("conversations_memory") || key == Some("conversations_memory")
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    json_members::rows_of_members(file, progress, |file, key, line, value| match (key, value) {
        (_, Value::Object(fields)) if fields.contains_key("chat_messages") => {
            conversation_rows(file, line, value)
        }
        (Some("conversations_memory"), Value::String(memory)) => {
            memory_rows(file, line, memory, None)
        }
        (Some("project_memories"), Value::Object(_)) => project_rows(file, line, value),
        (None, Value::Object(_)) => {
            let memory = value["conversations_memory"].as_str().unwrap_or_default();
            let mut rows = memory_rows(file, line, memory, None);
            rows.extend(project_rows(file, line, &value["project_memories"]));
            if rows.is_empty() && value.get("conversations_memory").is_none() {
                let reason = "expected `chat_messages` or `conversations_memory`";
                rows.push(RowOutcome::refused(file, line, reason));
            }
            rows
        }
        (None, _) => vec![RowOutcome::refused(file, line, "expected an object")],
        _ => Vec::new(),
    })
}

fn project_rows(file: &SourceFile, line: usize, projects: &Value) -> Vec<RowOutcome> {
    let projects = projects.as_object().into_iter().flatten();
    let memory = |value: &Value| value.as_str().map(str::to_owned);
    projects
        .filter_map(|(id, value)| Some(memory_rows(file, line, &memory(value)?, Some(id))))
        .flatten()
        .collect()
}

fn memory_rows(
    file: &SourceFile,
    line: usize,
    memory: &str,
    project: Option<&str>,
) -> Vec<RowOutcome> {
    let mut heading = String::new();
    let mut found = Vec::new();
    for block in blocks(memory) {
        // Claude writes its headings as bold lines.
        let bold = block.text.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
        if let Some(bold) = bold.filter(|bold| !bold.contains("**") && !bold.contains('\n')) {
            bold.clone_into(&mut heading);
            continue;
        }
        let title = match heading.is_empty() {
            true => block.headings.join(" › "),
            false => heading.clone(),
        };
        found.push(
            RowDraft::new(&block.text)
                .titled(&title)
                .with("memory_type", "semantic")
                .noting("project", project)
                .finish(SourceFormat::ClaudeAi, file, line),
        );
    }
    found
}

fn conversation_rows(file: &SourceFile, line: usize, value: &Value) -> Vec<RowOutcome> {
    let session = TranscriptSession {
        id: text(value, "uuid").map(str::to_owned),
        title: text(value, "name").map(str::to_owned),
        owner: None,
        project: None,
    };
    let mut extractor = SentenceExtractor::new(session);
    for message in value["chat_messages"].as_array().into_iter().flatten() {
        let role = match text(message, "sender") {
            Some("human" | "user") => MessageRole::User,
            Some("assistant") => MessageRole::Agent,
            _ => continue,
        };
        let parts = message_text(&message["content"], &["text"]);
        let text_of_message = match parts.trim().is_empty() {
            true => text(message, "text").unwrap_or_default().to_owned(),
            false => parts,
        };
        extractor.read(&TranscriptMessage {
            id: text(message, "uuid").map(str::to_owned),
            role,
            text: text_of_message,
            at: time(message.get("created_at")),
            line,
        });
    }
    extractor.rows(SourceFormat::ClaudeAi, file)
}
