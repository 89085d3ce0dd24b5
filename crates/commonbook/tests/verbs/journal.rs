//! The journal: each verb that writes leaves one event, which those see who see its memory.

use commonbook::error::ErrorKind;
use commonbook::event::{Event, EventKind, ListEvents};
use commonbook::limits;
use commonbook::memory::{
    DeleteMemory, PurgeMemory, RestoreMemory, SaveMemory, Saved, UpdateMemory,
};
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

fn save(world: &World, agent: &str, value: Value) -> Saved {
    let save: SaveMemory = request(value);
    world.book.save_memory(&caller(agent), &save).unwrap()
}

fn events(world: &World, agent: &str) -> Vec<Event> {
    let all = ListEvents { after: 0, limit: Some(limits::PAGE_MAX) };
    world.book.list_events(&caller(agent), &all).unwrap().items
}

#[test]
fn every_change_leaves_one_event_that_tells_what_by_whom_and_when() {
    let world = World::new();
    let (book, parent) = (&world.book, caller("ann"));
    let value = json!({"text": "tea", "topics": ["herbs"], "importance": "high"});
    let id = save(&world, "ann/child", value).memory.id;
    let steps: [&dyn Fn(); 4] = [
        &|| {
            let change = request::<UpdateMemory>(json!({"id": id, "text": "x", "title": "y"}));
            book.update_memory(&parent, &change).unwrap();
        },
        &|| {
            let delete = request::<DeleteMemory>(json!({"id": id}));
            book.delete_memory(&parent, &delete).unwrap();
        },
        &|| {
            let restore = request::<RestoreMemory>(json!({"id": id}));
            book.restore_memory(&parent, &restore).unwrap();
        },
        &|| {
            save(&world, "ann/child", json!({"text": "y", "supersedes": id}));
        },
    ];
    for (hour, step) in steps.iter().enumerate() {
        world.clock.set(at(hour as i64 + 1));
        step();
    }
    let told = events(&world, "bob");
    let kinds: Vec<(EventKind, &str)> = told.iter().map(|e| (e.kind, e.actor.as_str())).collect();
    let expected = [
        (EventKind::MemorySaved, "ann/child"),
        (EventKind::MemoryUpdated, "ann"),
        (EventKind::MemoryDeleted, "ann"),
        (EventKind::MemoryRestored, "ann"),
        (EventKind::MemorySaved, "ann/child"),
        (EventKind::MemorySuperseded, "ann/child"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(told[1].changed, ["text", "title"]);
    for (event, hour) in told.iter().zip([0, 1, 2, 3, 4, 4]) {
        assert_eq!((event.at, event.workspace.as_str()), (at(hour), "x"));
    }
    for event in told.iter().filter(|event| event.subject == id.to_string()) {
        assert_eq!(
            (event.topics.as_slice(), event.importance.name()),
            (&["herbs".to_owned()][..], "high")
        );
    }
}

#[test]
fn events_of_what_one_does_not_see_do_not_exist() {
    let world = World::new();
    save(&world, "ann", json!({"text": "one", "sharing": "private"}));
    save(&world, "ann", json!({"text": "two", "user_id": "alice"}));
    save(&world, "ann", json!({"text": "three"}));
    let sequences = |agent: &str| -> Vec<u64> {
        events(&world, agent).iter().map(|event| event.sequence).collect()
    };
    assert_eq!(sequences("ann"), [1, 2, 3]);
    assert_eq!(sequences("bob"), [3]);
    let for_alice = caller("bob").for_user(Some("alice")).unwrap();
    let told = world.book.list_events(&for_alice, &ListEvents::default()).unwrap();
    assert_eq!(told.items.len(), 2);
    let first = ListEvents { after: 0, limit: Some(1) };
    let page = world.book.list_events(&caller("bob"), &first).unwrap();
    assert_eq!((page.items[0].sequence, page.next), (3, None), "nothing hidden makes a page");
    let there = world.book.list_events(&elsewhere("ann", "y"), &ListEvents::default()).unwrap();
    assert!(there.items.is_empty());
}

#[test]
fn what_was_purged_is_in_its_owners_journal_alone() {
    let world = World::new();
    let private = save(&world, "ann", json!({"text": "one", "sharing": "private"})).memory.id;
    let shared = save(&world, "ann/child", json!({"text": "two", "topics": ["t"]})).memory.id;
    for (id, who) in [(private, "ann"), (shared, "ann")] {
        let purge = request::<PurgeMemory>(json!({"id": id}));
        world.book.purge_memory(&caller(who), &purge).unwrap();
    }
    let count = |agent: &str| events(&world, agent).len();
    assert_eq!(["ann", "ann/child", "bob", "anonymous"].map(count), [2, 2, 0, 0]);
    assert!(events(&world, "ann/child").iter().all(|event| event.topics.is_empty()));
}

#[test]
fn a_refused_write_leaves_no_event_and_no_gap() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    let bad: UpdateMemory = request(json!({"id": memory.id, "text": "x"}));
    let refused = world.book.update_memory(&caller("bob"), &bad).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    world.save("ann", "coffee");
    let told: Vec<u64> = events(&world, "ann").iter().map(|event| event.sequence).collect();
    assert_eq!(told, [1, 2]);
    for limit in [0, limits::PAGE_MAX + 1] {
        let asked = ListEvents { after: 0, limit: Some(limit) };
        let error = world.book.list_events(&caller("ann"), &asked).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("limit")));
    }
}
