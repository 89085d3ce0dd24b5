//! Forgetting through REST, MCP and the command line.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server};

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
