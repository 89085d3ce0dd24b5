//! What an endpoint answers: vectors, or why not.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use ureq::http::HeaderMap;

use super::Key;

/// Characters of an endpoint's reason that are passed on.
const REASON_CHARS: usize = 200;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// The place of the text; some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of an answer in the order of the texts, or what is wrong with it.
pub(super) fn vectors(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|cause| {
        // The library's own words, without what stood in the answer.
        format!("what is not a list of embeddings ({:?} error)", cause.classify())
    })?;
    if answer.data.len() != texts {
        return Err(format!("{} vectors for {texts} texts", answer.data.len()));
    }
    let mut vectors = vec![None; texts];
    for (place, item) in answer.data.into_iter().enumerate() {
        match vectors.get_mut(item.index.unwrap_or(place)) {
            Some(slot @ None) => *slot = Some(item.embedding),
            _ => return Err("two vectors for one text, or one for none".to_owned()),
        }
    }
    vectors.into_iter().collect::<Option<_>>().ok_or_else(|| "too few vectors".to_owned())
}

/// How long the endpoint asks to wait, in whole seconds; a date is not understood.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// The endpoint's own reason with a colon before it, on one line, without the key and then
/// shortened; empty when it gave none.
pub(super) fn reason(body: &[u8], key: Option<&Key>) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let Some(text) = places.iter().find_map(|place| value.pointer(place)?.as_str()) else {
        return String::new();
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = key.map_or_else(|| line.clone(), |key| key.hidden_in(&line));
    format!(": {}", line.chars().take(REASON_CHARS).collect::<String>())
}
