//! The files of a model's directory: their settings, and their fingerprint.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use commonbook_model::{NetworkShape, Pooling};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::ModelSpec;
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// The architecture of the model.
const CONFIG_FILE: &str = "config.json";
/// The tokenizer.
pub(super) const TOKENIZER_FILE: &str = "tokenizer.json";
/// The weights.
pub(super) const WEIGHTS_FILE: &str = "model.safetensors";
/// The maximum length of a text.
const LENGTH_FILE: &str = "sentence_bert_config.json";
/// The pooling.
const POOLING_FILE: &str = "1_Pooling/config.json";
/// The prompts before texts and questions.
const PROMPTS_FILE: &str = "config_sentence_transformers.json";

/// Maximum tokens of a text if no file contains the number.
const TOKENS_DEFAULT: usize = 512;
/// Minimum tokens that a model must hold.
const TOKENS_MIN: usize = 16;
/// Maximum bytes of a file that is hashed whole.
const WHOLE_HASH_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of one block of a longer file.
const BLOCK_BYTES: usize = 1024;
/// Blocks of a longer file, evenly spaced from its first byte to its last.
const HASH_BLOCKS: u64 = 64;

/// The sizes in `config.json`.
#[derive(Debug, Deserialize)]
struct BertConfig {
    vocab_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    layer_norm_eps: f32,
    hidden_act: String,
}

/// The settings in the small files.
#[derive(Debug, Clone)]
pub(super) struct ModelSettings {
    pub(super) shape: NetworkShape,
    pub(super) tokens: usize,
    pub(super) pooling: Pooling,
    pub(super) text_prompt: String,
    pub(super) query_prompt: String,
}

impl ModelSettings {
    /// Reads the small files, and checks that the large ones exist.
    pub(super) fn read(folder: &Path) -> EmbedResult<Self> {
        if !folder.is_dir() {
            return Err(invalid_model(format!("there is no directory {}", folder.display()))
                .hint("Set COMMONBOOK_EMBEDDER to the directory of a model, or to off."));
        }
        let shape = shape(folder)?;
        for name in [TOKENIZER_FILE, WEIGHTS_FILE] {
            let path = folder.join(name);
            File::open(&path).map_err(|cause| unreadable_file(&path, cause))?;
        }
        let length = read_optional(folder, LENGTH_FILE)?["max_seq_length"].as_u64();
        let length =
            length.and_then(|length| usize::try_from(length).ok()).unwrap_or(TOKENS_DEFAULT);
        let tokens = length.min(shape.positions);
        if tokens < TOKENS_MIN {
            let message = format!("the model in {} holds only {tokens} tokens", folder.display());
            return Err(invalid_model(message).hint("Choose a model that holds at least 128."));
        }
        let prompts = read_optional(folder, PROMPTS_FILE)?;
        Ok(Self {
            shape,
            tokens,
            pooling: pooling(folder)?,
            text_prompt: prompt(&prompts, &["document", "passage", "corpus"]),
            query_prompt: prompt(&prompts, &["query"]),
        })
    }

    /// Returns the spec, with a fingerprint of all files that the vectors depend on.
    pub(super) fn spec(&self, folder: &Path) -> EmbedResult<ModelSpec> {
        let mut hash = Sha256::new();
        let how = (self.tokens, self.pooling, &self.text_prompt, &self.query_prompt);
        hash.update(format!("{how:?}"));
        for name in [CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE] {
            let path = folder.join(name);
            hash_sample(&path, &mut hash).map_err(|cause| unreadable_file(&path, cause))?;
        }
        let fingerprint: String =
            hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let NetworkShape { layers, dimension, .. } = self.shape;
        Ok(ModelSpec {
            // Not the directory's name: the same model elsewhere is the same model.
            model: format!("bert-{layers}x{dimension}"),
            revision: format!("sampled:{fingerprint}"),
            dimension,
        })
    }
}

fn shape(folder: &Path) -> EmbedResult<NetworkShape> {
    let path = folder.join(CONFIG_FILE);
    let bytes = std::fs::read(&path).map_err(|cause| unreadable_file(&path, cause))?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|cause| broken_file(&path, &cause.to_string()))?;
    match value["model_type"].as_str() {
        Some("bert") => {}
        model_type => {
            let found = model_type.unwrap_or("none");
            let message = format!("{}: model_type is {found}, and only bert runs", path.display());
            return Err(invalid_model(message).hint(
                "Choose a BERT such as all-MiniLM-L6-v2, or serve the model behind an endpoint.",
            ));
        }
    }
    let config: BertConfig =
        serde_json::from_value(value).map_err(|cause| broken_file(&path, &cause.to_string()))?;
    let (dimension, heads) = (config.hidden_size, config.num_attention_heads);
    if dimension == 0 || heads == 0 || dimension % heads != 0 {
        return Err(broken_file(&path, &format!("hidden_size {dimension} with {heads} heads")));
    }
    if [config.intermediate_size, config.type_vocab_size, config.vocab_size].contains(&0) {
        return Err(broken_file(&path, "a size is 0"));
    }
    if config.hidden_act != "gelu" {
        let reason = format!("hidden_act is {}, and only gelu runs", config.hidden_act);
        return Err(broken_file(&path, &reason));
    }
    Ok(NetworkShape {
        words: config.vocab_size,
        positions: config.max_position_embeddings,
        segments: config.type_vocab_size,
        dimension,
        inner: config.intermediate_size,
        layers: config.num_hidden_layers,
        heads,
        epsilon: config.layer_norm_eps,
    })
}

fn pooling(folder: &Path) -> EmbedResult<Pooling> {
    let value = read_optional(folder, POOLING_FILE)?;
    let mode = |name: &str| value[name].as_bool().unwrap_or(false);
    if mode("pooling_mode_mean_tokens") || value.is_null() {
        return Ok(Pooling::Mean);
    }
    if mode("pooling_mode_cls_token") {
        return Ok(Pooling::First);
    }
    let path = folder.join(POOLING_FILE);
    Err(invalid_model(format!("{}: neither mean nor first-token pooling", path.display()))
        .hint("Choose a model that pools by the mean, or serve it behind an endpoint."))
}

/// Returns the prompt of the first of these names that exists, else the default prompt, else an
/// empty text.
fn prompt(file: &Value, names: &[&str]) -> String {
    let default = file["default_prompt_name"].as_str();
    let names = names.iter().copied().chain(default);
    names.filter_map(|name| file["prompts"][name].as_str()).next().unwrap_or_default().to_owned()
}

/// Reads an optional JSON file; null if it is missing.
fn read_optional(folder: &Path, name: &str) -> EmbedResult<Value> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
            let message = format!("{} is not JSON: {cause}", path.display());
            invalid_model(message).hint("Download the file again, or remove it; it is optional.")
        }),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Value::Null),
        Err(cause) => Err(unreadable_file(&path, cause)),
    }
}

/// Hashes the length of a file with its bytes, or with some of its blocks if it is long: the start
/// of the program must not read a hundred megabytes.
fn hash_sample(path: &Path, hash: &mut Sha256) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    hash.update(length.to_le_bytes());
    if length <= WHOLE_HASH_BYTES_MAX {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        hash.update(bytes);
        return Ok(());
    }
    let mut block = [0; BLOCK_BYTES];
    let last = length - BLOCK_BYTES as u64;
    for number in 0..HASH_BLOCKS {
        file.seek(SeekFrom::Start(last / (HASH_BLOCKS - 1) * number))?;
        file.read_exact(&mut block)?;
        hash.update(block);
    }
    file.seek(SeekFrom::Start(last))?;
    file.read_exact(&mut block)?;
    hash.update(block);
    Ok(())
}

fn invalid_model(message: String) -> EmbedError {
    let mut error = EmbedError::new(EmbedErrorKind::Invalid, message);
    error.field = Some("embedder".to_owned());
    error
}

/// Creates the error of a file that cannot be read.
pub(super) fn unreadable_file(path: &Path, cause: std::io::Error) -> EmbedError {
    let shown = path.display();
    let error = match cause.kind() {
        std::io::ErrorKind::NotFound => invalid_model(format!("there is no file {shown}")).hint(
            "Put config.json, tokenizer.json and model.safetensors into the model's directory.",
        ),
        _ => invalid_model(format!("{shown} cannot be read")).hint("Check its permissions."),
    };
    error.with_cause(cause)
}

/// Creates the error of a malformed file.
pub(super) fn broken_file(path: &Path, why: &str) -> EmbedError {
    invalid_model(format!("{} is broken: {why}", path.display()))
        .hint("Download the file again: it may be incomplete or of another kind.")
}
