//! The bundled model: paraphrase-MiniLM-L3 in four bits, from `pocket-encoder`.

use pocket_encoder::{Encoder, model_info};

use super::{Embedder, ModelSpec, check_vectors, refuse_blank};
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// Maximum bytes of a text for the model, which reads 128 tokens and refuses texts of more than
/// 64 KiB.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Maximum count of texts in one call of the model, which refuses more than 4,096, and more than
/// 4 MiB together.
const BATCH_TEXTS_MAX: usize = 256;

/// The bundled model: English, 384 numbers, no download and no setup.
///
/// Construction is free. The first text loads the model, once in a process: about 0.1 s and 90 MB
/// of memory.
#[derive(Debug, Clone)]
pub struct BundledEmbedder {
    spec: ModelSpec,
}

impl BundledEmbedder {
    /// Creates the embedder without loading the model.
    #[must_use]
    pub fn new() -> Self {
        let info = model_info();
        let spec =
            ModelSpec { model: info.id, revision: info.revision, dimension: info.dimensions };
        Self { spec }
    }
}

impl Default for BundledEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for BundledEmbedder {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        refuse_blank(texts)?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let encoder = Encoder::new().map_err(model_error)?;
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH_TEXTS_MAX) {
            let batch: Vec<&str> = batch.iter().map(|text| text_beginning(text)).collect();
            vectors.extend(encoder.embed(&batch).map_err(model_error)?);
        }
        check_vectors(&self.spec, texts.len(), vectors)
    }

    fn load(&self) -> EmbedResult<()> {
        Encoder::new().map(drop).map_err(model_error)
    }

    fn batch(&self) -> usize {
        32
    }

    fn chunk_tokens(&self) -> usize {
        112
    }
}

/// The beginning of a text: more than the model reads.
fn text_beginning(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

fn model_error(cause: pocket_encoder::Error) -> EmbedError {
    EmbedError::new(EmbedErrorKind::Unavailable, "the bundled model failed").with_cause(cause)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cosine, keeps_the_laws};
    use super::*;

    #[test]
    fn laws() {
        keeps_the_laws(&BundledEmbedder::new());
    }

    #[test]
    fn meaning_is_nearness() {
        let model = BundledEmbedder::new();
        let vector = |text: &str| model.embed_query(text).unwrap();
        let question = vector("How do I send a document?");
        let near = cosine(&question, &vector("Transferring files to somebody"));
        let far = cosine(&question, &vector("Bananas ripen next to apples"));
        assert!(near > far + 0.2, "{near} {far}");
    }

    #[test]
    fn any_number_of_texts_of_any_size() {
        let model = BundledEmbedder::new();
        let texts: Vec<String> = (0..BATCH_TEXTS_MAX + 1).map(|n| format!("number {n}")).collect();
        assert_eq!(model.embed(&texts).unwrap().len(), texts.len());
        let wide = format!("{}ü{}", "x".repeat(TEXT_BYTES_MAX - 1), "y".repeat(100_000));
        assert_eq!(model.embed(&[wide]).unwrap().len(), 1);
    }
}
