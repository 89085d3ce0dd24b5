//! Standing memory through every door: the same files, and the same rules.

use serde_json::{Value, json};

use crate::doors::tokens::token;
use crate::world::{Cli, Door, Home, Mcp, Server};

/// An answer without what differs between homes and times.
fn plain(answer: &Value) -> Value {
    match answer {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| !["at", "file"].contains(&name.as_str()));
            Value::Object(fields.map(|(name, field)| (name.clone(), plain(field))).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::String(text) => {
            let day =
                text.find("<!-- ").and_then(|start| text[start..].find(" 20").map(|at| start + at));
            json!(day.map_or(text.as_str(), |day| &text[..day]))
        }
        other => other.clone(),
    }
}

/// An agent adds, removes, reads and restores; returns what each call answers.
fn story(door: &dyn Door) -> Vec<Value> {
    let steps = [
        (
            "add_standing",
            json!({"role": "qa", "text": "Run the slow tests too", "everywhere": true}),
        ),
        (
            "add_standing",
            json!({"role": "qa", "text": "run the slow tests too.", "everywhere": true}),
        ),
        (
            "add_standing",
            json!({"role": "QA", "text": "Mind the tide", "type": "mistake", "everywhere": true}),
        ),
        ("list_standing", json!({"everywhere": true})),
        ("remove_standing", json!({"role": "qa", "text": "slow tests", "everywhere": true})),
        ("standing_history", json!({"role": "qa", "limit": 2, "everywhere": true})),
        ("restore_standing", json!({"role": "qa", "version": 1, "everywhere": true})),
        ("clean_standing", json!({"role": "qa", "everywhere": true})),
        ("read_standing", json!({"role": "qa", "everywhere": true})),
        ("read_standing", json!({"role": "qa", "version": 2, "everywhere": true})),
    ];
    let answers = steps.iter().map(|(verb, fields)| match door.call("ann", verb, fields) {
        Ok(answer) => plain(&answer),
        Err(error) => panic!("{verb}: {error}"),
    });
    answers.collect()
}

#[test]
fn each_door_lists_reads_and_changes_the_same_files() {
    let homes = [Home::new(), Home::new(), Home::new(), Home::new()];
    let cli = story(&Cli(&homes[0]));
    let server = Server::start(&homes[1]);
    assert_eq!(story(&server), cli);
    let stdio = Mcp::over_stdio(&homes[2]);
    assert_eq!(story(&stdio), cli);
    let served = Server::start(&homes[3]);
    assert_eq!(story(&Mcp::over_http(&homes[3], &served)), cli);
    let [first, again, _, list, removed, history, restored, ..] = cli.as_slice() else { panic!() };
    assert_eq!((&first["changed"], &first["version"]), (&json!(true), &json!(1)));
    assert_eq!(again["repeats"], "Run the slow tests too");
    assert_eq!(list["items"][0]["items"], 2);
    assert_eq!(removed["removed"][0], "- Run the slow tests too <!-- ann");
    assert_eq!(history["items"][0]["action"], "removed");
    assert_eq!(
        (&restored["version"], restored["removed"].as_array().unwrap().len()),
        (&json!(4), 1)
    );
}

#[test]
fn over_http_a_token_opens_its_own_role_and_an_agent_changes_its_own_items() {
    let home = Home::new();
    let folder = home.path().join("memories");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("engineer.md"), "- Never push to main\n").unwrap();
    std::fs::write(folder.join("qa.md"), "- Run all tests\n").unwrap();
    let server = Server::start(&home);
    let call = |method: &str, path: &str, token: &str, body: &Value| {
        let header = format!("Bearer {token}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        server.send(method, path, &[("Authorization", &header)], body.as_bytes()).unwrap()
    };
    let engineer = token(&home, &["codex/engineer"]).0;
    let (_, list) = call("GET", "/v1/standing", &engineer, &Value::Null);
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(call("GET", "/v1/standing/qa", &engineer, &Value::Null).0, 403);
    let item = json!({"text": "The loader is slow"});
    assert_eq!(call("POST", "/v1/standing/qa/items", &engineer, &item).0, 403);
    let (status, added) = call("POST", "/v1/standing/engineer/items", &engineer, &item);
    assert_eq!((status, &added["version"]), (200, &json!(2)), "{added}");
    let rule = "/v1/standing/engineer/items?text=Never+push+to+main";
    assert_eq!(call("DELETE", rule, &engineer, &Value::Null).0, 403);
    let first = json!({"version": 1});
    assert_eq!(call("POST", "/v1/standing/engineer/restore", &engineer, &first).0, 200);
    assert_eq!(call("POST", "/v1/standing/engineer/optimize", &engineer, &json!({})).0, 403);
    let text = std::fs::read_to_string(folder.join("engineer.md")).unwrap();
    assert_eq!(text, "- Never push to main\n");
    // A project of the caller is unknown here.
    let (_, page) = call("GET", "/v1/standing/engineer", &engineer, &Value::Null);
    assert_eq!((&page["location"], &page["version"]), (&json!("home"), &json!(3)));
}

#[test]
fn a_history_fits_eighty_columns() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let output = home.run(&[arguments, &["--agent", "claude-code/engineer"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = "The loader reads each file once, and keeps what it has read until its task has ended and all is written";
    run(&["memory", "add", "qa", text]);
    run(&["memory", "add", "qa", "Mind the tide"]);
    run(&["memory", "remove", "qa", "tide"]);
    let history = run(&["memory", "history", "qa"]);
    assert!(history.lines().all(|line| line.chars().count() <= 80), "{history}");
    assert!(
        history.starts_with("3  20") && history.contains("removed by claude-code/engineer"),
        "{history}"
    );
    assert!(history.contains("  - - Mind the tide"), "{history}");
    assert!(run(&["memory", "restore", "qa", "2"]).contains("has version 4 now"));
    assert!(run(&["memory", "view", "qa"]).contains("Mind the tide"));
}
