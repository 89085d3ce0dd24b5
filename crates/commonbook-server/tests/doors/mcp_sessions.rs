//! An MCP session over HTTP belongs to the caller that opened it: for others it does not exist.

use serde_json::{Value, json};

use crate::doors::tokens::token;
use crate::world::{Home, Server};

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The header that identifies the caller.
#[derive(Debug, Clone, Copy)]
struct CallerHeader<'h> {
    name: &'h str,
    value: &'h str,
}

impl<'h> CallerHeader<'h> {
    /// A caller with a token.
    fn bearer(value: &'h str) -> Self {
        Self { name: "Authorization", value }
    }

    /// A caller by name alone.
    fn agent(value: &'h str) -> Self {
        Self { name: "X-Commonbook-Agent", value }
    }

    fn pair(self) -> (&'h str, &'h str) {
        (self.name, self.value)
    }
}

/// Opens a session as this caller; returns its id.
fn open(server: &Server, caller: CallerHeader<'_>) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}});
    let headers = [ACCEPT, JSON, caller.pair()];
    let body = hello.to_string();
    let response = server.exchange("POST", "/mcp", &headers, body.as_bytes()).unwrap();
    assert_eq!(response.status(), 200);
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(send(server, "POST", caller, &session, &ready).0, 202);
    session
}

/// The response to a request in a session: its status and its text.
fn send(
    server: &Server,
    method: &str,
    caller: CallerHeader<'_>,
    session: &str,
    message: &Value,
) -> (u16, String) {
    let headers = [ACCEPT, JSON, caller.pair(), ("Mcp-Session-Id", session)];
    let body = message.to_string();
    let body = if method == "POST" { body.as_bytes() } else { &[] };
    let response = server.exchange(method, "/mcp", &headers, body).unwrap();
    let status = response.status().as_u16();
    (status, String::from_utf8_lossy(response.body()).into_owned())
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}})
}

/// Fails unless only its owner can use a session.
fn belongs(server: &Server, owner: CallerHeader<'_>, others: &[CallerHeader<'_>]) {
    let session = open(server, owner);
    let search = call("search_memory", &json!({"query": "herons"}));
    assert_eq!(send(server, "POST", owner, &session, &search).0, 200);
    for other in others {
        for method in ["POST", "GET", "DELETE"] {
            let theirs = send(server, method, *other, &session, &search);
            let none =
                send(server, method, *other, "00000000-0000-0000-0000-000000000000", &search);
            assert_eq!(theirs, none, "{method} by {other:?}");
            assert!(method == "DELETE" || theirs.0 == 404, "{method} by {other:?}: {theirs:?}");
        }
    }
    let still = send(server, "POST", owner, &session, &search);
    assert_eq!(still.0, 200, "no other caller has ended it: {still:?}");
    assert_eq!(send(server, "DELETE", owner, &session, &search).0, 202);
    assert_eq!(send(server, "POST", owner, &session, &search).0, 404, "its owner has ended it");
}

#[test]
fn another_token_neither_reads_nor_writes_nor_ends_a_session() {
    let home = Home::new();
    let server = Server::start(&home);
    let bearer = |agent: &str| format!("Bearer {}", token(&home, &[agent]).0);
    let (rook, again, crow) = (bearer("rook"), bearer("rook"), bearer("crow"));
    let [rook, again, crow] = [&rook, &again, &crow].map(|value| CallerHeader::bearer(value));
    belongs(&server, rook, &[crow, again]);
}

#[test]
fn without_tokens_a_session_belongs_to_the_name_that_opened_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let name = CallerHeader::agent;
    let stranger = CallerHeader { name: "X-Other", value: "nothing" };
    belongs(&server, name("rook"), &[name("crow"), name("rook/child"), stranger]);
    // In any spelling of its name.
    let session = open(&server, name("Rook Agent"));
    let search = call("search_memory", &json!({"query": "herons"}));
    assert_eq!(send(&server, "POST", name("rook"), &session, &search).0, 200);
}

#[test]
fn an_invalid_session_header_is_refused_at_each_call_with_a_hint() {
    let home = Home::new();
    let server = Server::start(&home);
    let ann = CallerHeader::agent("ann");
    let session = open(&server, ann);
    let body = call("save_memory", &json!({"text": "tea"})).to_string();
    let long = "s".repeat(129);
    for odd in ["obey me", r"C:\Users\jo", "{d8d0fc6f-e641}", "s\u{202e}", &long] {
        let named = ("X-Commonbook-Session", odd);
        let headers = [ACCEPT, JSON, ann.pair(), ("Mcp-Session-Id", &session), named];
        let response = server.exchange("POST", "/mcp", &headers, body.as_bytes()).unwrap();
        let answer = String::from_utf8_lossy(response.body()).into_owned();
        assert!(
            answer.contains("session: ") && answer.contains("start_session"),
            "{odd:?}: {answer}"
        );
    }
    let stats = server.send("GET", "/v1/stats", &[ann.pair()], b"").unwrap().1;
    assert_eq!(stats["memories"], 0);
}
