//! Messages of JSON-RPC as clients send them: read, or refused so that the client knows which one.
//!
//! The MCP library drops what it cannot read, and a client waits for the answer. So every message passes
//! here before it: a refusal has the id of its request, even where the request is no JSON.

use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::{input, limits};
use serde_json::{Map, Value, json};

/// The request that begins a connection.
pub(crate) const INITIALIZE_METHOD: &str = "initialize";

/// The request whose response is a stream without an end.
pub(crate) const LISTEN_METHOD: &str = "subscriptions/listen";

/// The request that calls a tool.
const CALL_METHOD: &str = "tools/call";

/// How the names of messages without an answer begin.
const NOTIFICATION_PREFIX: &str = "notifications/";

/// The version of MCP that has batches.
pub(crate) const BATCH_VERSION: &str = "2025-03-26";

/// The JSON-RPC error of a message that is not JSON.
const PARSE_ERROR_CODE: i32 = -32700;

/// The JSON-RPC error of JSON that is no message.
const INVALID_REQUEST_CODE: i32 = -32600;

/// The JSON-RPC error of parameters that are wrong.
const INVALID_PARAMS_CODE: i32 = -32602;

/// What a client sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClientMessages {
    /// A message.
    One(Value),
    /// Several in one list, each with its refusal if it is none.
    Batch(Vec<Result<Value, Value>>),
}

/// Reads what a client sent at once. A batch is one only where the version of the protocol has batches.
///
/// # Errors
/// The error messages that answer it, one for each request in it.
pub(crate) fn read(bytes: &[u8], has_batches: bool) -> Result<ClientMessages, Vec<Value>> {
    let value = input::json(bytes).map_err(|error| vec![unreadable(bytes, &error)])?;
    let Value::Array(messages) = value else {
        return message(value).map(ClientMessages::One).map_err(|refusal| vec![refusal]);
    };
    let refusal = match messages.len() {
        0 => Some(Error::new(ErrorKind::Invalid, "the list of messages is empty")),
        _ if !has_batches => {
            let error = Error::new(ErrorKind::Invalid, "a list of messages is a batch");
            let hint = format!("Send one message at a time; only {BATCH_VERSION} has batches.");
            Some(error.hint(hint))
        }
        count if count > limits::BATCH => {
            Some(Error::too_large("batch", count, limits::BATCH, "messages"))
        }
        _ => None,
    };
    match refusal {
        None => Ok(ClientMessages::Batch(messages.into_iter().map(message).collect())),
        Some(error) => {
            let mut ids: Vec<&Value> = messages.iter().filter_map(request_id).collect();
            ids.truncate(limits::BATCH);
            let refused = |id: &Value| error_message(id, INVALID_REQUEST_CODE, &error);
            match ids.is_empty() {
                true => Err(vec![refused(&Value::Null)]),
                false => Err(ids.into_iter().map(refused).collect()),
            }
        }
    }
}

/// The error message that answers a request which cannot be read, with its id if its text has one.
pub(crate) fn unreadable(bytes: &[u8], error: &Error) -> Value {
    let id = id_in_text(&commonbook_text::decode::text_of_bytes(bytes));
    error_message(&id.unwrap_or_default(), PARSE_ERROR_CODE, error)
}

/// The error message to the request with this id.
pub(crate) fn error_message(id: &Value, code: i32, error: &Error) -> Value {
    let hint = error.hint.as_deref().map(|hint| format!(". {hint}")).unwrap_or_default();
    let message = format!("{}{hint}", error.message);
    let error = json!({"code": code, "message": message, "data": error.body(None)});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

/// The error message that answers a request which HTTP refused in words.
pub(crate) fn http_refusal(id: &Value, text: &str) -> Value {
    error_message(id, INVALID_REQUEST_CODE, &Error::new(ErrorKind::Invalid, text.trim()))
}

/// Whether an error message is about a request whose parameters alone are wrong.
pub(crate) fn is_about_parameters(refusal: &Value) -> bool {
    refusal.pointer("/error/code") == Some(&INVALID_PARAMS_CODE.into())
}

/// The version of the protocol that a message asks for, if it begins a connection.
pub(crate) fn version_of_begin(message: &Value) -> Option<&str> {
    let begins = message["method"] == INITIALIZE_METHOD;
    message.pointer("/params/protocolVersion").and_then(Value::as_str).filter(|_| begins)
}

/// The id of a message that is a request.
pub(crate) fn request_id(message: &Value) -> Option<&Value> {
    message.get("id").filter(|id| message.get("method").is_some() && !id.is_null())
}

/// A message in the form that the MCP library reads.
///
/// # Errors
/// The error message that answers it.
fn message(value: Value) -> Result<Value, Value> {
    let Value::Object(mut fields) = value else {
        let error = Error::new(ErrorKind::Invalid, "a message is a JSON object").hint(MESSAGE_HINT);
        return Err(error_message(&Value::Null, INVALID_REQUEST_CODE, &error));
    };
    let is_absent = |field: &str| fields.get(field).is_some_and(Value::is_null);
    let (has_no_params, has_no_id) = (is_absent("params"), is_absent("id"));
    if has_no_params {
        fields.shift_remove("params");
    }
    if has_no_id && is_notification(&fields) {
        fields.shift_remove("id");
    }
    match refusal(&fields) {
        None => Ok(Value::Object(fields)),
        Some((code, error)) => {
            let id = fields.get("id").filter(|id| id.is_string() || id.is_number());
            Err(error_message(&id.cloned().unwrap_or_default(), code, &error))
        }
    }
}

/// What a message looks like.
const MESSAGE_HINT: &str =
    "Send {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": …, \"params\": {…}}.";

fn is_notification(fields: &Map<String, Value>) -> bool {
    fields
        .get("method")
        .and_then(Value::as_str)
        .is_some_and(|it| it.starts_with(NOTIFICATION_PREFIX))
}

/// Why an object is no message, with the code of JSON-RPC.
fn refusal(fields: &Map<String, Value>) -> Option<(i32, Error)> {
    let invalid = |field: &str, message: &str| {
        Some((INVALID_REQUEST_CODE, Error::invalid(field, message).hint(MESSAGE_HINT)))
    };
    if fields.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return invalid("jsonrpc", "expected \"2.0\"");
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64();
    if fields
        .get("id")
        .is_some_and(|id| !(is_id(id) || id.is_null() && fields.contains_key("error")))
    {
        return invalid("id", "expected a text or a whole number");
    }
    let Some(method) = fields.get("method") else {
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        return if is_answer { None } else { invalid("method", "missing") };
    };
    let Some(method) = method.as_str() else {
        return invalid("method", "expected a text");
    };
    let params = fields.get("params");
    if let Some(params) = params.filter(|params| !params.is_object()) {
        let message = format!("expected an object, found {}", kind_of(params));
        return Some((INVALID_PARAMS_CODE, Error::invalid("params", message).hint(MESSAGE_HINT)));
    }
    (method == CALL_METHOD).then(|| call_refusal(params.unwrap_or(&Value::Null))).flatten()
}

/// Why these are no parameters of a call.
fn call_refusal(params: &Value) -> Option<(i32, Error)> {
    let Some(tool) = params["name"].as_str() else {
        let error = Error::invalid("name", "expected the name of a tool")
            .hint("Send {\"name\": \"search_memory\", \"arguments\": {\"query\": …}}.");
        return Some((INVALID_PARAMS_CODE, error));
    };
    let arguments = &params["arguments"];
    if arguments.is_object() || arguments.is_null() {
        return None;
    }
    let found = kind_of(arguments);
    let message = format!("expected an object with the arguments of {tool}, found {found}");
    let error = Error::invalid("arguments", message)
        .hint(format!("Send {{\"name\": {tool:?}, \"arguments\": {{…}}}}, with a name for each."));
    Some((INVALID_PARAMS_CODE, error))
}

/// What a value is, in words.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The id of a request whose text is no JSON: the field `id` of the outermost object, else one at the end.
fn id_in_text(text: &str) -> Option<Value> {
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    let (mut outermost, mut last) = (None, None);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => {
                let found = (!in_string).then(|| id_at(&text[index..])).flatten();
                outermost = outermost.or_else(|| found.clone().filter(|_| depth == 1));
                in_string = !in_string;
                // A quote too many in a text before it turns strings inside out.
                last = id_at(&text[index..]).filter(|(_, rest)| rest.trim() == "}").or(last);
            }
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    outermost.or(last).map(|(id, _)| id)
}

/// The id in a text that begins with the field `id`, and the text after it.
fn id_at(text: &str) -> Option<(Value, &str)> {
    let rest = text.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let id = values.next()?.ok().filter(|id| id.is_string() || id.is_i64())?;
    Some((id, &rest[values.byte_offset()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals(text: &str) -> Vec<Value> {
        read(text.as_bytes(), false).expect_err(text)
    }

    #[test]
    fn what_cannot_be_read_is_refused_under_its_id() {
        let call = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"save_memory","arguments":{arguments}}}}}"#
            )
        };
        let table = [
            (r#"{"jsonrpc":"2.0","id":3,"method":"#.to_owned(), json!(3), -32700),
            (
                r#"{"method":"x","params":{"id":1,"t":"a"b"},"jsonrpc":"2.0","id":"k-4"}"#
                    .to_owned(),
                json!("k-4"),
                -32700,
            ),
            (r#"{"params":{"t":"he said "hi" there"},"id": 6 }"#.to_owned(), json!(6), -32700),
            (r#"{"params":{"t":"\q"},"id":8}"#.to_owned(), json!(8), -32700),
            (r#"{"params":{"id":1},"method""#.to_owned(), Value::Null, -32700),
            ("nonsense".to_owned(), Value::Null, -32700),
            ("7".to_owned(), Value::Null, -32600),
            ("[]".to_owned(), Value::Null, -32600),
            (r#"{"id":2,"method":"ping"}"#.to_owned(), json!(2), -32600),
            (r#"{"jsonrpc":"2.0","id":2}"#.to_owned(), json!(2), -32600),
            (r#"{"jsonrpc":"2.0","id":2,"method":9}"#.to_owned(), json!(2), -32600),
            (r#"{"jsonrpc":"2.0","id":2.5,"method":"ping"}"#.to_owned(), json!(2.5), -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(), Value::Null, -32600),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}"#.to_owned(),
                json!(2),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#.to_owned(),
                json!(2),
                -32602,
            ),
            (call("\"tea\""), json!(5), -32602),
            (call("[\"tea\"]"), json!(5), -32602),
            (call("3"), json!(5), -32602),
        ];
        for (text, id, code) in table {
            let [refusal] = refusals(&text).try_into().expect(&text);
            assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&id, &json!(code)), "{text}");
            let sentence = refusal["error"]["message"].as_str().unwrap_or_default();
            assert!(sentence.contains(' '), "{sentence}");
        }
        let said = refusals(&call("\"tea\""))[0]["error"]["message"].clone();
        assert!(
            said.as_str().is_some_and(|it| it.contains("arguments of save_memory, found a text"))
        );
    }

    #[test]
    fn messages_are_read_and_batches_where_the_protocol_has_them() {
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let nulls =
            r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized","params":null}"#;
        for (text, message) in [
            (nulls.to_owned(), &begun),
            (format!("\u{feff}{ping}\r"), &ping),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#.to_owned(), &ping),
        ] {
            let read = read(text.as_bytes(), false);
            assert_eq!(read, Ok(ClientMessages::One(message.clone())), "{text}");
        }
        let answer = json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}});
        assert!(read(answer.to_string().as_bytes(), false).is_ok());
        let batch = json!([begun, ping, {"jsonrpc": "2.0", "id": 9}, 4]).to_string();
        let Ok(ClientMessages::Batch(messages)) = read(batch.as_bytes(), true) else {
            panic!("a batch");
        };
        let refused: Vec<Option<&Value>> =
            messages.iter().map(|message| message.as_ref().err().map(|it| &it["id"])).collect();
        assert_eq!(refused, [None, None, Some(&json!(9)), Some(&Value::Null)]);
        // Elsewhere each request in it has its answer.
        let ids: Vec<Value> =
            refusals(&batch).iter().map(|refusal| refusal["id"].clone()).collect();
        assert_eq!(ids, [1]);
        let long = Value::Array(vec![ping; limits::BATCH + 1]).to_string();
        assert_eq!(read(long.as_bytes(), true).expect_err("too many").len(), limits::BATCH);
    }
}
