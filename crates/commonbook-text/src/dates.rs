//! Dates and times in plain English: one lexer, on which questions, claims and query operators build.
//!
//! [`parse_times`] reads from a question dates (`2023-05-07`, `7 May 2023`, `May 7th`), months, seasons and years by name
//! (`in May`, `May 2023`, `summer 2022`, `in 2022`), times relative to now (`yesterday`,
//! `last week`, `next Monday`, `three days ago`, `in the last 3 days`) and combinations of these
//! (`between March and May 2023`, `since 2021`, `the week before 7 May 2023`). Ambiguous words are
//! not read: `may` and `march` as verbs, names of people (`April`, `June`), numbers that count
//! things. All days are days in UTC, weeks begin on Monday, and seasons are
//! those of the northern half of the earth, by whole months.

mod absolute;
mod asking;
pub mod calendar;
mod lexer;
mod parser;
pub mod period;
mod relative;

use std::ops::Range;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use lexer::{DateLexer, DateWord, WordGap};
use parser::DateParser;

pub use lexer::{
    ClockTime, DateNumber, DateToken, DayHalf, RelativePeriod, TimeUnit, UnitForm, WrittenDate,
};

/// Maximum spans of one question; the parser leaves out further ones.
const SPANS_MAX: usize = 16;

/// The times in a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionTimes {
    /// The times in the question, each once, in order; at most 16.
    pub spans: Vec<TimeSpan>,
    /// Whether the question asks for a time: `when`, `what date`, `which year`, `how long ago`.
    pub asks: bool,
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeSpan {
    /// One span, without its end. An end of [`Timestamp::MIN`] or [`Timestamp::MAX`] is open.
    Fixed {
        /// The first moment.
        from: Timestamp,
        /// The first moment after the span.
        until: Timestamp,
    },
    /// Every year: a month, or a day of it.
    EveryYear {
        /// The month, 1 to 12.
        month: i8,
        /// The day of the month, 1 to 31.
        day: Option<i8>,
    },
}

/// Parses the times in a question. Never fails; a question that names no time has no spans. Work
/// grows with the length of the question alone.
///
/// Ambiguous names: `on Monday` and `last Monday` are the latest Monday before today, `next Monday`
/// the first after it; `in May` is every May, but after `since`, `after`, `before`, `until` or
/// `the week of` it is the latest May that has begun. `last week` is the calendar week before this
/// one, `past week` and `in the last week` are the days up to now. `a week ago`, `two months ago`
/// and `a year ago` are as long as one unit; `three days ago` is that day.
#[must_use]
pub fn parse_times(question: &str, now: Timestamp) -> QuestionTimes {
    let words: Vec<DateWord> = DateLexer::new(question).collect();
    let parser = DateParser::new(&words, now);
    let mut spans = Vec::new();
    let mut at = 0;
    while at < words.len() && spans.len() < SPANS_MAX {
        let Some((next, found)) = parser.parse(at) else {
            at += 1;
            continue;
        };
        for span in found {
            if !spans.contains(&span) && spans.len() < SPANS_MAX {
                spans.push(span);
            }
        }
        at = next.max(at + 1);
    }
    QuestionTimes { spans, asks: asking::asks_for_time(&words) }
}

/// Whether a text names a time: any that [`parse_times`] reads, and a time of day (`3 pm`,
/// `at 10:30`). Work grows with the length of the text alone and ends with the first time.
#[must_use]
pub fn tells_time(text: &str) -> bool {
    let words: Vec<DateWord> = DateLexer::new(text).collect();
    // Any present will do: the time itself does not matter here.
    let parser = DateParser::new(&words, Timestamp::UNIX_EPOCH);
    (0..words.len()).any(|at| parser.parse(at).is_some() || tells_hour(&words, at))
}

/// Whether a time of day begins at this word: `3pm`, `3 p.m.`, `10:30` after `at`.
fn tells_hour(words: &[DateWord], at: usize) -> bool {
    let adjacent = |index: usize| words.get(index).filter(|word| word.gap == WordGap::Blank);
    let next = adjacent(at + 1).map(|word| word.token);
    let is_led = || {
        let before = at.checked_sub(1).map(|before| words[before].text.as_str());
        before == Some("at") && words[at].gap == WordGap::Blank
    };
    ClockTime::read(words[at].token, next)
        .is_some_and(|(clock, _)| clock.half.is_some() || is_led())
}

impl TimeSpan {
    /// Whether the span contains a time.
    #[must_use]
    pub fn contains(&self, time: Timestamp) -> bool {
        match *self {
            Self::Fixed { from, until } => (from..until).contains(&time),
            Self::EveryYear { month, day } => {
                let date = calendar::date_of(time);
                date.month() == month && day.is_none_or(|day| date.day() == day)
            }
        }
    }

    /// Returns how close a time is to the span, from 0 to 1.
    ///
    /// Inside the span the result is 1. Outside it is `(1 - d / 3s)²`, where `d` is the distance to
    /// the nearer end and `s` the length of the span, at least a day and at most 366 days, and 31
    /// days for a span with an open end: about 0.44 at one length, and 0 from three lengths on. Of a
    /// yearly span the nearest one counts.
    #[must_use]
    pub fn closeness(&self, time: Timestamp) -> f64 {
        if self.contains(time) {
            return 1.0;
        }
        match *self {
            Self::Fixed { from, until } => range_closeness(&(from..until), time),
            Self::EveryYear { .. } => {
                let year = calendar::date_of(time).year();
                let nearest = (-1..=1).filter_map(|step| self.in_year(year + step));
                nearest.map(|range| range_closeness(&range, time)).fold(0.0, f64::max)
            }
        }
    }

    /// Returns the range in one year; `None` if the year has no such day, as 2023 has no 29 February.
    fn in_year(&self, year: i16) -> Option<Range<Timestamp>> {
        match *self {
            Self::Fixed { from, until } => Some(from..until),
            Self::EveryYear { month, day: None } => calendar::month_range(year, month),
            Self::EveryYear { month, day: Some(day) } => {
                Date::new(year, month, day).ok().map(calendar::day_range)
            }
        }
    }
}

impl From<Range<Timestamp>> for TimeSpan {
    fn from(range: Range<Timestamp>) -> Self {
        Self::Fixed { from: range.start, until: range.end }
    }
}

/// The closeness of a time outside a range; see [`TimeSpan::closeness`].
fn range_closeness(range: &Range<Timestamp>, time: Timestamp) -> f64 {
    const FADE_LENGTHS: f64 = 3.0;
    let is_open = range.start == Timestamp::MIN || range.end == Timestamp::MAX;
    let days = |days: i64| SignedDuration::from_hours(24 * days);
    let length = if is_open {
        days(31)
    } else {
        range.start.duration_until(range.end).clamp(days(1), days(366))
    };
    let distance = time.duration_until(range.start).max(range.end.duration_until(time));
    let distance = distance.max(SignedDuration::ZERO).as_secs_f64();
    (1.0 - (distance / (FADE_LENGTHS * length.as_secs_f64())).min(1.0)).powi(2)
}

#[cfg(test)]
mod tests;
