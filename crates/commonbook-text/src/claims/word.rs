//! A word of a statement, as it is written.

/// A word as it is written, without the marks around it.
#[derive(Debug, Clone)]
pub struct ClauseWord<'t> {
    /// As the text writes it.
    pub raw: &'t str,
    /// In lower case.
    pub lower: String,
}

impl ClauseWord<'_> {
    /// Whether it is written with a capital, and not only because it begins its clause.
    pub fn is_capital(&self, place: usize) -> bool {
        place > 0 && self.raw.starts_with(char::is_uppercase)
    }

    /// Whether it looks like a name out of code: its letters are compared as they are.
    pub fn is_identifier(&self) -> bool {
        let inner = self.raw.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['_', '/', '.', '@', ':', '#'])
            || inner.chars().any(|c| c.is_ascii_digit())
            || inner.chars().skip(1).any(char::is_uppercase)
    }
}
