//! What a server did in each minute of the last hour: numbers and times of calls by verb, and sizes of the
//! home; names of the program and numbers alone.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Minutes that the history has.
pub(crate) const HISTORY_MINUTES: usize = 60;

/// The calls of one verb in one minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallCount {
    pub(crate) calls: u64,
    /// Those that failed.
    pub(crate) errors: u64,
    /// What all of them took.
    pub(crate) took: Duration,
    /// What the slowest took.
    pub(crate) slowest: Duration,
}

impl CallCount {
    /// The calls of both.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            errors: self.errors + other.errors,
            took: self.took + other.took,
            slowest: self.slowest.max(other.slowest),
        }
    }

    /// What a call took on average; zero without one.
    #[must_use]
    pub(crate) fn mean(self) -> Duration {
        let calls = u32::try_from(self.calls).unwrap_or(u32::MAX);
        self.took.checked_div(calls).unwrap_or_default()
    }
}

/// The sizes of the home at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HomeSizes {
    /// Disk space of the store, in bytes.
    pub(crate) store_bytes: u64,
    /// Memories in the search index.
    pub(crate) memories: u64,
    /// Memories without a vector.
    pub(crate) unembedded: u64,
}

/// One minute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HistoryMinute {
    /// The calls of each verb.
    pub(crate) verbs: BTreeMap<&'static str, CallCount>,
    /// The sizes, once they were measured in this minute.
    pub(crate) sizes: Option<HomeSizes>,
}

impl HistoryMinute {
    /// The calls of all verbs.
    pub(crate) fn all(&self) -> CallCount {
        self.verbs.values().copied().fold(CallCount::default(), CallCount::plus)
    }
}

/// The last hour, minute by minute.
#[derive(Debug, Default)]
pub(crate) struct CallHistory(Mutex<VecDeque<KnownMinute>>);

/// A minute in which something was noted.
#[derive(Debug)]
struct KnownMinute {
    /// Minutes since 1970.
    number: i64,
    minute: HistoryMinute,
}

impl CallHistory {
    /// A call has ended at this time.
    pub(crate) fn note_call(&self, verb: &'static str, is_ok: bool, took: Duration, at: Timestamp) {
        let call = CallCount { calls: 1, errors: u64::from(!is_ok), took, slowest: took };
        self.change(at, |minute| {
            let count = minute.verbs.entry(verb).or_default();
            *count = count.plus(call);
        });
    }

    /// The home had these sizes at this time.
    pub(crate) fn note_sizes(&self, sizes: HomeSizes, at: Timestamp) {
        self.change(at, |minute| minute.sizes = Some(sizes));
    }

    /// The minutes up to this time, the earliest first: [`HISTORY_MINUTES`] of them.
    pub(crate) fn minutes(&self, now: Timestamp) -> Vec<HistoryMinute> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = minute_number(now);
        let numbers = (0..HISTORY_MINUTES as i64).rev().map(|before| last - before);
        let minute = |number| known.iter().find(|known| known.number == number);
        let minutes = numbers.map(minute);
        minutes.map(|known| known.map(|known| known.minute.clone()).unwrap_or_default()).collect()
    }

    /// Changes the minute of this time. What comes from a clock that was set back is left out.
    fn change(&self, at: Timestamp, change: impl FnOnce(&mut HistoryMinute)) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = minute_number(at);
        if known.back().is_none_or(|last| last.number < number) {
            known.push_back(KnownMinute { number, minute: HistoryMinute::default() });
            let oldest = number - HISTORY_MINUTES as i64;
            known.retain(|known| known.number > oldest);
        }
        if let Some(known) = known.iter_mut().rev().find(|known| known.number == number) {
            change(&mut known.minute);
        }
    }
}

/// When the first minute of a history up to this time begins.
pub(crate) fn history_begin(now: Timestamp) -> Timestamp {
    let minutes = minute_number(now) - (HISTORY_MINUTES as i64 - 1);
    Timestamp::from_second(minutes * 60).unwrap_or(now)
}

/// The length of a step of the history.
pub(crate) const HISTORY_STEP: SignedDuration = SignedDuration::from_mins(1);

fn minute_number(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn each_minute_of_the_last_hour_has_its_calls_and_its_sizes() {
        let history = CallHistory::default();
        let ms = Duration::from_millis;
        history.note_call("save_memory", true, ms(2), at(0));
        history.note_call("save_memory", false, ms(6), at(59));
        history.note_call("search_memory", true, ms(3), at(120));
        let sizes = HomeSizes { store_bytes: 9, memories: 3, unembedded: 1 };
        history.note_sizes(sizes, at(125));
        let minutes = history.minutes(at(130));
        assert_eq!(minutes.len(), HISTORY_MINUTES);
        let [first, second, third] = &minutes[HISTORY_MINUTES - 3..] else { panic!("three") };
        let saves = CallCount { calls: 2, errors: 1, took: ms(8), slowest: ms(6) };
        assert_eq!(first.verbs["save_memory"], saves);
        assert_eq!((saves.mean(), CallCount::default().mean()), (ms(4), ms(0)));
        assert_eq!(second, &HistoryMinute::default());
        assert_eq!((third.all().calls, third.sizes), (1, Some(sizes)));
        assert_eq!(history_begin(at(130)), at(120 - 59 * 60));
        // An hour later, the first minutes are over.
        history.note_call("save_memory", true, ms(1), at(3_660));
        let minutes = history.minutes(at(3_660));
        assert_eq!(minutes.iter().map(|minute| minute.all().calls).sum::<u64>(), 2);
        // A clock that was set back adds to a minute that is known, and makes none.
        history.note_call("save_memory", true, ms(1), at(125));
        history.note_call("save_memory", true, ms(1), at(60));
        assert_eq!(
            history.minutes(at(3_660)).iter().map(|minute| minute.all().calls).sum::<u64>(),
            3
        );
    }
}
