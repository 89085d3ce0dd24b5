//! The receipt of a context: every candidate, whether the context includes it, and the reason if not.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::contradiction::ContradictionMark;

use super::{CandidateOutcome, ContextQuery, ContextSettings, ContextSource, OmissionReason};

/// The candidates of a context with their outcomes. It holds ids and figures,
/// no texts: a reader without access to a memory learns nothing of it here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReceipt {
    /// The task or the prompt that the context was built for.
    pub query: String,
    /// The least score of a relevant memory.
    pub threshold: f64,
    /// The maximum number of memories and entries.
    pub maximum: usize,
    /// The maximum number of tokens.
    pub budget: usize,
    /// The tokens of the block.
    pub tokens: usize,
    /// Handoffs that wait for the agent besides the considered ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handoffs_left: u64,
    /// Items and lines of the standing memory without room in the budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub standing_left_out: u64,
    /// All candidates, in the order of the text.
    pub candidates: Vec<CandidateReceipt>,
    /// The figures of the context.
    pub diagnostics: ContextDiagnostics,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateReceipt {
    /// Its id.
    pub id: String,
    /// Its source.
    pub source: ContextSource,
    /// Its kind: a memory's type, `handoff`, `standing memory`, `entry`.
    pub memory_type: String,
    /// Its author.
    pub author: String,
    /// The revision that was considered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision: Option<u64>,
    /// Its score for the task, if a search found it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// Its tokens with its head, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<usize>,
    /// Whether the context includes it.
    pub taken: bool,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<OmissionReason>,
    /// The id of its replacement: what it repeats, or its successor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instead: Option<String>,
    /// The id of the candidate that it contradicts and is shown with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub with: Option<String>,
    /// Its contradictions as the context showed them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub contradictions: Vec<ContradictionMark>,
}

/// The figures of one context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextDiagnostics {
    /// Whether contexts are on for the caller.
    pub auto_inject_enabled: bool,
    /// The number of candidates.
    pub candidate_count: usize,
    /// The number of included candidates.
    pub injected_count: usize,
    /// The authors of the included candidates, each once, by name.
    pub source_agents: Vec<String>,
    /// The kinds of the included candidates, each once, by name.
    pub memory_types: Vec<String>,
    /// Items and lines of the standing memory without room in the budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub standing_left_out: u64,
    /// Tokens of the prompt alone.
    pub prompt_tokens_before: usize,
    /// Tokens of the prompt with the context.
    pub prompt_tokens_after: usize,
    /// The user that the context was built for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resolved_user_id: Option<String>,
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
    let taken = || candidates.iter().filter(|candidate| candidate.taken);
    let names = |name: fn(&CandidateReceipt) -> &String| {
        taken().map(name).collect::<BTreeSet<_>>().into_iter().cloned().collect::<Vec<String>>()
    };
    let diagnostics = ContextDiagnostics {
        auto_inject_enabled: settings.auto_inject,
        candidate_count: candidates.len(),
        injected_count: taken().count(),
        source_agents: names(|candidate| &candidate.author),
        memory_types: names(|candidate| &candidate.memory_type),
        standing_left_out: 0,
        prompt_tokens_before: prompt_tokens,
        prompt_tokens_after: prompt_tokens + tokens,
        resolved_user_id: query.user_id.map(str::to_owned),
    };
    ContextReceipt {
        query: query.query.to_owned(),
        threshold: settings.threshold,
        maximum: settings.maximum,
        budget: settings.budget,
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
        taken: left.is_none(),
        left_out: left.as_ref().map(|(why, _)| *why),
        instead: left.and_then(|(_, instead)| instead),
        with: first.map(|first| first.candidate.item.id.clone()),
        contradictions: item.contradictions.clone(),
    }
}
