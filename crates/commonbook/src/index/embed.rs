//! Embedding: vectors of memories are made in the background, the vector of a question at once.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::FxHashSet;

use super::IndexProgress;
use super::files::{lease_conflict, unwritable};
use super::journal_index::JournalIndex;
use super::state::IndexState;
use super::vectors::{self, CompactionMode, EmbeddedText, VectorIndex};
use super::word_nearness::{MEMORY_WORDS_MAX, WordSums};
use crate::base::error::Result;
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::store::Store;
use commonbook_embed::bundled::BundledEmbedder;
use commonbook_embed::{Embedder, QuantisedVector, chunks};

/// Memories read from the store at once.
const READ_MEMORIES_MAX: usize = 256;

/// Vectors written at once, unless [`WRITE_DELAY`] passes first.
const WRITE_VECTORS_MAX: usize = 8_192;

/// Time after which vectors are written in any case, so that searches can use them.
const WRITE_DELAY: Duration = Duration::from_secs(2);

/// Characters of a title that are embedded with each chunk of the text.
const TITLE_CHARS_MAX: usize = 80;

impl JournalIndex {
    /// Drops the vectors from memory, as another embedder makes others.
    pub(super) fn unlink_vectors(&self) {
        let mut state = self.write();
        (state.vectors, state.vector_stamp) = (None, None);
        state.catalog.unlink_vectors();
    }

    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.embedder.get()
    }

    /// Deletes all vectors.
    ///
    /// # Errors
    /// `conflict` while another process writes the index, `unavailable` if they cannot be deleted.
    pub(super) fn forget_vectors(&self) -> Result<()> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.lease(&mut writing)?.ok_or_else(lease_conflict)?;
        let Some(all) = self.folder.as_ref().map(|folder| folder.join(vectors::VECTORS_FOLDER))
        else {
            return Ok(());
        };
        if all.exists() {
            std::fs::remove_dir_all(&all).map_err(|error| unwritable(&all, &error))?;
        }
        self.unlink_vectors();
        Ok(())
    }

    /// Embeds the memories without a vector, newest first, and reports its progress after each
    /// step; `report` may stop it, and finished work is kept. Returns `None` if there is no
    /// embedder, or another process holds the lease and does this work.
    ///
    /// # Errors
    /// Those of the embedder; what was embedded before is kept.
    pub(super) fn embed(
        &self,
        store: &dyn Store,
        mut report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        let Some(embedder) = self.embedder() else { return Ok(None) };
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.bring_to_end(store)?;
        let _lease = match self.is_of_home() {
            true if self.lease(&mut writing)?.is_none() => return Ok(None),
            true => None,
            false if self.read().progress(0).waiting == 0 => {
                return Ok(Some(self.read().progress(0)));
            }
            false => match self.file_lease()? {
                Some(lease) => Some(lease),
                None => return Ok(None),
            },
        };
        let mut batch: Vec<EmbeddedText> = Vec::new();
        let mut fingerprints: FxHashSet<u64> = FxHashSet::default();
        let mut written = Instant::now();
        loop {
            fingerprints.extend(batch[fingerprints.len()..].iter().map(|text| text.fingerprint));
            let next = self.read().unembedded_memories(&fingerprints, READ_MEMORIES_MAX);
            let (mut done, mut broken) = (Ok(()), false);
            for chunk in next.chunks(embedder.batch().max(1)) {
                done = self.embed_batch(store, &*embedder, chunk, &mut batch);
                broken = report(self.read().progress(0)).is_break();
                if done.is_err() || broken || written.elapsed() > WRITE_DELAY {
                    break;
                }
            }
            let finished = next.is_empty() || done.is_err();
            broken = broken || report(self.read().progress(0)).is_break();
            if finished
                || broken
                || batch.len() >= WRITE_VECTORS_MAX
                || written.elapsed() > WRITE_DELAY
            {
                self.write_vectors(&*embedder, &batch)?;
                batch.clear();
                fingerprints.clear();
                written = Instant::now();
            }
            done?;
            if finished || broken {
                self.forget_other_models();
                return Ok(Some(self.read().progress(0)));
            }
        }
    }

    /// Whether [`Self::embed`] has texts to embed, and no other process does it.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or the lease cannot be taken.
    pub(super) fn will_embed(&self, store: &dyn Store) -> Result<bool> {
        if self.embedder().is_none() {
            return Ok(false);
        }
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.bring_to_end(store)?;
        let waits = self.read().progress(0).waiting > 0;
        Ok(waits && (!self.is_of_home() || self.lease(&mut writing)?.is_some()))
    }

    /// Embeds some memories; skips those deleted in the meantime.
    fn embed_batch(
        &self,
        store: &dyn Store,
        embedder: &dyn Embedder,
        some: &[UnembeddedMemory],
        batch: &mut Vec<EmbeddedText>,
    ) -> Result<()> {
        let memories = store.read(|tx| {
            let mut memories = Vec::new();
            for bare in some {
                let change = tx.changes(&bare.workspace, bare.sequence - 1, 1)?.pop();
                memories.extend(
                    change
                        .and_then(|change| change.memory)
                        .map(|memory| (bare.fingerprint, *memory)),
                );
            }
            Ok(memories)
        })?;
        let size = embedder.chunk_tokens();
        let mut parts: Vec<(usize, String)> = Vec::new();
        let words = || WordSums::new(MEMORY_WORDS_MAX);
        let mut embedded: Vec<(u64, Vec<QuantisedVector>, WordSums)> = Vec::new();
        for (fingerprint, memory) in memories {
            let texts = chunk_texts(&memory, size);
            if let [text] = &*texts
                && let Some((vector, words)) = self.embedder.known_text(embedder, text)
            {
                batch.push(EmbeddedText { fingerprint, chunks: vec![vector], words });
                continue;
            }
            parts.extend(texts.into_iter().map(|text| (embedded.len(), text)));
            embedded.push((fingerprint, Vec::new(), words()));
        }
        let (places, texts): (Vec<usize>, Vec<String>) = parts.into_iter().unzip();
        let most = embedder.batch().max(1);
        for (places, texts) in places.chunks(most).zip(texts.chunks(most)) {
            // The pieces of a text are a hundred times its vector: only those of one call are held.
            let embeddings = embedder.embed_words(texts)?;
            for ((place, text), embedding) in places.iter().zip(texts).zip(embeddings) {
                let (_, chunks, words) = &mut embedded[*place];
                chunks.push(QuantisedVector::of(&embedding.vector));
                words.add(text, &embedding.pieces);
            }
        }
        for (fingerprint, mut chunks, words) in embedded {
            if chunks.is_empty() {
                // A text without words gets a zero vector, so that it is not embedded again.
                chunks.push(QuantisedVector::of(&vec![0.0; embedder.spec().dimension]));
            }
            batch.push(EmbeddedText { fingerprint, chunks, words: words.signs() });
        }
        Ok(())
    }

    /// Writes vectors and loads them.
    fn write_vectors(&self, embedder: &dyn Embedder, batch: &[EmbeddedText]) -> Result<()> {
        let Some(folder) = self.vector_folder().filter(|_| !batch.is_empty()) else {
            return Ok(());
        };
        let crowded = self.read().vectors.as_ref().is_some_and(VectorIndex::is_crowded);
        let live = if crowded { self.read().fingerprints() } else { FxHashSet::default() };
        let before = if crowded { CompactionMode::Join(&live) } else { CompactionMode::Stay };
        vectors::write_batch(&folder, embedder.spec().dimension, batch, &before)?;
        self.refresh_vectors();
        Ok(())
    }

    /// Makes sure that no file contains vectors of purged memories.
    pub(super) fn scrub_vectors(&self) -> Result<()> {
        let (Some(folder), Some(embedder)) = (self.vector_folder(), self.embedder()) else {
            return Ok(());
        };
        self.refresh_vectors();
        if self.read().vectors.as_ref().is_none_or(VectorIndex::is_empty) {
            return Ok(());
        }
        let live = self.read().fingerprints();
        vectors::write_batch(
            &folder,
            embedder.spec().dimension,
            &[],
            &CompactionMode::JoinAll(&live),
        )?;
        self.refresh_vectors();
        Ok(())
    }

    /// The folder of the vectors of the embedder's model.
    pub(super) fn vector_folder(&self) -> Option<PathBuf> {
        Some(vectors::model_folder(self.folder.as_deref()?, self.embedder()?.spec()))
    }

    /// The modification time of the vector files.
    pub(super) fn vector_stamp(&self) -> Option<SystemTime> {
        std::fs::metadata(self.vector_folder()?).and_then(|folder| folder.modified()).ok()
    }

    /// Loads vectors written since.
    pub(super) fn refresh_vectors(&self) {
        let stamp = self.vector_stamp();
        if self.read().vector_stamp == stamp {
            return;
        }
        let (Some(folder), Some(embedder)) = (self.vector_folder(), self.embedder()) else {
            return;
        };
        let mut state = self.write();
        let IndexState { vectors, catalog, vector_stamp, .. } = &mut *state;
        let anew = match vectors {
            Some(vectors) => vectors.refresh(&folder),
            None => {
                let calibrated = embedder.spec() == BundledEmbedder::new().spec();
                let opened = VectorIndex::open(&folder, embedder.spec().dimension);
                opened.map(|opened| vectors.insert(opened.with_calibration(calibrated)).is_empty())
            }
        };
        match (anew, vectors) {
            (Ok(anew), Some(vectors)) => catalog.link_vectors(vectors, anew),
            (Err(error), _) => tracing::warn!(%error, "the vectors cannot be read"),
            (Ok(_), None) => {}
        }
        *vector_stamp = stamp;
    }

    /// Deletes the vectors of other models, once this model's are complete.
    fn forget_other_models(&self) {
        let Some(own) = self.vector_folder() else { return };
        if self.read().progress(0).waiting > 0 {
            return;
        }
        let all = own.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        for folder in all.into_iter().flatten().flatten().filter(|folder| folder.path() != own) {
            if let Err(error) = std::fs::remove_dir_all(folder.path()) {
                tracing::warn!(%error, "the vectors of another model cannot be removed");
            }
        }
    }
}

/// A memory without a vector.
struct UnembeddedMemory {
    workspace: Workspace,
    sequence: u64,
    fingerprint: u64,
}

impl IndexState {
    /// Memories without a vector, newest first, each distinct text once, without these.
    fn unembedded_memories(&self, except: &FxHashSet<u64>, most: usize) -> Vec<UnembeddedMemory> {
        let mut seen = FxHashSet::default();
        let mut wants =
            |fingerprint: u64| !except.contains(&fingerprint) && seen.insert(fingerprint);
        let bare = self
            .catalog
            .vector_refs
            .unembedded()
            .map(|number| (number, self.catalog.facts(number)));
        bare.filter(|(_, facts)| wants(facts.fingerprint))
            .take(most)
            .map(|(number, facts)| UnembeddedMemory {
                workspace: self.catalog.class(number).visibility.workspace.clone(),
                sequence: facts.sequence,
                fingerprint: facts.fingerprint,
            })
            .collect()
    }

    /// Whether a vector belongs to the text of no memory.
    pub(super) fn has_unused_vectors(&self) -> bool {
        let live = self.fingerprints();
        self.vectors.as_ref().is_some_and(|vectors| vectors.has_other_texts(&live))
    }

    /// The fingerprints of all texts.
    fn fingerprints(&self) -> FxHashSet<u64> {
        self.catalog.live().map(|number| self.catalog.facts(number).fingerprint).collect()
    }
}

/// The chunks of a memory's text, each with its title.
fn chunk_texts(memory: &Memory, size: usize) -> Vec<String> {
    let title: String =
        memory.title.iter().flat_map(|title| title.chars()).take(TITLE_CHARS_MAX).collect();
    let under = |chunk: String| match title.as_str() {
        "" => chunk,
        title => format!("{title}\n{chunk}"),
    };
    chunks(&memory.text, size).into_iter().map(under).collect()
}
