//! What agents received: who sees that, which items of it, and how often each memory reached readers.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::id::{ContextId, CountingIds, MemoryId};
use commonbook::model::access::Sight;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Memory, Sharing, UsageKind, UsagePosition};
use commonbook::model::search::MemoryFilter;
use commonbook::prompt::context::{ContextFilter, ContextRecord};
use commonbook::store::{Store, UsageCounts};
use serde_json::{Value, json};

use crate::{Fresh, caller, journal, keep, memory, now, replace};

const AGENTS: [&str; 5] = ["ann", "ann/qa", "ann/qa/x", "anna", "bob"];
const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("u2")];

/// A receipt that tells these memories.
pub(crate) fn receipt(
    ids: &CountingIds,
    agent: &str,
    user: Option<&str>,
    told: &[MemoryId],
) -> ContextRecord {
    let who = caller(agent, "x");
    let candidates = told.iter().map(|id| {
        json!({"id": id, "source": "relevant", "memory_type": "semantic", "author": "bob",
            "revision": 1, "tokens": 5, "bytes": 7, "taken": true})
    });
    let candidates: Vec<Value> = candidates.collect();
    let mut receipt = json!({
        "query": "q", "threshold": 0.5, "maximum": 8, "budget": 1500, "tokens": 7, "session": "s1",
        "candidates": candidates,
        "diagnostics": {"auto_inject_enabled": true, "candidate_count": told.len(),
            "injected_count": told.len(), "source_agents": [], "memory_types": [],
            "prompt_tokens_before": 2, "prompt_tokens_after": 9},
    });
    if let Some(user) = user {
        receipt["diagnostics"]["resolved_user_id"] = json!(user);
    }
    ContextRecord {
        id: ContextId::new(ids, now()),
        workspace: who.workspace,
        agent: who.agent,
        at: now(),
        sequence: 1,
        milliseconds: 1,
        sha256: "ab".to_owned(),
        nonce: "0123456789abc".to_owned(),
        standing: None,
        is_bound: false,
        receipt: serde_json::from_value(receipt).unwrap(),
    }
}

/// The event of a receipt, as the verbs append it.
fn event(record: &ContextRecord) -> NewEvent {
    let items: Vec<Value> = record
        .receipt
        .included()
        .map(|item| json!({"id": item.id, "bytes": item.bytes, "tokens": item.tokens}))
        .collect();
    let details =
        [("agent_id", json!(record.agent)), ("candidate_count", json!(9)), ("items", json!(items))];
    let event = NewEvent::for_subject(
        EventKind::ContextBuilt,
        &record.workspace,
        record.id.to_string(),
        &record.agent,
        now(),
        Sharing::Private,
    )
    .with_details(&details);
    NewEvent { user_id: record.user_id().map(str::to_owned), ..event }
}

fn sights() -> Vec<Sight> {
    let mut sights = Vec::new();
    for agent in AGENTS.into_iter().chain(["anonymous"]) {
        for user in USERS {
            for is_person in [false, true] {
                let caller = caller(agent, "x").for_user(user).unwrap();
                sights.push(Sight { is_person, ..Sight::of(&caller) });
            }
        }
    }
    sights
}

pub(crate) fn what_an_agent_was_told_is_seen_by_it_those_above_it_and_the_person(
    fresh: &dyn Fresh,
) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let mut memories = Vec::new();
    for owner in ["ann", "ann/qa", "bob"] {
        for sharing in [Sharing::Shared, Sharing::Private] {
            let mut kept = memory(&ids, owner, "x", &format!("{owner} {sharing}"));
            kept.sharing = sharing;
            memories.push(kept);
        }
    }
    let told: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let pairs = AGENTS.iter().flat_map(|agent| USERS.map(|user| (*agent, user)));
    let records: Vec<ContextRecord> =
        pairs.map(|(agent, user)| receipt(&ids, agent, user, &told)).collect();
    let given = (memories.clone(), records.clone());
    store
        .write(move |tx| {
            given.0.iter().try_for_each(|memory| keep(tx, memory))?;
            given.1.iter().try_for_each(|record| {
                tx.put_context(record)?;
                tx.append_event(&event(record)).map(drop)
            })
        })
        .unwrap();
    for sight in sights() {
        let visible: Vec<&ContextRecord> = (records.iter().rev())
            .filter(|record| sight.sees_work(&record.agent, record.user_id()))
            .collect();
        let all = ContextFilter { session: Some("s1".to_owned()), ..ContextFilter::default() };
        let listed = store.read(|tx| tx.contexts(&sight, &all, None, 100)).unwrap();
        assert_eq!(listed.iter().collect::<Vec<_>>(), visible, "{sight:?}");
        let later = visible.get(1).map(|record| record.id);
        let beyond = store.read(|tx| tx.contexts(&sight, &all, later, 100)).unwrap();
        assert_eq!(beyond.len(), visible.len().saturating_sub(2), "{sight:?}");
        for record in &records {
            let found = store.read(|tx| tx.context(&sight, record.id)).unwrap();
            assert_eq!(found.is_some(), visible.contains(&record), "{sight:?}");
        }
        let names: BTreeSet<String> = told.iter().map(MemoryId::to_string).collect();
        let seen = memories.iter().filter(|memory| sight.sees(memory));
        let seen: BTreeSet<String> = seen.map(|memory| memory.id.to_string()).collect();
        assert_eq!(store.read(|tx| tx.items_in_sight(&sight, &names)).unwrap(), seen);
        events_show_the_same(&*store, &sight, &visible, &seen);
    }
}

/// The events of these contexts, and no other, with these items.
fn events_show_the_same(
    store: &dyn Store,
    sight: &Sight,
    visible: &[&ContextRecord],
    seen: &BTreeSet<String>,
) {
    let events = store.read(|tx| tx.events(sight, &journal("x"), 100)).unwrap();
    let recorded = store.read(|tx| tx.event_records(&sight.workspaces[0], 0, 100)).unwrap();
    let shown: Vec<_> = recorded.iter().filter_map(|record| record.shown_to(sight)).collect();
    assert_eq!(events, shown, "the feed shows what the journal shows: {sight:?}");
    let last = store.read(|tx| tx.last_event(sight, &sight.workspaces[0])).unwrap();
    assert_eq!(last.as_ref(), events.last());
    let built: Vec<_> =
        events.iter().filter(|event| event.kind == EventKind::ContextBuilt).collect();
    let subjects: BTreeSet<&str> = built.iter().map(|event| event.subject.as_str()).collect();
    let ids: Vec<String> = visible.iter().map(|record| record.id.to_string()).collect();
    assert_eq!(subjects, ids.iter().map(String::as_str).collect(), "{sight:?}");
    for event in built {
        let details = Value::Object(event.details.clone());
        let named: BTreeSet<String> = serde_json::from_value(details["ids"].clone()).unwrap();
        assert_eq!(&named, seen, "{sight:?}");
        assert_eq!(details["tokens"], 5 * seen.len());
        assert_eq!(details["bytes"], 7 * seen.len());
        let own = event.actor == sight.agent;
        assert_eq!(details.get("candidate_count").is_some(), own, "{details}");
        assert!(details.get("items").is_none() && details.get("user_id").is_none(), "{details}");
    }
}

pub(crate) fn a_receipt_is_counted_once_and_counts_follow_the_permission_rule(fresh: &dyn Fresh) {
    let (store, ids) = (fresh.open(), CountingIds::default());
    let mut memories: Vec<Memory> = Vec::new();
    for number in 0..12 {
        let owner = ["ann", "bob"][number % 2];
        let mut kept = memory(&ids, owner, "x", &format!("heron {number}"));
        kept.sharing = if number % 3 == 0 { Sharing::Private } else { Sharing::Shared };
        memories.push(kept);
    }
    let mut counts = BTreeMap::new();
    let mut usage = UsageCounts::default();
    for (number, memory) in memories.iter().enumerate() {
        // Ties, and some without a count.
        let found = [0, 3, 1][number % 3] as u64;
        (0..found).for_each(|_| usage.add(&memory.workspace, memory.id, UsageKind::Found, now()));
        counts.insert(memory.id, found);
    }
    let given = (memories.clone(), usage);
    store
        .write(move |tx| {
            given.0.iter().try_for_each(|memory| keep(tx, memory))?;
            tx.add_usage(&given.1, false)
        })
        .unwrap();
    for sight in ["ann", "bob", "eve"].map(|agent| Sight::of(&caller(agent, "x"))) {
        let mut expected: Vec<&Memory> = memories.iter().filter(|m| sight.sees(m)).collect();
        expected.sort_by_key(|memory| std::cmp::Reverse((counts[&memory.id], memory.id)));
        for size in [1, 2, 100] {
            let (mut listed, mut beyond) = (Vec::new(), None::<UsagePosition>);
            loop {
                let page = store.read(|tx| {
                    let all = MemoryFilter::default();
                    tx.memories_by_usage(&sight, &all, UsageKind::Found, beyond, size)
                });
                let page = page.unwrap();
                let Some((last, _)) = page.last() else { break };
                beyond = Some(*last);
                listed.extend(page.into_iter().map(|(_, memory)| memory.id));
            }
            assert_eq!(listed, expected.iter().map(|m| m.id).collect::<Vec<_>>(), "{size}");
        }
        let refs: Vec<_> = memories.iter().map(|m| (m.workspace.clone(), m.id)).collect();
        let counted = store.read(|tx| tx.usage(&sight, &refs)).unwrap();
        for ((_, id), usage) in &counted {
            assert_eq!((usage.found, usage.access_count), (counts[id], counts[id]));
        }
        let used = expected.iter().filter(|memory| counts[&memory.id] > 0).count();
        assert_eq!(counted.len(), used);
    }
    counts_move_with_their_memory(&*store, &memories[0]);
}

/// A memory that becomes shared has its counts for all, and a purged one has none.
fn counts_move_with_their_memory(store: &dyn Store, private: &Memory) {
    let (eve, place) = (Sight::of(&caller("eve", "x")), (private.workspace.clone(), private.id));
    let record = receipt(&CountingIds::default(), "ann", None, &[private.id]);
    let context = record.clone();
    store.write(move |tx| tx.put_context(&context)).unwrap();
    for _ in 0..2 {
        let waiting = store.read(|tx| tx.uncounted_contexts(10)).unwrap();
        store
            .write(move |tx| {
                let mut told = UsageCounts::default();
                for context in &waiting {
                    let id = context.receipt.candidates[0].id.parse()?;
                    told.add(&context.workspace, id, UsageKind::Told, context.at);
                    tx.mark_counted(context)?;
                }
                tx.add_usage(&told, true)
            })
            .unwrap();
    }
    let usage = || store.read(|tx| tx.usage(&eve, std::slice::from_ref(&place))).unwrap();
    assert_eq!(usage(), []);
    let shared = Memory { sharing: Sharing::Shared, revision: 2, ..private.clone() };
    let (before, after) = (private.clone(), shared.clone());
    store.write(move |tx| replace(tx, &before, &after)).unwrap();
    let counted = usage().pop().unwrap().1;
    assert_eq!((counted.told, counted.last_told_at), (1, Some(now())));
    store.write(move |tx| tx.purge_memory(&shared)).unwrap();
    assert_eq!(usage(), []);
}
