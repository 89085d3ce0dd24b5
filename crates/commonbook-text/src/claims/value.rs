//! Values within a clause: numbers with their units, versions, dates and times of day.

use super::lists::LABEL_NOUNS;
use super::word::ClauseWord;

/// How near the number may come to what is meant: "at least 3" and "5" can both hold.
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

/// A value, as far as two of them can be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimValue {
    /// A number, of a unit where it has one; times in seconds, sizes in bytes.
    Number {
        /// The unit as it is compared; empty where there is none.
        unit: &'static str,
        /// The number in that unit.
        value: f64,
        /// How near it may come to what is meant.
        bound: NumberBound,
    },
    /// A version or an address: `3.12.1`, `v2`, `10.0.0.1`.
    Dotted(String),
    /// A day, of a year where it is told.
    Day {
        /// The year, where the text names one.
        year: Option<u16>,
        /// The month, from 1.
        month: u8,
        /// The day of the month, from 1.
        day: u8,
    },
    /// A month of a year.
    Month {
        /// The year, where the text names one.
        year: Option<u16>,
        /// The month, from 1.
        month: u8,
    },
    /// A day of the week: of each week, or the next.
    Weekday {
        /// The day, from 0 for Monday.
        day: u8,
        /// Whether the text means every week.
        each: bool,
    },
    /// A year.
    Year(u16),
    /// A quarter of a year.
    Quarter(u8),
    /// A time of day, in minutes.
    Clock(u16),
}

/// How two values of a clause stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRelation {
    /// Both give the same value.
    Same,
    /// Both cannot hold.
    Different,
    /// They are of different sorts, or both can hold.
    Apart,
}

impl ClaimValue {
    /// Whether it says when something is.
    pub fn is_time(&self) -> bool {
        !matches!(self, Self::Number { .. } | Self::Dotted(_))
    }

    /// How it stands to another.
    pub fn relation_to(&self, other: &Self) -> ValueRelation {
        let told = |same: bool| if same { ValueRelation::Same } else { ValueRelation::Different };
        match (self, other) {
            (
                Self::Number { unit: a, value: x, bound: p },
                Self::Number { unit: b, value: y, bound: q },
            ) => match (a == b, (x - y).abs() <= 1e-9 * x.abs().max(y.abs())) {
                (false, _) => ValueRelation::Apart,
                (true, true) => ValueRelation::Same,
                (true, false) if *p == NumberBound::About || *q == NumberBound::About => {
                    // Of what is told roughly, a fifth is no difference.
                    let far = (x - y).abs() > 0.2 * x.abs().max(y.abs());
                    if far
                        && !matches!(
                            (p, q),
                            (NumberBound::Least | NumberBound::Most, _)
                                | (_, NumberBound::Least | NumberBound::Most)
                        )
                    {
                        ValueRelation::Different
                    } else {
                        ValueRelation::Apart
                    }
                }
                (true, false) if p == q => ValueRelation::Different,
                (true, false) => ValueRelation::Apart,
            },
            (Self::Dotted(a), Self::Dotted(b)) => told(a == b),
            (Self::Day { year: a, month: m, day: d }, Self::Day { year: b, month: n, day: e }) => {
                told((m, d) == (n, e) && (a.is_none() || b.is_none() || a == b))
            }
            (Self::Month { year: a, month: m }, Self::Month { year: b, month: n }) => {
                told(m == n && (a.is_none() || b.is_none() || a == b))
            }
            (Self::Weekday { day: a, each: p }, Self::Weekday { day: b, each: q }) => {
                if p == q {
                    told(a == b)
                } else {
                    ValueRelation::Apart
                }
            }
            (Self::Year(a), Self::Year(b)) => told(a == b),
            (Self::Quarter(a), Self::Quarter(b)) => told(a == b),
            (Self::Clock(a), Self::Clock(b)) => told(a == b),
            _ => ValueRelation::Apart,
        }
    }
}

/// The value that begins at a place of a clause, and how many tokens it takes.
pub fn parse_value(
    tokens: &[ClauseWord<'_>],
    place: usize,
    bound: NumberBound,
) -> Option<(ClaimValue, usize)> {
    parse_time(tokens, place).or_else(|| parse_number(tokens, place, bound))
}

/// Whether the number at this place only names one of many: "step 3", "#12".
pub fn is_label(tokens: &[ClauseWord<'_>], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| tokens.get(before));
    // "Node 18" is no label: a name and its version.
    before.is_some_and(|token| {
        LABEL_NOUNS.contains(&token.lower.as_str()) && !token.is_capital(place - 1)
    }) || before.is_some_and(|token| matches!(token.lower.as_str(), "http" | "rfc" | "pr" | "adr"))
        || tokens[place].raw.starts_with('#')
}

fn parse_number(
    tokens: &[ClauseWord<'_>],
    place: usize,
    bound: NumberBound,
) -> Option<(ClaimValue, usize)> {
    let lower = tokens[place].lower.as_str();
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
        true => f64::from(parse_number_word(lower)?),
        false => digits.replace([',', '_'], "").parse().ok()?,
    };
    let number = |unit, factor: f64, taken| {
        Some((ClaimValue::Number { unit, value: value * factor, bound }, taken))
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
    match tokens.get(place + 1).and_then(|next| parse_unit(&next.lower)) {
        Some((unit, factor)) => number(unit, factor, 2),
        None => number("", 1.0, 1),
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

fn parse_number_word(lower: &str) -> Option<u8> {
    const NUMBER_WORDS: [&str; 11] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    let place = NUMBER_WORDS.iter().position(|word| *word == lower)?;
    u8::try_from(place + 2).ok()
}

/// A unit, and how many of what it is compared in.
fn parse_unit(lower: &str) -> Option<(&'static str, f64)> {
    const MINUTE_SECONDS: f64 = 60.0;
    const DAY_SECONDS: f64 = 86_400.0;
    const KIBI: f64 = 1024.0;
    Some(match lower {
        "ms" | "millisecond" | "milliseconds" => ("time", 0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => ("time", 1.0),
        "min" | "mins" | "minute" | "minutes" => ("time", MINUTE_SECONDS),
        "h" | "hr" | "hrs" | "hour" | "hours" => ("time", 60.0 * MINUTE_SECONDS),
        "d" | "day" | "days" => ("time", DAY_SECONDS),
        "week" | "weeks" => ("time", 7.0 * DAY_SECONDS),
        "month" | "months" => ("months", 1.0),
        "year" | "years" => ("months", 12.0),
        "kb" | "kib" => ("bytes", KIBI),
        "mb" | "mib" => ("bytes", KIBI * KIBI),
        "gb" | "gib" => ("bytes", KIBI * KIBI * KIBI),
        "tb" | "tib" => ("bytes", KIBI * KIBI * KIBI * KIBI),
        "bytes" | "byte" => ("bytes", 1.0),
        "%" | "percent" => ("percent", 1.0),
        "usd" | "dollar" | "dollars" => ("usd", 1.0),
        "eur" | "euro" | "euros" => ("eur", 1.0),
        "km" => ("metres", 1000.0),
        "m" | "metres" | "meters" => ("metres", 1.0),
        "kg" => ("grams", 1000.0),
        _ => return None,
    })
}

fn parse_time(tokens: &[ClauseWord<'_>], place: usize) -> Option<(ClaimValue, usize)> {
    let token = &tokens[place];
    let next = tokens.get(place + 1).map(|token| token.lower.as_str());
    if let Some(day) = parse_iso_date(&token.lower) {
        return Some((day, 1));
    }
    if let Some((day, each)) = parse_weekday(&token.lower).filter(|_| token.is_capital(usize::MAX))
    {
        return Some((ClaimValue::Weekday { day, each }, 1));
    }
    if let Some(month) = parse_month(&token.lower).filter(|_| token.is_capital(usize::MAX)) {
        let day = next.and_then(parse_day_of_month);
        let taken = if day.is_some() { 2 } else { 1 };
        let year = tokens.get(place + taken).and_then(|token| parse_year(&token.lower));
        let taken = taken + usize::from(year.is_some());
        let value = match day {
            Some(day) => ClaimValue::Day { year, month, day },
            None => ClaimValue::Month { year, month },
        };
        return Some((value, taken));
    }
    if let (Some(day), Some(next)) = (parse_day_of_month(&token.lower), tokens.get(place + 1))
        && let Some(month) = parse_month(&next.lower).filter(|_| next.is_capital(usize::MAX))
    {
        let year = tokens.get(place + 2).and_then(|token| parse_year(&token.lower));
        return Some((ClaimValue::Day { year, month, day }, 2 + usize::from(year.is_some())));
    }
    let quarter = token.lower.strip_prefix('q').and_then(|rest| rest.parse().ok());
    if let Some(quarter @ 1..=4) = quarter {
        return Some((ClaimValue::Quarter(quarter), 1));
    }
    if let Some(clock) = parse_clock_time(&token.lower, next) {
        return Some(clock);
    }
    let before = place.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let dated = matches!(before, Some("in" | "since" | "by" | "of" | "for" | "year"));
    parse_year(&token.lower).filter(|_| dated).map(|year| (ClaimValue::Year(year), 1))
}

fn parse_iso_date(lower: &str) -> Option<ClaimValue> {
    let mut parts = lower.get(..10)?.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = year.len() == 4 && month.len() == 2 && day.len() == 2;
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    whole.then_some(ClaimValue::Day { year: Some(year), month, day })
}

fn parse_year(lower: &str) -> Option<u16> {
    lower.parse().ok().filter(|year| lower.len() == 4 && (1900..2100).contains(year))
}

fn parse_day_of_month(lower: &str) -> Option<u8> {
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &lower[digits.len()..];
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    matches!(ending, "" | "st" | "nd" | "rd" | "th").then_some(day)
}

fn parse_month(lower: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is = |name: &str| lower == name || (lower.len() == 3 && name.starts_with(lower));
    let place = MONTHS.iter().position(|name| is(name))?;
    u8::try_from(place + 1).ok()
}

fn parse_weekday(lower: &str) -> Option<(u8, bool)> {
    const DAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let each = lower.ends_with('s');
    let one = lower.strip_suffix('s').unwrap_or(lower);
    let place = DAYS.iter().position(|day| *day == one)?;
    u8::try_from(place).ok().map(|day| (day, each))
}

/// A time of day: `15:00`, `5pm`, `5 pm`.
fn parse_clock_time(lower: &str, next: Option<&str>) -> Option<(ClaimValue, usize)> {
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (half, taken) = match (&lower[digits.len()..], next) {
        (half @ ("am" | "pm"), _) => (Some(half), 1),
        ("", Some(half @ ("am" | "pm"))) => (Some(half), 2),
        ("", _) => (None, 1),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), half) {
        (Some((hours, minutes)), _) if minutes.len() == 2 => (hours, minutes.parse().ok()?),
        (None, Some(_)) => (digits, 0u16),
        _ => return None,
    };
    let hours: u16 = hours.parse().ok().filter(|hours| *hours < 24)?;
    let hours = match half {
        Some("pm") if hours < 12 => hours + 12,
        Some("am") if hours == 12 => 0,
        _ => hours,
    };
    (minutes < 60).then_some((ClaimValue::Clock(hours * 60 + minutes), taken))
}
