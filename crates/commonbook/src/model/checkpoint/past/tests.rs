//! Tests of memories as they stood at a checkpoint.

use super::*;
use crate::base::id::CountingIds;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::checkpoint::CheckpointKind;
use crate::model::checkpoint::tests::{at, checkpoint};
use crate::model::memory::{Memory, SaveMemory, Sharing};
use crate::model::workspace::Workspace;

fn memory(text: &str, revision: u64, hours: i64) -> StoredMemory {
    let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Rest);
    let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
    let id = MemoryId::new(&CountingIds::default(), at(0));
    let memory = request.memory(&caller, Sharing::Shared, id, at(0)).expect("a memory");
    StoredMemory::of(Memory { revision, revised_at: at(hours), ..memory })
}

fn earlier(memory: &StoredMemory, ended: Option<u64>, is_seen: bool) -> EarlierRevision {
    EarlierRevision {
        memory: memory.id,
        revision: memory.revision,
        revised_at: memory.revised_at,
        ended,
        snapshot: Some(memory.clone()).filter(|_| is_seen),
        purged: None,
    }
}

#[test]
fn a_memory_is_told_as_it_stood_at_the_position_of_the_checkpoint() {
    // The checkpoint has position 7, and was made at hour 5.
    let made = checkpoint(&CountingIds::default(), 1, CheckpointKind::Manual, 5);
    let [first, second, third] = [("three", 1, 0), ("five", 2, 3), ("seven", 3, 9)]
        .map(|(text, revision, hours)| memory(text, revision, hours));
    let text = |revisions: &[EarlierRevision]| {
        memory_at(&third, revisions, &made).map(|memory| memory.text.clone())
    };
    let table = [
        ("never changed", vec![], Some("seven")),
        ("changed later", vec![earlier(&second, Some(9), true)], Some("five")),
        (
            "changed later twice",
            vec![earlier(&first, Some(8), true), earlier(&second, Some(9), true)],
            Some("three"),
        ),
        ("out of sight then", vec![earlier(&second, Some(9), false)], None),
        // Without positions the times tell: the second was made before the checkpoint.
        (
            "no positions",
            vec![earlier(&first, None, true), earlier(&second, None, true)],
            Some("five"),
        ),
        (
            "no position at first",
            vec![earlier(&first, None, true), earlier(&second, Some(9), true)],
            Some("five"),
        ),
        // The second ended before the checkpoint, and so did the first.
        ("ended before", vec![earlier(&first, None, true)], Some("seven")),
    ];
    for (case, revisions, expected) in table {
        assert_eq!(text(&revisions).as_deref(), expected, "{case}");
    }
    let other = EarlierRevision {
        memory: MemoryId::new(&CountingIds::default(), at(1)),
        ..earlier(&second, Some(9), true)
    };
    assert_eq!(text(&[other]).as_deref(), Some("seven"), "of another memory");
}
