//! Memories in a PostgreSQL database: what names it, and that no file takes its place.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::world::Home;

/// A database that no server has.
const NOWHERE: &str = "host=/nowhere user=ann dbname=memory";

/// Runs a command with a database in its environment, or with none.
fn run(home: &Home, database: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = home.program(arguments);
    match database {
        Some(database) => command.env("COMMONBOOK_DATABASE", database),
        None => command.env_remove("COMMONBOOK_DATABASE"),
    };
    command.output().unwrap()
}

/// The error that a command prints with `--json`.
fn error(output: &Output) -> Value {
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let line = text.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str::<Value>(line).unwrap()["error"].clone()
}

/// What a command prints with `--json`.
fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn has_file(home: &Home) -> bool {
    home.path().join("commonbook.db").exists()
}

#[test]
fn a_database_that_cannot_be_reached_is_an_error_and_no_file_takes_its_place() {
    let home = Home::new();
    for command in [
        &["save", "tea", "--json"][..],
        &["search", "tea", "--json"],
        &["serve", "--port", "0", "--json"],
    ] {
        let said = error(&run(&home, Some(NOWHERE), command));
        assert_eq!(said["kind"], "unavailable", "{command:?}");
        assert!(said["message"].as_str().unwrap().starts_with("PostgreSQL cannot be reached: "));
        assert!(said["hint"].as_str().unwrap().contains("connection string"));
    }
    assert!(!has_file(&home));
}

#[test]
fn the_settings_name_a_database_and_the_environment_precedes() {
    let home = Home::new();
    let write =
        |settings: Value| fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
    write(json!({"database": {"url": NOWHERE}}));
    assert_eq!(error(&run(&home, None, &["search", "tea", "--json"]))["kind"], "unavailable");
    let said = error(&run(&home, Some("no connection string"), &["search", "tea", "--json"]));
    assert_eq!(said["message"], "this is no connection string of PostgreSQL");
    // Settings that are wrong are not replaced by a file in the home.
    for wrong in [json!({"urll": NOWHERE}), json!({"url": NOWHERE, "authorities": "relative.pem"})]
    {
        write(json!({"database": wrong}));
        let said = error(&run(&home, None, &["search", "tea", "--json"]));
        assert_eq!(said["kind"], "invalid");
        assert!(said["message"].as_str().unwrap().contains("database."), "{said}");
    }
    // Nor those of a file that is no JSON; without a word of a database a person can read.
    fs::write(home.path().join("config.json"), r#"{"database": {"url": "postgres://"#).unwrap();
    assert_eq!(error(&run(&home, None, &["search", "tea", "--json"]))["kind"], "invalid");
    assert!(!has_file(&home));
    write(json!({"database": {"url": NOWHERE}, "contexts": 3}));
    assert_eq!(error(&run(&home, None, &["search", "tea", "--json"]))["kind"], "unavailable");
    assert!(!has_file(&home));
    write(json!({"contexts": 3}));
    assert!(run(&home, None, &["search", "tea", "--json"]).status.success());
}

#[test]
fn a_file_of_authorities_without_a_certificate_is_refused() {
    let home = Home::new();
    let file = home.path().join("authority.pem");
    fs::write(&file, "no certificate").unwrap();
    let database = json!({"url": "postgres://ann@db.invalid/memory", "authorities": file});
    fs::write(home.path().join("config.json"), json!({"database": database}).to_string()).unwrap();
    let said = error(&run(&home, None, &["search", "tea", "--json"]));
    assert_eq!(said["kind"], "invalid");
    assert!(said["message"].as_str().unwrap().contains("authority.pem"), "{said}");
}

#[test]
fn what_is_about_the_file_is_refused_with_a_database() {
    let home = Home::new();
    let said = error(&run(&home, Some(NOWHERE), &["backup", "/tmp/x.backup", "--json"]));
    assert_eq!(said["message"], "the memories are in PostgreSQL, not in a file of the home");
    assert!(said["hint"].as_str().unwrap().contains("tools of PostgreSQL"));
}

#[test]
fn a_home_moves_into_another_home_and_every_row_is_compared() {
    let (from, to) = (Home::new(), tempfile::tempdir().unwrap());
    let target = to.path().join("moved").display().to_string();
    assert!(run(&from, None, &["save", "the gate opens at nine"]).status.success());
    assert!(
        run(&from, None, &["memory", "add", "qa", "Run the tests", "--everywhere"])
            .status
            .success()
    );
    let source = from.path().display().to_string();
    let migrate = ["migrate", "--from", &source, "--to", &target, "--json"];
    let first = answer(&run(&from, None, &migrate));
    assert!(first["copied"].as_u64().unwrap() > 3, "{first}");
    assert_eq!(first["copied"], first["compared"]);
    let again = answer(&run(&from, None, &migrate));
    assert_eq!((&again["copied"], &again["compared"]), (&json!(0), &first["compared"]));
    let list = ["list", "--json", "--home", &target];
    let listed = answer(&run(&from, None, &list));
    assert_eq!(listed["items"][0]["text"], "the gate opens at nine");
    let file = to.path().join("moved/memories/qa.md");
    assert!(fs::read_to_string(file).unwrap().contains("Run the tests"));
    // The source is as it was, and a target with other memories is refused.
    assert!(run(&from, None, &["save", "the gate opens at ten"]).status.success());
    let said = error(&run(&from, None, &migrate));
    assert_eq!(said["kind"], "conflict");
    let nothing = to.path().join("nothing").display().to_string();
    let said =
        error(&run(&from, None, &["migrate", "--from", &nothing, "--to", &target, "--json"]));
    assert_eq!((said["kind"].as_str(), said["field"].as_str()), (Some("not_found"), Some("from")));
}
