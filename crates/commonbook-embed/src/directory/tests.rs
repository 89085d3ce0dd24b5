//! A tiny BERT with made-up weights, written by the tests themselves.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::tests::{cosine, keeps_the_laws};
use super::*;

const HIDDEN: usize = 32;

/// Something that goes wrong with a directory.
type Spoil = Box<dyn Fn(&Path)>;

/// A directory with a whole model: two layers, a vocabulary of single letters.
fn tiny() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary: Vec<String> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "!", "🙂"]
        .map(str::to_owned)
        .into_iter()
        .chain(('a'..='z').map(String::from))
        .chain(('a'..='z').map(|letter| format!("##{letter}")))
        .collect();
    let ids: HashMap<_, _> = vocabulary.iter().zip(0..).collect::<HashMap<_, u32>>();
    write(
        &folder,
        "tokenizer.json",
        &json!({
            "version": "1.0", "truncation": null, "padding": { "strategy": { "Fixed": 64 },
                "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0,
                "pad_token": "[PAD]" },
            "added_tokens": [],
            "normalizer": { "type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "post_processor": { "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2] },
            "decoder": null,
            "model": { "type": "WordPiece", "unk_token": "[UNK]",
                "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids }
        }),
    );
    write(
        &folder,
        "config.json",
        &json!({
            "model_type": "bert", "vocab_size": vocabulary.len(), "hidden_size": HIDDEN,
            "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
            "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": 64,
            "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
            "pad_token_id": 0
        }),
    );
    weights(&folder, vocabulary.len(), 1);
    folder
}

fn write(folder: &TempDir, name: &str, value: &Value) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value.to_string()).unwrap();
}

/// Writes weights that are drawn from this seed.
fn weights(folder: &TempDir, words: usize, seed: u64) {
    let mut shapes: Vec<(String, Vec<usize>)> = Vec::new();
    let mut add = |name: String, shape: &[usize]| shapes.push((name, shape.to_vec()));
    for (name, rows) in [("word", words), ("position", 64), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN]);
    }
    let mut blocks = vec![("embeddings.LayerNorm".to_owned(), vec![HIDDEN])];
    for layer in 0..2 {
        for (name, shape) in [
            ("attention.self.query", vec![HIDDEN, HIDDEN]),
            ("attention.self.key", vec![HIDDEN, HIDDEN]),
            ("attention.self.value", vec![HIDDEN, HIDDEN]),
            ("attention.output.dense", vec![HIDDEN, HIDDEN]),
            ("attention.output.LayerNorm", vec![HIDDEN]),
            ("intermediate.dense", vec![64, HIDDEN]),
            ("output.dense", vec![HIDDEN, 64]),
            ("output.LayerNorm", vec![HIDDEN]),
        ] {
            blocks.push((format!("encoder.layer.{layer}.{name}"), shape));
        }
    }
    for (name, shape) in blocks {
        add(format!("{name}.weight"), &shape);
        add(format!("{name}.bias"), &shape[..1]);
    }
    let mut state = seed;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let (mut header, mut bytes) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let start = bytes.len();
        for _ in 0..shape.iter().product() {
            bytes.extend(number().to_le_bytes());
        }
        let offsets = [start, bytes.len()];
        header.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": offsets }));
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    let file = [&length, header.as_bytes(), &bytes].concat();
    fs::write(folder.path().join("model.safetensors"), file).unwrap();
}

fn vector_of(model: &DirectoryEmbedder, text: &str) -> Vec<f32> {
    model.embed(&[text.to_owned()]).unwrap().remove(0)
}

#[test]
fn laws() {
    let folder = tiny();
    let model = DirectoryEmbedder::open(folder.path()).unwrap();
    keeps_the_laws(&model);
    assert_eq!(model.spec().dimension, HIDDEN);
    assert_eq!(model.spec().model, "bert-2x32");
    let again = DirectoryEmbedder::open(folder.path()).unwrap();
    assert_eq!(again.spec(), model.spec());
    assert_eq!(vector_of(&again, "abc"), vector_of(&model, "abc"));
    assert!(cosine(&vector_of(&model, "abc"), &vector_of(&model, "xyz qrs")) < 0.999);
}

#[test]
fn long_texts_are_cut_where_the_files_say() {
    let folder = tiny();
    write(&folder, "sentence_bert_config.json", &json!({ "max_seq_length": 16 }));
    let model = DirectoryEmbedder::open(folder.path()).unwrap();
    let words = "a b c d e f g h i j k l m n o p q r";
    assert_eq!(vector_of(&model, words), vector_of(&model, "a b c d e f g h i j k l m n"));
    assert_ne!(vector_of(&model, words), vector_of(&model, "a b c d e f g h i j k l m"));
    assert_eq!(model.chunk_tokens(), 14);
}

#[test]
fn pooling_and_prompts_follow_the_files() {
    let folder = tiny();
    let plain = DirectoryEmbedder::open(folder.path()).unwrap();
    let prompts = json!({ "prompts": { "query": "q: ", "passage": "p: " } });
    write(&folder, "config_sentence_transformers.json", &prompts);
    let prompted = DirectoryEmbedder::open(folder.path()).unwrap();
    assert_eq!(vector_of(&prompted, "abc"), vector_of(&plain_of(&tiny()), "p: abc"));
    assert_eq!(prompted.embed_query("abc").unwrap(), vector_of(&plain_of(&tiny()), "q: abc"));
    let pooling = json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false });
    write(&folder, "1_Pooling/config.json", &pooling);
    let first = DirectoryEmbedder::open(folder.path()).unwrap();
    assert_ne!(vector_of(&first, "abc"), vector_of(&prompted, "abc"));
    assert_ne!(first.spec(), prompted.spec());
    assert_ne!(plain.spec(), prompted.spec());
    write(&folder, "1_Pooling/config.json", &json!({ "pooling_mode_max_tokens": true }));
    let error = DirectoryEmbedder::open(folder.path()).unwrap_err();
    assert!(error.message.contains("neither mean nor first-token"), "{error}");
}

fn plain_of(folder: &TempDir) -> DirectoryEmbedder {
    let model = DirectoryEmbedder::open(folder.path()).unwrap();
    model.model().unwrap();
    model
}

#[test]
fn other_weights_have_another_revision() {
    let folder = tiny();
    let model = DirectoryEmbedder::open(folder.path()).unwrap();
    weights(&folder, 58, 2);
    let other = DirectoryEmbedder::open(folder.path()).unwrap();
    assert_ne!(other.spec(), model.spec());
    let error = model.embed_query("abc").unwrap_err();
    assert_eq!(error.kind, EmbedErrorKind::Unavailable);
    assert!(error.message.contains("has changed since the start"), "{error}");
}

#[test]
fn an_invalid_directory_fails_with_the_reason() {
    let cut = |name: &'static str, keep: usize| {
        move |folder: &Path| {
            let bytes = fs::read(folder.join(name)).unwrap();
            fs::write(folder.join(name), &bytes[..keep]).unwrap();
        }
    };
    let change = |key: &'static str, value: Value| {
        move |folder: &Path| {
            let path = folder.join("config.json");
            let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            config[key] = value.clone();
            fs::write(path, config.to_string()).unwrap();
        }
    };
    let remove =
        |name: &'static str| move |folder: &Path| fs::remove_file(folder.join(name)).unwrap();
    let spoils: [(Spoil, &str); 14] = [
        (Box::new(|folder| fs::remove_dir_all(folder).unwrap()), "there is no directory"),
        (Box::new(remove("config.json")), "there is no file"),
        (Box::new(remove("tokenizer.json")), "tokenizer.json"),
        (Box::new(remove("model.safetensors")), "model.safetensors"),
        (Box::new(cut("config.json", 20)), "config.json is broken"),
        (Box::new(cut("tokenizer.json", 200)), "tokenizer.json is broken"),
        (Box::new(cut("model.safetensors", 3000)), "model.safetensors is broken"),
        (Box::new(cut("model.safetensors", 40)), "model.safetensors is broken"),
        (Box::new(cut("model.safetensors", 0)), "model.safetensors is broken"),
        (Box::new(change("model_type", json!("roberta"))), "model_type is roberta"),
        (Box::new(change("hidden_size", json!(64))), "model.safetensors is broken"),
        (Box::new(change("num_attention_heads", json!(0))), "config.json is broken"),
        (Box::new(change("hidden_act", json!("swish"))), "config.json is broken"),
        (Box::new(change("max_position_embeddings", json!(8))), "holds only 8 tokens"),
    ];
    for (spoil, words) in spoils {
        let folder = tiny();
        spoil(folder.path());
        let opened = DirectoryEmbedder::open(folder.path());
        let error = opened.and_then(|model| model.embed_query("abc")).unwrap_err();
        assert!(error.message.contains(words), "{} / {words}", error.message);
        assert!(error.message.lines().count() == 1 && error.hint.is_some(), "{error}");
        let shown = folder.path().display().to_string();
        assert!(error.message.contains(&shown), "{}", error.message);
    }
}

#[test]
fn a_failed_load_is_not_cached() {
    let folder = tiny();
    let path = folder.path().join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    let model = DirectoryEmbedder::open(folder.path()).unwrap();
    fs::write(&path, &whole[..1000]).unwrap();
    model.embed_query("abc").unwrap_err();
    fs::write(&path, whole).unwrap();
    model.embed_query("abc").unwrap();
}
