//! Similarity: how near known memories are to each other and to a question by their meaning.

use super::Index;
use super::vectors::TextVectors;
use crate::model::handoff::choose::MeaningNearness;
use crate::model::search::{IndexQuery, MemoryRef};

impl Index {
    /// How near these memories are to a question and to each other, as far as they have vectors. It reads what is in
    /// memory: a search for the question before has brought that up to date.
    #[must_use]
    pub fn meaning_nearness(
        &self,
        question: &IndexQuery,
        memories: &[MemoryRef],
    ) -> MeaningNearness {
        let mut near = MeaningNearness::default();
        let indexes = self.held();
        let (embedding, _) = self.embedding_of(question, &indexes);
        for index in indexes {
            let state = index.read();
            let Some(vectors) = &state.vectors else { continue };
            let texts = memories.iter().filter_map(|(workspace, id)| {
                let number = state.catalog.number(workspace.as_str(), *id)?;
                let rows = state.catalog.vector_refs.of(number)?;
                Some((*id, TextVectors { index: vectors, rows }))
            });
            let texts: Vec<_> = texts.collect();
            for (place, (id, text)) in texts.iter().enumerate() {
                if let Some(question) = embedding.as_deref() {
                    near.task.insert(*id, vectors.nearness(text.rows, &question.vector).into());
                }
                for (other, of_other) in &texts[place + 1..] {
                    let pair = (*id.min(other), *id.max(other));
                    near.pairs.insert(pair, text.likeness(*of_other).into());
                }
            }
        }
        near
    }
}
