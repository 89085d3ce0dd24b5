//! Changing and removing: owners, revisions, and how long each can be undone.

use commonbook::base::error::{Error, ErrorCode, ErrorKind};
use commonbook::base::id::handle;
use commonbook::model::event::EventKind;
use commonbook::model::memory::{
    DeleteMemory, GetMemory, ListMemories, Memory, MemoryAt, MemoryHistory, PurgeMemory,
    RestoreMemory, Sharing, UpdateMemory,
};

use crate::{World, at, caller};

fn text(memory: &Memory, text: &str) -> UpdateMemory {
    UpdateMemory { text: Some(text.into()), ..UpdateMemory::empty_update(memory.id) }
}

fn delete(memory: &Memory) -> DeleteMemory {
    DeleteMemory { id: memory.id.into(), expected_revision: None, idempotency_key: None }
}

fn restore(memory: &Memory) -> RestoreMemory {
    RestoreMemory { id: memory.id, revision: None, expected_revision: None, idempotency_key: None }
}

fn purge(memory: &Memory) -> PurgeMemory {
    PurgeMemory { id: memory.id, revision: None, expected_revision: None, idempotency_key: None }
}

/// The errors that this agent gets for each change.
fn tries(world: &World, agent: &str, memory: &Memory) -> Vec<Error> {
    let (book, caller) = (&world.book, caller(agent));
    vec![
        book.update_memory(&caller, &text(memory, "changed")).unwrap_err(),
        book.delete_memory(&caller, &delete(memory)).unwrap_err(),
        book.restore_memory(&caller, &restore(memory)).unwrap_err(),
        book.purge_memory(&caller, &purge(memory)).unwrap_err(),
    ]
}

#[test]
fn only_the_owner_changes_a_shared_memory() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    for error in tries(&world, "bob", &memory) {
        assert_eq!(
            (error.kind, error.code),
            (ErrorKind::Forbidden, Some(ErrorCode::OwnershipMismatch))
        );
        let mismatch = error.mismatch.unwrap();
        assert_eq!((mismatch.owner.as_str(), mismatch.caller.as_str()), ("ann", "bob"));
        assert!(error.hint.unwrap().contains("your own version"));
    }
    for error in tries(&world, "ann/child", &memory) {
        assert_eq!(error.kind, ErrorKind::Forbidden, "a child does not change its parent's");
    }
    assert_eq!(world.events("ann").len(), 1);
}

#[test]
fn a_private_memory_does_not_exist_for_other_agents() {
    let world = World::new();
    let memory = world.save_private("ann", "a secret tea");
    let unknown = Memory { id: world.save_private("ann", "x").id, ..memory.clone() };
    for agent in ["bob", "ann/child", "anonymous"] {
        for error in tries(&world, agent, &memory) {
            assert_eq!(error.kind, ErrorKind::NotFound);
            assert!(error.mismatch.is_none() && !error.message.contains("ann"));
        }
        let caller = caller(agent);
        let get = GetMemory { id: memory.id.into(), at: None };
        assert_eq!(world.book.get_memory(&caller, &get).unwrap_err().kind, ErrorKind::NotFound);
        let history = MemoryHistory { id: unknown.id.into() };
        assert!(world.book.memory_history(&caller, &history).is_err());
        assert_eq!(world.search(agent, "tea").total, 0);
        assert!(world.texts(agent, &ListMemories::default()).is_empty());
        assert!(world.events(agent).is_empty());
        let stats = world.book.get_memory_stats(&caller, &Default::default()).unwrap();
        assert_eq!((stats.memories, stats.events, stats.by_agent.len()), (0, 0, 0));
        let agents = world.book.list_agents(&caller, &Default::default()).unwrap();
        assert_eq!(agents.items[0].memory_count, 0);
        let handle = handle(&memory.id.to_string()).to_owned();
        assert!(crate::handles::resolve(&world, &caller, &handle).is_err());
    }
}

#[test]
fn a_parent_changes_its_childrens_memories_and_any_agent_legacy_ones() {
    let world = World::new();
    let childs = world.save("ann/child", "tea");
    let changed = world.book.update_memory(&caller("ann"), &text(&childs, "coffee")).unwrap();
    assert_eq!((changed.owner.as_str(), changed.revised_by.as_str()), ("ann/child", "ann"));
    let legacy = world.save("legacy", "tea");
    world.book.update_memory(&caller("bob"), &text(&legacy, "coffee")).unwrap();
}

#[test]
fn an_update_reports_the_changed_fields_and_an_empty_one_writes_nothing() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    world.clock.set(at(1));
    let changed = world.book.update_memory(&caller("ann"), &text(&memory, "coffee")).unwrap();
    assert_eq!((changed.revision, changed.revised_at), (2, at(1)));
    let same = world.book.update_memory(&caller("ann"), &text(&memory, "coffee")).unwrap();
    assert_eq!(same, changed);
    let kinds: Vec<EventKind> = world.events("ann").into_iter().map(|event| event.1).collect();
    assert_eq!(kinds, [EventKind::MemorySaved, EventKind::MemoryUpdated]);
    let nothing = UpdateMemory::empty_update(memory.id);
    let error = world.book.update_memory(&caller("ann"), &nothing).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    let stale = UpdateMemory { expected_revision: Some(1), ..text(&memory, "water") };
    let error = world.book.update_memory(&caller("ann"), &stale).unwrap_err();
    assert_eq!(
        (error.kind, error.field.as_deref()),
        (ErrorKind::Conflict, Some("expected_revision"))
    );
}

#[test]
fn history_does_not_reveal_revisions_that_were_private() {
    let world = World::new();
    let memory = world.save_private("ann", "the password is tea");
    let share = UpdateMemory { sharing: Some(Sharing::Shared), ..text(&memory, "ask ann") };
    world.clock.set(at(1));
    world.book.update_memory(&caller("ann"), &share).unwrap();
    let texts = |agent: &str| -> Vec<String> {
        let history =
            world.book.memory_history(&caller(agent), &MemoryHistory { id: memory.id.into() });
        history.unwrap().items.into_iter().map(|revision| revision.memory.text).collect()
    };
    assert_eq!(texts("ann"), ["the password is tea", "ask ann"]);
    assert_eq!(texts("bob"), ["ask ann"]);
    let kinds: Vec<EventKind> = world.events("bob").into_iter().map(|event| event.1).collect();
    assert_eq!(kinds, [EventKind::MemoryUpdated], "events from its private time are ann's");
    assert_eq!(world.events("ann").len(), 2);
    let then = MemoryAt { id: memory.id, at: at(0) };
    assert!(world.book.memory_at(&caller("ann"), &then).is_ok());
    assert_eq!(world.book.memory_at(&caller("bob"), &then).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_memory_is_read_as_of_a_past_time() {
    let world = World::new();
    world.clock.set(at(10));
    let memory = world.save("ann", "tea");
    world.clock.set(at(20));
    world.book.update_memory(&caller("ann"), &text(&memory, "coffee")).unwrap();
    world.clock.set(at(30));
    world.book.delete_memory(&caller("ann"), &delete(&memory)).unwrap();
    world.clock.set(at(40));
    world.book.restore_memory(&caller("ann"), &restore(&memory)).unwrap();
    let table = [
        (9, None),
        (10, Some("tea")),
        (19, Some("tea")),
        (20, Some("coffee")),
        (30, None),
        (39, None),
        (40, Some("coffee")),
    ];
    for (hour, expected) in table {
        let then = MemoryAt { id: memory.id, at: at(hour) };
        let found = world.book.memory_at(&caller("bob"), &then);
        assert_eq!(found.ok().map(|memory| memory.text).as_deref(), expected, "at {hour}");
    }
}

#[test]
fn a_deleted_memory_can_be_restored_for_thirty_days() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    let restored = world.book.restore_memory(&caller("ann"), &restore(&memory));
    assert_eq!(restored.unwrap_err().kind, ErrorKind::Conflict);
    world.book.delete_memory(&caller("ann"), &delete(&memory)).unwrap();
    let again = world.book.delete_memory(&caller("ann"), &delete(&memory)).unwrap_err();
    assert!(again.kind == ErrorKind::NotFound && again.hint.unwrap().contains("restore"));
    assert_eq!(world.search("ann", "tea").total, 0);
    let deleted = ListMemories { deleted: true, ..ListMemories::default() };
    assert_eq!(world.texts("ann", &deleted), ["tea"]);
    assert_eq!(world.sweep_at(24 * 30 - 1), 0);
    world.book.restore_memory(&caller("ann"), &restore(&memory)).unwrap();
    assert_eq!(world.search("bob", "tea").total, 1);

    world.book.delete_memory(&caller("ann"), &delete(&memory)).unwrap();
    world.clock.set(at(24 * 60 + 1));
    let late = world.book.restore_memory(&caller("ann"), &restore(&memory)).unwrap_err();
    assert_eq!(late.kind, ErrorKind::NotFound);
    assert_eq!(world.sweep_at(24 * 60 + 1), 1);
    assert!(world.texts("ann", &deleted).is_empty());
    let last = world.events("ann").pop().unwrap();
    assert_eq!((last.1, last.2.as_str()), (EventKind::MemoryPurged, "system"));
}

#[test]
fn only_its_owner_knows_of_a_purged_memory() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    world.book.purge_memory(&caller("ann"), &purge(&memory)).unwrap();
    let get = GetMemory { id: memory.id.into(), at: None };
    assert_eq!(world.book.get_memory(&caller("ann"), &get).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(world.search("ann", "tea").total, 0);
    let kinds: Vec<EventKind> = world.events("ann").into_iter().map(|event| event.1).collect();
    assert_eq!(kinds, [EventKind::MemorySaved, EventKind::MemoryPurged]);
    assert!(world.events("bob").is_empty());
}

#[test]
fn a_revision_loses_its_content_for_good_and_the_memory_stays() {
    let world = World::new();
    let memory = world.save("ann", "the door code is 4711");
    for (hour, words) in [(1, "the door code is 4712"), (2, "the door has no code")] {
        world.clock.set(at(hour));
        world.book.update_memory(&caller("ann"), &text(&memory, words)).unwrap();
    }
    let first = PurgeMemory { revision: Some(1), ..purge(&memory) };
    let refused = world.book.purge_memory(&caller("bob"), &first).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    world.clock.set(at(3));
    for _ in 0..2 {
        let gone = world.book.purge_memory(&caller("ann"), &first).unwrap();
        assert_eq!((gone.revision, gone.same_text), (Some(1), Vec::new()));
    }
    // The others read it as before, and in the history stands who wrote it, and who removed what it said.
    for reader in ["ann", "bob"] {
        let request = MemoryHistory { id: memory.id.into() };
        let history = world.book.memory_history(&caller(reader), &request).unwrap().items;
        let texts: Vec<&str> = history.iter().map(|it| it.memory.text.as_str()).collect();
        assert_eq!(texts, ["", "the door code is 4712", "the door has no code"]);
        let purged = history[0].purged.as_ref().unwrap();
        assert_eq!((purged.at, purged.by.as_str()), (at(3), "ann"));
        assert_eq!((history[0].at, history[0].agent.as_str()), (memory.revised_at, "ann"));
        assert!(history[0].memory.topics.is_empty() && history[1].purged.is_none());
        assert_eq!(world.search(reader, "door code").total, 1);
    }
    let then =
        |hour| world.book.memory_at(&caller("bob"), &MemoryAt { id: memory.id, at: at(hour) });
    assert_eq!(then(0).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(then(1).unwrap().text, "the door code is 4712");
    let back = RestoreMemory { revision: Some(1), ..restore(&memory) };
    let lost = world.book.restore_memory(&caller("ann"), &back).unwrap_err();
    assert_eq!((lost.kind, lost.field.as_deref()), (ErrorKind::NotFound, Some("revision")));
    let last = world.events("bob").pop().unwrap();
    assert_eq!((last.1, last.2.as_str()), (EventKind::MemoryRevisionPurged, "ann"));
}

#[test]
fn a_purge_of_a_revision_says_where_its_text_remains() {
    let world = World::new();
    let memory = world.save("ann", "tea at four");
    let topics = UpdateMemory {
        topics: Some(vec!["kitchen".into()]),
        ..UpdateMemory::empty_update(memory.id)
    };
    world.book.update_memory(&caller("ann"), &topics).unwrap();
    let of = |number| PurgeMemory { revision: Some(number), ..purge(&memory) };
    let present = world.book.purge_memory(&caller("ann"), &of(2)).unwrap_err();
    assert_eq!((present.kind, present.field.as_deref()), (ErrorKind::Conflict, Some("revision")));
    assert_eq!(world.book.purge_memory(&caller("ann"), &of(1)).unwrap().same_text, [2]);
    let none = world.book.purge_memory(&caller("ann"), &of(7)).unwrap_err();
    assert_eq!((none.kind, none.field.as_deref()), (ErrorKind::NotFound, Some("revision")));
    // What is gone does not come back by undoing the change after it.
    let undone = world.book.undo_operation(&caller("ann"), &Default::default());
    assert_eq!(undone.unwrap_err().kind, ErrorKind::Conflict);
}
