//! The clock that verbs read, passed in instead of global.

use std::sync::{Mutex, PoisonError};

pub use jiff::Timestamp;

/// A source of time.
pub trait Clock: Send + Sync {
    /// The present time in whole milliseconds, the resolution of stored rows.
    fn now(&self) -> Timestamp;
}

/// The machine's clock. Nothing else reads it.
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
    /// A clock that shows this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(Mutex::new(whole_milliseconds(time)))
    }

    /// Sets the clock, forwards or backwards.
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
