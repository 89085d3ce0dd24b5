//! Checking the files of the index.

use super::damage::catch_damage;
use super::journal_index::JournalIndex;
use super::vectors;
use crate::base::error::Result;

impl JournalIndex {
    /// The damaged files, one line each.
    ///
    /// # Errors
    /// `unavailable` if they cannot be read.
    pub(super) fn check(&self) -> Result<Vec<String>> {
        self.open();
        let state = self.read();
        let words = state.generation.as_ref();
        let mut files = words.map_or(Ok(Vec::new()), |words| catch_damage(|| words.damage()))?;
        if let Some(folder) = self.vector_folder() {
            files.extend(vectors::damage(&folder));
        }
        Ok(files.into_iter().map(|file| format!("search index: {file} is damaged")).collect())
    }
}
