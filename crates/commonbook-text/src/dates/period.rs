//! Periods in the short forms of a query's operators: `2026-11-01`, `2026-11`, `yesterday`, `7d`.

use std::ops::Range;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use super::calendar;
use super::lexer::{DateToken, WrittenDate};

/// Parses a period: `today`, `yesterday`, a date, a month or a year (any year of four digits), a time
/// (RFC 3339, or a date with a time of day in UTC), or an age (`10m`, `12h`, `7d`, `3w`, `2mo`,
/// `1y`). A time and an age are one moment: start and end are equal. Returns `None` for any other
/// text.
#[must_use]
pub fn parse_period(text: &str, now: Timestamp) -> Option<Range<Timestamp>> {
    if let DateToken::Day(days @ (-1 | 0)) = DateToken::of(text)
        && text != "tonight"
    {
        let day = calendar::shift_date(calendar::date_of(now), days.days());
        return Some(calendar::day_range(day));
    }
    let moment = || parse_exact(text).or_else(|| parse_age(text, now));
    parse_calendar_period(text).or_else(|| moment().map(|moment| moment..moment))
}

/// Parses a period as [`parse_period`] does, in this zone: a day begins and ends where its clocks show
/// midnight.
#[must_use]
pub fn parse_period_in(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Range<Timestamp>> {
    let moved = |time: Timestamp, from: &TimeZone, to: &TimeZone| {
        let civil = time.to_zoned(from.clone()).datetime();
        civil.to_zoned(to.clone()).map_or(time, |zoned| zoned.timestamp())
    };
    let period = parse_period(text, moved(now, zone, &TimeZone::UTC))?;
    let is_moment = period.start == period.end;
    let has_offset = is_moment && text.parse::<Timestamp>().is_ok();
    match is_moment && (has_offset || !text.contains(':')) {
        // A time with an offset, and an age, are the same everywhere.
        true => parse_period(text, now),
        false => {
            let here = |time| moved(time, &TimeZone::UTC, zone);
            Some(here(period.start)..here(period.end))
        }
    }
}

/// `2026-11-01`, `2026-11`, `2026`.
fn parse_calendar_period(text: &str) -> Option<Range<Timestamp>> {
    if let Some(date) = WrittenDate::parse(text, '-') {
        return date.range();
    }
    let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    is_year.then(|| calendar::year_range(text.parse().ok()?)).flatten()
}

/// RFC 3339, or a date with a time of day in UTC.
fn parse_exact(text: &str) -> Option<Timestamp> {
    if !text.contains(':') {
        return None;
    }
    let civil = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| civil().map(|zoned| zoned.timestamp()))
}

/// The moment that long ago: `10m`, `12h`, `7d`, `3w`, `2mo`, `1y`.
fn parse_age(text: &str, now: Timestamp) -> Option<Timestamp> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: i64 = number.parse().ok()?;
    let age = match unit {
        "m" => Span::new().try_minutes(number),
        "h" => Span::new().try_hours(number),
        "d" => Span::new().try_days(number),
        "w" => Span::new().try_weeks(number),
        "mo" => Span::new().try_months(number),
        "y" => Span::new().try_years(number),
        _ => return None,
    };
    calendar::shift_time(now, age.ok()?.negate())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(text: &str) -> Option<[String; 2]> {
        let now = "2026-11-21T08:00:00Z".parse().expect("it is a time");
        parse_period(text, now).map(|range| [range.start.to_string(), range.end.to_string()])
    }

    #[test]
    fn periods_are_read_in_their_short_forms() {
        let table = [
            ("2026-11-01", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2025", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("1815", "1815-01-01T00:00:00Z", "1816-01-01T00:00:00Z"),
            ("today", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"),
            ("yesterday", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
        ];
        for (text, from, until) in table {
            assert_eq!(period(text), Some([from.to_owned(), until.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_time_and_an_age_are_one_moment() {
        let table = [
            ("12h", "2026-11-20T20:00:00Z"),
            ("7d", "2026-11-14T08:00:00Z"),
            ("3w", "2026-10-31T08:00:00Z"),
            ("10m", "2026-11-21T07:50:00Z"),
            ("9mo", "2026-02-21T08:00:00Z"),
            ("1y", "2025-11-21T08:00:00Z"),
            ("2026-11-01T09:30:00+02:00", "2026-11-01T07:30:00Z"),
            ("2026-11-01T09:30", "2026-11-01T09:30:00Z"),
            ("2026-11-01 09:30:15", "2026-11-01T09:30:15Z"),
        ];
        for (text, moment) in table {
            assert_eq!(period(text), Some([moment.to_owned(), moment.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_day_is_that_of_its_zone() {
        let now = "2026-11-21T23:30:00Z".parse().expect("it is a time");
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let table = [
            ("today", "2026-11-21T22:00:00Z", "2026-11-22T22:00:00Z"),
            ("yesterday", "2026-11-20T22:00:00Z", "2026-11-21T22:00:00Z"),
            ("2026-11", "2026-10-31T22:00:00Z", "2026-11-30T22:00:00Z"),
            ("2026-11-01 09:30", "2026-11-01T07:30:00Z", "2026-11-01T07:30:00Z"),
            ("2026-11-01T09:30:00Z", "2026-11-01T09:30:00Z", "2026-11-01T09:30:00Z"),
            ("12h", "2026-11-21T11:30:00Z", "2026-11-21T11:30:00Z"),
        ];
        for (text, from, until) in table {
            let range = parse_period_in(text, now, &zone).expect(text);
            assert_eq!(
                (range.start.to_string(), range.end.to_string()),
                (from.to_owned(), until.to_owned()),
                "{text}"
            );
        }
        assert_eq!(parse_period_in("soonish", now, &zone), None);
    }

    #[test]
    fn other_texts_are_refused() {
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
            "tonight",
            "tomorrow",
            "7日",
            "2026/11/01",
        ];
        for text in table {
            assert_eq!(period(text), None, "{text:?}");
        }
    }
}
