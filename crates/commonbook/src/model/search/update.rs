//! Updates: of two hits that say the same at different times, the newer stands first when the
//! question asks how things are.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use commonbook_text::terms;
use commonbook_text::word_list::WordList;

/// How many of the best hits are looked at for updates that do not say so themselves.
const UPDATE_HITS_MAX: usize = 8;
/// The same for those that say so themselves: no other hit is moved.
pub const STATED_UPDATE_HITS_MAX: usize = 10;

/// Words up to which a memory can be an update: a long one tells many things.
const UPDATE_TEXT_WORDS_MAX: f64 = 300.0;

/// How much of the older one's score the newer one must have, and how alike the two must be; the
/// second pair for one that says itself that it is an update.
const UPDATE_LIKENESS_MIN: (f64, f64) = (0.75, 0.5);
const STATED_UPDATE_LIKENESS_MIN: (f64, f64) = (0.6, 0.3);

/// Words by which a text says that something is no longer as it was.
static UPDATE_WORDS: WordList = WordList::new(include_str!("update/update_words.txt"));

/// Words by which a question asks how things were.
static PAST_WORDS: WordList = WordList::new(include_str!("update/past_words.txt"));

/// Words that ask for a thing when a form of "to be" follows.
const QUESTION_WORDS: &[&str] = &["what", "which", "who", "where", "when", "whose"];

/// Words that ask for a measure after "how".
static MEASURE_WORDS: WordList = WordList::new(include_str!("update/measure_words.txt"));

/// Whether a term says that something is no longer as it was.
#[must_use]
pub fn is_update_term(term: &str) -> bool {
    UPDATE_STEMS.contains(term)
}

/// The stems of [`UPDATE_WORDS`].
static UPDATE_STEMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| UPDATE_WORDS.iter().flat_map(|word| terms::terms(word)).collect());

/// Whether a question asks how things are: what is, who is, how many; or bare words.
#[must_use]
pub fn asks_how_things_are(question: &str) -> bool {
    let words = terms::plain_words(question);
    let word = |place: usize| words.get(place).map_or("", String::as_str);
    if words.is_empty() || words.iter().any(|word| PAST_WORDS.contains(word.as_str())) {
        return false;
    }
    match word(0) {
        "how" => MEASURE_WORDS.contains(&word(1)),
        first if QUESTION_WORDS.contains(&first) => matches!(word(1), "is" | "am" | "are" | "s"),
        _ => !words.iter().any(|word| terms::is_function_word(word)),
    }
}

/// A hit as this rule looks at it.
#[derive(Debug, Clone)]
pub struct UpdateCandidate<A, T> {
    /// Its score.
    pub score: f64,
    /// Words of it.
    pub length: f64,
    /// What orders it in time.
    pub from: T,
    /// Whether it says itself that it is an update.
    pub says_so: bool,
    /// Who says it.
    pub author: A,
}

/// The order of the hits, which are best first, by their places: an update stands just before the
/// first of the older hits it updates. `alike` tells how alike two hits are, 0 to 1.
#[must_use]
pub fn order_updates<A: PartialEq, T: PartialOrd>(
    hits: &[UpdateCandidate<A, T>],
    alike: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    for (place, new) in hits.iter().enumerate().take(STATED_UPDATE_HITS_MAX).skip(1) {
        let (ratio, likeness) =
            if new.says_so { STATED_UPDATE_LIKENESS_MIN } else { UPDATE_LIKENESS_MIN };
        if new.length > UPDATE_TEXT_WORDS_MAX || (!new.says_so && place >= UPDATE_HITS_MAX) {
            continue;
        }
        let updates = |old: &UpdateCandidate<A, T>, of: usize| {
            new.from > old.from
                && new.author == old.author
                && new.score >= ratio * old.score
                && alike(of, place) >= likeness
        };
        let Some(now) = order.iter().position(|other| *other == place) else { continue };
        let before = order[..now].iter().position(|of| updates(&hits[*of], *of));
        if let Some(before) = before {
            order.remove(now);
            order.insert(before, place);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_present_are_told_from_those_about_the_past() {
        let table = [
            ("What is the daily quota for the API key?", true),
            ("How many commits are merged?", true),
            ("Who's the owner", true),
            ("daily quota", true),
            ("What was the quota?", false),
            ("How did it go?", false),
            ("When did we meet?", false),
            ("What is different from what it was originally?", false),
            ("Tell me about the quota", false),
            ("", false),
        ];
        for (question, expected) in table {
            assert_eq!(asks_how_things_are(question), expected, "{question:?}");
        }
    }

    #[test]
    fn an_update_stands_before_what_it_updates() {
        let hit = |score, from, says_so| UpdateCandidate {
            score,
            length: 20.0,
            from,
            says_so,
            author: "ann",
        };
        let old = hit(1.0, 1, false);
        let table = [
            (hit(0.9, 2, false), 0.6, true),
            (hit(0.9, 0, false), 0.6, false),
            (hit(0.7, 2, false), 0.6, false),
            (hit(0.7, 2, true), 0.4, true),
            (hit(0.9, 2, false), 0.4, false),
            (UpdateCandidate { author: "bob", ..hit(0.9, 2, false) }, 0.6, false),
            (UpdateCandidate { length: 400.0, ..hit(0.9, 2, true) }, 0.6, false),
        ];
        for (new, likeness, swapped) in table {
            let order = order_updates(&[old.clone(), new.clone()], |_, _| likeness);
            assert_eq!(order == [1, 0], swapped, "{new:?}");
        }
    }

    #[test]
    fn a_text_says_itself_that_it_is_an_update() {
        for (text, expected) in [("The quota is now 500", true), ("The quota is 500", false)] {
            let said = terms::terms(text).iter().any(|term| is_update_term(term));
            assert_eq!(said, expected, "{text}");
        }
    }
}
