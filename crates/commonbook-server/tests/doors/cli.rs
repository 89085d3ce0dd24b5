//! Features of the command line alone: ends of ids, standard input, files, tables, exit codes.

use std::fs;

use serde_json::{Value, json};

use super::export::unsigned;
use crate::world::{Cli, Door, Home, Server, new_text};

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(bytes)))
}

#[test]
fn an_id_may_be_given_by_its_end() {
    let home = Home::new();
    let saved = Cli(&home).call("me", "save_memory", &json!({"text": "tea"})).unwrap();
    let id = saved["memory"]["id"].as_str().unwrap();
    let short = &id[id.len() - 6..];
    for named in [id, &id[4..], short, &format!("#{short}")] {
        let output = home.run(&["show", named, "--json", "--workspace", "story"]);
        assert_eq!(json_of(&output.stdout)["id"], id);
    }
    let delete = |named: &str| {
        home.run(&["delete", named, "--json", "--workspace", "story", "--agent", "me"])
    };
    let refused = json_of(&delete(short).stderr);
    assert_eq!(refused["error"]["field"], "id");
    assert!(refused["error"]["message"].as_str().unwrap().contains("too short to delete"));
    assert_eq!(json_of(&delete(&id[id.len() - 8..]).stdout)["id"], id);
}

#[test]
fn the_demo_passes() {
    // The search by meaning needs the model.
    let output = Home::new().program(&["demo"]).env_remove("COMMONBOOK_EMBEDDER").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_kind_of_error_has_its_exit_code() {
    let home = Home::new();
    let unknown = "mem_01m7y9c4dpeqkspxh7a865d434";
    let table: [(&[&str], i32); 6] = [
        (&["save", "tea", "--agent", "me"], 0),
        (&["save", ""], 2),
        (&["sav", "tea"], 2),
        (&["save", "tea", "--nonsense"], 2),
        (&["show", unknown], 5),
        (&["save", "x", "--title", &"t".repeat(201)], 7),
    ];
    for (arguments, code) in table {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.contains("error: ") && stderr.contains("hint: "), code != 0, "{stderr}");
    }
    let saved = home.run(&["save", "mine", "--agent", "me", "--json"]);
    let id = json_of(&saved.stdout)["memory"]["id"].as_str().unwrap().to_owned();
    let refused = home.run(&["delete", &id, "--agent", "yan"]);
    assert_eq!(refused.status.code(), Some(4));
}

#[test]
fn text_comes_from_standard_input() {
    let home = Home::new();
    let saved = home.feed(&["save", "-", "--json"], "from a pipe\n".as_bytes());
    assert_eq!(json_of(&saved.stdout)["memory"]["text"], "from a pipe\n");
}

#[test]
fn numbers_keep_every_digit() {
    let home = Home::new();
    let numbers = r#"{"n":[12.783279292603929,11.667275081737445,1e+300,-7]}"#;
    home.run(&["save", "Numbers", "--metadata", numbers]);
    let listed = json_of(&home.run(&["list", "--json"]).stdout);
    assert_eq!(listed["items"][0]["metadata"].to_string(), numbers);
}

#[cfg(unix)]
#[test]
fn arguments_must_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let mut command = home.program(&["save"]);
    let output = command.arg(std::ffi::OsStr::from_bytes(b"bad \xff byte")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_batch_is_saved_completely_or_not_at_all() {
    let home = Home::new();
    let good = json!([{"text": "one"}, {"text": "two", "topics": ["t"]}]).to_string();
    let kept = home.feed(&["batch", "-", "--json"], good.as_bytes());
    assert_eq!(json_of(&kept.stdout)["items"].as_array().unwrap().len(), 2);
    let bad = json!([{"text": "three"}, {"text": ""}]).to_string();
    let refused = home.feed(&["batch", "-", "--json"], bad.as_bytes());
    assert_eq!(json_of(&refused.stderr)["error"]["field"], "memories[1].text");
    assert_eq!(json_of(&home.run(&["stats", "--json"]).stdout)["memories"], 2);
}

/// A conversation as text, with bad lines in between: text, time and JSON.
const LINES: &str = r#"{"conv": "Trip", "gran": "turn", "id": "1", "session": "s1", "speaker": "Ann", "ts": "2026-05-01T10:00:00", "text": "Ann: The ferry to Naxos leaves at seven."}
{"conv": "Trip", "gran": "turn", "id": "2", "session": "s1", "speaker": "Ben", "ts": "2026-05-01", "text": "Ben: I booked the pension by the harbour."}
{"conv": "Trip", "id": "3", "text": ""}
not json
{"conv": "Trip", "id": "4", "ts": "soon", "text": "x"}

{"conv": "Trip", "gran": "session", "id": "s1", "speaker": "", "text": "Ann: The ferry …\nBen: I booked …"}
"#;

#[test]
fn an_import_skips_bad_lines_by_number_and_adds_nothing_twice() {
    let home = Home::new();
    let file = home.path().join("lines.jsonl");
    fs::write(&file, LINES).unwrap();
    let file = file.to_str().unwrap();
    for (created, repeated) in [(3, 0), (0, 3)] {
        let output = home.run(&["import", "--format", "jsonl", file, "--json"]);
        assert_eq!(output.status.code(), Some(2));
        let report = json_of(&output.stdout);
        let numbers: Vec<&Value> =
            report["bad"].as_array().unwrap().iter().map(|bad| &bad["line"]).collect();
        assert_eq!(numbers, [3, 4, 5]);
        assert_eq!((&report["created"], &report["repeated"]), (&json!(created), &json!(repeated)));
    }
    let found = home.run(&["search", "When does the ferry leave?", "--json", "--scope", "home"]);
    let found = json_of(&found.stdout);
    let first = &found["hits"][0]["memory"];
    assert_eq!((&first["metadata"]["id"], &first["owner"]), (&json!("1"), &json!("ann")));
    assert_eq!(found["workspaces"], json!(["trip"]));
}

#[test]
fn an_export_is_imported_unchanged() {
    let home = Home::new();
    home.feed(&["import", "-"], LINES.as_bytes());
    home.run(&[
        "save",
        "and a line\nend",
        "--workspace",
        "trip",
        "--agent",
        "cleo",
        "--topic",
        "t",
    ]);
    let first = home.run(&["export", "--workspace", "trip"]).stdout;
    assert_eq!(home.run(&["export", "-", "--workspace", "trip"]).stdout, first);
    let records = String::from_utf8_lossy(&first).matches("{\"record\":").count();
    assert_eq!(first.iter().filter(|byte| **byte == b'\n').count() - records, 4);
    let other = Home::new();
    assert!(other.feed(&["import", "-"], &first).status.success());
    let second = other.run(&["export", "--workspace", "trip"]).stdout;
    let text = |lines: Vec<u8>| unsigned(&String::from_utf8(lines).unwrap());
    assert_eq!(text(second), text(first));
}

#[test]
fn doctor_accepts_an_intact_store_and_reports_a_damaged_one() {
    let home = Home::new();
    assert!(home.run(&["doctor"]).status.success());
    home.run(&["save", "tea"]);
    let whole = home.run(&["doctor", "--json"]);
    assert_eq!(json_of(&whole.stdout)["findings"], json!([]));
    let store = home.path().join("commonbook.db");
    let garbage = vec![b'?'; 8192];
    fs::write(&store, &garbage).unwrap();
    for command in ["doctor", "list", "save", "serve"] {
        let arguments: &[&str] = if command == "save" { &["save", "x"] } else { &[command] };
        let refused = home.run(arguments);
        assert_eq!(refused.status.code(), Some(9), "{command}");
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(stderr.contains("is damaged") && stderr.contains("file is unchanged"), "{stderr}");
    }
    assert_eq!(fs::read(&store).unwrap(), garbage);
}

#[test]
fn doctor_reports_the_rest_where_the_store_cannot_be_opened() {
    let home = Home::new();
    fs::write(home.path().join("commonbook.db"), vec![b'?'; 8192]).unwrap();
    fs::write(home.path().join("config.json"), r#"{"contxt": {}}"#).unwrap();
    fs::write(home.path().join("hooks.json"), "[1]").unwrap();
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.status.code(), Some(9));
    let report = json_of(&doctor.stdout);
    assert!(report["error"].as_str().unwrap().contains("is damaged"), "{report}");
    let found = |what: &str| {
        let checks = report["checks"].as_array().unwrap().iter();
        let of = checks.filter(|check| check["what"] == what);
        of.map(|check| check["found"].as_str().unwrap()).collect::<String>()
    };
    for (what, words) in [
        ("store", "is damaged"),
        ("settings", "did you mean `context`"),
        ("hooks", "invalid type"),
        ("server", "no server runs"),
        ("project", "workspace"),
        ("handoffs", "can hand work over"),
        ("memories", "the command line"),
    ] {
        assert!(found(what).contains(words), "{what}: {report}");
    }
}

#[test]
fn a_server_announces_its_address_only_when_nothing_can_keep_it_from_serving() {
    let home = Home::new();
    home.run(&["save", "tea"]);
    fs::write(home.path().join("hook.key"), "zzz").unwrap();
    // The key is read for the pages, after the address is bound and the work in the background has begun.
    let refused = home.run(&["serve", "--port", "0"]);
    assert_eq!(refused.status.code(), Some(9));
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(stderr.contains("the key of the home is damaged"), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&refused.stdout), "");
    fs::remove_file(home.path().join("hook.key")).unwrap();
    // What it announces answers.
    let server = Server::start(&home);
    assert!(server.call("me", "search_memory", &json!({"query": "tea"})).is_ok());
}

#[test]
fn an_error_of_a_database_names_its_place_and_no_secret() {
    for (address, words) in [
        ("postgres://ann:hunter2pw@127.0.0.1:1/book", "(127.0.0.1:1/book)"),
        ("host=127.0.0.1 port=1 user=ann password=hunter2pw dbname=book", "(127.0.0.1:1/book)"),
        ("postgres://ann:hunter2pw@127.0.0.1:1,127.0.0.1:2/book", "/book)"),
        ("postgres://ann:hunter2pw@127.0.0.1:99999/book", "no connection string"),
        ("postgres://ann:hunter2pw@127.0.0.1/book?sslmod=hunter2pw", "no connection string"),
        ("hunter2pw", "no connection string"),
    ] {
        let home = Home::new();
        for arguments in [&["list"][..], &["save", "tea"], &["doctor"], &["serve", "--port", "0"]] {
            let mut command = home.program(arguments);
            let output = command.env("COMMONBOOK_DATABASE", address).output().unwrap();
            assert!(!output.status.success(), "{address}");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(!said.contains("hunter2pw"), "{arguments:?} {address}: {said}");
            assert!(said.contains(words), "{arguments:?} {address}: {said}");
        }
    }
}

#[test]
fn doctor_deep_names_silent_changes() {
    let home = Home::new();
    home.run(&["save", "The port of staging is 8443", "--workspace", "trip"]);
    assert!(home.run(&["doctor", "--deep"]).status.success());
    let store = home.path().join("commonbook.db");
    let connection = rusqlite::Connection::open(&store).unwrap();
    connection.execute_batch("UPDATE memory SET text = 'The port of staging is 9443'").unwrap();
    connection.close().unwrap();
    assert!(home.run(&["doctor"]).status.success(), "every page is intact");
    let deep = home.run(&["doctor", "--deep"]);
    assert_eq!(deep.status.code(), Some(9));
    let stdout = String::from_utf8(deep.stdout).unwrap();
    assert!(
        stdout.contains("memory") && stdout.contains("changed outside of commonbook"),
        "{stdout}"
    );
}

#[test]
fn an_emptied_store_fails_closed_until_its_loss_is_accepted() {
    let home = Home::new();
    home.run(&["save", "tea at four", "--workspace", "trip"]);
    home.run(&["save", "and cake", "--workspace", "trip"]);
    assert_eq!(home.run(&["token", "create", "ann"]).status.code(), Some(0));
    let conflict = home.run(&["doctor", "--accept-loss"]);
    assert_eq!(conflict.status.code(), Some(6), "there is nothing to accept");
    let store = home.path().join("commonbook.db");
    fs::write(&store, b"").unwrap();
    for command in [&["doctor"][..], &["list"], &["save", "x"], &["serve"], &["token", "list"]] {
        let refused = home.run(command);
        assert_eq!(refused.status.code(), Some(9), "{command:?}");
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            stderr.contains("held a store before") && stderr.contains("--accept-loss"),
            "{stderr}"
        );
    }
    assert_eq!(fs::read(&store).unwrap(), b"");
    assert!(home.run(&["doctor", "--accept-loss", "--deep"]).status.success());
    let events = home.run(&["events", "--workspace", "trip", "--json"]);
    let event = &json_of(&events.stdout)["items"][0];
    assert_eq!(event["kind"], "store.loss_accepted");
    assert_eq!(event["details"], json!({"stored": 0, "marked": 2}));
    assert!(home.run(&["save", "x", "--workspace", "trip"]).status.success());
    assert!(home.run(&["doctor", "--deep"]).status.success());
}

#[test]
fn a_server_ends_when_it_finds_the_store_damaged() {
    let home = Home::new();
    let lines: Vec<String> = (0..400)
        .map(|n| json!({"text": format!("memory {n} {}", "word ".repeat(60))}).to_string())
        .collect();
    assert!(home.feed(&["import", "-"], lines.join("\n").as_bytes()).status.success());
    let store = home.path().join("commonbook.db");
    let mut bytes = fs::read(&store).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0xAA);
    fs::write(&store, bytes).unwrap();
    let ended = home.run(&["serve", "--port", "0"]);
    assert_eq!(ended.status.code(), Some(9));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("damaged"));
    assert_eq!(home.run(&["doctor"]).status.code(), Some(9));
}

#[test]
fn a_search_reads_other_workspaces_only_if_it_says_so() {
    let home = Home::new();
    let saved = home.run(&["save", "The ferry leaves at seven", "--workspace", "trip", "--json"]);
    let id = json_of(&saved.stdout)["memory"]["id"].as_str().unwrap().to_owned();
    let total = |arguments: &[&str]| json_of(&home.run(arguments).stdout)["total"].clone();
    // The workspace here never held a memory; what is true elsewhere is not true here.
    for arguments in [&["search", "ferry"][..], &["search", "ferry", "--workspace", "work"]] {
        assert_eq!(total(&[arguments, &["--json"]].concat()), 0);
        let text = printed(&home, arguments);
        assert!(text.starts_with("No memory found in ") && !text.contains("seven"), "{text}");
        let note = "1 memory matches in other workspaces: `--scope home` reads all";
        assert!(text.contains(note), "{text}");
    }
    assert_eq!(total(&["search", "ferry", "--json", "--scope", "home"]), 1);
    let text = printed(&home, &["search", "ferry", "--scope", "home"]);
    assert!(text.contains("in trip"), "{text}");
    let command = text.split("`commonbook ").nth(1).unwrap().split('`').next().unwrap();
    let shown = printed(&home, &command.split(' ').collect::<Vec<_>>());
    assert!(shown.contains("leaves at seven") && shown.contains(&id), "{shown}");
}

/// What people read of a command: standard output, then standard error.
fn printed(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

/// The handle in front of the facts below a record.
fn handle_below(text: &str, record: &str) -> String {
    let facts = text.lines().skip_while(|line| !line.starts_with(record)).nth(1).unwrap();
    facts.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_list_shows_the_memory_first_and_a_handle_that_every_command_takes() {
    let home = Home::new();
    printed(&home, &["save", "The gate is blue", "--agent", "ann", "--type", "decision"]);
    let list = printed(&home, &["list"]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines[0], "The gate is blue");
    let handle = handle_below(&list, "The gate is blue");
    assert!(lines[1].starts_with(&format!("  {handle} · ann · decision · 20")), "{list}");
    assert_eq!(handle.len(), 8);
    let found = printed(&home, &["search", "what", "colour", "has", "the", "gate"]);
    assert!(found.contains("The gate is blue") && !found.contains("found by"), "{found}");
    assert_eq!(printed(&home, &["list", "--since", "10m"]), list);
    assert!(!printed(&home, &["list", "--since", "2199-01-01"]).contains("The gate is blue"));
    let newer = ["save", "The gate is red", "--agent", "ann", "--supersedes", &handle];
    let saved = printed(&home, &newer);
    let newer = saved.split_whitespace().nth(1).unwrap();
    let list = printed(&home, &["list"]);
    assert!(list.contains(&format!("superseded by {newer}")), "{list}");
    assert!(printed(&home, &["show", &handle]).contains("The gate is blue"));
    printed(&home, &["delete", newer, "--agent", "ann"]);
}

#[test]
fn handles_name_things_of_every_kind() {
    let home = Home::new();
    let ann = |arguments: &[&str]| printed(&home, &[arguments, &["--agent", "ann"]].concat());
    let bob = |arguments: &[&str]| printed(&home, &[arguments, &["--agent", "bob"]].concat());
    let created = ann(&["handoff", "create", "bob", "Write", "the", "press", "release"]);
    let handoff = handle_below(&created, "ann → bob: Write the press release");
    assert!(bob(&["handoff", "list"]).contains(&handoff));
    bob(&["handoff", "accept", &handoff]);

    let started = ann(&["session", "start"]);
    let session = started.split_whitespace().nth(1).unwrap().to_owned();
    ann(&["save", "The gate is blue", "--session", &session]);
    assert!(ann(&["session", "show", &session]).contains("The gate is blue"));
    assert!(ann(&["list", "--session", &session]).contains("The gate is blue"));
    let checkpoint = ann(&["checkpoint", "--session", &session]);
    let checkpoint = checkpoint.split(':').next().unwrap();
    ann(&["resume", &session, "--checkpoint", checkpoint]);

    let context = ann(&["context", "paint", "the", "gate", "--threshold", "0"]);
    let receipt = context.split("commonbook explain ").nth(1).unwrap();
    ann(&["explain", receipt.split('`').next().unwrap()]);

    ann(&["save", "The ledger export limit is 10 MB", "--topic", "ledger"]);
    bob(&["save", "The ledger export limit is 20 MB", "--topic", "ledger"]);
    let contradictions = ann(&["contradictions", "list"]);
    let contradiction = handle_below(&contradictions, "bob: ");
    ann(&["contradictions", "show", &contradiction]);

    let entities = ann(&["entity", "resolve", "tool", "TypeScript"]);
    let entity = entities.split_whitespace().next().unwrap();
    assert!(ann(&["entity", "show", entity]).contains("tool:TypeScript"));

    let purged = bob(&["purge", "--since", "1h"]);
    let operation = purged.split("commonbook undo ").nth(1).unwrap().split('`').next().unwrap();
    bob(&["undo", operation]);

    printed(&home, &["token", "create", "rook"]);
    let token = handle_below(&printed(&home, &["token", "list"]), "rook (read,write)");
    assert!(printed(&home, &["token", "revoke", &token]).contains("the token of rook"));
}

#[test]
fn events_changes_and_handoffs_are_told_in_words() {
    let home = Home::new();
    let ann = |arguments: &[&str]| printed(&home, &[arguments, &["--agent", "ann"]].concat());
    ann(&["save", "The gate is blue"]);
    ann(&["handoff", "create", "bob", "Write the press release"]);
    ann(&["case", "open", "outage"]);
    for text in [printed(&home, &["events"]), printed(&home, &["changes", "--agent", "bob"])] {
        for words in [
            "ann saved: The gate is blue",
            "ann → bob: Write the press release",
            "ann opened the case outage",
        ] {
            assert!(text.lines().any(|line| line == words), "{words}: {text}");
        }
        assert!(!text.contains("mem_") && !text.contains("hnd_"), "{text}");
    }
}

#[test]
fn an_empty_answer_says_where_it_looked_and_what_is_elsewhere() {
    let home = Home::new();
    printed(&home, &["save", "The ferry leaves at seven", "--workspace", "trip"]);
    printed(&home, &["handoff", "create", "bob", "Book", "--workspace", "trip", "--agent", "ann"]);
    let table: [(&[&str], &[&str]); 10] = [
        (&["contradictions", "list"], &["No open contradictions in default for human"]),
        (
            &["contradictions", "list", "--status", "resolved"],
            &["No contradictions in default for human with status resolved"],
        ),
        (&["review"], &["Nothing waits for review in default for human"]),
        (&["checkpoints", "--workspace", "trip", "--agent", "ann"], &["No checkpoints in trip"]),
        (&["users"], &["No memories about a user in default for human"]),
        (
            &["list", "--workspace", "work", "--agent", "ann"],
            &["No memories in work for ann", "other workspaces: trip 1"],
        ),
        (
            &["list", "--workspace", "trip", "--type", "decision"],
            &["No memories in trip for human with type decision", "without filters: 1 memory"],
        ),
        (
            &["search", "ferry", "--workspace", "work"],
            &["No memory found in work", "1 memory matches in other workspaces: `--scope home`"],
        ),
        (
            &["search", "ferry", "--workspace", "trip", "--topic", "boats"],
            &["with topic boats", "without filters 1 memory matches"],
        ),
        (
            &["handoff", "list", "--workspace", "trip"],
            &["No handoffs in trip for human", "`--side all` lists"],
        ),
    ];
    for (arguments, parts) in table {
        let text = printed(&home, arguments);
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn words_need_no_quotes_and_commas_divide_nothing() {
    let home = Home::new();
    let flags = ["--topic", "red, white", "--topic", "gate", "--json"];
    let saved = home.run(&[&["save", "the", "gate", "is", "blue"], &flags[..]].concat());
    let memory = &json_of(&saved.stdout)["memory"];
    assert_eq!(memory["text"], "the gate is blue");
    assert_eq!(memory["topics"], json!(["red, white", "gate"]));
    let created = home.run(&[
        "handoff",
        "create",
        "bob",
        "Paint it",
        "--next-step",
        "Buy paint, then brushes",
        "--decision",
        "Blue",
        "--agent",
        "ann",
        "--json",
    ]);
    let handoff = &json_of(&created.stdout)["handoff"];
    assert_eq!(handoff["next_steps"], json!(["Buy paint, then brushes"]));
    assert_eq!(handoff["decisions_made"], json!(["Blue"]));
}

#[test]
fn commands_work_in_the_current_session_and_refuse_an_unknown_one() {
    let home = Home::new();
    let ann = |arguments: &[&str]| home.run(&[arguments, &["--agent", "ann", "--json"]].concat());
    let started = json_of(&ann(&["session", "start"]).stdout);
    let id = started["session"]["id"].as_str().unwrap();
    let saved_session =
        || json_of(&ann(&["save", &new_text()]).stdout)["memory"]["session"].clone();
    let other = json_of(&ann(&["session", "start"]).stdout)["session"]["id"].clone();
    assert_eq!(saved_session(), other, "the open one that was touched last");
    assert_eq!(json_of(&ann(&["session", "use", &id[id.len() - 8..]]).stdout)["session"], id);
    assert_eq!(saved_session(), id);
    let bobs = json_of(&home.run(&["save", "y", "--agent", "bob", "--json"]).stdout);
    assert_ne!(bobs["memory"]["session"], id, "it is the current one of ann alone");
    assert!(ann(&["session", "end"]).status.success());
    assert_eq!(saved_session(), other, "it has ended");

    let mut command = home.program(&["save", "z", "--agent", "ann", "--json"]);
    let output = command.env("COMMONBOOK_SESSION", id).output().unwrap();
    assert_eq!(json_of(&output.stdout)["memory"]["session"], id);
    let unknown = "ses_01m7y9c4dpeqkspxh7a865d434";
    for arguments in [&["save", "x", "--session", unknown][..], &["session", "use", unknown]] {
        let refused = ann(arguments);
        assert_eq!(refused.status.code(), Some(5), "{arguments:?}");
        let error = &json_of(&refused.stderr)["error"];
        assert!(error["message"].as_str().unwrap().contains(unknown), "{error}");
    }
}

#[test]
fn shells_get_completions_and_man_its_pages() {
    let home = Home::new();
    let bash = printed(&home, &["completions", "bash"]);
    assert!(bash.contains("low normal high critical"), "values of an enum are completed");
    assert!(printed(&home, &["man"]).contains(".TH commonbook 1"));
    printed(&home, &["man", "pages"]);
    assert!(home.path().join("pages/commonbook-handoff-create.1").exists());
    assert!(printed(&home, &["--version"]).starts_with("commonbook 0."));
}

#[test]
fn a_command_embeds_what_it_saved_so_that_the_next_search_finds_it_by_meaning() {
    let home = Home::new();
    let bundled = |arguments: &[&str]| {
        let mut command = home.program(arguments);
        command.env("COMMONBOOK_EMBEDDER", "bundled").output().unwrap()
    };
    bundled(&["save", "The payment service retries because the bank's gateway drops calls"]);
    // A slow machine embeds it with one of the next commands.
    for _ in 0..20 {
        let found = bundled(&["search", "what happens when a credit card charge fails", "--json"]);
        let found = json_of(&found.stdout);
        // It shares no word with the memory.
        if found["total"] == 1 {
            let text = bundled(&["search", "what happens when a credit card charge fails"]);
            let text = [text.stdout, text.stderr].concat();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains("meaning") && !text.contains("embedded"), "{text}");
            return;
        }
    }
    panic!("no search went by meaning");
}

#[test]
fn pages_have_numbers_on_the_command_line() {
    let home = Home::new();
    for n in 1..=5 {
        printed(&home, &["save", &format!("The gate number {n} is blue"), "--agent", "ann"]);
    }
    for (command, limit) in [(&["search", "gate"][..], "-k"), (&["list"], "--limit")] {
        let run = |page: &[&str]| home.run(&[command, &[limit, "2"], page].concat());
        let shown = |page: &[&str]| {
            let output = run(page);
            assert!(output.status.success(), "{output:?}");
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            (text(&output.stdout), text(&output.stderr))
        };
        let pages = [&[][..], &["--page", "2"], &["--page", "3"]].map(shown);
        let next = |(_, note): &(String, String)| {
            note.lines().find_map(|line| line.strip_prefix("next page: ").map(str::to_owned))
        };
        let more = ["--page 2", "--page 3"].map(|page| Some(page.to_owned()));
        assert_eq!(pages.each_ref().map(next), [&more[..], &[None]].concat()[..]);
        let all: String = pages.into_iter().map(|(text, _)| text).collect();
        for n in 1..=5 {
            assert_eq!(all.matches(&format!("gate number {n}")).count(), 1, "{all}");
        }
        let refused = run(&["--page", "4", "--json"]);
        assert_eq!(refused.status.code(), Some(2));
        assert_eq!(json_of(&refused.stderr)["error"]["message"], "page: the last page is 3");
        // A program reads on by the cursor.
        let first = json_of(&run(&["--json"]).stdout);
        let cursor = first["next"].as_str().unwrap();
        assert_eq!(run(&["--cursor", cursor]).stdout, run(&["--page", "2"]).stdout);
    }
}

#[test]
fn an_agent_that_gives_its_name_is_no_person_at_the_command_line() {
    let home = Home::new();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("backup").display().to_string();
    let said = |agent: &str, text: &str| {
        let saved = home.run(&["save", text, "--topic", "ledger", "--agent", agent, "--json"]);
        json_of(&saved.stdout)["memory"]["id"].as_str().unwrap().to_owned()
    };
    let older = said("ann", "The ledger export limit is 10 MB");
    said("bob", "The ledger export limit is 20 MB");
    let pairs = json_of(&home.run(&["contradictions", "list", "--json"]).stdout);
    let pair = pairs["items"][0]["id"].as_str().unwrap().to_owned();
    let resolve = ["contradictions", "resolve", &pair, "keep_newer"];
    let rows: [(&[&str], &str); 12] = [
        (&resolve, "ownership_mismatch"),
        (&["forget", &older, "--yes"], "ownership_mismatch"),
        (&["retract", &older, "--reason", "It is 20 MB"], "ownership_mismatch"),
        (&["consolidate", "--force"], "forbidden"),
        (&["adopt", "codex", "--owner", "ann"], "forbidden"),
        (&["review"], "forbidden"),
        (&["release", &older], "forbidden"),
        (&["token", "create", "rook"], "forbidden"),
        (&["token", "list"], "forbidden"),
        (&["memory", "optimize"], "forbidden"),
        (&["backup", &file], "forbidden"),
        (&["restore-backup", &file], "forbidden"),
    ];
    for (arguments, reason) in rows {
        for by_flag in [true, false] {
            let mut command = home.program(&[arguments, &["--json"]].concat());
            match by_flag {
                true => command.args(["--agent", "codex"]),
                false => command.env("COMMONBOOK_AGENT_ID", "codex"),
            };
            let output = command.output().unwrap();
            let error = json_of(&output.stderr)["error"].clone();
            let found = error.get("code").unwrap_or(&error["kind"]);
            assert_eq!(found, reason, "{arguments:?}: {error}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains("leaves out --agent"), "{hint}");
        }
    }
    for arguments in [&resolve[..], &["review"], &["token", "list"], &["backup", &file]] {
        let output = home.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_list_of_open_contradictions_counts_the_resolved_ones() {
    let home = Home::new();
    printed(&home, &["save", "The ledger export limit is 10 MB", "--agent", "ann"]);
    printed(&home, &["save", "The ledger export limit is 20 MB", "--agent", "bob"]);
    let pair = handle_below(&printed(&home, &["contradictions", "list"]), "bob: ");
    printed(&home, &["contradictions", "resolve", &pair, "keep_newer"]);
    let text = printed(&home, &["contradictions", "list"]);
    assert!(text.contains("No open contradictions in default"), "{text}");
    assert!(text.contains("1 resolved: `--status resolved` lists them"), "{text}");
}

#[test]
fn a_repository_that_was_moved_names_its_earlier_workspace() {
    let home = Home::new();
    let (before, after) = (home.path().join("api"), home.path().join("moved"));
    fs::create_dir_all(before.join(".git")).unwrap();
    let within = |folder: &std::path::Path, arguments: &[&str]| {
        let output = home.program(arguments).current_dir(folder).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    within(&before, &["save", "The ferry leaves at seven"]);
    fs::rename(&before, &after).unwrap();
    for arguments in [&["list"][..], &["search", "ferry"]] {
        let text = within(&after, arguments);
        let alias = text.split("`commonbook workspace alias ").nth(1).expect(&text);
        let alias = alias.split('`').next().unwrap();
        assert!(text.contains(&format!("if this project was {}", before.display())), "{text}");
        assert!(alias.starts_with("api-"), "{alias}");
    }
    let text = within(&after, &["list"]);
    let alias = text.split("workspace alias ").nth(1).unwrap().split('`').next().unwrap();
    within(&after, &["workspace", "alias", alias]);
    assert!(within(&after, &["list"]).contains("The ferry leaves at seven"));
}

#[test]
fn an_error_at_the_command_line_names_what_can_be_typed() {
    let home = Home::new();
    let saved = home.run(&["save", "x", "--agent", "me", "--json"]);
    let id = json_of(&saved.stdout)["memory"]["id"].as_str().unwrap().to_owned();
    fs::write(home.path().join("lines"), "hello\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display().to_string();
    let nowhere = format!("{folder}/nowhere/x");
    let missing = format!("the folder {folder}/nowhere does not exist");
    let is_folder = format!("{folder} is a folder; expected the name of a file");
    let none = "con_00000000000000000000000000";
    let table: [(&[&str], &str); 11] = [
        (
            &["contradictions", "resolve", none, "keep_both"],
            "--context is missing: keep_both needs this field",
        ),
        (
            &["contradictions", "resolve", none, "override"],
            "--keep is missing: override needs this field",
        ),
        (&["save", "y", "--metadata", "v=17"], "--metadata takes JSON: '{\"version\": \"17\"}'"),
        (&["save", "y", "--valid-until", "soon"], "such as 2025-09-01T00:00:00Z"),
        (&["retract", &id], "say why: --reason \"…\""),
        (&["undo", "zzz"], "\"zzz\" is not the id of an operation"),
        (&["show", "nope"], "expected an id, or its last 8 letters"),
        (&["delete", "zzzzzz"], "expected an id, or its last 8 letters"),
        (&["import", "lines"], "the line is not JSON; expected an export, or one memory a line"),
        (&["export", &folder], &is_folder),
        (&["export", &nowhere], &missing),
    ];
    for (arguments, part) in table {
        let output = home.run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(part), "{arguments:?}: {text}");
    }
    for arguments in [&["search", "x", "--limit", "1"][..], &["list", "-k", "1"]] {
        assert!(printed(&home, arguments).contains('x'));
    }
    // A month is its end where a moment belongs, and an age is a moment.
    let saved = home.run(&["save", "z", "--valid-until", "2030-02", "--json"]);
    assert!(json_of(&saved.stdout)["memory"]["valid_until"].as_str() > Some("2030-02-28"));
    assert!(printed(&home, &["show", &id, "--at", "today"]).contains('x'));
}

#[test]
fn doctor_says_that_a_server_began_before_the_settings_changed() {
    let home = Home::new();
    let server = crate::world::Server::start(&home);
    let report = |arguments: &[&str]| {
        let output = home.run(&[&["doctor"], arguments].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    while !report(&[]).1.contains("a server of this home answers") {}
    let settings =
        r#"{"context": {"agents": {"*": {"budget": 900}}, "profile_owners": ["codex"]}}"#;
    fs::write(home.path().join("config.json"), settings).unwrap();
    let (code, text) = report(&[]);
    assert_eq!(code, Some(9), "{text}");
    assert!(text.contains("began before config.json changed"), "{text}");
    assert!(text.contains("-> Restart it"), "{text}");
    assert!(text.contains("contexts    agents.*.budget 900, profile_owners [\"codex\"]"), "{text}");
    drop(server);
    let server = crate::world::Server::start(&home);
    while !report(&[]).1.contains("a server of this home answers") {}
    assert_eq!(report(&[]).0, Some(0));
    drop(server);
}

#[test]
fn doctor_describes_a_new_home() {
    let home = Home::new();
    let store = home.path().join("commonbook.db").display().to_string();
    let text = printed(&home, &["doctor"]);
    let line = format!("store       {store} does not exist yet: the first save creates it");
    assert!(text.contains(&line), "{text}");
    printed(&home, &["list"]);
    assert!(printed(&home, &["doctor"]).contains("workspaces  none yet"));
}

#[test]
fn a_home_with_notes_in_other_languages_hears_once_how_to_read_them() {
    let home = Home::new();
    let bundled = |arguments: &[&str]| {
        let output =
            home.program(arguments).env("COMMONBOOK_EMBEDDER", "bundled").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let command = "commonbook reindex --model FOLDER";
    for text in
        ["The kiln is fired on Mondays.", "Die Glasur ist im Keller und wird nicht erwärmt."]
    {
        printed(&home, &["save", text]);
    }
    printed(&home, &["save", "窑炉每周一烧制，釉料放在地下室的架子上。"]);
    assert!(!bundled(&["doctor"]).contains("languages"), "two are quotations");
    assert!(!bundled(&["setup", "cursor"]).contains(command));
    printed(&home, &["save", "가마는 월요일마다 불을 때고 유약은 지하실에 둡니다."]);
    for arguments in [&["doctor"][..], &["setup", "cursor"]] {
        assert_eq!(bundled(arguments).matches(command).count(), 1, "{arguments:?}");
    }
    // Who has chosen a model has chosen.
    assert!(!printed(&home, &["doctor"]).contains("languages"));
}
