//! Splices: replace a range of a text, and revert that.

use serde::{Deserialize, Serialize};

/// The text at an offset before and after a replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextSplice {
    pub(super) at: usize,
    pub(super) before: String,
    pub(super) after: String,
}

impl TextSplice {
    /// Applies the splice to a text that has `before` at the offset.
    pub(super) fn splice_into(&self, text: &str) -> String {
        replace_range(text, self.at, self.before.len(), &self.after)
    }

    /// Reverts the splice: at its offset, or where `after` occurs exactly once. Returns `None` if the
    /// text no longer contains it.
    pub(super) fn revert_from(&self, text: &str) -> Option<String> {
        if self.after.is_empty() {
            return None;
        }
        let here = text.get(self.at..).is_some_and(|rest| rest.starts_with(&self.after));
        let at = if here {
            self.at
        } else {
            let mut matches = text.match_indices(&self.after);
            matches.next().filter(|_| matches.next().is_none())?.0
        };
        Some(replace_range(text, at, self.after.len(), &self.before))
    }
}

/// Replaces `length` bytes at an offset.
pub(super) fn replace_range(text: &str, at: usize, length: usize, by: &str) -> String {
    format!("{}{by}{}", &text[..at], &text[at + length..])
}
