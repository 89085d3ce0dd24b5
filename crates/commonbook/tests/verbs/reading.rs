//! Reading: lists, searches, counts, the journal, and id prefixes.

use commonbook::base::error::ErrorKind;
use commonbook::model::agent::{AgentRecord, GetAgent};
use commonbook::model::caller::{Caller, CallerProof};
use commonbook::model::event::ListEvents;
use commonbook::model::memory::{GetMemory, Importance, ListMemories, ListOrder, SaveMemory};
use commonbook::model::search::{SearchMemory, SearchScope};
use commonbook::model::token::TokenScope;
use commonbook::prompt::briefing::GetBriefing;
use serde_json::json;

use crate::{World, at, caller, elsewhere, request};

fn about(user: &str, text: &str) -> SaveMemory {
    commonbook::base::input::from_value(json!({"text": text, "user_id": user})).unwrap()
}

#[test]
fn a_list_is_filtered_ordered_and_paged() {
    let world = World::new();
    let save = |agent: &str, value: serde_json::Value| {
        let request: SaveMemory = commonbook::base::input::from_value(value).unwrap();
        let caller = caller(agent).in_session(Some("s1")).unwrap();
        world.book.save_memory(&caller, &request).unwrap();
    };
    save("ann", json!({"text": "one", "topics": ["Tea"], "importance": "low"}));
    save("bob", json!({"text": "two", "memory_type": "decision", "importance": "critical"}));
    world.save("ann", "three");
    let table = [
        (ListMemories::default(), vec!["three", "two", "one"]),
        (
            ListMemories { order: ListOrder::Oldest, ..Default::default() },
            vec!["one", "two", "three"],
        ),
        (
            ListMemories { owner: Some("Ann Agent".into()), ..Default::default() },
            vec!["three", "one"],
        ),
        (
            ListMemories { owner: Some("*".into()), ..Default::default() },
            vec!["three", "two", "one"],
        ),
        (ListMemories { topic: Some("tea".into()), ..Default::default() }, vec!["one"]),
        (
            ListMemories { importance: Some(Importance::Normal), ..Default::default() },
            vec!["three", "two"],
        ),
        (ListMemories { session: Some("s1".into()), ..Default::default() }, vec!["two", "one"]),
        (ListMemories { deleted: true, ..Default::default() }, vec![]),
    ];
    for (request, expected) in table {
        assert_eq!(world.texts("cleo", &request), expected, "{request:?}");
    }
    let mut request = ListMemories { limit: Some(2), ..Default::default() };
    let first = world.book.list_memories(&caller("cleo"), &request).unwrap();
    request.cursor = first.next;
    let second = world.book.list_memories(&caller("cleo"), &request).unwrap();
    assert_eq!((first.items.len(), second.items.len(), second.next), (2, 1, None));
}

#[test]
fn a_question_finds_memories_with_any_of_its_content_words() {
    let world = World::new();
    world.save("ann", "Caroline went to the LGBTQ support group yesterday.");
    world.save("ann", "Melanie painted a sunrise.");
    let found = world.search("bob", "When did Caroline go to the LGBTQ support group?");
    assert_eq!(found.total, 1);
    for (query, total) in [
        ("paintings of sunrises", 1),
        ("the", 1),
        ("🙂", 0),
        ("zzz", 0),
        ("a sunrise* OR \"NEAR(", 1),
    ] {
        assert_eq!(world.search("bob", query).total, total, "{query:?}");
    }
}

#[test]
fn pages_of_a_search_neither_repeat_nor_skip() {
    let world = World::new();
    for number in 0..25 {
        world.save("ann", &format!("tea number {number} {}", "and tea ".repeat(number % 5)));
    }
    let mut request = SearchMemory { query: "tea".into(), k: Some(7), ..Default::default() };
    let (mut all, mut scores) = (Vec::new(), Vec::new());
    loop {
        let page = world.book.search_memory(&caller("bob"), &request).unwrap();
        assert_eq!(page.total, 25);
        all.extend(page.hits.iter().map(|hit| hit.memory.id));
        scores.extend(page.hits.iter().map(|hit| hit.score));
        // Later pages have the scores of the first one, however long the reader takes.
        world.clock.set(at(24 * all.len() as i64));
        request.cursor = page.next;
        if request.cursor.is_none() {
            break;
        }
    }
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 25);
}

#[test]
fn important_and_recent_memories_rank_above_equal_ones() {
    let world = World::new();
    let old = world.save("ann", "tea at four");
    world.clock.set(at(24 * 90));
    let fresh = world.save("dee", "tea at four");
    let high: SaveMemory = commonbook::base::input::from_value(
        json!({"text": "tea at four", "importance": "critical"}),
    )
    .unwrap();
    let high = world.book.save_memory(&caller("ann"), &high).unwrap().memory;
    let order: Vec<_> = world.search("bob", "tea").hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!(order, [high.id, fresh.id, old.id]);
}

#[test]
fn a_search_reads_the_workspaces_of_its_scope() {
    let world = World::new();
    let save = |workspace: &str| {
        let request = SaveMemory { text: format!("tea in {workspace}"), ..Default::default() };
        world.book.save_memory(&elsewhere("ann", workspace), &request).unwrap();
    };
    ["x", "y", "global"].into_iter().for_each(save);
    let found = |workspace: &str, scope: SearchScope| {
        let request = SearchMemory { query: "tea".into(), scope, ..Default::default() };
        world.book.search_memory(&elsewhere("bob", workspace), &request).unwrap().total
    };
    let table = [
        ("x", SearchScope::Workspace, 2),
        ("x", SearchScope::Nearest, 2),
        ("x", SearchScope::Home, 3),
        ("empty", SearchScope::Workspace, 1),
        ("empty", SearchScope::Nearest, 3),
        ("global", SearchScope::Workspace, 1),
    ];
    for (workspace, scope, total) in table {
        assert_eq!(found(workspace, scope), total, "{workspace} {scope:?}");
    }
}

#[test]
fn what_a_project_used_before_is_found_and_not_told() {
    let world = World::new();
    let save = |workspace: &str| {
        let request: SaveMemory = request(
            json!({"text": format!("tea in {workspace} is green"), "importance": "critical"}),
        );
        world.book.save_memory(&elsewhere("ann", workspace), &request).unwrap().memory
    };
    let (_, before) = (save("x"), save("before"));
    let earlier = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
    let bob = Caller { earlier: earlier(&["before", "empty", "x"]), ..elsewhere("bob", "x") };
    let proof = CallerProof::Token {
        id: "tok_01m7y9c4dpeqkspxh7a865d434".parse().unwrap(),
        scopes: vec![TokenScope::Read, TokenScope::Write],
        bound: true,
        asserted: false,
    };
    let bound = Caller { proof, ..bob.clone() };
    let search = SearchMemory { query: "tea".into(), ..Default::default() };
    let get = GetMemory { id: before.id.into(), at: None };
    for (caller, total) in [(&bob, 2), (&bound, 1), (&elsewhere("bob", "x"), 1)] {
        assert_eq!(world.book.search_memory(caller, &search).unwrap().total, total);
        assert_eq!(world.book.get_memory(caller, &get).is_ok(), total == 2);
        let begun = world.book.get_briefing(caller, &GetBriefing::default()).unwrap().text;
        let ask = json!({"prompt": "Is the tea green?"});
        let told = world.book.get_briefing(caller, &request(ask)).unwrap().text;
        let context = world.book.get_context(caller, &request(json!({"task": "Drink green tea"})));
        for text in [&begun, &told, &context.unwrap().text] {
            assert!(!text.contains("tea in before"), "{text}");
        }
        let line = "Workspace before, which this project used before, has 1 memory";
        assert_eq!(begun.contains(line), total == 2, "{begun}");
        assert!(!begun.contains("Workspace empty") && !told.contains("Workspace before"));
    }
}

#[test]
fn memories_about_one_user_are_never_returned_for_another() {
    let world = World::new();
    for (user, text) in [("alice", "alice likes tea"), ("bob", "bob likes tea")] {
        world.book.save_memory(&caller("ann"), &about(user, text)).unwrap();
    }
    world.save("ann", "everybody likes tea");
    let count = |agent: &str, user: Option<&str>| {
        let user_id = user.map(str::to_owned);
        let request = SearchMemory { query: "tea".into(), user_id, ..Default::default() };
        world.book.search_memory(&caller(agent), &request).unwrap().total
    };
    let table = [
        ("helper", Some("alice"), 2),
        ("helper", Some("Alice"), 1),
        ("helper", None, 1),
        ("ann", Some("alice"), 2),
        ("ann", None, 3),
    ];
    for (agent, user, total) in table {
        assert_eq!(count(agent, user), total, "{agent} for {user:?}");
    }
    let bound = caller("helper").for_user(Some("alice")).unwrap();
    let request =
        SearchMemory { query: "tea".into(), user_id: Some("bob".into()), ..Default::default() };
    let error = world.book.search_memory(&bound, &request).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Forbidden);
}

#[test]
fn stats_and_agents_count_only_visible_memories() {
    let world = World::new();
    world.save("ann", "one");
    world.save_private("ann", "two");
    world.clock.set(at(1));
    world.save("bob", "three");
    let stats =
        |agent: &str| world.book.get_memory_stats(&caller(agent), &Default::default()).unwrap();
    let (anns, bobs) = (stats("ann"), stats("bob"));
    assert_eq!((anns.memories, anns.events, anns.by_agent["ann"]), (3, 3, 2));
    // Events count through the last one in sight, as its position says.
    assert_eq!((bobs.memories, bobs.events, bobs.by_agent["ann"]), (2, 3, 1));
    assert_eq!(bobs.by_type["semantic"], 2);
    assert!(bobs.disk_bytes > 0);
    let agents = world.book.list_agents(&caller("bob"), &Default::default()).unwrap().items;
    let rows: Vec<_> =
        agents.iter().map(|a| (a.agent.as_str(), a.memory_count, a.first_seen)).collect();
    assert_eq!(rows, [("ann", 1, at(0)), ("bob", 1, at(1))]);
}

#[test]
fn the_journal_is_read_from_a_position() {
    let world = World::new();
    for number in 0..5 {
        world.save("ann", &format!("memory {number}"));
    }
    let mut request = ListEvents { limit: Some(2), ..ListEvents::default() };
    let mut sequences = Vec::new();
    loop {
        let page = world.book.list_events(&caller("bob"), &request).unwrap();
        sequences.extend(page.items.iter().map(|event| event.sequence));
        let Some(next) = page.next else { break };
        request.after = next;
    }
    assert_eq!(sequences, [1, 2, 3, 4, 5]);
    let none = ListEvents { after: u64::MAX, ..ListEvents::default() };
    assert!(world.book.list_events(&caller("bob"), &none).unwrap().items.is_empty());
}

#[test]
fn ids_do_not_cross_workspaces() {
    let world = World::new();
    let get = GetMemory { id: world.save("ann", "one").id.into(), at: None };
    let error = world.book.get_memory(&elsewhere("ann", "y"), &get).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[test]
fn stats_count_deleted_memories_separately_and_superseded_ones_as_current() {
    let world = World::new();
    let [old, gone] = ["one", "two"].map(|text| world.save("ann", text).id);
    let value = json!({"text": "new", "memory_type": "decision", "supersedes": old});
    world.book.save_memory(&caller("ann"), &crate::request(value)).unwrap();
    let delete = crate::request::<commonbook::model::memory::DeleteMemory>(json!({"id": gone}));
    world.book.delete_memory(&caller("ann"), &delete).unwrap();
    let stats = world.book.get_memory_stats(&caller("bob"), &Default::default()).unwrap();
    assert_eq!((stats.memories, stats.deleted, stats.events), (2, 1, 5));
    assert_eq!((stats.by_agent["ann"], stats.by_type.len()), (2, 2));
    assert_eq!((stats.by_type["semantic"], stats.by_type["decision"]), (1, 1));
}

#[test]
fn completions_contain_only_what_the_caller_sees() {
    let world = World::new();
    let tea = world.save("ann", "Tea is at four");
    let private = world.save_private("bob/engineer", "Mine alone");
    let request: SaveMemory =
        request(json!({"text": "x", "sharing": "private", "topics": ["Herons"]}));
    world.book.save_memory(&caller("bob/engineer"), &request).unwrap();
    let (ann, bob) = (caller("ann"), caller("bob/engineer"));
    let ids = |who, beginning: &str| world.book.complete_memory(who, beginning).unwrap().values;
    for beginning in ["", "m", "mem_", "mem_0", &tea.id.to_string()] {
        assert_eq!(ids(&ann, beginning), [tea.id.to_string()], "{beginning:?}");
    }
    assert!(ids(&bob, "mem").contains(&private.id.to_string()));
    assert!(ids(&ann, "no id begins so").is_empty());
    let topics = |who, beginning: &str| world.book.complete_topic(who, beginning).unwrap().values;
    assert_eq!((topics(&bob, "HER"), topics(&ann, "")), (vec!["Herons".to_owned()], vec![]));
    let agents = world.book.complete_agent(&ann, "Bob/").unwrap();
    assert_eq!((agents.values, agents.more), (vec!["bob/engineer".to_owned()], false));
    assert!(world.book.complete_agent(&elsewhere("ann", "y"), "").unwrap().values.is_empty());
}

#[test]
fn at_most_a_hundred_completions_are_returned() {
    let world = World::new();
    for number in 0..101 {
        let topics = [format!("topic{number:03}")];
        let request: SaveMemory = request(json!({"text": "tea", "topics": topics}));
        world.book.save_memory(&caller("ann"), &request).unwrap();
    }
    let ids = world.book.complete_memory(&caller("bob"), "mem_").unwrap();
    let topics = world.book.complete_topic(&caller("bob"), "topic").unwrap();
    assert_eq!((ids.values.len(), ids.more), (100, true));
    assert_eq!(
        (topics.values.len(), topics.more, topics.values[0].as_str()),
        (100, true, "topic000")
    );
    let last = world.book.complete_topic(&caller("bob"), "topic1").unwrap();
    assert_eq!((last.values.len(), last.more), (1, false));
}

#[test]
fn an_agent_is_found_by_any_form_of_its_name() {
    let world = World::new();
    world.save("ann/engineer", "Tea is at four");
    world.save_private("ann/engineer", "Mine alone");
    let get = |asker: Caller, name: &str| {
        world.book.get_agent(&asker, &GetAgent { name: name.to_owned() })
    };
    for name in ["ann/engineer", "Ann/Engineer Agent"] {
        let record = get(caller("bob"), name).unwrap();
        assert_eq!((record.agent.as_str(), record.memory_count), ("ann/engineer", 1));
    }
    let kind = |answer: commonbook::base::error::Result<AgentRecord>| answer.unwrap_err().kind;
    assert_eq!(kind(get(caller("bob"), "cleo")), ErrorKind::NotFound);
    assert_eq!(kind(get(elsewhere("bob", "y"), "ann/engineer")), ErrorKind::NotFound);
    assert_eq!(kind(get(caller("bob"), "a//b")), ErrorKind::Invalid);
}
