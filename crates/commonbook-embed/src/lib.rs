//! Embedding: what turns texts into vectors, and how vectors are kept small and compared.

pub mod bundled;
pub mod chunks;
pub mod client;
#[cfg(not(all(target_arch = "aarch64", target_os = "linux")))]
pub mod directory;
pub mod endpoint;
mod error;
pub mod quantised;
pub mod settings;
pub mod word_hash;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use chunks::chunks;
pub use error::{EmbedError, EmbedErrorKind, EmbedResult};
pub use quantised::QuantisedVector;
pub use settings::{EmbedderSettings, open};

/// An embedder that several threads use.
pub type SharedEmbedder = Arc<dyn Embedder>;

/// Which model made a vector. It stands with every vector that is kept; vectors of specs that are
/// not equal are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelSpec {
    /// The model's name.
    pub model: String,
    /// Another one when the weights, the tokenizer or the way of pooling changed.
    pub revision: String,
    /// How many numbers a vector has; at least one.
    pub dimension: usize,
}

/// What turns texts into vectors.
///
/// # Laws
/// - **One vector for each text, in order**; none for no text.
/// - **Each has `spec().dimension` numbers and length one**, so that a dot product is a cosine;
///   none is NaN or infinite.
/// - **A local model is repeatable**: the same text gives the same vector, whatever stands beside
///   it in the call.
/// - **Only the beginning of a long text counts**: what a model cannot hold is cut off. Cut long
///   texts with [`chunks()`] first.
/// - **Making one is cheap.** A model is loaded by the first call that needs it; `spec` is known
///   before.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn spec(&self) -> &ModelSpec;

    /// The vectors of texts that are kept. Takes any number of them; it may take long, so hand in
    /// [`Embedder::batch`] at a time.
    ///
    /// # Errors
    /// `invalid` when a text is blank, `unavailable` when the model cannot be loaded or reached,
    /// or answers nonsense; another try later may succeed.
    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>>;

    /// The vector of a question, to be compared with those of texts. Some models put other words
    /// before it; an endpoint is given less time than for texts, as somebody is waiting.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_query(&self, text: &str) -> EmbedResult<Vec<f32>> {
        let vector = self.embed(&[text.to_owned()])?.pop();
        vector
            .ok_or_else(|| EmbedError::new(EmbedErrorKind::Internal, "the question got no vector"))
    }

    /// How many texts in one call are sensible: few enough that a call takes about a second.
    fn batch(&self) -> usize;

    /// The size of [`chunks()`] in estimated tokens that the model holds whole, with room for a short
    /// prefix (author, title) of about a dozen words.
    fn chunk_tokens(&self) -> usize;

    /// Gives up waiting, and refuses calls from now on; for the end of the program. What never
    /// waits has nothing to do.
    fn stop(&self) {}
}

/// Refuses blank texts, which no model has a vector for.
fn refuse_blank<T: AsRef<str>>(texts: &[T]) -> EmbedResult<()> {
    match texts.iter().position(|text| text.as_ref().trim().is_empty()) {
        Some(place) => Err(EmbedError::invalid(&format!("texts[{place}]"), "it is blank")
            .hint("Leave out texts that have no words.")),
        None => Ok(()),
    }
}

/// The vectors that a model answered, checked against its spec and brought to length one.
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

/// One vector, checked and brought to length one.
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
        format!("the model '{}' answered {what}", spec.model),
    )
    .hint("Check that COMMONBOOK_EMBEDDER names a model for sentence embeddings.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds what the trait promises, for one embedder; each implementation's tests call it.
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
