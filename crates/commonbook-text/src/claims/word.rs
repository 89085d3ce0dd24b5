//! A word of a clause, without the marks around it.

use super::opposites::{OppositeSide, side_of};

/// Maximum bytes of a word that can be a name.
const NAME_BYTES_MAX: usize = 64;

/// A word as written, without the marks around it.
#[derive(Debug, Clone)]
pub struct ClauseWord<'t> {
    /// The word as the text writes it.
    pub raw: &'t str,
    /// The word in lower case.
    pub lower: String,
    /// Whether the text writes the word as code.
    pub is_code: bool,
}

impl<'t> ClauseWord<'t> {
    /// The word as the text writes it.
    pub fn new(raw: &'t str) -> Self {
        Self { raw, lower: raw.to_lowercase().replace('’', "'"), is_code: false }
    }

    /// Whether the word has a capital, and not only because it begins the clause; `index` is its
    /// index in the clause.
    pub fn is_capital(&self, index: usize) -> bool {
        index > 0 && self.raw.starts_with(char::is_uppercase)
    }

    /// Whether the word is an option of a command: `--release`.
    pub fn is_flag(&self) -> bool {
        self.raw.starts_with('-') && self.raw.contains(char::is_alphabetic)
    }

    /// Whether the word looks like an identifier of code, which has no stem.
    pub fn is_identifier(&self) -> bool {
        let inner = self.raw.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['_', '/', '.', '@', ':', '#'])
            || inner.chars().any(|c| c.is_ascii_digit())
            || inner.chars().skip(1).any(char::is_uppercase)
    }

    /// Whether the word can be a name: a capital, an identifier, code, or one of several
    /// alternatives.
    pub fn is_name(&self) -> bool {
        let begins = self.raw.starts_with(char::is_uppercase);
        self.raw.len() <= NAME_BYTES_MAX
            && self.raw.contains(char::is_alphabetic)
            && !self.raw.starts_with(|c: char| c.is_ascii_digit())
            && (begins
                || self.is_code
                || self.is_identifier()
                || side_of(&self.lower).is_some_and(OppositeSide::is_name))
    }
}
