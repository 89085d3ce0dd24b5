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
use crate::verbs::names;

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
    ($($request:ident => $verb:path,)*) => {$(
        impl WriteRequest for $request {
            const VERB: &'static str = $verb;

            fn idempotency_key(&self) -> Option<&String> {
                self.idempotency_key.as_ref()
            }
        }
    )*};
}

macro_rules! keyless {
    ($($request:ident => $verb:path,)*) => {$(
        impl WriteRequest for $request {
            const VERB: &'static str = $verb;
        }
    )*};
}

keyed! {
    AppealMemory => names::APPEAL_MEMORY,
    AddRelation => names::ADD_RELATION,
    AppendEntries => names::APPEND_ENTRIES,
    ArchiveCase => names::ARCHIVE_CASE,
    ArchiveCheckpoint => names::ARCHIVE_CHECKPOINT,
    BranchCase => names::BRANCH_CASE,
    CheckpointAndSummarise => names::CHECKPOINT_AND_SUMMARISE,
    CloseCase => names::CLOSE_CASE,
    CreateCheckpoint => names::CREATE_CHECKPOINT,
    CreateHandoff => names::CREATE_HANDOFF,
    DecideProposal => names::DECIDE_PROPOSAL,
    DecideReview => names::DECIDE_REVIEW,
    DeleteCheckpoint => names::DELETE_CHECKPOINT,
    DeleteEntity => names::DELETE_ENTITY,
    DeleteMemory => names::DELETE_MEMORY,
    EndSession => names::END_SESSION,
    LearnRequest => names::LEARN,
    MarkRead => names::MARK_READ,
    MergeCase => names::MERGE_CASE,
    MergeEntities => names::MERGE_ENTITIES,
    OpenCase => names::OPEN_CASE,
    PurgeMemory => names::PURGE_MEMORY,
    ReleaseMemory => names::RELEASE_MEMORY,
    RemoveRelation => names::REMOVE_RELATION,
    RenameEntity => names::RENAME_ENTITY,
    ReopenCase => names::REOPEN_CASE,
    ResolveContradiction => names::RESOLVE_CONTRADICTION,
    ResolveEntity => names::RESOLVE_ENTITY,
    RestoreEntity => names::RESTORE_ENTITY,
    RestoreMemory => names::RESTORE_MEMORY,
    RetractMemory => names::RETRACT_MEMORY,
    ResumeSession => names::RESUME_SESSION,
    SaveMemories => names::SAVE_MEMORIES,
    SaveMemory => names::SAVE_MEMORY,
    StartSession => names::START_SESSION,
    TouchSession => names::TOUCH_SESSION,
    UndoOperation => names::UNDO_OPERATION,
    UnmergeEntities => names::UNMERGE_ENTITIES,
    UpdateCase => names::UPDATE_CASE,
    UpdateMemory => names::UPDATE_MEMORY,
}

// Repeating a step of a handoff answers the same without a key, and so does reopening.
keyless! {
    AcceptHandoff => names::ACCEPT_HANDOFF,
    AcknowledgeOutdated => names::ACKNOWLEDGE_OUTDATED,
    AnswerPairs => names::ANSWER_PAIRS,
    CompleteHandoff => names::COMPLETE_HANDOFF,
    RejectHandoff => names::REJECT_HANDOFF,
    ReopenContradiction => names::REOPEN_CONTRADICTION,
    WithdrawHandoff => names::WITHDRAW_HANDOFF,
}
