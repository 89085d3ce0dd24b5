//! Many processes on one home, and killed processes: no acknowledged save is lost.

mod agents;
mod backups;
mod briefing;
mod cases;
mod consent;
mod consolidation;
#[cfg(unix)]
mod files;
mod first_minutes;
mod folders;
mod forgetting;
mod hook;
#[cfg(unix)]
mod local;
mod projects;
mod question;
#[cfg(unix)]
mod remote;
#[cfg(unix)]
mod remote_commands;
#[cfg(target_os = "linux")]
mod sandbox;
mod search;
mod setup;
mod spool;
mod standing;
#[cfg(unix)]
mod vault;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::world::{self, Door, Home, Server};

/// Every event of the workspace, oldest first.
fn journal(server: &Server) -> Vec<Value> {
    let mut all = Vec::new();
    let mut after = json!(0);
    while !after.is_null() {
        let page = json!({"after": after, "limit": 100});
        let page = server.call("reader", "list_events", &page).unwrap();
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        after = page["next"].clone();
    }
    all
}

/// How often each text is kept in the workspace.
fn texts(server: &Server) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    let mut fields = json!({"limit": 100});
    loop {
        let page = server.call("reader", "list_memories", &fields).unwrap();
        for memory in page["items"].as_array().unwrap() {
            *all.entry(memory["text"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        if page["next"].is_null() {
            return all;
        }
        fields["cursor"] = page["next"].clone();
    }
}

fn nothing_is_lost_or_doubled(server: &Server, expected: usize) {
    let texts = texts(server);
    assert_eq!(texts.len(), expected);
    assert!(texts.values().all(|times| *times == 1));
    let journal = journal(server);
    let sequences = journal.iter().map(|event| event["sequence"].as_u64().unwrap());
    assert!(sequences.eq(1..=journal.len() as u64), "the journal has no gap and nothing twice");
    let is_saved = |event: &&Value| event["kind"] == "memory.saved";
    assert_eq!(journal.iter().filter(is_saved).count(), expected);
}

#[test]
fn eight_processes_that_save_at_once_lose_nothing() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for process in 0..8 {
            let home = &home;
            scope.spawn(move || {
                for number in 0..60 {
                    let text = format!("memory {number} of process {process}");
                    let agent = format!("agent-{process}");
                    let output = home.run(&[
                        "save",
                        &text,
                        "--agent",
                        &agent,
                        "--workspace",
                        world::WORKSPACE,
                    ]);
                    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "{stderr}");
                }
            });
        }
    });
    nothing_is_lost_or_doubled(&Server::start(&home), 480);
}

#[test]
fn sixty_four_clients_that_save_over_rest_lose_nothing() {
    let home = Home::new();
    let server = Server::start(&home);
    std::thread::scope(|scope| {
        for client in 0..64 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..40 {
                    let text = format!("memory {number} of client {client}");
                    server.call("writer", "save_memory", &json!({"text": text})).unwrap();
                }
            });
        }
    });
    nothing_is_lost_or_doubled(&server, 2_560);
}

/// Saves by eight clients until the server is gone; notes each save that was acknowledged, and
/// sends the server this signal once `enough` were.
fn save_until_ended(
    server: &Server,
    signal: &str,
    acknowledged: &Mutex<Vec<String>>,
    enough: usize,
) {
    let before = acknowledged.lock().unwrap().len();
    let killed = AtomicUsize::new(0);
    let id = server.id().to_string();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (killed, id) = (&killed, &id);
            scope.spawn(move || {
                loop {
                    let text = world::new_text();
                    let headers = [("X-Commonbook-Workspace", world::WORKSPACE)];
                    let body = json!({"text": text}).to_string();
                    // A connection that breaks acknowledges nothing.
                    let Ok((201, _)) =
                        server.send("POST", "/v1/memories", &headers, body.as_bytes())
                    else {
                        return;
                    };
                    let mut all = acknowledged.lock().unwrap();
                    all.push(text);
                    if all.len() >= before + enough && killed.fetch_add(1, Ordering::SeqCst) == 0 {
                        let kill = std::process::Command::new("kill").args([signal, id]).status();
                        assert!(kill.unwrap().success());
                    }
                }
            });
        }
    });
}

/// Everything acknowledged is there, exactly once, and the journal has no gap.
fn all_is_there(home: &Home, acknowledged: &Mutex<Vec<String>>) {
    let server = Server::start(home);
    let kept = texts(&server);
    for text in acknowledged.lock().unwrap().iter() {
        assert_eq!(kept.get(text), Some(&1), "acknowledged: {text}");
    }
    assert!(kept.values().all(|times| *times == 1));
    let sequences: Vec<u64> =
        journal(&server).iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=kept.len() as u64).collect::<Vec<_>>());
    for text in acknowledged.lock().unwrap().iter() {
        let query = json!({"query": format!("\"{text}\""), "k": 1});
        let found = server.call("reader", "search_memory", &query).unwrap();
        assert_eq!(found["hits"][0]["memory"]["text"], text.as_str());
        assert_eq!(found["total"], 1, "found once: {text}");
    }
    assert!(home.run(&["doctor"]).status.success());
}

#[test]
fn saves_acknowledged_before_a_kill_exist_exactly_once() {
    let home = Home::new();
    let acknowledged = Mutex::new(Vec::new());
    for round in 0..20 {
        let server = Server::start(&home);
        save_until_ended(&server, "-KILL", &acknowledged, 20 + 7 * round);
    }
    all_is_there(&home, &acknowledged);
}

#[test]
fn a_server_stopped_under_load_finishes_its_requests() {
    let home = Home::new();
    let acknowledged = Mutex::new(Vec::new());
    let server = Server::start(&home);
    save_until_ended(&server, "-TERM", &acknowledged, 200);
    assert!(server.ended(), "it ends with success");
    all_is_there(&home, &acknowledged);
}
