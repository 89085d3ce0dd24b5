//! A store that tells when something was written through it, so that nobody has to ask at once.

use std::sync::Arc;

use crate::base::error::Result;
use crate::store::{Store, StoreRead, StoreWrite};

/// What is done after each write that is durable. It must not wait: a writer waits for it.
pub(crate) type WriteCallback = dyn Fn() + Send + Sync;

/// A store beneath, and whom to tell of its writes.
pub(crate) struct NotifyingStore {
    store: Arc<dyn Store>,
    tell: Box<WriteCallback>,
}

impl NotifyingStore {
    /// The same store; `tell` is called after each write through this one.
    pub(crate) fn of(store: Arc<dyn Store>, tell: Box<WriteCallback>) -> Arc<Self> {
        Arc::new(Self { store, tell })
    }
}

impl Store for NotifyingStore {
    fn run_write(&self, write: StoreWrite) -> Result<()> {
        let written = self.store.run_write(write);
        if written.is_ok() {
            (self.tell)();
        }
        written
    }

    fn run_read(&self, read: StoreRead<'_>) -> Result<()> {
        self.store.run_read(read)
    }

    fn check(&self) -> Result<Vec<String>> {
        self.store.check()
    }

    fn check_rows(&self) -> Result<Vec<String>> {
        self.store.check_rows()
    }

    fn disk_bytes(&self) -> Result<u64> {
        self.store.disk_bytes()
    }

    fn scrub(&self) -> Result<()> {
        self.store.scrub()
    }
}
