//! The journal of a workspace: gapless, in order, its own.

use std::sync::Arc;

use commonbook::access::Sight;
use commonbook::event::EventKind;
use commonbook::id::RandomIds;

use crate::{Fresh, caller, keep, memory, with_texts};

pub(crate) fn sequences_are_gapless_under_many_writers_in_two_processes(fresh: &dyn Fresh) {
    let stores = [fresh.open(), fresh.open()];
    std::thread::scope(|scope| {
        for writer in 0..16_usize {
            let store = Arc::clone(&stores[writer % 2]);
            scope.spawn(move || {
                let ids = RandomIds::default();
                for number in 0..25 {
                    let given = memory(&ids, "ann", "x", &format!("{writer} {number}"));
                    store.write(move |tx| keep(tx, &given)).unwrap();
                }
            });
        }
    });
    let sight = Sight::of(&caller("ann", "x"));
    let events = stores[0].read(|tx| tx.events(&sight, 0, 1_000)).unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=400).collect::<Vec<_>>());
}

pub(crate) fn each_workspace_has_a_journal_of_its_own(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = RandomIds::default();
    for workspace in ["x", "y", "x"] {
        let given = memory(&ids, "ann", workspace, "tea");
        store.write(move |tx| keep(tx, &given)).unwrap();
    }
    for (workspace, count) in [("x", 2), ("y", 1), ("z", 0)] {
        let sight = Sight::at_home(&caller("ann", workspace));
        let events = store.read(|tx| tx.events(&sight, 0, 10)).unwrap();
        let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, (1..=count).collect::<Vec<_>>());
        assert_eq!(store.read(|tx| tx.event_count(&sight)).unwrap(), count);
        let end = store.read(|tx| tx.journal_end(&workspace.parse()?)).unwrap();
        assert_eq!(end, count);
    }
    let names = store.read(|tx| tx.workspaces()).unwrap();
    assert_eq!(
        names.iter().map(commonbook::workspace::Workspace::as_str).collect::<Vec<_>>(),
        ["x", "y"]
    );
}

pub(crate) fn the_journal_tells_events_in_order_after_a_place(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &["one", "two", "three"]);
    let sight = Sight::of(&caller("bob", "x"));
    let told = store.read(|tx| tx.events(&sight, 1, 1)).unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].sequence, told[0].kind), (2, EventKind::MemorySaved));
    assert_eq!(told[0].subject, kept[1].id.to_string());
    assert!(store.read(|tx| tx.events(&sight, 3, 10)).unwrap().is_empty());
}
