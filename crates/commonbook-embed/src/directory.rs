//! A model in a local directory: a BERT for sentence embeddings, in the layout of
//! sentence-transformers.

mod files;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use tokenizers::{Tokenizer, TruncationParams};

use self::files::{ModelSettings, PoolingMode};
use super::{Embedder, ModelSpec, check_vectors, refuse_blank};
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// Bytes of a text for each token of the model; the embedder ignores further bytes.
const BYTES_PER_TOKEN: usize = 64;

/// A model in a directory with `config.json`, `tokenizer.json` and `model.safetensors`.
///
/// - **Models**: `model_type` must be `bert` (MiniLM, BGE, E5 and GTE of the first kind,
///   multilingual E5 small); a vector has `hidden_size` numbers.
/// - **Length**: `max_seq_length` of `sentence_bert_config.json`, else 512 tokens, and never more
///   than `max_position_embeddings`; the model cuts off the rest of a text.
/// - **Pooling**: the mean over the tokens, or the first token if `1_Pooling/config.json` has
///   `pooling_mode_cls_token`.
/// - **Prompts**: the `prompts` of `config_sentence_transformers.json` precede texts (`document`,
///   else `passage`, else `corpus`) and questions (`query`), by the rule of sentence-transformers.
///   E5 needs `"query: "` and `"passage: "`; its directories often lack them: add them to the file.
///
/// Opening reads the small files and some blocks of the large ones. The first text loads the model;
/// its weights are in memory as 32-bit numbers, and twice during loading.
pub struct DirectoryEmbedder {
    folder: PathBuf,
    spec: ModelSpec,
    layout: ModelSettings,
    model: Mutex<Option<Arc<LoadedModel>>>,
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
    fn model(&self) -> EmbedResult<Arc<LoadedModel>> {
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
        let model = Arc::new(LoadedModel::load(&self.folder, &self.layout)?);
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
            model.vector(&text, self.layout.pooling).map_err(|cause| self.model_error(&*cause))
        };
        let vectors = texts.iter().map(vector).collect::<EmbedResult<_>>()?;
        check_vectors(&self.spec, texts.len(), vectors)
    }

    fn model_error(&self, cause: &(dyn std::error::Error + Send + Sync)) -> EmbedError {
        let folder = self.folder.display();
        EmbedError::new(
            EmbedErrorKind::Unavailable,
            format!("the model in {folder} failed: {cause}"),
        )
        .hint("Check that its files belong together, or download the model again.")
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
        vector.ok_or_else(|| {
            EmbedError::new(
                EmbedErrorKind::Internal,
                "the model returned no vector for the question",
            )
        })
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

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// The loaded model.
struct LoadedModel {
    bert: BertModel,
    tokenizer: Tokenizer,
}

impl LoadedModel {
    fn load(folder: &Path, layout: &ModelSettings) -> EmbedResult<Self> {
        let tokenizer = folder.join(files::TOKENIZER_FILE);
        let tokenizer = load_tokenizer(&tokenizer, layout.tokens)
            .map_err(|cause| files::broken_file(&tokenizer, &cause.to_string()))?;
        let weights = folder.join(files::WEIGHTS_FILE);
        let bytes =
            std::fs::read(&weights).map_err(|cause| files::unreadable_file(&weights, cause))?;
        let bert = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)
            .and_then(|tensors| BertModel::load(tensors, &layout.config))
            .map_err(|cause| files::broken_file(&weights, &cause.to_string()).with_cause(cause))?;
        Ok(Self { bert, tokenizer })
    }

    fn vector(&self, text: &str, pooling: PoolingMode) -> EmbedResult<Vec<f32>, BoxedError> {
        let tokens = self.tokenizer.encode(text, true)?;
        let row = |numbers: &[u32]| Tensor::new(numbers, &Device::Cpu)?.unsqueeze(0);
        let (ids, types) = (row(tokens.get_ids())?, row(tokens.get_type_ids())?);
        // One row without padding needs no mask.
        let hidden = self.bert.forward(&ids, &types, None)?.squeeze(0)?;
        let pooled = match pooling {
            PoolingMode::Mean => hidden.mean(0)?,
            PoolingMode::First => hidden.get(0)?,
        };
        Ok(pooled.to_vec1()?)
    }
}

fn load_tokenizer(path: &Path, tokens: usize) -> EmbedResult<Tokenizer, BoxedError> {
    // `Tokenizer::from_file` is generic: this crate would compile it again, with its parser.
    let mut tokenizer: Tokenizer = std::fs::read_to_string(path)?.parse()?;
    let truncation = TruncationParams { max_length: tokens, ..Default::default() };
    tokenizer.with_padding(None).with_truncation(Some(truncation))?;
    Ok(tokenizer)
}

#[cfg(test)]
mod tests;
