//! The embedder that all indexes of a process share.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::base::error::{Error, ErrorKind, Result};
use commonbook_embed::Embedder;

/// The embedder, or why there is none.
#[derive(Default)]
enum EmbedderState {
    By(Arc<dyn Embedder>),
    #[default]
    Off,
    Failed(String),
}

/// The embedder of the indexes; none until one is set.
#[derive(Default)]
pub(super) struct IndexEmbedder(RwLock<EmbedderState>);

impl IndexEmbedder {
    /// Sets it: none if it is turned off or could not be opened.
    pub(super) fn set(&self, embedder: Result<Option<Arc<dyn Embedder>>>) {
        let embedding = match embedder {
            Ok(Some(embedder)) => EmbedderState::By(embedder),
            Ok(None) => EmbedderState::Off,
            Err(error) => {
                tracing::warn!(%error, "the embedder cannot be opened; searches use words only");
                EmbedderState::Failed(error.message)
            }
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = embedding;
    }

    /// Whether one is configured and could not be opened.
    pub(super) fn is_lacking(&self) -> bool {
        matches!(*self.state(), EmbedderState::Failed(_))
    }

    /// The name of its model; `None` if none is configured.
    ///
    /// # Errors
    /// `unavailable` if the configured embedder could not be opened.
    pub(super) fn model(&self) -> Result<Option<String>> {
        match &*self.state() {
            EmbedderState::By(embedder) => Ok(Some(embedder.spec().model.clone())),
            EmbedderState::Off => Ok(None),
            EmbedderState::Failed(message) => {
                Err(Error::new(ErrorKind::Unavailable, message.clone()))
            }
        }
    }

    /// The embedder, if there is one.
    pub(super) fn get(&self) -> Option<Arc<dyn Embedder>> {
        match &*self.state() {
            EmbedderState::By(embedder) => Some(Arc::clone(embedder)),
            EmbedderState::Off | EmbedderState::Failed(_) => None,
        }
    }

    /// Why there is none.
    pub(super) fn absence(&self) -> String {
        match &*self.state() {
            EmbedderState::Failed(why) => why.clone(),
            EmbedderState::By(_) | EmbedderState::Off => "there is no embedder".to_owned(),
        }
    }

    fn state(&self) -> RwLockReadGuard<'_, EmbedderState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
