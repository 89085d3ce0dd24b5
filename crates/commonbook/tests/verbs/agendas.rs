//! The agendas of the followers: a process follows what it has written, and takes up what others left.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::model::memory::SaveMemory;
use commonbook::model::workspace::Workspace;
use commonbook::store::JournalScope;
use commonbook::verbs::FollowerAgenda;
use serde_json::json;

use crate::{World, elsewhere, open_store, request};

/// A process on the store of this world, as a server is one.
fn process(world: &World) -> Commonbook {
    Commonbook::new(open_store(world.home())).on_write(|| ())
}

fn save(book: &Commonbook, agent: &str, workspace: &str, text: &str) {
    let save: SaveMemory = request(json!({"text": text}));
    book.save_memory(&elsewhere(agent, workspace), &save).unwrap();
}

fn workspaces(agenda: &FollowerAgenda) -> Vec<&str> {
    match agenda.scope() {
        JournalScope::All => vec!["all"],
        JournalScope::Of(workspaces) => workspaces.iter().map(Workspace::as_str).collect(),
    }
}

/// Runs all followers over the journals of an agenda.
fn follow(book: &Commonbook, agenda: FollowerAgenda) {
    let scope = agenda.scope();
    book.find_mentions(scope, |_| ControlFlow::Continue(())).unwrap();
    book.find_contradictions(scope, |_| ControlFlow::Continue(())).unwrap();
    book.digest_active_cases(scope, |_| ControlFlow::Continue(())).unwrap();
    agenda.complete();
}

#[test]
fn a_process_follows_what_it_has_written_at_once_and_until_it_is_done() {
    let world = World::new();
    let (book, now) = (process(&world), Instant::now());
    assert!(book.next_agenda(now).unwrap().scope().is_none());
    save(&book, "ann", "x", "The gate code of the depot is 4711.");
    save(&book, "ann", "y", "The staging server listens on port 8080.");
    let agenda = book.next_agenda(now).unwrap();
    assert_eq!(workspaces(&agenda), ["x", "y"]);
    drop(agenda);
    save(&book, "bob", "y", "The staging server listens on port 9090.");
    let agenda = book.next_agenda(now).unwrap();
    assert_eq!(workspaces(&agenda), ["x", "y"], "an agenda that was not completed comes again");
    follow(&book, agenda);
    // What a follower has found is an event too.
    let agenda = book.next_agenda(now).unwrap();
    assert_eq!(workspaces(&agenda), ["y"]);
    follow(&book, agenda);
    assert!(book.next_agenda(now).unwrap().scope().is_none());
}

#[test]
fn what_another_process_has_written_is_taken_up_if_it_leaves_it() {
    let world = World::new();
    let (ours, theirs, begun) = (process(&world), process(&world), Instant::now());
    let at = |seconds| begun + Duration::from_secs(seconds);
    let agenda_at = |seconds| ours.next_agenda(at(seconds)).unwrap();
    save(&theirs, "ann", "x", "The gate code of the depot is 4711.");
    assert!(agenda_at(0).scope().is_none(), "it may be at work");
    assert!(agenda_at(0).scope().is_none(), "and the next look comes later");
    // They follow it, and write more.
    follow(&theirs, theirs.next_agenda(begun).unwrap());
    save(&theirs, "ann", "x", "The spare key hangs behind the door.");
    assert!(agenda_at(600).scope().is_none(), "it has moved since");
    let agenda = agenda_at(1_200);
    assert_eq!(workspaces(&agenda), ["x"], "nobody has moved it");
    follow(&ours, agenda);
    assert!(agenda_at(1_800).scope().is_none());
    assert!(agenda_at(2_400).scope().is_none(), "nothing is left");
}
