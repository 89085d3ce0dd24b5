//! Features of REST alone: bodies, headers, statuses, its own pages.

use serde_json::{Value, json};

use crate::world::{Door, Home, Server};

const ME: (&str, &str) = ("X-Commonbook-Agent", "me");

#[test]
fn invalid_bodies_are_refused_with_the_reason() {
    let home = Home::new();
    let server = Server::start(&home);
    let huge = vec![b' '; 16 * 1024 * 1024 + 1];
    let table: [(&[u8], u16, &str); 6] = [
        (b"{\"text\": \"x\"", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"\"text\"", 400, "not a JSON object"),
        (b"[]", 400, "the list is empty"),
        (b"", 400, "missing field `text`"),
        (&huge, 413, "larger than 16777216 bytes"),
    ];
    for (body, status, reason) in table {
        let (found, answer) = server.send("POST", "/v1/memories", &[ME], body).unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert_eq!(found, status, "{message}");
        assert!(message.contains(reason), "{message}");
        assert!(answer["error"]["request_id"].as_str().unwrap().starts_with("req_"));
    }
    let unknown = server.send("GET", "/v1/nothing", &[ME], b"").unwrap();
    assert_eq!((unknown.0, &unknown.1["error"]["kind"]), (404, &json!("not_found")));
    let wrong = server.send("PUT", "/v1/memories", &[ME], b"").unwrap();
    assert_eq!((wrong.0, &wrong.1["error"]["kind"]), (405, &json!("invalid")));
    let parameter = server.send("GET", "/v1/memories?sort=up", &[ME], b"").unwrap();
    assert_eq!((parameter.0, &parameter.1["error"]["field"]), (400, &json!("sort")));
    let search = server.send("GET", "/v1/memories/search", &[ME], b"").unwrap();
    let message = search.1["error"]["message"].as_str().unwrap();
    assert!(message.contains("expected a question, words, or a filter"), "{message}");
}

#[test]
fn a_list_is_a_batch_that_is_saved_completely_or_not_at_all() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = |body: Value| {
        let body = body.to_string();
        server.send("POST", "/v1/memories", &[ME], body.as_bytes()).unwrap()
    };
    let (status, kept) = save(json!([{"text": "one"}, {"text": "two"}]));
    assert_eq!((status, kept["items"].as_array().unwrap().len()), (201, 2));
    let (status, refused) =
        save(json!([{"text": "three"}, {"text": "four", "title": "t".repeat(201)}]));
    assert_eq!((status, &refused["error"]["field"]), (413, &json!("memories[1].title")));
    let many: Vec<Value> = (0..101).map(|number| json!({"text": format!("{number}")})).collect();
    assert_eq!(save(many.into()).0, 413);
    let stats = server.send("GET", "/v1/stats", &[ME], b"").unwrap().1;
    // The session, and two memories.
    assert_eq!((&stats["memories"], &stats["events"]), (&json!(2), &json!(3)));
}

#[test]
fn a_page_of_another_origin_cannot_call() {
    let home = Home::new();
    let server = Server::start(&home);
    let own = server.url.trim_start_matches("http://").replace("127.0.0.1", "localhost");
    let table = [
        (("Origin", "https://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Origin", "http://localhost:5173"), 200),
        (("Host", "evil.example"), 403),
        (("Host", "evil.example/x"), 403),
        (("Host", "localhost:1"), 403),
        (("Host", "127.0.0.1"), 403),
        (("Host", own.as_str()), 200),
    ];
    for (header, status) in table {
        for path in ["/v1/stats", "/health"] {
            let (found, answer) = server.send("GET", path, &[header], b"").unwrap();
            assert_eq!(found, status, "{header:?}: {answer}");
        }
        let (found, _) = server.send("POST", "/mcp", &[header], b"{}").unwrap();
        assert_eq!(found == 403, status == 403, "{header:?}");
    }
}

#[test]
fn the_header_overrides_the_query_for_the_caller() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = |path: &str, headers: &[(&str, &str)]| {
        let (status, answer) = server.send("POST", path, headers, b"{\"text\": \"x\"}").unwrap();
        (status, answer["memory"]["owner"].as_str().map(str::to_owned))
    };
    let path = "/v1/memories?agent_id=query";
    assert_eq!(save(path, &[ME]), (201, Some("me".into())));
    assert_eq!(save(path, &[]), (201, Some("query".into())));
    assert_eq!(save("/v1/memories", &[]), (201, Some("anonymous".into())));
    let private = b"{\"text\": \"x\", \"sharing\": \"private\"}";
    let (status, answer) = server.send("POST", "/v1/memories", &[], private).unwrap();
    assert_eq!((status, &answer["error"]["field"]), (400, &json!("sharing")));
}

#[test]
fn a_request_with_an_idempotency_key_is_executed_once() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = |key: &str, text: &str| {
        server.call("me", "save_memory", &json!({"text": text, "idempotency_key": key}))
    };
    let first = save("k1", "tea").unwrap();
    let second = save("k1", "tea").unwrap();
    assert_eq!((&first["outcome"], &second["outcome"]), (&json!("created"), &json!("repeated")));
    assert_eq!(first["memory"], second["memory"]);
    assert_eq!(save("k1", "coffee").unwrap_err()["kind"], "conflict");
    let other = server.call("yan", "save_memory", &json!({"text": "tea", "idempotency_key": "k1"}));
    assert_eq!(other.unwrap()["outcome"], "created");
}

#[test]
fn the_server_has_its_pages() {
    let home = Home::new();
    let server = Server::start(&home);
    let (status, health) = server.send("GET", "/health", &[], b"").unwrap();
    assert_eq!((status, &health["status"]), (200, &json!("ok")));
    let (_, openapi) = server.send("GET", "/openapi.json", &[], b"").unwrap();
    assert_eq!(openapi["openapi"], "3.1.0");
    let (_, docs) = server.send("GET", "/docs", &[], b"").unwrap();
    let docs = docs.as_str().unwrap();
    assert!(docs.contains("/docs/scalar.js") && !docs.contains("https://"), "{docs}");
    let (status, script) = server.send("GET", "/docs/scalar.js", &[], b"").unwrap();
    assert!(status == 200 && script.as_str().is_some_and(|script| script.len() > 100_000));
}

#[test]
fn the_root_leads_a_browser_to_the_pages_and_a_program_to_the_paths() {
    let home = Home::new();
    let server = Server::start(&home);
    let (status, paths) = server.send("GET", "/", &[("Accept", "*/*")], b"").unwrap();
    assert_eq!(status, 200);
    for name in ["docs", "openapi", "health", "metrics"] {
        let path = paths[name].as_str().unwrap();
        assert_eq!(server.send("GET", path, &[], b"").unwrap().0, 200, "{path}");
    }
    assert_eq!(paths["mcp"], "/mcp");
    let browser = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let (status, page) = server.send("GET", "/", &[browser], b"").unwrap();
    assert!(status == 401 && page.as_str().unwrap().contains("commonbook dashboard"), "{page}");
    let link = [browser, ("Sec-Fetch-Site", "cross-site")];
    let documents = server.exchange("GET", "/docs", &link, b"").unwrap();
    assert_eq!(documents.status().as_u16(), 200, "a link of another site leads there");
}

#[test]
fn a_request_without_a_workspace_uses_that_of_the_servers_project() {
    let home = Home::new();
    let project = home.path().join("Tea Shop/src");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::create_dir_all(home.path().join("Tea Shop/.git")).unwrap();
    let serve = |arguments: &[&str], folder: &std::path::Path| {
        let mut command = home.program(&[&["serve", "--port", "0"], arguments].concat());
        command.current_dir(folder);
        Server::from(command)
    };
    let at_project = home.program(&["workspace", "list", "--json"]).current_dir(&project).output();
    let at_project: Value = serde_json::from_slice(&at_project.unwrap().stdout).unwrap();
    let own = at_project["here"]["workspace"].as_str().unwrap();
    assert!(own.starts_with("tea-shop-"), "{at_project}");
    let table: [(&[&str], _, &[_], &str); 4] = [
        (&[], project.as_path(), &[], own),
        (&["--workspace", "other"], project.as_path(), &[], "other"),
        (&[], project.as_path(), &[("X-Commonbook-Workspace", "mine")], "mine"),
        (&[], home.path(), &[], "default"),
    ];
    for (arguments, folder, headers, workspace) in table {
        let server = serve(arguments, folder);
        let saved =
            server.exchange("POST", "/v1/memories", headers, br#"{"text": "tea"}"#).unwrap();
        assert_eq!(saved.headers()["x-commonbook-workspace"], workspace);
        let saved: Value = serde_json::from_slice(saved.body()).unwrap();
        assert_eq!(saved["memory"]["workspace"], workspace);
    }
}

#[test]
fn a_server_prints_the_workspace_of_requests_that_name_none() {
    use std::io::{BufRead as _, BufReader};
    let home = Home::new();
    let mut serve = home.program(&["serve", "--port", "0", "--workspace", "tea-shop"]);
    let mut child = serve.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(2).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines[1], "Requests that name no workspace use `tea-shop`.");
}

#[test]
fn an_agent_that_only_reads_is_registered_by_no_door() {
    let home = Home::new();
    let names_in = |output: std::process::Output| {
        let agents: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names = agents["items"].as_array().unwrap().iter();
        names.map(|agent| agent["agent"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let list = ["agents", "--json", "--agent", "zoe", "--workspace", "nest"];
    assert!(home.run(&["list", "--agent", "ann", "--workspace", "nest"]).status.success());
    let server = Server::start(&home);
    let bob = [("X-Commonbook-Agent", "bob"), ("X-Commonbook-Workspace", "nest")];
    // A page of another site can make a browser send the first, by its address alone.
    let named = "/v1/memories?agent_id=mallory&workspace=nest";
    assert_eq!(server.send("GET", named, &[], b"").unwrap().0, 200);
    assert_eq!(server.send("GET", "/v1/memories", &bob, b"").unwrap().0, 200);
    assert_eq!(names_in(home.run(&list)), [""; 0]);
    assert_eq!(server.send("POST", "/v1/sessions", &bob, b"{}").unwrap().0, 200);
    assert_eq!(names_in(home.run(&list)), ["bob"]);
    assert!(
        home.run(&["save", "Nests are built in spring", "--agent", "ann", "--workspace", "nest"])
            .status
            .success()
    );
    assert_eq!(names_in(home.run(&list)), ["ann", "bob"]);
}

/// Values beyond what a schema allows: too long, empty, too many, too large, too small. An empty
/// text of an optional field is allowed: the field is absent.
fn values_beyond(schema: &Value, is_required: bool) -> Vec<Value> {
    let bound = |name: &str| schema[name].as_u64();
    let mut values = Vec::new();
    values.extend(bound("maxLength").filter(|most| *most < 100_000).map(|most| {
        let longer = usize::try_from(most).unwrap() + 1;
        Value::from("x".repeat(longer))
    }));
    let least_length = bound("minLength").filter(|least| *least > 0 && is_required);
    values.extend(least_length.map(|_| Value::from("")));
    values.extend(bound("maxItems").map(|most| {
        let item = match schema["items"]["type"].as_str() {
            Some("object") => json!({}),
            _ => json!("x"),
        };
        Value::from(vec![item; usize::try_from(most).unwrap() + 1])
    }));
    values.extend(bound("maximum").map(|most| Value::from(most + 1)));
    let is_integer = schema["type"].to_string().contains("\"integer\"");
    if is_integer && bound("maximum").is_none() {
        values.push(Value::from(u64::MAX));
    }
    values.extend(bound("minimum").filter(|least| *least > 0).map(|least| Value::from(least - 1)));
    if let Some(inner) = schema.get("items").filter(|_| schema["type"] != "object") {
        values.extend(values_beyond(inner, true).into_iter().map(|value| json!([value])));
    }
    values
}

/// The part of the document that a schema names by `$ref`, or the schema itself.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(place) => document.pointer(place.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

#[test]
fn every_bound_of_a_schema_is_held() {
    let home = Home::new();
    let server = Server::start(&home);
    let document = server.send("GET", "/openapi.json", &[ME], b"").unwrap().1;
    let mut tried = 0;
    let mut accepted = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let address = path.replace("{id}", "none").replace(['{', '}'], "");
        for (method, operation) in operations.as_object().unwrap() {
            let method = method.to_uppercase();
            let mut check = |name: &str, value: &Value, address: &str, body: &[u8]| {
                let (status, answer) = server.send(&method, address, &[ME], body).unwrap();
                tried += 1;
                if !(400..500).contains(&status) {
                    let value: String = value.to_string().chars().take(60).collect();
                    accepted.push(format!("{method} {path}: {name} = {value}: {status} {answer}"));
                }
            };
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let body = resolve(&document, body);
            let required = body["required"].as_array();
            for (name, field) in body["properties"].as_object().into_iter().flatten() {
                let is_required = required.is_some_and(|names| names.contains(&json!(name)));
                for value in values_beyond(resolve(&document, field), is_required) {
                    check(name, &value, &address, json!({name: value}).to_string().as_bytes());
                }
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(&document, parameter);
                if parameter["in"] != "query" {
                    continue;
                }
                let name = parameter["name"].as_str().unwrap();
                let is_required = parameter["required"] == true;
                for value in values_beyond(resolve(&document, &parameter["schema"]), is_required) {
                    let text = match &value {
                        Value::String(text) => text.clone(),
                        Value::Array(_) => continue,
                        other => other.to_string(),
                    };
                    check(name, &value, &format!("{address}?{name}={text}"), b"");
                }
            }
        }
    }
    assert!(tried > 200, "{tried} values were tried");
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}
