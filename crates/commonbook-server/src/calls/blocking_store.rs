//! A store whose calls may wait for another machine, also from tasks of the async runtime.
//!
//! The client of PostgreSQL waits on a small runtime of its own, which must not happen on a thread that
//! drives tasks. Such a thread hands its tasks to another one first.

use std::sync::Arc;

use commonbook::base::error::Result;
use commonbook::store::{Store, StoreWrapper};
use tokio::task::block_in_place;

/// A store that is called, and closed, where a thread may block.
pub(crate) struct BlockingStore {
    /// `None` only while it is dropped.
    store: Option<Arc<dyn Store>>,
}

impl BlockingStore {
    /// Opens a store, and wraps it.
    ///
    /// # Errors
    /// Those of `open`.
    pub(crate) fn open<S: Store>(open: impl FnOnce() -> Result<Arc<S>>) -> Result<Arc<Self>> {
        let store: Arc<dyn Store> = block_in_place(open)?;
        Ok(Arc::new(Self { store: Some(store) }))
    }
}

impl Drop for BlockingStore {
    fn drop(&mut self) {
        let store = self.store.take();
        block_in_place(|| drop(store));
    }
}

impl StoreWrapper for BlockingStore {
    fn call<T>(&self, act: impl FnOnce(&dyn Store) -> T) -> T {
        let store = self.store.as_deref().expect("a store is there until it is dropped");
        block_in_place(|| act(store))
    }
}
