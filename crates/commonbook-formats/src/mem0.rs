//! Exports of mem0 and of its `OpenMemory`: a list of memories, or an object with the list as `results`, `memories` or
//! `items`.
//!
//! As `Memory.get_all` of the open-source package and the service's list answer: `id`, `memory`, `hash`,
//! `metadata`, `categories`, `created_at`, `updated_at`, `user_id`, `agent_id`, `run_id`; with a graph also
//! `relations` of `source`, `relationship`, `target`. `OpenMemory` has the text as `content`, and a `state` (active,
//! paused, archived, deleted). A model wrote these texts out of conversations: every
//! row is untrusted.

use serde_json::{Value, json};

use crate::basic_memory::concept;
use crate::files::SourceFile;
use crate::json_value::{text, time, words};
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, json_members};

/// Whether an element is a memory of mem0.
pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    let has = |field: &str| value.get(field).is_some();
    let is_known = has("id") || has("hash") || has("user_id") || has("created_at");
    let is_open_memory =
        has("content") && (has("state") || has("app_id") || has("app_name") || has("metadata_"));
    is_list(key) && is_known && (has("memory") || is_open_memory)
}

/// Whether a list has this name, or the document is the list.
fn is_list(key: Option<&str>) -> bool {
    matches!(key, None | Some("results" | "memories" | "items"))
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    json_members::rows_of_members(file, progress, |file, key, line, value| match (key, value) {
        _ if is_list(key) => vec![memory_row(file, line, value)],
        (Some("relations"), Value::Object(_)) => vec![relation_row(file, line, value)],
        // Counts and links of pages.
        _ => Vec::new(),
    })
}

fn memory_row(file: &SourceFile, line: usize, value: &Value) -> RowOutcome {
    let content =
        ["memory", "text", "content", "data"].into_iter().find_map(|key| text(value, key));
    let (Some(content), Some(fields)) = (content, value.as_object()) else {
        return RowOutcome::refused(file, line, "expected an object with the text as `memory`");
    };
    let mut draft = RowDraft::new(content)
        .with("memory_type", "semantic")
        .with("created_at", time(fields.get("created_at")))
        .with("owner", text(value, "agent_id"))
        .with("user_id", text(value, "user_id"))
        .with("session", text(value, "run_id"))
        .with("trust", "untrusted")
        .about(words(fields.get("categories")))
        .known_as(text(value, "id"));
    for metadata in ["metadata", "metadata_"] {
        if let Some(metadata) = fields.get(metadata).and_then(Value::as_object) {
            draft = draft.keeping(metadata, &[]);
        }
    }
    let read = [
        "memory",
        "text",
        "content",
        "data",
        "created_at",
        "agent_id",
        "user_id",
        "run_id",
        "categories",
        "id",
        "metadata",
        "metadata_",
        "score",
        "structured_attributes",
    ];
    draft.keeping(fields, &read).finish(SourceFormat::Mem0, file, line)
}

fn relation_row(file: &SourceFile, line: usize, value: &Value) -> RowOutcome {
    let target = text(value, "target").or_else(|| text(value, "destination"));
    let kind = text(value, "relationship").or_else(|| text(value, "relation"));
    let (Some(source), Some(kind), Some(target)) = (text(value, "source"), kind, target) else {
        let reason = "expected a relation with `source`, `relationship` and `target`";
        return RowOutcome::refused(file, line, reason);
    };
    RowDraft::new(&format!("{source} {} {target}", kind.replace('_', " ")))
        .with("memory_type", "semantic")
        .with("entities", json!([concept(source), concept(target)]))
        .with("trust", "untrusted")
        .noting("relation", json!({"from": source, "type": kind, "to": target}))
        .finish(SourceFormat::Mem0, file, line)
}
