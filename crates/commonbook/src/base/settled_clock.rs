//! Steady time: how far a clock can be relied on, for what is ended by time alone.
//!
//! A machine's clock can leap by a day: a laptop that wakes, a wrong zone, a server of time that
//! errs. Nothing may expire, and no checkpoint may be swept away, because of one look at such a
//! clock. So whoever sweeps goes by the *sure* time: one that the clock showed at an earlier look
//! and has not gone back behind since, for at least an hour of its own time. It stands one to two
//! hours behind a clock that goes well; where somebody looks only once a day, at the look before.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a clock has to go on before what it showed is sure.
pub const CONFIRMATION_DELAY: SignedDuration = SignedDuration::from_hours(1);

/// What is known of a clock; kept, one a workspace, between the looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettledClock {
    /// The time that is sure.
    pub sure: Timestamp,
    /// A time that the clock showed, which becomes sure if it goes on.
    pub shown: Timestamp,
}

impl SettledClock {
    /// What is known at the first look: nothing is sure yet.
    #[must_use]
    pub const fn starting(now: Timestamp) -> Self {
        Self { sure: Timestamp::UNIX_EPOCH, shown: now }
    }

    /// What is known after another look.
    #[must_use]
    pub fn observe(self, now: Timestamp) -> Self {
        if now < self.shown {
            // It went back: what it showed is void, and what was sure too, where that was later.
            return Self { sure: self.sure.min(now), shown: now };
        }
        if now.duration_since(self.shown) >= CONFIRMATION_DELAY {
            return Self { sure: self.shown, shown: now };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: f64) -> Timestamp {
        Timestamp::from_second((1.8e9 + hours * 3600.0) as i64).expect("a time")
    }

    fn sure_after(looks: &[f64]) -> f64 {
        let steady = looks[1..]
            .iter()
            .fold(SettledClock::starting(at(looks[0])), |known, hours| known.observe(at(*hours)));
        steady.sure.duration_since(at(0.0)).as_secs_f64() / 3600.0
    }

    #[test]
    fn time_is_sure_when_the_clock_has_gone_on_for_an_hour() {
        let table: [(&str, &[f64], f64); 7] = [
            ("one look", &[0.0], -500_000.0),
            ("it goes on", &[0.0, 0.5, 1.0, 1.5, 2.0], 1.0),
            ("a day ahead for a moment", &[0.0, 24.0, 0.1, 1.1], 0.1),
            ("a day ahead, several looks", &[0.0, 24.0, 24.2, 24.9, 0.9, 2.0], 0.9),
            ("a day ahead for good", &[0.0, 24.0, 25.0], 24.0),
            ("a day back", &[48.0, 49.0, 24.0, 25.0], 24.0),
            ("one look a day", &[0.0, 24.0, 48.0, 72.0], 48.0),
        ];
        for (what, looks, hours) in table {
            assert!((sure_after(looks) - hours).abs() < 0.01, "{what}: {}", sure_after(looks));
        }
    }

    #[test]
    fn sure_time_is_never_ahead_of_the_clock() {
        let mut known = SettledClock::starting(at(0.0));
        for look in [3.0, 30.0, 2.0, 26.0, 1.0, 1.5, 50.0, -20.0, 5.0] {
            known = known.observe(at(look));
            assert!(known.sure <= at(look), "{look}");
        }
    }
}
