//! The complete contract with a store: what every store holds, and the laws that it keeps.
//!
//! # Laws
//! - **A write is atomic.** A verb is a closure over a [`Transaction`]; if it fails or panics, none
//!   of it is stored. `tests/conformance` checks every law below on every store.
//! - **An answered write is durable.** [`Store::run_write`] returns after its commit is on disk.
//! - **A write may run again.** The engine may retry a whole closure; it must have no other effects.
//! - **Writes are serial** in a workspace; its journal's sequences are 1, 2, 3 …
//! - **A read is a snapshot**, and sees every write that was answered before it began.
//! - **Sight is in the query.** Every method that reads memories for a caller takes a [`Sight`], and
//!   neither returns nor counts what is out of sight.
//! - **What is out of sight costs nothing.** A query in a [`Sight`] reads the same rows whether or
//!   not others keep something out of that sight; [`WorkRows::work`] shows it where the engine
//!   counts.

mod briefing;
mod case;
mod checkpoint;
mod consolidation;
mod context;
mod contradiction;
mod copy;
mod cursor;
mod entity;
mod export;
mod figures;
mod forgetting;
mod handoff;
mod knowledge;
mod lineage;
mod loss;
mod notifying;
pub mod postgres;
mod session;
mod sql;
pub mod sqlite;
mod standing;
mod transfer;
mod usage;
mod webhook;
mod work;
mod wrapper;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{MemoryId, OperationId, TokenId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::{Agent, AgentRecord};
use crate::model::bulk::{BulkItem, BulkOperation};
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::checkpoint::EarlierRevision;
use crate::model::event::{
    Event, EventOrigin, EventRecord, EventTally, JournalHistory, JournalRange, NewEvent, RateSteps,
};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::model::stats::{MemoryCount, UserRecord};
use crate::model::token::{Token, TokenRecord};
use crate::model::workspace::Workspace;

pub use briefing::BriefingRows;
pub use case::{CaseActivity, CaseDigestRows, CaseRows, EntryStretch};
pub use checkpoint::CheckpointRows;
pub use consolidation::ConsolidationRows;
pub use context::ContextRows;
pub use contradiction::{ContradictionFilter, ContradictionRows};
pub use copy::{CopyRows, StoredRow, TableColumns};
pub use cursor::CursorRows;
pub use entity::{EntityNameFilter, EntityRows, MentionRows, RelationRows};
pub use export::{ExportRows, StoredId};
pub use figures::{DeliveryFigures, EventFigures};
pub use forgetting::{ForgettingRows, QuoteCount, QuotingRows};
pub use handoff::{HandoffRows, SettledClockRows};
pub use knowledge::KnowledgeRows;
pub use lineage::LineageRows;
pub use loss::{JournalLoss, StoreLoss};
pub(crate) use notifying::NotifyingStore;
pub use session::SessionRows;
pub use standing::StandingRows;
pub use transfer::{TRANSFER_TABLES, TransferStep, TransferSummary, transfer};
pub use usage::{UsageCount, UsageCounts, UsageRows};
pub use webhook::WebhookRows;
pub use work::{EngineWork, WorkRows};
pub use wrapper::StoreWrapper;

/// A write as a store runs it.
pub struct StoreWrite {
    /// The workspace whose journal it changes, if that is known. Writes that name one may share a
    /// transaction with others that wait.
    pub workspace: Option<Workspace>,
    /// Whether it writes what a follower derives. The thread of a follower may have a low priority, so it
    /// does not run the writes of others.
    pub is_derived: bool,
    /// What it does: inside a transaction, and again if the engine asks for it.
    pub act: Box<WriteAct>,
}

/// What a write does in a transaction.
pub type WriteAct = dyn FnMut(&mut dyn Transaction) -> Result<()> + Send;

/// A read as a store runs it, on a snapshot.
pub type StoreRead<'a> = Box<dyn FnMut(&dyn Transaction) -> Result<()> + 'a>;

/// What a store calls after other processes have written. It must not block.
pub type WriteCallback = dyn Fn() + Send + Sync;

/// A database server that holds the data of a store, and what of it decides whether answered writes
/// last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreServer {
    /// Its version: `15.18`.
    pub version: String,
    /// When it answers a commit: its setting `synchronous_commit`.
    pub commit: String,
    /// The standbys that a commit waits for: its setting `synchronous_standby_names`; empty for none.
    pub standbys: String,
}

impl StoreServer {
    /// Whether a write that was answered is on the server's disk.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.commit != "off"
    }

    /// Whether a write that was answered is on a standby too, so that a failover loses none.
    #[must_use]
    pub fn waits_for_standby(&self) -> bool {
        !self.standbys.is_empty() && !matches!(self.commit.as_str(), "off" | "local")
    }
}

/// A store of memories.
pub trait Store: Send + Sync + 'static {
    /// Where the data is, in words and without secrets.
    fn place(&self) -> String;

    /// The server that holds the data, as it is set now; `None` for a file.
    ///
    /// # Errors
    /// `unavailable` if the server cannot be asked.
    fn server(&self) -> Result<Option<StoreServer>>;

    /// Calls `notify` soon after other processes have written, if the store can tell; returns
    /// whether it can. A call can get lost, so that a reader looks by itself as well.
    ///
    /// # Errors
    /// `unavailable` if it can, and this machine starts no thread for it.
    fn watch_others(&self, notify: Arc<WriteCallback>) -> Result<bool>;

    /// Runs a write; returns when it is durable.
    ///
    /// # Errors
    /// The error of the write; `unavailable` if the engine cannot commit, `internal` if the write
    /// panics. Nothing is stored then.
    fn run_write(&self, write: StoreWrite) -> Result<()>;

    /// Runs a read on a snapshot.
    ///
    /// # Errors
    /// The error of the read; `unavailable` if the engine cannot be read.
    fn run_read(&self, read: StoreRead<'_>) -> Result<()>;

    /// Checks the whole store for damage; returns one line per finding.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn check(&self) -> Result<Vec<String>>;

    /// Recomputes the digest of every row and the hash of every event; returns one line per change
    /// that was not made through the store.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn check_rows(&self) -> Result<Vec<String>>;

    /// Bytes on disk, of all files together.
    ///
    /// # Errors
    /// `unavailable` if the size cannot be read.
    fn disk_bytes(&self) -> Result<u64>;

    /// The version of the schema of its files.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn schema_version(&self) -> Result<u32>;

    /// Number of writes of this process that wait for their turn or run.
    fn queued_writes(&self) -> usize;

    /// Refreshes the statistics by which the engine plans its statements, after many rows came at once.
    /// Without it a database reads whole tables until it notices by itself, a minute or so later.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn refresh_statistics(&self) -> Result<()>;

    /// Removes every trace of purged data from the store's files.
    ///
    /// # Errors
    /// `unavailable` if a reader prevents it; the next call tries again.
    fn scrub(&self) -> Result<()>;
}

impl dyn Store {
    /// Runs a write that changes no journal or those of several workspaces, and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut dyn Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_and_answer(None, false, act)
    }

    /// Runs a write of what a follower derives from the journal of this workspace, and returns its
    /// result.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write_derived<T: Send + 'static>(
        &self,
        workspace: &Workspace,
        act: impl FnMut(&mut dyn Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_and_answer(Some(workspace), true, act)
    }

    fn write_and_answer<T: Send + 'static>(
        &self,
        workspace: Option<&Workspace>,
        is_derived: bool,
        mut act: impl FnMut(&mut dyn Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let answer = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&answer);
        let act = Box::new(move |tx: &mut dyn Transaction| {
            let value = act(tx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        });
        self.run_write(StoreWrite { workspace: workspace.cloned(), is_derived, act })?;
        let value = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.ok_or_else(not_run_error)
    }

    /// Runs a write of this caller, whose events say from where it called, and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        mut act: impl FnMut(&mut dyn Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let origin = EventOrigin::of(caller);
        self.write_and_answer(Some(&caller.workspace), false, move |tx| {
            tx.set_origin(origin.clone());
            act(tx)
        })
    }

    /// Runs a read and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_read`].
    pub fn read<T>(&self, mut look: impl FnMut(&dyn Transaction) -> Result<T>) -> Result<T> {
        let mut answer = None;
        self.run_read(Box::new(|tx| {
            answer = Some(look(tx)?);
            Ok(())
        }))?;
        answer.ok_or_else(not_run_error)
    }
}

fn not_run_error() -> Error {
    Error::new(ErrorKind::Internal, "the store returned without running the request")
}

/// Defines the contract of one transaction from the row traits of each noun.
macro_rules! transaction {
    ($($rows:ident),+ $(,)?) => {
        /// One transaction: everything a verb can do to rows. Reading takes it shared, changing
        /// exclusive.
        pub trait Transaction: $($rows +)+ {}

        impl<T: $($rows +)+> Transaction for T {}
    };
}

transaction!(
    MemoryRows,
    EventRows,
    AgentRows,
    AnswerRows,
    WorkspaceRows,
    TokenRows,
    WebhookRows,
    BulkOperationRows,
    ConsolidationRows,
    CaseRows,
    CaseDigestRows,
    SessionRows,
    CursorRows,
    CheckpointRows,
    ContextRows,
    BriefingRows,
    EntityRows,
    MentionRows,
    RelationRows,
    ContradictionRows,
    HandoffRows,
    SettledClockRows,
    StandingRows,
    UsageRows,
    KnowledgeRows,
    WorkRows,
    ExportRows,
    LineageRows,
    ForgettingRows,
    CopyRows,
);

/// The rows of memories.
pub trait MemoryRows {
    /// The memory with this id in sight, deleted or not. If several workspaces have one, the first
    /// workspace of the sight counts.
    fn memory(&self, sight: &Sight, id: MemoryId) -> Result<Option<StoredMemory>>;

    /// Those of these memories that are in sight, in this order; `wanted` names each with its
    /// workspace.
    fn memories_of(
        &self,
        sight: &Sight,
        wanted: &[(Workspace, MemoryId)],
    ) -> Result<Vec<StoredMemory>>;

    /// At most `limit` ids in sight that end in `ending`, each once, in order, deleted or not.
    /// `ending` has at least six letters.
    fn memory_ids_ending(&self, sight: &Sight, ending: &str, limit: u32) -> Result<Vec<MemoryId>>;

    /// The ids in sight that end in the same six letters as another id of `ids`, deleted or not.
    fn memory_ids_alike(&self, sight: &Sight, ids: &[MemoryId]) -> Result<Vec<MemoryId>>;

    /// At most `limit` ids in sight from `first` to `last`, each once, in order, deleted or not.
    fn memory_ids(
        &self,
        sight: &Sight,
        first: MemoryId,
        last: MemoryId,
        limit: u32,
    ) -> Result<Vec<MemoryId>>;

    /// At most `limit` memories in sight, in this order, each with its position in its journal,
    /// starting after `beyond`.
    fn memories(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        order: ListOrder,
        beyond: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, StoredMemory)>>;

    /// At most `limit` topics of the standing memories in sight that begin with this text in lower
    /// case: most used first, each once whatever its case.
    fn topics(&self, sight: &Sight, beginning: &str, limit: u32) -> Result<Vec<String>>;

    /// Memories in sight, counted by owner and type.
    fn counts(&self, sight: &Sight) -> Result<Vec<MemoryCount>>;

    /// The users that standing memories in sight are about, by id.
    fn users(&self, sight: &Sight) -> Result<Vec<UserRecord>>;

    /// The earlier revisions of this memory in sight, oldest first.
    fn earlier_revisions(&self, sight: &Sight, id: MemoryId) -> Result<Vec<StoredMemory>>;

    /// The earlier revisions of these memories that ended after a position of the journal, or whose
    /// end has no position, by memory and number. Those out of sight have no snapshot.
    fn revisions_after(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        ids: &[MemoryId],
        position: u64,
    ) -> Result<Vec<EarlierRevision>>;

    /// The number of current memories in sight that were saved in the filter's session, by its owner
    /// if it has one, before this position.
    fn older_session_memories(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        before: u64,
    ) -> Result<u64>;

    /// Whether the workspace has a memory with this id or this import fingerprint, in sight or not:
    /// this prevents duplicates from a second import.
    fn was_imported(&self, memory: &Memory) -> Result<bool>;

    /// The memories of a workspace that this one superseded, in sight or not: they are current
    /// again while it is quarantined.
    fn superseded_by(&self, workspace: &Workspace, heir: MemoryId) -> Result<Vec<StoredMemory>>;

    /// Stores a new memory; `sequence` is the position of its event in the journal.
    fn insert_memory(&mut self, memory: &Memory, sequence: u64) -> Result<()>;

    /// Replaces `before` by `after`, and keeps `before` as an earlier revision.
    fn replace_memory(&mut self, before: &Memory, after: &Memory) -> Result<()>;

    /// Puts a memory back to `before`, the last of its earlier revisions, as if the change had not been
    /// made: the row and the history are equal to those from before it.
    fn revert_memory(&mut self, before: &Memory) -> Result<()>;

    /// Removes a memory with its earlier revisions and the stored answers about it.
    fn purge_memory(&mut self, memory: &Memory) -> Result<()>;

    /// Removes the earlier revisions of a memory, what was derived from it, and the stored answers
    /// about it; the memory stays.
    fn purge_derived(&mut self, memory: &Memory) -> Result<()>;

    /// At most `limit` memories of all workspaces that were deleted before this time: for the
    /// sweep, which shows them to no caller.
    fn deleted_before(&self, time: Timestamp, limit: u32) -> Result<Vec<StoredMemory>>;

    /// The subjects, as they are now, of the next `limit` events of a workspace after this
    /// position: for followers of the journal, which show them to callers only through a [`Sight`].
    fn changes(&self, workspace: &Workspace, after: u64, limit: u32) -> Result<Vec<SubjectChange>>;
}

/// The subject of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectChange {
    /// The position of the event in its journal.
    pub sequence: u64,
    /// The id of the subject.
    pub subject: String,
    /// The memory with this id, as it is now; `None` if it was purged.
    pub memory: Option<Box<StoredMemory>>,
    /// The case with this key, if the event is about a case, and whether it is open now.
    pub case: Option<(CaseKey, bool)>,
}

/// The rows of the journal.
pub trait EventRows {
    /// Sets from where the caller of this write called: the events that follow say it, except those
    /// of Commonbook itself.
    fn set_origin(&mut self, origin: EventOrigin);

    /// Appends an event at the end of its workspace's journal; returns its position there.
    fn append_event(&mut self, event: &NewEvent) -> Result<u64>;

    /// The workspaces whose journals this write has appended events to.
    fn grown_journals(&self) -> BTreeSet<Workspace>;

    /// At most `limit` events of this range that the filter admits and that are in sight, oldest
    /// first.
    fn events(&self, sight: &Sight, stretch: &JournalRange, limit: u32) -> Result<Vec<Event>>;

    /// The number of events in this range that the filter admits and that are in sight.
    fn event_count(&self, sight: &Sight, stretch: &JournalRange) -> Result<u64>;

    /// The number of events in this range that the filter admits and that are in sight, by step of
    /// time and by kind. Events outside of the steps do not count.
    fn event_tallies(
        &self,
        sight: &Sight,
        stretch: &JournalRange,
        steps: &RateSteps,
    ) -> Result<Vec<EventTally>>;

    /// The position of the last event of a journal before this time, and 0 if there is none: found
    /// by halving, since a journal grows in the order of time.
    fn position_before(&self, workspace: &Workspace, time: Timestamp) -> Result<u64>;

    /// The last event in sight of this workspace's journal.
    fn last_event(&self, sight: &Sight, workspace: &Workspace) -> Result<Option<Event>>;

    /// What happened after this position of a journal, in at most `limit` events: numbers alone, of
    /// every event, in any sight or none.
    fn event_figures(&self, workspace: &Workspace, after: u64, limit: u32) -> Result<EventFigures>;

    /// The next `limit` events of a journal after this position, in order, each with its present
    /// visibility: for readers that serve many callers, and filter by [`Sight::sees_event`] for
    /// each.
    fn event_records(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>>;
}

/// The rows of the agent registry.
pub trait AgentRows {
    /// Notes that this caller was seen.
    fn note_agent_seen(&mut self, caller: &Caller, at: Timestamp) -> Result<()>;

    /// When this agent was last seen, if ever.
    fn last_seen(&self, workspace: &Workspace, agent: &Agent) -> Result<Option<Timestamp>>;

    /// Every agent of the workspace by name, with the number of its memories in sight.
    fn agents(&self, sight: &Sight, workspace: &Workspace) -> Result<Vec<AgentRecord>>;

    /// The names of every agent of the workspace, last seen first.
    fn agent_names(&self, workspace: &Workspace) -> Result<Vec<Agent>>;

    /// The agents below this one that were seen in a workspace, last seen first.
    fn agents_below(&self, workspace: &Workspace, agent: &Agent, limit: u32) -> Result<Vec<Agent>>;
}

/// The answers stored under idempotency keys.
pub trait AnswerRows {
    /// The answer stored under this key.
    fn kept_answer(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
    ) -> Result<Option<IdempotencyRecord>>;

    /// Stores an answer under this key.
    fn keep_answer(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
        answer: &IdempotencyRecord,
    ) -> Result<()>;

    /// Drops the answers stored before this time.
    fn drop_answers(&mut self, before: Timestamp) -> Result<()>;
}

/// An answer that is returned again for the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The fingerprint of the request.
    pub request_sha256: String,
    /// The answer, as JSON.
    pub answer: String,
    /// When it was returned first.
    pub at: Timestamp,
}

/// The rows of bulk operations.
pub trait BulkOperationRows {
    /// The bulk operation with this id.
    fn bulk_operation(
        &self,
        workspace: &Workspace,
        id: OperationId,
    ) -> Result<Option<BulkOperation>>;

    /// The bulk operation that this agent ran at this time, if memories of it can be put back.
    fn open_operation(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        at: Timestamp,
    ) -> Result<Option<OperationId>>;

    /// At most `limit` ids with this ending of bulk operations that this agent ran in this workspace.
    fn operation_ids_ending(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<OperationId>>;

    /// Stores a bulk operation; an existing one stays unchanged.
    fn put_bulk_operation(&mut self, act: &BulkOperation) -> Result<()>;

    /// Records that a bulk operation changed one more memory.
    fn add_bulk_item(&mut self, act: &BulkOperation, done: &BulkItem) -> Result<()>;

    /// Removes at most `limit` memories from a bulk operation, to undo their changes.
    fn take_bulk_items(&mut self, act: &BulkOperation, limit: u32) -> Result<Vec<BulkItem>>;

    /// Drops the bulk operations from before this time, which cannot be undone then.
    fn drop_bulk_operations(&mut self, before: Timestamp) -> Result<()>;
}

/// The rows of tokens, which belong to the home: the caller is identified before the workspace.
pub trait TokenRows {
    /// The token with this id, revoked and expired ones too.
    fn token(&self, id: TokenId) -> Result<Option<TokenRecord>>;

    /// Every token, newest first.
    fn tokens(&self) -> Result<Vec<Token>>;

    /// Whether any token exists that was not revoked. An expired one counts: its expiry must not
    /// open the server to everybody.
    fn has_tokens(&self) -> Result<bool>;

    /// Stores a token, replacing the one with its id.
    fn put_token(&mut self, token: &TokenRecord) -> Result<()>;

    /// Records that a token was used.
    fn use_token(&mut self, id: TokenId, at: Timestamp) -> Result<()>;
}

/// The journals that a follower looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalScope {
    /// Those of all workspaces.
    All,
    /// Those of these workspaces.
    Of(BTreeSet<Workspace>),
}

/// How far a follower has come in a journal that has more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLag {
    /// The workspace of the journal.
    pub workspace: Workspace,
    /// The position that the follower has reached; 0 if it has not begun.
    pub position: u64,
    /// The position of the last event.
    pub end: u64,
}

impl JournalScope {
    /// The scope of no journal.
    #[must_use]
    pub const fn none() -> Self {
        Self::Of(BTreeSet::new())
    }

    /// Whether it has no journal.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Of(workspaces) if workspaces.is_empty())
    }
}

impl JournalLag {
    /// Events that the follower has still to read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }
}

/// The rows of workspaces.
pub trait WorkspaceRows {
    /// Every workspace that anything was ever saved in, by name.
    fn workspaces(&self) -> Result<Vec<Workspace>>;

    /// The history that the journals belong to.
    fn history(&self) -> Result<JournalHistory>;

    /// Every workspace by name, with the position of the last event of its journal.
    fn journals(&self) -> Result<Vec<(Workspace, u64)>>;

    /// Those of these workspaces that anything was ever saved in, by name, each with the position of
    /// the last event of its journal. Reads the rows of no other workspace.
    fn journals_of(&self, workspaces: &[Workspace]) -> Result<Vec<(Workspace, u64)>>;

    /// The position of the last event of this workspace's journal; 0 if there is none.
    fn journal_end(&self, workspace: &Workspace) -> Result<u64>;
}
