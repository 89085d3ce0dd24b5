//! Reads expressions of time that are made of others: `since May 2023`, `between March and May`,
//! `the week before 7 May 2023`.

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::TimeSpan;
use super::words::{self, DateWord, TimeUnit, WordGap};
use crate::dates::calendar;

/// Words before which a month or a year alone is a time.
const LEAD_WORDS: &[&str] = &[
    "after", "before", "between", "current", "during", "early", "in", "last", "late", "mid",
    "next", "previous", "since", "this", "till", "until",
];

/// Words before `of` that a time follows: `the end of May`.
const PERIOD_PARTS: &[&str] =
    &["beginning", "end", "half", "middle", "month", "rest", "start", "year"];

/// Something read, and the place of the word after it.
pub(super) type ParseResult<T> = Option<(usize, T)>;

/// The words of a text, with the time at which it is read.
pub(super) struct DateParser<'a> {
    pub(super) words: &'a [DateWord],
    pub(super) now: Timestamp,
    pub(super) today: Date,
}

impl<'a> DateParser<'a> {
    /// A reader of these words.
    pub(super) fn new(words: &'a [DateWord], now: Timestamp) -> Self {
        Self { words, now, today: calendar::date_of(now) }
    }

    /// The expression of time that begins at this word; the work has a fixed bound.
    pub(super) fn parse(&self, at: usize) -> ParseResult<Vec<TimeSpan>> {
        let one = |(next, span)| (next, vec![span]);
        self.parse_range(at)
            .or_else(|| self.parse_open_range(at).map(one))
            .or_else(|| self.parse_relation(at).map(one))
            .or_else(|| self.parse_moment(at, self.is_led(at)).map(one))
    }

    /// The word at a place, empty behind the last one.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    /// The word at a place, if only blanks part it from the one before.
    pub(super) fn adjacent_word(&self, at: usize) -> &'a str {
        if self.gap(at) == WordGap::Blank { self.word(at) } else { "" }
    }

    /// The word so many places before, whatever stands between.
    pub(super) fn previous_word(&self, at: usize, places: usize) -> &'a str {
        at.checked_sub(places).map_or("", |place| self.word(place))
    }

    pub(super) fn gap(&self, at: usize) -> WordGap {
        self.words.get(at).map_or(WordGap::Break, |word| word.gap)
    }

    fn is_led(&self, at: usize) -> bool {
        let before = if self.gap(at) == WordGap::Blank { self.previous_word(at, 1) } else { "" };
        LEAD_WORDS.contains(&before)
            || before == "of" && PERIOD_PARTS.contains(&self.previous_word(at, 2))
    }

    /// A moment that a word such as `since` has announced, with an article or without.
    fn parse_announced(&self, at: usize) -> ParseResult<TimeSpan> {
        if self.gap(at) != WordGap::Blank {
            return None;
        }
        let skipped = usize::from(matches!(self.word(at), "the" | "about" | "around"));
        self.parse_moment(at + skipped, true)
    }

    /// `between A and B`, `from A to B`: from the beginning of the first to the end of the second.
    fn parse_range(&self, at: usize) -> ParseResult<Vec<TimeSpan>> {
        let joints: &[&str] = match self.word(at) {
            "between" => &["and"],
            "from" => &["to", "until", "till", "through"],
            _ => return None,
        };
        let (next, first) = self.parse_announced(at + 1)?;
        if !joints.contains(&self.adjacent_word(next)) {
            return None;
        }
        let (end, second) = match self.adjacent_word(next + 1) {
            "now" => (next + 2, calendar::day_range(self.today).into()),
            _ => self.parse_announced(next + 1)?,
        };
        Some((end, join_spans(first, second)))
    }

    /// `since A`, `after A`, `before A`, `until A`, `by A`: everything on one side of it.
    fn parse_open_range(&self, at: usize) -> ParseResult<TimeSpan> {
        let word = self.word(at);
        let begin = match word {
            "since" | "after" | "before" | "until" | "till" | "by" => at + 1,
            "prior" if self.adjacent_word(at + 1) == "to" => at + 2,
            _ => return None,
        };
        // A month alone after `by` may as well be a person: "written by April".
        let (next, span) = match word {
            "by" if self.gap(begin) == WordGap::Blank => self.parse_moment(begin, false)?,
            _ => self.parse_announced(begin)?,
        };
        let (from, until) = self.latest_range(span);
        let side = match word {
            "since" => TimeSpan::Fixed { from, until: Timestamp::MAX },
            "after" => TimeSpan::Fixed { from: until, until: Timestamp::MAX },
            "before" | "prior" => TimeSpan::Fixed { from: Timestamp::MIN, until: from },
            _ => TimeSpan::Fixed { from: Timestamp::MIN, until },
        };
        Some((next, side))
    }

    /// `the week of A`, `the Friday before A`, `the weekend after A`, `two days before A`.
    fn parse_relation(&self, at: usize) -> ParseResult<TimeSpan> {
        let start = at + usize::from(self.word(at) == "the");
        let named = if start == at { self.word(start) } else { self.adjacent_word(start) };
        let (next, count, unit) = match self.parse_amount(start) {
            Some((next, (count, unit))) => (next, count, Some(unit)),
            None => (start + 1, 1, words::unit(named).filter(|_| !named.ends_with('s'))),
        };
        let weekday = words::weekday(named);
        if unit.is_none() && weekday.is_none() && named != "weekend" {
            return None;
        }
        let relation = self.adjacent_word(next);
        if !matches!(relation, "of" | "before" | "after" | "following") {
            return None;
        }
        let (end, span) = self.parse_announced(next + 1)?;
        let (from, until) = self.latest_range(span);
        // Of "the second week of May" the month is sure.
        if relation == "of" && from.duration_until(until) > SignedDuration::from_hours(7 * 24) {
            return Some((end, span));
        }
        let first = calendar::date_of(from);
        let last = calendar::date_of(until.checked_sub(1.nanosecond()).unwrap_or(until));
        let is_before = relation == "before";
        let range = match (unit, relation) {
            (None, "of") => {
                let monday = self.monday_of(first);
                let day = weekday.map_or(5, Weekday::to_monday_zero_offset);
                let begin = calendar::shift_date(monday, i64::from(day).days());
                calendar::date_range(begin, calendar::shift_date(begin, weekday_length(weekday)))
            }
            (None, _) => {
                let day = weekday.unwrap_or(Weekday::Saturday);
                let edge = if is_before { first } else { last };
                let begin = edge.nth_weekday(if is_before { -1 } else { 1 }, day).ok()?;
                calendar::date_range(begin, calendar::shift_date(begin, weekday_length(weekday)))
            }
            (Some(TimeUnit::Week), "of") => {
                let monday = self.monday_of(first);
                calendar::date_range(monday, calendar::shift_date(monday, 1.week()))
            }
            (Some(_), "of") => from..until,
            (Some(unit), _) if unit == TimeUnit::Day || count > 1 => {
                let day = if is_before { first } else { last };
                self.range_around(day, unit, if is_before { -count } else { count })?
            }
            (Some(unit), _) => {
                let by = unit.to_span(if is_before { -1 } else { 1 })?;
                let edge = if is_before { from } else { until };
                let other = calendar::shift_time(edge, by)?;
                edge.min(other)..edge.max(other)
            }
        };
        Some((end, TimeSpan::Fixed { from: range.start, until: range.end }))
    }

    /// The Monday of the week of a date.
    pub(super) fn monday_of(&self, date: Date) -> Date {
        let days = date.weekday().to_monday_zero_offset();
        calendar::shift_date(date, -i64::from(days).days())
    }

    /// The stretch of a span; of one that comes back, the latest that has begun.
    fn latest_range(&self, span: TimeSpan) -> (Timestamp, Timestamp) {
        let this_year = self.today.year();
        let begun = || {
            // A 29 February may be eight years away.
            let years = (0..=8).map(|back| this_year - back);
            years.filter_map(|year| span.in_year(year)).find(|range| range.start <= self.now)
        };
        match span {
            TimeSpan::Fixed { from, until } => (from, until),
            TimeSpan::EveryYear { .. } => {
                begun().map_or((self.now, self.now), |range| (range.start, range.end))
            }
        }
    }
}

/// How long a weekday is, or a weekend when there is no weekday.
fn weekday_length(weekday: Option<Weekday>) -> jiff::Span {
    if weekday.is_some() { 1.day() } else { 2.days() }
}

/// From the beginning of one span to the end of another. A month without a year is that of the
/// other's year, or of the year before where it would come too late; months that both have no
/// year are taken each for itself, with those between them.
fn join_spans(first: TimeSpan, second: TimeSpan) -> Vec<TimeSpan> {
    let fixed = |from, until| vec![TimeSpan::Fixed { from, until }];
    match (first, second) {
        (TimeSpan::Fixed { from, .. }, TimeSpan::Fixed { until, .. }) if from < until => {
            fixed(from, until)
        }
        (TimeSpan::EveryYear { .. }, TimeSpan::Fixed { from: other, until }) => {
            let year = calendar::date_of(other).year();
            let mut fitting = [year, year - 1].into_iter().filter_map(|year| first.in_year(year));
            match fitting.find(|range| range.start <= other) {
                Some(range) => fixed(range.start, until),
                None => vec![first, second],
            }
        }
        (
            TimeSpan::EveryYear { month: one, day: None },
            TimeSpan::EveryYear { month: other, day: None },
        ) => {
            let between = (other - one).rem_euclid(12);
            let months = (0..=between).map(|step| (one - 1 + step) % 12 + 1);
            months.map(|month| TimeSpan::EveryYear { month, day: None }).collect()
        }
        _ => vec![first, second],
    }
}
