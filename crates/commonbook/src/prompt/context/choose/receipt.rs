//! The receipt: what was considered for a context, what was told, and why the rest was not.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateOutcome, ContextQuery, ContextSettings, ContextSource, OmissionReason};

/// What was considered for a context, and what became of it. It holds ids and figures, no texts:
/// who may not read a memory learns nothing of it here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReceipt {
    /// The task or the prompt that it was built for.
    pub query: String,
    /// The least score that was asked for.
    pub threshold: f64,
    /// How many memories and entries there could be.
    pub maximum: usize,
    /// How many tokens there could be.
    pub budget: usize,
    /// How many tokens the block has.
    pub tokens: usize,
    /// Handoffs that wait for the agent besides those that were considered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handoffs_left: u64,
    /// Everything that could have been told, in the order of telling.
    pub candidates: Vec<CandidateReceipt>,
    /// The figures of the context.
    pub diagnostics: ContextDiagnostics,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One thing that could have been told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateReceipt {
    /// Its id.
    pub id: String,
    /// Where it came from.
    pub source: ContextSource,
    /// What it is: a memory's type, `handoff`, `standing memory`, `entry`.
    pub memory_type: String,
    /// Who wrote it.
    pub author: String,
    /// Which revision of it was considered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision: Option<u64>,
    /// How well it answers the task, where it was searched for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// How many tokens it has, its head included; where somebody had to count them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<usize>,
    /// Whether it was told.
    pub taken: bool,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<OmissionReason>,
    /// What was told instead of it: what it repeats, what superseded it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instead: Option<String>,
    /// With what it was told as one, because the two contradict each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub with: Option<String>,
}

/// The figures of one context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextDiagnostics {
    /// Whether the caller is given anything at all.
    pub auto_inject_enabled: bool,
    /// How many things could have been told.
    pub candidate_count: usize,
    /// How many were.
    pub injected_count: usize,
    /// Who wrote them, each once, by name.
    pub source_agents: Vec<String>,
    /// What they are, each once, by name.
    pub memory_types: Vec<String>,
    /// Tokens of the prompt alone.
    pub prompt_tokens_before: usize,
    /// Tokens of the prompt with the context.
    pub prompt_tokens_after: usize,
    /// The user that it was built for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resolved_user_id: Option<String>,
}

/// The receipt of what was merged, with the tokens of the prompt and of what is told.
pub(super) fn of(
    asked: &ContextQuery<'_>,
    settings: &ContextSettings,
    merged: &[CandidateOutcome],
    prompt_tokens: usize,
    tokens: usize,
) -> ContextReceipt {
    let candidates: Vec<CandidateReceipt> =
        merged.iter().map(|one| candidate_receipt(one, merged)).collect();
    let taken = || candidates.iter().filter(|one| one.taken);
    let names = |name: fn(&CandidateReceipt) -> &String| {
        taken().map(name).collect::<BTreeSet<_>>().into_iter().cloned().collect::<Vec<String>>()
    };
    let diagnostics = ContextDiagnostics {
        auto_inject_enabled: settings.auto_inject,
        candidate_count: candidates.len(),
        injected_count: taken().count(),
        source_agents: names(|one| &one.author),
        memory_types: names(|one| &one.memory_type),
        prompt_tokens_before: prompt_tokens,
        prompt_tokens_after: prompt_tokens + tokens,
        resolved_user_id: asked.user_id.map(str::to_owned),
    };
    ContextReceipt {
        query: asked.query.to_owned(),
        threshold: settings.threshold,
        maximum: settings.maximum,
        budget: settings.budget,
        tokens,
        handoffs_left: 0,
        candidates,
        diagnostics,
    }
}

/// What became of one; what is told with another shares its fate.
fn candidate_receipt(one: &CandidateOutcome, merged: &[CandidateOutcome]) -> CandidateReceipt {
    let first = one.within.and_then(|place| merged.get(place));
    let left = first.unwrap_or(one).left.clone();
    let item = &one.candidate.item;
    CandidateReceipt {
        id: item.id.clone(),
        source: one.candidate.source,
        memory_type: item.kind.clone(),
        author: item.author.clone(),
        revision: one.candidate.revision,
        score: one.candidate.score,
        tokens: one.tokens,
        taken: left.is_none(),
        left_out: left.as_ref().map(|(why, _)| *why),
        instead: left.and_then(|(_, instead)| instead),
        with: first.map(|first| first.candidate.item.id.clone()),
    }
}
