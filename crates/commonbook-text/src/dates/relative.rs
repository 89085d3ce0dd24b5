//! Parses times by their distance from the present: `yesterday`, `last week`, `three days ago`.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Timestamp, ToSpan};

use super::TimeSpan;
use super::calendar;
use super::lexer::{DateToken, RelativePeriod, TimeUnit, WordGap};
use super::parser::{DateParser, ParseResult};

/// Words before a weekday in small letters.
const DAY_LEADS: &[&str] = &["after", "before", "by", "on", "since", "till", "until"];

/// Words before a weekday that make it something else than a single day.
const WEEKDAY_EXCLUSIONS: &[&str] = &["black", "cyber", "each", "every", "good"];

impl DateParser<'_> {
    /// Parses a time relative to the present that begins at this word.
    pub(super) fn parse_relative(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let day = |days: i64| calendar::day_range(calendar::shift_date(self.today, days.days()));
        match (self.token(at), self.word(at), self.adjacent_word(at + 1)) {
            (DateToken::Day(days), ..) => Some((at + 1, day(days).into())),
            (_, "this", "morning" | "afternoon" | "evening") => Some((at + 2, day(0).into())),
            (_, "last", "night") => {
                let evening = calendar::shift_time(day(-1).start, 18.hours())?;
                let morning = calendar::shift_time(day(0).start, 6.hours())?;
                Some((at + 2, (evening..morning).into()))
            }
            (DateToken::Period(choice), ..) => {
                let rolling =
                    || if choice == RelativePeriod::Last { self.parse_rolling(at) } else { None };
                rolling().or_else(|| self.parse_period(at, choice))
            }
            _ => self.parse_weekday(at, led).or_else(|| self.parse_distance(at)),
        }
    }

    /// `in the last 3 days`, `past week`: from that long before now to the end of today.
    fn parse_rolling(&self, at: usize) -> ParseResult<TimeSpan> {
        let end = calendar::day_range(self.today).end;
        let (next, by) = match self
            .parse_amount(at + 1)
            .filter(|_| self.gap(at + 1) == WordGap::Blank)
        {
            Some((next, (count, unit))) => (next, unit.to_span(-count)?),
            None => {
                let (unit, _) = self.adjacent_token(at + 1).named_unit()?;
                let within = ["in", "over", "within", "during", "for"];
                let stretch = self.previous_word(at, 1) == "the"
                    && within.contains(&self.previous_word(at, 2));
                let sure = self.word(at) == "past" || self.word(at) == "last" && stretch;
                (at + 2, unit.to_span(-1).filter(|_| sure && self.adjacent_word(at + 2) != "of")?)
            }
        };
        let from = calendar::shift_time(self.now, by)?;
        Some((next, (from..end).into()))
    }

    /// `last week`, `this month`, `next year`, `last Monday`, `last May`, `next summer`.
    fn parse_period(&self, at: usize, choice: RelativePeriod) -> ParseResult<TimeSpan> {
        let name = self.adjacent_word(at + 1);
        let token = self.adjacent_token(at + 1);
        // "The last week of school" depends on the school.
        let is_unit = token.named_unit().is_some() || name == "quarter";
        if self.adjacent_word(at + 2) == "of" && is_unit {
            return None;
        }
        let step = match choice {
            RelativePeriod::Last => -1,
            RelativePeriod::This => 0,
            RelativePeriod::Next => 1,
        };
        let month_start = self.today.first_of_month();
        let range = match name {
            "week" | "weekend" => {
                let monday = calendar::shift_date(self.monday_of(self.today), step.weeks());
                let first = if name == "week" { 0 } else { 5 };
                let first = calendar::shift_date(monday, first.days());
                calendar::date_range(first, calendar::shift_date(monday, 7.days()))
            }
            "month" => {
                let first = calendar::shift_date(month_start, step.months());
                calendar::date_range(first, calendar::shift_date(first, 1.month()))
            }
            "quarter" => {
                let into_quarter = i64::from((self.today.month() - 1) % 3);
                let months = 3 * step - into_quarter;
                let first = calendar::shift_date(month_start, months.months());
                calendar::date_range(first, calendar::shift_date(first, 3.months()))
            }
            "year" => calendar::year_range(self.today.year() + i16::try_from(step).ok()?)?,
            _ => match token.weekday() {
                Some(weekday) => calendar::day_range(self.resolve_weekday(weekday, choice)?),
                None => return self.parse_period_of_year(at, choice),
            },
        };
        Some((at + 2, range.into()))
    }

    /// `last May`, `next summer`.
    fn parse_period_of_year(&self, at: usize, choice: RelativePeriod) -> ParseResult<TimeSpan> {
        let token = self.adjacent_token(at + 1);
        let (next, month, length) = match token.first_of_three_months() {
            Some(month) => (at + 2, month, 3.months()),
            None if token.month().is_some() => match self.parse_moment(at + 1, true)? {
                (next, TimeSpan::EveryYear { month, day: None }) => (next, month, 1.month()),
                _ => return None,
            },
            None => return None,
        };
        let year = self.today.year();
        let stretches = |years: [i16; 3]| {
            let firsts = years.into_iter().filter_map(|year| Date::new(year, month, 1).ok());
            let all = firsts
                .map(|first| calendar::date_range(first, calendar::shift_date(first, length)));
            all.collect::<Vec<Range<Timestamp>>>()
        };
        let found = match choice {
            RelativePeriod::Last => stretches([year, year - 1, year - 2])
                .into_iter()
                .find(|stretch| stretch.end <= self.now),
            RelativePeriod::This => stretches([year; 3]).into_iter().next(),
            RelativePeriod::Next => stretches([year, year + 1, year + 2])
                .into_iter()
                .find(|stretch| stretch.start > self.now),
        };
        Some((next, found?.into()))
    }

    /// `on Monday`, `Monday`: the latest before today.
    fn parse_weekday(&self, at: usize, led: bool) -> ParseResult<TimeSpan> {
        let weekday = self.token(at).weekday()?;
        // "Friday, 14 July 2023" is that date.
        if matches!(self.gap(at + 1), WordGap::Blank | WordGap::Comma)
            && self.token(at + 1).weekday().is_none()
            && let Some((next, date)) = self.parse_moment(at + 1, false)
            && !matches!(date, TimeSpan::EveryYear { day: None, .. })
            && next > at + 2
        {
            return Some((next, date));
        }
        let before = self.previous_word(at, 1);
        let is_day = led || self.is_capital(at) || DAY_LEADS.contains(&before);
        let date = self.resolve_weekday(weekday, RelativePeriod::Last)?;
        (is_day && !WEEKDAY_EXCLUSIONS.contains(&before))
            .then_some((at + 1, calendar::day_range(date).into()))
    }

    fn resolve_weekday(&self, weekday: Weekday, choice: RelativePeriod) -> Option<Date> {
        match choice {
            RelativePeriod::Last => self.today.nth_weekday(-1, weekday).ok(),
            RelativePeriod::Next => self.today.nth_weekday(1, weekday).ok(),
            RelativePeriod::This => {
                let days = i64::from(weekday.to_monday_zero_offset());
                Some(calendar::shift_date(self.monday_of(self.today), days.days()))
            }
        }
    }

    /// `three days ago`, `a couple of months ago`, `two weeks from now`.
    fn parse_distance(&self, at: usize) -> ParseResult<TimeSpan> {
        let (next, (count, unit)) = self.parse_amount(at)?;
        let (next, count) = match (self.adjacent_word(next), self.adjacent_word(next + 1)) {
            ("ago", _) => (next, -count),
            ("from", "now" | "today") => (next + 1, count),
            _ => return None,
        };
        if self.previous_word(at, 1) == "half" {
            return None;
        }
        let range = match unit {
            TimeUnit::Millisecond | TimeUnit::Second | TimeUnit::Minute | TimeUnit::Hour => {
                let then = calendar::shift_time(self.now, unit.to_span(count)?)?;
                let half = if unit == TimeUnit::Hour { 30.minutes() } else { 5.minutes() };
                calendar::shift_time(then, half.negate())?..calendar::shift_time(then, half)?
            }
            _ => self.range_around(self.today, unit, count)?,
        };
        Some((next + 1, range.into()))
    }

    /// The range that `count` units from a date mean: one day for days, and half a unit on each side
    /// for longer units, for people do not count the days of a year.
    pub(super) fn range_around(
        &self,
        date: Date,
        unit: TimeUnit,
        count: i64,
    ) -> Option<Range<Timestamp>> {
        let then = date.checked_add(unit.to_span(count)?).ok()?;
        let half = match unit {
            TimeUnit::Week => 3,
            TimeUnit::Month => 15,
            TimeUnit::Year => 182,
            _ => 0,
        };
        let first = calendar::shift_date(then, -half.days());
        Some(calendar::date_range(first, calendar::shift_date(then, (half + 1).days())))
    }

    /// `three days`, `a couple of weeks`, `a few months`, `2 hrs`: a count and its unit.
    pub(super) fn parse_amount(&self, at: usize) -> ParseResult<(i64, TimeUnit)> {
        let few = self.word(at) == "a" && matches!(self.adjacent_word(at + 1), "couple" | "few");
        let count_at = at + usize::from(few);
        let count = self.token(count_at).count()?;
        let of = self.word(count_at) == "couple" && self.adjacent_word(count_at + 1) == "of";
        let unit_at = count_at + 1 + usize::from(of);
        match self.adjacent_token(unit_at) {
            DateToken::Unit { unit, .. } => Some((unit_at + 1, (count, unit))),
            _ => None,
        }
    }
}
