//! The one comparison of what two texts say: the same, another value, or something else.
//!
//! A clause is a subject with an attribute, and its values. Two clauses differ if their subjects
//! have the same words and exactly one value differs: a number, a date, a name, a state, a denial.
//! Words in a subject that make it another thing (an environment, a name, "read" and "write") make
//! two clauses parallel: both can hold.

use super::DifferenceKind;
use super::clause::{Clause, Statements, ValuePhrase, statements};
use super::opposites::OPPOSITES;
use super::value::{ClaimValue, ValueRelation};
use super::vocabulary::{
    DISTINGUISHING_WORDS, NON_EXCLUSIVE_VERBS, OPEN_CHOICE_STEMS, SCHEDULE_STEMS,
};
use crate::terms::composed;
use crate::word_list::WordList;

/// Words that the subjects must share if one is narrower by a word.
pub const NARROWED_WORDS_MIN: usize = 4;
/// Words by which a statement may be narrower than the denial that there is any such thing.
const DENIED_WORDS_MAX: usize = 3;
/// Words of a subject that is denied altogether.
const DENIED_SUBJECT_MIN: usize = 2;

/// What two clauses have in common besides their words.
#[derive(Debug, Clone, Copy)]
pub struct ClaimContext {
    /// Whether one author wrote both: "I prefer tabs" is about the author.
    pub one_author: bool,
    /// Whether "on Friday" means the same Friday in both.
    pub one_week: bool,
}

/// The difference between two clauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimDifference {
    /// How they differ.
    pub kind: DifferenceKind,
    /// The words of the older clause; empty if the newer one denies it.
    pub older: String,
    /// The words of the newer clause; empty if the older one denies it.
    pub newer: String,
    /// The number of words that the subjects share.
    pub common: usize,
    /// Whether the subjects share a name.
    pub names_thing: bool,
    /// Whether one subject is narrower.
    pub is_narrower: bool,
}

/// The relation of two clauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimRelation {
    /// They say the same.
    Same,
    /// The same subject and attribute have another value.
    Differs(ClaimDifference),
    /// They state the same attribute of two subjects.
    Parallel,
    /// They have nothing to do with each other, or their values cannot be compared.
    Unrelated,
}

/// Compares two clauses, the older one first.
#[must_use]
pub fn compare_claims(older: &Clause, newer: &Clause, context: ClaimContext) -> ClaimRelation {
    let speaks = older.of_the_speaker || newer.of_the_speaker;
    if speaks && !context.one_author {
        return ClaimRelation::Unrelated;
    }
    if (older.is_current || newer.is_current) && !context.one_week {
        return ClaimRelation::Unrelated;
    }
    let is_narrower = match subject_relation(older, newer) {
        SubjectRelation::Equal => false,
        SubjectRelation::Narrower => true,
        SubjectRelation::Parallel => return ClaimRelation::Parallel,
        SubjectRelation::Other => return ClaimRelation::Unrelated,
    };
    let Some(mut differences) = differing_values(older, newer, context) else {
        return ClaimRelation::Unrelated;
    };
    if !older.sides.keys().eq(newer.sides.keys()) {
        return ClaimRelation::Unrelated;
    }
    for (pair, (side, word)) in &older.sides {
        let (other, against) = &newer.sides[pair];
        if side == other {
            continue;
        }
        differences.push((OPPOSITES[*pair].kind, word.clone(), against.clone()));
    }
    if older.denied.is_some() != newer.denied.is_some() {
        let word_of = |denied: &Option<String>| denied.clone().unwrap_or_default();
        let kind = DifferenceKind::Negation;
        differences.push((kind, word_of(&older.denied), word_of(&newer.denied)));
    }
    let shared = || older.subject.keys().filter(|stem| newer.subject.contains_key(*stem));
    // A name alone is not a statement that can be denied: "John: not at all, Maria".
    let deniable = shared().any(|stem| older.subject[stem].starts_with(char::is_lowercase))
        || !older.sides.is_empty()
        || !older.values.is_empty();
    // The number of a label is no subject by itself.
    let common = shared().filter(|stem| !stem.starts_with('#')).count();
    if !deniable || common == 0 {
        return ClaimRelation::Unrelated;
    }
    let names_thing = shared().any(|stem| older.names.contains(stem));
    match differences.pop() {
        None => ClaimRelation::Same,
        Some((kind, older, newer)) if differences.is_empty() => {
            ClaimRelation::Differs(ClaimDifference {
                kind,
                older,
                newer,
                common,
                names_thing,
                is_narrower,
            })
        }
        // Two differences mean two subjects, or two states of one.
        Some(_) => ClaimRelation::Unrelated,
    }
}

/// How the subjects of two clauses are related.
enum SubjectRelation {
    Equal,
    /// One has a word more.
    Narrower,
    /// Each has a word that makes it another thing.
    Parallel,
    Other,
}

fn subject_relation(older: &Clause, newer: &Clause) -> SubjectRelation {
    let beyond = |narrow: &Clause, wide: &Clause| -> Vec<String> {
        narrow.subject.keys().filter(|stem| !wide.subject.contains_key(*stem)).cloned().collect()
    };
    let (a, b) = (beyond(older, newer), beyond(newer, older));
    let common = older.subject.len() - a.len();
    match (a.as_slice(), b.as_slice()) {
        ([], []) => SubjectRelation::Equal,
        ([], more) if denies_all(older, newer, more) => SubjectRelation::Narrower,
        (more, []) if denies_all(newer, older, more) => SubjectRelation::Narrower,
        ([word], []) | ([], [word]) => {
            let clause = if a.is_empty() { newer } else { older };
            match common >= NARROWED_WORDS_MIN && !distinguishes(clause, word) {
                true => SubjectRelation::Narrower,
                false => SubjectRelation::Other,
            }
        }
        ([a], [b]) if distinguishes(older, a) && distinguishes(newer, b) => {
            SubjectRelation::Parallel
        }
        _ => SubjectRelation::Other,
    }
}

/// Whether one clause denies that there is any such thing as the other states with these words
/// more.
fn denies_all(denial: &Clause, statement: &Clause, more: &[String]) -> bool {
    denial.denies_any
        && statement.denied.is_none()
        && denial.subject.len() >= DENIED_SUBJECT_MIN
        && more.len() <= DENIED_WORDS_MAX
}

/// Whether a word of a subject makes it another thing.
fn distinguishes(clause: &Clause, stem: &String) -> bool {
    let word = clause.subject.get(stem).map(|word| word.to_lowercase()).unwrap_or_default();
    clause.names.contains(stem) || DISTINGUISHING_WORDS.contains(word.as_str())
}

/// A difference: its kind, the older words, the newer ones.
type WordDifference = (DifferenceKind, String, String);

/// The differing values; `None` if they cannot be compared.
fn differing_values(
    older: &Clause,
    newer: &Clause,
    context: ClaimContext,
) -> Option<Vec<WordDifference>> {
    let (denial, statement) = if older.denies_any { (older, newer) } else { (newer, older) };
    if denial.denies_any && denial.values.is_empty() && statement.denied.is_none() {
        // "No one": of any number, and of any group.
        let counts = |phrase: &ValuePhrase| match &phrase.value {
            ClaimValue::Number { .. } => true,
            ClaimValue::Name { name, .. } => name == "everyone" || name.starts_with("only "),
            _ => false,
        };
        return statement.values.iter().all(counts).then(Vec::new);
    }
    if older.values.len() != newer.values.len() {
        return None;
    }
    let mut differences = Vec::new();
    for (a, b) in older.values.iter().zip(&newer.values) {
        match a.value.relation_to(&b.value) {
            ValueRelation::Same => {}
            ValueRelation::Apart => return None,
            ValueRelation::Different if !excludes(older, newer, [a, b], context) => return None,
            ValueRelation::Different => {
                let kind = match &a.value {
                    ClaimValue::Name { .. } => DifferenceKind::Name,
                    value if value.is_time() => DifferenceKind::Date,
                    _ => DifferenceKind::Number,
                };
                differences.push((kind, a.words.clone(), b.words.clone()));
            }
        }
    }
    Some(differences)
}

/// Whether only one of two values can hold, as these clauses phrase them.
fn excludes(
    older: &Clause,
    newer: &Clause,
    [a, b]: [&ValuePhrase; 2],
    context: ClaimContext,
) -> bool {
    let says = |stems: &WordList| {
        let begins = |word: &str| stems.iter().any(|stem| word.starts_with(stem));
        older.subject.keys().any(|stem| stems.contains(stem))
            || older.sides.values().any(|(_, word)| begins(word))
    };
    match &a.value {
        ClaimValue::Name { is_only, .. } => {
            *is_only || !older.subject.keys().any(|stem| OPEN_CHOICE_STEMS.contains(stem))
        }
        ClaimValue::Period(_) => true,
        ClaimValue::Dotted(_) => !says(&NON_EXCLUSIVE_VERBS),
        ClaimValue::Number { .. } => !(a.of_a_name && b.of_a_name && says(&NON_EXCLUSIVE_VERBS)),
        ClaimValue::Weekday { is_each: false, .. } if !context.one_week => false,
        _ => (older.is_being && newer.is_being) || says(&SCHEDULE_STEMS),
    }
}

/// The differences between the clauses of two texts, the older one first. A text that states both
/// values says that each holds separately.
#[must_use]
pub fn differences(
    older: &[Clause],
    newer: &[Clause],
    context: ClaimContext,
) -> Vec<ClaimDifference> {
    let relations: Vec<Vec<ClaimRelation>> = older
        .iter()
        .map(|older| newer.iter().map(|newer| compare_claims(older, newer, context)).collect())
        .collect();
    let agrees = |row: usize, column: usize| {
        relations[row].contains(&ClaimRelation::Same)
            || relations.iter().any(|row| row[column] == ClaimRelation::Same)
    };
    let mut found = Vec::new();
    for (row, of_older) in relations.iter().enumerate() {
        for (column, relation) in of_older.iter().enumerate() {
            if let ClaimRelation::Differs(difference) = relation
                && !agrees(row, column)
            {
                found.push(difference.clone());
            }
        }
    }
    found
}

/// The keys of a clause: two clauses that differ in a value alone share one.
#[must_use]
pub fn claim_keys(clause: &Clause) -> Vec<String> {
    let stems: Vec<&str> = clause.subject.keys().map(String::as_str).collect();
    if stems.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![stems.join(" ")];
    if stems.len() > NARROWED_WORDS_MIN {
        let narrowing = clause.subject.keys().filter(|stem| !distinguishes(clause, stem));
        keys.extend(narrowing.map(|without| {
            let rest: Vec<&str> = stems.iter().copied().filter(|stem| stem != without).collect();
            rest.join(" ")
        }));
    }
    keys
}

/// Whether two clauses state something of one subject, and their values cannot be compared: the rules
/// cannot tell whether both hold.
#[must_use]
pub fn leaves_open(older: &[Clause], newer: &[Clause], context: ClaimContext) -> bool {
    let shares_key = |a: &Clause, b: &Clause| {
        let keys = claim_keys(b);
        claim_keys(a).iter().any(|key| keys.contains(key))
    };
    let is_open = |a: &Clause, b: &Clause| {
        let speaks = a.of_the_speaker || b.of_the_speaker;
        (context.one_author || !speaks)
            && shares_key(a, b)
            && compare_claims(a, b, context) == ClaimRelation::Unrelated
    };
    older.iter().any(|a| newer.iter().any(|b| is_open(a, b)))
}

/// The relation of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextRelation {
    /// They say the same.
    Same,
    /// The newer text states everything that the older one states, with one or more other values.
    Corrects(ClaimDifference),
    /// Neither.
    Apart,
}

/// Compares what two texts say, the older one first. Never takes texts for the same that differ by a
/// word that carries a claim, and never takes a text for corrected that says more than the newer
/// one.
#[must_use]
pub fn compare_texts(older: &str, newer: &str, context: ClaimContext) -> TextRelation {
    if same_wording(older, newer) {
        return TextRelation::Same;
    }
    compare_statements(&statements(older), &statements(newer), context)
}

/// Compares the statements of two texts as [`compare_texts`] does.
#[must_use]
pub fn compare_statements(
    older: &Statements,
    newer: &Statements,
    context: ClaimContext,
) -> TextRelation {
    if !older.is_whole || older.clauses.is_empty() {
        return TextRelation::Apart;
    }
    let (mut corrects, mut exact) = (None, newer.is_whole);
    for old in &older.clauses {
        let relations = newer.clauses.iter().map(|new| (compare_claims(old, new, context), new));
        let mut found = None;
        for (relation, new) in relations {
            match relation {
                ClaimRelation::Same => {
                    exact &= old.form == new.form;
                    found = Some(None);
                    break;
                }
                ClaimRelation::Differs(difference) if !difference.is_narrower => {
                    found = Some(Some(difference));
                }
                _ => {}
            }
        }
        let Some(difference) = found else { return TextRelation::Apart };
        corrects = corrects.or(difference);
    }
    match corrects {
        Some(difference) => TextRelation::Corrects(difference),
        None if exact && older.clauses.len() == newer.clauses.len() => TextRelation::Same,
        None => TextRelation::Apart,
    }
}

/// Whether two texts say the same: in the same words but for articles, emphasis and punctuation, or
/// with the same values in other units.
#[must_use]
pub fn says_same(a: &str, b: &str) -> bool {
    let context = ClaimContext { one_author: true, one_week: true };
    compare_texts(a, b, context) == TextRelation::Same
}

/// Whether two texts have the same words, but for such that carry no claim.
fn same_wording(a: &str, b: &str) -> bool {
    carrying_words(a).eq(carrying_words(b))
}

/// The words of a text that carry what it says, in lower case and the singular.
pub fn carrying_words(text: &str) -> impl Iterator<Item = String> {
    written_words(text).map(|word| singular(&word))
}

/// The words of a text as they are written, in lower case, without articles, marks and the stops at their ends.
pub fn written_words(text: &str) -> impl Iterator<Item = String> {
    let marks = |c: char| matches!(c, '*' | '`' | '"' | '\'' | '“' | '”' | '>' | '_');
    let ends = |c: char| matches!(c, '.' | '!' | ';' | ',' | ':');
    let words = text
        .split_whitespace()
        .map(move |word| word.trim_matches(marks).trim_end_matches(ends).trim_matches(marks));
    words
        .enumerate()
        .filter(|(index, word)| {
            // "A" inside a sentence is a name.
            let is_article = matches!(*word, "a" | "an" | "the")
                || (*index == 0 && matches!(*word, "A" | "An" | "The"));
            !word.is_empty() && *word != "-" && !is_article
        })
        .map(|(_, word)| composed(word).to_lowercase())
}

/// A word of letters without slashes and the ending of a plural: "I/O" and "IO" are one word.
fn singular(word: &str) -> String {
    if !word.chars().all(|c| c.is_alphabetic() || c == '/') {
        return word.to_owned();
    }
    let letters: String = word.chars().filter(|c| *c != '/').collect();
    let is_plural = letters.len() > 3 && letters.ends_with('s') && !letters.ends_with("ss");
    letters[..letters.len() - usize::from(is_plural)].to_owned()
}
