//! Whether a question asks for a time.

use super::lexer::{DateWord, WordGap};
use crate::word_list::WordList;

/// Words after which `when` asks, as in "do you remember when".
static KNOWING_WORDS: WordList = WordList::new(include_str!("knowing_words.txt"));

/// Words after which a question can begin with `when`.
const JOINING_WORDS: &[&str] = &["and", "but", "or", "since", "so", "until"];

/// Words after `when` in a question.
static AUXILIARIES: WordList = WordList::new(include_str!("auxiliaries.txt"));

/// Nouns of time that a question can ask for.
static TIME_NOUNS: WordList = WordList::new(include_str!("time_nouns.txt"));

/// Nouns that follow a noun of time and make it something else: `what time zone`.
static NOT_TIME_NOUNS: WordList = WordList::new(include_str!("not_time_nouns.txt"));

/// Whether these words ask for a time.
pub(super) fn asks_for_time(words: &[DateWord]) -> bool {
    (0..words.len()).any(|index| asks_for_time_at(words, index))
}

fn asks_for_time_at(words: &[DateWord], index: usize) -> bool {
    let after = |n: usize| {
        let word = words.get(index + n)?;
        (word.gap == WordGap::Blank).then_some(word.text.as_str())
    };
    match words[index].text.as_str() {
        "when" => when_asks(words, index, after(1)),
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

/// Whether `when` asks: where a question can begin and goes on as one. "What broke when I left?"
/// and "When I left, what broke?" ask for something else.
fn when_asks(words: &[DateWord], index: usize, next: Option<&str>) -> bool {
    let back =
        |distance| index.checked_sub(distance).map_or("", |before| words[before].text.as_str());
    let before = back(1);
    let to_me = before == "me" && matches!(back(2), "tell" | "remind" | "ask" | "show");
    let is_request = to_me || KNOWING_WORDS.contains(before);
    let begins = words[index].gap != WordGap::Blank || JOINING_WORDS.contains(&before);
    match next {
        Some(next) => is_request || (begins && AUXILIARIES.contains(next)),
        None => is_request || begins,
    }
}

/// `what date`, `which exact year`, `what is the date of`.
fn asks_for_period<'a>(after: &impl Fn(usize) -> Option<&'a str>) -> bool {
    let mut index = 1;
    for skipped in [
        &["is", "was", "are", "were", "would", "will"][..],
        &["be", "the"],
        &["the", "exact", "last", "first", "specific", "due"],
        &["exact", "last", "first", "specific", "due", "calendar"],
    ] {
        if after(index).is_some_and(|word| skipped.contains(&word)) {
            index += 1;
        }
    }
    let is_time = after(index).is_some_and(|word| TIME_NOUNS.contains(word));
    is_time && !after(index + 1).is_some_and(|word| NOT_TIME_NOUNS.contains(word))
}
