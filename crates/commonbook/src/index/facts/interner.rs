//! The numbers that stand for texts in entries: sessions, topics and workspaces.

use std::collections::HashMap;

/// Texts by number, from 1 on.
#[derive(Debug, Default)]
pub(super) struct NameInterner(HashMap<Box<str>, u32>);

impl NameInterner {
    /// The number of a text, which has one from now on.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.0.get(text) {
            return *number;
        }
        let number = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
        self.0.insert(text.into(), number);
        number
    }

    /// The number of a text that has one.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.0.get(text).copied()
    }

    /// What all numbers are below.
    pub(super) fn end(&self) -> usize {
        self.0.len() + 1
    }
}

/// The name of a session, or of a case, among those of all workspaces; no workspace has a blank in its name.
pub(super) fn qualified_name(workspace: &str, session: &str) -> String {
    format!("{workspace} {session}")
}
