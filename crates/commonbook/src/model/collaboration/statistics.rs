//! Statistics of handoffs: counts, outcomes and durations, and the chains.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HandoffEdge;
use crate::base::id::HandoffId;
use crate::model::agent::Agent;
use crate::model::handoff::HandoffStatus;

/// A summary of durations.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DurationSummary {
    /// Number of measured durations. One whose end precedes its beginning, because a clock was set
    /// back, is not measured.
    pub count: u64,
    /// The median, in seconds.
    pub p50_seconds: f64,
    /// The 95th percentile, in seconds.
    pub p95_seconds: f64,
    /// The maximum, in seconds.
    pub max_seconds: f64,
}

/// The handoffs from one agent to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentPair {
    /// The agent that handed over.
    pub from: Agent,
    /// The target agent.
    pub to: Agent,
    /// Number of handoffs.
    pub count: u64,
    /// Number of handoffs per status, all statuses included.
    pub by_status: BTreeMap<HandoffStatus, u64>,
    /// The time until they were accepted.
    pub to_accept: DurationSummary,
}

/// Counts and durations of handoffs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HandoffStatistics {
    /// Number of handoffs.
    pub count: u64,
    /// Number of agents.
    pub agents: u64,
    /// Number of chains.
    pub chains: u64,
    /// Length of the longest chain.
    pub deepest: u32,
    /// Number of handoffs that closed a cycle.
    pub cycles: u64,
    /// Number of those that closed a cycle again: further rounds.
    pub rounds: u64,
    /// Number of handoffs that were refused for their cycle or their long chain.
    pub refusals: u64,
    /// Number of handoffs per status, all statuses included.
    pub by_status: BTreeMap<HandoffStatus, u64>,
    /// The time until they were accepted.
    pub to_accept: DurationSummary,
    /// The time from acceptance to completion.
    pub to_complete: DurationSummary,
    /// The same per pair of agents; pairs with the most handoffs first.
    pub pairs: Vec<AgentPair>,
}

/// The statistics of these handoffs, besides which `refusals` others were refused.
#[must_use]
pub fn statistics(edges: &[HandoffEdge], refusals: u64) -> HandoffStatistics {
    let mut by_pair: BTreeMap<(&Agent, &Agent), Vec<&HandoffEdge>> = BTreeMap::new();
    for edge in edges {
        by_pair.entry((&edge.from, &edge.to)).or_default().push(edge);
    }
    let mut agents: Vec<&Agent> = by_pair.keys().flat_map(|(from, to)| [*from, *to]).collect();
    agents.sort_unstable();
    agents.dedup();
    let agents = agents.len() as u64;
    let mut pairs: Vec<AgentPair> = by_pair
        .into_iter()
        .map(|((from, to), edges)| AgentPair {
            from: from.clone(),
            to: to.clone(),
            count: edges.len() as u64,
            by_status: by_status(edges.iter().copied()),
            to_accept: duration_summary(edges.iter().filter_map(|edge| acceptance_delay(edge))),
        })
        .collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.count));
    let mut begun: Vec<HandoffId> = edges.iter().map(|edge| edge.chain).collect();
    begun.sort_unstable();
    begun.dedup();
    let cycles = edges.iter().filter_map(|edge| edge.cycle.as_ref());
    let completed = edges.iter().filter(|edge| edge.status == HandoffStatus::Completed);
    HandoffStatistics {
        count: edges.len() as u64,
        agents,
        chains: begun.len() as u64,
        deepest: edges.iter().map(|edge| edge.depth).max().unwrap_or(0),
        cycles: cycles.clone().count() as u64,
        rounds: cycles.filter(|cycle| cycle.again).count() as u64,
        refusals,
        by_status: by_status(edges),
        to_accept: duration_summary(edges.iter().filter_map(acceptance_delay)),
        to_complete: duration_summary(
            completed.filter_map(|edge| time_between(edge.accepted_at?, edge.ended_at?)),
        ),
        pairs,
    }
}

fn by_status<'a>(edges: impl IntoIterator<Item = &'a HandoffEdge>) -> BTreeMap<HandoffStatus, u64> {
    let mut counts: BTreeMap<_, u64> =
        HandoffStatus::ALL.iter().map(|status| (*status, 0)).collect();
    for edge in edges {
        *counts.entry(edge.status).or_default() += 1;
    }
    counts
}

fn acceptance_delay(edge: &HandoffEdge) -> Option<SignedDuration> {
    time_between(edge.created_at, edge.accepted_at?)
}

fn time_between(from: Timestamp, to: Timestamp) -> Option<SignedDuration> {
    let passed = to.duration_since(from);
    (!passed.is_negative()).then_some(passed)
}

/// Computes percentiles by the nearest-rank method.
fn duration_summary(passed: impl Iterator<Item = SignedDuration>) -> DurationSummary {
    let mut passed: Vec<SignedDuration> = passed.collect();
    passed.sort_unstable();
    let rank = |percent: usize| {
        let place = (passed.len() * percent).div_ceil(100).saturating_sub(1);
        passed.get(place).map_or(0.0, SignedDuration::as_secs_f64)
    };
    DurationSummary {
        count: passed.len() as u64,
        p50_seconds: rank(50),
        p95_seconds: rank(95),
        max_seconds: rank(100),
    }
}

/// A chain: handoffs of which each continues an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffChain {
    /// The first handoff of the chain.
    pub chain: HandoffId,
    /// The agents, in the order in which the work reached them.
    pub agents: Vec<Agent>,
    /// Maximum depth of its handoffs.
    pub depth: u32,
    /// Number of its pending and accepted handoffs.
    pub open: u64,
    /// Its handoffs, in order of creation.
    pub handoffs: Vec<HandoffEdge>,
}

/// The chains of these handoffs, in the order in which they began. `edges` are in order of creation
/// by the journal, not by the clock.
#[must_use]
pub fn chains(edges: &[HandoffEdge]) -> Vec<HandoffChain> {
    let mut found: Vec<HandoffChain> = Vec::new();
    let mut places: BTreeMap<HandoffId, usize> = BTreeMap::new();
    for edge in edges {
        let place = *places.entry(edge.chain).or_insert_with(|| {
            let (agents, handoffs) = (Vec::new(), Vec::new());
            found.push(HandoffChain { chain: edge.chain, agents, depth: 0, open: 0, handoffs });
            found.len() - 1
        });
        let chain = &mut found[place];
        chain.depth = chain.depth.max(edge.depth);
        chain.open += u64::from(edge.status.is_open());
        chain.handoffs.push(edge.clone());
    }
    for chain in &mut found {
        for agent in chain.handoffs.iter().flat_map(|edge| [&edge.from, &edge.to]) {
            if !chain.agents.contains(agent) {
                chain.agents.push(agent.clone());
            }
        }
    }
    found
}
