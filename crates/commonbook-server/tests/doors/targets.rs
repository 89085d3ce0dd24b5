//! Targets of handoffs through every door: roles, the queue, dry runs, results, and the switch.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

/// Every door of this home, with a name for messages.
fn doors<'h>(home: &'h Home, server: &'h Server) -> Vec<(&'static str, Box<dyn Door + 'h>)> {
    vec![
        ("rest", Box::new(Rest(server))),
        ("command line", Box::new(Cli(home))),
        ("stdio", Box::new(Mcp::over_stdio(home))),
        ("http", Box::new(Mcp::over_http(home, server).stateless())),
    ]
}

/// A server that other doors use too.
struct Rest<'s>(&'s Server);

impl Door for Rest<'_> {
    fn call(&self, agent: &str, verb: &str, fields: &Value) -> Result<Value, Value> {
        self.0.call(agent, verb, fields)
    }
}

#[test]
fn the_first_agent_with_a_role_has_the_handoff_on_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    for (number, (name, door)) in doors(&home, &server).into_iter().enumerate() {
        let role = format!("tester-{number}");
        let fields = json!({"to": role, "task": "Test the retries"});
        let made = door.call("ann", "create_handoff", &fields).unwrap();
        let id = &made["handoff"]["id"];
        assert_eq!(made["handoff"]["role"], json!(role), "{name}");
        let warning = made["warning"].as_str().unwrap();
        assert!(warning.contains(&format!("no agent `{role}` is known here")), "{name}: {warning}");
        let queue = door.call(&role, "list_handoffs", &json!({})).unwrap();
        assert_eq!((&queue["items"][0]["id"], &queue["items"][0]["position"]), (id, &json!(1)));
        let holder = format!("codex/{role}");
        let taken = server.call(&holder, "accept_handoff", &json!({"handoff": id})).unwrap();
        assert_eq!(taken["handoff"]["to"], json!(holder), "{name}");
        let late = door.call(&role, "accept_handoff", &json!({"handoff": id})).unwrap_err();
        let message = format!("'{holder}' has accepted this handoff");
        assert_eq!((&late["kind"], &late["message"]), (&json!("conflict"), &json!(message)));
    }
}

#[test]
fn a_dry_run_hands_nothing_over_on_any_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let fact = json!({"text": "The retries of the billing job fail after three tries"});
    let fact = server.call("ann", "save_memory", &fact).unwrap()["memory"]["id"].clone();
    for (name, door) in doors(&home, &server) {
        let fields = json!({
            "to": "bob", "task": "Mend the retries of the billing job", "dry_run": true,
            "include_entities": false,
        });
        let preview = door.call("ann", "create_handoff", &fields).unwrap();
        assert_eq!(preview["dry_run"], json!(true), "{name}");
        assert_eq!(preview["handoff"]["memories"][0]["id"], fact, "{name}: {preview}");
        assert_eq!(preview["handoff"]["entities"], Value::Null, "{name}");
        assert!(preview["handoff"]["tokens"].as_u64().unwrap() > 0, "{name}");
        let all = server.call("eve", "list_handoffs", &json!({"side": "all"})).unwrap();
        assert_eq!(all["items"], json!([]), "{name}");
    }
    let headers = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", "w")];
    for (dry_run, expected) in [(true, 200), (false, 201)] {
        let body = json!({"to": "bob", "task": "Go on", "dry_run": dry_run}).to_string();
        let (status, _) = server.send("POST", "/v1/handoffs", &headers, body.as_bytes()).unwrap();
        assert_eq!(status, expected, "dry_run {dry_run}");
    }
}

#[test]
fn people_and_models_read_what_a_dry_run_would_hand_over() {
    let home = Home::new();
    let fact = json!({"text": "The retries of the billing job fail after three tries"});
    Cli(&home).call("ann", "save_memory", &fact).unwrap();
    let arguments =
        ["handoff", "create", "bob", "Mend the retries of the billing job", "--dry-run"];
    let own = ["--agent", "ann", "--workspace", WORKSPACE];
    let shown = home.run(&[&arguments[..], &own].concat());
    let shown = String::from_utf8([shown.stdout, shown.stderr].concat()).unwrap();
    let parts = ["nothing was handed over", "ann → bob: Mend", "It carries", "no agent `bob`"];
    for part in parts.into_iter().chain(["goes along", "The retries of the billing job"]) {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let task = "Mend the retries of the billing job";
    let fields = json!({"to": "bob", "task": task, "dry_run": true});
    let shown = Mcp::over_stdio(&home).with("ann", async |client| {
        let mut request = CallToolRequestParams::new("create_handoff");
        request.arguments = fields.as_object().cloned();
        let answer = client.call_tool(request).await.unwrap();
        answer.content[0].as_text().unwrap().text.clone()
    });
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["dry_run"], json!(true));
    let along = shown["along"][0].as_str().unwrap();
    assert!(
        along.starts_with('#') && along.contains(" ann: The retries of the billing"),
        "{shown}"
    );
    assert!(shown["handoff"]["tokens"].as_u64().unwrap() > 0, "{shown}");
    for absent in ["id", "status", "expires_at"] {
        assert_eq!(shown["handoff"][absent], Value::Null, "none is stored: {shown}");
    }
}

#[test]
fn a_hint_names_what_its_door_has() {
    let home = Home::new();
    let own = ["--agent", "ann", "--workspace", WORKSPACE];
    let create = ["handoff", "create", "bob", "Mend the retries of the billing job"];
    let output = home.run(&[&create[..], &own[..]].concat());
    let made = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(made.contains("with `commonbook save`"), "{made}");
    assert!(made.contains("with `--memory ID`"), "{made}");
    let fact = json!({"text": "The retries of the billing job fail after three tries"});
    Cli(&home).call("ann", "save_memory", &fact).unwrap();
    let (text, list) = Mcp::over_stdio(&home).offering("full").with("ann", async |client| {
        let mut answers = Vec::new();
        let task = json!({"task": "Order pizza for the party"});
        for (tool, fields) in [("get_context", task), ("list_contexts", json!({}))] {
            let mut request = CallToolRequestParams::new(tool);
            request.arguments = fields.as_object().cloned();
            let answer = client.call_tool(request).await.unwrap();
            answers.push(answer.content[0].as_text().unwrap().text.clone());
        }
        (answers[0].clone(), answers[1].clone())
    });
    let none = "No memory shares a word with this task; 1 memory is known. Search in your own words, names and \
                identifiers: `search_memory`.";
    let (said, offered) = text.split_once('\n').unwrap();
    assert_eq!(said, none);
    assert!(offered.contains("`resume_session` tells"), "{offered}");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert!(list["items"][0]["id"].as_str().unwrap().starts_with('#'), "{list}");
}

#[test]
fn a_handle_accepts_a_handoff_under_each_name_of_its_field() {
    let home = Home::new();
    let server = Server::start(&home);
    for name in ["handoff", "handoff_id", "id"] {
        let fields = json!({"to": "bob", "task": format!("Mend the fence for {name}")});
        let made = server.call("ann", "create_handoff", &fields).unwrap();
        let id = made["handoff"]["id"].as_str().unwrap();
        let fields = json!({name: format!("#{}", &id[id.len() - 8..])});
        let text = Mcp::over_http(&home, &server).with("bob", async |client| {
            let mut request = CallToolRequestParams::new("accept_handoff");
            request.arguments = fields.as_object().cloned();
            let answer = client.call_tool(request).await.unwrap();
            answer.content[0].as_text().unwrap().text.clone()
        });
        assert!(text.contains(&format!("Mend the fence for {name}")), "{text}");
    }
}

#[test]
fn a_list_says_to_whom_a_memory_was_handed_on_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let hand = |to: &str, fields: Value| {
        let mut fields = fields;
        fields["to"] = json!(to);
        fields["task"] = json!("Paint the fence");
        server.call("ann", "create_handoff", &fields).unwrap()["handoff"]["id"].clone()
    };
    hand("cleo", json!({}));
    let fact = json!({"text": "The billing job runs at night"});
    let fact = server.call("ann", "save_memory", &fact).unwrap()["memory"]["id"].clone();
    let with = hand("bob", json!({"memories": [fact]}));
    for (name, door) in doors(&home, &server) {
        let found = door.call("eve", "list_handoffs", &json!({"memory": fact})).unwrap();
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{name}: {found}");
        assert_eq!((&found["items"][0]["id"], &found["items"][0]["to"]), (&with, &json!("bob")));
    }
}

#[test]
fn a_second_result_is_a_conflict_on_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    for (name, door) in doors(&home, &server) {
        let fields = json!({"to": "bob", "task": format!("Mend the fence at the {name}")});
        let made = server.call("ann", "create_handoff", &fields).unwrap();
        let id = &made["handoff"]["id"];
        server.call("bob", "accept_handoff", &json!({"handoff": id})).unwrap();
        let complete = |result: &str| {
            door.call("bob", "complete_handoff", &json!({"handoff": id, "result": result}))
        };
        let done = complete("It is mended").unwrap();
        assert_eq!(complete("It is mended"), Ok(done), "{name}");
        let other = complete("It is broken").unwrap_err();
        assert_eq!((&other["kind"], &other["field"]), (&json!("conflict"), &json!("result")));
    }
}

#[test]
fn a_round_in_which_nothing_was_written_is_refused_in_the_words_of_each_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let open = json!({"key": "login"});
    server.call("ann", "open_case", &open).unwrap();
    let fields = |to: &str| json!({"to": to, "task": "Go on with the login", "case": "login"});
    server.call("dev", "create_handoff", &fields("qa")).unwrap();
    server.call("qa", "create_handoff", &fields("dev")).unwrap();
    let words = ["`POST /v1/memories`", "`commonbook save`", "`save_memory`", "`save_memory`"];
    for ((name, door), word) in doors(&home, &server).into_iter().zip(words) {
        let refused = door.call("dev", "create_handoff", &fields("qa")).unwrap_err();
        assert_eq!(refused["kind"], "conflict", "{name}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.ends_with("wrote anything since: dev → qa → dev"), "{name}: {message}");
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("collaboration.rules.same_cycle"), "{name}: {hint}");
        assert!(hint.contains(word), "{name}: {hint}");
    }
    let graph = server.call("eve", "get_collaborations", &json!({"case": "login"})).unwrap();
    assert_eq!(graph["statistics"]["refusals"], 4);
    let events = server.call("eve", "list_events", &json!({"limit": 100})).unwrap();
    let refused = events["items"].as_array().unwrap().iter();
    let mut refused = refused.filter(|event| event["kind"] == "handoff.refused");
    assert_eq!(refused.next().unwrap()["details"]["cycle"]["path"], json!(["dev", "qa", "dev"]));
}

#[test]
fn handing_over_is_off_on_every_door_and_doctor_says_so() {
    let home = Home::new();
    let server = Server::start(&home);
    let open = json!({"to": "bob", "task": "Mend the fence"});
    let open = server.call("ann", "create_handoff", &open).unwrap()["handoff"]["id"].clone();
    drop(server);
    let settings = r#"{"collaboration": {"handoffs": false}}"#;
    std::fs::write(home.path().join("config.json"), settings).unwrap();
    let server = Server::start(&home);
    for (name, door) in doors(&home, &server) {
        let refused = door.call("ann", "create_handoff", &json!({"to": "bob", "task": "Go on"}));
        let refused = refused.unwrap_err();
        assert_eq!(refused["kind"], "forbidden", "{name}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("collaboration.handoffs is false"), "{name}: {message}");
    }
    server.call("bob", "accept_handoff", &json!({"handoff": open})).unwrap();
    server.call("bob", "complete_handoff", &json!({"handoff": open})).unwrap();
    let doctor = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("off: collaboration.handoffs in config.json is false"), "{doctor}");
}

#[test]
fn the_readers_of_a_handoff_for_a_user_see_its_event() {
    let home = Home::new();
    let server = Server::start(&home);
    let send = |agent: &str, user: &str, method: &str, path: &str, body: &Value| {
        let place = ("X-Commonbook-Workspace", WORKSPACE);
        let headers = [("X-Commonbook-Agent", agent), ("X-Commonbook-User", user), place];
        server.send(method, path, &headers, body.to_string().as_bytes()).unwrap().1
    };
    let fields = json!({"to": "developer", "task": "Mend what Mia reported"});
    let made = send("ann", "mia", "POST", "/v1/handoffs", &fields);
    let id = made["handoff"]["id"].clone();
    for (agent, user, sees) in [
        ("codex/developer", "mia", true),
        ("claude-code/developer", "mia", true),
        ("codex/developer", "leo", false),
        ("ann", "leo", false),
    ] {
        let list = |path: &str| send(agent, user, "GET", path, &Value::Null)["items"].clone();
        let has = |items: &Value, field: &str| {
            items.as_array().unwrap().iter().any(|item| item[field] == id)
        };
        assert_eq!(has(&list("/v1/handoffs?side=all"), "id"), sees, "{agent} for {user}");
        assert_eq!(has(&list("/v1/events"), "subject"), sees, "{agent} for {user}");
    }
}

#[test]
fn a_resume_of_ones_own_part_tells_what_waits_for_the_role() {
    let home = Home::new();
    let server = Server::start(&home);
    // A client of MCP has a name of one part.
    for (number, (name, door)) in doors(&home, &server).into_iter().take(2).enumerate() {
        let agent = format!("codex/writer-{number}");
        let started = door.call(&agent, "start_session", &json!({})).unwrap();
        let fields = json!({"to": format!("writer-{number}"), "task": "Write the release notes"});
        let made = server.call("ann", "create_handoff", &fields).unwrap();
        let fields = json!({"session": started["session"]["id"], "mode": "agent"});
        let resumed = door.call(&agent, "resume_session", &fields).unwrap();
        assert_eq!(resumed["handoffs"][0]["id"], made["handoff"]["id"], "{name}: {resumed}");
    }
}

#[test]
fn a_chain_that_gets_too_long_leaves_an_event_on_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    for (number, (name, door)) in doors(&home, &server).into_iter().enumerate() {
        let agent = |place: usize| format!("link-{number}-{place}");
        for place in 0..10 {
            let fields = json!({"to": agent(place + 1), "task": "Go on with the migration"});
            let made = server.call(&agent(place), "create_handoff", &fields).unwrap();
            let taken = json!({"handoff": made["handoff"]["id"]});
            server.call(&agent(place + 1), "accept_handoff", &taken).unwrap();
        }
        let fields = json!({"to": agent(11), "task": "Go on with the migration"});
        let refused = door.call(&agent(10), "create_handoff", &fields).unwrap_err();
        assert_eq!(refused["kind"], "conflict", "{name}");
        let events =
            server.call("eve", "list_events", &json!({"events": ["handoff.refused"]})).unwrap();
        let events = events["items"].as_array().unwrap().clone();
        let found = events.iter().find(|event| event["actor"] == json!(agent(10))).unwrap();
        assert_eq!(found["details"]["reason"], refused["message"], "{name}: {found}");
    }
}
