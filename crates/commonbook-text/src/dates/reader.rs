//! Reads expressions of time that are made of others: `since May 2023`, `between March and May`,
//! `the week before 7 May 2023`.

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::Span;
use super::words::{self, Gap, Unit, Word};
use crate::dates::calendar;

/// Words before which a month or a year alone is a time.
const LEADS: &[&str] = &[
    "after", "before", "between", "current", "during", "early", "in", "last", "late", "mid",
    "next", "previous", "since", "this", "till", "until",
];

/// Words before `of` that a time follows: `the end of May`.
const PARTS: &[&str] = &["beginning", "end", "half", "middle", "month", "rest", "start", "year"];

/// Something read, and the place of the word after it.
pub(super) type Read<T> = Option<(usize, T)>;

/// The words of a text, with the time at which it is read.
pub(super) struct Reader<'a> {
    pub(super) words: &'a [Word],
    pub(super) now: Timestamp,
    pub(super) today: Date,
}

impl<'a> Reader<'a> {
    /// A reader of these words.
    pub(super) fn new(words: &'a [Word], now: Timestamp) -> Self {
        Self { words, now, today: calendar::date_of(now) }
    }

    /// The expression of time that begins at this word; the work has a fixed bound.
    pub(super) fn read(&self, at: usize) -> Read<Vec<Span>> {
        let one = |(next, span)| (next, vec![span]);
        self.between(at)
            .or_else(|| self.side(at).map(one))
            .or_else(|| self.beside(at).map(one))
            .or_else(|| self.moment(at, self.is_led(at)).map(one))
    }

    /// The word at a place, empty behind the last one.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    /// The word at a place, if only blanks part it from the one before.
    pub(super) fn near(&self, at: usize) -> &'a str {
        if self.gap(at) == Gap::Blank { self.word(at) } else { "" }
    }

    /// The word so many places before, whatever stands between.
    pub(super) fn back(&self, at: usize, places: usize) -> &'a str {
        at.checked_sub(places).map_or("", |place| self.word(place))
    }

    pub(super) fn gap(&self, at: usize) -> Gap {
        self.words.get(at).map_or(Gap::Break, |word| word.gap)
    }

    fn is_led(&self, at: usize) -> bool {
        let before = if self.gap(at) == Gap::Blank { self.back(at, 1) } else { "" };
        LEADS.contains(&before) || before == "of" && PARTS.contains(&self.back(at, 2))
    }

    /// A moment that a word such as `since` has announced, with an article or without.
    fn announced(&self, at: usize) -> Read<Span> {
        if self.gap(at) != Gap::Blank {
            return None;
        }
        let skipped = usize::from(matches!(self.word(at), "the" | "about" | "around"));
        self.moment(at + skipped, true)
    }

    /// `between A and B`, `from A to B`: from the beginning of the first to the end of the second.
    fn between(&self, at: usize) -> Read<Vec<Span>> {
        let joints: &[&str] = match self.word(at) {
            "between" => &["and"],
            "from" => &["to", "until", "till", "through"],
            _ => return None,
        };
        let (next, first) = self.announced(at + 1)?;
        if !joints.contains(&self.near(next)) {
            return None;
        }
        let (end, second) = match self.near(next + 1) {
            "now" => (next + 2, calendar::day(self.today).into()),
            _ => self.announced(next + 1)?,
        };
        Some((end, joined(first, second)))
    }

    /// `since A`, `after A`, `before A`, `until A`, `by A`: everything on one side of it.
    fn side(&self, at: usize) -> Read<Span> {
        let word = self.word(at);
        let begin = match word {
            "since" | "after" | "before" | "until" | "till" | "by" => at + 1,
            "prior" if self.near(at + 1) == "to" => at + 2,
            _ => return None,
        };
        // A month alone after `by` may as well be a person: "written by April".
        let (next, span) = match word {
            "by" if self.gap(begin) == Gap::Blank => self.moment(begin, false)?,
            _ => self.announced(begin)?,
        };
        let (from, until) = self.latest(span);
        let side = match word {
            "since" => Span::Fixed { from, until: Timestamp::MAX },
            "after" => Span::Fixed { from: until, until: Timestamp::MAX },
            "before" | "prior" => Span::Fixed { from: Timestamp::MIN, until: from },
            _ => Span::Fixed { from: Timestamp::MIN, until },
        };
        Some((next, side))
    }

    /// `the week of A`, `the Friday before A`, `the weekend after A`, `two days before A`.
    fn beside(&self, at: usize) -> Read<Span> {
        let start = at + usize::from(self.word(at) == "the");
        let named = if start == at { self.word(start) } else { self.near(start) };
        let (next, count, unit) = match self.amount(start) {
            Some((next, (count, unit))) => (next, count, Some(unit)),
            None => (start + 1, 1, words::unit(named).filter(|_| !named.ends_with('s'))),
        };
        let weekday = words::weekday(named);
        if unit.is_none() && weekday.is_none() && named != "weekend" {
            return None;
        }
        let relation = self.near(next);
        if !matches!(relation, "of" | "before" | "after" | "following") {
            return None;
        }
        let (end, span) = self.announced(next + 1)?;
        let (from, until) = self.latest(span);
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
                let begin = calendar::moved(monday, i64::from(day).days());
                calendar::dates(begin, calendar::moved(begin, days_of(weekday)))
            }
            (None, _) => {
                let day = weekday.unwrap_or(Weekday::Saturday);
                let edge = if is_before { first } else { last };
                let begin = edge.nth_weekday(if is_before { -1 } else { 1 }, day).ok()?;
                calendar::dates(begin, calendar::moved(begin, days_of(weekday)))
            }
            (Some(Unit::Week), "of") => {
                let monday = self.monday_of(first);
                calendar::dates(monday, calendar::moved(monday, 1.week()))
            }
            (Some(_), "of") => from..until,
            (Some(unit), _) if unit == Unit::Day || count > 1 => {
                let day = if is_before { first } else { last };
                self.around(day, unit, if is_before { -count } else { count })?
            }
            (Some(unit), _) => {
                let by = unit.times(if is_before { -1 } else { 1 })?;
                let edge = if is_before { from } else { until };
                let other = calendar::shifted(edge, by)?;
                edge.min(other)..edge.max(other)
            }
        };
        Some((end, Span::Fixed { from: range.start, until: range.end }))
    }

    /// The Monday of the week of a date.
    pub(super) fn monday_of(&self, date: Date) -> Date {
        let days = date.weekday().to_monday_zero_offset();
        calendar::moved(date, -i64::from(days).days())
    }

    /// The stretch of a span; of one that comes back, the latest that has begun.
    fn latest(&self, span: Span) -> (Timestamp, Timestamp) {
        let this_year = self.today.year();
        let begun = || {
            // A 29 February may be eight years away.
            let years = (0..=8).map(|back| this_year - back);
            years.filter_map(|year| span.in_year(year)).find(|range| range.start <= self.now)
        };
        match span {
            Span::Fixed { from, until } => (from, until),
            Span::EveryYear { .. } => {
                begun().map_or((self.now, self.now), |range| (range.start, range.end))
            }
        }
    }
}

/// How long a weekday is, or a weekend when there is no weekday.
fn days_of(weekday: Option<Weekday>) -> jiff::Span {
    if weekday.is_some() { 1.day() } else { 2.days() }
}

/// From the beginning of one span to the end of another. A month without a year is that of the
/// other's year, or of the year before where it would come too late; months that both have no
/// year are taken each for itself, with those between them.
fn joined(first: Span, second: Span) -> Vec<Span> {
    let fixed = |from, until| vec![Span::Fixed { from, until }];
    match (first, second) {
        (Span::Fixed { from, .. }, Span::Fixed { until, .. }) if from < until => fixed(from, until),
        (Span::EveryYear { .. }, Span::Fixed { from: other, until }) => {
            let year = calendar::date_of(other).year();
            let mut fitting = [year, year - 1].into_iter().filter_map(|year| first.in_year(year));
            match fitting.find(|range| range.start <= other) {
                Some(range) => fixed(range.start, until),
                None => vec![first, second],
            }
        }
        (
            Span::EveryYear { month: one, day: None },
            Span::EveryYear { month: other, day: None },
        ) => {
            let between = (other - one).rem_euclid(12);
            let months = (0..=between).map(|step| (one - 1 + step) % 12 + 1);
            months.map(|month| Span::EveryYear { month, day: None }).collect()
        }
        _ => vec![first, second],
    }
}
