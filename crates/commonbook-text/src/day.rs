//! Days and times of day, as short as a reader who knows the present time needs them.

use jiff::{SignedDuration, Timestamp};

/// The day of a time in UTC: `18 Nov`, and `18 Nov 2025` where the year is not the one of `now`.
///
/// The day is absolute: the same memory has the same date in every turn of a conversation.
#[must_use]
pub fn day(at: Timestamp, now: Timestamp) -> String {
    let same_year = at.strftime("%Y").to_string() == now.strftime("%Y").to_string();
    at.strftime(if same_year { "%-d %b" } else { "%-d %b %Y" }).to_string()
}

/// Nanoseconds of a day in UTC.
const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// The time of day of a time within the last 24 hours in UTC: `14:05`; of any other its [`day`], and of
/// midnight to the nanosecond, which stands for a whole day.
#[must_use]
pub fn day_or_time(at: Timestamp, now: Timestamp) -> String {
    let passed = now.duration_since(at);
    let is_new = !passed.is_negative() && passed < SignedDuration::from_hours(24);
    let is_whole_day = at.as_nanosecond().rem_euclid(DAY_NANOSECONDS) == 0;
    if is_new && !is_whole_day { at.strftime("%H:%M").to_string() } else { day(at, now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_stands_only_where_it_is_another() {
        let now: Timestamp = "2026-01-02T09:00:00Z".parse().expect("a time");
        let table = [
            ("2026-01-01T00:00:00Z", "1 Jan"),
            ("2025-12-31T23:59:59Z", "31 Dec 2025"),
            ("2027-11-18T00:00:00Z", "18 Nov 2027"),
        ];
        for (at, text) in table {
            assert_eq!(day(at.parse().expect("a time"), now), text);
        }
    }

    #[test]
    fn the_last_day_has_times() {
        let now: Timestamp = "2026-11-28T10:00:30Z".parse().expect("a time");
        let table = [
            ("2026-11-28T10:00:30Z", "10:00"),
            ("2026-11-28T09:05:59Z", "09:05"),
            ("2026-11-27T10:00:31Z", "10:00"),
            ("2026-11-27T10:00:30Z", "27 Nov"),
            ("2026-11-28T00:00:00Z", "28 Nov"),
            ("2026-11-28T00:00:07Z", "00:00"),
            ("2026-11-28T10:01:00Z", "28 Nov"),
            ("2025-11-28T09:00:00Z", "28 Nov 2025"),
        ];
        for (at, text) in table {
            assert_eq!(day_or_time(at.parse().expect("a time"), now), text);
        }
    }
}
