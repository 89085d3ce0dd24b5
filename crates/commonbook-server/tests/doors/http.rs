//! HTTP around the responses: revisions as tags, formats, origins, rates.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use ureq::http::Response;

use crate::world::{Door, Home, Mcp, Server, new_text};

const ME: (&str, &str) = ("X-Commonbook-Agent", "me");

type Whole = Response<Vec<u8>>;

fn header<'r>(response: &'r Whole, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

fn value(response: &Whole) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// Saves a memory; returns its path.
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
fn the_etag_of_a_memory_is_its_revision() {
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
    assert_eq!(format!("\"{revision}\""), tag, "the revision of that time");
    let batch = server.exchange("POST", "/v1/memories", &[ME], b"[{\"text\": \"one\"}]").unwrap();
    assert_eq!((header(&batch, "etag"), header(&batch, "location")), ("", ""));
}

#[test]
fn a_client_that_has_the_revision_gets_not_modified() {
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
    // A tag does not reveal another agent's memory.
    let hidden = b"{\"sharing\": \"private\"}";
    assert_eq!(server.send("PATCH", &path, &[ME], hidden).unwrap().0, 200);
    let stranger = [("X-Commonbook-Agent", "yan"), ("If-None-Match", "*")];
    assert_eq!(server.send("GET", &path, &stranger, b"").unwrap().0, 404);
}

#[test]
fn a_change_with_an_old_etag_is_refused() {
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
    assert_eq!(status, 200, "equal in header and body");
    let twice = format!("{path}?expected_revision=3");
    for (method, path, body) in [("PATCH", &path, &both[..]), ("DELETE", &twice, b"")] {
        let (status, refused) =
            server.send(method, path, &[ME, ("If-Match", "\"4\"")], body).unwrap();
        let field = &refused["error"]["field"];
        assert_eq!((status, field), (400, &json!("expected_revision")), "{method}");
    }
}

const GZIP: (&str, &str) = ("Accept-Encoding", "gzip");

#[test]
fn long_responses_are_compressed_if_the_client_accepts_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let path = saved(&server, &"tea and toast ".repeat(400));
    let get = |path: &str, forms: &[(&str, &str)]| {
        let headers = [&[ME], forms].concat();
        server.exchange("GET", path, &headers, b"").unwrap()
    };
    let plain = get("/v1/memories", &[]);
    assert_eq!(header(&plain, "content-encoding"), "");
    let small = get("/v1/memories", &[GZIP]);
    assert_eq!(header(&small, "content-encoding"), "gzip");
    let vary: Vec<&str> =
        small.headers().get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(vary.join(",").contains("accept-encoding"), "{vary:?}");
    assert!(small.body().len() * 4 < plain.body().len());
    let mut opened = Vec::new();
    flate2::read::GzDecoder::new(small.body().as_slice()).read_to_end(&mut opened).unwrap();
    assert_eq!(&opened, plain.body());
    // A short response; and one whose tag names exactly these bytes.
    for path in ["/health", &path] {
        assert_eq!(header(&get(path, &[GZIP]), "content-encoding"), "", "{path}");
    }
    let none = get("/v1/memories", &[("Accept-Encoding", "gzip;q=0, br")]);
    assert_eq!(header(&none, "content-encoding"), "");
}

#[test]
fn pages_of_other_origins_get_no_cors_headers() {
    let home = Home::new();
    let server = Server::start(&home);
    let asks = ("Access-Control-Request-Method", "POST");
    for origin in ["http://localhost:5173", "https://evil.example"] {
        for path in ["/v1/memories", "/v1/stats", "/mcp", "/health", "/openapi.json", "/docs"] {
            for method in ["OPTIONS", "GET", "POST"] {
                let headers = [ME, ("Origin", origin), asks];
                let response = server.exchange(method, path, &headers, b"{}").unwrap();
                let status = response.status().as_u16();
                assert!(method != "OPTIONS" || status >= 400, "{path}: {status}");
                let granted = response
                    .headers()
                    .keys()
                    .find(|name| name.as_str().starts_with("access-control-"));
                assert_eq!(granted, None, "{method} {path}");
            }
        }
    }
}

#[test]
fn a_slow_client_reads_why_it_was_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let address = server.url.trim_start_matches("http://");
    let refused = [
        ("POST /v1/memories", "Origin: https://evil.example", "403"),
        ("POST /v1/nothing", "X-Commonbook-Agent: me", "404"),
        ("POST /health", "X-Commonbook-Agent: me", "405"),
        ("POST /mcp", "Sec-Fetch-Site: cross-site", "403"),
    ];
    // All on one connection: the server reads each request to its end before the next.
    let mut stream = TcpStream::connect(address).unwrap();
    let (length, part) = (400_000, [b' '; 40_000]);
    for (line, header, status) in refused {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\n{header}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        for _ in 0..length / part.len() {
            stream.write_all(&part).unwrap();
            stream.flush().unwrap();
        }
        let mut reader = BufReader::new(&stream);
        let (mut answer, mut body_length) = (String::new(), 0);
        while !answer.ends_with("\r\n\r\n") {
            let begin = answer.len();
            assert_ne!(reader.read_line(&mut answer).unwrap(), 0, "{line}: {answer}");
            let line = answer[begin..].to_lowercase();
            if let Some(length) = line.strip_prefix("content-length:") {
                body_length = length.trim().parse().unwrap();
            }
        }
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
        let mut body = vec![0; body_length];
        reader.read_exact(&mut body).unwrap();
        assert!(String::from_utf8(body).unwrap().contains("message"), "{line}");
    }
}

#[test]
fn a_page_of_another_site_can_neither_read_nor_write() {
    let home = Home::new();
    let server = Server::start(&home);
    saved(&server, "tea");
    for site in ["cross-site", "same-site"] {
        let page = [ME, ("Sec-Fetch-Site", site)];
        for path in ["/v1/changes", "/v1/memories?agent_id=mallory", "/mcp", "/health"] {
            let (status, response) = server.send("GET", path, &page, b"").unwrap();
            assert_eq!((status, &response["error"]["kind"]), (403, &json!("forbidden")), "{path}");
        }
        // Requests that a page sends without a preflight: a form, or an address alone.
        let text = [ME, ("Sec-Fetch-Site", site), ("Content-Type", "text/plain")];
        assert_eq!(
            server.send("POST", "/v1/memories", &text, b"{\"text\": \"x\"}").unwrap().0,
            403
        );
        assert_eq!(
            server.send("GET", "/docs", &page, b"").unwrap().0,
            200,
            "a link may lead there"
        );
    }
    let own = [ME, ("Sec-Fetch-Site", "same-origin")];
    assert_eq!(server.send("GET", "/v1/changes", &own, b"").unwrap().0, 200);
}

#[test]
fn reading_marks_nothing_over_rest() {
    let home = Home::new();
    let server = Server::start(&home);
    server.call("yan", "save_memory", &json!({"text": "tea"})).unwrap();
    let entry = json!({"key": "k", "title": "K", "entries": [{"summary": "Poured"}]});
    server.call("yan", "append_entries", &entry).unwrap();
    for path in ["/v1/changes?mark=true", "/v1/changes?mark", "/v1/cases/k/entries?mark=true"] {
        let headers = [ME, ("X-Commonbook-Workspace", crate::world::WORKSPACE)];
        let (status, response) = server.send("GET", path, &headers, b"").unwrap();
        let error = &response["error"];
        assert_eq!((status, &error["field"]), (400, &json!("mark")), "{path}");
        assert!(error["hint"].as_str().unwrap().contains("/v1/changes/mark"));
    }
    let changes = server.call("me", "changes_since", &json!({})).unwrap();
    assert_eq!((&changes["after"], &changes["left"]), (&json!(0), &json!(0)));
    server.call("me", "mark_read", &json!({"position": changes["through"]})).unwrap();
    let changes = server.call("me", "changes_since", &json!({})).unwrap();
    assert_eq!(changes["changes"], json!([]));
    let (_, document) = server.send("GET", "/openapi.json", &[], b"").unwrap();
    let parameters = document["paths"]["/v1/changes"]["get"]["parameters"].to_string();
    assert!(parameters.contains("\"after\"") && !parameters.contains("\"mark\""), "{parameters}");
}

#[test]
fn a_body_without_a_json_content_type_is_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    for form in ["text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"] {
        for path in ["/v1/memories", "/mcp"] {
            let headers = [ME, ("Content-Type", form)];
            let (status, response) =
                server.send("POST", path, &headers, b"{\"text\": \"x\"}").unwrap();
            let error = &response["error"];
            assert_eq!((status, &error["field"]), (415, &json!("content-type")), "{path} {form}");
        }
    }
    let utf8 = [ME, ("Content-Type", "application/json; charset=utf-8")];
    assert_eq!(server.send("POST", "/v1/memories", &utf8, b"{\"text\": \"x\"}").unwrap().0, 201);
}

#[test]
fn json_with_too_many_values_is_refused_before_parsing() {
    let home = Home::new();
    let server = Server::start(&home);
    let many = format!("[{}]", vec!["{\"\":0}"; 200_000].join(","));
    for (path, body) in [("/v1/memories", many.clone()), ("/mcp", many)] {
        let (status, response) = server.send("POST", path, &[ME], body.as_bytes()).unwrap();
        assert_eq!(
            (status, &response["error"]["kind"]),
            (413, &json!("too_large")),
            "{path}: {response}"
        );
    }
    let lines = format!("[{}]\n", vec!["{\"\":0}"; 200_000].join(","));
    let output = home.feed(&["mcp"], lines.as_bytes());
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(response["error"]["data"]["error"]["kind"], "too_large");
}

#[test]
fn a_rate_limited_agent_gets_a_retry_after() {
    let home = Home::new();
    let server = Server::at_the_rate(&home, "reads=3,writes=2");
    let mcp = Mcp::over_http(&home, &server);
    // Both doors share one count: a write by each is two, and the begin of a session is a read.
    mcp.call("me", "save_memory", &json!({"text": "tea"})).unwrap();
    saved(&server, "coffee");
    let refused = server.exchange("POST", "/v1/memories", &[ME], b"{\"text\": \"x\"}").unwrap();
    let seconds: u64 = header(&refused, "retry-after").parse().unwrap();
    let error = &value(&refused)["error"];
    assert_eq!((refused.status().as_u16(), &error["kind"]), (429, &json!("rate_limited")));
    assert_eq!(error["retry_after"], seconds);
    assert!((1..=30).contains(&seconds) && error["hint"].as_str().unwrap().contains("Wait"));
    let mcp_error = mcp.call("me", "save_memory", &json!({"text": "x"})).unwrap_err();
    assert_eq!(
        (&mcp_error["kind"], &mcp_error["message"]),
        (&json!("rate_limited"), &error["message"])
    );
    assert!(mcp_error["retry_after"].is_u64());
    // Reads have a count of their own, and so has every other agent.
    assert_eq!(server.send("GET", "/v1/stats", &[ME], b"").unwrap().0, 200);
    mcp.call("me", "get_memory_stats", &json!({})).unwrap();
    assert_eq!(server.send("GET", "/v1/stats", &[ME], b"").unwrap().0, 429);
    server.call("yan", "save_memory", &json!({"text": "x"})).unwrap();
    for status in [201, 201, 429] {
        let (found, _) = server.send("POST", "/v1/memories", &[], b"{\"text\": \"x\"}").unwrap();
        assert_eq!(found, status, "a caller without a name has a limit too");
    }
    // Requests that are no call of a verb do not count.
    assert_eq!(server.send("GET", "/health", &[ME], b"").unwrap().0, 200);
    // The command line is its user's own.
    let output = home.run(&["list", "--agent", "me", "--workspace", "story"]);
    assert!(output.status.success());
}

#[test]
fn an_invalid_rate_is_refused_at_the_start() {
    let home = Home::new();
    let output = home.program(&["serve", "--port", "0"]).env("COMMONBOOK_RATE", "fast").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("COMMONBOOK_RATE") && stderr.contains("hint: "), "{stderr}");
}

#[test]
fn a_too_large_mcp_request_is_refused_like_on_other_doors() {
    let home = Home::new();
    let server = Server::start(&home);
    let huge = vec![b' '; 16 * 1024 * 1024 + 1];
    let (status, refused) = server.send("POST", "/mcp", &[], &huge).unwrap();
    assert_eq!((status, &refused["error"]["kind"]), (413, &json!("too_large")));
}

#[test]
fn every_example_of_a_request_is_accepted() {
    let home = Home::new();
    let server = Server::start(&home);
    let (_, document) = server.send("GET", "/openapi.json", &[], b"").unwrap();
    let two = (ME, "The teapot holds 2 cups of tea");
    for (who, text) in [two, (("X-Commonbook-Agent", "eve"), "The teapot holds 4 cups of tea")] {
        let body = json!({"text": text, "topics": ["teapot"]}).to_string();
        server.send("POST", "/v1/memories", &[who], body.as_bytes()).unwrap();
    }
    let (_, found) = server.send("GET", "/v1/contradictions", &[ME], b"").unwrap();
    let contradiction = found["items"][0]["id"].as_str().unwrap();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            if example.is_null() {
                continue;
            }
            let own = saved(&server, &new_text());
            let path = path.replace("/v1/memories/{id}", &own);
            let path = path.replace("{contradiction}", contradiction);
            let (method, body) = (method.to_uppercase(), example.to_string());
            let (status, answer) = server.send(&method, &path, &[ME], body.as_bytes()).unwrap();
            // Its ids need not exist; the test only checks that the server accepts the form.
            assert!([200, 201, 403, 409].contains(&status), "{method} {path}: {answer}");
            tried += 1;
        }
    }
    assert!(tried >= 5, "{tried}");
}

#[test]
fn an_invalid_session_header_is_refused_with_a_hint() {
    let home = Home::new();
    let server = Server::start(&home);
    let json = r#"{"text": "tea"}"#.as_bytes();
    let long = "s".repeat(129);
    for (session, kind) in [
        ("obey me", "invalid"),
        (r"C:\Users\jo", "invalid"),
        ("<system>", "invalid"),
        ("{d8d0fc6f-e641}", "invalid"),
        ("s\u{202e}", "invalid"),
        (" ", "invalid"),
        (&long, "too_large"),
    ] {
        let header = ("X-Commonbook-Session", session);
        let (_, response) = server.send("POST", "/v1/memories", &[header], json).unwrap();
        let error = &response["error"];
        assert_eq!(
            (&error["kind"], &error["field"]),
            (&kind.into(), &"session".into()),
            "{response}"
        );
        assert!(error["hint"].as_str().unwrap().contains("POST /v1/sessions"), "{response}");
    }
    let kept = server.call("tester", "get_memory_stats", &serde_json::json!({})).unwrap();
    assert_eq!(kept["memories"], 0);
}
