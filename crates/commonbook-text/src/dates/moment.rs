//! Reads dates, months, seasons and years by their names: `7 May 2023`, `in March`, `summer 2022`.

use jiff::ToSpan;
use jiff::civil::Date;

use super::TimeSpan;
use super::reader::{DateParser, ParseResult};
use super::words::{self, WordGap};
use crate::dates::calendar;

/// Words before a day and a month that are written in small letters: `on may 7`.
const DAY_LEADS: &[&str] =
    &["after", "before", "between", "by", "from", "of", "on", "since", "till", "to", "until"];

/// Words that can follow `in may`; after any other, `may` is a verb: "who can log in may fail".
const MAY_FOLLOWERS: &[&str] = &[
    "about", "and", "at", "because", "but", "by", "did", "during", "for", "from", "had", "he",
    "her", "his", "i", "is", "it", "last", "my", "of", "on", "or", "our", "she", "so", "than",
    "that", "the", "their", "then", "they", "this", "through", "till", "to", "until", "was", "we",
    "were", "when", "which", "who", "with", "you",
];

/// A day as a text writes it: of one year, or of every year.
#[derive(Debug, Clone, Copy)]
struct CalendarDay {
    year: Option<i16>,
    month: i8,
    day: i8,
}

impl DateParser<'_> {
    /// A single stretch of time that begins at this word. `led` says that a word before it has
    /// announced a time, so that a month or a year alone is enough.
    pub(super) fn parse_moment(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        self.parse_written_date(at)
            .or_else(|| self.parse_day_and_month(at))
            .or_else(|| self.parse_month_and_day(at))
            .or_else(|| self.parse_month(at, led))
            .or_else(|| self.parse_season(at))
            .or_else(|| self.parse_year(at, led))
            .or_else(|| self.parse_relative(at, led))
    }

    /// `2023-05-07`, `2023-05-07T10:00:00Z`, `2023/05/07`, `2023-05`.
    fn parse_written_date(&self, at: usize) -> ParseResult<TimeSpan> {
        let text = self.word(at);
        let (date, time) = (text.get(..10).unwrap_or(text), text.get(10..).unwrap_or_default());
        if !time.is_empty() && !time.starts_with('t') {
            return None;
        }
        let sign = date.chars().find(|c| !c.is_ascii_digit())?;
        let mut parts = date.split(sign).filter(|_| matches!(sign, '-' | '/' | '.'));
        let year = words::year(parts.next()?)?;
        let two = |part: &str| part.parse().ok().filter(|_| part.len() == 2);
        let month: i8 = two(parts.next()?)?;
        let range = match (parts.next(), parts.next()) {
            (None, _) if sign == '-' => calendar::month_range(year, month)?,
            (Some(day), None) => calendar::day_range(Date::new(year, month, two(day)?).ok()?),
            _ => return None,
        };
        Some((at + 1, range.into()))
    }

    /// `7 May 2023`, `7th of May`.
    fn parse_day_and_month(&self, at: usize) -> ParseResult<TimeSpan> {
        let (day, is_ordinal) = words::month_day(self.word(at))?;
        let place = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        let month = words::month(self.adjacent_word(place))?;
        let (next, year) = self.adjacent_year(place + 1);
        let sure = year.is_some() || is_ordinal && place > at + 1;
        self.resolve_date(at, place, next, sure, CalendarDay { year, month, day })
    }

    /// `May 7th, 2023`, `May 7`, `Jan. 5`.
    fn parse_month_and_day(&self, at: usize) -> ParseResult<TimeSpan> {
        let month = words::month(self.word(at))?;
        let short = words::is_short_month(self.word(at));
        let close = self.gap(at + 1) == WordGap::Blank || short && self.gap(at + 1) == WordGap::Dot;
        let place = at + 1 + usize::from(close && self.word(at + 1) == "the");
        let (day, is_ordinal) = words::month_day(self.word(place)).filter(|_| close)?;
        let (next, year) = self.adjacent_year(place + 1);
        let sure = year.is_some() || is_ordinal;
        self.resolve_date(at, at, next, sure, CalendarDay { year, month, day })
    }

    /// A day of a month, when the words around it let it be one.
    fn resolve_date(
        &self,
        at: usize,
        month_at: usize,
        next: usize,
        sure: bool,
        calendar_day: CalendarDay,
    ) -> ParseResult<TimeSpan> {
        let CalendarDay { year, month, day } = calendar_day;
        // In a leap year there is every day that can be.
        let date = Date::new(year.unwrap_or(2024), month, day).ok()?;
        let led = self.gap(at) == WordGap::Blank && DAY_LEADS.contains(&self.previous_word(at, 1));
        let plain = !self.is_doubtful(month_at) || led || self.can_end(next);
        if !sure && (!plain || words::is_counted(self.adjacent_word(next))) {
            return None;
        }
        let every_year = TimeSpan::EveryYear { month, day: Some(day) };
        Some((next, year.map_or(every_year, |_| calendar::day_range(date).into())))
    }

    /// `May 2023`, `in May`, `mid-May`.
    fn parse_month(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let word = self.word(at);
        let (name, led) = word.strip_prefix("mid-").map_or((word, led), |name| (name, true));
        let month = words::month(name)?;
        let place = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        if let (next, Some(year)) = self.adjacent_year(place) {
            return Some((next, calendar::month_range(year, month)?.into()));
        }
        let capital = self.words.get(at).is_some_and(|word| word.capital);
        let plain = match () {
            () if words::is_short_month(name) => capital,
            () if matches!(name, "may" | "march") => capital || self.can_end(at + 1),
            () => true,
        };
        (led && plain).then_some((at + 1, TimeSpan::EveryYear { month, day: None }))
    }

    /// `summer 2022`, `summer of 2022`, `Q3 2022`; seasons of the northern half of the earth, by whole
    /// months, and a winter by the year of its December.
    fn parse_season(&self, at: usize) -> ParseResult<TimeSpan> {
        let month = words::season(self.word(at))?;
        let place = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        let (next, year) = self.adjacent_year(place);
        let first = Date::new(year?, month, 1).ok()?;
        Some((next, calendar::date_range(first, calendar::shift_date(first, 3.months())).into()))
    }

    /// `in 2022`, `mid-2022`.
    fn parse_year(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let word = self.word(at);
        let (digits, led) = word.strip_prefix("mid-").map_or((word, led), |year| (year, true));
        let year = words::year(digits)?;
        let counts = words::is_counted(self.adjacent_word(at + 1));
        let told = led || self.previous_word(at, 1) == "year" && self.gap(at) == WordGap::Blank;
        (told && !counts).then_some((at + 1, calendar::year_range(year)?.into()))
    }

    /// The year that stands at this place, after blanks or a comma, and the place behind it:
    /// `2023`, `last year`.
    fn adjacent_year(&self, at: usize) -> (usize, Option<i16>) {
        if self.adjacent_word(at + 1) == "year" {
            let years = match self.adjacent_word(at) {
                "last" => -1,
                "this" => 0,
                "next" => 1,
                _ => return (at, None),
            };
            return (at + 2, Some(self.today.year() + years));
        }
        let close = matches!(self.gap(at), WordGap::Blank | WordGap::Comma | WordGap::Dot);
        let year = words::year(self.word(at)).filter(|_| close);
        match year.filter(|_| !words::is_counted(self.adjacent_word(at + 1))) {
            Some(year) => (at + 1, Some(year)),
            None => (at, None),
        }
    }

    /// Whether this month could as well be a verb: in small letters, or where a sentence begins.
    fn is_doubtful(&self, at: usize) -> bool {
        let verb = matches!(self.word(at), "may" | "march" | "mar");
        verb && self.words.get(at).is_some_and(|word| !word.capital || word.gap == WordGap::Break)
    }

    /// Whether a time can end before this word.
    fn can_end(&self, at: usize) -> bool {
        self.gap(at) != WordGap::Blank || MAY_FOLLOWERS.contains(&self.word(at))
    }
}
