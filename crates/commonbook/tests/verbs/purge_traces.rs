//! A purge of an agent that did everything it could: nobody finds a word of it but where the answer says so.

use commonbook::base::id::MemoryId;
use commonbook::model::bulk::{BulkResult, TraceFate, TraceKind};
use commonbook::model::caller::Caller;
use commonbook::model::memory::Memory;
use serde_json::{Value, json};

use crate::{World, at, caller, person, request};

/// A word in everything that the agent says.
const WORD: &str = "qwyxolotl";

struct Scene {
    world: World,
    /// An older memory of the agent, which it changed.
    older: Memory,
    /// A handoff that is taken.
    taken: String,
}

fn said(rest: &str) -> String {
    format!("The {WORD} {rest}.")
}

/// The answer of a verb as JSON.
macro_rules! ask {
    ($world:expr, $verb:ident, $caller:expr, $fields:expr) => {
        serde_json::to_value($world.book.$verb($caller, &request($fields)).unwrap()).unwrap()
    };
}

fn id_in(answer: &Value, field: &str) -> String {
    answer[field].as_str().unwrap_or_else(|| panic!("no {field} in {answer}")).to_owned()
}

/// A home in which `mallory` does all that an agent can do, beside `ann`, its honest neighbour.
fn scene() -> Scene {
    let world = World::new();
    let world = World { book: world.book.clone().with_home(world.home().to_owned()), ..world };
    let (ann, mallory) = (caller("ann"), caller("mallory"));
    let older = world.save("mallory", "The gateway listens on port 8080.");
    let anns = world.save("ann", "Redis caches the sessions for one hour.");
    world.save("ann", "The Atlas API timeout is 30 seconds");
    ask!(world, open_case, &ann, json!({"key": "loader", "title": "Mend the loader"}));
    ask!(world, resolve_entity, &ann, json!({"type": "tool", "value": "Redis"}));
    ask!(world, resolve_entity, &ann, json!({"type": "tool", "value": "Loader"}));
    ask!(world, add_standing, &ann, json!({"role": "engineer", "text": "Tests need a database"}));
    world.clock.set(at(5));

    let update = json!({"id": older.id, "text": said("gateway listens on port 9090")});
    ask!(world, update_memory, &mallory, update);
    let shared = json!({"text": said("loader drops every second row")});
    let shared = ask!(world, save_memory, &mallory, shared)["memory"].clone();
    world.save("mallory", "The Atlas API timeout is 60 seconds");
    let found = ask!(world, detect_contradictions, &mallory, json!({}));
    let decide = json!({"contradiction": found["items"][0]["id"], "resolution": "keep_both",
        "context": said("timeout depends on the weather")});
    ask!(world, resolve_contradiction, &mallory, decide);
    let entry = json!({"key": "loader", "entries": [{"summary": said("rows must be dropped")}]});
    ask!(world, append_entries, &mallory, entry);
    let rename = json!({"key": "loader", "title": said("title"), "labels": [WORD]});
    ask!(world, update_case, &mallory, rename);
    ask!(world, open_case, &mallory, json!({"key": "own-case", "title": said("own case")}));
    ask!(world, create_handoff, &mallory, json!({"to": "ann", "task": said("task waits")}));
    let handoff = json!({"to": "cleo", "task": said("task is taken")});
    let taken = id_in(&ask!(world, create_handoff, &mallory, handoff)["handoff"], "id");
    ask!(world, accept_handoff, &caller("cleo"), json!({"handoff": taken}));
    let tool = |value: &str, context: &str| json!({"type": "tool", "value": value, "context": said(context), "confidence": 1.0});
    ask!(world, resolve_entity, &mallory, tool("Redis", "cache lies"));
    ask!(world, resolve_entity, &mallory, json!({"type": "tool", "value": WORD}));
    let mut queued = tool("Loader", "loader lies");
    queued["strategy"] = json!("manual");
    ask!(world, resolve_entity, &mallory, queued);
    ask!(world, merge_entities, &mallory, json!({"source": "tool:Loader", "target": "tool:Redis"}));
    let relation = json!({"from": shared["id"], "to": anns.id, "type": "relates_to"});
    ask!(world, add_relation, &mallory, relation);
    let item = json!({"role": "engineer", "text": said("tests are to be skipped")});
    ask!(world, add_standing, &mallory, item);
    let start = json!({"case": "loader"});
    let session = id_in(&ask!(world, start_session, &mallory, start)["session"], "id");
    let at_work = mallory.clone().in_session(Some(&session)).unwrap();
    let fact = said("cause is one query for each row of the orders table");
    ask!(world, save_memory, &at_work, json!({"text": fact, "memory_type": "decision"}));
    let digest = ask!(world, digest_case, &ann, json!({"key": "loader"}));
    assert!(digest.to_string().contains(WORD), "a digest quotes it: {digest}");
    let checkpoint = json!({"session": session, "title": said("checkpoint")});
    ask!(world, create_checkpoint, &mallory, checkpoint);
    let summary = json!({"session": session, "summary": said("session went well")});
    ask!(world, end_session, &mallory, summary);
    // Another agent builds on it.
    let basis = json!({"text": "Ann repeats what she heard.", "based_on": [shared["id"]]});
    ask!(world, save_memory, &ann, basis);
    world.clock.set(at(6));
    Scene { world, older, taken }
}

fn purge(world: &World, dry_run: bool) -> BulkResult {
    let fields = json!({"since": "2026-11-21T12:00:00Z", "dry_run": dry_run});
    world.book.purge_since(&caller("mallory"), &request(fields)).unwrap()
}

/// The parts of every answer to this reader that hold the word.
fn findings(world: &World, reader: &Caller) -> Vec<String> {
    let key = json!({"key": "loader"});
    let answers = [
        ask!(world, search_memory, reader, json!({"query": WORD}))["hits"].clone(),
        ask!(world, list_memories, reader, json!({}))["items"].clone(),
        ask!(world, list_events, reader, json!({"limit": 100}))["items"].clone(),
        ask!(world, read_case, reader, key.clone())["entries"].clone(),
        ask!(world, list_cases, reader, json!({}))["items"].clone(),
        ask!(world, list_handoffs, reader, json!({"side": "all"}))["items"].clone(),
        ask!(world, list_entities, reader, json!({}))["items"].clone(),
        ask!(world, list_reviews, reader, json!({}))["items"].clone(),
        ask!(world, list_sessions, reader, json!({}))["items"].clone(),
        ask!(world, detect_contradictions, reader, json!({"status": "resolved"}))["items"].clone(),
        json!([ask!(world, get_case, reader, key.clone())]),
        json!([ask!(world, get_case_context, reader, key)["text"]]),
        json!([ask!(world, get_entity, reader, json!({"entity": "tool:Redis"}))]),
        json!([ask!(world, get_context, reader, json!({"task": "the loader drops rows"}))["text"]]),
        json!([ask!(world, get_briefing, reader, json!({"client_session": "s"}))["text"]]),
        json!([ask!(world, recall, reader, json!({"task": "the loader drops rows"}))["text"]]),
        json!([ask!(world, read_standing, reader, json!({"role": "engineer"}))["text"]]),
        json!([ask!(world, standing_history, reader, json!({"role": "engineer"}))]),
        ask!(world, export_workspace, reader, json!({}))["lines"].clone(),
    ];
    let parts = answers.iter().flat_map(|answer| answer.as_array().unwrap());
    let parts = parts.map(|part| part.to_string().to_lowercase());
    parts.filter(|part| part.contains(WORD)).collect()
}

#[test]
fn nothing_of_a_purged_agent_is_found_but_what_the_answer_names() {
    let Scene { world, older, taken } = scene();
    let dry = purge(&world, true);
    let before = findings(&world, &caller("ann"));
    assert!(before.len() > 10, "the scene says little: {before:#?}");
    let done = purge(&world, false);
    let fates = |result: &BulkResult| {
        let mut fates: Vec<(TraceKind, String, TraceFate)> =
            result.traces.iter().map(|trace| (trace.kind, trace.id.clone(), trace.fate)).collect();
        fates.sort_by_key(|fate| format!("{fate:?}"));
        fates
    };
    assert_eq!(fates(&dry), fates(&done), "the dry run shows each");
    assert_eq!(dry.memories, done.memories);
    let kinds: Vec<TraceKind> = done.traces.iter().map(|trace| trace.kind).collect();
    for kind in [
        TraceKind::Memory,
        TraceKind::Entry,
        TraceKind::Handoff,
        TraceKind::Case,
        TraceKind::Checkpoint,
        TraceKind::Entity,
        TraceKind::Review,
        TraceKind::Contradiction,
        TraceKind::Relation,
        TraceKind::Standing,
    ] {
        assert!(kinds.contains(&kind), "{kind} is missing: {:#?}", done.traces);
    }
    let named: Vec<&str> = done
        .traces
        .iter()
        .filter(|trace| trace.remains.is_some() && trace.kind != TraceKind::Journal)
        .map(|trace| trace.id.as_str())
        .collect();
    for reader in [caller("ann"), caller("cleo"), person()] {
        for part in findings(&world, &reader) {
            let is_named = named.iter().any(|id| part.contains(id));
            assert!(is_named, "{} finds {part}\nnamed: {named:#?}", reader.agent);
        }
    }
    let hits = ask!(world, search_memory, &caller("ann"), json!({"query": WORD}))["hits"].clone();
    assert_eq!(hits, json!([]), "what is retracted is not searched");
    let text = |id: MemoryId| ask!(world, get_memory, &caller("ann"), json!({"id": id}));
    assert_eq!(text(older.id)["text"], "The gateway listens on port 8080.", "as before");
    assert!(named.contains(&taken.as_str()), "what another took stays, and is named");
    let standing = ask!(world, read_standing, &caller("ann"), json!({"role": "engineer"}));
    assert!(standing["text"].as_str().unwrap().contains("Tests need a database"));
    for version in 1..=2 {
        let old = json!({"role": "engineer", "version": version});
        let old = ask!(world, read_standing, &caller("ann"), old);
        assert!(!old.to_string().contains(WORD), "version {version}: {old}");
    }
    let undo = json!({"operation_id": done.operation});
    let undone = ask!(world, undo_operation, &caller("mallory"), undo);
    assert!(undone["memories"].as_u64().unwrap() > done.memories, "entries come back too");
    assert!(
        !ask!(world, search_memory, &caller("ann"), json!({"query": WORD}))["hits"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_purge_finds_nothing_more_the_second_time_and_leaves_others_alone() {
    let Scene { world, .. } = scene();
    let before = world.texts("ann", &request(json!({"owner": "ann"})));
    purge(&world, false);
    let again = purge(&world, false);
    assert_eq!(again.memories, 0);
    let taken = again
        .traces
        .iter()
        .filter(|trace| !matches!(trace.fate, TraceFate::Stays | TraceFate::Retracted));
    assert_eq!(taken.collect::<Vec<_>>(), Vec::<&commonbook::model::bulk::PurgeTrace>::new());
    let texts = world.texts("ann", &request(json!({"owner": "ann"})));
    assert_eq!(texts, before);
}
