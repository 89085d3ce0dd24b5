//! Values in a clause: numbers with their units, versions, dates and times of day.

use std::sync::LazyLock;

use jiff::civil::Weekday;
use rustc_hash::FxHashMap;

use super::vocabulary::LABEL_NOUNS;
use super::word::ClauseWord;
use crate::dates::{ClockTime, DateToken, TimeUnit, WrittenDate};
use crate::word_list::rows;

/// The bound of a number: "at least 3" and "5" can both hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberBound {
    /// The number itself: "5 seconds".
    Exact,
    /// The number or more: "at least 5".
    Least,
    /// The number or less: "at most 5".
    Most,
    /// A number near it: "about 5".
    About,
}

/// The share of a period up to which two may be the same: "monthly" and "every four weeks".
const PERIOD_TOLERANCE: f64 = 0.1;

/// What sort of name a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSort {
    /// A name of any thing or person: "Oslo", "Ann".
    Proper,
    /// The name of a product, or an identifier: "Redis", "S3".
    Technical,
    /// Common nouns of a medium: "the local disk".
    Medium,
}

impl NameSort {
    /// Whether only one of two different names of these sorts can hold. A medium may be part of a
    /// place that has a name, and says only that no service is meant.
    fn excludes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Medium, other) | (other, Self::Medium) => other == Self::Technical,
            _ => true,
        }
    }
}

/// A value in a form that can be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimValue {
    /// A number, with its dimension if it has a unit; times in seconds, sizes in bytes.
    Number {
        /// The dimension of the unit; empty without a unit.
        unit: &'static str,
        /// The number in that unit.
        value: f64,
        /// The bound of the number.
        bound: NumberBound,
    },
    /// A version or an address: `3.12.1`, `v2`, `10.0.0.1`.
    Dotted(String),
    /// A day, of a year where the text names one.
    Day {
        /// The year.
        year: Option<i16>,
        /// The month, from 1.
        month: i8,
        /// The day of the month, from 1.
        day: i8,
    },
    /// A month, of a year where the text names one.
    Month {
        /// The year.
        year: Option<i16>,
        /// The month, from 1.
        month: i8,
    },
    /// A day of the week: of each week, or the next.
    Weekday {
        /// The day.
        weekday: Weekday,
        /// Whether the text means every week.
        is_each: bool,
    },
    /// A year.
    Year(i16),
    /// A quarter of a year, from 1.
    Quarter(i8),
    /// A time of day, in minutes from midnight.
    Clock(u16),
    /// How often something happens, in seconds from one time to the next.
    Period(f64),
    /// A name.
    Name {
        /// The name in lower case, of several spellings the first.
        name: String,
        /// The index of its alternatives in `OPPOSITES`, if it has some.
        kind: Option<usize>,
        /// Whether the clause says that the subject has this one alone.
        is_only: bool,
        /// What sort of name it is.
        sort: NameSort,
    },
}

/// The relation of two values of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRelation {
    /// The values are equal.
    Same,
    /// The values exclude each other.
    Different,
    /// The values are of different kinds, or both can hold.
    Apart,
}

impl ClaimValue {
    /// Whether the value is a time.
    pub fn is_time(&self) -> bool {
        !matches!(self, Self::Number { .. } | Self::Dotted(_) | Self::Name { .. })
    }

    /// Compares this value with another.
    pub fn relation_to(&self, other: &Self) -> ValueRelation {
        let equal = |same: bool| if same { ValueRelation::Same } else { ValueRelation::Different };
        let years = |a: &Option<i16>, b: &Option<i16>| a.is_none() || b.is_none() || a == b;
        match (self, other) {
            (
                Self::Number { unit: a, value: x, bound: p },
                Self::Number { unit: b, value: y, bound: q },
            ) => {
                let greatest = x.abs().max(y.abs());
                let difference = (x - y).abs();
                if a != b {
                    ValueRelation::Apart
                } else if difference <= 1e-9 * greatest {
                    ValueRelation::Same
                } else if bounds_exclude([*p, *q], difference / greatest) {
                    ValueRelation::Different
                } else {
                    ValueRelation::Apart
                }
            }
            (Self::Dotted(a), Self::Dotted(b)) => equal(a == b),
            (Self::Day { year: a, month: m, day: d }, Self::Day { year: b, month: n, day: e }) => {
                equal((m, d) == (n, e) && years(a, b))
            }
            (Self::Month { year: a, month: m }, Self::Month { year: b, month: n }) => {
                equal(m == n && years(a, b))
            }
            (
                Self::Weekday { weekday: a, is_each: p },
                Self::Weekday { weekday: b, is_each: q },
            ) => {
                if p == q {
                    equal(a == b)
                } else {
                    ValueRelation::Apart
                }
            }
            (Self::Year(a), Self::Year(b)) => equal(a == b),
            (Self::Quarter(a), Self::Quarter(b)) => equal(a == b),
            (Self::Clock(a), Self::Clock(b)) => equal(a == b),
            // A month and a year have no fixed length.
            (Self::Period(a), Self::Period(b)) => {
                let (difference, greatest) = ((a - b).abs(), a.abs().max(b.abs()));
                if difference <= 1e-6 * greatest {
                    ValueRelation::Same
                } else if difference > PERIOD_TOLERANCE * greatest {
                    ValueRelation::Different
                } else {
                    ValueRelation::Apart
                }
            }
            (
                Self::Name { name: a, kind: k, is_only: p, sort: s },
                Self::Name { name: b, kind: l, is_only: q, sort: t },
            ) => {
                let excludes = (k.is_some() && k == l) || (*p && *q && s.excludes(*t));
                match () {
                    () if a == b => ValueRelation::Same,
                    // "Ann" and "Ann Miller" can be one person.
                    () if !excludes || shares_words(a, b) => ValueRelation::Apart,
                    () => ValueRelation::Different,
                }
            }
            _ => ValueRelation::Apart,
        }
    }
}

/// Whether all words of one name are in the other.
fn shares_words(a: &str, b: &str) -> bool {
    let has_all = |a: &str, b: &str| a.split(' ').all(|word| b.split(' ').any(|b| b == word));
    has_all(a, b) || has_all(b, a)
}

/// Whether two different numbers with these bounds exclude each other. `ratio` is the difference
/// as a share of the greater number: between approximate numbers a fifth is no difference.
fn bounds_exclude(bounds: [NumberBound; 2], ratio: f64) -> bool {
    let is_open =
        bounds.iter().any(|bound| matches!(bound, NumberBound::Least | NumberBound::Most));
    if bounds.contains(&NumberBound::About) {
        return ratio > 0.2 && !is_open;
    }
    bounds[0] == bounds[1]
}

/// Parses the value that begins at an index of a clause; returns the number of its words too.
pub fn parse_value(
    tokens: &[ClauseWord<'_>],
    index: usize,
    bound: NumberBound,
) -> Option<(ClaimValue, usize)> {
    parse_time(tokens, index).or_else(|| parse_number(tokens, index, bound))
}

/// Whether the number at this index is the label of one thing among many: "step 3", "#12".
pub fn is_label(tokens: &[ClauseWord<'_>], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| tokens.get(before));
    // "Node 18" is a name and its version.
    before.is_some_and(|word| {
        LABEL_NOUNS.contains(word.lower.as_str()) && !word.is_capital(index - 1)
    }) || before.is_some_and(|word| matches!(word.lower.as_str(), "http" | "rfc" | "pr" | "adr"))
        || tokens[index].raw.starts_with('#')
}

fn parse_number(
    tokens: &[ClauseWord<'_>],
    index: usize,
    bound: NumberBound,
) -> Option<(ClaimValue, usize)> {
    let lower = tokens[index].lower.as_str();
    if let Some(dotted) = parse_dotted(lower) {
        return Some((ClaimValue::Dotted(dotted), 1));
    }
    let (about, lower) = match lower.strip_prefix('~') {
        Some(rest) => (true, rest),
        None => (false, lower),
    };
    let bound = if about { NumberBound::About } else { bound };
    let (money, lower) = match lower.chars().next() {
        Some('$') => (Some("usd"), &lower[1..]),
        Some('€') => (Some("eur"), &lower['€'.len_utf8()..]),
        Some('£') => (Some("gbp"), &lower['£'.len_utf8()..]),
        _ => (None, lower),
    };
    let end =
        lower.find(|c: char| !c.is_ascii_digit() && !",._".contains(c)).unwrap_or(lower.len());
    let (digits, ending) = lower.split_at(end);
    let value = match digits.is_empty() {
        true => match DateToken::of(lower) {
            DateToken::NumberWord(number @ 2..) => number as f64,
            // Elsewhere "one" is mostly a pronoun.
            DateToken::NumberWord(1) if is_counted(tokens, index) => 1.0,
            _ => return None,
        },
        false => digits.replace([',', '_'], "").parse().ok()?,
    };
    let number = |unit, factor: f64, length| {
        Some((ClaimValue::Number { unit, value: value * factor, bound }, length))
    };
    if let Some(money) = money {
        let factor = match ending {
            "" => 1.0,
            "k" => 1e3,
            "m" => 1e6,
            _ => return None,
        };
        return number(money, factor, 1);
    }
    if !ending.is_empty() && !digits.is_empty() {
        let ending = ending.trim_start_matches('-');
        let (unit, factor) = parse_unit(ending).or(match ending {
            "k" => Some(("", 1e3)),
            "x" => Some(("times", 1.0)),
            _ => None,
        })?;
        return number(unit, factor, 1);
    }
    match tokens.get(index + 1).and_then(|next| parse_unit(&next.lower)) {
        Some((unit, factor)) => number(unit, factor, 2),
        None => number("", 1.0, 1),
    }
}

/// Whether "one" at this index is a count: "only one", "needs one approval".
fn is_counted(tokens: &[ClauseWord<'_>], index: usize) -> bool {
    let before = index.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let counts = ["only", "exactly", "just", "need", "needs", "require", "requires"];
    // "After one hour", but not "one day it will".
    let measures = [
        "after", "within", "in", "for", "than", "least", "most", "is", "are", "takes", "take",
        "lasts", "every",
    ];
    let has_unit = || tokens.get(index + 1).is_some_and(|next| parse_unit(&next.lower).is_some());
    before.is_some_and(|before| {
        counts.contains(&before) || (measures.contains(&before) && has_unit())
    })
}

/// Adverbs of how often something happens, with the period in seconds.
static FREQUENCY_WORDS: LazyLock<FxHashMap<&'static str, f64>> = LazyLock::new(|| {
    let lines = rows(include_str!("vocabulary/frequency_words.tsv"));
    lines.filter_map(|[word, seconds]| Some((word, seconds.parse().ok()?))).collect()
});

/// Seconds of a month of 30 days.
const MONTH_SECONDS: f64 = 30.0 * 86_400.0;

/// Whether a word says how often something happens.
pub fn is_frequency_word(lower: &str) -> bool {
    FREQUENCY_WORDS.contains_key(lower)
}

/// Parses how often something happens: "weekly", "every two weeks", "once a month". Returns the
/// number of its words too.
pub fn parse_period(tokens: &[ClauseWord<'_>], index: usize) -> Option<(ClaimValue, usize)> {
    let lower = |index: usize| tokens.get(index).map(|word| word.lower.as_str());
    let first = lower(index)?;
    if let Some(seconds) = FREQUENCY_WORDS.get(first) {
        return Some((ClaimValue::Period(*seconds), 1));
    }
    let unit_at = |index: usize| match parse_unit(lower(index)?)? {
        ("time", seconds) => Some(seconds),
        ("months", months) => Some(months * MONTH_SECONDS),
        _ => None,
    };
    let period = |seconds: f64, length| Some((ClaimValue::Period(seconds), length));
    match first {
        "once" | "twice" => {
            let article = lower(index + 1)?;
            let is_each = matches!(article, "a" | "an" | "per" | "every" | "each");
            let times = if first == "once" { 1.0 } else { 2.0 };
            period(unit_at(index + 2).filter(|_| is_each)? / times, 3)
        }
        "every" | "each" => {
            if let Some(seconds) = unit_at(index + 1) {
                return period(seconds, 2);
            }
            let count = match lower(index + 1)? {
                "other" | "second" => 2.0,
                "third" => 3.0,
                word => match (DateToken::of(word), word.parse::<f64>()) {
                    (DateToken::NumberWord(count), _) => count as f64,
                    (_, Ok(count)) => count,
                    _ => return None,
                },
            };
            period(count * unit_at(index + 2)?, 3)
        }
        _ => None,
    }
}

/// A version or an address: digits between dots, or behind a "v".
fn parse_dotted(lower: &str) -> Option<String> {
    let bare = lower.strip_prefix('v').unwrap_or(lower);
    let parts: Vec<&str> = bare.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let is_version = bare.len() < lower.len() || parts.len() >= 3;
    (is_version && parts.iter().all(digits)).then(|| bare.to_owned())
}

/// Units that measure no time: name, dimension, factor.
static UNITS: LazyLock<FxHashMap<&'static str, (&'static str, f64)>> = LazyLock::new(|| {
    let lines = rows(include_str!("units.tsv"));
    let units = lines.filter_map(|[name, unit, factor]| Some((name, (unit, factor.parse().ok()?))));
    units.collect()
});

/// Returns the dimension of a unit, and its factor within the dimension.
fn parse_unit(lower: &str) -> Option<(&'static str, f64)> {
    if let DateToken::Unit { unit, .. } = DateToken::of(lower) {
        return Some(match unit {
            TimeUnit::Millisecond => ("time", 0.001),
            TimeUnit::Second => ("time", 1.0),
            TimeUnit::Minute => ("time", 60.0),
            TimeUnit::Hour => ("time", 3_600.0),
            TimeUnit::Day => ("time", 86_400.0),
            TimeUnit::Week => ("time", 7.0 * 86_400.0),
            TimeUnit::Month => ("months", 1.0),
            TimeUnit::Year => ("months", 12.0),
        });
    }
    UNITS.get(lower).copied()
}

fn parse_time(tokens: &[ClauseWord<'_>], index: usize) -> Option<(ClaimValue, usize)> {
    let date_token = |index: usize| tokens.get(index).map(|word| DateToken::of(&word.lower));
    let is_name = |index: usize| tokens[index].raw.starts_with(char::is_uppercase);
    let (token, next) = (date_token(index)?, date_token(index + 1));
    let year_at = |index: usize| date_token(index).and_then(DateToken::year);
    match token {
        // Digits with dots between them are a version.
        DateToken::Written(_) if tokens[index].lower.contains('.') => return None,
        DateToken::Written(WrittenDate { year, month, day: Some(day) }) => {
            return Some((ClaimValue::Day { year: Some(year), month, day }, 1));
        }
        DateToken::Written(WrittenDate { year, month, day: None }) => {
            return Some((ClaimValue::Month { year: Some(year), month }, 1));
        }
        DateToken::Weekday { weekday, is_each } if is_name(index) => {
            return Some((ClaimValue::Weekday { weekday, is_each }, 1));
        }
        DateToken::Month { month, .. } if is_name(index) => {
            let day = next.and_then(DateToken::month_day);
            let length = if day.is_some() { 2 } else { 1 };
            let year = year_at(index + length);
            let value = match day {
                Some(day) => ClaimValue::Day { year, month, day },
                None => ClaimValue::Month { year, month },
            };
            return Some((value, length + usize::from(year.is_some())));
        }
        DateToken::Quarter(quarter) => return Some((ClaimValue::Quarter(quarter), 1)),
        _ => {}
    }
    if let (Some(day), Some(month)) = (token.month_day(), next.and_then(DateToken::month))
        && is_name(index + 1)
    {
        let year = year_at(index + 2);
        return Some((ClaimValue::Day { year, month, day }, 2 + usize::from(year.is_some())));
    }
    if let Some((clock, has_half)) = ClockTime::read(token, next) {
        return Some((ClaimValue::Clock(clock.minute_of_day()), 1 + usize::from(has_half)));
    }
    let before = index.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let is_led = matches!(before, Some("in" | "since" | "by" | "of" | "for" | "year"));
    token.year().filter(|_| is_led).map(|year| (ClaimValue::Year(year), 1))
}
