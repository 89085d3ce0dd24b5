//! What becomes of files that are not what was written: an error, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::error::{Error, ErrorKind, Result};

/// The answer when the files are not what this program writes.
pub(super) fn index_damage() -> Error {
    Error::new(ErrorKind::Unavailable, "the search index is damaged")
        .hint("Run `commonbook reindex`: it is built anew from the journal.")
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        index_damage().with_cause(error)
    }
}

/// Runs what reads or writes the generation's files; what a damaged file makes of it is an error.
pub(super) fn catch_damage<T>(act: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(index_damage()))
}
