//! The SQL of entities: statements, names, merges and reviews.

use std::collections::BTreeMap;

use super::Tx;
use super::access::VisibleAudience;
use super::driver::{SqlRow, ToSql};
use super::row::{encode_json, json, text};
use super::rows::VisibleRows;
use crate::base::error::Result;
use crate::base::id::{EntityId, OperationId, ReviewId};
use crate::model::access::{Audience, Sight};
use crate::model::entity::{
    Entity, EntityDeletion, EntityName, EntityReview, EntityStatement, EntityType, MergeRecord,
};
use crate::model::workspace::Workspace;

/// A filter for names of entities.
#[derive(Debug, Clone, Default)]
pub struct EntityNameFilter {
    /// Names of this type.
    pub entity_type: Option<EntityType>,
    /// Names that begin with this text, as names are compared.
    pub beginning: Option<String>,
    /// Names of this session.
    pub session: Option<String>,
    /// Names after this one.
    pub after: Option<EntityId>,
}

/// Names that are compared with a given one at most: among 100,000 names there were 181.
const NAME_CANDIDATES_MAX: u32 = 500;

/// The names of the entity `:id`: its own, and those that redirect to it.
pub(super) const ENTITY_NAMES: &str = "\
    (SELECT :id UNION ALL \
     SELECT s.name FROM entity_same s WHERE s.workspace = :workspace AND s.entity = :id)";

/// Whether the entity `id` (an expression) exists in sight: something was stated about it, or a
/// standing memory in sight mentions it.
pub(super) fn entity_exists(seen: &VisibleRows<'_>, id: &str) -> String {
    let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
    format!(
        "(EXISTS (SELECT 1 FROM entity WHERE workspace = :workspace AND id = {id} \
             AND entity ->> 'deleted' IS NULL) \
          OR EXISTS (SELECT 1 FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN (SELECT {id} UNION ALL \
                 SELECT s.name FROM entity_same s \
                 WHERE s.workspace = :workspace AND s.entity = {id}) AND {seen_n} \
             AND m.deleted_at IS NULL AND {seen_m}))"
    )
}

/// The rows of statements about entities.
impl Tx<'_> {
    /// The entity stated under this id itself, even if the id redirects to another; `None` if it
    /// was deleted.
    pub fn entity(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>> {
        Ok(self.entity_row(workspace, id)?.filter(|entity| entity.deleted.is_none()))
    }

    /// The deleted entity with this id itself.
    pub fn deleted_entity(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>> {
        Ok(self.entity_row(workspace, id)?.filter(|entity| entity.deleted.is_some()))
    }

    /// At most `limit` deleted entities after this one, by id.
    pub fn deleted_entities(
        &self,
        workspace: &Workspace,
        after: Option<EntityId>,
        limit: u32,
    ) -> Result<Vec<Entity>> {
        let sql = "SELECT entity FROM entity WHERE workspace = ?1 AND id > ?2 \
             AND entity ->> 'deleted' IS NOT NULL ORDER BY id LIMIT ?3";
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.query_all(sql, (workspace.as_str(), after, limit), |row| json(row, 0))
    }

    /// Those of these names that lead to a deleted entity, each with the deletion.
    pub fn deleted_names(
        &self,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<(EntityId, EntityDeletion)>> {
        let sql = "SELECT w.value, e.entity FROM json_each(?2) w \
             LEFT JOIN entity_same s ON s.workspace = ?1 AND s.name = w.value \
             CROSS JOIN entity e ON e.workspace = ?1 AND e.id = ifnull(s.entity, w.value) \
             WHERE e.entity ->> 'deleted' IS NOT NULL";
        let found: Vec<(EntityId, Entity)> =
            self.query_all(sql, (workspace.as_str(), encode_json(&names)?), |row| {
                Ok((text(row, 0)?, json(row, 1)?))
            })?;
        let deleted = |(name, entity): (EntityId, Entity)| Some((name, entity.deleted?));
        Ok(found.into_iter().filter_map(deleted).collect())
    }

    /// Those of these entities that have a statement.
    pub fn stated_entities(&self, workspace: &Workspace, ids: &[EntityId]) -> Result<Vec<Entity>> {
        let sql = "SELECT e.entity FROM json_each(?2) j \
                   CROSS JOIN entity e ON e.workspace = ?1 AND e.id = j.value \
                   WHERE e.entity ->> 'deleted' IS NULL";
        self.query_all(sql, (workspace.as_str(), encode_json(&ids)?), |row| json(row, 0))
    }

    /// Stores an entity, replacing its earlier state.
    pub fn put_entity(&mut self, entity: &Entity) -> Result<()> {
        self.execute(
            "INSERT INTO entity (workspace, id, entity) VALUES (?1, ?2, ?3) \
             ON CONFLICT (workspace, id) DO UPDATE SET entity = excluded.entity",
            (entity.workspace.as_str(), entity.id.to_string(), encode_json(entity)?),
        )?;
        Ok(())
    }

    /// Drops what was stated about an entity; its names stay.
    pub fn drop_entity(&mut self, workspace: &Workspace, id: EntityId) -> Result<()> {
        let key = [workspace.as_str(), &id.to_string()];
        self.execute("DELETE FROM entity WHERE workspace = ?1 AND id = ?2", key)?;
        let everybody = self.everybody_audience(workspace)?;
        self.execute(
            "UPDATE entity_name SET stated = FALSE WHERE workspace = ?1 AND id = ?2 AND audience = ?3",
            (workspace.as_str(), id.to_string(), everybody),
        )?;
        self.forget_name(workspace, id, everybody)
    }

    /// The entity that this name redirects to: itself, unless it redirects to another.
    pub fn root(&self, workspace: &Workspace, name: EntityId) -> Result<EntityId> {
        let sql = "SELECT entity FROM entity_same WHERE workspace = ?1 AND name = ?2";
        let root =
            self.query_one(sql, (workspace.as_str(), name.to_string()), |row| text(row, 0))?;
        Ok(root.unwrap_or(name))
    }

    /// The entities behind those of these names that somebody in sight stated or mentioned, each
    /// once.
    pub fn roots(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<EntityId>> {
        let seen = self.seen(sight)?;
        let seen_e = seen.of("e");
        let sql = format!(
            "SELECT DISTINCT ifnull(s.entity, e.id) FROM json_each(:names) w \
             CROSS JOIN entity_name e ON e.workspace = :workspace AND e.id = w.value \
                 AND {seen_e} \
             LEFT JOIN entity_same s ON s.workspace = :workspace AND s.name = e.id"
        );
        let (workspace, names) = (workspace.as_str(), encode_json(&names)?);
        let more: [(&str, &dyn ToSql); 2] = [(":workspace", &workspace), (":names", &names)];
        seen.all(&sql, &more, |row| text(row, 0))
    }

    /// The names that redirect to this entity, without its own.
    pub fn names_leading_to(&self, workspace: &Workspace, id: EntityId) -> Result<Vec<EntityId>> {
        let sql = "SELECT name FROM entity_same WHERE workspace = ?1 AND entity = ?2 ORDER BY name";
        self.query_all(sql, (workspace.as_str(), id.to_string()), |row| text(row, 0))
    }

    /// Redirects a name to an entity, or to itself again.
    pub fn redirect_name(
        &mut self,
        workspace: &Workspace,
        name: EntityId,
        to: EntityId,
    ) -> Result<()> {
        let (workspace, name) = (workspace.as_str(), name.to_string());
        let to = to.to_string();
        if name == to {
            let sql = "DELETE FROM entity_same WHERE workspace = ?1 AND name = ?2";
            self.execute(sql, (workspace, name))?;
            return Ok(());
        }
        self.execute(
            "INSERT INTO entity_same (workspace, name, entity) VALUES (?1, ?2, ?3) \
             ON CONFLICT (workspace, name) DO UPDATE SET entity = excluded.entity",
            (workspace, name, to),
        )?;
        Ok(())
    }

    /// Stores a name that everybody knows, if it is new. A name that an agent stated stays even if
    /// no memory mentions it.
    pub fn put_name(&mut self, name: &EntityName, stated: bool) -> Result<()> {
        self.note_name(name, self.everybody_audience(&name.workspace)?, stated)
    }

    /// Files a name under these keys, so that similar names find it; returns whether it was not
    /// filed yet.
    pub fn file_name(&mut self, name: &EntityName, keys: &[String]) -> Result<bool> {
        let (workspace, id) = (name.workspace.as_str(), name.id.to_string());
        let sql = "UPDATE entity_name SET filed = TRUE \
             WHERE workspace = ?1 AND id = ?2 AND audience = ?3 AND filed = FALSE";
        if self.execute(sql, (workspace, &id, self.everybody_audience(&name.workspace)?))? == 0 {
            return Ok(false);
        }
        for key in keys {
            self.execute(
                "INSERT OR IGNORE INTO entity_key (workspace, key, name) VALUES (?1, ?2, ?3)",
                (workspace, key, &id),
            )?;
        }
        Ok(true)
    }

    /// Removes a name from the file.
    pub fn unfile_name(&mut self, workspace: &Workspace, name: EntityId) -> Result<()> {
        let key = (workspace.as_str(), name.to_string());
        let sql = "UPDATE entity_name SET filed = FALSE \
             WHERE workspace = ?1 AND id = ?2 AND audience = ?3";
        self.execute(sql, (key.0, &key.1, self.everybody_audience(workspace)?))?;
        self.execute("DELETE FROM entity_key WHERE workspace = ?1 AND name = ?2", key)?;
        Ok(())
    }

    /// Whether a name is filed.
    pub fn is_filed(&self, workspace: &Workspace, name: EntityId) -> Result<bool> {
        let everybody = self.find_audience(&Audience::Workspace(workspace.clone()))?;
        let sql =
            "SELECT filed FROM entity_name WHERE workspace = ?1 AND id = ?2 AND audience = ?3";
        let key = (workspace.as_str(), name.to_string(), everybody);
        Ok(self.query_one(sql, key, |row| row.get(0))?.unwrap_or(false))
    }

    /// The names of this type and session that are filed under any of these keys, each once.
    pub fn filed_names(&self, name: &EntityName, keys: &[String]) -> Result<Vec<EntityName>> {
        let sql = format!(
            "SELECT e.* FROM (SELECT DISTINCT k.name FROM json_each(?2) w \
                 CROSS JOIN entity_key k ON k.workspace = ?1 AND k.key = w.value \
                 LIMIT {NAME_CANDIDATES_MAX}) f \
             CROSS JOIN entity_name e ON e.workspace = ?1 AND e.id = f.name AND e.audience = ?5 \
             WHERE e.entity_type = ?3 AND e.session IS ?4 ORDER BY e.id"
        );
        let (workspace, kind) = (name.workspace.as_str(), name.entity_type.name());
        let everybody = self.find_audience(&Audience::Workspace(name.workspace.clone()))?;
        let params = (workspace, encode_json(&keys)?, kind, &name.session, everybody);
        self.query_all(&sql, params, name_from_row)
    }

    /// Whether an entity exists in this sight: something was stated about it, or a standing memory
    /// in sight mentions it.
    pub fn sees_entity(&self, sight: &Sight, id: EntityId) -> Result<bool> {
        let (seen, id) = (self.seen(sight)?, id.to_string());
        let sql = format!("SELECT {}", entity_exists(&seen, ":id"));
        let more: [(&str, &dyn ToSql); 2] = [(":id", &id), (":workspace", &home_workspace(sight))];
        Ok(seen.first(&sql, &more, |row| row.get(0))?.unwrap_or(false))
    }

    /// At most `limit` ids of entities in this sight that end in `ending`, in order. `ending` has
    /// at least six letters.
    pub fn entity_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<EntityId>> {
        let sql = "SELECT DISTINCT id FROM entity_name INDEXED BY entity_name_ending \
                   WHERE substr(id, -6) = substr(?1, -6) AND substr(id, -length(?1)) = ?1 \
                       AND workspace = ?2 ORDER BY id";
        let named: Vec<EntityId> =
            self.query_all(sql, (ending, home_workspace(sight)), |row| text(row, 0))?;
        let mut seen = Vec::new();
        for id in named {
            if seen.len() < limit as usize && self.sees_entity(sight, id)? {
                seen.push(id);
            }
        }
        Ok(seen)
    }

    /// The ids in sight that end in the same six letters as another id of `ids`.
    pub fn entity_ids_alike(&self, sight: &Sight, ids: &[EntityId]) -> Result<Vec<EntityId>> {
        let sql = "SELECT DISTINCT n.id FROM json_each(?1) w \
                   CROSS JOIN entity_name n INDEXED BY entity_name_ending \
                       ON substr(n.id, -6) = substr(w.value, -6) AND n.id <> w.value \
                   WHERE n.workspace = ?2";
        let alike: Vec<EntityId> =
            self.query_all(sql, (encode_json(&ids)?, home_workspace(sight)), |row| text(row, 0))?;
        let mut seen = Vec::new();
        for id in alike {
            if self.sees_entity(sight, id)? {
                seen.push(id);
            }
        }
        Ok(seen)
    }

    /// The widest audience in sight that knows an entity: everybody, if it has a statement.
    pub fn widest_audience(&self, sight: &Sight, id: EntityId) -> Result<Option<Audience>> {
        Ok(self.entity_audiences(sight, id)?.into_iter().next())
    }

    /// The audiences in sight that know an entity, widest first: everybody alone, if it has a
    /// statement.
    pub fn entity_audiences(&self, sight: &Sight, id: EntityId) -> Result<Vec<Audience>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT DISTINCT n.audience FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
             AND m.deleted_at IS NULL AND {seen_m}"
        );
        if let Some(home) = sight.workspaces.first()
            && self.entity(home, id)?.is_some()
        {
            return Ok(vec![Audience::Workspace(home.clone())]);
        }
        let id = id.to_string();
        let more: [(&str, &dyn ToSql); 2] = [(":id", &id), (":workspace", &home_workspace(sight))];
        let numbers: Vec<i64> = seen.all(&sql, &more, |row| row.get(0))?;
        let visible = self.visible_audiences(sight)?;
        let mut rows: Vec<&VisibleAudience> =
            visible.iter().filter(|row| numbers.contains(&row.number)).collect();
        rows.sort_by_key(|row| row.narrowness_key());
        Ok(rows.into_iter().map(|row| row.audience.clone()).collect())
    }

    /// At most `limit` entities in sight by name, starting after the given one.
    pub fn entity_names(
        &self,
        sight: &Sight,
        wanted: &EntityNameFilter,
        limit: u32,
    ) -> Result<Vec<EntityName>> {
        let from = match wanted.after {
            None => None,
            Some(id) => match self.normalised_name(sight, id)? {
                None => return Ok(Vec::new()),
                from => from,
            },
        };
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT e.* FROM entity_name e INDEXED BY entity_name_order \
             WHERE e.audience = :audience AND e.workspace = :workspace \
             AND (:type IS NULL OR e.entity_type = :type) \
             AND (:session IS NULL OR e.session = :session) \
             AND (:beginning IS NULL OR substr(e.normalised, 1, length(:beginning)) = :beginning) \
             AND (:after IS NULL OR (e.normalised, e.id) > (:from, :after)) \
             AND e.normalised >= max(ifnull(:beginning, ''), ifnull(:from, '')) \
             AND NOT EXISTS (SELECT 1 FROM entity_same o \
                 WHERE o.workspace = :workspace AND o.name = e.id) \
             AND {} ORDER BY e.normalised, e.id LIMIT :limit",
            entity_exists(&seen, "e.id")
        );
        let after = wanted.after.map(|id| id.to_string());
        let kind = wanted.entity_type.as_ref().map(EntityType::name);
        let home = home_workspace(sight);
        let mut names: BTreeMap<(String, EntityId), EntityName> = BTreeMap::new();
        let visible = self.visible_audiences(sight)?;
        let at_home = |audience: &&VisibleAudience| audience.workspace().as_str() == home;
        for audience in visible.iter().filter(at_home) {
            let more: [(&str, &dyn ToSql); 8] = [
                (":workspace", &home),
                (":audience", &audience.number),
                (":type", &kind),
                (":session", &wanted.session),
                (":beginning", &wanted.beginning),
                (":from", &from),
                (":after", &after),
                (":limit", &limit),
            ];
            for name in seen.all(&sql, &more, name_from_row)? {
                names.entry((name.normalised.clone(), name.id)).or_insert(name);
            }
        }
        Ok(names.into_values().take(limit as usize).collect())
    }

    /// Stores a statement about an entity.
    pub fn add_statement(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        statement: &EntityStatement,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO entity_statement (workspace, entity, number, statement) \
             SELECT ?1, ?2, 1 + ifnull(max(number), 0), ?3 FROM entity_statement \
             WHERE workspace = ?1 AND entity = ?2",
            (workspace.as_str(), entity.to_string(), encode_json(statement)?),
        )?;
        Ok(())
    }

    /// The statements about an entity after this number of statements, oldest first.
    pub fn statements(
        &self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<Vec<EntityStatement>> {
        let sql = "SELECT statement FROM entity_statement \
             WHERE workspace = ?1 AND entity = ?2 AND number > ?3 ORDER BY number";
        self.query_all(sql, (workspace.as_str(), entity.to_string(), after), |row| json(row, 0))
    }

    /// The number of statements about an entity.
    pub fn statement_count(&self, workspace: &Workspace, entity: EntityId) -> Result<u64> {
        let sql = "SELECT ifnull(max(number), 0) FROM entity_statement \
             WHERE workspace = ?1 AND entity = ?2";
        let count =
            self.query_one(sql, (workspace.as_str(), entity.to_string()), |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// Drops the statements about an entity after this number of statements.
    pub fn drop_statements(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<()> {
        let sql =
            "DELETE FROM entity_statement WHERE workspace = ?1 AND entity = ?2 AND number > ?3";
        self.execute(sql, (workspace.as_str(), entity.to_string(), after))?;
        Ok(())
    }

    /// Stores a merge as the last one into its target.
    pub fn put_merge(&mut self, workspace: &Workspace, merge: &MergeRecord) -> Result<()> {
        let (target, source) = (merge.joined.target.id, merge.joined.source.id);
        self.execute(
            "INSERT INTO entity_merge (workspace, target, number, source, merge) \
             SELECT ?1, ?2, 1 + ifnull(max(number), 0), ?3, ?4 FROM entity_merge \
             WHERE workspace = ?1 AND target = ?2",
            (workspace.as_str(), target.to_string(), source.to_string(), encode_json(merge)?),
        )?;
        Ok(())
    }

    /// The last merge into this entity that was not undone.
    pub fn last_merge(
        &self,
        workspace: &Workspace,
        target: EntityId,
    ) -> Result<Option<MergeRecord>> {
        let sql = "SELECT merge FROM entity_merge WHERE workspace = ?1 AND target = ?2 \
             ORDER BY number DESC LIMIT 1";
        self.query_one(sql, (workspace.as_str(), target.to_string()), |row| json(row, 0))
    }

    /// The sources of the merges of a consolidation that were not undone, the newest first.
    pub fn merges_of(
        &self,
        workspace: &Workspace,
        operation: OperationId,
    ) -> Result<Vec<EntityId>> {
        let sql = "SELECT source FROM entity_merge \
             WHERE workspace = ?1 AND merge ->> 'operation' = ?2 ORDER BY target, number DESC";
        self.query_all(sql, (workspace.as_str(), operation.to_string()), |row| text(row, 0))
    }

    /// Drops the last merge into this entity.
    pub fn drop_merge(&mut self, workspace: &Workspace, target: EntityId) -> Result<()> {
        self.execute(
            "DELETE FROM entity_merge WHERE workspace = ?1 AND target = ?2 AND number = \
             (SELECT max(number) FROM entity_merge WHERE workspace = ?1 AND target = ?2)",
            (workspace.as_str(), target.to_string()),
        )?;
        Ok(())
    }

    /// Stores a queued review.
    pub fn put_review(&mut self, workspace: &Workspace, review: &EntityReview) -> Result<()> {
        self.execute(
            "INSERT INTO entity_review (workspace, id, review) VALUES (?1, ?2, ?3)",
            (workspace.as_str(), review.id.to_string(), encode_json(review)?),
        )?;
        Ok(())
    }

    /// The queued review with this id.
    pub fn review(&self, workspace: &Workspace, id: ReviewId) -> Result<Option<EntityReview>> {
        let sql = "SELECT review FROM entity_review WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), |row| json(row, 0))
    }

    /// At most `limit` queued reviews after this one, oldest first.
    pub fn reviews(
        &self,
        workspace: &Workspace,
        after: Option<ReviewId>,
        limit: u32,
    ) -> Result<Vec<EntityReview>> {
        let sql = "SELECT review FROM entity_review WHERE workspace = ?1 AND id > ?2 \
             ORDER BY id LIMIT ?3";
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.query_all(sql, (workspace.as_str(), after, limit), |row| json(row, 0))
    }

    /// Drops a queued review.
    pub fn drop_review(&mut self, workspace: &Workspace, id: ReviewId) -> Result<()> {
        let sql = "DELETE FROM entity_review WHERE workspace = ?1 AND id = ?2";
        self.execute(sql, (workspace.as_str(), id.to_string()))?;
        Ok(())
    }
}

impl Tx<'_> {
    /// The row of an entity, deleted or not.
    fn entity_row(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>> {
        let sql = "SELECT entity FROM entity WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), |row| json(row, 0))
    }

    /// The normalised form of a name, if somebody in sight knows it.
    fn normalised_name(&self, sight: &Sight, id: EntityId) -> Result<Option<String>> {
        let (seen, id) = (self.seen(sight)?, id.to_string());
        let sql = format!(
            "SELECT e.normalised FROM entity_name e WHERE e.workspace = :workspace \
             AND e.id = :id AND {} LIMIT 1",
            seen.of("e")
        );
        let more: [(&str, &dyn ToSql); 2] = [(":workspace", &home_workspace(sight)), (":id", &id)];
        seen.first(&sql, &more, |row| row.get(0))
    }
}

/// The workspace in which a sight finds entities: its first one.
pub(super) fn home_workspace(sight: &Sight) -> &str {
    sight.workspaces.first().map_or("", Workspace::as_str)
}

pub(super) fn name_from_row(row: &SqlRow<'_>) -> Result<EntityName> {
    Ok(EntityName {
        id: text(row, "id")?,
        workspace: text(row, "workspace")?,
        session: row.get("session")?,
        entity_type: text(row, "entity_type")?,
        value: row.get("value")?,
        normalised: row.get("normalised")?,
    })
}
