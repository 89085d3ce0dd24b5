//! The embedder that all indexes of a process share.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use lru::LruCache;
use rustc_hash::FxHashMap;

use super::vectors::WordBytes;
use super::word_nearness::WordSums;
use crate::base::error::{Error, ErrorKind, Result};
use crate::model::search::IndexQuery;
use commonbook_embed::words::WordVector;
use commonbook_embed::{EmbedResult, Embedder, ModelSpec, QuantisedVector};

/// Questions whose vectors are kept: a question is often asked again, for the next page or by
/// another hook of the same prompt.
const QUESTIONS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// A question as the model has read it.
pub(super) struct QuestionEmbedding {
    /// The name of the model.
    pub(super) model: String,
    pub(super) vector: QuantisedVector,
    /// The vectors of its words, by their terms; none of a model that does not show them.
    pub(super) words: FxHashMap<String, WordVector>,
    /// The signs of its words as those of a memory, if the question is the text of one.
    signs: Option<Vec<WordBytes>>,
}

/// The embedder, or why there is none.
#[derive(Default)]
enum EmbedderState {
    By(Arc<dyn Embedder>),
    #[default]
    Off,
    Failed(String),
}

/// The embedder of the indexes; none until one is set.
pub(super) struct IndexEmbedder {
    state: RwLock<EmbedderState>,
    /// The vectors of the last questions, by model and text.
    questions: Mutex<LruCache<(ModelSpec, String), Arc<QuestionEmbedding>>>,
}

impl Default for IndexEmbedder {
    fn default() -> Self {
        let questions = Mutex::new(LruCache::new(QUESTIONS_MAX));
        Self { state: RwLock::default(), questions }
    }
}

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
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = embedding;
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

    /// A question by this embedder: of the last questions as it was, else from the model.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    pub(super) fn question_embedding(
        &self,
        embedder: &dyn Embedder,
        question: &IndexQuery,
    ) -> EmbedResult<Arc<QuestionEmbedding>> {
        let text = &*question.text;
        let key = (embedder.spec().clone(), text.to_owned());
        if let Some(known) = self.questions().get(&key) {
            return Ok(Arc::clone(known));
        }
        let embedding = embedder.embed_query_words(text)?;
        let vector = QuantisedVector::of(&embedding.vector);
        let words = WordSums::of_question(text, &embedding.pieces);
        let serves_memory = question.of_memory && embedder.reads_alike();
        let signs = serves_memory.then(|| WordSums::of_memory(text, &embedding.pieces).signs());
        let model = key.0.model.clone();
        let embedding = Arc::new(QuestionEmbedding { model, vector, words, signs });
        self.questions().put(key, Arc::clone(&embedding));
        Ok(embedding)
    }

    /// The vector and the signs of the words of a text of a memory that one of the last questions was, so that it is
    /// not read again.
    pub(super) fn known_text(
        &self,
        embedder: &dyn Embedder,
        text: &str,
    ) -> Option<(QuantisedVector, Vec<WordBytes>)> {
        let key = (embedder.spec().clone(), text.to_owned());
        let known = self.questions().peek(&key).map(Arc::clone)?;
        Some((known.vector.clone(), known.signs.clone()?))
    }

    fn questions(&self) -> MutexGuard<'_, LruCache<(ModelSpec, String), Arc<QuestionEmbedding>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why there is none.
    pub(super) fn absence(&self) -> String {
        match &*self.state() {
            EmbedderState::Failed(why) => why.clone(),
            EmbedderState::By(_) | EmbedderState::Off => "there is no embedder".to_owned(),
        }
    }

    fn state(&self) -> RwLockReadGuard<'_, EmbedderState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}
