//! What a process knows of the index at one time: catalog, tail, generation, vectors.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::SystemTime;

use rustc_hash::FxHashSet;

use super::damage::catch_damage;
use super::slate::ScratchPool;
use super::vectors::VectorIndex;
use super::{IndexProgress, WORDS_FOLDER};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::index::delta::{self, DeltaMemory, MemoryDelta};
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::words::{IndexGeneration, JournalPosition, JournalPositions};
use crate::model::access::Visibility;
use crate::model::workspace::Workspace;
use crate::store::{SubjectChange, Transaction};
use commonbook_text::terms::StemCache;

/// Events that are read at once.
const READ_EVENTS_MAX: u32 = 1_000;

/// What a process knows of the index.
#[derive(Default)]
pub(super) struct IndexState {
    pub(super) opened: bool,
    /// Whether the files are to be thrown away before anything is written.
    pub(super) spoilt: bool,
    /// Whether the generation was found to be of the store's own history.
    pub(super) verified: bool,
    pub(super) catalog: MemoryCatalog,
    pub(super) tail: MemoryDelta,
    /// What is gone for good since the generation, with the place where it went.
    pub(super) removed: Vec<(Visibility, MemoryId, u64)>,
    /// What of the tail was not given to the writer yet, and from where on of what was removed.
    pub(super) fresh: (Vec<MemoryNumber>, usize),
    /// What takes texts apart, one a thread.
    pub(super) stems: Vec<StemCache>,
    pub(super) generation: Option<IndexGeneration>,
    pub(super) vectors: Option<VectorIndex>,
    /// When the files of vectors last changed, as they were read.
    pub(super) vector_stamp: Option<SystemTime>,
    /// What the generation's files looked like when they were read.
    pub(super) stamp: Option<SystemTime>,
    /// Where the catalog has followed each journal to.
    pub(super) places: JournalPositions,
    pub(super) slates: SearchScratch,
}

/// What searches of one state mark.
#[derive(Default)]
pub(super) struct SearchScratch {
    /// Memories with what their words tell.
    pub(super) scores: ScratchPool<f32>,
    /// Memories, and sessions, with their places among those that are looked at closely.
    pub(super) places: ScratchPool<u32>,
    /// Classes that are admitted.
    pub(super) classes: ScratchPool<bool>,
}

/// What the writer is given at once.
pub(super) struct IndexBatch {
    /// Memories with whether the writer has had words of them before.
    pub(super) tail: Vec<(Arc<DeltaMemory>, bool)>,
    /// What is gone for good.
    pub(super) removed: Vec<(Visibility, MemoryId)>,
    /// Where the journals are followed to with it.
    pub(super) places: JournalPositions,
}

impl IndexState {
    pub(super) fn progress(&self, left: u64) -> IndexProgress {
        let memories = self.catalog.classes.memories();
        IndexProgress { memories, left, waiting: self.catalog.links.unembedded_count() }
    }

    pub(super) fn is_at(&self, journals: &[(Workspace, u64)]) -> bool {
        journals.iter().all(|(workspace, head)| {
            self.places.get(workspace).map_or(0, |place| place.sequence) >= *head
        })
    }

    /// How many events lie between what the generation was written as of and where the catalog is.
    pub(super) fn unwritten_events(&self) -> u64 {
        let written = self.generation.as_ref().map(|generation| &generation.places);
        let between = |(workspace, place): (&Workspace, &JournalPosition)| {
            let written = written.and_then(|places| places.get(workspace));
            place.sequence.saturating_sub(written.map_or(0, |place| place.sequence))
        };
        self.places.iter().map(between).sum()
    }

    /// Takes in at least `most` changes, if there are so many; answers how many events are left
    /// then.
    pub(super) fn follow(&mut self, tx: &dyn Transaction, most: usize) -> Result<u64> {
        let ahead: Vec<JournalProgress> = (tx.journals()?.into_iter())
            .map(|(workspace, head)| {
                let place = self.places.get(&workspace).map_or(0, |place| place.sequence);
                JournalProgress { workspace, place, head }
            })
            .collect();
        if ahead.iter().map(JournalProgress::events_left).sum::<u64>() <= u64::from(READ_EVENTS_MAX)
        {
            return read_journals(tx, ahead, most, |workspace, changes| {
                self.apply_changes(workspace, changes);
            });
        }
        // The next ones are read while these are taken in.
        std::thread::scope(|scope| {
            let (give, given) = sync_channel::<(Workspace, Vec<SubjectChange>)>(1);
            let taking = scope.spawn(move || {
                given
                    .into_iter()
                    .for_each(|(workspace, changes)| self.apply_changes(&workspace, changes));
            });
            let left = read_journals(tx, ahead, most, |workspace, changes| {
                // A panic there is told below.
                let _taken = give.send((workspace.clone(), changes));
            });
            drop(give);
            taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            left
        })
    }

    /// Takes in what changed in one workspace.
    fn apply_changes(&mut self, workspace: &Workspace, changes: Vec<SubjectChange>) {
        let Some(last) = changes.last() else { return };
        let place = JournalPosition::of(last);
        let mut seen = FxHashSet::default();
        let mut fresh = Vec::new();
        // Each memory comes as it is now, however often it changed: the last time tells all.
        for change in changes.into_iter().rev() {
            if let Some((case, open)) = &change.case {
                self.catalog.note_case(workspace.as_str(), case, *open);
            }
            let Some(id) = MemoryId::parse(&change.subject) else { continue };
            if !seen.insert(id) {
                continue;
            }
            let known = self.catalog.number(workspace.as_str(), id);
            let known = known.map(|number| self.catalog.facts(number).sequence);
            match change.memory {
                Some(memory) if known.is_none_or(|known| known < change.sequence) => {
                    fresh.push((*memory, change.sequence));
                }
                Some(_) => {}
                None => self.remove(workspace, id, change.sequence),
            }
        }
        for tail in delta::describe_all(&fresh, &mut self.stems) {
            let print = tail.described.facts.print;
            let vector = self.vectors.as_ref().and_then(|it| it.of(print));
            let number = self.catalog.put(tail.described.clone(), vector);
            self.tail.insert(number, self.catalog.audience(number), tail);
            self.fresh.0.push(number);
        }
        self.places.insert(workspace.clone(), place);
    }

    fn remove(&mut self, workspace: &Workspace, id: MemoryId, sequence: u64) {
        let removed = self.catalog.remove(workspace.as_str(), id, sequence);
        let Some((number, reach)) = removed else { return };
        self.tail.remove(number);
        self.removed.push((reach, id, sequence));
    }

    /// What changed since this was last asked, which the writer is given now.
    pub(super) fn take_batch(&mut self) -> IndexBatch {
        let (fresh, removed) = std::mem::take(&mut self.fresh);
        let mut tail = Vec::with_capacity(fresh.len());
        for number in fresh {
            // One that changed twice is there twice; one that was removed is there no more.
            let Some(memory) = self.tail.get(number) else { continue };
            tail.push((Arc::clone(memory), self.catalog.mark_written(number)));
        }
        self.fresh.1 = self.removed.len();
        let removed = self.removed[removed..].iter();
        let removed = removed.map(|(reach, id, _)| (reach.clone(), *id)).collect();
        IndexBatch { tail, removed, places: self.places.clone() }
    }

    /// Goes on to the last generation: what it has, the tail has no more.
    pub(super) fn reload(&mut self, folder: &Path) -> Result<()> {
        let Self { catalog, generation, tail, removed, fresh, .. } = self;
        match generation {
            Some(generation) => catch_damage(|| generation.reload(catalog))?,
            None => {
                *generation =
                    catch_damage(|| IndexGeneration::open(&folder.join(WORDS_FOLDER), catalog))?;
            }
        }
        tail.retain(|number| catalog.brief[number as usize].in_tail);
        let places = generation.as_ref().map(|it| &it.places);
        removed.retain(|(reach, _, sequence)| {
            let place = places.and_then(|places| places.get(&reach.workspace));
            place.is_none_or(|place| place.sequence < *sequence)
        });
        *fresh = (tail.numbers().collect(), 0);
        catalog.sort_sessions();
        Ok(())
    }
}

/// How far a journal was followed, and where it ends.
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

/// Reads on in the journals until at least `most` changes were given to `take`; answers how many
/// events are left.
fn read_journals(
    tx: &dyn Transaction,
    ahead: Vec<JournalProgress>,
    most: usize,
    mut take: impl FnMut(&Workspace, Vec<SubjectChange>),
) -> Result<u64> {
    let (mut left, mut taken) = (0, 0);
    for mut journal in ahead {
        while journal.events_left() > 0 && taken < most {
            let changes = tx.changes(&journal.workspace, journal.place, READ_EVENTS_MAX)?;
            taken += changes.len();
            journal.place = changes.last().map_or(journal.head, |last| last.sequence);
            take(&journal.workspace, changes);
        }
        left += journal.events_left();
    }
    Ok(left)
}
