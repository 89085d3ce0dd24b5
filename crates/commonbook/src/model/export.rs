//! Exports: the lines that carry what a team knows from one home to another.
//!
//! A memory is a line as REST returns it. Every other line is a record: `{"record": …, "value": …}`,
//! the first one the header. What followers derive from memories (mentions, open contradictions of the
//! rules, the search index) is in no line: the importing home derives it again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::error::{Error, Result};
use crate::base::id::{ContextId, EntityId, HandoffId, MemoryId};
use crate::base::input;
use crate::base::key::CaseKey;
use crate::base::page::PageCursor;
use crate::model::access::Audience;
use crate::model::agent::{Agent, AgentRecord};
use crate::model::case::{Case, CaseProposal};
use crate::model::checkpoint::Checkpoint;
use crate::model::contradiction::{ContradictionRecord, FindingSource};
use crate::model::entity::{Entity, EntityReview, EntityStatement, MergeRecord};
use crate::model::graph::Relation;
use crate::model::handoff::Handoff;
use crate::model::handoff::choose::MemoryExclusion;
use crate::model::memory::{Memory, MemoryAddress, UpdateMemory};
use crate::model::origin::{TextOrigin, rename_authors};
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The format of the lines.
pub const EXPORT_FORMAT: u32 = 2;

/// Exports what you may read of your workspace, page by page, as lines that `import_memories` reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportWorkspace {
    /// Exports every workspace, `global` first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_workspaces: bool,
    /// Includes the receipts of contexts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub receipts: bool,
    /// Includes deleted memories that can still be restored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Includes the standing memory files of the home.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standing: bool,
    /// Exports only these memories, at most 100, with all other records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub memories: Option<Vec<MemoryId>>,
    /// Lines of a page at least, except on the last page: 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// A page of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportPage {
    /// The lines, in the order in which an import needs them.
    pub lines: Vec<Map<String, Value>>,
    /// The cursor of the next page; `null` on the last page.
    pub next: Option<PageCursor>,
}

/// A line of an export that is not a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", content = "value", rename_all = "snake_case")]
pub enum ExportRecord {
    /// The first line.
    Export(ExportHeader),
    /// An agent of a workspace.
    Agent(AgentState),
    /// A case, without its entries, which are memories.
    Case(Box<Case>),
    /// A session.
    Session(Box<Session>),
    /// The earlier revisions of the memory in the line before.
    Revisions(Vec<Memory>),
    /// An entity with all that agents stated about it.
    Entity(Box<EntityState>),
    /// A statement or a merge that waits for a decision.
    Review(Box<ReviewState>),
    /// A relation.
    Relation(Box<RelationState>),
    /// A decision on a contradiction, or one that an endpoint found.
    Contradiction(Box<ContradictionRecord>),
    /// A handoff with its text.
    Handoff(Box<HandoffState>),
    /// The order in which handoffs were accepted or completed last, if they were created in another one.
    HandoffOrder(HandoffOrder),
    /// A checkpoint.
    Checkpoint(Box<CheckpointState>),
    /// How far an agent has read a case.
    ReadMark(CaseMark),
    /// A proposal for the lead of a case, open or rejected.
    Proposal(Box<ProposalState>),
    /// The receipt of a context.
    Receipt(Box<ReceiptState>),
    /// A standing memory file of the home.
    Standing(StandingText),
    /// What a person changed in the file of a memory; an export has none.
    Edit(Box<MemoryEdit>),
}

/// The first line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportHeader {
    /// The format of the lines.
    pub format: u32,
    /// The version of Commonbook that wrote them.
    pub version: String,
    /// The workspaces, in order.
    pub workspaces: Vec<Workspace>,
}

/// What the registry of a workspace knows of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// When it first called.
    pub first_seen: Timestamp,
    /// When it last called.
    pub last_seen: Timestamp,
    /// The device of its last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The client program of its last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl AgentState {
    /// What a workspace knows of an agent.
    #[must_use]
    pub fn of(workspace: &Workspace, record: AgentRecord) -> Self {
        let AgentRecord { agent, first_seen, last_seen, device, client, memory_count: _ } = record;
        Self { workspace: workspace.clone(), agent, first_seen, last_seen, device, client }
    }

    /// The record of the registry, without a count of memories.
    #[must_use]
    pub fn record(&self) -> AgentRecord {
        AgentRecord {
            agent: self.agent.clone(),
            first_seen: self.first_seen,
            last_seen: self.last_seen,
            device: self.device.clone(),
            client: self.client.clone(),
            memory_count: 0,
        }
    }
}

/// A proposal of entries for a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalState {
    /// The workspace.
    pub workspace: Workspace,
    /// The proposal, with the entries whose sources the exporter reads.
    pub proposal: CaseProposal,
}

/// An entity with its names, statements and merges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityState {
    /// The entity.
    pub entity: Entity,
    /// Further names of its type that agents stated for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The ids of all names that lead to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<EntityId>,
    /// The statements about it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<EntityStatement>,
    /// The merges into it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<MergeRecord>,
}

/// A waiting statement or merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewState {
    /// The workspace.
    pub workspace: Workspace,
    /// The statement or merge.
    pub review: EntityReview,
}

/// A relation with those who see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelationState {
    /// The relation.
    pub relation: Relation,
    /// The callers that see it.
    pub audience: Audience,
}

/// A handoff with its text in parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffState {
    /// The handoff, with the memories that the exporting caller may see.
    pub handoff: Handoff,
    /// What its author wrote, and its entities, as text.
    pub package: Value,
    /// Its memories as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<Value>,
    /// The revision of each of its memories when it was created.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revisions: BTreeMap<MemoryId, u64>,
    /// The memories that were considered and left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<MemoryExclusion>,
}

/// The handoffs of a workspace in the order in which each was accepted or completed last: new work goes
/// on from the last one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffOrder {
    /// The workspace.
    pub workspace: Workspace,
    /// The handoffs.
    pub handoffs: Vec<HandoffId>,
}

/// A checkpoint. Positions of a journal hold in one home alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointState {
    /// The checkpoint; its position is 0.
    pub checkpoint: Checkpoint,
    /// The last memory saved before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MemoryId>,
}

/// How far an agent has read a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseMark {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The case.
    pub case: CaseKey,
    /// The position of the last entry that it has read.
    pub position: u64,
    /// When it read it.
    pub at: Timestamp,
}

/// The receipt of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptState {
    /// Its id.
    pub id: ContextId,
    /// The workspace.
    pub workspace: Workspace,
    /// The agent that it was made for.
    pub agent: Agent,
    /// When it was made.
    pub at: Timestamp,
    /// The last memory saved before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MemoryId>,
    /// How long it took.
    pub milliseconds: u64,
    /// The SHA-256 of its text; empty if the exporting caller may not read all of it.
    pub sha256: String,
    /// The nonce of its fence.
    pub nonce: String,
    /// The standing memory file that was read for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Value>,
    /// The candidates and their outcomes.
    pub receipt: Value,
}

/// What a person changed in the file of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryEdit {
    /// The workspace.
    pub workspace: Workspace,
    /// The change, of the revision that it expects.
    pub change: EditedChange,
}

/// A change of one memory by an edit of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditedChange {
    /// The fields that the file changes.
    Update(Box<UpdateMemory>),
    /// The file was removed, or says when the memory was deleted elsewhere.
    Delete(FileDeletion),
    /// The file says that the memory was restored elsewhere.
    Restore(FileRestoration),
    /// The file names the memory that took its place.
    Supersede(Supersession),
}

/// A memory is deleted by its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDeletion {
    /// The memory.
    pub id: MemoryId,
    /// When it was deleted elsewhere: each home keeps this time, by which it knows the deletion again when it
    /// is undone. More than 30 days before or after now it is of a wrong clock, and counts as now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Does it only if the memory still has this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}

/// A deleted memory is restored by its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRestoration {
    /// The memory.
    pub id: MemoryId,
    /// Does it only if the memory still has this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}

/// Another memory takes the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supersession {
    /// The memory that does not hold any more.
    pub id: MemoryId,
    /// The memory that holds instead.
    pub by: MemoryId,
    /// Does it only if the memory still has this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}

impl EditedChange {
    /// The memory.
    ///
    /// # Errors
    /// `invalid` if it is named by its path, which an edit of a file does not change.
    pub fn id(&self) -> Result<MemoryId> {
        match self {
            Self::Update(update) => match update.id {
                MemoryAddress::Id(id) => Ok(id),
                MemoryAddress::Path(_) | MemoryAddress::Folder(_) => {
                    Err(Error::invalid("id", "is a path; expected the id of the memory")
                        .hint("Import an unchanged line of a vault."))
                }
            },
            Self::Delete(deletion) => Ok(deletion.id),
            Self::Restore(restoration) => Ok(restoration.id),
            Self::Supersede(supersession) => Ok(supersession.id),
        }
    }

    /// The revision that it expects.
    #[must_use]
    pub fn expected_revision(&self) -> Option<u64> {
        match self {
            Self::Update(update) => update.expected_revision,
            Self::Delete(deletion) => deletion.expected_revision,
            Self::Restore(restoration) => restoration.expected_revision,
            Self::Supersede(supersession) => supersession.expected_revision,
        }
    }
}

/// A standing memory file of the home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingText {
    /// The role.
    pub role: String,
    /// The text of the file.
    pub text: String,
    /// Where the line comes from; a door decides it, and no line says it.
    #[serde(skip)]
    pub origin: TextOrigin,
}

impl ExportRecord {
    /// Whether a JSON object is a record.
    #[must_use]
    pub fn is_record(value: &Value) -> bool {
        value["record"].is_string() && value.get("value").is_some()
    }

    /// The record of a JSON object.
    ///
    /// # Errors
    /// `invalid` with the field for a record whose value is not valid.
    pub fn from_json(value: Value) -> Result<Self> {
        input::from_value(value)
    }

    /// The record of a line of this origin. Where it proves no agent, every agent that speaks by the record is
    /// one of its file, and an earlier revision of a memory is not trusted.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn of_origin(mut line: Value, origin: TextOrigin) -> Result<Self> {
        let keeps_names = origin.proves_agents() || line["record"] == "revisions";
        if !keeps_names && let Some(value) = line.get_mut("value") {
            rename_authors(value);
        }
        let mut record = Self::from_json(line)?;
        match &mut record {
            Self::Standing(file) => file.origin = origin,
            _ if origin.proves_agents() => {}
            Self::Revisions(revisions) => revisions.iter_mut().for_each(Memory::distrust),
            Self::Handoff(state) => {
                let handoff = &mut state.handoff;
                handoff.cycle = None;
                // Its target has answered.
                if !handoff.status.is_open() {
                    handoff.to = handoff.to.as_of_file();
                }
            }
            Self::Contradiction(record) if record.found.found_by == FindingSource::Person => {
                record.found.found_by = FindingSource::Agent;
                record.found.stated_by = Some(Agent::human().as_of_file());
            }
            _ => {}
        }
        Ok(record)
    }

    /// The workspace that the record belongs to; `None` for the header and for files of the home.
    #[must_use]
    pub fn workspace(&self) -> Option<&Workspace> {
        Some(match self {
            Self::Export(_) | Self::Standing(_) => return None,
            Self::Agent(agent) => &agent.workspace,
            Self::Case(case) => &case.workspace,
            Self::Session(session) => &session.workspace,
            Self::Revisions(revisions) => &revisions.first()?.workspace,
            Self::Entity(state) => &state.entity.workspace,
            Self::Review(state) => &state.workspace,
            Self::Relation(state) => &state.relation.workspace,
            Self::Contradiction(record) => &record.workspace,
            Self::Handoff(state) => &state.handoff.workspace,
            Self::HandoffOrder(order) => &order.workspace,
            Self::Checkpoint(state) => &state.checkpoint.workspace,
            Self::ReadMark(mark) => &mark.workspace,
            Self::Proposal(state) => &state.workspace,
            Self::Receipt(state) => &state.workspace,
            Self::Edit(edit) => &edit.workspace,
        })
    }

    /// The agent for which a caller must be able to speak to import the record; `None` if only an
    /// administrator may: others decided, handed over or saw what it holds.
    #[must_use]
    pub fn author(&self) -> Option<&Agent> {
        match self {
            Self::Agent(state) => Some(&state.agent),
            Self::Case(case) => Some(&case.opened_by),
            Self::Session(session) => Some(&session.agent),
            Self::ReadMark(mark) => Some(&mark.agent),
            Self::Revisions(revisions) => revisions.first().map(|memory| &memory.owner),
            _ => None,
        }
    }

    /// The texts that agents wrote, as JSON: an import judges each of them.
    #[must_use]
    pub fn written_text(&self) -> Value {
        match self {
            Self::Case(case) => json!(case.title),
            Self::Entity(state) => json!([state.entity, state.statements]),
            Self::Review(state) => json!(state.review),
            Self::Contradiction(record) => {
                json!(record.resolved.as_ref().map(|resolved| &resolved.context))
            }
            Self::Handoff(state) => json!([state.handoff, state.package, state.memories]),
            Self::Checkpoint(state) => json!(state.checkpoint.title),
            Self::Proposal(state) => json!(state.proposal.entries),
            // A person's rules are orders.
            Self::Standing(file) if !file.origin.names_authors() => json!(file.text),
            _ => Value::Null,
        }
    }
}
