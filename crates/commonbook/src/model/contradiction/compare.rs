//! Comparing the statements of two memories.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::{ComparisonBasis, ContradictionFinding, DifferenceKind};
use crate::model::memory::Memory;
use commonbook_text::claims::clause::{self, Clause, ValuePhrase};
use commonbook_text::claims::opposites::OPPOSITES;
use commonbook_text::claims::value::{ClaimValue, ValueRelation};
use commonbook_text::claims::vocabulary::{
    CORRECTION_WORDS, DISTINGUISHING_WORDS, ENVIRONMENTS, NON_EXCLUSIVE_VERBS, SCHEDULE_STEMS,
};
use commonbook_text::terms;
use commonbook_text::word_list::WordList;

/// Confidence of each kind of difference, before bonuses and penalties.
const BASE_CONFIDENCE: [(DifferenceKind, f64); 5] = [
    (DifferenceKind::Number, 0.8),
    (DifferenceKind::Date, 0.75),
    (DifferenceKind::Boolean, 0.8),
    (DifferenceKind::Negation, 0.75),
    (DifferenceKind::Antonym, 0.7),
];
/// Added if both mention the same entity and not only a topic.
const SAME_ENTITY_BONUS: f64 = 0.1;
/// Added if enough words of the subjects agree.
const SAME_WORDS_BONUS: f64 = 0.05;
/// Number of words for [`SAME_WORDS_BONUS`].
const SAME_WORDS_MIN: usize = 4;
/// Subtracted if one subject has a word that the other lacks.
const NARROWER_PENALTY: f64 = 0.15;
/// Subtracted if one agent wrote both: it may have changed its mind.
const ONE_AUTHOR_PENALTY: f64 = 0.1;
/// Words that the subjects must share if one is narrower.
const NARROWED_WORDS_MIN: usize = 4;
/// Days within which "on Friday" means the same Friday.
const SAME_WEEK_DAYS: i64 = 6;

/// Memory types that report events, conversations or tasks instead of facts.
const STATEMENT_FREE_TYPES: [&str; 4] = ["episodic", "conversation", "task_context", "handoff"];

/// Texts whose statements are cached: each memory is compared with many others, mostly of the same
/// days.
const CLAUSE_CACHE_MAX: usize = 2_048;

/// The statements of texts, by the hash of each.
static CLAUSE_CACHE: LazyLock<Mutex<FxHashMap<u64, Arc<[Clause]>>>> = LazyLock::new(Mutex::default);

/// Keyed per process, so that no writer can construct two texts with the same hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The plain statements of a text, cached.
fn clauses(text: &str) -> Arc<[Clause]> {
    let key = HASHER.hash_one(text);
    let cache = || CLAUSE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(clauses) = cache().get(&key) {
        return Arc::clone(clauses);
    }
    let clauses: Arc<[Clause]> = clause::clauses(text).into();
    let mut cache = cache();
    if cache.len() >= CLAUSE_CACHE_MAX {
        cache.clear();
    }
    cache.insert(key, Arc::clone(&clauses));
    clauses
}

/// The statements of a memory, parsed once for many comparisons.
#[derive(Debug, Clone)]
pub struct MemoryStatements<'m> {
    memory: &'m Memory,
    clauses: Arc<[Clause]>,
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
        let plain = !STATEMENT_FREE_TYPES.contains(&memory.memory_type.as_str());
        let clauses = if plain { clauses(&memory.text) } else { Arc::default() };
        Self { memory, clauses, environments, title }
    }

    /// Whether it has no statements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// The most certain contradiction with a newer memory, if any.
    #[must_use]
    pub fn contradiction_with(
        &self,
        newer: &Self,
        shared: ComparisonBasis,
    ) -> Option<ContradictionFinding> {
        let titles = self.title.is_empty()
            || newer.title.is_empty()
            || 2 * self.title.intersection(&newer.title).count()
                >= self.title.len().min(newer.title.len());
        if !titles || self.environments != newer.environments || self.is_corrected_by(newer) {
            return None;
        }
        let hours = crate::model::contradiction::valid_since(newer.memory)
            .duration_since(crate::model::contradiction::valid_since(self.memory))
            .as_hours();
        let pair = MemoryPair {
            shared,
            one_author: self.memory.owner == newer.memory.owner,
            one_week: hours.abs() <= 24 * SAME_WEEK_DAYS,
        };
        let outcomes: Vec<Vec<ClauseComparison>> = self
            .clauses
            .iter()
            .map(|older| newer.clauses.iter().map(|newer| pair.compare(older, newer)).collect())
            .collect();
        // A memory that states both values says that each holds separately.
        let agrees = |row: usize, column: usize| {
            outcomes[row].iter().any(ClauseComparison::is_same)
                || outcomes.iter().any(|row| row[column].is_same())
        };
        let mut best: Option<ContradictionFinding> = None;
        for (row, of_older) in outcomes.iter().enumerate() {
            for (column, outcome) in of_older.iter().enumerate() {
                let ClauseComparison::Differs(found) = outcome else { continue };
                let better = best.as_ref().is_none_or(|best| best.confidence < found.confidence);
                if better && !agrees(row, column) {
                    best = Some(found.clone());
                }
            }
        }
        best
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
}

/// The relation of two statements.
#[derive(Debug, Clone)]
enum ClauseComparison {
    /// Different subjects, or values that cannot be compared.
    Unrelated,
    /// The same statement.
    Same,
    Differs(ContradictionFinding),
}

impl ClauseComparison {
    fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

/// The difference between two statements.
struct ValueDifference {
    kind: DifferenceKind,
    older: String,
    newer: String,
}

/// What two memories have in common besides their words.
struct MemoryPair {
    shared: ComparisonBasis,
    one_author: bool,
    one_week: bool,
}

impl MemoryPair {
    fn compare(&self, older: &Clause, newer: &Clause) -> ClauseComparison {
        let speaks = older.of_the_speaker || newer.of_the_speaker;
        let Some(narrow) = extra_words(older, newer) else { return ClauseComparison::Unrelated };
        if newer.evolved || (speaks && !self.one_author) {
            return ClauseComparison::Unrelated;
        }
        let Some(mut differences) = self.differing_values(older, newer) else {
            return ClauseComparison::Unrelated;
        };
        let alike = older.values.len() - differences.len();
        if !older.sides.keys().eq(newer.sides.keys()) {
            return ClauseComparison::Unrelated;
        }
        for (axis, (side, word)) in &older.sides {
            let (other, against) = &newer.sides[axis];
            if side != other {
                let (older, newer) = (word.clone(), against.clone());
                differences.push(ValueDifference { kind: OPPOSITES[*axis].kind, older, newer });
            }
        }
        if older.denied.is_some() != newer.denied.is_some() {
            let word_of = |denied: &Option<String>| denied.clone().unwrap_or_default();
            let (older, newer) = (word_of(&older.denied), word_of(&newer.denied));
            differences.push(ValueDifference { kind: DifferenceKind::Negation, older, newer });
        }
        let shared = older.subject.keys().filter(|stem| newer.subject.contains_key(*stem));
        let common = shared.clone().count();
        // A name alone is not a statement that can be denied: "John: not at all, Maria".
        let deniable =
            shared.clone().any(|stem| older.subject[stem].starts_with(char::is_lowercase))
                || !older.sides.is_empty()
                || !older.values.is_empty();
        let enough = if self.shared == ComparisonBasis::Thing { 1 } else { 2 };
        if !deniable
            || common + alike < enough
            || common == 0
            || (narrow > 0 && common < NARROWED_WORDS_MIN)
        {
            return ClauseComparison::Unrelated;
        }
        match differences.as_slice() {
            [] => ClauseComparison::Same,
            [difference] => {
                ClauseComparison::Differs(self.to_finding(older, newer, difference, common, narrow))
            }
            // Two differences mean two subjects, or two states of one.
            _ => ClauseComparison::Unrelated,
        }
    }

    /// The differing values; `None` if they cannot be compared.
    fn differing_values(&self, older: &Clause, newer: &Clause) -> Option<Vec<ValueDifference>> {
        if older.values.len() != newer.values.len() {
            return None;
        }
        let mut differences = Vec::new();
        for (a, b) in older.values.iter().zip(&newer.values) {
            match a.value.relation_to(&b.value) {
                ValueRelation::Same => {}
                ValueRelation::Apart => return None,
                ValueRelation::Different if !self.excludes(older, newer, a, b) => return None,
                ValueRelation::Different => {
                    let kind = if a.value.is_time() {
                        DifferenceKind::Date
                    } else {
                        DifferenceKind::Number
                    };
                    let (older, newer) = (a.words.clone(), b.words.clone());
                    differences.push(ValueDifference { kind, older, newer });
                }
            }
        }
        Some(differences)
    }

    /// Whether only one of two values can hold, as these statements phrase them.
    fn excludes(&self, older: &Clause, newer: &Clause, a: &ValuePhrase, b: &ValuePhrase) -> bool {
        let says = |stems: &WordList| {
            let begins = |word: &str| stems.iter().any(|stem| word.starts_with(stem));
            older.subject.keys().any(|stem| stems.contains(stem))
                || older.sides.values().any(|(_, word)| begins(word))
        };
        match (&a.value, &b.value) {
            (ClaimValue::Dotted(_), _) => !says(&NON_EXCLUSIVE_VERBS),
            (ClaimValue::Number { .. }, _) => {
                !(a.of_a_name && b.of_a_name && says(&NON_EXCLUSIVE_VERBS))
            }
            (ClaimValue::Weekday { is_each: false, .. }, _) if !self.one_week => false,
            _ => (older.is_being && newer.is_being) || says(&SCHEDULE_STEMS),
        }
    }

    fn to_finding(
        &self,
        older: &Clause,
        newer: &Clause,
        difference: &ValueDifference,
        common: usize,
        narrow: usize,
    ) -> ContradictionFinding {
        let base = BASE_CONFIDENCE
            .iter()
            .find(|(kind, _)| *kind == difference.kind)
            .map_or(0.5, |(_, base)| *base);
        let factors = [
            (self.shared == ComparisonBasis::Thing, SAME_ENTITY_BONUS),
            (common >= SAME_WORDS_MIN, SAME_WORDS_BONUS),
            (narrow > 0, -NARROWER_PENALTY),
            (self.one_author, -ONE_AUTHOR_PENALTY),
        ];
        let sum: f64 = factors.iter().filter(|(holds, _)| *holds).map(|(_, much)| much).sum();
        let words: Vec<&str> = older
            .subject
            .iter()
            .filter(|(stem, _)| newer.subject.contains_key(*stem))
            .map(|(_, word)| word.as_str())
            .collect();
        let about = words.join(", ");
        let ValueDifference { kind, older, newer } = difference;
        let reason = match (kind, older.is_empty()) {
            (DifferenceKind::Negation, true) => {
                format!(
                    "About {about:?}, the newer memory denies with {newer:?} what the older states"
                )
            }
            (DifferenceKind::Negation, false) => {
                format!(
                    "About {about:?}, the older memory denies with {older:?} what the newer states"
                )
            }
            _ => format!("About {about:?}, the older memory states {older:?}, the newer {newer:?}"),
        };
        // Two decimals are precise enough for such a figure.
        let confidence = ((base + sum) * 100.0).round() / 100.0;
        ContradictionFinding { kind: *kind, reason, confidence }
    }
}

/// Number of words by which one subject is narrower; `None` if the subjects differ otherwise.
fn extra_words(older: &Clause, newer: &Clause) -> Option<usize> {
    let beyond = |narrow: &Clause, wide: &Clause| -> Vec<String> {
        narrow.subject.keys().filter(|stem| !wide.subject.contains_key(*stem)).cloned().collect()
    };
    let (a, b) = (beyond(older, newer), beyond(newer, older));
    let tells = |clause: &Clause, stem: &String| {
        let word = clause.subject.get(stem).map(|word| word.to_lowercase()).unwrap_or_default();
        clause.names.contains(stem) || DISTINGUISHING_WORDS.contains(word.as_str())
    };
    match (a.as_slice(), b.as_slice()) {
        ([], []) => Some(0),
        ([narrow], []) => (!tells(older, narrow)).then_some(1),
        ([], [narrow]) => (!tells(newer, narrow)).then_some(1),
        _ => None,
    }
}
