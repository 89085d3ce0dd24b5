//! Likeness: whether two names that differ in a letter or two mean the same entity.
//!
//! The measure is the edit distance (Levenshtein) of the normalised names: two names of one type are
//! nearly the same from a likeness of 0.85 on, or what a home sets instead. That alone would equate `Python 2` and `Python 3`, so
//! a difference must also look like a typing error:
//!
//! - Files, functions, URLs and tickets are exact, and so are names with the shape of an identifier
//!   (`user_id`, `getUser`, `a::b`).
//! - At most two letters differ, the counts of words are equal, and each word that differs is nearly
//!   the same and long: at least 5 letters in a person's name, 6 in other names, 8 in concepts,
//!   decisions and unlisted programs, whose words are closer together.
//! - A word with a digit or a sign is exact.
//! - The first two letters of a word are equal (`async` and `sync`, `micro` and `macro` differ), and
//!   so is the last one (`Mario` and `Maria`, `encoder` and `encoded` differ), unless one word is the
//!   plural of the other; people and packages have no plural.
//! - Two listed words are two entities: `Preact` is no error for `React`, nor `Johnston` for
//!   `Johnson`.
//!
//! [`keys`] and [`probes`] find the few candidates among many: an entity has three or six keys, and
//! the probes of a nearly equal name contain at least one of them.

mod blocks;

pub use blocks::{keys, probes};

use super::{value, vocabulary};
use crate::entities::EntityType;

/// The least likeness of two names of one entity, where a home sets no other.
pub const LIKENESS_MIN: f64 = 0.85;

/// Maximum letters in which two names of one entity differ.
pub const EDITS_MAX: usize = 2;

/// Maximum letters of a name that other names can match: a longer one is a sentence.
pub const NAME_LETTERS_MAX: usize = 80;

/// A name prepared for many comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparableName {
    kind: EntityType,
    normalised: String,
    words: Vec<String>,
    letters: String,
    exact: bool,
    has_plural: bool,
}

impl ComparableName {
    /// Prepares the name of an entity of a type.
    #[must_use]
    pub fn of(kind: EntityType, text: &str) -> Self {
        let normalised = value::normalise(kind, text);
        let words = value::words(kind, text);
        let letters: String = normalised.chars().filter(|c| !c.is_whitespace()).collect();
        let exact = is_exact(kind) || is_code(text) || letters.chars().count() > NAME_LETTERS_MAX;
        let has_plural = has_plural(kind, text.trim());
        Self { kind, normalised, words, letters, exact, has_plural }
    }

    /// Returns the type of the entity.
    #[must_use]
    pub fn entity_type(&self) -> EntityType {
        self.kind
    }

    /// Returns the normal form of the name.
    #[must_use]
    pub fn normalised(&self) -> &str {
        &self.normalised
    }
}

/// Whether entities of this type have exact names.
#[must_use]
pub const fn is_exact(kind: EntityType) -> bool {
    matches!(kind, EntityType::File | EntityType::Function | EntityType::Url | EntityType::Issue)
}

/// Whether a text has the shape of a name in code: `snake_case`, `camelCase`, a path, a call.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    let mark = |c: char| matches!(c, '_' | '/' | '\\' | '(' | '$' | '=' | '@' | '{' | '[' | '<');
    let is_single_word = !text.contains(char::is_whitespace);
    let mut letters = text.chars();
    let humped = is_single_word
        && letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.any(|c| c.is_ascii_uppercase());
    text.contains(mark) || text.contains("::") || humped
}

/// Returns the likeness of two names: 1 for the same letters, 0 for nothing in common.
#[must_use]
pub fn likeness(name: &ComparableName, other: &ComparableName) -> f64 {
    strsim::normalized_levenshtein(&name.letters, &other.letters)
}

/// Returns the likeness of two names that differ but mean the same entity, at least `likeness_min`; `None` if
/// they mean different ones.
#[must_use]
pub fn nearly_same(
    name: &ComparableName,
    other: &ComparableName,
    likeness_min: f64,
) -> Option<f64> {
    let comparable = name.kind == other.kind
        && !name.exact
        && !other.exact
        && name.words.len() == other.words.len()
        && name.letters.len().abs_diff(other.letters.len()) <= 4 * EDITS_MAX;
    if !comparable {
        return None;
    }
    let words = || name.words.iter().zip(&other.words).filter(|(a, b)| a != b);
    if words().count() == 0
        || !words().all(|(a, b)| is_typing_error(name, other, [a, b], likeness_min))
    {
        return None;
    }
    let edits = strsim::levenshtein(&name.letters, &other.letters);
    let likeness = likeness(name, other);
    (edits <= EDITS_MAX && likeness >= likeness_min).then_some(likeness)
}

/// Whether two names mean the same entity: equal names, well-known synonyms, or nearly equal names.
#[must_use]
pub fn is_same(kind: EntityType, name: &str, other: &str) -> bool {
    let (name, other) = (ComparableName::of(kind, name), ComparableName::of(kind, other));
    !other.normalised.is_empty()
        && (vocabulary::names(kind, &name.normalised).contains(&other.normalised)
            || nearly_same(&name, &other, LIKENESS_MIN).is_some())
}

/// Returns the index and the likeness of the candidate that is nearest and nearly the same, at least
/// `likeness_min`. Returns `None` if two candidates are equally near: the name is ambiguous.
pub fn nearest<'a>(
    name: &ComparableName,
    candidates: impl Iterator<Item = &'a ComparableName>,
    likeness_min: f64,
) -> Option<(usize, f64)> {
    let (mut best, mut tied) = (None, false);
    for (index, candidate) in candidates.enumerate() {
        let Some(likeness) = nearly_same(name, candidate, likeness_min) else { continue };
        match best {
            Some((_, found)) if likeness < found => {}
            Some((_, found)) if likeness <= found => tied = true,
            _ => (best, tied) = (Some((index, likeness)), false),
        }
    }
    best.filter(|_| !tied)
}

/// Returns the minimum letters of a word that may differ. Unlisted names of programs are as close
/// together as words.
const fn letters_min(kind: EntityType, listed: bool) -> usize {
    match kind {
        EntityType::Person => 5,
        EntityType::Decision | EntityType::Concept => 8,
        EntityType::Tool | EntityType::Project | EntityType::Own(_) if !listed => 8,
        _ => 6,
    }
}

/// Whether the difference of two words, one of each name, looks like a typing error.
fn is_typing_error(
    name: &ComparableName,
    with: &ComparableName,
    [word, counterpart]: [&str; 2],
    likeness_min: f64,
) -> bool {
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    if name.kind == EntityType::Person && without_umlauts(word) == without_umlauts(counterpart) {
        return true;
    }
    if !letters(word) || !letters(counterpart) {
        return false;
    }
    let (short, long) =
        if word.len() <= counterpart.len() { (word, counterpart) } else { (counterpart, word) };
    if name.has_plural && with.has_plural && is_plural(short, long) {
        return true;
    }
    let listed = [word, counterpart].map(vocabulary::is_listed_word);
    short.chars().count() >= letters_min(name.kind, listed.contains(&true))
        && short.chars().take(2).eq(long.chars().take(2))
        && ends_alike(short, long)
        && strsim::osa_distance(word, counterpart) as f64
            <= (1.0 - likeness_min) * long.chars().count() as f64
        && listed.contains(&false)
}

/// The word with `a` for `ae`, `o` for `oe` and `u` for `ue`: `Müller` is also written `Mueller`.
fn without_umlauts(word: &str) -> String {
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

/// Whether a name can have a plural. Names of people have none, nor have those of packages:
/// `tokio-util` and `tokio-utils` would be two.
fn has_plural(kind: EntityType, text: &str) -> bool {
    let package = !text.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    match kind {
        EntityType::Person => false,
        EntityType::Tool | EntityType::Project | EntityType::Own(_) => !package,
        _ => true,
    }
}

fn is_plural(short: &str, long: &str) -> bool {
    short.len() >= 4 && long.strip_suffix('s') == Some(short) && !short.ends_with('s')
}

/// Whether two words end in the same letter.
fn ends_alike(short: &str, long: &str) -> bool {
    short.chars().next_back() == long.chars().next_back()
}

#[cfg(test)]
mod tests;
