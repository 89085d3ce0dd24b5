//! Contradictions: they exist for callers that see both memories, at the compared revisions only.

use commonbook::base::id::CountingIds;
use commonbook::model::access::{EventSubject, Sight, Visibility};
use commonbook::model::agent::Agent;
use commonbook::model::contradiction::{
    ContradictionFinding, ContradictionRecord, ContradictionResolution, ContradictionStatus,
    DifferenceKind, RepeatedPair, ResolutionRecord, id_of,
};
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Memory, Sharing, Trust};
use commonbook::store::{ContradictionFilter, Tx};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{Fresh, caller, journal, keep, memory, now, replace, with_texts};

const AGENTS: [&str; 4] = ["ann", "ann/child", "bob", "anonymous"];
const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("u2")];

/// What happened to a memory after the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stands,
    Superseded,
    Quarantined,
    Deleted,
    Changed,
    Purged,
}

/// Owner, user, private, fate.
type Row = (usize, usize, bool, Fate);

fn row() -> impl Strategy<Value = Row> {
    use Fate::{Changed, Deleted, Purged, Quarantined, Stands, Superseded};
    let fate = [Stands, Stands, Stands, Stands, Superseded, Quarantined, Deleted, Changed, Purged];
    (0..4_usize, 0..3_usize, any::<bool>(), prop::sample::select(fate.to_vec()))
}

/// A memory as it was compared; changes of its visibility happened before.
fn compared(ids: &CountingIds, row: Row, workspace: &str) -> Memory {
    let (owner, user, private, fate) = row;
    let mut memory = memory(ids, "ann", workspace, "heron");
    memory.owner = Agent::with_any_name(AGENTS[owner]).unwrap_or_else(|_| Agent::anonymous());
    memory.user_id = USERS[user].map(str::to_owned);
    memory.topics = vec!["Birds".to_owned()];
    memory.sharing = if private { Sharing::Private } else { Sharing::Shared };
    match fate {
        Fate::Superseded => memory.superseded_by = Some(memory.id),
        Fate::Quarantined => memory.trust = Trust::Quarantined,
        Fate::Deleted => memory.deleted_at = Some(now()),
        Fate::Stands | Fate::Changed | Fate::Purged => {}
    }
    memory
}

fn between(older: &Memory, newer: &Memory, resolved: bool) -> ContradictionRecord {
    let found = ContradictionFinding {
        kind: DifferenceKind::Number,
        reason: "herons".to_owned(),
        confidence: 0.8,
        found_by: Default::default(),
        stated_by: None,
    };
    let kept = ContradictionRecord::new(older, newer, found, now());
    let resolved = resolved.then(|| ResolutionRecord {
        resolution: ContradictionResolution::KeepBoth,
        resolved_by: older.owner.clone(),
        resolved_at: now(),
        context: Some("herons".to_owned()),
        kept: None,
    });
    ContradictionRecord { resolved, ..kept }
}

fn write(
    tx: &mut Tx<'_>,
    kept: &ContradictionRecord,
    pair: &[(Memory, Fate)],
) -> commonbook::base::error::Result<()> {
    pair.iter().try_for_each(|(memory, _)| keep(tx, memory))?;
    let place = tx.journal_end(&kept.workspace)? + 1;
    assert!(tx.put_contradiction(kept, place)?);
    tx.append_event(&NewEvent::for_subject(
        EventKind::ContradictionFound,
        &kept.workspace,
        kept.id.to_string(),
        &Agent::system(),
        now(),
        Sharing::Shared,
    ))?;
    for (memory, fate) in pair {
        match fate {
            Fate::Changed => {
                let after = Memory { revision: 2, text: "egret".into(), ..memory.clone() };
                replace(tx, memory, &after)?;
            }
            Fate::Purged => tx.purge_memory(memory)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether the rule shows it: the caller sees both memories at the compared revisions.
fn expected(sight: &Sight, pair: &[(Memory, Fate)], resolved: bool) -> bool {
    pair.iter().all(|(memory, fate)| {
        let current = memory.is_current() && memory.trust != Trust::Quarantined;
        let stays = memory.deleted_at.is_none() && !matches!(fate, Fate::Changed | Fate::Purged);
        sight.sees(memory) && stays && (resolved || current)
    })
}

/// Each side has a mark that names the other, if the caller sees both.
fn check_marks(
    tx: &Tx<'_>,
    sight: &Sight,
    pair: &[(Memory, Fate)],
    seen: bool,
) -> commonbook::base::error::Result<()> {
    let places: Vec<_> =
        pair.iter().map(|(memory, _)| (memory.workspace.clone(), memory.id)).collect();
    let marks = tx.contradiction_marks(sight, &places)?;
    let marked: Vec<_> = marks.iter().map(|mark| (mark.memory, mark.other)).collect();
    let [first, second] = [pair[0].0.id, pair[1].0.id];
    let both_ways = vec![(first, second), (second, first)];
    assert_eq!(marked, if seen { both_ways } else { Vec::new() });
    let marks = tx.contradiction_marks(sight, &places[1..])?;
    assert_eq!(marks.len(), usize::from(seen));
    Ok(())
}

pub(crate) fn a_contradiction_exists_only_for_callers_that_see_both_memories(fresh: &dyn Fresh) {
    let store = fresh.open();
    let mut runner = TestRunner::new(Config { cases: 96, ..Config::default() });
    let run = std::cell::Cell::new(0);
    let cases = ((row(), row()), any::<bool>(), (0..4_usize, 0..3_usize, any::<bool>()));
    runner
        .run(&cases, |((first, second), resolved, (agent, user, reviews))| {
            run.set(run.get() + 1);
            let (ids, workspace) = (CountingIds::default(), format!("x{}", run.get()));
            let pair = [first, second].map(|row| (compared(&ids, row, &workspace), row.3)).to_vec();
            let kept = between(&pair[0].0, &pair[1].0, resolved);
            let (given, of_pair) = (kept.clone(), pair.clone());
            store.write(move |tx| write(tx, &given, &of_pair)).unwrap();
            let mut sight = Sight::at_home(&caller(AGENTS[agent], &workspace));
            sight.user = USERS[user].map(str::to_owned);
            sight.reviews = reviews;
            let seen = expected(&sight, &pair, resolved);
            let open = seen && !resolved;
            let places: Vec<_> =
                pair.iter().map(|(memory, _)| (memory.workspace.clone(), memory.id)).collect();
            // A caller that sees both memories sees the event while the contradiction exists.
            let both =
                pair.iter().all(|(memory, fate)| sight.sees(memory) && *fate != Fate::Purged);
            store
                .read(|tx| {
                    let all = ContradictionFilter::default();
                    let wanted = [
                        (all.clone(), seen),
                        (
                            ContradictionFilter {
                                status: Some(ContradictionStatus::Open),
                                ..all.clone()
                            },
                            open,
                        ),
                        (ContradictionFilter { memory: Some(pair[1].0.id), ..all.clone() }, seen),
                        (ContradictionFilter { topics: vec!["birds".into()], ..all.clone() }, seen),
                        (ContradictionFilter { topics: vec!["fish".into()], ..all.clone() }, false),
                        (ContradictionFilter { before: Some(1), ..all }, false),
                    ];
                    for (wanted, expected) in wanted {
                        let found = tx.contradictions(&sight, &wanted, 10)?;
                        assert_eq!(found.len(), usize::from(expected), "{wanted:?}");
                    }
                    let found = tx.contradiction(&sight, kept.id)?;
                    assert_eq!(found.map(|(kept, ..)| kept), seen.then(|| kept.clone()));
                    assert_eq!(tx.contradiction_count(&sight)?, u64::from(open));
                    assert_eq!(tx.contradicting_pairs(&sight, &places)?.len(), usize::from(open));
                    assert_eq!(tx.contradicting_pairs(&sight, &places[..1])?, []);
                    check_marks(tx, &sight, &pair, seen)?;
                    let stretch = journal(&workspace);
                    let events = tx.events(&sight, &stretch, 10)?;
                    let shown =
                        events.iter().filter(|event| event.kind.is_of_contradiction()).count();
                    assert_eq!(shown, usize::from(both));
                    let recorded = tx.event_records(&stretch.workspace, 0, 10)?;
                    let meant =
                        recorded.into_iter().filter(|record| sight.sees_event(&record.visibility));
                    assert_eq!(meant.map(|record| record.event).collect::<Vec<_>>(), events);
                    Ok(())
                })
                .unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

pub(crate) fn a_contradiction_is_shown_only_at_the_compared_revisions(fresh: &dyn Fresh) {
    let store = fresh.open();
    let pair = with_texts(&*store, &["one", "two"]);
    let kept = between(&pair[0], &pair[1], false);
    let sight = Sight::at_home(&caller("ann", "x"));
    let listed = |store: &dyn commonbook::store::Store| {
        let all = ContradictionFilter::default();
        let found = store.read(|tx| tx.contradictions(&sight, &all, 10)).unwrap();
        found
            .into_iter()
            .map(|(place, contradiction)| (place, contradiction.status))
            .collect::<Vec<_>>()
    };
    // A contradiction of another than the present revision is not stored.
    let stale =
        ContradictionRecord { memories: [(pair[0].id, 2), (pair[1].id, 1)], ..kept.clone() };
    assert!(!store.write(move |tx| tx.put_contradiction(&stale, 3)).unwrap());
    assert_eq!(listed(&*store), []);
    let (first, again) = (kept.clone(), between(&pair[0], &pair[1], true));
    assert!(store.write(move |tx| tx.put_contradiction(&first, 3)).unwrap());
    assert_eq!(listed(&*store), [(3, ContradictionStatus::Open)]);
    // It keeps its position, and there is one per pair of memories.
    assert!(store.write(move |tx| tx.put_contradiction(&again, 9)).unwrap());
    assert_eq!(listed(&*store), [(3, ContradictionStatus::Resolved)]);
    let of = |memory: &Memory| {
        let found = store.read(|tx| tx.contradictions_of(memory)).unwrap();
        found.into_iter().map(|(kept, other)| (kept.id, other.id)).collect::<Vec<_>>()
    };
    let id = id_of(pair[1].id, pair[0].id);
    assert_eq!(of(&pair[0]), [(id, pair[1].id)]);
    assert_eq!(of(&pair[1]), [(id, pair[0].id)]);
    let purged = pair[0].clone();
    store.write(move |tx| tx.purge_memory(&purged)).unwrap();
    assert_eq!(listed(&*store), []);
    assert_eq!(of(&pair[1]), []);
    let (workspace, kept) = (pair[1].workspace.clone(), kept.id);
    store.write(move |tx| tx.drop_contradiction(&workspace, kept)).unwrap();
}

pub(crate) fn a_late_follower_sees_events_by_the_present_visibility_of_both_memories(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let pair = [memory(&ids, "ann", "x", "one"), memory(&ids, "ann", "x", "two")];
    let kept = between(&pair[0], &pair[1], false);
    let given = pair.clone().map(|memory| (memory, Fate::Stands));
    store.write(move |tx| write(tx, &kept, &given)).unwrap();
    let recorded = store.read(|tx| tx.event_records(&pair[0].workspace, 0, 10)).unwrap();
    let found =
        recorded.into_iter().find(|record| record.event.kind.is_of_contradiction()).unwrap();
    let visible = |about: Option<(&Memory, EventSubject)>| {
        let mut reach = found.visibility.clone();
        if let Some((memory, now)) = about {
            reach.about.take_in(&memory.id.to_string(), &now);
        }
        ["ann", "bob"].map(|agent| Sight::at_home(&caller(agent, "x")).sees_event(&reach))
    };
    let hidden = Memory { sharing: Sharing::Private, ..pair[1].clone() };
    let other = memory(&ids, "ann", "x", "three");
    assert_eq!(visible(None), [true, true]);
    assert_eq!(
        visible(Some((&hidden, EventSubject::Memory(Visibility::of(&hidden))))),
        [true, false]
    );
    assert_eq!(visible(Some((&pair[0], EventSubject::Gone))), [false, false]);
    assert_eq!(visible(Some((&other, EventSubject::Gone))), [true, true]);
}

pub(crate) fn a_judged_pair_is_known_while_its_texts_stay_and_until_a_purge(fresh: &dyn Fresh) {
    let store = fresh.open();
    let pair = with_texts(&*store, &["one", "two"]);
    let knows = |a: &Memory, b: &Memory| store.read(|tx| tx.is_judged(a, b)).unwrap();
    assert!(!knows(&pair[0], &pair[1]));
    let judged = pair.clone();
    store.write(move |tx| tx.put_judged(&judged[1], &judged[0])).unwrap();
    assert!(knows(&pair[0], &pair[1]) && knows(&pair[1], &pair[0]));
    // Another title is the same text.
    let titled = Memory { title: Some("heron".to_owned()), revision: 2, ..pair[0].clone() };
    assert!(knows(&titled, &pair[1]));
    let changed = Memory { text: "three".to_owned(), ..pair[0].clone() };
    assert!(!knows(&changed, &pair[1]));
    let again = [changed.clone(), pair[1].clone()];
    store.write(move |tx| tx.put_judged(&again[0], &again[1])).unwrap();
    assert!(knows(&changed, &pair[1]) && !knows(&pair[0], &pair[1]));
    let purged = pair[1].clone();
    store.write(move |tx| tx.purge_memory(&purged)).unwrap();
    assert!(!knows(&changed, &pair[1]));
}

pub(crate) fn what_agents_said_of_a_pair_is_listed_until_it_is_answered_or_purged(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let pair = with_texts(&*store, &["one", "two"]);
    let (ann, workspace) = (pair[0].owner.clone(), pair[0].workspace.clone());
    let said = RepeatedPair::of(&pair[1], &pair[0], &ann);
    let (kept, journal) = (said.clone(), workspace.clone());
    store.write(move |tx| tx.put_repeated(&journal, &kept)).unwrap();
    let repeated = || store.read(|tx| tx.repeated_pairs(&workspace)).unwrap();
    assert_eq!(repeated(), std::slice::from_ref(&said));
    assert!(said.holds_for(&pair[0], &pair[1]));
    let changed = Memory { text: "three".to_owned(), ..pair[0].clone() };
    assert!(!said.holds_for(&changed, &pair[1]));
    assert!(
        store.read(|tx| tx.is_judged(&pair[0], &pair[1])).unwrap(),
        "an agent has judged the pair"
    );
    let found = ContradictionFinding::of_statement(&ann, &pair[0], &pair[1]);
    let stated = ContradictionRecord::new(&pair[0], &pair[1], found, now());
    let put = |record: ContradictionRecord| {
        let write = move |tx: &mut Tx<'_>| {
            let place = tx.journal_end(&record.workspace)? + 1;
            tx.put_contradiction(&record, place)
        };
        assert!(store.write(write).unwrap());
    };
    put(stated.clone());
    let stands = |agent: &Agent| store.read(|tx| tx.statements_of(&workspace, agent, 5)).unwrap();
    assert_eq!((stands(&ann), stands(&Agent::system())), (vec![stated.clone()], Vec::new()));
    let resolved = between(&pair[0], &pair[1], true).resolved;
    put(ContradictionRecord { resolved, ..stated });
    assert_eq!(stands(&ann), []);
    let purged = pair[1].clone();
    store.write(move |tx| tx.purge_memory(&purged)).unwrap();
    assert_eq!(repeated(), []);
}
