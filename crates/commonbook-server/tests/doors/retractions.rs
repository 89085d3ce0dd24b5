//! Retractions and who knows what, through every door.

use serde_json::{Value, json};

use crate::doors::mcp::ask;
use crate::world::{Door, Home, Mcp, WORKSPACE, through_every_door};

const QUESTION: &str = "On which day is the shop deployed?";

/// Retracts a memory through one door, and reads what its readers hear.
fn tell_the_story(door: &dyn Door, name: &str) {
    let say = |agent: &str, verb: &str, fields: Value| {
        let answer = door.call(agent, verb, &fields);
        answer.unwrap_or_else(|error| panic!("{name} {verb}: {error}"))
    };
    let (ann, bob) = (format!("ann-{name}"), format!("bob-{name}"));
    let text = format!("The shop {name} is deployed on Fridays at 16:00");
    let saved = say(&ann, "save_memory", json!({"text": text}));
    let id = saved["memory"]["id"].clone();
    let task = format!("{QUESTION} The shop {name}.");
    let context = say(&bob, "get_context", json!({"task": task}));
    assert!(context["text"].as_str().unwrap().contains("Fridays"), "{name}: {context}");

    let known = say(&bob, "who_knows", json!({"memory": id}));
    let states = &known["items"][0]["agents"];
    assert_eq!((&states[0]["agent"], &states[0]["state"]), (&json!(bob), &json!("current")));

    let fields = |dry_run: bool| {
        let mut fields = json!({"id": id, "reason": "the calendar moved to Tuesdays"});
        if dry_run {
            fields["dry_run"] = json!(true);
        }
        fields
    };
    let seen = say(&ann, "retract_memory", fields(true));
    assert_eq!(seen["blast_radius"]["agents"], 1, "{name}: {seen}");
    assert!(
        seen["operation"].is_null() && seen["memory"]["retraction"].is_null(),
        "{name}: {seen}"
    );
    let refused = door.call(&bob, "retract_memory", &fields(false));
    assert!(refused.is_err(), "{name}: {refused:?}");
    let done = say(&ann, "retract_memory", fields(false));
    let root = &done["blast_radius"]["nodes"][0];
    assert_eq!((&root["kind"], &root["id"]), (&json!("memory"), &id), "{name}: {done}");

    let heard = |task: &str| {
        let context = say(&bob, "get_context", json!({"task": task}));
        context["text"].as_str().unwrap().matches("told you on").count()
    };
    assert_eq!((heard("Write the notes"), heard("Go on")), (1, 0), "{name}");
    let known = say(&bob, "who_knows", json!({"memory": id, "state": "stale"}));
    assert_eq!(known["items"][0]["agents"][0]["agent"], json!(bob), "{name}: {known}");
    let again = say(&bob, "save_memory", json!({"text": text}));
    assert_eq!(again["retracted"]["by"], json!(ann), "{name}: {again}");

    let undone = say(&ann, "undo_operation", json!({"operation_id": done["operation"]}));
    assert_eq!(undone["memories"], 1, "{name}: {undone}");
    let read = say(&bob, "get_memory", json!({"id": id}));
    assert!(read["retraction"].is_null(), "{name}: {read}");
}

#[test]
fn a_memory_is_retracted_and_taken_back_through_every_door() {
    through_every_door(tell_the_story);
}

#[test]
fn the_command_line_draws_the_tree_and_says_how_to_take_it_back() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let output = home.run(&[arguments, &["--workspace", WORKSPACE]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    };
    let saved = run(&["save", "We deploy the shop on Fridays", "--agent", "ann", "--json"]);
    let saved: Value = serde_json::from_str(&saved).unwrap();
    let id = saved["memory"]["id"].as_str().unwrap();
    run(&["context", "When do we deploy the shop?", "--agent", "bob"]);
    let reason = ["--reason", "the calendar moved to Tuesdays"];
    let dry = run(&["retract", id, "--dry-run"]);
    assert!(dry.contains("  agent bob (received it by context, revision 1,"), "{dry}");
    assert!(dry.contains("dry run"), "{dry}");
    let done = run(&[&["retract", id], &reason[..]].concat());
    assert!(done.contains("commonbook undo "), "{done}");
    let known = run(&["knowledge", "--memory", id]);
    assert!(known.contains("bob") && known.contains("stale"), "{known}");
    assert!(known.contains("retracted by") && known.contains("Tuesdays"), "{known}");
    let shown = run(&["show", id]);
    assert!(shown.contains("retracted") && shown.contains("Tuesdays"), "{shown}");
}

#[test]
fn a_model_reads_the_tree() {
    let home = Home::new();
    let mcp = Mcp::over_stdio(&home).offering("full");
    let text =
        format!("The shop is deployed on Fridays at 16:00{}", ", says the calendar".repeat(9));
    let saved = mcp.call("ann", "save_memory", &json!({"text": text})).unwrap();
    let id = saved["memory"]["id"].clone();
    mcp.call("bob", "get_context", &json!({"task": QUESTION})).unwrap();
    let derived = json!({"text": "So the notes are due on Thursdays", "based_on": [id]});
    mcp.call("bob", "save_memory", &derived).unwrap();
    let seen = mcp.with("ann", async |client| {
        ask(client, "retract_memory", json!({"id": id, "dry_run": true})).await.0
    });
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let nodes = seen["blast_radius"]["nodes"].as_array().unwrap();
    let told = |node: &Value| {
        let says = node["says"].as_str().unwrap().chars().take(24).collect::<String>();
        (node["depth"].clone(), node["kind"].clone(), node["how"].clone(), says)
    };
    let memory = |depth: u32, how: &str, says: &str| {
        (json!(depth), json!("memory"), json!(how), says.to_owned())
    };
    let expected = [
        memory(0, "the memory, by ann", "The shop is deployed on "),
        memory(1, "made of it, to review, by bob", "So the notes are due on "),
    ];
    assert_eq!(nodes.iter().map(told).collect::<Vec<_>>(), expected, "{seen}");
    assert_eq!(nodes[0]["says"].as_str().unwrap().chars().count(), 81, "{seen}");
}
