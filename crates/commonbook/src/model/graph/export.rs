//! Export: a part of the graph as DOT and as JSON.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::walk::GraphLink;
use super::{GraphNode, GraphSource};
use crate::model::contradiction::{ContradictionMark, ContradictionStatus};

/// Maximum length of a label, in characters; a longer one is cut and ends in `…`.
const NODE_LABEL_CHARS_MAX: usize = 60;

/// A node of an exported graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    /// The entity or memory.
    pub id: GraphNode,
    /// The entity's type, or `memory`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The entity's name, or the memory's title or beginning.
    pub label: String,
    /// Number of steps from the start of the walk.
    pub steps: u32,
    /// Who says so.
    #[serde(flatten)]
    pub source: GraphSource,
}

/// The name of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLabel {
    /// The entity or memory.
    pub node: GraphNode,
    /// The entity's type, or `memory`.
    pub kind: String,
    /// The entity's name, or the memory's title or beginning.
    pub label: String,
    /// Who says so.
    pub source: GraphSource,
}

impl NodeLabel {
    /// The node at this number of steps from the start of a walk.
    #[must_use]
    pub fn at_steps(self, steps: u32) -> NodeView {
        let Self { node, kind, label, source } = self;
        NodeView { id: node, kind, label, steps, source }
    }
}

/// A part of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnowledgeSubgraph {
    /// The nodes, nearest first.
    pub nodes: Vec<NodeView>,
    /// The links between them.
    pub links: Vec<GraphLink>,
    /// Whether a limit left nodes out.
    pub cut: bool,
    /// With `to`: whether a path of at most 12 steps exists; `null` if the search ended at its
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// The contradictions of its memories that are open, and those resolved with a context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<ContradictionMark>,
    /// The graph in DOT for Graphviz, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dot: Option<String>,
}

impl KnowledgeSubgraph {
    /// The graph for Graphviz. Labels are escaped, so that no agent's text ends one or begins an
    /// attribute.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut dot = String::from("digraph commonbook {\n  node [shape=box];\n");
        for node in &self.nodes {
            let shape = if matches!(node.id, GraphNode::Memory(_)) { ", shape=note" } else { "" };
            let (id, label, kind, author) = (
                quote_dot(&node.id.to_string()),
                quote_dot(&short_label(&node.label)),
                quote_dot(&node.kind),
                quote_dot(&node.source.line()),
            );
            let _ = writeln!(dot, "  {id} [label={label}, class={kind}, tooltip={author}{shape}];");
        }
        for link in &self.links {
            let (from, to) = (quote_dot(&link.from.to_string()), quote_dot(&link.to.to_string()));
            let label = quote_dot(link.relation_type.as_str());
            let width = 1.0 + 2.0 * link.strength.clamp(0.0, 1.0);
            let author = quote_dot(&link.source.line());
            let _ = writeln!(
                dot,
                "  {from} -> {to} [label={label}, tooltip={author}, penwidth={width:.1}];"
            );
        }
        let is_node = |id| self.nodes.iter().any(|node| node.id == GraphNode::Memory(id));
        for mark in self.contradictions.iter().filter(|mark| is_node(mark.other)) {
            // Both sides have the mark, and the graph one line.
            if mark.memory > mark.other {
                continue;
            }
            let [from, to] = [mark.memory, mark.other].map(|id| quote_dot(&id.to_string()));
            let label = match (mark.status, &mark.context) {
                (ContradictionStatus::Open, _) => "contradicts: open".to_owned(),
                (_, context) => short_label(context.as_deref().unwrap_or("both hold")),
            };
            let label = quote_dot(&label);
            let _ = writeln!(dot, "  {from} -> {to} [label={label}, dir=none, style=dashed];");
        }
        dot.push_str("}\n");
        dot
    }
}

fn short_label(label: &str) -> String {
    let mut letters = label.chars();
    let mut shown: String = letters.by_ref().take(NODE_LABEL_CHARS_MAX).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A text as a quoted DOT string: escapes backslashes and quotes, writes line breaks as `
/// `, drops other control characters.
pub(crate) fn quote_dot(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            '\n' => quoted.push_str("\\n"),
            _ if letter.is_control() => {}
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::base::id::{EntityId, MemoryId, RelationId};
    use crate::model::agent::Agent;

    fn sample(label: &str) -> KnowledgeSubgraph {
        let entity = GraphNode::Entity(EntityId::from_uuid(Uuid::from_u128(1)));
        let memory = GraphNode::Memory(MemoryId::from_uuid(Uuid::from_u128(2)));
        let source =
            |author: &str| GraphSource::of_statement(Agent::with_any_name(author).expect("a name"));
        let named = |id, kind: &str, label: &str, steps| NodeView {
            id,
            kind: kind.to_owned(),
            label: label.to_owned(),
            steps,
            source: source("ann"),
        };
        KnowledgeSubgraph {
            nodes: vec![named(entity, "tool", label, 0), named(memory, "memory", "A note", 1)],
            links: vec![GraphLink {
                id: RelationId::from_uuid(Uuid::from_u128(3)),
                from: memory,
                to: entity,
                relation_type: "relates_to".parse().expect("a slug"),
                strength: 0.5,
                source: source("import/bob"),
            }],
            cut: false,
            connected: None,
            contradictions: Vec::new(),
            dot: None,
        }
    }

    #[test]
    fn dot_draws_nodes_and_links() {
        let expected = "digraph commonbook {\n  node [shape=box];\n  \
            \"ent_00000000000000000000000001\" [label=\"Rust\", class=\"tool\", tooltip=\"ann\"];\n  \
            \"mem_00000000000000000000000002\" [label=\"A note\", class=\"memory\", tooltip=\"ann\", shape=note];\n  \
            \"mem_00000000000000000000000002\" -> \"ent_00000000000000000000000001\" [label=\"relates_to\", tooltip=\"import/bob, from a file\", penwidth=2.0];\n}\n";
        assert_eq!(sample("Rust").dot(), expected);
    }

    #[test]
    fn no_label_leaves_its_quotation_marks() {
        let table = [
            ("a\"]; x [label=\"b", r#"[label="a\"]; x [label=\"b""#),
            ("back\\", r#"[label="back\\""#),
            ("two\nlines\u{1b}[0m", r#"[label="two\nlines[0m""#),
            ("<b>bold</b>", r#"[label="<b>bold</b>""#),
        ];
        for (label, expected) in table {
            let dot = sample(label).dot();
            assert!(dot.contains(expected), "{dot}");
        }
        let long = sample(&"ä".repeat(100)).dot();
        assert!(long.contains(&format!("{}…", "ä".repeat(NODE_LABEL_CHARS_MAX))));
    }

    #[test]
    fn a_graph_survives_json_unchanged() {
        let graph = sample("a\"b\\c\nd");
        let written = serde_json::to_value(&graph).expect("it can be written");
        assert_eq!(written["nodes"][0]["type"], "tool");
        assert_eq!(written["links"][0]["type"], "relates_to");
        assert_eq!(written["links"][0]["origin_note"], "from a file");
        let read: KnowledgeSubgraph = serde_json::from_value(written).expect("it can be read");
        assert_eq!(read, graph);
    }
}
