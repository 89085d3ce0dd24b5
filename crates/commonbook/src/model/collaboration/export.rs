//! Export: the collaboration graph as DOT and as lines of text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{HandoffChain, HandoffEdge};
use crate::base::id::handle;
use crate::model::agent::Agent;
use crate::model::graph::export::quote_dot;
use crate::model::handoff::HandoffStatus;

/// The graph for Graphviz: one arrow per pair of agents with the number of handoffs, dashed if none
/// of them passed work. Names are escaped, so that none ends a label or begins an attribute.
#[must_use]
pub fn dot(edges: &[HandoffEdge]) -> String {
    let agents: BTreeSet<&Agent> = edges.iter().flat_map(|edge| [&edge.from, &edge.to]).collect();
    let mut arrows: BTreeMap<(&Agent, &Agent), (u64, u64)> = BTreeMap::new();
    for edge in edges {
        let (all, working) = arrows.entry((&edge.from, &edge.to)).or_default();
        *all += 1;
        *working += u64::from(edge.status.passes_work());
    }
    let mut dot = String::from("digraph collaboration {\n  node [shape=box];\n");
    for agent in agents {
        let _ = writeln!(dot, "  {};", quote_dot(agent.as_str()));
    }
    for ((from, to), (all, working)) in arrows {
        let (from, to) = (quote_dot(from.as_str()), quote_dot(to.as_str()));
        let style = if working == 0 { ", style=dashed" } else { "" };
        let _ = writeln!(dot, "  {from} -> {to} [label=\"{all}\"{style}];");
    }
    dot.push_str("}\n");
    dot
}

/// The chains as lines: their handoffs in order of creation, indented by depth.
#[must_use]
pub fn text(chains: &[HandoffChain]) -> String {
    let mut text = String::new();
    for chain in chains {
        let (count, depth) = (chain.handoffs.len(), chain.depth);
        let plural = if count == 1 { "" } else { "s" };
        let chain_id = chain.chain.to_string();
        let name = handle(&chain_id);
        let _ = writeln!(text, "#{name}: {count} handoff{plural}, depth {depth}");
        for edge in &chain.handoffs {
            let indent = "  ".repeat(edge.depth as usize);
            let HandoffEdge { handoff, from, to, kind, status, .. } = edge;
            let at = edge.created_at.strftime("%F %H:%M");
            let mark = if *status == HandoffStatus::Completed { "✓" } else { "·" };
            let id = handoff.to_string();
            let id = handle(&id);
            let _ = writeln!(text, "{indent}{mark} {from} → {to}  {status}, {kind}, {at}  #{id}");
        }
    }
    text
}
