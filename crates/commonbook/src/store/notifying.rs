//! A store that calls back after each write, so that readers in this process need not poll.

use std::sync::Arc;

use crate::base::error::Result;
use crate::store::{Store, StoreWrapper, StoreWrite, WriteCallback};

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

impl StoreWrapper for NotifyingStore {
    fn call<T>(&self, act: impl FnOnce(&dyn Store) -> T) -> T {
        act(&*self.store)
    }

    fn wrap_write(&self, write: StoreWrite) -> Result<()> {
        let written = self.store.run_write(write);
        if written.is_ok() {
            (self.notify)();
        }
        written
    }
}
