//! Consolidations and merges of several processes on one home: killed ones, and such that meet.

use std::process::Stdio;
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::id::RandomIds;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::consolidation::{ConsolidateMemory, ConsolidationResult};
use commonbook::model::event::{Event, EventKind, ListEvents};
use commonbook::model::export::ExportWorkspace;
use commonbook::model::memory::{SaveMemories, SaveMemory};
use commonbook::model::stats::GetStats;
use commonbook::store::sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::world::{self, Door, Home, Server};

/// Memories of the home; each three say the same, and one batch of changes takes 200.
const MEMORIES: usize = 420;

fn caller() -> Caller {
    let name = AgentName { agent: Agent::with_any_name("ann").unwrap(), device: None };
    Caller::new(Some(name), world::WORKSPACE.parse().unwrap(), EntryPoint::Cli)
}

/// The home, as another process sees it two minutes later: the lease of a dead one has expired.
fn later(home: &Home) -> Commonbook {
    let store = SqliteStore::open(&home.path().join("commonbook.db")).unwrap();
    let clock = FixedClock::at(SystemClock.now() + jiff::SignedDuration::from_mins(2));
    Commonbook::with_clock_and_ids(store, Arc::new(clock), Arc::new(RandomIds::default()))
}

fn fill(book: &Commonbook) {
    let memories: Vec<SaveMemory> = (0..MEMORIES)
        .map(|number| {
            let subject = number % (MEMORIES / 3);
            let text = format!("The limit of shard {subject} is {} requests", subject + 7);
            let topics = vec!["shards".to_owned(), format!("note-{number}")];
            SaveMemory { text, topics, ..SaveMemory::default() }
        })
        .collect();
    for batch in memories.chunks(100) {
        let request = SaveMemories { memories: batch.to_vec(), idempotency_key: None };
        book.save_memories(&caller(), &request).unwrap();
    }
}

/// The lines of an export, but for when agents were last seen.
fn export(book: &Commonbook) -> Vec<Value> {
    let (mut lines, mut cursor) = (Vec::new(), None);
    loop {
        let request = ExportWorkspace { cursor, limit: Some(100), ..ExportWorkspace::default() };
        let page = book.export_workspace(&caller(), &request).unwrap();
        let lasting = page.lines.into_iter().map(Value::Object);
        lines.extend(lasting.filter(|line| line["record"] != "agent"));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return lines,
        }
    }
}

/// Each three that say the same are three memories or one: no step was done by half.
fn is_whole(lines: &[Value]) -> bool {
    let texts = |number: usize| format!("The limit of shard {number} is {} requests", number + 7);
    (0..MEMORIES / 3).all(|number| {
        let text = texts(number);
        let of: Vec<&Value> = lines.iter().filter(|line| line["text"] == *text).collect();
        let kept: Vec<&&Value> =
            of.iter().filter(|memory| memory.get("superseded_by").is_none()).collect();
        let leads =
            |memory: &&Value| memory.get("superseded_by").is_none_or(|heir| *heir == kept[0]["id"]);
        of.len() == 3 && (kept.len() == 3 || (kept.len() == 1 && of.iter().all(leads)))
    })
}

fn last_sequence(book: &Commonbook) -> u64 {
    book.get_memory_stats(&caller(), &GetStats {}).unwrap().events
}

/// Takes back the last run that changed something; one with nothing to do has no operation.
fn undo_last(book: &Commonbook) {
    let (mut after, mut operations) = (0, Vec::new());
    loop {
        let request = ListEvents { after, limit: Some(100), ..ListEvents::default() };
        let page = book.list_events(&caller(), &request).unwrap();
        let Some(last) = page.items.last() else { break };
        after = last.sequence;
        let completed = |event: &&Event| event.kind == EventKind::ConsolidationCompleted;
        operations.extend(page.items.iter().filter(completed).map(|event| event.subject.clone()));
    }
    let undone = operations.iter().rev().find(|operation| {
        let request = serde_json::from_value(json!({"undo": operation})).unwrap();
        book.consolidate_memory(&caller(), &request).is_ok_and(|result| result.restored > 0)
    });
    assert!(undone.is_some());
}

fn consolidate(book: &Commonbook, fields: Value) -> ConsolidationResult {
    let request: ConsolidateMemory = serde_json::from_value(fields).unwrap();
    book.consolidate_memory(&caller(), &request).unwrap()
}

#[test]
fn a_consolidation_killed_twenty_times_leaves_the_home_whole_and_the_next_one_goes_on() {
    let home = Home::new();
    let book = later(&home);
    fill(&book);
    let before = export(&book);
    // A whole run, to know how many events it makes.
    let begun = last_sequence(&book);
    let whole = consolidate(&book, json!({}));
    let events = last_sequence(&book) - begun;
    consolidate(&book, json!({"undo": whole.operation}));
    let (mut killed, mut midway, mut round) = (0, 0, 0);
    while killed < 20 {
        assert!(round < 200, "{killed} of {round} processes were killed at work");
        let begun = last_sequence(&book);
        let mut run = home.program(&["consolidate", "--json", "--agent", "ann"]);
        run.env("COMMONBOOK_WORKSPACE", world::WORKSPACE);
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // In every round it is killed at another place: after a number of events.
        let place = begun + 1 + round * 37 % events;
        while last_sequence(&book) < place && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        killed += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let found = export(&book);
        assert!(is_whole(&found), "round {round}");
        let book = later(&home);
        let done = consolidate(&book, json!({}));
        midway += u64::from(found != before && done.merged > 0);
        let found = export(&book);
        assert!(is_whole(&found), "round {round}");
        let merged = found.iter().filter(|line| line.get("superseded_by").is_some()).count();
        assert_eq!(merged, MEMORIES / 3 * 2, "round {round}");
        // A process that was killed after its last step has done all of it.
        undo_last(&book);
        assert_eq!(export(&book), before, "round {round}");
        round += 1;
    }
    assert_eq!(book.store().check_rows().unwrap(), Vec::<String>::new());
    assert!(midway > 0, "no process was killed between two steps");
}

#[test]
fn two_processes_that_merge_each_into_the_other_make_no_cycle_and_lose_nothing() {
    let home = Home::new();
    let servers = [
        Server::at_the_rate(&home, "reads=1000000,writes=1000000"),
        Server::at_the_rate(&home, "reads=1000000,writes=1000000"),
    ];
    let resolve = |value: &str| {
        let request = json!({"type": "tool", "value": value, "metadata": {"lang": value}});
        servers[0].call("ann", "resolve_entity", &request).unwrap()["entity"]["id"].clone()
    };
    let ids = [resolve("Heronry"), resolve("Rookery")];
    let book = later(&home);
    let rows = |book: &Commonbook| -> Vec<Value> {
        export(book).into_iter().filter(|line| line["record"] == "entity").collect()
    };
    let before = rows(&book);
    assert_eq!(before.len(), 2);
    for round in 0..1_000 {
        let merge = |server: usize| {
            let request = json!({"source": ids[server], "target": ids[1 - server]});
            servers[server].call("ann", "merge_entities", &request)
        };
        let merged = std::thread::scope(|scope| {
            let other = scope.spawn(|| merge(1));
            [merge(0), other.join().unwrap()]
        });
        let done: Vec<usize> = (0..2).filter(|server| merged[*server].is_ok()).collect();
        assert_eq!(done.len(), 1, "round {round}: {merged:?}");
        let request = json!({"source": ids[done[0]]});
        servers[1 - done[0]].call("ann", "unmerge_entities", &request).unwrap();
    }
    assert_eq!(rows(&book), before, "unmerging brings back equal rows");
    assert!(home.run(&["doctor", "--deep"]).status.success());
}
