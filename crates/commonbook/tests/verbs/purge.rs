//! Purging: nothing remains of what was removed, wherever it was stored.

use std::fs;

use commonbook::base::error::ErrorKind;
use commonbook::model::event::ListEvents;
use commonbook::model::memory::{
    GetMemory, MemoryAt, MemoryHistory, PurgeMemory, SaveMemory, SaveOutcome, UpdateMemory,
};
use serde_json::json;

use crate::{World, at, caller, elsewhere, request};

/// The files of the home that contain this word, case-insensitive.
fn files_with(world: &World, word: &str) -> Vec<String> {
    let holds = |path: &std::path::Path| {
        let bytes = fs::read(path).unwrap().to_ascii_lowercase();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    if crate::stored_bytes(world.home())
        .to_ascii_lowercase()
        .windows(word.len())
        .any(|part| part == word.as_bytes())
    {
        return vec!["the store".to_owned()];
    }
    let paths = fs::read_dir(world.home()).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| holds(path)).map(|path| path.display().to_string()).collect()
}

fn everywhere(word: &str) -> SaveMemory {
    request(json!({
        "text": word, "title": word, "summary": word, "topics": [word], "metadata": {word: word},
        "user_id": word, "memory_type": word, "idempotency_key": "save"
    }))
}

#[test]
fn no_file_contains_what_was_purged() {
    let world = World::new();
    for number in 0..50 {
        world.save("ann", &format!("filler {number} about the weather"));
    }
    let ann = caller("ann").for_user(Some("qwyxolotl")).unwrap();
    let memory = world.book.save_memory(&ann, &everywhere("qwyxolotl")).unwrap().memory;
    let update = UpdateMemory {
        text: Some("nothing to see".into()),
        topics: Some(vec![]),
        idempotency_key: Some("update".into()),
        ..UpdateMemory::empty_update(memory.id)
    };
    world.book.update_memory(&ann, &update).unwrap();
    assert!(!files_with(&world, "qwyxolotl").is_empty());
    let purge = PurgeMemory {
        id: memory.id,
        revision: None,
        expected_revision: None,
        idempotency_key: Some("purge".into()),
    };
    world.book.purge_memory(&ann, &purge).unwrap();
    for word in ["qwyxolotl", "wyxolotl", "nothing to see"] {
        assert_eq!(files_with(&world, word), Vec::<String>::new(), "{word}");
    }
    assert_eq!(world.book.store().check().unwrap(), Vec::<String>::new());
}

#[test]
fn no_file_contains_what_the_sweep_purged() {
    let world = World::new();
    let memory = world.save("ann", "qwyxolotl");
    let delete = commonbook::model::memory::DeleteMemory {
        id: memory.id.into(),
        expected_revision: None,
        idempotency_key: None,
    };
    world.book.delete_memory(&caller("ann"), &delete).unwrap();
    assert_eq!(world.sweep_at(24 * 30 + 1), 1);
    assert_eq!(files_with(&world, "qwyxolotl"), Vec::<String>::new());
}

#[test]
fn a_stored_response_of_another_workspace_is_dropped_too() {
    let world = World::new();
    let save: SaveMemory = request(json!({"text": "tea"}));
    let memory = world.book.save_memory(&elsewhere("ann", "global"), &save).unwrap().memory;
    let update = UpdateMemory {
        text: Some("qwyxolotl".into()),
        idempotency_key: Some("k".into()),
        ..UpdateMemory::empty_update(memory.id)
    };
    world.book.update_memory(&caller("ann"), &update).unwrap();
    let purge = PurgeMemory {
        id: memory.id,
        revision: None,
        expected_revision: None,
        idempotency_key: None,
    };
    world.book.purge_memory(&elsewhere("ann", "global"), &purge).unwrap();
    let again = world.book.update_memory(&caller("ann"), &update);
    assert_eq!(again.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(files_with(&world, "qwyxolotl"), Vec::<String>::new());
}

#[test]
fn no_verb_returns_what_was_purged() {
    let world = World::new();
    let save: SaveMemory = request(json!({"text": "tea", "topics": ["herbs"]}));
    let id = world.book.save_memory(&caller("ann"), &save).unwrap().memory.id;
    let purge = PurgeMemory { id, revision: None, expected_revision: None, idempotency_key: None };
    world.book.purge_memory(&caller("ann"), &purge).unwrap();
    let (book, ann) = (&world.book, caller("ann"));
    let refusals = [
        book.get_memory(&ann, &GetMemory { id: id.into(), at: None }).unwrap_err(),
        book.memory_at(&ann, &MemoryAt { id, at: at(0) }).unwrap_err(),
        book.memory_history(&ann, &MemoryHistory { id: id.into() }).unwrap_err(),
        crate::handles::resolve(&world, &ann, &id.to_string()[20..]).unwrap_err(),
        book.purge_memory(&ann, &purge).unwrap_err(),
    ];
    for error in refusals {
        assert_eq!(error.kind, ErrorKind::NotFound);
    }
    let events = book.list_events(&ann, &ListEvents::default()).unwrap().items;
    assert!(events.iter().all(|event| event.topics.is_empty()), "{events:?}");
    let stats = book.get_memory_stats(&ann, &Default::default()).unwrap();
    assert_eq!((stats.memories, stats.deleted, stats.by_agent.len()), (0, 0, 0));
    assert_eq!(book.save_memory(&ann, &save).unwrap().outcome, SaveOutcome::Created);
}
