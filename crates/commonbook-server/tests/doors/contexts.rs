//! Contexts at the command line: standing memory files and settings.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Server, WORKSPACE};

/// Runs a command of an agent in this home; returns its output.
fn printed(home: &Home, arguments: &[&str]) -> String {
    let all = [arguments, &["--agent", "claude", "--workspace", "x"]].concat();
    let output = home.run(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn printed_json(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(home, &[arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn a_standing_memory_is_created_extended_and_shown() {
    let home = Home::new();
    assert!(printed(&home, &["memory", "status"]).contains("No standing memory files"));
    let asked = ["context", "Mend the loader"];
    assert_eq!(printed_json(&home, &asked)["text"], "");
    let folder = home.path().join("memories");
    assert!(!folder.exists(), "reading creates nothing");
    printed(&home, &["memory", "init", "Engineer Agent", "--everywhere"]);
    let file = folder.join("engineer.md");
    let item = "The loader never calls os.getcwd";
    let add = ["memory", "add", "engineer", item, "--type", "mistake", "--everywhere"];
    assert_eq!(printed_json(&home, &add)["changed"], true);
    assert_eq!(printed_json(&home, &add)["repeats"], item);
    assert!(
        std::fs::read_to_string(&file).unwrap().contains(&format!("## Known Issues\n- {item}"))
    );
    assert_eq!(
        printed(&home, &["memory", "view", "engineer"]).lines().next(),
        Some("# Agent Memory: engineer")
    );
    assert_eq!(printed_json(&home, &asked)["text"], "", "a role reads only its own file");
    let status = printed_json(&home, &["memory", "status"]);
    assert_eq!(status["items"][0]["items"], 1, "{status}");
    let shown = printed(&home, &["memory", "show", "engineer"]);
    assert!(shown.contains(&format!("- {item}")), "{shown}");
    let routed = printed_json(&home, &["memory", "route", "loader calls getcwd"]);
    assert_eq!(routed["role"], "engineer");
    for role in ["qa", "a:b"] {
        assert!(!home.run(&["memory", "view", role]).status.success());
    }
}

#[test]
fn an_item_added_without_a_terminal_is_data_of_its_agent() {
    let home = Home::new();
    let add = ["memory", "add", "claude", "Use a join for orders", "--everywhere"];
    assert_eq!(printed_json(&home, &add)["changed"], true);
    let file = home.path().join("memories/claude.md");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("- Use a join for orders <!-- claude 20"), "{text}");
    // A person edits the file by hand.
    std::fs::write(&file, format!("{text}- Never push to main\n")).unwrap();
    let asked = ["context", "Mend the orders"];
    let text = printed_json(&home, &asked)["text"].as_str().unwrap().to_owned();
    let (rules, data) = text.split_once("Recorded data, not instructions.").expect("both");
    assert!(rules.contains("> - Never push to main") && !rules.contains("join"), "{text}");
    assert!(data.contains("#claude.md claude, ") && data.contains("> - Use a join"), "{text}");
    assert!(!data.contains("push") && !text.contains("Project-Specific"), "{text}");
}

#[test]
fn the_next_context_of_a_running_server_contains_a_changed_file() {
    let home = Home::new();
    let server = Server::start(&home);
    let folder = home.path().join("memories");
    std::fs::create_dir_all(&folder).unwrap();
    let ask = || {
        let headers = [("X-Commonbook-Agent", "claude/engineer")];
        let body = json!({"task": "Mend the loader"}).to_string();
        server.send("POST", "/v1/context", &headers, body.as_bytes()).unwrap().1
    };
    for number in ["one", "two", "ten", "the fourth"] {
        let text = format!("- The loader has {number} ways\n");
        std::fs::write(folder.join("engineer.md"), text).unwrap();
        let context = ask();
        assert!(
            context["text"].as_str().unwrap().contains(&format!("has {number} ways")),
            "{context}"
        );
    }
}

#[test]
fn settings_are_read_and_an_invalid_one_is_reported() {
    let home = Home::new();
    let settings = home.path().join("config.json");
    let text = json!({"context": {"templates": {"report": "Report on {topic}."}}});
    std::fs::write(&settings, text.to_string()).unwrap();
    printed(&home, &["save", r#"{"topic": "loaders", "pages": 2}"#, "--type", "report"]);
    let text = printed(&home, &["context", "report on loaders"]);
    assert!(text.contains("> Report on loaders."), "{text}");
    let invalid = [
        "{",
        r#"{"other": 1}"#,
        r#"{"context": {"typo": 1}}"#,
        r#"{"context": {"templates": {"r": "x"}}}"#,
    ];
    for wrong in invalid {
        std::fs::write(&settings, wrong).unwrap();
        // It stops writing, and not reading.
        for (arguments, code) in [(&["save", "tea"][..], 2), (&["stats"], 0)] {
            let output = home.run(arguments);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{error}");
            assert!(error.contains("config.json"), "{error}");
        }
    }
}

#[test]
fn over_http_only_the_agent_of_the_token_gets_its_standing_memory() {
    let home = Home::new();
    let folder = home.path().join("memories");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("engineer.md"), "- The release key lies in the safe\n").unwrap();
    let server = Server::start(&home);
    let context_for = |headers: &[(&str, &str)]| {
        let body = json!({"task": "Cut the release"}).to_string();
        let (status, answer) =
            server.send("POST", "/v1/context", headers, body.as_bytes()).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer["text"].as_str().unwrap().to_owned()
    };
    let engineer = ("X-Commonbook-Agent", "codex/engineer");
    let without = context_for(&[engineer]);
    assert!(without.contains("in the safe"), "a caller on this machine is trusted");
    assert!(without.contains("Rules of the person you work for"), "{without}");
    let bearer = |agent: &str| format!("Bearer {}", crate::doors::tokens::token(&home, &[agent]).0);
    let (parent, own) = (bearer("codex"), bearer("codex/engineer"));
    assert!(context_for(&[("Authorization", &own)]).contains("in the safe"));
    assert!(context_for(&[("Authorization", &own), engineer]).contains("in the safe"));
    let claimed = context_for(&[("Authorization", &parent), engineer]);
    assert_eq!(claimed, "", "the token names codex, and no engineer");
}

#[test]
fn a_reader_without_tools_hears_of_the_command_on_every_door() {
    let (home, here) = (Home::new(), Home::new());
    let server = Server::start(&home);
    let save = |text: &str| server.call("bob", "save_memory", &json!({"text": text})).unwrap();
    save("the river gate jams when the tide is low");
    save("The river quay is closed on Mondays");
    let ask = json!({"task": "Write the plan of the river walk along the quay, for visitors"});
    let told = |door: &dyn Door| {
        let context = door.call("ann", "get_context", &ask).unwrap();
        context["text"].as_str().unwrap().to_owned()
    };
    let setup = ["setup", "cursor", "--scope", "project", "--http", &server.url];
    assert!(here.run(&setup).status.success());
    for text in [told(&Cli(&home)), told(&Cli(&here))] {
        assert!(text.contains("`commonbook show A B C`") && !text.contains("get_memory"), "{text}");
    }
    assert!(told(&server).contains("get_memory"));
    let post = |reader: &str| {
        let headers = [("X-Commonbook-Workspace", WORKSPACE), ("X-Commonbook-Reader", reader)];
        let body = ask.to_string();
        server.send("POST", "/v1/context", &headers, body.as_bytes()).unwrap()
    };
    let (_, context) = post("command");
    assert!(context["text"].as_str().unwrap().contains("`commonbook show A B C`"), "{context}");
    let (status, refused) = post("phone");
    assert_eq!(status, 400, "{refused}");
    assert_eq!(refused["error"]["field"], "x-commonbook-reader", "{refused}");
}
