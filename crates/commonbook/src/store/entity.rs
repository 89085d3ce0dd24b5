//! The contract of a store for entities, mentions and relations.

use super::Result;
use crate::base::id::{EntityId, MemoryId, OperationId, RelationId, ReviewId};
use crate::model::access::{Audience, Sight};
use crate::model::entity::{
    AgentMentions, Entity, EntityDeletion, EntityMention, EntityName, EntityReview,
    EntityStatement, EntityType, MentionLink, MergeRecord, NameMention,
};
use crate::model::graph::walk::GraphLink;
use crate::model::graph::{GraphNode, LinkFilter, Relation, RelationType};
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope};

/// The rows of statements about entities.
pub trait EntityRows {
    /// The entity stated under this id itself, even if the id redirects to another; `None` if it
    /// was deleted.
    fn entity(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>>;

    /// Those of these entities that have a statement.
    fn stated_entities(&self, workspace: &Workspace, ids: &[EntityId]) -> Result<Vec<Entity>>;

    /// The deleted entity with this id itself.
    fn deleted_entity(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>>;

    /// At most `limit` deleted entities after this one, by id.
    fn deleted_entities(
        &self,
        workspace: &Workspace,
        after: Option<EntityId>,
        limit: u32,
    ) -> Result<Vec<Entity>>;

    /// Those of these names that lead to a deleted entity, each with the deletion.
    fn deleted_names(
        &self,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<(EntityId, EntityDeletion)>>;

    /// Stores an entity, replacing its earlier state.
    fn put_entity(&mut self, entity: &Entity) -> Result<()>;

    /// Drops what was stated about an entity; its names stay.
    fn drop_entity(&mut self, workspace: &Workspace, id: EntityId) -> Result<()>;

    /// The entity that this name redirects to: itself, unless it redirects to another.
    fn root(&self, workspace: &Workspace, name: EntityId) -> Result<EntityId>;

    /// The names that redirect to this entity, without its own.
    fn names_leading_to(&self, workspace: &Workspace, id: EntityId) -> Result<Vec<EntityId>>;

    /// The entities behind those of these names that somebody in sight stated or mentioned, each
    /// once.
    fn roots(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<EntityId>>;

    /// Redirects a name to an entity, or to itself again.
    fn redirect_name(&mut self, workspace: &Workspace, name: EntityId, to: EntityId) -> Result<()>;

    /// Stores a name that everybody knows, if it is new. A name that an agent stated stays even if
    /// no memory mentions it.
    fn put_name(&mut self, name: &EntityName, stated: bool) -> Result<()>;

    /// Files a name under these keys, so that similar names find it; returns whether it was not
    /// filed yet.
    fn file_name(&mut self, name: &EntityName, keys: &[String]) -> Result<bool>;

    /// Removes a name from the file.
    fn unfile_name(&mut self, workspace: &Workspace, name: EntityId) -> Result<()>;

    /// Whether a name is filed.
    fn is_filed(&self, workspace: &Workspace, name: EntityId) -> Result<bool>;

    /// The names of this type and session that are filed under any of these keys, each once.
    fn filed_names(&self, name: &EntityName, keys: &[String]) -> Result<Vec<EntityName>>;

    /// Whether an entity exists in this sight: something was stated about it, or a standing memory
    /// in sight mentions it.
    fn sees_entity(&self, sight: &Sight, id: EntityId) -> Result<bool>;

    /// At most `limit` ids of entities in this sight that end in `ending`, in order. `ending` has
    /// at least six letters.
    fn entity_ids_ending(&self, sight: &Sight, ending: &str, limit: u32) -> Result<Vec<EntityId>>;

    /// The ids in sight that end in the same six letters as another id of `ids`.
    fn entity_ids_alike(&self, sight: &Sight, ids: &[EntityId]) -> Result<Vec<EntityId>>;

    /// The audiences in sight that know an entity, widest first: everybody alone, if it has a
    /// statement.
    fn entity_audiences(&self, sight: &Sight, id: EntityId) -> Result<Vec<Audience>>;

    /// The widest audience in sight that knows an entity: everybody, if it has a statement.
    fn widest_audience(&self, sight: &Sight, id: EntityId) -> Result<Option<Audience>>;

    /// At most `limit` entities in sight by name, starting after the given one.
    fn entity_names(
        &self,
        sight: &Sight,
        wanted: &EntityNameFilter,
        limit: u32,
    ) -> Result<Vec<EntityName>>;

    /// Stores a statement about an entity.
    fn add_statement(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        statement: &EntityStatement,
    ) -> Result<()>;

    /// The statements about an entity after this number of statements, oldest first.
    fn statements(
        &self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<Vec<EntityStatement>>;

    /// The number of statements about an entity.
    fn statement_count(&self, workspace: &Workspace, entity: EntityId) -> Result<u64>;

    /// Drops the statements about an entity after this number of statements.
    fn drop_statements(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<()>;

    /// Stores a merge as the last one into its target.
    fn put_merge(&mut self, workspace: &Workspace, merge: &MergeRecord) -> Result<()>;

    /// The last merge into this entity that was not undone.
    fn last_merge(&self, workspace: &Workspace, target: EntityId) -> Result<Option<MergeRecord>>;

    /// The sources of the merges of a consolidation that were not undone, the newest first.
    fn merges_of(&self, workspace: &Workspace, operation: OperationId) -> Result<Vec<EntityId>>;

    /// Drops the last merge into this entity.
    fn drop_merge(&mut self, workspace: &Workspace, target: EntityId) -> Result<()>;

    /// Stores a queued review.
    fn put_review(&mut self, workspace: &Workspace, review: &EntityReview) -> Result<()>;

    /// The queued review with this id.
    fn review(&self, workspace: &Workspace, id: ReviewId) -> Result<Option<EntityReview>>;

    /// At most `limit` queued reviews after this one, oldest first.
    fn reviews(
        &self,
        workspace: &Workspace,
        after: Option<ReviewId>,
        limit: u32,
    ) -> Result<Vec<EntityReview>>;

    /// Drops a queued review.
    fn drop_review(&mut self, workspace: &Workspace, id: ReviewId) -> Result<()>;
}

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

/// The rows of mentions, which are derived from memories.
pub trait MentionRows {
    /// Stores the mentions of this memory, replacing the earlier ones, if it is still at this
    /// revision; returns whether it is.
    fn put_mentions(&mut self, memory: &Memory, mentions: &[NameMention]) -> Result<bool>;

    /// Drops the mentions of an entity, in the memories of these audiences only if any is given.
    /// Its names stay.
    fn drop_mentions(
        &mut self,
        workspace: &Workspace,
        id: EntityId,
        audiences: &[Audience],
    ) -> Result<()>;

    /// At most `limit` standing memories in sight that mention an entity, each with its position,
    /// by time, after this position.
    fn mentions(
        &self,
        sight: &Sight,
        id: EntityId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, EntityMention)>>;

    /// The owners of the standing memories in sight that mention an entity, most mentions first.
    fn mentioning_agents(&self, sight: &Sight, id: EntityId) -> Result<Vec<AgentMentions>>;

    /// The usual name of an entity in the memories in sight: the name and its greatest confidence.
    fn usual_name(&self, sight: &Sight, id: EntityId) -> Result<Option<(EntityName, f64)>>;

    /// At most `limit` memories of a workspace in sight that mention an entity.
    fn mentioning_memories(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        id: EntityId,
        limit: usize,
    ) -> Result<Vec<MemoryId>>;

    /// The entities in sight that these memories of a workspace mention, each pair once.
    fn entities_mentioned_in(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        memories: &[MemoryId],
    ) -> Result<Vec<MentionLink>>;

    /// The position up to which mentions follow a journal with this revision of the rules.
    fn mentions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64>;

    /// The journals in this scope that are ahead of their mentions, by workspace.
    fn mentions_behind(&self, scope: &JournalScope, rules: u32) -> Result<Vec<JournalLag>>;

    /// The next `limit` events of a journal after this position: whether any is about a memory,
    /// their number, and the position of the last.
    fn next_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<(bool, u32, u64)>;

    /// Records the position up to which mentions follow a journal.
    fn set_mentions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()>;
}

/// The rows of relations.
pub trait RelationRows {
    /// The relation of this type between two nodes, in this direction, that was stated for this
    /// audience.
    fn relation(
        &self,
        workspace: &Workspace,
        from: GraphNode,
        to: GraphNode,
        relation_type: &RelationType,
        audience: &Audience,
    ) -> Result<Option<Relation>>;

    /// The relations of this type in sight that go from one node to another, under any name of both.
    fn relations_between(
        &self,
        sight: &Sight,
        from: GraphNode,
        to: GraphNode,
        relation_type: &RelationType,
    ) -> Result<Vec<Relation>>;

    /// Stores a relation, replacing the one with its id. Only this audience sees it; if the
    /// audience of a memory at its end changes, so does that of the relation.
    fn put_relation(&mut self, relation: &Relation, audience: &Audience) -> Result<()>;

    /// The relation with this id, in sight or not: for its author.
    fn relation_with_id(&self, workspace: &Workspace, id: RelationId) -> Result<Option<Relation>>;

    /// Removes a relation.
    fn drop_relation(&mut self, relation: &Relation) -> Result<()>;

    /// At most `limit` links of these nodes in sight, strongest first: relations, `mentions`, and
    /// `supersedes` between memories. Entities have the id that theirs redirects to.
    fn links(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
        along: &LinkFilter,
        limit: usize,
    ) -> Result<Vec<GraphLink>>;

    /// The labels of these nodes in sight, each with its type.
    fn labels(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
    ) -> Result<Vec<(GraphNode, String, String)>>;
}
