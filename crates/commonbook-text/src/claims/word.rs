//! A word of a clause, without the marks around it.

/// A word as written, without the marks around it.
#[derive(Debug, Clone)]
pub struct ClauseWord<'t> {
    /// The word as the text writes it.
    pub raw: &'t str,
    /// The word in lower case.
    pub lower: String,
}

impl ClauseWord<'_> {
    /// Whether the word has a capital, and not only because it begins the clause; `index` is its
    /// index in the clause.
    pub fn is_capital(&self, index: usize) -> bool {
        index > 0 && self.raw.starts_with(char::is_uppercase)
    }

    /// Whether the word looks like an identifier of code, which has no stem.
    pub fn is_identifier(&self) -> bool {
        let inner = self.raw.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['_', '/', '.', '@', ':', '#'])
            || inner.chars().any(|c| c.is_ascii_digit())
            || inner.chars().skip(1).any(char::is_uppercase)
    }
}
