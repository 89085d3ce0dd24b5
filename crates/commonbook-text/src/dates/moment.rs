//! Reads dates, months, seasons and years by their names: `7 May 2023`, `in March`, `summer 2022`.

use jiff::ToSpan;
use jiff::civil::Date;

use super::Span;
use super::reader::{Read, Reader};
use super::words::{self, Gap};
use crate::dates::calendar;

/// Words before a day and a month that are written in small letters: `on may 7`.
const DAY_LEADS: &[&str] =
    &["after", "before", "between", "by", "from", "of", "on", "since", "till", "to", "until"];

/// Words that can follow `in may`; after any other, `may` is a verb: "who can log in may fail".
const FOLLOWERS: &[&str] = &[
    "about", "and", "at", "because", "but", "by", "did", "during", "for", "from", "had", "he",
    "her", "his", "i", "is", "it", "last", "my", "of", "on", "or", "our", "she", "so", "than",
    "that", "the", "their", "then", "they", "this", "through", "till", "to", "until", "was", "we",
    "were", "when", "which", "who", "with", "you",
];

impl Reader<'_> {
    /// A single stretch of time that begins at this word. `led` says that a word before it has
    /// announced a time, so that a month or a year alone is enough.
    pub(super) fn moment(&self, at: usize, led: bool) -> Read<Span> {
        self.written_date(at)
            .or_else(|| self.day_and_month(at))
            .or_else(|| self.month_and_day(at))
            .or_else(|| self.month(at, led))
            .or_else(|| self.season_of_year(at))
            .or_else(|| self.year(at, led))
            .or_else(|| self.relative(at, led))
    }

    /// `2023-05-07`, `2023-05-07T10:00:00Z`, `2023/05/07`, `2023-05`.
    fn written_date(&self, at: usize) -> Read<Span> {
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
            (None, _) if sign == '-' => calendar::month(year, month)?,
            (Some(day), None) => calendar::day(Date::new(year, month, two(day)?).ok()?),
            _ => return None,
        };
        Some((at + 1, range.into()))
    }

    /// `7 May 2023`, `7th of May`.
    fn day_and_month(&self, at: usize) -> Read<Span> {
        let (day, is_ordinal) = words::month_day(self.word(at))?;
        let place = at + 1 + usize::from(self.near(at + 1) == "of");
        let month = words::month(self.near(place))?;
        let (next, year) = self.year_beside(place + 1);
        let sure = year.is_some() || is_ordinal && place > at + 1;
        self.date(at, place, next, sure, (year, month, day))
    }

    /// `May 7th, 2023`, `May 7`, `Jan. 5`.
    fn month_and_day(&self, at: usize) -> Read<Span> {
        let month = words::month(self.word(at))?;
        let short = words::is_short_month(self.word(at));
        let close = self.gap(at + 1) == Gap::Blank || short && self.gap(at + 1) == Gap::Dot;
        let place = at + 1 + usize::from(close && self.word(at + 1) == "the");
        let (day, is_ordinal) = words::month_day(self.word(place)).filter(|_| close)?;
        let (next, year) = self.year_beside(place + 1);
        self.date(at, at, next, year.is_some() || is_ordinal, (year, month, day))
    }

    /// A day of a month, when the words around it let it be one.
    fn date(
        &self,
        at: usize,
        month_at: usize,
        next: usize,
        sure: bool,
        (year, month, day): (Option<i16>, i8, i8),
    ) -> Read<Span> {
        // In a leap year there is every day that can be.
        let date = Date::new(year.unwrap_or(2024), month, day).ok()?;
        let led = self.gap(at) == Gap::Blank && DAY_LEADS.contains(&self.back(at, 1));
        let plain = !self.is_doubtful(month_at) || led || self.can_end(next);
        if !sure && (!plain || words::is_counted(self.near(next))) {
            return None;
        }
        let every_year = Span::EveryYear { month, day: Some(day) };
        Some((next, year.map_or(every_year, |_| calendar::day(date).into())))
    }

    /// `May 2023`, `in May`, `mid-May`.
    fn month(&self, at: usize, led: bool) -> Read<Span> {
        let word = self.word(at);
        let (name, led) = word.strip_prefix("mid-").map_or((word, led), |name| (name, true));
        let month = words::month(name)?;
        let place = at + 1 + usize::from(self.near(at + 1) == "of");
        if let (next, Some(year)) = self.year_beside(place) {
            return Some((next, calendar::month(year, month)?.into()));
        }
        let capital = self.words.get(at).is_some_and(|word| word.capital);
        let plain = match () {
            () if words::is_short_month(name) => capital,
            () if matches!(name, "may" | "march") => capital || self.can_end(at + 1),
            () => true,
        };
        (led && plain).then_some((at + 1, Span::EveryYear { month, day: None }))
    }

    /// `summer 2022`, `summer of 2022`, `Q3 2022`; seasons of the northern half of the earth, by whole
    /// months, and a winter by the year of its December.
    fn season_of_year(&self, at: usize) -> Read<Span> {
        let month = words::season(self.word(at))?;
        let place = at + 1 + usize::from(self.near(at + 1) == "of");
        let (next, year) = self.year_beside(place);
        let first = Date::new(year?, month, 1).ok()?;
        Some((next, calendar::dates(first, calendar::moved(first, 3.months())).into()))
    }

    /// `in 2022`, `mid-2022`.
    fn year(&self, at: usize, led: bool) -> Read<Span> {
        let word = self.word(at);
        let (digits, led) = word.strip_prefix("mid-").map_or((word, led), |year| (year, true));
        let year = words::year(digits)?;
        let counts = words::is_counted(self.near(at + 1));
        let told = led || self.back(at, 1) == "year" && self.gap(at) == Gap::Blank;
        (told && !counts).then_some((at + 1, calendar::year(year)?.into()))
    }

    /// The year that stands at this place, after blanks or a comma, and the place behind it:
    /// `2023`, `last year`.
    fn year_beside(&self, at: usize) -> (usize, Option<i16>) {
        if self.near(at + 1) == "year" {
            let years = match self.near(at) {
                "last" => -1,
                "this" => 0,
                "next" => 1,
                _ => return (at, None),
            };
            return (at + 2, Some(self.today.year() + years));
        }
        let close = matches!(self.gap(at), Gap::Blank | Gap::Comma | Gap::Dot);
        let year = words::year(self.word(at)).filter(|_| close);
        match year.filter(|_| !words::is_counted(self.near(at + 1))) {
            Some(year) => (at + 1, Some(year)),
            None => (at, None),
        }
    }

    /// Whether this month could as well be a verb: in small letters, or where a sentence begins.
    fn is_doubtful(&self, at: usize) -> bool {
        let verb = matches!(self.word(at), "may" | "march" | "mar");
        verb && self.words.get(at).is_some_and(|word| !word.capital || word.gap == Gap::Break)
    }

    /// Whether a time can end before this word.
    fn can_end(&self, at: usize) -> bool {
        self.gap(at) != Gap::Blank || FOLLOWERS.contains(&self.word(at))
    }
}
