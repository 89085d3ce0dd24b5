//! Comparing what two memories say.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{ContradictionFinding, DifferenceKind, FindingSource, may_contradict, valid_since};
use crate::base::hash;
use crate::model::learning::LEARNING_SORT_KEY;
use crate::model::memory::{Memory, Sharing};
use commonbook_text::claims::clause::{self, Statements};
use commonbook_text::claims::compare::{
    ClaimContext, ClaimDifference, TextRelation, carrying_words, claim_keys, compare_statements,
    differences, leaves_open, written_words,
};
use commonbook_text::claims::vocabulary::{CORRECTION_WORDS, ENVIRONMENTS};
use commonbook_text::terms;

/// Confidence of each kind of difference, before bonuses and penalties.
const BASE_CONFIDENCE: [(DifferenceKind, f64); 6] = [
    (DifferenceKind::Number, 0.8),
    (DifferenceKind::Date, 0.75),
    (DifferenceKind::Boolean, 0.8),
    (DifferenceKind::Negation, 0.75),
    (DifferenceKind::Antonym, 0.7),
    (DifferenceKind::Name, 0.75),
];
/// Added if both subjects have the same name.
const SAME_NAME_BONUS: f64 = 0.1;
/// Added if enough words of the subjects agree.
const SAME_WORDS_BONUS: f64 = 0.05;
/// Number of words for [`SAME_WORDS_BONUS`].
const SAME_WORDS_MIN: usize = 4;
/// Subtracted if one subject has a word that the other lacks.
const NARROWER_PENALTY: f64 = 0.15;
/// Subtracted if one agent wrote both: it may have changed its mind.
const ONE_AUTHOR_PENALTY: f64 = 0.1;
/// Words of a subject that say enough without a topic in common.
const SUBJECT_WORDS_MIN: usize = 2;
/// Days within which "on Friday" means the same Friday.
const SAME_WEEK_DAYS: i64 = 6;

/// Memory types that report events, conversations or tasks instead of facts.
const STATEMENT_FREE_TYPES: [&str; 4] = ["episodic", "conversation", "task_context", "handoff"];

/// Memory types beside those that make the same words another thing: what holds for a user, what was
/// asked, what was reached.
const SEPARATE_TYPES: [&str; 3] = ["profile", "question", "milestone"];

/// Texts whose statements are cached: each memory is compared with many others, mostly of the same
/// days.
const CLAUSE_CACHE_MAX: usize = 2_048;

/// Bytes of a text up to which its wording counts without articles and marks.
const WORDING_BYTES_MAX: usize = 4_000;

/// Keys of one memory.
const CLAIM_KEYS_MAX: usize = 64;

/// The statements of texts, by the hash of each.
static CLAUSE_CACHE: LazyLock<Mutex<FxHashMap<u64, Arc<Statements>>>> =
    LazyLock::new(Mutex::default);

/// Keyed per process, so that no writer can construct two texts with the same hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The statements of a text, cached.
fn statements(text: &str) -> Arc<Statements> {
    let key = HASHER.hash_one(text);
    let cache = || CLAUSE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(statements) = cache().get(&key) {
        return Arc::clone(statements);
    }
    let statements = Arc::new(clause::statements(text));
    let mut cache = cache();
    if cache.len() >= CLAUSE_CACHE_MAX {
        cache.clear();
    }
    cache.insert(key, Arc::clone(&statements));
    statements
}

/// The words of a text as it is compared for equality.
fn wording(text: &str) -> String {
    match text.len() <= WORDING_BYTES_MAX {
        true => carrying_words(text).collect::<Vec<_>>().join(" "),
        false => terms::composed(text).into_owned(),
    }
}

/// Whether two texts have the same words, as they are written.
fn is_same_text(a: &str, b: &str) -> bool {
    match a.len().max(b.len()) <= WORDING_BYTES_MAX {
        true => written_words(a).eq(written_words(b)),
        false => terms::composed(a) == terms::composed(b),
    }
}

/// What an earlier memory of the same author is to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierRelation {
    /// The new memory says the same, and nothing about it differs.
    Repeated,
    /// The new memory states everything that the earlier one states, with another value.
    Corrected,
    /// Both stand.
    Other,
}

/// The statements of a memory, parsed once for many comparisons.
#[derive(Debug, Clone)]
pub struct MemoryStatements<'m> {
    memory: &'m Memory,
    statements: Arc<Statements>,
    /// The environments that its title and topics name.
    environments: BTreeSet<String>,
    title: BTreeSet<String>,
}

impl<'m> MemoryStatements<'m> {
    /// The statements of this memory.
    #[must_use]
    pub fn of(memory: &'m Memory) -> Self {
        let mut environments = BTreeSet::new();
        for head in memory.title.iter().chain(&memory.topics) {
            let words = terms::plain_words(head).into_iter();
            environments.extend(words.filter(|word| ENVIRONMENTS.contains(word.as_str())));
        }
        let title = memory.title.iter().flat_map(|title| terms::query_terms(title)).collect();
        // A document says what its owner wants there; it corrects nobody, and nobody corrects it.
        let plain =
            !STATEMENT_FREE_TYPES.contains(&memory.memory_type.as_str()) && !memory.is_document();
        let statements = if plain { statements(&memory.text) } else { Arc::default() };
        Self { memory, statements, environments, title }
    }

    /// The keys by which memories are found that may say the same or the contrary: one for the
    /// wording, and some for each claim.
    #[must_use]
    pub fn keys(&self) -> Vec<i64> {
        let mut keys = vec![hash::short_hash(&format!("text\n{}", wording(&self.memory.text)))];
        let of_claims = self.statements.clauses.iter().flat_map(claim_keys);
        keys.extend(of_claims.map(|key| hash::short_hash(&format!("claim\n{key}"))));
        keys.sort_unstable();
        keys.dedup();
        keys.truncate(CLAIM_KEYS_MAX);
        keys
    }

    /// Whether both texts have the same words, by any author.
    #[must_use]
    pub fn has_wording_of(&self, other: &Self) -> bool {
        wording(&self.memory.text) == wording(&other.memory.text)
    }

    /// The most certain contradiction with a newer memory, if any.
    #[must_use]
    pub fn contradiction_with(&self, newer: &Self) -> Option<ContradictionFinding> {
        if !self.is_about_the_same(newer) || self.is_corrected_by(newer) {
            return None;
        }
        let (older_clauses, newer_clauses) = (&self.statements.clauses, &newer.statements.clauses);
        let mut best: Option<ContradictionFinding> = None;
        for difference in differences(older_clauses, newer_clauses, self.context(newer)) {
            if difference.common < SUBJECT_WORDS_MIN && self.has_other_topics(newer) {
                continue;
            }
            let found = self.to_finding(newer, &difference);
            if best.as_ref().is_none_or(|best| found.confidence > best.confidence) {
                best = Some(found);
            }
        }
        best
    }

    /// Whether the rules leave open if a newer memory contradicts this one: both state something of
    /// one subject, and their values cannot be compared.
    #[must_use]
    pub fn is_open_with(&self, newer: &Self) -> bool {
        self.is_about_the_same(newer)
            && !self.is_corrected_by(newer)
            && !self.has_other_topics(newer)
            && wording(&self.memory.text) != wording(&newer.memory.text)
            && self.contradiction_with(newer).is_none()
            && leaves_open(&self.statements.clauses, &newer.statements.clauses, self.context(newer))
    }

    /// What an earlier memory is to this one, which its author saves now.
    #[must_use]
    pub fn relation_to_earlier(&self, earlier: &Self) -> EarlierRelation {
        let (old, new) = (earlier.memory, self.memory);
        if old.owner != new.owner
            || old.case != new.case
            || !has_comparable_type(old, new)
            || !may_contradict(old, new)
        {
            return EarlierRelation::Other;
        }
        let same_wording = wording(&old.text) == wording(&new.text);
        // Nobody knows if two anonymous memories have one author, so that neither corrects the other.
        if old.owner.is_anonymous() && !same_wording {
            return EarlierRelation::Other;
        }
        let relation = match same_wording {
            true => TextRelation::Same,
            false => {
                compare_statements(&earlier.statements, &self.statements, earlier.context(self))
            }
        };
        let hides = old.sharing == Sharing::Shared && new.sharing == Sharing::Private;
        match relation {
            TextRelation::Same if has_equal_fields(old, new) => EarlierRelation::Repeated,
            TextRelation::Corrects(_)
                if !hides && earlier.is_about_the_same(self) && !earlier.has_other_topics(self) =>
            {
                EarlierRelation::Corrected
            }
            _ => EarlierRelation::Other,
        }
    }

    /// Whether both have the same text about the same thing: it differs at most in case, articles, marks
    /// and stops. Of two authors the claims must be the same, too: "I prefer tabs" is about its author.
    #[must_use]
    pub fn has_text_of(&self, other: &Self) -> bool {
        let one_author = self.memory.owner == other.memory.owner;
        let same_claims = || {
            let context = self.context(other);
            compare_statements(&self.statements, &other.statements, context) == TextRelation::Same
        };
        self.is_about_the_same(other)
            && !self.has_other_topics(other)
            && is_same_text(&self.memory.text, &other.memory.text)
            && (one_author || same_claims())
    }

    fn context(&self, newer: &Self) -> ClaimContext {
        let apart = valid_since(newer.memory).duration_since(valid_since(self.memory));
        ClaimContext {
            one_author: self.memory.owner == newer.memory.owner,
            one_week: apart.as_hours().abs() <= 24 * SAME_WEEK_DAYS,
        }
    }

    /// Whether titles and environments let both be about one thing.
    fn is_about_the_same(&self, other: &Self) -> bool {
        let titles = self.title.is_empty()
            || other.title.is_empty()
            || 2 * self.title.intersection(&other.title).count()
                >= self.title.len().min(other.title.len());
        titles && self.environments == other.environments
    }

    /// Whether both have topics, and none in common.
    fn has_other_topics(&self, other: &Self) -> bool {
        let (a, b) = (chosen_topics(self.memory), chosen_topics(other.memory));
        !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
    }

    /// Whether the same author withdraws this memory in the newer one, or continues it in the same
    /// session.
    fn is_corrected_by(&self, newer: &Self) -> bool {
        let (a, b) = (self.memory, newer.memory);
        let corrects = || {
            let words = terms::plain_words(&b.text);
            words.iter().any(|word| CORRECTION_WORDS.contains(word.as_str()))
        };
        a.owner == b.owner && ((a.session.is_some() && a.session == b.session) || corrects())
    }

    fn to_finding(&self, newer: &Self, difference: &ClaimDifference) -> ContradictionFinding {
        let ClaimDifference { kind, common, names_thing, is_narrower, .. } = difference;
        let one_author = self.memory.owner == newer.memory.owner;
        let base = BASE_CONFIDENCE.iter().find(|(of, _)| of == kind).map_or(0.5, |(_, base)| *base);
        let factors = [
            (*names_thing, SAME_NAME_BONUS),
            (*common >= SAME_WORDS_MIN, SAME_WORDS_BONUS),
            (*is_narrower, -NARROWER_PENALTY),
            (one_author, -ONE_AUTHOR_PENALTY),
        ];
        let sum: f64 = factors.iter().filter(|(holds, _)| *holds).map(|(_, much)| much).sum();
        // Two decimals are precise enough for such a figure.
        let confidence = ((base + sum) * 100.0).round() / 100.0;
        let reason = reason_sentence(self.memory, newer.memory, difference);
        let (found_by, stated_by) = (FindingSource::Rules, None);
        ContradictionFinding { kind: *kind, reason, confidence, found_by, stated_by }
    }
}

/// The reason in a sentence: "claude-code says three, gemini-cli says five".
fn reason_sentence(older: &Memory, newer: &Memory, difference: &ClaimDifference) -> String {
    let (a, b) = (&older.owner, &newer.owner);
    let ClaimDifference { kind, older: before, newer: after, .. } = difference;
    match (kind, a == b) {
        (DifferenceKind::Negation, true) if before.is_empty() => {
            format!("{a} said so, and later denied it")
        }
        (DifferenceKind::Negation, true) => format!("{a} denied it, and later said so"),
        (DifferenceKind::Negation, false) if before.is_empty() => {
            format!("{b} denies what {a} says")
        }
        (DifferenceKind::Negation, false) => format!("{b} says what {a} denies"),
        (_, true) => format!("{a} said {before}, and later {after}"),
        (_, false) => format!("{a} says {before}, {b} says {after}"),
    }
}

/// Whether the types of two memories let one of them correct the other: an agent that saves a
/// decision and learns the contrary corrects itself.
fn has_comparable_type(old: &Memory, new: &Memory) -> bool {
    let is_separate = |memory: &Memory| {
        let name = memory.memory_type.as_str();
        STATEMENT_FREE_TYPES.contains(&name) || SEPARATE_TYPES.contains(&name)
    };
    old.memory_type == new.memory_type || !(is_separate(old) || is_separate(new))
}

/// The topics that an author chose, in lower case: the sort of a learning is no topic.
fn chosen_topics(memory: &Memory) -> BTreeSet<String> {
    let sort = memory.metadata.get(LEARNING_SORT_KEY).and_then(Value::as_str);
    let topics = memory.topics.iter().filter(|topic| Some(topic.as_str()) != sort);
    topics.map(|topic| topic.to_lowercase()).collect()
}

/// Whether two memories with the same text differ in nothing that their author chose.
fn has_equal_fields(old: &Memory, new: &Memory) -> bool {
    old.memory_type == new.memory_type
        && old.title == new.title
        && old.summary == new.summary
        && old.topics == new.topics
        && old.entities == new.entities
        && old.importance == new.importance
        && old.sharing == new.sharing
        && old.metadata == new.metadata
        && old.valid_from == new.valid_from
        && old.valid_until == new.valid_until
}
