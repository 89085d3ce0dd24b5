//! Days, months and years of the calendar as ranges of time, all in UTC.

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

/// Returns the date of a time, in UTC.
pub fn date_of(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// Returns the first moment of a date, or the nearest possible one for a date at the end of the
/// calendar.
pub fn start_of(date: Date) -> Timestamp {
    let farthest = if date.year() < 0 { Timestamp::MIN } else { Timestamp::MAX };
    date.to_zoned(TimeZone::UTC).map_or(farthest, |start| start.timestamp())
}

/// Returns the range from `first` to before `end`.
pub fn date_range(first: Date, end: Date) -> Range<Timestamp> {
    start_of(first)..start_of(end)
}

/// Returns the range of a day.
pub fn day_range(date: Date) -> Range<Timestamp> {
    date_range(date, shift_date(date, 1.day()))
}

/// Returns the range of a month; `None` if the month does not exist.
pub fn month_range(year: i16, month: i8) -> Option<Range<Timestamp>> {
    let first = Date::new(year, month, 1).ok()?;
    Some(date_range(first, shift_date(first, 1.month())))
}

/// Returns the range of a year; `None` beyond the calendar.
pub fn year_range(year: i16) -> Option<Range<Timestamp>> {
    let first = Date::new(year, 1, 1).ok()?;
    Some(date_range(first, shift_date(first, 1.year())))
}

/// Shifts a date by days, weeks, months or years, at most to the end of the calendar.
pub fn shift_date(date: Date, by: Span) -> Date {
    date.saturating_add(by)
}

/// Shifts a time by a span; `None` beyond the calendar.
pub fn shift_time(time: Timestamp, by: Span) -> Option<Timestamp> {
    let there = time.to_zoned(TimeZone::UTC).checked_add(by).ok()?;
    Some(there.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_and_end_at_midnight() {
        let table = [
            (year_range(2024), "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            (month_range(2024, 2), "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            (month_range(2023, 12), "2023-12-01T00:00:00Z", "2024-01-01T00:00:00Z"),
            (
                Date::new(2024, 2, 29).ok().map(day_range),
                "2024-02-29T00:00:00Z",
                "2024-03-01T00:00:00Z",
            ),
        ];
        for (found, from, until) in table {
            let found = found.expect("it is in the calendar");
            assert_eq!(
                (found.start.to_string(), found.end.to_string()),
                (from.into(), until.into())
            );
        }
    }

    #[test]
    fn the_end_of_the_calendar_causes_no_failure() {
        assert_eq!(year_range(9999).map(|range| range.end), Some(Timestamp::MAX));
        assert_eq!(month_range(2024, 13), None);
        assert_eq!(shift_time(Timestamp::MAX, 1.year()), None);
    }
}
