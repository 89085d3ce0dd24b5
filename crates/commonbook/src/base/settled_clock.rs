//! Settled time: how far a clock can be trusted with the expiry of data.
//!
//! A machine's clock can jump by a day: a laptop wakes up, a time zone or a time server is wrong.
//! Nothing may expire because of one reading of such a clock. So a sweep uses the *confirmed* time:
//! an earlier reading of the clock that the clock has not fallen behind since, for at least one
//! hour of its own time. It is one to two hours behind a correct clock; with one reading a day, it
//! is the previous reading.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time that the clock must advance to confirm a reading.
pub const CONFIRMATION_DELAY: SignedDuration = SignedDuration::from_hours(1);

/// The state of a workspace's clock between readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettledClock {
    /// The confirmed time.
    pub confirmed: Timestamp,
    /// A reading that is confirmed if the clock advances.
    pub candidate: Timestamp,
}

impl SettledClock {
    /// The state after the first reading: no time is confirmed.
    #[must_use]
    pub const fn starting(now: Timestamp) -> Self {
        Self { confirmed: Timestamp::UNIX_EPOCH, candidate: now }
    }

    /// The state after another reading.
    #[must_use]
    pub fn observe(self, now: Timestamp) -> Self {
        if now < self.candidate {
            // The clock went back: later readings are void, confirmed ones too.
            return Self { confirmed: self.confirmed.min(now), candidate: now };
        }
        if now.duration_since(self.candidate) >= CONFIRMATION_DELAY {
            return Self { confirmed: self.candidate, candidate: now };
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

    fn confirmed_after(readings: &[f64]) -> f64 {
        let clock =
            readings[1..].iter().fold(SettledClock::starting(at(readings[0])), |clock, hours| {
                clock.observe(at(*hours))
            });
        clock.confirmed.duration_since(at(0.0)).as_secs_f64() / 3600.0
    }

    #[test]
    fn time_is_confirmed_when_the_clock_has_advanced_for_an_hour() {
        let table: [(&str, &[f64], f64); 7] = [
            ("one reading", &[0.0], -500_000.0),
            ("it advances", &[0.0, 0.5, 1.0, 1.5, 2.0], 1.0),
            ("a day ahead for a moment", &[0.0, 24.0, 0.1, 1.1], 0.1),
            ("a day ahead, several readings", &[0.0, 24.0, 24.2, 24.9, 0.9, 2.0], 0.9),
            ("a day ahead for good", &[0.0, 24.0, 25.0], 24.0),
            ("a day back", &[48.0, 49.0, 24.0, 25.0], 24.0),
            ("one reading a day", &[0.0, 24.0, 48.0, 72.0], 48.0),
        ];
        for (what, readings, hours) in table {
            assert!(
                (confirmed_after(readings) - hours).abs() < 0.01,
                "{what}: {}",
                confirmed_after(readings)
            );
        }
    }

    #[test]
    fn confirmed_time_is_never_ahead_of_the_clock() {
        let mut clock = SettledClock::starting(at(0.0));
        for reading in [3.0, 30.0, 2.0, 26.0, 1.0, 1.5, 50.0, -20.0, 5.0] {
            clock = clock.observe(at(reading));
            assert!(clock.confirmed <= at(reading), "{reading}");
        }
    }
}
