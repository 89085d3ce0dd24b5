//! The budget of one search: limits, counters, and the stop.

use std::cell::Cell;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::base::cancellation::Cancellation;
use crate::base::clock::Clock;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;

/// Steps between two checks of the budget.
const CHECK_INTERVAL_STEPS: u64 = 16_384;

/// How much of the index one search may read, how long it may take, and whether its caller still
/// waits.
///
/// A search over its budget fails as a whole: a page without some hits would look complete.
#[derive(Clone, Default)]
pub struct SearchBudget {
    clock: Option<Arc<dyn Clock>>,
    cancellation: Cancellation,
    postings_max: Option<u64>,
}

impl SearchBudget {
    /// The budget of a caller's search: [`limits::SEARCH_POSTINGS`], [`limits::SEARCH_MILLIS`] and
    /// cancellation.
    #[must_use]
    pub fn of(clock: &Arc<dyn Clock>, cancellation: &Cancellation) -> Self {
        Self {
            clock: Some(Arc::clone(clock)),
            cancellation: cancellation.clone(),
            postings_max: Some(limits::SEARCH_POSTINGS),
        }
    }

    /// Sets the number of postings.
    #[must_use]
    pub fn with_postings(self, postings_max: u64) -> Self {
        Self { postings_max: Some(postings_max), ..self }
    }
}

/// What a search read. Two homes that differ only in memories that the caller may not see give
/// equal numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// Terms looked up in dictionaries.
    pub terms: u64,
    /// Postings read, and memories of the delta checked for a term.
    pub postings: u64,
    /// Positions read for phrases.
    pub positions: u64,
    /// Vectors compared, in full or by their signs.
    pub vectors: u64,
    /// Memories of sessions read for the surroundings of a hit.
    pub neighbours: u64,
    /// Rows requested from the store.
    pub rows: u64,
}

/// Measures a running search.
pub(super) struct SearchMeter<'b> {
    budget: &'b SearchBudget,
    end: Option<Timestamp>,
    work: Cell<SearchWork>,
    /// Number of steps at which the budget is checked next.
    unchecked: Cell<u64>,
    stopped: Cell<bool>,
}

impl<'b> SearchMeter<'b> {
    /// Starts the measurement and its time.
    pub(super) fn start(budget: &'b SearchBudget) -> Self {
        let begin = budget.clock.as_ref().map(|clock| clock.now());
        let duration = SignedDuration::from_millis(limits::SEARCH_MILLIS);
        let end = begin.and_then(|begin| begin.checked_add(duration).ok());
        let (work, unchecked) = (Cell::default(), Cell::new(CHECK_INTERVAL_STEPS));
        Self { budget, end, work, unchecked, stopped: Cell::new(false) }
    }

    /// Counts a term lookup.
    pub(super) fn term(&self) -> Result<()> {
        self.count(|work| work.terms += 1)
    }

    /// Counts postings.
    pub(super) fn postings(&self, count: u64) -> Result<()> {
        self.count(|work| work.postings += count)
    }

    /// Counts positions.
    pub(super) fn positions(&self, count: u64) -> Result<()> {
        self.count(|work| work.positions += count)
    }

    /// Counts vector comparisons.
    pub(super) fn vectors(&self, count: u64) -> Result<()> {
        self.count(|work| work.vectors += count)
    }

    /// Counts memories read from sessions.
    pub(super) fn neighbours(&self, count: u64) -> Result<()> {
        self.count(|work| work.neighbours += count)
    }

    fn count(&self, add: impl FnOnce(&mut SearchWork)) -> Result<()> {
        let mut work = self.work.get();
        add(&mut work);
        self.work.set(work);
        let steps = work.steps();
        if steps < self.unchecked.get() {
            return Ok(());
        }
        self.unchecked.set(steps + CHECK_INTERVAL_STEPS);
        self.check()
    }

    /// Checks the budget.
    ///
    /// # Errors
    /// `unavailable` if it is exceeded or the search was cancelled.
    pub(super) fn check(&self) -> Result<()> {
        let SearchBudget { clock, cancellation, postings_max } = self.budget;
        let refused = if let Err(error) = cancellation.check() {
            error
        } else if postings_max.is_some_and(|most| self.work.get().steps() > most) {
            budget_error("it reads more of the index than one search may read")
        } else if clock.as_ref().map(|clock| clock.now()) > self.end {
            budget_error(&format!("it takes longer than {} milliseconds", limits::SEARCH_MILLIS))
        } else {
            return Ok(());
        };
        self.stopped.set(true);
        Err(refused)
    }

    /// Whether the budget stopped the search, as opposed to another error.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// The counts so far.
    pub(super) fn work(&self) -> SearchWork {
        self.work.get()
    }
}

impl SearchWork {
    /// The steps that the budget limits. Vectors and neighbours are bounded and cheaper.
    fn steps(&self) -> u64 {
        self.terms + self.postings + self.positions
    }
}

fn budget_error(why: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the search stopped: {why}"))
        .hint("Search with fewer words, and leave out words that many memories contain.")
}
