//! The receipt of a text: every candidate, whether the text includes it, and the reason if not.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::contradiction::ContradictionMark;
use commonbook_text::string_enum;

string_enum! {
    /// The source of something that a context can include, in the order in which sources get room.
    ContextSource {
        /// Retractions of what the caller received.
        Retraction = "retraction",
        /// Handoffs that wait for the caller.
        Handoff = "handoff",
        /// Handoffs of the caller that ended.
        Result = "result",
        /// The caller's standing memory file.
        Standing = "standing",
        /// Memories about the user.
        Profile = "profile",
        /// The state of the user's task.
        TaskContext = "task_context",
        /// Memories of the session that the task goes on with.
        Session = "session",
        /// The most important memories.
        Important = "important",
        /// Entries of cases that the caller has not read.
        Entry = "entry",
        /// Memories in a contradiction that is new to the session.
        Contradiction = "contradiction",
        /// Memories found by the task.
        Relevant = "relevant",
        /// Memories of other agents that are new to the session.
        News = "news",
    }
}

string_enum! {
    /// Why something was left out.
    OmissionReason {
        /// The caller's settings turn contexts off.
        Disabled = "disabled",
        /// It is quarantined.
        Quarantine = "quarantine",
        /// A newer memory or entry superseded it.
        Superseded = "superseded",
        /// Another candidate says the same.
        Duplicate = "duplicate",
        /// The session has heard it, and it is unchanged.
        Repeated = "repeated",
        /// It does not stand out enough to come in full.
        Threshold = "threshold",
        /// The maximum was reached before it.
        Maximum = "maximum",
        /// It does not fit into the budget.
        Budget = "budget",
    }
}

string_enum! {
    /// What told an agent something.
    ContextOrigin {
        /// A call of `get_context`.
        Context = "context",
        /// A hook that delegates work.
        Delegation = "delegation",
        /// A briefing.
        Briefing = "briefing",
        /// An accepted handoff.
        Handoff = "handoff",
        /// A resumed session.
        Resume = "resume",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for ContextOrigin {
    fn default() -> Self {
        Self::Context
    }
}

/// The candidates of a context with their outcomes. It holds ids and figures,
/// no texts: a reader without access to a memory learns nothing of it here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReceipt {
    /// The task or the prompt that the context was built for.
    pub query: String,
    /// What told it.
    #[serde(default)]
    pub origin: ContextOrigin,
    /// The session of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The least relevance of a memory in full.
    pub threshold: f64,
    /// The first of what the search found that are in full whatever their relevance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub full_first: u64,
    /// Whether the reader has no tools, and opens headlines with a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_command: bool,
    /// The memories that the reader could search; 0 if nobody counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memories: u64,
    /// The maximum number of memories and entries.
    pub maximum: usize,
    /// The maximum number of tokens, without those of `standing_budget`.
    pub budget: usize,
    /// The tokens that the standing memory had beside the budget; 0 if somebody set the budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub standing_budget: u64,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !*value
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
    /// Its relevance to the task, if a search found it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// Its tokens with its head, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<usize>,
    /// Bytes of its text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<usize>,
    /// Whether the context includes it in full.
    pub taken: bool,
    /// Whether the context names it by a headline; with `taken` the headline says all of it.
    #[serde(skip_serializing_if = "is_false", default)]
    pub headline: bool,
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextDiagnostics {
    /// Whether contexts are on for the caller.
    pub auto_inject_enabled: bool,
    /// The number of candidates.
    pub candidate_count: usize,
    /// The number of candidates in full.
    pub injected_count: usize,
    /// The number of headlines.
    #[serde(default)]
    pub headline_count: usize,
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

impl ContextReceipt {
    /// The tokens that the text could have in all.
    #[must_use]
    pub fn tokens_max(&self) -> usize {
        self.budget.saturating_add(usize::try_from(self.standing_budget).unwrap_or(usize::MAX))
    }

    /// The candidates in full, those among them whose headline is all of them.
    pub fn included(&self) -> impl Iterator<Item = &CandidateReceipt> {
        self.candidates.iter().filter(|candidate| candidate.taken)
    }

    /// The candidates that the text has, in full or by a headline.
    pub fn told(&self) -> impl Iterator<Item = &CandidateReceipt> {
        self.candidates.iter().filter(|candidate| candidate.taken || candidate.headline)
    }

    /// The tokens of the text if a reader sees all that it has, else those of the items in full that
    /// the reader sees.
    pub(crate) fn tokens_for(&self, sees: impl Fn(&str) -> bool) -> usize {
        if self.told().all(|candidate| sees(&candidate.id)) {
            return self.tokens;
        }
        let seen = self.included().filter(|candidate| sees(&candidate.id));
        seen.filter_map(|candidate| candidate.tokens).sum()
    }

    /// The ids that it names: of the candidates, and of what replaced them or contradicts them.
    #[must_use]
    pub fn ids(&self) -> BTreeSet<String> {
        let named = self.candidates.iter().flat_map(|candidate| {
            let marks = candidate.contradictions.iter().map(|mark| mark.other.to_string());
            let further = [candidate.instead.clone(), candidate.with.clone()].into_iter().flatten();
            [candidate.id.clone()].into_iter().chain(further).chain(marks)
        });
        named.collect()
    }

    /// The receipt with the candidates that a reader sees, and the figures of these alone.
    #[must_use]
    pub fn narrowed_to(mut self, sees: impl Fn(&str) -> bool) -> Self {
        self.tokens = self.tokens_for(&sees);
        self.candidates.retain(|candidate| sees(&candidate.id));
        for candidate in &mut self.candidates {
            candidate.instead.take_if(|id| !sees(id));
            candidate.with.take_if(|id| !sees(id));
            candidate.contradictions.retain(|mark| sees(&mark.other.to_string()));
        }
        self.handoffs_left = 0;
        let diagnostics = figures_of(&self.candidates);
        let before = self.diagnostics;
        self.diagnostics = ContextDiagnostics {
            auto_inject_enabled: before.auto_inject_enabled,
            standing_left_out: before.standing_left_out,
            prompt_tokens_before: before.prompt_tokens_before,
            prompt_tokens_after: before.prompt_tokens_before + self.tokens,
            resolved_user_id: before.resolved_user_id,
            ..diagnostics
        };
        self
    }
}

/// The figures of these candidates.
pub(crate) fn figures_of(candidates: &[CandidateReceipt]) -> ContextDiagnostics {
    let taken = || candidates.iter().filter(|candidate| candidate.taken && !candidate.headline);
    let names = |name: fn(&CandidateReceipt) -> &String| {
        taken().map(name).collect::<BTreeSet<_>>().into_iter().cloned().collect::<Vec<String>>()
    };
    ContextDiagnostics {
        candidate_count: candidates.len(),
        injected_count: taken().count(),
        headline_count: candidates.iter().filter(|candidate| candidate.headline).count(),
        source_agents: names(|candidate| &candidate.author),
        memory_types: names(|candidate| &candidate.memory_type),
        ..ContextDiagnostics::default()
    }
}
