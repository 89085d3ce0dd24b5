//! What a person meets first: a name, the next step, the settings, and lines that fit the terminal.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::world::Home;

/// The program as an agent or a script starts it: without a terminal, and without a word about who calls.
fn unattended(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.program(arguments);
    command.env_remove("COMMONBOOK_PERSON").env("COMMONBOOK_WORKSPACE", "w");
    command
}

/// All that a command prints at a terminal of 80 columns.
fn at_terminal(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_at_columns(80, &[arguments, &["--workspace", "w"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The owners of all memories, the oldest first.
fn owners(home: &Home) -> Vec<String> {
    let listed = printed(&unattended(home, &["list", "--json"]).output().unwrap());
    let page: Value = serde_json::from_str(&listed).unwrap();
    let owners = page["items"].as_array().unwrap().iter().rev();
    owners.map(|memory| memory["owner"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_person_at_a_terminal_is_human_and_gets_what_was_saved_without_a_name_once() {
    let home = Home::new();
    let save = |text: &str| printed(&unattended(&home, &["save", text]).output().unwrap());
    assert!(save("The gate is blue").contains("as anonymous in w"));
    printed(
        &home
            .program(&["save", "Ann paints it", "--agent", "ann", "--workspace", "w"])
            .output()
            .unwrap(),
    );
    let listed = at_terminal(&home, &["list"]);
    assert!(listed.contains("1 memory saved here without a name"), "{listed}");
    assert_eq!(owners(&home), ["human", "ann"]);
    save("The quay is wet");
    let listed = at_terminal(&home, &["list"]);
    assert!(!listed.contains("without a name"), "once for each home: {listed}");
    assert!(at_terminal(&home, &["save", "The crane is green"]).contains("as human in w"));
    assert_eq!(owners(&home), ["human", "ann", "anonymous", "human"]);
    let sessions = printed(&home.run(&["session", "list", "--json", "--workspace", "w"]));
    assert!(!sessions.contains("\"human\""), "a person works in no session: {sessions}");
}

#[test]
fn a_call_without_a_terminal_and_a_name_has_no_persons_power() {
    let home = Home::new();
    printed(&home.run(&["save", "The gate is blue"]));
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup");
    for arguments in [&["backup", backup.to_str().unwrap()][..], &["token", "create", "ann"]] {
        let refused = unattended(&home, arguments).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("no terminal, and no name"), "{said}");
        assert!(said.contains("--agent NAME") && !said.contains("COMMONBOOK_PERSON"), "{said}");
        assert_eq!(refused.status.code(), Some(4));
    }
    let script = unattended(&home, &["backup", backup.to_str().unwrap()])
        .env("COMMONBOOK_PERSON", "1")
        .output();
    printed(&script.unwrap());
    let named = home.run(&["token", "create", "bob", "--agent", "ann"]);
    assert!(!named.status.success(), "a name is no person");
}

#[test]
fn the_program_alone_shows_a_dozen_commands_and_the_next_step_of_the_home() {
    let home = Home::new();
    for arguments in [&[][..], &["help"]] {
        let shown = printed(&home.run(arguments));
        assert!(shown.contains("commonbook search WORDS") && !shown.contains("restore-backup"));
        assert!(shown.contains("`commonbook setup` connects your coding clients"), "{shown}");
        assert!(shown.lines().count() <= 24, "{shown}");
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80) || shown.contains("/tmp"), "{shown}");
    }
    let all = printed(&home.run(&["help", "--all"]));
    assert!(all.contains("Maintain:") && all.contains("restore-backup"), "{all}");
    assert!(printed(&home.run(&["help", "save"])).contains("Saves one memory"));
    assert!(printed(&home.run(&["status"])).contains("does not exist yet"), "status is doctor");
    assert!(printed(&home.run(&["init"])).contains("`commonbook setup`"));
    assert!(printed(&home.run(&["upgrade"])).contains("cargo install"));
    let data = format!("rm -r '{}'", home.path().display());
    assert!(printed(&home.run(&["uninstall"])).contains(&data));
}

#[test]
fn a_setting_is_written_only_if_the_file_is_valid_with_it() {
    let home = Home::new();
    let file = home.path().join("config.json");
    assert!(printed(&home.run(&["config"])).contains("sets nothing"));
    let refused = home.run(&["config", "set", "learning.calls", "many"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("learning"), "{said}");
    assert!(!file.exists());
    printed(&home.run(&["config", "set", "learning.calls", "30"]));
    assert_eq!(printed(&home.run(&["config", "get", "learning.calls"])).trim(), "30");
    let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(written, json!({"learning": {"calls": 30}}));
    let agent = home.run(&["config", "set", "learning.calls", "1", "--agent", "ann"]);
    assert_eq!(agent.status.code(), Some(4), "settings can run commands: they are a person's");
    printed(&home.run(&["config", "unset", "learning.calls"]));
    assert!(!home.run(&["config", "get", "learning.calls"]).status.success());
    let schema: Value = serde_json::from_str(&printed(&home.run(&["config", "schema"]))).unwrap();
    assert_eq!(schema["properties"]["learning"]["properties"]["calls"]["type"], "integer");
}

#[test]
fn the_address_of_a_database_is_not_shown() {
    let home = Home::new();
    let file = home.path().join("config.json");
    std::fs::write(&file, r#"{"database": {"url": "postgres://book:secret@db/book"}}"#).unwrap();
    for arguments in
        [&["config", "list"][..], &["config", "list", "--json"], &["config", "get", "database.url"]]
    {
        let shown = printed(&home.run(arguments));
        assert!(shown.contains("the file has it") && !shown.contains("secret"), "{shown}");
    }
}

#[test]
fn any_client_can_be_set_up() {
    let home = Home::new();
    for name in ["claude", "gemini-cli"] {
        let shown = printed(
            &home.program(&["setup", name, "--dry-run"]).env("HOME", home.path()).output().unwrap(),
        );
        assert!(shown.contains("settings.json"), "{shown}");
    }
    let shown = printed(&home.run(&["setup", "goose", "--program", "commonbook"]));
    let entry = shown.lines().find(|line| line.starts_with('{')).unwrap();
    let entry: Value = serde_json::from_str(entry).unwrap();
    let own = &entry["mcpServers"]["commonbook"];
    assert_eq!(own, &json!({"command": "commonbook", "args": ["mcp", "--client", "goose"]}));
    assert!(shown.contains("save_memory") && !shown.contains("Remember"), "{shown}");
}

#[test]
fn a_time_zone_that_is_none_is_named() {
    let home = Home::new();
    let list = |zone: &str| {
        let output = home.program(&["list"]).env("TZ", zone).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(list("Mars/Olympus").contains("TZ is \"Mars/Olympus\""));
    assert!(!list("Europe/Vienna").contains("TZ") && !list("").contains("TZ"));
}

#[test]
fn lines_for_people_fit_eighty_columns() {
    let home = Home::new();
    let text = "The warehouse in the harbour closes at six in the evening on every day of the week but Sunday, \
                when the gate stays shut and nobody answers the bell";
    let entry = home
        .program(&["save", text, "--title", text, "--topic", "warehouse", "--workspace", "w"])
        .output();
    printed(&entry.unwrap());
    at_terminal(&home, &["case", "open", "gate", "--title", "The gate of the warehouse"]);
    at_terminal(&home, &["case", "append", "gate", text]);
    at_terminal(&home, &["handoff", "create", "codex", text, "--agent", "ann"]);
    let id = {
        let page: Value =
            serde_json::from_str(&printed(&home.run(&["list", "--json", "--workspace", "w"])))
                .unwrap();
        page["items"][0]["id"].as_str().unwrap().to_owned()
    };
    for arguments in [
        &["list"][..],
        &["search", "when does the warehouse close"],
        &["show", &id],
        &["case", "read", "gate"],
        &["handoff", "list", "--agent", "ann"],
        &["doctor"],
    ] {
        for line in at_terminal(&home, arguments).lines() {
            // What stands before a return is written over: a bar.
            let line = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
            let line = anstream::adapter::strip_str(line).to_string();
            let columns = line.trim_end().chars().count();
            // One word, such as a path, can be wider.
            let is_word = line.trim_start().split(' ').count() == 1;
            assert!(columns <= 80 || is_word, "{arguments:?}: {columns} columns: {line}");
        }
    }
}

#[test]
fn what_a_command_could_not_read_in_time_is_read_when_it_has_ended() {
    let home = Home::new();
    printed(&home.run(&["save", "The gate is blue"]));
    // A database has its index elsewhere.
    if !home.path().join("commonbook.db").exists() {
        return;
    }
    let vectors = home.path().join("index").join("vectors");
    assert!(!vectors.exists());
    let embed = home.program(&["embed"]).env("COMMONBOOK_EMBEDDER", "word-hash").output();
    printed(&embed.unwrap());
    assert!(vectors.exists());
}

#[test]
fn a_model_that_reindex_installs_is_that_of_every_later_command() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        home.program(arguments).env_remove("COMMONBOOK_EMBEDDER").output().unwrap()
    };
    printed(&home.run(&["save", "The gate is blue"]));
    let file = home.path().join("config.json");
    for (name, reason) in [("nowhere/model", "nowhere/model"), ("gate", "expected off, bundled")] {
        let refused = run(&["reindex", "--model", name]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains(reason), "{said}");
        assert!(!file.exists(), "{name}");
    }
    let agent = run(&["reindex", "--model", "word-hash", "--agent", "ann"]);
    assert_eq!(agent.status.code(), Some(4), "settings are a person's");
    printed(&run(&["reindex", "--model", "word-hash"]));
    let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(written, json!({"embedder": "word-hash"}));
    let answer = |output: Output| -> Value { serde_json::from_str(&printed(&output)).unwrap() };
    assert_eq!(answer(run(&["search", "gate", "--json"]))["model"], "word-hash");
    let by_words = answer(home.run(&["search", "gate", "--json"]));
    assert_eq!(by_words["model"], Value::Null, "the variable counts before the file");
    let relative = run(&["config", "set", "embedder", "./model"]);
    let said = String::from_utf8(relative.stderr).unwrap();
    assert!(!relative.status.success() && said.contains("expected the absolute path"), "{said}");
}
