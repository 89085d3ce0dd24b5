//! The count of an import: each line that was found is imported, left out or refused.

use serde_json::{Value, json};

use crate::calls::output;

/// How many lines an import found, and how many of them are imported, left out and refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineCount {
    pub found: u64,
    /// Those that are there now, also if they were before.
    pub imported: u64,
    pub left_out: u64,
    pub refused: u64,
}

impl LineCount {
    pub(super) fn report(self) -> Value {
        let Self { found, imported, left_out, refused } = self;
        json!({"found": found, "imported": imported, "left_out": left_out, "refused": refused})
    }

    /// Prints the last line of an import, or of its preview.
    pub(super) fn print(self, imported: &str) {
        let lines = output::count_text(self.found, "line", "lines");
        output::print_line(&format!(
            "{lines} found: {} {imported}, {} left out, {} refused",
            self.imported, self.left_out, self.refused
        ));
    }
}
