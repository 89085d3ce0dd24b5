//! A text as words, with what stands between them, and the names of months, days and units.

use jiff::civil::Weekday;

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordGap {
    /// Blanks alone.
    Blank,
    /// A comma with blanks.
    Comma,
    /// A stop after a shortened word, with blanks: `Jan. 5`.
    Dot,
    /// Anything else: the end of a sentence, a bracket, the beginning of the text.
    Break,
}

/// One word in lower case.
#[derive(Debug)]
pub(super) struct DateWord {
    /// Its letters and digits with the signs within it (`2023-05-07`, `src/lib.rs:42`), without a
    /// possessive `'s`.
    pub(super) text: String,
    /// Whether it began with a capital.
    pub(super) capital: bool,
    /// What stands before it.
    pub(super) gap: WordGap,
}

/// The words of a text, one after the other.
pub(super) struct DateLexer<'a> {
    rest: &'a str,
    first: bool,
}

impl<'a> DateLexer<'a> {
    /// The words of this text.
    pub(super) fn of(text: &'a str) -> Self {
        Self { rest: text, first: true }
    }
}

impl Iterator for DateLexer<'_> {
    type Item = DateWord;

    fn next(&mut self) -> Option<DateWord> {
        let start = self.rest.find(char::is_alphanumeric)?;
        let gap = match &self.rest[..start] {
            _ if self.first => WordGap::Break,
            between if between.contains('\n') => WordGap::Break,
            between => match between.trim() {
                "" => WordGap::Blank,
                "," => WordGap::Comma,
                "." => WordGap::Dot,
                _ => WordGap::Break,
            },
        };
        self.first = false;
        let from = &self.rest[start..];
        let end = word_end(from);
        self.rest = &from[end..];
        let lower = from[..end].to_lowercase();
        // "When's" asks, and "Ann's" is Ann.
        let own = ["'s", "’s"].iter().find_map(|own| lower.strip_suffix(own));
        let text = own.filter(|stem| *stem != "when").unwrap_or(&lower);
        let capital = from.starts_with(char::is_uppercase);
        Some(DateWord { text: text.to_owned(), capital, gap })
    }
}

/// Where the word at the beginning ends: at the last letter or digit before a blank or before a
/// sign that is not followed by a letter or digit.
fn word_end(from: &str) -> usize {
    let joins = |c: char| matches!(c, '-' | '/' | ':' | '.' | '_' | '\'' | '’' | '+' | '@' | '\\');
    let mut end = 0;
    let mut joined = false;
    for (place, c) in from.char_indices() {
        if c.is_alphanumeric() {
            end = place + c.len_utf8();
            joined = false;
        } else if joins(c) && !joined {
            joined = true;
        } else {
            break;
        }
    }
    end
}

/// The month of a name, 1 to 12, written in full or short.
pub(super) fn month(word: &str) -> Option<i8> {
    const MONTH_NAMES: [(&str, &str); 12] = [
        ("january", "jan"),
        ("february", "feb"),
        ("march", "mar"),
        ("april", "apr"),
        ("may", "may"),
        ("june", "jun"),
        ("july", "jul"),
        ("august", "aug"),
        ("september", "sep"),
        ("october", "oct"),
        ("november", "nov"),
        ("december", "dec"),
    ];
    let place = MONTH_NAMES.iter().position(|(long, short)| word == *long || word == *short);
    let place = place.or((word == "sept").then_some(8))?;
    i8::try_from(place + 1).ok()
}

/// Whether a month is written short, so that it needs a day or a year beside it.
pub(super) fn is_short_month(word: &str) -> bool {
    word.len() <= 4 && !matches!(word, "may" | "june" | "july")
}

/// The day of the week of a name, written in full.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

/// The first month of a quarter, or of a season of the northern half of the earth.
pub(super) fn season(word: &str) -> Option<i8> {
    Some(match word {
        "spring" => 3,
        "summer" => 6,
        "autumn" | "fall" => 9,
        "winter" => 12,
        "q1" => 1,
        "q2" => 4,
        "q3" => 7,
        "q4" => 10,
        _ => return None,
    })
}

/// A year of four digits from 1900 to 2099.
pub(super) fn year(word: &str) -> Option<i16> {
    let digits = word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|year| digits && (1900..=2099).contains(year))
}

/// A day of a month, 1 to 31, and whether it is written as one: `7th`.
pub(super) fn month_day(word: &str) -> Option<(i8, bool)> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ordinal = match &word[digits.len()..] {
        "" => false,
        "st" | "nd" | "rd" | "th" => true,
        _ => return None,
    };
    let fits = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let day = digits.parse().ok().filter(|day| fits && (1..=31).contains(day))?;
    Some((day, ordinal))
}

/// A small number, in digits or as a word.
pub(super) fn number(word: &str) -> Option<i64> {
    const NUMBER_NAMES: [&str; 13] = [
        "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match word {
        "" => None,
        "a" | "an" => Some(1),
        "few" => Some(3),
        _ if word.len() <= 4 && word.bytes().all(|b| b.is_ascii_digit()) => word.parse().ok(),
        _ => NUMBER_NAMES
            .iter()
            .position(|name| *name == word)
            .and_then(|place| place.try_into().ok()),
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// The unit of a name, in the singular or the plural.
pub(super) fn unit(word: &str) -> Option<TimeUnit> {
    Some(match word.strip_suffix('s').unwrap_or(word) {
        "minute" => TimeUnit::Minute,
        "hour" => TimeUnit::Hour,
        "day" => TimeUnit::Day,
        "week" => TimeUnit::Week,
        "month" => TimeUnit::Month,
        "year" => TimeUnit::Year,
        _ => return None,
    })
}

/// Whether a number before this word counts things and tells no year: `in 2000 files`.
pub(super) fn is_counted(word: &str) -> bool {
    const COUNTED_NOUNS: &[&str] = &[
        "ascii",
        "bits",
        "blocks",
        "bytes",
        "cases",
        "characters",
        "chars",
        "commits",
        "days",
        "different",
        "dollars",
        "entries",
        "errors",
        "euros",
        "events",
        "feet",
        "files",
        "gb",
        "hours",
        "items",
        "iterations",
        "kb",
        "km",
        "lines",
        "mb",
        "memories",
        "messages",
        "meters",
        "miles",
        "minutes",
        "more",
        "ms",
        "nodes",
        "or",
        "people",
        "percent",
        "pieces",
        "pixels",
        "points",
        "pounds",
        "px",
        "queries",
        "records",
        "requests",
        "rows",
        "samples",
        "seconds",
        "steps",
        "tests",
        "times",
        "tokens",
        "users",
        "words",
        "years",
    ];
    COUNTED_NOUNS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_within_a_word_belong_to_it() {
        let words: Vec<_> = DateLexer::of("On 2023-05-07, src/lib.rs:42 - Ann's x. Jan. 5\nend…")
            .map(|word| (word.text, word.gap))
            .collect();
        let wanted = [
            ("on", WordGap::Break),
            ("2023-05-07", WordGap::Blank),
            ("src/lib.rs:42", WordGap::Comma),
            ("ann", WordGap::Break),
            ("x", WordGap::Blank),
            ("jan", WordGap::Dot),
            ("5", WordGap::Dot),
            ("end", WordGap::Break),
        ];
        let wanted = wanted.map(|(text, gap)| (text.to_owned(), gap));
        assert_eq!(words, wanted);
    }

    #[test]
    fn numbers_are_read_only_when_they_fit() {
        assert_eq!(year("2023"), Some(2023));
        assert_eq!([year("1024"), year("20233"), year("2o23"), year("+202")], [None; 4]);
        assert_eq!(month_day("31st"), Some((31, true)));
        assert_eq!(month_day("7"), Some((7, false)));
        assert_eq!(["0", "32", "7x", "007", "", "é", "th"].map(month_day), [None; 7]);
        assert_eq!(["two", "14", "a"].map(number), [Some(2), Some(14), Some(1)]);
        assert_eq!(["", "99999", "second", "-1"].map(number), [None; 4]);
    }
}
