//! The state of the index in a process: catalog, delta, generation, vectors.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::SystemTime;

use rustc_hash::FxHashSet;

use super::IndexProgress;
use super::damage::catch_damage;
use super::files::WORDS_FOLDER;
use super::scratch::ScratchPool;
use super::vectors::VectorIndex;
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::thread;
use crate::index::delta::{self, DeltaMemory, MemoryDelta};
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::words::{IndexGeneration, JournalPosition, JournalPositions};
use crate::model::access::Visibility;
use crate::model::event::JournalHistory;
use crate::model::workspace::Workspace;
use crate::store::{SubjectChange, Tx};
use commonbook_text::terms::StemCache;

/// Events read at once.
const READ_EVENTS_MAX: u32 = 1_000;

/// The state of the index in a process.
#[derive(Default)]
pub(super) struct IndexState {
    pub(super) opened: bool,
    /// Whether the files must be deleted before the next write.
    pub(super) obsolete: bool,
    /// Whether the generation is known to belong to this store's history.
    pub(super) verified: bool,
    /// The history for which that was found.
    pub(super) history: JournalHistory,
    pub(super) catalog: MemoryCatalog,
    pub(super) delta: MemoryDelta,
    /// Memories removed permanently since the generation, with the position of the removal.
    pub(super) removed: Vec<(Visibility, MemoryId, u64)>,
    /// Whether the journal removed memories that this state never had: files of vectors may have them.
    pub(super) removed_before: bool,
    /// The changed memories not yet passed to the writer, and the index of the first such removal.
    pub(super) fresh: (Vec<MemoryNumber>, usize),
    /// The stem cache of each thread.
    pub(super) stems: Vec<StemCache>,
    pub(super) generation: Option<IndexGeneration>,
    pub(super) vectors: Option<VectorIndex>,
    /// The modification time of the vector files when they were read.
    pub(super) vector_stamp: Option<SystemTime>,
    /// The modification time of the generation when it was read.
    pub(super) stamp: Option<SystemTime>,
    /// The positions to which the catalog has followed each journal.
    pub(super) positions: JournalPositions,
    pub(super) scratch: SearchScratch,
}

/// The scratch tables of searches on one state.
#[derive(Default)]
pub(super) struct SearchScratch {
    /// Scores of memories.
    pub(super) scores: ScratchPool<f32>,
    /// Indexes of memories, and of sessions, among the candidates.
    pub(super) indexes: ScratchPool<u32>,
    /// Admitted classes.
    pub(super) classes: ScratchPool<bool>,
}

/// A batch for the writer.
pub(super) struct IndexBatch {
    /// Changed memories, with whether the writer has had earlier words of them.
    pub(super) delta: Vec<(Arc<DeltaMemory>, bool)>,
    /// Memories removed permanently.
    pub(super) removed: Vec<(Visibility, MemoryId)>,
    /// The journal positions after this batch.
    pub(super) positions: JournalPositions,
}

impl IndexState {
    pub(super) fn progress(&self, left: u64) -> IndexProgress {
        let memories = self.catalog.classes.memories();
        IndexProgress { memories, left, waiting: self.catalog.vector_refs.unembedded_count() }
    }

    /// Whether it is known to belong to this history of the store.
    pub(super) fn belongs_to(&self, history: &JournalHistory) -> bool {
        self.verified && self.history == *history
    }

    /// Whether memories were removed that the files of a workspace may have.
    pub(super) fn has_removed(&self) -> bool {
        !self.removed.is_empty() || self.removed_before
    }

    /// Whether it has followed these journals to these ends.
    pub(super) fn is_at<'j>(
        &self,
        mut journals: impl Iterator<Item = &'j (Workspace, u64)>,
    ) -> bool {
        journals.all(|(workspace, head)| {
            self.positions.get(workspace).map_or(0, |place| place.sequence) >= *head
        })
    }

    /// Number of events between the generation and the catalog.
    pub(super) fn unwritten_events(&self) -> u64 {
        let written = self.generation.as_ref().map(|generation| &generation.positions);
        let between = |(workspace, place): (&Workspace, &JournalPosition)| {
            let written = written.and_then(|positions| positions.get(workspace));
            place.sequence.saturating_sub(written.map_or(0, |place| place.sequence))
        };
        self.positions.iter().map(between).sum()
    }

    /// Applies at least `changes_min` changes of these journals, up to these ends, if there are as
    /// many. Returns the number of remaining events.
    pub(super) fn follow(
        &mut self,
        tx: &Tx<'_>,
        ends: Vec<(Workspace, u64)>,
        changes_min: usize,
    ) -> Result<u64> {
        let journals: Vec<JournalProgress> = (ends.into_iter())
            .map(|(workspace, head)| {
                let place = self.positions.get(&workspace).map_or(0, |place| place.sequence);
                JournalProgress { workspace, place, head }
            })
            .collect();
        if journals.iter().map(JournalProgress::events_left).sum::<u64>()
            <= u64::from(READ_EVENTS_MAX)
        {
            return read_journals(tx, journals, changes_min, |workspace, changes| {
                self.apply_changes(workspace, changes);
            });
        }
        // The next changes are read while these are applied.
        std::thread::scope(|scope| {
            let (give, receiver) = sync_channel::<(Workspace, Vec<SubjectChange>)>(1);
            let taking = thread::start_within(scope, move || {
                receiver
                    .into_iter()
                    .for_each(|(workspace, changes)| self.apply_changes(&workspace, changes));
            })?;
            let left = read_journals(tx, journals, changes_min, |workspace, changes| {
                // If the receiver panicked, `join` below resumes the panic.
                let _taken = give.send((workspace.clone(), changes));
            });
            drop(give);
            taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            left
        })
    }

    /// Applies the changes of one workspace.
    fn apply_changes(&mut self, workspace: &Workspace, changes: Vec<SubjectChange>) {
        let Some(last) = changes.last() else { return };
        let place = JournalPosition::of(last);
        let mut seen = FxHashSet::default();
        let mut fresh = Vec::new();
        // Each change has the memory's present state, so only the last one counts.
        for change in changes.into_iter().rev() {
            if let Some((case, open)) = &change.case {
                self.catalog.note_case(workspace.as_str(), case, *open);
            }
            let Some(id) = MemoryId::parse(&change.subject) else { continue };
            if !seen.insert(id) {
                continue;
            }
            let indexed = self.catalog.number(workspace.as_str(), id);
            let indexed = indexed.map(|number| self.catalog.facts(number).sequence);
            match change.memory {
                Some(memory) if indexed.is_none_or(|indexed| indexed < change.sequence) => {
                    fresh.push((*memory, change.sequence));
                }
                Some(_) => {}
                None => self.remove(workspace, id, change.sequence),
            }
        }
        for delta in delta::describe_all(&fresh, &mut self.stems) {
            let fingerprint = delta.described.facts.fingerprint;
            let vector = self.vectors.as_ref().and_then(|vectors| vectors.of(fingerprint));
            let number = self.catalog.put(delta.described.clone(), vector);
            self.delta.insert(number, self.catalog.audience(number), delta);
            self.fresh.0.push(number);
        }
        self.positions.insert(workspace.clone(), place);
    }

    fn remove(&mut self, workspace: &Workspace, id: MemoryId, sequence: u64) {
        let removed = self.catalog.remove(workspace.as_str(), id, sequence);
        let Some((number, visibility)) = removed else {
            self.removed_before = true;
            return;
        };
        self.delta.remove(number);
        self.removed.push((visibility, id, sequence));
    }

    /// The changes since the last call, for the writer.
    pub(super) fn take_batch(&mut self) -> IndexBatch {
        let (fresh, removed) = std::mem::take(&mut self.fresh);
        let mut delta = Vec::with_capacity(fresh.len());
        for number in fresh {
            // A memory that changed twice is listed twice; a removed one is missing here.
            let Some(memory) = self.delta.get(number) else { continue };
            delta.push((Arc::clone(memory), self.catalog.mark_written(number)));
        }
        self.fresh.1 = self.removed.len();
        let removed = self.removed[removed..].iter();
        let removed = removed.map(|(visibility, id, _)| (visibility.clone(), *id)).collect();
        IndexBatch { delta, removed, positions: self.positions.clone() }
    }

    /// Switches to the newest generation, and drops from the delta what it has.
    pub(super) fn reload(&mut self, folder: &Path) -> Result<()> {
        let Self { catalog, generation, delta, removed, fresh, .. } = self;
        match generation {
            Some(generation) => catch_damage(|| generation.reload(catalog))?,
            None => {
                *generation =
                    catch_damage(|| IndexGeneration::open(&folder.join(WORDS_FOLDER), catalog))?;
            }
        }
        delta.retain(|number| catalog.hot[number as usize].in_delta);
        let positions = generation.as_ref().map(|generation| &generation.positions);
        removed.retain(|(visibility, _, sequence)| {
            let place = positions.and_then(|positions| positions.get(&visibility.workspace));
            place.is_none_or(|place| place.sequence < *sequence)
        });
        *fresh = (delta.numbers().collect(), 0);
        catalog.sort_sessions();
        Ok(())
    }
}

/// The position in a journal, and its end.
struct JournalProgress {
    workspace: Workspace,
    place: u64,
    head: u64,
}

impl JournalProgress {
    fn events_left(&self) -> u64 {
        self.head.saturating_sub(self.place)
    }
}

/// Reads the journals until at least `changes_min` changes were passed to `take`. Returns the number of
/// remaining events.
fn read_journals(
    tx: &Tx<'_>,
    journals: Vec<JournalProgress>,
    changes_min: usize,
    mut take: impl FnMut(&Workspace, Vec<SubjectChange>),
) -> Result<u64> {
    let (mut left, mut taken) = (0, 0);
    for mut journal in journals {
        while journal.events_left() > 0 && taken < changes_min {
            let changes = tx.changes(&journal.workspace, journal.place, READ_EVENTS_MAX)?;
            taken += changes.len();
            journal.place = changes.last().map_or(journal.head, |last| last.sequence);
            take(&journal.workspace, changes);
        }
        left += journal.events_left();
    }
    Ok(left)
}
