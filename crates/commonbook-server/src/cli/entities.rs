//! Entities and the graph as people read them.

use commonbook::base::page::Page;
use commonbook::model::entity::{
    Entity, Mention, Merged, Resolution, Resolved, Review, Unmerged, Wanted,
};
use commonbook::model::graph::export::Subgraph;
use commonbook::model::graph::{EntityPage, Relation};
use serde_json::Value;

use super::show::{show, table};
use crate::output::{counted, line, note};

/// An entity by what it is called.
fn called(entity: &Entity) -> String {
    format!("{}  {}:{}", entity.id, entity.entity_type, entity.value)
}

fn facts(entity: &Entity) {
    line(&called(entity));
    if let Some(context) = &entity.context {
        line(&format!("  {context}"));
    }
    for (name, attribute) in &entity.attributes {
        line(&format!("  {name}: {} ({})", attribute.held.value, attribute.held.agent));
        for claim in &attribute.conflicts {
            line(&format!("    but {} ({})", claim.value, claim.agent));
        }
    }
    if !entity.aliases.is_empty() {
        line(&format!("  also called {}", entity.aliases.join(", ")));
    }
}

pub(super) fn resolved(answer: &Value) {
    show(answer, |resolved: &Resolved| {
        facts(&resolved.entity);
        let version = resolved.entity.version;
        match (resolved.outcome, resolved.review) {
            (Resolution::Queued, Some(review)) => {
                note(&format!("waits for a decision: commonbook entity decide {review} accept"));
            }
            (outcome, _) => note(&format!("{outcome}; version {version}")),
        }
    });
}

pub(super) fn entity(answer: &Value) {
    show(answer, |entity: &Entity| facts(entity));
}

pub(super) fn page(answer: &Value) {
    show(answer, |page: &EntityPage| {
        facts(&page.entity);
        let Entity { version, last_agent, first_seen, last_seen, .. } = &page.entity;
        let (first, last) = (first_seen.strftime("%F %H:%M"), last_seen.strftime("%F %H:%M"));
        line(&format!("  version {version}; {first} to {last}, last by {last_agent}\n"));
        let rows = page.mentioned_by.iter().map(|by| {
            vec![
                by.agent.to_string(),
                by.memories.to_string(),
                by.first_seen.strftime("%F %H:%M").to_string(),
                by.last_seen.strftime("%F %H:%M").to_string(),
            ]
        });
        line(&format!("{}\n", table(&["mentioned by", "memories", "first", "last"], rows)));
        let rows = page.statements.iter().map(|said| {
            vec![
                said.sighting.at.strftime("%F %H:%M").to_string(),
                said.sighting.agent.to_string(),
                said.sighting.context.clone().unwrap_or_default(),
            ]
        });
        line(&format!("{}\n", table(&["stated", "by", "what"], rows)));
        links(&page.related);
        let memories = counted(page.memories, "memory mentions", "memories mention");
        note(&format!("{memories} it; commonbook entity mentions {}", page.entity.id));
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Entity>| {
        if page.items.is_empty() {
            line("No entities");
            return;
        }
        let rows = page.items.iter().map(|entity| {
            vec![
                entity.id.to_string(),
                entity.entity_type.to_string(),
                entity.value.clone(),
                entity.version.to_string(),
                entity.last_agent.to_string(),
            ]
        });
        line(&table(&["id", "type", "name", "version", "last agent"], rows));
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn mentions(answer: &Value) {
    show(answer, |page: &Page<Mention>| {
        if page.items.is_empty() {
            line("No memory in your sight mentions it");
            return;
        }
        for mention in &page.items {
            let Mention { memory, owner, at, .. } = mention;
            line(&format!("{memory}  {owner}  {}", at.strftime("%F %H:%M")));
            line(&format!("  > {}", mention.excerpt));
        }
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn merged(answer: &Value) {
    show(answer, |merged: &Merged| {
        facts(&merged.entity);
        match merged.review {
            Some(review) => {
                note(&format!("waits for a decision: commonbook entity decide {review} accept"));
            }
            None => note(&format!(
                "{0} leads here now; commonbook entity unmerge {0} takes it back",
                merged.source
            )),
        }
    });
}

pub(super) fn unmerged(answer: &Value) {
    show(answer, |unmerged: &Unmerged| {
        facts(&unmerged.source);
        facts(&unmerged.target);
    });
}

pub(super) fn reviews(answer: &Value) {
    show(answer, |page: &Page<Review>| {
        if page.items.is_empty() {
            line("Nothing waits for a decision");
            return;
        }
        for review in &page.items {
            let Review { id, agent, entity, at, .. } = review;
            line(&format!("{id}  {agent}  {}  about {entity}", at.strftime("%F %H:%M")));
            match &review.wanted {
                Wanted::Stated(seen) => {
                    let said = seen.context.as_deref().unwrap_or_default();
                    line(&format!("  states {}:{} {said}", seen.entity_type, seen.value));
                }
                Wanted::Merged(source) => line(&format!("  merges {source} into it")),
            }
        }
        note("commonbook entity decide ID accept, or dismiss");
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn relation(answer: &Value) {
    show(answer, |relation: &Relation| {
        let Relation { from, to, relation_type, strength, count, .. } = relation;
        line(&format!("{from} {relation_type} {to}"));
        note(&format!("strength {strength:.1}, said {}", counted(*count, "time", "times")));
    });
}

pub(super) fn graph(answer: &Value) {
    show(answer, |graph: &Subgraph| {
        if let Some(dot) = &graph.dot {
            line(dot.trim_end());
            return;
        }
        let rows = graph.nodes.iter().map(|node| {
            vec![
                node.steps.to_string(),
                node.id.to_string(),
                node.kind.clone(),
                node.label.split_whitespace().collect::<Vec<_>>().join(" "),
            ]
        });
        line(&format!("{}\n", table(&["steps", "id", "type", "name"], rows)));
        links(graph);
        match graph.connected {
            Some(false) => note("No path of at most 12 steps"),
            _ if graph.cut => note("There is more than was looked at"),
            _ => {}
        }
    });
}

fn links(graph: &Subgraph) {
    if graph.links.is_empty() {
        return;
    }
    let label = |node| {
        let named = graph.nodes.iter().find(|named| named.id == node);
        named.map_or_else(|| node.to_string(), |named| named.label.chars().take(40).collect())
    };
    let rows = graph.links.iter().map(|link| {
        vec![
            label(link.from),
            link.relation_type.to_string(),
            label(link.to),
            format!("{:.2}", link.strength),
        ]
    });
    line(&table(&["from", "relation", "to", "strength"], rows));
}
