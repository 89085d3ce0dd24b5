//! Background work: following the journals, and removing old rows.

pub(in crate::verbs) mod agenda;
mod contradiction;
mod digest;
pub(in crate::verbs) mod mention;
pub(in crate::verbs) mod sweep;
pub(in crate::verbs) mod webhook;

use crate::base::error::{ErrorKind, Result};

/// What a follower wrote for a reader; `None` where nothing can be written, as on a read-only disk: the reader
/// gets what was found before.
fn unless_unwritable<T>(followed: Result<T>) -> Result<Option<T>> {
    match followed {
        Err(error) if error.kind == ErrorKind::Unavailable => {
            tracing::debug!(%error, "reading what was found before");
            Ok(None)
        }
        followed => followed.map(Some),
    }
}
