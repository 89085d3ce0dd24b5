//! An interner: numbers for sessions, topics and workspaces.

use std::collections::HashMap;

/// Texts by number, from 1.
#[derive(Debug, Default)]
pub(super) struct NameInterner(HashMap<Box<str>, u32>);

impl NameInterner {
    /// The number of a text; assigns one to a new text.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.0.get(text) {
            return *number;
        }
        let number = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
        self.0.insert(text.into(), number);
        number
    }

    /// The number of a known text.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.0.get(text).copied()
    }

    /// An upper bound of all numbers.
    pub(super) fn end(&self) -> usize {
        self.0.len() + 1
    }
}

/// The name of a session or case, qualified by its workspace; workspace names contain no spaces.
pub(super) fn qualified_name(workspace: &str, session: &str) -> String {
    format!("{workspace} {session}")
}
