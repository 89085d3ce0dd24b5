//! Which memories a text rests on, and which of them have changed since.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::Error;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::memory::MemoryChangeKind;
use commonbook_text::sentences::sentences;
use commonbook_text::terms;

/// Words that a text has in common with a memory that it rests on, at least.
const SHARED_WORDS_MIN: usize = 2;

/// The text has at least one in this number of words of the memory.
const SHARED_PART: usize = 4;

/// One of the common words is in at most one in this number of the memories that the session received.
const RARE_PART: usize = 3;

/// With at least one in this number of the memory's words no word must be rare: several memories can say the
/// same.
const ALIKE_PART: usize = 2;

/// Texts whose words are cached: each write of a session is compared with all that it received.
const TERMS_CACHE_MAX: usize = 4_096;

static TERMS_CACHE: LazyLock<Mutex<FxHashMap<u64, TextTerms>>> = LazyLock::new(Mutex::default);

/// Keyed per process, so that no writer can construct two texts with the same hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A memory that you know and that has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleMemory {
    /// The memory.
    pub memory: MemoryId,
    /// The revision that you know.
    pub known_revision: u64,
    /// Its present revision.
    pub current_revision: u64,
    /// The change.
    pub change: MemoryChangeKind,
    /// The agent that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Agent>,
    /// Its successor, or the memory that contradicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<MemoryId>,
    /// The beginning of what is said now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl StaleMemory {
    /// The change of a memory that its author may not read any more: it is gone, and says the same
    /// whatever is done to it.
    pub(crate) fn gone(memory: MemoryId, known_revision: u64) -> Self {
        Self {
            memory,
            known_revision,
            current_revision: known_revision,
            change: MemoryChangeKind::Deleted,
            by: None,
            successor: None,
            text: None,
        }
    }

    /// Whether the memory is out of its reader's sight.
    pub(crate) fn is_gone(&self) -> bool {
        self.by.is_none()
    }

    /// The change as a sentence without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let by = self.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let successor = match (self.change, self.successor) {
            (_, None) => String::new(),
            (MemoryChangeKind::Contradicted, Some(other)) => format!(" in {other}"),
            (_, Some(heir)) => format!(": {heir} holds now"),
        };
        format!("{} was {}{by}{successor}", self.memory, self.change)
    }
}

/// The beginning of a text for a list.
#[must_use]
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(limits::PREVIEW_CHARS_MAX) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error for a write that rests on memories that have changed.
#[must_use]
pub fn stale_error(stale: &[StaleMemory]) -> Error {
    let changes: Vec<String> = stale.iter().map(StaleMemory::sentence).collect();
    let known = stale.iter().map(|stale| match stale.successor {
        Some(successor) => successor.to_string(),
        None => format!("{}@{}", stale.memory, stale.current_revision),
    });
    let known: Vec<String> = known.collect();
    Error::conflict(format!("its basis has changed: {}", changes.join("; ")))
        .with_field("require_current")
        .hint(format!("Read that, and name it in `based_on`: {}.", known.join(", ")))
}

/// The words that carry what a text is about: stems without function words and numbers.
#[derive(Debug, Clone, Default)]
pub struct TextTerms(Arc<FxHashSet<u64>>);

impl TextTerms {
    /// The words of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let key = HASHER.hash_one(text);
        let cache = || TERMS_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terms) = cache().get(&key) {
            return terms.clone();
        }
        let words = sentences(text).flat_map(terms::query_terms);
        let words = words.filter(|word| word.chars().any(char::is_alphabetic));
        let found = Self(Arc::new(words.map(|word| HASHER.hash_one(word)).collect()));
        let mut cache = cache();
        if cache.len() >= TERMS_CACHE_MAX {
            cache.clear();
        }
        cache.insert(key, found.clone());
        found
    }

    /// Which of these sources this text rests on: it shares words with the source, and one of them is
    /// rare among all the sources.
    #[must_use]
    pub fn rests_on(&self, sources: &[Self]) -> Vec<bool> {
        let common = |source: &Self| source.0.intersection(&self.0).copied().collect::<Vec<u64>>();
        let shared: Vec<Vec<u64>> = sources.iter().map(common).collect();
        let mut uses: FxHashMap<u64, usize> = FxHashMap::default();
        for word in shared.iter().flatten() {
            *uses.entry(*word).or_default() += 1;
        }
        let is_rare = |word: &u64| uses[word] * RARE_PART <= sources.len().max(RARE_PART);
        let rests = shared.iter().zip(sources).map(|(shared, source)| {
            let least = SHARED_WORDS_MIN.min(source.0.len()).max(1);
            let has_part = |part: usize| shared.len() * part >= source.0.len();
            shared.len() >= least
                && (has_part(ALIKE_PART) || has_part(SHARED_PART) && shared.iter().any(is_rare))
        });
        rests.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_rests_on_what_it_speaks_of() {
        let told = [
            "The checkout service retries a payment three times.",
            "The checkout service runs in eu-west-1.",
            "Invoices are rendered by the billing worker every night.",
        ];
        let table: [(&str, &[usize]); 6] = [
            ("Decision: the load test plans for three retries of each payment at checkout", &[0]),
            ("We put the new cache for the checkout service next to it in eu-west-1", &[1]),
            ("The nightly billing worker gets more memory, since invoices grow", &[2]),
            ("The checkout button turns green", &[]),
            ("Release notes go out on Fridays", &[]),
            ("", &[]),
        ];
        let sources = told.map(TextTerms::of);
        for (text, expected) in table {
            let found = TextTerms::of(text).rests_on(&sources);
            let found: Vec<usize> = (0..told.len()).filter(|place| found[*place]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn one_told_memory_is_a_basis_if_the_words_agree() {
        let told = [TextTerms::of("The API listens on port 8080.")];
        let rests = |text: &str| TextTerms::of(text).rests_on(&told)[0];
        assert!(rests("The probe asks the API on its port"));
        assert!(!rests("The API is versioned in the URL"));
    }
}
