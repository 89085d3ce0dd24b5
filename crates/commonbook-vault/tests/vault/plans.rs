//! The plan for a file that says what the store says: which side is followed when one has put the memory away,
//! or restored it.

use commonbook::model::memory::Memory;
use commonbook_vault::memory_file::{
    EditableFields, MemoryEnding, MemoryFile, MemoryNotes, memory_file,
};
use commonbook_vault::plan::{HomeMemory, MemoryStep, plan_memory};

use crate::{World, at};

/// How a side has the memory.
#[derive(Debug, Clone, Copy)]
enum State {
    Current,
    Deleted,
    Archived,
}

fn memory_in(state: State, revision: u64, memory: &Memory) -> Memory {
    let memory = Memory { revision, ..memory.clone() };
    match state {
        State::Current => memory,
        State::Deleted => Memory { deleted_at: Some(at(1)), ..memory },
        State::Archived => Memory { archived_at: Some(at(1)), ..memory },
    }
}

#[test]
fn a_deletion_is_followed_unless_it_was_undone_and_a_later_revision_of_the_others_stays() {
    use State::{Archived, Current, Deleted};
    let deleted = || MemoryStep::PutAway(MemoryEnding::Deleted(at(1)));
    let saved = World::new().save("ann", "The orders page is slow");
    let restored = || MemoryStep::Restore(Box::new(EditableFields::of(&saved)));
    // The store's state and revision, the file's, and whether the side that has the memory has undone its
    // deletion.
    for (stored, revision, file, file_revision, is_undone, expected) in [
        (Current, 2, Current, 2, false, MemoryStep::Nothing),
        (Current, 2, Current, 3, false, MemoryStep::Nothing),
        (Current, 3, Current, 2, false, MemoryStep::WriteFile),
        (Deleted, 2, Current, 2, false, MemoryStep::WriteFile),
        (Deleted, 3, Current, 2, false, MemoryStep::WriteFile),
        (Deleted, 2, Current, 3, false, MemoryStep::WriteFile),
        (Deleted, 2, Current, 3, true, restored()),
        (Deleted, 4, Current, 3, true, restored()),
        (Current, 2, Deleted, 2, false, deleted()),
        (Current, 2, Deleted, 3, false, deleted()),
        (Current, 3, Deleted, 2, false, deleted()),
        (Current, 3, Deleted, 2, true, MemoryStep::WriteFile),
        (Current, 3, Deleted, 4, true, MemoryStep::WriteFile),
        (Deleted, 2, Deleted, 2, false, MemoryStep::Nothing),
        (Deleted, 2, Deleted, 3, false, MemoryStep::Nothing),
        (Archived, 2, Current, 2, false, MemoryStep::WriteFile),
        (Archived, 2, Current, 3, false, MemoryStep::LeaveFile),
        (Current, 2, Archived, 2, false, MemoryStep::LeaveFile),
        (Current, 2, Archived, 3, false, MemoryStep::LeaveFile),
        (Current, 3, Archived, 2, false, MemoryStep::WriteFile),
    ] {
        let undone = |state| is_undone && matches!(state, Current);
        let undone_deletions = undone(file).then_some(at(1)).into_iter().collect();
        let notes = MemoryNotes { undone_deletions, ..MemoryNotes::default() };
        let content = memory_file(&memory_in(file, file_revision, &saved), &notes);
        let found = MemoryFile::parse(&content).unwrap();
        let earlier = undone(stored).then(|| memory_in(Deleted, 2, &saved)).into_iter().collect();
        let known = HomeMemory { memory: memory_in(stored, revision, &saved), earlier };
        let step = plan_memory(&known, &found).unwrap();
        let row = format!("store {stored:?} {revision}, file {file:?} {file_revision} {is_undone}");
        assert_eq!(step, expected, "{row}");
    }
}

#[test]
fn a_file_of_a_revision_that_lost_what_was_forgotten_is_written_again() {
    let said = "The red lorry waits. Ask Bob.";
    let saved = World::new().save("ann", said);
    let cut = Memory { text: "[forgotten] Ask Bob.".to_owned(), ..saved.clone() };
    let file = memory_file(&saved, &MemoryNotes::default());
    let known = HomeMemory {
        memory: Memory { revision: saved.revision + 1, ..cut.clone() },
        earlier: vec![cut],
    };
    let step = |content: &str| plan_memory(&known, &MemoryFile::parse(content).unwrap()).unwrap();
    assert_eq!(step(&file), MemoryStep::WriteFile);
    let edited = file.replace("Ask Bob", "Ask Cid");
    assert!(matches!(step(&edited), MemoryStep::KeepBoth(_)), "a person said something new");
    let other = HomeMemory { memory: Memory { text: "Else".into(), ..saved }, earlier: vec![] };
    let step = plan_memory(&other, &MemoryFile::parse(&file).unwrap()).unwrap();
    assert!(matches!(step, MemoryStep::KeepBoth(_)), "of a store that never had it");
}
