//! Collaboration: the graph of handoffs between agents, with its cycles and statistics.
//!
//! Agents are the nodes, handoffs the edges; a handoff that was rejected, withdrawn or has expired
//! passed no work and is not an edge. A new handoff that leads back to an earlier agent closes a
//! cycle. That can be right, as when QA returns what failed, also in several rounds; but a round in
//! which no agent wrote anything moves nothing. So by default Commonbook reports each cycle with its
//! path, refuses an idle round, and limits a chain to ten handoffs.

pub mod export;
mod requests;
mod statistics;

pub use requests::{CollaborationOverview, DrawingFormat, GetCollaborations};
pub use statistics::{
    AgentPair, DurationSummary, HandoffChain, HandoffStatistics, chains, statistics,
};

use std::collections::VecDeque;

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::HandoffId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::handoff::choose::{self, MemoryExclusion};
use crate::model::handoff::{Handoff, HandoffCycle, HandoffKind, HandoffStatus, PassedNote};
use crate::model::lineage::StaleMemory;
use commonbook_text::string_enum;

/// A handoff as an edge of the collaboration graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffEdge {
    /// The handoff's id.
    pub handoff: HandoffId,
    /// The agent that handed over.
    pub from: Agent,
    /// The target agent.
    pub to: Agent,
    /// How the target's work relates to the source's.
    pub kind: HandoffKind,
    /// Its status.
    pub status: HandoffStatus,
    /// The first handoff of its chain.
    pub chain: HandoffId,
    /// Its depth in the chain.
    pub depth: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    /// When it was completed, rejected, withdrawn or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
}

impl From<&Handoff> for HandoffEdge {
    fn from(handoff: &Handoff) -> Self {
        Self {
            handoff: handoff.id,
            from: handoff.from.clone(),
            to: handoff.to.clone(),
            kind: handoff.kind,
            status: handoff.status,
            chain: handoff.chain,
            depth: handoff.depth,
            created_at: handoff.created_at,
            accepted_at: handoff.accepted_at,
            ended_at: handoff.ended_at,
            cycle: handoff.cycle.clone(),
        }
    }
}

/// Selects handoffs as edges; all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeFilter {
    /// Of this chain.
    pub chain: Option<HandoffId>,
    /// Of this case.
    pub case: Option<String>,
    /// Created or accepted in this session, or of the session's case.
    pub work: Option<(String, Option<String>)>,
    /// From or to this agent.
    pub agent: Option<Agent>,
    /// Pending or accepted.
    pub open: bool,
    /// Created since this time.
    pub since: Option<Timestamp>,
}

/// A created handoff, and its effect on the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateHandoffResult {
    /// The handoff, with the memories and entities that it carries.
    pub handoff: Handoff,
    /// A warning: of a cycle, a long chain, or a target that nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
    /// Why no memory goes along, what of the text has no room, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What goes along: the first ten memories, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<PassedNote>,
    /// What stays behind: up to ten memories that may belong to it, the nearest first. Name those that do in `memories`. A
    /// private one is not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<PassedNote>,
    /// True if this is only what a handoff would be: nothing was handed over, and its id names none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// With `dry_run`: the candidates that would be left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<MemoryExclusion>,
    /// What it rests on and has changed since you received it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleMemory>,
}

impl CreateHandoffResult {
    /// The result of a handoff that was created.
    #[must_use]
    pub fn of(handoff: Handoff, warning: Option<String>) -> Self {
        Self {
            handoff,
            warning,
            cycle: None,
            hint: None,
            along: Vec::new(),
            behind: Vec::new(),
            dry_run: false,
            left_out: Vec::new(),
            stale: Vec::new(),
        }
    }
}

/// A directed graph of agents that hand work to each other.
#[derive(Debug, Clone, Default)]
pub struct CollaborationGraph<'a> {
    places: FxHashMap<&'a Agent, usize>,
    agents: Vec<&'a Agent>,
    targets: Vec<Vec<usize>>,
    edges: FxHashSet<(usize, usize)>,
}

impl<'a> CollaborationGraph<'a> {
    /// The graph of these handoffs, each from one agent to another.
    pub fn of(handoffs: impl IntoIterator<Item = (&'a Agent, &'a Agent)>) -> Self {
        let mut graph = Self::default();
        for (from, to) in handoffs {
            let (from, to) = (graph.place(from), graph.place(to));
            if graph.edges.insert((from, to)) {
                graph.targets[from].push(to);
            }
        }
        graph
    }

    /// The graph of the handoffs that passed work or still can.
    pub fn of_edges(edges: impl IntoIterator<Item = &'a HandoffEdge>) -> Self {
        let working = edges.into_iter().filter(|edge| edge.status.passes_work());
        Self::of(working.map(|edge| (&edge.from, &edge.to)))
    }

    fn place(&mut self, agent: &'a Agent) -> usize {
        if let Some(place) = self.places.get(agent) {
            return *place;
        }
        let place = self.agents.len();
        self.places.insert(agent, place);
        self.agents.push(agent);
        self.targets.push(Vec::new());
        place
    }

    /// The cycle that a handoff from `from` to `to` closes: the shortest; among equally short ones,
    /// the one whose handoffs were given first.
    ///
    /// It was closed before if the same handoff was made before: every other edge of the cycle
    /// exists, so the last one closed it.
    #[must_use]
    pub fn closing_cycle(&self, from: &Agent, to: &Agent) -> Option<HandoffCycle> {
        if from == to {
            return Some(HandoffCycle::first(vec![from.clone(), to.clone()]));
        }
        let (start, end) = (*self.places.get(to)?, *self.places.get(from)?);
        let back = self.path(start, end)?;
        let around = [end].into_iter().chain(back);
        let path = around.map(|place| self.agents[place].clone()).collect();
        let again = self.edges.contains(&(end, start));
        Some(HandoffCycle { again, ..HandoffCycle::first(path) })
    }

    /// The cycle that a handoff closes. One for a role may close it by any agent that has the role:
    /// the shortest such cycle counts.
    #[must_use]
    pub fn cycle_of(&self, handoff: &Handoff) -> Option<HandoffCycle> {
        let holders = self.agents.iter().filter(|agent| handoff.waits_for(agent));
        let targets = [&handoff.to].into_iter().chain(holders.copied());
        let cycles = targets.filter_map(|target| self.closing_cycle(&handoff.from, target));
        cycles.min_by_key(|cycle| cycle.path.len())
    }

    /// The shortest path between two nodes, both included; breadth first.
    fn path(&self, start: usize, end: usize) -> Option<Vec<usize>> {
        let mut came_from = vec![usize::MAX; self.agents.len()];
        came_from[start] = start;
        let mut next = VecDeque::from([start]);
        while let Some(place) = next.pop_front() {
            if place == end {
                let mut path = vec![end];
                while let Some(last) = path.last().copied().filter(|last| *last != start) {
                    path.push(came_from[last]);
                }
                path.reverse();
                return Some(path);
            }
            for target in &self.targets[place] {
                if came_from[*target] == usize::MAX {
                    came_from[*target] = place;
                    next.push_back(*target);
                }
            }
        }
        None
    }
}

string_enum! {
    /// What happens to a handoff that violates a rule.
    RuleAction {
        /// It is created without a warning.
        Allow = "allow",
        /// It is created, and the response contains a warning.
        Warn = "warn",
        /// It is refused.
        Reject = "reject",
    }
}

/// The rules for cycles and long chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffRules {
    /// For a cycle, except for an idle round.
    pub cycle: RuleAction,
    /// For a cycle that is closed again, and none of its agents has written anything since.
    pub same_cycle: RuleAction,
    /// For a chain that gets too long.
    pub deep_chain: RuleAction,
    /// Maximum number of handoffs in a chain.
    #[schemars(range(min = 1))]
    pub deepest: u32,
}

impl Default for HandoffRules {
    fn default() -> Self {
        Self {
            cycle: RuleAction::Warn,
            same_cycle: RuleAction::Reject,
            deep_chain: RuleAction::Reject,
            deepest: limits::CHAIN_DEPTH,
        }
    }
}

/// Settings for the handoffs of all agents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CollaborationSettings {
    /// Whether agents can hand work over. If not, open handoffs can still be accepted and ended.
    pub handoffs: bool,
    /// The rules for cycles and long chains.
    pub rules: HandoffRules,
    /// How memories are chosen for a handoff.
    pub handoff: choose::HandoffSettings,
}

impl Default for CollaborationSettings {
    fn default() -> Self {
        let (rules, handoff) = (HandoffRules::default(), choose::HandoffSettings::default());
        Self { handoffs: true, rules, handoff }
    }
}

impl CollaborationSettings {
    /// Checks that agents can hand work over.
    ///
    /// # Errors
    /// `forbidden`, with the setting.
    pub fn may_hand_over(&self) -> Result<()> {
        if self.handoffs {
            return Ok(());
        }
        let message = "handing over is switched off here (collaboration.handoffs is false)";
        Err(Error::new(ErrorKind::Forbidden, message).hint(
            "Do the work yourself, or ask a person to set collaboration.handoffs in config.json.",
        ))
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn check(&self) -> Result<()> {
        if self.rules.deepest == 0 {
            return Err(Error::invalid("rules.deepest", "0 is out of range; expected at least 1"));
        }
        self.handoff.check().map_err(|error| {
            let field = error.field.clone().unwrap_or_default();
            error.with_field(&format!("handoff.{field}"))
        })
    }
}

/// The warnings of a handoff that is created; its response and an event contain them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HandoffWarnings {
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
    /// The length of its chain, if too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deep: Option<u32>,
}

impl HandoffWarnings {
    /// The warnings as text; `None` if there are none.
    #[must_use]
    pub fn warning_text(&self) -> Option<String> {
        let cycle = self.cycle.as_ref().map(HandoffCycle::cycle_text);
        let deep = self.deep.map(|depth| format!("this is handoff {depth} of its chain"));
        let warnings: Vec<String> = cycle.into_iter().chain(deep).collect();
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }
}

impl HandoffCycle {
    /// The earlier handoffs from its source to the same target, each of which closed the cycle.
    #[must_use]
    pub fn closing_handoffs(&self, edges: &[HandoffEdge]) -> Vec<HandoffId> {
        Self::handoffs_between(self.path.get(..2).unwrap_or_default(), edges)
    }

    /// The last handoff that this one repeats, else the one by which the work came to its source.
    #[must_use]
    pub fn earlier_handoff(&self, edges: &[HandoffEdge]) -> Option<HandoffId> {
        let incoming = self.path.windows(2).last().unwrap_or_default();
        let repeated = self.closing_handoffs(edges).pop();
        repeated.or_else(|| Self::handoffs_between(incoming, edges).pop())
    }

    /// The handoffs from the first of two agents to the second that passed work.
    fn handoffs_between(pair: &[Agent], edges: &[HandoffEdge]) -> Vec<HandoffId> {
        let [from, to] = pair else { return Vec::new() };
        let passed = edges.iter().filter(|edge| edge.status.passes_work());
        passed
            .filter(|edge| edge.from == *from && edge.to == *to)
            .map(|edge| edge.handoff)
            .collect()
    }
}

impl HandoffRules {
    /// Checks a handoff that closes this cycle, and is number `depth` of those that handed the work on without
    /// completing it.
    ///
    /// # Errors
    /// `conflict` if the rules refuse it, with the path of the cycle or the length of the chain.
    pub fn judge(&self, cycle: Option<HandoffCycle>, depth: u32) -> Result<HandoffWarnings> {
        let mut warnings = HandoffWarnings::default();
        if depth > self.deepest {
            match self.deep_chain {
                RuleAction::Allow => {}
                RuleAction::Warn => warnings.deep = Some(depth),
                RuleAction::Reject => return Err(depth_error(depth, self.deepest)),
            }
        }
        if let Some(cycle) = cycle {
            match if cycle.idle { self.same_cycle } else { self.cycle } {
                RuleAction::Allow => {}
                RuleAction::Warn => warnings.cycle = Some(cycle),
                RuleAction::Reject => return Err(cycle_error(&cycle)),
            }
        }
        Ok(warnings)
    }
}

fn depth_error(depth: u32, deepest: u32) -> Error {
    let message = format!(
        "this would be handoff {depth} of work that nobody has completed; the maximum is {deepest}"
    );
    Error::conflict(message).with_field("to").hint(
        "Do the work yourself, or complete your handoffs and let the agent that began the chain decide. \
         A person can set collaboration.rules.deepest in config.json.",
    )
}

fn cycle_error(cycle: &HandoffCycle) -> Error {
    let setting = if cycle.idle { "same_cycle" } else { "cycle" };
    let first = if cycle.idle {
        "Save what you have found with `save_memory` and hand over again, or do the work yourself."
    } else {
        "Do the work yourself, or ask the user."
    };
    Error::conflict(cycle.cycle_text()).with_field("to").hint(format!(
        "{first} A person can permit it with collaboration.rules.{setting} in config.json."
    ))
}

#[cfg(test)]
mod tests;
