//! Adding relations, and walking the graph.

use std::sync::Arc;

use jiff::Timestamp;

use super::Commonbook;
use super::memory::live_memory;
use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, RelationId, parse_handle};
use crate::base::limits;
use crate::model::access::{self, Audience, Sight, Visibility};
use crate::model::caller::Caller;
use crate::model::entity::{EntityRef, OwnTypes, check_type};
use crate::model::event::{EventKind, NewEvent};
use crate::model::graph::export::{KnowledgeSubgraph, NodeView};
use crate::model::graph::walk::{PathResult, WalkResult, neighbourhood, shortest_path};
use crate::model::graph::{
    AddRelation, GraphFormat, GraphNode, GraphQuery, LinkFilter, NodeRef, Relation, RemoveRelation,
    WalkDirection,
};
use crate::model::memory::Sharing;
use crate::model::search::MemoryRef;
use crate::store::Tx;
use crate::verbs::ops::find_visible::{no_such_entity, resolve_ref, workspace_of_sight};
use crate::verbs::ops::handles::find_memory_id;
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Relates two entities, or two memories, in the caller's sight.
    ///
    /// # Errors
    /// `invalid` if both ends are the same, if one is an entity and the other a memory, or if the
    /// period ends before it begins; `not_found` if an end is out of sight.
    pub fn add_relation(&self, caller: &Caller, request: &AddRelation) -> Result<Relation> {
        self.follow_mentions(caller)?;
        let draft = request.clone();
        let now = self.clock.now();
        let id = RelationId::new(&*self.ids, now);
        let rules = Arc::clone(&self.entity_rules);
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let workspace = workspace_of_sight(&sight)?;
            let from = resolve_node(tx, &sight, &rules.own_types, &draft.from)
                .map_err(|error| error.with_field("from"))?;
            let to = resolve_node(tx, &sight, &rules.own_types, &draft.to)
                .map_err(|error| error.with_field("to"))?;
            draft.check(from, to)?;
            let audience = Audience::of_both(
                &node_audience(tx, &sight, from)?,
                &node_audience(tx, &sight, to)?,
                &caller.agent,
            );
            let kind = &draft.relation_type;
            let (agent, home) = (&caller.agent, workspace.clone());
            let relation = match tx.relation(workspace, from, to, kind, &audience)? {
                Some(existing) => existing.reinforce(&draft, now),
                None => Relation::new(id, home, from, &draft, to, agent, now),
            };
            tx.put_relation(&relation, &audience)?;
            let shared = is_common(tx, &sight, from)? && is_common(tx, &sight, to)?;
            let sharing = Sharing::shared_if(shared);
            tx.append_event(&NewEvent::for_subject(
                EventKind::RelationAdded,
                workspace,
                relation.id.to_string(),
                agent,
                now,
                sharing,
            ))?;
            Ok(relation)
        })?;
        Ok(once.answer)
    }

    /// Removes the relation of a type between two entities, or two memories, in the caller's sight.
    ///
    /// # Errors
    /// `not_found` if an end is out of sight, or if no such relation is.
    pub fn remove_relation(&self, caller: &Caller, request: &RemoveRelation) -> Result<Relation> {
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let workspace = workspace_of_sight(&sight)?;
            let from = resolve_node(tx, &sight, &rules.own_types, &wanted.from)
                .map_err(|error| error.with_field("from"))?;
            let to = resolve_node(tx, &sight, &rules.own_types, &wanted.to)
                .map_err(|error| error.with_field("to"))?;
            let relations = tx.relations_between(&sight, from, to, &wanted.relation_type)?;
            let Some(first) = relations.first() else {
                let kind = &wanted.relation_type;
                return Err(Error::not_found(format!("no relation {kind} from {from} to {to}"))
                    .with_field("type")
                    .hint("Read the relations with `graph_query`."));
            };
            let shared = is_common(tx, &sight, from)? && is_common(tx, &sight, to)?;
            for relation in &relations {
                tx.drop_relation(relation)?;
                tx.append_event(&NewEvent::for_subject(
                    EventKind::RelationRemoved,
                    workspace,
                    relation.id.to_string(),
                    &caller.agent,
                    now,
                    Sharing::shared_if(shared),
                ))?;
            }
            Ok(first.clone())
        })?;
        Ok(once.answer)
    }

    /// The neighbourhood of a node, or the shortest path between two, as far as the caller sees.
    ///
    /// # Errors
    /// `invalid` if the depth or the limit is out of range; `not_found` if a node is out of sight.
    pub fn graph_query(&self, caller: &Caller, request: &GraphQuery) -> Result<KnowledgeSubgraph> {
        self.follow_mentions(caller)?;
        let own = &self.entity_rules.own_types;
        for (index, kind) in request.types.iter().enumerate() {
            check_type(own, &format!("types[{index}]"), *kind)?;
        }
        let (depth, limit) = (request.depth()?, request.limit()?);
        let sight = Sight::reading_at_home(caller)?;
        let along = request.link_filter(self.clock.now());
        self.store.read(|tx| {
            let from = resolve_node(tx, &sight, own, &request.from)
                .map_err(|error| error.with_field("from"))?;
            let links = |nodes: &[GraphNode], most| tx.links(&sight, nodes, &along, most);
            let mut graph = match &request.to {
                None => label_nodes(tx, &sight, neighbourhood(from, depth, limit, links)?)?,
                Some(to) => {
                    let to = resolve_node(tx, &sight, own, to)
                        .map_err(|error| error.with_field("to"))?;
                    path_subgraph(tx, &sight, from, shortest_path(from, to, links)?)?
                }
            };
            if request.format == Some(GraphFormat::Dot) {
                graph.dot = Some(graph.dot());
            }
            Ok(graph)
        })
    }
}

/// The entities that an entity is related to.
pub(super) fn related_entities(
    tx: &Tx<'_>,
    sight: &Sight,
    id: EntityId,
    at: Timestamp,
) -> Result<KnowledgeSubgraph> {
    let (relations, types, direction) = (Vec::new(), Vec::new(), WalkDirection::Both);
    let along = LinkFilter { relations, types, direction, follows: false, at };
    let links = |nodes: &[GraphNode], most| tx.links(sight, nodes, &along, most);
    let reached = neighbourhood(GraphNode::Entity(id), 1, limits::PAGE_STATEMENTS + 1, links)?;
    label_nodes(tx, sight, reached)
}

/// The entity or memory in sight that `wanted` refers to.
fn resolve_node(tx: &Tx<'_>, sight: &Sight, own: &OwnTypes, wanted: &NodeRef) -> Result<GraphNode> {
    match wanted {
        NodeRef::Entity(entity) => {
            let found = resolve_ref(tx, sight, own, entity).map(GraphNode::Entity);
            // What is no entity's name may be the handle of a memory.
            found.or_else(|error| memory_by_handle(tx, sight, entity).ok_or(error))
        }
        NodeRef::Memory(id) => {
            live_memory(tx, sight, *id).map(|memory| GraphNode::Memory(memory.id))
        }
    }
}

/// The memory in sight that this is the handle of.
fn memory_by_handle(tx: &Tx<'_>, sight: &Sight, reference: &EntityRef) -> Option<GraphNode> {
    let EntityRef::Called(name) = reference else { return None };
    parse_handle(name)?;
    let id = find_memory_id(tx, sight, name).ok()?;
    live_memory(tx, sight, id).ok().map(|memory| GraphNode::Memory(memory.id))
}

/// The audience of a node in sight.
fn node_audience(tx: &Tx<'_>, sight: &Sight, node: GraphNode) -> Result<Audience> {
    match node {
        GraphNode::Entity(id) => {
            let audience = tx.widest_audience(sight, id)?;
            audience.ok_or_else(|| no_such_entity(&id.to_string()))
        }
        GraphNode::Memory(id) => Ok(Audience::of(&Visibility::of(&*live_memory(tx, sight, id)?))),
    }
}

/// Whether everybody in the workspace can read a node, whatever scopes they have.
fn is_common(tx: &Tx<'_>, sight: &Sight, node: GraphNode) -> Result<bool> {
    match node {
        GraphNode::Entity(id) => Ok(tx.entity(workspace_of_sight(sight)?, id)?.is_some()),
        GraphNode::Memory(id) => Ok(access::is_common(&*live_memory(tx, sight, id)?)),
    }
}

/// The result of a walk, with the labels of all nodes.
fn label_nodes(tx: &Tx<'_>, sight: &Sight, reached: WalkResult) -> Result<KnowledgeSubgraph> {
    let nodes: Vec<GraphNode> = reached.nodes.iter().map(|(node, _)| *node).collect();
    let mut labels = tx.labels(sight, &nodes)?.into_iter().peekable();
    let named = reached
        .nodes
        .into_iter()
        .filter_map(|(id, steps)| Some(labels.next_if(|label| label.node == id)?.at_steps(steps)));
    let nodes: Vec<NodeView> = named.collect();
    let memories = nodes.iter().filter_map(|node| match node.id {
        GraphNode::Memory(id) => Some(id),
        GraphNode::Entity(_) => None,
    });
    let workspace = workspace_of_sight(sight)?;
    let memories: Vec<MemoryRef> = memories.map(|id| (workspace.clone(), id)).collect();
    let contradictions = match memories.is_empty() {
        true => Vec::new(),
        false => tx.contradiction_marks(sight, &memories)?,
    };
    Ok(KnowledgeSubgraph {
        nodes,
        links: reached.links,
        cut: reached.cut,
        connected: None,
        contradictions,
        dot: None,
    })
}

/// A path with the labels of its nodes, in order.
fn path_subgraph(
    tx: &Tx<'_>,
    sight: &Sight,
    from: GraphNode,
    path: PathResult,
) -> Result<KnowledgeSubgraph> {
    let (links, connected) = match path {
        PathResult::Found(links) => (links, Some(true)),
        PathResult::None => (Vec::new(), Some(false)),
        PathResult::Unknown => (Vec::new(), None),
    };
    let (mut nodes, mut at) = (vec![(from, 0)], from);
    for (step, link) in (1..).zip(&links) {
        at = link.other_end(at);
        nodes.push((at, step));
    }
    let graph = label_nodes(tx, sight, WalkResult { nodes, links, cut: connected.is_none() })?;
    if graph.nodes.is_empty() {
        return Err(Error::not_found("the node where the path begins is gone"));
    }
    Ok(KnowledgeSubgraph { connected, ..graph })
}
