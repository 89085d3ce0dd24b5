//! How people read entities, relations and the graph.

use commonbook::model::entity::{
    DeleteEntityResult, Entity, EntityMention, EntityOutcome, EntityReview, MergeEntitiesResult,
    RenameEntityResult, ResolveEntityResult, ReviewProposal, UnmergeEntitiesResult,
};
use commonbook::model::graph::export::KnowledgeSubgraph;
use commonbook::model::graph::{EntityDetails, Relation};
use serde_json::Value;

use super::layout::{
    minute, one_line, print_record, print_table, short, show, show_page, show_table_page,
};
use crate::calls::output::{count_text, print_line, print_note};

/// Characters of a node's name in a table of relations.
const LABEL_CHARS_MAX: usize = 40;

fn print_entity(entity: &Entity) {
    let Entity { id, entity_type, value, .. } = entity;
    print_line(&format!("{}  {entity_type}:{value}", short(id)));
    if let Some(context) = &entity.context {
        print_line(&format!("  {context}"));
    }
    for (name, attribute) in &entity.attributes {
        let agents: Vec<String> =
            attribute.held_claims().map(|claim| claim.agent.to_string()).collect();
        print_line(&format!("  {name}: {} ({})", attribute.held.value, agents.join(", ")));
        for claim in &attribute.conflicts {
            print_line(&format!("    but {} ({})", claim.value, claim.agent));
        }
    }
    if !entity.aliases.is_empty() {
        print_line(&format!("  aliases: {}", entity.aliases.join(", ")));
    }
}

fn print_review_hint(review: &impl std::fmt::Display) {
    let review = short(review);
    print_note(&format!(
        "waits for a decision: `commonbook entity decide {review} accept`, or `dismiss`"
    ));
}

pub(super) fn show_resolved_entity(response: &Value) {
    show(response, |resolved: &ResolveEntityResult| {
        print_entity(&resolved.entity);
        match (resolved.outcome, resolved.review) {
            (EntityOutcome::Queued, Some(review)) => print_review_hint(&review),
            (outcome, _) => print_note(&format!("{outcome}; version {}", resolved.entity.version)),
        }
    });
}

pub(super) fn entity(response: &Value) {
    show(response, |entity: &Entity| print_entity(entity));
}

pub(super) fn page(response: &Value) {
    show(response, |page: &EntityDetails| {
        print_entity(&page.entity);
        let Entity { id, version, last_agent, first_seen, last_seen, .. } = &page.entity;
        let (first, last) = (minute(*first_seen), minute(*last_seen));
        print_line(&format!("  version {version}; seen {first} to {last}, last by {last_agent}\n"));
        let rows = page.mentioned_by.iter().map(|mentions| {
            vec![
                mentions.agent.to_string(),
                mentions.memories.to_string(),
                minute(mentions.first_seen),
                minute(mentions.last_seen),
            ]
        });
        print_table(&["mentioned by", "memories", "first", "last"], rows);
        let rows = page.statements.iter().map(|statement| {
            vec![
                minute(statement.sighting.at),
                statement.sighting.agent.to_string(),
                statement.sighting.context.clone().unwrap_or_default(),
            ]
        });
        print_line("");
        print_table(&["stated", "by", "statement"], rows);
        print_relations(&page.related);
        let memories = count_text(page.memories, "memory mentions", "memories mention");
        print_note(&format!(
            "{memories} it; `commonbook entity mentions {}` lists them",
            short(id)
        ));
    });
}

pub(super) fn list(response: &Value) {
    let columns = ["id", "type", "version", "conflicts", "last agent", "name"];
    show_table_page(response, "No entities", &columns, |entity: &Entity| {
        vec![
            short(&entity.id),
            entity.entity_type.to_string(),
            entity.version.to_string(),
            if entity.open_conflicts == 0 {
                String::new()
            } else {
                entity.open_conflicts.to_string()
            },
            entity.last_agent.to_string(),
            entity.value.clone(),
        ]
    });
}

pub(super) fn mentions(response: &Value) {
    let empty = "No memory that you may read mentions it";
    show_page(response, empty, |mentions: &[EntityMention]| {
        for EntityMention { memory, owner, origin_note, at, excerpt, .. } in mentions {
            let origin = origin_note.clone().unwrap_or_default();
            print_record(excerpt, &[short(memory), owner.to_string(), origin, minute(*at)]);
        }
    });
}

pub(super) fn show_merged_entities(response: &Value) {
    show(response, |merged: &MergeEntitiesResult| {
        print_entity(&merged.entity);
        match merged.review {
            Some(review) => print_review_hint(&review),
            None => print_note(&format!(
                "{0} now redirects to it; `commonbook entity unmerge {0}` undoes the merge",
                short(&merged.source)
            )),
        }
    });
}

pub(super) fn show_unmerged_entities(response: &Value) {
    show(response, |unmerged: &UnmergeEntitiesResult| {
        print_entity(&unmerged.source);
        print_entity(&unmerged.target);
    });
}

pub(super) fn show_renamed_entity(response: &Value) {
    show(response, |renamed: &RenameEntityResult| {
        print_entity(&renamed.entity);
        let source = short(&renamed.source);
        if renamed.source != renamed.entity.id {
            print_note(&format!(
                "its old name leads to it; `commonbook entity unmerge {source}` undoes that"
            ));
        }
    });
}

pub(super) fn show_deleted_entity(response: &Value) {
    show(response, |deleted: &DeleteEntityResult| {
        let Entity { id, entity_type, value, .. } = &deleted.entity;
        print_line(&format!("{}  {entity_type}:{value} is deleted", short(id)));
        let memories =
            count_text(deleted.memories, "memory that mentions", "memories that mention");
        print_note(&format!(
            "{memories} it stay; `commonbook entity restore {entity_type}:{value}` restores it"
        ));
    });
}

pub(super) fn show_restored_entity(response: &Value) {
    show(response, |entity: &Entity| {
        print_entity(entity);
        print_note("restored; its mentions are found again");
    });
}

pub(super) fn show_removed_relation(response: &Value) {
    show(response, |relation: &Relation| {
        let Relation { from, to, relation_type, .. } = relation;
        print_line(&format!("removed: {} {relation_type} {}", short(from), short(to)));
    });
}

pub(super) fn reviews(response: &Value) {
    show_page(response, "Nothing waits for a decision", |reviews: &[EntityReview]| {
        for EntityReview { id, agent, entity, at, wanted, .. } in reviews {
            let (id, entity) = (short(id), short(entity));
            print_line(&format!("{id}  {agent}  {}  about {entity}", minute(*at)));
            match wanted {
                ReviewProposal::Stated(sighting) => {
                    let context = sighting.context.as_deref().unwrap_or_default();
                    let (kind, name) = (sighting.entity_type, &sighting.value);
                    print_line(&format!("  states {kind}:{name} {context}"));
                }
                ReviewProposal::Merged(source) => {
                    print_line(&format!("  merges {} into it", short(source)));
                }
            }
        }
        print_note("`commonbook entity decide ID accept`, or `dismiss`, decides");
    });
}

pub(super) fn relation(response: &Value) {
    show(response, |relation: &Relation| {
        let Relation { from, to, relation_type, strength, count, .. } = relation;
        print_line(&format!("{} {relation_type} {}", short(from), short(to)));
        let times = count_text(*count, "time", "times");
        print_note(&format!("strength {strength:.1}, stated {times}"));
    });
}

pub(super) fn graph(response: &Value) {
    show(response, |graph: &KnowledgeSubgraph| {
        if let Some(dot) = &graph.dot {
            print_line(dot.trim_end());
            return;
        }
        let rows = graph.nodes.iter().map(|node| {
            let (id, name) = (short(&node.id), one_line(&node.label));
            vec![node.steps.to_string(), id, node.kind.clone(), node.source.line(), name]
        });
        print_table(&["steps", "id", "type", "author", "name"], rows);
        print_relations(graph);
        match graph.connected {
            Some(false) => print_note("no path of at most 12 steps"),
            _ if graph.cut => print_note("the graph has more nodes than this answer"),
            _ => {}
        }
    });
}

fn print_relations(graph: &KnowledgeSubgraph) {
    if graph.links.is_empty() {
        return;
    }
    let label = |id| match graph.nodes.iter().find(|node| node.id == id) {
        Some(node) => node.label.chars().take(LABEL_CHARS_MAX).collect(),
        None => id.to_string(),
    };
    let rows = graph.links.iter().map(|link| {
        vec![
            label(link.from),
            link.relation_type.to_string(),
            label(link.to),
            format!("{:.2}", link.strength),
            link.source.line(),
        ]
    });
    print_line("");
    print_table(&["from", "relation", "to", "strength", "author"], rows);
}
