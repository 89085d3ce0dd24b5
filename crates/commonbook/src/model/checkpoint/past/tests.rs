//! Tests of memories as they stood at a checkpoint.

use super::*;
use crate::base::id::CountingIds;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::checkpoint::CheckpointKind;
use crate::model::checkpoint::tests::{at, checkpoint};
use crate::model::memory::{SaveMemory, Sharing};
use crate::model::workspace::Workspace;

fn memory(text: &str, revision: u64, hours: i64) -> Memory {
    let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Rest);
    let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
    let id = MemoryId::new(&CountingIds::default(), at(0));
    let memory = request.memory(&caller, Sharing::Shared, id, at(0)).expect("a memory");
    Memory { revision, revised_at: at(hours), ..memory }
}

fn earlier(memory: &Memory, ended: Option<u64>, is_seen: bool) -> EarlierRevision {
    EarlierRevision {
        memory: memory.id,
        revision: memory.revision,
        revised_at: memory.revised_at,
        ended,
        snapshot: Some(memory.clone()).filter(|_| is_seen),
    }
}

#[test]
fn a_memory_is_told_as_it_stood_at_the_position_of_the_checkpoint() {
    // The checkpoint has position 7, and was made at hour 5.
    let made = checkpoint(&CountingIds::default(), 1, CheckpointKind::Manual, 5);
    let [first, second, third] = [("three", 1, 0), ("five", 2, 3), ("seven", 3, 9)]
        .map(|(text, revision, hours)| memory(text, revision, hours));
    let text = |revisions: &[EarlierRevision]| {
        memory_at(&third, revisions, &made).map(|memory| memory.text)
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

#[test]
fn what_became_of_a_memory_is_one_of_three() {
    let then = memory("three", 1, 0);
    let heir = MemoryId::new(&CountingIds::default(), at(2));
    let now = |change: fn(&mut Memory)| {
        let mut now = Memory { revision: 2, ..then.clone() };
        change(&mut now);
        change_since(&then, &now).map(|change| change.change)
    };
    assert_eq!(now(|_| ()), None);
    assert_eq!(now(|memory| memory.topics = vec!["retries".into()]), None, "it says the same");
    assert_eq!(now(|memory| memory.text = "five".into()), Some(ChangeSince::Changed));
    assert_eq!(now(|memory| memory.deleted_at = Some(at(3))), Some(ChangeSince::Deleted));
    let superseded = Memory { superseded_by: Some(heir), ..then.clone() };
    let change = change_since(&then, &superseded).expect("a change");
    assert_eq!((change.change, change.superseded_by), (ChangeSince::Superseded, Some(heir)));
}
