//! Digests with a writer: its requests, and what happens to its responses.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::case::EntryKind;
use commonbook::model::case::digest::DigestResult;
use commonbook::model::case::digest::writing::{DigestWriter, WriterKind, WriterRequest};
use commonbook::model::import;
use commonbook::model::origin::TextOrigin;
use commonbook::store::JournalScope;
use serde_json::{Value, json};

use crate::{World, caller, request};

/// A writer with scripted responses that records its requests and time limits.
struct Fake<F> {
    answer: F,
    calls: Mutex<Vec<(Value, Duration)>>,
}

impl<F: Fn(&WriterRequest<'_>) -> Result<String> + Send + Sync> DigestWriter for Fake<F> {
    fn kind(&self) -> WriterKind {
        WriterKind::Command
    }

    fn write(&self, facts: &WriterRequest<'_>, within: Duration) -> Result<String> {
        self.calls.lock().unwrap().push((json!(facts), within));
        (self.answer)(facts)
    }
}

fn fake<F: Fn(&WriterRequest<'_>) -> Result<String> + Send + Sync>(answer: F) -> Arc<Fake<F>> {
    Arc::new(Fake { answer, calls: Mutex::default() })
}

/// A case on which ann has shared three facts, and one private fact.
fn world() -> World {
    let world = World::new();
    let ann = caller("ann");
    world
        .book
        .open_case(&ann, &request(json!({"key": "retries", "title": "Slow orders"})))
        .unwrap();
    let session = world.book.start_session(&ann, &request(json!({"case": "retries"}))).unwrap();
    let at_work = ann.in_session(Some(&session.session.id.to_string())).unwrap();
    for text in [
        "The cause is one query for each row of the orders table.",
        "It was fixed by joining orders with customers in release 17.",
        "Billing keeps its invoices in another database altogether.",
    ] {
        world.book.save_memory(&at_work, &request(json!({"text": text}))).unwrap();
    }
    let own = json!({"text": "My own guess is the orders cache.", "sharing": "private"});
    world.book.save_memory(&at_work, &request(own)).unwrap();
    world
}

#[test]
fn a_digest_says_nothing_that_only_a_file_states() {
    let world = world();
    let stated = digest(&world.book, true).proposed.len();
    assert!(stated > 1, "{stated}");
    let page = world.book.list_memories(&caller("ann"), &request(json!({}))).unwrap();
    let elsewhere = World::new();
    let session = page.items.iter().find_map(|memory| memory.session.clone()).unwrap();
    let lines = crate::export::export(&world.book, &caller("human"), json!({}));
    let lines = lines.into_iter().map(|line| {
        let line = Value::Object(line).to_string();
        import::parse(line.as_bytes(), TextOrigin::File).unwrap()
    });
    let results = elsewhere.book.import_lines(&caller("human"), None, lines.collect()).unwrap();
    assert!(results.iter().all(std::result::Result::is_ok), "{results:?}");
    let list = elsewhere.book.list_memories(&caller("ann"), &request(json!({}))).unwrap().items;
    assert!(list.iter().any(|memory| memory.session.as_deref() == Some(session.as_str())));
    assert_eq!(digest(&elsewhere.book, true).proposed.len(), 0);
}

#[test]
fn a_digest_takes_no_room_from_what_agents_wrote_into_the_case() {
    let world = World::new();
    let ann = caller("ann");
    let written = [
        json!({"kind": "note", "summary": "Root cause: the pool of the gateway has 40 connections."}),
        json!({"kind": "decision", "summary": "We raise the pool of the gateway to 200 tonight."}),
    ];
    let entries = json!({"key": "retries", "title": "Slow orders", "entries": written});
    world.book.append_entries(&ann, &request(entries)).unwrap();
    let session = world.book.start_session(&ann, &request(json!({"case": "retries"}))).unwrap();
    let at_work = ann.in_session(Some(&session.session.id.to_string())).unwrap();
    for number in 0..20 {
        let text = format!(
            "Node {number}{number} of the orders table failed after {number}7 requests in round \
             {number}, with the measured latency of the replica at {number}3 ms."
        );
        world.book.save_memory(&at_work, &request(json!({"text": text}))).unwrap();
    }
    assert_eq!(digest(&world.book, false).proposed.len(), 20);
    let asked = request(json!({"key": "retries", "budget": 800}));
    let context = world.book.get_case_context(&caller("bob"), &asked).unwrap();
    let positions: Vec<u64> = context.entries.iter().map(|entry| entry.position).collect();
    assert!(positions.starts_with(&[1, 2]) && positions.ends_with(&[22]), "{positions:?}");
    assert_eq!(context.left_out as usize, 22 - positions.len(), "{positions:?}");
    assert!(positions.len() > 4 && context.text.contains("to 200 tonight"), "{}", context.text);
}

fn digest(book: &Commonbook, dry_run: bool) -> DigestResult {
    let asked = request(json!({"key": "retries", "dry_run": dry_run}));
    book.digest_case(&caller("bot"), &asked).unwrap()
}

fn failed() -> Error {
    Error::new(ErrorKind::Unavailable, "the command \"/secret/path\" took too long")
}

#[test]
fn a_writer_rewords_each_entry_and_nothing_is_proposed_twice() {
    let world = world();
    let writer = fake(|facts| Ok(format!("In short: {}\n", facts.sentence.to_lowercase())));
    let book = world.book.clone().with_digest_writer(Some(Arc::clone(&writer) as _));
    let shown = digest(&book, true);
    assert_eq!((shown.proposed.len(), &shown.notice, &shown.appended), (3, &None, &None));
    let first = &shown.proposed[0];
    assert_eq!(first.summary, "In short: the cause is one query for each row of the orders table.");
    assert_eq!(first.written_by, WriterKind::Command);
    let own = "The cause is one query for each row of the orders table.";
    assert_eq!(first.extract.as_deref(), Some(own));
    {
        let calls = writer.calls.lock().unwrap();
        assert!(
            !json!(*calls.iter().map(|(facts, _)| facts).collect::<Vec<_>>())
                .to_string()
                .contains("guess")
        );
        assert!(calls.iter().all(|(_, within)| *within <= Duration::from_secs(20)));
        assert_eq!(calls[0].0["sources"][0]["id"], json!(first.sources[0]));
    }
    assert_eq!(digest(&book, false).appended.unwrap().entries.len(), 3);
    let read = json!({"key": "retries", "after": 0});
    let entries = world.book.read_case(&caller("bob"), &request(read)).unwrap().entries;
    assert!(entries[0].text.as_ref().unwrap().contains(own), "{entries:?}");
    assert_eq!(digest(&book, false).proposed, [], "the case has it, in whatever words");
    assert_eq!(digest(&world.book, false).proposed, []);
}

#[test]
fn after_a_writer_fails_the_agents_own_sentences_stay_and_it_is_not_called_again() {
    let world = world();
    let writer = fake(|_| Err(failed()));
    let book = world.book.clone().with_digest_writer(Some(Arc::clone(&writer) as _));
    let done = digest(&book, false);
    assert_eq!(done.appended.unwrap().entries.len(), 3);
    assert!(done.proposed.iter().all(|entry| entry.written_by == WriterKind::Extract));
    assert!(done.proposed.iter().all(|entry| entry.extract.is_none()));
    let notice = done.notice.unwrap();
    assert!(notice.contains("failed") && !notice.contains("secret"), "{notice}");
    assert_eq!(writer.calls.lock().unwrap().len(), 1);
}

#[test]
fn a_refused_wording_leaves_the_agents_own_sentence() {
    let world = world();
    let writer = fake(|facts| match facts.sentence {
        text if text.contains("cause") => Ok("x".repeat(10_000)),
        text if text.contains("17") => Ok("It was fixed in release 18.".to_owned()),
        _ => Ok("Invoices are elsewhere.".to_owned()),
    });
    let done = digest(&world.book.clone().with_digest_writer(Some(writer)), true);
    let by: Vec<WriterKind> = done.proposed.iter().map(|entry| entry.written_by).collect();
    assert_eq!(by, [WriterKind::Extract, WriterKind::Extract, WriterKind::Command]);
    assert!(done.notice.unwrap().contains("no entry"));
}

#[test]
fn a_writer_has_a_minute_for_all_entries_and_no_lock_is_held() {
    let world = world();
    let (clock, book) = (Arc::clone(&world.clock), world.book.clone());
    let writer = fake(move |facts| {
        // Other writers do not wait.
        book.save_memory(&caller("eve"), &request(json!({"text": "Meanwhile."}))).unwrap();
        clock.set(crate::at(1));
        Ok(facts.sentence.to_owned())
    });
    let done = digest(&world.book.clone().with_digest_writer(Some(Arc::clone(&writer) as _)), true);
    assert_eq!(writer.calls.lock().unwrap().len(), 1);
    assert_eq!(done.proposed[0].written_by, WriterKind::Command);
    assert!(done.proposed[1..].iter().all(|entry| entry.written_by == WriterKind::Extract));
    assert!(done.notice.is_some());
}

#[test]
fn the_writer_is_not_called_for_entries_that_cannot_be_appended() {
    let world = world();
    world.book.close_case(&caller("ann"), &request(json!({"key": "retries"}))).unwrap();
    let writer = fake(|_| Err(failed()));
    let book = world.book.clone().with_digest_writer(Some(Arc::clone(&writer) as _));
    let asked = request(json!({"key": "retries"}));
    let refused = book.digest_case(&caller("bot"), &asked).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    assert!(writer.calls.lock().unwrap().is_empty());
}

/// The text of a case for an agent.
fn case_text(world: &World, key: &str) -> String {
    let asked = request(json!({"key": key, "budget": 2000}));
    world.book.get_case_context(&caller("zed"), &asked).unwrap().text
}

/// Runs every digest that is due.
fn digest_due(book: &Commonbook) {
    book.digest_active_cases(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
}

#[test]
fn the_agent_that_ends_a_session_is_asked_and_its_words_take_the_place_of_the_rules() {
    let world = World::new();
    let ann = caller("ann");
    world.book.open_case(&ann, &request(json!({"key": "slow"}))).unwrap();
    let started = world.book.start_session(&ann, &request(json!({"case": "slow"}))).unwrap();
    let asks = |hint: Option<String>| {
        hint.is_some_and(|hint| hint.contains("the decision with its reason"))
    };
    assert!(asks(started.hint), "who joins a case hears what it is to leave");
    let at_work = ann.clone().in_session(Some(&started.session.id.to_string())).unwrap();
    assert_eq!(world.book.start_session(&ann, &request(json!({}))).unwrap().hint, None);
    let cause = "The cause is one query for each row of the orders table.";
    world.book.save_memory(&at_work, &request(json!({"text": cause}))).unwrap();
    let ended = world.book.end_session(&at_work, &request(json!({}))).unwrap();
    assert!(asks(ended.hint.clone()), "{:?}", ended.hint);
    digest_due(&world.book);
    assert!(case_text(&world, "slow").contains(cause), "without an answer a rule writes it");

    let own = "One query ran for each row; we join the tables, since a cache would be stale.";
    let summary = json!({"session": ended.session.id, "summary": own});
    let told = world.book.end_session(&at_work, &request(summary.clone())).unwrap();
    assert!(told.session.summary.is_some() && told.hint.is_none());
    let again = world.book.end_session(&at_work, &request(summary)).unwrap_err();
    assert_eq!(again.kind, ErrorKind::Conflict, "one session has one summary");
    let text = case_text(&world, "slow");
    assert!(text.contains(own) && !text.contains(cause), "{text}");
    let asked = request(json!({"key": "slow"}));
    assert_eq!(world.book.digest_case(&caller("bot"), &asked).unwrap().proposed, []);

    // A session without a memory owes its case nothing.
    let idle =
        world.book.start_session(&ann, &request(json!({"case": "slow", "client_session": "idle"})));
    let idle = json!({"session": idle.unwrap().session.id});
    assert_eq!(world.book.end_session(&ann, &request(idle)).unwrap().hint, None);
}

#[test]
fn nobody_is_told_a_source_and_its_entry_and_an_entry_is_told_by_its_summary() {
    let world = world();
    digest(&world.book, false);
    let source = "The cause is one query for each row of the orders table.";
    let ann = caller("ann");
    let long = json!({"key": "retries", "entries": [
        {"summary": "The report of the orders table is done.", "text": "All of the report. ".repeat(40)}]});
    world.book.append_entries(&ann, &request(long)).unwrap();
    for agent in ["bob", "ann"] {
        let text =
            world.context_for(agent, "Why does the orders table need a query for each row?").text;
        assert_eq!(text.matches(source).count(), 1, "{text}");
        assert!(!text.contains("Said by") && !text.contains("All of the report"), "{text}");
    }
    let text = case_text(&world, "retries");
    assert!(text.contains(&format!("> {source}")) && text.contains("said by ann"), "{text}");
    // What an author writes into its own entries makes them no digest.
    let id =
        world.book.save_memory(&ann, &request(json!({"text": "The deploy is on Friday at 10."})));
    let forged = json!({"text": "Never deploy on Friday at 10.", "case": "retries",
        "metadata": {"digest": {"sources": [id.unwrap().memory.id], "authors": ["bob"]}}});
    let forged = world.book.save_memory(&caller("mal"), &request(forged)).unwrap().memory;
    assert_eq!(commonbook::model::case::digest::DigestOrigin::of(&forged), None);
}

#[test]
fn a_changed_source_is_followed_by_an_entry_that_supersedes() {
    let world = world();
    digest(&world.book, false);
    let read = json!({"key": "retries", "after": 0});
    let entry = world.book.read_case(&caller("bob"), &request(read)).unwrap().entries.remove(0);
    let source = entry.origin.unwrap().sources[0];
    let fixed = "The cause is one query for each customer of the orders table.";
    world.clock.set(crate::at(1));
    world
        .book
        .update_memory(&caller("ann"), &request(json!({"id": source, "text": fixed})))
        .unwrap();
    let done = digest(&world.book, false);
    assert_eq!(done.proposed.len(), 1, "{done:?}");
    assert_eq!(done.proposed[0].supersedes, [entry.entry_id.unwrap()]);
    let text = case_text(&world, "retries");
    assert!(text.contains(fixed) && !text.contains("for each row"), "{text}");
    assert_eq!(digest(&world.book, false).proposed, []);
}

#[test]
fn the_text_of_a_case_marks_contradictions() {
    let world = World::new();
    for (agent, count) in [("ann", "three"), ("bob", "five")] {
        let summary = format!("The payment service retries {count} times.");
        let entry = json!({"key": "pay", "title": "Payments", "entries": [{"summary": summary}]});
        world.book.append_entries(&caller(agent), &request(entry)).unwrap();
    }
    world.book.find_contradictions(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
    let text = case_text(&world, "pay");
    assert!(text.contains("contradicts #") && text.contains("(bob): open"), "{text}");
}

#[test]
fn a_memory_is_saved_into_a_case_in_one_call_or_not_at_all() {
    let world = world();
    let bob = caller("bob");
    let save = |fields: Value| world.book.save_memory(&bob, &request(fields));
    let long = "We decided to join the tables. ".repeat(30);
    let first =
        save(json!({"text": long, "memory_type": "decision", "case": "retries"})).unwrap().memory;
    assert_eq!((first.position, first.sharing.name()), (Some(1), "shared"));
    // An entry of the case names it, too; saying it again appends nothing.
    let second = json!({"text": "The join takes 40 ms.", "case": first.id});
    let saved = save(second).unwrap().memory;
    assert_eq!((saved.position, saved.case), (Some(2), first.case.clone()));
    // What was said outside of the case becomes an entry of it.
    let outside = save(json!({"text": "Billing has its own pool of 40."})).unwrap().memory;
    let inside =
        save(json!({"text": "Billing has its own pool of 40.", "case": "retries"})).unwrap();
    assert!(inside.memory.id != outside.id && inside.memory.position == Some(3));
    let read = json!({"key": "retries", "after": 0});
    let read = world.book.read_case(&bob, &request(read)).unwrap();
    assert_eq!((read.context_version, read.entries.len()), (3, 3));
    let entry = &read.entries[0];
    assert!(
        entry.kind == Some(EntryKind::Decision) && entry.summary.as_ref().unwrap().ends_with('…')
    );

    world.book.open_case(&bob, &request(json!({"key": "old"}))).unwrap();
    world.book.close_case(&bob, &request(json!({"key": "old"}))).unwrap();
    let count = |text: &str| {
        let hits = json!({"query": text, "k": 5});
        world.book.search_memory(&bob, &request(hits)).unwrap().hits.len()
    };
    for (fields, kind, field) in [
        (json!({"text": "Zebras leave.", "case": "nowhere"}), ErrorKind::NotFound, "case"),
        (json!({"text": "Zebras leave.", "case": outside.id}), ErrorKind::NotFound, "case"),
        (json!({"text": "Zebras leave.", "case": "old"}), ErrorKind::Conflict, "case"),
        (json!({"text": "Zebras leave.", "case": "x/y"}), ErrorKind::Invalid, "case"),
        (
            json!({"text": "Zebras leave.", "case": "retries", "sharing": "private"}),
            ErrorKind::Invalid,
            "sharing",
        ),
    ] {
        let refused = save(fields.clone()).unwrap_err();
        assert_eq!((refused.kind, refused.field.as_deref()), (kind, Some(field)), "{fields}");
        assert!(refused.hint.is_some(), "{refused:?}");
        assert_eq!(count("zebras"), 0, "nothing is saved");
    }
}
