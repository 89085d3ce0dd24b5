//! Rates of events: how many happened in each step of the last hour, day or week.

use commonbook_text::string_enum;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventKind;
use crate::base::error::{Error, ErrorKind, Result};

string_enum! {
    /// The time before now whose events are counted.
    RatePeriod {
        /// An hour, in steps of a minute.
        Hour = "hour",
        /// A day, in steps of 15 minutes.
        Day = "day",
        /// A week, in steps of two hours.
        Week = "week",
    }
}

/// Counts the events of the workspace in each step of the last hour, day or week, by kind. Counts
/// only events that you may see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetEventRates {
    /// The time before now: `hour`, the default, `day` or `week`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<RatePeriod>,
}

/// Numbers of events over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventRates {
    /// When the first step begins.
    pub since: Timestamp,
    /// When the last step ends; it is not over yet.
    pub until: Timestamp,
    /// The length of a step, in seconds.
    pub step_seconds: u64,
    /// The first event that is counted, if the period has more than one call counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_since: Option<Timestamp>,
    /// The kinds of events that occur, by name.
    pub items: Vec<KindRate>,
}

/// The numbers of events of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindRate {
    /// The kind.
    pub kind: EventKind,
    /// The number in each step, the earliest first.
    pub counts: Vec<u64>,
}

/// The steps of time in which events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSteps {
    /// When the first one begins.
    pub since: Timestamp,
    /// The length of each.
    pub step: SignedDuration,
    /// Their number.
    pub count: u32,
}

/// The number of events of one kind in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTally {
    /// The step, from 0.
    pub step: u64,
    /// The kind.
    pub kind: EventKind,
    /// The number of events.
    pub count: u64,
}

impl RatePeriod {
    /// The length of a step, and the number of steps.
    const fn steps(self) -> (SignedDuration, u32) {
        match self {
            Self::Hour => (SignedDuration::from_mins(1), 60),
            Self::Day => (SignedDuration::from_mins(15), 96),
            Self::Week => (SignedDuration::from_hours(2), 84),
        }
    }
}

impl RateSteps {
    /// The steps of this period whose last one contains `now`. A step begins at a multiple of its
    /// length, so that the same events are in the same step a moment later.
    ///
    /// # Errors
    /// `internal` for a time at the end of the calendar.
    pub fn before(now: Timestamp, period: RatePeriod) -> Result<Self> {
        let (step, count) = period.steps();
        let seconds = step.as_secs();
        let last = now.as_second().div_euclid(seconds);
        let first = last + 1 - i64::from(count);
        let since = Timestamp::from_second(first * seconds).map_err(|error| {
            Error::new(ErrorKind::Internal, "the time has no period before it").with_cause(error)
        })?;
        Ok(Self { since, step, count })
    }

    /// When the last step ends.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        let length = self.step.saturating_mul(i32::try_from(self.count).unwrap_or(i32::MAX));
        self.since.saturating_add(length).unwrap_or(self.since)
    }

    /// The rates that these numbers make.
    #[must_use]
    pub fn rates(&self, tallies: &[EventTally], counted_since: Option<Timestamp>) -> EventRates {
        let mut items: Vec<KindRate> = Vec::new();
        let mut tallies = tallies.to_vec();
        tallies.sort_by_key(|tally| (tally.kind.name(), tally.step));
        for EventTally { step, kind, count } in tallies {
            if items.last().is_none_or(|item| item.kind != kind) {
                items.push(KindRate { kind, counts: vec![0; self.count as usize] });
            }
            let counts = items.last_mut().map(|item| &mut item.counts);
            let place = usize::try_from(step).ok();
            if let Some(counted) = counts.zip(place).and_then(|(counts, at)| counts.get_mut(at)) {
                *counted += count;
            }
        }
        EventRates {
            since: self.since,
            until: self.until(),
            step_seconds: self.step.as_secs().unsigned_abs(),
            counted_since,
            items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_contains_now_and_begins_at_a_multiple_of_its_length() {
        let now: Timestamp = "2026-03-01T12:34:56Z".parse().unwrap();
        for (period, since, until) in [
            (RatePeriod::Hour, "2026-03-01T11:35:00Z", "2026-03-01T12:35:00Z"),
            (RatePeriod::Day, "2026-02-28T12:45:00Z", "2026-03-01T12:45:00Z"),
            (RatePeriod::Week, "2026-02-22T14:00:00Z", "2026-03-01T14:00:00Z"),
        ] {
            let steps = RateSteps::before(now, period).unwrap();
            assert_eq!(
                (steps.since.to_string(), steps.until().to_string()),
                (since.into(), until.into())
            );
        }
    }
}
