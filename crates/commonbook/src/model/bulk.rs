//! Bulk operations: adopting and purging many memories, each with a preview and an undo.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{HANDLE_PATTERN, MemoryId, OperationId};
use crate::base::limits;
use crate::model::access;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::memory::{Memory, MemoryType};
use crate::model::search::period;
use crate::model::token::TokenScope;
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

string_enum! {
    /// The kind of a bulk operation.
    BulkKind {
        /// The memories got another owner.
        Adopted = "adopted",
        /// The memories were deleted; after 30 days they are removed permanently.
        Purged = "purged",
        /// The memories were consolidated: merged, archived, and new summaries.
        Consolidated = "consolidated",
        /// A memory, and what digests made of it, was retracted.
        Retracted = "retracted",
        /// The memories came from another workspace.
        Moved = "moved",
        /// The memories went into another workspace: the other end of a move.
        MovedAway = "moved_away",
    }
}

/// A change of many memories at once, which can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkOperation {
    /// The operation's id.
    pub id: OperationId,
    /// The workspace of the memories.
    pub workspace: Workspace,
    /// What was done.
    pub kind: BulkKind,
    /// The agent that did it.
    pub agent: Agent,
    /// When it was done.
    pub at: Timestamp,
}

/// One memory of a bulk operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkItem {
    /// The memory.
    pub memory: MemoryId,
    /// Its owner before the operation.
    pub owner: Agent,
    /// Its revision after the operation.
    pub revision: u64,
}

/// Gives memories without a real owner to another owner: those of `legacy`, or of owners whose name
/// matches a pattern. Preview it with `dry_run`; take it back with `undo_operation`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdoptMemories {
    /// The new owner: an agent, or `human` for what the person vouches for.
    pub agent_name: String,
    /// The present owner: a name, or the beginning of names with `*` at its end (`import/*`);
    /// `legacy` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only memories of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only memories saved since this time: a time, a date, or an age such as `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only memories saved before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Only reports what would change; changes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Moves memories of another workspace into this one, with ids, owners, times and links: yours and your
/// children's; a person moves all shared ones. Cases, sessions and handoffs stay. Preview with `dry_run`;
/// `undo_operation` takes it back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveMemories {
    /// The workspace in which they are now.
    #[schemars(length(min = 1, max = limits::WORKSPACE_CHARS))]
    pub from: String,
    /// Only memories of this owner, or of names that begin so: `import/*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only memories saved since this time: a time, a date, or an age such as `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only memories saved before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Only reports what would move; moves nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Deletes what you and your children saved since a time, takes back what else they did, and lists what
/// stays. Use it if an agent cannot be trusted. Preview with `dry_run`; `undo_operation` restores memories
/// and entries for 30 days.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeSince {
    /// The memories saved since this time: a time, a date, or an age such as `7d`.
    pub since: String,
    /// Only memories saved before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Only reports what would be deleted; deletes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Undoes your last change, or a bulk operation. Memories that have changed since stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoOperation {
    /// Its id; your `last` change by default.
    #[serde(default, deserialize_with = "unless_last", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = operation_pattern()))]
    pub operation_id: Option<OperationId>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// The name of the last change, in place of an id.
pub const LAST_CHANGE: &str = "last";

/// What names an operation, as a JSON Schema pattern.
fn operation_pattern() -> String {
    format!("^(act_[0-7][0-9a-hjkmnp-tv-z]{{25}}|#?{HANDLE_PATTERN}|{LAST_CHANGE})$")
}

/// The id of an operation; `None` for the last change.
fn unless_last<'de, D: Deserializer<'de>>(from: D) -> Result<Option<OperationId>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let id = text.filter(|text| text != LAST_CHANGE).map(|text| text.parse());
    id.transpose().map_err(|error: Error| serde::de::Error::custom(error.message))
}

/// The result of a bulk operation or of its preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BulkResult {
    /// The id to undo it with; `null` for a dry run and if no memory matched.
    pub operation: Option<OperationId>,
    /// Number of memories.
    pub memories: u64,
    /// The first 20 of them, as they were before.
    pub items: Vec<Memory>,
    /// What was undone, if it was no operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
    /// Number of case entries that matched too; a purge retracts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries: u64,
    /// Number of memories that the workspace has already.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub present: u64,
    /// What a purge found beside the memories, at most 1000: first what stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<PurgeTrace>,
    /// Number of further traces.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_traces: u64,
}

string_enum! {
    /// What an agent left beside its memories.
    TraceKind {
        /// A memory of another agent, or one saved before, that it changed; or one made of its memories.
        Memory = "memory",
        /// An entry of a case.
        Entry = "entry",
        /// A handoff.
        Handoff = "handoff",
        /// A case that it opened or changed.
        Case = "case",
        /// A session.
        Session = "session",
        /// A checkpoint.
        Checkpoint = "checkpoint",
        /// An entity about which it stated something, or that it merged.
        Entity = "entity",
        /// A statement or merge that waits for a decision.
        Review = "review",
        /// A contradiction that it resolved.
        Contradiction = "contradiction",
        /// A relation.
        Relation = "relation",
        /// A webhook.
        Webhook = "webhook",
        /// A standing memory file.
        Standing = "standing",
        /// The journal.
        Journal = "journal",
    }
}

string_enum! {
    /// What a purge does with a trace.
    TraceFate {
        /// It stays as it is.
        Stays = "stays",
        /// It is retracted: searches and contexts leave it out.
        Retracted = "retracted",
        /// It is again as it was before.
        Restored = "restored",
        /// It is withdrawn.
        Withdrawn = "withdrawn",
        /// Its title and labels are dropped.
        Renamed = "renamed",
        /// What the agent put there is removed.
        Removed = "removed",
    }
}

/// Something that an agent left beside its memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PurgeTrace {
    /// Its kind.
    #[schemars(with = "String")]
    pub kind: TraceKind,
    /// Its id: the key of a case, the path of a file, the workspace of a journal.
    pub id: String,
    /// What the purge does with it.
    #[schemars(with = "String")]
    pub fate: TraceFate,
    /// What of it stays, and how to remove that; `null` if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The memories that a bulk operation selects.
#[derive(Debug, Clone, PartialEq)]
pub struct BulkSelection {
    owner: OwnerPattern,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// Only what came through this door.
    door: Option<EntryPoint>,
}

#[derive(Debug, Clone, PartialEq)]
enum OwnerPattern {
    Any,
    Is(Agent),
    Begins(String),
    IsOrBelow(Agent),
}

impl BulkSelection {
    /// What was saved without a name at the command line.
    #[must_use]
    pub fn unnamed_at_cli() -> Self {
        let owner = OwnerPattern::Is(Agent::anonymous());
        Self { owner, since: None, until: None, door: Some(EntryPoint::Cli) }
    }

    /// Whether it selects this memory. A deleted memory never matches.
    #[must_use]
    pub fn fits(&self, memory: &Memory) -> bool {
        let is_through_door = self.door.is_none_or(|door| memory.source.how == door);
        memory.deleted_at.is_none()
            && is_through_door
            && self.is_by(&memory.owner, memory.recorded_at)
    }

    /// Whether it selects what this agent did at this time.
    #[must_use]
    pub fn is_by(&self, agent: &Agent, at: Timestamp) -> bool {
        let named = match &self.owner {
            OwnerPattern::Any => true,
            OwnerPattern::Is(owner) => agent == owner,
            OwnerPattern::Begins(start) => agent.as_str().starts_with(start.as_str()),
            OwnerPattern::IsOrBelow(owner) => agent == owner || agent.is_child_of(owner),
        };
        named
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at <= until)
    }

    /// The first and the last time that it selects.
    #[must_use]
    pub const fn bounds(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.since, self.until)
    }
}

impl OwnerPattern {
    fn parse(pattern: &str) -> Result<Self> {
        let of_one = || Agent::with_any_name(pattern).map_err(|error| error.with_field("owner"));
        match pattern.strip_suffix('*') {
            Some("") => {
                let message = "a bare * matches every owner; expected the beginning of a name";
                Err(Error::invalid("owner", message)
                    .hint("Begin with the name of the owners that you mean: import/*."))
            }
            Some(start) => Ok(Self::Begins(start.to_lowercase())),
            None => of_one().map(Self::Is),
        }
    }
}

impl MoveMemories {
    /// Returns the workspace of the memories, and the selection among those that this caller may move.
    ///
    /// # Errors
    /// `invalid`, with the field; `forbidden` for an owner that is neither the caller nor below it, unless a
    /// person calls.
    pub fn read(&self, caller: &Caller, now: Timestamp) -> Result<(Workspace, BulkSelection)> {
        let from: Workspace = self.from.parse().map_err(|error: Error| error.with_field("from"))?;
        if from == caller.workspace {
            let message = format!("the memories of {from} are in {from} already");
            return Err(Error::invalid("from", message).hint(
                "Name the workspace that has them now, and call from the one that gets them.",
            ));
        }
        let pattern = self.owner.as_deref().map(OwnerPattern::parse).transpose()?;
        let owner = match pattern {
            None if access::is_person(caller) => OwnerPattern::Any,
            None => OwnerPattern::IsOrBelow(caller.agent.clone()),
            Some(OwnerPattern::Is(owner))
                if owner == caller.agent || owner.is_child_of(&caller.agent) =>
            {
                OwnerPattern::Is(owner)
            }
            Some(pattern) => {
                access::require_scope(caller, TokenScope::Admin)?;
                pattern
            }
        };
        let (since, until) = (self.since.as_deref(), self.until.as_deref());
        Ok((from, bulk_selection(owner, since, until, now)?))
    }
}

impl AdoptMemories {
    /// Returns the new owner and the selection.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn read(&self, now: Timestamp) -> Result<(Agent, BulkSelection)> {
        let to = match Agent::with_any_name(&self.agent_name) {
            // No agent can claim this name; only an administrator adopts for it.
            Ok(named) if named == Agent::human() => named,
            _ => {
                let name = self.agent_name.parse::<AgentName>();
                name.map_err(|error| error.with_field("agent_name"))?.agent
            }
        };
        let owner = match self.owner.as_deref() {
            None => OwnerPattern::Is(Agent::legacy()),
            Some(pattern) => OwnerPattern::parse(pattern)?,
        };
        let (since, until) = (self.since.as_deref(), self.until.as_deref());
        Ok((to, bulk_selection(owner, since, until, now)?))
    }
}

impl PurgeSince {
    /// Returns the selection among the memories of this agent.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn read(&self, agent: &Agent, now: Timestamp) -> Result<BulkSelection> {
        let owner = OwnerPattern::IsOrBelow(agent.clone());
        bulk_selection(owner, Some(&self.since), self.until.as_deref(), now)
    }
}

fn bulk_selection(
    owner: OwnerPattern,
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
) -> Result<BulkSelection> {
    let (since, until) = period::period_bounds(since, until, now)?;
    Ok(BulkSelection { owner, since, until, door: None })
}

impl BulkResult {
    /// Adds one memory that the operation changes.
    pub fn add(&mut self, memory: &Memory) {
        self.memories += 1;
        if self.items.len() < limits::PAGE_DEFAULT as usize {
            self.items.push(memory.clone());
        }
    }

    /// Adds what else a purge found: what stays first, as much as an answer holds.
    pub fn add_traces(&mut self, mut traces: Vec<PurgeTrace>) {
        traces.sort_by_key(|trace| trace.remains.is_none());
        self.more_traces = traces.len().saturating_sub(limits::PURGE_TRACES) as u64;
        traces.truncate(limits::PURGE_TRACES);
        self.traces = traces;
    }
}
