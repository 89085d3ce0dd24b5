//! Sessions: started once, found again, ended with a summary or reported without one.

use commonbook::base::error::{Error, ErrorCode, ErrorKind};
use commonbook::model::caller::Caller;
use commonbook::model::event::EventKind;
use commonbook::model::memory::{ListMemories, SaveMemory};
use commonbook::model::session::{
    GetSession, ListSessions, Session, SessionOutcome, SessionStatus, StartSessionResult,
};
use commonbook::model::stats::GetStats;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

impl World {
    fn start(&self, agent: &str, fields: Value) -> StartSessionResult {
        self.book.start_session(&caller(agent), &request(fields)).unwrap()
    }

    fn end(&self, agent: &str, fields: Value) -> Result<Session, Error> {
        self.book.end_session(&caller(agent), &request(fields)).map(|ended| ended.session)
    }

    fn save_in(&self, agent: &str, session: &Session, text: &str) {
        let within = caller(agent).in_session(Some(&session.id.to_string())).unwrap();
        let memory = SaveMemory { text: text.into(), ..SaveMemory::default() };
        self.book.save_memory(&within, &memory).unwrap();
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.events("eve").into_iter().map(|(_, kind, _)| kind).collect()
    }

    fn unsummarised(&self) -> u64 {
        self.book.get_memory_stats(&caller("eve"), &GetStats {}).unwrap().unsummarised
    }
}

fn sessions(world: &World, who: &Caller, fields: Value) -> Vec<Session> {
    let request: ListSessions = request(fields);
    world.book.list_sessions(who, &request).unwrap().items
}

#[test]
fn a_session_is_found_again_by_the_clients_own_id() {
    let world = World::new();
    let first = world.start("ann", json!({"client_session": "tab-1"}));
    assert_eq!(first.outcome, SessionOutcome::Started);
    let again = world.start("ann", json!({"client_session": "tab-1"}));
    assert_eq!((again.outcome, again.session.id), (SessionOutcome::Found, first.session.id));
    let others = world.start("bob", json!({"client_session": "tab-1"}));
    assert_eq!(others.outcome, SessionOutcome::Started);
    let for_user = caller("ann").for_user(Some("u1")).unwrap();
    let of_user: StartSessionResult =
        world.book.start_session(&for_user, &request(json!({"client_session": "tab-1"}))).unwrap();
    assert_eq!(of_user.outcome, SessionOutcome::Started, "for another user");
    assert_eq!(world.start("ann", json!({})).outcome, SessionOutcome::Started);
    let error = world.book.start_session(&caller("ann"), &request(json!({"case": "nowhere"})));
    assert_eq!(error.unwrap_err().kind, ErrorKind::NotFound);
    let seen = sessions(&world, &caller("eve"), json!({}));
    assert_eq!(seen.len(), 3, "that for a user is not hers to see");
    assert!(seen.iter().all(|session| session.client_session.is_none()));
    assert_eq!(sessions(&world, &caller("ann"), json!({"owner": "ann"})).len(), 3);
}

#[test]
fn a_write_in_a_session_touches_it_and_is_listed_with_it() {
    let world = World::new();
    let session = world.start("ann", json!({})).session;
    world.clock.set(at(2));
    world.save_in("ann", &session, "tea");
    world.save_in("bob", &session, "coffee");
    let show = |agent: &str, name: &str| {
        world.book.get_session(&caller(agent), &GetSession { session: name.into() })
    };
    let shown = show("eve", &session.id.to_string()).unwrap();
    assert_eq!((shown.session.touched_at, shown.memory_count), (at(2), 2));
    let texts: Vec<_> = shown.memories.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, ["coffee", "tea"]);
    let list = ListMemories { session: Some(session.id.to_string()), ..ListMemories::default() };
    assert_eq!(world.texts("eve", &list).len(), 2);
    for unknown in ["own", "ses_01m7y9c4dpeqkspxh7a865d434"] {
        assert_eq!(show("eve", unknown).unwrap_err().kind, ErrorKind::NotFound);
    }
}

#[test]
fn only_its_agent_pauses_and_ends_a_session() {
    let world = World::new();
    let id = world.start("ann", json!({"client_session": "s"})).session.id.to_string();
    let error = world.end("bob", json!({"session": id})).unwrap_err();
    assert_eq!(
        (error.kind, error.code),
        (ErrorKind::Forbidden, Some(ErrorCode::OwnershipMismatch))
    );
    assert_eq!(world.end("ann", json!({})).unwrap_err().field.as_deref(), Some("session"));
    let touch = |pause: bool| {
        let fields = json!({"session": "s", "pause": pause});
        world.book.touch_session(&caller("ann"), &request(fields)).unwrap().status
    };
    use SessionStatus::{Active, Paused};
    let states = [touch(true), touch(true), touch(false), touch(false)];
    assert_eq!(states, [Paused, Paused, Active, Active]);
    let ended = world.end("ann", json!({"session": "s"})).unwrap();
    assert_eq!((ended.status, ended.ended_at), (SessionStatus::Completed, Some(at(0))));
    assert_eq!(world.end("ann", json!({"session": id})).unwrap_err().kind, ErrorKind::Conflict);
    let again = world.start("ann", json!({"client_session": "s"}));
    assert_eq!((again.session.status, again.session.ended_at), (Active, None));
    use EventKind::{SessionEnded, SessionPaused, SessionResumed, SessionStarted};
    let expected = [SessionStarted, SessionPaused, SessionResumed, SessionEnded, SessionResumed];
    assert_eq!(world.kinds(), expected);
}

#[test]
fn a_summary_becomes_an_entry_of_the_case_or_else_a_memory() {
    let world = World::new();
    world.book.open_case(&caller("ann"), &request(json!({"key": "k"}))).unwrap();
    let on_case = world.start("ann", json!({"case": "k"})).session.id;
    let ended = world.end("ann", json!({"session": on_case, "summary": "Five it is."})).unwrap();
    let read = world.book.read_case(&caller("bob"), &request(json!({"key": "k"}))).unwrap();
    assert_eq!(read.entries[0].entry_id, ended.summary);
    assert_eq!(read.entries[0].session, Some(on_case.to_string()));
    let alone = world.start("ann", json!({})).session.id;
    world.end("ann", json!({"session": alone, "summary": "Nothing came of it."})).unwrap();
    assert_eq!(world.search("bob", "nothing came").total, 1);
    world.book.close_case(&caller("ann"), &request(json!({"key": "k"}))).unwrap();
    let late = world.start("ann", json!({"case": "k"})).session.id;
    let long = json!({"session": late, "summary": "s".repeat(513)});
    assert_eq!(world.end("ann", long).unwrap_err().field.as_deref(), Some("summary"));
    assert_eq!(world.end("ann", json!({"session": late})).unwrap().summary, None);
}

#[test]
fn a_case_that_was_put_away_meanwhile_does_not_lose_the_summary() {
    let world = World::new();
    for (key, archive) in [("k1", false), ("k2", true)] {
        let case = json!({"key": key});
        world.book.open_case(&caller("ann"), &request(case.clone())).unwrap();
        let session = world.start("ann", json!({"case": key})).session.id;
        match archive {
            true => world.book.archive_case(&caller("bob"), &request(case.clone())).unwrap(),
            false => world.book.close_case(&caller("bob"), &request(case.clone())).unwrap(),
        };
        let summary = format!("The last finding of {key} is a race.");
        let end = json!({"session": session, "summary": summary});
        let ended = world.book.end_session(&caller("ann"), &request(end)).unwrap();
        assert!(ended.hint.unwrap().contains("reopen the case"), "{key}");
        let id = ended.session.summary.unwrap();
        let memory = world.book.get_memory(&caller("bob"), &request(json!({"id": id}))).unwrap();
        assert_eq!((memory.case.clone(), memory.text.clone()), (None, summary));
        assert_eq!(memory.session, Some(session.to_string()));
        let case = world.book.get_case(&caller("ann"), &request(case)).unwrap();
        assert_eq!(case.version, 0);
    }
}

#[test]
fn sessions_that_end_without_a_summary_are_reported() {
    let world = World::new();
    let quiet = world.start("ann", json!({})).session;
    let busy = world.start("ann", json!({})).session;
    let forgotten = world.start("bob", json!({})).session;
    let summed_up = world.start("cleo", json!({})).session;
    for session in [&busy, &forgotten, &summed_up] {
        world.save_in(session.agent.as_str(), session, "The login is built");
        world.save_in(session.agent.as_str(), session, "The login ignores the second factor");
    }
    world.save_in("ann", &quiet, "The office is closed on Friday");
    world.end("ann", json!({"session": quiet.id})).unwrap();
    assert_eq!(world.unsummarised(), 0, "one memory says what the session has found");
    world.end("ann", json!({"session": busy.id})).unwrap();
    world.end("cleo", json!({"session": summed_up.id, "summary": "It is done"})).unwrap();
    assert_eq!(world.unsummarised(), 1);
    world.sweep_at(22);
    assert_eq!(world.unsummarised(), 1, "it may still go on");
    world.sweep_at(25);
    assert_eq!(world.unsummarised(), 2, "its agent has gone");
    let owing = sessions(&world, &caller("eve"), json!({"unsummarised": true}));
    let ids: Vec<_> = owing.iter().map(|session| session.id).collect();
    assert_eq!(ids, [forgotten.id, busy.id]);
    let reported = world.kinds().into_iter().filter(|kind| *kind == EventKind::SessionUnsummarised);
    assert_eq!(reported.count(), 2);
    let again = world.book.sweep().is_ok() && world.unsummarised() == 2;
    assert!(again, "told once");
}
