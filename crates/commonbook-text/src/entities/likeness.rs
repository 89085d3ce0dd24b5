//! Likeness: whether two names that differ in a letter or two mean the same thing.
//!
//! The measure is Levenshtein's distance over the letters of the normalised names, and two names
//! are nearly the same from a likeness of 0.85 on, within one type. That alone would make
//! `Python 2` and `Python 3` one, so a difference must also look like a slip of the hand:
//!
//! - Files, functions, addresses and tickets are exact, and so is whatever has the shape of a name
//!   in code (`user_id`, `getUser`, `a::b`): a letter there is another thing.
//! - At most two letters differ, the words are as many, and each word that differs is long (5
//!   letters of a person's name, 6 of another's, 8 where the words are ordinary ones or programs
//!   that no list knows, which lie closer together) and nearly the same by itself.
//! - A word with a digit or a sign is exact.
//! - A word differs neither in its first two letters (`async` and `sync`, `micro` and `macro`) nor
//!   in its last (`Mario` and `Maria`, `encoder` and `encoded`), unless one is the plural of the
//!   other or doubles the letter; people and packages have no plural.
//! - Two words that the lists know are two things: `Preact` is no slip for `React`, and `Johnston`
//!   none for `Johnson`.
//!
//! [`keys`] and [`probes`] find the few candidates among many: an entity is filed under three or
//! six keys, and a name that is nearly the same has at least one of them among its probes.

mod blocks;

pub use blocks::{keys, probes};

use super::{value, vocabulary};
use crate::entities::EntityType;

/// From which likeness on two names can be the same (seed 000).
pub const LIKENESS_MIN: f64 = 0.85;

/// Letters in which two names of one thing differ at the most.
pub const EDITS_MAX: usize = 2;

/// Letters of the longest name that is found by another than itself: beyond, it is a sentence.
pub const NAME_LETTERS_MAX: usize = 80;

/// A name, made ready to be compared with many.
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
    /// The name of a thing of this type.
    #[must_use]
    pub fn of(kind: EntityType, text: &str) -> Self {
        let normalised = value::normalise(kind, text);
        let words = value::words(kind, text);
        let letters: String = normalised.chars().filter(|c| !c.is_whitespace()).collect();
        let exact = is_exact(kind) || is_code(text) || letters.chars().count() > NAME_LETTERS_MAX;
        let has_plural = has_plural(kind, text.trim());
        Self { kind, normalised, words, letters, exact, has_plural }
    }

    /// What it is the name of.
    #[must_use]
    pub fn entity_type(&self) -> EntityType {
        self.kind
    }

    /// The name as it is compared exactly.
    #[must_use]
    pub fn normalised(&self) -> &str {
        &self.normalised
    }
}

/// Whether things of this type have exact names.
#[must_use]
pub const fn is_exact(kind: EntityType) -> bool {
    matches!(kind, EntityType::File | EntityType::Function | EntityType::Url | EntityType::Issue)
}

/// Whether a text has the shape of a name in code: `snake_case`, `camelCase`, a path, a call.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    let mark = |c: char| matches!(c, '_' | '/' | '\\' | '(' | '$' | '=' | '@' | '{' | '[' | '<');
    let one = !text.contains(char::is_whitespace);
    let mut letters = text.chars();
    let humped = one
        && letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.any(|c| c.is_ascii_uppercase());
    text.contains(mark) || text.contains("::") || humped
}

/// How alike two names are: 1 for the same letters, 0 for nothing in common.
#[must_use]
pub fn likeness(one: &ComparableName, other: &ComparableName) -> f64 {
    strsim::normalized_levenshtein(&one.letters, &other.letters)
}

/// The likeness of two names that mean the same thing without being the same; none when a
/// difference tells them apart.
#[must_use]
pub fn nearly_same(one: &ComparableName, other: &ComparableName) -> Option<f64> {
    let comparable = one.kind == other.kind
        && !one.exact
        && !other.exact
        && one.words.len() == other.words.len()
        && one.letters.len().abs_diff(other.letters.len()) <= 4 * EDITS_MAX;
    if !comparable {
        return None;
    }
    let words = || one.words.iter().zip(&other.words).filter(|(a, b)| a != b);
    if words().count() == 0 || !words().all(|(a, b)| is_slip(one, other, a, b)) {
        return None;
    }
    let edits = strsim::levenshtein(&one.letters, &other.letters);
    let likeness = likeness(one, other);
    (edits <= EDITS_MAX && likeness >= LIKENESS_MIN).then_some(likeness)
}

/// Whether two names mean the same thing: exactly, by a well-known other name, or nearly.
#[must_use]
pub fn is_same(kind: EntityType, one: &str, other: &str) -> bool {
    let (one, own) = (ComparableName::of(kind, one), ComparableName::of(kind, other));
    !own.normalised.is_empty()
        && (vocabulary::names(kind, &one.normalised).contains(&own.normalised)
            || nearly_same(&one, &own).is_some())
}

/// The candidate that is most alike and nearly the same, with its place and likeness. Of two that
/// are equally near neither is chosen: nobody can say which one was meant.
pub fn nearest<'a>(
    name: &ComparableName,
    candidates: impl Iterator<Item = &'a ComparableName>,
) -> Option<(usize, f64)> {
    let (mut best, mut tied) = (None, false);
    for (place, candidate) in candidates.enumerate() {
        let Some(likeness) = nearly_same(name, candidate) else { continue };
        match best {
            Some((_, found)) if likeness < found => {}
            Some((_, found)) if likeness <= found => tied = true,
            _ => (best, tied) = (Some((place, likeness)), false),
        }
    }
    best.filter(|_| !tied)
}

/// Letters of a word that may differ in one. Names of programs that nobody knows lie as close
/// together as words do; a slip of a well-known one is known by it.
const fn least_letters(kind: EntityType, listed: bool) -> usize {
    match kind {
        EntityType::Person => 5,
        EntityType::Decision | EntityType::Concept => 8,
        EntityType::Tool | EntityType::Project if !listed => 8,
        _ => 6,
    }
}

/// Whether two words of a name differ as a slip of the hand does.
fn is_slip(name: &ComparableName, with: &ComparableName, one: &str, other: &str) -> bool {
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    if !letters(one) || !letters(other) {
        return false;
    }
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if name.has_plural && with.has_plural && is_plural(short, long) {
        return true;
    }
    let listed = [one, other].map(vocabulary::is_listed_word);
    short.chars().count() >= least_letters(name.kind, listed.contains(&true))
        && short.chars().take(2).eq(long.chars().take(2))
        && ends_alike(short, long)
        && strsim::osa_distance(one, other) as f64
            <= (1.0 - LIKENESS_MIN) * long.chars().count() as f64
        && listed.contains(&false)
}

/// Whether a name can stand in the plural: people's names cannot, nor those of packages, of which
/// `tokio-util` is one and `tokio-utils` would be another.
fn has_plural(kind: EntityType, text: &str) -> bool {
    let package = !text.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    match kind {
        EntityType::Person => false,
        EntityType::Tool | EntityType::Project => !package,
        _ => true,
    }
}

fn is_plural(short: &str, long: &str) -> bool {
    short.len() >= 4 && long.strip_suffix('s') == Some(short) && !short.ends_with('s')
}

/// Whether two words end in the same letter; one that only doubles it does too.
fn ends_alike(short: &str, long: &str) -> bool {
    short.chars().next_back() == long.chars().next_back()
}

#[cfg(test)]
mod tests;
