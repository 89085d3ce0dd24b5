//! The rows of handoffs: stored completely, seen by the permission rule, listed in the order of the
//! journal.

use commonbook::base::id::{CountingIds, HandoffId, MemoryId};
use commonbook::base::settled_clock::SettledClock;
use commonbook::model::access::Sight;
use commonbook::model::collaboration::{EdgeFilter, HandoffEdge};
use commonbook::model::event::EventKind;
use commonbook::model::handoff::choose::{ExclusionReason, MemoryExclusion};
use commonbook::model::handoff::{
    ChainPosition, CreateHandoff, Handoff, HandoffFilter, HandoffKind, HandoffMemory,
    HandoffOrigin, HandoffSide, HandoffStatus, InclusionReason, ReceivedHandoffs,
};
use commonbook::model::memory::{Memory, Sharing};
use commonbook::prompt::handoff::{HandoffPackage, PackResult};
use commonbook::prompt::item::PromptItem;
use commonbook::store::Store;
use jiff::SignedDuration;

use crate::{Fresh, caller, journal, keep, memory, now};

/// A handoff between two agents, for this user.
fn handoff(ids: &CountingIds, from: &str, to: &str, user: Option<&str>) -> Handoff {
    let from = caller(from, "x");
    let request = CreateHandoff {
        to: to.to_owned(),
        task: Some("Go on".to_owned()),
        context: Some("It is begun".to_owned()),
        active_files: vec!["a.rs".to_owned()],
        decisions_made: vec!["Yes".to_owned()],
        next_steps: vec!["Go".to_owned(), "on".to_owned()],
        case: Some("k".to_owned()),
        ..CreateHandoff::default()
    };
    let settings = commonbook::model::handoff::choose::HandoffSettings::default();
    let asked = request.check(&from.agent, Some("ses"), settings).unwrap();
    let id = HandoffId::new(ids, now());
    let place = ChainPosition::of(id, &asked, &from.agent, ReceivedHandoffs::default()).unwrap();
    let user_id = user.map(str::to_owned);
    let origin = HandoffOrigin { workspace: from.workspace, from: from.agent, user_id };
    Handoff::new(id, &asked, origin, place, now())
}

fn packed(handoff: Handoff) -> PackResult {
    PackResult {
        handoff,
        package: HandoffPackage::default(),
        left_out: Vec::new(),
        along: Vec::new(),
        behind: Vec::new(),
        hint: None,
    }
}

fn make(store: &dyn Store, packed: PackResult) {
    store
        .write(move |tx| {
            let PackResult { handoff, .. } = &packed;
            let event = handoff.event(EventKind::HandoffCreated, &handoff.from, handoff.created_at);
            let sequence = tx.append_event(&event)?;
            tx.insert_handoff(&packed, sequence)
        })
        .unwrap();
}

fn all_of(side: HandoffSide) -> HandoffFilter {
    let status = HandoffStatus::ALL.to_vec();
    HandoffFilter { side, status, ..HandoffFilter::default() }
}

pub(crate) fn a_handoff_is_stored_completely_and_seen_by_the_permission_rule(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all = Vec::new();
    for (from, to) in [("ann", "bob"), ("bob", "ann"), ("eve", "bob")] {
        for user in [None, Some("u1"), Some("u2")] {
            all.push(handoff(&ids, from, to, user));
        }
    }
    all.iter().for_each(|handoff| make(&*store, packed(handoff.clone())));
    for agent in ["ann", "bob", "eve", "mallory"] {
        for user in [None, Some("u1"), Some("u3")] {
            let who = caller(agent, "x").for_user(user).unwrap();
            let sight = Sight::of(&who);
            let sees = |handoff: &&Handoff| sight.can_see(&handoff.handoff_visibility(&who.agent));
            let seen: Vec<Handoff> = all.iter().rev().filter(sees).cloned().collect();
            let list = |filter: &HandoffFilter, before, limit| -> Vec<(u64, Handoff)> {
                store.read(|tx| tx.handoffs(&sight, filter, before, limit)).unwrap()
            };
            let listed = list(&all_of(HandoffSide::All), None, 20);
            let handoffs: Vec<Handoff> =
                listed.iter().map(|(_, handoff)| handoff.clone()).collect();
            assert_eq!(handoffs, seen, "{agent} {user:?}");
            for handoff in &all {
                let found = store.read(|tx| tx.handoff(&sight, handoff.id)).unwrap();
                assert_eq!(found.as_ref(), Some(handoff).filter(|handoff| seen.contains(handoff)));
            }
            for (side, of) in
                [(HandoffSide::Sent, 0), (HandoffSide::Received, 1), (HandoffSide::Either, 2)]
            {
                let own = |handoff: &&Handoff| {
                    let (from, to) = (handoff.from == who.agent, handoff.to == who.agent);
                    [from, to, from || to][of]
                };
                assert_eq!(list(&all_of(side), None, 20).len(), seen.iter().filter(own).count());
            }
            if let Some((first, _)) = listed.first() {
                assert_eq!(list(&all_of(HandoffSide::All), Some(*first), 20)[..], listed[1..]);
            }
            let edges = store.read(|tx| tx.edges(&sight, &EdgeFilter::default(), 20)).unwrap();
            let expected: Vec<HandoffEdge> = seen.iter().rev().map(HandoffEdge::from).collect();
            assert_eq!(edges, expected, "{agent} {user:?}");
            events_alike(&*store, &sight);
        }
    }
}

/// The store's journal and the rule agree.
fn events_alike(store: &dyn Store, sight: &Sight) {
    let recorded = store.read(|tx| tx.event_records(&sight.workspaces[0], 0, 100)).unwrap();
    let meant = recorded
        .iter()
        .filter(|record| sight.sees_event(&record.visibility))
        .map(|record| record.event.clone());
    let events = store.read(|tx| tx.events(sight, &journal("x"), 100)).unwrap();
    assert_eq!(events, meant.collect::<Vec<_>>());
}

pub(crate) fn a_handoff_names_only_what_its_reader_sees_and_nothing_purged(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let shared = memory(&ids, "ann", "x", "shared");
    let hidden = Memory { sharing: Sharing::Private, ..memory(&ids, "ann", "x", "hidden") };
    let named = Memory { sharing: Sharing::Private, ..memory(&ids, "ann", "x", "named") };
    let global = memory(&ids, "ann", "global", "global");
    let purged = memory(&ids, "ann", "x", "purged");
    let all = [shared, hidden, named, global, purged];
    let passed = |memory: &Memory, private| HandoffMemory {
        id: memory.id,
        author: memory.owner.clone(),
        why: InclusionReason::Chosen,
        score: 0.5,
        private,
        headline: false,
        tokens: 3,
    };
    let mut packed = packed(handoff(&ids, "ann", "bob", None));
    packed.handoff.memories =
        all.iter().enumerate().map(|(place, memory)| passed(memory, place == 2)).collect();
    let item = |memory: &Memory| PromptItem::of_memory(memory, memory.text.clone());
    packed.package.memories = all.iter().map(|memory| (memory.id, item(memory))).collect();
    let left = |id| MemoryExclusion { id, score: 0.1, reason: ExclusionReason::Unfit };
    packed.left_out = vec![left(all[0].id), left(all[4].id)];
    let id = packed.handoff.id;
    let given = all.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    make(&*store, packed.clone());
    let gone = all[4].clone();
    store.write(move |tx| tx.purge_memory(&gone)).unwrap();
    for (agent, seen) in [("ann", &[0, 1, 2, 3][..]), ("bob", &[0, 2, 3]), ("eve", &[0, 3])] {
        let sight = Sight::of(&caller(agent, "x"));
        let found = store.read(|tx| tx.handoff(&sight, id)).unwrap().unwrap();
        let named: Vec<MemoryId> = found.memories.iter().map(|memory| memory.id).collect();
        let expected: Vec<MemoryId> = seen.iter().map(|place| all[*place].id).collect();
        assert_eq!(named, expected, "{agent}");
    }
    let package = store.read(|tx| tx.package(&packed.handoff)).unwrap();
    assert!(!package.memories.contains_key(&all[4].id) && package.memories.len() == 4);
    let sight = Sight::of(&caller("ann", "x"));
    let left = store.read(|tx| tx.left_out(&sight, id)).unwrap();
    assert_eq!(left, packed.left_out[..1]);
}

pub(crate) fn accepted_handoffs_are_listed_in_order_of_acceptance(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let all: Vec<Handoff> = (0..4).map(|_| handoff(&ids, "ann", "bob", None)).collect();
    all.iter().for_each(|handoff| make(&*store, packed(handoff.clone())));
    for place in [2, 0, 1] {
        let status = HandoffStatus::Accepted;
        let taken = Handoff { status, accepted_at: Some(now()), ..all[place].clone() };
        store
            .write(move |tx| {
                let event = taken.event(EventKind::HandoffAccepted, &taken.to, now());
                let sequence = tx.append_event(&event)?;
                tx.step_handoff(&taken, sequence)
            })
            .unwrap();
    }
    let (sight, bob) = (Sight::of(&caller("bob", "x")), caller("bob", "x").agent);
    let received = |limit| -> Vec<HandoffId> {
        let found = store.read(|tx| tx.received_handoffs(&sight, &bob, limit)).unwrap();
        found.into_iter().map(|handoff| handoff.id).collect()
    };
    assert_eq!(received(10), [all[2].id, all[0].id, all[1].id]);
    assert_eq!(received(2), [all[0].id, all[1].id]);
    let edges = |filter: EdgeFilter| -> usize {
        store.read(|tx| tx.edges(&sight, &filter, 10)).unwrap().len()
    };
    let of = |work: &str, case: &str| {
        let work = Some((work.to_owned(), Some(case.to_owned())));
        edges(EdgeFilter { work, ..EdgeFilter::default() })
    };
    assert_eq!((of("ses", "other"), of("other", "k"), of("other", "other")), (4, 4, 0));
    assert_eq!(edges(EdgeFilter { chain: Some(all[0].id), ..EdgeFilter::default() }), 1);
    assert_eq!(edges(EdgeFilter { agent: Some(bob), open: true, ..EdgeFilter::default() }), 4);
    let overdue = |at| store.read(|tx| tx.overdue_handoffs(at, 10)).unwrap();
    let due = |at| -> Vec<HandoffId> {
        let mut due: Vec<_> = overdue(at).into_iter().map(|handoff| handoff.id).collect();
        due[1..].sort_unstable();
        due
    };
    // The waiting one, then those whose target nobody has seen since it accepted them.
    assert_eq!(due(all[3].expires_at), [all[3].id, all[0].id, all[1].id, all[2].id]);
    assert_eq!(overdue(all[3].expires_at - SignedDuration::from_secs(1)), []);
    let steady = SettledClock { confirmed: now(), candidate: all[3].expires_at };
    assert_eq!(store.read(|tx| tx.settled_clock()).unwrap(), None);
    store.write(move |tx| tx.put_settled_clock(steady)).unwrap();
    assert_eq!(store.read(|tx| tx.settled_clock()).unwrap(), Some(steady));
}

pub(crate) fn work_goes_on_from_the_handoff_that_moved_last(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let all: Vec<Handoff> = (0..4).map(|_| handoff(&ids, "ann", "bob", None)).collect();
    all.iter().for_each(|handoff| make(&*store, packed(handoff.clone())));
    let complete = |place: usize, ended_at| {
        let status = HandoffStatus::Completed;
        let accepted_at = Some(now());
        let done = Handoff { status, accepted_at, ended_at: Some(ended_at), ..all[place].clone() };
        store
            .write(move |tx| {
                let event = done.event(EventKind::HandoffCompleted, &done.to, now());
                let sequence = tx.append_event(&event)?;
                tx.step_handoff(&done, sequence)
            })
            .unwrap();
    };
    let hour = SignedDuration::from_hours(1);
    complete(2, now() + hour);
    complete(0, now());
    let (sight, bob) = (Sight::of(&caller("bob", "x")), caller("bob", "x").agent);
    let received = store.read(|tx| tx.received_handoffs(&sight, &bob, 10)).unwrap();
    assert!(received.iter().map(|handoff| handoff.id).eq([all[2].id, all[0].id]));
    let ended = |agent: &str, since, limit| -> Vec<HandoffId> {
        let agent = caller(agent, "x").agent;
        let found = store.read(|tx| tx.ended_handoffs(&sight, &agent, since, None, limit)).unwrap();
        found.into_iter().map(|handoff| handoff.id).collect()
    };
    assert_eq!(ended("ann", now(), 10), [all[2].id, all[0].id]);
    assert_eq!(ended("ann", now() + hour, 10), [all[2].id]);
    assert_eq!((ended("ann", now(), 1), ended("bob", now(), 10)), (vec![all[2].id], vec![]));
    // Told now: a session that began before hears it, a later one or none does not.
    let of_ann: Vec<HandoffId> = all.iter().map(|handoff| handoff.id).collect();
    let told = |agent: &str, at| {
        let (agent, ids) = (caller(agent, "x").agent, of_ann.clone());
        let home = all[0].workspace.clone();
        store.write(move |tx| tx.note_results_told(&home, &agent, &ids, at)).unwrap();
    };
    told("bob", now());
    assert_eq!(ended("ann", now(), 10).len(), 2, "it is not bob's result");
    told("ann", now());
    told("ann", now() + hour);
    assert_eq!(ended("ann", now(), 10), []);
    let second = SignedDuration::from_secs(1);
    for (start, count) in [(now() - second, 2), (now(), 2), (now() + second, 0)] {
        let (since, agent) = (now(), caller("ann", "x").agent);
        let found = store.read(|tx| tx.ended_handoffs(&sight, &agent, since, Some(start), 10));
        assert_eq!(found.unwrap().len(), count, "{start}");
    }
    let handed_on = || -> Vec<HandoffId> {
        let ids: Vec<HandoffId> = all.iter().map(|handoff| handoff.id).collect();
        store.read(|tx| tx.handed_on(&all[0].workspace, &ids)).unwrap()
    };
    assert_eq!(handed_on(), []);
    for (kind, status, of, is_on) in [
        (HandoffKind::Fork, HandoffStatus::Pending, "bob", false),
        (HandoffKind::Sequential, HandoffStatus::Rejected, "bob", false),
        (HandoffKind::Sequential, HandoffStatus::Pending, "eve", false),
        (HandoffKind::Sequential, HandoffStatus::Pending, "bob", true),
    ] {
        let (follows, chain) = (vec![all[2].id], all[2].chain);
        let next = handoff(&ids, of, "cleo", None);
        make(&*store, packed(Handoff { kind, status, follows, chain, ..next }));
        assert_eq!(handed_on() == [all[2].id], is_on, "{kind} {status} {of}");
    }
}
