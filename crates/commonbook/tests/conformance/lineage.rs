//! What was derived from which memory, and what sessions received.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{ContextId, CountingIds, HandoffId, MemoryId};
use commonbook::model::lineage::{Basis, DerivedId, ReadSetKey};
use commonbook::model::memory::Memory;
use commonbook::store::Store;

use crate::receipts::receipt;
use crate::{Fresh, caller, keep, memory, now, replace};

fn basis(derived: DerivedId, source: &Memory, context: Option<ContextId>) -> Basis {
    Basis {
        workspace: source.workspace.clone(),
        derived,
        origin: source.workspace.clone(),
        memory: source.id,
        revision: source.revision,
        context,
        recorded_at: now(),
    }
}

fn key(agent: &str, sessions: &[&str]) -> ReadSetKey {
    let caller = caller(agent, "x");
    let sessions = sessions.iter().map(|session| (*session).to_owned()).collect();
    ReadSetKey { workspace: caller.workspace, agent: caller.agent, sessions }
}

/// What a session received: each memory with the revision that it knows and the present one.
fn told(store: &dyn Store, key: &ReadSetKey) -> Vec<(MemoryId, u64, u64)> {
    let told = store.read(|tx| tx.told_memories(key)).unwrap();
    told.into_iter().map(|told| (told.memory, told.revision, told.current)).collect()
}

fn revise(store: &dyn Store, before: &Memory) -> Memory {
    let after = Memory { revision: before.revision + 1, ..before.clone() };
    let (old, new) = (before.clone(), after.clone());
    store.write(move |tx| replace(tx, &old, &new)).unwrap();
    after
}

pub(crate) fn what_was_derived_is_found_from_its_memory_and_ends_with_a_purge(fresh: &dyn Fresh) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let texts = ["the port is 80", "the probe asks port 80", "the wiki names the probe"];
    let [port, probe, wiki] = texts.map(|text| memory(&ids, "ann", "x", text));
    let handoff = DerivedId::Handoff(HandoffId::new(&ids, now()));
    let derived = [
        basis(DerivedId::Memory(probe.id), &port, Some(ContextId::new(&ids, now()))),
        basis(DerivedId::Memory(wiki.id), &probe, None),
        basis(handoff, &port, None),
    ];
    let (memories, rows) = ([port.clone(), probe.clone(), wiki.clone()], derived.clone());
    store
        .write(move |tx| {
            memories.iter().try_for_each(|memory| keep(tx, memory))?;
            tx.add_basis(&rows)?;
            tx.add_basis(&rows)
        })
        .unwrap();
    let from = |memory: &Memory, limit| {
        store.read(|tx| tx.derived_from(&memory.workspace, memory.id, limit)).unwrap()
    };
    let mut both = vec![derived[0].clone(), derived[2].clone()];
    both.sort_by_key(|row| row.derived.to_string());
    assert_eq!(from(&port, 9), both);
    assert_eq!(from(&port, 1), both[..1]);
    assert_eq!(from(&probe, 9), [derived[1].clone()]);
    let purged = probe.clone();
    store.write(move |tx| tx.purge_memory(&purged)).unwrap();
    assert_eq!(from(&port, 9), [derived[2].clone()]);
    assert!(from(&probe, 9).is_empty());
}

pub(crate) fn a_session_knows_each_memory_at_the_last_revision_that_it_was_told(fresh: &dyn Fresh) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let [port, host] =
        ["the port is 80", "the host is a"].map(|text| memory(&ids, "bob", "x", text));
    let receipts =
        [receipt(&ids, "ann", None, &[port.id, host.id]), receipt(&ids, "cleo", None, &[host.id])];
    let (memories, records) = ([port.clone(), host.clone()], receipts.clone());
    store
        .write(move |tx| {
            memories.iter().try_for_each(|memory| keep(tx, memory))?;
            records.iter().try_for_each(|record| tx.note_told(&record.reading()))
        })
        .unwrap();
    let ann = key("ann", &["s1", "own"]);
    assert_eq!(told(&*store, &ann), [(port.id, 1, 1), (host.id, 1, 1)]);
    assert_eq!(told(&*store, &key("ann", &["s2"])), []);
    assert_eq!(told(&*store, &key("dan", &["s1"])), []);
    revise(&*store, &revise(&*store, &port));
    assert_eq!(told(&*store, &ann), [(port.id, 1, 3), (host.id, 1, 1)]);
    // The receipt of before does not make the session know less.
    let (knows, all) = (ann.clone(), [(port.workspace.clone(), port.id)]);
    store.write(move |tx| tx.note_known(&knows, &all, 9)).unwrap();
    let again = receipts[0].clone();
    store.write(move |tx| tx.note_told(&again.reading())).unwrap();
    assert_eq!(told(&*store, &ann), [(port.id, 3, 3), (host.id, 1, 1)]);
    let cleo = key("cleo", &["s1"]);
    assert_eq!(told(&*store, &cleo), [(host.id, 1, 1)]);
    let purged = host.clone();
    store.write(move |tx| tx.purge_memory(&purged)).unwrap();
    assert_eq!(told(&*store, &ann), [(port.id, 3, 3)]);
    assert_eq!(told(&*store, &cleo), []);
}

pub(crate) fn what_sessions_were_told_is_dropped_by_age(fresh: &dyn Fresh) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let port = memory(&ids, "bob", "x", "the port is 80");
    let record = receipt(&ids, "ann", None, &[port.id]);
    store
        .write(move |tx| {
            keep(tx, &port)?;
            tx.note_told(&record.reading())
        })
        .unwrap();
    let drop = |before: Timestamp| store.write(move |tx| tx.drop_told(before, 10)).unwrap();
    let later: Timestamp = "2026-12-25T00:00:00Z".parse().unwrap();
    assert_eq!((drop(now()), drop(later), drop(later)), (0, 1, 0));
    assert_eq!(told(&*store, &key("ann", &["s1"])), []);
}
