//! Nearness: the vectors of all parts compared with that of a question.

use super::budget::SearchMeter;
use super::embedder::QuestionEmbedding;
use super::parts::{PartMemory, SearchPart, SearchParts};
use super::vectors::{self, ScanResult, VectorScan};
use crate::base::error::Result;
use crate::model::search::rank::NearnessRange;

/// Memories with the nearest vectors that are reranked beside those with the best words. Twice as many
/// found no more (`docs/decisions/0009-ranking.md`).
const NEAREST_MEMORIES_MAX: usize = 100;

/// The nearness of the memories of all parts to a question.
pub(super) struct NearnessScan<'q> {
    /// The nearest memories.
    pub(super) nearest: Vec<(PartMemory, f32)>,
    /// The nearness of all.
    pub(super) range: NearnessRange,
    /// The question.
    pub(super) question: &'q QuestionEmbedding,
}

impl SearchParts<'_> {
    /// Compares the question with the vectors of all parts; `None` if they have none.
    pub(super) fn scan<'q>(
        &self,
        question: &'q QuestionEmbedding,
        meter: &SearchMeter<'_>,
    ) -> Result<Option<NearnessScan<'q>>> {
        let (mut all, mut nearest, mut searched) = (ScanResult::empty(), Vec::new(), 0);
        for (part, SearchPart { state, visible, .. }) in self.iter().enumerate() {
            let admitted = visible.admitted();
            searched += admitted.len();
            let Some(vectors) = &state.vectors else { continue };
            let (catalog, admitted) = (&state.catalog, &*admitted);
            let request = VectorScan { vectors, catalog, admitted, question: &question.vector };
            let mut found = vectors::scan(&request, NEAREST_MEMORIES_MAX);
            meter.vectors(found.compared)?;
            let near = std::mem::take(&mut found.nearest).into_iter();
            nearest.extend(near.map(|(number, near)| (PartMemory { part, number }, near)));
            all = all.join(found);
        }
        if nearest.len() > NEAREST_MEMORIES_MAX {
            nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| self.compare_times(b.0, a.0)));
            nearest.truncate(NEAREST_MEMORIES_MAX);
        }
        let range = NearnessRange {
            lowest: f64::from(all.lowest),
            highest: f64::from(all.highest),
            mean: all.sum / all.count.max(1) as f64,
            share: all.count as f64 / searched.max(1) as f64,
        };
        Ok((all.count > 0).then_some(NearnessScan { nearest, range, question }))
    }
}
