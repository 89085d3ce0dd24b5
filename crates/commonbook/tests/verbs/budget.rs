//! The budget of a search: a search over it, or without a waiting caller, ends as a whole.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use commonbook::Commonbook;
use commonbook::base::cancellation::Cancellation;
use commonbook::base::clock::{Clock, FixedClock, Timestamp};
use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::CountingIds;
use commonbook::index::{Index, SearchBudget};
use commonbook::model::access::Sight;
use commonbook::model::memory::SaveMemory;
use commonbook::model::search::SearchMemory;
use serde_json::json;

use crate::{at, caller, request};

/// A clock of which each reading takes this many milliseconds.
struct SlowClock {
    now: AtomicI64,
    look_millis: i64,
}

impl Clock for SlowClock {
    fn now(&self) -> Timestamp {
        let now = self.now.fetch_add(self.look_millis, Ordering::Relaxed);
        Timestamp::from_millisecond(now).unwrap()
    }
}

/// A home with forty memories about the incident, their words written out.
fn home(clock: Arc<dyn Clock>, folder: &tempfile::TempDir) -> Commonbook {
    let store = crate::open_store(folder.path());
    let index = Arc::new(Index::in_folder(folder.path().join("index")));
    let book = Commonbook::with_clock_and_ids(store, clock, Arc::new(CountingIds::default()))
        .with_index(index);
    for number in 0..40 {
        let text = format!("The incident review {number} found a full disk on the build host.");
        let asked = SaveMemory { text, ..SaveMemory::default() };
        book.save_memory(&caller("ann"), &asked).unwrap();
    }
    book.index().follow(book.store(), |_| ControlFlow::Continue(())).unwrap();
    book
}

fn assert_asks_for_fewer_words(error: &Error) {
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    assert!(error.message.contains("stopped"), "{error}");
    assert!(error.hint.as_ref().unwrap().contains("fewer words"), "{error:?}");
}

#[test]
fn a_search_over_its_postings_is_refused_as_a_whole_and_the_index_stays_usable() {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::at(at(0)));
    let book = home(Arc::clone(&clock), &folder);
    let sight = Sight::of(&caller("bob"));
    for query in ["incident review", "\"full disk on the build host\"", "incident -\"full disk\""] {
        let asked: SearchMemory = request(json!({"query": query}));
        let question = asked.to_index_query(at(0)).unwrap();
        let budget = SearchBudget::of(&clock, &Cancellation::default());
        let search =
            |budget| book.index().search_within_budget(book.store(), &sight, &question, &budget);
        let (found, work) = search(budget.clone()).unwrap();
        let steps = work.terms + work.postings + work.positions;
        assert!(steps >= 40, "{query} {work:?}");
        assert_eq!(search(budget.clone().with_postings(steps)).unwrap(), (found, work), "{query}");
        let error = search(budget.with_postings(steps - 1)).unwrap_err();
        assert_asks_for_fewer_words(&error);
    }
    assert!(!book.index().needs_follow(book.store()).unwrap(), "nothing is to be written anew");
}

#[test]
fn a_search_that_takes_too_long_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(SlowClock { now: AtomicI64::new(0), look_millis: 1 });
    let book = home(Arc::clone(&clock) as _, &folder);
    let asked: SearchMemory = request(json!({"query": "incident review"}));
    assert_eq!(book.search_memory(&caller("bob"), &asked).unwrap().total, 40);
    let slow = Arc::new(SlowClock { now: AtomicI64::new(0), look_millis: 2_600 });
    let store = crate::open_store(folder.path());
    let index = Arc::new(Index::in_folder(folder.path().join("index")));
    let book = Commonbook::with_clock_and_ids(store, slow, Arc::new(CountingIds::default()))
        .with_index(index);
    assert_asks_for_fewer_words(&book.search_memory(&caller("bob"), &asked).unwrap_err());
}

#[test]
fn a_search_ends_when_its_client_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let book = home(Arc::new(FixedClock::at(at(0))), &folder);
    let bob = caller("bob");
    let asked: SearchMemory = request(json!({"query": "incident review"}));
    assert_eq!(book.search_memory(&bob, &asked).unwrap().total, 40);
    bob.cancellation.cancel();
    assert_eq!(book.search_memory(&bob, &asked).unwrap_err().kind, ErrorKind::Unavailable);
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::at(at(0)));
    let budget = SearchBudget::of(&clock, &bob.cancellation);
    let question = asked.to_index_query(at(0)).unwrap();
    let stopped =
        book.index().search_within_budget(book.store(), &Sight::of(&bob), &question, &budget);
    assert!(stopped.unwrap_err().message.contains("client is gone"));
    assert_eq!(book.search_memory(&caller("bob"), &asked).unwrap().total, 40);
    // A running search notices too.
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::at(at(0)));
    let budget = SearchBudget::of(&clock, &bob.cancellation);
    let (question, sight) = (asked.to_index_query(at(0)).unwrap(), Sight::of(&bob));
    let stopped = book.index().search_within_budget(book.store(), &sight, &question, &budget);
    assert!(stopped.unwrap_err().message.contains("client is gone"));
}
