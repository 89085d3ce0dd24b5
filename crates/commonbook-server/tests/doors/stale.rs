//! Stale decisions through every door: what a save rests on and has changed, and what waits for review.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

const FACT: &str = "The checkout service retries a payment three times";
const NOW: &str = "The checkout service retries a payment five times";
const DECISION: &str = "The load test plans for three retries of each checkout payment";

/// A fact of bob that an agent learns by a context, and that bob corrects; returns the fact's id.
fn told_and_changed(door: &dyn Door, agent: &str) -> Value {
    let fact = door.call("bob", "save_memory", &json!({"text": FACT})).unwrap();
    let id = fact["memory"]["id"].clone();
    let task = json!({"task": "How often does the checkout service retry a payment?"});
    door.call(agent, "get_context", &task).unwrap();
    door.call("bob", "update_memory", &json!({"id": id, "text": NOW})).unwrap();
    id
}

/// An agent that names nothing and no session decides on what has changed, learns it, and later finds
/// what rests on it in its list.
fn holds(door: &dyn Door) {
    let id = told_and_changed(door, "ann");
    let strict = json!({"text": DECISION, "require_current": true});
    let refused = door.call("ann", "save_memory", &strict).unwrap_err();
    assert_eq!(
        (&refused["kind"], &refused["field"]),
        (&json!("conflict"), &json!("require_current"))
    );
    let saved = door.call("ann", "save_memory", &json!({"text": DECISION})).unwrap();
    let stale = saved["stale"].as_array().unwrap_or_else(|| panic!("{saved}"));
    assert_eq!(stale.len(), 1, "{saved}");
    assert_eq!((&stale[0]["change"], &stale[0]["by"]), (&json!("corrected"), &json!("bob")));
    assert_eq!(stale[0]["text"], NOW);
    let end = |id: &Value| id.as_str().unwrap().trim_start_matches('#').to_owned();
    assert!(end(&id).ends_with(&end(&stale[0]["memory"])), "{saved}");
    // What rests on it by name waits for its owner when it changes again.
    let named = json!({"text": "The pager is quiet at night", "based_on": [id]});
    let named = door.call("ann", "save_memory", &named).unwrap()["memory"]["id"].clone();
    door.call("bob", "update_memory", &json!({"id": id, "text": FACT})).unwrap();
    let waiting = door.call("ann", "list_outdated", &json!({})).unwrap();
    let items = waiting["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{waiting}");
    for item in items {
        door.call("ann", "acknowledge_outdated", &json!({"id": item["id"]})).unwrap();
    }
    let gone = door.call("ann", "acknowledge_outdated", &json!({"id": named})).unwrap_err();
    assert_eq!(gone["kind"], "not_found");
    assert_eq!(door.call("ann", "list_outdated", &json!({})).unwrap()["items"], json!([]));
}

#[test]
fn a_stale_decision_shows_over_rest() {
    let home = Home::new();
    let server = Server::start(&home);
    holds(&server);
}

#[test]
fn a_stale_decision_shows_over_mcp() {
    let home = Home::new();
    holds(&Mcp::over_stdio(&home));
}

#[test]
fn a_stale_decision_is_told_on_the_command_line() {
    let home = Home::new();
    holds(&Cli(&home));
    let id = told_and_changed(&Cli(&home), "cleo");
    let own = ["--workspace", WORKSPACE, "--agent", "cleo"];
    let output = home.run(&[&["save", DECISION], &own[..]].concat());
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let id = id.as_str().unwrap();
    let line =
        format!("stale: {} was corrected by bob since you received it: {NOW}", &id[id.len() - 8..]);
    assert!(said.contains(&line), "{said}");
}
