//! The response of an embedding endpoint.

use serde::Deserialize;

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    /// The index of the text; some servers omit it and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses the vectors of a response in the order of the texts. Fails with what is wrong with the
/// response.
pub(super) fn parse_vectors(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let response: EmbeddingResponse = serde_json::from_slice(body).map_err(|cause| {
        // The category alone: the whole error may quote the response.
        format!("something else than a list of embeddings ({:?} error)", cause.classify())
    })?;
    if response.data.len() != texts {
        return Err(format!("{} vectors for {texts} texts", response.data.len()));
    }
    let mut vectors = vec![None; texts];
    for (index, item) in response.data.into_iter().enumerate() {
        match vectors.get_mut(item.index.unwrap_or(index)) {
            Some(slot @ None) => *slot = Some(item.embedding),
            _ => return Err("two vectors for one text, or a vector for no text".to_owned()),
        }
    }
    vectors.into_iter().collect::<Option<_>>().ok_or_else(|| "too few vectors".to_owned())
}
