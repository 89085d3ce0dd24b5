//! The index of one workspace's journal, or of all journals of a home.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use super::IndexProgress;
use super::boot;
use super::damage::{catch_damage, index_damage};
use super::embedder::IndexEmbedder;
use super::facts::MemoryCatalog;
use super::files::{WORDS_FOLDER, lease, lease_conflict, unwritable, written_at};
use super::state::{IndexBatch, IndexState};
use super::words::{IndexGeneration, TextWriter};
use crate::base::error::{Error, Result};
use crate::base::file_lock::FileLock;
use crate::model::event::JournalHistory;
use crate::model::workspace::Workspace;
use crate::store::{Store, Tx};

/// Changes applied while searches wait.
const FOLLOW_CHANGES_MAX: usize = 4_000;

/// Memories written out at once.
const WRITE_MEMORIES_MAX: usize = 20_000;

/// Number of changed memories from which on the index of a home is written at once. A process that starts
/// reads fewer from the journal in a few milliseconds.
const WAITING_MEMORIES_MAX: usize = 64;

/// Number of unwritten events from which on a generation of a home is written, even if none of them
/// changed a memory.
const UNWRITTEN_EVENTS_MAX: u64 = 1_000;

/// Number of unwritten events from which on a generation of a workspace is written. Below it, reading
/// the journal is quick enough, and no words of a small workspace are on the disk.
const WORKSPACE_UNWRITTEN_EVENTS_MAX: u64 = 2_000;

/// The index of one journal, or of all. Its files are opened on first use.
pub(super) struct JournalIndex {
    /// The workspace whose journal it follows; `None` for those of all.
    workspace: Option<Workspace>,
    /// The folder of its files; `None` for an index in memory.
    pub(super) folder: Option<PathBuf>,
    state: RwLock<IndexState>,
    /// Held by the one thread that brings it to the ends of its journals for a search.
    catching_up: Mutex<()>,
    /// Set while this process holds the lease.
    pub(super) writing: Mutex<Option<LeasedWriter>>,
    pub(super) embedder: Arc<IndexEmbedder>,
}

/// The writer of the process that holds the lease.
pub(super) struct LeasedWriter {
    text: TextWriter,
    lease: FileLock,
}

impl LeasedWriter {
    /// Adds a batch to the words; nothing reaches the disk before the commit.
    fn put_batch(&mut self, batch: &IndexBatch) -> Result<()> {
        for (visibility, id) in &batch.removed {
            self.text.remove(visibility, *id);
        }
        for (memory, written) in &batch.delta {
            // Searching for a document that was never written takes longer than writing one.
            if *written {
                self.text.remove(&memory.described.class.visibility, memory.described.facts.id);
            }
            self.text.put(&memory.described, &memory.words)?;
        }
        Ok(())
    }
}

/// Opens the generation in the folder of an index, and checks that its files are whole if that is due.
fn open_generation(
    folder: &Path,
    catalog: &mut MemoryCatalog,
    check_is_due: bool,
) -> Result<Option<IndexGeneration>> {
    let generation = IndexGeneration::open(&folder.join(WORDS_FOLDER), catalog)?;
    let damaged = generation.as_ref().filter(|_| check_is_due).map(IndexGeneration::damage);
    match damaged.transpose()?.unwrap_or_default().first() {
        None => Ok(generation),
        Some(file) => Err(index_damage().with_cause(std::io::Error::other(file.clone()))),
    }
}

impl JournalIndex {
    /// The index of all journals, in this folder or in memory.
    pub(super) fn of_home(folder: Option<PathBuf>, embedder: Arc<IndexEmbedder>) -> Self {
        let (state, catching_up, writing) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { workspace: None, folder, state, catching_up, writing, embedder }
    }

    /// The index of this workspace's journal, in this folder or in memory.
    pub(super) fn of_workspace(
        workspace: Workspace,
        folder: Option<PathBuf>,
        embedder: Arc<IndexEmbedder>,
    ) -> Self {
        Self { workspace: Some(workspace), ..Self::of_home(folder, embedder) }
    }

    /// The workspace whose journal it follows; `None` for those of all.
    pub(super) fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Whether it follows the journals of all workspaces.
    pub(super) fn is_of_home(&self) -> bool {
        self.workspace.is_none()
    }

    /// Brings it to the end of its journals, if it is not there.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(super) fn bring_to_end(&self, store: &dyn Store) -> Result<()> {
        let (journals, history) = store.read(|tx| Ok((self.journals(tx)?, tx.history()?)))?;
        self.catch_up(store, &journals, &history)
    }

    /// Reads its journals to these ends at least, and the vectors. Several threads that want it wait
    /// for one, and nothing is read twice.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(super) fn catch_up(
        &self,
        store: &dyn Store,
        journals: &[(Workspace, u64)],
        history: &JournalHistory,
    ) -> Result<()> {
        let _catching_up = self.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state_at(journals, history).1 {
            return Ok(());
        }
        self.advance(store, usize::MAX)?;
        self.refresh_vectors();
        if !self.is_of_home() {
            // A cache in each index would take more room than the words.
            self.write().stems = Vec::new();
        }
        Ok(())
    }

    /// Its state, and whether that is at these ends of the journals in this history.
    pub(super) fn state_at(
        &self,
        journals: &[(Workspace, u64)],
        history: &JournalHistory,
    ) -> (RwLockReadGuard<'_, IndexState>, bool) {
        let state = self.read();
        let same = state.stamp == self.stamp() && state.vector_stamp == self.vector_stamp();
        let is_current = state.opened && same && state.belongs_to(history);
        let journals = journals
            .iter()
            .filter(|(name, _)| self.workspace.as_ref().is_none_or(|own| own == name));
        let is_current = is_current && state.is_at(journals);
        (state, is_current)
    }

    /// Writes out what the journals hold beyond the generation, and reports its progress after each
    /// step; `report` may stop it. Returns `None` if another process holds the lease and does this
    /// work.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or the folder cannot be written.
    pub(super) fn follow(
        &self,
        store: &dyn Store,
        report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_of_home() {
            return self.write_generation(&mut writing, store, report);
        }
        self.bring_to_end(store)?;
        if self.is_small() {
            return self.forget_removed();
        }
        let done = self.write_generation(&mut writing, store, report);
        // A writer holds threads and megabytes, too much for each workspace of a node.
        *writing = None;
        done
    }

    /// Whether it is the index of a workspace that needs no words on the disk.
    fn is_small(&self) -> bool {
        let state = self.read();
        self.folder.is_none()
            || (self.stamp().is_none() && state.unwritten_events() < WORKSPACE_UNWRITTEN_EVENTS_MAX)
    }

    /// Removes the vectors of removed memories from the files of a workspace without words on the disk.
    /// Returns `None` if another process holds the lease.
    fn forget_removed(&self) -> Result<Option<IndexProgress>> {
        if self.folder.is_some() && self.read().has_removed() {
            let Some(_lease) = self.file_lease()? else { return Ok(None) };
            if self.read().has_unused_vectors() {
                self.scrub_vectors()?;
            }
            let mut state = self.write();
            state.removed.clear();
            (state.fresh.1, state.removed_before) = (0, false);
        }
        Ok(Some(self.read().progress(0)))
    }

    fn write_generation(
        &self,
        writing: &mut MutexGuard<'_, Option<LeasedWriter>>,
        store: &dyn Store,
        mut report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        loop {
            let Some(writer) = self.lease(writing)? else { return Ok(None) };
            // In steps, so that searches run in between; a thread of its own sorts the words into
            // the generation while the next memories are read.
            let left = self.advance(store, FOLLOW_CHANGES_MAX)?;
            if self.read().obsolete {
                // The store turned out to have another history: what the writer holds goes first.
                continue;
            }
            let batch = self.write().take_batch();
            catch_damage(|| writer.put_batch(&batch))
                .inspect_err(|error| self.discard(Some(error)))?;
            let state = self.read();
            let (full, removed) =
                (state.delta.len() >= WRITE_MEMORIES_MAX, !state.removed.is_empty());
            let changed = removed
                || !state.delta.is_empty()
                || state.unwritten_events() >= UNWRITTEN_EVENTS_MAX;
            drop(state);
            if left > 0 && !full {
                continue;
            }
            if changed {
                catch_damage(|| writer.text.commit(&batch.positions))
                    .inspect_err(|error| self.discard(Some(error)))?;
                if removed {
                    self.scrub(writing)?;
                }
                self.reload();
            }
            self.write_segment_files();
            let progress = self.read().progress(left);
            if report(progress).is_break() || left == 0 {
                return Ok(Some(progress));
            }
        }
    }

    /// Deletes the files and rebuilds them from the journals.
    ///
    /// # Errors
    /// As [`JournalIndex::follow`]; `conflict` if another process holds the lease.
    pub(super) fn rebuild(
        &self,
        store: &dyn Store,
        report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexProgress> {
        self.discard(None);
        self.follow(store, report)?.ok_or_else(lease_conflict)
    }

    /// Whether [`JournalIndex::follow`] has work, as of what was read: changed memories, or enough
    /// other events to slow down the next process that starts; for the index of a workspace, enough
    /// events, or memories that were removed and are in its files.
    pub(super) fn needs_follow(&self) -> bool {
        let (small, state) = (self.is_small(), self.read());
        let lacks_segment_files =
            state.generation.as_ref().is_some_and(|generation| generation.lacks_segment_files);
        let unwritten = state.unwritten_events();
        if self.workspace.is_some() {
            let changed = !state.removed.is_empty() || state.obsolete;
            return match small {
                true => self.folder.is_some() && state.has_removed(),
                false => {
                    changed || lacks_segment_files || unwritten >= WORKSPACE_UNWRITTEN_EVENTS_MAX
                }
            };
        }
        let changed = !state.delta.is_empty() || !state.removed.is_empty();
        changed || lacks_segment_files || unwritten >= UNWRITTEN_EVENTS_MAX
    }

    /// Whether what [`JournalIndex::follow`] would write should not wait for more, as of what was read.
    pub(super) fn follow_is_urgent(&self) -> bool {
        let state = self.read();
        let lacks_segment_files =
            state.generation.as_ref().is_some_and(|generation| generation.lacks_segment_files);
        !state.removed.is_empty()
            || state.obsolete
            || lacks_segment_files
            || state.delta.len() >= WAITING_MEMORIES_MAX
            || state.unwritten_events() >= UNWRITTEN_EVENTS_MAX
    }

    /// The lease without a writer of words. Returns `None` if another process holds it.
    pub(super) fn file_lease(&self) -> Result<Option<FileLock>> {
        self.folder.as_deref().map_or(Ok(None), lease)
    }

    /// The writer of this process, if it can get the lease.
    pub(super) fn lease<'w>(
        &self,
        writing: &'w mut MutexGuard<'_, Option<LeasedWriter>>,
    ) -> Result<Option<&'w mut LeasedWriter>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let words = folder.join(WORDS_FOLDER);
        self.open();
        let state = self.read();
        let obsolete = state.obsolete || (state.generation.is_some() && self.stamp().is_none());
        drop(state);
        if writing.is_none() || obsolete {
            let held = writing.take().map(|held| held.lease);
            let Some(lease) = held.map_or_else(|| lease(folder), |lease| Ok(Some(lease)))? else {
                return Ok(None);
            };
            if obsolete {
                if words.exists() {
                    std::fs::remove_dir_all(&words).map_err(|error| unwritable(&words, &error))?;
                }
                *self.write() =
                    IndexState { opened: true, verified: true, ..IndexState::default() };
            }
            let text = catch_damage(|| TextWriter::open(&words))?;
            **writing = Some(LeasedWriter { text, lease });
        }
        Ok(writing.as_mut())
    }

    /// Makes sure that no file contains purged memories.
    fn scrub(&self, writing: &mut Option<LeasedWriter>) -> Result<()> {
        let Some(LeasedWriter { text, lease }) = writing.take() else { return Ok(()) };
        let text = catch_damage(|| text.compact())?;
        // The old files can be deleted once this process reads the new ones.
        self.reload();
        catch_damage(|| text.remove_unused_files())?;
        *writing = Some(LeasedWriter { text, lease });
        self.scrub_vectors()
    }

    /// Writes the segment files of the generation, for processes that start. Searches go on.
    fn write_segment_files(&self) {
        let segment_files =
            self.read().generation.as_ref().map(IndexGeneration::segment_file_writer);
        if let Some(Err(error)) = segment_files.map(catch_damage) {
            tracing::warn!(%error, "segment files cannot be written; processes open the search index more slowly");
        }
        // If they cannot be written, do not try again before the next commit.
        if let Some(generation) = &mut self.write().generation {
            generation.lacks_segment_files = false;
        }
    }

    /// Applies at least `changes_min` changes to the catalog, if there are as many. Returns the number of
    /// remaining events.
    fn advance(&self, store: &dyn Store, changes_min: usize) -> Result<u64> {
        self.open();
        if self.read().stamp != self.stamp() {
            self.reload();
            // Another process wrote it, perhaps before it learned of another history.
            self.write().verified = false;
        }
        loop {
            let mut state = self.write();
            // The history may change between two transactions: what is followed is of the one that
            // was verified.
            let left = store.read(|tx| match state.belongs_to(&tx.history()?) {
                true => state.follow(tx, self.journals(tx)?, changes_min).map(Some),
                false => Ok(None),
            });
            state.catalog.sort_sessions();
            drop(state);
            if let Some(left) = left? {
                return Ok(left);
            }
            self.verify(store)?;
        }
    }

    /// The ends of the journals that it follows.
    pub(super) fn journals(&self, tx: &Tx<'_>) -> Result<Vec<(Workspace, u64)>> {
        match &self.workspace {
            Some(workspace) => Ok(vec![(workspace.clone(), tx.journal_end(workspace)?)]),
            None => tx.journals(),
        }
    }

    /// Opens the generation, once.
    pub(super) fn open(&self) {
        if self.read().opened {
            return;
        }
        let mut state = self.write();
        if state.opened {
            return;
        }
        state.opened = true;
        let Some(folder) = &self.folder else { return };
        state.stamp = written_at(folder);
        let check_is_due = boot::check_is_due(folder);
        if check_is_due {
            boot::remove_damaged_vectors(folder);
        }
        let IndexState { catalog, .. } = &mut *state;
        match catch_damage(|| open_generation(folder, catalog, check_is_due)) {
            Ok(generation) => {
                state.positions = generation
                    .as_ref()
                    .map(|generation| generation.positions.clone())
                    .unwrap_or_default();
                // Files of another format are useless.
                state.obsolete = generation.is_none() && state.stamp.is_some();
                state.generation = generation;
                state.catalog.sort_sessions();
                if check_is_due && folder.exists() {
                    boot::note_checked(folder);
                }
            }
            Err(error) => {
                drop(state);
                self.discard(Some(&error));
            }
        }
    }

    /// Checks, once in each history of the store, that the state belongs to it: a store restored from a
    /// backup, or after a failover that lost commits, has other events at the same positions, or none.
    fn verify(&self, store: &dyn Store) -> Result<()> {
        let state = self.read();
        let (history, same) = store.read(|tx| {
            let history = tx.history()?;
            if state.belongs_to(&history) {
                return Ok((history, None));
            }
            let written = state.generation.iter().flat_map(|generation| &generation.positions);
            for (workspace, place) in state.positions.iter().chain(written) {
                let found = tx.changes(workspace, place.sequence.saturating_sub(1), 1)?;
                if found.first().is_none_or(|event| !place.is_of(event)) {
                    return Ok((history, Some(false)));
                }
            }
            Ok((history, Some(true)))
        })?;
        let Some(same) = same else { return Ok(()) };
        drop(state);
        if same {
            // A generation knows memories only.
            let inactive_cases = store.read(|tx| tx.inactive_cases(self.workspace.as_ref()))?;
            let mut state = self.write();
            for (workspace, case) in &inactive_cases {
                state.catalog.note_case(workspace.as_str(), case, false);
            }
            state.verified = true;
            state.history = history;
        } else {
            self.discard(Some(&Error::conflict(
                "the search index belongs to another history of the store",
            )));
            self.write().history = history;
        }
        Ok(())
    }

    /// Switches to the newest generation. If its files are gone, the state in memory stays correct.
    fn reload(&self) {
        let Some(folder) = &self.folder else { return };
        let mut state = self.write();
        let reloaded = if written_at(folder).is_some() { state.reload(folder) } else { Ok(()) };
        state.stamp = written_at(folder);
        // What another thread found useless may have been written since.
        state.verified &= !state.obsolete;
        drop(state);
        if let Err(error) = reloaded {
            self.discard(Some(&error));
        }
    }

    /// Continues without the generation: until it is rebuilt, the delta has every memory.
    pub(super) fn discard(&self, why: Option<&Error>) {
        if let Some(error) = why {
            tracing::warn!(%error, "rebuilding the search index from the journal");
        }
        let stamp = self.stamp();
        *self.write() = IndexState {
            opened: true,
            obsolete: true,
            verified: true,
            stamp,
            ..IndexState::default()
        };
    }

    pub(super) fn stamp(&self) -> Option<SystemTime> {
        self.folder.as_deref().and_then(written_at)
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, IndexState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, IndexState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
