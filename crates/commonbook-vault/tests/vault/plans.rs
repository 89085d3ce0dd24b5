//! The plan for a file that says what the store says: which side is followed when one has put the memory away.

use commonbook::model::memory::Memory;
use commonbook_vault::memory_file::{MemoryEnding, MemoryFile, MemoryNotes, memory_file};
use commonbook_vault::plan::{MemoryStep, StoredMemory, plan_memory};

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
fn of_one_revision_the_side_that_put_it_away_is_followed_and_a_later_one_stays() {
    use State::{Archived, Current, Deleted};
    let deleted = || MemoryStep::PutAway(MemoryEnding::Deleted);
    let saved = World::new().save("ann", "The orders page is slow");
    // The store's state and revision, then the file's.
    for (stored, revision, file, file_revision, expected) in [
        (Current, 2, Current, 2, MemoryStep::Nothing),
        (Current, 2, Current, 3, MemoryStep::Nothing),
        (Current, 3, Current, 2, MemoryStep::WriteFile),
        (Deleted, 2, Current, 2, MemoryStep::WriteFile),
        (Deleted, 3, Current, 2, MemoryStep::WriteFile),
        (Deleted, 2, Current, 3, MemoryStep::LeaveFile),
        (Current, 2, Deleted, 2, deleted()),
        (Current, 2, Deleted, 3, deleted()),
        (Current, 3, Deleted, 2, MemoryStep::WriteFile),
        (Deleted, 2, Deleted, 2, MemoryStep::Nothing),
        (Deleted, 2, Deleted, 3, MemoryStep::Nothing),
        (Archived, 2, Current, 2, MemoryStep::WriteFile),
        (Current, 2, Archived, 2, MemoryStep::LeaveFile),
        (Current, 2, Archived, 3, MemoryStep::LeaveFile),
        (Current, 3, Archived, 2, MemoryStep::WriteFile),
    ] {
        let content = memory_file(&memory_in(file, file_revision, &saved), &MemoryNotes::default());
        let found = MemoryFile::parse(&content).unwrap();
        let known = StoredMemory { memory: memory_in(stored, revision, &saved), earlier: vec![] };
        let step = plan_memory(&known, &found).unwrap();
        let row = format!("store {stored:?} {revision}, file {file:?} {file_revision}");
        assert_eq!(step, expected, "{row}");
    }
}
