//! Walks: the neighbourhood of a node, and the shortest path between two.
//!
//! A walk asks for the links of many nodes at once, one question a step, so that a store answers
//! each step with one statement.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GraphNode, RelationType};
use crate::base::error::Result;
use crate::base::id::RelationId;
use crate::base::limits;

/// A relation as a walk sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// The relation.
    pub id: RelationId,
    /// Where it leads from.
    pub from: GraphNode,
    /// Where it leads to.
    pub to: GraphNode,
    /// How they are related.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// How strong it is, from 0 to 1.
    pub strength: f64,
}

impl GraphLink {
    /// The end that is not this one.
    #[must_use]
    pub fn other_end(&self, node: GraphNode) -> GraphNode {
        if self.from == node { self.to } else { self.from }
    }
}

/// What a walk reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WalkResult {
    /// Each node with the steps to it, nearest first, and the more strongly linked before others.
    pub nodes: Vec<(GraphNode, u32)>,
    /// The links between these nodes that the walk went along or across.
    pub links: Vec<GraphLink>,
    /// Whether a limit left something out.
    pub cut: bool,
}

/// Everything within some steps of a node.
///
/// `links_of` gives the links of these nodes that the caller sees, at most as many as it is told,
/// and the strongest ones when there are more. Links between two nodes of the last step are not
/// asked for.
///
/// # Errors
/// Those of `links_of`.
pub fn neighbourhood(
    from: GraphNode,
    depth: u32,
    most_nodes: usize,
    mut links_of: impl FnMut(&[GraphNode], usize) -> Result<Vec<GraphLink>>,
) -> Result<WalkResult> {
    let mut reached = WalkResult { nodes: vec![(from, 0)], ..WalkResult::default() };
    let mut seen: FxHashMap<GraphNode, u32> = [(from, 0)].into_iter().collect();
    let mut candidates: Vec<GraphLink> = Vec::new();
    let mut known: FxHashSet<RelationId> = FxHashSet::default();
    let (mut frontier, mut left) = (vec![from], limits::GRAPH_LOOKED_AT);
    for step in 1..=depth {
        if frontier.is_empty() {
            break;
        }
        let mut links = links_of(&frontier, left)?;
        reached.cut |= links.len() >= left;
        left = left.saturating_sub(links.len());
        links.sort_by(stronger_first);
        let mut next = Vec::new();
        for link in links {
            for end in [link.from, link.to] {
                if seen.contains_key(&end) {
                    continue;
                }
                if seen.len() >= most_nodes {
                    reached.cut = true;
                    continue;
                }
                seen.insert(end, step);
                reached.nodes.push((end, step));
                next.push(end);
            }
            if known.insert(link.id) {
                candidates.push(link);
            }
        }
        frontier = next;
        if left == 0 {
            break;
        }
    }
    candidates.retain(|link| seen.contains_key(&link.from) && seen.contains_key(&link.to));
    if candidates.len() > limits::GRAPH_LINKS {
        candidates.sort_by(stronger_first);
        candidates.truncate(limits::GRAPH_LINKS);
        reached.cut = true;
    }
    reached.links = candidates;
    Ok(reached)
}

fn stronger_first(a: &GraphLink, b: &GraphLink) -> std::cmp::Ordering {
    b.strength.total_cmp(&a.strength).then(a.id.cmp(&b.id))
}

/// What a search for a path found.
#[derive(Debug, Clone, PartialEq)]
pub enum PathResult {
    /// The links in order, from the first node to the last; none when both are one.
    Found(Vec<GraphLink>),
    /// There is none of at most [`limits::GRAPH_PATH_STEPS`] steps.
    None,
    /// None was found before [`limits::GRAPH_LOOKED_AT`] links were looked at.
    Unknown,
}

/// The shortest path between two nodes, along relations of either direction; of several the one
/// whose links are stronger where they part.
///
/// The search begins at both ends and goes on where there is less to look at.
///
/// # Errors
/// Those of `links_of`, which is as in [`neighbourhood`].
pub fn shortest_path(
    from: GraphNode,
    to: GraphNode,
    mut links_of: impl FnMut(&[GraphNode], usize) -> Result<Vec<GraphLink>>,
) -> Result<PathResult> {
    if from == to {
        return Ok(PathResult::Found(Vec::new()));
    }
    let mut sides = [PathFrontier::from(from), PathFrontier::from(to)];
    let mut left = limits::GRAPH_LOOKED_AT;
    for _ in 0..limits::GRAPH_PATH_STEPS {
        let near = usize::from(sides[1].frontier.len() < sides[0].frontier.len());
        if sides[near].frontier.is_empty() {
            return Ok(PathResult::None);
        }
        let mut links = links_of(&sides[near].frontier, left)?;
        let cut = links.len() >= left;
        left = left.saturating_sub(links.len());
        links.sort_by(stronger_first);
        let (one, other) = match &mut sides {
            [one, other] if near == 0 => (one, &*other),
            [other, one] => (one, &*other),
        };
        if let Some(middle) = one.step(links, other) {
            let [first, second] = &sides;
            let mut path = first.path_back(middle);
            path.reverse();
            path.extend(second.path_back(middle));
            return Ok(PathResult::Found(path));
        }
        if cut {
            return Ok(PathResult::Unknown);
        }
    }
    Ok(PathResult::None)
}

/// One end of a search, with how each node was reached from it.
struct PathFrontier {
    reached: FxHashMap<GraphNode, Option<GraphLink>>,
    frontier: Vec<GraphNode>,
}

impl PathFrontier {
    fn from(node: GraphNode) -> Self {
        Self { reached: [(node, None)].into_iter().collect(), frontier: vec![node] }
    }

    /// Takes the next step along these links; the node where it meets the other side, if it does.
    fn step(&mut self, links: Vec<GraphLink>, other: &Self) -> Option<GraphNode> {
        let at: FxHashSet<GraphNode> = self.frontier.drain(..).collect();
        for link in links {
            let ends = [(link.from, link.to), (link.to, link.from)];
            for (here, there) in ends {
                if !at.contains(&here) || self.reached.contains_key(&there) {
                    continue;
                }
                self.reached.insert(there, Some(link.clone()));
                self.frontier.push(there);
                if other.reached.contains_key(&there) {
                    return Some(there);
                }
            }
        }
        None
    }

    /// The links by which a node was reached, the last one first.
    fn path_back(&self, node: GraphNode) -> Vec<GraphLink> {
        let (mut path, mut at) = (VecDeque::new(), node);
        while let Some(Some(link)) = self.reached.get(&at) {
            at = link.other_end(at);
            path.push_back(link.clone());
        }
        path.into()
    }
}

#[cfg(test)]
mod tests;
