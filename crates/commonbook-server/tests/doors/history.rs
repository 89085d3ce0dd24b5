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

#[test]
fn the_command_line_tells_a_history_by_the_words_that_differ() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let whole = [arguments, &["--workspace", WORKSPACE, "--agent", "ann"]].concat();
        let output = home.run(&whole);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
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
