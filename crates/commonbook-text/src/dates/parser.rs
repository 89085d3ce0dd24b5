//! Parses expressions of time that are made of others: `since May 2023`, `between March and May`,
//! `the week before 7 May 2023`.

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::TimeSpan;
use super::calendar;
use super::lexer::{DateToken, DateWord, TimeUnit, UnitForm, WordGap};
use crate::word_list::WordList;

/// Words before a month or a year that stands alone: `in May`.
static LEAD_WORDS: WordList = WordList::new(include_str!("lead_words.txt"));

/// Words before `of` and a time: `the end of May`.
static PERIOD_PARTS: WordList = WordList::new(include_str!("period_parts.txt"));

/// A parsed expression, and the index of the word after it.
pub(super) type ParseResult<T> = Option<(usize, T)>;

/// The words of a text, with the time at which it is read.
pub(super) struct DateParser<'a> {
    pub(super) words: &'a [DateWord],
    pub(super) now: Timestamp,
    pub(super) today: Date,
}

impl<'a> DateParser<'a> {
    /// Creates a parser of these words.
    pub(super) fn new(words: &'a [DateWord], now: Timestamp) -> Self {
        Self { words, now, today: calendar::date_of(now) }
    }

    /// Parses the expression of time that begins at this word; the work has a fixed bound.
    pub(super) fn parse(&self, at: usize) -> ParseResult<Vec<TimeSpan>> {
        let single = |(next, span)| (next, vec![span]);
        self.parse_range(at)
            .or_else(|| self.parse_open_range(at).map(single))
            .or_else(|| self.parse_relation(at).map(single))
            .or_else(|| self.parse_moment(at, self.is_led(at)).map(single))
    }

    /// The word at an index, empty behind the last one.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    /// The meaning of the word at an index.
    pub(super) fn token(&self, at: usize) -> DateToken {
        self.words.get(at).map_or(DateToken::Other, |word| word.token)
    }

    /// The meaning of the word at an index, if only blanks part it from the word before.
    pub(super) fn adjacent_token(&self, at: usize) -> DateToken {
        if self.gap(at) == WordGap::Blank { self.token(at) } else { DateToken::Other }
    }

    /// Whether the word at an index begins with a capital.
    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.is_capital)
    }

    /// The word at an index, if only blanks part it from the word before.
    pub(super) fn adjacent_word(&self, at: usize) -> &'a str {
        if self.gap(at) == WordGap::Blank { self.word(at) } else { "" }
    }

    /// The word `distance` words before, with any separators between.
    pub(super) fn previous_word(&self, at: usize, distance: usize) -> &'a str {
        at.checked_sub(distance).map_or("", |index| self.word(index))
    }

    pub(super) fn gap(&self, at: usize) -> WordGap {
        self.words.get(at).map_or(WordGap::Break, |word| word.gap)
    }

    fn is_led(&self, at: usize) -> bool {
        let before = if self.gap(at) == WordGap::Blank { self.previous_word(at, 1) } else { "" };
        LEAD_WORDS.contains(before)
            || before == "of" && PERIOD_PARTS.contains(self.previous_word(at, 2))
    }

    /// Parses a moment after a word like `since`, with an article or without.
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

    /// `since A`, `after A`, `before A`, `until A`, `by A`: everything on one side of A.
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
        let is_adjacent = start == at || self.gap(start) == WordGap::Blank;
        let token = if is_adjacent { self.token(start) } else { DateToken::Other };
        let (next, count, unit) = match self.parse_amount(start) {
            Some((next, (count, unit))) => (next, count, Some(unit)),
            None => {
                let unit = token.named_unit().filter(|(_, form)| *form == UnitForm::Singular);
                (start + 1, 1, unit.map(|(unit, _)| unit))
            }
        };
        let weekday = token.weekday();
        let is_weekend = is_adjacent && self.word(start) == "weekend";
        if unit.is_none() && weekday.is_none() && !is_weekend {
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
                let far_edge = calendar::shift_time(edge, by)?;
                edge.min(far_edge)..edge.max(far_edge)
            }
        };
        Some((end, TimeSpan::Fixed { from: range.start, until: range.end }))
    }

    /// The Monday of the week of a date.
    pub(super) fn monday_of(&self, date: Date) -> Date {
        let days = date.weekday().to_monday_zero_offset();
        calendar::shift_date(date, -i64::from(days).days())
    }

    /// The range of a span; of a span that comes back, the latest range that has begun.
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

/// Returns the length of a weekday, or of a weekend if there is no weekday.
fn weekday_length(weekday: Option<Weekday>) -> jiff::Span {
    if weekday.is_some() { 1.day() } else { 2.days() }
}

/// Joins two spans: from the beginning of the first to the end of the second. A month without a
/// year takes the year of the second span, or the year before if it would come too late. Of two
/// months without a year, each month from the first to the second is a span of its own.
fn join_spans(first: TimeSpan, second: TimeSpan) -> Vec<TimeSpan> {
    let fixed = |from, until| vec![TimeSpan::Fixed { from, until }];
    match (first, second) {
        (TimeSpan::Fixed { from, .. }, TimeSpan::Fixed { until, .. }) if from < until => {
            fixed(from, until)
        }
        (TimeSpan::EveryYear { .. }, TimeSpan::Fixed { from: second_from, until }) => {
            let year = calendar::date_of(second_from).year();
            let mut fitting = [year, year - 1].into_iter().filter_map(|year| first.in_year(year));
            match fitting.find(|range| range.start <= second_from) {
                Some(range) => fixed(range.start, until),
                None => vec![first, second],
            }
        }
        (
            TimeSpan::EveryYear { month: from, day: None },
            TimeSpan::EveryYear { month: to, day: None },
        ) => {
            let between = (to - from).rem_euclid(12);
            let months = (0..=between).map(|step| (from - 1 + step) % 12 + 1);
            months.map(|month| TimeSpan::EveryYear { month, day: None }).collect()
        }
        _ => vec![first, second],
    }
}
