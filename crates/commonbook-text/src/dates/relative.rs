//! Reads times that are told from the present: `yesterday`, `last week`, `three days ago`.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Timestamp, ToSpan};

use super::Span;
use super::reader::{Read, Reader};
use super::words::{self, Gap, Unit};
use crate::dates::calendar;

/// Words before a weekday in small letters.
const DAY_LEADS: &[&str] = &["after", "before", "by", "on", "since", "till", "until"];

/// Words before a weekday that is no single day, or no day at all.
const HABITS: &[&str] = &["black", "cyber", "each", "every", "good"];

/// What is chosen among those that come again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Last,
    This,
    Next,
}

impl Reader<'_> {
    /// A time told from the present that begins at this word.
    pub(super) fn relative(&self, at: usize, led: bool) -> Read<Span> {
        let day = |days: i64| calendar::day(calendar::moved(self.today, days.days()));
        match (self.word(at), self.near(at + 1)) {
            ("today" | "tonight", _) => Some((at + 1, day(0).into())),
            ("yesterday", _) => Some((at + 1, day(-1).into())),
            ("tomorrow", _) => Some((at + 1, day(1).into())),
            ("this", "morning" | "afternoon" | "evening") => Some((at + 2, day(0).into())),
            ("last", "night") => {
                let evening = calendar::shifted(day(-1).start, 18.hours())?;
                let morning = calendar::shifted(day(0).start, 6.hours())?;
                Some((at + 2, (evening..morning).into()))
            }
            ("last" | "past" | "previous", _) => {
                self.rolling(at).or_else(|| self.chosen(at, Choice::Last))
            }
            ("this" | "current", _) => self.chosen(at, Choice::This),
            ("next", _) => self.chosen(at, Choice::Next),
            _ => self.weekday(at, led).or_else(|| self.ago(at)),
        }
    }

    /// `in the last 3 days`, `past week`: so long back from now, up to the end of today.
    fn rolling(&self, at: usize) -> Read<Span> {
        let end = calendar::day(self.today).end;
        let (next, by) = match self.amount(at + 1).filter(|_| self.gap(at + 1) == Gap::Blank) {
            Some((next, (count, unit))) => (next, unit.times(-count)?),
            None => {
                let unit = words::unit(self.near(at + 1))?;
                let within = ["in", "over", "within", "during", "for"];
                let stretch = self.back(at, 1) == "the" && within.contains(&self.back(at, 2));
                let sure = self.word(at) == "past" || self.word(at) == "last" && stretch;
                (at + 2, unit.times(-1).filter(|_| sure && self.near(at + 2) != "of")?)
            }
        };
        let from = calendar::shifted(self.now, by)?;
        Some((next, (from..end).into()))
    }

    /// `last week`, `this month`, `next year`, `last Monday`, `last May`, `next summer`.
    fn chosen(&self, at: usize, choice: Choice) -> Read<Span> {
        let name = self.near(at + 1);
        // "The last week of school" is told from the school.
        if self.near(at + 2) == "of" && words::unit(name).is_some() {
            return None;
        }
        let step = match choice {
            Choice::Last => -1,
            Choice::This => 0,
            Choice::Next => 1,
        };
        let month_start = self.today.first_of_month();
        let range = match name {
            "week" | "weekend" => {
                let monday = calendar::moved(self.monday_of(self.today), step.weeks());
                let first = if name == "week" { 0 } else { 5 };
                let first = calendar::moved(monday, first.days());
                calendar::dates(first, calendar::moved(monday, 7.days()))
            }
            "month" => {
                let first = calendar::moved(month_start, step.months());
                calendar::dates(first, calendar::moved(first, 1.month()))
            }
            "year" => calendar::year(self.today.year() + i16::try_from(step).ok()?)?,
            _ => match words::weekday(name) {
                Some(weekday) => calendar::day(self.weekday_near(weekday, choice)?),
                None => return self.chosen_of_year(at, choice),
            },
        };
        Some((at + 2, range.into()))
    }

    /// `last May`, `next summer`.
    fn chosen_of_year(&self, at: usize, choice: Choice) -> Read<Span> {
        let name = self.near(at + 1);
        let (next, month, length) = match words::season(name) {
            Some(month) => (at + 2, month, 3.months()),
            None if words::month(name).is_some() => match self.moment(at + 1, true)? {
                (next, Span::EveryYear { month, day: None }) => (next, month, 1.month()),
                _ => return None,
            },
            None => return None,
        };
        let year = self.today.year();
        let stretches = |years: [i16; 3]| {
            let firsts = years.into_iter().filter_map(|year| Date::new(year, month, 1).ok());
            let all = firsts.map(|first| calendar::dates(first, calendar::moved(first, length)));
            all.collect::<Vec<Range<Timestamp>>>()
        };
        let found = match choice {
            Choice::Last => stretches([year, year - 1, year - 2])
                .into_iter()
                .find(|stretch| stretch.end <= self.now),
            Choice::This => stretches([year; 3]).into_iter().next(),
            Choice::Next => stretches([year, year + 1, year + 2])
                .into_iter()
                .find(|stretch| stretch.start > self.now),
        };
        Some((next, found?.into()))
    }

    /// `on Monday`, `Monday`: the latest before today.
    fn weekday(&self, at: usize, led: bool) -> Read<Span> {
        let weekday = words::weekday(self.word(at))?;
        // Of "Friday, 14 July 2023" the date is what counts.
        if matches!(self.gap(at + 1), Gap::Blank | Gap::Comma)
            && words::weekday(self.word(at + 1)).is_none()
            && let Some((next, date @ Span::Fixed { .. })) = self.moment(at + 1, false)
            && next > at + 2
        {
            return Some((next, date));
        }
        let before = self.back(at, 1);
        let capital = self.words.get(at).is_some_and(|word| word.capital);
        let is_day = led || capital || DAY_LEADS.contains(&before);
        let date = self.weekday_near(weekday, Choice::Last)?;
        (is_day && !HABITS.contains(&before)).then_some((at + 1, calendar::day(date).into()))
    }

    fn weekday_near(&self, weekday: Weekday, choice: Choice) -> Option<Date> {
        match choice {
            Choice::Last => self.today.nth_weekday(-1, weekday).ok(),
            Choice::Next => self.today.nth_weekday(1, weekday).ok(),
            Choice::This => {
                let days = i64::from(weekday.to_monday_zero_offset());
                Some(calendar::moved(self.monday_of(self.today), days.days()))
            }
        }
    }

    /// `three days ago`, `a week ago`, `a couple of months ago`.
    fn ago(&self, at: usize) -> Read<Span> {
        let (next, (count, unit)) = self.amount(at)?;
        if self.near(next) != "ago" || self.back(at, 1) == "half" {
            return None;
        }
        let range = match unit {
            Unit::Minute | Unit::Hour => {
                let then = calendar::shifted(self.now, unit.times(-count)?)?;
                let half = if unit == Unit::Hour { 30.minutes() } else { 5.minutes() };
                calendar::shifted(then, half.negate())?..calendar::shifted(then, half)?
            }
            _ => self.around(self.today, unit, -count)?,
        };
        Some((next + 1, range.into()))
    }

    /// The stretch that so many units from a date mean: that day for days, and for the others as
    /// much as half a unit on each side, for people do not count the days of a year.
    pub(super) fn around(&self, date: Date, unit: Unit, count: i64) -> Option<Range<Timestamp>> {
        let then = date.checked_add(unit.times(count)?).ok()?;
        let half = match unit {
            Unit::Week => 3,
            Unit::Month => 15,
            Unit::Year => 182,
            _ => 0,
        };
        let first = calendar::moved(then, -half.days());
        Some(calendar::dates(first, calendar::moved(then, (half + 1).days())))
    }

    /// `three days`, `a couple of weeks`, `a few months`: how many of what.
    pub(super) fn amount(&self, at: usize) -> Read<(i64, Unit)> {
        let few = self.word(at) == "a" && matches!(self.near(at + 1), "couple" | "few");
        let place = at + usize::from(few);
        let (count, next) = match self.word(place) {
            "couple" => (2, place + 1 + usize::from(self.near(place + 1) == "of")),
            word => (words::number(word)?, place + 1),
        };
        Some((next + 1, (count, words::unit(self.near(next))?)))
    }
}

impl Unit {
    /// So many of this unit.
    pub(super) fn times(self, count: i64) -> Option<jiff::Span> {
        let span = jiff::Span::new();
        match self {
            Self::Minute => span.try_minutes(count),
            Self::Hour => span.try_hours(count),
            Self::Day => span.try_days(count),
            Self::Week => span.try_weeks(count),
            Self::Month => span.try_months(count),
            Self::Year => span.try_years(count),
        }
        .ok()
    }
}
