//! Entities: the things that memories mention, and one of them with what agents say about it and what surrounds it.

use std::collections::BTreeMap;

use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::base::page::Page;
use commonbook::model::entity::{
    AgentMentions, AttributeClaim, Entity, EntityMention, EntityStatement, EntityType,
};
use commonbook::model::event::{Event, EventKind, EventPage};
use commonbook::model::graph::export::{KnowledgeSubgraph, NodeView};
use commonbook::model::graph::{EntityDetails, GraphNode, GraphSource};
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::graphs::{self, DrawnEdge, DrawnNode};
use super::super::parts::{
    act_button, agent, chip, empty_list, form_fields, handle, linked_text, next_page, origin_chip,
    time,
};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;
use crate::calls::words::beginning;

/// Characters of what was stated about an entity in a list.
const CONTEXT_CHARS_MAX: usize = 160;
/// Entities on one page of the list.
const LISTED_ENTITIES: u32 = 50;
/// Memories on one page of the mentions.
const LISTED_MENTIONS: u32 = 20;
/// Nodes that the picture of a neighbourhood shows.
const DRAWN_NODES_MAX: usize = 80;
/// Nodes that are counted beyond those.
const COUNTED_NODES_MAX: usize = 500;
/// Entities that the search for a merge shows.
const MERGE_CANDIDATES: u32 = 20;

/// Shows the registry, by name.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::from_iter([("limit".to_owned(), json!(LISTED_ENTITIES))]);
    let has_conflicts = request.value("conflicts") == Some("true");
    if has_conflicts {
        fields.insert("conflicts".to_owned(), json!(true));
    }
    if is_deleted_list(request) {
        fields.insert("deleted".to_owned(), json!(true));
    }
    for name in ["type", "beginning", "cursor"] {
        if let Some(value) = request.value(name) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    let page: Page<Entity> = request.call(names::LIST_ENTITIES, Value::Object(fields.clone()))?;
    let main = html! {
        h1 { "Entities" }
        p class="muted" { "The people, tools, files and concepts that memories mention, each under one name for all agents." }
        form class="filters" action=(request.path("entities")) method="get" {
            label { "Type" input type="text" name="type" value=(request.value("type").unwrap_or_default()) list="entity-types" placeholder="any"; }
            label { "Name begins with" input type="search" name="beginning" value=(request.value("beginning").unwrap_or_default()); }
            button type="submit" { "Show" }
            @if !request.query().is_empty() { a class="quiet" href=(request.own_path()) { "Clear" } }
        }
        p class="chips" {
            @for kind in EntityType::ALL {
                @let is_chosen = request.value("type") == Some(kind.name());
                a class={ "chip " (if is_chosen { "accent" } else { "type" }) } aria-current=[is_chosen.then_some("true")]
                    href=(request.here_with(&[("type", (!is_chosen).then_some(kind.name())), ("cursor", None)])) { (kind.name()) } " "
            }
            a class={ "chip " (if has_conflicts { "accent" } else { "quiet" }) } aria-current=[has_conflicts.then_some("true")]
                href=(request.here_with(&[("conflicts", (!has_conflicts).then_some("true")), ("cursor", None)])) { "with conflicts" } " "
            @let is_deleted = is_deleted_list(request);
            a class={ "chip " (if is_deleted { "accent" } else { "quiet" }) } aria-current=[is_deleted.then_some("true")]
                href=(request.here_with(&[("deleted", (!is_deleted).then_some("true")), ("cursor", None)])) { "deleted" }
        }
        details class="new" {
            summary { "State what you know about an entity" }
            (statement_form(request))
        }
        section id="entities" data-live="entity.* memory.saved" aria-label="Entities" {
            @if page.items.is_empty() {
                (empty_list("There are no entities here.", "Choose another type or beginning; a memory that names a tool, a person or a file makes one."))
            } @else {
                @if is_deleted_list(request) {
                    ul class="plain" { @for entity in &page.items { (deleted_row(request, entity)) } }
                } @else {
                    ol class="rows" { @for entity in &page.items { (entity_row(request, entity)) } }
                }
                (next_page(request, page.next.as_ref()))
            }
        }
    };
    let mut command = vec!["entity", "list"];
    for (flag, name) in [("--type", "type"), ("--beginning", "beginning")] {
        if let Some(value) = request.value(name) {
            command.extend([flag, value]);
        }
    }
    if has_conflicts {
        command.push("--conflicts");
    }
    if is_deleted_list(request) {
        command.push("--deleted");
    }
    let same = vec![SameCall::new(names::LIST_ENTITIES, Value::Object(fields), &command)];
    Ok(PageContent { title: "Entities".to_owned(), main, same })
}

fn type_list() -> Markup {
    html! { datalist id="entity-types" { @for kind in EntityType::ALL { option value=(kind.name()) {} } } }
}

fn statement_form(request: &PageRequest) -> Markup {
    html! {
        (type_list())
        form method="post" action=(request.act_path(names::RESOLVE_ENTITY)) class="stack" {
            (form_fields(request, &request.path("entities/{id}")))
            div class="filters" {
                label { "Type" input type="text" name="type" required list="entity-types"; }
                label { "Name" input type="text" name="value" required maxlength="256"; }
            }
            label { "What you know about it, in a few sentences" textarea name="context" rows="2" maxlength="1000" {} }
            button type="submit" { "State it" }
        }
    }
}

/// Whether the list shows deleted entities.
fn is_deleted_list(request: &PageRequest) -> bool {
    request.value("deleted") == Some("true")
}

fn deleted_row(request: &PageRequest, entity: &Entity) -> Markup {
    let id = entity.id.to_string();
    html! {
        li id=(id) {
            strong { (entity.value) } " " (chip(entity.entity_type.name(), "type"))
            @if let Some(deletion) = &entity.deleted { " deleted by " (agent(request, &deletion.agent)) " " (time(deletion.at)) }
            " " (act_button(request, names::RESTORE_ENTITY, "Restore", &[("entity", &id)], &request.item_path("entities", &id)))
        }
    }
}

fn entity_row(request: &PageRequest, entity: &Entity) -> Markup {
    let conflicts = entity.open_conflicts;
    html! {
        li class="row" id=(entity.id) {
            a class="row-main" href=(request.item_path("entities", &entity.id.to_string())) {
                strong { (entity.value) }
                @if let Some(context) = &entity.context { " " span class="muted" { (beginning(context, CONTEXT_CHARS_MAX)) } }
            }
            div class="row-facts" {
                (chip(entity.entity_type.name(), "type"))
                span { @if entity.version == 0 { (count_text(entity.occurrences, "memory", "memories")) } @else { (count_text(entity.occurrences, "statement", "statements")) } }
                @if !entity.attributes.is_empty() { span { (count_text(entity.attributes.len() as u64, "attribute", "attributes")) } }
                @if conflicts > 0 { (chip(&count_text(conflicts, "conflict", "conflicts"), "bad")) }
                @if !entity.aliases.is_empty() { span { "also " (beginning(&entity.aliases.join(", "), 60)) } }
                span { "last by " (agent(request, &entity.last_agent)) " " (time(entity.last_seen)) }
            }
        }
    }
}

/// Shows one entity.
pub(super) fn show_entity(request: &PageRequest, item: &str) -> Result<PageContent> {
    let details: EntityDetails = request.call(names::GET_ENTITY, json!({"entity": item}))?;
    let entity = &details.entity;
    let id = entity.id.to_string();
    let mut mention_fields = json!({"entity": id, "limit": LISTED_MENTIONS});
    if let Some(cursor) = request.value("cursor") {
        mention_fields["cursor"] = json!(cursor);
    }
    let mentions: Page<EntityMention> = request.call(names::ENTITY_MENTIONS, mention_fields)?;
    let depth = depth(request);
    let around = json!({"from": id, "depth": depth, "limit": COUNTED_NODES_MAX});
    let graph: KnowledgeSubgraph = request.call(names::GRAPH_QUERY, around)?;
    let back = request.item_path("entities", &id);
    let main = html! {
        p class="path" { a href=(request.path("entities")) { "Entities" } " / "
            a href=(request.path_with("entities", &[("type", entity.entity_type.name())])) { (entity.entity_type.name()) } " / " code { (handle(&entity.id)) } }
        @if item.starts_with("ent_") && item != id {
            p class="notice" { "The entity " code { (item) } " was merged into this one." }
        }
        div id="entity" data-live="entity.*" {
            h1 { (entity.value) " " (chip(entity.entity_type.name(), "type")) }
            @if let Some(context) = &entity.context { p class="text" { (linked_text(request, context)) } }
            (facts(request, &details))
        }
        (attributes(request, entity, &back))
        section id="graph" data-live="entity.* memory.*" aria-label="Neighbourhood" {
            h2 { "Neighbourhood" }
            (neighbourhood(request, entity, &graph, depth))
        }
        div class="split" {
            section id="mentions" data-live="memory.*" aria-label="Mentions" {
                h2 { "Mentioned by " (count_text(details.memories, "memory", "memories")) }
                (mention_list(request, &mentions, &details.mentioned_by))
            }
            div {
                section id="statements" data-live="entity.*" aria-label="Statements" {
                    h2 { "Statements" }
                    (statement_list(request, &details.statements))
                }
                section id="merge" class="acts" aria-label="Merge" {
                    h2 { "Merge" }
                    (merge_part(request, entity, &back)?)
                }
                section aria-label="Relate" class="acts" {
                    h2 { "Relate" }
                    (relation_form(request, &id, &back))
                    (relation_removals(request, &details, &back))
                }
                section id="keep" aria-label="Rename and delete" class="acts" {
                    h2 { "Rename and delete" }
                    (rename_form(request, entity, &back))
                }
            }
        }
    };
    let depth_text = depth.to_string();
    let same = vec![
        SameCall::new(names::GET_ENTITY, json!({"entity": id}), &["entity", "show", &id]),
        SameCall::new(
            names::GRAPH_QUERY,
            json!({"from": id, "depth": depth}),
            &["entity", "graph", &id, "--depth", &depth_text],
        ),
        SameCall::new(
            names::MERGE_ENTITIES,
            json!({"source": "tool:ts", "target": id}),
            &["entity", "merge", "tool:ts", &id],
        ),
    ];
    Ok(PageContent { title: entity.value.clone(), main, same })
}

fn facts(request: &PageRequest, details: &EntityDetails) -> Markup {
    let entity = &details.entity;
    html! {
        dl class="facts" {
            @if !entity.aliases.is_empty() { dt { "Also called" } dd { @for alias in &entity.aliases { (chip(alias, "quiet")) " " } } }
            dt { "Seen" } dd { "first " (time(entity.first_seen)) ", last " (time(entity.last_seen)) " by " (agent(request, &entity.last_agent)) }
            dt { "Confidence" } dd { (format!("{:.2}", entity.confidence)) ", " (count_text(entity.occurrences, if entity.version == 0 { "memory" } else { "statement" }, if entity.version == 0 { "memories" } else { "statements" }))
                ", version " (entity.version) }
            @if let Some(session) = &entity.session { dt { "Only in the session" } dd { code { (session) } } }
            dt { "Id" } dd { code { (entity.id) } }
        }
    }
}

/// A value of an attribute as text: a string without its quotes.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What holds about the entity, and where agents differ, with the ways to settle it.
fn attributes(request: &PageRequest, entity: &Entity, back: &str) -> Markup {
    html! {
        @if !entity.attributes.is_empty() {
            section id="attributes" aria-label="Attributes" {
                h2 { "Attributes" }
                div class="scroll" { table {
                    thead { tr { th { "Attribute" } th { "Value" } th { "Said by" } th { "Confidence" } th { "When" } th { "Settle" } } }
                    tbody {
                        @for (name, attribute) in &entity.attributes {
                            @let has_conflicts = !attribute.conflicts.is_empty();
                            tr {
                                th scope="row" { (name) @if has_conflicts { " " (chip("conflict", "bad")) } }
                                td { strong { (value_text(&attribute.held.value)) } }
                                td { (agent(request, &attribute.held.agent)) @for other in &attribute.agreed { ", " (agent(request, other)) } }
                                td { (format!("{:.2}", attribute.held.confidence)) }
                                td { (time(attribute.held.at)) }
                                td { @if has_conflicts { (settle_button(request, entity, name, &attribute.held, back)) } }
                            }
                            @for claims in by_value(&attribute.conflicts) {
                                @if let Some(first) = claims.first() {
                                    tr class="conflict" {
                                        td { span class="muted" { "or" } } td { (value_text(&first.value)) }
                                        td { @for (place, claim) in claims.iter().enumerate() { @if place > 0 { ", " } (agent(request, &claim.agent)) } }
                                        td { (format!("{:.2}", first.confidence)) } td { (time(first.at)) }
                                        td { (settle_button(request, entity, name, first, back)) }
                                    }
                                }
                            }
                        }
                    }
                } }
                details {
                    summary { "Settle with another value" }
                    form method="post" action=(request.act_path(names::RESOLVE_ENTITY)) class="stack" {
                        (settle_fields(request, entity, back))
                        label { "Attributes as JSON; they hold from now on" input type="text" name="metadata" required value=(example_claims(entity)); }
                        button type="submit" { "Settle" }
                    }
                }
            }
        }
    }
}

/// The claims by their values, each with the most certain one first.
fn by_value(claims: &[AttributeClaim]) -> Vec<Vec<&AttributeClaim>> {
    let mut groups: Vec<Vec<&AttributeClaim>> = Vec::new();
    for claim in claims {
        let same = |group: &&mut Vec<&AttributeClaim>| {
            group.first().is_some_and(|first| first.value == claim.value)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(claim),
            None => groups.push(vec![claim]),
        }
    }
    groups
}

fn settle_fields(request: &PageRequest, entity: &Entity, back: &str) -> Markup {
    html! {
        (form_fields(request, back))
        input type="hidden" name="type" value=(entity.entity_type.name());
        input type="hidden" name="value" value=(entity.value);
        input type="hidden" name="settle" value="true";
        @if let Some(session) = &entity.session { input type="hidden" name="session" value=(session); }
    }
}

/// The attribute that agents differ about, as a form for another value begins with it.
fn example_claims(entity: &Entity) -> String {
    let differing = entity.attributes.iter().find(|(_, attribute)| !attribute.conflicts.is_empty());
    let first = differing.or_else(|| entity.attributes.iter().next());
    first.map_or_else(String::new, |(name, attribute)| {
        json!({name: attribute.held.value}).to_string()
    })
}

fn settle_button(
    request: &PageRequest,
    entity: &Entity,
    name: &str,
    claim: &AttributeClaim,
    back: &str,
) -> Markup {
    let claims = json!({name: claim.value}).to_string();
    let label = format!("Settle {name} as {}", value_text(&claim.value));
    html! {
        form class="inline" method="post" action=(request.act_path(names::RESOLVE_ENTITY)) {
            (settle_fields(request, entity, back))
            input type="hidden" name="metadata" value=(claims);
            button type="submit" aria-label=(label) { "This holds" }
        }
    }
}

fn depth(request: &PageRequest) -> u32 {
    let depth = request.value("depth").and_then(|depth| depth.parse().ok());
    depth.unwrap_or(1).clamp(1, limits::GRAPH_DEPTH)
}

fn neighbourhood(
    request: &PageRequest,
    entity: &Entity,
    graph: &KnowledgeSubgraph,
    depth: u32,
) -> Markup {
    let shown = &graph.nodes[..graph.nodes.len().min(DRAWN_NODES_MAX)];
    let more = graph.nodes.len() - shown.len();
    let numbers: BTreeMap<GraphNode, usize> =
        shown.iter().enumerate().map(|(number, node)| (node.id, number)).collect();
    let nodes: Vec<DrawnNode> = shown.iter().map(|node| drawn_node(request, node)).collect();
    let links = graph
        .links
        .iter()
        .filter_map(|link| Some((*numbers.get(&link.from)?, *numbers.get(&link.to)?, link)));
    let links: Vec<_> = links.collect();
    let edges: Vec<DrawnEdge> = links
        .iter()
        .map(|(from, to, link)| DrawnEdge {
            from: *from,
            to: *to,
            label: link.relation_type.to_string(),
            class: if link.relation_type.as_str() == "mentions" { "mentions" } else { "relation" },
        })
        .collect();
    let title = format!(
        "{} within {} of {}",
        count_text(shown.len().saturating_sub(1) as u64, "thing", "things"),
        count_text(u64::from(depth), "step", "steps"),
        entity.value
    );
    html! {
        form class="filters" method="get" action={ (request.own_path()) "#graph" } {
            label { "Steps: " (depth) ", at most " (limits::GRAPH_DEPTH) input type="range" name="depth" min="1" max=(limits::GRAPH_DEPTH) step="1" value=(depth); }
            button type="submit" { "Show" }
            span class="chips" { @for steps in 1..=limits::GRAPH_DEPTH {
                @let text = steps.to_string();
                a class={ "chip " (if steps == depth { "accent" } else { "type" }) } aria-current=[(steps == depth).then_some("true")]
                    href={ (request.here_with(&[("depth", Some(&text))])) "#graph" } { (count_text(u64::from(steps), "step", "steps")) } " " } }
        }
        @if shown.len() <= 1 {
            (empty_list("Nothing is linked to it yet.", "A memory that mentions it, or a relation to another entity, shows here."))
        } @else {
            (graphs::radial(&title, &nodes, &edges))
            p class="muted" { (title)
                @if more > 0 { "; " @if graph.cut { "more than " } (more) " more are further away or less strongly linked, and are not drawn" } @else if graph.cut { "; there are more, which are not drawn" }
                ". " span class="key-entity" { "entity" } " " span class="key-memory" { "memory" } }
            details {
                summary { "The same as a table" }
                div class="scroll" { table {
                    thead { tr { th { "From" } th { "Link" } th { "To" } th class="number" { "Strength" } th { "Author" } } }
                    tbody {
                        @for (from, to, link) in &links {
                            tr { td { (node_link(request, &nodes[*from], &shown[*from])) } td { (link.relation_type) }
                                td { (node_link(request, &nodes[*to], &shown[*to])) }
                                td class="number" { (format!("{:.2}", link.strength)) }
                                td { (source_of(request, &link.source)) } }
                        }
                    }
                } }
            }
        }
    }
}

fn drawn_node(request: &PageRequest, node: &NodeView) -> DrawnNode {
    let (page, class) = match node.id {
        GraphNode::Entity(_) if node.steps == 0 => ("entities", "chosen"),
        GraphNode::Entity(_) => ("entities", ""),
        GraphNode::Memory(_) => ("memories", "memory"),
    };
    DrawnNode {
        label: node.label.clone(),
        kind: node.kind.clone(),
        path: request.item_path(page, &node.id.to_string()),
        class,
        steps: node.steps,
    }
}

/// Who says what a node or a link shows, and what to know of its origin.
fn source_of(request: &PageRequest, source: &GraphSource) -> Markup {
    html! { (agent(request, &source.author))
    @if let Some(note) = &source.origin_note { " " (origin_chip(note)) } }
}

fn node_link(request: &PageRequest, node: &DrawnNode, view: &NodeView) -> Markup {
    html! { a href=(node.path) { (beginning(&node.label, 60)) } " " span class="muted" { (node.kind) } " "
    (source_of(request, &view.source)) }
}

fn mention_list(
    request: &PageRequest,
    mentions: &Page<EntityMention>,
    by: &[AgentMentions],
) -> Markup {
    html! {
        @if !by.is_empty() {
            p class="muted" { @for (place, mentioned) in by.iter().enumerate() {
                @if place > 0 { ", " } (agent(request, &mentioned.agent)) " " (mentioned.memories) } }
        }
        @if mentions.items.is_empty() {
            (empty_list("No memory that you may see mentions it.", "Save one that names it."))
        } @else {
            ol class="rows" {
                @for mention in &mentions.items {
                    li class="row" {
                        a class="row-main" href=(request.item_path("memories", &mention.memory.to_string())) { (mention.excerpt) }
                        div class="row-facts" {
                            code { (handle(&mention.memory)) } (agent(request, &mention.owner))
                            @if let Some(note) = &mention.origin_note { (origin_chip(note)) }
                            (time(mention.at))
                            span { "as “" (mention.value) "”" @if mention.count > 1 { ", " (mention.count) " times" } }
                            @if mention.confidence < 1.0 { span { "confidence " (format!("{:.2}", mention.confidence)) } }
                        }
                    }
                }
            }
            (next_page(request, mentions.next.as_ref()))
        }
    }
}

fn statement_list(request: &PageRequest, statements: &[EntityStatement]) -> Markup {
    html! {
        @if statements.is_empty() { p class="muted" { "No agent has stated anything about it; memories mention it." } }
        ul class="plain" {
            @for statement in statements {
                @let sighting = &statement.sighting;
                li {
                    (agent(request, &sighting.agent)) " " (time(sighting.at)) " as “" (sighting.value) "”"
                    @if sighting.settles { " " (chip("settles", "good")) }
                    @if let Some(context) = &sighting.context { p { (context) } }
                    @for (name, claim) in &sighting.claims { " " (chip(&format!("{name}: {}", value_text(&claim.value)), "quiet")) }
                }
            }
        }
    }
}

/// Merging with another entity of the same type, its history, and undoing it.
fn merge_part(request: &PageRequest, entity: &Entity, back: &str) -> Result<Markup> {
    let beginning_text = request.value("merge");
    let candidates =
        beginning_text.map(|text| merge_candidates(request, entity, text)).transpose()?;
    let history = merge_history(request, entity)?;
    let unmerged = history.iter().filter(|event| event.kind == EventKind::EntityUnmerged).count();
    let merged = history.len() - unmerged;
    Ok(html! {
        form class="filters" method="get" action={ (request.own_path()) "#merge" } {
            label { "Another " (entity.entity_type.name()) " that is the same thing: its name begins with"
                input type="search" name="merge" required value=(beginning_text.unwrap_or_default()); }
            button type="submit" { "Find" }
        }
        @if let Some(candidates) = &candidates {
            @if candidates.is_empty() { p class="muted" { "No other " (entity.entity_type.name()) " begins so." } }
            ul class="plain" {
                @for other in candidates {
                    li {
                        a href=(request.item_path("entities", &other.id.to_string())) { (other.value) } " "
                        @if let Some(context) = &other.context { span class="muted" { (beginning(context, 80)) } " " }
                        (merge_button(request, other, entity, back))
                        (merge_button(request, entity, other, back))
                    }
                }
            }
        }
        @if !history.is_empty() {
            h3 { "History" }
            ul class="plain" {
                @for event in &history {
                    li { @if event.kind == EventKind::EntityMerged { "merged" } @else { "taken apart again" } " by " (agent(request, &event.actor)) " " (time(event.at)) }
                }
            }
        }
        // Statements under a similar name count as merges too, but are no events of this kind.
        @if merged > unmerged {
            details open {
                summary { "Take a merge apart" }
                p class="muted" { "The last merge first; both entities exist again, with what was stated since." }
                @for alias in &entity.aliases {
                    (act_button(request, names::UNMERGE_ENTITIES, &format!("Take {alias} out"), &[("source", &format!("{}:{alias}", entity.entity_type.name()))], back))
                }
                form class="filters" method="post" action=(request.act_path(names::UNMERGE_ENTITIES)) {
                    (form_fields(request, back))
                    label { "Or by its old id or name" input type="text" name="source" required placeholder={ (entity.entity_type.name()) ":name" }; }
                    button type="submit" { "Take it out" }
                }
            }
        }
    })
}

fn merge_candidates(request: &PageRequest, entity: &Entity, text: &str) -> Result<Vec<Entity>> {
    let fields = json!({"type": entity.entity_type, "beginning": text, "limit": MERGE_CANDIDATES});
    let found: Page<Entity> = request.call(names::LIST_ENTITIES, fields)?;
    Ok(found.items.into_iter().filter(|other| other.id != entity.id).collect())
}

fn merge_button(request: &PageRequest, source: &Entity, target: &Entity, back: &str) -> Markup {
    let (from, into) = (source.id.to_string(), target.id.to_string());
    let (from_version, into_version) = (source.version.to_string(), target.version.to_string());
    let fields = [
        ("source", from.as_str()),
        ("target", into.as_str()),
        ("source_version", from_version.as_str()),
        ("target_version", into_version.as_str()),
    ];
    let label =
        format!("Merge {} into {}", beginning(&source.value, 30), beginning(&target.value, 30));
    act_button(request, names::MERGE_ENTITIES, &label, &fields, back)
}

/// The merges into an entity and those that were taken apart, the newest first.
fn merge_history(request: &PageRequest, entity: &Entity) -> Result<Vec<Event>> {
    let (mut after, mut found) = (0, Vec::new());
    let id = entity.id.to_string();
    let is_merge = |event: &Event| {
        event.kind == EventKind::EntityUnmerged
            || event.changed.iter().any(|field| field == "merge_count")
    };
    let kinds = ["entity.merged", "entity.unmerged"];
    loop {
        let fields = json!({"after": after, "limit": 100, "events": kinds, "subject": id});
        let page: EventPage = request.call(names::LIST_EVENTS, fields)?;
        found.extend(page.items.into_iter().filter(|event| event.subject == id && is_merge(event)));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// A new name or type, and the deletion.
fn rename_form(request: &PageRequest, entity: &Entity, back: &str) -> Markup {
    let (id, version) = (entity.id.to_string(), entity.version.to_string());
    let fields = [("entity", id.as_str()), ("version", version.as_str())];
    html! {
        form class="filters" method="post" action=(request.act_path(names::RENAME_ENTITY)) {
            (form_fields(request, back))
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            label { "Name" input type="text" name="value" required maxlength="256" value=(entity.value); }
            label { "Type" input type="text" name="type" required list="entity-types" value=(entity.entity_type.name()); }
            (type_list())
            button type="submit" { "Rename" }
        }
        p class="muted" { "The old name leads to the new one. A deleted entity loses its mentions and relations for all agents until it is restored; memories stay as they are." }
        (act_button(request, names::DELETE_ENTITY, &format!("Delete {}", beginning(&entity.value, 30)), &fields, &request.path_with("entities", &[("deleted", "true")])))
    }
}

/// A button for each relation that somebody stated.
fn relation_removals(request: &PageRequest, details: &EntityDetails, back: &str) -> Markup {
    let label = |id: GraphNode| {
        let node = details.related.nodes.iter().find(|node| node.id == id);
        node.map_or_else(|| id.to_string(), |node| beginning(&node.label, 30).to_string())
    };
    html! {
        @for link in &details.related.links {
            @let (from, to) = (link.from.to_string(), link.to.to_string());
            @let fields = [("from", from.as_str()), ("type", link.relation_type.as_str()), ("to", to.as_str())];
            (act_button(request, names::REMOVE_RELATION, &format!("Remove: {} {} {}", label(link.from), link.relation_type, label(link.to)), &fields, back))
        }
    }
}

fn relation_form(request: &PageRequest, id: &str, back: &str) -> Markup {
    html! {
        details {
            summary { "State a relation to another entity" }
            form method="post" action=(request.act_path(names::ADD_RELATION)) class="stack" {
                (form_fields(request, back))
                input type="hidden" name="from" value=(id);
                label { "This entity" input type="text" name="type" required list="relation-types" placeholder="depends_on"; }
                datalist id="relation-types" {
                    @for kind in commonbook::model::graph::RelationType::WELL_KNOWN { option value=(kind) {} }
                }
                label { "the other entity: its id, or its type and name" input type="text" name="to" required placeholder="tool:TypeScript"; }
                button type="submit" { "State it" }
            }
        }
    }
}
