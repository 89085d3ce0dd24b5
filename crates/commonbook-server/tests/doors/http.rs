//! What HTTP says beside the answers: revisions as tags, forms, origins, how often.

use serde_json::{Value, json};
use ureq::http::Response;

use crate::world::{Home, Server};

const ME: (&str, &str) = ("X-Commonbook-Agent", "me");

type Whole = Response<Vec<u8>>;

fn header<'r>(response: &'r Whole, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

fn value(response: &Whole) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// Saves a memory; its path.
fn saved(server: &Server, text: &str) -> String {
    let body = json!({ "text": text }).to_string();
    let response = server.exchange("POST", "/v1/memories", &[ME], body.as_bytes()).unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "etag")), (201, "\"1\""));
    let path = header(&response, "location").to_owned();
    assert_eq!(
        path,
        format!("/v1/memories/{}", value(&response)["memory"]["id"].as_str().unwrap())
    );
    path
}

#[test]
fn the_revision_is_the_tag_of_every_answer_that_is_a_memory() {
    let home = Home::new();
    let server = Server::start(&home);
    let path = saved(&server, "tea");
    let restore = format!("{path}/restore");
    let table: [(&str, &str, &[u8], &str); 4] = [
        ("PATCH", &path, b"{\"text\": \"coffee\"}", "\"2\""),
        ("GET", &path, b"", "\"2\""),
        ("DELETE", &path, b"", "\"3\""),
        ("POST", &restore, b"", "\"4\""),
    ];
    let mut first = None;
    for (method, path, body, tag) in table {
        let response = server.exchange(method, path, &[ME], body).unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "etag")), (200, tag), "{method}");
        assert_eq!(header(&response, "cache-control"), "private, no-cache");
        assert!(header(&response, "vary").contains("x-commonbook-agent"));
        first.get_or_insert_with(|| value(&response)["recorded_at"].as_str().unwrap().to_owned());
    }
    let then = format!("{path}?at={}", first.unwrap());
    let response = server.exchange("GET", &then, &[ME], b"").unwrap();
    let (revision, tag) = (&value(&response)["revision"], header(&response, "etag"));
    assert_eq!(format!("\"{revision}\""), tag, "as it then stood");
    let batch = server.exchange("POST", "/v1/memories", &[ME], b"[{\"text\": \"one\"}]").unwrap();
    assert_eq!((header(&batch, "etag"), header(&batch, "location")), ("", ""));
}

#[test]
fn who_has_the_revision_is_not_sent_it_again() {
    let home = Home::new();
    let server = Server::start(&home);
    let path = saved(&server, "tea");
    let read = |tags: &str| {
        let response = server.exchange("GET", &path, &[ME, ("If-None-Match", tags)], b"").unwrap();
        assert_eq!(header(&response, "etag"), "\"1\"", "{tags}");
        (response.status().as_u16(), response.body().is_empty())
    };
    for (tags, status) in
        [("\"1\"", 304), ("\"7\", W/\"1\"", 304), ("*", 304), ("\"2\"", 200), ("", 200)]
    {
        assert_eq!(read(tags), (status, status == 304), "{tags}");
    }
    // Nobody learns by a tag that there is a memory of somebody else.
    let hidden = b"{\"sharing\": \"private\"}";
    assert_eq!(server.send("PATCH", &path, &[ME], hidden).unwrap().0, 200);
    let stranger = [("X-Commonbook-Agent", "you"), ("If-None-Match", "*")];
    assert_eq!(server.send("GET", &path, &stranger, b"").unwrap().0, 404);
}

#[test]
fn a_change_of_what_has_moved_on_is_refused_by_its_tag() {
    let home = Home::new();
    let server = Server::start(&home);
    let path = saved(&server, "tea");
    let (restore, purge) = (format!("{path}/restore"), format!("{path}/purge"));
    let steps: [(&str, &str, &[u8]); 4] = [
        ("PATCH", &path, b"{\"text\": \"coffee\"}"),
        ("DELETE", &path, b""),
        ("POST", &restore, b""),
        ("POST", &purge, b""),
    ];
    for (revision, (method, path, body)) in (1..).zip(steps) {
        let send = |tag: &str| server.send(method, path, &[ME, ("If-Match", tag)], body).unwrap();
        let (status, refused) = send(&format!("\"{}\"", revision + 1));
        let error = &refused["error"];
        assert_eq!((status, &error["kind"]), (409, &json!("conflict")), "{method} {path}");
        assert_eq!(error["field"], "expected_revision");
        for unreadable in ["W/\"1\"", "1", "\"1\", \"2\"", "\"one\""] {
            let (status, refused) = send(unreadable);
            let field = &refused["error"]["field"];
            assert_eq!((status, field), (400, &json!("if-match")), "{unreadable}");
        }
        assert_eq!(send(&format!("\"{revision}\"")).0, 200, "{method} {path}");
    }
    let path = saved(&server, "tea");
    let any = [ME, ("If-Match", "*")];
    assert_eq!(server.send("PATCH", &path, &any, b"{\"text\": \"x\"}").unwrap().0, 200);
    let both = b"{\"text\": \"y\", \"expected_revision\": 2}";
    let (status, _) = server.send("PATCH", &path, &[ME, ("If-Match", "\"2\"")], both).unwrap();
    assert_eq!(status, 200, "said twice alike");
    let twice = format!("{path}?expected_revision=3");
    for (method, path, body) in [("PATCH", &path, &both[..]), ("DELETE", &twice, b"")] {
        let (status, refused) =
            server.send(method, path, &[ME, ("If-Match", "\"4\"")], body).unwrap();
        let field = &refused["error"]["field"];
        assert_eq!((status, field), (400, &json!("expected_revision")), "{method}");
    }
}
