//! Entities and the graph as people read them.

use commonbook::base::page::Page;
use commonbook::model::entity::{
    Entity, EntityMention, EntityOutcome, EntityReview, MergeEntitiesResult, ResolveEntityResult,
    ReviewProposal, UnmergeEntitiesResult,
};
use commonbook::model::graph::export::KnowledgeSubgraph;
use commonbook::model::graph::{EntityPage, Relation};
use serde_json::Value;

use super::show::{show, table};
use crate::output::{count_text, print_line, print_note};

/// An entity by what it is called.
fn entity_display_name(entity: &Entity) -> String {
    format!("{}  {}:{}", entity.id, entity.entity_type, entity.value)
}

fn facts(entity: &Entity) {
    print_line(&entity_display_name(entity));
    if let Some(context) = &entity.context {
        print_line(&format!("  {context}"));
    }
    for (name, attribute) in &entity.attributes {
        print_line(&format!("  {name}: {} ({})", attribute.held.value, attribute.held.agent));
        for claim in &attribute.conflicts {
            print_line(&format!("    but {} ({})", claim.value, claim.agent));
        }
    }
    if !entity.aliases.is_empty() {
        print_line(&format!("  also called {}", entity.aliases.join(", ")));
    }
}

pub(super) fn show_resolved_entity(answer: &Value) {
    show(answer, |resolved: &ResolveEntityResult| {
        facts(&resolved.entity);
        let version = resolved.entity.version;
        match (resolved.outcome, resolved.review) {
            (EntityOutcome::Queued, Some(review)) => {
                print_note(&format!(
                    "waits for a decision: commonbook entity decide {review} accept"
                ));
            }
            (outcome, _) => print_note(&format!("{outcome}; version {version}")),
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
        print_line(&format!("  version {version}; {first} to {last}, last by {last_agent}\n"));
        let rows = page.mentioned_by.iter().map(|by| {
            vec![
                by.agent.to_string(),
                by.memories.to_string(),
                by.first_seen.strftime("%F %H:%M").to_string(),
                by.last_seen.strftime("%F %H:%M").to_string(),
            ]
        });
        print_line(&format!("{}\n", table(&["mentioned by", "memories", "first", "last"], rows)));
        let rows = page.statements.iter().map(|said| {
            vec![
                said.sighting.at.strftime("%F %H:%M").to_string(),
                said.sighting.agent.to_string(),
                said.sighting.context.clone().unwrap_or_default(),
            ]
        });
        print_line(&format!("{}\n", table(&["stated", "by", "what"], rows)));
        links(&page.related);
        let memories = count_text(page.memories, "memory mentions", "memories mention");
        print_note(&format!("{memories} it; commonbook entity mentions {}", page.entity.id));
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Entity>| {
        if page.items.is_empty() {
            print_line("No entities");
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
        print_line(&table(&["id", "type", "name", "version", "last agent"], rows));
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn mentions(answer: &Value) {
    show(answer, |page: &Page<EntityMention>| {
        if page.items.is_empty() {
            print_line("No memory in your sight mentions it");
            return;
        }
        for mention in &page.items {
            let EntityMention { memory, owner, at, .. } = mention;
            print_line(&format!("{memory}  {owner}  {}", at.strftime("%F %H:%M")));
            print_line(&format!("  > {}", mention.excerpt));
        }
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn show_merged_entities(answer: &Value) {
    show(answer, |merged: &MergeEntitiesResult| {
        facts(&merged.entity);
        match merged.review {
            Some(review) => {
                print_note(&format!(
                    "waits for a decision: commonbook entity decide {review} accept"
                ));
            }
            None => print_note(&format!(
                "{0} leads here now; commonbook entity unmerge {0} takes it back",
                merged.source
            )),
        }
    });
}

pub(super) fn show_unmerged_entities(answer: &Value) {
    show(answer, |unmerged: &UnmergeEntitiesResult| {
        facts(&unmerged.source);
        facts(&unmerged.target);
    });
}

pub(super) fn reviews(answer: &Value) {
    show(answer, |page: &Page<EntityReview>| {
        if page.items.is_empty() {
            print_line("Nothing waits for a decision");
            return;
        }
        for review in &page.items {
            let EntityReview { id, agent, entity, at, .. } = review;
            print_line(&format!("{id}  {agent}  {}  about {entity}", at.strftime("%F %H:%M")));
            match &review.wanted {
                ReviewProposal::Stated(seen) => {
                    let said = seen.context.as_deref().unwrap_or_default();
                    print_line(&format!("  states {}:{} {said}", seen.entity_type, seen.value));
                }
                ReviewProposal::Merged(source) => print_line(&format!("  merges {source} into it")),
            }
        }
        print_note("commonbook entity decide ID accept, or dismiss");
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn relation(answer: &Value) {
    show(answer, |relation: &Relation| {
        let Relation { from, to, relation_type, strength, count, .. } = relation;
        print_line(&format!("{from} {relation_type} {to}"));
        print_note(&format!(
            "strength {strength:.1}, said {}",
            count_text(*count, "time", "times")
        ));
    });
}

pub(super) fn graph(answer: &Value) {
    show(answer, |graph: &KnowledgeSubgraph| {
        if let Some(dot) = &graph.dot {
            print_line(dot.trim_end());
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
        print_line(&format!("{}\n", table(&["steps", "id", "type", "name"], rows)));
        links(graph);
        match graph.connected {
            Some(false) => print_note("No path of at most 12 steps"),
            _ if graph.cut => print_note("There is more than was looked at"),
            _ => {}
        }
    });
}

fn links(graph: &KnowledgeSubgraph) {
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
    print_line(&table(&["from", "relation", "to", "strength"], rows));
}
