//! The rows of memories: stored, listed, found, deleted.

use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::model::access::Sight;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Importance, ListOrder, Memory, PathPattern, Sharing};
use commonbook::model::search::MemoryFilter;

use crate::{Fresh, caller, keep, memory, now, replace, with_texts};

fn sight() -> Sight {
    Sight::of(&caller("ann", "x"))
}

pub(crate) fn an_inserted_memory_is_read_back_unchanged(fresh: &dyn Fresh) {
    let store = fresh.open();
    let mut kept = memory(&CountingIds::default(), "ann/child", "x", "tea\nwith \"quotes\" 🙂");
    kept.title = Some("Title".into());
    kept.summary = Some("Summary".into());
    kept.topics = vec!["a".into(), "b c".into()];
    kept.metadata.insert("key".into(), serde_json::json!({"deep": [1, null, "x"]}));
    kept.importance = Importance::Critical;
    kept.sharing = Sharing::Shared;
    kept.user_id = Some("U1".into());
    kept.session = Some("s".into());
    kept.path = Some("/notes/tea.md".parse().unwrap());
    kept.valid_from = Some(now());
    kept.source.device = Some("jarvis".into());
    let given = kept.clone();
    store.write(move |tx| keep(tx, &given)).unwrap();
    let sight = Sight { user: Some("U1".into()), ..sight() };
    assert_eq!(store.read(|tx| tx.memory(&sight, kept.id)).unwrap().as_deref(), Some(&kept));
}

pub(crate) fn an_owner_has_one_current_memory_at_a_path(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let at_path = |agent: &str, change: fn(&mut Memory)| {
        let mut memory = memory(&ids, agent, "x", "tea");
        memory.path = Some("/tea".parse().unwrap());
        change(&mut memory);
        memory
    };
    let write = |memory: &Memory| {
        let memory = memory.clone();
        store.write(move |tx| keep(tx, &memory))
    };
    let first = at_path("ann", |_| ());
    write(&first).unwrap();
    let second = at_path("ann", |_| ());
    assert!(write(&second).is_err(), "the index alone refuses it");
    assert_eq!(store.read(|tx| tx.path_holder(&second)).unwrap(), Some(first.id));
    assert_eq!(store.read(|tx| tx.path_holder(&first)).unwrap(), None);
    for other in [
        at_path("bob", |_| ()),
        at_path("ann", |memory| memory.user_id = Some("U1".into())),
        at_path("ann", |memory| memory.deleted_at = Some(now())),
        at_path("ann", |memory| memory.superseded_by = Some(memory.id)),
    ] {
        write(&other).unwrap();
    }
    let path = first.path.clone().unwrap();
    let of_ann = store.read(|tx| tx.memories_at_path(&sight(), &first.owner, &path)).unwrap();
    assert_eq!(of_ann.iter().filter(|memory| memory.user_id.is_none()).count(), 1);
    let gone = Memory { deleted_at: Some(now()), revision: 2, ..first.clone() };
    store.write(move |tx| replace(tx, &first, &gone)).unwrap();
    write(&second).unwrap();
}

pub(crate) fn documents_are_listed_and_found_by_path(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let mut all: Vec<Memory> = Vec::new();
    for path in ["/b", "/a/2", "/a%", "/a/\u{e4}", "/a"] {
        let mut memory = memory(&ids, "ann", "x", path);
        memory.path = Some(path.parse().unwrap());
        all.push(memory);
    }
    all.push(memory(&ids, "ann", "x", "no document"));
    let mut hidden = memory(&ids, "bob", "x", "hidden");
    hidden.path = Some("/a/0".parse().unwrap());
    hidden.sharing = Sharing::Private;
    all.push(hidden);
    store.write(move |tx| all.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    for (pattern, expected) in [
        ("/*", vec!["/a", "/a%", "/a/2", "/a/\u{e4}", "/b"]),
        ("/a/*", vec!["/a/2", "/a/\u{e4}"]),
        ("/a%*", vec!["/a%"]),
        ("/a", vec!["/a"]),
        ("bob:/*", vec![]),
    ] {
        let pattern: PathPattern = pattern.parse().unwrap();
        let owner = pattern.owner.as_ref().map(|owner| owner.as_str().to_owned());
        let filter = MemoryFilter { path: Some(pattern.clone()), owner, ..MemoryFilter::default() };
        let (mut listed, mut beyond) = (Vec::new(), None);
        loop {
            let page = store
                .read(|tx| tx.memories_by_path(&sight(), &filter, beyond.as_ref(), 2))
                .unwrap();
            let Some((last, _)) = page.last() else { break };
            beyond = Some(last.clone());
            listed.extend(page.into_iter().map(|(position, _)| position.path));
        }
        assert_eq!(listed, expected, "{pattern}");
        let found = store.read(|tx| tx.memories_matching_path(&sight(), &pattern)).unwrap();
        assert_eq!(found.len(), expected.len(), "{pattern}");
    }
}

pub(crate) fn a_replaced_memory_is_stored_as_an_earlier_revision(fresh: &dyn Fresh) {
    let store = fresh.open();
    let first = with_texts(&*store, &["tea"]).remove(0);
    let second = Memory { text: "coffee".into(), revision: 2, ..first.clone() };
    let third = Memory { text: "water".into(), revision: 3, ..first.clone() };
    let all = [first.clone(), second.clone(), third.clone()];
    store
        .write(move |tx| {
            replace(tx, &all[0], &all[1])?;
            replace(tx, &all[1], &all[2])
        })
        .unwrap();
    let (now, earlier) = store
        .read(|tx| Ok((tx.memory(&sight(), first.id)?, tx.earlier_revisions(&sight(), first.id)?)))
        .unwrap();
    assert_eq!(now.as_deref(), Some(&third));
    assert_eq!(earlier, [first, second]);
}

pub(crate) fn a_revision_ends_with_the_event_of_its_change(fresh: &dyn Fresh) {
    let store = fresh.open();
    let first = with_texts(&*store, &["tea", "cake"]).remove(0);
    let hidden = Memory { text: "coffee".into(), revision: 2, ..first.clone() };
    let hidden = Memory { sharing: Sharing::Private, ..hidden };
    let third = Memory { text: "water".into(), revision: 3, ..first.clone() };
    let all = [first.clone(), hidden, third];
    let owner = first.owner.clone();
    store
        .write(move |tx| {
            for change in all.windows(2) {
                replace(tx, &change[0], &change[1])?;
                let event = NewEvent::of(EventKind::MemoryUpdated, &change[1], &owner, now());
                tx.append_event(&event)?;
            }
            Ok(())
        })
        .unwrap();
    let ended = |agent: &str, position| {
        let sight = Sight::of(&caller(agent, "x"));
        let ids = [first.id];
        let found = store.read(|tx| tx.revisions_after(&sight, &first.workspace, &ids, position));
        let found = found.unwrap().into_iter();
        found
            .map(|earlier| {
                (earlier.revision, earlier.ended, earlier.snapshot.map(|it| it.text.clone()))
            })
            .collect::<Vec<_>>()
    };
    let (tea, coffee) = (Some("tea".to_owned()), Some("coffee".to_owned()));
    assert_eq!(ended("ann", 2), [(1, Some(3), tea.clone()), (2, Some(4), coffee.clone())]);
    assert_eq!(ended("ann", 3), [(2, Some(4), coffee)]);
    assert_eq!(ended("bob", 2), [(1, Some(3), tea), (2, Some(4), None)], "out of sight");
    assert_eq!(ended("ann", 4), []);
}

pub(crate) fn lists_page_in_both_orders_without_repeating_or_skipping(fresh: &dyn Fresh) {
    let store = fresh.open();
    let texts: Vec<String> = (0..23).map(|number| format!("number{number}")).collect();
    with_texts(&*store, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    for order in [ListOrder::Newest, ListOrder::Oldest] {
        let (mut from, mut all) = (None, Vec::new());
        loop {
            let page = store
                .read(|tx| tx.memories(&sight(), &MemoryFilter::default(), order, from, 5))
                .unwrap();
            let Some((sequence, _)) = page.last() else { break };
            from = Some(*sequence);
            all.extend(page.into_iter().map(|(_, memory)| memory.text.clone()));
        }
        if order == ListOrder::Newest {
            all.reverse();
        }
        assert_eq!(all, texts);
    }
}

pub(crate) fn a_purged_memory_is_in_no_row(fresh: &dyn Fresh) {
    let store = fresh.open();
    let first = with_texts(&*store, &["zanzibar"]).remove(0);
    let second = Memory { text: "zanzibar again".into(), revision: 2, ..first.clone() };
    let (id, before) = (first.id, second.clone());
    store.write(move |tx| replace(tx, &first, &second)).unwrap();
    store.write(move |tx| tx.purge_memory(&before)).unwrap();
    store
        .read(|tx| {
            assert_eq!(tx.memory(&sight(), id)?, None);
            assert!(tx.earlier_revisions(&sight(), id)?.is_empty());
            assert!(tx.counts(&sight())?.is_empty());
            Ok(())
        })
        .unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

pub(crate) fn ids_are_found_by_their_range(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &["one", "two"]);
    let ids = |prefix: &str| {
        let (first, last) = MemoryId::prefix_range(prefix).unwrap();
        store.read(|tx| tx.memory_ids(&sight(), first, last, 10)).unwrap()
    };
    let first = kept[0].id.to_string();
    assert_eq!(ids(&first), [kept[0].id]);
    assert_eq!(ids(&first[..14]), [kept[0].id, kept[1].id]);
    assert_eq!(ids("mem_7"), []);
}

pub(crate) fn the_same_id_in_another_workspace_is_another_memory(fresh: &dyn Fresh) {
    let store = fresh.open();
    let own = with_texts(&*store, &["tea"]).remove(0);
    let copy = Memory { workspace: "global".parse().unwrap(), text: "copy".into(), ..own.clone() };
    let (first, changed) = (copy.clone(), Memory { revision: 2, ..copy.clone() });
    store
        .write(move |tx| {
            keep(tx, &first)?;
            replace(tx, &first, &changed)
        })
        .unwrap();
    let (both, id) = (sight(), own.id);
    let turned = Sight { workspaces: both.workspaces.iter().rev().cloned().collect(), ..both };
    for (sight, text) in [(sight(), "tea"), (turned, "copy")] {
        let found = store.read(|tx| tx.memory(&sight, id)).unwrap();
        assert_eq!(
            found.map(|memory| memory.text.clone()).as_deref(),
            Some(text),
            "that of the first"
        );
        assert_eq!(store.read(|tx| tx.memory_ids(&sight, id, id, 10)).unwrap(), [id]);
    }
    let at_home = Sight::at_home(&caller("ann", "x"));
    assert!(store.read(|tx| tx.earlier_revisions(&at_home, id)).unwrap().is_empty());
    store.write(move |tx| tx.purge_memory(&copy)).unwrap();
    assert_eq!(store.read(|tx| tx.memory(&sight(), id)).unwrap().as_deref(), Some(&own));
}

pub(crate) fn topics_are_found_by_prefix_most_used_first(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    for topics in [vec!["tea"], vec!["Tea", "TEMPO"], vec!["tempo", "tea"], vec!["50%", "a_b"]] {
        let mut kept = memory(&ids, "ann", "x", "tea");
        kept.topics = topics.into_iter().map(str::to_owned).collect();
        store.write(move |tx| keep(tx, &kept)).unwrap();
    }
    let sight = Sight::of(&caller("bob", "x"));
    let found =
        |beginning: &str, limit: u32| store.read(|tx| tx.topics(&sight, beginning, limit)).unwrap();
    assert_eq!(found("te", 9), ["Tea", "TEMPO"], "each once, though written in two ways");
    assert_eq!(found("te", 1), ["Tea"]);
    assert_eq!(found("50%", 9), ["50%"]);
    assert_eq!((found("%", 9), found("_", 9), found("mpo", 9)), (vec![], vec![], vec![]));
    assert_eq!(found("", 9).len(), 4);
}
