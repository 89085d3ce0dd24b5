//! Consolidating memories on every door.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Mcp, Server};

/// Two memories that say the same, and one that says the contrary; returns the id of the older one.
fn fill(door: &dyn Door, agent: &str, gate: &str) -> Value {
    let save = |fields: Value| door.call(agent, "save_memory", &fields).unwrap();
    let first = save(json!({"text": format!("The {gate} gate is blue")}));
    save(json!({"text": format!("The {gate} gate is blue."), "topics": ["gates"]}));
    save(json!({"text": format!("The {gate} gate is not locked"), "topics": ["locks"]}));
    first["memory"]["id"].clone()
}

#[test]
fn memories_are_consolidated_and_given_back_on_every_door() {
    let home = Home::new();
    let server = Server::start(&home);
    let mcp = Mcp::every_way(&home, &server);
    let mut doors: Vec<(String, &dyn Door)> = vec![("rest".to_owned(), &server)];
    let cli = Cli(&home);
    doors.push(("cli".to_owned(), &cli));
    doors.extend(mcp.iter().map(|mcp| (mcp.way(), mcp as &dyn Door)));
    for (number, (name, door)) in doors.into_iter().enumerate() {
        let agent = format!("agent-{number}");
        let call = |fields: Value| door.call(&agent, "consolidate_memory", &fields).unwrap();
        let older = fill(&server, &agent, &format!("north-{number}"));
        let planned = call(json!({"dry_run": true}));
        assert_eq!(
            (&planned["outcome"], &planned["merged"]),
            (&json!("planned"), &json!(1)),
            "{name}"
        );
        let done = call(json!({"plan": planned["plan"]}));
        assert_eq!((&done["outcome"], &done["merged"]), (&json!("completed"), &json!(1)), "{name}");
        assert_eq!(done["items"], planned["items"], "{name}");
        let shown = server.call(&agent, "get_memory", &json!({"id": older})).unwrap();
        assert!(shown["archived_at"].is_string() || shown["revision"] == 2, "{name}: {shown}");
        let undone = call(json!({"undo": done["operation"]}));
        assert_eq!(
            (&undone["outcome"], &undone["restored"]),
            (&json!("undone"), &json!(2)),
            "{name}"
        );
        let shown = server.call(&agent, "get_memory", &json!({"id": older})).unwrap();
        assert_eq!((&shown["revision"], shown.get("archived_at")), (&json!(1), None), "{name}");
        assert_eq!(call(json!({"suggest": true}))["outcome"], "suggested", "{name}");
    }
}

#[test]
fn a_person_reads_what_would_change_and_what_reverses_it() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let arguments = [&["consolidate", "--agent", "ann", "--workspace", "heronry"], arguments];
        let output = home.run(&arguments.concat());
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let save = |text: &str, topics: &[&str]| {
        let mut arguments = vec!["save", text, "--agent", "ann", "--workspace", "heronry"];
        arguments.extend(topics.iter().flat_map(|topic| ["--topic", topic]));
        assert!(home.run(&arguments).status.success());
    };
    save("The oak is old", &["trees"]);
    save("The oak is old.", &["oaks"]);
    // Other topics keep the two apart; a common one does not.
    assert!(run(&["--dry-run"]).1.contains("0 merged"));
    save("The *oak* is old", &["trees", "oaks"]);
    let (is_done, text) = run(&["--dry-run"]);
    assert!(
        is_done && text.contains("both have the same text") && text.contains("--plan"),
        "{text}"
    );
    let (is_done, text) = run(&[]);
    assert!(is_done && text.contains("1 merged") && text.contains("--undo"), "{text}");
    let operation = text.split("--undo ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let (is_done, text) = run(&["--undo", &operation]);
    assert!(is_done && text.contains("Reversed 2 changes"), "{text}");
}
