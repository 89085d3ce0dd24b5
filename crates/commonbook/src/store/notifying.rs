//! A store that calls back after each write, so that readers in this process need not poll.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::error::Result;
use crate::model::workspace::Workspace;
use crate::store::{Store, StoreWrapper, StoreWrite, Tx};

/// A store with a callback after each write.
pub(crate) struct NotifyingStore {
    store: Arc<dyn Store>,
    notify: Box<OwnWriteCallback>,
}

/// Receives the workspaces whose journals a write of this process has appended events to. It must not
/// block: the write waits for it.
pub(crate) type OwnWriteCallback = dyn Fn(BTreeSet<Workspace>) + Send + Sync;

impl NotifyingStore {
    /// Wraps a store; `notify` is called after each write through the wrapper.
    pub(crate) fn of(store: Arc<dyn Store>, notify: Box<OwnWriteCallback>) -> Arc<Self> {
        Arc::new(Self { store, notify })
    }
}

impl StoreWrapper for NotifyingStore {
    fn call<T>(&self, act: impl FnOnce(&dyn Store) -> T) -> T {
        act(&*self.store)
    }

    fn wrap_write(&self, write: StoreWrite) -> Result<()> {
        let StoreWrite { workspace, is_derived, mut act } = write;
        let grown = Arc::new(Mutex::new(BTreeSet::new()));
        let slot = Arc::clone(&grown);
        let act = Box::new(move |tx: &mut Tx<'_>| {
            act(tx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = tx.grown_journals();
            Ok(())
        });
        self.store.run_write(StoreWrite { workspace, is_derived, act })?;
        let grown = std::mem::take(&mut *grown.lock().unwrap_or_else(PoisonError::into_inner));
        (self.notify)(grown);
        Ok(())
    }
}
