//! Updating: only the fields that are set, within the limits, at the expected revision.

use std::collections::BTreeSet;

use commonbook::base::error::ErrorKind;
use commonbook::base::limits;
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::memory::{
    DeleteMemory, Memory, PurgeMemory, RestoreMemory, SaveMemory, Sharing, UpdateMemory,
};
use serde_json::{Value, json};

use crate::{World, caller, request};

fn update(memory: &Memory, mut value: Value) -> UpdateMemory {
    value["id"] = json!(memory.id);
    request(value)
}

fn full(world: &World) -> Memory {
    let save: SaveMemory = request(json!({
        "text": "tea", "title": "Tea", "summary": "About tea", "topics": ["herbs"],
        "metadata": {"a": 1}, "valid_from": "2026-01-01T00:00:00Z"
    }));
    world.book.save_memory(&caller("ann"), &save).unwrap().memory
}

#[test]
fn an_unset_field_stays() {
    let table = [
        (json!({"text": "coffee"}), "text"),
        (json!({"memory_type": "decision"}), "memory_type"),
        (json!({"title": "Coffee"}), "title"),
        (json!({"title": ""}), "title"),
        (json!({"summary": " "}), "summary"),
        (json!({"topics": []}), "topics"),
        (json!({"topics": ["herbs", "leaves"]}), "topics"),
        (json!({"importance": "critical"}), "importance"),
        (json!({"sharing": "private"}), "sharing"),
        (json!({"metadata": {}}), "metadata"),
        (json!({"valid_from": "2026-01-02T00:00:00Z"}), "valid_from"),
        (json!({"valid_from": ""}), "valid_from"),
        (json!({"valid_until": "2027-01-01T00:00:00Z"}), "valid_until"),
    ];
    for (value, field) in table {
        let world = World::new();
        let before = full(&world);
        let after = world.book.update_memory(&caller("ann"), &update(&before, value)).unwrap();
        let (old, new) =
            (serde_json::to_value(&before).unwrap(), serde_json::to_value(&after).unwrap());
        let names = old.as_object().unwrap().keys().chain(new.as_object().unwrap().keys());
        let changed: BTreeSet<&str> =
            names.map(String::as_str).filter(|name| old.get(name) != new.get(name)).collect();
        assert_eq!(changed, BTreeSet::from([field, "revision"]));
        let events = world.book.list_events(&caller("ann"), &ListEvents::default()).unwrap();
        assert_eq!(events.items[1].changed, [field]);
    }
}

#[test]
fn an_invalid_update_is_refused() {
    let topics: Vec<String> = (0..=limits::TOPICS).map(|n| format!("t{n}")).collect();
    let long = |count: usize| "a".repeat(count + 1);
    let table = [
        (json!({}), ErrorKind::Invalid, None),
        (json!({"expected_revision": 1}), ErrorKind::Invalid, None),
        (json!({"text": " "}), ErrorKind::Invalid, Some("text")),
        (json!({"text": "a\u{1b}b"}), ErrorKind::Invalid, Some("text")),
        (json!({"text": long(limits::TEXT_BYTES)}), ErrorKind::TooLarge, Some("text")),
        (json!({"title": "a\nb"}), ErrorKind::Invalid, Some("title")),
        (json!({"title": long(limits::TITLE_CHARS)}), ErrorKind::TooLarge, Some("title")),
        (json!({"summary": long(limits::SUMMARY_CHARS)}), ErrorKind::TooLarge, Some("summary")),
        (json!({"topics": topics}), ErrorKind::TooLarge, Some("topics")),
        (json!({"topics": ["a", " "]}), ErrorKind::Invalid, Some("topics[1]")),
        (
            json!({"metadata": {"k": long(limits::METADATA_BYTES)}}),
            ErrorKind::TooLarge,
            Some("metadata"),
        ),
        (json!({"valid_until": "2025-01-01T00:00:00Z"}), ErrorKind::Invalid, Some("valid_until")),
        (
            json!({"text": "x", "expected_revision": 2}),
            ErrorKind::Conflict,
            Some("expected_revision"),
        ),
    ];
    let world = World::new();
    let memory = full(&world);
    for (value, kind, field) in table {
        let change = update(&memory, value);
        let error = world.book.update_memory(&caller("ann"), &change).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (kind, field), "{}", error.message);
    }
    assert_eq!(world.events("ann").len(), 1);
}

#[test]
fn an_unknown_field_is_refused_by_name() {
    let id = World::new().save("ann", "tea").id;
    for field in ["owner", "user_id", "id_", "revision", "deleted_at", "agent_id"] {
        let value = json!({"id": id, "text": "x", field: "bob"});
        let error = commonbook::base::input::from_value::<UpdateMemory>(value).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some(field)));
    }
}

#[test]
fn a_text_that_is_no_time_is_refused() {
    let id = World::new().save("ann", "tea").id;
    let value = json!({"id": id, "valid_until": "tomorrow"});
    let error = commonbook::base::input::from_value::<UpdateMemory>(value).unwrap_err();
    assert_eq!(error.field.as_deref(), Some("valid_until"));
    assert!(error.message.contains("expected a time such as"), "{}", error.message);
}

#[test]
fn of_many_updates_from_one_revision_one_succeeds() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    let answers: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let value = json!({"text": format!("tea {number}"), "expected_revision": 1});
                let change = update(&memory, value);
                let book = &world.book;
                scope.spawn(move || book.update_memory(&caller("ann"), &change).is_ok())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.into_iter().filter(|made| *made).count(), 1);
    assert_eq!(world.events("ann").len(), 2);
}

#[test]
fn a_deletion_at_an_old_revision_is_refused() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    world.book.update_memory(&caller("ann"), &update(&memory, json!({"text": "x"}))).unwrap();
    for (expected, kind) in [(Some(1), Some(ErrorKind::Conflict)), (Some(2), None)] {
        let delete = DeleteMemory {
            id: memory.id.into(),
            expected_revision: expected,
            idempotency_key: None,
        };
        let refused = world.book.delete_memory(&caller("ann"), &delete).err();
        assert_eq!(refused.map(|error| error.kind), kind);
    }
}

#[test]
fn a_restore_or_purge_at_an_old_revision_is_refused() {
    let world = World::new();
    let id = world.save("ann", "tea").id;
    let (book, ann) = (&world.book, caller("ann"));
    let delete = DeleteMemory { id: id.into(), expected_revision: Some(1), idempotency_key: None };
    book.delete_memory(&ann, &delete).unwrap();
    for (expected, kind) in [(Some(1), Some(ErrorKind::Conflict)), (Some(2), None)] {
        let request = RestoreMemory {
            id,
            revision: None,
            expected_revision: expected,
            idempotency_key: None,
        };
        let refused = book.restore_memory(&ann, &request).err();
        assert_eq!(refused.as_ref().map(|error| error.kind), kind);
        let field = refused.and_then(|error| error.field);
        assert_eq!(field.as_deref(), kind.map(|_| "expected_revision"));
    }
    for (expected, kind) in [(Some(2), Some(ErrorKind::Conflict)), (Some(3), None)] {
        let request =
            PurgeMemory { id, revision: None, expected_revision: expected, idempotency_key: None };
        assert_eq!(book.purge_memory(&ann, &request).err().map(|error| error.kind), kind);
    }
    assert_eq!(world.events("ann").len(), 4, "saved, deleted, restored, purged");
}

#[test]
fn a_memory_cannot_become_private_if_no_caller_could_read_it() {
    let world = World::new();
    for (owner, who) in [("legacy", "bob"), ("anonymous", "anonymous")] {
        let memory = world.save(owner, "tea");
        let hide = update(&memory, json!({"sharing": "private"}));
        let error = world.book.update_memory(&caller(who), &hide).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("sharing")));
    }
    let childs = world.save("ann/child", "tea");
    let hide = update(&childs, json!({"sharing": "private"}));
    let hidden = world.book.update_memory(&caller("ann"), &hide).unwrap();
    assert_eq!(hidden.sharing, Sharing::Private);
    assert_eq!(world.search("ann/child", "tea").total, 3);
    assert_eq!(world.search("ann", "tea").total, 2, "a child's secret is kept from its parent");
}

#[test]
fn a_memory_made_private_does_not_exist_for_other_agents() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    assert_eq!(world.events("bob").len(), 1);
    let hide = update(&memory, json!({"sharing": "private"}));
    world.book.update_memory(&caller("ann"), &hide).unwrap();
    assert_eq!((world.search("bob", "tea").total, world.events("bob").len()), (0, 0));
    let kinds: Vec<EventKind> = world.events("ann").into_iter().map(|event| event.1).collect();
    assert_eq!(kinds, [EventKind::MemorySaved, EventKind::MemoryUpdated]);
}
