//! The monthly files of the audit, which a server writes, also a killed one.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{Door, Home, Server, WORKSPACE};

struct AuditedHome {
    home: Home,
    folder: PathBuf,
}

impl AuditedHome {
    fn new(folder: PathBuf, setting: &Value) -> Self {
        let home = Home::new();
        let settings = json!({"audit": {"folder": setting}});
        fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
        Self { folder: home.path().join(folder), home }
    }

    /// The sequences of the lines in all files, in order.
    fn sequences(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        let text: String = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        // The last line of a process at work is not whole yet.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["sequence"].as_u64().unwrap()).collect()
    }

    /// Waits until the files have this many lines.
    fn wait_for(&self, lines: usize) {
        let begun = Instant::now();
        while self.sequences().len() < lines {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", self.sequences());
            std::thread::yield_now();
        }
    }
}

fn save_notes(server: &Server, from: usize, count: usize) {
    for number in from..from + count {
        let memory = json!({"text": format!("note number {number}")});
        server.call("ann", "save_memory", &memory).unwrap();
    }
}

#[test]
fn killed_servers_leave_each_event_in_the_files_once() {
    let audited = AuditedHome::new("audit".into(), &json!("audit"));
    let mut saved = 0;
    for round in 0..6 {
        let server = Server::start(&audited.home).naming("s");
        save_notes(&server, saved, 20);
        saved += 20;
        // Each round it is killed elsewhere: before, while and after it writes. A server that is
        // dropped is killed.
        if round % 2 == 0 {
            audited.wait_for(saved.saturating_sub(7 * round));
        }
    }
    let server = Server::start(&audited.home).naming("s");
    audited.wait_for(saved);
    assert_eq!(audited.sequences(), (1..=saved as u64).collect::<Vec<_>>());
    // A second server of the home does not write what the first one writes.
    let second = Server::start(&audited.home).naming("s");
    save_notes(&second, saved, 5);
    audited.wait_for(saved + 5);
    drop(server);
    save_notes(&second, saved + 5, 5);
    audited.wait_for(saved + 10);
    assert_eq!(audited.sequences(), (1..=saved as u64 + 10).collect::<Vec<_>>());
}

#[test]
fn a_server_that_is_stopped_has_written_what_happened_also_outside_of_its_home() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("log/audit");
    let audited = AuditedHome::new(folder.clone(), &json!(folder));
    let server = Server::start(&audited.home).naming("s");
    save_notes(&server, 0, 3);
    let id = server.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(server.ended());
    assert_eq!(audited.sequences(), [1, 2, 3]);
    let events = audited.home.run(&["audit", "--workspace", WORKSPACE]);
    assert_eq!(String::from_utf8(events.stdout).unwrap().lines().count(), 3);
}
