//! The files of a model's directory: what they say, and the fingerprint of them all.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use candle_transformers::models::bert::Config;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::ModelSpec;
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// The architecture of the model.
const CONFIG_FILE: &str = "config.json";
/// The words that the model knows.
pub(super) const TOKENIZER_FILE: &str = "tokenizer.json";
/// The weights.
pub(super) const WEIGHTS_FILE: &str = "model.safetensors";
/// How long a text may be.
const LENGTH_FILE: &str = "sentence_bert_config.json";
/// How one vector is made of those of all tokens.
const POOLING_FILE: &str = "1_Pooling/config.json";
/// What is put before texts and questions.
const PROMPTS_FILE: &str = "config_sentence_transformers.json";

/// Tokens of a text when no file says how many.
const TOKENS_DEFAULT: usize = 512;
/// Tokens that a model must hold at the least.
const TOKENS_MIN: usize = 16;
/// Bytes of a file that are hashed whole.
const WHOLE_HASH_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of one block of a longer file.
const BLOCK_BYTES: usize = 1024;
/// Blocks of a longer file, evenly spaced from its first byte to its last.
const HASH_BLOCKS: u64 = 64;

/// How one vector is made of those of all tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolingMode {
    /// Their mean.
    Mean,
    /// That of the first.
    First,
}

/// What the small files say.
#[derive(Debug, Clone)]
pub(super) struct ModelSettings {
    pub(super) config: Config,
    pub(super) tokens: usize,
    pub(super) pooling: PoolingMode,
    pub(super) text_prompt: String,
    pub(super) query_prompt: String,
}

impl ModelSettings {
    /// Reads the small files, and looks whether the large ones are there.
    pub(super) fn read(folder: &Path) -> EmbedResult<Self> {
        if !folder.is_dir() {
            return Err(invalid_model(format!("there is no directory {}", folder.display())).hint(
                "COMMONBOOK_EMBEDDER names the directory of a model; create it, or set off.",
            ));
        }
        let config = config(folder)?;
        for name in [TOKENIZER_FILE, WEIGHTS_FILE] {
            let path = folder.join(name);
            File::open(&path).map_err(|cause| unreadable_file(&path, cause))?;
        }
        let length = read_optional(folder, LENGTH_FILE)?["max_seq_length"].as_u64();
        let length =
            length.and_then(|length| usize::try_from(length).ok()).unwrap_or(TOKENS_DEFAULT);
        let tokens = length.min(config.max_position_embeddings);
        if tokens < TOKENS_MIN {
            let message = format!("the model in {} holds only {tokens} tokens", folder.display());
            return Err(invalid_model(message).hint("Choose a model that holds at least 128."));
        }
        let prompts = read_optional(folder, PROMPTS_FILE)?;
        Ok(Self {
            config,
            tokens,
            pooling: pooling(folder)?,
            text_prompt: prompt(&prompts, &["document", "passage", "corpus"]),
            query_prompt: prompt(&prompts, &["query"]),
        })
    }

    /// The spec, with a fingerprint of everything that the vectors depend on.
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
        let Config { num_hidden_layers: layers, hidden_size: dimension, .. } = self.config;
        Ok(ModelSpec {
            // Not the directory's name: the same model elsewhere is the same model.
            model: format!("bert-{layers}x{dimension}"),
            revision: format!("sampled:{fingerprint}"),
            dimension,
        })
    }
}

fn config(folder: &Path) -> EmbedResult<Config> {
    let path = folder.join(CONFIG_FILE);
    let bytes = std::fs::read(&path).map_err(|cause| unreadable_file(&path, cause))?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|cause| broken_file(&path, &cause.to_string()))?;
    match value["model_type"].as_str() {
        Some("bert") => {}
        other => {
            let found = other.unwrap_or("none");
            let message = format!("{}: model_type is {found}, and only bert runs", path.display());
            return Err(invalid_model(message).hint(
                "Choose a BERT such as all-MiniLM-L6-v2, or serve the model behind an endpoint.",
            ));
        }
    }
    let config: Config =
        serde_json::from_value(value).map_err(|cause| broken_file(&path, &cause.to_string()))?;
    let (size, heads) = (config.hidden_size, config.num_attention_heads);
    if size == 0 || heads == 0 || size % heads != 0 {
        return Err(broken_file(&path, &format!("hidden_size {size} with {heads} heads")));
    }
    Ok(config)
}

fn pooling(folder: &Path) -> EmbedResult<PoolingMode> {
    let value = read_optional(folder, POOLING_FILE)?;
    let mode = |name: &str| value[name].as_bool().unwrap_or(false);
    if mode("pooling_mode_mean_tokens") || value.is_null() {
        return Ok(PoolingMode::Mean);
    }
    if mode("pooling_mode_cls_token") {
        return Ok(PoolingMode::First);
    }
    let path = folder.join(POOLING_FILE);
    Err(invalid_model(format!("{}: neither mean nor first-token pooling", path.display()))
        .hint("Choose a model that pools by the mean, or serve it behind an endpoint."))
}

/// The prompt of the first of these names that there is, else the default one, else none.
fn prompt(file: &Value, names: &[&str]) -> String {
    let default = file["default_prompt_name"].as_str();
    let names = names.iter().copied().chain(default);
    names.filter_map(|name| file["prompts"][name].as_str()).next().unwrap_or_default().to_owned()
}

/// A file that may be missing, which is null then.
fn read_optional(folder: &Path, name: &str) -> EmbedResult<Value> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
            let message = format!("{} is not JSON: {cause}", path.display());
            invalid_model(message).hint("Fetch it anew, or remove it; it is not necessary.")
        }),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Value::Null),
        Err(cause) => Err(unreadable_file(&path, cause)),
    }
}

/// Hashes a file's length with its bytes, or with blocks of it when it is long: a start of the
/// program must not read a hundred megabytes.
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

/// A file that cannot be read.
pub(super) fn unreadable_file(path: &Path, cause: std::io::Error) -> EmbedError {
    let shown = path.display();
    let error = match cause.kind() {
        std::io::ErrorKind::NotFound => invalid_model(format!("there is no file {shown}")).hint(
            "A model's directory has config.json, tokenizer.json and model.safetensors; put them \
             all there.",
        ),
        _ => invalid_model(format!("{shown} cannot be read")).hint("Check its permissions."),
    };
    error.with_cause(cause)
}

/// A file that is not what its name says.
pub(super) fn broken_file(path: &Path, why: &str) -> EmbedError {
    // The libraries put a backtrace into their reasons.
    let why = why.lines().next().unwrap_or_default();
    invalid_model(format!("{} is broken: {why}", path.display()))
        .hint("Fetch it anew: it may be cut short, or of another kind.")
}
