//! The permission rule: what a store gives and counts is exactly what the pure rule sees.

use std::collections::BTreeSet;

use commonbook::access::Sight;
use commonbook::agent::Agent;
use commonbook::id::{CountingIds, MemoryId};
use commonbook::memory::{Memory, Order, Sharing};
use commonbook::search::{Filter, WordSearch};
use commonbook::store::{Store, Transaction};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{Fresh, caller, keep, memory, now};

const AGENTS: [&str; 5] = ["ann", "ann/child", "bob", "legacy", "anonymous"];
const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("U1")];
const WORKSPACES: [&str; 3] = ["x", "global", "y"];

/// Owner, user, workspace, private, deleted.
type Row = (usize, usize, usize, bool, bool);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0..5_usize, 0..3_usize, 0..3_usize, any::<bool>(), any::<bool>()), 1..12)
}

/// Memories of a workspace that no other case uses: `run` keeps the cases apart.
fn kept(store: &dyn Store, rows: &[Row], run: usize) -> Vec<Memory> {
    let ids = CountingIds::default();
    let make = |(owner, user, workspace, private, deleted): &Row| {
        let workspace = format!("{}{run}", WORKSPACES[*workspace]);
        let mut memory = memory(&ids, "ann", &workspace, "heron");
        memory.owner = Agent::named(AGENTS[*owner]).unwrap();
        memory.user_id = USERS[*user].map(str::to_owned);
        memory.sharing = if *private { Sharing::Private } else { Sharing::Shared };
        memory.deleted_at = deleted.then(now);
        memory
    };
    let memories: Vec<Memory> = rows.iter().map(make).collect();
    let given = memories.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    memories
}

fn sight(agent: usize, user: usize, run: usize) -> Sight {
    let mut sight = Sight::of(&caller(AGENTS[agent], &format!("x{run}")));
    sight.workspaces.push(format!("global{run}").parse().unwrap());
    sight.user = USERS[user].map(str::to_owned);
    sight
}

fn same(tx: &dyn Transaction, sight: &Sight, memories: &[Memory]) -> commonbook::error::Result<()> {
    let seen: Vec<&Memory> = memories.iter().filter(|memory| sight.sees(memory)).collect();
    let ids = |chosen: &dyn Fn(&Memory) -> bool| -> BTreeSet<MemoryId> {
        seen.iter().filter(|memory| chosen(memory)).map(|memory| memory.id).collect()
    };
    let (all, standing, deleted) =
        (ids(&|_| true), ids(&Memory::is_current), ids(&|m| m.deleted_at.is_some()));
    for memory in memories {
        assert_eq!(tx.memory(sight, memory.id)?.is_some(), all.contains(&memory.id));
    }
    for (deleted_ones, expected) in [(false, &standing), (true, &deleted)] {
        let filter = Filter { deleted: deleted_ones, ..Filter::default() };
        let listed = tx.memories(sight, &filter, (Order::Newest, None), 100)?;
        assert_eq!(&listed.iter().map(|(_, m)| m.id).collect::<BTreeSet<_>>(), expected);
    }
    let words = vec!["heron".to_owned()];
    let search = WordSearch { words, filter: Filter::default(), now: now(), offset: 0, limit: 1 };
    let (first, total) = tx.search(sight, &search)?;
    assert_eq!((total, first.len()), (standing.len() as u64, standing.len().min(1)));
    let (hits, _) = tx.search(sight, &WordSearch { limit: 100, ..search })?;
    assert_eq!(hits.iter().map(|(_, m)| m.id).collect::<BTreeSet<_>>(), standing);
    let counts = tx.counts(sight)?;
    let sum = |of: fn(&commonbook::stats::Count) -> u64| counts.iter().map(of).sum::<u64>();
    assert_eq!(sum(|count| count.standing), standing.len() as u64);
    assert_eq!(sum(|count| count.deleted), deleted.len() as u64);
    let found = tx.memory_ids(sight, MemoryId::range("mem_0")?, 100)?;
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), all);
    let subjects: BTreeSet<String> =
        tx.events(sight, 0, 100)?.into_iter().map(|event| event.subject).collect();
    assert_eq!(subjects, all.iter().map(ToString::to_string).collect());
    assert_eq!(tx.event_count(sight)?, all.len() as u64);
    let agents = tx.agents(sight, &sight.workspaces[0])?;
    assert!(agents.is_empty(), "no verb has registered any");
    Ok(())
}

pub(crate) fn a_store_sees_exactly_what_the_rule_sees(fresh: &dyn Fresh) {
    let store = fresh.open();
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    let run = std::cell::Cell::new(0);
    let cases = (rows(), 0..5_usize, 0..3_usize);
    runner
        .run(&cases, |(rows, agent, user)| {
            run.set(run.get() + 1);
            let memories = kept(&*store, &rows, run.get());
            let sight = sight(agent, user, run.get());
            store.read(|tx| same(tx, &sight, &memories)).unwrap();
            Ok(())
        })
        .unwrap();
}
