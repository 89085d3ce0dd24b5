//! Exports of Zep and Graphiti: facts or edges, nodes, episodes, and sessions with their messages.
//!
//! As the models of Zep's SDK have them: an edge has `fact`, `name`, `valid_at`, `invalid_at`, `expired_at`; a
//! node `name`, `summary`, `labels`; an episode or a message `content`, `role`, `role_type`, `created_at`; a
//! session `session_id` (a thread `thread_id`) and `messages`. There is no file format of Zep itself: a list of
//! such objects is read, or an object with lists under those names. A model wrote the facts: every row is
//! untrusted.

use serde_json::{Map, Value, json};

use crate::basic_memory::concept;
use crate::files::SourceFile;
use crate::json_value::{text, time};
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, json_members};

/// Fields of a fact, a node and a message that have their own place.
const FACT_FIELDS: [&str; 7] =
    ["fact", "name", "uuid", "created_at", "valid_at", "invalid_at", "expired_at"];
const NODE_FIELDS: [&str; 4] = ["name", "summary", "uuid", "created_at"];
const MESSAGE_FIELDS: [&str; 9] = [
    "content",
    "name",
    "role",
    "role_type",
    "uuid",
    "created_at",
    "session_id",
    "thread_id",
    "source_description",
];

/// Whether an element is one of Zep's.
pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    let has = |field: &str| value.get(field).is_some();
    let is_fact =
        has("fact") && (has("uuid") || has("source_node_uuid") || has("rating") || has("valid_at"));
    let is_session = (has("session_id") || has("thread_id")) && has("messages");
    let is_message = has("content") && has("role_type");
    is_fact
        || is_session
        || is_message
        || (key == Some("facts") && (value.is_string() || has("fact")))
        || (matches!(key, Some("episodes" | "nodes" | "edges")) && has("uuid"))
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    json_members::rows_of_members(file, progress, |file, key, line, value| {
        let known = ["facts", "edges", "nodes", "episodes", "messages", "sessions", "threads"];
        match key {
            // Ids, counts and the user of the export.
            Some(key) if !known.contains(&key) => Vec::new(),
            _ => element_rows(file, line, value, None),
        }
    })
}

fn element_rows(
    file: &SourceFile,
    line: usize,
    value: &Value,
    session: Option<&str>,
) -> Vec<RowOutcome> {
    if let Value::Array(messages) = &value["messages"] {
        let session = text(value, "session_id")
            .or_else(|| text(value, "thread_id"))
            .or_else(|| text(value, "uuid"));
        let facts = value["facts"].as_array().into_iter().flatten();
        let rows =
            messages.iter().chain(facts).flat_map(|row| element_rows(file, line, row, session));
        return rows.collect();
    }
    let fact = value.as_str().or_else(|| text(value, "fact"));
    if let Some(fact) = fact.filter(|fact| !fact.trim().is_empty()) {
        return vec![fact_row(file, line, value, fact)];
    }
    if let Some(content) = text(value, "content") {
        return vec![message_row(file, line, value, content, session)];
    }
    if let Some(name) = text(value, "name") {
        return vec![node_row(file, line, value, name)];
    }
    let reason = "expected a fact, a node with `name`, or a message with `content`";
    vec![RowOutcome::refused(file, line, reason)]
}

fn fact_row(file: &SourceFile, line: usize, value: &Value, fact: &str) -> RowOutcome {
    let ended = ["invalid_at", "expired_at"].into_iter().map(|key| time(value.get(key)));
    RowDraft::new(fact)
        .with("memory_type", "semantic")
        .with("created_at", time(value.get("created_at")))
        .with("valid_from", time(value.get("valid_at")))
        .with("valid_until", ended.into_iter().find(|time| !time.is_null()).unwrap_or_default())
        .with("trust", "untrusted")
        .noting("relation", text(value, "name"))
        .keeping(value.as_object().unwrap_or(&Map::new()), &FACT_FIELDS)
        .known_as(text(value, "uuid"))
        .finish(SourceFormat::Zep, file, line)
}

fn node_row(file: &SourceFile, line: usize, value: &Value, name: &str) -> RowOutcome {
    let Some(summary) = text(value, "summary") else {
        return RowOutcome::left_out(
            file,
            format!("line {line}: the node {name:?} has no summary"),
        );
    };
    RowDraft::new(&crate::basic_memory::about_entity(name, summary))
        .with("memory_type", "semantic")
        .with("created_at", time(value.get("created_at")))
        .with("entities", json!([concept(name)]))
        .with("trust", "untrusted")
        .keeping(value.as_object().unwrap_or(&Map::new()), &NODE_FIELDS)
        .known_as(text(value, "uuid"))
        .finish(SourceFormat::Zep, file, line)
}

fn message_row(
    file: &SourceFile,
    line: usize,
    value: &Value,
    content: &str,
    session: Option<&str>,
) -> RowOutcome {
    let own = ["session_id", "thread_id"].into_iter().find_map(|key| text(value, key));
    let name =
        text(value, "name").or_else(|| text(value, "role")).or_else(|| text(value, "role_type"));
    RowDraft::new(content)
        .with("memory_type", "episodic")
        .with("created_at", time(value.get("created_at")))
        .with("speaker", name)
        .with("session", own.or(session))
        .with("trust", "untrusted")
        .noting("role_type", text(value, "role_type"))
        .noting("source", text(value, "source_description"))
        .keeping(value.as_object().unwrap_or(&Map::new()), &MESSAGE_FIELDS)
        .known_as(text(value, "uuid"))
        .finish(SourceFormat::Zep, file, line)
}
