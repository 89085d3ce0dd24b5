//! Sessions: stored completely, seen by the permission rule, found by the client's own id.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{CheckpointId, CountingIds, SessionId, TokenId};
use commonbook::model::access::Sight;
use commonbook::model::caller::{Caller, CallerProof, EntryPoint};
use commonbook::model::checkpoint::{Checkpoint, CheckpointKind, SessionActivity};
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Memory, Sharing};
use commonbook::model::search::MemoryFilter;
use commonbook::model::session::{Session, SessionFilter, SessionPool, SessionStatus};
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
    start_by(store, session, caller(session.agent.as_str(), session.workspace.as_str()));
}

fn start_by(store: &dyn Store, session: &Session, starter: Caller) {
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
            tx.insert_session(&session, &starter, sequence)
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
    // One was shared, one is its author's alone; two sessions are empty.
    for (session, sharing) in [(&all[0], Sharing::Shared), (&all[1], Sharing::Private)] {
        let mut saved = memory(&ids, session.agent.as_str(), "x", "Retries stop after three");
        (saved.session, saved.sharing) = (Some(session.id.to_string()), sharing);
        store.write(move |tx| keep(tx, &saved)).unwrap();
    }
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
            let written = SessionFilter { written: true, ..SessionFilter::default() };
            let with_memories: Vec<Session> = (seen.iter())
                .filter(|session| {
                    let count = |id: &str| store.read(|tx| tx.session_memory_count(&sight, id));
                    count(&session.id.to_string()).unwrap() > 0
                })
                .cloned()
                .collect();
            let found = list(&written, None, 10).into_iter().map(|(_, session)| session);
            assert_eq!(found.collect::<Vec<_>>(), with_memories, "{agent} {user:?}");
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
    for expected in [(false, 0), (true, 1)] {
        let shared = in_it(memory(&ids, "bob", "x", "tea"));
        store.write(move |tx| keep(tx, &shared)).unwrap();
        assert_eq!(owes(), expected, "one memory speaks for itself");
    }
    let kept = |agent: &str| {
        let sight = Sight::at_home(&caller(agent, "x"));
        store.read(|tx| tx.session_memory_count(&sight, &ended.id.to_string())).unwrap()
    };
    assert_eq!((kept("ann"), kept("bob")), (2, 3));
    // A caller over REST without a session of its own cannot end one.
    let (id, agent) = (SessionId::new(&ids, now()), caller("eve", "x").agent);
    let bare = Session { id, agent, client_session: None, ..ended.clone() };
    let rest = Caller { door: EntryPoint::Rest, ..caller("eve", "x") };
    start_by(&*store, &bare, rest);
    for text in ["tea", "milk"] {
        let memory = memory(&ids, "eve", "x", text);
        let memory = Memory { session: Some(bare.id.to_string()), ..memory };
        store.write(move |tx| keep(tx, &memory)).unwrap();
    }
    assert!(!store.read(|tx| tx.owes_summary(&bare)).unwrap());
    assert_eq!(owes(), (true, 1));
    let entry = in_it(memory(&ids, "bob", "x", "tea"));
    let entry = Memory { case: "k".parse().ok(), position: Some(1), ..entry };
    store.write(move |tx| keep(tx, &entry)).unwrap();
    assert_eq!(owes(), (false, 0), "an entry of a case is a summary");
}

pub(crate) fn an_open_session_is_found_for_the_same_agent_user_token_and_workspace(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let ann = caller("ann", "x");
    let by_token = |id: TokenId| {
        let (scopes, bound, asserted) = (Vec::new(), false, false);
        Caller { proof: CallerProof::Token { id, scopes, bound, asserted }, ..ann.clone() }
    };
    let [first, second] = [TokenId::new(&ids, now()), TokenId::new(&ids, now())].map(by_token);
    let for_user = ann.clone().for_user(Some("u1")).unwrap();
    let callers = [
        ann.clone(),
        ann.clone(),
        for_user.clone(),
        first.clone(),
        caller("bob", "x"),
        caller("ann", "y"),
    ];
    let sessions: Vec<Session> = callers
        .iter()
        .zip(1..)
        .map(|(who, seconds)| Session {
            touched_at: later(seconds),
            ..Session::of(who, SessionId::new(&ids, now()), now())
        })
        .collect();
    for (session, who) in sessions.iter().zip(&callers) {
        start_by(&*store, session, who.clone());
    }
    let find = |who: &Caller, pool, since| {
        let found = store.read(|tx| tx.open_session(who, pool, later(since))).unwrap();
        found.map(|found| sessions.iter().position(|session| *session == found).unwrap())
    };
    let open = |who: &Caller| find(who, SessionPool::Own, 0);
    assert_eq!(open(&ann), Some(1), "the one that was touched last");
    assert_eq!((open(&for_user), open(&first), open(&second)), (Some(2), Some(3), None));
    assert_eq!(open(&caller("ann", "y")), Some(5));
    assert_eq!((open(&caller("eve", "x")), find(&ann, SessionPool::Own, 3)), (None, None));
    assert_eq!(find(&ann, SessionPool::OfClient, 0), None, "no client keeps one");
    let hooked = Caller { door: EntryPoint::Hook, ..ann.clone() };
    let kept = Session {
        client_session: Some("tab".to_owned()),
        ..Session::of(&hooked, SessionId::new(&ids, now()), now())
    };
    start_by(&*store, &kept, hooked);
    let found = store.read(|tx| tx.open_session(&ann, SessionPool::OfClient, now())).unwrap();
    assert_eq!(found, Some(kept));
    for status in [SessionStatus::Paused, SessionStatus::Completed] {
        let closed = Session { status, ..sessions[3].clone() };
        store.write(move |tx| tx.replace_session(&closed)).unwrap();
        assert_eq!(open(&first), None, "{status}");
    }
}

pub(crate) fn older_memories_of_a_session_are_counted_in_sight(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let of = |owner: &str, sharing| Memory {
        session: Some("s".to_owned()),
        sharing,
        ..memory(&ids, owner, "x", "tea")
    };
    let heir = memory(&ids, "ann", "x", "coffee");
    let superseded = Memory { superseded_by: Some(heir.id), ..of("ann", Sharing::Shared) };
    let all = [
        of("ann", Sharing::Shared),
        of("bob", Sharing::Shared),
        of("bob", Sharing::Private),
        superseded,
        heir,
        of("ann", Sharing::Shared),
    ];
    store.write(move |tx| all.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let count = |agent: &str, owner: Option<&str>, before| {
        let (session, owner) = (Some("s".to_owned()), owner.map(str::to_owned));
        let filter = MemoryFilter { session, owner, ..MemoryFilter::default() };
        let sight = Sight::at_home(&caller(agent, "x"));
        store.read(|tx| tx.older_session_memories(&sight, &filter, before)).unwrap()
    };
    assert_eq!((count("ann", None, 6), count("bob", None, 6), count("eve", None, 7)), (2, 3, 3));
    assert_eq!((count("bob", Some("bob"), 6), count("bob", None, 2)), (2, 1));
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
                    archived_at: None,
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
    let old = || store.read(|tx| tx.old_checkpoints(later(2), 10)).unwrap();
    assert_eq!(old(), made[..1]);
    let put = |checkpoint: &Checkpoint| {
        let given = checkpoint.clone();
        store.write(move |tx| tx.put_checkpoint(&given)).unwrap();
    };
    let archived = Checkpoint { archived_at: Some(later(9)), ..made[0].clone() };
    put(&archived);
    assert_eq!((of(&all[0])[0].clone(), old()), (archived, Vec::new()), "it does not grow old");
    put(&made[0]);
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
