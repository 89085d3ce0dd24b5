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
use damage::guarded;
use files::{lease, stamp, unwritable};
use state::{News, State};
use words::{Generation, TextWriter};

/// Changes that are taken in while searches wait.
const AT_ONCE: usize = 4_000;

/// Memories that are written out at once.
const BATCH: usize = 20_000;

/// Events from which on the generation is written as of them, though none of them changed it.
const UNWRITTEN: u64 = 1_000;

/// The search index of one home. Nothing is opened before it is first used.
pub struct Index {
    /// Where generations are kept; nowhere for an index that is never written out.
    folder: Option<PathBuf>,
    state: RwLock<State>,
    /// Held while this process is the one that writes.
    writing: Mutex<Option<Writing>>,
    embedding: RwLock<Embedding>,
}

/// What embeds, or why nothing does.
enum Embedding {
    By(Arc<dyn Embedder>),
    Off,
    Failed(String),
}

/// What the process that holds the lease writes with.
struct Writing {
    text: TextWriter,
    lease: File,
}

impl Writing {
    /// Gives what changed to the words; nothing is written before they are committed.
    fn give(&mut self, news: &News) -> Result<()> {
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
pub struct Progress {
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
        Self { folder: None, state, writing, embedding: RwLock::new(Embedding::Off) }
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
        mut told: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Progress>> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(writer) = self.lease(&mut writing)? else { return Ok(None) };
            // In strides, so that searches come in between, and the words are sorted into the
            // generation on a thread of their own while the next memories are read.
            let left = self.advance(store, AT_ONCE)?;
            let news = self.write().news();
            guarded(|| writer.give(&news)).inspect_err(|error| self.discard(Some(error)))?;
            let state = self.read();
            let (full, removed) = (state.tail.len() >= BATCH, !state.removed.is_empty());
            let changed = removed || !state.tail.is_empty() || state.unwritten() >= UNWRITTEN;
            drop(state);
            if left > 0 && !full {
                continue;
            }
            if changed {
                guarded(|| writer.text.commit(&news.places))
                    .inspect_err(|error| self.discard(Some(error)))?;
                if removed {
                    self.scrub(&mut writing)?;
                }
                self.reload();
            }
            self.lay_out();
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
        told: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Progress> {
        self.discard(None);
        self.follow(store, told)?.ok_or_else(held_elsewhere)
    }

    /// Whether there is something for [`Index::follow`] to write out: changes, or so many events of
    /// other things that whoever starts would read them for long to find none.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn lags(&self, store: &dyn Store) -> Result<bool> {
        let state = self.current(store)?;
        let lacks_sheets = state.generation.as_ref().is_some_and(|it| it.lacks_sheets);
        let changed = !state.tail.is_empty() || !state.removed.is_empty();
        Ok(changed || lacks_sheets || state.unwritten() >= UNWRITTEN)
    }

    /// How many events the generation was not written as of, after the catalog has come to the
    /// journal's end: whoever starts has to read them.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn behind(&self, store: &dyn Store) -> Result<u64> {
        self.current(store).map(|state| state.unwritten())
    }

    /// What this process writes with, where it can get the lease.
    fn lease<'w>(
        &self,
        writing: &'w mut MutexGuard<'_, Option<Writing>>,
    ) -> Result<Option<&'w mut Writing>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let words = folder.join(WORDS);
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
                *self.write() = State { opened: true, verified: true, ..State::default() };
            }
            let text = guarded(|| TextWriter::open(&words))?;
            **writing = Some(Writing { text, lease });
        }
        Ok(writing.as_mut())
    }

    /// Makes sure that what was purged is in no file.
    fn scrub(&self, writing: &mut Option<Writing>) -> Result<()> {
        let Some(Writing { text, lease }) = writing.take() else { return Ok(()) };
        let text = guarded(|| text.squeeze())?;
        // The files that are no longer read can go, once this process reads the new ones.
        self.reload();
        guarded(|| text.tidy())?;
        *writing = Some(Writing { text, lease });
        self.scrub_vectors()
    }

    /// Writes the facts of what is written flat beside it, for those who start. Searches go on.
    fn lay_out(&self) {
        let sheets = self.read().generation.as_ref().map(Generation::sheets);
        if let Some(Err(error)) = sheets.map(guarded) {
            tracing::warn!(%error, "what starts reads the search index more slowly");
        }
        // Where they cannot be written they are not tried again before the next commit.
        if let Some(generation) = &mut self.write().generation {
            generation.lacks_sheets = false;
        }
    }

    /// The state, at the end of the journals as they were when this was called.
    fn current(&self, store: &dyn Store) -> Result<RwLockReadGuard<'_, State>> {
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
        state.catalog.settle();
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
        state.stamp = stamp(folder);
        let State { catalog, .. } = &mut *state;
        match guarded(|| Generation::open(&folder.join(WORDS), catalog)) {
            Ok(generation) => {
                state.places = generation.as_ref().map(|it| it.places.clone()).unwrap_or_default();
                // Files of another form are of no use to anybody.
                state.spoilt = generation.is_none() && state.stamp.is_some();
                state.generation = generation;
                state.catalog.settle();
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
            let shut = store.read(|tx| tx.shut_cases())?;
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
        let reloaded = if stamp(folder).is_some() { state.reload(folder) } else { Ok(()) };
        state.stamp = stamp(folder);
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
        *self.write() =
            State { opened: true, spoilt: true, verified: true, stamp, ..State::default() };
    }

    fn stamp(&self) -> Option<SystemTime> {
        self.folder.as_deref().and_then(stamp)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of the words, inside that of the index.
const WORDS: &str = "words";

fn held_elsewhere() -> Error {
    Error::conflict("another process writes the search index of this home")
        .hint("It follows the journal by itself. Stop that process to build the index anew.")
}
