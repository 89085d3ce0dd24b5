//! The journal: each writing verb appends one event, visible to callers that see its memory.

use std::sync::{Arc, Mutex};

use commonbook::base::error::ErrorKind;
use commonbook::base::limits;
use commonbook::model::event::{Event, EventFilter, EventKind, ListEvents, NewEvent};
use commonbook::model::memory::{
    DeleteMemory, PurgeMemory, RestoreMemory, SaveMemory, SaveResult, UpdateMemory,
};
use commonbook::store::Tx;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

fn save(world: &World, agent: &str, value: Value) -> SaveResult {
    let save: SaveMemory = request(value);
    world.book.save_memory(&caller(agent), &save).unwrap()
}

fn events(world: &World, agent: &str) -> Vec<Event> {
    let all = ListEvents { limit: Some(limits::PAGE_MAX), ..ListEvents::default() };
    world.book.list_events(&caller(agent), &all).unwrap().items
}

#[test]
fn every_change_appends_one_event_with_kind_actor_and_time() {
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
    let listed = events(&world, "bob");
    let kinds: Vec<(EventKind, &str)> = listed.iter().map(|e| (e.kind, e.actor.as_str())).collect();
    let expected = [
        (EventKind::MemorySaved, "ann/child"),
        (EventKind::MemoryUpdated, "ann"),
        (EventKind::MemoryDeleted, "ann"),
        (EventKind::MemoryRestored, "ann"),
        (EventKind::MemorySaved, "ann/child"),
        (EventKind::MemorySuperseded, "ann/child"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(listed[1].changed, ["text", "title"]);
    for (event, hour) in listed.iter().zip([0, 1, 2, 3, 4, 4]) {
        assert_eq!((event.at, event.workspace.as_str()), (at(hour), "x"));
    }
    for event in listed.iter().filter(|event| event.subject == id.to_string()) {
        assert_eq!(
            (event.topics.as_slice(), event.importance.name()),
            (&["herbs".to_owned()][..], "high")
        );
    }
}

#[test]
fn events_of_invisible_memories_do_not_exist() {
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
    let alices_page = world.book.list_events(&for_alice, &ListEvents::default()).unwrap();
    assert_eq!(alices_page.items.len(), 2);
    let first = ListEvents { limit: Some(1), ..ListEvents::default() };
    let page = world.book.list_events(&caller("bob"), &first).unwrap();
    assert_eq!((page.items[0].sequence, page.next), (3, None), "nothing hidden makes a page");
    let there = world.book.list_events(&elsewhere("ann", "y"), &ListEvents::default()).unwrap();
    assert!(there.items.is_empty());
}

#[test]
fn only_its_owner_sees_the_event_of_a_purge() {
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
    let sequences: Vec<u64> = events(&world, "ann").iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [1, 2]);
    for limit in [0, limits::PAGE_MAX + 1] {
        let asked = ListEvents { limit: Some(limit), ..ListEvents::default() };
        let error = world.book.list_events(&caller("ann"), &asked).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("limit")));
    }
}

fn asked(world: &World, agent: &str, value: Value) -> (Vec<u64>, Option<u64>) {
    let asked: ListEvents = request(value);
    let page = world.book.list_events(&caller(agent), &asked).unwrap();
    (page.items.iter().map(|event| event.sequence).collect(), page.next)
}

#[test]
fn the_journal_is_filtered_by_kind_topic_importance_and_actor() {
    let world = World::new();
    let id = save(&world, "ann", json!({"text": "one", "topics": ["Herbs"]})).memory.id;
    save(&world, "bob", json!({"text": "two", "importance": "high", "supersedes": null}));
    let change: UpdateMemory = request(json!({"id": id, "text": "three"}));
    world.book.update_memory(&caller("ann"), &change).unwrap();
    let table = [
        (json!({"events": ["memory.saved"]}), vec![1, 2]),
        (json!({"events": ["memory.u*", "memory.purged"]}), vec![3]),
        (json!({"topics": ["herbs", "tea"]}), vec![1, 3]),
        (json!({"importance": "high"}), vec![2]),
        (json!({"exclude_self": true}), vec![2]),
        (json!({"exclude_self": true, "topics": ["herbs"]}), vec![]),
        (json!({"events": ["memory.*"], "limit": 100}), vec![1, 2, 3]),
    ];
    for (value, expected) in table {
        assert_eq!(asked(&world, "ann", value.clone()), (expected, None), "{value}");
    }
    let first = json!({"topics": ["herbs"], "limit": 1});
    assert_eq!(asked(&world, "bob", first), (vec![1], Some(1)));
}

#[test]
fn an_unknown_event_kind_is_refused_with_the_known_ones() {
    let world = World::new();
    let table = [
        (json!({"events": ["memory.eaten"]}), ErrorKind::Invalid, "events[0]"),
        (json!({"events": ["memory.*", "odd.*"]}), ErrorKind::Invalid, "events[1]"),
        (json!({"topics": ["a", " "]}), ErrorKind::Invalid, "topics[1]"),
        (json!({"topics": ["t".repeat(65)]}), ErrorKind::TooLarge, "topics[0]"),
    ];
    for (value, kind, field) in table {
        let asked: ListEvents = request(value);
        let error = world.book.list_events(&caller("ann"), &asked).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (kind, Some(field)));
    }
}

#[test]
fn a_page_of_events_advances_even_if_few_match() {
    let world = World::new();
    let (ann, looked_at) = (caller("ann"), limits::EVENTS_LOOKED_AT);
    let memory = save(&world, "ann", json!({"text": "the first"})).memory;
    let read = NewEvent::of(EventKind::MemoryUpdated, &memory, &ann.agent, memory.recorded_at);
    let fill = move |tx: &mut Tx<'_>| {
        (0..looked_at + 99).try_for_each(|_| tx.append_event(&read).map(drop))
    };
    world.book.store().write(fill).unwrap();
    save(&world, "bob", json!({"text": "the last", "topics": ["rare"]}));
    let end = looked_at + 101;
    let rare = |after: u64| asked(&world, "ann", json!({"topics": ["rare"], "after": after}));
    assert_eq!(rare(0), (vec![], Some(looked_at)));
    assert_eq!(rare(looked_at), (vec![end], None));
    let filter = EventFilter { topics: vec!["rare".into()], ..EventFilter::default() };
    let followed = |after| world.book.follow_events(&ann, &filter, after, 10).unwrap();
    let first = followed(Some(0));
    assert_eq!((first.items.len(), first.through, first.more), (0, looked_at, true));
    let second = followed(Some(first.through));
    assert_eq!((second.items.len(), second.through, second.more), (1, end, false));
    for (from, through) in [(None, end), (Some(end), end), (Some(u64::MAX), end)] {
        let nothing = followed(from);
        assert_eq!((nothing.items.len(), nothing.through, nothing.more), (0, through, false));
    }
    assert_eq!(world.book.count_events(&ann, &filter, 0).unwrap(), 1);
}

#[test]
fn the_callback_runs_once_per_readable_write_and_not_for_refused_ones() {
    let world = World::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (tell, reader) = (Arc::clone(&heard), world.book.clone());
    let book = world.book.clone().on_write(move || {
        let found = reader.list_events(&caller("ann"), &ListEvents::default()).unwrap();
        tell.lock().unwrap().push(found.items.len());
    });
    let save = |text: &str| {
        let save: SaveMemory = request(json!({"text": text}));
        book.save_memory(&caller("ann"), &save)
    };
    let id = save("one").unwrap().memory.id;
    assert!(save("").is_err());
    let change: UpdateMemory = request(json!({"id": id, "text": "mine"}));
    assert!(book.update_memory(&caller("bob"), &change).is_err());
    save("two").unwrap();
    assert_eq!(*heard.lock().unwrap(), [1, 2]);
}
