//! A little tokenizer of each kind, against what the library *tokenizers* makes of the same file.

use serde_json::json;

use super::*;

/// A table that replaces a tab by a space and the ligature `ﬁ` by its letters.
fn characters() -> String {
    let mut units = [0_u32; 512];
    let value = |place: u32| 1 << 31 | place;
    units[0] = 256 << 10;
    (units[256 ^ 0x09], units[264]) = (0x09 | 1 << 8 | 1 << 10, value(0));
    (units[256 ^ 0xef], units[67]) = (0xef | 256 << 10, 0xac | 2 << 10);
    (units[192], units[196]) = (0x81 | 1 << 8 | 4 << 10, value(2));
    let mut bytes = 2048_u32.to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend(b" \0fi\0");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn unigram_file() -> Value {
    json!({
        "added_tokens": [{ "id": 0 }, { "id": 1 }, { "id": 2 }],
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "Precompiled", "precompiled_charsmap": characters() },
            { "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": " " }] },
        "pre_tokenizer": { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always" },
        "post_processor": { "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "<s>" } }, { "Sequence": { "id": "A" } },
                { "SpecialToken": { "id": "</s>" } }],
            "special_tokens": { "<s>": { "ids": [0] }, "</s>": { "ids": [1] } } },
        "model": { "type": "Unigram", "unk_id": 2, "vocab": [["<s>", 0.0], ["</s>", 0.0],
            ["<unk>", 0.0], ["▁", -3.0], ["a", -4.0], ["b", -4.5], ["ab", -5.0], ["▁ab", -6.5],
            ["▁a", -3.5], ["fi", -4.0], ["e", -4.0], ["##a", -1.0]] }
    })
}

fn word_piece_file() -> Value {
    json!({
        "normalizer": { "type": "BertNormalizer", "lowercase": true, "strip_accents": null },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1] },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 4,
            "vocab": { "[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "##b": 3, "a": 4, "A": 5, "á": 6 } }
    })
}

fn read(file: &Value) -> Result<Tokenizer, String> {
    Tokenizer::read(file.to_string().as_bytes())
}

fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    tokenizer.pieces(text, 100).iter().map(|piece| piece.token).collect()
}

#[test]
fn the_likeliest_pieces() {
    let tokenizer = read(&unigram_file()).unwrap();
    assert_eq!((tokenizer.beginning, tokenizer.end), (0, 1));
    for (text, wanted) in [
        ("ab", &[7][..]),
        ("a\tab", &[8, 7]),
        ("xyz", &[3, 2]),
        ("aéxb", &[8, 2, 5]),
        ("ﬁb  ﬁ", &[3, 9, 5, 3, 9]),
        ("##ab", &[3, 11, 5]),
        ("bab e", &[3, 5, 6, 3, 10]),
        ("", &[]),
        (" \n", &[]),
        ("\0", &[3, 2]),
        // The library reads a mark here; for us it is text, with unknown letters.
        ("a</s>", &[8, 2]),
    ] {
        assert_eq!(tokens(&tokenizer, text), wanted, "{text}");
    }
    let text = "bab ﬁb";
    let pieces = tokenizer.pieces(text, 100);
    let parts: Vec<&str> = pieces.iter().map(|piece| &text[piece.bytes.clone()]).collect();
    assert_eq!(parts, ["", "b", "ab", "", "ﬁ", "b"]);
    assert_eq!(tokenizer.pieces(text, 2).len(), 2);
}

#[test]
fn letters_follow_the_settings() {
    let with = |lowercase: Value, accents: Value| {
        let mut file = word_piece_file();
        file["normalizer"]["lowercase"] = lowercase;
        file["normalizer"]["strip_accents"] = accents;
        tokens(&read(&file).unwrap(), "A á ab ababa")
    };
    assert_eq!(with(json!(true), json!(null)), [4, 4, 4, 3, 0]);
    assert_eq!(with(json!(false), json!(null)), [5, 6, 4, 3, 0]);
    assert_eq!(with(json!(true), json!(false)), [4, 6, 4, 3, 0]);
    assert_eq!(with(json!(false), json!(true)), [5, 4, 4, 3, 0]);
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let changed = |mut file: Value, place: &str, value: Value| {
        *file.pointer_mut(place).unwrap() = value;
        read(&file).unwrap_err()
    };
    for (place, value, words) in [
        ("/model/type", json!("BPE"), "the model is BPE"),
        ("/model/unk_id", json!(12), "there is no unk_id"),
        ("/model/vocab/3", json!(["a"]), "not a piece and its score"),
        ("/model/vocab/3/0", json!("a\nb"), "line break"),
        ("/normalizer/normalizers/0/type", json!("NFKC"), "the normalizer NFKC"),
        ("/normalizer/normalizers/0/precompiled_charsmap", json!("AAgA"), "too short"),
        ("/normalizer/normalizers/0/precompiled_charsmap", json!("!"), "precompiled_charsmap"),
        ("/pre_tokenizer/type", json!("ByteLevel"), "the pre_tokenizer ByteLevel"),
        ("/post_processor/special_tokens/<s>/ids/0", json!(12), "not in the vocabulary"),
        ("/post_processor/single/1", json!({}), "one mark before"),
        ("/post_processor", json!(null), "one mark before"),
    ] {
        let error = changed(unigram_file(), place, value);
        assert!(error.contains(words) && !error.contains('\n'), "{error} / {words}");
    }
    for (place, value, words) in [
        ("/normalizer/type", json!("Lowercase"), "in another way"),
        ("/pre_tokenizer", json!(null), "in another way"),
        ("/model/vocab/a", json!(7), "gaps"),
        ("/model/vocab/a", json!(-1), "gaps"),
        ("/model/vocab/a", json!(3), "one number"),
        ("/model/unk_token", json!("?"), "lacks the unk_token"),
    ] {
        let error = changed(word_piece_file(), place, value);
        assert!(error.contains(words), "{error} / {words}");
    }
}
