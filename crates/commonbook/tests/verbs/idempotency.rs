//! Idempotency keys: every writing verb is executed once per key and caller.

use commonbook::base::error::ErrorKind;
use commonbook::model::caller::Caller;
use commonbook::model::memory::{
    DeleteMemory, Memory, PurgeMemory, RestoreMemory, SaveMemories, SaveMemory, SaveOutcome,
    UpdateMemory,
};
use serde_json::json;

use crate::{World, caller, request};

fn keyed(text: &str, key: &str) -> SaveMemory {
    request(json!({"text": text, "idempotency_key": key}))
}

fn key() -> Option<String> {
    Some("k".to_owned())
}

#[test]
fn every_writing_verb_is_executed_once_per_key() {
    let world = World::new();
    let (book, ann) = (&world.book, caller("ann"));
    let memory = world.save("ann", "tea");
    let update = UpdateMemory {
        text: Some("coffee".into()),
        expected_revision: Some(1),
        idempotency_key: Some("update".into()),
        ..UpdateMemory::empty_update(memory.id)
    };
    let delete = DeleteMemory {
        id: memory.id.into(),
        expected_revision: None,
        idempotency_key: Some("del".into()),
    };
    let restore = RestoreMemory {
        revision: None,
        id: memory.id,
        expected_revision: None,
        idempotency_key: Some("restore".into()),
    };
    let purge = PurgeMemory {
        id: memory.id,
        revision: None,
        expected_revision: None,
        idempotency_key: Some("purge".into()),
    };
    let twice = |act: &dyn Fn() -> Memory| assert_eq!(act(), act());
    twice(&|| book.update_memory(&ann, &update).unwrap().memory);
    twice(&|| book.delete_memory(&ann, &delete).unwrap().memory);
    twice(&|| book.restore_memory(&ann, &restore).unwrap());
    let gone = book.purge_memory(&ann, &purge).unwrap();
    assert_eq!(book.purge_memory(&ann, &purge).unwrap(), gone);
    assert_eq!(world.events("ann").len(), 5, "saved, updated, deleted, restored, purged");
}

#[test]
fn a_batch_is_repeated_whole() {
    let world = World::new();
    let memories = vec![keyed("one", "own"), keyed("two", "own")];
    let batch = SaveMemories { memories, idempotency_key: key() };
    let first = world.book.save_memories(&caller("ann"), &batch).unwrap().items;
    let second = world.book.save_memories(&caller("ann"), &batch).unwrap().items;
    assert!(first.iter().all(|saved| saved.outcome == SaveOutcome::Created));
    assert!(second.iter().all(|saved| saved.outcome == SaveOutcome::Repeated));
    let ids = |all: &[commonbook::model::memory::SaveResult]| -> Vec<_> {
        all.iter().map(|saved| saved.memory.id).collect()
    };
    assert_eq!(ids(&first), ids(&second));
}

#[test]
fn a_key_belongs_to_one_request_of_one_agent_in_one_workspace() {
    let world = World::new();
    world.book.save_memory(&caller("ann"), &keyed("tea", "k")).unwrap();
    let memory = world.save("ann", "other");
    let delete =
        DeleteMemory { id: memory.id.into(), expected_revision: None, idempotency_key: key() };
    let error = world.book.delete_memory(&caller("ann"), &delete).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict, "another verb is another request");
    let others: [Caller; 2] = [crate::elsewhere("ann", "y"), caller("bob")];
    for other in others {
        let saved = world.book.save_memory(&other, &keyed("tea", "k")).unwrap();
        assert_eq!(saved.outcome, SaveOutcome::Created);
    }
}

#[test]
fn a_key_does_not_reveal_one_users_data_to_another() {
    let world = World::new();
    let of = |user: &str| caller("ann").for_user(Some(user)).unwrap();
    world.book.save_memory(&of("alice"), &keyed("likes tea", "k")).unwrap();
    let error = world.book.save_memory(&of("bob"), &keyed("likes tea", "k")).unwrap_err();
    assert_eq!(
        (error.kind, error.field.as_deref()),
        (ErrorKind::Conflict, Some("idempotency_key"))
    );
}

#[test]
fn a_refused_request_leaves_its_key_free() {
    let world = World::new();
    let stale = UpdateMemory {
        text: Some("coffee".into()),
        expected_revision: Some(7),
        idempotency_key: key(),
        ..UpdateMemory::empty_update(world.save("ann", "tea").id)
    };
    let error = world.book.update_memory(&caller("ann"), &stale).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let fixed = UpdateMemory { expected_revision: Some(1), ..stale };
    assert_eq!(world.book.update_memory(&caller("ann"), &fixed).unwrap().revision, 2);
}

#[test]
fn a_key_is_free_again_after_exactly_a_day() {
    for (hours, is_free) in [(23, false), (24, true)] {
        let world = World::new();
        world.book.save_memory(&caller("ann"), &keyed("tea", "k")).unwrap();
        world.sweep_at(hours - 1);
        let other = world.book.save_memory(&caller("ann"), &keyed("coffee", "k"));
        assert_eq!(other.is_ok(), is_free, "after {hours} hours");
    }
}

#[test]
fn a_key_is_one_line_of_at_most_its_limit() {
    let world = World::new();
    let long = "k".repeat(commonbook::base::limits::IDEMPOTENCY_KEY_CHARS + 1);
    let table = [
        (long.as_str(), ErrorKind::TooLarge),
        (" ", ErrorKind::Invalid),
        ("a\nb", ErrorKind::Invalid),
        ("a\u{0}b", ErrorKind::Invalid),
    ];
    for (key, kind) in table {
        let error = world.book.save_memory(&caller("ann"), &keyed("tea", key)).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (kind, Some("idempotency_key")));
    }
    assert!(world.events("ann").is_empty());
}

#[test]
fn of_many_saves_with_one_key_one_is_executed() {
    let world = World::new();
    let outcomes: Vec<SaveOutcome> = std::thread::scope(|scope| {
        let save = || world.book.save_memory(&caller("ann"), &keyed("tea", "k")).unwrap().outcome;
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(save)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == SaveOutcome::Created).count(), 1);
    assert_eq!(world.search("ann", "tea").total, 1);
}
