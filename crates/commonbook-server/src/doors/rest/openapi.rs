//! The OpenAPI 3.1 document, made from the table of routes and the schemas of requests and responses.

use std::collections::HashMap;

use axum::http::StatusCode;
use commonbook::base::error::ErrorKind;
use commonbook::base::{input, limits};
use commonbook::model::event::FollowEvents;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::components::{SchemaComponents, refer_to_handles, without_null};
use super::descriptions::{join_descriptions, joined};
use super::examples;
use super::route::{DRY_RUN_FIELD, RestRoute};
use crate::calls::hint::{HintDoor, translate};

/// The document of these routes.
pub(super) fn document(routes: &[RestRoute]) -> Value {
    let (mut paths, components) = describe(routes);
    let (mut parameters, mut answers) = (common_parameters(), common_responses());
    share(parameters_of(&mut paths), "parameters", parameter_name, &mut parameters);
    share(responses_of(&mut paths), "responses", response_name, &mut answers);
    let mut schemas = components.into_schemas();
    schemas.insert("Health".into(), health_schema());
    for (name, example) in examples::of_types() {
        if let Some(schema) = schemas.get_mut(name).and_then(Value::as_object_mut) {
            schema.insert("examples".into(), json!([example]));
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Commonbook",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Shared memory for AI agents.",
            "description": "Send the name of your agent in `X-Commonbook-Agent` and the workspace in \
                `X-Commonbook-Workspace`. A body never contains an identity. A status 5XX has the body of \
                a 4XX.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/", "description": "The server of this document."}],
        "tags": SUBJECTS.map(|(tag, about, _)| json!({"name": tag, "description": about})),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": parameters,
            "headers": {"ETag": etag(), "RetryAfter": retry_after()},
            "responses": answers,
            "securitySchemes": caller_schemes(),
        },
        "security": [
            {}, {"token": []}, {"agent": []}, {"workspace": []}, {"user": []}, {"session": []},
            {"reader": []},
        ],
    });
    join_descriptions(&mut document);
    document
}

/// The paths of these routes, and the types that they name.
fn describe(routes: &[RestRoute]) -> (Map<String, Value>, SchemaComponents) {
    let (mut paths, mut components) = (Map::new(), SchemaComponents::new());
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation(route, &mut components);
    }
    paths.insert("/events/stream".into(), stream(&mut components));
    paths.insert("/health".into(), health());
    components.add_bases();
    (paths, components)
}

/// Moves what several operations have to the components of this section, under its name. Different ones
/// with one name are numbered.
fn share(
    values: Vec<&mut Value>,
    section: &str,
    name_of: fn(&Value) -> Option<&str>,
    shared: &mut Value,
) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for value in &values {
        *counts.entry(value.to_string()).or_default() += 1;
    }
    for value in values {
        let Some(name) = name_of(value).map(str::to_owned) else { continue };
        if counts[&value.to_string()] < 2 {
            continue;
        }
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let is_free = |name: &String| shared[name].is_null() || shared[name] == *value;
        let Some(name) = std::iter::once(name.clone()).chain(numbered).find(is_free) else {
            continue;
        };
        shared[&name] = value.clone();
        *value = json!({"$ref": format!("#/components/{section}/{name}")});
    }
}

/// The name of a parameter.
fn parameter_name(parameter: &Value) -> Option<&str> {
    parameter["name"].as_str()
}

/// The name of a response: that of its type.
fn response_name(response: &Value) -> Option<&str> {
    let reference = response["content"]["application/json"]["schema"]["$ref"].as_str()?;
    reference.rsplit('/').next()
}

/// Every operation.
fn operations(paths: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

/// The parameters of every operation.
fn parameters_of(paths: &mut Map<String, Value>) -> Vec<&mut Value> {
    let lists = operations(paths).filter_map(|operation| operation.get_mut("parameters"));
    lists.filter_map(Value::as_array_mut).flatten().collect()
}

/// The responses of every operation.
fn responses_of(paths: &mut Map<String, Value>) -> Vec<&mut Value> {
    let lists = operations(paths).filter_map(|operation| operation.get_mut("responses"));
    lists.filter_map(Value::as_object_mut).flat_map(Map::values_mut).collect()
}

/// The subjects of the document: a tag, its description, and the segments of the paths that it has.
const SUBJECTS: [(&str, &str, &[&str]); 9] = [
    (
        "memories",
        "What agents keep, and its review.",
        &["memories", "operations", "quarantine", "learnings"],
    ),
    (
        "truth",
        "Memory that stays true: reviews after changes, consolidation, who knows what, forgetting.",
        &["outdated", "consolidations", "knowledge", "certificates"],
    ),
    (
        "context",
        "What an agent reads before it works.",
        &["context", "contexts", "briefing", "standing", "roles"],
    ),
    ("cases", "Matters that several agents work on.", &["cases"]),
    (
        "sessions",
        "Work over time: sessions, checkpoints, and the changes since a reader last looked.",
        &["sessions", "checkpoints", "changes"],
    ),
    (
        "handoffs",
        "Work that one agent hands to another, with its memory.",
        &["handoffs", "collaborations"],
    ),
    (
        "entities",
        "What memories speak about, and its relations.",
        &["entities", "relations", "graph"],
    ),
    ("contradictions", "Memories that cannot both hold.", &["contradictions"]),
    (
        "workspace",
        "The journal, the agents, the figures and the export of a workspace; the server's health.",
        &["events", "agents", "users", "stats", "export", "health"],
    ),
];

/// The tag of a path.
fn tag(path: &str) -> &'static str {
    let segment = path.trim_start_matches("/v1").split('/').nth(1).unwrap_or_default();
    let subject = SUBJECTS.iter().find(|(_, _, segments)| segments.contains(&segment));
    subject.map_or("workspace", |(tag, ..)| *tag)
}

fn operation(route: &RestRoute, components: &mut SchemaComponents) -> Value {
    let mut parameters: Vec<Value> = common_parameters()
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| match name.as_str() {
            "IdempotencyKey" => route.call.takes_key(),
            "IfMatch" => route.supports_if_match(),
            "IfNoneMatch" => route.supports_if_none_match(),
            "LastEventId" => false,
            _ => true,
        })
        .map(|(name, _)| json!({"$ref": format!("#/components/parameters/{name}")}))
        .collect();
    let (request_name, request) = components.request(route.call.request_type);
    let is_parameter =
        |name: &str| (route.is_path_field(name) || !route.has_body()) && route.takes_field(name);
    for (name, schema) in request["properties"].as_object().into_iter().flatten() {
        if is_parameter(name) && name != "idempotency_key" {
            let location = if route.is_path_field(name) { "path" } else { "query" };
            parameters.push(parameter(name, location, route.call.requires(name), schema));
        }
    }
    let about = joined(&translate(route.call.verb_description(), HintDoor::Rest));
    let (summary, description) =
        about.split_once(". ").unwrap_or((about.trim_end_matches('.'), ""));
    let mut operation = json!({
        "operationId": route.name,
        "tags": [tag(route.path)],
        "summary": summary,
        "description": description,
        "parameters": parameters,
        "responses": responses(route, components),
    });
    if let Some(fields) = operation.as_object_mut() {
        fields.retain(|_, value| *value != json!([]) && *value != json!(""));
    }
    if let Some(schema) = body_schema(route, request) {
        let required = schema.get("required").is_some();
        let reference = components.body(&request_name, schema);
        operation["requestBody"] = body(route, reference, required, components);
    }
    operation
}

fn parameter(name: &str, location: &str, required: bool, schema: &Value) -> Value {
    let mut parameter = json!({
        "name": name,
        "in": location,
        "schema": refer_to_handles(without_null(&without_description(schema))),
    });
    if let Some(about) = schema.get("description") {
        parameter["description"] = about.clone();
    }
    if required || location == "path" {
        parameter["required"] = true.into();
    }
    parameter
}

fn without_description(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

/// The schema of a body: the request without the fields of the path and the headers. None if no field is
/// left.
fn body_schema(route: &RestRoute, mut request: Value) -> Option<Value> {
    let outside = |name: &str| route.is_path_field(name) || name == "idempotency_key";
    let schema = request.as_object_mut().filter(|_| route.has_body())?;
    // The operation has the description.
    schema.remove("description");
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut)?;
    fields.retain(|name, _| !outside(name));
    if fields.is_empty() {
        return None;
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(outside));
        if required.is_empty() {
            schema.remove("required");
        }
    }
    Some(request)
}

/// The body of a route, with a reference to its schema.
fn body(
    route: &RestRoute,
    reference: Value,
    required: bool,
    components: &mut SchemaComponents,
) -> Value {
    let schema = match &route.list {
        None => reference,
        Some((field, list)) => {
            let (_, list) = components.request(list.request_type);
            json!({"oneOf": [reference, without_description(&list["properties"][*field])]})
        }
    };
    let mut content = json!({ "schema": schema });
    if let Some(example) = route.examples.request {
        content["example"] = example();
    }
    let mut body = json!({"content": {"application/json": content}});
    if required {
        body["required"] = true.into();
    }
    body
}

fn responses(route: &RestRoute, components: &mut SchemaComponents) -> Value {
    let single = components.answer(route.call.answer_type);
    let list = route.list.as_ref().map(|(_, list)| components.answer(list.answer_type));
    // `oneOf` with two equal schemas would match no response.
    let answer = match list.filter(|list| *list != single) {
        Some(list) => json!({"oneOf": [single, list]}),
        None => single,
    };
    let mut success = json!({
        "description": "OK.",
        "content": {"application/json": {"schema": answer}},
    });
    if let Some(example) = route.examples.answer {
        success["content"]["application/json"]["example"] = example();
    }
    if route.memory.is_some() {
        success["headers"] = json!({"ETag": {"$ref": "#/components/headers/ETag"}});
    }
    let mut responses = json!({ route.status.as_str(): success.clone() });
    if route.status == StatusCode::CREATED
        && route.call.fields().any(|(name, _)| name == DRY_RUN_FIELD)
    {
        responses["200"] = success;
    }
    if !route.has_body() && has_long_text(&route.call.request) {
        responses["414"] = json!({"$ref": "#/components/responses/UrlTooLong"});
    }
    if route.supports_if_none_match() {
        responses["304"] = json!({"$ref": "#/components/responses/NotModified"});
    }
    with_errors(responses)
}

/// Characters of a field from which on a URL can be too long: a character has up to 12 in a URL.
const LONG_TEXT_CHARS: u64 = 65_534 / 12;

/// Whether a field of this request can by itself make a URL too long.
fn has_long_text(request: &Value) -> bool {
    let mut fields = request["properties"].as_object().into_iter().flatten();
    fields.any(|(_, field)| field["maxLength"].as_u64() >= Some(LONG_TEXT_CHARS))
}

/// Adds the errors of every operation. What the server fails at, 5XX, has the same body: the head of the
/// document says so once.
fn with_errors(mut responses: Value) -> Value {
    responses["4XX"] = json!({"$ref": "#/components/responses/Error"});
    responses
}

fn common_responses() -> Value {
    let retry_after = json!({"Retry-After": {"$ref": "#/components/headers/RetryAfter"}});
    let kinds = [ErrorKind::Invalid, ErrorKind::Forbidden];
    let named = kinds.map(|kind| (kind.name().to_owned(), json!({"value": examples::error(kind)})));
    json!({
        "Error": {
            "description": "The request failed: `kind` says why, and `hint` what to do.",
            "headers": retry_after,
            "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/ErrorBody"},
                "examples": Map::from_iter(named),
            }},
        },
        "NotModified": {
            "description": "Not modified: If-None-Match names this revision.",
            "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
        },
        "UrlTooLong": {"description": "The URL is longer than 65,534 bytes. The response has no body."},
    })
}

fn retry_after() -> Value {
    json!({
        "description": "Seconds to wait before the next attempt.",
        "schema": {"type": "integer", "minimum": 1},
    })
}

fn etag() -> Value {
    json!({
        "description": "The revision of the memory, for If-Match and If-None-Match. The response to a batch has no ETag.",
        "schema": {"type": "string", "pattern": "^\"[0-9]+\"$"},
    })
}

/// What says who calls. A client sends these headers with every request, so that generated clients take
/// them once and no operation repeats them.
fn caller_schemes() -> Value {
    let header = |name: &str, about: &str| json!({"type": "apiKey", "in": "header", "name": name, "description": about});
    json!({
        "token": {
            "type": "http", "scheme": "bearer",
            "description": "A token from `commonbook token create`, if the server requires one.",
        },
        "agent": header(
            "X-Commonbook-Agent",
            "The name of your agent: `claude-code`, `claude-code/engineer`, `rook@jarvis`.",
        ),
        "workspace": header(
            "X-Commonbook-Workspace",
            "The workspace to use. If it is missing, the server's own: that of the project in which it was \
             started, else `default`. A response names its workspace in the same header.",
        ),
        "user": header(
            "X-Commonbook-User",
            "The user you work for: you see memories about this user and memories about no user.",
        ),
        "session": header("X-Commonbook-Session", "The session you work in."),
        "reader": header("X-Commonbook-Reader", "`command` if you have no MCP tools, but a command line."),
    })
}

fn common_parameters() -> Value {
    let header = |name: &str, about: &str, pattern: &str, chars: usize, example: &str| {
        json!({
            "name": name, "in": "header", "required": false, "description": about,
            "schema": {"type": "string", "minLength": 1, "maxLength": chars, "pattern": pattern},
            "example": example,
        })
    };
    let line =
        |name, about, chars, example| header(name, about, input::LINE_PATTERN, chars, example);
    json!({
        "LastEventId": {
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "The `id` of the last event you received: the stream continues after it. Overrides `after`.",
            "schema": {"type": "string"},
        },
        "IfMatch": header(
            "If-Match",
            "The ETag that you expect: if the memory has another revision, nothing changes and the response is 409. The same as `expected_revision`.",
            "^([*]|\"[0-9]{1,19}\")$", 21, "\"1\"",
        ),
        "IfNoneMatch": json!({
            "name": "If-None-Match", "in": "header", "required": false,
            "description": "The ETag that you have: if the memory still has it, the response is 304 without a body.",
            "schema": {"type": "string"}, "example": "\"1\"",
        }),
        "IdempotencyKey": line(
            "Idempotency-Key",
            "Any text you choose: for 24 hours, a request with the same key and the same content runs once and gets the same response.",
            limits::IDEMPOTENCY_KEY_CHARS, "4b1c7a52-retry-1",
        ),
    })
}

/// The stream of events, which is not a verb.
fn stream(components: &mut SchemaComponents) -> Value {
    let (_, request) = components.request(SchemaGenerator::subschema_for::<FollowEvents>);
    let mut parameters = vec![json!({"$ref": "#/components/parameters/LastEventId"})];
    for (name, schema) in request["properties"].as_object().into_iter().flatten() {
        parameters.push(parameter(name, "query", false, schema));
    }
    let success = json!({
        "description": "Server-sent events, until either side closes the stream. `event` is the kind, \
            `id` the sequence, `data` the event as `GET /v1/events` returns it. The event `lagged` with \
            `{\"missed\": n}` means that the reader fell behind the buffer; the missed events follow from \
            the journal. `resync` means that events which you have may be lost. After 15 seconds without an event the server sends a comment.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    });
    json!({"get": {
        "operationId": "follow_events",
        "tags": [tag("/events/stream")],
        "summary": "Follows the events of the workspace's journal",
        "description": request["description"],
        "parameters": parameters,
        "responses": with_errors(json!({"200": success})),
    }})
}

fn health() -> Value {
    let success = json!({
        "description": "The server is healthy.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}},
    });
    json!({"get": {
        "operationId": "health",
        "tags": [tag("/health")],
        "summary": "Report whether the server can read its store.",
        "security": [],
        "responses": with_errors(json!({"200": success})),
    }})
}

fn health_schema() -> Value {
    json!({
        "description": "A healthy server.",
        "type": "object",
        "properties": {
            "status": {"type": "string", "const": "ok"},
            "version": {"type": "string", "description": "The version of the server."},
        },
        "required": ["status", "version"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::rest::components::tests::ambiguous_names;
    use crate::doors::rest::routes;

    #[test]
    fn a_name_stands_for_one_type() {
        let (_, components) = describe(&routes());
        assert_eq!(ambiguous_names(components), [""; 0]);
    }

    #[test]
    fn every_path_has_the_tag_of_its_subject() {
        for route in routes() {
            let segment = route.path.split('/').nth(2).unwrap_or_default();
            let has = |(_, _, segments): &(&str, &str, &[&str])| segments.contains(&segment);
            assert!(SUBJECTS.iter().any(has), "{}", route.path);
        }
    }
}
