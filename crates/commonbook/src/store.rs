//! The contract with a store, whole: what every store keeps, and the laws it keeps it by.
//!
//! # Laws
//! - **A write is whole or nothing.** A verb is a closure over a [`Transaction`]; when it fails or
//!   panics, nothing of it is kept. `tests/conformance` holds every law below on every store.
//! - **Answered means durable.** [`Store::run_write`] returns after its commit is on disk.
//! - **A write may be run again.** The engine may retry a closure whole; it must not act outside.
//! - **Writes are one after the other** in a workspace; its journal's sequences are 1, 2, 3 …
//! - **A read is a snapshot**, and sees every write that was answered before it began.
//! - **Sight is in the query.** Whatever reads memories takes a [`Sight`], and neither gives nor
//!   counts what it does not see.
//! - **What is out of sight costs nothing.** What is asked in a [`Sight`] meets the same rows whether
//!   others keep something that it does not see or not; [`WorkRows::work`] tells, where the engine counts.

mod case;
mod checkpoint;
mod context;
mod contradiction;
mod cursor;
mod entity;
mod handoff;
mod loss;
mod notifying;
mod session;
pub mod sqlite;
mod work;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{MemoryId, OperationId, TokenId};
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentRecord};
use crate::model::bulk::{BulkItem, BulkOperation};
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::event::{Event, EventRecord, JournalRange, NewEvent};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::model::stats::{MemoryCount, UserRecord};
use crate::model::token::{Token, TokenRecord};
use crate::model::workspace::Workspace;

pub use case::CaseRows;
pub use checkpoint::CheckpointRows;
pub use context::ContextRows;
pub use contradiction::{ContradictionFilter, ContradictionRows};
pub use cursor::CursorRows;
pub use entity::{EntityNameFilter, EntityRows, MentionRows, RelationRows};
pub use handoff::{HandoffRows, SettledClockRows};
pub use loss::{JournalLoss, StoreLoss};
pub(crate) use notifying::NotifyingStore;
pub use session::SessionRows;
pub use work::{EngineWork, WorkRows};

/// A write as a store carries it out: run inside a transaction, run again if the engine says so.
pub type StoreWrite = Box<dyn FnMut(&mut dyn Transaction) -> Result<()> + Send>;

/// A read as a store carries it out, on a snapshot.
pub type StoreRead<'a> = Box<dyn FnMut(&dyn Transaction) -> Result<()> + 'a>;

/// A place where memories are kept.
pub trait Store: Send + Sync + 'static {
    /// Runs a write; returns when it is durable.
    ///
    /// # Errors
    /// What the write answers, `unavailable` when the engine cannot commit, `internal` when the
    /// write panics. Nothing is kept then.
    fn run_write(&self, write: StoreWrite) -> Result<()>;

    /// Runs a read on a snapshot.
    ///
    /// # Errors
    /// What the read answers, `unavailable` when the engine cannot be read.
    fn run_read(&self, read: StoreRead<'_>) -> Result<()>;

    /// Looks the whole store through for damage; answers one line a finding, none when it is whole.
    ///
    /// # Errors
    /// `unavailable` when the engine cannot be read.
    fn check(&self) -> Result<Vec<String>>;

    /// Recomputes the digest of every row and the hash of every event; answers one line a finding,
    /// none when nothing was changed but through the store.
    ///
    /// # Errors
    /// `unavailable` when the engine cannot be read.
    fn check_rows(&self) -> Result<Vec<String>>;

    /// Bytes on disk, everything together.
    ///
    /// # Errors
    /// `unavailable` when the engine cannot tell.
    fn disk_bytes(&self) -> Result<u64>;

    /// Makes sure that nothing of what was purged is left in the store's files.
    ///
    /// # Errors
    /// `unavailable` when a reader keeps the engine from it; the next call tries again.
    fn scrub(&self) -> Result<()>;
}

impl dyn Store {
    /// Runs a write and answers what it answers.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write<T: Send + 'static>(
        &self,
        mut act: impl FnMut(&mut dyn Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let answer = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&answer);
        self.run_write(Box::new(move |tx| {
            let value = act(tx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        }))?;
        let value = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.ok_or_else(not_run_error)
    }

    /// Runs a read and answers what it answers.
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
    Error::new(ErrorKind::Internal, "the store answered without running the request")
}

/// Makes the contract of one transaction out of the rows of each noun.
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
    BulkOperationRows,
    CaseRows,
    SessionRows,
    CursorRows,
    CheckpointRows,
    ContextRows,
    EntityRows,
    MentionRows,
    RelationRows,
    ContradictionRows,
    HandoffRows,
    SettledClockRows,
    WorkRows,
);

/// The rows of memories.
pub trait MemoryRows {
    /// The memory of this id in sight, deleted or not; when several workspaces have one, that of
    /// the sight's first.
    fn memory(&self, sight: &Sight, id: MemoryId) -> Result<Option<Memory>>;

    /// Those of these memories that are in sight, in this order; `wanted` names each with its
    /// workspace.
    fn memories_of(&self, sight: &Sight, wanted: &[(Workspace, MemoryId)]) -> Result<Vec<Memory>>;

    /// At most `limit` ids in sight whose last letters these are, each once, in order, deleted or
    /// not. `ending` has at least six letters.
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

    /// At most `limit` memories in sight, in this order, with the place of each in its journal,
    /// from the one after `beyond` on.
    fn memories(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        order: ListOrder,
        beyond: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Memory)>>;

    /// At most `limit` topics, of the standing memories in sight, that begin with this in lower case:
    /// the most used first, each once whatever its case.
    fn topics(&self, sight: &Sight, beginning: &str, limit: u32) -> Result<Vec<String>>;

    /// Memories in sight, counted by owner and type.
    fn counts(&self, sight: &Sight) -> Result<Vec<MemoryCount>>;

    /// The users that standing memories in sight are about, by id.
    fn users(&self, sight: &Sight) -> Result<Vec<UserRecord>>;

    /// What this memory was before each of its changes, oldest first, of what is in sight.
    fn earlier_revisions(&self, sight: &Sight, id: MemoryId) -> Result<Vec<Memory>>;

    /// Whether a memory of this id, or of this import fingerprint, is in the workspace, in
    /// anybody's sight or not: what keeps a second import from doubling it.
    fn was_imported(&self, memory: &Memory) -> Result<bool>;

    /// The memories of a workspace whose place this one has taken, in anybody's sight or not: they
    /// come back while it is quarantined.
    fn superseded_by(&self, workspace: &Workspace, heir: MemoryId) -> Result<Vec<Memory>>;

    /// Keeps a new memory; `sequence` is the place of its event in the journal.
    fn insert_memory(&mut self, memory: &Memory, sequence: u64) -> Result<()>;

    /// Puts `after` in the place of `before`, which is kept as an earlier revision.
    fn replace_memory(&mut self, before: &Memory, after: &Memory) -> Result<()>;

    /// Removes a memory with its earlier revisions and the answers that were kept about it.
    fn purge_memory(&mut self, memory: &Memory) -> Result<()>;

    /// At most `limit` memories of every workspace that were deleted before this time: for the
    /// sweep, which shows them to nobody.
    fn deleted_before(&self, time: Timestamp, limit: u32) -> Result<Vec<Memory>>;

    /// What the next `limit` events of a workspace after this place are about, in order, as it is
    /// now: for what follows the journal, which shows it to nobody but by [`Sight`].
    fn changes(&self, workspace: &Workspace, after: u64, limit: u32) -> Result<Vec<SubjectChange>>;
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectChange {
    /// The place of the event in its journal.
    pub sequence: u64,
    /// The id of what it is about.
    pub subject: String,
    /// The memory of this id, as it is now; nothing when it is gone for good.
    pub memory: Option<Box<Memory>>,
    /// The case of this key, where the event is about one, and whether it is open now.
    pub case: Option<(CaseKey, bool)>,
}

/// The rows of the journal.
pub trait EventRows {
    /// Appends an event at the end of its workspace's journal, and answers its place there.
    fn append_event(&mut self, event: &NewEvent) -> Result<u64>;

    /// At most `limit` events of this stretch that are wanted and in sight, oldest first.
    fn events(&self, sight: &Sight, stretch: &JournalRange, limit: u32) -> Result<Vec<Event>>;

    /// How many events of this stretch are wanted and in sight.
    fn event_count(&self, sight: &Sight, stretch: &JournalRange) -> Result<u64>;

    /// The next `limit` events of a journal after this place, in order, each with what decides now
    /// who is told of it: for what reads each event once for many, and gives it to nobody but by
    /// [`Sight::sees_event`].
    fn event_records(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>>;
}

/// The rows of the agent registry.
pub trait AgentRows {
    /// Notes that this caller was here.
    fn note_agent_seen(&mut self, caller: &Caller, at: Timestamp) -> Result<()>;

    /// When this agent was last noted to be here, if ever.
    fn last_seen(&self, workspace: &Workspace, agent: &Agent) -> Result<Option<Timestamp>>;

    /// Every agent of the workspace by name, with how many of its memories are in sight.
    fn agents(&self, sight: &Sight, workspace: &Workspace) -> Result<Vec<AgentRecord>>;

    /// The agents below this one that were in a workspace, those that were seen last first.
    fn agents_below(&self, workspace: &Workspace, agent: &Agent, limit: u32) -> Result<Vec<Agent>>;
}

/// The answers that are kept under idempotency keys.
pub trait AnswerRows {
    /// The answer kept under this key.
    fn kept_answer(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
    ) -> Result<Option<IdempotencyRecord>>;

    /// Keeps an answer under this key.
    fn keep_answer(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
        answer: &IdempotencyRecord,
    ) -> Result<()>;

    /// Drops the answers kept before this time.
    fn drop_answers(&mut self, before: Timestamp) -> Result<()>;
}

/// An answer that was given once and is given again for the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The fingerprint of the request.
    pub request_sha256: String,
    /// The answer, as JSON.
    pub answer: String,
    /// When it was given.
    pub at: Timestamp,
}

/// The rows of acts on many memories.
pub trait BulkOperationRows {
    /// The act of this id.
    fn bulk_operation(
        &self,
        workspace: &Workspace,
        id: OperationId,
    ) -> Result<Option<BulkOperation>>;

    /// Keeps an act; one that is there already stays.
    fn put_bulk_operation(&mut self, act: &BulkOperation) -> Result<()>;

    /// Notes that an act was done to one more memory.
    fn add_bulk_item(&mut self, act: &BulkOperation, done: &BulkItem) -> Result<()>;

    /// Takes at most `limit` memories out of an act, to take back what it did to them.
    fn take_bulk_items(&mut self, act: &BulkOperation, limit: u32) -> Result<Vec<BulkItem>>;

    /// Drops the acts of before this time, which then cannot be taken back.
    fn drop_bulk_operations(&mut self, before: Timestamp) -> Result<()>;
}

/// The rows of tokens, which are the home's: who calls is known before the workspace is.
pub trait TokenRows {
    /// The token of this id, revoked and expired ones too.
    fn token(&self, id: TokenId) -> Result<Option<TokenRecord>>;

    /// Every token, the newest first.
    fn tokens(&self) -> Result<Vec<Token>>;

    /// Whether there is a token that was not revoked. One that has expired counts: nobody meant to
    /// open the door to all.
    fn has_tokens(&self) -> Result<bool>;

    /// Keeps a token, in the place of the one of its id.
    fn put_token(&mut self, token: &TokenRecord) -> Result<()>;

    /// Notes that a token was used.
    fn use_token(&mut self, id: TokenId, at: Timestamp) -> Result<()>;
}

/// The rows of workspaces.
pub trait WorkspaceRows {
    /// Every workspace that something was ever kept in, by name.
    fn workspaces(&self) -> Result<Vec<Workspace>>;

    /// Every workspace by name, with the place of the last event of its journal.
    fn journals(&self) -> Result<Vec<(Workspace, u64)>>;

    /// The place of the last event of this workspace's journal; 0 when there is none.
    fn journal_end(&self, workspace: &Workspace) -> Result<u64>;
}
