//! Writes are atomic, and acknowledged writes are visible.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;

use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::RandomIds;
use commonbook::model::access::Sight;
use commonbook::model::memory::{ListOrder, Memory};
use commonbook::model::search::MemoryFilter;
use commonbook::store::{IdempotencyRecord, Tx};

use crate::{Fresh, caller, journal, keep, memory, now, replace, with_texts};

pub(crate) fn a_dropped_write_leaves_nothing(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = memory(&RandomIds::default(), "ann", "x", "tea");
    let given = kept.clone();
    let answer = store.write(move |tx| -> Result<(), _> {
        keep(tx, &given)?;
        Err(Error::conflict("never mind"))
    });
    assert_eq!(answer.unwrap_err().kind, ErrorKind::Conflict);
    let sight = Sight::of(&caller("ann", "x"));
    store
        .read(|tx| {
            assert_eq!(tx.memory(&sight, kept.id)?, None);
            assert_eq!(tx.events(&sight, &journal("x"), 10)?, []);
            assert!(tx.workspaces()?.is_empty());
            Ok(())
        })
        .unwrap();
}

pub(crate) fn a_panicking_write_leaves_nothing_and_the_next_one_works(fresh: &dyn Fresh) {
    let store = fresh.open();
    let given = memory(&RandomIds::default(), "ann", "x", "tea");
    let answer = store.write(move |tx| -> Result<(), _> {
        keep(tx, &given)?;
        panic!("a verb with a mistake");
    });
    assert_eq!(answer.unwrap_err().kind, ErrorKind::Internal);
    with_texts(&*store, &["coffee"]);
    let sight = Sight::of(&caller("ann", "x"));
    let events = store.read(|tx| tx.events(&sight, &journal("x"), 10)).unwrap();
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1]);
    let read =
        catch_unwind(AssertUnwindSafe(|| store.read(|_| -> Result<(), _> { panic!("too") })));
    assert!(read.is_err() && store.read(|tx| tx.events(&sight, &journal("x"), 10)).is_ok());
}

pub(crate) fn a_failing_write_does_not_affect_others_of_its_group(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = Arc::new(RandomIds::default());
    std::thread::scope(|scope| {
        for number in 0..64_usize {
            let (store, ids) = (Arc::clone(&store), Arc::clone(&ids));
            scope.spawn(move || {
                let given = memory(&*ids, "ann", "x", &format!("number{number}"));
                let answer = store.write_as(&caller("ann", "x"), move |tx| {
                    keep(tx, &given)?;
                    if number % 7 == 0 { Err(Error::conflict("no sevens")) } else { Ok(()) }
                });
                assert_eq!(answer.is_ok(), number % 7 != 0);
            });
        }
    });
    let sight = Sight::of(&caller("ann", "x"));
    let events = store.read(|tx| tx.events(&sight, &journal("x"), 100)).unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=54).collect::<Vec<_>>());
}

pub(crate) fn a_write_is_seen_by_the_next_read_of_another_process(fresh: &dyn Fresh) {
    let (first, second) = (fresh.open(), fresh.open());
    let sight = Sight::of(&caller("bob", "x"));
    for number in 0..50 {
        let kept = with_texts_of(&*first, number);
        let found = second.read(|tx| tx.memory(&sight, kept.id)).unwrap();
        assert_eq!(found.as_deref(), Some(&kept));
    }
}

fn with_texts_of(
    store: &dyn commonbook::store::Store,
    number: usize,
) -> commonbook::model::memory::Memory {
    let kept = memory(&RandomIds::default(), "ann", "x", &format!("number{number}"));
    let given = kept.clone();
    store.write(move |tx| keep(tx, &given)).unwrap();
    kept
}

pub(crate) fn a_read_is_a_snapshot(fresh: &dyn Fresh) {
    let store = fresh.open();
    with_texts(&*store, &["tea"]);
    let sight = Sight::of(&caller("ann", "x"));
    store
        .read(|tx| {
            let before = tx.events(&sight, &journal("x"), 10)?.len();
            let given = memory(&RandomIds::default(), "ann", "x", "coffee");
            store.write(move |tx| keep(tx, &given))?;
            assert_eq!(tx.events(&sight, &journal("x"), 10)?.len(), before);
            Ok(())
        })
        .unwrap();
    assert_eq!(store.read(|tx| tx.events(&sight, &journal("x"), 10)).unwrap().len(), 2);
}

pub(crate) fn a_stored_response_is_found_by_its_key_until_it_is_dropped(fresh: &dyn Fresh) {
    let store = fresh.open();
    let caller = caller("ann", "x");
    let kept = IdempotencyRecord { request_sha256: "r".into(), answer: "{}".into(), at: now() };
    let (given, by) = (kept.clone(), caller.clone());
    store.write(move |tx| tx.keep_answer(&by.workspace, &by.agent, "k", &given)).unwrap();
    let find = |workspace: &str, agent: &str, key: &str| {
        let who = crate::caller(agent, workspace);
        store.read(|tx| tx.kept_answer(&who.workspace, &who.agent, key)).unwrap()
    };
    assert_eq!(find("x", "ann", "k"), Some(kept));
    for (workspace, agent, key) in [("y", "ann", "k"), ("x", "bob", "k"), ("x", "ann", "l")] {
        assert_eq!(find(workspace, agent, key), None);
    }
    store.write(|tx| tx.drop_answers(now())).unwrap();
    assert!(find("x", "ann", "k").is_some());
    let later = now() + jiff::SignedDuration::from_secs(1);
    store.write(move |tx| tx.drop_answers(later)).unwrap();
    assert_eq!(find("x", "ann", "k"), None);
}

pub(crate) fn a_failed_write_stores_nothing_and_the_others_of_its_group_do(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = Arc::new(RandomIds::default());
    std::thread::scope(|scope| {
        // All others wait for the first, and are a group then.
        let (begun, first) = channel();
        let waiting = Arc::downgrade(&store);
        let own = Arc::clone(&store);
        scope.spawn(move || {
            let hold = move |_: &mut Tx<'_>| {
                begun.send(()).unwrap();
                while waiting.upgrade().unwrap().queued_writes() < 65 {
                    std::thread::yield_now();
                }
                Ok(())
            };
            own.write_as(&caller("bob", "x"), hold).unwrap();
        });
        first.recv().unwrap();
        for number in 0..64_usize {
            let (store, ids) = (Arc::clone(&store), Arc::clone(&ids));
            scope.spawn(move || {
                let given = memory(&*ids, "ann", "x", &format!("tea number{number}"));
                let answer = store.write_as(&caller("ann", "x"), move |tx| {
                    keep(tx, &given)?;
                    match number % 7 {
                        0 => Err(Error::conflict("no sevens")),
                        1 => panic!("a verb with a mistake"),
                        _ => Ok(()),
                    }
                });
                let kinds = [Err(ErrorKind::Conflict), Err(ErrorKind::Internal), Ok(())];
                assert_eq!(answer.map_err(|error| error.kind), kinds[(number % 7).min(2)]);
            });
        }
    });
    let sight = Sight::of(&caller("ann", "x"));
    let listed =
        |tx: &Tx<'_>| tx.memories(&sight, &MemoryFilter::default(), ListOrder::Newest, None, 100);
    let texts: BTreeSet<String> =
        store.read(listed).unwrap().into_iter().map(|(_, memory)| memory.text.clone()).collect();
    let expected: BTreeSet<String> =
        (0..64).filter(|number| number % 7 > 1).map(|n| format!("tea number{n}")).collect();
    assert_eq!(texts, expected);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

pub(crate) fn writes_of_many_workspaces_by_two_processes_are_each_kept_or_undone(
    fresh: &dyn Fresh,
) {
    const THREADS: usize = 12;
    const EACH: usize = 8;
    let stores = [fresh.open(), fresh.open()];
    let ids = RandomIds::default();
    let workspace = |number: usize| format!("team{}", number % 5);
    let is_refused = |number: usize| number % 7 == 3;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, ids) = (&stores[thread % 2], &ids);
            scope.spawn(move || {
                for number in (0..EACH).map(|turn| thread * EACH + turn) {
                    let name = workspace(number);
                    let given = memory(ids, "ann", &name, &format!("number{number}"));
                    let done = store.write_as(&caller("ann", &name), move |tx| {
                        keep(tx, &given)?;
                        if is_refused(number) { Err(Error::conflict("no")) } else { Ok(()) }
                    });
                    assert_eq!(done.is_err(), is_refused(number), "{number}: {done:?}");
                }
            });
        }
    });
    for place in 0..5 {
        let name = workspace(place);
        let sight = Sight::of(&caller("ann", &name));
        let listed = |tx: &Tx<'_>| {
            let filter = MemoryFilter::default();
            let memories = tx.memories(&sight, &filter, ListOrder::Newest, None, 100)?;
            Ok((memories, tx.events(&sight, &journal(&name), 100)?))
        };
        let (memories, events) = stores[0].read(listed).unwrap();
        let texts: BTreeSet<String> =
            memories.into_iter().map(|(_, memory)| memory.text.clone()).collect();
        let kept = (0..THREADS * EACH).filter(|number| number % 5 == place && !is_refused(*number));
        assert_eq!(texts, kept.map(|number| format!("number{number}")).collect(), "{name}");
        let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, (1..=texts.len() as u64).collect::<Vec<_>>(), "{name}");
    }
    assert_eq!(stores[1].check_rows().unwrap(), Vec::<String>::new());
}

pub(crate) fn a_write_reads_what_it_has_written(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = memory(&RandomIds::default(), "ann", "x", "tea");
    let sight = Sight::of(&caller("ann", "x"));
    let seen = store
        .write(move |tx| {
            keep(tx, &kept)?;
            let changed = Memory { revision: 2, topics: vec!["Kräuter".into()], ..kept.clone() };
            replace(tx, &kept, &changed)?;
            let filter = MemoryFilter { topic: Some("KRÄUTER".into()), ..MemoryFilter::default() };
            let listed = tx.memories(&sight, &filter, ListOrder::Newest, None, 10)?;
            assert_eq!(listed.len(), 1);
            assert_eq!((listed[0].0, &*listed[0].1), (1, &changed));
            assert_eq!(tx.memory(&sight, kept.id)?.as_deref(), Some(&changed));
            assert_eq!(tx.earlier_revisions(&sight, kept.id)?, std::slice::from_ref(&kept));
            tx.event_count(&sight, &journal("x"))
        })
        .unwrap();
    assert_eq!(seen, 1);
}

pub(crate) fn acknowledged_writes_exist_after_reopening(fresh: &dyn Fresh) {
    let kept = with_texts(&*fresh.open(), &["tea", "coffee"]);
    let store = fresh.open();
    let sight = Sight::of(&caller("ann", "x"));
    for memory in kept {
        let found = store.read(|tx| tx.memory(&sight, memory.id)).unwrap();
        assert_eq!(found.as_deref(), Some(&memory));
    }
}

pub(crate) fn a_snapshot_also_holds_against_another_process(fresh: &dyn Fresh) {
    let (store, other) = (fresh.open(), fresh.open());
    let kept = with_texts(&*store, &["tea"]);
    let sight = Sight::of(&caller("ann", "x"));
    let look = |tx: &Tx<'_>| -> commonbook::base::error::Result<_> {
        let found = tx.memories(&sight, &MemoryFilter::default(), ListOrder::Newest, None, 10)?;
        Ok((found, tx.memory(&sight, kept[0].id)?, tx.counts(&sight)?, tx.workspaces()?))
    };
    store
        .read(|tx| {
            let before = look(tx)?;
            let (gone, more) = (kept[0].clone(), memory(&RandomIds::default(), "ann", "y", "tea"));
            other.write(move |tx| {
                tx.purge_memory(&gone)?;
                keep(tx, &more)
            })?;
            assert_eq!(look(tx)?, before);
            Ok(())
        })
        .unwrap();
    let after = store.read(|tx| look(tx)).unwrap();
    assert_eq!((after.0.len(), after.1, after.3.len()), (0, None, 2));
}

pub(crate) fn a_write_counts_as_queued_until_it_is_answered(fresh: &dyn Fresh) {
    let store = fresh.open();
    assert_eq!(store.queued_writes(), 0);
    // The writing thread must not be the last to hold the store.
    let inside = Arc::downgrade(&store);
    let queued = store.write(move |_| Ok(inside.upgrade().unwrap().queued_writes())).unwrap();
    assert_eq!((queued, store.queued_writes()), (1, 0));
    let failed = store.write(|_| -> Result<(), _> { Err(Error::conflict("never mind")) });
    assert!(failed.is_err() && store.queued_writes() == 0);
}
