//! Looking back through every door: an earlier revision restored, the last change undone.

use serde_json::{Value, json};

use crate::world::{Door, Home, WORKSPACE, through_every_door};

/// Changes a memory through one door and takes that back in two ways.
fn tell_the_story(door: &dyn Door, name: &str) {
    let ann = format!("ann-{name}");
    let say = |verb: &str, fields: Value| {
        let answer = door.call(&ann, verb, &fields);
        answer.unwrap_or_else(|error| panic!("{name} {verb}: {error}"))
    };
    let saved = say("save_memory", json!({"text": format!("the gate {name} is blue")}));
    let id = saved["memory"]["id"].clone();
    let says = || say("get_memory", json!({"id": id}))["text"].clone();
    let (blue, green) = (format!("the gate {name} is blue"), format!("the gate {name} is green"));
    say("update_memory", json!({"id": id, "text": green}));
    let restored = say("restore_memory", json!({"id": id, "revision": 1}));
    assert_eq!((&restored["revision"], says()), (&json!(3), json!(blue)), "{name}");
    let refused = door.call(&ann, "restore_memory", &json!({"id": id, "revision": 9}));
    assert!(refused.is_err(), "{name}: {refused:?}");
    let undone = say("undo_operation", json!({"operation_id": "last"}));
    let words = undone["undone"].as_str().unwrap_or_default();
    assert!(words.starts_with("your restoration of memory "), "{name}: {undone}");
    assert_eq!(says(), json!(green), "{name}");
    let history = say("memory_history", json!({"id": id}));
    assert_eq!(history["items"].as_array().map(Vec::len), Some(4), "{name}");
}

#[test]
fn an_earlier_revision_comes_back_and_the_last_change_goes_through_every_door() {
    through_every_door(tell_the_story);
}

/// Asks one door for what held before a change.
fn look_back(door: &dyn Door, name: &str) {
    let ann = format!("ann-{name}");
    let say = |verb: &str, fields: Value| {
        let answer = door.call(&ann, verb, &fields);
        answer.unwrap_or_else(|error| panic!("{name} {verb}: {error}"))
    };
    let blue = format!("the gate {name} is blue");
    let saved = say("save_memory", json!({"text": blue}))["memory"].clone();
    let (id, then) = (saved["id"].clone(), saved["recorded_at"].clone());
    say("update_memory", json!({"id": id, "text": format!("the gate {name} is green")}));
    let listed = say("list_memories", json!({"at": then, "owner": ann}));
    assert_eq!(listed["items"][0]["text"], json!(blue), "{name}");
    let found =
        say("search_memory", json!({"query": format!("gate {name}"), "at": then, "owner": ann}));
    assert_eq!(found["hits"][0]["memory"]["text"], json!(blue), "{name}");
    let context = say("get_context", json!({"task": format!("paint the gate {name}"), "at": then}));
    let text = context["text"].as_str().unwrap_or_default();
    let green = format!("the gate {name} is green");
    assert!(text.contains(&blue) && !text.contains(&green), "{name}: {text}");
    let refused = door.call(&ann, "list_memories", &json!({"at": "some day"}));
    assert!(refused.is_err(), "{name}: {refused:?}");
}

#[test]
fn what_held_at_a_time_is_shown_through_every_door() {
    through_every_door(look_back);
}

/// What a command prints to ann, its notes last.
fn printed(home: &Home, arguments: &[&str]) -> String {
    let whole = [arguments, &["--workspace", WORKSPACE, "--agent", "ann"]].concat();
    let output = home.run(&whole);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn the_command_line_tells_what_changed_since_a_time() {
    let home = Home::new();
    let run = |arguments: &[&str]| printed(&home, arguments);
    let saved: Value = serde_json::from_str(&run(&["save", "The gate is blue", "--json"])).unwrap();
    let (id, then) = (saved["memory"]["id"].as_str().unwrap(), &saved["memory"]["recorded_at"]);
    run(&["update", id, "--text", "The gate is green"]);
    run(&["save", "The moat is deep"]);
    let differences = run(&["diff", "--since", then.as_str().unwrap()]);
    assert!(
        differences.contains(" has changed\n  The gate is [-blue-] {+green+}\n"),
        "{differences}"
    );
    assert!(differences.contains(" was not there then\n  The moat is deep\n"), "{differences}");
    assert!(run(&["diff", "--since", "2030"]).contains("Nothing changed since then"));
}

#[test]
fn the_command_line_tells_a_history_by_the_words_that_differ() {
    let home = Home::new();
    let run = |arguments: &[&str]| printed(&home, arguments);
    let saved: Value = serde_json::from_str(&run(&["save", "The gate is blue", "--json"])).unwrap();
    let id = saved["memory"]["id"].as_str().unwrap();
    run(&["update", id, "--text", "The gate is green", "--importance", "high"]);
    run(&["delete", id]);
    let undone = run(&["undo"]);
    assert!(undone.contains("Undid your deletion of memory"), "{undone}");
    assert!(undone.contains("`commonbook undo` once more brings it back"), "{undone}");
    let history = run(&["history", id]);
    let table = [
        "revision 1 · ",
        "  The gate is blue\n",
        "  The gate is [-blue-] {+green+}\n",
        "  importance: [-normal-] {+high+}\n",
        "  deleted\n",
        "  restored\n",
    ];
    for line in table {
        assert!(history.contains(line), "{line:?} in {history}");
    }
    let handle = &id[id.len() - 8..];
    let hint = format!("`commonbook restore {handle} --revision 1` makes that text current");
    assert!(history.contains(&hint), "{history}");
    run(&["restore", id, "--revision", "1"]);
    assert!(run(&["show", id]).starts_with("The gate is blue"));
}
