//! The verbs over REST: each by its route in the registry.

use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits};
use commonbook::model::bulk::LAST_CHANGE;
use commonbook::model::caller::Caller;
use commonbook::model::case::{AppendEntries, AppendEntry};
use commonbook::model::import::{ImportMemoriesResult, ImportRecord};
use commonbook::verbs::names;
use serde_json::{Map, Value, json};

use super::address::ServerAddress;
use super::http::HttpClient;
use crate::calls::verb::{self, Verb, VerbRoute};

/// The time limit of a command: a write waits for its turn in the server as it would here.
pub(crate) const COMMAND_TIMEOUT: Duration =
    Duration::from_secs(limits::WRITE_WAIT_SECONDS + limits::REQUEST_SECONDS);

/// Bytes of a response that are read.
const RESPONSE_BYTES_MAX: u64 = 256 << 20;

/// Bytes of the lines in one request of an import, unless a single line is longer.
const LINES_BYTES_MAX: usize = 1 << 20;

/// The field that a header carries.
const KEY_FIELD: &str = "idempotency_key";

/// The field of a read that notes how far its caller has read; over REST that is a call of its own.
const MARK_FIELD: &str = "mark";

/// The fields of an answer that say how far it was read.
const POSITION_FIELDS: [&str; 3] = ["through", "next", "context_version"];

/// The verbs of a server.
pub(crate) struct RestClient(HttpClient);

/// A request to a route.
#[derive(Debug, PartialEq)]
struct RouteRequest {
    method: String,
    /// The path with its query.
    path: String,
    /// The body; empty if it has none.
    body: String,
    key: Option<String>,
}

impl RestClient {
    /// The verbs of the server at this address; none takes longer than `timeout`.
    pub(crate) fn new(address: ServerAddress, timeout: Duration) -> Self {
        Self(HttpClient::new(address, Some(timeout)))
    }

    /// The URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.0.address.url
    }

    /// Calls a verb, and returns its response.
    ///
    /// # Errors
    /// The error of the verb; `unavailable` if the server does not answer, or does not offer the verb.
    pub(crate) fn call(
        &self,
        verb: &Verb,
        caller: &Caller,
        mut request: Map<String, Value>,
    ) -> Result<Value> {
        let is_get = verb.route.as_ref().is_some_and(|route| route.method == "GET");
        let mark = is_get && request.remove(MARK_FIELD) == Some(Value::Bool(true));
        let case = request.get("key").or_else(|| request.get("case")).cloned();
        let response = self.send(&route_request(verb, caller, request)?, caller)?;
        let position = POSITION_FIELDS.iter().map(|field| &response[*field]);
        if let Some(position) = position.into_iter().find(|value| value.is_u64()).filter(|_| mark) {
            let mark = json!({"position": position, "case": case});
            let body = mark.to_string().replace(",\"case\":null", "");
            let path = "/v1/changes/mark".to_owned();
            let request = RouteRequest { method: "POST".to_owned(), path, body, key: None };
            self.send(&request, caller)?;
        }
        Ok(response)
    }

    /// Calls the verb of this name.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub(crate) fn call_named(&self, name: &str, caller: &Caller, request: Value) -> Result<Value> {
        let found = verb::find(name);
        let found = found
            .ok_or_else(|| Error::new(ErrorKind::Internal, format!("there is no verb {name}")))?;
        match request {
            Value::Object(request) => self.call(found, caller, request),
            _ => self.call(found, caller, Map::new()),
        }
    }

    /// Imports lines, in as many requests as they need; `fields` are the other fields of each request.
    ///
    /// # Errors
    /// As [`Self::call`]; the lines of earlier requests are imported then.
    pub(crate) fn import_lines(
        &self,
        caller: &Caller,
        fields: &Map<String, Value>,
        lines: impl Iterator<Item = Value>,
    ) -> Result<Vec<ImportRecord>> {
        let mut results = Vec::new();
        let mut lines = lines.peekable();
        while lines.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while let Some(line) = lines.peek() {
                bytes += line.to_string().len();
                if !batch.is_empty() && (batch.len() == limits::BATCH || bytes > LINES_BYTES_MAX) {
                    break;
                }
                batch.extend(lines.next());
            }
            let mut request = fields.clone();
            request.insert("lines".to_owned(), Value::Array(batch));
            let response =
                self.call_named(names::IMPORT_MEMORIES, caller, Value::Object(request))?;
            let response: ImportMemoriesResult = input::from_value(response)?;
            results.extend(response.results);
        }
        Ok(results)
    }

    fn send(&self, request: &RouteRequest, caller: &Caller) -> Result<Value> {
        let RouteRequest { method, path, body, key } = request;
        let mut builder = self.0.request(method, path, caller);
        if let Some(key) = key {
            builder = builder.header("idempotency-key", key);
        }
        let sent = self.0.send(builder, body.clone());
        let mut response = sent.map_err(|error| in_verbs(&error))?;
        let read = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX).read_json();
        read.map_err(|error| self.0.unavailable("the response is not JSON", error))
    }
}

/// The request to the route of a verb.
fn route_request(
    verb: &Verb,
    caller: &Caller,
    mut request: Map<String, Value>,
) -> Result<RouteRequest> {
    request.retain(|_, value| !value.is_null());
    if let Value::Object(read) = verb.call.read(Value::Object(request.clone()), caller.door) {
        request = read;
    }
    let key = request.remove(KEY_FIELD).as_ref().map(text);
    let (VerbRoute { method, path }, mut body) = match verb.name {
        // One entry is a list of one.
        names::APPEND_ENTRY => {
            let entry: AppendEntry = input::from_value(Value::Object(request))?;
            let entries = serde_json::to_value(AppendEntries::from(entry));
            let entries = entries.map_err(encoding_error)?;
            (route_of(names::APPEND_ENTRIES)?, entries)
        }
        names::MEMORY_AT => (route_of(names::GET_MEMORY)?, Value::Object(request)),
        names::UNDO_OPERATION => {
            request.entry("operation_id").or_insert_with(|| LAST_CHANGE.into());
            (route_of(names::UNDO_OPERATION)?, Value::Object(request))
        }
        _ => match (&verb.route, list_route(verb)) {
            (Some(route), _) => (route.clone(), Value::Object(request)),
            (None, Some((route, field))) => (route, request.remove(field).unwrap_or_default()),
            (None, None) => return Err(not_offered(verb)),
        },
    };
    let mut path = path.to_owned();
    while let Some((before, rest)) = path.split_once('{') {
        let (field, after) = rest.split_once('}').unwrap_or((rest, ""));
        let value = body.as_object_mut().and_then(|fields| fields.shift_remove(field));
        let session = || caller.session.clone().filter(|_| field == "session");
        let value = value.as_ref().map(text).or_else(session).ok_or_else(|| {
            Error::invalid(field, "a server at a URL needs it").hint("Name it in the request.")
        })?;
        path = format!("{before}{}{after}", encoded(&value));
    }
    let method = method.to_string();
    if method == "POST" || method == "PATCH" {
        return Ok(RouteRequest { method, path, body: body.to_string(), key });
    }
    let query = query(body.as_object().into_iter().flatten());
    let path = if query.is_empty() { path } else { format!("{path}?{query}") };
    Ok(RouteRequest { method, path, body: String::new(), key })
}

fn route_of(verb: &str) -> Result<VerbRoute> {
    let found = verb::find(verb).and_then(|verb| verb.route.clone());
    found.ok_or_else(|| Error::new(ErrorKind::Internal, format!("{verb} has no route")))
}

/// The route that calls this verb for a body that is a list, with the field of that list.
fn list_route(verb: &Verb) -> Option<(VerbRoute, &'static str)> {
    verb::all().iter().find_map(|other| {
        let list = other.list_body.filter(|list| list.verb == verb.name)?;
        Some((other.route.clone()?, list.field))
    })
}

fn not_offered(verb: &Verb) -> Error {
    let message = format!("a server at a URL does not offer `{}`", verb.name);
    Error::new(ErrorKind::Unavailable, message).hint("Run it on the machine of the server.")
}

/// A value in a path or a query.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text as one segment of a path.
fn encoded(text: &str) -> String {
    let bytes = form_urlencoded::byte_serialize(text.as_bytes());
    bytes.collect::<String>().replace('+', "%20")
}

fn query<'f>(fields: impl Iterator<Item = (&'f String, &'f Value)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        match value {
            Value::Array(items) => {
                query.extend_pairs(items.iter().map(|item| (name, text(item))));
            }
            value => {
                query.append_pair(name, &text(value));
            }
        }
    }
    query.finish()
}

/// The error with a hint that names verbs instead of routes, for the door of this process.
fn in_verbs(error: &Error) -> Error {
    let Some(hint) = &error.hint else { return error.clone() };
    let named = verb::all().iter().fold(hint.clone(), |hint, verb| match &verb.route {
        Some(VerbRoute { method, path }) => {
            hint.replace(&format!("`{method} {path}`"), &format!("`{}`", verb.name))
        }
        None => hint,
    });
    error.clone().hint(named)
}

fn encoding_error(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "the request cannot be encoded").with_cause(error)
}

#[cfg(test)]
mod tests {
    use commonbook::model::caller::EntryPoint;
    use commonbook::model::workspace::Workspace;

    use super::*;

    fn request(verb: &str, fields: Value) -> Result<RouteRequest> {
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Cli);
        let caller = caller.in_session(Some("ses_1")).unwrap();
        let Value::Object(fields) = fields else { panic!("{fields}") };
        route_request(verb::find(verb).unwrap(), &caller, fields)
    }

    #[test]
    fn each_request_goes_to_its_route() {
        let table = [
            (
                "save_memory",
                json!({"text": "tea", "idempotency_key": "k", "title": null}),
                ("POST", "/v1/memories", r#"{"text":"tea"}"#, Some("k")),
            ),
            (
                "save_memories",
                json!({"memories": [{"text": "tea"}]}),
                ("POST", "/v1/memories", r#"[{"text":"tea"}]"#, None),
            ),
            (
                "search_memory",
                json!({"query": "a&b é", "k": 5, "topics": ["x", "y"]}),
                ("GET", "/v1/memories/search?query=a%26b+%C3%A9&k=5&topics=x&topics=y", "", None),
            ),
            (
                "get_agent",
                json!({"name": "claude-code/an engineer"}),
                ("GET", "/v1/agents/claude-code%2Fan%20engineer", "", None),
            ),
            ("delete_memory", json!({"id": "mem_1"}), ("DELETE", "/v1/memories/mem_1", "", None)),
            ("memory_at", json!({"id": "m", "at": "t"}), ("GET", "/v1/memories/m?at=t", "", None)),
            ("end_session", json!({}), ("POST", "/v1/sessions/ses_1/end", "{}", None)),
            (
                "append_entry",
                json!({"key": "c", "summary": "s", "idempotency_key": "k"}),
                ("POST", "/v1/cases/c/entries", r#"{"entries":[{"summary":"s"}]}"#, Some("k")),
            ),
        ];
        for (verb, fields, (method, path, body, key)) in table {
            let expected = RouteRequest {
                method: method.to_owned(),
                path: path.to_owned(),
                body: body.to_owned(),
                key: key.map(str::to_owned),
            };
            assert_eq!(request(verb, fields).unwrap(), expected, "{verb}");
        }
        assert_eq!(request("recall", json!({})).unwrap_err().kind, ErrorKind::Unavailable);
        assert_eq!(request("get_memory", json!({})).unwrap_err().field.as_deref(), Some("id"));
    }

    #[test]
    fn a_hint_of_the_server_names_verbs() {
        let error =
            Error::not_found("x").hint("Call `GET /v1/memories/search`, then `POST /v1/memories`.");
        let hint = in_verbs(&error).hint.unwrap();
        assert_eq!(hint, "Call `search_memory`, then `save_memory`.");
    }
}
