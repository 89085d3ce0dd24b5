//! The session of a call that names none: found, begun, shared by calls and kept by a connection.

use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::error::ErrorKind;
use commonbook::base::id::{CountingIds, RandomIds, TokenId};
use commonbook::model::access::AccessPolicy;
use commonbook::model::caller::connection::ConnectionSessions;
use commonbook::model::caller::{Caller, CallerProof, EntryPoint};
use commonbook::model::event::EventKind;
use commonbook::model::memory::SaveMemory;
use commonbook::model::session::{
    GetSession, Session, SessionStatus, SessionUse, StartSession, TouchSession,
};
use commonbook::model::token::TokenScope;
use commonbook::verbs::was_begun_meanwhile;
use serde_json::json;

use crate::{World, at, caller, elsewhere, request};

impl World {
    /// The session that a call of this caller works in.
    fn works_in(&self, caller: &Caller, usage: SessionUse) -> Option<String> {
        let within = self.book.in_working_session(caller, usage).unwrap();
        within.session.clone()
    }

    /// The session of a write of this caller.
    fn session_begun(&self, caller: &Caller) -> String {
        let within = self.book.in_working_session(caller, SessionUse::Begins).unwrap();
        let memory = SaveMemory { text: "The gate is blue".into(), ..SaveMemory::default() };
        self.book.save_memory(&within, &memory).unwrap();
        self.book.note_session_begun(&within);
        within.session.clone().unwrap()
    }

    fn session_of(&self, caller: &Caller, id: &str) -> Session {
        let wanted = GetSession { session: id.to_owned() };
        self.book.get_session(caller, &wanted).unwrap().session
    }

    fn end_of(&self, caller: &Caller, id: &str) {
        let fields = serde_json::json!({"session": id});
        self.book.end_session(caller, &request(fields)).unwrap();
    }
}

/// The caller on a connection.
fn on(connection: &ConnectionSessions, caller: Caller) -> Caller {
    let session = connection.current(&caller);
    Caller { connection: Some(connection.clone()), session, ..caller }
}

fn with_token(caller: Caller, number: u64, scopes: &[TokenScope]) -> Caller {
    let ids = CountingIds::default();
    let id = (0..number).map(|_| TokenId::new(&ids, at(0))).last().unwrap();
    let proof = CallerProof::Token { id, scopes: scopes.to_vec(), bound: false, asserted: false };
    Caller { proof, ..caller }
}

#[test]
fn calls_that_stand_alone_share_the_session_that_was_written_in_last() {
    let world = World::new();
    let ann = caller("ann");
    assert_eq!(world.works_in(&ann, SessionUse::Unused), None);
    assert_eq!(world.works_in(&ann, SessionUse::Joins), None, "none is open");
    assert_eq!(world.events("ann"), [], "and nothing was written");
    let first = world.session_begun(&ann);
    assert_eq!(world.works_in(&ann, SessionUse::Joins), Some(first.clone()));
    assert_eq!(world.session_begun(&ann), first);
    assert_eq!(world.works_in(&ann, SessionUse::Unused), None);
    let kinds: Vec<EventKind> = world.events("ann").into_iter().map(|event| event.1).collect();
    assert_eq!(kinds, [EventKind::SessionStarted, EventKind::MemorySaved]);
    let (read, write) = (TokenScope::Read, TokenScope::Write);
    let others = [
        caller("bob"),
        elsewhere("ann", "y"),
        caller("ann").for_user(Some("u1")).unwrap(),
        with_token(caller("ann"), 1, &[read, write]),
        with_token(caller("ann"), 2, &[read, write]),
    ];
    let mut all = vec![first.clone()];
    for other in others {
        let own = world.session_begun(&other);
        assert!(!all.contains(&own), "{other:?} has its own");
        assert_eq!(world.session_begun(&other), own);
        all.push(own);
    }
    // The agent continues an older session on purpose: what follows belongs there.
    world.clock.set(at(1));
    let second = world.book.start_session(&ann, &StartSession::default()).unwrap().session.id;
    assert_eq!(world.session_begun(&ann), second.to_string());
    world.clock.set(at(2));
    let touch = TouchSession { session: first.clone(), pause: false, idempotency_key: None };
    world.book.touch_session(&ann, &touch).unwrap();
    assert_eq!(world.session_begun(&ann), first);
    let pause = TouchSession { pause: true, ..touch };
    world.book.touch_session(&ann, &pause).unwrap();
    assert_eq!(world.session_begun(&ann), second.to_string(), "a paused one waits");
    world.end_of(&ann, &second.to_string());
    assert!(!all.contains(&world.session_begun(&ann)), "a new one, since none is open");
}

#[test]
fn a_session_is_not_joined_after_hours_without_a_write() {
    let world = World::new();
    let ann = caller("ann");
    let first = world.session_begun(&ann);
    world.clock.set(at(4));
    assert_eq!(world.session_begun(&ann), first);
    world.clock.set(at(9));
    assert_ne!(world.session_begun(&ann), first);
}

#[test]
fn a_caller_that_may_not_write_begins_none_and_neither_does_an_unnamed_one() {
    let world = World::new();
    let reader = with_token(caller("ann"), 1, &[TokenScope::Read]);
    assert_eq!(world.works_in(&reader, SessionUse::Begins), None);
    let strangers = caller("anonymous");
    assert_eq!(world.works_in(&strangers, SessionUse::Begins), None, "strangers share the name");
    let hook = Caller { door: EntryPoint::Hook, ..caller("ann") };
    assert_eq!(world.works_in(&hook, SessionUse::Begins), None, "hooks name theirs");
    let named = caller("ann").in_session(Some("tab-7")).unwrap();
    assert_eq!(world.works_in(&named, SessionUse::Begins).unwrap(), "tab-7");
    assert_eq!(world.events("ann"), []);
    world.save("claude", "Tea is in the kitchen");
    let lookalike = caller("clаude");
    let within = world.book.in_working_session(&lookalike, SessionUse::Begins).unwrap();
    let memory = SaveMemory { text: "Obey".into(), ..SaveMemory::default() };
    let refused = world.book.save_memory(&within, &memory).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid);
    let long = SaveMemory { title: Some("t".repeat(201)), ..memory };
    let ann = caller("ann");
    let within = world.book.in_working_session(&ann, SessionUse::Begins).unwrap();
    world.book.save_memory(&within, &long).unwrap_err();
    let started = |event: &(u64, EventKind, String)| event.1 == EventKind::SessionStarted;
    assert!(!world.events("eve").iter().any(started), "a refused write leaves no session");
    let connection = ConnectionSessions::default();
    let unnamed = on(&connection, caller("anonymous"));
    let closed = AccessPolicy { anonymous_writes: false, ..AccessPolicy::default() };
    let strict = world.book.clone().with_policy(closed);
    let within = strict.in_working_session(&unnamed, SessionUse::Begins).unwrap();
    assert_eq!(within.session, None);
    assert!(world.session_begun(&unnamed).starts_with("ses_"), "its connection is its own");
}

#[test]
fn parallel_first_calls_begin_one_session() {
    let world = World::new();
    let connection = ConnectionSessions::default();
    for who in &[caller("ann"), on(&connection, caller("bob"))] {
        let begun: Vec<String> = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| world.session_begun(who))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(begun.iter().all(|id| *id == begun[0]), "{begun:?}");
    }
}

#[test]
fn of_two_processes_that_begin_a_session_at_once_one_joins_the_other() {
    let world = World::new();
    let store = crate::open_store(world.home());
    let ids = Arc::new(RandomIds::default());
    let other = Commonbook::with_clock_and_ids(store, Arc::clone(&world.clock) as _, ids);
    let ann = caller("ann");
    // Both look before either writes.
    let [first, late] = [&world.book, &other].map(|book| {
        let within = book.in_working_session(&ann, SessionUse::Begins).unwrap().into_owned();
        assert!(within.begins_session.is_some());
        within
    });
    let save = request(json!({"text": "The gate is green"}));
    world.book.save_memory(&first, &save).unwrap();
    let refused = other.save_memory(&late, &save).unwrap_err();
    assert!(was_begun_meanwhile(&refused), "{refused}");
    let again = other.in_working_session(&ann, SessionUse::Begins).unwrap();
    assert_eq!((&again.session, &again.begins_session), (&first.session, &None));
    // Connections keep their own.
    let (one, two) = (ConnectionSessions::default(), ConnectionSessions::default());
    let begun = [on(&one, ann.clone()), on(&two, ann)].map(|who| world.session_begun(&who));
    assert_ne!(begun[0], begun[1]);
}

#[test]
fn each_connection_has_its_own_session_and_ends_what_it_began() {
    let world = World::new();
    let alone = world.session_begun(&caller("ann"));
    let [one, two] = [(); 2].map(|()| ConnectionSessions::default());
    let first = world.session_begun(&on(&one, caller("ann")));
    let second = world.session_begun(&on(&two, caller("ann")));
    assert!(first != second && first != alone && second != alone);
    assert_eq!(world.session_begun(&on(&one, caller("ann"))), first);
    let named = on(&one, caller("ann")).in_session(Some("tab")).unwrap();
    assert_eq!(world.session_begun(&named), "tab", "the call names another one");
    // One connection can change its workspace.
    let elsewhere = on(&one, elsewhere("ann", "y"));
    let third = world.session_begun(&elsewhere);
    assert_ne!(third, first);
    world.book.end_connection(&one).unwrap();
    let status = |id: &str| world.session_of(&caller("ann"), id).status;
    assert_eq!(
        (status(&first), status(&second)),
        (SessionStatus::Completed, SessionStatus::Active)
    );
    assert_eq!(world.session_of(&elsewhere, &third).status, SessionStatus::Completed);
    assert_eq!(status(&alone), SessionStatus::Active);
    world.book.end_connection(&one).unwrap();
    // An editor that stays open over night goes on in a new session.
    world.sweep_at(30);
    assert_eq!(status(&second), SessionStatus::Completed);
    assert_ne!(world.session_begun(&on(&two, caller("ann"))), second);
}

#[test]
fn a_connection_joins_the_session_of_its_clients_hooks_and_leaves_its_end_to_them() {
    let world = World::new();
    let hook = Caller { door: EntryPoint::Hook, ..caller("claude-code") };
    let start = StartSession { client_session: Some("tab-1".into()), ..StartSession::default() };
    let hooked = world.book.start_session(&hook, &start).unwrap().session.id.to_string();
    let by_tool = Caller { door: EntryPoint::Mcp, ..caller("codex") };
    world.book.start_session(&by_tool, &start).unwrap();
    let connection = ConnectionSessions::default();
    let client = on(&connection, caller("claude-code"));
    assert_eq!(world.works_in(&client, SessionUse::Joins), Some(hooked.clone()));
    world.book.end_connection(&connection).unwrap();
    assert_eq!(world.session_of(&client, &hooked).status, SessionStatus::Active);
    // Another process started a session of its own by a tool: it is not that of this connection.
    let codex = on(&ConnectionSessions::default(), caller("codex"));
    assert_eq!(world.works_in(&codex, SessionUse::Joins), None);
}
