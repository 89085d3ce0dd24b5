//! A made-up team that has done everything that it can do: exports and vaults carry all of it.

use commonbook::Commonbook;
use commonbook::model::caller::Caller;
use commonbook::model::memory::Memory;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

pub(crate) fn save(world: &World, caller: &Caller, fields: Value) -> Memory {
    world.book.save_memory(caller, &request(fields)).unwrap().memory
}

/// A team that has done everything that it can do.
pub(crate) fn team() -> World {
    let world = World::new();
    let book = &world.book;
    let (ann, bob) = (caller("ann"), caller("bob/qa"));
    save(&world, &elsewhere("ann", "global"), json!({"text": "All services log in UTC"}));
    save(&world, &elsewhere("zoë", "y"), json!({"text": "Die Fähre legt um 7 Uhr ab ⛴"}));
    // Sessions, with a checkpoint between two memories.
    let started = book.start_session(&ann, &request(json!({"client_session": "tab-1"}))).unwrap();
    let at_work = ann.clone().in_session(Some(&started.session.id.to_string())).unwrap();
    save(
        &world,
        &at_work,
        json!({"text": "The orders page runs one query for each row", "topics": ["orders"],
        "importance": "high", "metadata": {"score": 0.1, "z": 1, "a": [true, null]}}),
    );
    world.clock.set(at(1));
    book.create_checkpoint(&at_work, &request(json!({"title": "Half way", "kind": "milestone"})))
        .unwrap();
    let wrong = save(&world, &at_work, json!({"text": "The index of the orders is on the date"}));
    save(
        &world,
        &at_work,
        json!({"text": "The index of the orders is on the customer",
        "supersedes": wrong.id}),
    );
    book.end_session(&at_work, &request(json!({"summary": "The orders query is slow"}))).unwrap();
    book.start_session(&bob, &request(json!({}))).unwrap();
    // Revisions, private memories, a user's memory.
    let draft = save(&world, &ann, json!({"text": "Deploys run on Thursday"}));
    let change =
        json!({"id": draft.id, "text": "Deploys run on Friday after lunch", "title": "Deploys"});
    book.update_memory(&ann, &request(change)).unwrap();
    world.save_private("ann", "Ann looks for another job");
    let named = world.save_private("ann", "The password of the staging server is in the safe");
    save(
        &world,
        &ann,
        json!({"text": "Mia prefers short answers", "user_id": "mia", "about": "user"}),
    );
    cases(book, &ann, &bob);
    entities(&world, &ann, &bob);
    contradictions(&world);
    handoffs(&world, &named);
    world
}

/// Cases: open, closed and archived, one with a superseded entry and a read mark.
fn cases(book: &Commonbook, ann: &Caller, bob: &Caller) {
    let entries = json!({"key": "slow-orders", "title": "Slow “orders” — 遅い", "entries": [
        {"summary": "The page takes nine seconds"}, {"summary": "The cause is the query", "kind": "decision"}]});
    let first = book.append_entries(ann, &request(entries)).unwrap();
    let later = json!({"key": "slow-orders", "entries": [{"summary": "The cause is the missing index",
        "supersedes": [first.entries[1].entry_id]}]});
    book.append_entries(bob, &request(later)).unwrap();
    book.read_case(bob, &request(json!({"key": "slow-orders", "limit": 2, "mark": true}))).unwrap();
    for (key, verb) in [("berths", "close"), ("old-cranes", "archive")] {
        let entries =
            json!({"key": key, "title": key, "entries": [{"summary": format!("About {key}")}]});
        book.append_entries(ann, &request(entries)).unwrap();
        match verb {
            "close" => drop(book.close_case(ann, &request(json!({"key": key}))).unwrap()),
            _ => drop(book.archive_case(ann, &request(json!({"key": key}))).unwrap()),
        }
    }
}

/// Entities: stated, merged by hand, one waiting, and a relation.
fn entities(world: &World, ann: &Caller, bob: &Caller) {
    let book = &world.book;
    let state = |caller: &Caller, kind: &str, value: &str, metadata: Value, strategy: &str| {
        let fields =
            json!({"type": kind, "value": value, "metadata": metadata, "strategy": strategy});
        book.resolve_entity(caller, &request(fields)).unwrap()
    };
    state(
        ann,
        "tool",
        "PostgreSQL",
        json!({"version": "16", "context": "Holds the orders"}),
        "merge_context",
    );
    world.clock.set(at(2));
    state(bob, "tool", "PostgreSQL", json!({"version": "17"}), "merge_context");
    let source = state(ann, "tool", "The Ledger Store", json!({}), "merge_context").entity.id;
    let target =
        state(ann, "tool", "Accounts Database", json!({"owner": "bob"}), "merge_context").entity.id;
    book.merge_entities(ann, &request(json!({"source": source, "target": target}))).unwrap();
    state(bob, "tool", "PostgreSQL", json!({"version": "15"}), "manual");
    let relation =
        json!({"from": "tool:PostgreSQL", "to": "tool:Accounts Database", "type": "uses"});
    book.add_relation(ann, &request(relation)).unwrap();
}

/// Contradictions: one open, one for each resolution, one taken back.
fn contradictions(world: &World) {
    let (book, eve) = (&world.book, caller("human"));
    for (subject, resolution) in
        [("Atlas", ""), ("Boreas", "keep_both"), ("Ceres", "keep_newer"), ("Doris", "reopened")]
    {
        save(
            world,
            &caller("ann"),
            json!({"text": format!("The {subject} API timeout is 30 seconds")}),
        );
        save(
            world,
            &caller("bob/qa"),
            json!({"text": format!("The {subject} API timeout is 60 seconds")}),
        );
        let found = book.detect_contradictions(&eve, &request(json!({"status": "open"}))).unwrap();
        let of_subject = found
            .items
            .iter()
            .find(|item| item.reason.contains(subject) || item.memories[0].text.contains(subject))
            .unwrap();
        let context = (resolution == "keep_both").then_some("30 in tests, 60 at work");
        let fields = match resolution {
            "" => continue,
            "reopened" => json!({"contradiction": of_subject.id, "resolution": "keep_newer"}),
            _ => {
                json!({"contradiction": of_subject.id, "resolution": resolution, "context": context})
            }
        };
        book.resolve_contradiction(&eve, &request(fields)).unwrap();
        if resolution == "reopened" {
            let fields = json!({"contradiction": of_subject.id});
            book.reopen_contradiction(&eve, &request(fields)).unwrap();
        }
    }
}

/// Handoffs in every state, accepted in another order than created.
fn handoffs(world: &World, named: &Memory) {
    let book = &world.book;
    let hand = |to: &str, more: Value| {
        let mut fields = json!({"to": to, "task": format!("Fix the slow orders page, {to}"),
            "context": "The index is missing", "decisions_made": ["Use an index"], "next_steps": ["Measure"]});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        book.create_handoff(&caller("ann"), &request(fields)).unwrap().handoff.id
    };
    let [_, accepted, completed, rejected, withdrawn] = [
        hand("dev/pending", json!({"expires_hours": 300})),
        hand("dev", json!({"memories": [named.id]})),
        hand("dev", json!({})),
        hand("dev/rejects", json!({})),
        hand("dev/late", json!({})),
    ];
    hand("dev/expires", json!({"expires_hours": 1}));
    book.accept_handoff(&caller("dev"), &request(json!({"handoff": completed}))).unwrap();
    world.clock.set(at(3));
    let done = json!({"handoff": completed, "result": "The index is there"});
    book.complete_handoff(&caller("dev"), &request(done)).unwrap();
    book.accept_handoff(&caller("dev"), &request(json!({"handoff": accepted}))).unwrap();
    book.reject_handoff(
        &caller("dev/rejects"),
        &request(json!({"handoff": rejected, "reason": "No time"})),
    )
    .unwrap();
    book.withdraw_handoff(
        &caller("ann"),
        &request(json!({"handoff": withdrawn, "reason": "Not needed"})),
    )
    .unwrap();
    world.sweep_at(6);
    let context = json!({"task": "Why is the orders page slow?"});
    book.get_context(&caller("dev"), &request(context)).unwrap();
}
