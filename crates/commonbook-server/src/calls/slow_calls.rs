//! The slowest recent calls of verbs, for the operator of a server: names of the program and times alone.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use commonbook::model::caller::EntryPoint;
use jiff::{SignedDuration, Timestamp};

/// Calls that the list has at most.
const SLOW_CALLS_MAX: usize = 20;

/// How long a call stays in the list.
const SLOW_CALL_AGE_MAX: SignedDuration = SignedDuration::from_hours(1);

/// A call that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowCall {
    pub(crate) verb: &'static str,
    pub(crate) door: EntryPoint,
    /// `ok`, or the kind of its error.
    pub(crate) outcome: &'static str,
    pub(crate) took: Duration,
    /// When it ended.
    pub(crate) at: Timestamp,
}

/// The slowest calls of the last hour.
#[derive(Debug, Default)]
pub(crate) struct SlowCallList(Mutex<Vec<SlowCall>>);

impl SlowCallList {
    /// A call has ended.
    pub(crate) fn note(&self, call: SlowCall) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|earlier| is_recent(earlier, call.at));
        let place = calls.partition_point(|slower| slower.took >= call.took);
        if place < SLOW_CALLS_MAX {
            calls.insert(place, call);
            calls.truncate(SLOW_CALLS_MAX);
        }
    }

    /// The slowest calls of the hour before this time, the slowest first.
    pub(crate) fn slowest(&self, now: Timestamp) -> Vec<SlowCall> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().filter(|call| is_recent(call, now)).copied().collect()
    }
}

fn is_recent(call: &SlowCall, now: Timestamp) -> bool {
    now.duration_since(call.at) < SLOW_CALL_AGE_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(took_ms: u64, at_s: i64) -> SlowCall {
        SlowCall {
            verb: "save_memory",
            door: EntryPoint::Rest,
            outcome: "ok",
            took: Duration::from_millis(took_ms),
            at: Timestamp::from_second(at_s).unwrap(),
        }
    }

    #[test]
    fn the_list_has_the_slowest_calls_of_the_last_hour() {
        let list = SlowCallList::default();
        (1..=30).for_each(|took| list.note(call(took, 0)));
        let took = |now: i64| {
            let calls = list.slowest(Timestamp::from_second(now).unwrap());
            calls.iter().map(|call| call.took.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(took(0), (11..=30).rev().collect::<Vec<_>>());
        list.note(call(25, 3_000));
        assert_eq!(took(3_000).len(), SLOW_CALLS_MAX);
        assert_eq!(took(3_600), [25], "the earlier ones are over");
        list.note(call(1, 4_000));
        assert_eq!(took(4_000), [25, 1]);
    }
}
