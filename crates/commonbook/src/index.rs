//! The search index: derived from the journal, so that searches take milliseconds.
//!
//! It has three parts, and each can be rebuilt:
//! - **a generation**: the words on disk, in tantivy, as of some journal positions; its facts
//!   (owner, sharing, type, times …) are loaded into
//! - **the catalog**, which every process keeps in memory and brings up to the journal's end before
//!   each search; and
//! - **the delta**: the words of memories that changed after the generation. It overrides the
//!   generation.
//!
//! So a result depends only on the journal, not on the age of the generation: a committed change is
//! found by the next search in any process. One process at a time, the holder of the lease, writes
//! the delta out as the next generation ([`Index::follow`]).

mod budget;
mod check;
mod damage;
mod delta;
mod embed;
mod facts;
mod files;
mod matches;
mod rerank;
mod scratch;
mod search;
mod session_scores;
mod state;
mod vectors;
mod visible;
mod words;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use crate::base::error::{Error, Result};
use crate::model::figures::IndexFigures;
use crate::store::Store;
pub use budget::{SearchBudget, SearchWork};
use commonbook_embed::Embedder;
use damage::catch_damage;
use files::{lease, unwritable, written_at};
use state::{IndexBatch, IndexState};
use words::{IndexGeneration, TextWriter};

/// Changes applied while searches wait.
const FOLLOW_CHANGES_MAX: usize = 4_000;

/// Memories written out at once.
const WRITE_MEMORIES_MAX: usize = 20_000;

/// Number of unwritten events from which on a generation is written, even if none of them changed a
/// memory.
const UNWRITTEN_EVENTS_MAX: u64 = 1_000;

/// The search index of one home. Its files are opened on first use.
pub struct Index {
    /// The folder of the generations; `None` for an index in memory.
    folder: Option<PathBuf>,
    state: RwLock<IndexState>,
    /// Set while this process holds the lease.
    writing: Mutex<Option<LeasedWriter>>,
    embedding: RwLock<EmbedderState>,
}

/// The embedder, or why there is none.
enum EmbedderState {
    By(Arc<dyn Embedder>),
    Off,
    Failed(String),
}

/// The writer of the process that holds the lease.
struct LeasedWriter {
    text: TextWriter,
    lease: File,
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

/// The progress of [`Index::follow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// Number of memories in the index.
    pub memories: u64,
    /// Number of journal events still to be read.
    pub left: u64,
    /// Number of memories without a vector.
    pub waiting: u64,
}

impl Default for Index {
    fn default() -> Self {
        Self::in_memory()
    }
}

impl Index {
    /// An index in memory, built from the whole journal: for tests and small stores.
    #[must_use]
    pub fn in_memory() -> Self {
        let (state, writing) = (RwLock::default(), Mutex::default());
        Self { folder: None, state, writing, embedding: RwLock::new(EmbedderState::Off) }
    }

    /// The index in this folder. The folder is created with the first generation.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::in_memory() }
    }

    /// Writes out what the journal holds beyond the generation, and reports its progress after each
    /// step; `report` may stop it. Returns `None` if another process holds the lease and does this
    /// work.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or the folder cannot be written.
    pub fn follow(
        &self,
        store: &dyn Store,
        mut report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(writer) = self.lease(&mut writing)? else { return Ok(None) };
            // In steps, so that searches run in between; a thread of its own sorts the words into
            // the generation while the next memories are read.
            let left = self.advance(store, FOLLOW_CHANGES_MAX)?;
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
                    self.scrub(&mut writing)?;
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

    /// Whether it has files.
    #[must_use]
    pub const fn is_on_disk(&self) -> bool {
        self.folder.is_some()
    }

    /// Deletes the files and rebuilds them from the journal.
    ///
    /// # Errors
    /// As [`Index::follow`]; `conflict` if another process holds the lease.
    pub fn rebuild(
        &self,
        store: &dyn Store,
        report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexProgress> {
        self.discard(None);
        self.follow(store, report)?.ok_or_else(lease_conflict)
    }

    /// Whether [`Index::follow`] has work: changed memories, or enough other events to slow down
    /// the next process that starts.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn needs_follow(&self, store: &dyn Store) -> Result<bool> {
        let state = self.current_state(store)?;
        let lacks_segment_files =
            state.generation.as_ref().is_some_and(|generation| generation.lacks_segment_files);
        let changed = !state.delta.is_empty() || !state.removed.is_empty();
        Ok(changed || lacks_segment_files || state.unwritten_events() >= UNWRITTEN_EVENTS_MAX)
    }

    /// Its figures, as this process has it: nothing is read for them.
    #[must_use]
    pub fn figures(&self) -> IndexFigures {
        let state = self.read();
        let IndexProgress { memories, waiting, .. } = state.progress(0);
        let read = state.positions.values().map(|position| position.sequence).sum::<u64>();
        let written = read.saturating_sub(state.unwritten_events());
        IndexFigures { memories, unembedded: waiting, read, written }
    }

    /// Number of events after the generation, once the catalog has reached the journal's end. A
    /// process that starts must read them.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn unwritten_events(&self, store: &dyn Store) -> Result<u64> {
        self.current_state(store).map(|state| state.unwritten_events())
    }

    /// The writer of this process, if it can get the lease.
    fn lease<'w>(
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

    /// The state at the journals' end as of this call.
    fn current_state(&self, store: &dyn Store) -> Result<RwLockReadGuard<'_, IndexState>> {
        let (journals, history) = store.read(|tx| Ok((tx.journals()?, tx.history()?)))?;
        {
            let state = self.read();
            let same = state.stamp == self.stamp() && state.vector_stamp == self.vector_stamp();
            let same = same && state.history == history;
            if state.opened && same && state.is_at(&journals) {
                return Ok(state);
            }
        }
        self.advance(store, usize::MAX)?;
        self.refresh_vectors();
        Ok(self.read())
    }

    /// Applies at least `changes_min` changes to the catalog, if there are as many. Returns the number of
    /// remaining events.
    fn advance(&self, store: &dyn Store, changes_min: usize) -> Result<u64> {
        self.open();
        if self.read().stamp != self.stamp() {
            self.reload();
        }
        self.verify(store)?;
        let mut state = self.write();
        let left = store.read(|tx| state.follow(tx, changes_min));
        state.catalog.sort_sessions();
        left
    }

    /// Opens the generation, once.
    fn open(&self) {
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
        let IndexState { catalog, .. } = &mut *state;
        match catch_damage(|| IndexGeneration::open(&folder.join(WORDS_FOLDER), catalog)) {
            Ok(generation) => {
                state.positions = generation
                    .as_ref()
                    .map(|generation| generation.positions.clone())
                    .unwrap_or_default();
                // Files of another format are useless.
                state.obsolete = generation.is_none() && state.stamp.is_some();
                state.generation = generation;
                state.catalog.sort_sessions();
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
            if state.verified && state.history == history {
                return Ok((history, None));
            }
            for (workspace, place) in &state.positions {
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
            let inactive_cases = store.read(|tx| tx.inactive_cases())?;
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
        drop(state);
        if let Err(error) = reloaded {
            self.discard(Some(&error));
        }
    }

    /// Continues without the generation: until it is rebuilt, the delta has every memory.
    fn discard(&self, why: Option<&Error>) {
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

    fn stamp(&self) -> Option<SystemTime> {
        self.folder.as_deref().and_then(written_at)
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of the words, inside that of the index.
const WORDS_FOLDER: &str = "words";

fn lease_conflict() -> Error {
    Error::conflict("another process writes the search index of this home")
        .hint("Stop that process to rebuild the index; it follows the journal by itself.")
}
