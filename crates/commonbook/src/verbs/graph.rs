//! Relating things, and walking the graph.

use jiff::Timestamp;

use super::Commonbook;
use super::memory::standing;
use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, RelationId};
use crate::base::limits;
use crate::model::access::{Audience, Reach, Sight};
use crate::model::caller::Caller;
use crate::model::event::{EventKind, NewEvent};
use crate::model::graph::export::{NamedNode, Subgraph};
use crate::model::graph::walk::{Path, Reached, neighbourhood, shortest_path};
use crate::model::graph::{
    AddRelation, Along, Direction, Format, GraphQuery, Node, NodeRef, Relation,
};
use crate::model::memory::Sharing;
use crate::store::Transaction;
use crate::verbs::find_visible::{home, meant, nothing_called};

impl Commonbook {
    /// Relates two entities, or two memories, that the caller sees.
    ///
    /// # Errors
    /// `invalid` for a thing with itself, an entity with a memory, a time that ends before it
    /// begins; `not_found` for what is out of sight.
    pub fn add_relation(&self, caller: &Caller, request: &AddRelation) -> Result<Relation> {
        self.follow_mentions(caller)?;
        let (key, said) = (request.idempotency_key.as_ref(), request.clone());
        let id = RelationId::new(&*self.ids, self.clock.now());
        let once = self.once(caller, ("add_relation", request, key), move |tx, caller, now| {
            let sight = Sight::writing_at_home(caller)?;
            let workspace = home(&sight)?;
            let from = node(tx, &sight, &said.from).map_err(|error| error.at("from"))?;
            let to = node(tx, &sight, &said.to).map_err(|error| error.at("to"))?;
            said.check(from, to)?;
            let audience = Audience::of_both(
                &audience(tx, &sight, from)?,
                &audience(tx, &sight, to)?,
                &caller.agent,
            );
            let kind = &said.relation_type;
            let relation = match tx.relation(workspace, (from, to), kind, &audience)? {
                Some(known) => known.repeated(&said, now),
                None => {
                    let by = (&caller.agent, now);
                    Relation::new(id, workspace.clone(), (from, &said, to), by)
                }
            };
            tx.put_relation(&relation, &audience)?;
            let shared = is_common(tx, &sight, from)? && is_common(tx, &sight, to)?;
            let sharing = if shared { Sharing::Shared } else { Sharing::Private };
            let (subject, by) = ((workspace, relation.id.to_string()), (&caller.agent, now));
            tx.append_event(&NewEvent::about(EventKind::RelationAdded, subject, by, sharing))?;
            Ok(relation)
        })?;
        Ok(once.answer)
    }

    /// The neighbourhood of a thing, or the shortest path between two, of what the caller sees.
    ///
    /// # Errors
    /// `invalid` for a depth or a limit outside its bounds; `not_found` for what is out of sight.
    pub fn graph_query(&self, caller: &Caller, request: &GraphQuery) -> Result<Subgraph> {
        self.follow_mentions(caller)?;
        let (depth, limit) = (request.depth()?, request.limit()?);
        let sight = Sight::reading_at_home(caller)?;
        let along = request.along(self.clock.now());
        self.store.read(|tx| {
            let from = node(tx, &sight, &request.from).map_err(|error| error.at("from"))?;
            let links = |nodes: &[Node], most| tx.links(&sight, nodes, &along, most);
            let mut graph = match &request.to {
                None => named(tx, &sight, neighbourhood(from, depth, limit, links)?)?,
                Some(to) => {
                    let to = node(tx, &sight, to).map_err(|error| error.at("to"))?;
                    path(tx, &sight, from, shortest_path(from, to, links)?)?
                }
            };
            if request.format == Some(Format::Dot) {
                graph.dot = Some(graph.dot());
            }
            Ok(graph)
        })
    }
}

/// The entities that a thing is related to.
pub(super) fn related(
    tx: &dyn Transaction,
    sight: &Sight,
    id: EntityId,
    at: Timestamp,
) -> Result<Subgraph> {
    let (relations, types, direction) = (Vec::new(), Vec::new(), Direction::Both);
    let along = Along { relations, types, direction, follows: false, at };
    let links = |nodes: &[Node], most| tx.links(sight, nodes, &along, most);
    let reached = neighbourhood(Node::Entity(id), 1, limits::PAGE_STATEMENTS + 1, links)?;
    named(tx, sight, reached)
}

/// The entity or memory in sight that is meant.
fn node(tx: &dyn Transaction, sight: &Sight, wanted: &NodeRef) -> Result<Node> {
    match wanted {
        NodeRef::Entity(entity) => meant(tx, sight, entity).map(Node::Entity),
        NodeRef::Memory(id) => standing(tx, sight, *id).map(|memory| Node::Memory(memory.id)),
    }
}

/// Who knows a thing in sight.
fn audience(tx: &dyn Transaction, sight: &Sight, node: Node) -> Result<Audience> {
    match node {
        Node::Entity(id) => {
            let known = tx.known_to(sight, id)?;
            known.ok_or_else(|| nothing_called(&id.to_string()))
        }
        Node::Memory(id) => Ok(Audience::of(&Reach::of(&standing(tx, sight, id)?))),
    }
}

/// Whether everybody in the workspace can read a thing, whatever else they may.
fn is_common(tx: &dyn Transaction, sight: &Sight, node: Node) -> Result<bool> {
    match node {
        Node::Entity(id) => Ok(tx.entity(home(sight)?, id)?.is_some()),
        Node::Memory(id) => Ok(standing(tx, sight, id)?.is_common()),
    }
}

/// What a walk reached, with the names of all nodes.
fn named(tx: &dyn Transaction, sight: &Sight, reached: Reached) -> Result<Subgraph> {
    let nodes: Vec<Node> = reached.nodes.iter().map(|(node, _)| *node).collect();
    let mut labels = tx.labels(sight, &nodes)?.into_iter().peekable();
    let named = reached.nodes.into_iter().filter_map(|(id, steps)| {
        let (_, kind, label) = labels.next_if(|(node, _, _)| *node == id)?;
        Some(NamedNode { id, kind, label, steps })
    });
    let nodes = named.collect();
    Ok(Subgraph { nodes, links: reached.links, cut: reached.cut, connected: None, dot: None })
}

/// A path with the names of its nodes, in order.
fn path(tx: &dyn Transaction, sight: &Sight, from: Node, path: Path) -> Result<Subgraph> {
    let (links, connected) = match path {
        Path::Found(links) => (links, Some(true)),
        Path::None => (Vec::new(), Some(false)),
        Path::Unknown => (Vec::new(), None),
    };
    let (mut nodes, mut at) = (vec![(from, 0)], from);
    for (step, link) in (1..).zip(&links) {
        at = link.other(at);
        nodes.push((at, step));
    }
    let graph = named(tx, sight, Reached { nodes, links, cut: connected.is_none() })?;
    if graph.nodes.is_empty() {
        return Err(Error::not_found("the node where the path begins"));
    }
    Ok(Subgraph { connected, ..graph })
}
