//! The tokenizers, and their file: `tokenizer.json`, as the library *tokenizers* writes it.
//!
//! Marks such as `[SEP]` in a text are letters and punctuation like all others: no text ends itself.

use base64::Engine as _;
use serde_json::Value;

use crate::Piece;
use crate::charsmap::CharacterMap;
use crate::unigram::UnigramTokenizer;
use crate::vocabulary::Vocabulary;
use crate::wordpiece::WordPieceTokenizer;

/// Letters of a word that is taken apart, if the file does not say it.
const WORD_LETTERS_MAX: usize = 100;

/// Takes texts apart into tokens.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    pub(crate) pieces: PieceTokenizer,
    /// The token before the pieces of a text.
    pub(crate) beginning: u32,
    /// The token after them.
    pub(crate) end: u32,
}

/// The two ways to pieces.
#[derive(Debug)]
pub(crate) enum PieceTokenizer {
    /// The longest ones.
    WordPiece(WordPieceTokenizer),
    /// The likeliest ones.
    Unigram(UnigramTokenizer),
}

impl Tokenizer {
    /// Reads the file.
    ///
    /// # Errors
    /// The reason why it is not a tokenizer, or one of another kind.
    pub(crate) fn read(file: &[u8]) -> Result<Self, String> {
        let file: Value = serde_json::from_slice(file).map_err(|cause| cause.to_string())?;
        let pieces = match file["model"]["type"].as_str().unwrap_or("WordPiece") {
            "WordPiece" => PieceTokenizer::WordPiece(word_piece(&file)?),
            "Unigram" => PieceTokenizer::Unigram(unigram(&file)?),
            other => return Err(format!("the model is {other}; WordPiece and Unigram run")),
        };
        let (beginning, end) = marks(&file["post_processor"])
            .ok_or("the post_processor does not put one mark before a text and one after it")?;
        let tokenizer = Self { pieces, beginning, end };
        match beginning.max(end) as usize >= tokenizer.vocabulary().len() {
            true => Err("a mark of the post_processor is not in the vocabulary".to_owned()),
            false => Ok(tokenizer),
        }
    }

    /// The first pieces of a text, at most `pieces_max`.
    pub(crate) fn pieces(&self, text: &str, pieces_max: usize) -> Vec<Piece> {
        match &self.pieces {
            PieceTokenizer::WordPiece(tokenizer) => tokenizer.pieces(text, pieces_max),
            PieceTokenizer::Unigram(tokenizer) => tokenizer.pieces(text, pieces_max),
        }
    }

    /// The vocabulary; all tokens are of it.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        match &self.pieces {
            PieceTokenizer::WordPiece(tokenizer) => &tokenizer.vocabulary,
            PieceTokenizer::Unigram(tokenizer) => &tokenizer.vocabulary,
        }
    }
}

fn word_piece(file: &Value) -> Result<WordPieceTokenizer, String> {
    let (model, normalizer) = (&file["model"], &file["normalizer"]);
    let flag = |name: &str, default: bool| normalizer[name].as_bool().unwrap_or(default);
    let normal = normalizer["type"] == "BertNormalizer"
        && flag("clean_text", true)
        && flag("handle_chinese_chars", true);
    if !normal || file["pre_tokenizer"]["type"] != "BertPreTokenizer" {
        return Err("it makes letters plain in another way than a BERT".to_owned());
    }
    if model["continuing_subword_prefix"].as_str().is_some_and(|prefix| prefix != "##") {
        return Err("continuing_subword_prefix is not ##".to_owned());
    }
    let words = model["vocab"].as_object().ok_or("there is no vocab")?;
    let mut pieces = vec![None; words.len()];
    for (piece, number) in words {
        let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
        let place = number.and_then(|number| pieces.get_mut(number));
        *place.ok_or("the numbers of the vocab have gaps")? = Some(piece.as_str());
    }
    let pieces: Option<Vec<&str>> = pieces.into_iter().collect();
    let pieces = pieces.ok_or("two pieces of the vocab have one number")?;
    let vocabulary = vocabulary(&pieces, true)?;
    let unknown = model["unk_token"].as_str().unwrap_or("[UNK]");
    let unknown = vocabulary.number(unknown, false).ok_or("the vocab lacks the unk_token")?;
    let letters = model["max_input_chars_per_word"].as_u64();
    let letters = letters.and_then(|letters| usize::try_from(letters).ok());
    let lowercase = flag("lowercase", true);
    Ok(WordPieceTokenizer {
        vocabulary,
        unknown,
        word_letters_max: letters.unwrap_or(WORD_LETTERS_MAX),
        lowercase,
        strip_accents: flag("strip_accents", lowercase),
    })
}

fn unigram(file: &Value) -> Result<UnigramTokenizer, String> {
    let model = &file["model"];
    if model["byte_fallback"] == true {
        return Err("byte_fallback is on; such a model does not run".to_owned());
    }
    let rows = model["vocab"].as_array().ok_or("there is no vocab")?;
    let piece = |row: &Value| -> Option<(String, f64)> {
        Some((row[0].as_str()?.to_owned(), row[1].as_f64()?))
    };
    let rows: Option<Vec<(String, f64)>> = rows.iter().map(piece).collect();
    let rows = rows.ok_or("a row of the vocab is not a piece and its score")?;
    let pieces: Vec<&str> = rows.iter().map(|(piece, _)| piece.as_str()).collect();
    let unknown = model["unk_id"].as_u64().and_then(|number| u32::try_from(number).ok());
    let unknown = unknown.filter(|number| (*number as usize) < pieces.len());
    let mut characters = None;
    for step in steps(&file["normalizer"], "normalizers") {
        match step["type"].as_str().unwrap_or_default() {
            "Precompiled" => characters = Some(character_map(step)?),
            // Spaces only part words here, one or several.
            "Replace" if step["content"] == " " => {}
            "Strip" => {}
            other => return Err(format!("the normalizer {other} does not run")),
        }
    }
    for step in steps(&file["pre_tokenizer"], "pretokenizers") {
        let kind = step["type"].as_str().unwrap_or_default();
        if !["WhitespaceSplit", "Metaspace"].contains(&kind) {
            return Err(format!("the pre_tokenizer {kind} does not run"));
        }
    }
    let mut scores: Vec<Option<f64>> = rows.iter().map(|(_, score)| Some(*score)).collect();
    for mark in file["added_tokens"].as_array().into_iter().flatten() {
        let number = mark["id"].as_u64().and_then(|number| usize::try_from(number).ok());
        if let Some(score) = number.and_then(|number| scores.get_mut(number)) {
            *score = None;
        }
    }
    let unknown = unknown.ok_or("there is no unk_id")?;
    Ok(UnigramTokenizer::new(vocabulary(&pieces, false)?, scores, unknown, characters))
}

/// The steps of a sequence, or the one that stands alone.
fn steps<'a>(value: &'a Value, name: &str) -> Vec<&'a Value> {
    match &value[name] {
        Value::Array(steps) => steps.iter().collect(),
        _ if value.is_null() => Vec::new(),
        _ => vec![value],
    }
}

fn character_map(step: &Value) -> Result<CharacterMap, String> {
    let text = step["precompiled_charsmap"].as_str().unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    let bytes = bytes.map_err(|cause| format!("precompiled_charsmap: {cause}"))?;
    CharacterMap::read(&bytes).ok_or("precompiled_charsmap is too short".to_owned())
}

fn vocabulary(pieces: &[&str], marked: bool) -> Result<Vocabulary, String> {
    match pieces.iter().any(|piece| piece.contains('\n')) {
        true => Err("a piece of the vocab has a line break".to_owned()),
        false => Ok(Vocabulary::new(pieces.join("\n").into(), marked)),
    }
}

/// The marks before and after a text: of a template, or of the two older forms.
fn marks(processor: &Value) -> Option<(u32, u32)> {
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    if processor["type"] != "TemplateProcessing" {
        return Some((number(&processor["cls"][1])?, number(&processor["sep"][1])?));
    }
    let [before, text, after] = processor["single"].as_array()?.as_slice() else { return None };
    text.get("Sequence")?;
    let mark = |step: &Value| {
        let ids = &processor["special_tokens"][step["SpecialToken"]["id"].as_str()?]["ids"];
        match ids.as_array()?.as_slice() {
            [id] => number(id),
            _ => None,
        }
    };
    Some((mark(before)?, mark(after)?))
}

#[cfg(test)]
mod tests;
