//! Rows beside memories: agents, responses under keys, workspaces.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{CountingIds, OperationId, TokenId};
use commonbook::model::access::Sight;
use commonbook::model::bulk::{BulkItem, BulkKind, BulkOperation};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::Memory;
use commonbook::model::token::{Token, TokenRecord, TokenScope};
use commonbook::store::{IdempotencyRecord, Store};

use crate::{Fresh, caller, keep, memory, now, with_texts};

fn later(seconds: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_secs(seconds)
}

pub(crate) fn the_registry_has_an_agents_first_and_last_write(fresh: &dyn Fresh) {
    let store = fresh.open();
    let see = |device: Option<&str>, client: Option<&str>, at: Timestamp| {
        let mut who = caller("ann", "x");
        (who.device, who.client) = (device.map(str::to_owned), client.map(str::to_owned));
        store.write(move |tx| tx.note_agent_seen(&who, at)).unwrap();
    };
    see(Some("jarvis"), None, later(5));
    see(None, Some("codex 1.0"), later(9));
    see(None, None, later(1));
    let bob = caller("bob", "y");
    let (place, name) = (bob.workspace.clone(), bob.agent.clone());
    let last = || store.read(|tx| tx.last_seen(&place, &name)).unwrap();
    assert_eq!(last(), None);
    store.write(move |tx| tx.note_agent_seen(&bob, now())).unwrap();
    assert_eq!(last(), Some(now()));
    let asker = caller("cleo", "x");
    let agents = store.read(|tx| tx.agents(&Sight::at_home(&asker), &asker.workspace)).unwrap();
    assert_eq!(agents.len(), 1, "of this workspace alone");
    let ann = &agents[0];
    assert_eq!((ann.first_seen, ann.last_seen), (later(5), later(9)));
    assert_eq!((ann.device.as_deref(), ann.client.as_deref()), (Some("jarvis"), Some("codex 1.0")));
}

fn keep_answer(store: &dyn Store, key: &'static str, answer: String) {
    let who = caller("ann", "x");
    let kept = IdempotencyRecord { request_sha256: "r".into(), answer, at: now() };
    store.write(move |tx| tx.keep_answer(&who.workspace, &who.agent, key, &kept)).unwrap();
}

fn kept_answer(store: &dyn Store, key: &str) -> Option<String> {
    let who = caller("ann", "x");
    let kept = store.read(|tx| tx.kept_answer(&who.workspace, &who.agent, key)).unwrap();
    kept.map(|kept| kept.answer)
}

pub(crate) fn a_later_response_under_a_key_replaces_the_earlier(fresh: &dyn Fresh) {
    let store = fresh.open();
    keep_answer(&*store, "k", "one".into());
    keep_answer(&*store, "k", "two".into());
    assert_eq!(kept_answer(&*store, "k").as_deref(), Some("two"));
}

pub(crate) fn a_purge_drops_the_stored_responses_about_its_memory_and_no_others(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &["one", "two"]);
    for (key, memory) in ["first", "second"].into_iter().zip(&kept) {
        keep_answer(&*store, key, serde_json::to_string(memory).unwrap());
    }
    let gone = kept[0].clone();
    store.write(move |tx| tx.purge_memory(&gone)).unwrap();
    assert_eq!(kept_answer(&*store, "first"), None);
    assert!(kept_answer(&*store, "second").is_some());
}

pub(crate) fn an_imported_memory_is_recognised_by_its_id_and_by_its_line(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut first = memory(&ids, "ann", "x", "tea");
    first.source.how = EntryPoint::Import;
    let typed = memory(&ids, "ann", "x", "coffee");
    let given = [first.clone(), typed.clone()];
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let fresh_id = |like: &Memory, how: EntryPoint| {
        let mut other = memory(&ids, "bob", "x", "another text");
        other.source = like.source.clone();
        other.source.how = how;
        other
    };
    let elsewhere = Memory { workspace: "y".parse().unwrap(), ..first.clone() };
    let table = [
        ("its id", first.clone(), true),
        ("its id, though nobody imported it", typed.clone(), true),
        ("its line", fresh_id(&first, EntryPoint::Import), true),
        ("the text of one that was typed", fresh_id(&typed, EntryPoint::Import), false),
        ("its text, typed", fresh_id(&first, EntryPoint::Cli), false),
        ("elsewhere", elsewhere, false),
    ];
    for (what, memory, known) in table {
        assert_eq!(store.read(|tx| tx.was_imported(&memory)).unwrap(), known, "{what}");
    }
}

pub(crate) fn memories_deleted_before_a_time_are_listed_in_every_workspace(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    for (workspace, at) in [("x", Some(3)), ("y", Some(1)), ("x", Some(2)), ("x", None)] {
        let mut kept = memory(&ids, "ann", workspace, "tea");
        kept.deleted_at = at.map(later);
        store.write(move |tx| keep(tx, &kept)).unwrap();
    }
    let before = |seconds: i64, limit: u32| -> Vec<i64> {
        let old = store.read(|tx| tx.deleted_before(later(seconds), limit)).unwrap();
        old.iter()
            .map(|memory| memory.deleted_at.unwrap().as_second() - now().as_second())
            .collect()
    };
    assert_eq!(before(1, 10), Vec::<i64>::new(), "not yet at the time itself");
    assert_eq!(before(3, 10), [1, 2]);
    assert_eq!(before(9, 2), [1, 2], "the oldest first");
}

pub(crate) fn a_workspace_exists_from_its_first_event(fresh: &dyn Fresh) {
    let store = fresh.open();
    let asker: Caller = caller("ann", "z");
    store.write(move |tx| tx.note_agent_seen(&asker, now())).unwrap();
    assert!(store.read(|tx| tx.workspaces()).unwrap().is_empty());
    with_texts(&*store, &["tea"]);
    let known = store.read(|tx| tx.workspaces()).unwrap();
    assert_eq!(known, [caller("ann", "x").workspace]);
}

pub(crate) fn a_token_is_stored_completely_and_found_by_its_id(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let token = |bound: Option<&str>| TokenRecord {
        token: Token {
            id: TokenId::new(&ids, now()),
            agent: caller("ann/tester", "x").agent,
            scopes: vec![TokenScope::Read, TokenScope::Hook],
            workspace: bound.map(|name| name.parse().unwrap()),
            created_at: now(),
            expires_at: bound.map(|_| later(9)),
            last_used: None,
            revoked_at: None,
        },
        secret_sha256: "s".repeat(64),
    };
    let (first, second) = (token(None), token(Some("y")));
    assert!(!store.read(|tx| tx.has_tokens()).unwrap());
    for kept in [first.clone(), second.clone()] {
        store.write(move |tx| tx.put_token(&kept)).unwrap();
    }
    let (first_id, second_id) = (first.token.id, second.token.id);
    let of = |id| store.read(|tx| tx.token(id)).unwrap();
    assert_eq!((of(first_id), of(second_id)), (Some(first.clone()), Some(second.clone())));
    assert_eq!(of(TokenId::new(&ids, now())), None);
    store.write(move |tx| tx.use_token(first_id, later(3))).unwrap();
    let listed = store.read(|tx| tx.tokens()).unwrap();
    let used = Token { last_used: Some(later(3)), ..first.token.clone() };
    assert_eq!(listed, [second.token.clone(), used.clone()]);
    for (mut kept, left) in [(first, true), (second, false)] {
        kept.token.revoked_at = Some(later(5));
        store.write(move |tx| tx.put_token(&kept)).unwrap();
        assert_eq!(store.read(|tx| tx.has_tokens()).unwrap(), left);
    }
}

pub(crate) fn a_bulk_operation_returns_each_of_its_items_once(fresh: &dyn Fresh) {
    let store = fresh.open();
    let (ids, who) = (CountingIds::default(), caller("ann", "x"));
    let act_at = |at: Timestamp| BulkOperation {
        id: OperationId::new(&ids, at),
        workspace: who.workspace.clone(),
        kind: BulkKind::Purged,
        agent: who.agent.clone(),
        at,
    };
    let (act, later_one) = (act_at(now()), act_at(later(9)));
    let done: Vec<BulkItem> = (1..=5)
        .map(|n| BulkItem {
            memory: memory(&ids, "ann", "x", "one").id,
            owner: who.agent.clone(),
            revision: n,
        })
        .collect();
    for act in [act.clone(), later_one.clone()] {
        let done = done.clone();
        store
            .write(move |tx| {
                tx.put_bulk_operation(&act)?;
                tx.put_bulk_operation(&act)?;
                done.iter().try_for_each(|done| tx.add_bulk_item(&act, done))
            })
            .unwrap();
    }
    let of =
        |act: &BulkOperation| store.read(|tx| tx.bulk_operation(&act.workspace, act.id)).unwrap();
    assert_eq!((of(&act), of(&later_one)), (Some(act.clone()), Some(later_one.clone())));
    let elsewhere = caller("ann", "y").workspace;
    assert_eq!(store.read(|tx| tx.bulk_operation(&elsewhere, act.id)).unwrap(), None);
    let open = |agent: &str, at: Timestamp| {
        let agent = caller(agent, "x").agent;
        store.read(|tx| tx.open_operation(&who.workspace, &agent, at)).unwrap()
    };
    assert_eq!(
        (open("ann", act.at), open("ann", later_one.at)),
        (Some(act.id), Some(later_one.id))
    );
    assert_eq!((open("ann", later(1)), open("bob", act.at)), (None, None));
    let take = |act: &BulkOperation, limit: u32| {
        let act = act.clone();
        store.write(move |tx| tx.take_bulk_items(&act, limit)).unwrap()
    };
    assert_eq!(take(&act, 3), done[..3]);
    assert_eq!(take(&act, 3), done[3..]);
    assert_eq!(take(&act, 3), []);
    assert_eq!(open("ann", act.at), None, "nothing of it can be put back");
    store.write(move |tx| tx.drop_bulk_operations(later(5))).unwrap();
    assert_eq!((of(&act), of(&later_one)), (None, Some(later_one.clone())));
    assert_eq!(take(&later_one, 9), done, "items of another operation stay");
}
