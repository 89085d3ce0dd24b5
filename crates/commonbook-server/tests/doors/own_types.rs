//! The settings of entities, such as own types, on every door.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

fn configure(home: &Home, entities: &Value) {
    let path = home.path().join("config.json");
    std::fs::write(path, json!({"entities": entities}).to_string()).unwrap();
}

fn services() -> Value {
    json!({"types": {
        "service": {"names": ["Orders API"], "suffixes": ["-service"]},
        "host": {"prefixes": ["db-"]}}})
}

/// The names of the entities of a type, as a door lists them.
fn listed(door: &dyn Door, kind: &str) -> Vec<String> {
    let found = door.call("eve", "list_entities", &json!({"type": kind})).unwrap();
    let items = found["items"].as_array().unwrap();
    items.iter().map(|entity| entity["value"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_door_finds_lists_and_states_entities_of_own_types() {
    let home = Home::new();
    configure(&home, &services());
    let server = Server::start(&home);
    let text = "The orders api calls billing-service on db-7.";
    let saved = server.call("ann", "save_memory", &json!({"text": text})).unwrap();
    let named = json!({"text": "It needs a new name.", "entities": ["service:Ledger"]});
    server.call("ann", "save_memory", &named).unwrap();
    let mcp = Mcp::every_way(&home, &server);
    let cli = Cli(&home);
    let mut doors: Vec<(String, &dyn Door)> = vec![("rest".into(), &server), ("cli".into(), &cli)];
    doors.extend(mcp.iter().map(|mcp| (mcp.way(), mcp as &dyn Door)));
    for (name, door) in &doors {
        let services = listed(*door, "service");
        assert_eq!(services, ["billing-service", "Ledger", "Orders API"], "{name}");
        assert_eq!(listed(*door, "host"), ["db-7"], "{name}");
        let stated = json!({"type": "service", "value": "Orders API", "context": "Takes orders."});
        let stated = door.call("eve", "resolve_entity", &stated).unwrap();
        assert_eq!(stated["entity"]["type"], "service", "{name}");
        for reference in ["service:orders-api", "Ledger"] {
            let shown = door.call("eve", "get_entity", &json!({"entity": reference})).unwrap();
            assert_eq!(shown["memories"], 1, "{name}: {shown}");
        }
        let graph = json!({"from": saved["memory"]["id"], "types": ["host"]});
        let graph = door.call("eve", "graph_query", &graph).unwrap();
        let labels: Vec<&str> =
            graph["nodes"].as_array().unwrap().iter().filter_map(|n| n["label"].as_str()).collect();
        assert!(labels.contains(&"db-7") && !labels.contains(&"Orders API"), "{name}: {graph}");
        let found = json!({"query": "orders", "entity": "host:db-7"});
        let found = door.call("eve", "search_memory", &found).unwrap();
        assert!(found.to_string().contains("calls billing-service"), "{name}: {found}");
    }
}

#[test]
fn an_unknown_type_is_refused_with_the_known_ones() {
    let home = Home::new();
    configure(&home, &services());
    let server = Server::start(&home);
    for (verb, fields, field) in [
        ("resolve_entity", json!({"type": "gadget", "value": "x1"}), "type"),
        ("find_entity", json!({"type": "gadget", "value": "x1"}), "type"),
        ("list_entities", json!({"type": "gadget"}), "type"),
        ("save_memory", json!({"text": "A gadget.", "entities": ["gadget:x1"]}), "entities[0]"),
        ("graph_query", json!({"from": "tool:Rust", "types": ["gadget"]}), "types[0]"),
    ] {
        let error = server.call("ann", verb, &fields).unwrap_err();
        assert_eq!(
            (&error["kind"], &error["field"]),
            (&json!("invalid"), &json!(field)),
            "{error}"
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`person`") && message.contains("`service`"), "{message}");
    }
}

#[test]
fn other_types_than_before_let_old_memories_be_read_again() {
    let home = Home::new();
    {
        let server = Server::start(&home);
        let text = "The parser runs as parse-service beside Redis on the server.";
        server.call("ann", "save_memory", &json!({"text": text})).unwrap();
        assert_eq!(listed(&server, "tool"), ["Redis"]);
        let error = server.call("ann", "list_entities", &json!({"type": "service"})).unwrap_err();
        assert_eq!(error["kind"], "invalid");
    }
    configure(
        &home,
        &json!({"types": {"service": {"names": ["Redis"], "suffixes": ["-service"]}}}),
    );
    assert_eq!(listed(&Cli(&home), "service"), ["parse-service", "Redis"]);
    assert_eq!(listed(&Cli(&home), "tool"), Vec::<String>::new());
    std::fs::remove_file(home.path().join("config.json")).unwrap();
    // What was found under a type that is gone is gone too, and the rest is as it was.
    assert_eq!(listed(&Cli(&home), "tool"), ["Redis"]);
    let all = Cli(&home).call("eve", "list_entities", &json!({})).unwrap();
    assert!(!all.to_string().contains("parse-service"), "{all}");
}

#[test]
fn a_bad_rule_is_refused_with_its_path_and_reason() {
    let home = Home::new();
    configure(&home, &json!({"types": {"service": {"names": ["Orders", "x"]}}}));
    let output = home.run(&["save", "text", "--workspace", WORKSPACE]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(stderr.contains("entities.types.service.names[1]: a name has at least 2"), "{stderr}");
}

#[test]
fn a_home_sets_how_like_names_of_one_entity_are_and_how_statements_join() {
    let home = Home::new();
    let stated = |value: &str, says: &str| {
        let statement = json!({"type": "person", "value": value, "context": says});
        Cli(&home).call("ann", "resolve_entity", &statement).unwrap()
    };
    stated("Marta Brightwater", "She runs the warehouse.");
    configure(&home, &json!({"threshold": 1.0, "mergeStrategy": "newest_wins"}));
    assert_eq!(stated("Marta Brigtwater", "A typing error?")["outcome"], "created");
    let joined = stated("Marta Brightwater", "She left.");
    assert_eq!(joined["entity"]["context"], "She left.");
    configure(&home, &json!({"similarityThreshold": 0.85, "merge_strategy": "manual"}));
    let queued = stated("Marta Brightwaters", "Is that her?");
    assert_eq!(queued["outcome"], "created", "people have no plural: {queued}");
    let queued = stated("Marta Brightwter", "She is back.");
    assert_eq!(queued["outcome"], "queued", "{queued}");
    let review = json!({"review_id": queued["review"], "judgement": "accept"});
    let accepted = Cli(&home).call("ann", "decide_review", &review).unwrap();
    assert_eq!(accepted["entity"]["context"], "She left. She is back.");
    for (wrong, reason) in [
        (json!({"threshold": 0.2}), "entities.threshold: 0.2 is no number from 0.5 to 1"),
        (json!({"merge_strategy": "vote"}), "`newest_wins`"),
    ] {
        configure(&home, &wrong);
        let output = home.run(&["save", "text", "--workspace", WORKSPACE]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(reason), "{stderr}");
    }
}
