//! A store that calls back after each write, so that readers in this process need not poll.

use std::sync::Arc;

use crate::base::error::Result;
use crate::store::{Store, StoreRead, StoreServer, StoreWrite, WriteCallback};

/// A store with a callback after each write.
pub(crate) struct NotifyingStore {
    store: Arc<dyn Store>,
    notify: Box<WriteCallback>,
}

impl NotifyingStore {
    /// Wraps a store; `notify` is called after each write through the wrapper.
    pub(crate) fn of(store: Arc<dyn Store>, notify: Box<WriteCallback>) -> Arc<Self> {
        Arc::new(Self { store, notify })
    }
}

impl Store for NotifyingStore {
    fn place(&self) -> String {
        self.store.place()
    }

    fn server(&self) -> Result<Option<StoreServer>> {
        self.store.server()
    }

    fn watch_others(&self, notify: Arc<WriteCallback>) -> Result<bool> {
        self.store.watch_others(notify)
    }

    fn run_write(&self, write: StoreWrite) -> Result<()> {
        let written = self.store.run_write(write);
        if written.is_ok() {
            (self.notify)();
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

    fn schema_version(&self) -> Result<u32> {
        self.store.schema_version()
    }

    fn queued_writes(&self) -> usize {
        self.store.queued_writes()
    }

    fn scrub(&self) -> Result<()> {
        self.store.scrub()
    }
}
