//! The figures of a home: numbers of all workspaces, for an operator.

use std::ops::ControlFlow;

use commonbook::base::error::ErrorKind;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::EventKind;
use commonbook::model::memory::SaveMemory;
use commonbook::model::token::{CreateToken, NewToken};
use commonbook::prompt::context::{ContextOrigin, GetContext};
use commonbook::store::JournalScope;
use serde_json::{Value, json};

use crate::{World, caller, elsewhere, request};

fn operator() -> Caller {
    Caller::new(None, "x".parse().unwrap(), EntryPoint::Rest)
}

/// The events that each follower has not read.
fn lags(world: &World) -> Vec<(&'static str, u64)> {
    let figures = world.book.get_home_figures(&operator()).unwrap();
    figures.followers.iter().map(|lag| (lag.follower, lag.events)).collect()
}

#[test]
fn the_figures_are_of_all_workspaces_and_followers() {
    let world = World::new();
    world.save("ann", "The gate is blue");
    world.save_private("bob", "Rye bread is sold out");
    let coffee = SaveMemory { text: "Coffee is up".into(), ..SaveMemory::default() };
    world.book.save_memory(&elsewhere("ann", "y"), &coffee).unwrap();
    let before = world.book.get_home_figures(&operator()).unwrap();
    assert_eq!(before.workspaces, 2);
    assert!(before.events >= 3 && before.store_bytes > 0);
    assert_eq!((before.queued_writes, before.waiting_searches, before.running_searches), (0, 0, 0));
    let behind = before.events;
    assert_eq!((before.index.read, before.index.memories), (0, 0));
    // A node is late with nothing that nobody asked for.
    let late = if world.book.index().is_of_node() { 0 } else { behind };
    assert_eq!(
        lags(&world),
        [("index", late), ("mentions", behind), ("contradictions", behind), ("digests", behind)]
    );
    world.search("ann", "gate");
    world.book.find_mentions(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
    world.book.find_contradictions(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
    world.book.digest_active_cases(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        lags(&world),
        [("index", 0), ("mentions", 0), ("contradictions", 0), ("digests", 0)]
    );
    let after = world.book.get_home_figures(&operator()).unwrap();
    assert_eq!((after.index.written, after.index.unembedded), (0, after.index.memories));
    match world.book.index().is_of_node() {
        true => assert_eq!((after.index.workspaces, after.index.memories), (1, 2), "as searched"),
        false => assert_eq!(
            (after.index.workspaces, after.index.memories, after.index.read),
            (2, 3, after.events)
        ),
    }
}

#[test]
fn the_lag_of_streams_is_that_of_the_one_furthest_behind() {
    let world = World::new();
    let streams = || world.book.get_home_figures(&operator()).unwrap().streams;
    world.save("ann", "The gate is blue");
    world.save("ann", "Rye bread is sold out");
    let end = world.book.get_home_figures(&operator()).unwrap().events;
    let [ahead, behind] = [end, 1].map(|position| {
        let stream = world.book.bus().follow(&caller("ann"));
        stream.note_position(0);
        stream.note_position(position);
        stream
    });
    // A subscription without a position is not behind.
    let _subscription = world.book.bus().follow(&caller("bob"));
    behind.note_delivered(3);
    behind.note_filtered(2);
    behind.note_failed();
    let now = streams();
    assert_eq!((now.open, now.lag_max), (3, end - 1));
    assert_eq!((now.delivered, now.filtered, now.failed), (3, 2, 1));
    drop(behind);
    assert_eq!((streams().open, streams().lag_max, streams().delivered), (2, 0, 3));
    drop(ahead);
}

#[test]
fn a_token_needs_the_scope_admin_and_all_workspaces() {
    let world = World::new();
    let person = Caller { door: EntryPoint::Cli, ..operator() };
    let show = |fields: Value| {
        let issued: NewToken =
            world.book.create_token(&person, &request::<CreateToken>(fields)).unwrap();
        let token = world.book.admit(Some(&issued.secret), false).unwrap().unwrap();
        let holder = Caller::from_token(&token, None, None, None, EntryPoint::Rest).unwrap();
        world.book.get_home_figures(&holder).map(drop)
    };
    assert!(show(json!({"agent_name": "rook", "scopes": ["admin"]})).is_ok());
    let scopes = json!(["read", "write", "hook"]);
    let refused = show(json!({"agent_name": "rook", "scopes": scopes})).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    let bound = json!({"agent_name": "rook", "scopes": ["admin"], "workspace": "x"});
    let refused = show(bound).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    assert!(refused.message.contains("opens only x"), "{refused}");
}

#[test]
fn new_events_are_counted_once_in_every_workspace() {
    let world = World::new();
    world.save("ann", "Before the count begins");
    let mut count = world.book.begin_event_count().unwrap();
    assert_eq!(world.book.count_new_events(&mut count).unwrap(), []);
    world.save("ann", "The river gate opens at seven");
    // Its headline says less than the text.
    let lock = "The river gate has a new lock, which its keeper oils every morning before the boats come up";
    world.save_private("ann", &format!("{lock} the river, and twice on Sundays"));
    let coffee = SaveMemory { text: "Coffee is up".into(), ..SaveMemory::default() };
    world.book.save_memory(&elsewhere("bob", "new"), &coffee).unwrap();
    let task = GetContext { task: "Open the river gate".into(), ..GetContext::default() };
    let task = GetContext { max_memories: Some(1), ..task };
    let context = world.book.get_context(&caller("ann"), &task).unwrap();
    let found = world.book.count_new_events(&mut count).unwrap();
    let saved = found.iter().flat_map(|figures| &figures.kinds);
    let saved = saved.filter(|(kind, _)| *kind == EventKind::MemorySaved);
    assert_eq!(saved.map(|(_, number)| number).sum::<u64>(), 3);
    let contexts: Vec<_> = found.iter().flat_map(|figures| &figures.contexts).collect();
    let [told] = contexts.as_slice() else { panic!("{contexts:?}") };
    assert_eq!(told.origin, ContextOrigin::Context);
    let candidates = context.diagnostics.candidate_count as u64;
    assert_eq!((told.items, told.left_out), (1, candidates - 1));
    assert!(told.left_out > 0 && told.tokens > 0 && told.tokens <= u64::from(context.tokens));
    assert_eq!(world.book.count_new_events(&mut count).unwrap(), []);
}
