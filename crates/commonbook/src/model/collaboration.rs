//! Collaboration: who hands work to whom, where that runs in circles, and what comes of it.
//!
//! Agents are the nodes, handoffs the edges: those that were rejected, withdrawn or have expired
//! passed no work and are none. A new handoff that leads back to where its work came from closes a
//! cycle. That can be right once, when QA hands back what failed; again and again it is two agents
//! that pay for each other's turns. So by default a cycle is reported with its path, and refused
//! when it is closed again; and a chain does not get longer than ten.

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

use crate::base::error::{Error, Result};
use crate::base::id::HandoffId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::handoff::{Handoff, HandoffKind, HandoffStatus, choose};
use commonbook_text::string_enum;

/// A handoff as the collaboration graph knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffEdge {
    /// The handoff.
    pub handoff: HandoffId,
    /// The agent that handed over.
    pub from: Agent,
    /// The agent that it was for.
    pub to: Agent,
    /// How the target's work stood to the source's.
    pub kind: HandoffKind,
    /// How far it has come.
    pub status: HandoffStatus,
    /// The handoff that its chain began with.
    pub chain: HandoffId,
    /// How far down the chain it stands.
    pub depth: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    /// When it was completed, rejected, withdrawn or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
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
        }
    }
}

/// Which handoffs are wanted as edges: those for which all that is said here holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeFilter {
    /// Of this chain.
    pub chain: Option<HandoffId>,
    /// Of this case.
    pub case: Option<String>,
    /// Made or accepted in this session, or of the case that it is on.
    pub work: Option<(String, Option<String>)>,
    /// From or to this agent.
    pub agent: Option<Agent>,
    /// That somebody still has to do something about.
    pub open: bool,
    /// Made since this time.
    pub since: Option<Timestamp>,
}

/// A cycle that a handoff closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffCycle {
    /// The agents around it, each handing over to the next: from the one that hands over now, to
    /// its target, and on until it is the same again.
    pub path: Vec<Agent>,
    /// Whether it was closed before.
    pub again: bool,
}

/// A handoff that was made, with what it does to the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateHandoffResult {
    /// The handoff, which names what goes along.
    pub handoff: Handoff,
    /// What is wrong with it, in words, where something is: it closes a cycle, or its chain is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
}

/// The graph of those who handed work to each other.
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

    /// The graph of the handoffs that passed work, or may yet.
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

    /// The cycle that a handoff from `from` to `to` closes: the shortest, and of equally short
    /// ones the one whose handoffs were given first.
    ///
    /// It was closed before if that very handoff was made before: every other edge of the cycle
    /// is there, so whichever came last closed it.
    #[must_use]
    pub fn closing_cycle(&self, from: &Agent, to: &Agent) -> Option<HandoffCycle> {
        if from == to {
            return Some(HandoffCycle { path: vec![from.clone(), to.clone()], again: false });
        }
        let (start, end) = (*self.places.get(to)?, *self.places.get(from)?);
        let back = self.path(start, end)?;
        let around = [end].into_iter().chain(back);
        let path = around.map(|place| self.agents[place].clone()).collect();
        Some(HandoffCycle { path, again: self.edges.contains(&(end, start)) })
    }

    /// The shortest way from one place to another, both included; breadth first.
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
    /// What happens to a handoff that does what it should not.
    RuleAction {
        /// It is made, and nothing is said.
        Allow = "allow",
        /// It is made, and the answer says what is wrong with it.
        Warn = "warn",
        /// It is refused.
        Reject = "reject",
    }
}

/// What is done about cycles and long chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffRules {
    /// When a cycle is closed for the first time.
    pub cycle: RuleAction,
    /// When the same cycle is closed again.
    pub same_cycle: RuleAction,
    /// When a chain gets too long.
    pub deep_chain: RuleAction,
    /// How many handoffs a chain may have one after the other.
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

/// What is decided for everybody's handoffs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CollaborationSettings {
    /// What is done about cycles and long chains.
    pub rules: HandoffRules,
    /// How the memories that go along are chosen.
    pub handoff: choose::HandoffSettings,
}

impl CollaborationSettings {
    /// Checks what a configuration chose.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn check(&self) -> Result<()> {
        if self.rules.deepest == 0 {
            return Err(Error::invalid("rules.deepest", "a chain has one handoff at the least"));
        }
        self.handoff.check().map_err(|error| {
            let field = error.field.clone().unwrap_or_default();
            error.with_field(&format!("handoff.{field}"))
        })
    }
}

/// What is wrong with a handoff that is made all the same; its answer and an event tell it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HandoffWarnings {
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
    /// How long its chain is, where that is too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deep: Option<u32>,
}

impl HandoffWarnings {
    /// What is wrong, in words; nothing when all is well.
    #[must_use]
    pub fn warning_text(&self) -> Option<String> {
        let cycle = self.cycle.as_ref().map(HandoffCycle::cycle_text);
        let deep = self.deep.map(|depth| format!("this is number {depth} of its chain"));
        let told: Vec<String> = cycle.into_iter().chain(deep).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

impl HandoffCycle {
    /// The cycle in words, with its path; of a long one the beginning and the end.
    #[must_use]
    pub fn cycle_text(&self) -> String {
        const PATH_ENDS_SHOWN: usize = 6;
        let names: Vec<&str> = self.path.iter().map(Agent::as_str).collect();
        let path = match names.len() {
            0..=12 => names.join(" → "),
            count => {
                let between = count - 2 * PATH_ENDS_SHOWN;
                let (head, tail) = (&names[..PATH_ENDS_SHOWN], &names[count - PATH_ENDS_SHOWN..]);
                format!("{} → … {between} more … → {}", head.join(" → "), tail.join(" → "))
            }
        };
        let again = if self.again { " again" } else { "" };
        format!("this closes a cycle of {}{again}: {path}", names.len().saturating_sub(1))
    }
}

impl HandoffRules {
    /// Judges a handoff from `from` to `to` that would be number `depth` of its chain.
    ///
    /// # Errors
    /// `conflict` where the rules refuse it, with the path of the cycle or the length of the chain.
    pub fn judge(
        &self,
        graph: &CollaborationGraph<'_>,
        from: &Agent,
        to: &Agent,
        depth: u32,
    ) -> Result<HandoffWarnings> {
        let mut warnings = HandoffWarnings::default();
        if depth > self.deepest {
            match self.deep_chain {
                RuleAction::Allow => {}
                RuleAction::Warn => warnings.deep = Some(depth),
                RuleAction::Reject => return Err(depth_error(depth, self.deepest)),
            }
        }
        if let Some(cycle) = graph.closing_cycle(from, to) {
            match if cycle.again { self.same_cycle } else { self.cycle } {
                RuleAction::Allow => {}
                RuleAction::Warn => warnings.cycle = Some(cycle),
                RuleAction::Reject => return Err(cycle_error(&cycle)),
            }
        }
        Ok(warnings)
    }
}

fn depth_error(depth: u32, deepest: u32) -> Error {
    let message =
        format!("this would be handoff {depth} of its chain, and a chain has at most {deepest}");
    Error::conflict(message).with_field("to").hint(
        "Do the work yourself, or complete what you have and let whoever began the chain decide.",
    )
}

fn cycle_error(cycle: &HandoffCycle) -> Error {
    Error::conflict(cycle.cycle_text()).with_field("to").hint(
        "Handing it around again will not finish it. Do it yourself, or ask the user what to do.",
    )
}

#[cfg(test)]
mod tests;
