//! The types of the OpenAPI document: each one is a component with its name, for generators of clients.

use std::collections::BTreeSet;

use commonbook::base::error::ErrorBody;
use commonbook::base::id::HANDLE_PATTERN;
use commonbook::model::standing::StandingFileInfo;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::transform_subschemas;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::calls::call::TypeReference;

/// The path of the types in the document.
const SCHEMAS_PATH: &str = "/components/schemas";

/// Types that have every field of another type and more: the type, and the other one.
const EXTENSIONS: [(&str, &str); 7] = [
    ("DeleteResult", "Memory"),
    ("UpdateResult", "Memory"),
    ("EndSessionResult", "Session"),
    ("EntityAttribute", "AttributeClaim"),
    ("StandingEdit", "StandingFileInfo"),
    ("StandingPage", "StandingFileInfo"),
    ("StandingSummary", "StandingFileInfo"),
];

/// Collects the types of the document.
pub(super) struct SchemaComponents {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
    /// The types of whole requests: their fields are parameters, or a body.
    request_names: BTreeSet<String>,
    bodies: Map<String, Value>,
}

impl SchemaComponents {
    pub(super) fn new() -> Self {
        let generator = |contract: Contract| {
            let settings = SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS_PATH.into();
                settings.meta_schema = None;
                settings.contract = contract;
            });
            settings.into_generator()
        };
        let (requests, answers) =
            (generator(Contract::Deserialize), generator(Contract::Serialize));
        Self { requests, answers, request_names: BTreeSet::new(), bodies: Map::new() }
    }

    /// The name of this request, and its schema with the types of its fields by reference.
    pub(super) fn request(&mut self, request_type: TypeReference) -> (String, Value) {
        let reference = request_type(&mut self.requests).to_value();
        let name = reference["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let name = name.unwrap_or_default().to_owned();
        let mut schema = self.requests.definitions().get(&name).cloned().unwrap_or_default();
        simplify_value(&mut schema, simplify_request);
        self.request_names.insert(name.clone());
        (name, schema)
    }

    /// A reference to this answer.
    pub(super) fn answer(&mut self, answer_type: TypeReference) -> Value {
        answer_type(&mut self.answers).to_value()
    }

    /// Adds the types that no verb returns by themselves: the body of an error, and a base.
    pub(super) fn add_bases(&mut self) {
        self.answers.subschema_for::<ErrorBody>();
        self.answers.subschema_for::<StandingFileInfo>();
    }

    /// A reference to this body of a request.
    pub(super) fn body(&mut self, name: &str, schema: Value) -> Value {
        self.bodies.insert(name.to_owned(), schema);
        json!({"$ref": format!("#{SCHEMAS_PATH}/{name}")})
    }

    /// Every type by its name.
    pub(super) fn into_schemas(self) -> Map<String, Value> {
        let mut schemas: Map<String, Value> = self.into_named_schemas().into_iter().collect();
        for (extension, base) in EXTENSIONS {
            extend_base(&mut schemas, extension, base);
        }
        refer_to_equal(&mut schemas, "ForgetMemory", "ForgetMemories");
        name_next_cursor(&mut schemas);
        schemas.insert("Id".to_owned(), id_type());
        schemas.extend(HANDLE_TYPES.map(|(name, kind)| handle_type(name, kind)));
        schemas
    }

    /// Every type with its name, those of requests first.
    fn into_named_schemas(mut self) -> Vec<(String, Value)> {
        let mut requests = self.requests.take_definitions(false);
        requests.retain(|name, _| !self.request_names.contains(name));
        requests.values_mut().for_each(|schema| simplify_value(schema, simplify_request));
        let mut answers = self.answers.take_definitions(false);
        answers.values_mut().for_each(|schema| simplify_value(schema, simplify_answer));
        requests.into_iter().chain(answers).chain(self.bodies).collect()
    }
}

/// Replaces the fields that a type has from its base by a reference to the base.
fn extend_base(schemas: &mut Map<String, Value>, extension: &str, base: &str) {
    let fields = |name: &str| schemas.get(name)?.get("properties")?.as_object();
    let (Some(all), Some(inherited)) = (fields(extension), fields(base)) else { return };
    let own = all.iter().filter(|(name, _)| !inherited.contains_key(*name));
    let own: Map<String, Value> = own.map(|(name, field)| (name.clone(), field.clone())).collect();
    let schema = &schemas[extension];
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&Value> =
        required.filter(|name| name.as_str().is_some_and(|name| own.contains_key(name))).collect();
    let mut extra = json!({"type": "object", "properties": own});
    if !required.is_empty() {
        extra["required"] = json!(required);
    }
    let reference = json!({"$ref": format!("#{SCHEMAS_PATH}/{base}")});
    let extended = json!({"description": schema["description"], "allOf": [reference, extra]});
    schemas.insert(extension.to_owned(), extended);
}

/// Makes a type that is the same as another one a reference to it.
fn refer_to_equal(schemas: &mut Map<String, Value>, name: &str, other: &str) {
    if schemas.contains_key(name) && schemas.get(name) == schemas.get(other) {
        let reference = json!({"$ref": format!("#{SCHEMAS_PATH}/{other}")});
        schemas.insert(name.to_owned(), reference);
    }
}

/// Makes the field that every page has a type of its own.
fn name_next_cursor(schemas: &mut Map<String, Value>) {
    let name = "NextCursor";
    let reference = json!({"$ref": format!("#{SCHEMAS_PATH}/{name}")});
    let pages = schemas.iter_mut().filter(|(name, _)| name.ends_with("Page"));
    let fields: Vec<&mut Value> =
        pages.filter_map(|(_, page)| page.pointer_mut("/properties/next")).collect();
    let Some(cursor) = fields.first().map(|field| (**field).clone()) else { return };
    for field in fields.into_iter().filter(|field| **field == cursor) {
        *field = reference.clone();
    }
    schemas.insert(name.to_owned(), cursor);
}

fn simplify_value(schema: &mut Value, simplify: fn(&mut Schema)) {
    if let Ok(schema) = schema.try_into() {
        simplify(schema);
    }
}

/// Rewrites a schema to the forms that generators of clients know.
fn simplify(schema: &mut Schema) {
    list_values(schema);
    // A number has its bounds; `uint64` is unknown, and `int64` would become a big integer.
    if schema.get("format").is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    transform_subschemas(&mut simplify, schema);
}

fn simplify_request(schema: &mut Schema) {
    simplify(schema);
    refer_to_handle(schema);
}

fn simplify_answer(schema: &mut Schema) {
    simplify(schema);
    omit_null(schema);
    omit_zero_bound(schema);
    refer_to_id(schema);
}

/// The letters of an id behind its kind, as a pattern ends with them.
const ID_LETTERS: &str = "_[0-7][0-9a-hjkmnp-tv-z]{25}$";

/// The one type of every id in an answer.
fn id_type() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^[a-z]{{3}}{ID_LETTERS}"),
        "description": "An id: its kind, such as `mem`, and letters that sort by time.",
    })
}

/// The types of ids in requests that many requests have: the name of each, and the beginning of its ids.
const HANDLE_TYPES: [(&str, &str); 3] =
    [("MemoryHandle", "mem"), ("HandoffHandle", "hnd"), ("CheckpointHandle", "chk")];

/// The pattern of an id of this kind in a request, where its end stands for it.
fn handle_pattern(kind: &str) -> String {
    format!("^({kind}_[0-7][0-9a-hjkmnp-tv-z]{{25}}|#?{HANDLE_PATTERN})$")
}

/// A type of ids in requests, by its name.
fn handle_type(name: &str, kind: &str) -> (String, Value) {
    let noun = name.trim_end_matches("Handle").to_lowercase();
    let about = format!("The id of a {noun}, or its last letters.");
    let schema = json!({"type": "string", "pattern": handle_pattern(kind), "description": about});
    (name.to_owned(), schema)
}

/// A schema in which each id or its end refers to the type of such ids.
pub(super) fn refer_to_handles(mut schema: Value) -> Value {
    simplify_value(&mut schema, refer_to_handle);
    schema
}

/// Makes a required field that holds an id or its end refer to the type of such ids.
fn refer_to_handle(schema: &mut Schema) {
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
    let found = HANDLE_TYPES.iter().find(|(_, kind)| handle_pattern(kind) == pattern);
    let is_plain = schema.get("type").is_some_and(|kind| kind == "string");
    if let (Some((name, _)), true, None) = (found, is_plain, schema.get("minLength")) {
        schema.remove("pattern");
        schema.remove("type");
        schema.insert("$ref".into(), format!("#{SCHEMAS_PATH}/{name}").into());
    }
    transform_subschemas(&mut refer_to_handle, schema);
}

/// Makes a field that holds an id refer to the type of ids.
fn refer_to_id(schema: &mut Schema) {
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
    let kind = pattern.strip_prefix('^').and_then(|pattern| pattern.strip_suffix(ID_LETTERS));
    let is_text = schema.get("type").is_some_and(|kind| kind == "string");
    if is_text && kind.is_some_and(|kind| kind.len() == 3) {
        schema.remove("pattern");
        schema.remove("type");
        schema.insert("$ref".into(), format!("#{SCHEMAS_PATH}/Id").into());
    }
    transform_subschemas(&mut refer_to_id, schema);
}

/// Removes the bound of numbers that cannot be negative: it says nothing to a reader.
fn omit_zero_bound(schema: &mut Schema) {
    if schema.get("minimum").is_some_and(|minimum| *minimum == 0) {
        schema.remove("minimum");
    }
    transform_subschemas(&mut omit_zero_bound, schema);
}

/// Removes `null` from the fields that are not required: an answer omits them.
fn omit_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, field) in fields.into_iter().flatten().filter(|(name, _)| !is_required(name)) {
        *field = without_null(field);
    }
    transform_subschemas(&mut omit_null, schema);
}

/// The schema of a field that a caller omits where it has no value, without `null`.
pub(super) fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let null = json!({"type": "null"});
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(kinds)) = fields.get("type") {
        let kind = kinds.iter().find(|kind| *kind != "null").cloned();
        fields.insert("type".into(), kind.unwrap_or_default());
    }
    let forms = fields.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_default();
    if let [Value::Object(form), second] = &forms[..]
        && *second == null
    {
        fields.remove("anyOf");
        for (name, value) in form {
            fields.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    schema
}

/// Writes the values of an enum as one list, and what they mean into its description.
fn list_values(schema: &mut Schema) {
    let Some(forms) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    for form in forms {
        match (&form["const"], &form["enum"], &form["description"]) {
            (value @ Value::String(name), _, about) => {
                values.push(value.clone());
                lines.extend(about.as_str().map(|about| format!("- `{name}`: {about}")));
            }
            (_, Value::Array(names), _) => values.extend(names.iter().cloned()),
            _ => return,
        }
    }
    let about = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    lines.splice(0..0, about.map(|about| format!("{about}\n")));
    schema.remove("oneOf");
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), values.into());
    if !lines.is_empty() {
        schema.insert("description".into(), lines.join("\n").into());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The names that two different types share.
    pub(in crate::doors::rest) fn ambiguous_names(components: SchemaComponents) -> Vec<String> {
        let mut types: BTreeMap<String, Value> = BTreeMap::new();
        let mut ambiguous = Vec::new();
        for (name, schema) in components.into_named_schemas() {
            // The generator numbers the second type of one name.
            let numbered = name.ends_with(|last: char| last.is_ascii_digit());
            if numbered || types.get(&name).is_some_and(|first| *first != schema) {
                ambiguous.push(name.clone());
            }
            types.insert(name, schema);
        }
        ambiguous
    }
}
