//! The rows of entities, of what mentions them, and of relations.

use super::Result;
use crate::base::id::{EntityId, MemoryId, ReviewId};
use crate::model::access::{Audience, Sight};
use crate::model::entity::{
    AgentMentions, Entity, EntityMention, EntityName, EntityReview, EntityStatement, EntityType,
    MentionLink, MergeRecord, NameMention,
};
use crate::model::graph::walk::GraphLink;
use crate::model::graph::{GraphNode, LinkFilter, Relation, RelationType};
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;

/// The rows of what agents state about things.
pub trait EntityRows {
    /// What was stated about the thing of this very id, though it may lead to another.
    fn entity(&self, workspace: &Workspace, id: EntityId) -> Result<Option<Entity>>;

    /// What was stated about those of these things about which something was.
    fn stated_entities(&self, workspace: &Workspace, ids: &[EntityId]) -> Result<Vec<Entity>>;

    /// Keeps what is stated about a thing, in the place of what was.
    fn put_entity(&mut self, entity: &Entity) -> Result<()>;

    /// Forgets what was stated about a thing; its names stay.
    fn drop_entity(&mut self, workspace: &Workspace, id: EntityId) -> Result<()>;

    /// The thing that this name leads to: itself, unless it leads to another.
    fn root(&self, workspace: &Workspace, name: EntityId) -> Result<EntityId>;

    /// The names that lead to this thing, without its own.
    fn names_leading_to(&self, workspace: &Workspace, id: EntityId) -> Result<Vec<EntityId>>;

    /// The things that those of these names lead to which somebody in sight stated or mentioned, each
    /// once.
    fn roots(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<EntityId>>;

    /// Lets a name lead to a thing, or to itself again.
    fn redirect_name(&mut self, workspace: &Workspace, name: EntityId, to: EntityId) -> Result<()>;

    /// Keeps a name that everybody knows, if it is new. One that an agent stated stays when no memory
    /// mentions it.
    fn put_name(&mut self, name: &EntityName, stated: bool) -> Result<()>;

    /// Files a name under these keys, for nearly equal ones to find; answers whether it was not.
    fn file_name(&mut self, name: &EntityName, keys: &[String]) -> Result<bool>;

    /// Takes a name out of the file.
    fn unfile_name(&mut self, workspace: &Workspace, name: EntityId) -> Result<()>;

    /// Whether a name is filed.
    fn is_filed(&self, workspace: &Workspace, name: EntityId) -> Result<bool>;

    /// The names of this type and session that are filed under any of these keys, each once.
    fn filed_names(&self, name: &EntityName, keys: &[String]) -> Result<Vec<EntityName>>;

    /// Whether a thing exists in this sight: something was stated about it, or a standing memory in
    /// sight mentions it.
    fn sees_entity(&self, sight: &Sight, id: EntityId) -> Result<bool>;

    /// At most `limit` ids of entities that exist in this sight whose last letters these are, in
    /// order. `ending` has at least six letters.
    fn entity_ids_ending(&self, sight: &Sight, ending: &str, limit: u32) -> Result<Vec<EntityId>>;

    /// The ids in sight that end in the same six letters as another id of `ids`.
    fn entity_ids_alike(&self, sight: &Sight, ids: &[EntityId]) -> Result<Vec<EntityId>>;

    /// The widest audience in sight that knows a thing: everybody, when something was stated about it.
    fn widest_audience(&self, sight: &Sight, id: EntityId) -> Result<Option<Audience>>;

    /// At most `limit` things in sight by name, from beyond the given one on.
    fn entity_names(
        &self,
        sight: &Sight,
        wanted: &EntityNameFilter,
        limit: u32,
    ) -> Result<Vec<EntityName>>;

    /// Keeps a statement about a thing.
    fn add_statement(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        said: &EntityStatement,
    ) -> Result<()>;

    /// What was stated about a thing after this many statements, oldest first.
    fn statements(
        &self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<Vec<EntityStatement>>;

    /// How many statements there are about a thing.
    fn statement_count(&self, workspace: &Workspace, entity: EntityId) -> Result<u64>;

    /// Forgets what was stated about a thing after this many statements.
    fn drop_statements(
        &mut self,
        workspace: &Workspace,
        entity: EntityId,
        after: u64,
    ) -> Result<()>;

    /// Keeps a merge, as the last one into its target.
    fn put_merge(&mut self, workspace: &Workspace, merge: &MergeRecord) -> Result<()>;

    /// The last merge into this thing that was not taken back.
    fn last_merge(&self, workspace: &Workspace, target: EntityId) -> Result<Option<MergeRecord>>;

    /// Forgets the last merge into this thing.
    fn drop_merge(&mut self, workspace: &Workspace, target: EntityId) -> Result<()>;

    /// Keeps what waits for a decision.
    fn put_review(&mut self, workspace: &Workspace, review: &EntityReview) -> Result<()>;

    /// What waits for a decision under this id.
    fn review(&self, workspace: &Workspace, id: ReviewId) -> Result<Option<EntityReview>>;

    /// At most `limit` of what waits for a decision, oldest first, after this one.
    fn reviews(
        &self,
        workspace: &Workspace,
        after: Option<ReviewId>,
        limit: u32,
    ) -> Result<Vec<EntityReview>>;

    /// Forgets what waited.
    fn drop_review(&mut self, workspace: &Workspace, id: ReviewId) -> Result<()>;
}

/// Which names a list of things gives.
#[derive(Debug, Clone, Default)]
pub struct EntityNameFilter {
    /// Of this type.
    pub entity_type: Option<EntityType>,
    /// That begin so, as names are compared.
    pub beginning: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// After this one.
    pub after: Option<EntityId>,
}

/// The rows of mentions, which are derived from memories.
pub trait MentionRows {
    /// Keeps what this memory mentions in the place of what it did, if it still is at this revision;
    /// answers whether it is.
    fn put_mentions(&mut self, memory: &Memory, mentions: &[NameMention]) -> Result<bool>;

    /// At most `limit` standing memories in sight that mention a thing, with their places, in the
    /// order of time, after this place.
    fn mentions(
        &self,
        sight: &Sight,
        id: EntityId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, EntityMention)>>;

    /// Whose standing memories in sight mention a thing; who does so most first.
    fn mentioning_agents(&self, sight: &Sight, id: EntityId) -> Result<Vec<AgentMentions>>;

    /// A thing as the memories in sight name it most: the name and its greatest confidence.
    fn usual_name(&self, sight: &Sight, id: EntityId) -> Result<Option<(EntityName, f64)>>;

    /// At most `limit` memories of a workspace in sight that mention a thing.
    fn mentioning_memories(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        id: EntityId,
        limit: usize,
    ) -> Result<Vec<MemoryId>>;

    /// The things that those of these memories of a workspace mention that are in sight, each pair
    /// once.
    fn entities_mentioned_in(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        memories: &[MemoryId],
    ) -> Result<Vec<MentionLink>>;

    /// How far the mentions follow a journal, by this revision of the rules.
    fn mentions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64>;

    /// The journals that go on beyond where the mentions follow them: the place, and the end.
    fn mentions_behind(&self, rules: u32) -> Result<Vec<(Workspace, u64, u64)>>;

    /// Of the next `limit` events of a journal after this place: whether one is about a memory, how
    /// many there are, and the place of the last.
    fn next_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<(bool, u32, u64)>;

    /// Notes how far they do.
    fn set_mentions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()>;
}

/// The rows of relations.
pub trait RelationRows {
    /// The relation of this type between two things, in this direction, that was stated among this
    /// audience.
    fn relation(
        &self,
        workspace: &Workspace,
        from: GraphNode,
        to: GraphNode,
        relation_type: &RelationType,
        audience: &Audience,
    ) -> Result<Option<Relation>>;

    /// Keeps a relation, in the place of the one of its id. Nobody but this audience sees it; when that
    /// of a memory at its end changes, so does its own.
    fn put_relation(&mut self, relation: &Relation, audience: &Audience) -> Result<()>;

    /// At most `limit` links of these nodes in sight, the strongest first: relations, `mentions`, and
    /// `supersedes` between memories. Entities stand under the id that theirs leads to.
    fn links(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
        along: &LinkFilter,
        limit: usize,
    ) -> Result<Vec<GraphLink>>;

    /// What these nodes are called, in sight: each with its type and its label.
    fn labels(
        &self,
        sight: &Sight,
        nodes: &[GraphNode],
    ) -> Result<Vec<(GraphNode, String, String)>>;
}
