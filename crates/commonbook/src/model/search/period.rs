//! The times of a query's operators: `2026-11-01`, `2026-11`, `yesterday`, `7d`.

use std::ops::Range;

use commonbook_text::dates::period::{parse_period, parse_period_in};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::base::error::{Error, Result};
use crate::base::input::means_end;

/// The forms that [`parse_query_time`] accepts, for a message.
pub(super) const ACCEPTED_TIMES: &str = "a time such as 2026-11-01T09:30:00Z, a date, a month \
     (2026-11), a year, today, yesterday, or an age (10m, 12h, 7d, 3w, 2mo, 1y)";

/// The forms of a time in a JSON Schema, as far as a pattern can express them.
pub(crate) const TIME_PATTERN: &str =
    "^(today|yesterday|[0-9]{4}(-[0-9]{2}){0,2}|[0-9]+(m|h|d|w|mo|y)|[-+]?[0-9].*:.*)$";

/// The end of a day, a month or a year that a field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeriodBound {
    /// Its first moment.
    First,
    /// Its last nanosecond.
    Last,
}

impl PeriodBound {
    /// This bound of a period.
    fn of(self, period: &Range<Timestamp>) -> Timestamp {
        match self {
            Self::Last if period.start < period.end => {
                period.end.checked_sub(1.nanosecond()).unwrap_or(period.end)
            }
            _ => period.start,
        }
    }
}

/// Parses the time in a field of a request.
///
/// # Errors
/// `invalid` on the field if the text is not a time.
pub(crate) fn parse_period_bound(
    field: &str,
    text: &str,
    bound: PeriodBound,
    now: Timestamp,
) -> Result<Timestamp> {
    let invalid = || Error::invalid(field, format!("not a time; expected {ACCEPTED_TIMES}"));
    parse_query_time(text, bound, now).ok_or_else(invalid)
}

/// Parses the times in the fields `since` and `until` of a request.
///
/// # Errors
/// `invalid` on the field if a text is not a time, or if `until` is before `since`.
pub(crate) fn period_bounds(
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let bound = |field, text: Option<&str>, bound| {
        text.map(|text| parse_period_bound(field, text, bound, now)).transpose()
    };
    let since = bound("since", since, PeriodBound::First)?;
    let until = bound("until", until, PeriodBound::Last)?;
    if since.zip(until).is_some_and(|(since, until)| until < since) {
        return Err(Error::invalid("until", "must not be earlier than since"));
    }
    Ok((since, until))
}

/// Parses a time of a query operator, in UTC unless it has an offset; see [`parse_period`].
pub(super) fn parse_query_time(
    text: &str,
    bound: PeriodBound,
    now: Timestamp,
) -> Option<Timestamp> {
    parse_period(text, now).map(|period| bound.of(&period))
}

/// The end of a period that a field, or an operator, of this name means; `None` if it has no time.
fn bound_of(field: &str) -> Option<PeriodBound> {
    match field {
        "since" | "valid_from" => Some(PeriodBound::First),
        _ => means_end(field).then_some(PeriodBound::Last),
    }
}

/// The two times of a span: `2026-11-01..2026-11-15`.
pub(super) fn split_span(text: &str) -> Option<(&str, &str)> {
    let (first, last) = text.split_once("..")?;
    (!first.is_empty() && !last.is_empty()).then_some((first, last))
}

/// The time in a field of this name, or after an operator of this name, with the days of a zone: as the moment
/// that every reader understands alike. `None` if the field has no time, or its text means the same everywhere.
#[must_use]
pub fn time_in_zone(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Option<String> {
    if field == "between" {
        return span_in_zone(text, now, zone);
    }
    let bound = bound_of(field)?;
    let period = parse_period_in(text, now, zone)?;
    // An age, and a time with an offset, stay as they are written.
    (parse_period(text, now)? != period).then(|| bound.of(&period).to_string())
}

/// The span with both times as [`time_in_zone`] writes them; `None` if neither differs.
fn span_in_zone(text: &str, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let (first, last) = split_span(text)?;
    let (since, until) =
        (time_in_zone("since", first, now, zone), time_in_zone("until", last, now, zone));
    let differs = since.is_some() || until.is_some();
    let (since, until) = (since.as_deref().unwrap_or(first), until.as_deref().unwrap_or(last));
    differs.then(|| format!("{since}..{until}"))
}

/// The moment that a day, a month, a year or an age means in a field that takes moments alone. `None` if the
/// text is no such time, or the field has none.
#[must_use]
pub fn moment_in_zone(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let period = parse_period_in(text, now, zone)?;
    Some(bound_of(field)?.of(&period).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_a_first_and_a_last_moment() {
        let now = "2026-11-21T08:00:00Z".parse().expect("it is a time");
        let time = |text, bound| parse_query_time(text, bound, now).map(|time| time.to_string());
        let table = [
            ("2026-11-01", "2026-11-01T00:00:00Z", "2026-11-01T23:59:59.999999999Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-02-29T23:59:59.999999999Z"),
            ("yesterday", "2026-11-20T00:00:00Z", "2026-11-20T23:59:59.999999999Z"),
            ("7d", "2026-11-14T08:00:00Z", "2026-11-14T08:00:00Z"),
            ("2026-11-01T09:30:00+02:00", "2026-11-01T07:30:00Z", "2026-11-01T07:30:00Z"),
        ];
        for (text, first, last) in table {
            assert_eq!(time(text, PeriodBound::First).as_deref(), Some(first), "{text}");
            assert_eq!(time(text, PeriodBound::Last).as_deref(), Some(last), "{text}");
        }
        assert_eq!(time("soonish", PeriodBound::First), None);
    }
}
