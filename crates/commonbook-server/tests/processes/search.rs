//! Searching while other processes write: the very next search finds an acknowledged save.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::world::{self, Door, Home, Server};

/// The texts that a search for this exact phrase finds.
fn found(server: &Server, phrase: &str) -> Vec<String> {
    let query = json!({"query": format!("\"{phrase}\""), "k": 5});
    let answer = server.call("reader", "search_memory", &query).unwrap();
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["memory"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_next_search_of_another_process_finds_each_of_three_hundred_saves() {
    let home = Home::new();
    let (server, other) = (Server::start(&home), Server::start(&home));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A third process writes meanwhile.
            for number in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let text = json!({"text": format!("noise beside number {number}")});
                server.call("noisy", "save_memory", &text).unwrap();
            }
        });
        let mut missed = Vec::new();
        for number in 0..300 {
            let text = format!("the heron counted fish {number} today");
            server.call("ann", "save_memory", &json!({"text": text})).unwrap();
            if found(&other, &format!("fish {number} today")) != [text.clone()] {
                missed.push(text);
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(missed.is_empty(), "{} of 300 were missed: {missed:?}", missed.len());
    });
}

/// The response of a search, without fields that depend on its time.
fn answer(home: &Home, query: &str) -> Value {
    let arguments = ["search", query, "-k", "100", "--json", "--workspace", world::WORKSPACE];
    let output = home.run(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hits = answer["hits"].as_array().unwrap();
    let texts: Vec<&Value> = hits.iter().map(|hit| &hit["memory"]["text"]).collect();
    json!({"texts": texts, "total": answer["total"]})
}

fn spoil(home: &Path, way: usize) {
    let index = home.join("index");
    if way == 0 {
        return fs::remove_dir_all(index).unwrap();
    }
    for entry in fs::read_dir(index.join("words")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let kept = if way == 1 { bytes.len() / 2 } else { 0 };
        fs::write(&path, &bytes[..kept]).unwrap();
    }
}

#[test]
fn a_missing_or_truncated_index_is_rebuilt_and_reported_at_the_next_start() {
    let home = Home::new();
    let memories: Vec<Value> = (0..90)
        .map(|n| json!({"text": format!("heron {n} and {}", "fish ".repeat(n % 7 + 1))}))
        .collect();
    let batch = serde_json::to_vec(&memories).unwrap();
    let saved = home.feed(&["batch", "-", "--workspace", world::WORKSPACE], &batch);
    assert!(saved.status.success());
    let expected = answer(&home, "heron fish");
    assert_eq!(expected["total"], 90);
    assert!(home.run(&["reindex", "--later"]).status.success());
    assert_eq!(answer(&home, "heron fish"), expected);
    for way in 0..3 {
        spoil(home.path(), way);
        assert_eq!(answer(&home, "heron fish"), expected, "way {way}");
        let output = home.run(&["reindex", "--later"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(answer(&home, "heron fish"), expected, "way {way}, rebuilt");
        assert!(home.run(&["doctor"]).status.success());
    }
    spoil(home.path(), 1);
    let output = home.run(&["search", "heron", "--workspace", world::WORKSPACE]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("rebuilding the search index"), "{stderr}");
}

#[test]
fn while_a_server_writes_the_index_no_other_process_does() {
    let home = Home::new();
    let server = Server::start(&home);
    server.call("ann", "save_memory", &json!({"text": "tea"})).unwrap();
    while !home.path().join("index/words/meta.json").exists() {
        std::thread::yield_now();
    }
    let output = home.run(&["reindex"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && stderr.contains("another process"), "{stderr}");
}
