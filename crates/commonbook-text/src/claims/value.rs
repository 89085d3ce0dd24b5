//! Values within a clause: numbers with their units, versions, dates and times of day.

use super::lists::LABELS;
use super::word::Word;

/// How near the number may come to what is meant: "at least 3" and "5" can both hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
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
pub enum Value {
    /// A number, of a unit where it has one; times in seconds, sizes in bytes.
    Number {
        /// The unit as it is compared; empty where there is none.
        unit: &'static str,
        /// The number in that unit.
        value: f64,
        /// How near it may come to what is meant.
        bound: Bound,
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
pub enum Stand {
    /// Both give the same value.
    Same,
    /// Both cannot hold.
    Different,
    /// They are of different sorts, or both can hold.
    Apart,
}

impl Value {
    /// Whether it says when something is.
    pub fn is_time(&self) -> bool {
        !matches!(self, Self::Number { .. } | Self::Dotted(_))
    }

    /// How it stands to another.
    pub fn stand(&self, other: &Self) -> Stand {
        let told = |same: bool| if same { Stand::Same } else { Stand::Different };
        match (self, other) {
            (
                Self::Number { unit: a, value: x, bound: p },
                Self::Number { unit: b, value: y, bound: q },
            ) => match (a == b, (x - y).abs() <= 1e-9 * x.abs().max(y.abs())) {
                (false, _) => Stand::Apart,
                (true, true) => Stand::Same,
                (true, false) if *p == Bound::About || *q == Bound::About => {
                    // Of what is told roughly, a fifth is no difference.
                    let far = (x - y).abs() > 0.2 * x.abs().max(y.abs());
                    if far
                        && !matches!(
                            (p, q),
                            (Bound::Least | Bound::Most, _) | (_, Bound::Least | Bound::Most)
                        )
                    {
                        Stand::Different
                    } else {
                        Stand::Apart
                    }
                }
                (true, false) if p == q => Stand::Different,
                (true, false) => Stand::Apart,
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
                    Stand::Apart
                }
            }
            (Self::Year(a), Self::Year(b)) => told(a == b),
            (Self::Quarter(a), Self::Quarter(b)) => told(a == b),
            (Self::Clock(a), Self::Clock(b)) => told(a == b),
            _ => Stand::Apart,
        }
    }
}

/// The value that begins at a place of a clause, and how many tokens it takes.
pub fn read(tokens: &[Word<'_>], place: usize, bound: Bound) -> Option<(Value, usize)> {
    time(tokens, place).or_else(|| number(tokens, place, bound))
}

/// Whether the number at this place only names one of many: "step 3", "#12".
pub fn is_label(tokens: &[Word<'_>], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| tokens.get(before));
    // "Node 18" is no label: a name and its version.
    before
        .is_some_and(|token| LABELS.contains(&token.lower.as_str()) && !token.is_capital(place - 1))
        || before.is_some_and(|token| matches!(token.lower.as_str(), "http" | "rfc" | "pr" | "adr"))
        || tokens[place].raw.starts_with('#')
}

fn number(tokens: &[Word<'_>], place: usize, bound: Bound) -> Option<(Value, usize)> {
    let lower = tokens[place].lower.as_str();
    if let Some(dotted) = dotted(lower) {
        return Some((Value::Dotted(dotted), 1));
    }
    let (about, lower) = match lower.strip_prefix('~') {
        Some(rest) => (true, rest),
        None => (false, lower),
    };
    let bound = if about { Bound::About } else { bound };
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
        true => f64::from(spelt(lower)?),
        false => digits.replace([',', '_'], "").parse().ok()?,
    };
    let number = |unit, factor: f64, taken| {
        Some((Value::Number { unit, value: value * factor, bound }, taken))
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
        let (unit, factor) = unit(ending).or(match ending {
            "k" => Some(("", 1e3)),
            "x" => Some(("times", 1.0)),
            _ => None,
        })?;
        return number(unit, factor, 1);
    }
    match tokens.get(place + 1).and_then(|next| unit(&next.lower)) {
        Some((unit, factor)) => number(unit, factor, 2),
        None => number("", 1.0, 1),
    }
}

/// A version or an address: digits between dots, or behind a "v".
fn dotted(lower: &str) -> Option<String> {
    let bare = lower.strip_prefix('v').unwrap_or(lower);
    let parts: Vec<&str> = bare.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let is_version = bare.len() < lower.len() || parts.len() >= 3;
    (is_version && parts.iter().all(digits)).then(|| bare.to_owned())
}

fn spelt(lower: &str) -> Option<u8> {
    const SPELT: [&str; 11] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    let place = SPELT.iter().position(|word| *word == lower)?;
    u8::try_from(place + 2).ok()
}

/// A unit, and how many of what it is compared in.
fn unit(lower: &str) -> Option<(&'static str, f64)> {
    const MINUTE: f64 = 60.0;
    const DAY: f64 = 86_400.0;
    const KIBI: f64 = 1024.0;
    Some(match lower {
        "ms" | "millisecond" | "milliseconds" => ("time", 0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => ("time", 1.0),
        "min" | "mins" | "minute" | "minutes" => ("time", MINUTE),
        "h" | "hr" | "hrs" | "hour" | "hours" => ("time", 60.0 * MINUTE),
        "d" | "day" | "days" => ("time", DAY),
        "week" | "weeks" => ("time", 7.0 * DAY),
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

fn time(tokens: &[Word<'_>], place: usize) -> Option<(Value, usize)> {
    let token = &tokens[place];
    let next = tokens.get(place + 1).map(|token| token.lower.as_str());
    if let Some(day) = iso(&token.lower) {
        return Some((day, 1));
    }
    if let Some((day, each)) = weekday(&token.lower).filter(|_| token.is_capital(usize::MAX)) {
        return Some((Value::Weekday { day, each }, 1));
    }
    if let Some(month) = month(&token.lower).filter(|_| token.is_capital(usize::MAX)) {
        let day = next.and_then(day_of_month);
        let taken = if day.is_some() { 2 } else { 1 };
        let year = tokens.get(place + taken).and_then(|token| year(&token.lower));
        let taken = taken + usize::from(year.is_some());
        let value = match day {
            Some(day) => Value::Day { year, month, day },
            None => Value::Month { year, month },
        };
        return Some((value, taken));
    }
    if let (Some(day), Some(next)) = (day_of_month(&token.lower), tokens.get(place + 1))
        && let Some(month) = month(&next.lower).filter(|_| next.is_capital(usize::MAX))
    {
        let year = tokens.get(place + 2).and_then(|token| year(&token.lower));
        return Some((Value::Day { year, month, day }, 2 + usize::from(year.is_some())));
    }
    let quarter = token.lower.strip_prefix('q').and_then(|rest| rest.parse().ok());
    if let Some(quarter @ 1..=4) = quarter {
        return Some((Value::Quarter(quarter), 1));
    }
    if let Some(clock) = clock(&token.lower, next) {
        return Some(clock);
    }
    let before = place.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let dated = matches!(before, Some("in" | "since" | "by" | "of" | "for" | "year"));
    year(&token.lower).filter(|_| dated).map(|year| (Value::Year(year), 1))
}

fn iso(lower: &str) -> Option<Value> {
    let mut parts = lower.get(..10)?.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = year.len() == 4 && month.len() == 2 && day.len() == 2;
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    whole.then_some(Value::Day { year: Some(year), month, day })
}

fn year(lower: &str) -> Option<u16> {
    lower.parse().ok().filter(|year| lower.len() == 4 && (1900..2100).contains(year))
}

fn day_of_month(lower: &str) -> Option<u8> {
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &lower[digits.len()..];
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    matches!(ending, "" | "st" | "nd" | "rd" | "th").then_some(day)
}

fn month(lower: &str) -> Option<u8> {
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

fn weekday(lower: &str) -> Option<(u8, bool)> {
    const DAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let each = lower.ends_with('s');
    let one = lower.strip_suffix('s').unwrap_or(lower);
    let place = DAYS.iter().position(|day| *day == one)?;
    u8::try_from(place).ok().map(|day| (day, each))
}

/// A time of day: `15:00`, `5pm`, `5 pm`.
fn clock(lower: &str, next: Option<&str>) -> Option<(Value, usize)> {
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
    (minutes < 60).then_some((Value::Clock(hours * 60 + minutes), taken))
}
