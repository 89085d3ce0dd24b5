//! Walks: the neighbourhood of a node, and the shortest path between two.
//!
//! A walk requests the links of all nodes of one step together, so that a store needs one statement
//! per step.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GraphNode, GraphSource, RelationType};
use crate::base::error::Result;
use crate::base::id::RelationId;
use crate::base::limits;

/// A relation as part of a walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// The relation's id.
    pub id: RelationId,
    /// Where it begins.
    pub from: GraphNode,
    /// Where it ends.
    pub to: GraphNode,
    /// Its type.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// Its strength, from 0 to 1.
    pub strength: f64,
    /// Who says so.
    #[serde(flatten)]
    pub source: GraphSource,
}

impl GraphLink {
    /// The other end of the link.
    #[must_use]
    pub fn other_end(&self, node: GraphNode) -> GraphNode {
        if self.from == node { self.to } else { self.from }
    }
}

/// The result of a walk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WalkResult {
    /// Each node with its number of steps, nearest first; strongly linked ones before others.
    pub nodes: Vec<(GraphNode, u32)>,
    /// The links between these nodes that the walk followed or crossed.
    pub links: Vec<GraphLink>,
    /// Whether a limit left nodes out.
    pub cut: bool,
}

/// The nodes within some steps of a node.
///
/// `links_of` returns the links of these nodes that the caller may see, at most the given number,
/// strongest first. Links between two nodes of the last step are not requested.
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
    let mut seen_links: FxHashSet<RelationId> = FxHashSet::default();
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
            if seen_links.insert(link.id) {
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

/// The result of a path search.
#[derive(Debug, Clone, PartialEq)]
pub enum PathResult {
    /// The links in order from the first node to the last; empty if both are the same.
    Found(Vec<GraphLink>),
    /// No path has at most [`limits::GRAPH_PATH_STEPS`] steps.
    None,
    /// The search ended after [`limits::GRAPH_LOOKED_AT`] links without a path.
    Unknown,
}

/// The shortest path between two nodes, along relations of either direction; among several, the one
/// with the stronger links where they part.
///
/// Searches from both ends, and always extends the smaller side.
///
/// # Errors
/// Those of `links_of`, as in [`neighbourhood`].
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
        let (near_side, far_side) = match &mut sides {
            [near_side, far_side] if near == 0 => (near_side, &*far_side),
            [far_side, near_side] => (near_side, &*far_side),
        };
        if let Some(middle) = near_side.step(links, far_side) {
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

/// One side of the search, with the link by which it reached each node.
struct PathFrontier {
    reached: FxHashMap<GraphNode, Option<GraphLink>>,
    frontier: Vec<GraphNode>,
}

impl PathFrontier {
    fn from(node: GraphNode) -> Self {
        Self { reached: [(node, None)].into_iter().collect(), frontier: vec![node] }
    }

    /// Takes the next step along these links. Returns the node where both sides meet.
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

    /// The links by which a node was reached, last first.
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
