//! The rounds of the followers: what a process follows at once, and what it takes up from others.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::model::memory::SaveMemory;
use commonbook::model::workspace::Workspace;
use commonbook::store::JournalScope;
use commonbook::verbs::FollowerRound;
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

fn workspaces(round: &FollowerRound) -> Vec<&str> {
    match round.scope() {
        JournalScope::All => vec!["all"],
        JournalScope::Of(workspaces) => workspaces.iter().map(Workspace::as_str).collect(),
    }
}

/// Runs all followers over the journals of a round.
fn follow(book: &Commonbook, round: FollowerRound) {
    let scope = round.scope();
    book.find_mentions(scope, |_| ControlFlow::Continue(())).unwrap();
    book.find_contradictions(scope, |_| ControlFlow::Continue(())).unwrap();
    book.digest_active_cases(scope, |_| ControlFlow::Continue(())).unwrap();
    round.complete();
}

#[test]
fn a_process_follows_what_it_has_written_at_once_and_until_it_is_done() {
    let world = World::new();
    let (book, now) = (process(&world), Instant::now());
    assert!(book.begin_round(now).unwrap().scope().is_none());
    save(&book, "ann", "x", "The gate code of the depot is 4711.");
    save(&book, "ann", "y", "The staging server listens on port 8080.");
    let round = book.begin_round(now).unwrap();
    assert_eq!(workspaces(&round), ["x", "y"]);
    drop(round);
    save(&book, "bob", "y", "The staging server listens on port 9090.");
    let round = book.begin_round(now).unwrap();
    assert_eq!(workspaces(&round), ["x", "y"], "a round that was not completed comes again");
    follow(&book, round);
    // What a follower has found is an event too.
    let round = book.begin_round(now).unwrap();
    assert_eq!(workspaces(&round), ["y"]);
    follow(&book, round);
    assert!(book.begin_round(now).unwrap().scope().is_none());
}

#[test]
fn what_another_process_has_written_is_taken_up_if_it_leaves_it() {
    let world = World::new();
    let (ours, theirs, begun) = (process(&world), process(&world), Instant::now());
    let at = |seconds| begun + Duration::from_secs(seconds);
    let round_at = |seconds| ours.begin_round(at(seconds)).unwrap();
    save(&theirs, "ann", "x", "The gate code of the depot is 4711.");
    assert!(round_at(0).scope().is_none(), "it may be at work");
    assert!(round_at(0).scope().is_none(), "and is looked at from time to time");
    // They follow it, and write more.
    follow(&theirs, theirs.begin_round(begun).unwrap());
    save(&theirs, "ann", "x", "The spare key hangs behind the door.");
    assert!(round_at(600).scope().is_none(), "it has moved since");
    let round = round_at(1_200);
    assert_eq!(workspaces(&round), ["x"], "nobody has moved it");
    follow(&ours, round);
    assert!(round_at(1_800).scope().is_none());
    assert!(round_at(2_400).scope().is_none(), "nothing is left");
}
