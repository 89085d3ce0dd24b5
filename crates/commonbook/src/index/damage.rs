//! Damaged index files: they cause an error, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::error::{Error, ErrorKind, Result};

/// The error for files that this program did not write in this form.
pub(super) fn index_damage() -> Error {
    Error::new(ErrorKind::Unavailable, "the search index is damaged")
        .hint("Run `commonbook reindex` to rebuild it from the journal.")
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        index_damage().with_cause(error)
    }
}

/// Runs code that reads or writes the generation, and turns its panics on damaged files into
/// errors.
pub(super) fn catch_damage<T>(act: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(index_damage()))
}
