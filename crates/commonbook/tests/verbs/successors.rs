//! A successor is named only to callers that may read it.

use commonbook::model::memory::{GetMemory, ListMemories, Memory, MemoryHistory, SaveMemory};
use commonbook::model::search::SearchMemory;
use serde_json::{Value, json};

use crate::{World, caller, request};

/// A shared memory of ann's whose successor she has made private since.
fn hidden_heir(world: &World) -> (Memory, Memory) {
    let old = world.save("ann", "Herons nest in the old oak");
    let heir: SaveMemory = request(json!({"text": "The oak was felled", "supersedes": old.id}));
    let heir = world.book.save_memory(&caller("ann"), &heir).unwrap().memory;
    let hide = json!({"id": heir.id, "sharing": "private"});
    let heir = world.book.update_memory(&caller("ann"), &request(hide)).unwrap();
    (old, heir.memory)
}

/// Everything that an agent receives about these memories from verbs that return whole ones.
fn answers(world: &World, agent: &str, old: &Memory) -> Vec<Value> {
    let (book, who) = (&world.book, caller(agent));
    let get = GetMemory { id: old.id, at: None };
    let search: SearchMemory =
        request(json!({"query": "include:superseded,archived herons old oak"}));
    vec![
        json!(book.get_memory(&who, &get).unwrap()),
        json!(book.memory_history(&who, &MemoryHistory { id: old.id }).unwrap()),
        json!(book.list_memories(&who, &ListMemories::default()).unwrap()),
        json!(book.search_memory(&who, &search).unwrap()),
    ]
}

#[test]
fn an_invisible_successor_is_not_named() {
    let world = World::new();
    let (old, heir) = hidden_heir(&world);
    let id = heir.id.to_string();
    for answer in answers(&world, "ann", &old) {
        assert!(answer.to_string().contains(&id), "its author sees it: {answer}");
    }
    for answer in answers(&world, "bob", &old) {
        assert!(!answer.to_string().contains(&id), "{answer}");
        assert!(answer.to_string().contains("old oak"), "{answer}");
    }
    let legacy = json!({"id": old.id, "expected_revision": 1});
    let refused = world.book.delete_memory(&caller("bob"), &request(legacy)).unwrap_err();
    assert!(!format!("{refused:?}").contains(&id), "{refused:?}");
}

#[test]
fn an_update_keeps_an_invisible_successor() {
    let world = World::new();
    let (old, heir) = hidden_heir(&world);
    let title = json!({"id": old.id, "title": "Herons"});
    let changed = world.book.update_memory(&caller("ann"), &request(title)).unwrap();
    assert_eq!(changed.superseded_by, Some(heir.id));
    let again = json!({"text": "The oak stands", "supersedes": old.id});
    let refused = world.book.save_memory(&caller("ann"), &request(again)).unwrap_err();
    assert!(refused.hint.unwrap().contains(&heir.id.to_string()), "ann may read the named memory");
    assert!(!refused.message.contains(&heir.id.to_string()));
}
