//! Sessions that nobody names, and what agents do with them, through every door.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::doors::tokens::token;
use crate::world::{Cli, Client, Door, Home, Mcp, Server, WORKSPACE, through_every_door};

/// What a coding agent saves while it analyses, in its own words.
const FINDINGS: [&str; 3] = [
    "getUserOrders runs one query for each row: 400 orders take 9 seconds",
    "The orders table has no index on customer_id",
    "The cache in front of the orders API never expires",
];

/// Calls a tool with everything in its response.
async fn call(client: &Client, tool: &'static str, fields: Value) -> Value {
    let mut request = CallToolRequestParams::new(tool);
    request.arguments = fields.as_object().cloned();
    request.arguments.get_or_insert_default().insert("verbose".to_owned(), json!(true));
    let answer = client.call_tool(request).await.unwrap();
    assert_ne!(answer.is_error, Some(true), "{tool}: {answer:?}");
    answer.structured_content.unwrap()
}

/// The sessions of the workspace, last started first.
fn sessions(home: &Home) -> Vec<Value> {
    Cli(home).call("eve", "list_sessions", &json!({})).unwrap()["items"].as_array().unwrap().clone()
}

/// An agent that names nothing saves three findings and hands over; returns how many go along that
/// were saved in its session.
fn hand_over(door: &dyn Door, agent: &str) -> usize {
    for text in FINDINGS {
        door.call(agent, "save_memory", &json!({"text": text})).unwrap();
    }
    let fields = json!({"to": "developer", "task": "Implement the analysis findings"});
    let made = door.call(agent, "create_handoff", &fields).unwrap();
    let memories = made["handoff"]["memories"].as_array().unwrap().clone();
    memories.iter().filter(|memory| memory["why"] == "chosen").count()
}

#[test]
fn findings_go_along_although_no_session_is_named() {
    let home = Home::new();
    let server = Server::start(&home);
    let rest: Box<dyn Door> = Box::new(Server::start(&home));
    let mut doors: Vec<(String, Box<dyn Door + '_>)> =
        vec![("REST".into(), rest), ("command line".into(), Box::new(Cli(&home)))];
    for mcp in Mcp::every_way(&home, &server) {
        doors.push((mcp.way(), Box::new(mcp)));
    }
    for (place, (way, door)) in doors.iter().enumerate() {
        let agent = format!("analyst-{place}");
        assert_eq!(hand_over(&**door, &agent), 3, "{way}");
        let own = |session: &&Value| session["agent"] == agent.as_str();
        assert_eq!(sessions(&home).iter().filter(own).count(), 1, "{way}");
    }
    let default_tools = Mcp::over_stdio(&home).offering("core");
    assert_eq!(hand_over(&default_tools, "analyst-core"), 3);
}

#[test]
fn a_process_that_only_reads_leaves_no_trace() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server) {
        mcp.with("reader", async |client| {
            client.list_all_tools().await.unwrap();
            call(client, "search_memory", json!({"query": "orders"})).await;
            call(client, "list_memories", json!({})).await;
            let mut wrong = CallToolRequestParams::new("save_memory");
            wrong.arguments = json!({"txt": "tea"}).as_object().cloned();
            assert_eq!(client.call_tool(wrong).await.unwrap().is_error, Some(true));
        });
    }
    let cli = Cli(&home);
    cli.call("reader", "search_memory", &json!({"query": "orders"})).unwrap();
    cli.call("reader", "list_sessions", &json!({})).unwrap();
    let list = json!({"limit": 100});
    assert_eq!(cli.call("reader", "list_events", &list).unwrap()["items"], json!([]));
}

#[test]
fn a_connection_over_stdio_has_its_own_session_and_ends_it() {
    let home = Home::new();
    let run = |text: &str| {
        Mcp::over_stdio(&home).with("claude-code", async |client| {
            let context = call(client, "get_context", json!({"task": "Make orders fast"})).await;
            let saved = call(client, "save_memory", json!({"text": text})).await;
            assert_eq!(context["session"], saved["memory"]["session"]);
            // A session of its own choice; then the connection goes on in its own.
            let chosen = call(client, "start_session", json!({})).await["session"]["id"].clone();
            let fields = json!({"text": format!("Chosen for run {text}")});
            let within = call(client, "save_memory", fields).await;
            assert_eq!(within["memory"]["session"], chosen);
            call(client, "end_session", json!({"summary": "Measured"})).await;
            let fields = json!({"text": format!("After run {text}")});
            let after = call(client, "save_memory", fields).await;
            assert_eq!(after["memory"]["session"], saved["memory"]["session"]);
            saved["memory"]["session"].clone()
        })
    };
    let (first, second) = (run(FINDINGS[0]), run(FINDINGS[1]));
    assert_ne!(first, second);
    let found = sessions(&home);
    assert_eq!(found.len(), 4, "two of its own, two of its choice");
    assert!(found.iter().all(|session| session["status"] == "completed"), "{found:?}");
    assert_eq!(found[3]["client"], "claude-code 1.0");
}

#[test]
fn the_session_of_a_connection_over_http_ends_with_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let saved = Mcp::over_http(&home, &server).with("claude-code", async |client| {
        let saved = call(client, "save_memory", json!({"text": FINDINGS[0]})).await;
        let open = sessions(&home);
        assert_eq!(open[0]["status"], "active", "{open:?}");
        saved["memory"]["session"].clone()
    });
    // The server ends it after its answer to the client.
    let is_ended = || {
        let found = sessions(&home);
        assert_eq!((found.len(), &found[0]["id"]), (1, &saved));
        found[0]["status"] == "completed"
    };
    assert!((0..200).any(|_| is_ended()), "{:?}", sessions(&home));
}

#[test]
fn processes_that_begin_at_once_begin_one_session() {
    let home = Home::new();
    Cli(&home).call("eve", "save_memory", &json!({"text": "The store exists"})).unwrap();
    for round in 0..3 {
        let agent = format!("codex-{round}");
        let save = |part: usize| {
            let text = format!("Part {part} of run {round} is measured: {part}00 ms");
            let fields = json!({"text": text});
            Cli(&home).call(&agent, "save_memory", &fields).unwrap()["memory"]["session"].clone()
        };
        let begun: Vec<Value> = std::thread::scope(|scope| {
            let save = &save;
            let calls: Vec<_> = (0..6).map(|part| scope.spawn(move || save(part))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(begun[0].is_string() && begun.iter().all(|id| *id == begun[0]), "{begun:?}");
    }
}

#[test]
fn two_connections_at_once_do_not_mix() {
    let home = Home::new();
    let server = Server::start(&home);
    let over_stdio = [(); 2].map(|()| Mcp::over_stdio(&home));
    let over_http = [(); 2].map(|()| Mcp::over_http(&home, &server));
    for [one, two] in [over_stdio, over_http] {
        let save = |mcp: &Mcp<'_>, text: &str| {
            let saved = mcp.call("codex", "save_memory", &json!({"text": text})).unwrap();
            saved["memory"]["session"].clone()
        };
        let first = save(&one, "The gate is blue");
        let second = save(&two, "The gate is red");
        assert_ne!(first, second);
        assert_eq!(save(&one, "The gate is green"), first);
    }
}

#[test]
fn requests_that_stand_alone_share_a_session_by_agent_token_user_and_workspace() {
    let home = Home::new();
    let server = Server::start(&home);
    let bearer = |agent: &str| format!("Bearer {}", token(&home, &[agent]).0);
    let (one, other) = (bearer("rook"), bearer("rook"));
    let save = |headers: &[(&str, &str)]| {
        let body = json!({"text": crate::world::new_text()}).to_string();
        let (status, saved) =
            server.send("POST", "/v1/memories", headers, body.as_bytes()).unwrap();
        assert_eq!(status, 201, "{saved}");
        saved["memory"]["session"].clone()
    };
    let place = ("X-Commonbook-Workspace", WORKSPACE);
    let by = |token| [("Authorization", token), place];
    let first = save(&by(&one));
    assert!(first.is_string());
    assert_eq!(save(&by(&one)), first);
    let user = ("X-Commonbook-User", "u1");
    let elsewhere = ("X-Commonbook-Workspace", "elsewhere");
    let others = [
        save(&by(&other)),
        save(&[("Authorization", &one), place, user]),
        save(&[("Authorization", &one), elsewhere]),
        save(&[("Authorization", &one), place, ("X-Commonbook-Session", "tab-7")]),
    ];
    assert!(!others.contains(&first), "{others:?}");
    assert_eq!(save(&by(&one)), first);
}

#[test]
fn a_context_begins_a_session_and_its_answer_names_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let place = ("X-Commonbook-Workspace", WORKSPACE);
    let save = |headers: &[(&str, &str)]| {
        let body = json!({"text": crate::world::new_text()}).to_string();
        let (_, saved) = server.send("POST", "/v1/memories", headers, body.as_bytes()).unwrap();
        saved["memory"]["session"].clone()
    };
    assert_eq!(save(&[place]), Value::Null, "unnamed callers share a name, and no session");
    // A context begins one too, and its answer names it for the next calls.
    let headers = [("X-Commonbook-Agent", "heron"), place];
    let body = json!({"task": "Count the boats"}).to_string();
    let (_, context) = server.send("POST", "/v1/context", &headers, body.as_bytes()).unwrap();
    assert_eq!(context["session"], save(&headers));
    let named = context["session"].as_str().unwrap();
    assert_eq!(save(&[headers[0], place, ("X-Commonbook-Session", named)]), context["session"]);
}

#[test]
fn the_command_line_and_rest_work_in_one_session_of_a_named_agent() {
    let home = Home::new();
    let save = |door: &dyn Door| {
        let fields = json!({"text": crate::world::new_text()});
        door.call("ann", "save_memory", &fields).unwrap()["memory"]["session"].clone()
    };
    let first = save(&Cli(&home));
    let server = Server::start(&home);
    assert_eq!((save(&server), save(&Cli(&home))), (first.clone(), first.clone()));
    let made = Cli(&home).call("ann", "create_checkpoint", &json!({"title": "Half way"})).unwrap();
    assert_eq!(made["session"], first);
    let unnamed = home.run(&["save", "--json", "The gate is blue"]);
    let saved: Value = serde_json::from_slice(&unnamed.stdout).unwrap();
    assert_eq!(saved["memory"]["session"], Value::Null);
}

#[test]
fn without_an_open_session_a_checkpoint_is_refused_alike() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut doors: Vec<Box<dyn Door + '_>> =
        vec![Box::new(Server::start(&home)), Box::new(Cli(&home))];
    for mcp in Mcp::every_way(&home, &server) {
        doors.push(Box::new(mcp));
    }
    for door in doors {
        let requests = [("create_checkpoint", json!({})), ("list_checkpoints", json!({}))];
        let summary = ("checkpoint_and_summarise", json!({"summary": "x"}));
        for (verb, fields) in requests.into_iter().chain([summary]) {
            let error = door.call("ann", verb, &fields).unwrap_err();
            let found = (&error["kind"], &error["field"]);
            assert_eq!(found, (&json!("invalid"), &json!("session")), "{verb}: {error}");
        }
    }
    assert_eq!(sessions(&home), Vec::<Value>::new());
}

#[test]
fn the_same_key_resumes_the_same_session_through_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let started = server.call("ann", "start_session", &json!({})).unwrap();
    let mut doors: Vec<Box<dyn Door + '_>> =
        vec![Box::new(Server::start(&home)), Box::new(Cli(&home))];
    for mcp in Mcp::every_way(&home, &server) {
        doors.push(Box::new(mcp));
    }
    for (place, door) in doors.iter().enumerate() {
        let fields = json!({"session": started["session"]["id"], "idempotency_key": "take over"});
        let resume = || door.call(&format!("bob-{place}"), "resume_session", &fields).unwrap();
        let first = resume();
        assert_ne!(first["session"]["id"], started["session"]["id"]);
        assert_eq!(resume(), first, "{place}");
    }
}

#[test]
fn a_session_is_resumed_as_of_a_checkpoint_which_is_archived_and_deleted() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut doors: Vec<Box<dyn Door + '_>> =
        vec![Box::new(Server::start(&home)), Box::new(Cli(&home))];
    for mcp in Mcp::every_way(&home, &server).into_iter().take(2) {
        doors.push(Box::new(mcp));
    }
    for (place, door) in doors.iter().enumerate() {
        let agent = format!("ann-{place}");
        let call = |verb: &str, fields: Value| door.call(&agent, verb, &fields).unwrap();
        let mut ids = Vec::new();
        for text in FINDINGS {
            let fields = json!({"text": format!("{text}, in run {place}")});
            ids.push(call("save_memory", fields)["memory"]["id"].clone());
        }
        let made = call("create_checkpoint", json!({"title": "Analysed"}));
        call("update_memory", json!({"id": ids[1], "text": "The index is there now"}));
        call("delete_memory", json!({"id": ids[2]}));
        let (session, checkpoint) = (&made["session"], &made["id"]);
        let fields = json!({"session": session, "checkpoint": checkpoint, "budget": 2_000});
        let then = door.call("bob", "resume_session", &fields).unwrap();
        let text = then["text"].as_str().unwrap();
        assert!(text.contains(FINDINGS[0]) && text.contains("corrected since\n"), "{text}");
        assert!(text.contains(FINDINGS[1]) && !text.contains("is there now"), "{text}");
        assert!(text.contains("Deleted after") && !text.contains("never expires"), "{text}");
        assert_eq!(then["changes"].as_array().unwrap().len(), 2);
        let refused = door.call("bob", "delete_checkpoint", &json!({"checkpoint": checkpoint}));
        assert_eq!(refused.unwrap_err()["code"], "ownership_mismatch");
        call("archive_checkpoint", json!({"checkpoint": checkpoint}));
        let list = |fields: Value| call("list_checkpoints", fields)["items"].clone();
        assert_eq!(list(json!({"session": session})), json!([]));
        assert_eq!(list(json!({"session": session, "archived": true}))[0]["id"], *checkpoint);
        call("delete_checkpoint", json!({"checkpoint": checkpoint}));
        assert_eq!(list(json!({"session": session, "archived": true})), json!([]));
    }
}

#[test]
fn the_settings_of_checkpoints_hold_for_every_process() {
    let home = Home::new();
    let settings = |text: &str| std::fs::write(home.path().join("config.json"), text).unwrap();
    settings(r#"{"checkpoints": {"kept": 2}}"#);
    let server = Server::start(&home);
    let started = server.call("ann", "start_session", &json!({})).unwrap();
    let fields = json!({"session": started["session"]["id"]});
    for _ in 0..2 {
        for door in [&server as &dyn Door, &Cli(&home), &Mcp::over_stdio(&home)] {
            door.call("ann", "create_checkpoint", &fields).unwrap();
        }
    }
    let kept = server.call("ann", "list_checkpoints", &fields).unwrap();
    assert_eq!(kept["items"].as_array().unwrap().len(), 2);
    let doctor = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("checkpoints  2 kept for 30 days"), "{doctor}");
    settings(r#"{"checkpoints": {"kept": 0}}"#);
    let refused = home.run(&["save", "tea"]);
    let reason = String::from_utf8(refused.stderr).unwrap();
    assert!(reason.contains("checkpoints.kept: 0 is out of range"), "{reason}");
}

#[test]
fn a_clients_own_id_stands_for_the_session_that_was_begun_under_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let cli = |arguments: &[&str]| home.run(&[arguments, &["--agent", "me", "--json"]].concat());
    let json_of = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let started = json_of(&cli(&["session", "start", "--client-session", "s1"]).stdout);
    let id = &started["session"]["id"];
    let saved = cli(&["save", "The retry loop has a bug at line 40.", "--session", "s1"]);
    let saved = json_of(&saved.stdout);
    assert_eq!((&saved["memory"]["session"], &saved["hint"]), (id, &Value::Null));
    let resumed = json_of(&cli(&["resume", "s1"]).stdout);
    assert!(resumed["text"].as_str().unwrap().contains("line 40"), "{resumed}");
    let rest = |session: &str, text: &str| {
        let headers = [("x-commonbook-agent", "me"), ("x-commonbook-session", session)];
        let body = json!({"text": text}).to_string();
        server.send("POST", "/v1/memories", &headers, body.as_bytes()).unwrap().1
    };
    let saved = rest("s1", "The queue holds 40 jobs.");
    assert_eq!(&saved["memory"]["session"], id);

    // A free text groups memories, and the answer says that it is no session.
    let saved = rest("s2", "The queue is a ring.");
    assert_eq!(saved["memory"]["session"], "s2");
    let hint = saved["hint"].as_str().unwrap();
    assert!(hint.contains("No session was begun as s2") && hint.contains("POST /v1/sessions"));
    let said = home.run(&["save", "The ring has 8 slots.", "--session", "s2", "--agent", "me"]);
    let note = String::from_utf8(said.stderr).unwrap();
    assert!(note.contains("commonbook session start --client-session s2"), "{note}");

    for unknown in ["ses_zzzz", &id.as_str().unwrap()[..20]] {
        let refused = cli(&["save", "x", "--session", unknown]);
        assert_eq!(json_of(&refused.stderr)["error"]["kind"], "not_found", "{unknown}");
        let mut command = home.program(&["save", "x", "--agent", "me", "--json"]);
        let refused = command.env("COMMONBOOK_SESSION", unknown).output().unwrap();
        assert_eq!(json_of(&refused.stderr)["error"]["kind"], "not_found", "{unknown}");
        assert_eq!(rest(unknown, "x")["error"]["kind"], "not_found", "{unknown}");
    }
}

/// The first calls of an agent on one door ask for what its session has not been given, and for its own.
fn search_first(door: &dyn Door, name: &str) {
    let call = |agent: &str, verb: &str, fields: Value| {
        let agent = format!("{agent}-{name}");
        let answer = door.call(&agent, verb, &fields);
        answer.unwrap_or_else(|error| panic!("{name} {verb}: {error}"))
    };
    let text = format!("The ferry of {name} leaves at noon");
    call("ann", "save_memory", json!({"text": text}));
    let search = |agent: &str, query: &str| {
        call(agent, "search_memory", json!({"query": format!("{query} \"ferry of {name}\"")}))
    };
    let own = search("bob", "session:same");
    assert_eq!((&own["hits"], &own["total"]), (&json!([]), &json!(0)), "{name}");
    let notice = own["notice"].as_str().unwrap_or_default();
    assert!(notice.contains("you work in none yet"), "{name}: {own}");
    let unseen = || search("bob", "unseen:")["hits"].clone();
    assert_eq!(unseen()[0]["memory"]["text"], json!(text), "{name}");
    assert_eq!(unseen(), json!([]), "{name}: the search gave it");
    let listed =
        call("bob", "list_memories", json!({"since": "10m", "owner": format!("ann-{name}")}));
    assert_eq!(listed["items"][0]["text"], json!(text), "{name}");
}

#[test]
fn terms_of_a_session_are_answered_to_the_first_call_of_every_door() {
    through_every_door(search_first);
}
