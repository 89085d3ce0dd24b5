//! `serve --otlp`: the spans that a collector receives, for each request and each call of a verb.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;

use crate::world::{Door, Home, Mcp, Server, new_text};

/// A request that the collector received.
struct CollectedRequest {
    head: String,
    body: Vec<u8>,
}

/// A small collector of OTLP over HTTP: its URL, and what it receives.
fn collector() -> (String, Receiver<CollectedRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            collect(client.unwrap(), &sender);
        }
    });
    (url, received)
}

fn collect(client: TcpStream, sender: &Sender<CollectedRequest>) {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    for line in head.to_ascii_lowercase().lines() {
        length = line.strip_prefix("content-length: ").map_or(length, |n| n.parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\n\
        Content-Length: 0\r\nConnection: close\r\n\r\n";
    // Before the answer, after which the server may end.
    drop(sender.send(CollectedRequest { head, body }));
    reader.get_mut().write_all(answer.as_bytes()).unwrap();
}

/// A text attribute of a span.
fn attribute<'s>(span: &'s Span, name: &str) -> Option<&'s str> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        AttributeValue::StringValue(text) => Some(text),
        _ => None,
    }
}

fn stop(server: Server) {
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(server.ended());
}

#[test]
fn each_request_and_each_verb_has_a_span_without_names_or_text() {
    let home = Home::new();
    let (url, received) = collector();
    let server = Server::of(&home, &["--otlp", &url]);
    let headers = [
        ("X-Commonbook-Agent", "evil-agent"),
        ("X-Commonbook-Workspace", "evil-workspace"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("tracestate", "evil=evil-state"),
    ];
    let save = json!({"text": format!("evil-text {}", new_text())}).to_string();
    assert_eq!(server.send("POST", "/v1/memories", &headers, save.as_bytes()).unwrap().0, 201);
    server.send("GET", "/v1/agents/evil-name?evil=1", &headers[..2], b"").unwrap();
    server.send("GET", "/evil-path", &headers[..2], b"").unwrap();
    let mcp = Mcp::over_http(&home, &server);
    mcp.call("evil-mcp", "search_memory", &json!({"query": "evil-query"})).unwrap();
    mcp.close();
    let arguments = ["list", "--workspace", "evil-workspace", "--agent", "evil-cli"];
    assert!(home.run(&arguments).status.success());
    // The last spans are sent before the server ends.
    stop(server);
    let requests: Vec<CollectedRequest> = received.try_iter().collect();
    assert!(!requests.is_empty());
    let mut spans = Vec::new();
    for CollectedRequest { head, body } in requests {
        assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
        let text = String::from_utf8_lossy(&body);
        assert!(!text.contains("evil"), "{text}");
        let export = ExportTraceServiceRequest::decode(&*body).unwrap();
        for resource in export.resource_spans {
            let named = resource.resource.unwrap().attributes;
            assert!(named.iter().any(|attribute| attribute.key == "service.name"), "{named:?}");
            spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    let find = |name: &str, door: Option<&str>| {
        let is_it = |span: &&Span| span.name == name && attribute(span, "commonbook.door") == door;
        let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
        spans.iter().find(is_it).unwrap_or_else(|| panic!("no span {name} in {names:?}"))
    };
    let is_inside = |inner: &Span, outer: &Span| {
        inner.parent_span_id == outer.span_id && inner.trace_id == outer.trace_id
    };
    let request = find("POST /v1/memories", None);
    let verb = find("save_memory", Some("rest"));
    assert!(is_inside(verb, request));
    assert_eq!(attribute(verb, "commonbook.outcome"), Some("ok"));
    assert_eq!(attribute(request, "http.route"), Some("/v1/memories"));
    assert_eq!(request.trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes());
    assert_eq!(request.trace_state, "");
    let refused = find("get_agent", Some("rest"));
    assert!(is_inside(refused, find("GET /v1/agents/{name}", None)));
    assert_eq!(attribute(refused, "error.type"), Some("invalid"));
    find("GET", None);
    let names_around = |inner: &Span| {
        let outer = spans.iter().filter(|outer| is_inside(inner, outer));
        outer.map(|outer| outer.name.clone()).collect::<Vec<_>>()
    };
    let around = names_around(find("search_memory", Some("mcp")));
    assert!(around.len() == 1 && around[0].starts_with("POST /mcp"), "{around:?}");
    assert_eq!(names_around(find("list_memories", Some("cli"))), ["socket"]);
}

#[test]
fn a_collector_that_does_not_answer_stops_nothing() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::of(&home, &["--otlp", &format!("http://{free}")]);
    server.call("ann", "save_memory", &json!({"text": new_text()})).unwrap();
    stop(server);
    let output = home.run(&["serve", "--port", "0", "--otlp", "nowhere"]);
    let says = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{says}");
    assert!(says.contains("--otlp") && says.contains("neither http"), "{says}");
}
