//! The question at the end of a long run that saved nothing: asked once, where a client can be asked.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::hook::{answer, hook, log};
use crate::world::Home;

/// A transcript with these events.
fn transcript(home: &Home, name: &str, events: &[Value]) -> PathBuf {
    let path = home.path().join(name);
    fs::write(&path, events.iter().map(|event| format!("{event}\n")).collect::<String>()).unwrap();
    path
}

/// The events of a run of Claude Code with this many calls, `seconds` after its prompt.
fn claude_run(calls: usize, seconds: i64, last_tool: &str) -> Vec<Value> {
    let at = |second: i64| format!("2026-11-27T10:{:02}:{:02}Z", second / 60, second % 60);
    let mut events = vec![json!({"type": "user", "timestamp": at(0),
        "message": {"role": "user", "content": "Fix the retries"}})];
    events.extend((1..=calls).map(|number| {
        let name = if number == calls { last_tool } else { "Bash" };
        json!({"type": "assistant", "timestamp": at(seconds), "message": {"content": [
            {"type": "tool_use", "id": format!("t{number}"), "name": name, "input": {"command": "ls"}}]}})
    }));
    events
}

fn stop(home: &Home, session: &str, transcript: &PathBuf) -> Value {
    json!({"session_id": session, "cwd": home.path(), "hook_event_name": "Stop",
        "transcript_path": transcript, "stop_hook_active": false,
        "last_assistant_message": "Done. All tests pass."})
}

fn with(input: &Value, fields: &Value) -> Value {
    let mut input = input.clone();
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input
}

fn is_question(output: &Value) -> bool {
    output["decision"] == "block" && output["reason"].as_str().unwrap().contains("save_memory")
}

#[test]
fn a_long_run_that_saved_nothing_is_asked_once() {
    let home = Home::new();
    let next_turn = [claude_run(40, 900, "Bash"), claude_run(2, 10, "Bash")].concat();
    let mut of_child = claude_run(40, 900, "Bash");
    of_child[1..].iter_mut().for_each(|event| event["isSidechain"] = json!(true));
    let repeated = vec![claude_run(14, 10, "Bash").remove(1); 40];
    let runs = [
        ("an earlier turn", next_turn, false),
        ("calls of a sub-agent", of_child, false),
        ("one call in many lines", repeated, false),
        ("calls", claude_run(15, 10, "Bash"), true),
        ("time", claude_run(2, 300, "Bash"), true),
        ("short", claude_run(14, 299, "Bash"), false),
        ("saved", claude_run(40, 900, "mcp__commonbook__save_memory"), false),
        ("searched", claude_run(40, 900, "mcp__commonbook__search_memory"), true),
    ];
    for (session, events, expected) in &runs {
        let input = stop(&home, session, &transcript(&home, session, events));
        let ask = |input: &Value| hook(&home, &["claude-code", "Stop"], input);
        let refused = [
            json!({"stop_hook_active": true}),
            json!({"background_tasks": [{"id": "a", "status": "running"}]}),
            json!({"transcript_path": "/none"}),
            json!({"session_id": null}),
            json!({"last_assistant_message": "Lesson: the gate is blue"}),
        ];
        for fields in refused {
            assert_eq!(ask(&with(&input, &fields)), json!({}), "{session} {fields}");
        }
        assert_eq!(is_question(&ask(&input)), *expected, "{session} {}", log(&home));
        assert_eq!(ask(&input), json!({}), "{session}: never twice");
    }
    assert_eq!(log(&home), "");
}

#[test]
fn a_sub_agent_is_asked_by_its_own_transcript_and_its_parent_too() {
    let home = Home::new();
    let of = |name: &str, calls| transcript(&home, name, &claude_run(calls, 10, "Bash"));
    let (long, short) = (of("agent-a1.jsonl", 15), of("agent-a2.jsonl", 3));
    let ask = |fields: Value| {
        let input = with(&stop(&home, "s1", &long), &json!({"hook_event_name": "SubagentStop"}));
        is_question(&hook(&home, &["claude-code", "SubagentStop"], &with(&input, &fields)))
    };
    let agent = |id: &str, path: &PathBuf| {
        json!({"agent_id": id, "agent_type": "engineer", "agent_transcript_path": path,
            "background_tasks": [{"id": id, "type": "subagent", "status": "running"}]})
    };
    assert!(!ask(agent("a2", &short)));
    assert!(ask(agent("a1", &long)));
    assert!(!ask(agent("a1", &long)));
    assert!(ask(agent("a3", &long)), "another sub-agent of the same role");
    let main = hook(&home, &["claude-code", "Stop"], &stop(&home, "s1", &long));
    assert!(is_question(&main), "{main}");
}

#[test]
fn the_report_of_a_sub_agent_leaves_a_lesson_where_it_is_not_asked() {
    let home = Home::new();
    let of = |name: &str, calls| transcript(&home, name, &claude_run(calls, 10, "Bash"));
    let (long, short) = (of("agent-a1.jsonl", 15), of("agent-a2.jsonl", 3));
    const BROKER: &str = "The broker silently drops messages above 1 MB, so a batch must never have \
        more than 200 orders, because otherwise nobody gets an acknowledgement.";
    const CLOCK: &str = "The fake clock has to be installed before the loop is created, otherwise timers \
        still use the real one, which is why nothing failed on a fast machine.";
    let end = |event: &str, lesson: &str, path: &PathBuf, fields: Value| {
        let report = format!("Done, PR 812 is open. {lesson}");
        let own = json!({"hook_event_name": event, "last_assistant_message": report,
            "agent_transcript_path": path});
        let input = with(&with(&stop(&home, "s1", &short), &own), &fields);
        is_question(&hook(&home, &["claude-code", event], &input))
    };
    let agent = |id: &str| json!({"agent_id": id, "agent_type": "engineer"});
    let saved = || {
        let list = answer(&home, &["list"]);
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["text"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert!(!end("Stop", BROKER, &short, json!({})));
    assert_eq!(saved(), Vec::<String>::new(), "an answer to a person");
    assert!(!end("SubagentStop", BROKER, &short, agent("a2")));
    assert_eq!(saved(), [BROKER]);
    assert!(end("SubagentStop", CLOCK, &long, agent("a1")));
    assert_eq!(saved(), [BROKER], "an agent that is asked knows it better");
    let second = with(&agent("a1"), &json!({"stop_hook_active": true}));
    assert!(!end("SubagentStop", CLOCK, &long, second));
    assert_eq!(saved(), [CLOCK, BROKER], "it was asked, and did not say");
    assert_eq!(log(&home), "");
}

#[test]
fn each_client_is_asked_as_it_can_be() {
    let home = Home::new();
    let many = |event: &dyn Fn(usize) -> Value| (0..15).map(event).collect::<Vec<Value>>();
    let codex = many(&|number| {
        json!({"type": "response_item", "payload": {"type": "function_call",
            "call_id": format!("c{number}"), "name": "shell", "arguments": "{}"}})
    });
    let copilot = many(&|number| {
        json!({"type": "tool.execution_start",
            "data": {"toolCallId": format!("c{number}"), "toolName": "bash", "arguments": {}}})
    });
    let gemini = many(
        &|number| json!({"type": "gemini", "toolCalls": [{"id": format!("c{number}"), "name": "shell"}]}),
    );
    let said = json!({"type": "assistant.message", "data": {"content": "Done."}});
    let copilot = [copilot, vec![said]].concat();
    let path = |name: &str, events: &[Value]| transcript(&home, name, events);
    let table = [
        ("codex", "Stop", stop(&home, "s1", &path("codex", &codex)), Some("block")),
        (
            "copilot",
            "agentStop",
            json!({"sessionId": "s1", "cwd": home.path(), "stopReason": "end_turn",
                "transcriptPath": path("copilot", &copilot)}),
            Some("block"),
        ),
        (
            "gemini",
            "AfterAgent",
            json!({"session_id": "s1", "cwd": home.path(), "prompt": "Fix it",
                "prompt_response": "Done.", "transcript_path": path("gemini", &gemini)}),
            Some("deny"),
        ),
        (
            "opencode",
            "event:session.idle",
            json!({"sessionID": "s1", "directory": home.path(), "last_message": "Done.",
                "transcript_path": path("opencode", &gemini)}),
            None,
        ),
    ];
    for (client, event, input, decision) in table {
        let output = hook(&home, &[client, event], &input);
        assert_eq!(output["decision"].as_str(), decision, "{client}: {output} {}", log(&home));
    }
}

#[test]
fn settings_change_when_an_agent_is_asked() {
    let table = [
        (json!({"learning": {"ask": false}}), 40, false),
        (json!({"learning": {"calls": 3}}), 3, true),
        (json!({"learning": {"calls": 50}}), 40, false),
        (json!({"learning": {"calls": 0}}), 40, false),
        (json!({"context": {"agents": {"claude-code": {"auto_inject": false}}}}), 40, false),
    ];
    for (settings, calls, expected) in table {
        let home = Home::new();
        fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
        let path = transcript(&home, "run.jsonl", &claude_run(calls, 10, "Bash"));
        let output = hook(&home, &["claude-code", "Stop"], &stop(&home, "s1", &path));
        assert_eq!(is_question(&output), expected, "{settings}: {output}");
    }
}

#[test]
fn a_home_that_cannot_be_written_asks_nothing() {
    let home = Home::new();
    answer(&home, &["list"]);
    let path = transcript(&home, "run.jsonl", &claude_run(40, 10, "Bash"));
    let store = rusqlite::Connection::open(home.path().join("commonbook.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(hook(&home, &["claude-code", "Stop"], &stop(&home, "s1", &path)), json!({}));
    drop(store);
    fs::write(home.path().join("asked"), "in the way").unwrap();
    assert_eq!(hook(&home, &["claude-code", "Stop"], &stop(&home, "s1", &path)), json!({}));
    fs::remove_file(home.path().join("asked")).unwrap();
    assert!(is_question(&hook(&home, &["claude-code", "Stop"], &stop(&home, "s1", &path))));
}
