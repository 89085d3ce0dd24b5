//! The file of the official MCP memory server: entities with observations, and relations between them.
//!
//! As `src/memory/index.ts` of the servers of the Model Context Protocol writes it: a JSON object a line,
//! `{"type":"entity","name","entityType","observations"}` or `{"type":"relation","from","to","relationType"}`.
//! Its tool `read_graph` answers with `{"entities":[…],"relations":[…]}`, which people save; by hand or through other
//! tools such objects are over several lines, several on a line, or in lists. An observation becomes a memory that names its entity, a relation a sentence about both.

use std::io::{BufRead, Read};

use commonbook_text::json_text::json_text;
use serde_json::{Map, Value, json};

use crate::basic_memory::{about_entity, concept};
use crate::files::SourceFile;
use crate::json_members::JsonValues;
use crate::json_value::text;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, lines};

/// Fields of an entity and of a relation that have their own place.
const ENTITY_FIELDS: [&str; 5] = ["type", "name", "entityType", "observations", "id"];
const RELATION_FIELDS: [&str; 4] = ["type", "from", "to", "relationType"];

/// Bytes and lines by which the form of a file is known.
const LOOK_BYTES_MAX: u64 = 1 << 20;
const LOOK_LINES_MAX: usize = 20;
/// Lists and answers within each other.
const DEPTH_MAX: usize = 8;

pub(crate) fn recognises(line: &Value) -> bool {
    match line.get("type").and_then(Value::as_str) {
        Some("entity") => line.get("name").is_some() && line.get("entityType").is_some(),
        Some("relation") => line.get("from").is_some() && line.get("relationType").is_some(),
        _ => false,
    }
}

/// Whether a member of a document is an entity or a relation.
pub(crate) fn recognises_member(key: Option<&str>, value: &Value) -> bool {
    match key {
        None => recognises(value),
        Some("entities") => value.get("name").is_some() && value.get("observations").is_some(),
        Some("relations") => value.get("from").is_some() && value.get("relationType").is_some(),
        _ => false,
    }
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    if has_a_value_each_line(file) {
        return lines::rows_of_lines(file, progress, |file, line, value| {
            value_rows(file, line, value, 0)
        });
    }
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let file = file.clone();
    Box::new(JsonValues::new(reader, 1).flat_map(move |found| match found.value {
        Ok(value) => value_rows(&file, found.number, &value, 0),
        Err(reason) => vec![RowOutcome::refused(&file, found.number, reason)],
    }))
}

/// Whether the program wrote the file: then a broken line does not hold up the others.
fn has_a_value_each_line(file: &SourceFile) -> bool {
    let Ok(reader) = file.open(&Progress::default()) else { return false };
    let lines = reader.take(LOOK_BYTES_MAX).split(b'\n').map_while(Result::ok);
    let mut lines =
        lines.filter(|line| !line.trim_ascii().is_empty()).take(LOOK_LINES_MAX).peekable();
    let is_document = lines.peek().is_none_or(|first| {
        let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii();
        first == b"{" || first.starts_with(b"[") || first.starts_with(b"{\"entities\"")
    });
    let is_value = |line: Vec<u8>| {
        serde_json::Deserializer::from_str(&json_text(line.trim_ascii()))
            .into_iter::<Value>()
            .next()
            .is_some_and(|value| value.is_ok_and(|value| recognises(&value)))
    };
    !is_document && lines.any(is_value)
}

/// The rows of a value: an entity, a relation, a list or a graph of them, or the answer of a tool with one.
fn value_rows(file: &SourceFile, line: usize, value: &Value, depth: usize) -> Vec<RowOutcome> {
    let each = |values: &[Value]| -> Vec<RowOutcome> {
        values.iter().flat_map(|value| value_rows(file, line, value, depth + 1)).collect()
    };
    let list = |field: &str| value.get(field).and_then(Value::as_array);
    if depth > DEPTH_MAX {
        return vec![RowOutcome::refused(file, line, "the lists are too deep")];
    }
    if let Value::Array(values) = value {
        return each(values);
    }
    if value["type"] == "entity" || value.get("entityType").is_some() {
        return entity_rows(file, line, value);
    }
    if value["type"] == "relation" || value.get("relationType").is_some() {
        return vec![relation_row(file, line, value)];
    }
    if list("entities").is_some() || list("relations").is_some() {
        let entities = list("entities").into_iter().flatten();
        let mut rows: Vec<RowOutcome> =
            entities.flat_map(|entity| entity_rows(file, line, entity)).collect();
        let relations = list("relations").into_iter().flatten();
        rows.extend(relations.map(|relation| relation_row(file, line, relation)));
        return rows;
    }
    if let Some(answer) = value.get("structuredContent").or_else(|| value.get("result")) {
        return value_rows(file, line, answer, depth + 1);
    }
    let texts = list("content").into_iter().flatten().filter_map(|part| part["text"].as_str());
    let answers: Vec<Value> = texts.filter_map(|text| serde_json::from_str(text).ok()).collect();
    match answers.is_empty() {
        true => vec![RowOutcome::refused(file, line, "expected `type` entity or relation")],
        false => each(&answers),
    }
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
    let content = |observation: &Value| {
        let inner = ["content", "text", "observation"].map(|key| text(observation, key));
        let content = observation.as_str().or_else(|| inner.into_iter().flatten().next());
        content.filter(|content| !content.trim().is_empty()).map(str::to_owned)
    };
    let rows = observations.iter().map(|observation| match content(observation) {
        Some(content) => row(&about_entity(name, &content)),
        None => RowOutcome::refused(file, line, format!("an observation of {name:?} is no text")),
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
