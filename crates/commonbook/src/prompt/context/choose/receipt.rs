//! How the receipt of a text is written.

use jiff::Timestamp;

use super::{CandidateOutcome, ContextQuery, ContextSettings};
use crate::model::delivery::{
    CandidateReceipt, ContextDiagnostics, ContextOrigin, ContextReceipt, ContextSource, figures_of,
};
use crate::prompt::item::PromptItem;

impl CandidateReceipt {
    /// The receipt of an item of a text without a choice.
    pub(crate) fn of_delivery(item: &PromptItem, source: ContextSource, now: Timestamp) -> Self {
        Self {
            id: item.id.clone(),
            source,
            memory_type: item.kind.clone(),
            author: item.author.clone(),
            revision: None,
            score: None,
            tokens: Some(item.tokens(now)),
            bytes: Some(item.text.len()),
            taken: !item.is_headline,
            headline: item.is_headline,
            left_out: None,
            instead: None,
            with: None,
            contradictions: Vec::new(),
        }
    }
}

impl ContextReceipt {
    /// The receipt of a text without a choice.
    pub(crate) fn of_delivery(
        query: String,
        candidates: Vec<CandidateReceipt>,
        budget: usize,
        tokens: usize,
    ) -> Self {
        Self {
            query,
            origin: ContextOrigin::Context,
            session: None,
            threshold: 0.0,
            full_first: 0,
            by_command: false,
            memories: 0,
            maximum: candidates.len(),
            budget,
            standing_budget: 0,
            tokens,
            handoffs_left: 0,
            standing_left_out: 0,
            diagnostics: ContextDiagnostics {
                auto_inject_enabled: true,
                prompt_tokens_after: tokens,
                ..figures_of(&candidates)
            },
            candidates,
        }
    }
}

/// The receipt of the merged candidates, with the tokens of the prompt and of the context.
pub(super) fn of(
    query: &ContextQuery<'_>,
    settings: &ContextSettings,
    merged: &[CandidateOutcome],
    prompt_tokens: usize,
    tokens: usize,
) -> ContextReceipt {
    let candidates: Vec<CandidateReceipt> =
        merged.iter().map(|outcome| candidate_receipt(outcome, merged)).collect();
    let diagnostics = ContextDiagnostics {
        auto_inject_enabled: settings.auto_inject,
        prompt_tokens_before: prompt_tokens,
        prompt_tokens_after: prompt_tokens + tokens,
        resolved_user_id: query.user_id.map(str::to_owned),
        ..figures_of(&candidates)
    };
    ContextReceipt {
        query: query.query.to_owned(),
        origin: ContextOrigin::Context,
        session: None,
        threshold: settings.threshold,
        full_first: settings.full_first as u64,
        by_command: settings.by_command,
        memories: query.memories,
        maximum: settings.maximum,
        budget: settings.budget,
        standing_budget: 0,
        tokens,
        handoffs_left: 0,
        standing_left_out: 0,
        candidates,
        diagnostics,
    }
}

/// The receipt of one candidate; a candidate that is shown with another shares its outcome.
fn candidate_receipt(outcome: &CandidateOutcome, merged: &[CandidateOutcome]) -> CandidateReceipt {
    let first = outcome.within.and_then(|place| merged.get(place));
    let left = first.unwrap_or(outcome).left.clone();
    let item = &outcome.candidate.item;
    CandidateReceipt {
        id: item.id.clone(),
        source: outcome.candidate.source,
        memory_type: item.kind.clone(),
        author: item.author.clone(),
        revision: outcome.candidate.revision,
        score: outcome.candidate.score,
        tokens: outcome.tokens,
        bytes: Some(item.text.len()),
        taken: left.is_none(),
        headline: outcome.headline,
        left_out: left.as_ref().map(|(why, _)| *why).filter(|_| !outcome.headline),
        instead: left.and_then(|(_, instead)| instead),
        with: first.map(|first| first.candidate.item.id.clone()),
        contradictions: item.contradictions.clone(),
    }
}
