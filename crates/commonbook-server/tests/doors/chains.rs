//! Handoffs through every door with nothing named: findings go along, a chain of three tells all of
//! it, the result comes back, and a hint is in the language of its door.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

const FINDINGS: [&str; 3] = [
    "getUserOrders runs one database query for each order row",
    "The session cache is never invalidated when a user changes the password",
    "Uploading an image blocks the event loop because resizing is synchronous",
];

/// Calls a verb that succeeds.
fn call(door: &dyn Door, agent: &str, verb: &str, fields: &Value) -> Value {
    door.call(agent, verb, fields).unwrap_or_else(|error| panic!("{verb}: {error}"))
}

/// Hands over by this door, accepts, completes.
fn chain(door: &dyn Door, way: &str) {
    let agent = |role: &str| format!("{role}-{way}");
    let [analyst, developer, qa] = ["analyst", "developer", "qa"].map(agent);
    for finding in FINDINGS {
        call(door, &analyst, "save_memory", &json!({"text": format!("{finding} ({way})")}));
    }
    let task = "Implement the analysis findings";
    let decision = "The API of the orders stays as it is";
    let fields = json!({"to": developer, "task": task, "decisions_made": [decision]});
    let first = call(door, &analyst, "create_handoff", &fields);
    let passed = first["handoff"]["memories"].as_array().into_iter().flatten();
    let own = passed.filter(|memory| memory["author"] == json!(analyst)).count();
    assert_eq!(own, 3, "{way}: {first}");
    assert_eq!(first["hint"], Value::Null, "{way}");
    let first = &first["handoff"]["id"];
    call(door, &developer, "accept_handoff", &json!({"handoff": first}));
    let done = json!({"handoff": first, "result": "All three are fixed; the cache has a version"});
    call(door, &developer, "complete_handoff", &done);

    let fields = json!({"to": qa, "task": "Check the fixes", "active_files": ["src/orders.ts"]});
    let second = call(door, &developer, "create_handoff", &fields);
    assert_eq!(second["handoff"]["depth"], 2, "{way}: {second}");
    let second = &second["handoff"]["id"];
    let text = call(door, &qa, "accept_handoff", &json!({"handoff": second}))["text"].clone();
    let text = text.as_str().unwrap();
    for part in [
        "Earlier work, nearest first",
        task,
        decision,
        "the cache has a version",
        "getUserOrders runs",
        "number 1 of the chain",
        &analyst,
        &developer,
    ] {
        assert!(text.contains(part), "{way}, {part}: {text}");
    }
    let receipt = call(door, &qa, "get_handoff", &json!({"handoff": second}));
    assert_eq!(receipt["earlier"][0]["handoff"], *first, "{way}: {receipt}");
    assert_eq!(receipt["earlier"][0]["decisions_made"], json!([decision]), "{way}");

    let context = call(door, &analyst, "get_context", &json!({"task": "What is next?"}));
    let text = context["text"].as_str().unwrap();
    assert!(text.contains("completed your handoff") && text.contains("has a version"), "{text}");
}

#[test]
fn everything_travels_through_every_door_with_nothing_named() {
    let home = Home::new();
    let server = Server::start(&home);
    chain(&server, "rest");
    chain(&Cli(&home), "cli");
    for (index, mcp) in Mcp::every_way(&home, &server).into_iter().enumerate() {
        chain(&mcp, &format!("mcp{index}"));
    }
}

#[test]
fn the_hint_of_a_handoff_is_in_the_language_of_its_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let fields = json!({"to": "bob", "task": "Paint the garden fence"});
    let body = fields.to_string();
    let headers = [("X-Commonbook-Agent", "ann"), ("Content-Type", "application/json")];
    let (status, made) = server.send("POST", "/v1/handoffs", &headers, body.as_bytes()).unwrap();
    let hint = made["hint"].as_str().unwrap_or_default();
    assert!(status == 201 && hint.contains("`POST /v1/memories`"), "{made}");
    let output = home.run(&["handoff", "create", "bob", "Paint the gate", "--agent", "ann"]);
    let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(shown.contains("`commonbook save`"), "{shown}");
    let mcp = Mcp::over_stdio(&home);
    let result = mcp.with("ann", async |client| {
        let mut request = CallToolRequestParams::new("create_handoff");
        request.arguments = fields.as_object().cloned();
        client.call_tool(request).await.unwrap()
    });
    let text = &result.content[0].as_text().unwrap().text;
    assert!(text.contains("with `save_memory`"), "{text}");
}

#[test]
fn a_result_is_told_in_one_connection_and_not_in_the_next() {
    let home = Home::new();
    let server = Server::start(&home);
    for way in 0..4 {
        let ann = format!("ann-{way}");
        let fields = json!({"to": "bob", "task": "Paint the fence"});
        let made = call(&server, &ann, "create_handoff", &fields);
        let id = made["handoff"]["id"].clone();
        call(&server, "bob", "accept_handoff", &json!({"handoff": id}));
        let done = json!({"handoff": id, "result": "The fence is green now"});
        call(&server, "bob", "complete_handoff", &done);
        // Each is a process or connection of its own.
        let told = || {
            let [one, two, three, four] = Mcp::every_way(&home, &server);
            let mcp = [one, two, three, four].into_iter().nth(way).unwrap();
            let context = mcp.call(&ann, "get_context", &json!({"task": "What is next?"})).unwrap();
            context["text"].as_str().unwrap().contains("The fence is green now")
        };
        assert_eq!((told(), told(), told()), (true, false, false), "way {way}");
    }
}

#[test]
fn a_command_tells_a_result_once_and_leaves_its_json_alone() {
    for by_server in [false, true] {
        let home = Home::new();
        let _server = by_server.then(|| Server::start(&home));
        let cli = Cli(&home);
        let complete = |task: &str, result: &str| {
            let made = call(&cli, "ann", "create_handoff", &json!({"to": "bob", "task": task}));
            let id = made["handoff"]["id"].as_str().unwrap().to_owned();
            call(&cli, "bob", "accept_handoff", &json!({"handoff": id}));
            call(&cli, "bob", "complete_handoff", &json!({"handoff": id, "result": result}));
            id[id.len() - 8..].to_owned()
        };
        let note = |agent: &str, command: &[&str]| {
            let by = ["--agent", agent, "--workspace", WORKSPACE];
            let output = home.run(&[command, &by].concat());
            let note = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{command:?}: {note}");
            note
        };
        let handle = complete("Paint the fence", "The fence\nis green now");
        let line = format!(
            "bob completed your handoff {handle}, Paint the fence: The fence is green now\n"
        );
        for (agent, command) in [("ann", &["list", "--json"][..]), ("bob", &["list"])] {
            let note = note(agent, command);
            assert!(!note.contains("green now"), "{by_server} {agent}: {note}");
        }
        let first = note("ann", &["save", "Herons nest in elms"]);
        assert!(first.contains(&line), "{by_server}: {first}");
        for command in [&["list"][..], &["save", "Larks sing at dawn"]] {
            let next = note("ann", command);
            assert!(!next.contains("green now"), "{by_server}: {next}");
        }
        let handle = complete("Oil the gate", &"Oiled twice. ".repeat(60));
        let long = note("ann", &["list"]);
        let rest = format!("`commonbook handoff show {handle}` tells the whole result");
        assert!(long.contains("Oiled twice. O…\n") && long.contains(&rest), "{by_server}: {long}");
    }
}
