//! A look back: what held at a past time, in the words of then.

use jiff::Timestamp;

use super::{ContextMaterial, NEW_ENTRIES_MAX, PROFILE_MEMORIES_MAX};
use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::base::limits;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::{Case, CaseKey};
use crate::model::memory::{ListOrder, Memory, Trust};
use crate::model::search::{MemoryFilter, SearchFilter};
use crate::prompt::context::{ContextOptions, StandingSnapshot};
use crate::store::Tx;
use crate::verbs::ops::forgotten::standing_without_forgotten;
use crate::verbs::ops::heirs::show_all;
use crate::verbs::ops::past::in_words_of;
use crate::verbs::standing::StandingFile;
use crate::verbs::{Commonbook, case};

/// Memories of one owner that are read for those about one user.
const OWNED_MEMORIES_MAX: u32 = 100;

/// The time that a context looks back to, and the present time.
#[derive(Clone, Copy)]
pub(super) struct PastTime {
    pub(super) at: Timestamp,
    pub(super) now: Timestamp,
}

impl Commonbook {
    /// What the caller's context could have included at a time, of what does not concern the present
    /// alone: no handoffs, news, retractions or contradictions.
    pub(super) fn past_material(
        &self,
        caller: &Caller,
        sight: &Sight,
        case: Option<&CaseKey>,
        options: &ContextOptions,
        time: PastTime,
    ) -> Result<ContextMaterial> {
        let within = SearchFilter { at: Some(time.at), ..SearchFilter::default() };
        let hits = self.task_hits(caller, sight, options, within, time.now)?;
        self.store.read(|tx| {
            let about = |kind| self.past_memories_about(tx, caller, sight, kind, time.at);
            let found = tx.memories_of(sight, &hits.memory_refs())?;
            Ok(ContextMaterial {
                relevant: hits.in_order(then(tx, sight, found, time.at)?),
                memories: hits.memories,
                profile: about("profile")?,
                task_context: about("task_context")?,
                entries: match case {
                    Some(key) => past_entries(tx, caller, sight, key, time.at)?,
                    None => Vec::new(),
                },
                sequence: tx.journal_end(&caller.workspace)?,
                ..ContextMaterial::default()
            })
        })
    }

    /// The newest memories of this type about the caller's user that held at a time, of the most
    /// important owners.
    fn past_memories_about(
        &self,
        tx: &Tx<'_>,
        caller: &Caller,
        sight: &Sight,
        memory_type: &str,
        at: Timestamp,
    ) -> Result<Vec<Memory>> {
        let mut memories = Vec::new();
        for owner in self.preferences.profile_owners(&caller.agent) {
            let filter = MemoryFilter {
                owner: Some(owner.into()),
                memory_type: Some(memory_type.to_owned()),
                at: Some(at),
                trust: Some(Trust::Normal),
                ..MemoryFilter::default()
            };
            let found = tx.memories(sight, &filter, ListOrder::Newest, None, OWNED_MEMORIES_MAX)?;
            let found = found.into_iter().map(|(_, memory)| memory);
            memories.extend(found.filter(|memory| memory.user_id == caller.user));
        }
        memories.truncate(PROFILE_MEMORIES_MAX as usize);
        then(tx, sight, memories, at)
    }

    /// The standing memory files as they were at a time, without those whose versions do not reach back
    /// so far.
    pub(super) fn standing_then(
        &self,
        caller: &Caller,
        files: Vec<StandingFile>,
        at: Timestamp,
    ) -> Result<Vec<StandingFile>> {
        let then = files.into_iter().map(|file| self.file_then(caller, file, at));
        Ok(then.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn file_then(
        &self,
        caller: &Caller,
        file: StandingFile,
        at: Timestamp,
    ) -> Result<Option<StandingFile>> {
        if file.at <= at {
            return Ok(Some(file));
        }
        let key = &file.target.key;
        let version = self.store.read(|tx| {
            let mut versions = tx.standing_versions(key, limits::STANDING_VERSIONS)?.into_iter();
            let Some(version) = versions.find(|version| version.at <= at) else { return Ok(None) };
            let Some(text) = tx.standing_text(key, version.version)? else { return Ok(None) };
            let cut = standing_without_forgotten(tx, Some(caller), &text)?;
            Ok(Some((version.at, cut.unwrap_or(text))))
        })?;
        Ok(version.map(|(at, text)| {
            let (bytes, sha256) = (text.len() as u64, sha256(&text));
            let read = StandingSnapshot { bytes, sha256, ..file.read.clone() };
            StandingFile { text: text.into(), at, read, ..file.clone() }
        }))
    }
}

/// The last entries of a case at a time, the newest first.
fn past_entries(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    key: &CaseKey,
    at: Timestamp,
) -> Result<Vec<(Case, Memory)>> {
    let case = case::find_case(tx, caller, key)?;
    let filter = MemoryFilter { case: Some(key.clone()), at: Some(at), ..MemoryFilter::default() };
    let limit = u32::try_from(NEW_ENTRIES_MAX).unwrap_or(u32::MAX);
    let found = tx.memories(sight, &filter, ListOrder::Newest, None, limit)?;
    let found = found.into_iter().map(|(_, memory)| memory).collect();
    let entries = then(tx, sight, found, at)?.into_iter();
    Ok(entries.map(|entry| (case.clone(), entry)).collect())
}

/// Memories in the words of a time, as this reader may see them; without those that are known to be
/// wrong, or wait for a review.
fn then(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: Vec<StoredMemory>,
    at: Timestamp,
) -> Result<Vec<Memory>> {
    let mut memories = in_words_of(tx, sight, memories, at)?;
    memories.retain(|memory| memory.retraction.is_none() && !memory.is_quarantined());
    show_all(tx, sight, memories)
}
