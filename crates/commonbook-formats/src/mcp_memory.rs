//! The file of the official MCP memory server: entities with observations, and relations between them.
//!
//! As `src/memory/index.ts` of the servers of the Model Context Protocol writes it: a JSON object a line,
//! `{"type":"entity","name","entityType","observations"}` or `{"type":"relation","from","to","relationType"}`.
//! An observation becomes a memory that names its entity, a relation a sentence about both.

use serde_json::{Map, Value, json};

use crate::basic_memory::{about_entity, concept};
use crate::files::SourceFile;
use crate::json_value::text;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, lines};

/// Fields of an entity and of a relation that have their own place.
const ENTITY_FIELDS: [&str; 5] = ["type", "name", "entityType", "observations", "id"];
const RELATION_FIELDS: [&str; 4] = ["type", "from", "to", "relationType"];

pub(crate) fn recognises(line: &Value) -> bool {
    match line.get("type").and_then(Value::as_str) {
        Some("entity") => line.get("name").is_some() && line.get("entityType").is_some(),
        Some("relation") => line.get("from").is_some() && line.get("relationType").is_some(),
        _ => false,
    }
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    lines::rows_of_lines(file, progress, |file, line, value| match value["type"].as_str() {
        Some("entity") => entity_rows(file, line, value),
        Some("relation") => vec![relation_row(file, line, value)],
        _ => vec![RowOutcome::refused(file, line, "expected `type` entity or relation")],
    })
}

fn entity_rows(file: &SourceFile, line: usize, value: &Value) -> Vec<RowOutcome> {
    let (Some(name), Some(observations)) = (text(value, "name"), value["observations"].as_array())
    else {
        return vec![RowOutcome::refused(
            file,
            line,
            "expected an entity with `name` and `observations`",
        )];
    };
    let kind = text(value, "entityType").unwrap_or("entity");
    let row = |content: &str| {
        RowDraft::new(content)
            .with("memory_type", "semantic")
            .with("entities", json!([entity(kind, name)]))
            .noting("entity_type", kind)
            .keeping(value.as_object().unwrap_or(&Map::new()), &ENTITY_FIELDS)
            .known_as(Some(name))
            .finish(SourceFormat::McpMemory, file, line)
    };
    if observations.is_empty() {
        return vec![row(&format!("{name} ({kind})"))];
    }
    let rows = observations.iter().map(|observation| match observation.as_str() {
        Some(content) if !content.trim().is_empty() => row(&about_entity(name, content)),
        _ => RowOutcome::refused(file, line, format!("an observation of {name:?} is no text")),
    });
    rows.collect()
}

fn relation_row(file: &SourceFile, line: usize, value: &Value) -> RowOutcome {
    let (Some(from), Some(to), Some(kind)) =
        (text(value, "from"), text(value, "to"), text(value, "relationType"))
    else {
        return RowOutcome::refused(
            file,
            line,
            "expected a relation with `from`, `to` and `relationType`",
        );
    };
    RowDraft::new(&format!("{from} {} {to}", kind.replace('_', " ")))
        .with("memory_type", "semantic")
        .with("entities", json!([concept(from), concept(to)]))
        .noting("relation", json!({"from": from, "type": kind, "to": to}))
        .keeping(value.as_object().unwrap_or(&Map::new()), &RELATION_FIELDS)
        .finish(SourceFormat::McpMemory, file, line)
}

/// The entity, with its type where that is one that an import knows.
fn entity(kind: &str, name: &str) -> Value {
    let kind = match kind.to_lowercase().as_str() {
        "person" | "user" | "people" | "human" => "person",
        "organization" | "organisation" | "company" | "team" => "organization",
        "project" | "repository" | "repo" => "project",
        "tool" | "technology" | "library" | "framework" | "language" | "software" => "tool",
        "file" => "file",
        "function" => "function",
        "issue" => "issue",
        "decision" => "decision",
        _ => "concept",
    };
    json!({"type": kind, "value": name})
}
