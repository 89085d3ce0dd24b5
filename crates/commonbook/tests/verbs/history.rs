//! Looking back: an earlier revision made current, and the last change undone.

use commonbook::base::error::{Error, ErrorKind};
use commonbook::model::bulk::{BulkResult, PurgeSince, UndoOperation};
use commonbook::model::event::EventKind;
use commonbook::model::forgetting::ForgetMemory;
use commonbook::model::memory::{
    DeleteMemory, Memory, RestoreMemory, RetractMemory, SaveMemory, Sharing, UpdateMemory,
};
use serde_json::{Value, json};

use crate::{World, at, caller, request};

/// Updates a memory, at this hour.
fn update(world: &World, agent: &str, hours: i64, memory: &Memory, fields: &Value) -> Memory {
    world.clock.set(at(hours));
    let mut request = json!({"id": memory.id});
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    let request: UpdateMemory = serde_json::from_value(request).unwrap();
    world.book.update_memory(&caller(agent), &request).unwrap().memory
}

fn delete(world: &World, agent: &str, memory: &Memory) -> Memory {
    let request =
        DeleteMemory { id: memory.id.into(), expected_revision: None, idempotency_key: None };
    world.book.delete_memory(&caller(agent), &request).unwrap().memory
}

fn restore(world: &World, agent: &str, memory: &Memory, revision: u64) -> Result<Memory, Error> {
    let request: RestoreMemory = request(json!({"id": memory.id, "revision": revision}));
    world.book.restore_memory(&caller(agent), &request)
}

#[test]
fn an_earlier_revision_becomes_current_as_a_new_one() {
    let world = World::new();
    let saved = world.save("ann", "the gate is blue");
    update(&world, "ann", 1, &saved, &json!({"text": "the gate is green", "topics": ["gate"]}));
    let restored = restore(&world, "ann", &saved, 1).unwrap();
    let said = (restored.text.as_str(), restored.topics.len(), restored.revision);
    assert_eq!(said, ("the gate is blue", 0, 3));
    assert_eq!(world.events("ann").last().unwrap().1, EventKind::MemoryRestored);
    assert_eq!(world.search("bob", "blue gate").hits[0].memory.text, "the gate is blue");
    // What it says already is no change.
    assert_eq!(restore(&world, "ann", &saved, 1).unwrap().revision, 3);
    let deleted = delete(&world, "ann", &saved);
    assert_eq!(deleted.revision, 4);
    let back = restore(&world, "ann", &saved, 2).unwrap();
    assert_eq!((back.text.as_str(), back.deleted_at), ("the gate is green", None));
    assert_eq!(back.topics, ["gate"]);
}

#[test]
fn a_revision_that_cannot_be_restored_says_why() {
    let world = World::new();
    let saved = world.save("ann", "the gate is blue");
    update(&world, "ann", 1, &saved, &json!({"text": "the gate is green"}));
    let table = [
        ("ann", 7, ErrorKind::NotFound, "has no revision 7 that you may read; it is at 2"),
        ("ann", 0, ErrorKind::NotFound, "has no revision 0"),
        ("ann", 2, ErrorKind::Conflict, "is at revision 2 already"),
        ("bob", 1, ErrorKind::Forbidden, "ann"),
    ];
    for (agent, revision, kind, words) in table {
        let error = restore(&world, agent, &saved, revision).unwrap_err();
        assert_eq!(error.kind, kind, "{agent} {revision}");
        assert!(error.message.contains(words), "{}", error.message);
        assert!(error.hint.is_some(), "{}", error.message);
    }
    let stale = json!({"id": saved.id, "revision": 1, "expected_revision": 1});
    let error = world.book.restore_memory(&caller("ann"), &request(stale)).unwrap_err();
    assert_eq!(error.field.as_deref(), Some("expected_revision"));
    let none: RestoreMemory = request(json!({"id": saved.id}));
    let error = world.book.restore_memory(&caller("ann"), &none).unwrap_err();
    assert!(error.hint.unwrap().contains("`revision`"));
}

#[test]
fn what_was_private_stays_private_when_it_is_restored() {
    let world = World::new();
    let saved = world.save_private("ann", "the customer is Abernathy");
    let shared = json!({"text": "the customer is known", "sharing": "shared"});
    update(&world, "ann", 1, &saved, &shared);
    assert_eq!(world.search("bob", "customer").total, 1);
    let restored = restore(&world, "ann", &saved, 1).unwrap();
    assert_eq!(
        (restored.sharing, restored.text.as_str()),
        (Sharing::Private, "the customer is Abernathy")
    );
    assert_eq!(world.search("bob", "customer").total, 0);
    let back = restore(&world, "ann", &saved, 2).unwrap();
    assert_eq!(back.sharing, Sharing::Private, "restoring shares nothing");
}

#[test]
fn a_forgotten_revision_does_not_come_back() {
    let world = World::new();
    let saved = world.save("ann", "Mrs Abernathy keeps the spare key under the third flowerpot.");
    let twin = world
        .save("ann", "The key: Mrs Abernathy keeps the spare key under the third flowerpot. Now.");
    update(&world, "ann", 1, &saved, &json!({"text": "nothing to see"}));
    let forget = ForgetMemory { id: Some(twin.id), confirm: true, ..ForgetMemory::default() };
    world.book.forget_memory(&caller("ann"), &forget).unwrap();
    if let Ok(memory) = restore(&world, "ann", &saved, 1) {
        assert!(!memory.text.contains("flowerpot"), "{}", memory.text);
    }
    assert_eq!(world.search("ann", "flowerpot include:superseded,archived").total, 0);
}

fn undo(world: &World, agent: &str) -> Result<BulkResult, Error> {
    world.book.undo_operation(&caller(agent), &UndoOperation::default())
}

/// What a memory says, or that it is deleted or superseded.
fn state(world: &World, memory: &Memory) -> String {
    let request = request(json!({"id": memory.id}));
    let history = world.book.memory_history(&caller("ann"), &request).unwrap();
    let memory = &history.items.last().unwrap().memory;
    match (memory.deleted_at, memory.superseded_by) {
        (Some(_), _) => "deleted".to_owned(),
        (_, Some(_)) => "superseded".to_owned(),
        _ => memory.text.clone(),
    }
}

#[test]
fn undo_takes_back_the_last_change_and_undo_again_repeats_it() {
    let world = World::new();
    let saved = world.save("ann", "the gate is blue");
    update(&world, "ann", 1, &saved, &json!({"text": "the gate is green"}));
    world.clock.set(at(2));
    let undone = undo(&world, "ann").unwrap();
    assert_eq!((undone.memories, undone.operation), (1, None));
    let words = undone.undone.unwrap();
    assert!(words.starts_with("your change of memory "), "{words}");
    assert_eq!(state(&world, &saved), "the gate is blue");
    world.clock.set(at(3));
    undo(&world, "ann").unwrap();
    assert_eq!(state(&world, &saved), "the gate is green");
    world.clock.set(at(4));
    delete(&world, "ann", &saved);
    world.clock.set(at(5));
    assert!(undo(&world, "ann").unwrap().undone.unwrap().starts_with("your deletion of memory"));
    assert_eq!(state(&world, &saved), "the gate is green");
    world.clock.set(at(6));
    let other = world.save("ann", "the fence is white");
    world.clock.set(at(7));
    assert!(undo(&world, "ann").unwrap().undone.unwrap().starts_with("your save of memory"));
    assert_eq!(state(&world, &other), "deleted");
    assert_eq!(state(&world, &saved), "the gate is green");
}

#[test]
fn undo_of_a_save_brings_back_what_it_superseded() {
    let world = World::new();
    let old = world.save("ann", "the quota is 500");
    world.clock.set(at(1));
    let new: SaveMemory = request(json!({"text": "the quota is 900", "supersedes": old.id}));
    let new = world.book.save_memory(&caller("ann"), &new).unwrap().memory;
    let states = || (state(&world, &old), state(&world, &new));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(states(), pair("superseded", "the quota is 900"));
    for (hours, expected) in [
        (2, pair("the quota is 500", "deleted")),
        (3, pair("superseded", "the quota is 900")),
        (4, pair("the quota is 500", "deleted")),
    ] {
        world.clock.set(at(hours));
        assert_eq!(undo(&world, "ann").unwrap().memories, 2);
        assert_eq!(states(), expected);
    }
    let texts: Vec<String> =
        world.search("bob", "quota").hits.into_iter().map(|hit| hit.memory.text).collect();
    assert_eq!(texts, ["the quota is 500"]);
}

#[test]
fn undo_refuses_what_another_agent_changed_since_and_what_is_final() {
    let world = World::new();
    let nothing = undo(&world, "ann").unwrap_err();
    assert_eq!(nothing.kind, ErrorKind::NotFound);
    let saved = world.save("ann/child", "the gate is blue");
    update(&world, "ann/child", 1, &saved, &json!({"text": "the gate is green"}));
    update(&world, "ann", 2, &saved, &json!({"text": "the gate is red"}));
    world.clock.set(at(3));
    let refused = undo(&world, "ann/child").unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    assert!(refused.message.starts_with("ann changed memory"), "{}", refused.message);
    assert!(refused.hint.unwrap().contains("`restore_memory` with a `revision`"));
    assert_eq!(state(&world, &saved), "the gate is red");
    // The parent's own change is not the child's.
    undo(&world, "ann").unwrap();
    assert_eq!(state(&world, &saved), "the gate is green");
    let other = world.save("ann", "tea");
    world.clock.set(at(4));
    world.book.purge_memory(&caller("ann"), &request(json!({"id": other.id}))).unwrap();
    let refused = undo(&world, "ann").unwrap_err();
    assert!(refused.message.contains("for good"), "{}", refused.message);
    // Another agent's changes are not there to undo.
    assert_eq!(undo(&world, "bob").unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn undo_takes_back_a_bulk_operation_and_a_retraction_whole() {
    let world = World::new();
    let kept = [world.save("ann", "tea"), world.save("ann", "milk")];
    world.clock.set(at(1));
    let purge: PurgeSince = request(json!({"since": "7d"}));
    assert_eq!(world.book.purge_since(&caller("ann"), &purge).unwrap().memories, 2);
    world.clock.set(at(2));
    let undone = undo(&world, "ann").unwrap();
    assert_eq!((undone.memories, undone.operation.is_some()), (2, true));
    assert_eq!(kept.each_ref().map(|memory| state(&world, memory)), ["tea", "milk"]);
    world.clock.set(at(3));
    undo(&world, "ann").unwrap();
    assert_eq!(state(&world, &kept[0]), "deleted");
    world.clock.set(at(4));
    undo(&world, "ann").unwrap();
    let retract: RetractMemory = request(json!({"id": kept[0].id, "reason": "wrong"}));
    world.clock.set(at(5));
    world.book.retract_memory(&caller("ann"), &retract).unwrap();
    world.clock.set(at(6));
    undo(&world, "ann").unwrap();
    assert_eq!(world.search("ann", "tea").total, 1);
    world.clock.set(at(7));
    let refused = undo(&world, "ann").unwrap_err();
    assert!(refused.message.contains("took back the retraction"), "{}", refused.message);
}

#[test]
fn undo_with_a_key_happens_once() {
    let world = World::new();
    let saved = world.save("ann", "the gate is blue");
    update(&world, "ann", 1, &saved, &json!({"text": "the gate is green"}));
    world.clock.set(at(2));
    for _ in 0..2 {
        let keyed: UndoOperation = request(json!({"operation_id": "last", "idempotency_key": "k"}));
        world.book.undo_operation(&caller("ann"), &keyed).unwrap();
        assert_eq!(state(&world, &saved), "the gate is blue");
    }
}
