//! Parses dates, months, seasons and years by their names: `7 May 2023`, `in March`, `summer 2022`.

use jiff::ToSpan;
use jiff::civil::Date;

use super::TimeSpan;
use super::calendar;
use super::lexer::{self, DateToken, RelativePeriod, WordGap};
use super::parser::{DateParser, ParseResult};
use crate::word_list::WordList;

/// Words before a day and a month in small letters: `on may 7`.
static DAY_LEADS: WordList = WordList::new(include_str!("day_leads.txt"));

/// Words that can follow `in may`; before any other word, `may` is a verb: "who can log in may fail".
static MAY_FOLLOWERS: WordList = WordList::new(include_str!("may_followers.txt"));

/// A day as a text writes it: of one year, or of every year.
#[derive(Debug, Clone, Copy)]
struct CalendarDay {
    year: Option<i16>,
    month: i8,
    day: i8,
}

impl DateParser<'_> {
    /// Parses a single stretch of time that begins at this word. `led` says that a word before it
    /// has announced a time, so that a month or a year alone is enough.
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
        match self.token(at) {
            DateToken::Written(date) => Some((at + 1, date.range()?.into())),
            _ => None,
        }
    }

    /// `7 May 2023`, `7th of May`.
    fn parse_day_and_month(&self, at: usize) -> ParseResult<TimeSpan> {
        let DateToken::Number(number) = self.token(at) else { return None };
        let day = number.month_day()?;
        let month_at = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        let month = self.adjacent_token(month_at).month()?;
        let (next, year) = self.adjacent_year(month_at + 1);
        let sure = year.is_some() || number.is_ordinal && month_at > at + 1;
        self.resolve_date(at, month_at, next, sure, CalendarDay { year, month, day })
    }

    /// `May 7th, 2023`, `May 7`, `Jan. 5`.
    fn parse_month_and_day(&self, at: usize) -> ParseResult<TimeSpan> {
        let DateToken::Month { month, is_short } = self.token(at) else { return None };
        let gap = self.gap(at + 1);
        if gap != WordGap::Blank && !(is_short && gap == WordGap::Dot) {
            return None;
        }
        let day_at = at + 1 + usize::from(self.word(at + 1) == "the");
        let DateToken::Number(number) = self.token(day_at) else { return None };
        let day = number.month_day()?;
        let (next, year) = self.adjacent_year(day_at + 1);
        let sure = year.is_some() || number.is_ordinal;
        self.resolve_date(at, at, next, sure, CalendarDay { year, month, day })
    }

    /// Returns a day of a month if the words around it allow a date.
    fn resolve_date(
        &self,
        at: usize,
        month_at: usize,
        next: usize,
        sure: bool,
        calendar_day: CalendarDay,
    ) -> ParseResult<TimeSpan> {
        let CalendarDay { year, month, day } = calendar_day;
        // A leap year has every day that any year has.
        let date = Date::new(year.unwrap_or(2024), month, day).ok()?;
        let led = self.gap(at) == WordGap::Blank && DAY_LEADS.contains(self.previous_word(at, 1));
        let plain = !self.is_doubtful(month_at) || led || self.can_end(next);
        if !sure && (!plain || lexer::is_counted(self.adjacent_word(next))) {
            return None;
        }
        let every_year = TimeSpan::EveryYear { month, day: Some(day) };
        Some((next, year.map_or(every_year, |_| calendar::day_range(date).into())))
    }

    /// `May 2023`, `in May`, `mid-May`.
    fn parse_month(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let (month, alone) = match self.token(at) {
            DateToken::MidMonth(month) => (month, true),
            DateToken::Month { month, is_short: true } => (month, led && self.is_capital(at)),
            DateToken::Month { month, .. } => {
                let plain = !self.is_verb(at) || self.is_capital(at) || self.can_end(at + 1);
                (month, led && plain)
            }
            _ => return None,
        };
        let year_at = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        if let (next, Some(year)) = self.adjacent_year(year_at) {
            return Some((next, calendar::month_range(year, month)?.into()));
        }
        alone.then_some((at + 1, TimeSpan::EveryYear { month, day: None }))
    }

    /// `summer 2022`, `summer of 2022`, `Q3 2022`; a winter by the year of its December.
    fn parse_season(&self, at: usize) -> ParseResult<TimeSpan> {
        let month = self.token(at).first_of_three_months()?;
        let year_at = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        let (next, year) = self.adjacent_year(year_at);
        let first = Date::new(year?, month, 1).ok()?;
        Some((next, calendar::date_range(first, calendar::shift_date(first, 3.months())).into()))
    }

    /// `in 2022`, `mid-2022`.
    fn parse_year(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let (year, led) = match self.token(at) {
            DateToken::MidYear(year) => (year, true),
            token => (token.year()?, led),
        };
        let led = led || self.previous_word(at, 1) == "year" && self.gap(at) == WordGap::Blank;
        let counts = lexer::is_counted(self.adjacent_word(at + 1));
        (led && !counts).then_some((at + 1, calendar::year_range(year)?.into()))
    }

    /// The year at this index, after blanks or a comma, and the index behind it: `2023`, `last year`.
    fn adjacent_year(&self, at: usize) -> (usize, Option<i16>) {
        if self.adjacent_word(at + 1) == "year" {
            let years = match (self.adjacent_token(at), self.word(at)) {
                (DateToken::Period(RelativePeriod::Last), "last") => -1,
                (DateToken::Period(RelativePeriod::This), "this") => 0,
                (DateToken::Period(RelativePeriod::Next), _) => 1,
                _ => return (at, None),
            };
            return (at + 2, Some(self.today.year() + years));
        }
        let close = matches!(self.gap(at), WordGap::Blank | WordGap::Comma | WordGap::Dot);
        let year = self.token(at).year().filter(|_| close);
        match year.filter(|_| !lexer::is_counted(self.adjacent_word(at + 1))) {
            Some(year) => (at + 1, Some(year)),
            None => (at, None),
        }
    }

    /// Whether the name of this month is a verb too.
    fn is_verb(&self, at: usize) -> bool {
        matches!(self.word(at), "may" | "march" | "mar")
    }

    /// Whether this month can be a verb: in small letters, or at the beginning of a sentence.
    fn is_doubtful(&self, at: usize) -> bool {
        self.is_verb(at) && (!self.is_capital(at) || self.gap(at) == WordGap::Break)
    }

    /// Whether a time can end before this word.
    fn can_end(&self, at: usize) -> bool {
        self.gap(at) != WordGap::Blank || MAY_FOLLOWERS.contains(self.word(at))
    }
}
