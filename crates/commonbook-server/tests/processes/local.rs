//! The socket of a home: commands use it if a server answers there, with the same results.

use std::fs::{self, Metadata};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::spool::until;
use crate::world::{Home, Server};

fn socket(home: &Home) -> PathBuf {
    home.path().join("server.sock")
}

/// The socket's own entry in the home, if it is there.
fn found(home: &Home) -> Option<Metadata> {
    fs::symlink_metadata(socket(home)).ok()
}

fn signal(process: u32, name: &str) {
    let kill = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Whether a process has stopped, which takes a moment after the signal.
fn stopped(process: u32) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output();
    output.unwrap().stdout.starts_with(b"T")
}

fn stop(server: Server) {
    signal(server.id(), "-TERM");
    assert!(server.ended(), "it ends with success");
}

/// The answer of a command that succeeds.
fn answer(home: &Home, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json", "--agent", "me"]].concat();
    let output = home.run(&arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn saved(home: &Home, text: &str) -> (String, Value) {
    let answer = answer(home, &["save", text]);
    (answer["memory"]["id"].as_str().unwrap().to_owned(), answer["outcome"].clone())
}

/// The stored memories, and the length of their journal.
fn kept(home: &Home) -> (usize, usize) {
    (answer(home, &["list"])["items"].as_array().unwrap().len(), memory_events(home))
}

/// The number of events about memories.
fn memory_events(home: &Home) -> usize {
    let events = answer(home, &["events"]);
    let kinds = events["items"].as_array().unwrap().iter().map(|event| &event["kind"]);
    kinds.filter(|kind| kind.as_str().unwrap().starts_with("memory.")).count()
}

/// The fate of a request between the command and the server.
#[derive(Clone, Copy)]
enum Fate {
    /// It is answered.
    Answered,
    /// The server has answered, and the answer is lost.
    AnswerLost,
    /// The server of this process id is killed before it hears the request.
    Killed(u32),
}

/// Stands between the commands and the server; passes each request on to the test.
fn between(home: &Home, fate: Fate) -> Receiver<Value> {
    let behind = home.path().join("behind.sock");
    fs::rename(socket(home), &behind).unwrap();
    let listener = UnixListener::bind(socket(home)).unwrap();
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut server = BufReader::new(UnixStream::connect(&behind).unwrap());
            let mut line = String::new();
            server.read_line(&mut line).unwrap();
            client.write_all(line.as_bytes()).unwrap();
            line.clear();
            BufReader::new(&client).read_line(&mut line).unwrap();
            if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                return;
            }
            if let Fate::Killed(id) = fate {
                signal(id, "-KILL");
                fs::remove_file(&behind).unwrap();
                return;
            }
            server.get_mut().write_all(line.as_bytes()).unwrap();
            line.clear();
            server.read_line(&mut line).unwrap();
            if matches!(fate, Fate::Answered) {
                client.write_all(line.as_bytes()).unwrap();
            }
        }
    });
    requests
}

#[test]
fn every_verb_of_the_command_line_goes_over_the_socket() {
    let home = Home::new();
    let server = Server::start(&home);
    let asked = between(&home, Fate::Answered);
    let (id, _) = saved(&home, "tea");
    let commands: [&[&str]; 12] = [
        &["search", "tea"],
        &["show", &id[20..]],
        &["list"],
        &["update", &id, "--title", "Tea", "--idempotency-key", "mine"],
        &["delete", &id],
        &["restore", &id],
        &["history", &id],
        &["stats"],
        &["agents"],
        &["events"],
        &["purge", &id],
        &["batch", "batch.json"],
    ];
    fs::write(home.path().join("batch.json"), r#"[{"text": "one"}, {"text": "two"}]"#).unwrap();
    for command in commands {
        answer(&home, command);
    }
    let asked: Vec<Value> = asked.try_iter().collect();
    let verbs: Vec<&str> = asked.iter().map(|asked| asked["verb"].as_str().unwrap()).collect();
    let expected = [
        "save_memory",
        "search_memory",
        "get_memory",
        "list_memories",
        "update_memory",
        "delete_memory",
        "restore_memory",
        "memory_history",
        "get_memory_stats",
        "list_agents",
        "list_events",
        "purge_memory",
        "save_memories",
    ];
    assert_eq!(verbs, expected);
    for asked in &asked {
        assert_eq!(
            (&asked["caller"]["agent"], &asked["caller"]["door"]),
            (&json!("me"), &json!("cli"))
        );
    }
    assert_eq!(asked[4]["request"]["idempotency_key"], "mine");
    // A server removes no socket but its own.
    stop(server);
    assert!(found(&home).is_some());
}

/// Removes the counts of use.
fn without_usage(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("usage");
            fields.values_mut().for_each(without_usage);
        }
        Value::Array(items) => items.iter_mut().for_each(without_usage),
        _ => {}
    }
}

/// The output and exit code of a command; without scores, which fall with each second.
fn result_of(output: Output) -> (Option<i32>, String, String) {
    let mut answer = String::from_utf8(output.stdout).unwrap();
    if let Ok(mut value) = serde_json::from_str::<Value>(&answer) {
        assert_eq!(answer, format!("{value}\n"), "numbers are read as they are written");
        for hit in value["hits"].as_array_mut().into_iter().flatten() {
            hit["score"].take();
        }
        without_usage(&mut value);
        answer = value.to_string();
    }
    // Each command that reads is counted, in the background.
    let lines = answer.lines().filter(|line| !line.starts_with("usage  "));
    answer = lines.collect::<Vec<_>>().join("\n");
    (output.status.code(), answer, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn answers_and_errors_are_the_same_with_a_server_and_without() {
    let home = Home::new();
    let server = Server::start(&home);
    let (id, _) = saved(&home, "Tea is at four \u{1f375}, or at 4.000000000000001");
    saved(&home, "Coffee is at ten, says the one who makes it");
    answer(&home, &["save", "Numbers", "--metadata", r#"{"n": [12.783279292603929, 1e300, -7]}"#]);
    answer(&home, &["save", "Mine alone", "--private", "--idempotency-key", "k"]);
    answer(&home, &["update", &id, "--title", "Tea"]);
    let long = "t".repeat(201);
    let unknown = "mem_01m7y9c4dpeqkspxh7a865d434";
    let table: [&[&str]; 25] = [
        &["list"],
        &["list", "--agent", "me", "--limit", "2"],
        &["search", "When", "is", "tea?"],
        &["search", "when does it say coffee is at ten or at four"],
        &["show", &id],
        &["show", &id[20..]],
        &["history", &id],
        &["events", "--agent", "me"],
        &["show", unknown],
        &["show", "zzzzzz"],
        &["show", "no id"],
        &["show", &id, "--at", "2020-01-01T00:00:00Z"],
        &["list", "--limit", "0"],
        &["list", "--cursor", "none"],
        &["save", ""],
        &["save", "x", "--title", &long],
        &["save", "x", "--private"],
        &["save", "x", "--agent", "system"],
        &["save", "x", "--supersedes", unknown],
        &["save", "x", "--agent", "me", "--idempotency-key", "k"],
        &["update", &id, "--text", "y", "--agent", "yan"],
        &["update", &id, "--text", "y", "--agent", "me", "--expected-revision", "7"],
        &["delete", &id[20..], "--agent", "yan"],
        &["restore", &id, "--agent", "me"],
        &["purge", &id, "--agent", "yan"],
    ];
    let all = || -> Vec<_> {
        let run = |arguments: &[&str]| {
            let mut command = home.program(arguments);
            result_of(command.env_remove("COMMONBOOK_PERSON").output().unwrap())
        };
        let both = |command: &&[&str]| [run(command), run(&[*command, &["--json"]].concat())];
        table.iter().map(both).collect()
    };
    let before = all();
    stop(server);
    assert!(found(&home).is_none(), "a server that stops takes its socket with it");
    for ((with, without), command) in before.iter().zip(&all()).zip(table) {
        assert_eq!(with, without, "{command:?}");
    }
    let succeeded = before.iter().filter(|[plain, _]| plain.0 == Some(0)).count();
    assert_eq!(succeeded, 8);
}

#[test]
fn a_command_keeps_to_its_own_policy_at_a_server_too() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = |arguments: &[&str], name: &str, value: &str| {
        let mut command =
            home.program(&[&["save", "Herons nest late", "--json"], arguments].concat());
        command.env_remove("COMMONBOOK_PERSON").env(name, value).output().unwrap()
    };
    let private = save(&["--agent", "ann"], "COMMONBOOK_SHARING", "private");
    let private: Value = serde_json::from_slice(&private.stdout).unwrap();
    assert_eq!(private["memory"]["sharing"], "private");
    assert_eq!(kept(&home).0, 0, "for another agent");
    let refused = save(&[], "COMMONBOOK_PRODUCTION", "1");
    let reason = String::from_utf8(refused.stderr).unwrap();
    assert!(reason.contains("callers without a name may not write here"), "{reason}");
    stop(server);
}

#[test]
fn the_socket_is_its_users_alone() {
    let home = Home::new();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _server = Server::start(&home);
    let socket = found(&home).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!(socket.mode() & 0o777, 0o600);
    let names = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with(".s")));
}

#[test]
fn the_socket_of_a_killed_server_is_taken_over() {
    let home = Home::new();
    let server = Server::start(&home);
    let first = found(&home).unwrap().ino();
    signal(server.id(), "-KILL");
    assert!(!server.ended());
    assert_eq!(found(&home).unwrap().ino(), first, "the socket is still there");
    saved(&home, "with nobody there");
    let _server = Server::start(&home);
    let asked = between(&home, Fate::Answered);
    saved(&home, "with a new one");
    assert_eq!(asked.try_iter().count(), 1);
    assert_eq!(kept(&home), (2, 2));
}

#[test]
fn a_second_server_leaves_the_socket_to_the_first() {
    let home = Home::new();
    let first = Server::start(&home);
    let made = found(&home).unwrap().ino();
    let second = Server::start(&home);
    assert_eq!(found(&home).unwrap().ino(), made);
    stop(second);
    assert_eq!(found(&home).unwrap().ino(), made);
    saved(&home, "tea");
    stop(first);
    assert!(found(&home).is_none());
    let _third = Server::start(&home);
    assert!(found(&home).is_some());
}

#[test]
fn a_write_with_a_lost_response_is_executed_once() {
    let home = Home::new();
    let _server = Server::start(&home);
    let asked = between(&home, Fate::AnswerLost);
    let (id, outcome) = saved(&home, "tea");
    assert_eq!(outcome, "repeated", "the server had saved it");
    assert_eq!(answer(&home, &["update", &id, "--title", "Tea"])["revision"], 2);
    assert_eq!(answer(&home, &["delete", &id])["revision"], 3);
    assert_eq!(answer(&home, &["restore", &id])["revision"], 4);
    fs::write(home.path().join("batch.json"), r#"[{"text": "one"}, {"text": "two"}]"#).unwrap();
    answer(&home, &["batch", "batch.json"]);
    assert_eq!(answer(&home, &["purge", &id])["id"], json!(id));
    assert_eq!(asked.try_iter().count(), 6);
    assert_eq!(kept(&home).0, 2);
    assert_eq!(memory_events(&home), 7, "each event once");
}

#[test]
fn a_command_succeeds_without_a_server_killed_meanwhile() {
    let home = Home::new();
    let server = Server::start(&home);
    let asked = between(&home, Fate::Killed(server.id()));
    assert_eq!(saved(&home, "tea").1, "created");
    assert_eq!(asked.try_iter().count(), 1);
    assert_eq!(kept(&home), (1, 1));
}

#[test]
fn only_a_server_of_this_program_and_store_receives_requests() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut greeting = String::new();
    BufReader::new(UnixStream::connect(socket(&home)).unwrap()).read_line(&mut greeting).unwrap();
    stop(server);
    let own: Value = serde_json::from_str(&greeting).unwrap();
    let changed = |field: &str| {
        let mut other = own.clone();
        other[field] = match &own[field] {
            Value::String(_) => json!("another"),
            numbers => numbers.as_array().unwrap().iter().map(|_| json!(1)).collect(),
        };
        format!("{other}\n")
    };
    let table = [
        String::new(),
        "\n".to_owned(),
        "HTTP/1.1 400 Bad Request\r\n\r\n".to_owned(),
        "{\"version\":\"0.1.0\"}\n".to_owned(),
        "x".repeat(100_000),
        changed("version"),
        changed("program"),
        changed("store"),
    ];
    for (number, other) in table.into_iter().enumerate() {
        drop(fs::remove_file(socket(&home)));
        let listener = UnixListener::bind(socket(&home)).unwrap();
        let heard = std::thread::spawn(move || {
            let mut client = listener.accept().unwrap().0;
            // The client may close before it has received everything.
            drop(client.write_all(other.as_bytes()));
            drop(client.shutdown(std::net::Shutdown::Write));
            let mut heard = Vec::new();
            drop(client.read_to_end(&mut heard));
            heard
        });
        saved(&home, &format!("memory {number}"));
        assert!(heard.join().unwrap().is_empty());
        assert_eq!(kept(&home), (number + 1, number + 1));
    }
}

#[test]
fn a_command_does_not_wait_for_a_silent_server() {
    let home = Home::new();
    let server = Server::start(&home);
    // A server stopped during a write would keep the store; this test holds it, so it cannot write.
    let store = Connection::open(home.path().join("commonbook.db")).unwrap();
    store.busy_timeout(Duration::from_secs(60)).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    signal(server.id(), "-STOP");
    while !stopped(server.id()) {
        std::thread::yield_now();
    }
    drop(store);
    assert_eq!(saved(&home, "tea").1, "created");
    signal(server.id(), "-CONT");
    stop(server);
}

#[test]
fn a_server_of_another_store_receives_no_request() {
    let home = Home::new();
    let _server = Server::start(&home);
    saved(&home, "tea");
    let away = home.path().join("away");
    fs::create_dir(&away).unwrap();
    // With its mark, as when a home is moved: without it, the command would miss the store.
    for name in ["commonbook.db", "commonbook.db-wal", "commonbook.db-shm", "commonbook.db.mark"] {
        drop(fs::rename(home.path().join(name), away.join(name)));
    }
    assert_eq!(kept(&home), (0, 0));
}

#[test]
fn idle_and_malformed_clients_block_no_other() {
    let home = Home::new();
    let server = Server::start(&home);
    let connect = || UnixStream::connect(socket(&home)).unwrap();
    let idle: Vec<UnixStream> = (0..100).map(|_| connect()).collect();
    let mut slow = connect();
    slow.write_all(br#"{"verb":"save_memory","caller":"#).unwrap();
    let caller = json!({"agent": "me", "workspace": "default", "door": "cli"});
    let policy = json!({"anonymous_writes": true, "sharing": "shared"});
    let line = |verb: &str, request: Value| {
        json!({"verb": verb, "caller": caller, "policy": policy, "request": request,
            "hears_results": true})
        .to_string()
    };
    let unknown = line("nothing", json!({}));
    let cut_off = line("save_memory", json!({"text": "x"}));
    let unknown = unknown + "\n";
    for nonsense in ["\n", "GET / HTTP/1.1\r\n", "{}\n", "[]\n", &unknown, &cut_off] {
        let mut client = connect();
        client.write_all(nonsense.as_bytes()).unwrap();
        drop(client.shutdown(std::net::Shutdown::Write));
        let mut text = String::new();
        // What was left unread when it closed may reset the connection.
        drop(client.read_to_string(&mut text));
        assert!(text.lines().count() <= 1, "{nonsense}: {text}");
    }
    let asked = line("list_memories", json!({})) + "\n";
    let mut client = BufReader::new(connect());
    client.get_mut().write_all(asked.as_bytes()).unwrap();
    let lines: Vec<String> = client.lines().map(Result::unwrap).collect();
    assert_eq!(lines[1], r#"{"answer":{"response":{"items":[],"next":null},"ended":[]}}"#);
    stop(server);
    drop((idle, slow));
}

#[test]
fn a_home_that_cannot_have_a_socket_is_served_without() {
    let home = Home::new();
    let long = home.path().join("long".repeat(30));
    let taken = home.path().join("taken");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("server.sock"), "somebody's own").unwrap();
    for folder in [&long, &taken] {
        let folder = folder.to_str().unwrap();
        let server = Server::of(&home, &["--home", folder]);
        let output = home.run(&["save", "tea", "--home", folder]);
        assert!(output.status.success());
        stop(server);
    }
    assert!(!long.join("server.sock").exists());
    assert_eq!(fs::read_to_string(taken.join("server.sock")).unwrap(), "somebody's own");
}

/// The niceness of each thread of a process, by its name.
#[cfg(target_os = "linux")]
fn thread_niceness(process: u32) -> Vec<(String, i32)> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let lines =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    let read = |line: String| {
        let (head, rest) = line.rsplit_once(") ")?;
        let name = head.split_once('(')?.1.to_owned();
        Some((name, rest.split(' ').nth(16)?.parse().ok()?))
    };
    lines.filter_map(read).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn what_callers_wait_for_runs_at_their_priority() {
    let home = Home::new();
    saved(&home, "the crane is painted green");
    let server = Server::start(&home);
    let is_up = |name: &str| thread_niceness(server.id()).iter().any(|(own, _)| own == name);
    until("the follower and the writer of the store run", || {
        is_up("follower") && is_up("commonbook-writ")
    });
    let own = rustix::process::getpriority_process(None).unwrap();
    let threads = thread_niceness(server.id());
    let writers = threads.iter().filter(|(name, _)| name == "commonbook-writ");
    assert_eq!(writers.map(|(_, nice)| *nice).collect::<Vec<_>>(), [own], "{threads:?}");
    stop(server);
}
