//! Sessions: kept whole, seen as the rule says, found by the client's own id.

use commonbook::access::Sight;
use commonbook::clock::Timestamp;
use commonbook::event::{EventKind, NewEvent};
use commonbook::id::{CountingIds, SessionId};
use commonbook::memory::{Memory, Sharing};
use commonbook::session::{Session, SessionFilter, SessionStatus};
use commonbook::store::Store;

use crate::{Fresh, caller, keep, memory, now};

fn later(seconds: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_secs(seconds)
}

fn session(ids: &CountingIds, agent: &str, workspace: &str) -> Session {
    let who = caller(agent, workspace);
    Session {
        id: SessionId::new(ids, now()),
        workspace: who.workspace,
        agent: who.agent,
        device: Some("jarvis".to_owned()),
        client: Some("codex 1.0".to_owned()),
        user_id: None,
        case: None,
        client_session: None,
        status: SessionStatus::Active,
        started_at: now(),
        touched_at: now(),
        ended_at: None,
        summary: None,
    }
}

fn start(store: &dyn Store, session: &Session) {
    let session = session.clone();
    store
        .write(move |tx| {
            let about = (&session.workspace, session.id.to_string());
            let by = (&session.agent, session.started_at);
            let event = NewEvent::about(EventKind::SessionStarted, about, by, Sharing::Shared);
            let sequence = tx.append_event(&event)?;
            tx.insert_session(&session, sequence)
        })
        .unwrap();
}

pub(crate) fn a_session_is_kept_whole_and_seen_as_the_rule_says(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Session> = [("ann", "x"), ("bob", "x"), ("ann", "x"), ("ann", "y")]
        .map(|(agent, workspace)| session(&ids, agent, workspace))
        .into();
    all[1].user_id = Some("u1".to_owned());
    all[2].user_id = Some("u2".to_owned());
    all[2].case = Some("retries".parse().unwrap());
    all[2].client_session = Some("own".to_owned());
    all.iter().for_each(|session| start(&*store, session));
    for agent in ["ann", "bob", "eve"] {
        for user in [None, Some("u1"), Some("u2")] {
            let who = caller(agent, "x").for_user(user).unwrap();
            let sight = Sight::at_home(&who);
            let seen: Vec<Session> =
                all.iter().rev().filter(|it| sight.reaches(&it.reach())).cloned().collect();
            let list = |filter: &SessionFilter, before, limit| -> Vec<(u64, Session)> {
                store.read(|tx| tx.sessions(&sight, filter, before, limit)).unwrap()
            };
            let listed = list(&SessionFilter::default(), None, 10);
            let sessions: Vec<Session> = listed.iter().map(|(_, it)| it.clone()).collect();
            assert_eq!(sessions, seen, "{agent} {user:?}");
            for session in &all {
                let found = store.read(|tx| tx.session(&sight, session.id)).unwrap();
                assert_eq!(found.as_ref(), Some(session).filter(|it| seen.contains(it)));
            }
            let of_ann =
                SessionFilter { owner: Some("ann".to_owned()), ..SessionFilter::default() };
            let anns = seen.iter().filter(|it| it.agent.as_str() == "ann").count();
            assert_eq!(list(&of_ann, None, 10).len(), anns);
            if let Some((first, _)) = listed.first() {
                let rest = list(&SessionFilter::default(), Some(*first), 10);
                assert_eq!(rest[..], listed[1..]);
            }
        }
    }
}

pub(crate) fn a_session_is_found_by_its_agents_own_id_and_touched_by_its_agent_alone(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Session> = ["ann", "bob", "ann"].map(|agent| session(&ids, agent, "x")).into();
    all.iter_mut().for_each(|session| session.client_session = Some("own".to_owned()));
    all.iter().for_each(|session| start(&*store, session));
    let (place, ann, bob) = (all[0].workspace.clone(), all[0].agent.clone(), all[1].agent.clone());
    let own = |agent: &commonbook::agent::Agent, name: &str| {
        store.read(|tx| tx.own_session(&place, agent, name)).unwrap().map(|session| session.id)
    };
    assert_eq!(own(&ann, "own"), Some(all[2].id), "the newest of several");
    assert_eq!((own(&bob, "own"), own(&bob, "other")), (Some(all[1].id), None));
    let (first, given, other) = (all[0].id, ann.clone(), place.clone());
    store.write(move |tx| tx.touch_session(&other, &bob, first, later(9))).unwrap();
    let other = place.clone();
    store.write(move |tx| tx.touch_session(&other, &given, first, later(5))).unwrap();
    let sight = Sight::at_home(&caller("ann", "x"));
    let found = |id| store.read(|tx| tx.session(&sight, id)).unwrap().unwrap();
    assert_eq!(found(first).touched_at, later(5));
    let idle = store.read(|tx| tx.idle_sessions(later(1), 10)).unwrap();
    assert_eq!(idle.iter().map(|it| it.id).collect::<Vec<_>>(), [all[1].id, all[2].id]);
    let ended = all[1].ended(later(2));
    let given = ended.clone();
    store.write(move |tx| tx.replace_session(&given)).unwrap();
    assert_eq!(found(ended.id), ended);
    let owes =
        || store.read(|tx| Ok((tx.owes_summary(&ended)?, tx.unsummarised(&sight)?))).unwrap();
    assert_eq!(owes(), (false, 0), "nothing was kept in it");
    let in_it = |memory: Memory| Memory { session: Some(ended.id.to_string()), ..memory };
    let private = in_it(memory(&ids, "bob", "x", "tea"));
    let private = Memory { sharing: Sharing::Private, ..private };
    store.write(move |tx| keep(tx, &private)).unwrap();
    assert_eq!(owes(), (false, 0), "what is private is not told of");
    let shared = in_it(memory(&ids, "bob", "x", "tea"));
    store.write(move |tx| keep(tx, &shared)).unwrap();
    assert_eq!(owes(), (true, 1));
    let kept = |agent: &str| {
        let sight = Sight::at_home(&caller(agent, "x"));
        store.read(|tx| tx.kept_in_session(&sight, &ended.id.to_string())).unwrap()
    };
    assert_eq!((kept("ann"), kept("bob")), (1, 2));
    let entry = in_it(memory(&ids, "bob", "x", "tea"));
    let entry = Memory { case: "k".parse().ok(), position: Some(1), ..entry };
    store.write(move |tx| keep(tx, &entry)).unwrap();
    assert_eq!(owes(), (false, 0), "an entry of a case is a summary");
}
