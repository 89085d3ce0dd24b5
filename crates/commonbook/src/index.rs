//! The search index: what is derived from the journal, so that memories are found in milliseconds.
//!
//! It is three things, and each can be thrown away:
//! - **a generation**: the words on disk, in tantivy, as of some places in the journals; its facts
//!   (owner, sharing, type, times …) are loaded into
//! - **the catalog**, which every process keeps in memory, and brings up to the journal's end
//!   before each search; and
//! - **the tail**: the words of what changed since the generation. It overrules the generation.
//!
//! So an answer depends on the journal alone, not on how far the generation has come: what was
//! committed is found by the very next search, in any process. One process at a time, the one that
//! holds the lease, writes the tail out as the next generation ([`Index::follow`]).

mod budget;
mod check;
mod damage;
mod delta;
mod embed;
mod facts;
mod files;
mod matches;
mod rerank;
mod search;
mod slate;
mod state;
mod strands;
mod vectors;
mod visible;
mod words;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use crate::base::error::{Error, Result};
use crate::store::Store;
pub use budget::{SearchBudget, SearchWork};
use commonbook_embed::Embedder;
use damage::catch_damage;
use files::{lease, unwritable, written_at};
use state::{IndexBatch, IndexState};
use words::{IndexGeneration, TextWriter};

/// Changes that are taken in while searches wait.
const FOLLOW_CHANGES_MAX: usize = 4_000;

/// Memories that are written out at once.
const WRITE_MEMORIES_MAX: usize = 20_000;

/// Events from which on the generation is written as of them, though none of them changed it.
const UNWRITTEN_EVENTS_MAX: u64 = 1_000;

/// The search index of one home. Nothing is opened before it is first used.
pub struct Index {
    /// Where generations are kept; nowhere for an index that is never written out.
    folder: Option<PathBuf>,
    state: RwLock<IndexState>,
    /// Held while this process is the one that writes.
    writing: Mutex<Option<LeasedWriter>>,
    embedding: RwLock<EmbedderState>,
}

/// What embeds, or why nothing does.
enum EmbedderState {
    By(Arc<dyn Embedder>),
    Off,
    Failed(String),
}

/// What the process that holds the lease writes with.
struct LeasedWriter {
    text: TextWriter,
    lease: File,
}

impl LeasedWriter {
    /// Gives what changed to the words; nothing is written before they are committed.
    fn put_batch(&mut self, news: &IndexBatch) -> Result<()> {
        for (reach, id) in &news.removed {
            self.text.remove(reach, *id);
        }
        for (memory, written) in &news.tail {
            // Looking for what was never written would take longer than writing.
            if *written {
                self.text.remove(&memory.described.class.reach, memory.described.facts.id);
            }
            self.text.put(&memory.described, &memory.bag)?;
        }
        Ok(())
    }
}

/// How far [`Index::follow`] has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// Memories in the index.
    pub memories: u64,
    /// Events of the journals that are still to be read.
    pub left: u64,
    /// Memories that have no vector yet.
    pub waiting: u64,
}

impl Default for Index {
    fn default() -> Self {
        Self::in_memory()
    }
}

impl Index {
    /// An index that every process builds for itself, from the whole journal: for tests and small
    /// stores.
    #[must_use]
    pub fn in_memory() -> Self {
        let (state, writing) = (RwLock::default(), Mutex::default());
        Self { folder: None, state, writing, embedding: RwLock::new(EmbedderState::Off) }
    }

    /// The index in this folder, which is made when something is first written out.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::in_memory() }
    }

    /// Writes out what the journal holds beyond the generation, and tells after each step how far
    /// it has come; `told` may break it off. Answers `None` when another process holds the lease, and does it.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read or the folder not be written.
    pub fn follow(
        &self,
        store: &dyn Store,
        mut told: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(writer) = self.lease(&mut writing)? else { return Ok(None) };
            // In strides, so that searches come in between, and the words are sorted into the
            // generation on a thread of their own while the next memories are read.
            let left = self.advance(store, FOLLOW_CHANGES_MAX)?;
            let news = self.write().take_batch();
            catch_damage(|| writer.put_batch(&news))
                .inspect_err(|error| self.discard(Some(error)))?;
            let state = self.read();
            let (full, removed) =
                (state.tail.len() >= WRITE_MEMORIES_MAX, !state.removed.is_empty());
            let changed = removed
                || !state.tail.is_empty()
                || state.unwritten_events() >= UNWRITTEN_EVENTS_MAX;
            drop(state);
            if left > 0 && !full {
                continue;
            }
            if changed {
                catch_damage(|| writer.text.commit(&news.places))
                    .inspect_err(|error| self.discard(Some(error)))?;
                if removed {
                    self.scrub(&mut writing)?;
                }
                self.reload();
            }
            self.write_segment_files();
            let progress = self.read().progress(left);
            if told(progress).is_break() || left == 0 {
                return Ok(Some(progress));
            }
        }
    }

    /// Throws away what is written, and writes it anew from the journal.
    ///
    /// # Errors
    /// As [`Index::follow`]; `conflict` when another process holds the lease.
    pub fn rebuild(
        &self,
        store: &dyn Store,
        told: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexProgress> {
        self.discard(None);
        self.follow(store, told)?.ok_or_else(lease_conflict)
    }

    /// Whether there is something for [`Index::follow`] to write out: changes, or so many events of
    /// other things that whoever starts would read them for long to find none.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn needs_follow(&self, store: &dyn Store) -> Result<bool> {
        let state = self.current_state(store)?;
        let lacks_sheets = state.generation.as_ref().is_some_and(|it| it.lacks_sheets);
        let changed = !state.tail.is_empty() || !state.removed.is_empty();
        Ok(changed || lacks_sheets || state.unwritten_events() >= UNWRITTEN_EVENTS_MAX)
    }

    /// How many events the generation was not written as of, after the catalog has come to the
    /// journal's end: whoever starts has to read them.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn unwritten_events(&self, store: &dyn Store) -> Result<u64> {
        self.current_state(store).map(|state| state.unwritten_events())
    }

    /// What this process writes with, where it can get the lease.
    fn lease<'w>(
        &self,
        writing: &'w mut MutexGuard<'_, Option<LeasedWriter>>,
    ) -> Result<Option<&'w mut LeasedWriter>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let words = folder.join(WORDS_FOLDER);
        self.open();
        let state = self.read();
        let spoilt = state.spoilt || (state.generation.is_some() && self.stamp().is_none());
        drop(state);
        if writing.is_none() || spoilt {
            let held = writing.take().map(|held| held.lease);
            let Some(lease) = held.map_or_else(|| lease(folder), |lease| Ok(Some(lease)))? else {
                return Ok(None);
            };
            if spoilt {
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

    /// Makes sure that what was purged is in no file.
    fn scrub(&self, writing: &mut Option<LeasedWriter>) -> Result<()> {
        let Some(LeasedWriter { text, lease }) = writing.take() else { return Ok(()) };
        let text = catch_damage(|| text.compact())?;
        // The files that are no longer read can go, once this process reads the new ones.
        self.reload();
        catch_damage(|| text.remove_unused_files())?;
        *writing = Some(LeasedWriter { text, lease });
        self.scrub_vectors()
    }

    /// Writes the facts of what is written flat beside it, for those who start. Searches go on.
    fn write_segment_files(&self) {
        let sheets = self.read().generation.as_ref().map(IndexGeneration::segment_file_writer);
        if let Some(Err(error)) = sheets.map(catch_damage) {
            tracing::warn!(%error, "what starts reads the search index more slowly");
        }
        // Where they cannot be written they are not tried again before the next commit.
        if let Some(generation) = &mut self.write().generation {
            generation.lacks_sheets = false;
        }
    }

    /// The state, at the end of the journals as they were when this was called.
    fn current_state(&self, store: &dyn Store) -> Result<RwLockReadGuard<'_, IndexState>> {
        let journals = store.read(|tx| tx.journals())?;
        {
            let state = self.read();
            let same = state.stamp == self.stamp() && state.vector_stamp == self.vector_stamp();
            if state.opened && same && state.is_at(&journals) {
                return Ok(state);
            }
        }
        self.advance(store, usize::MAX)?;
        self.refresh_vectors();
        Ok(self.read())
    }

    /// Brings the catalog on by at least `most` changes, if there are so many; answers how many
    /// events are left then.
    fn advance(&self, store: &dyn Store, most: usize) -> Result<u64> {
        self.open();
        if self.read().stamp != self.stamp() {
            self.reload();
        }
        self.verify(store)?;
        let mut state = self.write();
        let left = store.read(|tx| state.follow(tx, most));
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
                state.places = generation.as_ref().map(|it| it.places.clone()).unwrap_or_default();
                // Files of another form are of no use to anybody.
                state.spoilt = generation.is_none() && state.stamp.is_some();
                state.generation = generation;
                state.catalog.sort_sessions();
            }
            Err(error) => {
                drop(state);
                self.discard(Some(&error));
            }
        }
    }

    /// Makes sure, once, that the generation is of this store's history: one that was put back to
    /// an older state has other events at the same places, or none.
    fn verify(&self, store: &dyn Store) -> Result<()> {
        let state = self.read();
        if state.verified {
            return Ok(());
        }
        let same = store.read(|tx| {
            for (workspace, place) in &state.places {
                let found = tx.changes(workspace, place.sequence.saturating_sub(1), 1)?;
                if found.first().is_none_or(|event| !place.is_of(event)) {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        drop(state);
        if same {
            // A generation tells of memories alone.
            let shut = store.read(|tx| tx.inactive_cases())?;
            let mut state = self.write();
            for (workspace, case) in &shut {
                state.catalog.note_case(workspace.as_str(), case, false);
            }
            state.verified = true;
        } else {
            self.discard(Some(&Error::conflict("the search index is of another history")));
        }
        Ok(())
    }

    /// Goes on to the last generation. What is gone from the disk stands in memory all the same,
    /// and is right with its tail.
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

    /// Goes on without the generation: the tail then has every memory, until they are written anew.
    fn discard(&self, why: Option<&Error>) {
        if let Some(error) = why {
            tracing::warn!(%error, "the search index is built anew from the journal");
        }
        let stamp = self.stamp();
        *self.write() = IndexState {
            opened: true,
            spoilt: true,
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
        .hint("It follows the journal by itself. Stop that process to build the index anew.")
}
