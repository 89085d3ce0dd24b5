//! Forgetting through REST, MCP and the command line.

use serde_json::{Value, json};

use crate::doors::mcp::ask;
use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

#[test]
fn every_door_shows_first_and_then_forgets() {
    let home = Home::new();
    let server = Server::start(&home);
    let cli = Cli(&home);
    let mcp = Mcp::over_http(&home, &server);
    let doors: [&dyn Door; 3] = [&server, &mcp, &cli];
    for door in doors {
        let text = "The pilot's dog bites people in a yellow coat";
        let saved = door.call("ann", "save_memory", &json!({"text": text})).unwrap();
        let id = saved["memory"]["id"].clone();
        let shown = door.call("ann", "forget_memory", &json!({"id": id})).unwrap();
        assert_eq!((&shown["forgotten"], &shown["memories"]), (&json!(false), &json!([id])));
        let refused = door.call("bob", "forget_memory", &json!({"id": id, "confirm": true}));
        assert_eq!(refused.unwrap_err()["kind"], "forbidden");
        let done = door.call("ann", "forget_memory", &json!({"id": id, "confirm": true})).unwrap();
        assert_eq!(done["forgotten"], true);
        let certificate = &done["certificate"];
        assert!(certificate["not_erased"][0].as_str().unwrap().contains("backups"));
        let again = door.call("ann", "save_memory", &json!({"text": text})).unwrap_err();
        assert_eq!((&again["kind"], &again["field"]), (&json!("conflict"), &json!("text")));
        let gone = door.call("ann", "get_memory", &json!({"id": id})).unwrap_err();
        assert_eq!(gone["kind"], "not_found");
        let allow = json!({"certificate": certificate["id"]});
        server.call("ann", "allow_forgotten", &allow).unwrap();
    }
}

#[test]
fn a_certificate_is_read_by_who_forgot() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = json!({"text": "Lock seven leaks at spring tide", "topics": ["locks"]});
    server.call("ann", "save_memory", &save).unwrap();
    let forget = json!({"topic": "locks", "confirm": true});
    let done: Value = server.call("ann", "forget_memories", &forget).unwrap();
    let id = done["certificate"]["id"].clone();
    let read = server.call("ann", "get_certificate", &json!({"certificate": id})).unwrap();
    assert_eq!(read["memories"].as_array().unwrap().len(), 1);
    assert!(!read["finished_at"].is_null());
    let listed = server.call("ann", "list_certificates", &json!({})).unwrap();
    assert_eq!(listed["items"][0]["id"], id);
    let foreign = server.call("bob", "get_certificate", &json!({"certificate": id}));
    assert_eq!(foreign.unwrap_err()["kind"], "not_found");
    let unknown = server.call("bob", "allow_forgotten", &json!({"certificate": id}));
    assert_eq!(unknown.unwrap_err()["kind"], "not_found");
}

/// The output of a command that succeeds.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(&[arguments, &["--workspace", WORKSPACE]].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_line_forgets_by_topic_owner_user_and_time() {
    let home = Home::new();
    let save = ["save", "Lock seven leaks at spring tide", "--topic", "locks", "--agent", "ann"];
    run(&home, &[&save[..], &["--user", "rosa"]].concat());
    for selection in [
        &["--topic", "locks"][..],
        &["--since", "1d"],
        &["--owner", "ann"],
        &["--about-user", "rosa"],
        &["--topic", "locks", "--since", "1d", "--dry-run"],
        &["--topic", "locks", "--yes", "--dry-run"],
    ] {
        let forget = [&["forget", "--agent", "ann", "--user", "rosa"], selection].concat();
        let shown = run(&home, &forget);
        assert!(shown.contains("Would forget 1 memory"), "{selection:?}: {shown}");
    }
    let nothing = home.run(&["forget", "--agent", "ann"]);
    let nothing = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(nothing.contains("nothing is selected"), "{nothing}");
    let since = ["forget", "--topic", "locks", "--since", "1d", "--yes", "--agent", "ann"];
    let done = run(&home, &[&since[..], &["--user", "rosa"]].concat());
    assert!(done.contains("ann forgot 1 memory"), "{done}");
}

#[test]
fn every_door_previews_several() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = json!({"text": "Lock seven leaks at spring tide", "topics": ["locks"]});
    server.call("ann", "save_memory", &save).unwrap();
    for confirm in [false, true] {
        let preview = json!({"topic": "locks", "dry_run": true, "confirm": confirm});
        let shown = server.call("ann", "forget_memories", &preview).unwrap();
        assert_eq!((&shown["forgotten"], &shown["places"][0]["found"]), (&json!(false), &json!(1)));
    }
}

#[test]
fn a_refusal_says_whole_how_to_allow_it_and_who_may() {
    let home = Home::new();
    let server = Server::start(&home);
    let text = "The pilot's dog bites people in a yellow coat";
    let saved = server.call("ann", "save_memory", &json!({"text": text})).unwrap();
    let id = saved["memory"]["id"].clone();
    for verb in ["forget_memory", "retract_memory"] {
        let fields = match verb {
            "forget_memory" => json!({"id": id, "confirm": true}),
            _ => json!({"id": id, "reason": "it bites cats"}),
        };
        let refused = server.call("bob", verb, &fields).unwrap_err();
        let hint = "Only ann, an agent above ann or a person can do this.";
        assert_eq!(refused["hint"], hint, "{verb}");
    }
    let done = run(&home, &["forget", id.as_str().unwrap(), "--yes"]);
    assert!(done.contains("human forgot 1 memory"), "{done}");
    let certificate = done.split_whitespace().find(|word| word.starts_with("crt_")).unwrap();
    let refused = server.call("bob", "save_memory", &json!({"text": text})).unwrap_err();
    let route = format!("`POST /v1/certificates/{certificate}/allow`");
    assert!(refused["hint"].as_str().unwrap().contains(&route), "{refused}");
    let command = format!("`commonbook allow {certificate}`");
    let refused = Mcp::over_stdio(&home)
        .with("bob", async |client| ask(client, "save_memory", json!({"text": text})).await.0);
    assert!(refused.contains(&command), "{refused}");
    let refused = home.run(&["save", text, "--agent", "bob", "--workspace", WORKSPACE]);
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains(&command), "{refused}");
}
