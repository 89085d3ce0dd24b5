//! Forgetting over the bytes of a whole home: what was derived, handed over, exported, embedded and
//! backed up does not come back, whatever runs afterwards.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Door as _, Home, Server};

const TEXT: &str = "Mrs Abernathy keeps the spare quayside key under the third flowerpot. \
    Her nephew Quentin Osterhagen carries another one on a scarlet lanyard.";
const TITLE: &str = "The Abernathy flowerpot hides keys";
const SUMMARY: &str = "Spare keys lie with Abernathy and with Osterhagen";

/// What must be in no file: words of text, title and summary, their stems, and parts of sentences.
const TRACES: [&str; 10] = [
    "abernathy",
    "abernathi",
    "flowerpot",
    "osterhag",
    "quaysid",
    "lanyard",
    "third flower",
    "scarlet lan",
    "carries another one on",
    "spare keys lie",
];

fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = home.program(arguments);
    command.env("COMMONBOOK_EMBEDDER", "word-hash").env("COMMONBOOK_WORKSPACE", "harbour");
    command.output().unwrap()
}

fn done(home: &Home, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn answer(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(home, &[arguments, &["--json"]].concat())).unwrap()
}

/// The traces in the files below a folder, each with its file.
fn traces(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(traces(&path));
            continue;
        }
        // A socket has no bytes.
        let Ok(bytes) = fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let held = TRACES.iter().filter(|trace| text.contains(**trace));
        found.extend(held.map(|trace| format!("{trace} in {}", path.display())));
    }
    found
}

/// A home in which the text was written, quoted, handed over and put into standing memory.
fn home_that_knows() -> (Home, String) {
    let home = Home::new();
    for number in 0..20 {
        done(
            &home,
            &["save", &format!("Berth {number} was swept on day {number}"), "--agent", "ann"],
        );
    }
    let save = ["save", TEXT, "--title", TITLE, "--summary", SUMMARY, "--agent", "ann"];
    let id = answer(&home, &save)["memory"]["id"].as_str().unwrap().to_owned();
    let first = TEXT.split_inclusive(". ").next().unwrap().trim();
    let quote = format!("For the record: {first} Please do not move it.");
    done(&home, &["save", &quote, "--agent", "ann"]);
    done(&home, &["case", "append", "keys", first, "--title", "Keys", "--agent", "bob"]);
    done(&home, &["case", "digest", "keys", "--agent", "bob"]);
    done(&home, &["entity", "resolve", "person", "Quentin", "--context", first, "--agent", "ann"]);
    done(&home, &["memory", "add", "qa", first, "--everywhere"]);
    done(&home, &["context", "Where is the spare key?", "--agent", "bob"]);
    let handoff =
        answer(&home, &["handoff", "create", "bob", first, "--memory", &id, "--agent", "ann"]);
    let handoff = handoff["handoff"]["id"].as_str().unwrap().to_owned();
    done(&home, &["handoff", "accept", &handoff, "--agent", "bob"]);
    done(&home, &["update", &id, "--summary", &format!("{SUMMARY}."), "--agent", "ann"]);
    done(&home, &["consolidate", "--agent", "ann"]);
    done(&home, &["reindex"]);
    (home, id)
}

#[test]
fn nothing_comes_back_after_the_thirteen_steps() {
    let (home, id) = home_that_knows();
    assert!(traces(home.path()).len() > TRACES.len(), "it is in many places before");
    let outside = TempDir::new().unwrap();
    let path = |name: &str| outside.path().join(name).display().to_string();
    let (export, backup, talk) = (path("export.jsonl"), path("backup"), path("talk.jsonl"));
    done(&home, &["export", &export, "--receipts", "--standing"]);
    let written = answer(&home, &["backup", &backup]);
    assert_eq!(written["verified"], true);
    assert!(written["backup"]["files"].as_array().unwrap().contains(&json!("memories/qa.md")));

    let shown = done(&home, &["forget", &id]);
    assert!(shown.contains("Would forget 1 memory") && shown.contains("packages of handoffs"));
    assert!(!traces(home.path()).is_empty(), "a preview changes nothing");
    let certificate =
        answer(&home, &["forget", &id, "--also-quotes", "--yes"])["certificate"].clone();
    assert!(!certificate["finished_at"].is_null(), "{certificate}");
    let packages = |place: &&Value| place["place"] == "packages of handoffs";
    let packages = certificate["places"].as_array().unwrap().iter().find(packages).unwrap();
    assert_ne!(packages["found"], 0, "the certificate counts what went with the memory");
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after forgetting");

    let message = json!({"role": "user", "content": TEXT}).to_string();
    fs::write(&talk, message).unwrap();
    done(&home, &["import", &export, "--agent", "ann"]);
    drop(run(&home, &["import", &talk, "--agent", "ann"]));
    drop(run(&home, &["learn", &format!("Done.\n\nRemember: {TEXT}"), "--agent", "ann"]));
    let refused = run(&home, &["save", TEXT, "--agent", "bob"]);
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.contains("was forgotten on") && refused.contains("commonbook allow"),
        "{refused}"
    );
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after the source was fed again");
    let first = TEXT.split_inclusive(". ").next().unwrap().trim();
    for said in [
        &["handoff", "create", "ann", first, "--agent", "bob"][..],
        &["case", "append", "keys", first, "--agent", "bob"],
        &["case", "open", "flower", "--title", first, "--agent", "bob"],
        &["entity", "resolve", "person", "Quentin", "--context", first, "--agent", "ann"],
        &["memory", "add", "qa", first, "--everywhere"],
    ] {
        let refused = run(&home, said);
        let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.contains("was forgotten on"), "{said:?}: {refused}");
    }
    done(&home, &["context", first, "--agent", "bob"]);
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after it was said elsewhere");

    done(&home, &["consolidate", "--agent", "ann"]);
    done(&home, &["contradictions", "list"]);
    done(&home, &["entity", "list"]);
    done(&home, &["reindex", "--vectors"]);
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after every follower");

    let refused = run(&home, &["restore-backup", &backup]);
    assert!(!refused.status.success(), "a store is not replaced without a word");
    let restored = done(&home, &["restore-backup", &backup, "--yes"]);
    assert!(restored.contains("Restored"), "{restored}");
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after the restore");
    done(&home, &["reindex"]);
    drop(Server::start(&home));
    assert_eq!(traces(home.path()), Vec::<String>::new(), "after a server");
    let doctor = answer(&home, &["doctor", "--deep"]);
    assert_eq!(doctor["findings"], json!([]));
    let kept = certificate["id"].as_str().unwrap();
    let kept = done(&home, &["forget", "--certificate", kept]);
    assert!(kept.contains("Not erased:") && kept.contains("backups and exports"), "{kept}");
    let found = done(&home, &["search", "berth swept"]);
    assert!(found.contains("Berth"), "the rest is there: {found}");
}

#[test]
fn a_backup_of_a_running_server_is_whole_and_restores_into_an_empty_home() {
    let home = Home::new();
    let server = Server::start(&home);
    let outside = TempDir::new().unwrap();
    let file = outside.path().join("backup").display().to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..200 {
                let text = json!({"text": format!("Crane {number} was greased")});
                server.call("ann", "save_memory", &text).unwrap();
            }
        });
        for _ in 0..3 {
            let written = answer(&home, &["backup", &file, "--force"]);
            assert_eq!(written["verified"], true);
        }
    });
    let held = answer(&home, &["backup", &file, "--force"])["backup"].clone();
    assert_eq!(held["memories"], 200);
    let inside = home.path().join("backup").display().to_string();
    assert!(!run(&home, &["backup", &inside]).status.success(), "not inside the home");
    let errors = run(&home, &["restore-backup", &file, "--yes"]);
    let errors = String::from_utf8_lossy(&errors.stderr).into_owned();
    assert!(errors.contains("has the store open"), "{errors}");
    let empty = Home::new();
    let restored = answer(&empty, &["restore-backup", &file]);
    assert_eq!(restored["backup"]["memories"], 200);
    let doctor = answer(&empty, &["doctor", "--deep"]);
    assert_eq!(doctor["findings"], json!([]));
}

#[test]
fn a_backup_replaces_a_file_only_by_force() {
    let home = Home::new();
    done(&home, &["save", "Berth four is closed", "--agent", "ann"]);
    let outside = TempDir::new().unwrap();
    let path = outside.path().join("x.txt");
    let file = path.display().to_string();
    fs::write(&path, "precious").unwrap();
    let refused = run(&home, &["backup", &file]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && errors.contains("x.txt exists"), "{errors}");
    assert!(errors.contains("--force"), "{errors}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(answer(&home, &["backup", &file, "--force"])["verified"], true);
    assert_ne!(fs::read(&path).unwrap(), b"precious");
    let fresh = outside.path().join("fresh").display().to_string();
    assert_eq!(answer(&home, &["backup", &fresh])["verified"], true);
    let names = fs::read_dir(outside.path()).unwrap().count();
    assert_eq!(names, 2, "nothing else is left");
}

#[test]
fn a_file_that_is_no_whole_backup_changes_nothing() {
    let home = Home::new();
    done(&home, &["save", "Berth four is closed", "--agent", "ann"]);
    let outside = TempDir::new().unwrap();
    let path = |name: &str| outside.path().join(name).display().to_string();
    let good = path("good");
    done(&home, &["backup", &good]);
    let bytes = fs::read(&good).unwrap();
    fs::write(path("short"), &bytes[..bytes.len() / 2]).unwrap();
    let mut torn = bytes.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 4096].fill(7);
    fs::write(path("torn"), torn).unwrap();
    fs::write(path("text"), "hello").unwrap();
    fs::copy(home.path().join("commonbook.db"), path("store")).unwrap();
    for name in ["short", "torn", "text", "store", "missing"] {
        let refused = run(&home, &["restore-backup", &path(name), "--yes"]);
        assert!(!refused.status.success(), "{name}");
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(errors.contains("->") || errors.contains("hint") || !errors.is_empty(), "{name}");
    }
    assert!(done(&home, &["list", "--agent", "ann"]).contains("Berth four is closed"));
}
