//! The requests of writes: the name of the verb, and the idempotency key of the caller.

use serde::Serialize;

use crate::model::bulk::UndoOperation;
use crate::model::case::{
    AppendEntries, ArchiveCase, BranchCase, CloseCase, DecideProposal, MergeCase, OpenCase,
    ReopenCase, UpdateCase,
};
use crate::model::checkpoint::{
    ArchiveCheckpoint, CheckpointAndSummarise, CreateCheckpoint, DeleteCheckpoint, ResumeSession,
};
use crate::model::contradiction::{AnswerPairs, ReopenContradiction, ResolveContradiction};
use crate::model::cursor::MarkRead;
use crate::model::entity::{
    DecideReview, DeleteEntity, MergeEntities, RenameEntity, ResolveEntity, RestoreEntity,
    UnmergeEntities,
};
use crate::model::graph::{AddRelation, RemoveRelation};
use crate::model::handoff::{
    AcceptHandoff, CompleteHandoff, CreateHandoff, RejectHandoff, WithdrawHandoff,
};
use crate::model::learning::LearnRequest;
use crate::model::lineage::AcknowledgeOutdated;
use crate::model::memory::{
    AppealMemory, DeleteMemory, PurgeMemory, ReleaseMemory, RestoreMemory, RetractMemory,
    SaveMemories, SaveMemory, UpdateMemory,
};
use crate::model::session::{EndSession, StartSession, TouchSession};

/// A request that changes something.
pub(in crate::verbs) trait WriteRequest: Serialize {
    /// The name of the verb. It stands in the digest of a request that is kept under its key.
    const VERB: &'static str;

    /// The key under which the answer is kept, if the caller gave one.
    fn idempotency_key(&self) -> Option<&String> {
        None
    }
}

macro_rules! keyed {
    ($($request:ident => $verb:literal,)*) => {$(
        impl WriteRequest for $request {
            const VERB: &'static str = $verb;

            fn idempotency_key(&self) -> Option<&String> {
                self.idempotency_key.as_ref()
            }
        }
    )*};
}

macro_rules! keyless {
    ($($request:ident => $verb:literal,)*) => {$(
        impl WriteRequest for $request {
            const VERB: &'static str = $verb;
        }
    )*};
}

keyed! {
    AppealMemory => "appeal_memory",
    AddRelation => "add_relation",
    AppendEntries => "append_entries",
    ArchiveCase => "archive_case",
    ArchiveCheckpoint => "archive_checkpoint",
    BranchCase => "branch_case",
    CheckpointAndSummarise => "checkpoint_and_summarise",
    CloseCase => "close_case",
    CreateCheckpoint => "create_checkpoint",
    CreateHandoff => "create_handoff",
    DecideProposal => "decide_proposal",
    DecideReview => "decide_review",
    DeleteCheckpoint => "delete_checkpoint",
    DeleteEntity => "delete_entity",
    DeleteMemory => "delete_memory",
    EndSession => "end_session",
    LearnRequest => "learn",
    MarkRead => "mark_read",
    MergeCase => "merge_case",
    MergeEntities => "merge_entities",
    OpenCase => "open_case",
    PurgeMemory => "purge_memory",
    ReleaseMemory => "release_memory",
    RemoveRelation => "remove_relation",
    RenameEntity => "rename_entity",
    ReopenCase => "reopen_case",
    ResolveContradiction => "resolve_contradiction",
    ResolveEntity => "resolve_entity",
    RestoreEntity => "restore_entity",
    RestoreMemory => "restore_memory",
    RetractMemory => "retract_memory",
    ResumeSession => "resume_session",
    SaveMemories => "save_memories",
    SaveMemory => "save_memory",
    StartSession => "start_session",
    TouchSession => "touch_session",
    UndoOperation => "undo_operation",
    UnmergeEntities => "unmerge_entities",
    UpdateCase => "update_case",
    UpdateMemory => "update_memory",
}

// Repeating a step of a handoff answers the same without a key, and so does reopening.
keyless! {
    AcceptHandoff => "accept_handoff",
    AcknowledgeOutdated => "acknowledge_outdated",
    AnswerPairs => "answer_pairs",
    CompleteHandoff => "complete_handoff",
    RejectHandoff => "reject_handoff",
    ReopenContradiction => "reopen_contradiction",
    WithdrawHandoff => "withdraw_handoff",
}
