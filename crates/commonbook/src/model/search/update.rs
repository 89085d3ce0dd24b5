//! Updates: of two hits on the same subject at different times, the newer comes first if it states a
//! change, unless the question asks how things were.

use std::sync::LazyLock;

use regex::Regex;

use commonbook_text::terms;
use commonbook_text::word_list::WordList;

/// Count of the best hits in which an update moves.
pub const UPDATE_HITS_MAX: usize = 5;

/// Maximum words of an update: a longer memory has several subjects.
const UPDATE_TEXT_WORDS_MAX: f64 = 300.0;

/// The least score of the newer memory, as a share of the older one's score.
const SCORE_RATIO_MIN: f64 = 0.85;

/// The least likeness of the two, from 0 to 1.
const LIKENESS_MIN: f64 = 0.5;

/// What a text says that states a change.
static CHANGE_PHRASES: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = include_str!("update/change_phrases.txt").lines();
    let phrases: Vec<&str> = phrases.filter(|line| !line.starts_with('#')).collect();
    let pattern = format!(r"(?i)\b(?:{})\b|->|→|现在|改为|改成|不再", phrases.join("|"));
    Regex::new(&pattern).expect("the phrases are an expression")
});

/// Words by which a question asks how things were.
static PAST_WORDS: WordList = WordList::new(include_str!("update/past_words.txt"));

/// Whether a text says that something has changed.
#[must_use]
pub fn states_change(text: &str) -> bool {
    CHANGE_PHRASES.is_match(text)
}

/// Whether a question asks how things were.
#[must_use]
pub fn asks_how_things_were(question: &str) -> bool {
    terms::plain_words(question).iter().any(|word| PAST_WORDS.contains(word.as_str()))
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
    /// Whether the text states a change.
    pub states_change: bool,
    /// Whether its trust is normal: what came from outside goes before nothing that is trusted,
    /// whatever it says of itself.
    pub is_trusted: bool,
    /// The speaker of a turn: of what others say, a turn updates nothing. `None` for a note.
    pub speaker: Option<A>,
}

/// Returns the order of hits, which are best first, as indexes: an update comes just before the first
/// of the older hits that it updates. `likeness` returns the likeness of two hits, from 0 to 1.
#[must_use]
pub fn order_updates<A: PartialEq, T: PartialOrd>(
    hits: &[UpdateCandidate<A, T>],
    likeness: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    for (new_index, new) in hits.iter().enumerate().take(UPDATE_HITS_MAX).skip(1) {
        if new.length > UPDATE_TEXT_WORDS_MAX || !new.states_change {
            continue;
        }
        let updates = |old_index: usize| {
            let old = &hits[old_index];
            new.from > old.from
                && (new.is_trusted || !old.is_trusted)
                && (new.speaker.is_none() || new.speaker == old.speaker)
                && new.score >= SCORE_RATIO_MIN * old.score
                && likeness(old_index, new_index) >= LIKENESS_MIN
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
    fn questions_about_the_past_differ_from_all_others() {
        let table = [
            ("What is the daily quota for the API key?", false),
            ("daily quota", false),
            ("Tell me about the quota", false),
            ("", false),
            ("What was the quota?", true),
            ("How did it go?", true),
            ("What is different from what it was originally?", true),
        ];
        for (question, expected) in table {
            assert_eq!(asks_how_things_were(question), expected, "{question:?}");
        }
    }

    #[test]
    fn an_update_comes_before_the_hit_that_it_updates() {
        let hit = |score, from| UpdateCandidate {
            score,
            length: 20.0,
            from,
            states_change: true,
            is_trusted: true,
            speaker: None,
        };
        let turn = |speaker, hit: UpdateCandidate<&'static str, i32>| UpdateCandidate {
            speaker: Some(speaker),
            ..hit
        };
        let old = hit(1.0, 1);
        let table = [
            (old.clone(), hit(0.9, 2), 0.6, true),
            (old.clone(), hit(0.9, 0), 0.6, false),
            (old.clone(), hit(0.8, 2), 0.6, false),
            (old.clone(), hit(0.9, 2), 0.4, false),
            (old.clone(), UpdateCandidate { states_change: false, ..hit(0.9, 2) }, 0.9, false),
            (old.clone(), UpdateCandidate { is_trusted: false, ..hit(0.9, 2) }, 0.9, false),
            (
                UpdateCandidate { is_trusted: false, ..old.clone() },
                UpdateCandidate { is_trusted: false, ..hit(0.9, 2) },
                0.9,
                true,
            ),
            (old.clone(), UpdateCandidate { length: 400.0, ..hit(0.9, 2) }, 0.6, false),
            (turn("ann", old.clone()), turn("ann", hit(0.9, 2)), 0.6, true),
            (turn("ann", old.clone()), turn("bob", hit(0.9, 2)), 0.6, false),
        ];
        for (old, new, likeness, swapped) in table {
            let order = order_updates(&[old, new.clone()], |_, _| likeness);
            assert_eq!(order == [1, 0], swapped, "{new:?}");
        }
    }

    #[test]
    fn a_change_is_stated_in_several_ways() {
        for text in [
            "The quota is now 500",
            "rounding: was 2 digits, no longer",
            "Timeout 30s -> 45s",
            "ab sofort gilt die neue Regel",
            "超时时间改为 45 秒",
            "Correction: it lives in the other repo",
        ] {
            assert!(states_change(text), "{text}");
        }
        for text in ["The quota is 500", "Knowing the renewal dates helps", ""] {
            assert!(!states_change(text), "{text}");
        }
    }
}
