//! Comparing what two memories state.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::{Found, Kind, Shared};
use crate::model::memory::Memory;
use commonbook_text::claims::clause::{self, Clause, Said};
use commonbook_text::claims::lists::{DISTINGUISHING, ENVIRONMENTS, NOT_EXCLUSIVE, SCHEDULED};
use commonbook_text::claims::moments::CORRECTING;
use commonbook_text::claims::pairs::AXES;
use commonbook_text::claims::value::{Stand, Value};
use commonbook_text::terms;

/// What is certain of a contradiction of each kind, before anything speaks for or against it.
const BASE: [(Kind, f64); 5] = [
    (Kind::Number, 0.8),
    (Kind::Date, 0.75),
    (Kind::Boolean, 0.8),
    (Kind::Negation, 0.75),
    (Kind::Antonym, 0.7),
];
/// What it adds that both mention the same thing, and not only a topic.
const SAME_THING: f64 = 0.1;
/// What it adds that both are about the same in so many words.
const SAME_WORDS: f64 = 0.05;
/// How many words those are.
const MANY_WORDS: usize = 4;
/// What it takes away that one of them names something that the other does not.
const MORE_NARROW: f64 = 0.15;
/// What it takes away that one agent said both: it may have changed its mind.
const ONE_AUTHOR: f64 = 0.1;
/// Words that both must be about, where one of them is narrower.
const NARROWED_WORDS: usize = 4;
/// Days within which "on Friday" means the same Friday.
const SAME_WEEK: i64 = 6;

/// Types of memories that tell what happened, was said or is to be done: not how things are.
const NO_STATEMENTS: [&str; 4] = ["episodic", "conversation", "task_context", "handoff"];

/// Texts of which is known what they state: a memory is compared with many others, most of which are
/// of the same days and compared with the next ones too.
const KNOWN: usize = 2_048;

/// What these texts state, by the hash of each.
static TAKEN_APART: LazyLock<Mutex<FxHashMap<u64, Arc<[Clause]>>>> = LazyLock::new(Mutex::default);

/// A key of this process alone: nobody can write two texts that are one.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The plain statements of a text, which was perhaps taken apart before.
fn clauses(text: &str) -> Arc<[Clause]> {
    let key = HASHER.hash_one(text);
    let known = || TAKEN_APART.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(clauses) = known().get(&key) {
        return Arc::clone(clauses);
    }
    let clauses: Arc<[Clause]> = clause::clauses(text).into();
    let mut known = known();
    if known.len() >= KNOWN {
        known.clear();
    }
    known.insert(key, Arc::clone(&clauses));
    clauses
}

/// What a memory states, taken apart once to be compared with many others.
#[derive(Debug, Clone)]
pub struct Stated<'m> {
    memory: &'m Memory,
    clauses: Arc<[Clause]>,
    /// The environments that its title and topics name.
    environments: BTreeSet<String>,
    title: BTreeSet<String>,
}

impl<'m> Stated<'m> {
    /// What this memory states.
    #[must_use]
    pub fn of(memory: &'m Memory) -> Self {
        let mut environments = BTreeSet::new();
        for head in memory.title.iter().chain(&memory.topics) {
            let words = terms::plain(head).into_iter();
            environments.extend(words.filter(|word| ENVIRONMENTS.contains(&word.as_str())));
        }
        let title = memory.title.iter().flat_map(|title| terms::query_terms(title)).collect();
        let plain = !NO_STATEMENTS.contains(&memory.memory_type.as_str());
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
    pub fn against(&self, newer: &Self, shared: Shared) -> Option<Found> {
        let titles = self.title.is_empty()
            || newer.title.is_empty()
            || 2 * self.title.intersection(&newer.title).count()
                >= self.title.len().min(newer.title.len());
        if !titles || self.environments != newer.environments || self.is_corrected_by(newer) {
            return None;
        }
        let hours = crate::model::contradiction::at(newer.memory)
            .duration_since(crate::model::contradiction::at(self.memory))
            .as_hours();
        let pair = Pair {
            shared,
            one_author: self.memory.owner == newer.memory.owner,
            one_week: hours.abs() <= 24 * SAME_WEEK,
        };
        let outcomes: Vec<Vec<Outcome>> = self
            .clauses
            .iter()
            .map(|older| newer.clauses.iter().map(|newer| pair.compare(older, newer)).collect())
            .collect();
        // Who says both says that both hold, each of its own.
        let agrees = |row: usize, column: usize| {
            outcomes[row].iter().any(Outcome::is_same)
                || outcomes.iter().any(|row| row[column].is_same())
        };
        let mut best: Option<Found> = None;
        for (row, of_older) in outcomes.iter().enumerate() {
            for (column, outcome) in of_older.iter().enumerate() {
                let Outcome::Differs(found) = outcome else { continue };
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
            let words = terms::plain(&b.text);
            words.iter().any(|word| CORRECTING.contains(&word.as_str()))
        };
        a.owner == b.owner && ((a.session.is_some() && a.session == b.session) || corrects())
    }
}

/// What becomes of two clauses.
#[derive(Debug, Clone)]
enum Outcome {
    /// They are about different things, or cannot be compared.
    Unrelated,
    /// They state the same.
    Same,
    Differs(Found),
}

impl Outcome {
    fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

/// What two clauses differ in.
struct Difference {
    kind: Kind,
    older: String,
    newer: String,
}

/// What two memories have in common besides their words.
struct Pair {
    shared: Shared,
    one_author: bool,
    one_week: bool,
}

impl Pair {
    fn compare(&self, older: &Clause, newer: &Clause) -> Outcome {
        let speaks = older.of_the_speaker || newer.of_the_speaker;
        let Some(narrow) = narrower(older, newer) else { return Outcome::Unrelated };
        if newer.evolved || (speaks && !self.one_author) {
            return Outcome::Unrelated;
        }
        let Some(mut differences) = self.values(older, newer) else { return Outcome::Unrelated };
        let alike = older.values.len() - differences.len();
        if !older.sides.keys().eq(newer.sides.keys()) {
            return Outcome::Unrelated;
        }
        for (axis, (side, word)) in &older.sides {
            let (other, against) = &newer.sides[axis];
            if side != other {
                let (older, newer) = (word.clone(), against.clone());
                differences.push(Difference { kind: AXES[*axis].kind, older, newer });
            }
        }
        if older.denied.is_some() != newer.denied.is_some() {
            let said = |denied: &Option<String>| denied.clone().unwrap_or_default();
            let (older, newer) = (said(&older.denied), said(&newer.denied));
            differences.push(Difference { kind: Kind::Negation, older, newer });
        }
        let shared = older.subject.keys().filter(|stem| newer.subject.contains_key(*stem));
        let common = shared.clone().count();
        // Of names alone nothing is said that could be denied: "John: not at all, Maria".
        let said = shared.clone().any(|stem| older.subject[stem].starts_with(char::is_lowercase))
            || !older.sides.is_empty()
            || !older.values.is_empty();
        let enough = if self.shared == Shared::Thing { 1 } else { 2 };
        if !said
            || common + alike < enough
            || common == 0
            || (narrow > 0 && common < NARROWED_WORDS)
        {
            return Outcome::Unrelated;
        }
        match differences.as_slice() {
            [] => Outcome::Same,
            [one] => Outcome::Differs(self.found(older, newer, one, (common, narrow))),
            // Two that differ in two ways speak of two things, or of one in two states.
            _ => Outcome::Unrelated,
        }
    }

    /// The values in which they differ; nothing where they cannot be compared.
    fn values(&self, older: &Clause, newer: &Clause) -> Option<Vec<Difference>> {
        if older.values.len() != newer.values.len() {
            return None;
        }
        let mut differences = Vec::new();
        for (a, b) in older.values.iter().zip(&newer.values) {
            match a.value.stand(&b.value) {
                Stand::Same => {}
                Stand::Apart => return None,
                Stand::Different if !self.excludes((older, newer), a, b) => return None,
                Stand::Different => {
                    let kind = if a.value.is_time() { Kind::Date } else { Kind::Number };
                    let (older, newer) = (a.words.clone(), b.words.clone());
                    differences.push(Difference { kind, older, newer });
                }
            }
        }
        Some(differences)
    }

    /// Whether of two values only one can hold, as these clauses put it.
    fn excludes(&self, (older, newer): (&Clause, &Clause), a: &Said, b: &Said) -> bool {
        let says = |stems: &[&str]| {
            older.subject.keys().any(|stem| stems.contains(&stem.as_str()))
                || older.sides.values().any(|(_, word)| stems.iter().any(|it| word.starts_with(it)))
        };
        match (&a.value, &b.value) {
            (Value::Dotted(_), _) => !says(NOT_EXCLUSIVE),
            (Value::Number { .. }, _) => !(a.of_a_name && b.of_a_name && says(NOT_EXCLUSIVE)),
            (Value::Weekday { each: false, .. }, _) if !self.one_week => false,
            _ => (older.is_being && newer.is_being) || says(SCHEDULED),
        }
    }

    fn found(
        &self,
        older: &Clause,
        newer: &Clause,
        difference: &Difference,
        (common, narrow): (usize, usize),
    ) -> Found {
        let base = BASE.iter().find(|(kind, _)| *kind == difference.kind).map_or(0.5, |it| it.1);
        let factors = [
            (self.shared == Shared::Thing, SAME_THING),
            (common >= MANY_WORDS, SAME_WORDS),
            (narrow > 0, -MORE_NARROW),
            (self.one_author, -ONE_AUTHOR),
        ];
        let sum: f64 = factors.iter().filter(|(holds, _)| *holds).map(|(_, much)| much).sum();
        let words: Vec<&str> = older
            .subject
            .iter()
            .filter(|(stem, _)| newer.subject.contains_key(*stem))
            .map(|(_, word)| word.as_str())
            .collect();
        let about = words.join(", ");
        let Difference { kind, older, newer } = difference;
        let reason = match (kind, older.is_empty()) {
            (Kind::Negation, true) => {
                format!("Of {about:?} the newer denies, with {newer:?}, what the older says")
            }
            (Kind::Negation, false) => {
                format!("Of {about:?} the older denies, with {older:?}, what the newer says")
            }
            _ => format!("Of {about:?} the older says {older:?}, and the newer {newer:?}"),
        };
        // Hundredths are as fine as such a figure can be.
        let confidence = ((base + sum) * 100.0).round() / 100.0;
        Found { kind: *kind, reason, confidence }
    }
}

/// How many words one of two clauses is narrower by; nothing where they are about different things.
fn narrower(older: &Clause, newer: &Clause) -> Option<usize> {
    let beyond = |one: &Clause, other: &Clause| -> Vec<String> {
        one.subject.keys().filter(|stem| !other.subject.contains_key(*stem)).cloned().collect()
    };
    let (a, b) = (beyond(older, newer), beyond(newer, older));
    let tells = |clause: &Clause, stem: &String| {
        let word = clause.subject.get(stem).map(|word| word.to_lowercase()).unwrap_or_default();
        clause.names.contains(stem) || DISTINGUISHING.contains(&word.as_str())
    };
    match (a.as_slice(), b.as_slice()) {
        ([], []) => Some(0),
        ([one], []) => (!tells(older, one)).then_some(1),
        ([], [one]) => (!tells(newer, one)).then_some(1),
        _ => None,
    }
}
