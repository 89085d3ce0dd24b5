//! Embedders turn texts into vectors; quantisation makes vectors small and compares them.

pub mod bundled;
pub mod chunks;
pub mod client;
pub mod directory;
pub mod endpoint;
mod error;
pub mod quantised;
pub mod settings;
pub mod word_hash;
pub mod words;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use chunks::chunks;
pub use error::{EmbedError, EmbedErrorKind, EmbedResult};
pub use quantised::QuantisedVector;
pub use settings::{EmbedderSettings, open};
pub use words::TextEmbedding;

/// An embedder that several threads use.
pub type SharedEmbedder = Arc<dyn Embedder>;

/// The model that made a vector. Every stored vector has its spec; vectors of different specs are
/// never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelSpec {
    /// The model's name.
    pub model: String,
    /// The revision; it changes with the weights, the tokenizer and the pooling.
    pub revision: String,
    /// Count of numbers in a vector; at least one.
    pub dimension: usize,
}

/// An embedder: turns texts into vectors.
///
/// # Laws
/// - **One vector for each text, in order**; an empty list gives an empty list.
/// - **Each vector has `spec().dimension` numbers and length one**, so that a dot product is a
///   cosine; no number is NaN or infinite.
/// - **A local model is repeatable**: the same text gives the same vector, whatever other texts are
///   in the call.
/// - **Only the beginning of a long text counts**: the model cuts off the rest. Cut long texts with
///   [`chunks()`] first.
/// - **Construction is cheap.** The first call that needs the model loads it; `spec` is known
///   before.
pub trait Embedder: Send + Sync {
    /// Returns the spec of the model.
    fn spec(&self) -> &ModelSpec;

    /// Returns the vectors of texts that are stored. Accepts any number of texts; a call may take
    /// long, so pass [`Embedder::batch`] texts at a time.
    ///
    /// # Errors
    /// `invalid` if a text is blank; `unavailable` if the model cannot be loaded or reached, or
    /// returns an invalid response: a later call may succeed.
    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>>;

    /// Returns the vector of a question, for comparison with those of texts. Some models put a
    /// different prompt before a question; an endpoint gets less time than for texts, because a
    /// caller waits.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_query(&self, text: &str) -> EmbedResult<Vec<f32>> {
        let vector = self.embed(&[text.to_owned()])?.pop();
        vector.ok_or_else(missing_question_vector)
    }

    /// Returns the vectors of texts as [`Embedder::embed`] does, with those of the pieces of their words, all from one
    /// reading. The default, for a model that does not show its pieces, has none.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_words(&self, texts: &[String]) -> EmbedResult<Vec<TextEmbedding>> {
        let bare = |vector| TextEmbedding { vector, pieces: Vec::new() };
        Ok(self.embed(texts)?.into_iter().map(bare).collect())
    }

    /// Returns the vector of a question as [`Embedder::embed_query`] does, with those of the pieces of its words.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_query_words(&self, text: &str) -> EmbedResult<TextEmbedding> {
        Ok(TextEmbedding { vector: self.embed_query(text)?, pieces: Vec::new() })
    }

    /// Whether a question is read as a text is, so that one reading serves both: no prompt stands before either. The
    /// default is no.
    fn reads_alike(&self) -> bool {
        false
    }

    /// Loads the model, if it is not loaded: calls at the same time wait for this thread. The default, for
    /// an embedder without a model of its own, does nothing.
    ///
    /// # Errors
    /// `unavailable` if the model cannot be loaded: a later call may succeed.
    fn load(&self) -> EmbedResult<()> {
        Ok(())
    }

    /// Returns a sensible number of texts for one call, which then takes about a second.
    fn batch(&self) -> usize;

    /// Returns the size of [`chunks()`], in estimated tokens, that the model holds whole, with room
    /// for a short prefix (author, title) of about a dozen words.
    fn chunk_tokens(&self) -> usize;

    /// Whether the model runs on another machine, so that a vector may take seconds. The default is no.
    fn is_remote(&self) -> bool {
        false
    }

    /// Ends all waiting and refuses further calls; for the end of the program. The default, for an
    /// embedder that never waits, does nothing.
    fn stop(&self) {}
}

/// The error of a model that answers a question with nothing.
fn missing_question_vector() -> EmbedError {
    EmbedError::new(EmbedErrorKind::Internal, "the model returned no vector for the question")
}

/// Fails if a text is blank: no model has a vector for it.
fn refuse_blank<T: AsRef<str>>(texts: &[T]) -> EmbedResult<()> {
    match texts.iter().position(|text| text.as_ref().trim().is_empty()) {
        Some(index) => Err(EmbedError::invalid(&format!("texts[{index}]"), "the text is blank")
            .hint("Leave out texts that have no words.")),
        None => Ok(()),
    }
}

/// Checks the vectors of a model against its spec, and scales them to length one.
fn check_vectors(
    spec: &ModelSpec,
    texts: usize,
    vectors: Vec<Vec<f32>>,
) -> EmbedResult<Vec<Vec<f32>>> {
    if vectors.len() != texts {
        let found = vectors.len();
        return Err(model_output_error(spec, &format!("{found} vectors for {texts} texts")));
    }
    vectors.into_iter().map(|vector| normalise_vector(spec, vector)).collect()
}

/// Checks one vector, and scales it to length one.
fn normalise_vector(spec: &ModelSpec, mut vector: Vec<f32>) -> EmbedResult<Vec<f32>> {
    if vector.len() != spec.dimension {
        let (found, agreed) = (vector.len(), spec.dimension);
        return Err(model_output_error(
            spec,
            &format!("a vector of {found} numbers instead of {agreed}"),
        ));
    }
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length < f64::from(f32::MIN_POSITIVE) {
        return Err(model_output_error(spec, "a vector that is zero or not finite"));
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    Ok(vector)
}

fn model_output_error(spec: &ModelSpec, what: &str) -> EmbedError {
    EmbedError::new(
        EmbedErrorKind::Unavailable,
        format!("the model '{}' returned {what}", spec.model),
    )
    .hint("Check that COMMONBOOK_EMBEDDER names a model for sentence embeddings.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the laws of the trait for one embedder; the tests of each implementation call it.
    pub(super) fn keeps_the_laws(embedder: &dyn Embedder) {
        let spec = embedder.spec().clone();
        assert!(spec.dimension > 0 && embedder.batch() > 0 && embedder.chunk_tokens() > 0);
        assert!(embedder.embed(&[]).unwrap().is_empty());
        let long = "word ".repeat(12_000);
        let texts = ["a cat sat", "einige Wörter", "!!!", "🙂", "日本語の文", "a cat sat", &long];
        let texts = texts.map(str::to_owned);
        let vectors = embedder.embed(&texts).unwrap();
        assert_eq!(vectors.len(), texts.len());
        for vector in &vectors {
            assert_eq!(vector.len(), spec.dimension);
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-3, "{length}");
        }
        assert_eq!(vectors[0], vectors[5]);
        assert_eq!(vectors[0], embedder.embed(&texts[..1]).unwrap()[0]);
        assert_eq!(embedder.embed_query("a cat sat").unwrap().len(), spec.dimension);
        let with_words = embedder.embed_words(&texts).unwrap();
        let only = |embedding: &TextEmbedding| embedding.vector.clone();
        assert_eq!(with_words.iter().map(only).collect::<Vec<_>>(), vectors);
        for (text, embedding) in texts.iter().zip(&with_words) {
            assert!(embedding.pieces.iter().all(|piece| text.get(piece.bytes.clone()).is_some()));
        }
        let query = embedder.embed_query_words("a cat sat").unwrap();
        assert_eq!(query.vector, embedder.embed_query("a cat sat").unwrap());
        for blank in ["", "  \n\t", "\u{3000}"] {
            let error = embedder.embed(&["fine".to_owned(), blank.to_owned()]).unwrap_err();
            assert_eq!(
                (error.kind, error.field.as_deref()),
                (EmbedErrorKind::Invalid, Some("texts[1]"))
            );
            assert_eq!(embedder.embed_query(blank).unwrap_err().kind, EmbedErrorKind::Invalid);
        }
        assert_eq!(embedder.spec(), &spec);
    }

    /// The cosine of two vectors of length one.
    pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn what_a_model_answers_is_checked() {
        let spec = ModelSpec { model: "m".into(), revision: "1".into(), dimension: 2 };
        for fine in [[3.0, 4.0], [3e30, 4e30], [3e-30, 4e-30]] {
            let vector = check_vectors(&spec, 1, vec![fine.to_vec()]).unwrap().remove(0);
            assert!((cosine(&vector, &[0.6, 0.8]) - 1.0).abs() < 1e-6, "{fine:?}");
        }
        for wrong in [
            vec![],
            vec![vec![1.0, 0.0], vec![1.0, 0.0]],
            vec![vec![1.0]],
            vec![vec![f32::NAN, 1.0]],
            vec![vec![f32::INFINITY, 1.0]],
            vec![vec![0.0, 0.0]],
        ] {
            let error = check_vectors(&spec, 1, wrong.clone()).unwrap_err();
            assert_eq!(error.kind, EmbedErrorKind::Unavailable, "{wrong:?}");
        }
    }
}
