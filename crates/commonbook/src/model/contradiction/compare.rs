//! Comparing what two memories state.

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

/// What is certain of a contradiction of each kind, before anything speaks for or against it.
const BASE_CONFIDENCE: [(DifferenceKind, f64); 5] = [
    (DifferenceKind::Number, 0.8),
    (DifferenceKind::Date, 0.75),
    (DifferenceKind::Boolean, 0.8),
    (DifferenceKind::Negation, 0.75),
    (DifferenceKind::Antonym, 0.7),
];
/// What it adds that both mention the same thing, and not only a topic.
const SAME_ENTITY_BONUS: f64 = 0.1;
/// What it adds that both are about the same in so many words.
const SAME_WORDS_BONUS: f64 = 0.05;
/// How many words those are.
const SAME_WORDS_MIN: usize = 4;
/// What it takes away that one of them names something that the other does not.
const NARROWER_PENALTY: f64 = 0.15;
/// What it takes away that one agent said both: it may have changed its mind.
const ONE_AUTHOR_PENALTY: f64 = 0.1;
/// Words that both must be about, where one of them is narrower.
const NARROWED_WORDS_MIN: usize = 4;
/// Days within which "on Friday" means the same Friday.
const SAME_WEEK_DAYS: i64 = 6;

/// Types of memories that tell what happened, was said or is to be done: not how things are.
const STATEMENT_FREE_TYPES: [&str; 4] = ["episodic", "conversation", "task_context", "handoff"];

/// Texts of which is known what they state: a memory is compared with many others, most of which are
/// of the same days and compared with the next ones too.
const CLAUSE_CACHE_MAX: usize = 2_048;

/// What these texts state, by the hash of each.
static CLAUSE_CACHE: LazyLock<Mutex<FxHashMap<u64, Arc<[Clause]>>>> = LazyLock::new(Mutex::default);

/// A key of this process alone: nobody can write two texts that are one.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The plain statements of a text, which was perhaps taken apart before.
fn clauses(text: &str) -> Arc<[Clause]> {
    let key = HASHER.hash_one(text);
    let known = || CLAUSE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(clauses) = known().get(&key) {
        return Arc::clone(clauses);
    }
    let clauses: Arc<[Clause]> = clause::clauses(text).into();
    let mut known = known();
    if known.len() >= CLAUSE_CACHE_MAX {
        known.clear();
    }
    known.insert(key, Arc::clone(&clauses));
    clauses
}

/// What a memory states, taken apart once to be compared with many others.
#[derive(Debug, Clone)]
pub struct MemoryStatements<'m> {
    memory: &'m Memory,
    clauses: Arc<[Clause]>,
    /// The environments that its title and topics name.
    environments: BTreeSet<String>,
    title: BTreeSet<String>,
}

impl<'m> MemoryStatements<'m> {
    /// What this memory states.
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

    /// Whether there is nothing in it to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// What contradicts the other, which is newer: the most certain, if anything does.
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
        // Who says both says that both hold, each of its own.
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

    /// Whether the author of this one says so itself that it holds no longer, or goes on with it in
    /// the same session.
    fn is_corrected_by(&self, newer: &Self) -> bool {
        let (a, b) = (self.memory, newer.memory);
        let corrects = || {
            let words = terms::plain_words(&b.text);
            words.iter().any(|word| CORRECTION_WORDS.contains(word.as_str()))
        };
        a.owner == b.owner && ((a.session.is_some() && a.session == b.session) || corrects())
    }
}

/// What becomes of two clauses.
#[derive(Debug, Clone)]
enum ClauseComparison {
    /// They are about different things, or cannot be compared.
    Unrelated,
    /// They state the same.
    Same,
    Differs(ContradictionFinding),
}

impl ClauseComparison {
    fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

/// What two clauses differ in.
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
            let said = |denied: &Option<String>| denied.clone().unwrap_or_default();
            let (older, newer) = (said(&older.denied), said(&newer.denied));
            differences.push(ValueDifference { kind: DifferenceKind::Negation, older, newer });
        }
        let shared = older.subject.keys().filter(|stem| newer.subject.contains_key(*stem));
        let common = shared.clone().count();
        // Of names alone nothing is said that could be denied: "John: not at all, Maria".
        let said = shared.clone().any(|stem| older.subject[stem].starts_with(char::is_lowercase))
            || !older.sides.is_empty()
            || !older.values.is_empty();
        let enough = if self.shared == ComparisonBasis::Thing { 1 } else { 2 };
        if !said
            || common + alike < enough
            || common == 0
            || (narrow > 0 && common < NARROWED_WORDS_MIN)
        {
            return ClauseComparison::Unrelated;
        }
        match differences.as_slice() {
            [] => ClauseComparison::Same,
            [one] => ClauseComparison::Differs(self.to_finding(older, newer, one, common, narrow)),
            // Two that differ in two ways speak of two things, or of one in two states.
            _ => ClauseComparison::Unrelated,
        }
    }

    /// The values in which they differ; nothing where they cannot be compared.
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

    /// Whether of two values only one can hold, as these clauses put it.
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
            .map_or(0.5, |it| it.1);
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
                format!("Of {about:?} the newer denies, with {newer:?}, what the older says")
            }
            (DifferenceKind::Negation, false) => {
                format!("Of {about:?} the older denies, with {older:?}, what the newer says")
            }
            _ => format!("Of {about:?} the older says {older:?}, and the newer {newer:?}"),
        };
        // Hundredths are as fine as such a figure can be.
        let confidence = ((base + sum) * 100.0).round() / 100.0;
        ContradictionFinding { kind: *kind, reason, confidence }
    }
}

/// How many words one of two clauses is narrower by; nothing where they are about different things.
fn extra_words(older: &Clause, newer: &Clause) -> Option<usize> {
    let beyond = |one: &Clause, other: &Clause| -> Vec<String> {
        one.subject.keys().filter(|stem| !other.subject.contains_key(*stem)).cloned().collect()
    };
    let (a, b) = (beyond(older, newer), beyond(newer, older));
    let tells = |clause: &Clause, stem: &String| {
        let word = clause.subject.get(stem).map(|word| word.to_lowercase()).unwrap_or_default();
        clause.names.contains(stem) || DISTINGUISHING_WORDS.contains(word.as_str())
    };
    match (a.as_slice(), b.as_slice()) {
        ([], []) => Some(0),
        ([one], []) => (!tells(older, one)).then_some(1),
        ([], [one]) => (!tells(newer, one)).then_some(1),
        _ => None,
    }
}
