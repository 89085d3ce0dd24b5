//! The terms of a query that follow an agent's steps: near, between, unseen and session:same; and since, of a list
//! too.

use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::handle;
use commonbook::model::caller::Caller;
use commonbook::model::memory::{GetMemories, ListMemories, Memory, SaveMemory};
use commonbook::model::search::SearchMemory;
use commonbook::prompt::briefing::GetBriefing;
use commonbook::prompt::context::GetContext;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

impl World {
    /// Saves a text this many minutes after the start.
    fn save_at(&self, minutes: i64, caller: &Caller, fields: Value) -> Memory {
        self.clock.set(at(0) + SignedDuration::from_mins(minutes));
        self.book.save_memory(caller, &request::<SaveMemory>(fields)).unwrap().memory
    }

    fn found_by(&self, caller: &Caller, query: &str) -> Vec<String> {
        let request = SearchMemory { query: query.to_owned(), ..SearchMemory::default() };
        let found = self.book.search_memory(caller, &request).unwrap();
        assert_eq!(found.hits.len() as u64, found.total, "{query}");
        found.hits.into_iter().map(|hit| hit.memory.text).collect()
    }

    fn refusal(&self, caller: &Caller, query: &str) -> Error {
        let request = SearchMemory { query: query.to_owned(), ..SearchMemory::default() };
        self.book.search_memory(caller, &request).unwrap_err()
    }
}

fn in_session(agent: &str, session: &str) -> Caller {
    caller(agent).in_session(Some(session)).unwrap()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

#[test]
fn near_a_turn_stand_the_turns_of_its_conversation_nearest_first() {
    let world = World::new();
    // Two people talk; each has a name and a session of its own, as hooks of chats save them.
    let turns = [
        (0, "ann", "Did you see the kiln's bill?"),
        (2, "bob", "Yes. What did you pay last year?"),
        (4, "ann", "Half of it. Will you call them?"),
        (7, "bob", "I can, do you have their number?"),
        (12, "ann", "It is on the wall of your shed."),
    ];
    let saved: Vec<Memory> = turns
        .iter()
        .map(|(minute, agent, text)| world.save_at(*minute, &caller(agent), json!({"text": text})))
        .collect();
    world.save_at(70, &caller("ann"), json!({"text": "Do you want tea?"}));
    let texts = |places: &[usize]| -> Vec<&str> { places.iter().map(|at| turns[*at].2).collect() };
    let near = format!("near:{}", saved[2].id);
    assert_eq!(world.found_by(&caller("eve"), &near), texts(&[1, 3, 0, 4]));
    // Another filter chooses among them; words rank them.
    let of_bob = format!("{near} owner:bob");
    assert_eq!(world.found_by(&caller("eve"), &of_bob), texts(&[1, 3]));
    let about_shed = format!("near:#{} shed", handle(&saved[2].id.to_string()));
    assert_eq!(world.found_by(&caller("eve"), &about_shed)[0], turns[4].2);
}

#[test]
fn turns_of_one_moment_are_near_by_their_order() {
    let world = World::new();
    let talk = in_session("ann", "import-7");
    let texts: Vec<String> = (0..7).map(|number| format!("Did you count {number}?")).collect();
    let saved: Vec<Memory> =
        texts.iter().map(|text| world.save_at(0, &talk, json!({"text": text}))).collect();
    let found = world.found_by(&caller("bob"), &format!("near:{}", saved[3].id));
    let order = [2, 4, 1, 5, 0, 6].map(|place: usize| texts[place].clone());
    assert_eq!(found, order);
}

#[test]
fn near_a_note_stands_its_session_or_the_hour_of_its_author() {
    let world = World::new();
    let (ann, bob) = (caller("ann"), caller("bob"));
    let work = in_session("ann", "s1");
    let note =
        |minute, caller: &Caller, text: &str| world.save_at(minute, caller, json!({"text": text}));
    let begin = note(0, &work, "The kiln is fired on Mondays.");
    note(10, &ann, "Glaze is kept in the cellar.");
    note(20, &bob, "The cellar is locked.");
    let alone = note(40, &ann, "Clay comes in bags of ten kilos.");
    note(95, &ann, "The wheel turns left.");
    note(101, &ann, "A bag lasts two weeks.");
    note(200, &work, "The kiln needs a new thermocouple.");
    let near = |memory: &Memory| format!("near:{}", memory.id);
    let session = ["The kiln needs a new thermocouple."];
    assert_eq!(world.found_by(&bob, &near(&begin)), session);
    let hour =
        ["Glaze is kept in the cellar.", "The kiln is fired on Mondays.", "The wheel turns left."];
    assert_eq!(world.found_by(&bob, &near(&alone)), hour);
}

#[test]
fn near_shows_nothing_that_the_caller_does_not_see() {
    let world = World::new();
    let note = |minute, agent: &str, fields| world.save_at(minute, &caller(agent), fields);
    let own = note(0, "ann", json!({"text": "The safe is grey."}));
    let secret = note(1, "ann", json!({"text": "The safe opens at 9.", "sharing": "private"}));
    note(2, "ann", json!({"text": "The safe is heavy."}));
    let near = |memory: &Memory| format!("near:{}", memory.id);
    assert_eq!(world.found_by(&caller("bob"), &near(&own)), ["The safe is heavy."]);
    let all = ["The safe opens at 9.", "The safe is heavy."];
    assert_eq!(world.found_by(&caller("ann"), &near(&own)), all);
    assert_eq!(world.found_by(&caller("ann"), &near(&secret)).len(), 2);
    // A private memory answers as one that never was, by its id and by its handle.
    let unknown = secret.id.to_string().replace(|c: char| c.is_ascii_digit(), "7");
    let shape = |name: &str| {
        let error = world.refusal(&caller("bob"), &format!("near:{name} safe"));
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("query")));
        (error.message.replace(name, "ID"), error.hint)
    };
    assert_eq!(shape(&secret.id.to_string()), shape(&unknown));
    let (secret_end, unknown_end) = (secret.id.to_string(), unknown);
    assert_eq!(shape(handle(&secret_end)), shape(handle(&unknown_end)));
    // One of another workspace is not there either.
    let other = world.save_at(3, &elsewhere("ann", "y"), json!({"text": "The safe is open."}));
    assert_eq!(world.refusal(&caller("ann"), &near(&other)).kind, ErrorKind::NotFound);
}

#[test]
fn a_span_of_time_is_its_first_and_last_day_and_all_between() {
    let world = World::new();
    for day in ["2026-10-31", "2026-11-01", "2026-11-02", "2026-11-03"] {
        let fields =
            json!({"text": format!("tea of {day}"), "valid_from": format!("{day}T23:00:00Z")});
        world.save_at(0, &caller("ann"), fields);
    }
    let found = |query: &str| sorted(world.found_by(&caller("bob"), query));
    assert_eq!(
        found("tea between:2026-11-01..2026-11-02"),
        ["tea of 2026-11-01", "tea of 2026-11-02"]
    );
    assert_eq!(found("between:2026-10..2026-11-01 since:2026-11"), ["tea of 2026-11-01"]);
}

#[test]
fn unseen_is_what_the_session_was_not_given() {
    let world = World::new();
    let note = |text: &str| world.save_at(0, &caller("ann"), json!({"text": text}));
    let opened = note("The gate is green.");
    note("The roof of the gate is red.");
    let bob = in_session("bob", "b1");
    let unseen = |caller: &Caller| sorted(world.found_by(caller, "unseen: gate"));
    let open = request::<GetMemories>(json!({"id": opened.id}));
    world.book.get_memories(&bob, &open).unwrap();
    assert_eq!(unseen(&bob), ["The roof of the gate is red."], "opened, and not written yet");
    assert_eq!(unseen(&bob), Vec::<String>::new(), "the search gave it");
    world.book.record_usage(|| true).unwrap();
    assert_eq!(unseen(&bob), Vec::<String>::new(), "opened and found");
    let told = in_session("bob", "b2");
    let context = request::<GetContext>(json!({"task": "Paint the roof of the gate"}));
    world.book.get_context(&told, &context).unwrap();
    assert_eq!(unseen(&told), Vec::<String>::new(), "told by a context");
    assert_eq!(unseen(&in_session("bob", "b3")).len(), 2, "another session");
    assert_eq!(unseen(&in_session("eve", "b1")).len(), 2, "another agent");
    // What has changed since is new again.
    let update = json!({"id": opened.id, "text": "The gate is blue."});
    world.book.update_memory(&caller("ann"), &request(update)).unwrap();
    assert_eq!(unseen(&bob), ["The gate is blue."]);
}

#[test]
fn a_headline_counts_as_given() {
    let world = World::new();
    for number in 0..30 {
        let text =
            format!("The gate number {number} opens at {number} each morning and is oiled twice.");
        world.save_at(0, &caller("ann"), json!({"text": text, "importance": "high"}));
    }
    let bob = in_session("bob", "b1");
    let ask = json!({"prompt": "When do the gates open?", "client_session": "b1"});
    let told = world.book.get_briefing(&bob, &request::<GetBriefing>(ask)).unwrap();
    assert!(!told.headlines.is_empty());
    let ids: Vec<String> =
        told.items.iter().chain(&told.headlines).map(|item| item.id.clone()).collect();
    let query = SearchMemory { query: "unseen:".into(), k: Some(100), ..SearchMemory::default() };
    let found = world.book.search_memory(&bob, &query).unwrap();
    assert!(found.hits.iter().all(|hit| !ids.contains(&hit.memory.id.to_string())));
    let given: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(found.hits.len() + given.len(), 30);
}

#[test]
fn the_same_session_is_that_of_the_call() {
    let world = World::new();
    let (first, second) = (in_session("bob", "b1"), in_session("bob", "b2"));
    world.save_at(0, &first, json!({"text": "tea one"}));
    world.save_at(0, &second, json!({"text": "tea two"}));
    assert_eq!(world.found_by(&first, "tea session:same"), ["tea one"]);
    assert_eq!(world.found_by(&second, "session:same"), ["tea two"]);
    // A call that names none joins the open session of its agent.
    let begun = world.book.start_session(&caller("bob"), &request(json!({}))).unwrap().session;
    let within = in_session("bob", &begun.id.to_string());
    world.save_at(0, &within, json!({"text": "tea three"}));
    assert_eq!(world.found_by(&caller("bob"), "session:same"), ["tea three"]);
    let field = request::<SearchMemory>(json!({"query": "tea", "session": "same"}));
    assert_eq!(world.book.search_memory(&first, &field).unwrap().total, 1);
}

#[test]
fn without_a_session_the_terms_of_a_session_are_answered() {
    let world = World::new();
    world.save_at(0, &in_session("bob", "b1"), json!({"text": "tea one"}));
    let eve = caller("eve");
    assert_eq!(world.found_by(&eve, "unseen: tea"), ["tea one"], "nothing was given yet");
    assert_eq!(world.found_by(&eve, "unseen: tea"), Vec::<String>::new(), "given today");
    let field = request::<SearchMemory>(json!({"query": "tea", "session": "same"}));
    let term = request::<SearchMemory>(json!({"query": "session:same tea"}));
    for (who, search) in [("eve", &field), ("eve", &term), ("anonymous", &term), ("human", &term)] {
        let found = world.book.search_memory(&caller(who), search).unwrap();
        assert_eq!((found.hits.len(), found.total, found.next), (0, 0, None), "{who}");
        assert!(found.notice.unwrap().contains("you work in none yet"), "{who}");
        assert!(!found.workspaces.is_empty());
    }
    let told = world.book.search_memory(&eve, &term).unwrap();
    let text = world.book.search_text(&eve, told).unwrap();
    assert!(text.starts_with("No memory matches in ") && text.contains("session:same"), "{text}");
    // A session may have that name.
    world.save_at(1, &in_session("joe", "same"), json!({"text": "tea two"}));
    assert_eq!(world.found_by(&in_session("joe", "same"), "session:same"), ["tea two"]);
    let error = world.refusal(&caller("anonymous"), "unseen: tea");
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("query")));
    assert!(error.message.contains("name") && error.hint.is_some(), "{error}");
}

#[test]
fn a_list_since_an_age_holds_what_a_search_since_it_finds() {
    let world = World::new();
    let ann = caller("ann");
    world.save_at(0, &ann, json!({"text": "tea one"}));
    world.save_at(20, &ann, json!({"text": "tea two"}));
    let old = json!({"text": "tea three", "valid_from": "2020-01-01T00:00:00Z"});
    world.save_at(25, &ann, old);
    world.clock.set(at(0) + SignedDuration::from_mins(29));
    for (since, texts) in [
        ("10m", &["tea two"][..]),
        ("1h", &["tea one", "tea two"]),
        ("2020-01-01", &["tea one", "tea three", "tea two"]),
        ("2019", &["tea one", "tea three", "tea two"]),
    ] {
        let list: ListMemories = request(json!({"since": since}));
        assert_eq!(sorted(world.texts("ann", &list)), texts, "{since}");
        assert_eq!(sorted(world.found_by(&ann, &format!("since:{since}"))), texts, "{since}");
        let oldest: ListMemories = request(json!({"since": since, "order": "oldest", "limit": 1}));
        let page = world.book.list_memories(&ann, &oldest).unwrap();
        assert_eq!((page.items.len(), page.next.is_some()), (1, texts.len() > 1), "{since}");
    }
    let soonish: ListMemories = request(json!({"since": "soonish"}));
    let error = world.book.list_memories(&ann, &soonish).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("since")));
}
