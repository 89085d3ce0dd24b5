//! What an endpoint answers: vectors.

use serde::Deserialize;

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    /// The place of the text; some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of an answer in the order of the texts, or what is wrong with it.
pub(super) fn parse_vectors(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: EmbeddingResponse = serde_json::from_slice(body).map_err(|cause| {
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
