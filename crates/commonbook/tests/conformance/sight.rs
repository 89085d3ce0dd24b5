//! The permission rule: a store returns and counts exactly what the pure rule allows.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::Result;
use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::model::access::Sight;
use commonbook::model::agent::Agent;
use commonbook::model::event::{EventFilter, EventKind, JournalRange, NewEvent, RateSteps};
use commonbook::model::memory::{Importance, ListOrder, Memory, MemoryType, Sharing, Trust};
use commonbook::model::search::MemoryFilter;
use commonbook::store::{Store, Tx};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{Fresh, caller, keep, memory, now, replace};

const AGENTS: [&str; 5] = ["ann", "ann/child", "bob", "legacy", "anonymous"];
const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("U1")];
const WORKSPACES: [&str; 3] = ["x", "global", "y"];
const TYPES: [&str; 3] = ["semantic", "decision", "opaque"];

/// What happened to a memory after it was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stands,
    Superseded,
    Deleted,
    Published,
    Hidden,
    Quarantined,
    Released,
    /// It turned out to be about the project.
    Given,
    /// It turned out to be about a user.
    Taken,
    Purged,
}

/// Owner, user, workspace, type and importance, private, fate.
type Row = (usize, usize, usize, (usize, usize), bool, Fate);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let fate = prop::sample::select(vec![
        Fate::Stands,
        Fate::Stands,
        Fate::Superseded,
        Fate::Deleted,
        Fate::Published,
        Fate::Hidden,
        Fate::Quarantined,
        Fate::Released,
        Fate::Given,
        Fate::Taken,
        Fate::Purged,
    ]);
    let row = (0..5_usize, 0..3_usize, 0..3_usize, (0..3_usize, 0..4_usize), any::<bool>(), fate);
    prop::collection::vec(row, 1..12)
}

/// Each memory as first saved, and as it is now, if it exists.
type Kept = Vec<(Memory, Option<Memory>)>;

/// Memories of a workspace that no other case uses; `run` separates the cases.
fn kept(store: &dyn Store, rows: &[Row], run: usize) -> Kept {
    let ids = CountingIds::default();
    let make = |(place, row): (usize, &Row)| {
        let (owner, user, workspace, (kind, importance), private, fate) = row;
        let workspace = format!("{}{run}", WORKSPACES[*workspace]);
        let mut first = memory(&ids, "ann", &workspace, "heron");
        first.topics = vec![format!("Topic{place}")];
        first.owner = Agent::with_any_name(AGENTS[*owner]).unwrap();
        first.user_id = USERS[*user].map(str::to_owned);
        first.memory_type = MemoryType::try_from(TYPES[*kind].to_owned()).unwrap();
        first.importance = Importance::ALL[*importance];
        first.valid_from = (*kind == 1).then(|| now() - SignedDuration::from_hours(1));
        first.topics = [&["Herbs"][..], &["birds", "RIVERS"], &[]][*user]
            .iter()
            .map(|t| (*t).into())
            .collect();
        let is_opaque = TYPES[*kind] == "opaque";
        first.path = is_opaque.then(|| format!("/p{place}").parse().unwrap());
        first.sharing = Sharing::shared_if(!private && !is_opaque);
        if *fate == Fate::Released {
            first.trust = Trust::Quarantined;
        }
        let next = Memory { revision: 2, ..first.clone() };
        let last = match fate {
            Fate::Stands => first.clone(),
            Fate::Superseded => Memory { superseded_by: Some(first.id), ..next },
            Fate::Deleted => Memory { deleted_at: Some(now()), ..next },
            Fate::Published if is_opaque => first.clone(),
            Fate::Published => Memory { sharing: Sharing::Shared, ..next },
            Fate::Hidden => Memory { sharing: Sharing::Private, ..next },
            Fate::Quarantined => Memory { trust: Trust::Quarantined, ..next },
            Fate::Released => Memory { trust: Trust::Normal, ..next },
            Fate::Given if first.user_id.is_some() => Memory { user_id: None, ..next },
            Fate::Taken if first.user_id.is_none() => {
                Memory { user_id: Some("u1".to_owned()), ..next }
            }
            Fate::Given | Fate::Taken => first.clone(),
            Fate::Purged => return (first, None),
        };
        (first, Some(last))
    };
    let all: Kept = rows.iter().enumerate().map(make).collect();
    let given = all.clone();
    store
        .write(move |tx| given.iter().try_for_each(|(first, last)| write(tx, first, last.as_ref())))
        .unwrap();
    all
}

/// Saves a memory and applies its fate, with one event.
fn write(tx: &mut Tx<'_>, first: &Memory, last: Option<&Memory>) -> Result<()> {
    tx.note_agent_seen(&caller(first.owner.as_str(), first.workspace.as_str()), now())?;
    keep(tx, first)?;
    match last {
        None => {
            tx.append_event(&NewEvent::of(EventKind::MemoryPurged, first, &first.owner, now()))?;
            tx.purge_memory(first)
        }
        Some(last) if last != first => replace(tx, first, last),
        Some(_) => Ok(()),
    }
}

fn sight(agent: usize, user: usize, (reviews, opaque): (bool, bool), run: usize) -> Sight {
    let mut sight = Sight::of(&caller(AGENTS[agent], &format!("x{run}")));
    sight.workspaces.push(format!("global{run}").parse().unwrap());
    sight.user = USERS[user].map(str::to_owned);
    (sight.reviews, sight.opaque) = (reviews, opaque);
    sight
}

fn ids<'m>(memories: impl IntoIterator<Item = &'m Memory>) -> BTreeSet<MemoryId> {
    memories.into_iter().map(|memory| memory.id).collect()
}

/// The same filter twice: for the store, and as a predicate.
type FilterCase = (MemoryFilter, fn(&Memory) -> bool);

fn filters() -> Vec<FilterCase> {
    let of = MemoryFilter::default;
    vec![
        (of(), |_| true),
        (MemoryFilter { owner: Some("ann/child".into()), ..of() }, |m| {
            m.owner.as_str() == "ann/child"
        }),
        (MemoryFilter { memory_type: Some("decision".into()), ..of() }, |m| {
            m.memory_type.as_str() == "decision"
        }),
        (MemoryFilter { importance: Some(Importance::High), ..of() }, |m| {
            m.importance >= Importance::High
        }),
        (MemoryFilter { session: Some("none".into()), ..of() }, |_| false),
        (MemoryFilter { since: Some(now()), ..of() }, |m| {
            m.valid_from.unwrap_or(m.recorded_at) >= now()
        }),
        (MemoryFilter { trust: Some(Trust::Quarantined), ..of() }, Memory::is_quarantined),
    ]
}

/// By id, with the history.
fn read_alike(tx: &Tx<'_>, sight: &Sight, all: &Kept) -> Result<()> {
    let seen: Vec<&Memory> =
        all.iter().filter_map(|(_, last)| last.as_ref()).filter(|m| sight.sees(m)).collect();
    for (first, last) in all {
        let expected = last.as_ref().filter(|memory| sight.sees(memory));
        assert_eq!(tx.memory(sight, first.id)?.as_deref(), expected);
        let changed = last.as_ref().is_some_and(|last| last != first);
        let earlier: Vec<Memory> =
            Some(first).filter(|first| changed && sight.sees(first)).cloned().into_iter().collect();
        assert_eq!(tx.earlier_revisions(sight, first.id)?, earlier);
    }
    let wanted: Vec<_> = all.iter().map(|(m, _)| (m.workspace.clone(), m.id)).collect();
    let expected: Vec<Memory> = seen.iter().map(|memory| (*memory).clone()).collect();
    assert_eq!(tx.memories_of(sight, &wanted)?, expected);
    let (first, last) = MemoryId::prefix_range("mem_0")?;
    let found = tx.memory_ids(sight, first, last, 100)?;
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), ids(seen));
    Ok(())
}

/// In lists, under each filter; a limit never comes before the rule.
fn found_alike(tx: &Tx<'_>, sight: &Sight, seen: &[&Memory]) -> Result<()> {
    for (filter, meant) in filters() {
        let chosen: Vec<&Memory> = seen.iter().copied().filter(|memory| meant(memory)).collect();
        for deleted in [false, true] {
            let expected =
                ids(chosen.iter().copied().filter(|m| m.deleted_at.is_some() == deleted));
            let filter = MemoryFilter { deleted, ..filter.clone() };
            let listed = tx.memories(sight, &filter, ListOrder::Newest, None, 100)?;
            assert_eq!(ids(listed.iter().map(|(_, memory)| &**memory)), expected);
            let first = tx.memories(sight, &filter, ListOrder::Oldest, None, 1)?;
            assert_eq!(first.len(), expected.len().min(1));
        }
    }
    Ok(())
}

/// In counts, by owner and type, and by agent.
fn counted_alike(tx: &Tx<'_>, sight: &Sight, all: &Kept, seen: &[&Memory]) -> Result<()> {
    let mut expected: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for memory in seen {
        let key = (memory.owner.to_string(), memory.memory_type.to_string());
        let count = expected.entry(key).or_default();
        *(if memory.deleted_at.is_none() { &mut count.0 } else { &mut count.1 }) += 1;
    }
    let stands = |m: &&&Memory| m.deleted_at.is_none() && m.superseded_by.is_none();
    for beginning in ["", "b", "riv"] {
        let standing = seen.iter().filter(stands).flat_map(|memory| memory.topics.clone());
        let begins = |topic: &String| topic.to_lowercase().starts_with(beginning);
        let expected: BTreeSet<String> = standing.filter(begins).collect();
        let topics = tx.topics(sight, beginning, 100)?;
        assert_eq!(topics.into_iter().collect::<BTreeSet<_>>(), expected, "{beginning}");
    }

    let counts = tx.counts(sight)?.into_iter();
    let counted: BTreeMap<_, _> =
        counts.map(|c| ((c.owner, c.memory_type), (c.standing, c.deleted))).collect();
    assert_eq!(counted, expected);

    let home = &sight.workspaces[0];
    let known: BTreeSet<&str> = all
        .iter()
        .filter(|(first, _)| first.workspace == *home)
        .map(|(first, _)| first.owner.as_str())
        .collect();
    let at_home = Sight { workspaces: vec![home.clone()], ..sight.clone() };
    let agents = tx.agents(&at_home, home)?;
    assert_eq!(agents.iter().map(|a| a.agent.as_str()).collect::<BTreeSet<_>>(), known);
    for record in agents {
        let own =
            |m: &&&Memory| m.owner == record.agent && m.deleted_at.is_none() && at_home.sees(m);
        assert_eq!(record.memory_count, seen.iter().filter(own).count() as u64);
    }
    Ok(())
}

/// In the journal: events about memories that are visible now and were then; of a removed memory,
/// only its owner's.
fn events_alike(tx: &Tx<'_>, sight: &Sight, all: &Kept) -> Result<()> {
    let saw = |first: &Memory| {
        let about = match (&sight.user, &first.user_id) {
            (_, None) => true,
            (None, Some(_)) => first.owner == sight.agent,
            (user, about) => user == about,
        };
        about && (first.owner == sight.agent || first.sharing == Sharing::Shared)
    };
    let sees = |(first, last): &&(Memory, Option<Memory>)| match last {
        Some(last) => saw(first) && sight.sees(last),
        None => sight.workspaces.contains(&first.workspace) && first.owner == sight.agent,
    };
    let seen = || all.iter().filter(sees);
    let subjects: BTreeSet<String> = seen().map(|(first, _)| first.id.to_string()).collect();
    let count: usize = seen().map(|(_, last)| if last.is_some() { 1 } else { 2 }).sum();
    // Every event is in one of these steps.
    let steps = RateSteps {
        since: Timestamp::UNIX_EPOCH,
        step: SignedDuration::from_hours(24 * 365),
        count: 200,
    };
    let mut events = Vec::new();
    for workspace in all.iter().map(|(first, _)| &first.workspace).collect::<BTreeSet<_>>() {
        let journal = JournalRange::entire_journal(workspace.clone());
        let recorded = tx.event_records(workspace, 0, 100)?;
        for filter in event_filters() {
            let wanted = JournalRange { filter, ..journal.clone() };
            let shown = recorded.iter().filter_map(|record| record.shown_to(sight));
            let meant: Vec<_> = shown.filter(|event| wanted.filter.admits(event)).collect();
            assert_eq!(tx.events(sight, &wanted, 100)?, meant, "{:?}", wanted.filter);
            assert_eq!(tx.event_count(sight, &wanted)?, meant.len() as u64);
            let tallies = tx.event_tallies(sight, &wanted, &steps)?;
            for kind in EventKind::ALL {
                let of_kind = tallies.iter().filter(|tally| tally.kind == *kind);
                let meant = meant.iter().filter(|event| event.kind == *kind).count();
                assert_eq!(of_kind.map(|tally| tally.count).sum::<u64>(), meant as u64, "{kind:?}");
            }
        }
        events.extend(tx.events(sight, &journal, 100)?);
    }
    assert_eq!(events.len(), count);
    assert_eq!(events.into_iter().map(|event| event.subject).collect::<BTreeSet<_>>(), subjects);
    Ok(())
}

/// The filters of the journal.
fn event_filters() -> Vec<EventFilter> {
    let of = EventFilter::default;
    vec![
        of(),
        EventFilter { kinds: vec![EventKind::MemoryPurged], ..of() },
        EventFilter { topics: vec!["herbs".to_owned(), "rivers".to_owned()], ..of() },
        EventFilter { importances: vec![Importance::High], ..of() },
        EventFilter { except: Agent::with_any_name("ann").ok(), ..of() },
    ]
}

pub(crate) fn a_store_returns_exactly_what_the_permission_rule_allows(fresh: &dyn Fresh) {
    let store = fresh.open();
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    let run = std::cell::Cell::new(0);
    let cases = (rows(), 0..5_usize, 0..3_usize, any::<(bool, bool)>());
    runner
        .run(&cases, |(rows, agent, user, asks)| {
            run.set(run.get() + 1);
            let all = kept(&*store, &rows, run.get());
            let sight = sight(agent, user, asks, run.get());
            let lasting = all.iter().filter_map(|(_, last)| last.as_ref());
            let seen: Vec<&Memory> = lasting.filter(|memory| sight.sees(memory)).collect();
            store
                .read(|tx| {
                    read_alike(tx, &sight, &all)?;
                    found_alike(tx, &sight, &seen)?;
                    counted_alike(tx, &sight, &all, &seen)?;
                    events_alike(tx, &sight, &all)
                })
                .unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
