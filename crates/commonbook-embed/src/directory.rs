//! A model in a local directory: a BERT for sentence embeddings, in the layout of
//! sentence-transformers.

mod files;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use commonbook_model::{Encoder, ReadError};

use self::files::ModelSettings;
use super::{Embedder, ModelSpec, check_vectors, missing_question_vector, refuse_blank};
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// Bytes of a text for each token of the model; the embedder ignores further bytes.
const BYTES_PER_TOKEN: usize = 64;

/// A model in a directory with `config.json`, `tokenizer.json` and `model.safetensors`.
///
/// - **Models**: `model_type` must be `bert` (MiniLM, BGE, E5 and GTE of the first kind,
///   multilingual E5 small), in 16 or 32 bits, with a tokenizer of WordPiece or Unigram; a vector has `hidden_size` numbers.
/// - **Length**: `max_seq_length` of `sentence_bert_config.json`, else 512 tokens, and never more
///   than `max_position_embeddings`; the model cuts off the rest of a text.
/// - **Pooling**: the mean over the tokens, or the first token if `1_Pooling/config.json` has
///   `pooling_mode_cls_token`.
/// - **Prompts**: the `prompts` of `config_sentence_transformers.json` precede texts (`document`,
///   else `passage`, else `corpus`) and questions (`query`), by the rule of sentence-transformers.
///   E5 needs `"query: "` and `"passage: "`; its directories often lack them: add them to the file.
///
/// Opening reads the small files and some blocks of the large ones. The first text loads the model;
/// its weights are in memory as bytes, and during loading as the file has them too.
pub struct DirectoryEmbedder {
    folder: PathBuf,
    spec: ModelSpec,
    layout: ModelSettings,
    model: Mutex<Option<Arc<Encoder>>>,
}

impl std::fmt::Debug for DirectoryEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { folder, spec, layout, model: _ } = self;
        let mut shown = f.debug_struct("DirectoryEmbedder");
        shown.field("folder", folder).field("spec", spec).field("layout", layout);
        shown.finish_non_exhaustive()
    }
}

impl DirectoryEmbedder {
    /// Opens the directory without loading the model. The revision is a fingerprint of the small
    /// files and of 65 blocks of 1 KiB, evenly spaced in the large ones: other weights in the same
    /// directory have another revision, unless they are equal in each of these blocks.
    ///
    /// # Errors
    /// `invalid` if a file is missing or malformed, or the model is of another type.
    pub fn open(folder: &Path) -> EmbedResult<Self> {
        let layout = ModelSettings::read(folder)?;
        let spec = layout.spec(folder)?;
        Ok(Self { folder: folder.to_owned(), spec, layout, model: Mutex::default() })
    }

    /// Returns the model; the first call loads it. After a failure the next call tries again.
    fn model(&self) -> EmbedResult<Arc<Encoder>> {
        let mut slot = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = &*slot {
            return Ok(Arc::clone(model));
        }
        if ModelSettings::read(&self.folder)?.spec(&self.folder)? != self.spec {
            let message =
                format!("the model in {} has changed since the start", self.folder.display());
            return Err(EmbedError::new(EmbedErrorKind::Unavailable, message)
                .hint("Start again, so that new vectors are not mixed with the old ones."));
        }
        let model = Arc::new(self.read()?);
        *slot = Some(Arc::clone(&model));
        Ok(model)
    }

    /// Embeds one text after the other. No text is padded to the length of another, so a vector does
    /// not depend on the other texts of the call.
    fn vectors(&self, prompt: &str, texts: &[&str]) -> EmbedResult<Vec<Vec<f32>>> {
        refuse_blank(texts)?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.model()?;
        let most = self.layout.tokens * BYTES_PER_TOKEN;
        let vector = |text: &&str| {
            let text = text.trim();
            let text = format!("{prompt}{}", &text[..text.floor_char_boundary(most)]);
            model.encode(&text).vector
        };
        let vectors = texts.iter().map(vector).collect();
        check_vectors(&self.spec, texts.len(), vectors)
    }

    fn read(&self) -> EmbedResult<Encoder> {
        let read = |name: &str| {
            let path = self.folder.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => Ok((path, bytes)),
                Err(cause) => Err(files::unreadable_file(&path, cause)),
            }
        };
        let (tokenizer, tokenizer_bytes) = read(files::TOKENIZER_FILE)?;
        let (weights, weights_bytes) = read(files::WEIGHTS_FILE)?;
        let ModelSettings { shape, tokens, pooling, .. } = &self.layout;
        Encoder::read(shape, *tokens, *pooling, &tokenizer_bytes, &weights_bytes).map_err(|error| {
            match error {
                ReadError::Tokenizer(reason) => files::broken_file(&tokenizer, &reason),
                ReadError::Weights(reason) => files::broken_file(&weights, &reason),
            }
        })
    }
}

impl Embedder for DirectoryEmbedder {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.vectors(&self.layout.text_prompt, &texts)
    }

    fn embed_query(&self, text: &str) -> EmbedResult<Vec<f32>> {
        let vector = self.vectors(&self.layout.query_prompt, &[text])?.pop();
        vector.ok_or_else(missing_question_vector)
    }

    fn load(&self) -> EmbedResult<()> {
        self.model().map(drop)
    }

    fn batch(&self) -> usize {
        16
    }

    fn chunk_tokens(&self) -> usize {
        self.layout.tokens.min(256) * 7 / 8
    }
}

#[cfg(test)]
mod tests;
