//! Stores around another one: each passes every call on, and adds what it is for.

use std::sync::Arc;

use crate::base::error::Result;
use crate::store::{Store, StoreRead, StoreServer, StoreWrite, WriteCallback};

/// A store around another one. Whatever it does not say by itself is that of the store inside.
pub trait StoreWrapper: Send + Sync + 'static {
    /// Calls the store inside.
    fn call<T>(&self, act: impl FnOnce(&dyn Store) -> T) -> T;

    /// Runs a write: [`Store::run_write`].
    ///
    /// # Errors
    /// Those of the store inside.
    fn wrap_write(&self, write: StoreWrite) -> Result<()> {
        self.call(|store| store.run_write(write))
    }

    /// Runs a read: [`Store::run_read`].
    ///
    /// # Errors
    /// Those of the store inside.
    fn wrap_read(&self, read: StoreRead<'_>) -> Result<()> {
        self.call(|store| store.run_read(read))
    }
}

impl<W: StoreWrapper> Store for W {
    fn place(&self) -> String {
        self.call(Store::place)
    }

    fn server(&self) -> Result<Option<StoreServer>> {
        self.call(Store::server)
    }

    fn watch_others(&self, notify: Arc<WriteCallback>) -> Result<bool> {
        self.call(|store| store.watch_others(notify))
    }

    fn run_write(&self, write: StoreWrite) -> Result<()> {
        self.wrap_write(write)
    }

    fn run_read(&self, read: StoreRead<'_>) -> Result<()> {
        self.wrap_read(read)
    }

    fn check(&self) -> Result<Vec<String>> {
        self.call(Store::check)
    }

    fn check_rows(&self) -> Result<Vec<String>> {
        self.call(Store::check_rows)
    }

    fn disk_bytes(&self) -> Result<u64> {
        self.call(Store::disk_bytes)
    }

    fn schema_version(&self) -> Result<u32> {
        self.call(Store::schema_version)
    }

    fn queued_writes(&self) -> usize {
        self.call(Store::queued_writes)
    }

    fn refresh_statistics(&self) -> Result<()> {
        self.call(Store::refresh_statistics)
    }

    fn scrub(&self) -> Result<()> {
        self.call(Store::scrub)
    }

    fn shrink_log(&self) -> Result<()> {
        self.call(Store::shrink_log)
    }
}
