//! What a hook could not write in time: the next process writes it, once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::hook::{answer, claude, hook, log};
use super::projects::Person;
use crate::world::{Home, Server};

/// The records of hooks that wait in a home.
fn waiting(home: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(home.join("spool")).into_iter().flatten();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect()
}

/// Holds the store of a home as a long import does.
fn locked_store(home: &Path) -> Connection {
    let connection = Connection::open(home.join("commonbook.db")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

/// Waits until this holds.
#[expect(
    clippy::disallowed_methods,
    reason = "another process tells nobody when it has written a record"
)]
pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ends a turn with something to remember, compacts, and ends the session; none of it can be written.
fn work_in_vain(home: &Home) {
    let message =
        json!({"last_assistant_message": "Done.\n\nRemember: the crane is painted green"});
    assert_eq!(claude(home, "Stop", &message), json!({}));
    assert_eq!(claude(home, "PreCompact", &json!({"trigger": "auto"})), json!({}));
    assert_eq!(claude(home, "SessionEnd", &json!({"reason": "exit"})), json!({}));
}

/// The session, its checkpoint and its learning are there, once each.
fn all_is_written_once(home: &Home) {
    let list = answer(home, &["list"]);
    let texts: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["the crane is painted green"], "{}", log(home));
    let sessions = answer(home, &["session", "list"]);
    let [session] = sessions["items"].as_array().unwrap().as_slice() else { panic!("{sessions}") };
    assert_eq!(session["status"], "completed", "{sessions}");
    let checkpoints = answer(home, &["checkpoints", session["id"].as_str().unwrap()]);
    assert_eq!(checkpoints["items"].as_array().unwrap().len(), 1, "{checkpoints}");
    assert_eq!(waiting(home.path()), Vec::<PathBuf>::new());
}

fn home_with_store() -> Home {
    let home = Home::new();
    answer(&home, &["list"]);
    home
}

#[test]
fn the_next_command_writes_what_hooks_could_not() {
    let home = home_with_store();
    let lock = locked_store(home.path());
    work_in_vain(&home);
    let files = waiting(home.path());
    assert_eq!(files.len(), 3, "{}", log(&home));
    #[cfg(unix)]
    for file in &files {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(lock);
    all_is_written_once(&home);
}

#[test]
fn the_next_hook_writes_what_hooks_could_not() {
    // One that writes, one that begins, and one that only reads.
    for (event, input) in [
        ("SessionEnd", json!({"reason": "exit"})),
        ("UserPromptSubmit", json!({"prompt": "Which colour has the crane?"})),
    ] {
        let home = home_with_store();
        let lock = locked_store(home.path());
        work_in_vain(&home);
        assert_eq!(waiting(home.path()).len(), 3, "{}", log(&home));
        drop(lock);
        // The hook may have no time left on a busy machine; then the next one has.
        until("the hooks have written all", || {
            claude(&home, event, &input);
            waiting(home.path()).is_empty()
        });
        all_is_written_once(&home);
    }
}

#[test]
fn a_server_writes_what_hooks_could_not() {
    let home = home_with_store();
    let server = Server::start(&home);
    let lock = locked_store(home.path());
    work_in_vain(&home);
    drop(lock);
    until("the server has written all", || waiting(home.path()).is_empty());
    all_is_written_once(&home);
    drop(server);
}

#[test]
fn hooks_upgrade_no_store_and_their_work_waits_for_the_next_command() {
    let home = home_with_store();
    // As an older program has left it.
    let store = home.path().join("commonbook.db");
    let older = "DELETE FROM refinery_schema_history WHERE version = \
        (SELECT max(version) FROM refinery_schema_history)";
    let connection = Connection::open(&store).unwrap();
    assert_eq!(connection.execute(older, []).unwrap(), 1);
    drop(connection);
    assert_eq!(claude(&home, "SessionStart", &json!({"source": "startup"})), json!({}));
    work_in_vain(&home);
    assert_eq!(waiting(home.path()).len(), 3, "{}", log(&home));
    assert!(log(&home).contains("is of an older version"), "{}", log(&home));
    all_is_written_once(&home);
}

#[test]
fn a_hook_whose_project_is_unknown_for_a_moment_writes_into_that_project() {
    let person = Person::new();
    let project = person.repository("api", "https://github.com/acme/api.git");
    person.answer(&project, &["save", "tea is at four"]);
    let map = person.home.path().join("projects.json");
    let intact = fs::read(&map).unwrap();
    let settings = person.home.path().join("config.json");
    for (file, damage) in [(&map, "{"), (&map, ""), (&settings, "{")] {
        fs::write(file, damage).unwrap();
        let message = format!(
            "Remember: the crane is green, beside {}",
            damage.len() + usize::from(file == &settings)
        );
        let input =
            json!({"session_id": "own-1", "cwd": project, "last_assistant_message": message});
        assert_eq!(hook(&person.home, &["claude-code", "Stop"], &input), json!({}));
        let refused = person.run(&project, &["save", "milk is at five"]);
        assert!(!refused.status.success(), "{damage:?} in {}", file.display());
        assert_eq!(waiting(person.home.path()).len(), 1, "{}", log(&person.home));
        match file == &map {
            true => fs::write(&map, &intact).unwrap(),
            false => fs::remove_file(&settings).unwrap(),
        }
        assert!(person.texts(&project).contains(&message.replace("Remember: ", "")));
        assert_eq!(waiting(person.home.path()), Vec::<PathBuf>::new());
    }
    assert_eq!(person.answer(&project, &["list"])["items"].as_array().unwrap().len(), 4);
}

/// The files lie where every process of the user can write.
#[test]
fn a_record_speaks_for_no_person() {
    let home = home_with_store();
    let lock = locked_store(home.path());
    work_in_vain(&home);
    drop(lock);
    for file in waiting(home.path()) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"agent\":\"claude-code\"", "\"agent\":\"human\"")).unwrap();
    }
    let output = home.run(&["list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["items"], json!([]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.matches("is given up").count(), 3, "{stderr}");
}

#[test]
fn what_is_given_up_is_said_once() {
    let home = home_with_store();
    fs::create_dir(home.path().join("spool")).unwrap();
    fs::write(home.path().join("spool/req_1.json"), "{").unwrap();
    let output = home.run(&["list"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is given up"));
    let told = |event: &str, input: &Value| claude(&home, event, input).to_string();
    let sentence = "could not keep what came with 1 hook event";
    assert!(told("SessionStart", &json!({"source": "startup"})).contains(sentence));
    assert!(!told("SessionStart", &json!({"source": "startup"})).contains(sentence));
}
