//! Cancellation: how a door tells a running verb that its caller has gone away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::error::{Error, ErrorKind, Result};

/// Whether the caller of a request still waits for its response. All copies share one state.
///
/// A door passes one to the verb with the caller, and cancels it when the client disconnects. Long
/// work checks it from time to time and stops; it undoes nothing that was written.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Marks every copy as cancelled.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the caller has gone away and no longer waits for the response.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops work whose caller has gone away.
    ///
    /// # Errors
    /// `unavailable` if it was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            let message = "the request was cancelled: its client is gone";
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        Ok(())
    }
}

/// Cancellation does not distinguish two callers.
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
