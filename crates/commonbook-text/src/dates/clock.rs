//! Recognises a time of day in a text: `3pm`, `3 p.m.`, `at 10:30`.

use super::words::{DateWord, WordGap};

/// Whether a time of day begins at this word.
pub(super) fn tells_hour(words: &[DateWord], at: usize) -> bool {
    let near = |place: usize| {
        let word = words.get(place).filter(|word| word.gap == WordGap::Blank);
        word.map_or("", |word| word.text.as_str())
    };
    let word = words[at].text.as_str();
    let half = |text: &str| matches!(text, "am" | "pm" | "a.m" | "p.m");
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    if half(&word[digits.len()..]) || half(near(at + 1)) && digits.len() == word.len() {
        return is_hour(digits, 12);
    }
    word == "at"
        && (is_hour(near(at + 1), 23) && near(at + 1).contains(':') || near(at + 1) == "noon")
}

/// Whether this is an hour up to `last`, with minutes or without.
fn is_hour(text: &str, last: u8) -> bool {
    let (hour, minutes) = text.split_once(':').unwrap_or((text, "00"));
    let number = |part: &str| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| digits)
    };
    let minute = number(minutes).filter(|minute| minutes.len() == 2 && *minute < 60);
    minute.is_some() && number(hour).is_some_and(|hour| hour <= last)
}
