//! The SQL of relations, and of links derived from memories.

use jiff::Timestamp;

use super::Tx;
use super::driver::{SqlRow, ToSql, store_failed};
use super::entity::{ENTITY_NAMES, entity_exists, home_workspace};
use super::row::{encode_json, json, text};
use super::rows::VisibleRows;
use crate::base::error::Result;
use crate::base::id::{EntityId, MemoryId, RelationId};
use crate::model::access::{Audience, Sight, Visibility};
use crate::model::caller::EntryPoint;
use crate::model::graph::export::NodeLabel;
use crate::model::graph::walk::GraphLink;
use crate::model::graph::{
    GraphNode, GraphSource, LinkFilter, Relation, RelationType, WalkDirection,
};
use crate::model::memory::{Memory, Trust};
use crate::model::workspace::Workspace;

/// The newest memories that mention an entity which become its links.
const MENTION_LINKS_MAX: u32 = 200;
/// The columns of a memory `m` with its source.
pub(super) const SOURCE_COLUMNS: &str = "m.owner, m.trust, m.source ->> 'how'";
/// Characters of a memory's text that serve as its label if it has no title.
const LABEL_CHARS_MAX: u32 = 80;

/// The rows of relations.
impl Tx<'_> {
    /// The relation of this type between two nodes, in this direction, that was stated for this
    /// audience.
    pub fn relation(
        &self,
        workspace: &Workspace,
        from: GraphNode,
        to: GraphNode,
        relation_type: &RelationType,
        audience: &Audience,
    ) -> Result<Option<Relation>> {
        let sql = "SELECT relation FROM relation WHERE workspace = ?1 AND origin = ?2 \
             AND audience = ?3 AND relation_type = ?4 AND target = ?5";
        let (from, to, audience) =
            (from.to_string(), to.to_string(), self.find_audience(audience)?);
        let params = (workspace.as_str(), from, audience, relation_type.as_str(), to);
        self.query_one(sql, params, |row| json(row, 0))
    }

    /// The relations of this type in sight that go from one node to another, under any name of both.
    pub fn relations_between(
        &self,
        sight: &Sight,
        from: GraphNode,
        to: GraphNode,
        relation_type: &RelationType,
    ) -> Result<Vec<Relation>> {
        let seen = self.seen(sight)?;
        let names = |end: &str| {
            format!(
                "(SELECT {end} UNION ALL SELECT s.name FROM entity_same s \
                 WHERE s.workspace = :workspace AND s.entity = {end})"
            )
        };
        let sql = format!(
            "SELECT r.relation FROM relation r WHERE r.workspace = :workspace \
             AND r.relation_type = :type AND r.origin IN {} AND r.target IN {} AND {} \
             ORDER BY r.id",
            names(":from"),
            names(":to"),
            seen.of("r")
        );
        let (from, to) = (from.to_string(), to.to_string());
        let more: [(&str, &dyn ToSql); 4] = [
            (":workspace", &home_workspace(sight)),
            (":type", &relation_type.as_str()),
            (":from", &from),
            (":to", &to),
        ];
        seen.all(&sql, &more, |row| json(row, 0))
    }

    /// Stores a relation, replacing the one with its id. Only this audience sees it; if the
    /// audience of a memory at its end changes, so does that of the relation.
    pub fn put_relation(&mut self, relation: &Relation, audience: &Audience) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO relation (workspace, id, origin, target, relation_type, \
             strength, recorded_at, valid_from, valid_until, relation, audience) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                relation.workspace.as_str(),
                relation.id.to_string(),
                relation.from.to_string(),
                relation.to.to_string(),
                relation.relation_type.as_str(),
                relation.strength,
                relation.recorded_at.as_millisecond(),
                relation.valid_from.map(Timestamp::as_millisecond),
                relation.valid_until.map(Timestamp::as_millisecond),
                encode_json(relation)?,
                self.audience_number(audience)?,
            ),
        )?;
        Ok(())
    }

    /// The relation with this id, in sight or not: for its author.
    pub fn relation_with_id(
        &self,
        workspace: &Workspace,
        id: RelationId,
    ) -> Result<Option<Relation>> {
        let sql = "SELECT relation FROM relation WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), |row| json(row, 0))
    }

    /// Removes a relation.
    pub fn drop_relation(&mut self, relation: &Relation) -> Result<()> {
        let sql = "DELETE FROM relation WHERE workspace = ?1 AND id = ?2";
        self.execute(sql, (relation.workspace.as_str(), relation.id.to_string()))?;
        Ok(())
    }

    /// At most `limit` links of these nodes in sight, strongest first: relations, `mentions`, and
    /// `supersedes` between memories. Entities have the id that theirs redirects to.
    pub fn links(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
        along: &LinkFilter,
        limit: usize,
    ) -> Result<Vec<GraphLink>> {
        let mut links = self.relation_links(sight, nodes, along, limit)?;
        let goes = |name: &str| {
            along.follows
                && (along.relations.is_empty()
                    || along.relations.iter().any(|kind| kind.as_str() == name))
        };
        for node in nodes {
            if goes(MENTIONS_TYPE) {
                links.extend(self.mention_links(sight, *node, along)?);
            }
            if let (GraphNode::Memory(id), true) = (node, goes(SUPERSEDES_TYPE)) {
                links.extend(self.supersession_links(sight, *id, along)?);
            }
        }
        links.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.id.cmp(&b.id)));
        links.truncate(limit);
        Ok(links)
    }

    /// The labels of these nodes in sight, in this order.
    pub fn labels(&self, sight: &Sight, nodes: &[GraphNode]) -> Result<Vec<NodeLabel>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT {SOURCE_COLUMNS}, ifnull(m.title, substr(m.text, 1, {LABEL_CHARS_MAX})) FROM memory m \
             WHERE m.workspace = :workspace AND m.id = :id AND m.deleted_at IS NULL AND {seen_m}"
        );
        let mut labels = Vec::with_capacity(nodes.len());
        for node in nodes {
            let label = match node {
                GraphNode::Memory(id) => {
                    let (workspace, id) = (home_workspace(sight), id.to_string());
                    let more: [(&str, &dyn ToSql); 2] = [(":workspace", &workspace), (":id", &id)];
                    seen.first(&sql, &more, |row| {
                        let (kind, source) = ("memory".to_owned(), memory_source(row)?);
                        Ok(NodeLabel { node: *node, kind, label: row.get(3)?, source })
                    })?
                }
                GraphNode::Entity(id) => self.entity_label(sight, *id)?,
            };
            labels.extend(label);
        }
        Ok(labels)
    }
}

/// The link type from a memory to an entity that it mentions.
const MENTIONS_TYPE: &str = "mentions";
/// The link type from a memory to the one that it superseded.
const SUPERSEDES_TYPE: &str = "supersedes";

impl Tx<'_> {
    /// Moves the relations of a memory to the audience of both their ends, after its own changed.
    pub(super) fn move_relations(&self, memory: &Memory) -> Result<()> {
        let (workspace, id) = (memory.workspace.as_str(), memory.id.to_string());
        let sql = "SELECT relation FROM relation WHERE workspace = ?1 AND origin = ?2 \
             UNION SELECT relation FROM relation WHERE workspace = ?1 AND target = ?2";
        let relations: Vec<Relation> = self.query_all(sql, (workspace, &id), |row| json(row, 0))?;
        let own = Audience::of(&Visibility::of(memory));
        for relation in relations {
            let (GraphNode::Memory(from), GraphNode::Memory(to)) = (relation.from, relation.to)
            else {
                continue;
            };
            let other = if from == memory.id { to } else { from };
            let Some(other) = self.audience_of(&memory.workspace, other)? else { continue };
            let audience = Audience::of_both(&own, &other, &relation.author);
            // If that audience has the same relation already, both stay.
            let sql = "UPDATE relation SET audience = ?3 WHERE workspace = ?1 AND id = ?2 \
                 AND NOT EXISTS (SELECT 1 FROM relation o WHERE o.audience = ?3 \
                     AND o.origin = relation.origin AND o.relation_type = relation.relation_type \
                     AND o.target = relation.target)";
            let number = self.audience_number(&audience)?;
            self.execute(sql, (workspace, relation.id.to_string(), number))?;
        }
        Ok(())
    }

    /// The label of an entity.
    fn entity_label(&self, sight: &Sight, id: EntityId) -> Result<Option<NodeLabel>> {
        let (workspace, node) = (sight.workspaces.first(), GraphNode::Entity(id));
        let stated = workspace.map(|workspace| self.entity(workspace, id)).transpose()?.flatten();
        if let Some(entity) = stated {
            let (kind, label) = (entity.entity_type.to_string(), entity.value);
            let source = GraphSource::of_statement(entity.last_agent);
            return Ok(Some(NodeLabel { node, kind, label, source }));
        }
        let Some((name, _)) = self.usual_name(sight, id)? else { return Ok(None) };
        let (kind, label) = (name.entity_type.to_string(), name.value);
        let source = self.last_mention(sight, id)?;
        Ok(source.map(|source| NodeLabel { node, kind, label, source }))
    }

    /// The source of the newest memory in sight that mentions an entity.
    fn last_mention(&self, sight: &Sight, id: EntityId) -> Result<Option<GraphSource>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT {SOURCE_COLUMNS} FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
             AND m.deleted_at IS NULL AND {seen_m} \
             ORDER BY m.recorded_at DESC, m.sequence DESC LIMIT 1"
        );
        let id = id.to_string();
        let more: [(&str, &dyn ToSql); 2] = [(":id", &id), (":workspace", &home_workspace(sight))];
        seen.first(&sql, &more, memory_source)
    }

    /// The relations of these nodes.
    fn relation_links(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
        along: &LinkFilter,
        limit: usize,
    ) -> Result<Vec<GraphLink>> {
        let seen = self.seen(sight)?;
        let seen_r = seen.of("r");
        // Without `CROSS JOIN` and this order, the engine walks all relations of the workspace.
        let side = |near: &str| {
            format!(
                "SELECT r.id, r.relation_type, r.strength, r.relation ->> '$.author' AS author, \
                     ifnull(o.entity, r.origin) AS origin, \
                     ifnull(t.entity, r.target) AS target \
                 FROM near CROSS JOIN relation r INDEXED BY relation_{near} \
                     ON r.workspace = :workspace AND r.{near} = near.id \
                     AND {seen_r} \
                 LEFT JOIN entity_same o ON o.workspace = :workspace AND o.name = r.origin \
                 LEFT JOIN entity_same t ON t.workspace = :workspace AND t.name = r.target \
                 WHERE r.recorded_at <= :at AND (r.valid_from IS NULL OR r.valid_from <= :at) \
                 AND (r.valid_until IS NULL OR r.valid_until > :at) \
                 AND (:relations IS NULL \
                     OR r.relation_type IN (SELECT value FROM json_each(:relations)))"
            )
        };
        let sides = match along.direction {
            WalkDirection::Both => format!("{} UNION {}", side("origin"), side("target")),
            WalkDirection::Out => side("origin"),
            WalkDirection::In => side("target"),
        };
        let sql = format!(
            "WITH given(id) AS (SELECT value FROM json_each(:nodes)), \
             near(id) AS (SELECT id FROM given UNION SELECT s.name FROM given \
                 CROSS JOIN entity_same s INDEXED BY entity_same_entity ON s.workspace = :workspace AND s.entity = given.id) \
             SELECT * FROM ({sides}) l WHERE l.origin <> l.target AND {} AND {} \
             ORDER BY l.strength DESC, l.id LIMIT :limit",
            sees_node(&seen, "l.origin"),
            sees_node(&seen, "l.target"),
        );
        let (at, limit) = (along.at.as_millisecond(), i64::try_from(limit).unwrap_or(i64::MAX));
        let some = |empty: bool, list: Result<String>| (!empty).then_some(list).transpose();
        let relations = some(along.relations.is_empty(), encode_json(&along.relations))?;
        let types = some(along.types.is_empty(), encode_json(&along.types))?;
        let nodes = encode_json(&nodes)?;
        let more: [(&str, &dyn ToSql); 6] = [
            (":workspace", &home_workspace(sight)),
            (":nodes", &nodes),
            (":relations", &relations),
            (":types", &types),
            (":at", &at),
            (":limit", &limit),
        ];
        seen.all(&sql, &more, |row| {
            Ok(GraphLink {
                id: text(row, "id")?,
                from: text(row, "origin")?,
                to: text(row, "target")?,
                relation_type: text(row, "relation_type")?,
                strength: row.get("strength")?,
                source: GraphSource::of_statement(text(row, "author")?),
            })
        })
    }

    /// The links between an entity and the memories that mention it, or a memory and its entities.
    fn mention_links(
        &self,
        sight: &Sight,
        node: GraphNode,
        along: &LinkFilter,
    ) -> Result<Vec<GraphLink>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let (of, direction) = match node {
            GraphNode::Entity(_) => (
                format!(
                    "FROM mention n CROSS JOIN memory m \
                         ON m.workspace = n.workspace AND m.sequence = n.sequence \
                     LEFT JOIN entity_same s ON s.workspace = :workspace AND s.name = n.name \
                     WHERE n.name IN {ENTITY_NAMES} AND {seen_n} AND {seen_m}"
                ),
                WalkDirection::In,
            ),
            GraphNode::Memory(_) => (
                format!(
                    "FROM memory m CROSS JOIN mention n INDEXED BY mention_memory \
                         ON n.workspace = m.workspace AND n.sequence = m.sequence \
                     LEFT JOIN entity_same s ON s.workspace = :workspace AND s.name = n.name \
                     WHERE m.workspace = :workspace AND m.id = :id AND {seen_m}"
                ),
                WalkDirection::Out,
            ),
        };
        if along.direction != WalkDirection::Both && along.direction != direction {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {SOURCE_COLUMNS}, m.id, ifnull(s.entity, n.name) AS entity, max(n.confidence) {of} \
             AND +n.workspace = :workspace \
             AND (:types IS NULL OR EXISTS (SELECT 1 FROM entity_name k WHERE k.workspace = :workspace \
                 AND k.id = n.name AND k.audience = n.audience AND k.entity_type IN (SELECT value FROM json_each(:types)))) \
             AND m.recorded_at <= :at AND m.deleted_at IS NULL \
             GROUP BY n.sequence, m.id, m.owner, m.trust, m.source, 5 ORDER BY n.sequence DESC LIMIT {MENTION_LINKS_MAX}"
        );
        let (at, id) = (along.at.as_millisecond(), node.to_string());
        let types = (!along.types.is_empty()).then(|| encode_json(&along.types)).transpose()?;
        let more: [(&str, &dyn ToSql); 4] = [
            (":workspace", &home_workspace(sight)),
            (":id", &id),
            (":types", &types),
            (":at", &at),
        ];
        seen.all(&sql, &more, |row| {
            let (memory, entity): (MemoryId, EntityId) = (text(row, 3)?, text(row, 4)?);
            derived_link(
                MENTIONS_TYPE,
                GraphNode::Memory(memory),
                GraphNode::Entity(entity),
                row.get(5)?,
                memory_source(row)?,
            )
        })
    }

    /// The links between a memory and those that it superseded, or that superseded it.
    fn supersession_links(
        &self,
        sight: &Sight,
        id: MemoryId,
        along: &LinkFilter,
    ) -> Result<Vec<GraphLink>> {
        let seen = self.seen(sight)?;
        let (seen_o, seen_m, seen_h) = (seen.of("o"), seen.of("m"), seen.of("h"));
        let sql = format!(
            "SELECT {SOURCE_COLUMNS}, o.id, m.id FROM memory o \
             CROSS JOIN memory m ON m.workspace = o.workspace AND m.id = o.superseded_by \
             WHERE o.workspace = :workspace AND o.id IN (SELECT :id WHERE :in UNION ALL \
                 SELECT h.id FROM memory h INDEXED BY memory_heir \
                 WHERE :out AND h.workspace = :workspace AND h.superseded_by = :id AND {seen_h}) \
             AND o.deleted_at IS NULL AND {seen_o} AND {seen_m} AND {} AND {}",
            sees_node(&seen, "o.superseded_by"),
            sees_node(&seen, "o.id"),
        );
        let id = id.to_string();
        let (out, back) =
            (along.direction != WalkDirection::In, along.direction != WalkDirection::Out);
        let (at, types) = (along.at.as_millisecond(), None::<String>);
        let more: [(&str, &dyn ToSql); 6] = [
            (":workspace", &home_workspace(sight)),
            (":id", &id),
            (":out", &out),
            (":in", &back),
            (":at", &at),
            (":types", &types),
        ];
        seen.all(&sql, &more, |row| {
            let (old, new): (MemoryId, MemoryId) = (text(row, 3)?, text(row, 4)?);
            let (new, old) = (GraphNode::Memory(new), GraphNode::Memory(old));
            derived_link(SUPERSEDES_TYPE, new, old, 1.0, memory_source(row)?)
        })
    }
}

/// Whether the node `id` (an expression) is in sight and of a type that the query admits.
fn sees_node(seen: &VisibleRows<'_>, id: &str) -> String {
    let (seen_q, seen_k) = (seen.of("q"), seen.of("k"));
    format!(
        "CASE WHEN substr({id}, 1, 4) = 'mem_' THEN EXISTS (SELECT 1 FROM memory q \
             INDEXED BY memory_seen_id WHERE {seen_q} AND q.id = {id} AND q.workspace = :workspace \
             AND q.recorded_at <= :at AND q.deleted_at IS NULL) \
         ELSE {} AND (:types IS NULL OR {id} IN (SELECT value FROM json_each(:nodes)) OR EXISTS \
             (SELECT 1 FROM entity_name k WHERE k.workspace = :workspace AND k.id = {id} \
              AND {seen_k} AND k.entity_type IN (SELECT value FROM json_each(:types)))) END",
        entity_exists(seen, id)
    )
}

/// A link derived from memories; its id is derived from its ends.
fn derived_link(
    kind: &str,
    from: GraphNode,
    to: GraphNode,
    strength: f64,
    source: GraphSource,
) -> Result<GraphLink> {
    Ok(GraphLink {
        id: RelationId::from_name(&format!("{kind}\n{from}\n{to}")),
        from,
        to,
        relation_type: parse_relation_type(kind)?,
        strength,
        source,
    })
}

/// The source of a memory, in the first columns of a row.
pub(super) fn memory_source(row: &SqlRow<'_>) -> Result<GraphSource> {
    let (trust, how): (Trust, EntryPoint) = (text(row, 1)?, text(row, 2)?);
    let origin_note = trust.origin_note(how).map(str::to_owned);
    Ok(GraphSource { author: text(row, 0)?, origin_note })
}

fn parse_relation_type(kind: &str) -> Result<RelationType> {
    kind.parse().map_err(store_failed)
}
