//! Splices: one stretch of a text for another, and back.

use serde::{Deserialize, Serialize};

/// What stood at a place of a text, and what stands there instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextSplice {
    pub(super) at: usize,
    pub(super) before: String,
    pub(super) after: String,
}

impl TextSplice {
    /// The text with the splice made; `before` stands at its place there.
    pub(super) fn splice_into(&self, text: &str) -> String {
        replace_range(text, self.at, self.before.len(), &self.after)
    }

    /// The text with the splice taken back: at its place, or where else it stands, once. Nothing
    /// when it is not there any more.
    pub(super) fn revert_from(&self, text: &str) -> Option<String> {
        if self.after.is_empty() {
            return None;
        }
        let here = text.get(self.at..).is_some_and(|rest| rest.starts_with(&self.after));
        let at = if here {
            self.at
        } else {
            let mut places = text.match_indices(&self.after);
            places.next().filter(|_| places.next().is_none())?.0
        };
        Some(replace_range(text, at, self.after.len(), &self.before))
    }
}

/// The text with so many bytes from a place on replaced.
pub(super) fn replace_range(text: &str, at: usize, length: usize, by: &str) -> String {
    format!("{}{by}{}", &text[..at], &text[at + length..])
}
