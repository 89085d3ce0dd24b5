//! Word lists for the comparison of clauses: neutral words, denials, synonyms, changes.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::word_list::{WordList, rows};

/// Words before what something is.
pub static BEING_VERBS: WordList = WordList::new(include_str!("vocabulary/being_verbs.txt"));

/// Words before what a clause chooses.
pub static CHOICE_WORDS: WordList = WordList::new(include_str!("vocabulary/choice_words.txt"));

/// Words that deny a clause. "No" at the end of a clause is an answer and no denial.
pub const DENIALS: &[&str] = &["not", "never", "no", "cannot", "nor", "neither", "nobody"];

/// Verbs of dislike, which deny a preference.
pub const DISLIKE_VERBS: &[&str] = &["dislike", "dislikes", "hate", "hates", "avoids"];

/// Words after a denial that make it something else: "no more than 5", "not only".
pub static NO_DENIAL_BEFORE: WordList =
    WordList::new(include_str!("vocabulary/no_denial_before.txt"));

/// Words beside the function words that add nothing to the subject of a clause.
pub static NEUTRAL_WORDS: WordList = WordList::new(include_str!("vocabulary/neutral_words.txt"));

/// Function words that distinguish two statements: conditions, before and after, with and without.
pub static CONDITION_WORDS: WordList =
    WordList::new(include_str!("vocabulary/condition_words.txt"));

/// Words that make a subject another thing if only one of two clauses has them.
pub static DISTINGUISHING_WORDS: WordList =
    WordList::new(include_str!("vocabulary/distinguishing_words.txt"));

/// Environments and platforms: a statement about one says nothing about another.
pub static ENVIRONMENTS: WordList = WordList::new(include_str!("vocabulary/environments.txt"));

/// Nouns before a number that labels one of many: "step 3".
pub static LABEL_NOUNS: WordList = WordList::new(include_str!("vocabulary/label_nouns.txt"));

/// Nouns before a number that they measure: "port 8080".
pub static MEASURE_NOUNS: WordList = WordList::new(include_str!("vocabulary/measure_nouns.txt"));

/// Stems of verbs that hold for several versions at once.
pub static NON_EXCLUSIVE_VERBS: WordList =
    WordList::new(include_str!("vocabulary/non_exclusive_verbs.txt"));

/// Stems of words for when something is, so that it is at no other time.
pub static SCHEDULE_STEMS: WordList = WordList::new(include_str!("vocabulary/schedule_stems.txt"));

/// Stems that mean the same in a comparison, by the stem that is replaced.
pub static SYNONYM_STEMS: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    rows(include_str!("vocabulary/synonym_stems.tsv")).map(|[stem, same]| (stem, same)).collect()
});

/// Words of a guess, a change or an event: the clause does not state how things are.
pub static UNCERTAIN_WORDS: WordList =
    WordList::new(include_str!("vocabulary/uncertain_words.txt"));

/// Words of a statement that show an earlier, different state.
pub const CHANGE_WORDS: &[&str] = &["now", "nowadays", "anymore", "since", "henceforth"];

/// Words of a correction by the author of an earlier statement.
pub static CORRECTION_WORDS: WordList =
    WordList::new(include_str!("vocabulary/correction_words.txt"));

/// Past tenses that do not end in "ed".
pub static PAST_TENSE_VERBS: WordList =
    WordList::new(include_str!("vocabulary/past_tense_verbs.txt"));

/// Words in "ed" that describe a state, or that are no past tense.
pub static STATE_WORDS: WordList = WordList::new(include_str!("vocabulary/state_words.txt"));

/// Verbs, behind which an alternative is what the clause states.
pub static VERBS: WordList = WordList::new(include_str!("vocabulary/verbs.txt"));

/// Verbs of a role that one person or team has.
pub static ROLE_VERBS: WordList = WordList::new(include_str!("vocabulary/role_verbs.txt"));

/// Phrases of a duty that one person has at a time.
pub static ROLE_PHRASES: WordList = WordList::new(include_str!("vocabulary/role_phrases.txt"));

/// Nouns of a medium that is no named service.
pub static STORAGE_MEDIA: WordList = WordList::new(include_str!("vocabulary/storage_media.txt"));

/// Names of stores that are themselves in memory or on a disk.
pub static EMBEDDED_STORES: WordList =
    WordList::new(include_str!("vocabulary/embedded_stores.txt"));

/// Verbs before the place where data is.
pub static STORAGE_VERBS: WordList = WordList::new(include_str!("vocabulary/storage_verbs.txt"));

/// Verbs whose object goes to one place.
pub static TARGET_VERBS: WordList = WordList::new(include_str!("vocabulary/target_verbs.txt"));

/// Verbs of a change to a new value.
pub static CHANGE_VERBS: WordList = WordList::new(include_str!("vocabulary/change_verbs.txt"));

/// Labels before a note: "Decision: …".
pub static NOTE_LABELS: WordList = WordList::new(include_str!("vocabulary/note_labels.txt"));

/// Stems of words that hold for several names at once.
pub static OPEN_CHOICE_STEMS: WordList =
    WordList::new(include_str!("vocabulary/open_choice_stems.txt"));
