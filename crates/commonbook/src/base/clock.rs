//! Time is given, not taken: the clock that verbs read.

use std::sync::{Mutex, PoisonError};

pub use jiff::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The time now, in whole milliseconds, which is what rows keep.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock; the only place that reads it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the one place where time is read")]
        whole_milliseconds(Timestamp::now())
    }
}

/// A clock that stands still until it is set; for tests.
#[derive(Debug)]
pub struct FixedClock(Mutex<Timestamp>);

impl FixedClock {
    /// A clock that stands at this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(Mutex::new(whole_milliseconds(time)))
    }

    /// Moves the clock to this time, forwards or backwards.
    pub fn set(&self, time: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = whole_milliseconds(time);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This time without its microseconds.
#[must_use]
pub fn whole_milliseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(time.as_millisecond()).unwrap_or(time)
}
