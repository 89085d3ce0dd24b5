//! The journal of a workspace: gapless, in order, separate.

use std::sync::Arc;

use commonbook::base::id::{CountingIds, RandomIds};
use commonbook::model::access::{EventSubject, Sight};
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::event::{
    Event, EventFilter, EventKind, JournalRange, NewEvent, RateSteps, SubjectName,
};
use commonbook::model::memory::{Importance, Memory, Sharing};
use commonbook::model::workspace::Workspace;

use jiff::{SignedDuration, ToSpan as _};

use crate::{Fresh, caller, insert, journal, keep, memory, now, replace, with_texts};

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
    let events = stores[0].read(|tx| tx.events(&sight, &journal("x"), 1_000)).unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=400).collect::<Vec<_>>());
}

pub(crate) fn a_time_has_a_position_and_events_are_counted_in_steps(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let begin = now();
    let ages: [i64; 9] = [0, 0, 59, 60, 61, 61, 180, 200, 1_000];
    for second in ages {
        let given = memory(&ids, "ann", "x", &format!("at {second}"));
        let at = begin + second.seconds();
        store
            .write(move |tx| {
                let event = NewEvent::of(EventKind::MemorySaved, &given, &given.owner, at);
                let sequence = tx.append_event(&event)?;
                insert(tx, &given, sequence)
            })
            .unwrap();
    }
    let workspace: Workspace = "x".parse().unwrap();
    for (second, position) in [(0, 0), (1, 2), (59, 2), (60, 3), (61, 4), (62, 6), (5_000, 9)] {
        let time = begin + second.seconds();
        let found = store.read(|tx| tx.position_before(&workspace, time)).unwrap();
        assert_eq!(found, position, "{second}");
    }
    let nowhere = store.read(|tx| tx.position_before(&"y".parse()?, begin)).unwrap();
    assert_eq!(nowhere, 0);
    let steps = RateSteps { since: begin, step: SignedDuration::from_secs(60), count: 4 };
    let sight = Sight::of(&caller("ann", "x"));
    let tallies = store.read(|tx| tx.event_tallies(&sight, &journal("x"), &steps)).unwrap();
    let counts: Vec<_> = tallies.iter().map(|tally| (tally.step, tally.count)).collect();
    assert_eq!(counts, [(0, 3), (1, 3), (3, 2)], "what is later than the last step is not counted");
    let later = store.read(|tx| tx.event_tallies(&sight, &journal("x").from_position(3), &steps));
    let counts: Vec<_> = later.unwrap().iter().map(|tally| (tally.step, tally.count)).collect();
    assert_eq!(counts, [(1, 3), (3, 2)]);
}

pub(crate) fn each_workspace_has_its_own_journal(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = RandomIds::default();
    for workspace in ["x", "y", "x"] {
        let given = memory(&ids, "ann", workspace, "tea");
        store.write(move |tx| keep(tx, &given)).unwrap();
    }
    for (workspace, count) in [("x", 2), ("y", 1), ("z", 0)] {
        let sight = Sight::at_home(&caller("ann", workspace));
        let events = store.read(|tx| tx.events(&sight, &journal(workspace), 10)).unwrap();
        let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, (1..=count).collect::<Vec<_>>());
        assert_eq!(store.read(|tx| tx.event_count(&sight, &journal(workspace))).unwrap(), count);
        let end = store.read(|tx| tx.journal_end(&workspace.parse()?)).unwrap();
        assert_eq!(end, count);
    }
    let named = |names: &[&str]| {
        let names: Vec<Workspace> = names.iter().map(|name| name.parse().unwrap()).collect();
        store.read(|tx| tx.journals_of(&names)).unwrap()
    };
    assert_eq!(named(&["y", "z"]), [("y".parse().unwrap(), 1)]);
    assert_eq!(named(&["x", "y"]), store.read(|tx| tx.journals()).unwrap());
    assert_eq!(named(&[]), []);
    let names = store.read(|tx| tx.workspaces()).unwrap();
    assert_eq!(
        names.iter().map(commonbook::model::workspace::Workspace::as_str).collect::<Vec<_>>(),
        ["x", "y"]
    );
}

pub(crate) fn the_journal_returns_events_in_order_after_a_position(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &["one", "two", "three"]);
    let sight = Sight::of(&caller("bob", "x"));
    let events = store.read(|tx| tx.events(&sight, &journal("x").from_position(1), 1)).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].sequence, events[0].kind), (2, EventKind::MemorySaved));
    assert_eq!(events[0].subject, kept[1].id.to_string());
    assert!(
        store.read(|tx| tx.events(&sight, &journal("x").from_position(3), 10)).unwrap().is_empty()
    );
}

/// A memory by this agent, with these topics and this importance.
fn about(ids: &CountingIds, agent: &str, topics: &[&str], importance: Importance) -> Memory {
    let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
    Memory { topics, importance, ..memory(ids, agent, "x", "tea") }
}

pub(crate) fn the_journal_is_filtered_before_it_is_limited(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let kept = [
        about(&ids, "ann", &["Herbs"], Importance::Low),
        about(&ids, "bob", &["herbs", "Übung"], Importance::High),
        about(&ids, "ann", &[], Importance::Critical),
    ];
    let subjects: Vec<String> = kept.iter().map(|memory| memory.id.to_string()).collect();
    store
        .write(move |tx| {
            kept.iter().try_for_each(|memory| keep(tx, memory))?;
            let last = &kept[2];
            let changed = NewEvent::of(EventKind::MemoryUpdated, last, &kept[1].owner, now());
            tx.append_event(&changed).map(drop)
        })
        .unwrap();
    let of = EventFilter::default;
    let kinds = |kinds: &[EventKind]| EventFilter { kinds: kinds.to_vec(), ..of() };
    let topics = |topics: &[&str]| {
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        EventFilter { topics, ..of() }
    };
    let but = |agent: &str| EventFilter { except: Some(caller(agent, "x").agent), ..of() };
    let about_subject = |name: &str| EventFilter { subject: SubjectName::parse(name).ok(), ..of() };
    let table: Vec<(EventFilter, &[u64])> = vec![
        (of(), &[1, 2, 3, 4]),
        (kinds(&[EventKind::MemoryUpdated]), &[4]),
        (kinds(&[EventKind::MemoryUpdated, EventKind::MemorySaved]), &[1, 2, 3, 4]),
        (kinds(&[EventKind::MemoryPurged]), &[]),
        (topics(&["herbs"]), &[1, 2]),
        (topics(&["übung", "none"]), &[2]),
        (
            EventFilter { importances: vec![Importance::High, Importance::Critical], ..of() },
            &[2, 3, 4],
        ),
        (but("ann"), &[2, 4]),
        (EventFilter { importances: vec![Importance::Critical], ..but("ann") }, &[4]),
        (EventFilter { actor: Some(caller("ann", "x").agent), ..of() }, &[1, 3]),
        (EventFilter { actor: Some(caller("an", "x").agent), ..of() }, &[]),
        (about_subject(&subjects[2]), &[3, 4]),
        (about_subject(&subjects[2][18..]), &[3, 4]),
        (about_subject(&subjects[2][19..].to_uppercase()), &[3, 4]),
        (about_subject("payments"), &[]),
        (EventFilter { since: Some(now()), until: Some(now()), ..of() }, &[1, 2, 3, 4]),
        (EventFilter { since: now().checked_add(1.nanosecond()).ok(), ..of() }, &[]),
        (EventFilter { until: now().checked_sub(1.nanosecond()).ok(), ..of() }, &[]),
    ];
    let sight = Sight::at_home(&caller("eve", "x"));
    for (filter, expected) in table {
        let wanted = JournalRange { filter, ..journal("x") };
        let found = store.read(|tx| tx.events(&sight, &wanted, 10)).unwrap();
        let places: Vec<u64> = found.iter().map(|event| event.sequence).collect();
        assert_eq!(places, expected, "{:?}", wanted.filter);
        let first = store.read(|tx| tx.events(&sight, &wanted, 1)).unwrap();
        assert_eq!(first, found[..expected.len().min(1)], "no limit before a filter");
        let count = store.read(|tx| tx.event_count(&sight, &wanted)).unwrap();
        assert_eq!(count, expected.len() as u64);
        let all = store.read(|tx| tx.events(&sight, &journal("x"), 10)).unwrap();
        let admitted = all.iter().filter(|event| wanted.filter.admits(event));
        let admitted: Vec<u64> = admitted.map(|event| event.sequence).collect();
        assert_eq!(admitted, expected, "the function is equal to the query");
        let between = JournalRange { after: 1, until: 3, ..wanted };
        let found = store.read(|tx| tx.event_count(&sight, &between)).unwrap();
        assert_eq!(found, expected.iter().filter(|place| (2..=3).contains(*place)).count() as u64);
    }
}

pub(crate) fn an_event_says_from_where_its_caller_called(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let given = [memory(&ids, "ann", "x", "tea"), memory(&ids, "ann", "x", "milk")];
    let (device, client) = (Some("jarvis".to_owned()), Some("editor/2".to_owned()));
    let by = Caller { device, client, ..caller("ann", "x") };
    let system = Agent::system();
    let (first, second) = (given[0].clone(), given[1].clone());
    store
        .write_as(&by, move |tx| {
            keep(tx, &first)?;
            tx.append_event(&NewEvent::of(EventKind::MemoryUpdated, &first, &system, now()))
                .map(drop)
        })
        .unwrap();
    store.write(move |tx| keep(tx, &second)).unwrap();
    let sight = Sight::at_home(&caller("eve", "x"));
    let events = store.read(|tx| tx.events(&sight, &journal("x"), 10)).unwrap();
    let origin = |event: &Event| (event.device.clone(), event.client.clone(), event.door);
    let called = (Some("jarvis".to_owned()), Some("editor/2".to_owned()), Some(by.door));
    assert_eq!(origin(&events[0]), called);
    assert_eq!(origin(&events[1]), (None, None, None), "Commonbook did it by itself");
    assert_eq!(origin(&events[2]), (None, None, None), "a write without a caller");
    let records = store.read(|tx| tx.event_records(&by.workspace, 0, 10)).unwrap();
    assert_eq!(records.into_iter().map(|record| record.event).collect::<Vec<_>>(), events);
    assert_eq!(store.check_rows().unwrap(), Vec::<String>::new());
}

/// The present sharing of an event's subject; `None` if the subject is gone.
fn now_shared(about: &EventSubject) -> Option<Sharing> {
    match about {
        EventSubject::Memory(reach) => Some(reach.sharing),
        EventSubject::Gone
        | EventSubject::Both(_)
        | EventSubject::Work(_)
        | EventSubject::Entries(_)
        | EventSubject::Other => None,
    }
}

pub(crate) fn a_journal_is_read_with_the_visibility_of_its_events(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &["one", "two"]);
    let (first, second) = (kept[0].clone(), kept[1].clone());
    let hidden = Memory { sharing: Sharing::Private, revision: 2, ..second.clone() };
    store
        .write(move |tx| {
            replace(tx, &second, &hidden)?;
            tx.append_event(&NewEvent::of(
                EventKind::MemoryUpdated,
                &hidden,
                &hidden.owner,
                now(),
            ))?;
            tx.purge_memory(&first)
        })
        .unwrap();
    let x = caller("ann", "x").workspace;
    let recorded = store.read(|tx| tx.event_records(&x, 0, 10)).unwrap();
    let found: Vec<_> = (recorded.iter())
        .map(|record| {
            (record.event.sequence, record.visibility.sharing, now_shared(&record.visibility.about))
        })
        .collect();
    let (private, shared) = (Sharing::Private, Sharing::Shared);
    assert_eq!(found, [(1, shared, None), (2, shared, Some(private)), (3, private, Some(private))]);
    assert_eq!(store.read(|tx| tx.event_records(&x, 1, 1)).unwrap()[..], recorded[1..2]);
}

pub(crate) fn the_figures_of_a_journal_count_events_out_of_sight_too(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let private = Memory { sharing: Sharing::Private, ..memory(&ids, "bob", "x", "a secret") };
    let kept = [memory(&ids, "ann", "x", "tea"), private, memory(&ids, "ann", "y", "coffee")];
    store.write(move |tx| kept.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let deleted = memory(&ids, "ann", "x", "milk");
    let event = NewEvent::of(EventKind::MemoryDeleted, &deleted, &deleted.owner, now());
    store.write(move |tx| tx.append_event(&event)).unwrap();
    let workspace = "x".parse().unwrap();
    let figures =
        |after, limit| store.read(|tx| tx.event_figures(&workspace, after, limit)).unwrap();
    let mut all = figures(0, 10);
    all.kinds.sort_by_key(|(kind, _)| kind.name());
    assert_eq!(all.kinds, [(EventKind::MemoryDeleted, 1), (EventKind::MemorySaved, 2)]);
    assert_eq!((all.through, all.contexts.len()), (3, 0));
    let first = figures(0, 1);
    assert_eq!((first.kinds, first.through), (vec![(EventKind::MemorySaved, 1)], 1));
    let rest = figures(first.through, 10);
    assert_eq!(rest.kinds.iter().map(|(_, number)| number).sum::<u64>(), 2);
    assert_eq!((figures(3, 10).kinds, figures(3, 10).through), (Vec::new(), 3));
    assert_eq!((figures(9, 10).kinds, figures(9, 10).through), (Vec::new(), 9));
}
