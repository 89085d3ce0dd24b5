//! Updates: of two hits on the same subject at different times, the newer comes first if the
//! question asks how things are now.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use commonbook_text::terms;
use commonbook_text::word_list::WordList;

/// Count of the best hits in which an update without update words can move.
const UPDATE_HITS_MAX: usize = 8;
/// Count of the best hits in which an update with update words can move.
pub const STATED_UPDATE_HITS_MAX: usize = 10;

/// Maximum words of an update: a longer memory has several subjects.
const UPDATE_TEXT_WORDS_MAX: f64 = 300.0;

/// The conditions on an update.
struct UpdateThresholds {
    /// The least score of the newer memory, as a share of the older one's score.
    score_ratio: f64,
    /// The least likeness of the two, from 0 to 1.
    likeness: f64,
}

/// The conditions on an update without update words.
const UPDATE_THRESHOLDS: UpdateThresholds = UpdateThresholds { score_ratio: 0.75, likeness: 0.5 };

/// The conditions on an update with update words.
const STATED_UPDATE_THRESHOLDS: UpdateThresholds =
    UpdateThresholds { score_ratio: 0.6, likeness: 0.3 };

/// Update words: a text with one says that something has changed.
static UPDATE_WORDS: WordList = WordList::new(include_str!("update/update_words.txt"));

/// Words by which a question asks how things were.
static PAST_WORDS: WordList = WordList::new(include_str!("update/past_words.txt"));

/// Question words that ask for the present if a form of "to be" follows.
const QUESTION_WORDS: &[&str] = &["what", "which", "who", "where", "when", "whose"];

/// Words that ask for a measure after "how".
static MEASURE_WORDS: WordList = WordList::new(include_str!("update/measure_words.txt"));

/// Whether a term is the stem of an update word.
#[must_use]
pub fn is_update_term(term: &str) -> bool {
    UPDATE_STEMS.contains(term)
}

/// The stems of [`UPDATE_WORDS`].
static UPDATE_STEMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| UPDATE_WORDS.iter().flat_map(terms::terms).collect());

/// Whether a question asks how things are now: what is, who is, how many; or bare words.
#[must_use]
pub fn asks_how_things_are(question: &str) -> bool {
    let words = terms::plain_words(question);
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    if words.is_empty() || words.iter().any(|word| PAST_WORDS.contains(word.as_str())) {
        return false;
    }
    match word(0) {
        "how" => MEASURE_WORDS.contains(word(1)),
        first if QUESTION_WORDS.contains(&first) => matches!(word(1), "is" | "am" | "are" | "s"),
        _ => !words.iter().any(|word| terms::is_function_word(word)),
    }
}

/// The features of a hit that decide whether it is an update.
#[derive(Debug, Clone)]
pub struct UpdateCandidate<A, T> {
    /// The score.
    pub score: f64,
    /// The count of its words.
    pub length: f64,
    /// The time of the hit, for its order.
    pub from: T,
    /// Whether the text has an update word.
    pub is_stated: bool,
    /// The author.
    pub author: A,
}

/// Returns the order of hits, which are best first, as indexes: an update comes just before the first
/// of the older hits that it updates. `likeness` returns the likeness of two hits, from 0 to 1.
#[must_use]
pub fn order_updates<A: PartialEq, T: PartialOrd>(
    hits: &[UpdateCandidate<A, T>],
    likeness: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    for (new_index, new) in hits.iter().enumerate().take(STATED_UPDATE_HITS_MAX).skip(1) {
        let thresholds = if new.is_stated { STATED_UPDATE_THRESHOLDS } else { UPDATE_THRESHOLDS };
        if new.length > UPDATE_TEXT_WORDS_MAX || (!new.is_stated && new_index >= UPDATE_HITS_MAX) {
            continue;
        }
        let updates = |old_index: usize| {
            let old = &hits[old_index];
            new.from > old.from
                && new.author == old.author
                && new.score >= thresholds.score_ratio * old.score
                && likeness(old_index, new_index) >= thresholds.likeness
        };
        let Some(rank) = order.iter().position(|index| *index == new_index) else { continue };
        let updated = order[..rank].iter().position(|index| updates(*index));
        if let Some(updated) = updated {
            order.remove(rank);
            order.insert(updated, new_index);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_present_differ_from_those_about_the_past() {
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
    fn an_update_comes_before_the_hit_that_it_updates() {
        let hit = |score, from, is_stated| UpdateCandidate {
            score,
            length: 20.0,
            from,
            is_stated,
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
    fn update_words_state_an_update() {
        for (text, expected) in [("The quota is now 500", true), ("The quota is 500", false)] {
            let said = terms::terms(text).iter().any(|term| is_update_term(term));
            assert_eq!(said, expected, "{text}");
        }
    }
}
