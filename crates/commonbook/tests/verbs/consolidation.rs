//! Consolidation: what merges and what never does, the plan, the lease, the undo.

use commonbook::base::error::ErrorKind;
use commonbook::base::id::OperationId;
use commonbook::model::agent::Agent;
use commonbook::model::consolidation::duplicate::are_duplicates;
use commonbook::model::consolidation::{
    ConsolidateMemory, ConsolidationLease, ConsolidationOutcome, ConsolidationResult,
    ConsolidationSettings,
};
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::export::ExportWorkspace;
use commonbook::model::import;
use commonbook::model::memory::{
    GetMemory, Importance, Memory, RestoreMemory, SaveMemory, Sharing, Trust,
};
use commonbook::model::origin::TextOrigin;
use commonbook::model::session::{EndSession, GetSession, StartSession};
use serde_json::{Value, json};

use crate::{World, at, caller, request};

fn consolidate(world: &World, agent: &str, fields: Value) -> ConsolidationResult {
    let request = request::<ConsolidateMemory>(fields);
    world.book.consolidate_memory(&caller(agent), &request).unwrap()
}

fn save(world: &World, agent: &str, fields: Value) -> Memory {
    world.book.save_memory(&caller(agent), &request::<SaveMemory>(fields)).unwrap().memory
}

fn now_is(world: &World, agent: &str, memory: &Memory) -> Memory {
    let request = GetMemory { id: memory.id.into(), at: None };
    world.book.get_memory(&caller(agent), &request).unwrap()
}

/// Saves what an agent says a second time, under a topic: the same words alone are not saved again.
fn save_twice(world: &World, agent: &str, text: &str, sharing: &str) -> [Memory; 2] {
    let first = save(world, agent, json!({"text": text, "sharing": sharing}));
    let again = json!({"text": format!("{text}."), "sharing": sharing, "topics": ["again"]});
    let second = save(world, agent, again);
    assert_ne!(first.id, second.id);
    [first, second]
}

/// The export of what an agent sees, line by line, but for when each agent was last seen.
pub(crate) fn export(world: &World, agent: &str) -> Vec<Value> {
    let (mut lines, mut cursor) = (Vec::new(), None);
    loop {
        let request = ExportWorkspace { cursor, limit: Some(100), ..ExportWorkspace::default() };
        let page = world.book.export_workspace(&caller(agent), &request).unwrap();
        let lasting = page.lines.into_iter().map(Value::Object);
        lines.extend(lasting.filter(|line| line["record"] != "agent"));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return lines,
        }
    }
}

/// Two memories of one agent, recorded at one time, with these texts.
fn pair(world: &World, a: &str, b: &str) -> [Memory; 2] {
    let memory = world.save("ann", a);
    [memory.clone(), Memory { id: world.save("ann", "x").id, text: b.to_owned(), ..memory }]
}

fn judge_table(table: &str) -> Vec<String> {
    let world = World::new();
    let mut wrong = Vec::new();
    for line in table.lines() {
        let mut fields = line.split('\t');
        let (expected, a, b) =
            (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let [a, b] = pair(&world, a, b);
        if are_duplicates(&a, &b) != (expected == "same")
            || are_duplicates(&a, &b) != are_duplicates(&b, &a)
        {
            wrong.push(line.to_owned());
        }
    }
    wrong
}

/// In the tables `same` pairs have one text, `said` ones say the same in other words, `apart` ones do not.
#[test]
fn the_judgement_agrees_with_people() {
    assert_eq!(judge_table(include_str!("pairs/judged.tsv")), Vec::<String>::new());
}

#[test]
fn the_judgement_merges_nothing_wrong_of_pairs_that_it_was_not_made_for() {
    let wrong = judge_table(include_str!("pairs/kept_back.tsv"));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn nothing_but_the_same_text_merges_unsaid() {
    let world = World::new();
    let apart = [
        ("The server restarts at night", "The servers restart at night"),
        ("The request timeout is 30 seconds", "The request timeout is 30s"),
        ("Deploys run from main", "Deploys are run from main"),
        ("The export runs at 3", "The export run is at 3"),
    ];
    for (a, b) in apart {
        let [a, b] = pair(&world, a, b);
        assert!(!are_duplicates(&a, &b), "{} | {}", a.text, b.text);
    }
}

#[test]
fn what_stands_beside_a_text_keeps_two_memories_apart() {
    let world = World::new();
    let memory = save(&world, "ann", json!({"text": "The disk is full", "topics": ["ops"]}));
    let other = Memory { id: world.save("ann", "x").id, ..memory.clone() };
    assert!(are_duplicates(&memory, &other));
    let later = at(24 * 30);
    let metadata = json!({"host": "a"}).as_object().unwrap().clone();
    let apart: [(&str, Memory); 10] = [
        ("title", Memory { title: Some("Server A".into()), ..other.clone() }),
        ("topics", Memory { topics: vec!["billing".into()], ..other.clone() }),
        ("type", Memory { memory_type: "note".to_owned().try_into().unwrap(), ..other.clone() }),
        ("user", Memory { user_id: Some("u1".into()), ..other.clone() }),
        ("validity", Memory { valid_until: Some(later), ..other.clone() }),
        ("quarantine", Memory { trust: Trust::Quarantined, ..other.clone() }),
        ("deleted", Memory { deleted_at: Some(later), ..other.clone() }),
        ("archived", Memory { archived_at: Some(later), ..other.clone() }),
        ("entry", Memory { case: Some("orders".parse().unwrap()), ..other.clone() }),
        ("workspace", Memory { workspace: "y".parse().unwrap(), ..other.clone() }),
    ];
    for (what, other) in apart {
        assert!(!are_duplicates(&memory, &other), "{what}");
        assert!(!are_duplicates(&other, &memory), "{what}");
    }
    let with = |host: &str| Memory {
        metadata: json!({"host": host}).as_object().unwrap().clone(),
        ..other.clone()
    };
    assert!(!are_duplicates(&Memory { metadata: metadata.clone(), ..memory.clone() }, &with("b")));
    assert!(are_duplicates(&Memory { metadata, ..memory }, &with("a")));
}

#[test]
fn the_same_words_of_another_day_are_another_event() {
    let world = World::new();
    let of = |text: &str, kind: &str, hours| {
        let memory = save(&world, "ann", json!({"text": text, "memory_type": kind}));
        let id = world.save("ann", "x").id;
        let other = Memory { id, recorded_at: at(hours), ..memory.clone() };
        are_duplicates(&memory, &other)
    };
    assert!(of("The deploy went well", "episodic", 1));
    assert!(!of("The deploy went well today", "semantic", 24));
    assert!(!of("We deployed", "episodic", 24));
    assert!(of("The release is on 2026-03-01", "semantic", 24 * 40));
}

#[test]
fn duplicates_become_one_memory_with_all_that_stood_beside_the_text() {
    let world = World::new();
    let text = "Invoices are sent by Postmark";
    let first = save(&world, "ann", json!({"text": text, "topics": ["mail"]}));
    let second = save(
        &world,
        "ann",
        json!({"text": "Invoices are sent by Postmark.", "topics": ["mail", "billing"], "importance": "high"}),
    );
    let contrary = world.save("ann", "Invoices are sent by Mailgun");
    let bobs = save(&world, "bob", json!({"text": text}));
    let before = export(&world, "ann");

    let planned = consolidate(&world, "ann", json!({"dry_run": true}));
    assert_eq!((planned.outcome, planned.merged), (ConsolidationOutcome::Planned, 1));
    assert_eq!(export(&world, "ann"), before, "a dry run changes nothing");
    let plan = planned.plan.clone().unwrap();
    let done = consolidate(&world, "ann", json!({"plan": plan}));
    assert_eq!(done.outcome, ConsolidationOutcome::Completed);
    assert_eq!((done.items, done.merged, done.plan), (planned.items, 1, planned.plan));

    let kept = now_is(&world, "ann", &second);
    assert_eq!((kept.importance, kept.is_current()), (Importance::High, true));
    assert_eq!(kept.topics, ["mail", "billing"]);
    let gone = now_is(&world, "ann", &first);
    assert_eq!((gone.superseded_by, gone.archived_at.is_some()), (Some(second.id), true));
    assert_eq!(gone.source, first.source, "the provenance stays");
    assert!(now_is(&world, "ann", &contrary).is_current());
    assert!(now_is(&world, "bob", &bobs).is_current());
    let found: Vec<_> = world.search("ann", "invoices Postmark owner:ann").hits;
    assert!(found.iter().all(|hit| hit.memory.id != first.id));
    let found = world.search("ann", "invoices Postmark include:archived,superseded").hits;
    assert!(found.iter().any(|hit| hit.memory.id == first.id));

    let again = consolidate(&world, "ann", json!({}));
    assert_eq!((again.merged, again.archived, again.operation), (0, 0, None));
    let undone = consolidate(&world, "ann", json!({"undo": done.operation}));
    assert_eq!((undone.outcome, undone.restored), (ConsolidationOutcome::Undone, 2));
    assert_eq!(export(&world, "ann"), before, "all is as it was");
    assert_eq!(world.book.store().check_rows().unwrap(), Vec::<String>::new());
}

#[test]
fn a_private_memory_never_merges_with_a_shared_one() {
    let world = World::new();
    let shared = world.save("ann", "The vault is in room 4");
    let private = world.save_private("ann", "The vault is in room 4.");
    let done = consolidate(&world, "ann", json!({}));
    assert_eq!((done.merged, done.items), (0, vec![]));
    for memory in [shared, private] {
        assert_eq!(now_is(&world, "ann", &memory), memory);
    }
    // Two private ones do, and stay private.
    let [first, second] = save_twice(&world, "ann", "The gate is blue", "private");
    assert_eq!(consolidate(&world, "ann", json!({})).merged, 1);
    let both = [first, second].map(|memory| now_is(&world, "ann", &memory));
    assert!(both.iter().all(|memory| memory.sharing == Sharing::Private));
}

#[test]
fn superseded_expired_and_unread_memories_are_archived_but_what_matters_stays() {
    let world = World::new();
    let old = world.save("ann", "The gate is blue");
    save(&world, "ann", json!({"text": "The gate is green", "supersedes": old.id}));
    let expired = save(&world, "ann", json!({"text": "Lunch is at Rosa's", "valid_until": at(5)}));
    let unread = world.save("ann", "The old printer has a paper jam");
    let stays = [
        json!({"text": "Never cut the red wire", "importance": "critical"}),
        json!({"text": "We chose Rust over Go", "memory_type": "decision"}),
        json!({"text": "Ann likes herons", "memory_type": "profile"}),
        json!({"text": "The alarm code is in the safe", "importance": "high"}),
    ]
    .map(|fields| save(&world, "ann", fields));
    let told = world.save("ann", "The printer on floor two works");
    world.book.get_memory(&caller("ann"), &GetMemory { id: told.id.into(), at: None }).unwrap();
    world.book.record_usage(|| true).unwrap();
    world.clock.set(at(24 * 100));
    let done = consolidate(&world, "ann", json!({}));
    assert_eq!((done.archived, done.merged), (2, 0));
    // Besides the old printer, the green gate was never read.
    assert_eq!(done.pruned, 2);
    for gone in [&old, &expired, &unread] {
        let memory = now_is(&world, "ann", gone);
        assert!(memory.archived_at.is_some() && memory.deleted_at.is_none(), "{}", memory.text);
    }
    for memory in stays.iter().chain([&told]) {
        assert!(now_is(&world, "ann", memory).is_current(), "{}", memory.text);
    }
    let restore: RestoreMemory = request(json!({"id": unread.id}));
    let back = world.book.restore_memory(&caller("ann"), &restore).unwrap();
    assert!(back.is_current());
    let undone = consolidate(&world, "ann", json!({"undo": done.operation}));
    assert_eq!(undone.restored, 3, "what changed since stays as it is");
}

#[test]
fn old_sessions_get_a_summary_of_their_own_sentences() {
    let world = World::new();
    let start: StartSession = request(json!({}));
    let session = world.book.start_session(&caller("ann"), &start).unwrap().session;
    let inside = caller("ann").in_session(Some(&session.id.to_string())).unwrap();
    for text in [
        "We found that the orders page fails because the index on customer_id is missing.",
        "The fix was released in version 2.4 and confirmed by the customer.",
    ] {
        world.book.save_memory(&inside, &request(json!({"text": text}))).unwrap();
    }
    let end: EndSession = request(json!({"session": session.id}));
    world.book.end_session(&caller("ann"), &end).unwrap();
    let before = export(&world, "ann");
    assert_eq!(consolidate(&world, "ann", json!({})).summarised, 0, "too early");
    world.clock.set(at(24 * 8));
    let done = consolidate(&world, "ann", json!({}));
    assert_eq!(done.summarised, 1);
    let get: GetSession = request(json!({"session": session.id}));
    let details = world.book.get_session(&caller("ann"), &get).unwrap();
    assert_eq!(details.memory_count, 3, "the originals stay");
    let summary = details.memories.iter().find(|memory| Some(memory.id) == details.session.summary);
    assert!(summary.unwrap().text.contains("customer_id"), "{}", summary.unwrap().text);
    consolidate(&world, "ann", json!({"undo": done.operation}));
    assert_eq!(export(&world, "ann"), before);
    assert_eq!(world.book.store().check_rows().unwrap(), Vec::<String>::new());
}

fn lease(agent: &str, operation: OperationId) -> ConsolidationLease {
    ConsolidationLease {
        workspace: "x".parse().unwrap(),
        token: 0,
        agent: Agent::with_any_name(agent).unwrap(),
        operation,
    }
}

#[test]
fn a_second_run_is_skipped_and_a_dead_holder_is_followed() {
    let world = World::new();
    save_twice(&world, "ann", "The gate is blue", "shared");
    let operation = OperationId::from_name("the operation of a run that died");
    let store = world.book.store();
    let wanted = lease("ann", operation);
    let (wanted_of, until) = (wanted.clone(), at(1));
    let held = store.write(move |tx| tx.lease_consolidation(&wanted_of, at(0), until)).unwrap();
    let held = held.unwrap();
    let skipped = consolidate(&world, "ann", json!({}));
    assert_eq!(skipped.outcome, ConsolidationOutcome::Skipped);
    let reason = "already running since 00:00 UTC (its lease ends in 3600 s; if that process died, try \
                  again then)";
    assert_eq!((skipped.reason.as_deref(), skipped.merged), (Some(reason), 0));

    world.clock.set(at(2));
    let done = consolidate(&world, "ann", json!({}));
    assert_eq!((done.merged, done.operation), (1, Some(operation)), "it continues the operation");
    let of_dead = held.clone();
    assert!(!store.write(move |tx| tx.renew_consolidation(&of_dead, at(9))).unwrap());
    assert!(!store.write(move |tx| tx.finish_consolidation(&held, at(9))).unwrap());
}

#[test]
fn what_was_merged_is_found_among_what_is_archived() {
    let world = World::new();
    save_twice(&world, "ann", "The gateway runs nginx 1.27", "shared");
    assert_eq!(consolidate(&world, "ann", json!({})).merged, 1);
    let table = [
        ("gateway nginx", 1),
        ("gateway nginx include:archived", 2),
        ("gateway nginx include:superseded", 1),
        ("include:archived", 2),
    ];
    for (query, found) in table {
        assert_eq!(world.search("ann", query).total, found, "{query}");
    }
}

#[test]
fn only_an_administrator_consolidates_what_others_own() {
    let world = World::new();
    let anns = world.save("ann", "The gate on Elm Street is blue");
    let bobs = world.save("bob", "The gate on Elm Street is blue.");
    let [of_ann, of_bob] =
        ["ann", "bob"].map(|agent| save(&world, agent, json!({"text": "I prefer tabs"})));
    assert_eq!(consolidate(&world, "ann", json!({})).merged, 0);
    let all = request::<ConsolidateMemory>(json!({"force": true}));
    let refused = world.book.consolidate_memory(&caller("ann"), &all).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden, "an agent that gives its name is no person");
    let done = consolidate(&world, "anonymous", json!({"force": true}));
    assert_eq!(done.merged, 1);
    let current = [&anns, &bobs].map(|memory| now_is(&world, "ann", memory).is_current());
    assert_eq!(current.iter().filter(|current| **current).count(), 1);
    for memory in [of_ann, of_bob] {
        assert!(now_is(&world, "ann", &memory).is_current(), "it is about its author");
    }
}

#[test]
fn a_run_ends_with_an_event_that_its_agent_alone_sees() {
    let world = World::new();
    save_twice(&world, "ann", "The gate is blue", "private");
    consolidate(&world, "ann", json!({}));
    let events = |agent: &str| {
        let request = ListEvents { limit: Some(100), ..ListEvents::default() };
        let events = world.book.list_events(&caller(agent), &request).unwrap().items;
        events
            .into_iter()
            .filter(|e| e.kind == EventKind::ConsolidationCompleted)
            .collect::<Vec<_>>()
    };
    let own = events("ann");
    assert_eq!(own.len(), 1);
    let expected = json!({"merged": 1, "archived": 0, "pruned": 0, "seconds": 0});
    assert_eq!(Value::Object(own[0].details.clone()), expected);
    assert_eq!(events("bob").len(), 0);
}

#[test]
fn a_plan_that_is_no_longer_due_changes_nothing() {
    let world = World::new();
    save_twice(&world, "ann", "The gate is blue", "shared");
    let plan = consolidate(&world, "ann", json!({"dry_run": true})).plan;
    save_twice(&world, "ann", "The fence is low", "shared");
    let request: ConsolidateMemory = request(json!({"plan": plan}));
    let refused = world.book.consolidate_memory(&caller("ann"), &request).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    // The refused run gave its lease back.
    world.clock.set(at(1));
    assert_eq!(consolidate(&world, "ann", json!({})).merged, 2);
}

#[test]
fn two_choices_that_exclude_each_other_are_refused() {
    let world = World::new();
    for (fields, field) in [
        (json!({"dry_run": true, "suggest": true}), "suggest"),
        (json!({"suggest": true, "plan": "abc"}), "plan"),
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 100_001}), "limit"),
        (json!({"plan": "x".repeat(65)}), "plan"),
    ] {
        let request: ConsolidateMemory = request(fields);
        let error = world.book.consolidate_memory(&caller("ann"), &request).unwrap_err();
        assert_eq!(error.field.as_deref(), Some(field));
    }
}

#[test]
fn suggestions_have_a_reason_and_the_usage_behind_it() {
    let world = World::new();
    let used = world.save("ann", "The build needs Node 20");
    for _ in 0..5 {
        now_is(&world, "ann", &used);
    }
    let long =
        ["A paragraph about one thing. ".repeat(30), "And another. ".repeat(30)].join("\n\n");
    let long = world.save("ann", &format!("{long}\n\n{long}"));
    world.book.record_usage(|| true).unwrap();
    let suggested = consolidate(&world, "ann", json!({"suggest": true}));
    let found: Vec<(String, _)> = suggested
        .suggestions
        .iter()
        .map(|suggestion| (suggestion.action.to_string(), suggestion.memory))
        .collect();
    assert_eq!(found, [("promote".to_owned(), used.id), ("split".to_owned(), long.id)]);
    assert_eq!(suggested.suggestions[0].reason, "told 0 times and used 5 times");
    assert_eq!(suggested.suggestions[0].usage.unwrap().used, 5);
}

#[test]
fn workspaces_are_consolidated_on_a_schedule_each_agent_for_itself() {
    let world = World::new();
    for agent in ["ann", "bob"] {
        save_twice(&world, agent, "The gate is blue", "private");
    }
    world.book.register().unwrap();
    let merged = |world: &World, agent: &str| {
        let request = ListEvents { limit: Some(100), ..ListEvents::default() };
        let events = world.book.list_events(&caller(agent), &request).unwrap().items;
        events.into_iter().filter(|e| e.details.get("merged") == Some(&json!(1))).count()
    };
    world.book.consolidate_due_workspaces().unwrap();
    assert_eq!(merged(&world, "ann"), 0, "it is off by default");
    let settings = ConsolidationSettings { every_hours: Some(24) };
    let book = world.book.clone().with_consolidation(settings);
    book.consolidate_due_workspaces().unwrap();
    assert_eq!((merged(&world, "ann"), merged(&world, "bob")), (1, 1));
    save_twice(&world, "ann", "The fence is low", "shared");
    world.clock.set(at(23));
    book.consolidate_due_workspaces().unwrap();
    assert_eq!(merged(&world, "ann"), 1, "it is not due");
    world.clock.set(at(25));
    book.consolidate_due_workspaces().unwrap();
    assert_eq!(merged(&world, "ann"), 2);
}

#[test]
fn a_private_memory_of_another_agent_is_in_no_plan() {
    let world = World::new();
    save_twice(&world, "bob", "The vault is in room 4", "private");
    let planned = consolidate(&world, "anonymous", json!({"force": true, "dry_run": true}));
    assert_eq!((planned.merged, planned.items.len()), (0, 0));
}

#[test]
fn entities_whose_names_mean_the_same_become_one_and_two_again() {
    let (world, elsewhere) = (World::new(), World::new());
    let state = |world: &World, agent: &str, name: &str| {
        let stated = json!({"type": "tool", "value": name, "metadata": {"used": name}});
        world.book.resolve_entity(&caller(agent), &request(stated)).unwrap();
    };
    let names = || {
        let listed = world.book.list_entities(&caller("ann"), &request(json!({"limit": 100})));
        let tools = listed.unwrap().items.into_iter();
        tools.map(|entity| entity.value).collect::<Vec<_>>()
    };
    for name in ["Kubernetes", "Kubernetes", "Terraform"] {
        state(&world, "ann", name);
    }
    // Records of another home come as they are.
    state(&elsewhere, "ann", "Kubernettes");
    state(&elsewhere, "bob", "Terrraform");
    let records = export(&elsewhere, "ann").into_iter().filter(|line| line["record"] == "entity");
    let records = records
        .map(|line| import::parse(line.to_string().as_bytes(), TextOrigin::ThisHome).unwrap());
    for result in world.book.import_lines(&caller("human"), None, records.collect()).unwrap() {
        result.unwrap();
    }
    let (before, rows) = (names(), export(&world, "ann"));
    assert_eq!(before, ["Kubernetes", "Kubernettes", "Terraform", "Terrraform"]);
    let shown = consolidate(&world, "ann", json!({"dry_run": true}));
    let reasons: Vec<&str> = shown.items.iter().map(|item| item.reason.as_str()).collect();
    assert_eq!(reasons, ["entity Kubernettes is merged into Kubernetes"]);
    let done = consolidate(&world, "ann", json!({"plan": shown.plan}));
    assert_eq!((done.entities, done.merged), (1, 0));
    assert_eq!(names(), ["Kubernetes", "Terraform", "Terrraform"], "Bob's stays");
    assert_eq!(consolidate(&world, "ann", json!({})).entities, 0);
    let undone = consolidate(&world, "ann", json!({"undo": done.operation}));
    assert_eq!(undone.restored, 1);
    assert_eq!(names(), before);
    assert_eq!(export(&world, "ann"), rows);
    let all = consolidate(&world, "anonymous", json!({"force": true}));
    assert_eq!(all.entities, 2);
}
