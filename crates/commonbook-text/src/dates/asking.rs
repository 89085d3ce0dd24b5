//! Whether a question asks for a time.

use super::words::{DateWord, WordGap};

/// Words after which `when` asks, as in "do you remember when".
const KNOWING_WORDS: &[&str] = &[
    "check", "exactly", "forgot", "know", "knows", "out", "recall", "remember", "say", "says",
    "sure", "wonder",
];

/// Words after which a question can begin with `when`.
const JOINING_WORDS: &[&str] = &["and", "but", "or", "since", "so", "until"];

/// Words after `when` that put a question.
const AUXILIARIES: &[&str] = &[
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "might",
    "must", "shall", "should", "was", "were", "will", "would", "didn't", "exactly",
];

/// What a question can ask for.
const TIME_NOUNS: &[&str] = &[
    "century", "date", "dates", "day", "days", "decade", "hour", "month", "months", "season",
    "time", "week", "weekday", "weekend", "weeks", "year", "years",
];

/// What makes another thing of such a word: `what time zone`.
const OTHER_NOUNS: &[&str] = &[
    "column",
    "complexity",
    "field",
    "fields",
    "format",
    "formats",
    "library",
    "limit",
    "limits",
    "parser",
    "picker",
    "range",
    "series",
    "span",
    "type",
    "unit",
    "zone",
    "zones",
    "stamp",
];

/// Whether these words ask for a time.
pub(super) fn asks_for_time(words: &[DateWord]) -> bool {
    (0..words.len()).any(|place| asks_for_time_at(words, place))
}

fn asks_for_time_at(words: &[DateWord], place: usize) -> bool {
    let after = |n: usize| {
        let word = words.get(place + n)?;
        (word.gap == WordGap::Blank).then_some(word.text.as_str())
    };
    match words[place].text.as_str() {
        "when" => when_asks(words, place, after(1)),
        "when's" | "when’s" => true,
        "what" | "which" | "whats" => asks_for_period(&after),
        "how" => matches!(
            (after(1), after(2), after(3)),
            (Some("long"), Some("ago" | "since"), _)
                | (Some("recently" | "soon"), _, _)
                | (
                    Some("many"),
                    Some("minutes" | "hours" | "days" | "weeks"),
                    Some("ago" | "since")
                )
                | (Some("many"), Some("months" | "years"), Some("ago" | "since"))
        ),
        _ => false,
    }
}

/// `when` asks where a question can begin and goes on as one; "What broke when I left?" and "When
/// I left, what broke?" ask for something else.
fn when_asks(words: &[DateWord], place: usize, next: Option<&str>) -> bool {
    let back = |places| place.checked_sub(places).map_or("", |before| words[before].text.as_str());
    let before = back(1);
    let told = before == "me" && matches!(back(2), "tell" | "remind" | "ask" | "show");
    let known = told || KNOWING_WORDS.contains(&before);
    let begins = words[place].gap != WordGap::Blank || JOINING_WORDS.contains(&before);
    match next {
        Some(next) => known || (begins && AUXILIARIES.contains(&next)),
        None => known || begins,
    }
}

/// `what date`, `which exact year`, `what is the date of`.
fn asks_for_period<'a>(after: &impl Fn(usize) -> Option<&'a str>) -> bool {
    let mut place = 1;
    for skipped in [
        &["is", "was", "are", "were", "would", "will"][..],
        &["be", "the"],
        &["the", "exact", "last", "first", "specific", "due"],
        &["exact", "last", "first", "specific", "due", "calendar"],
    ] {
        if after(place).is_some_and(|word| skipped.contains(&word)) {
            place += 1;
        }
    }
    let is_time = after(place).is_some_and(|word| TIME_NOUNS.contains(&word));
    is_time && !after(place + 1).is_some_and(|word| OTHER_NOUNS.contains(&word))
}
