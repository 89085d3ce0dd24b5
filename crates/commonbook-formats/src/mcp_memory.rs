//! The file of the official MCP memory server: entities with observations, and relations between them.
//!
//! As `src/memory/index.ts` of the servers of the Model Context Protocol writes it: a JSON object a line,
//! `{"type":"entity","name","entityType","observations"}` or `{"type":"relation","from","to","relationType"}`.
//! Its tool `read_graph` answers with `{"entities":[…],"relations":[…]}`, which people save; by hand or through other
//! tools such objects are over several lines, several on a line, or in lists. An observation becomes a memory that names its entity, a relation a sentence about both.

use commonbook_text::json_text::json_text;
use serde_json::{Map, Value, json};

use crate::basic_memory::{about_entity, concept};
use crate::files::SourceFile;
use crate::json_texts::{JsonText, JsonTextError, JsonTexts, answer_in};
use crate::json_value::text;
use crate::lines::LINE_BYTES_MAX;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// Fields of an entity and of a relation that have their own place.
const ENTITY_FIELDS: [&str; 5] = ["type", "name", "entityType", "observations", "id"];
const RELATION_FIELDS: [&str; 4] = ["type", "from", "to", "relationType"];

/// Lists and answers within each other.
const DEPTH_MAX: usize = 8;

/// Whether a value is an entity or a relation, or the result of the tool that answers with a graph.
pub(crate) fn recognises(value: &Value) -> bool {
    recognises_within(value, 0)
}

fn recognises_within(value: &Value, depth: usize) -> bool {
    let Value::Object(fields) = value else {
        let first = value.as_array().and_then(|items| items.first());
        return depth < DEPTH_MAX && first.is_some_and(|item| recognises_within(item, depth + 1));
    };
    let has = |name: &str| fields.contains_key(name);
    let is_graph = ["entities", "relations"].into_iter().any(|name| {
        let first = fields.get(name).and_then(Value::as_array).and_then(|items| items.first());
        first.is_some_and(|item| recognises_member(Some(name), item))
    });
    match fields.get("type").and_then(Value::as_str) {
        Some("entity") => has("name") && has("entityType"),
        Some("relation") => has("from") && has("relationType"),
        _ if is_graph => true,
        _ => answer_in(fields)
            .is_some_and(|answer| depth < DEPTH_MAX && recognises_within(&answer, depth + 1)),
    }
}

/// Whether a member of a document is an entity or a relation.
pub(crate) fn recognises_member(key: Option<&str>, value: &Value) -> bool {
    match key {
        None | Some("result" | "structuredContent") => recognises(value),
        // A part of the result of a tool.
        Some("content") => recognises(&json!({"content": [value]})),
        Some("entities") => value.get("name").is_some() && value.get("observations").is_some(),
        Some("relations") => value.get("from").is_some() && value.get("relationType").is_some(),
        _ => false,
    }
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let file = file.clone();
    let mut texts = JsonTexts::new(reader);
    let mut is_over = false;
    let found = std::iter::from_fn(move || {
        let text = if is_over { Ok(None) } else { texts.next_text() };
        let refused = |line, reason| vec![RowOutcome::refused(&file, line, reason)];
        match text {
            Ok(None) => None,
            Ok(Some(JsonText { line, bytes: Ok(bytes), .. })) => {
                Some(match serde_json::from_str(&json_text(&bytes)) {
                    Ok(value) => value_rows(&file, line, &value, 0),
                    Err(_) => refused(Some(line), "the line is not JSON".to_owned()),
                })
            }
            Ok(Some(JsonText { line, bytes: Err(JsonTextError::NotJson), .. })) => {
                Some(refused(Some(line), "the line is not JSON".to_owned()))
            }
            Ok(Some(JsonText { line, bytes: Err(JsonTextError::TooLong), .. })) => {
                is_over = true;
                Some(refused(Some(line), format!("the line has more than {LINE_BYTES_MAX} bytes")))
            }
            Err(error) => {
                is_over = true;
                Some(refused(None, format!("the file cannot be read: {error}")))
            }
        }
    });
    Box::new(found.flatten())
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
    match value.as_object().and_then(answer_in) {
        Some(answer) => value_rows(file, line, &answer, depth + 1),
        None => vec![RowOutcome::refused(file, line, "expected `type` entity or relation")],
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
