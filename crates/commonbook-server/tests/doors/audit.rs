//! `commonbook audit`, and the origin of each event, on every door.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

/// The events that an audit prints, one line each.
fn audit(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let all = [&["audit", "--workspace", WORKSPACE], arguments].concat();
    let output = home.run(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

fn save(door: &dyn Door, agent: &str, fields: &Value) -> String {
    let saved = door.call(agent, "save_memory", fields).unwrap();
    saved["memory"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn each_event_says_from_which_device_and_over_which_door_its_actor_called() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&server, "ann@jarvis", &json!({"text": "over REST"}));
    save(&Cli(&home), "bob@laptop", &json!({"text": "on the command line"}));
    save(&Mcp::over_stdio(&home), "eve", &json!({"text": "over MCP"}));
    let context = json!({"task": "how did they come here?"});
    server.call("ann@jarvis", "get_context", &context).unwrap();
    let events = audit(&home, &["--as", "ann"]);
    let origin = |actor: &str| {
        let of_actor = events.iter().filter(|event| event["actor"] == actor);
        let origins = of_actor.map(|event| (event["device"].clone(), event["door"].clone()));
        let mut origins: Vec<_> = origins.map(|origin| json!([origin.0, origin.1])).collect();
        origins.dedup();
        origins
    };
    assert_eq!(origin("ann"), [json!(["jarvis", "rest"])]);
    assert_eq!(origin("bob"), [json!(["laptop", "cli"])]);
    assert_eq!(origin("eve"), [json!([null, "mcp"])]);
    let built = events.iter().find(|event| event["kind"] == "context.built").unwrap();
    assert_eq!(built["device"], "jarvis");
    let by_eve = events.iter().find(|event| event["actor"] == "eve").unwrap();
    assert!(by_eve["client"].is_string(), "{by_eve}");
    let page = server.call("ann", "list_events", &json!({"limit": 100})).unwrap();
    assert_eq!(page["items"], Value::Array(events), "every door shows the origin");
}

#[test]
fn an_audit_shows_all_events_that_its_filters_select_and_the_caller_may_see() {
    let home = Home::new();
    let server = Server::start(&home).naming("s");
    let id = save(&server, "ann", &json!({"text": "tea"}));
    save(&server, "ann/reviewer", &json!({"text": "milk"}));
    save(&server, "bob", &json!({"text": "hidden", "sharing": "private"}));
    save(&server, "annette", &json!({"text": "herbs"}));
    server.call("ann", "update_memory", &json!({"id": id, "text": "green tea"})).unwrap();
    server.call("bob", "open_case", &json!({"key": "outage", "title": "Outage"})).unwrap();
    let table: [(&[&str], &[u64]); 13] = [
        (&[], &[1, 2, 4, 5, 6]),
        (&["--as", "bob"], &[1, 2, 3, 4, 5, 6]),
        (&["--agent", "ann"], &[1, 2, 5]),
        (&["--agent", "ann/reviewer"], &[2]),
        (&["--agent", "bob"], &[6]),
        (&["--agent", "bob", "--as", "bob"], &[3, 6]),
        (&["--kind", "memory.*"], &[1, 2, 4, 5]),
        (&["--kind", "memory.updated", "--kind", "case.opened"], &[5, 6]),
        (&["--subject", &id], &[1, 5]),
        (&["--subject", &id[20..]], &[1, 5]),
        (&["--subject", "outage"], &[6]),
        (&["--since", "1h", "--after", "4"], &[5, 6]),
        (&["--until", "2020"], &[]),
    ];
    for (flags, expected) in table {
        assert_eq!(sequences(&audit(&home, flags)), expected, "{flags:?}");
    }
    for (flags, message) in [
        (["--since", "soonish"], "since: not a time"),
        (["--kind", "memory.eaten"], "event kind \"memory.eaten\" does not exist"),
        (["--agent", "a:b"], "is not an agent's name"),
        (["--subject", " "], "subject"),
    ] {
        let output = home.run(&[&["audit"], &flags[..]].concat());
        let says = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{says}");
        assert!(says.contains(message), "{says}");
    }
    // REST has the same filters.
    let asked = json!({"actor": "ann", "subject": &id[20..], "since": "1h"});
    let page = server.call("eve", "list_events", &asked).unwrap();
    assert_eq!(sequences(page["items"].as_array().unwrap()), [1, 5]);
}

#[test]
fn an_audit_reads_every_page_at_home_and_at_a_url() {
    let home = Home::new();
    let server = Server::start(&home).naming("s");
    let texts = (0..250).map(|number| json!({"text": format!("note number {number}")}));
    for batch in texts.collect::<Vec<_>>().chunks(50) {
        let body = serde_json::to_vec(batch).unwrap();
        let headers = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", WORKSPACE)];
        assert_eq!(server.send("POST", "/v1/memories", &headers, &body).unwrap().0, 201);
    }
    let here = audit(&home, &["--kind", "memory.*"]);
    assert_eq!(here.len(), 250);
    assert!(sequences(&here).is_sorted());
    let elsewhere = Home::new();
    let mut command = elsewhere.program(&["audit", "--workspace", WORKSPACE, "--kind", "memory.*"]);
    let output = command.env("COMMONBOOK_URL", &server.url).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let there: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(there, here);
    assert!(!elsewhere.path().join("commonbook.db").exists());
}

#[test]
fn the_person_of_a_home_reads_and_follows_the_events_of_all_its_workspaces() {
    let home = Home::new();
    let server = Server::start(&home).naming("s");
    let save = |workspace: &str, memory: Value| {
        let headers = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", workspace)];
        let body = memory.to_string();
        assert_eq!(server.send("POST", "/v1/memories", &headers, body.as_bytes()).unwrap().0, 201);
    };
    save("ferry", json!({"text": "The ferry has two engines", "topics": ["engines"]}));
    save("port", json!({"text": "The gate is blue", "sharing": "private"}));
    let all = ["audit", "--all-workspaces"];
    let named = home.run(&[&all[..], &["--as", "ann"]].concat());
    assert_eq!(named.status.code(), Some(2));
    let agent = home.program(&all).env("COMMONBOOK_AGENT_ID", "ann").output().unwrap();
    assert!(String::from_utf8(agent.stderr).unwrap().contains("this is for a person"));
    let away = home.program(&all).env("COMMONBOOK_URL", &server.url).output().unwrap();
    assert!(String::from_utf8(away.stderr).unwrap().contains("from the home itself"));

    let shown = |line: &str| -> (String, u64) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!((event["actor"].as_str(), event.get("topics")), (Some("ann"), None), "{line}");
        (event["workspace"].as_str().unwrap().to_owned(), event["sequence"].as_u64().unwrap())
    };
    let later = home.run(&[&all[..], &["--since", "2030-01-01"]].concat());
    assert!(later.status.success() && later.stdout.is_empty());
    let printed = String::from_utf8(home.run(&all).stdout).unwrap();
    // A session begins before each first memory.
    let all = [("ferry", 1), ("ferry", 2), ("port", 1), ("port", 2)]
        .map(|(workspace, sequence)| (workspace.to_owned(), sequence));
    assert_eq!(printed.lines().map(shown).collect::<Vec<_>>(), all);

    let mut command = home.program(&["audit", "--all-workspaces", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || shown(&lines.next().unwrap().unwrap());
    assert_eq!([next(), next(), next(), next()], all);
    save("port", json!({"text": "The gate is green"}));
    assert_eq!(next(), ("port".to_owned(), 3));
    child.kill().unwrap();
    child.wait().unwrap();
}
