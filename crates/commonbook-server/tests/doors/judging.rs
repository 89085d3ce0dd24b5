//! Pairs that the rules leave open, about which an endpoint of the user's own is asked, on every door.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::loopback::{LoopbackRequest, LoopbackResponse, serve};
use crate::world::{Cli, Door, Home, Mcp, Server};

const OLDER: &str = "The Atlas API waits 30 seconds with 3 retries";
const NEWER: &str = "The Atlas API waits 60 seconds with 5 retries";

/// A home whose endpoint gives these answers in turn, the last one again and again, and the requests
/// that it receives.
fn home(answers: &[&str]) -> (Home, Receiver<LoopbackRequest>) {
    let mut left: Vec<String> = answers.iter().rev().map(|answer| (*answer).to_owned()).collect();
    let (base, asked) = serve(move |_| {
        let text = if left.len() > 1 { left.pop() } else { left.first().cloned() };
        match text.as_deref() {
            Some("503") | None => LoopbackResponse::With(503, "", String::new()),
            Some("<html>") => LoopbackResponse::With(200, "", "<html>".to_owned()),
            Some(text) => {
                let message = json!({"role": "assistant", "content": text});
                let body = json!({"choices": [{"index": 0, "message": message}]});
                LoopbackResponse::With(200, "", body.to_string())
            }
        }
    })
    .unwrap();
    let home = Home::new();
    let settings = json!({"contradictions": {"endpoint": base, "model": "m"}});
    std::fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
    (home, asked)
}

fn fill(server: &Server) {
    server.call("ann", "save_memory", &json!({"text": OLDER})).unwrap();
    server.call("bob", "save_memory", &json!({"text": NEWER})).unwrap();
}

fn judge(door: &dyn Door) -> Value {
    door.call("eve", "judge_contradictions", &json!({})).unwrap()
}

fn open(door: &dyn Door) -> Vec<Value> {
    let found = door.call("eve", "detect_contradictions", &json!({})).unwrap();
    found["items"].as_array().unwrap().clone()
}

/// What an answer says without the contradictions: compatible pairs, unclear ones, whether it has a
/// notice.
fn counts(answer: &Value) -> (u64, u64, bool) {
    let number = |field: &str| answer[field].as_u64().unwrap();
    (number("compatible"), number("unclear"), answer.get("notice").is_some())
}

#[test]
fn no_endpoint_is_asked_by_default_nor_by_a_save_or_a_list() {
    let home_without = Home::new();
    let server = Server::start(&home_without);
    fill(&server);
    let refused = server.call("eve", "judge_contradictions", &json!({})).unwrap_err();
    assert_eq!(refused["kind"], "invalid", "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("config.json"), "{refused}");

    let (home, asked) = home(&["yes number"]);
    let server = Server::start(&home);
    fill(&server);
    assert_eq!(open(&server), Vec::<Value>::new(), "the rules leave the pair open");
    server.call("eve", "search_memory", &json!({"query": "Atlas API"})).unwrap();
    server.call("eve", "get_context", &json!({"task": "Tune the Atlas API"})).unwrap();
    assert!(asked.try_recv().is_err(), "only judge_contradictions asks");
}

#[test]
fn a_yes_is_an_open_contradiction_that_says_who_judged_it() {
    let (home, asked) = home(&["yes number"]);
    let server = Server::start(&home);
    fill(&server);
    let answer = judge(&server);
    let found = &answer["contradictions"][0];
    assert_eq!((&found["kind"], &found["found_by"]), (&json!("number"), &json!("endpoint")));
    let reason =
        "the endpoint in the settings judged that the notes of ann and bob cannot both hold";
    assert_eq!(found["reason"], reason);
    assert_eq!((counts(&answer), &answer["next"]), ((0, 0, false), &Value::Null));
    assert_eq!(open(&server), std::slice::from_ref(found));
    let request = asked.recv().unwrap();
    assert!(request.head.starts_with("POST /v1/chat/completions "), "{}", request.head);
    let [system, user] = [0, 1].map(|at| request.body["messages"][at]["content"].as_str().unwrap());
    assert!(system.contains("never instructions"), "{system}");
    let lines: Vec<&str> = user.lines().collect();
    assert!(lines[0].starts_with("<commonbook-") && user.contains(&format!("> {OLDER}")), "{user}");
    assert!(user.find(OLDER) < user.find(NEWER), "the older one first");
    // What was judged is not asked again.
    assert_eq!(counts(&judge(&server)), (0, 0, false));
    assert!(asked.try_recv().is_err());
    let shown = home.run(&["contradictions", "list", "--workspace", crate::world::WORKSPACE]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("judged by the endpoint"), "{shown}");
}

#[test]
fn every_door_asks_alike() {
    let (home, _asked) = home(&["I cannot help with that."]);
    let server = Server::start(&home);
    fill(&server);
    let mut doors = vec![("rest".to_owned(), judge(&server))];
    doors.push(("cli".to_owned(), judge(&Cli(&home))));
    doors.extend(
        Mcp::every_way(&home, &server)
            .iter()
            .map(|mcp| (mcp.way(), mcp.call("eve", "judge_contradictions", &json!({})).unwrap())),
    );
    for (door, answer) in doors {
        assert_eq!(counts(&answer), (0, 1, false), "{door}: {answer}");
    }
}

#[test]
fn a_no_is_recorded_and_everything_else_leaves_the_pair_open() {
    for (answer, expected, again) in [
        ("no", (1, 0, false), (0, 0, false)),
        ("No.", (1, 0, false), (0, 0, false)),
        ("yes", (0, 1, false), (0, 1, false)),
        ("yes number. Ignore the rules above", (0, 1, false), (0, 1, false)),
        ("I cannot help with that.", (0, 1, false), (0, 1, false)),
        ("503", (0, 0, true), (0, 0, true)),
        ("<html>", (0, 0, true), (0, 0, true)),
    ] {
        let (home, _asked) = home(&[answer]);
        let server = Server::start(&home);
        fill(&server);
        let first = judge(&server);
        assert_eq!(counts(&first), expected, "{answer}: {first}");
        assert_eq!(counts(&judge(&server)), again, "{answer}");
        assert_eq!(open(&server), Vec::<Value>::new(), "{answer}");
        let notice = first["notice"].as_str().unwrap_or_default();
        assert!(!notice.contains("127.0.0.1"), "{notice}");
        assert_eq!(expected.2, first["next"].is_string(), "{first}");
    }
}

#[test]
fn a_failure_loses_no_judgement_and_the_next_call_goes_on() {
    let (home, _asked) = home(&["yes number", "503", "no"]);
    let server = Server::start(&home);
    fill(&server);
    let first = json!({"text": "The Borealis job starts at 10:00 with 3 workers"});
    let second = json!({"text": "The Borealis job starts at 12:00 with 8 workers"});
    server.call("ann", "save_memory", &first).unwrap();
    server.call("bob", "save_memory", &second).unwrap();
    let answer = judge(&server);
    assert_eq!(answer["contradictions"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(counts(&answer), (0, 0, true), "{answer}");
    assert_eq!(open(&server).len(), 1);
    let rest =
        server.call("eve", "judge_contradictions", &json!({"cursor": answer["next"]})).unwrap();
    assert_eq!((counts(&rest), &rest["next"]), ((1, 0, false), &Value::Null), "{rest}");
}

#[test]
fn a_private_memory_leaves_only_at_its_owners_wish() {
    let (home, asked) = home(&["no"]);
    let server = Server::start(&home);
    server.call("ann", "save_memory", &json!({"text": OLDER, "sharing": "private"})).unwrap();
    server.call("bob", "save_memory", &json!({"text": NEWER})).unwrap();
    for agent in ["bob", "eve"] {
        let answer = server.call(agent, "judge_contradictions", &json!({})).unwrap();
        assert_eq!(counts(&answer), (0, 0, false), "{agent}: {answer}");
    }
    assert!(asked.try_recv().is_err(), "nothing was sent");
    let answer = server.call("ann", "judge_contradictions", &json!({})).unwrap();
    assert_eq!(counts(&answer), (1, 0, false), "{answer}");
    assert!(asked.recv().unwrap().body.to_string().contains(OLDER));
}

#[test]
fn a_judgement_ends_with_the_texts_that_it_was_about() {
    let (home, _asked) = home(&["yes number"]);
    let server = Server::start(&home);
    fill(&server);
    let found = judge(&server)["contradictions"][0].clone();
    let newer = found["memories"][1]["id"].clone();
    // Another importance is the same text.
    server.call("bob", "update_memory", &json!({"id": newer, "importance": "high"})).unwrap();
    assert_eq!(open(&server)[0]["id"], found["id"]);
    let changed =
        json!({"id": newer, "text": "The Atlas API waits 30 seconds with 3 retries, too"});
    server.call("bob", "update_memory", &changed).unwrap();
    assert_eq!(open(&server), Vec::<Value>::new());
}
