//! How people read retractions, and who knows what.

use commonbook::base::page::Page;
use commonbook::model::knowledge::{AgentKnowledge, KnownMemory};
use commonbook::model::memory::{RadiusKind, RadiusNode, RetractionResult};
use serde_json::Value;

use super::layout::{minute, one_line, print_next_page, print_table, short, show};
use crate::calls::output::{count_text, print_line, print_note};

/// The tree of what a memory reached, and how to take the retraction back.
pub(super) fn show_retraction(response: &Value) {
    show(response, |result: &RetractionResult| {
        let radius = &result.blast_radius;
        for node in &radius.nodes {
            print_line(&node_line(node));
        }
        if radius.left_out > 0 {
            print_line(&format!("… and {} more", radius.left_out));
        }
        let reach = format!(
            "{} and {}",
            count_text(radius.agents, "agent", "agents"),
            count_text(radius.retracted, "copy", "copies")
        );
        match &result.operation {
            Some(operation) => print_note(&format!(
                "retracted; it reached {reach}; `commonbook undo {}` takes it back",
                short(operation)
            )),
            None => print_note(&format!("dry run: it reached {reach}, nothing was changed")),
        }
    });
}

/// A node, indented by its depth.
fn node_line(node: &RadiusNode) -> String {
    let indent = "  ".repeat(node.depth as usize);
    let name = match node.kind {
        RadiusKind::Memory | RadiusKind::Handoff => short(&node.id),
        RadiusKind::Agent | RadiusKind::Standing => node.id.clone(),
    };
    let at = node.at.map(minute);
    let revision = node.revision.filter(|_| node.kind == RadiusKind::Agent);
    let revision = revision.map(|revision| format!("revision {revision}"));
    let facts = [Some(node.how.clone()), revision, at];
    let facts: Vec<String> = facts.into_iter().flatten().filter(|fact| !fact.is_empty()).collect();
    let says = match node.says.is_empty() {
        true => String::new(),
        false => format!(": {}", one_line(&node.says)),
    };
    format!("{indent}{} {name} ({}){says}", node.kind, facts.join(", "))
}

/// Each memory with what agents know of it.
pub(super) fn show_knowledge(response: &Value) {
    show(response, |page: &Page<KnownMemory>| {
        if page.items.is_empty() {
            print_line("No agent received anything that you ask about");
        }
        for known in &page.items {
            let KnownMemory { memory, owner, says, retraction, superseded_by, .. } = known;
            print_line(&format!("{} by {owner}: {}", short(memory), one_line(says)));
            if let Some(retraction) = retraction {
                print_line(&format!("  retracted by {}: {}", retraction.by, retraction.reason));
            }
            if let Some(newer) = superseded_by {
                print_line(&format!("  superseded by {}", short(newer)));
            }
            let columns = ["  agent", "state", "revision", "since", "from"];
            print_table(&columns, known.agents.iter().map(agent_row));
        }
        print_next_page("--cursor", page.next.as_ref());
    });
}

fn agent_row(known: &AgentKnowledge) -> Vec<String> {
    vec![
        format!("  {}", known.agent),
        known.state.to_string(),
        known.revision.map(|revision| revision.to_string()).unwrap_or_default(),
        known.at.map(minute).unwrap_or_default(),
        known.origin.clone(),
    ]
}
