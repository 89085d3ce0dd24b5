//! The OpenAPI 3.1 document, made from the table of routes and the schemas of requests and responses.

use commonbook::base::error::{ErrorBody, ErrorKind};
use commonbook::base::{input, limits};
use commonbook::model::agent;
use commonbook::model::event::FollowEvents;
use serde_json::{Map, Value, json};

use super::examples;
use super::route::{RestRoute, status_of_kind};
use crate::hint::{HintDoor, translate};

/// The document of these routes.
pub(super) fn document(routes: &[RestRoute]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation(route);
    }
    paths.insert("/events/stream".into(), stream());
    paths.insert("/health".into(), health());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Commonbook",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Shared memory for AI agents.",
            "description": "Send the name of your agent in `X-Commonbook-Agent` and the workspace in \
                `X-Commonbook-Workspace` (`default` if it is missing). A body never contains an identity.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": input::schema::<ErrorBody>()},
            "parameters": common_parameters(),
            "securitySchemes": {"token": {
                "type": "http", "scheme": "bearer",
                "description": "A token from `commonbook token create`, if the server requires one.",
            }},
        },
        "security": [{}, {"token": []}],
    })
}

fn operation(route: &RestRoute) -> Value {
    let mut parameters: Vec<Value> = common_parameters()
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| match name.as_str() {
            "IdempotencyKey" => route.call.takes_key(),
            "IfMatch" => route.supports_if_match(),
            "IfNoneMatch" => route.supports_if_none_match(),
            _ => true,
        })
        .map(|(name, _)| json!({"$ref": format!("#/components/parameters/{name}")}))
        .collect();
    let is_parameter =
        |name: &str| (route.is_path_field(name) || !route.has_body()) && route.takes_field(name);
    for (name, schema) in route.call.fields().filter(|(name, _)| is_parameter(name)) {
        if name != "idempotency_key" {
            let location = if route.is_path_field(name) { "path" } else { "query" };
            parameters.push(parameter(name, location, route.call.requires(name), schema));
        }
    }
    let mut operation = json!({
        "operationId": route.name,
        "summary": sentence(route.name),
        "description": translate(route.call.verb_description(), HintDoor::Rest),
        "parameters": parameters,
        "responses": responses(route),
    });
    if route.has_body() {
        operation["requestBody"] = body(route);
    }
    operation
}

/// The name of a verb as a heading: "Save memory".
fn sentence(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{}", first.to_uppercase(), rest.replace('_', " "))
}

fn parameter(name: &str, location: &str, required: bool, schema: &Value) -> Value {
    json!({
        "name": name,
        "in": location,
        "required": required,
        "description": schema["description"],
        "schema": without_null(&without_description(schema)),
    })
}

/// The schema of a parameter: a caller leaves it out where a field may be `null`.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(kinds) = schema["type"].as_array() {
        let kind = kinds.iter().find(|kind| *kind != "null").cloned();
        schema["type"] = kind.unwrap_or_default();
    }
    let null = json!({"type": "null"});
    match schema["anyOf"].as_array().map(Vec::as_slice) {
        Some([form, second]) if *second == null => without_description(form),
        _ => schema,
    }
}

fn without_description(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

/// The schema of a route's body: the request without the fields of the path and the headers.
fn body(route: &RestRoute) -> Value {
    let mut single = (**route.call.request).clone();
    let outside = |name: &str| route.is_path_field(name) || name == "idempotency_key";
    if let Some(fields) = single["properties"].as_object_mut() {
        fields.retain(|name, _| !outside(name));
    }
    if let Some(required) = single["required"].as_array_mut() {
        required.retain(|name| !name.as_str().is_some_and(outside));
    }
    let needed = single["required"].as_array().is_some_and(|names| !names.is_empty());
    let schema = match &route.list {
        None => single,
        Some((field, list)) => {
            json!({"oneOf": [single, without_description(&list.request["properties"][*field])]})
        }
    };
    let mut content = json!({ "schema": schema });
    if let Some(example) = examples::request(route.name) {
        content["example"] = example;
    }
    json!({"required": needed, "content": {"application/json": content}})
}

fn responses(route: &RestRoute) -> Value {
    let single = &**route.call.answer;
    // `oneOf` with two equal schemas would match no response.
    let answer = match &route.list {
        Some((_, list)) if **list.answer != *single => json!({"oneOf": [single, **list.answer]}),
        _ => single.clone(),
    };
    let mut responses = json!({
        route.status.as_str(): {
            "description": "Success.",
            "content": {"application/json": {"schema": answer}},
        }
    });
    if let Some(example) = examples::answer(route.name) {
        responses[route.status.as_str()]["content"]["application/json"]["example"] = example;
    }
    if route.memory.is_some() {
        responses[route.status.as_str()]["headers"] = json!({"ETag": etag()});
    }
    if route.supports_if_none_match() {
        responses["304"] = json!({
            "description": "Not modified: If-None-Match names this revision.",
            "headers": {"ETag": etag()},
        });
    }
    for kind in ErrorKind::ALL {
        responses[status_of_kind(kind).as_str()] = error_response_schema(kind);
    }
    if route.has_body() {
        let mut unsupported = error_response_schema(ErrorKind::Invalid);
        unsupported["description"] = "The Content-Type of the body is not application/json.".into();
        responses["415"] = unsupported;
    }
    // HTTP errors before any route is found; they have no body.
    responses["414"] = json!({"description": "The URL is longer than 65,534 bytes."});
    responses["431"] =
        json!({"description": "The request has more than 100 headers, or they are too long."});
    for status in ["429", "503"] {
        responses[status]["headers"] = json!({"Retry-After": {
            "description": "Seconds to wait before the next attempt.", "schema": {"type": "integer", "minimum": 1},
        }});
    }
    responses
}

fn etag() -> Value {
    json!({
        "description": "The revision of the memory, for If-Match and If-None-Match. The response to a batch has no ETag.",
        "schema": {"type": "string", "pattern": "^\"[0-9]+\"$"},
    })
}

fn error_response_schema(kind: ErrorKind) -> Value {
    let schema = input::schema::<ErrorKind>();
    let forms = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let form = forms.iter().find(|form| form["const"] == kind.name());
    json!({
        "description": form.map_or(kind.name().into(), |form| form["description"].clone()),
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Error"},
            "example": examples::error(kind),
        }},
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
        "Agent": header(
            "X-Commonbook-Agent",
            "The name of your agent: `claude-code`, `claude-code/engineer`, `rook@jarvis`.",
            agent::NAME_PATTERN, 2 * limits::AGENT_CHARS + 1, "claude-code",
        ),
        "Workspace": header(
            "X-Commonbook-Workspace", "The workspace to use; `default` if it is missing.",
            input::SLUG_PATTERN, limits::WORKSPACE_CHARS, "payments",
        ),
        "User": line(
            "X-Commonbook-User",
            "The user you work for: you see memories about this user and memories about no user.",
            limits::USER_CHARS, "u-17",
        ),
        "Session": line(
            "X-Commonbook-Session", "The session you work in.", limits::SESSION_CHARS, "s-2026-11-21",
        ),
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
fn stream() -> Value {
    let request = input::schema::<FollowEvents>();
    let mut parameters: Vec<Value> = ["Agent", "Workspace", "User"]
        .map(|name| json!({"$ref": format!("#/components/parameters/{name}")}))
        .into();
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "required": false,
        "description": "The `id` of the last event you received: the stream continues after it. Overrides `after`.",
        "schema": {"type": "string"},
    }));
    for (name, schema) in request["properties"].as_object().into_iter().flatten() {
        parameters.push(parameter(name, "query", false, schema));
    }
    let mut responses = json!({"200": {
        "description": "Server-sent events, until the client or the server closes the stream. `event` is the kind, \
            `id` the sequence, `data` the event as `GET /v1/events` returns it. The event `lagged` with \
            `{\"missed\": n}` means that the reader fell behind the buffer; the missed events follow from \
            the journal. After 15 seconds without an event the server sends a comment.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }});
    for kind in ErrorKind::ALL {
        responses[status_of_kind(kind).as_str()] = error_response_schema(kind);
    }
    json!({"get": {
        "operationId": "follow_events",
        "summary": sentence("follow_events"),
        "description": request["description"],
        "parameters": parameters,
        "responses": responses,
    }})
}

fn health() -> Value {
    json!({"get": {
        "operationId": "health",
        "summary": "Reports whether the server can read its store.",
        "responses": {
            "200": {
                "description": "The server is healthy.",
                "content": {"application/json": {"schema": {
                    "type": "object",
                    "properties": {"status": {"const": "ok"}, "version": {"type": "string"}},
                    "required": ["status", "version"],
                }}},
            },
            "500": error_response_schema(ErrorKind::Internal),
            "503": error_response_schema(ErrorKind::Unavailable),
        },
    }})
}
