//! The indexes that a node holds: one for each workspace that it serves. The least recently used ones
//! are dropped when there are too many memories, and each when it was not used for long; nothing is
//! lost, as a search that asks again builds the index again.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLockReadGuard};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::IndexProgress;
use super::embedder::IndexEmbedder;
use super::files::{LEASE_FILE, WORDS_FOLDER, lease, lease_conflict, unwritable};
use super::journal_index::JournalIndex;
use super::state::IndexState;
use super::vectors::VECTORS_FOLDER;
use crate::base::clock::Clock;
use crate::base::error::Result;
use crate::model::workspace::Workspace;
use crate::store::Store;

/// Memories that a node holds at most, in the indexes of all workspaces together.
const MEMORIES_MAX: u64 = 250_000;

/// Memories that an index counts for besides its own: an empty one takes room, too.
const INDEX_WEIGHT: u64 = 10;

/// The time without a search after which an index is dropped.
const IDLE_MAX: SignedDuration = SignedDuration::from_hours(1);

/// The time without a search after which the files of a workspace are deleted.
const FILES_AGE_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The time between two looks at the files.
const SWEEP_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// The time between two looks at the journals of all held workspaces.
const LOOK_INTERVAL: SignedDuration = SignedDuration::from_secs(10);

/// Journals that one statement looks at.
const LOOK_JOURNALS_MAX: usize = 1_000;

/// Workspaces that one search may read.
pub(super) const SEARCH_WORKSPACES_MAX: usize = 200;

/// What receives the progress after each step, and may stop it.
type ProgressReport<'r> = dyn FnMut(IndexProgress) -> ControlFlow<()> + 'r;

/// The indexes of the workspaces that a node serves.
pub(super) struct IndexPool {
    /// The folder of their files, each in a folder of its own.
    folder: Option<PathBuf>,
    memories_max: u64,
    clock: Arc<dyn Clock>,
    embedder: Arc<IndexEmbedder>,
    held: Mutex<HeldIndexes>,
}

/// The indexes in memory.
#[derive(Default)]
struct HeldIndexes {
    indexes: HashMap<Workspace, HeldIndex>,
    /// The workspaces by the number of their last use.
    order: BTreeMap<u64, Workspace>,
    /// Number of uses so far.
    uses: u64,
    /// The sum of the weights.
    weight: u64,
    /// When the ends of all their journals were read.
    looked_at: Option<Timestamp>,
    /// When old files were deleted.
    swept_at: Option<Timestamp>,
}

/// An index in memory.
struct HeldIndex {
    index: Arc<JournalIndex>,
    /// The number and the time of its last use.
    last_use: u64,
    used_at: Timestamp,
    /// Its memories, and [`INDEX_WEIGHT`].
    weight: u64,
    /// Whether it was used, or found behind its journal, since it was last followed.
    is_pending: bool,
}

impl HeldIndexes {
    /// Drops the least recently used index. Returns it, so that the caller frees it without the lock.
    fn pop_oldest(&mut self) -> Option<Arc<JournalIndex>> {
        let (_, workspace) = self.order.pop_first()?;
        let held = self.indexes.remove(&workspace)?;
        self.weight -= held.weight;
        Some(held.index)
    }

    /// Drops the least recently used indexes until the others weigh at most this much; the last one
    /// stays.
    fn shrink(&mut self, weight_max: u64) -> Vec<Arc<JournalIndex>> {
        let mut dropped = Vec::new();
        while self.weight > weight_max && self.order.len() > 1 {
            dropped.extend(self.pop_oldest());
        }
        dropped
    }

    /// Drops the indexes that were last used before this time.
    fn drop_unused(&mut self, since: Timestamp) -> Vec<Arc<JournalIndex>> {
        let mut dropped = Vec::new();
        while let Some(workspace) = self.order.values().next()
            && self.indexes.get(workspace).is_none_or(|held| held.used_at < since)
        {
            dropped.extend(self.pop_oldest());
        }
        dropped
    }

    fn note_weight(&mut self, workspace: &Workspace, memories: u64) {
        if let Some(held) = self.indexes.get_mut(workspace) {
            let weight = memories + INDEX_WEIGHT;
            self.weight = self.weight - held.weight + weight;
            held.weight = weight;
        }
    }
}

impl IndexPool {
    pub(super) fn new(
        folder: Option<PathBuf>,
        clock: Arc<dyn Clock>,
        embedder: Arc<IndexEmbedder>,
    ) -> Self {
        let held = Mutex::default();
        Self { folder, memories_max: MEMORIES_MAX, clock, embedder, held }
    }

    pub(super) fn with_memories_max(self, memories_max: u64) -> Self {
        Self { memories_max, ..self }
    }

    /// The indexes of these workspaces, in the order of their names. One that is not held is made, and
    /// built by the first search that reads it; others that want it wait for that one.
    pub(super) fn use_indexes(&self, workspaces: &[Workspace]) -> Vec<Arc<JournalIndex>> {
        let mut names: Vec<&Workspace> = workspaces.iter().collect();
        names.sort_unstable();
        names.dedup();
        let now = self.clock.now();
        let mut held = self.lock();
        names.into_iter().map(|workspace| self.use_index(&mut held, workspace, now)).collect()
    }

    fn use_index(
        &self,
        held: &mut HeldIndexes,
        workspace: &Workspace,
        now: Timestamp,
    ) -> Arc<JournalIndex> {
        let HeldIndexes { indexes, order, uses, weight, .. } = held;
        *uses += 1;
        let own = indexes.entry(workspace.clone()).or_insert_with(|| {
            *weight += INDEX_WEIGHT;
            HeldIndex {
                index: Arc::new(self.open_index(workspace, now)),
                last_use: *uses,
                used_at: now,
                weight: INDEX_WEIGHT,
                is_pending: true,
            }
        });
        order.remove(&own.last_use);
        order.insert(*uses, workspace.clone());
        (own.last_use, own.used_at, own.is_pending) = (*uses, now, true);
        Arc::clone(&own.index)
    }

    fn open_index(&self, workspace: &Workspace, now: Timestamp) -> JournalIndex {
        let folder = self.folder.as_deref().map(|folder| folder.join(folder_name(workspace)));
        if let Some(folder) = &folder {
            note_use(folder, now);
        }
        JournalIndex::of_workspace(workspace.clone(), folder, Arc::clone(&self.embedder))
    }

    /// Notes how many memories these indexes have, and drops others if there are too many.
    pub(super) fn note_memories(
        &self,
        indexes: &[Arc<JournalIndex>],
        states: &[RwLockReadGuard<'_, IndexState>],
    ) {
        let mut held = self.lock();
        for (index, state) in indexes.iter().zip(states) {
            if let Some(workspace) = index.workspace() {
                held.note_weight(workspace, state.progress(0).memories);
            }
        }
        let dropped = held.shrink(self.memories_max);
        drop(held);
        drop(dropped);
    }

    /// The indexes in memory.
    pub(super) fn held(&self) -> Vec<Arc<JournalIndex>> {
        self.lock().indexes.values().map(|held| Arc::clone(&held.index)).collect()
    }

    /// The indexes of those of these workspaces that have files.
    pub(super) fn with_files(&self, workspaces: &[Workspace]) -> Vec<Arc<JournalIndex>> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let has_files = |workspace: &&Workspace| folder.join(folder_name(workspace)).exists();
        let named: Vec<Workspace> = workspaces.iter().filter(has_files).cloned().collect();
        self.use_indexes(&named)
    }

    /// Whether an index was used, or is behind its journal. Drops what was not used for long.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(super) fn needs_follow(&self, store: &dyn Store) -> Result<bool> {
        let now = self.clock.now();
        let mut held = self.lock();
        let dropped = now.checked_sub(IDLE_MAX).map(|since| held.drop_unused(since));
        let looks = is_due(held.looked_at, now, LOOK_INTERVAL);
        let sweeps = is_due(held.swept_at, now, SWEEP_INTERVAL);
        if looks {
            held.looked_at = Some(now);
        }
        if sweeps {
            held.swept_at = Some(now);
        }
        drop(held);
        drop(dropped);
        if sweeps {
            self.remove_old_files(now);
        }
        if looks {
            self.look_at_journals(store)?;
        }
        Ok(self.lock().indexes.values().any(|held| held.is_pending))
    }

    /// Marks the held indexes that are behind their journals.
    fn look_at_journals(&self, store: &dyn Store) -> Result<()> {
        let names: Vec<Workspace> = self.lock().indexes.keys().cloned().collect();
        for names in names.chunks(LOOK_JOURNALS_MAX) {
            for journal in store.read(|tx| tx.journals_of(names))? {
                let index = self.lock().indexes.get(&journal.0).map(|held| Arc::clone(&held.index));
                if index.is_some_and(|index| !index.read().is_at(std::iter::once(&journal)))
                    && let Some(held) = self.lock().indexes.get_mut(&journal.0)
                {
                    held.is_pending = true;
                }
            }
        }
        Ok(())
    }

    /// The indexes that wait to be followed.
    fn pending(&self) -> Vec<Arc<JournalIndex>> {
        let held = self.lock();
        let pending = held.indexes.values().filter(|held| held.is_pending);
        pending.map(|held| Arc::clone(&held.index)).collect()
    }

    /// Brings the pending indexes to their journals' ends, and writes out those for which that is worth
    /// it. Returns their progress together.
    ///
    /// # Errors
    /// As [`JournalIndex::follow`].
    pub(super) fn follow(
        &self,
        store: &dyn Store,
        report: &mut ProgressReport<'_>,
    ) -> Result<IndexProgress> {
        self.advance_pending(report, |index, report| {
            index.bring_to_end(store)?;
            self.note_memories(std::slice::from_ref(index), &[index.read()]);
            if index.needs_follow() {
                index.follow(store, report)?;
            }
            Ok(index.read().progress(0))
        })
    }

    /// Embeds the memories of the pending indexes, which then wait for nothing.
    ///
    /// # Errors
    /// As [`JournalIndex::embed`].
    pub(super) fn embed(
        &self,
        store: &dyn Store,
        report: &mut ProgressReport<'_>,
    ) -> Result<IndexProgress> {
        self.advance_pending(report, |index, report| {
            // A search in between makes it wait again.
            self.set_pending(index, false);
            let mut is_stopped = false;
            let done = index.embed(store, |progress| {
                let flow = report(progress);
                is_stopped = flow.is_break();
                flow
            });
            if is_stopped || done.is_err() {
                self.set_pending(index, true);
            }
            Ok(done?.unwrap_or_default())
        })
    }

    /// Whether a text of the indexes that wait has no vector.
    pub(super) fn will_embed(&self, store: &dyn Store) -> Result<bool> {
        for index in self.pending() {
            if index.will_embed(store)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Advances each index that waits, until `report`, which receives the progress of all together,
    /// stops it.
    fn advance_pending(
        &self,
        report: &mut ProgressReport<'_>,
        mut advance: impl FnMut(&Arc<JournalIndex>, &mut ProgressReport<'_>) -> Result<IndexProgress>,
    ) -> Result<IndexProgress> {
        let mut all = IndexProgress::default();
        for index in self.pending() {
            let mut is_stopped = false;
            let progress = advance(&index, &mut |progress| {
                let flow = report(all.and(progress));
                is_stopped = flow.is_break();
                flow
            })?;
            all = all.and(progress);
            if is_stopped || report(all).is_break() {
                break;
            }
        }
        Ok(all)
    }

    fn set_pending(&self, index: &JournalIndex, is_pending: bool) {
        let Some(workspace) = index.workspace() else { return };
        if let Some(held) = self.lock().indexes.get_mut(workspace) {
            held.is_pending = is_pending;
        }
    }

    /// The damaged files of all workspaces.
    ///
    /// # Errors
    /// `unavailable` if they cannot be read.
    pub(super) fn check(&self) -> Result<Vec<String>> {
        let mut damaged = Vec::new();
        for folder in self.folders() {
            let embedder = Arc::clone(&self.embedder);
            damaged.extend(JournalIndex::of_home(Some(folder), embedder).check()?);
        }
        Ok(damaged)
    }

    /// Deletes the words of all workspaces, on disk and in memory.
    ///
    /// # Errors
    /// `conflict` if another process writes them, `unavailable` if they cannot be deleted.
    pub(super) fn remove_words(&self) -> Result<()> {
        self.remove_all(&[WORDS_FOLDER])
    }

    /// Deletes the vectors of all workspaces.
    ///
    /// # Errors
    /// As [`IndexPool::remove_words`].
    pub(super) fn remove_vectors(&self) -> Result<()> {
        self.remove_all(&[VECTORS_FOLDER])
    }

    fn remove_all(&self, parts: &[&str]) -> Result<()> {
        for folder in self.folders() {
            let _lease = lease(&folder)?.ok_or_else(lease_conflict)?;
            remove_parts(&folder, parts)?;
        }
        let dropped = std::mem::take(&mut *self.lock());
        drop(dropped);
        Ok(())
    }

    /// Notes that the held workspaces are in use, and deletes the files of those that were not used for
    /// long by any process.
    fn remove_old_files(&self, now: Timestamp) {
        for index in self.held() {
            if let Some(folder) = &index.folder {
                note_use(folder, now);
            }
        }
        let Ok(since) = now.checked_sub(FILES_AGE_MAX) else { return };
        for folder in self.folders() {
            let used = fs::metadata(folder.join(LEASE_FILE)).and_then(|file| file.modified());
            if used.is_ok_and(|used| used >= SystemTime::from(since)) {
                continue;
            }
            if let Err(error) = remove_unused(&folder) {
                tracing::warn!(%error, "old files of the search index cannot be deleted");
            }
        }
    }

    /// The folders of the workspaces.
    fn folders(&self) -> Vec<PathBuf> {
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let folders = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        folders.filter(|path| path.is_dir()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HeldIndexes> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the next look is due.
fn is_due(last: Option<Timestamp>, now: Timestamp, interval: SignedDuration) -> bool {
    last.is_none_or(|last| now.duration_since(last) >= interval || now < last)
}

/// The name of the folder of a workspace: any name of a workspace fits any file system so.
fn folder_name(workspace: &Workspace) -> String {
    let digest = format!("{:x}", Sha256::digest(workspace.as_str().as_bytes()));
    digest[..32].to_owned()
}

/// Notes when the files of a workspace were last used, if there are any.
fn note_use(folder: &Path, now: Timestamp) {
    let file = File::options().append(true).open(folder.join(LEASE_FILE));
    if let Err(error) = file.and_then(|file| file.set_modified(SystemTime::from(now)))
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(%error, "the use of files of the search index cannot be noted");
    }
}

/// Deletes a folder, unless a process writes it now.
fn remove_unused(folder: &Path) -> Result<()> {
    let Some(_lease) = lease(folder)? else { return Ok(()) };
    fs::remove_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

/// Deletes these folders of the index in a folder.
fn remove_parts(folder: &Path, parts: &[&str]) -> Result<()> {
    for part in parts.iter().map(|part| folder.join(part)).filter(|part| part.exists()) {
        fs::remove_dir_all(&part).map_err(|error| unwritable(&part, &error))?;
    }
    Ok(())
}
