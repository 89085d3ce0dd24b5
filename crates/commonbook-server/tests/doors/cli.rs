//! Features of the command line alone: ends of ids, standard input, files, tables, exit codes.

use std::fs;

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home};

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
    let refused = home.run(&["delete", &id, "--agent", "you"]);
    assert_eq!(refused.status.code(), Some(4));
}

#[test]
fn text_comes_from_standard_input_and_must_be_utf8() {
    let home = Home::new();
    let saved = home.feed(&["save", "-", "--json"], "from a pipe\n".as_bytes());
    assert_eq!(json_of(&saved.stdout)["memory"]["text"], "from a pipe\n");
    let refused = home.feed(&["save", "-", "--json"], b"bad \xff byte");
    assert_eq!(refused.status.code(), Some(2));
    let error = &json_of(&refused.stderr)["error"];
    assert!(error["message"].as_str().unwrap().contains("not UTF-8 at byte 4"), "{error}");
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
    let found = home.run(&["search", "When does the ferry leave?", "--json"]);
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
    assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 4);
    let other = Home::new();
    assert!(other.feed(&["import", "-"], &first).status.success());
    let second = other.run(&["export", "--workspace", "trip"]).stdout;
    assert_eq!(String::from_utf8(second).unwrap(), String::from_utf8(first).unwrap());
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
fn a_search_without_a_workspace_of_its_own_reads_the_whole_home() {
    let home = Home::new();
    home.run(&["save", "The ferry leaves at seven", "--workspace", "trip"]);
    let anywhere = home.run(&["search", "ferry", "--json"]);
    assert_eq!(json_of(&anywhere.stdout)["total"], 1);
    let named = home.run(&["search", "ferry", "--json", "--workspace", "work"]);
    assert_eq!(json_of(&named.stdout)["total"], 0);
    home.run(&["save", "Something of its own"]);
    let nearest = home.run(&["search", "ferry", "--json"]);
    assert_eq!(json_of(&nearest.stdout)["total"], 0);
    let output = home.run(&["search", "ferry", "--json", "--scope", "home"]);
    assert_eq!(json_of(&output.stdout)["total"], 1);
}
