//! Many processes that append to one case: no entry is lost or doubled, and a reader receives each
//! of them once, in order.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::world::{Home, WORKSPACE};

const PROCESSES: usize = 16;
const EACH: usize = 40;

fn answer(home: &Home, arguments: &[&str]) -> Value {
    let own = ["--json", "--workspace", WORKSPACE];
    let output = home.run(&[arguments, &own].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Reads until the writers have ended and the end is reached; returns the entries.
fn follow(home: &Home, done: &AtomicBool) -> Vec<(u64, String)> {
    let mut read = Vec::new();
    loop {
        let was_done = done.load(Ordering::SeqCst);
        let after = read.len().to_string();
        let page = answer(home, &["case", "read", "log", "--after", &after, "--limit", "100"]);
        for entry in page["entries"].as_array().unwrap() {
            let summary = entry["summary"].as_str().unwrap().to_owned();
            read.push((entry["position"].as_u64().unwrap(), summary));
        }
        if was_done && page["next"].is_null() {
            return read;
        }
    }
}

#[test]
fn sixteen_processes_that_append_to_one_case_lose_and_double_nothing() {
    let home = Home::new();
    answer(&home, &["case", "open", "log"]);
    let done = AtomicBool::new(false);
    let (placed, followed) = std::thread::scope(|scope| {
        let (home, done) = (&home, &done);
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(move || follow(home, done))).collect();
        let writers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                scope.spawn(move || {
                    let agent = format!("agent-{process}");
                    let append = |number: usize| {
                        let summary = format!("entry {number} of process {process}");
                        let command = ["case", "append", "log", &summary, "--agent", &agent];
                        let appended = answer(home, &command);
                        (appended["entries"][0]["position"].as_u64().unwrap(), summary)
                    };
                    (0..EACH).map(append).collect::<Vec<_>>()
                })
            })
            .collect();
        let placed = writers.into_iter().flat_map(|writer| writer.join().unwrap());
        let placed: BTreeSet<_> = placed.collect();
        done.store(true, Ordering::SeqCst);
        let read: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        (placed, read)
    });
    let positions: Vec<u64> = placed.iter().map(|(position, _)| *position).collect();
    let expected: Vec<u64> = (1..=(PROCESSES * EACH) as u64).collect();
    assert_eq!(positions, expected, "each position exactly once");
    for read in followed {
        // Each reader received every entry once, in order, as its writer did.
        assert_eq!(read, placed.iter().cloned().collect::<Vec<_>>());
    }
    let case = answer(&home, &["case", "show", "log"]);
    assert_eq!(case["version"], PROCESSES * EACH);
    assert!(home.run(&["doctor"]).status.success());
}
