//! Digests with a writer: its requests, and what happens to its responses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::case::digest::DigestResult;
use commonbook::model::case::digest::writing::{DigestWriter, WriterKind, WriterRequest};
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
