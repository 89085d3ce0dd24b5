//! One story through every door: what is answered, kept and told in the journal is the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use serde_json::{Value, json};
use world::{Answer, Cli, Door, Home, Mcp, Server, plain};

/// Tells the story through one door; answers all that was said, and what is left.
fn story(door: &dyn Door) -> Value {
    let mut ids = Vec::new();
    let mut said = Vec::new();
    let mut tell = |agent: &str, verb: &str, fields: Value| -> Answer {
        let answer = door.call(agent, verb, &fields);
        let shown = match &answer {
            Ok(value) => json!({ "ok": value }),
            Err(error) => json!({ "error": error }),
        };
        said.push(json!({"verb": verb, "by": agent, "answer": plain(&shown, &mut ids)}));
        answer
    };
    let decision = json!({
        "text": "The payment service retries three times with backoff.",
        "memory_type": "decision", "topics": ["payments", "retries"], "importance": "high",
        "title": "Retries", "metadata": {"ticket": 7}, "valid_from": "2026-01-01T00:00:00Z",
        "idempotency_key": "first",
    });
    let saved = tell("analyst", "save_memory", decision.clone()).unwrap();
    let id = saved["memory"]["id"].clone();
    tell("analyst", "save_memory", decision).unwrap();
    tell("analyst", "save_memory", json!({"text": "Mine alone", "sharing": "private"})).unwrap();
    let question = json!({"query": "How often does the payment service retry?"});
    tell("developer", "search_memory", question.clone()).unwrap();
    tell("developer", "get_memory", json!({"id": id})).unwrap();
    tell("developer", "update_memory", json!({"id": id, "text": "Five times."})).unwrap_err();
    tell("developer", "delete_memory", json!({"id": id})).unwrap_err();
    tell("developer", "save_memory", json!({"text": "The payment service retries five times."}))
        .unwrap();
    let change = json!({"id": id, "text": "It retries four times.", "expected_revision": 1});
    tell("analyst", "update_memory", change.clone()).unwrap();
    tell("analyst", "update_memory", change).unwrap_err();
    tell("analyst", "delete_memory", json!({"id": id})).unwrap();
    tell("developer", "search_memory", question).unwrap();
    tell("developer", "get_memory", json!({"id": id})).unwrap_err();
    tell("analyst", "restore_memory", json!({"id": id})).unwrap();
    tell("developer", "memory_history", json!({"id": id})).unwrap();
    let gone = tell("analyst", "save_memory", json!({"text": "A mistake"})).unwrap();
    tell("analyst", "purge_memory", json!({"id": gone["memory"]["id"]})).unwrap();
    case_story(&mut tell);
    entity_story(&mut tell);
    // What is left, as each sees it.
    for agent in ["analyst", "developer"] {
        tell(agent, "list_memories", json!({"limit": 2})).unwrap();
        tell(agent, "get_memory_stats", json!({})).unwrap();
        tell(agent, "list_agents", json!({})).unwrap();
        tell(agent, "get_agent", json!({"name": "analyst"})).unwrap();
        tell(agent, "list_events", json!({"limit": 100})).unwrap();
    }
    Value::Array(said)
}

/// The part of the story that is about things, and how they are related.
fn entity_story(tell: &mut impl FnMut(&str, &str, Value) -> Answer) {
    let said = |context: &str| json!({"type": "tool", "value": "TypeScript", "metadata": {"context": context}});
    tell("analyst", "resolve_entity", said("Used for type safety")).unwrap();
    tell("developer", "resolve_entity", said("Compile target ES2020")).unwrap();
    let named = json!({"text": "Moved the form to src/form.ts", "entities": ["project:Checkout"]});
    tell("developer", "save_memory", named).unwrap();
    let uses = json!({"from": "project:Checkout", "type": "uses", "to": "tool:typescript"});
    tell("analyst", "add_relation", uses).unwrap();
    tell("analyst", "find_entity", json!({"type": "tool", "value": "TypeSript"})).unwrap();
    tell("analyst", "get_entity", json!({"entity": "tool:TS"})).unwrap();
    tell("analyst", "list_entities", json!({"type": "file"})).unwrap();
    tell("analyst", "entity_mentions", json!({"entity": "file:src/form.ts"})).unwrap();
    tell("analyst", "graph_query", json!({"from": "tool:TypeScript", "depth": 2})).unwrap();
    let waiting =
        json!({"type": "tool", "value": "TypeScript", "context": "Slow", "strategy": "manual"});
    let queued = tell("developer", "resolve_entity", waiting).unwrap();
    tell("analyst", "list_reviews", json!({})).unwrap();
    let dismiss = json!({"review_id": queued["review"], "judgement": "dismiss"});
    tell("analyst", "decide_review", dismiss).unwrap();
    tell("analyst", "resolve_entity", json!({"type": "tool", "value": "Flow"})).unwrap();
    let merge = json!({"source": "tool:Flow", "target": "tool:TypeScript", "target_version": 2});
    tell("analyst", "merge_entities", merge.clone()).unwrap();
    tell("analyst", "merge_entities", merge).unwrap_err();
    tell("developer", "unmerge_entities", json!({"source": "tool:Flow"})).unwrap();
    let question = json!({"query": "where is the form", "entity": "project:checkout"});
    tell("analyst", "search_memory", question).unwrap();
}

/// The part of the story that several agents tell in a case.
fn case_story(tell: &mut impl FnMut(&str, &str, Value) -> Answer) {
    tell("analyst", "open_case", json!({"key": "retries", "title": "How often we retry"})).unwrap();
    let entries = json!([
        {"summary": "It retries three times.", "kind": "decision", "text": "With backoff."},
        {"summary": "Is that enough?", "kind": "question", "topics": ["retries"]},
    ]);
    let first = json!({"key": "retries", "entries": entries, "idempotency_key": "append"});
    let placed = tell("analyst", "append_entries", first.clone()).unwrap();
    tell("analyst", "append_entries", first).unwrap();
    let stale = json!({"key": "retries", "entries": [{"summary": "Five."}], "expected_version": 1});
    tell("developer", "append_entries", stale).unwrap();
    let answer =
        json!([{"summary": "Five times.", "supersedes": [placed["entries"][0]["entry_id"]]}]);
    let answer = json!({"key": "retries", "entries": answer, "expected_version": 2});
    tell("developer", "append_entries", answer).unwrap();
    tell("developer", "read_case", json!({"key": "retries", "after": 0, "limit": 2})).unwrap();
    tell("analyst", "delete_memory", json!({"id": placed["entries"][0]["entry_id"]})).unwrap_err();
    tell("developer", "close_case", json!({"key": "retries"})).unwrap();
    tell(
        "developer",
        "append_entries",
        json!({"key": "retries", "entries": [{"summary": "Late"}]}),
    )
    .unwrap_err();
    let question = json!({"query": "How many times?", "case": "retries"});
    tell("developer", "search_memory", question).unwrap();
    tell("developer", "archive_case", json!({"key": "retries"})).unwrap();
    tell("developer", "reopen_case", json!({"key": "retries"})).unwrap();
    tell("analyst", "get_case", json!({"key": "retries"})).unwrap();
    tell("qa", "read_case", json!({"key": "retries", "limit": 1, "mark": true})).unwrap();
    tell("qa", "read_case", json!({"key": "retries", "limit": 1})).unwrap();
    tell("qa", "changes_since", json!({"case": "retries", "mark": true})).unwrap();
    tell("qa", "changes_since", json!({"limit": 2, "after": 3})).unwrap();
    tell("qa", "mark_read", json!({})).unwrap();
    tell("qa", "changes_since", json!({})).unwrap();
    let own = json!({"client_session": "s1", "case": "retries"});
    let session = tell("developer", "start_session", own.clone()).unwrap();
    tell("developer", "start_session", own).unwrap();
    let session = &session["session"]["id"];
    tell("developer", "touch_session", json!({"session": "s1", "pause": true})).unwrap();
    tell("analyst", "end_session", json!({"session": session})).unwrap_err();
    let kind = json!({"session": session, "kind": "milestone", "title": "Half way"});
    tell("developer", "create_checkpoint", kind).unwrap();
    let summary = json!({"session": session, "summary": "It is five, and done."});
    tell("developer", "checkpoint_and_summarise", summary).unwrap();
    tell("analyst", "list_checkpoints", json!({"session": session})).unwrap();
    let little = json!({"session": session, "budget": 9});
    tell("qa", "resume_session", little).unwrap_err();
    tell("developer", "end_session", json!({"session": session, "summary": "Five it is."}))
        .unwrap();
    tell("analyst", "get_session", json!({"session": session})).unwrap();
    tell("analyst", "list_sessions", json!({"status": "completed"})).unwrap();
    tell("analyst", "list_cases", json!({"limit": 1})).unwrap();
}

#[test]
fn the_same_story_through_every_door_leaves_equal_rows_and_events() {
    let home = Home::new();
    let told = story(&Cli(&home));
    insta::assert_json_snapshot!("story", told);

    let home = Home::new();
    let _server = Server::start(&home);
    pretty_assert(&story(&Cli(&home)), &told, "the command line beside a server");

    let home = Home::new();
    let server = Server::start(&home);
    pretty_assert(&story(&server), &told, "REST");

    let home = Home::new();
    pretty_assert(&story(&Mcp::over_stdio(&home)), &told, "MCP over stdio");

    let home = Home::new();
    let server = Server::start(&home);
    pretty_assert(&story(&Mcp::over_http(&home, &server)), &told, "MCP over HTTP");
}

fn pretty_assert(left: &Value, right: &Value, door: &str) {
    let (left, right) = (left.as_array().unwrap(), right.as_array().unwrap());
    for (ours, theirs) in left.iter().zip(right) {
        assert_eq!(ours, theirs, "{door} differs from the command line");
    }
    assert_eq!(left.len(), right.len(), "{door} tells another story");
}
