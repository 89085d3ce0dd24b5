//! The lexer of dates: a text as words, and what each word means in an expression of time.
//!
//! Questions, claims and the operators of a query all read dates from these tokens. The names of
//! months, days and units stand in `vocabulary.tsv`.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::{Date, Weekday};
use jiff::{Span, Timestamp};
use rustc_hash::FxHashMap;

use super::calendar;
use crate::word_list::{WordList, rows};

/// The separator before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordGap {
    /// Blanks alone.
    Blank,
    /// A comma with blanks.
    Comma,
    /// A full stop after a shortened word, with blanks: `Jan. 5`.
    Dot,
    /// Anything else: the end of a sentence, a bracket, the beginning of the text.
    Break,
}

/// One word of a text.
#[derive(Debug)]
pub(super) struct DateWord {
    /// The word in lower case, with the signs within it (`2023-05-07`, `src/lib.rs:42`) and
    /// without a possessive `'s`.
    pub(super) text: String,
    /// What the word means in an expression of time.
    pub(super) token: DateToken,
    /// Whether the word begins with a capital.
    pub(super) is_capital: bool,
    /// The separator before the word.
    pub(super) gap: WordGap,
}

/// What a word means in an expression of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateToken {
    /// A number of up to four digits: `7`, `7th`, `2023`.
    Number(DateNumber),
    /// A number as a word: `two`.
    NumberWord(i64),
    /// A vague or indefinite amount: `a`, `few`, `couple`.
    Amount(i64),
    /// A month by name, `is_short` for `Jan`.
    Month {
        /// The month, from 1.
        month: i8,
        /// Whether the name is shortened.
        is_short: bool,
    },
    /// `mid-May`.
    MidMonth(i8),
    /// `mid-2022`.
    MidYear(i16),
    /// A day of the week, `is_each` for `Mondays`.
    Weekday {
        /// The day.
        weekday: Weekday,
        /// Whether the word means every week.
        is_each: bool,
    },
    /// A season, by its first month.
    Season(i8),
    /// A quarter, from 1: `Q3`.
    Quarter(i8),
    /// A unit of time.
    Unit {
        /// The unit.
        unit: TimeUnit,
        /// How the text writes it.
        form: UnitForm,
    },
    /// A day as its distance from today: -1 for `yesterday`.
    Day(i64),
    /// `ago`.
    Ago,
    /// `last`, `this`, `next` and their synonyms.
    Period(RelativePeriod),
    /// A written date: `2023-05-07`.
    Written(WrittenDate),
    /// A time of day: `10:30`, `3pm`, `noon`.
    Clock(ClockTime),
    /// `am` or `pm` as a word of its own.
    DayHalf(DayHalf),
    /// Any other word.
    Other,
}

/// Digits, with the ending of an ordinal or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateNumber {
    value: u16,
    digits: u8,
    /// Whether the number is written as an ordinal: `7th`.
    pub is_ordinal: bool,
}

/// How a text writes a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitForm {
    /// `week`.
    Singular,
    /// `weeks`.
    Plural,
    /// `hrs`.
    Short,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// A thousandth of a second.
    Millisecond,
    /// A second.
    Second,
    /// 60 seconds.
    Minute,
    /// 60 minutes.
    Hour,
    /// A day.
    Day,
    /// 7 days.
    Week,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

/// The choice among periods that come again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativePeriod {
    /// The latest before now.
    Last,
    /// The one that contains now.
    This,
    /// The first after now.
    Next,
}

/// A half of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayHalf {
    /// Before noon.
    Am,
    /// From noon on.
    Pm,
}

/// A year and a month, with a day or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDate {
    /// The year.
    pub year: i16,
    /// The month, from 1.
    pub month: i8,
    /// The day of the month, from 1.
    pub day: Option<i8>,
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockTime {
    /// The hour as written; up to 12 beside a half of the day, else up to 23.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
    /// The half of the day, if it is part of the word.
    pub half: Option<DayHalf>,
}

/// The meaning of each listed word.
static VOCABULARY: LazyLock<FxHashMap<&'static str, DateToken>> = LazyLock::new(|| {
    let lines = rows(include_str!("vocabulary.tsv"));
    lines.filter_map(|[word, kind, value]| Some((word, listed_token(kind, value)?))).collect()
});

/// Nouns after a number that counts things and is no year: `in 2000 files`.
static COUNTED_NOUNS: WordList = WordList::new(include_str!("counted_nouns.txt"));

/// The token of a line in the vocabulary.
fn listed_token(kind: &str, value: &str) -> Option<DateToken> {
    let number = || value.parse().ok();
    let small = || value.parse::<i8>().ok();
    let weekday = || Weekday::from_monday_one_offset(small()?).ok();
    let unit = |form| {
        let unit = match value {
            "millisecond" => TimeUnit::Millisecond,
            "second" => TimeUnit::Second,
            "minute" => TimeUnit::Minute,
            "hour" => TimeUnit::Hour,
            "day" => TimeUnit::Day,
            "week" => TimeUnit::Week,
            "month" => TimeUnit::Month,
            "year" => TimeUnit::Year,
            _ => return None,
        };
        Some(DateToken::Unit { unit, form })
    };
    Some(match kind {
        "month" => DateToken::Month { month: small()?, is_short: false },
        "short_month" => DateToken::Month { month: small()?, is_short: true },
        "weekday" => DateToken::Weekday { weekday: weekday()?, is_each: false },
        "each_weekday" => DateToken::Weekday { weekday: weekday()?, is_each: true },
        "season" => DateToken::Season(small()?),
        "quarter" => DateToken::Quarter(small()?),
        "unit" => unit(UnitForm::Singular)?,
        "units" => unit(UnitForm::Plural)?,
        "short_unit" => unit(UnitForm::Short)?,
        "number" => DateToken::NumberWord(number()?),
        "amount" => DateToken::Amount(number()?),
        "day" => DateToken::Day(number()?),
        "ago" => DateToken::Ago,
        "period" => DateToken::Period(match value {
            "last" => RelativePeriod::Last,
            "this" => RelativePeriod::This,
            "next" => RelativePeriod::Next,
            _ => return None,
        }),
        "clock" => DateToken::Clock(ClockTime { hour: value.parse().ok()?, minute: 0, half: None }),
        "day_half" => DateToken::DayHalf(if value == "am" { DayHalf::Am } else { DayHalf::Pm }),
        _ => return None,
    })
}

impl DateToken {
    /// The meaning of a word in lower case.
    #[must_use]
    pub fn of(word: &str) -> Self {
        if let Some(token) = VOCABULARY.get(word) {
            return *token;
        }
        if let Some(period) = word.strip_prefix("mid-") {
            return match Self::of(period) {
                Self::Month { month, .. } => Self::MidMonth(month),
                Self::Number(number) => number.year().map_or(Self::Other, Self::MidYear),
                _ => Self::Other,
            };
        }
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return Self::Other;
        }
        let number = || DateNumber::parse(word).map(Self::Number);
        let clock = || ClockTime::parse(word).map(Self::Clock);
        let written = || WrittenDate::parse_in_prose(word).map(Self::Written);
        number().or_else(clock).or_else(written).unwrap_or(Self::Other)
    }

    /// The year that a number of four digits means.
    #[must_use]
    pub fn year(self) -> Option<i16> {
        if let Self::Number(number) = self { number.year() } else { None }
    }

    /// The day of a month that a number means.
    #[must_use]
    pub fn month_day(self) -> Option<i8> {
        if let Self::Number(number) = self { number.month_day() } else { None }
    }

    /// The month of a name, short or in full.
    #[must_use]
    pub fn month(self) -> Option<i8> {
        if let Self::Month { month, .. } = self { Some(month) } else { None }
    }

    /// The day of the week of a name in the singular.
    pub(super) fn weekday(self) -> Option<Weekday> {
        if let Self::Weekday { weekday, is_each: false } = self { Some(weekday) } else { None }
    }

    /// The unit of a name in full, from minutes on: alone, `second` is mostly an ordinal.
    pub(super) fn named_unit(self) -> Option<(TimeUnit, UnitForm)> {
        match self {
            Self::Unit { unit, form } if unit >= TimeUnit::Minute && form != UnitForm::Short => {
                Some((unit, form))
            }
            _ => None,
        }
    }

    /// A small number, in digits or as a word.
    pub(super) fn count(self) -> Option<i64> {
        match self {
            Self::Number(number) if !number.is_ordinal => Some(number.value.into()),
            Self::NumberWord(count) | Self::Amount(count) => Some(count),
            _ => None,
        }
    }

    /// The first month of a season or a quarter.
    pub(super) fn first_of_three_months(self) -> Option<i8> {
        match self {
            Self::Season(month) => Some(month),
            Self::Quarter(quarter) => Some(3 * (quarter - 1) + 1),
            _ => None,
        }
    }
}

impl DateNumber {
    fn parse(word: &str) -> Option<Self> {
        let end = word.bytes().take_while(u8::is_ascii_digit).count();
        let is_ordinal = match &word[end..] {
            "" => false,
            "st" | "nd" | "rd" | "th" => true,
            _ => return None,
        };
        let digits = u8::try_from(end).ok().filter(|digits| (1..=4).contains(digits))?;
        Some(Self { value: word[..end].parse().ok()?, digits, is_ordinal })
    }

    /// The year of a number of four digits, from 1900 to 2099.
    #[must_use]
    pub fn year(self) -> Option<i16> {
        let is_year = self.digits == 4 && !self.is_ordinal && (1900..=2099).contains(&self.value);
        is_year.then_some(self.value).and_then(|year| year.try_into().ok())
    }

    /// The day of a month, 1 to 31.
    #[must_use]
    pub fn month_day(self) -> Option<i8> {
        let is_day = self.digits <= 2 && (1..=31).contains(&self.value);
        is_day.then_some(self.value).and_then(|day| day.try_into().ok())
    }
}

impl TimeUnit {
    /// This many of the unit; `None` for milliseconds, and beyond the calendar.
    pub(super) fn to_span(self, count: i64) -> Option<Span> {
        let span = Span::new();
        match self {
            Self::Millisecond => return None,
            Self::Second => span.try_seconds(count),
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

impl WrittenDate {
    /// Parses `2023-05-07` or `2023-05`, of any year of four digits, with this sign between the
    /// numbers. Fails for a day that the calendar does not have.
    pub(super) fn parse(text: &str, sign: char) -> Option<Self> {
        let digits = |part: &str, length: usize| {
            let fits = part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
            fits.then(|| part.parse::<i16>().ok()).flatten()
        };
        let mut parts = text.split(sign);
        let year = digits(parts.next()?, 4)?;
        let month = i8::try_from(digits(parts.next()?, 2)?).ok()?;
        let day = match parts.next() {
            Some(day) => Some(i8::try_from(digits(day, 2)?).ok()?),
            None => None,
        };
        Date::new(year, month, day.unwrap_or(1)).ok()?;
        parts.next().is_none().then_some(Self { year, month, day })
    }

    /// Parses `2023-05-07`, `2023-05-07T10:00:00Z`, `2023/05/07`, `2023.05.07` or `2023-05`, of a
    /// year from 1900 to 2099.
    fn parse_in_prose(word: &str) -> Option<Self> {
        let (text, time) = (word.get(..10).unwrap_or(word), word.get(10..).unwrap_or_default());
        if !time.is_empty() && !time.starts_with('t') {
            return None;
        }
        let sign = text.chars().nth(4).filter(|sign| matches!(sign, '-' | '/' | '.'))?;
        let date = Self::parse(text, sign)?;
        ((1900..=2099).contains(&date.year) && (date.day.is_some() || sign == '-')).then_some(date)
    }

    /// The day, or the month where there is no day.
    pub(super) fn range(self) -> Option<Range<Timestamp>> {
        match self.day {
            Some(day) => Date::new(self.year, self.month, day).ok().map(calendar::day_range),
            None => calendar::month_range(self.year, self.month),
        }
    }
}

impl ClockTime {
    /// Parses `10:30`, `10:30am` or `3p.m`.
    fn parse(word: &str) -> Option<Self> {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
        let half = match &word[digits.len()..] {
            "" => None,
            ending => match VOCABULARY.get(ending)? {
                DateToken::DayHalf(half) => Some(*half),
                _ => return None,
            },
        };
        let (hour, minute) = match digits.split_once(':') {
            Some((hour, minute)) if minute.len() == 2 => (hour, minute),
            None if half.is_some() => (digits, "00"),
            _ => return None,
        };
        let number = |part: &str| {
            let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            fits.then(|| part.parse::<u8>().ok()).flatten()
        };
        let hour_max = if half.is_some() { 12 } else { 23 };
        let hour = number(hour).filter(|hour| *hour <= hour_max)?;
        let minute = number(minute).filter(|minute| *minute < 60)?;
        Some(Self { hour, minute, half })
    }

    /// The time of day that begins with this token, and whether the next token, `am` or `pm`, is
    /// part of it: `3pm`, `3 pm`, `10:30`.
    pub(crate) fn read(token: DateToken, next: Option<DateToken>) -> Option<(Self, bool)> {
        let half = match next {
            Some(DateToken::DayHalf(half)) => Some(half),
            _ => None,
        };
        match (token, half) {
            (DateToken::Clock(clock), Some(_)) if clock.half.is_none() && clock.hour <= 12 => {
                Some((Self { half, ..clock }, true))
            }
            (DateToken::Clock(clock), _) => Some((clock, false)),
            (DateToken::Number(number), Some(_))
                if number.digits <= 2 && number.value <= 12 && !number.is_ordinal =>
            {
                let hour = number.value.try_into().ok()?;
                Some((Self { hour, minute: 0, half }, true))
            }
            _ => None,
        }
    }

    /// The minute of the day, from midnight.
    pub(crate) fn minute_of_day(self) -> u16 {
        let hour = match self.half {
            Some(DayHalf::Pm) if self.hour < 12 => self.hour + 12,
            Some(DayHalf::Am) if self.hour == 12 => 0,
            _ => self.hour,
        };
        u16::from(hour) * 60 + u16::from(self.minute)
    }
}

/// Whether a number before this word counts things and is no year: `in 2000 files`.
pub(super) fn is_counted(word: &str) -> bool {
    COUNTED_NOUNS.contains(word)
}

/// The words of a text, one after the other.
pub(super) struct DateLexer<'a> {
    rest: &'a str,
    is_first: bool,
}

impl<'a> DateLexer<'a> {
    /// A lexer at the beginning of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, is_first: true }
    }
}

impl Iterator for DateLexer<'_> {
    type Item = DateWord;

    fn next(&mut self) -> Option<DateWord> {
        let start = self.rest.find(char::is_alphanumeric)?;
        let gap = match &self.rest[..start] {
            _ if self.is_first => WordGap::Break,
            between if between.contains('\n') => WordGap::Break,
            between => match between.trim() {
                "" => WordGap::Blank,
                "," => WordGap::Comma,
                "." => WordGap::Dot,
                _ => WordGap::Break,
            },
        };
        self.is_first = false;
        let from = &self.rest[start..];
        let end = word_end(from);
        self.rest = &from[end..];
        let lower = from[..end].to_lowercase();
        // "When's" asks, and "Ann's" is Ann.
        let possessive = ["'s", "’s"].iter().find_map(|ending| lower.strip_suffix(ending));
        let text = possessive.filter(|stem| *stem != "when").unwrap_or(&lower);
        let is_capital = from.starts_with(char::is_uppercase);
        Some(DateWord { text: text.to_owned(), token: DateToken::of(text), is_capital, gap })
    }
}

/// Where the word at the beginning ends: at the last letter or digit before a blank or before a
/// sign that is not followed by a letter or digit.
fn word_end(from: &str) -> usize {
    let joins = |c: char| matches!(c, '-' | '/' | ':' | '.' | '_' | '\'' | '’' | '+' | '@' | '\\');
    let mut end = 0;
    let mut is_joined = false;
    for (index, c) in from.char_indices() {
        if c.is_alphanumeric() {
            end = index + c.len_utf8();
            is_joined = false;
        } else if joins(c) && !is_joined {
            is_joined = true;
        } else {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_within_a_word_belong_to_it() {
        let words: Vec<_> = DateLexer::new("On 2023-05-07, src/lib.rs:42 - Ann's x. Jan. 5\nend…")
            .map(|word| (word.text, word.gap))
            .collect();
        let expected = [
            ("on", WordGap::Break),
            ("2023-05-07", WordGap::Blank),
            ("src/lib.rs:42", WordGap::Comma),
            ("ann", WordGap::Break),
            ("x", WordGap::Blank),
            ("jan", WordGap::Dot),
            ("5", WordGap::Dot),
            ("end", WordGap::Break),
        ];
        let expected = expected.map(|(text, gap)| (text.to_owned(), gap));
        assert_eq!(words, expected);
    }

    #[test]
    fn every_line_of_the_vocabulary_is_a_token() {
        let lines: Vec<[&str; 3]> = rows(include_str!("vocabulary.tsv")).collect();
        assert_eq!(VOCABULARY.len(), lines.len());
    }

    #[test]
    fn numbers_are_read_only_when_they_fit() {
        let year = |word| DateToken::of(word).year();
        assert_eq!(year("2023"), Some(2023));
        assert_eq!(["1024", "20233", "2o23", "+202", "2023rd"].map(year), [None; 5]);
        let day = |word| DateToken::of(word).month_day();
        assert_eq!(["31st", "7"].map(day), [Some(31), Some(7)]);
        assert_eq!(["0", "32", "7x", "007", "", "é", "th"].map(day), [None; 7]);
        let count = |word| DateToken::of(word).count();
        assert_eq!(["two", "14", "a"].map(count), [Some(2), Some(14), Some(1)]);
        assert_eq!(["", "99999", "second", "-1", "7th"].map(count), [None; 5]);
    }

    #[test]
    fn written_dates_and_times_of_day_are_one_token() {
        let date = |year, month, day| DateToken::Written(WrittenDate { year, month, day });
        let clock = |hour, minute, half| DateToken::Clock(ClockTime { hour, minute, half });
        let table = [
            ("2026-11-18", date(2026, 11, Some(18))),
            ("2026-11-18t10:00:00z", date(2026, 11, Some(18))),
            ("2026/11/18", date(2026, 11, Some(18))),
            ("2026-11", date(2026, 11, None)),
            ("2026/11", DateToken::Other),
            ("2026-02-30", DateToken::Other),
            ("2026-11-18x", DateToken::Other),
            ("10:30", clock(10, 30, None)),
            ("3pm", clock(3, 0, Some(DayHalf::Pm))),
            ("3:15p.m", clock(3, 15, Some(DayHalf::Pm))),
            ("13pm", DateToken::Other),
            ("25:00", DateToken::Other),
            ("10:3", DateToken::Other),
            ("mid-may", DateToken::MidMonth(5)),
            ("mid-2022", DateToken::MidYear(2022)),
            ("mid-season", DateToken::Other),
        ];
        for (word, expected) in table {
            assert_eq!(DateToken::of(word), expected, "{word:?}");
        }
    }
}
