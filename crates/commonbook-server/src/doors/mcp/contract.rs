//! The input schema of a tool: what a model needs to fill in the arguments, and nothing else.
//!
//! Each tool costs a model attention in every turn. Limits, patterns and formats stay with the
//! server, which checks them and answers with a hint. The schema allows further properties, because
//! a hook may add a ticket.

use std::sync::LazyLock;

use commonbook::base::error::{Error, Result};
use commonbook::base::input::{EmptyText, RequestForm};
use commonbook::verbs::names;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use crate::calls::verb::{ACTION, JoinedTool, Verb, VerbEffect};

/// Fields of requests that tools do not declare: what a program sets rather than a model. The server
/// accepts them all the same.
const UNDECLARED_FIELDS: [&str; 18] = [
    "author",
    "expected_revision",
    "expires_hours",
    "force",
    "idempotency_key",
    "include_entities",
    "label",
    "max_entities",
    "max_memories",
    "metadata",
    "plan",
    "require_current",
    "source_version",
    "target_version",
    "threshold",
    "trust",
    "user_id",
    "wait",
];

/// Further fields of one verb that its tool does not declare: an audit and a look back are for people
/// and programs, and what models seldom set costs each of them tokens.
const UNDECLARED_FIELDS_OF_VERBS: [(&str, &[&str]); 8] = [
    (names::LIST_EVENTS, &["actor", "subject", "since", "until"]),
    (names::RESTORE_MEMORY, &["revision"]),
    (names::LIST_MEMORIES, &["at", "since"]),
    (names::GET_CONTEXT, &["at"]),
    (names::GET_MEMORY, &["at"]),
    (names::UPDATE_MEMORY, &["about", "new_path"]),
    (names::CREATE_HANDOFF, &["budget", "based_on"]),
    (names::COMPLETE_HANDOFF, &["based_on"]),
];

/// The argument with which a tool returns everything.
const VERBOSE_ARGUMENT: &str = "verbose";

/// The argument with which a tool that reads returns long texts from a character on.
const OFFSET_ARGUMENT: &str = "offset";

/// The tool that declares it: it reads the texts of which other answers show the beginning.
const OFFSET_TOOL: &str = names::GET_MEMORY;

/// The input schema of the tool of a verb.
pub(super) fn input_schema(verb: &Verb) -> JsonObject {
    let request = &*verb.call.request;
    let mut schema = match lean_schema(request, request) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // The description of the request is the description of the tool.
    schema.remove("description");
    let fields = schema.entry("properties").or_insert_with(|| json!({}));
    let undeclared = UNDECLARED_FIELDS_OF_VERBS.iter().filter(|(name, _)| *name == verb.name);
    for field in undeclared.flat_map(|(_, fields)| *fields) {
        fields.as_object_mut().map(|fields| fields.shift_remove(*field));
    }
    if has_pages(verb) {
        fields[VERBOSE_ARGUMENT] = json!({"type": "boolean", "description": "All fields"});
    }
    if verb.name == OFFSET_TOOL {
        fields[OFFSET_ARGUMENT] =
            json!({"type": "integer", "description": "Reads on from this character"});
    }
    if verb.tool_without_arguments.is_some() {
        schema.remove("required");
    }
    schema
}

/// The input schema of a tool of several verbs.
pub(super) fn joined_schema(tool: &JoinedTool) -> JsonObject {
    let names: Vec<&str> = tool.actions.iter().map(|action| action.name).collect();
    let mut fields = Map::new();
    fields.insert(ACTION.to_owned(), json!({"type": "string", "enum": names}));
    for name in tool.fields {
        let declared = tool.verbs().find_map(|verb| {
            let (_, schema) = verb.call.fields().find(|(field, _)| field == name)?;
            Some(lean_schema(schema, &verb.call.request))
        });
        fields.extend(declared.map(|schema| ((*name).to_owned(), schema)));
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(fields));
    schema.insert("required".to_owned(), json!([ACTION]));
    schema
}

/// The form of the arguments that are of every tool, by which they are read as those of a request.
static OWN_FORM: LazyLock<RequestForm> = LazyLock::new(|| {
    let fields =
        json!({VERBOSE_ARGUMENT: {"type": "boolean"}, OFFSET_ARGUMENT: {"type": "integer"}});
    RequestForm::of(&json!({"type": "object", "properties": fields}))
});

/// Takes an argument that is of every tool off those of a call; `None` if it is absent or says nothing.
fn take_own(arguments: &mut JsonObject, name: &str) -> Option<Value> {
    let value = arguments.shift_remove(name)?;
    let mut read = OWN_FORM.read(json!({name: value}), EmptyText::Filler);
    read.as_object_mut()?.shift_remove(name)
}

/// Takes the argument `verbose` off the arguments of a call.
///
/// # Errors
/// `invalid` unless it is true or false.
pub(super) fn take_verbose(arguments: &mut JsonObject) -> Result<bool> {
    match take_own(arguments, VERBOSE_ARGUMENT) {
        None => Ok(false),
        Some(Value::Bool(verbose)) => Ok(verbose),
        Some(_) => Err(Error::invalid(VERBOSE_ARGUMENT, "expected true or false")
            .hint("Leave it out for the short answer.")),
    }
}

/// Takes the argument `offset` off the arguments of a tool that reads; 0 if there is none. Of a list, which
/// has pages, models mean an item by it: that is refused with the way to the next page.
///
/// # Errors
/// `invalid` unless it is a whole number.
pub(super) fn take_offset(verb: &Verb, arguments: &mut JsonObject) -> Result<usize> {
    let reads = verb.effect == VerbEffect::Reads;
    if !reads || verb.call.fields().any(|(field, _)| field == OFFSET_ARGUMENT) {
        return Ok(0);
    }
    let Some(offset) = take_own(arguments, OFFSET_ARGUMENT) else { return Ok(0) };
    let offset = offset.as_u64();
    if has_pages(verb) && offset != Some(0) {
        return Err(Error::invalid(OFFSET_ARGUMENT, "unknown field; pages have a `cursor`")
            .hint("Send the `next` of the last page as `cursor`."));
    }
    offset.and_then(|offset| usize::try_from(offset).ok()).ok_or_else(|| {
        Error::invalid(OFFSET_ARGUMENT, "expected the number of a character")
            .hint("Send the offset that the shortened text names.")
    })
}

/// Whether a verb returns a list by pages.
pub(super) fn has_pages(verb: &Verb) -> bool {
    verb.name.starts_with("list_") || verb.name.starts_with("search_")
}

/// The description of a tool, in one line.
pub(super) fn description_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A schema without what only a validator needs. `root` has the definitions.
fn lean_schema(schema: &Value, root: &Value) -> Value {
    let form = lean_form(schema, root);
    let mut lean = Map::new();
    let kind = match &form["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        Value::Null => None,
        kind => Some(kind.clone()),
    };
    let choices = form["oneOf"].as_array().map(|forms| {
        let names = forms.iter().flat_map(|form| match &form["enum"] {
            Value::Array(names) => names.clone(),
            _ => vec![form["const"].clone()],
        });
        Value::Array(names.collect())
    });
    let choices = choices.or_else(|| form.get("enum").cloned());
    let kind = kind.or_else(|| choices.is_some().then(|| json!("string")));
    lean.extend(kind.map(|kind| ("type".to_owned(), kind)));
    lean.extend(choices.map(|choices| ("enum".to_owned(), choices)));
    let description = schema["description"].as_str().map(first_sentence);
    let described = description.filter(|description| !description.is_empty());
    lean.extend(described.map(|text| ("description".to_owned(), Value::String(text))));
    if let Some(fields) = form["properties"].as_object() {
        let declared =
            fields.iter().filter(|(name, _)| !UNDECLARED_FIELDS.contains(&name.as_str()));
        let fields = declared.map(|(name, field)| (name.clone(), lean_schema(field, root)));
        lean.insert("properties".to_owned(), Value::Object(fields.collect()));
    }
    if let Some(items) = form.get("items") {
        let mut items = lean_schema(items, root);
        items.as_object_mut().map(|items| items.remove("description"));
        lean.insert("items".to_owned(), items);
    }
    lean.extend(form.get("required").map(|names| ("required".to_owned(), names.clone())));
    Value::Object(lean)
}

/// The form of a value that a model sends: of several ones the first, of a reference its definition.
fn lean_form<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let first = schema["anyOf"].as_array().and_then(|forms| forms.first());
    let typed =
        first.filter(|form| form.get("type").or(form.get("oneOf")).or(form.get("$ref")).is_some());
    let referred =
        schema["$ref"].as_str().and_then(|path| root.pointer(path.trim_start_matches('#')));
    let is_choice = |form: &Value| form.get("const").or(form.get("enum")).is_some();
    let one_of = schema["oneOf"].as_array();
    let first_of =
        one_of.filter(|forms| !forms.iter().all(is_choice)).and_then(|forms| forms.first());
    match typed.or(referred).or(first_of) {
        Some(form) => lean_form(form, root),
        None => schema,
    }
}

/// The first sentence of a description, without its full stop.
pub(super) fn first_sentence(text: &str) -> String {
    let line = description_line(text);
    let end = line.match_indices(". ").map(|(at, _)| at).next().unwrap_or(line.len());
    line[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_every_tool_is_read_as_any_argument() {
        let verb = crate::calls::verb::find(OFFSET_TOOL).unwrap();
        let arguments =
            |name: &str, value: &Value| JsonObject::from_iter([(name.to_owned(), value.clone())]);
        for (value, expected) in [
            (json!(true), Some(true)),
            (json!("yes"), Some(true)),
            (json!(1), Some(true)),
            (json!("True"), Some(true)),
            (json!("null"), Some(false)),
            (json!(null), Some(false)),
            (json!(""), Some(false)),
            (json!("no"), Some(false)),
            (json!("perhaps"), None),
        ] {
            let found = take_verbose(&mut arguments(VERBOSE_ARGUMENT, &value));
            assert_eq!(found.ok(), expected, "{value}");
        }
        for (value, expected) in [
            (json!(7), Some(7)),
            (json!("7"), Some(7)),
            (json!(7.0), Some(7)),
            (json!("null"), Some(0)),
            (json!("None"), Some(0)),
            (json!(""), Some(0)),
            (json!(-1), None),
            (json!("end"), None),
        ] {
            let found = take_offset(verb, &mut arguments(OFFSET_ARGUMENT, &value));
            assert_eq!(found.ok(), expected, "{value}");
        }
    }
}
