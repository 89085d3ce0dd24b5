//! Sessions: stored completely, seen by the permission rule, found by the client's own id.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{CheckpointId, CountingIds, SessionId};
use commonbook::model::access::Sight;
use commonbook::model::checkpoint::{Checkpoint, CheckpointKind, SessionActivity};
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Memory, Sharing};
use commonbook::model::session::{Session, SessionFilter, SessionStatus};
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
            let event = NewEvent::for_subject(
                EventKind::SessionStarted,
                &session.workspace,
                session.id.to_string(),
                &session.agent,
                session.started_at,
                Sharing::Shared,
            );
            let sequence = tx.append_event(&event)?;
            tx.insert_session(&session, sequence)
        })
        .unwrap();
}

pub(crate) fn a_session_is_stored_completely_and_seen_by_the_permission_rule(fresh: &dyn Fresh) {
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
            let seen: Vec<Session> = all
                .iter()
                .rev()
                .filter(|session| sight.can_see(&session.session_visibility()))
                .cloned()
                .collect();
            let list = |filter: &SessionFilter, before, limit| -> Vec<(u64, Session)> {
                store.read(|tx| tx.sessions(&sight, filter, before, limit)).unwrap()
            };
            let listed = list(&SessionFilter::default(), None, 10);
            let sessions: Vec<Session> =
                listed.iter().map(|(_, session)| session.clone()).collect();
            assert_eq!(sessions, seen, "{agent} {user:?}");
            for session in &all {
                let found = store.read(|tx| tx.session(&sight, session.id)).unwrap();
                assert_eq!(found.as_ref(), Some(session).filter(|session| seen.contains(session)));
            }
            let of_ann =
                SessionFilter { owner: Some("ann".to_owned()), ..SessionFilter::default() };
            let anns = seen.iter().filter(|session| session.agent.as_str() == "ann").count();
            assert_eq!(list(&of_ann, None, 10).len(), anns);
            if let Some((first, _)) = listed.first() {
                let rest = list(&SessionFilter::default(), Some(*first), 10);
                assert_eq!(rest[..], listed[1..]);
            }
        }
    }
}

pub(crate) fn a_session_is_found_by_its_clients_id_and_touched_by_its_agent_only(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Session> = ["ann", "bob", "ann"].map(|agent| session(&ids, agent, "x")).into();
    all.iter_mut().for_each(|session| session.client_session = Some("own".to_owned()));
    all.iter().for_each(|session| start(&*store, session));
    let (place, ann, bob) = (all[0].workspace.clone(), all[0].agent.clone(), all[1].agent.clone());
    let own = |agent: &commonbook::model::agent::Agent, name: &str| {
        store.read(|tx| tx.own_session(&place, agent, name)).unwrap().map(|session| session.id)
    };
    assert_eq!(own(&ann, "own"), Some(all[2].id), "the newest of several");
    assert_eq!((own(&bob, "own"), own(&bob, "other")), (Some(all[1].id), None));
    let first = all[0].id;
    let (place, agent) = (all[0].workspace.clone(), all[0].agent.clone());
    let at_work = |agent: &commonbook::model::agent::Agent| {
        store.read(|tx| tx.activity(&place, agent, first)).unwrap()
    };
    assert_eq!(at_work(&all[1].agent), None, "it is another's");
    let (session, activity) = at_work(&agent).unwrap();
    assert_eq!((&session, activity), (&all[0], SessionActivity::start_at(now())));
    let activity = activity.extend_to(later(5));
    store.write(move |tx| tx.put_activity(&session, activity)).unwrap();
    assert_eq!(at_work(&agent).unwrap().1, activity);
    let sight = Sight::at_home(&caller("ann", "x"));
    let found = |id| store.read(|tx| tx.session(&sight, id)).unwrap().unwrap();
    assert_eq!(found(first).touched_at, later(5));
    let idle = store.read(|tx| tx.idle_sessions(later(1), 10)).unwrap();
    assert_eq!(idle.iter().map(|session| session.id).collect::<Vec<_>>(), [all[1].id, all[2].id]);
    let ended = all[1].with_end(later(2));
    let given = ended.clone();
    store.write(move |tx| tx.replace_session(&given)).unwrap();
    assert_eq!(found(ended.id), ended);
    let owes =
        || store.read(|tx| Ok((tx.owes_summary(&ended)?, tx.unsummarised_count(&sight)?))).unwrap();
    assert_eq!(owes(), (false, 0), "nothing was kept in it");
    let in_it = |memory: Memory| Memory { session: Some(ended.id.to_string()), ..memory };
    let private = in_it(memory(&ids, "bob", "x", "tea"));
    let private = Memory { sharing: Sharing::Private, ..private };
    store.write(move |tx| keep(tx, &private)).unwrap();
    assert_eq!(owes(), (false, 0), "no event of a private session");
    let shared = in_it(memory(&ids, "bob", "x", "tea"));
    store.write(move |tx| keep(tx, &shared)).unwrap();
    assert_eq!(owes(), (true, 1));
    let kept = |agent: &str| {
        let sight = Sight::at_home(&caller(agent, "x"));
        store.read(|tx| tx.session_memory_count(&sight, &ended.id.to_string())).unwrap()
    };
    assert_eq!((kept("ann"), kept("bob")), (1, 2));
    let entry = in_it(memory(&ids, "bob", "x", "tea"));
    let entry = Memory { case: "k".parse().ok(), position: Some(1), ..entry };
    store.write(move |tx| keep(tx, &entry)).unwrap();
    assert_eq!(owes(), (false, 0), "an entry of a case is a summary");
}

pub(crate) fn a_checkpoint_is_stored_completely_under_its_own_number(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let all = ["ann", "bob"].map(|agent| session(&ids, agent, "x"));
    all.iter().for_each(|session| start(&*store, session));
    let make = |session: &Session, at: i64| -> Checkpoint {
        let (id, session) = (CheckpointId::new(&ids, later(at)), session.clone());
        store
            .write(move |tx| {
                let made = Checkpoint {
                    id,
                    workspace: session.workspace.clone(),
                    session: session.id.to_string(),
                    sequence: tx.next_checkpoint(&session)?,
                    kind: CheckpointKind::Milestone,
                    title: Some("Half way".to_owned()),
                    agent: session.agent.clone(),
                    agents_involved: vec![session.agent.clone()],
                    case: Some("k".to_owned()),
                    position: 7,
                    created_at: later(at),
                    resumed: 0,
                    resumed_at: None,
                };
                tx.put_checkpoint(&made)?;
                Ok(made)
            })
            .unwrap()
    };
    let made = [make(&all[0], 1), make(&all[0], 2), make(&all[1], 3)];
    assert_eq!(made.each_ref().map(|checkpoint| checkpoint.sequence), [1, 2, 1]);
    let of = |session: &Session| store.read(|tx| tx.checkpoints(session)).unwrap();
    assert_eq!((of(&all[0]), of(&all[1])), (made[..2].to_vec(), made[2..].to_vec()));
    let again = Checkpoint { resumed: 1, resumed_at: Some(later(9)), ..made[1].clone() };
    let given = again.clone();
    store.write(move |tx| tx.put_checkpoint(&given)).unwrap();
    let place = all[0].workspace.clone();
    assert_eq!(store.read(|tx| tx.checkpoint(&place, again.id)).unwrap(), Some(again.clone()));
    let old = store.read(|tx| tx.old_checkpoints(later(2), 10)).unwrap();
    assert_eq!(old, made[..1]);
    store.write(move |tx| tx.drop_checkpoint(&again)).unwrap();
    assert_eq!(of(&all[0]), made[..1]);
    assert_eq!(make(&all[0], 4).sequence, 3, "no number is used twice");
    let sight = Sight::at_home(&caller("eve", "x"));
    let kept = Memory { session: Some(all[0].id.to_string()), ..memory(&ids, "bob", "x", "tea") };
    let private = Memory {
        session: Some(all[0].id.to_string()),
        sharing: Sharing::Private,
        ..memory(&ids, "ann", "x", "tea")
    };
    store.write(move |tx| keep(tx, &kept).and_then(|()| keep(tx, &private))).unwrap();
    let agents = store.read(|tx| tx.session_agents(&sight, &all[0])).unwrap();
    assert_eq!(agents, [all[1].agent.clone()], "of the visible ones");
}
