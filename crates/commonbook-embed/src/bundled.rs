//! The bundled model: all-MiniLM-L6-v2 in eight bits, from `commonbook-model`.

use std::sync::LazyLock;

use commonbook_model::{Encoder, Piece, project};

use super::{
    Embedder, ModelSpec, TextEmbedding, check_vectors, missing_question_vector, refuse_blank,
};
use crate::error::EmbedResult;
use crate::words::WordPiece;

/// Maximum bytes of a text for the model, which reads 256 tokens.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// The model of this process.
static ENCODER: LazyLock<Encoder> = LazyLock::new(Encoder::bundled);

/// The bundled model: English, 384 numbers, no download and no setup.
///
/// Construction is free. The first text loads the model, once in a process: about 2 ms and 2 MB of
/// memory.
#[derive(Debug, Clone)]
pub struct BundledEmbedder {
    spec: ModelSpec,
}

impl BundledEmbedder {
    /// Creates the embedder without loading the model.
    #[must_use]
    pub fn new() -> Self {
        let spec = ModelSpec {
            model: Encoder::BUNDLED_NAME.to_owned(),
            revision: Encoder::BUNDLED_REVISION.to_owned(),
            dimension: Encoder::BUNDLED_DIMENSION,
        };
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
        let vectors = texts.iter().map(|text| ENCODER.encode(text_beginning(text)).vector);
        check_vectors(&self.spec, texts.len(), vectors.collect())
    }

    fn embed_words(&self, texts: &[String]) -> EmbedResult<Vec<TextEmbedding>> {
        refuse_blank(texts)?;
        let encodings = texts.iter().map(|text| {
            let begin = text.len() - text.trim_start().len();
            let encoding = ENCODER.encode(text_beginning(text));
            let piece = |(index, piece): (usize, &Piece)| WordPiece {
                bytes: begin + piece.bytes.start..begin + piece.bytes.end,
                vector: project(encoding.state(index)),
            };
            let pieces: Vec<WordPiece> = encoding.pieces.iter().enumerate().map(piece).collect();
            (encoding.vector, pieces)
        });
        let (vectors, pieces): (Vec<_>, Vec<_>) = encodings.unzip();
        let vectors = check_vectors(&self.spec, texts.len(), vectors)?.into_iter();
        let embedding = |(vector, pieces)| TextEmbedding { vector, pieces };
        Ok(vectors.zip(pieces).map(embedding).collect())
    }

    fn embed_query_words(&self, text: &str) -> EmbedResult<TextEmbedding> {
        self.embed_words(&[text.to_owned()])?.pop().ok_or_else(missing_question_vector)
    }

    fn reads_alike(&self) -> bool {
        true
    }

    fn load(&self) -> EmbedResult<()> {
        LazyLock::force(&ENCODER);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::super::tests::{cosine, keeps_the_laws};
    use super::*;
    use crate::words::{QuestionWord, word_signs};

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
    fn a_word_is_like_itself_and_its_kin_in_another_text() {
        let model = BundledEmbedder::new();
        let word = |text: &str, word: &str| {
            let at = text.find(word).unwrap();
            let embedding = model.embed_query_words(text).unwrap();
            let piece = embedding.pieces.iter().find(|piece| piece.bytes.start == at).unwrap();
            assert_eq!(&text[piece.bytes.clone()], word);
            piece.vector
        };
        let asked = QuestionWord::of(&word("\n  Which database do we use?", "database"));
        let similarity = |text, other| asked.similarity(word_signs(&word(text, other)));
        let same = similarity("The database is slow today.", "database");
        let kin = similarity("We keep it in Postgres on one server.", "server");
        let far = similarity("Bananas ripen next to apples.", "apples");
        assert!(same > kin + 0.1 && kin > far + 0.1, "{same} {kin} {far}");
    }

    #[test]
    fn texts_of_any_size() {
        let model = BundledEmbedder::new();
        let wide = format!("{}ü{}", "x".repeat(TEXT_BYTES_MAX - 1), "y".repeat(100_000));
        assert_eq!(model.embed(&[wide]).unwrap().len(), 1);
    }
}
