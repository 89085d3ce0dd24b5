//! Walks: the neighbourhood of a node, and the shortest path between two.
//!
//! A walk asks for the links of many nodes at once, one question a step, so that a store answers
//! each step with one statement.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Node, RelationType};
use crate::base::error::Result;
use crate::base::id::RelationId;
use crate::base::limits;

/// A relation as a walk sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The relation.
    pub id: RelationId,
    /// Where it leads from.
    pub from: Node,
    /// Where it leads to.
    pub to: Node,
    /// How they are related.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// How strong it is, from 0 to 1.
    pub strength: f64,
}

impl Link {
    /// The end that is not this one.
    #[must_use]
    pub fn other(&self, node: Node) -> Node {
        if self.from == node { self.to } else { self.from }
    }
}

/// What a walk reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reached {
    /// Each node with the steps to it, nearest first, and the more strongly linked before others.
    pub nodes: Vec<(Node, u32)>,
    /// The links between these nodes that the walk went along or across.
    pub links: Vec<Link>,
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
    from: Node,
    depth: u32,
    most_nodes: usize,
    mut links_of: impl FnMut(&[Node], usize) -> Result<Vec<Link>>,
) -> Result<Reached> {
    let mut reached = Reached { nodes: vec![(from, 0)], ..Reached::default() };
    let mut seen: FxHashMap<Node, u32> = [(from, 0)].into_iter().collect();
    let mut candidates: Vec<Link> = Vec::new();
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

fn stronger_first(a: &Link, b: &Link) -> std::cmp::Ordering {
    b.strength.total_cmp(&a.strength).then(a.id.cmp(&b.id))
}

/// What a search for a path found.
#[derive(Debug, Clone, PartialEq)]
pub enum Path {
    /// The links in order, from the first node to the last; none when both are one.
    Found(Vec<Link>),
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
    from: Node,
    to: Node,
    mut links_of: impl FnMut(&[Node], usize) -> Result<Vec<Link>>,
) -> Result<Path> {
    if from == to {
        return Ok(Path::Found(Vec::new()));
    }
    let mut sides = [Side::from(from), Side::from(to)];
    let mut left = limits::GRAPH_LOOKED_AT;
    for _ in 0..limits::GRAPH_PATH_STEPS {
        let near = usize::from(sides[1].frontier.len() < sides[0].frontier.len());
        if sides[near].frontier.is_empty() {
            return Ok(Path::None);
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
            let mut path = first.back_from(middle);
            path.reverse();
            path.extend(second.back_from(middle));
            return Ok(Path::Found(path));
        }
        if cut {
            return Ok(Path::Unknown);
        }
    }
    Ok(Path::None)
}

/// One end of a search, with how each node was reached from it.
struct Side {
    reached: FxHashMap<Node, Option<Link>>,
    frontier: Vec<Node>,
}

impl Side {
    fn from(node: Node) -> Self {
        Self { reached: [(node, None)].into_iter().collect(), frontier: vec![node] }
    }

    /// Takes the next step along these links; the node where it meets the other side, if it does.
    fn step(&mut self, links: Vec<Link>, other: &Self) -> Option<Node> {
        let at: FxHashSet<Node> = self.frontier.drain(..).collect();
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
    fn back_from(&self, node: Node) -> Vec<Link> {
        let (mut path, mut at) = (VecDeque::new(), node);
        while let Some(Some(link)) = self.reached.get(&at) {
            at = link.other(at);
            path.push_back(link.clone());
        }
        path.into()
    }
}

#[cfg(test)]
mod tests;
