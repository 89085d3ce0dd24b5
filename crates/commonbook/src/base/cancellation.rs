//! Cancellation: how a door tells long work that nobody waits for its answer any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::error::{Error, ErrorKind, Result};

/// Says whether the answer to a request is still wanted. Every copy says the same.
///
/// A door hands one to the verb with the caller, and cancels it when its client is gone. Work that
/// takes long looks at it now and then, and stops; nothing that was written is taken back.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Says to every copy that the answer is no longer wanted.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the answer is no longer wanted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Lets work go on whose answer is still wanted.
    ///
    /// # Errors
    /// `unavailable` if it is not.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            let message = "the request was cancelled: its client is gone";
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        Ok(())
    }
}

/// Two callers are the same whether or not anybody still waits for either.
impl PartialEq for Cancellation {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cancellation {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_is_cancelled_at_once() {
        let cancellation = Cancellation::default();
        let copy = cancellation.clone();
        assert!(!copy.is_cancelled());
        cancellation.cancel();
        assert!(copy.is_cancelled());
        assert_eq!(copy.check().unwrap_err().kind, ErrorKind::Unavailable);
    }
}
