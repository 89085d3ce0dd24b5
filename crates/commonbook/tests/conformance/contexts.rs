//! Contexts: their sources follow the permission rule, and only its agent reads a receipt.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{ContextId, CountingIds};
use commonbook::model::access::Sight;
use commonbook::model::agent::Agent;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{ListOrder, Memory, MemoryType, Sharing, Trust};
use commonbook::model::search::MemoryFilter;
use commonbook::prompt::briefing::{BriefingItem, BriefingKey, BriefingRecord};
use commonbook::prompt::context::{
    ContextFilter, ContextRecord, StandingLocation, StandingSnapshot,
};
use serde_json::json;

use crate::{Fresh, caller, keep, memory, now};

fn later(hours: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_hours(hours)
}

fn context(ids: &CountingIds, agent: &str, workspace: &str, at: Timestamp) -> ContextRecord {
    let who = caller(agent, workspace);
    let receipt = json!({
        "query": "Mend it", "threshold": 0.5, "maximum": 8, "budget": 1500, "tokens": 7,
        "candidates": [{"id": "mem_1", "source": "relevant", "memory_type": "decision",
            "author": "bob", "revision": 3, "score": 0.75, "taken": false, "left_out": "budget"}],
        "diagnostics": {"auto_inject_enabled": true, "candidate_count": 1, "injected_count": 0,
            "source_agents": [], "memory_types": [], "prompt_tokens_before": 2,
            "prompt_tokens_after": 9},
    });
    ContextRecord {
        id: ContextId::new(ids, at),
        workspace: who.workspace,
        agent: who.agent,
        at,
        sequence: 7,
        milliseconds: 3,
        sha256: "ab".to_owned(),
        nonce: "0123456789abc".to_owned(),
        standing: Some(StandingSnapshot {
            file: "/x/engineer.md".to_owned(),
            source: StandingLocation::Project,
            bytes: 12,
            sha256: "cd".to_owned(),
        }),
        is_bound: false,
        receipt: serde_json::from_value(receipt).unwrap(),
    }
}

pub(crate) fn a_receipt_is_stored_completely_for_its_agent_only_and_dropped_by_age_and_number(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let all: Vec<ContextRecord> =
        (0..5).map(|hour| context(&ids, "ann", "x", later(hour))).collect();
    let others = [context(&ids, "bob", "x", now()), context(&ids, "ann", "y", now())];
    let given: Vec<ContextRecord> = all.iter().chain(&others).cloned().collect();
    store.write(move |tx| given.iter().try_for_each(|context| tx.put_context(context))).unwrap();
    let ann = caller("ann", "x");
    let of = |agent: &str, workspace: &str, id| {
        let sight = Sight::of(&caller(agent, workspace));
        store.read(|tx| tx.context(&sight, id)).unwrap()
    };
    assert_eq!(of("ann", "x", all[0].id).as_ref(), Some(&all[0]));
    assert_eq!(of("bob", "x", all[0].id), None);
    assert_eq!(of("ann", "y", all[0].id), None);
    let list = |limit| {
        let all = ContextFilter::default();
        store.read(|tx| tx.contexts(&Sight::of(&ann), &all, None, limit)).unwrap()
    };
    assert_eq!(list(2), [all[4].clone(), all[3].clone()]);
    let drop_old =
        |before, kept| store.write(move |tx| tx.drop_contexts(before, kept, 10)).unwrap();
    assert_eq!(drop_old(later(1), 100), 3, "one of each agent and workspace");
    assert_eq!((drop_old(later(0), 2), list(10).len()), (2, 2), "the newest stay");
    assert_eq!(list(10)[0], all[4]);
    assert_eq!(drop_old(later(0), 2), 0);
}

pub(crate) fn the_latest_tasks_of_a_workspace_are_those_of_all_agents(fresh: &dyn Fresh) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let of = |agent: &str, workspace: &str, hour, task: &str| {
        let mut kept = context(&ids, agent, workspace, later(hour));
        kept.receipt.query = task.to_owned();
        kept
    };
    let given = [
        of("ann", "x", 0, "mend"),
        of("bob", "x", 1, "paint\n\"it\""),
        of("ann", "y", 2, "elsewhere"),
    ];
    store.write(move |tx| given.iter().try_for_each(|context| tx.put_context(context))).unwrap();
    let workspace = caller("ann", "x").workspace;
    let latest = |limit| store.read(|tx| tx.latest_tasks(&workspace, limit)).unwrap();
    assert_eq!(latest(9), ["paint\n\"it\"", "mend"]);
    assert_eq!(latest(1).len(), 1);
}

/// A memory of each of two owners about each user and about none, shared and private.
fn of_every_audience(ids: &CountingIds) -> Vec<Memory> {
    let mut all: Vec<Memory> = Vec::new();
    for owner in ["ann", "bob"] {
        for user in [None, Some("u1"), Some("u2")] {
            for sharing in [Sharing::Shared, Sharing::Private] {
                let kept = memory(ids, owner, "x", &format!("{owner} {user:?} {sharing:?}"));
                all.push(Memory { user_id: user.map(str::to_owned), sharing, ..kept });
            }
        }
    }
    all
}

pub(crate) fn memories_about_a_user_are_seen_by_the_permission_rule(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Memory> = Vec::new();
    for kind in ["profile", "task_context", "semantic"] {
        let memory_type: MemoryType = kind.to_owned().try_into().unwrap();
        let of_kind = of_every_audience(&ids).into_iter();
        all.extend(of_kind.map(|kept| Memory { memory_type: memory_type.clone(), ..kept }));
    }
    all[0].deleted_at = Some(now());
    all[1].superseded_by = Some(all[2].id);
    all[3].trust = Trust::Quarantined;
    all[5].trust = Trust::Untrusted;
    let given = all.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    for agent in ["ann", "bob", "eve"] {
        for user in [None, Some("u1"), Some("u2")] {
            let sight = Sight::at_home(&caller(agent, "x").for_user(user).unwrap());
            for kind in ["profile", "task_context"] {
                let fits = |memory: &&Memory| {
                    sight.sees(memory)
                        && memory.memory_type.as_str() == kind
                        && memory.user_id.as_deref() == user
                        && memory.is_current()
                        && memory.trust == Trust::Normal
                };
                for owners in [&["bob", "ann"][..], &["ann", "bob", "eve"], &["ann"], &[]] {
                    let owners: Vec<Agent> =
                        owners.iter().map(|owner| owner.parse().unwrap()).collect();
                    let mut expected: Vec<&Memory> = Vec::new();
                    for owner in &owners {
                        let newest = all.iter().rev().filter(fits);
                        expected.extend(newest.filter(|memory| memory.owner == *owner));
                    }
                    let known = |limit| {
                        store
                            .read(|tx| tx.memories_about(&sight, kind, user, &owners, limit))
                            .unwrap()
                    };
                    let found = known(50);
                    let found: Vec<&Memory> = found.iter().map(|memory| &**memory).collect();
                    assert_eq!(found, expected, "{agent} {user:?} {kind} {owners:?}");
                    let first = known(1);
                    let first: Vec<&Memory> = first.iter().map(|memory| &**memory).collect();
                    assert_eq!(first, expected[..1.min(expected.len())]);
                }
            }
        }
    }
}

pub(crate) fn the_details_of_an_event_are_read_back_unchanged(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ann = caller("ann", "x");
    let event = NewEvent::for_subject(
        EventKind::AgentMemoryLoaded,
        &ann.workspace,
        "ann".to_owned(),
        &ann.agent,
        now(),
        Sharing::Private,
    )
    .with_details(&[("memory_size", json!(23)), ("memory_source", json!("home"))]);
    let details = event.details.clone();
    store.write(move |tx| tx.append_event(&event)).unwrap();
    let events = |agent: &str| {
        let sight = Sight::at_home(&caller(agent, "x"));
        store.read(|tx| tx.events(&sight, &crate::journal("x"), 10)).unwrap()
    };
    assert_eq!(events("ann")[0].details, details);
    assert!(events("bob").is_empty());
    assert_eq!(
        store.read(|tx| tx.event_records(&ann.workspace, 0, 10)).unwrap()[0].event.details,
        details
    );
}

fn session_of(agent: &str, session: &str) -> BriefingKey {
    let who = caller(agent, "x");
    BriefingKey { workspace: who.workspace, agent: who.agent, session: session.to_owned() }
}

pub(crate) fn what_a_session_was_told_is_kept_by_agent_and_session(fresh: &dyn Fresh) {
    let store = fresh.open();
    let record = |agent: &str, session: &str, position, items: &[(&str, u64)], at| {
        let key = session_of(agent, session);
        let item =
            |(id, revision): &(&str, u64)| BriefingItem { id: (*id).into(), revision: *revision };
        let items: Vec<BriefingItem> = items.iter().map(item).collect();
        store.write(move |tx| tx.record_briefing(&key, position, &items, at)).unwrap();
    };
    let read = |agent: &str, session: &str| {
        let key = session_of(agent, session);
        let BriefingRecord { position, items } = store.read(|tx| tx.briefing(&key)).unwrap();
        let mut items: Vec<(String, u64)> = items.into_iter().collect();
        items.sort();
        (position, items)
    };
    let one = |id: &str, revision| (id.to_owned(), revision);
    assert_eq!(read("ann", "s1"), (None, Vec::new()));
    record("ann", "s1", None, &[("a", 1)], now());
    assert_eq!(read("ann", "s1"), (None, vec![one("a", 1)]), "a context, before any briefing");
    record("ann", "s1", Some(9), &[("a", 2), ("b", 1)], now());
    record("ann", "s1", Some(7), &[], now());
    record("ann", "s1", None, &[("c", 1)], now());
    let told = vec![one("a", 2), one("b", 1), one("c", 1)];
    assert_eq!(read("ann", "s1"), (Some(9), told.clone()), "a position never moves back");
    record("ann", "s2", Some(3), &[("a", 1)], later(2));
    record("ann/engineer", "s1", Some(4), &[("z", 1)], later(3));
    assert_eq!(read("ann", "s1"), (Some(9), told));
    assert_eq!(read("ann/engineer", "s1"), (Some(4), vec![one("z", 1)]));
    let drop_old = |before, limit| store.write(move |tx| tx.drop_briefings(before, limit)).unwrap();
    assert_eq!((drop_old(later(3), 1), drop_old(later(3), 10), drop_old(later(3), 10)), (1, 1, 0));
    assert_eq!(read("ann", "s1"), (None, Vec::new()));
    let key = session_of("ann/engineer", "s1");
    store.write(move |tx| tx.forget_briefing(&key)).unwrap();
    assert_eq!(read("ann/engineer", "s1"), (None, Vec::new()));
}

pub(crate) fn the_beginning_of_a_session_follows_the_permission_rule(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Memory> = Vec::new();
    for trust in [Trust::Normal, Trust::Quarantined] {
        all.extend(of_every_audience(&ids).into_iter().map(|kept| Memory { trust, ..kept }));
    }
    let given = all.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    for agent in ["ann", "bob", "cleo"] {
        for user in [None, Some("u1")] {
            let who = caller(agent, "x").for_user(user).unwrap();
            let sight = Sight::of(&who);
            let told = |memory: &&Memory| {
                let about = memory.user_id.is_none() || memory.user_id == who.user;
                sight.sees(memory) && about && !memory.is_quarantined()
            };
            let mut expected: Vec<String> =
                all.iter().filter(told).map(|memory| memory.id.to_string()).collect();
            let found = store.read(|tx| tx.important_memories(&sight, 100)).unwrap();
            let mut found: Vec<String> = found.iter().map(|memory| memory.id.to_string()).collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{agent} {user:?}");
            let census = store.read(|tx| tx.memory_census(&sight, 100)).unwrap();
            assert_eq!(census.memories, expected.len() as u64, "{agent} {user:?}");
            assert_eq!(census.agents, 2, "{agent} {user:?}");
            assert_eq!(store.read(|tx| tx.memory_census(&sight, 1)).unwrap().memories, 2);
        }
    }
}

pub(crate) fn a_list_of_a_rare_type_costs_nothing_for_the_others(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let sight = Sight::of(&caller("ann", "x"));
    let filter =
        MemoryFilter { memory_type: Some("learning".to_owned()), ..MemoryFilter::default() };
    let cost = || {
        store
            .read(|tx| {
                let found = tx.memories(&sight, &filter, ListOrder::Newest, None, 200)?;
                Ok((found.len(), tx.work().map(|work| work.steps)))
            })
            .unwrap()
    };
    let add = |count: usize| {
        let memories: Vec<Memory> =
            (0..count).map(|n| memory(&ids, "bob", "x", &format!("fact {n}"))).collect();
        store.write(move |tx| memories.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    };
    add(5);
    let few = cost();
    add(300);
    assert_eq!(cost(), few);
}
