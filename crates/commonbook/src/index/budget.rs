//! What one search may cost, what it has cost, and when it stops.

use std::cell::Cell;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::base::cancellation::Cancellation;
use crate::base::clock::Clock;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;

/// Steps after which a search looks at its budget again.
const CHECK_INTERVAL_STEPS: u64 = 16_384;

/// How much one search may look at, how long it may take, and whether anybody still waits for it.
///
/// A search over its budget fails as a whole: a page that lacks hits looks like one that is complete.
#[derive(Clone, Default)]
pub struct SearchBudget {
    clock: Option<Arc<dyn Clock>>,
    cancellation: Cancellation,
    postings_max: Option<u64>,
}

impl SearchBudget {
    /// The budget of every search that an agent asks for: [`limits::SEARCH_POSTINGS`] and
    /// [`limits::SEARCH_MILLIS`], and less when it is cancelled.
    #[must_use]
    pub fn of(clock: &Arc<dyn Clock>, cancellation: &Cancellation) -> Self {
        Self {
            clock: Some(Arc::clone(clock)),
            cancellation: cancellation.clone(),
            postings_max: Some(limits::SEARCH_POSTINGS),
        }
    }

    /// The same with this many postings.
    #[must_use]
    pub fn with_postings(self, postings_max: u64) -> Self {
        Self { postings_max: Some(postings_max), ..self }
    }
}

/// What a search looked at. In two homes that differ only in what the caller does not see, it is the
/// same to the last digit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// Terms that were looked up in dictionaries.
    pub terms: u64,
    /// Postings that were read, and memories beyond the written index that were asked for a word.
    pub postings: u64,
    /// Positions of words that were read for phrases.
    pub positions: u64,
    /// Vectors that were compared, whole or by their signs.
    pub vectors: u64,
    /// Memories of sessions that were looked at for what stands around a hit.
    pub neighbours: u64,
    /// Rows that the store was asked for.
    pub rows: u64,
}

/// Measures a search while it runs.
pub(super) struct SearchMeter<'b> {
    budget: &'b SearchBudget,
    end: Option<Timestamp>,
    work: Cell<SearchWork>,
    /// Steps up to which the budget is not looked at again.
    unchecked: Cell<u64>,
    stopped: Cell<bool>,
}

impl<'b> SearchMeter<'b> {
    /// Begins to measure: the time counts from now.
    pub(super) fn start(budget: &'b SearchBudget) -> Self {
        let begin = budget.clock.as_ref().map(|clock| clock.now());
        let duration = SignedDuration::from_millis(limits::SEARCH_MILLIS);
        let end = begin.and_then(|begin| begin.checked_add(duration).ok());
        let (work, unchecked) = (Cell::default(), Cell::new(CHECK_INTERVAL_STEPS));
        Self { budget, end, work, unchecked, stopped: Cell::new(false) }
    }

    /// Counts a term that is looked up.
    pub(super) fn term(&self) -> Result<()> {
        self.count(|work| work.terms += 1)
    }

    /// Counts postings that were read.
    pub(super) fn postings(&self, count: u64) -> Result<()> {
        self.count(|work| work.postings += count)
    }

    /// Counts positions that were read.
    pub(super) fn positions(&self, count: u64) -> Result<()> {
        self.count(|work| work.positions += count)
    }

    /// Counts vectors that were compared.
    pub(super) fn vectors(&self, count: u64) -> Result<()> {
        self.count(|work| work.vectors += count)
    }

    /// Counts memories of sessions that were looked at.
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

    /// Whether the search may go on.
    ///
    /// # Errors
    /// `unavailable` when it may not.
    pub(super) fn check(&self) -> Result<()> {
        let SearchBudget { clock, cancellation, postings_max } = self.budget;
        let refused = if let Err(gone) = cancellation.check() {
            gone
        } else if postings_max.is_some_and(|most| self.work.get().steps() > most) {
            budget_error("it reads more of the index than one search may")
        } else if clock.as_ref().map(|clock| clock.now()) > self.end {
            budget_error(&format!("it takes longer than {} milliseconds", limits::SEARCH_MILLIS))
        } else {
            return Ok(());
        };
        self.stopped.set(true);
        Err(refused)
    }

    /// Whether the search was stopped, and did not fail.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// What was counted so far.
    pub(super) fn work(&self) -> SearchWork {
        self.work.get()
    }
}

impl SearchWork {
    /// What the budget counts: vectors and neighbours are bounded by what is kept, and cost less.
    fn steps(&self) -> u64 {
        self.terms + self.postings + self.positions
    }
}

fn budget_error(why: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the search stopped: {why}"))
        .hint("Search with fewer words, and leave out those that stand in many memories.")
}
