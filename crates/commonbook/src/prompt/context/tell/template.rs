//! Templates: sentences with placeholders for the values of keys, from a configuration.

use serde_json::{Map, Value};

use super::value::{clause, is_empty, open_end};
use crate::base::error::{Error, Result};

/// Sentences with placeholders: `Research on {topic}. Found by {source.author}.`
///
/// A placeholder is a key, or keys joined by points for nested objects; `{{` and `}}` are literal
/// braces. A sentence with a placeholder that has no value is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceTemplate(Vec<Vec<TemplatePiece>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Place(Vec<String>),
}

impl SentenceTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// `invalid` if a brace has no partner, a placeholder has no key, or the template has no
    /// placeholder.
    pub fn parse(text: &str) -> Result<Self> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let place = if brace == "{" { rest.split_once('}') } else { None };
            let Some((keys, after)) = place else {
                return Err(template_error(&format!(
                    "the {brace:?} at byte {} has no partner",
                    text.len() - rest.len() - 1
                )));
            };
            let keys: Vec<String> = keys.split('.').map(|key| key.trim().to_owned()).collect();
            if keys.iter().any(|key| key.is_empty() || key.contains('{')) {
                return Err(template_error("there is a place without a key"));
            }
            pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
            pieces.push(TemplatePiece::Place(keys));
            rest = after;
        }
        plain.push_str(rest);
        if pieces.is_empty() {
            return Err(template_error("there is no place in it"));
        }
        pieces.push(TemplatePiece::Text(plain));
        Ok(Self(sentences(pieces)))
    }

    /// The sentences for which the object has values; `None` if there are none.
    #[must_use]
    pub fn fill(&self, object: &Map<String, Value>) -> Option<String> {
        let filled = |sentence: &Vec<TemplatePiece>| {
            let pieces = sentence.iter().map(|piece| match piece {
                TemplatePiece::Text(text) => Some(text.clone()),
                TemplatePiece::Place(keys) => {
                    value_at(object, keys).map(|value| open_end(&clause(value)))
                }
            });
            pieces.collect::<Option<String>>()
        };
        let found = self.0.iter().filter(|sentence| {
            sentence.iter().any(|piece| matches!(piece, TemplatePiece::Place(_)))
        });
        if !found.into_iter().any(|sentence| filled(sentence).is_some()) {
            return None;
        }
        let text: String = self.0.iter().filter_map(filled).collect();
        Some(text.trim().to_owned())
    }
}

fn template_error(reason: &str) -> Error {
    Error::invalid("template", reason)
        .hint("Write sentences with places for keys: \"Research on {topic}. Result: {summary}.\"")
}

/// The pieces, sentence by sentence: a sentence ends with a full stop before a blank or the end, or
/// with a line end.
fn sentences(pieces: Vec<TemplatePiece>) -> Vec<Vec<TemplatePiece>> {
    let mut all: Vec<Vec<TemplatePiece>> = vec![Vec::new()];
    let mut push = |piece: TemplatePiece, ends: bool| {
        if let Some(last) = all.last_mut() {
            last.push(piece);
        }
        if ends {
            all.push(Vec::new());
        }
    };
    for piece in pieces {
        let TemplatePiece::Text(text) = piece else {
            push(piece, false);
            continue;
        };
        let mut rest = text.as_str();
        while let Some(end) = sentence_end(rest) {
            push(TemplatePiece::Text(rest[..end].to_owned()), true);
            rest = &rest[end..];
        }
        push(TemplatePiece::Text(rest.to_owned()), false);
    }
    let empty =
        |piece: &TemplatePiece| matches!(piece, TemplatePiece::Text(text) if text.is_empty());
    all.retain(|sentence| !sentence.iter().all(empty));
    all
}

/// The end of the first sentence of a text, with the blanks behind it.
fn sentence_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'.' | b'!' | b'?' => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        _ => false,
    };
    let end = (0..bytes.len()).find(ends)? + 1;
    let blanks = bytes[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    Some(end + blanks)
}

/// The value at these keys, unless it is empty.
fn value_at<'a>(object: &'a Map<String, Value>, keys: &[String]) -> Option<&'a Value> {
    let (first, below) = keys.split_first()?;
    let value = below.iter().try_fold(object.get(first)?, |value, key| value.get(key))?;
    (!is_empty(value)).then_some(value)
}
