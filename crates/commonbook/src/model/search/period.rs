//! The times that a query's operators take: `2026-11-01`, `2026-11`, `yesterday`, `7d`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use crate::base::error::{Error, Result};
use commonbook_text::dates::calendar;

/// What [`parse_query_time`] reads, for a message.
pub(super) const ACCEPTED_TIMES: &str = "a time such as 2026-11-01T09:30:00Z, a date, a month \
     (2026-11), a year, today, yesterday, or so long ago (12h, 7d, 3w, 2m months, 1y)";

/// The forms of a time in a JSON Schema, as far as one can tell them.
pub(super) fn time_schema() -> serde_json::Value {
    let short = "^(today|yesterday|[0-9]{4}(-[0-9]{2}){0,2}|[0-9]+[hdwmy]|[-+]?[0-9].*:.*)$";
    serde_json::json!([{"format": "date-time"}, {"pattern": short}])
}

/// Which end of a day, a month or a year is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeriodBound {
    /// Its first moment.
    First,
    /// Its last nanosecond.
    Last,
}

/// The moment that a field's text tells.
///
/// # Errors
/// `invalid` on the field when it tells none.
pub(crate) fn parse_period_bound(
    field: &str,
    text: &str,
    edge: PeriodBound,
    now: Timestamp,
) -> Result<Timestamp> {
    parse_query_time(text, edge, now)
        .ok_or_else(|| Error::invalid(field, format!("this is no time; it takes {ACCEPTED_TIMES}")))
}

/// The moment that a text tells, in UTC where it names no offset; nothing when it tells none.
pub(super) fn parse_query_time(text: &str, edge: PeriodBound, now: Timestamp) -> Option<Timestamp> {
    let today = calendar::date_of(now);
    let range = match text {
        "today" => calendar::day_range(today),
        "yesterday" => calendar::day_range(calendar::shift_date(today, -1.day())),
        _ => match digits_and_dashes(text) {
            Some(range) => range,
            None => return parse_exact(text).or_else(|| parse_relative_age(text, now)),
        },
    };
    match edge {
        PeriodBound::First => Some(range.start),
        PeriodBound::Last => Some(range.end.checked_sub(1.nanosecond()).unwrap_or(range.end)),
    }
}

/// A date, a month or a year: `2026-11-01`, `2026-11`, `2026`.
fn digits_and_dashes(text: &str) -> Option<std::ops::Range<Timestamp>> {
    if !text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return None;
    }
    let parts: Vec<&str> = text.split('-').collect();
    let year = parts.first().filter(|year| year.len() == 4)?.parse().ok()?;
    if parts[1..].iter().any(|part| part.len() != 2) {
        return None;
    }
    match parts[1..] {
        [] => calendar::year_range(year),
        [month] => calendar::month_range(year, month.parse().ok()?),
        [month, day] => {
            let date = Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()?;
            Some(calendar::day_range(date))
        }
        _ => None,
    }
}

/// RFC 3339, or a date with a time of day in UTC.
fn parse_exact(text: &str) -> Option<Timestamp> {
    if !text.contains(':') {
        return None;
    }
    let civil = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| civil().map(|zoned| zoned.timestamp()))
}

/// So long ago: `12h`, `7d`, `3w`, `2m`, `1y`.
fn parse_relative_age(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = text.chars().next_back()?;
    let number = text.strip_suffix(unit)?;
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i64 = number.parse().ok()?;
    let back = match unit {
        'h' => Span::new().try_hours(number),
        'd' => Span::new().try_days(number),
        'w' => Span::new().try_weeks(number),
        'm' => Span::new().try_months(number),
        'y' => Span::new().try_years(number),
        _ => return None,
    };
    calendar::shift_time(now, back.ok()?.negate())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, edge: PeriodBound) -> Option<String> {
        let now = "2026-11-21T08:00:00Z".parse().expect("it is a time");
        parse_query_time(text, edge, now).map(|time| time.to_string())
    }

    #[test]
    fn times_are_read_with_both_edges() {
        let table = [
            ("2026-11-01", "2026-11-01T00:00:00Z", "2026-11-01T23:59:59.999999999Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-02-29T23:59:59.999999999Z"),
            ("2025", "2025-01-01T00:00:00Z", "2025-12-31T23:59:59.999999999Z"),
            ("today", "2026-11-21T00:00:00Z", "2026-11-21T23:59:59.999999999Z"),
            ("yesterday", "2026-11-20T00:00:00Z", "2026-11-20T23:59:59.999999999Z"),
            ("12h", "2026-11-20T20:00:00Z", "2026-11-20T20:00:00Z"),
            ("7d", "2026-11-14T08:00:00Z", "2026-11-14T08:00:00Z"),
            ("3w", "2026-10-31T08:00:00Z", "2026-10-31T08:00:00Z"),
            ("9m", "2026-02-21T08:00:00Z", "2026-02-21T08:00:00Z"),
            ("1y", "2025-11-21T08:00:00Z", "2025-11-21T08:00:00Z"),
            ("2026-11-01T09:30:00+02:00", "2026-11-01T07:30:00Z", "2026-11-01T07:30:00Z"),
            ("2026-11-01T09:30", "2026-11-01T09:30:00Z", "2026-11-01T09:30:00Z"),
            ("2026-11-01 09:30:15", "2026-11-01T09:30:15Z", "2026-11-01T09:30:15Z"),
        ];
        for (text, first, last) in table {
            assert_eq!(told(text, PeriodBound::First).as_deref(), Some(first), "{text}");
            assert_eq!(told(text, PeriodBound::Last).as_deref(), Some(last), "{text}");
        }
    }

    #[test]
    fn what_tells_no_time_is_not_guessed_at() {
        let table = [
            "",
            "soonish",
            "d",
            "-7d",
            "7x",
            "7",
            "20261101",
            "2026-13",
            "2026-02-30",
            "2026-1-1",
            "26-11-01",
            "99999999999999999999d",
            "99999999y",
            "2026-11-01-02",
            "12:30",
            "Today",
            "7日",
        ];
        for text in table {
            assert_eq!(told(text, PeriodBound::First), None, "{text:?}");
        }
    }
}
