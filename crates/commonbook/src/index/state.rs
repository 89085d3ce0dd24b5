//! What a process knows of the index at one time: catalog, tail, generation, vectors.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustc_hash::FxHashMap;

use super::catalog::{Catalog, Described, Entry, Number};
use super::damage::guarded;
use super::tail::Tail;
use super::text::{Generation, Place, Places};
use super::vectors::Vectors;
use super::{Progress, WORDS};
use crate::error::Result;
use crate::id::MemoryId;
use crate::store::Change;
use crate::workspace::Workspace;

/// What a process knows of the index.
#[derive(Default)]
pub(super) struct State {
    pub(super) opened: bool,
    /// Whether the files are to be thrown away before anything is written.
    pub(super) spoilt: bool,
    /// Whether the generation was found to be of the store's own history.
    pub(super) verified: bool,
    pub(super) catalog: Catalog,
    pub(super) tail: FxHashMap<Number, Arc<Tail>>,
    /// What is gone for good since the generation, with the place where it went.
    pub(super) removed: Vec<(Described, u64)>,
    pub(super) generation: Option<Generation>,
    pub(super) vectors: Option<Vectors>,
    /// When the files of vectors last changed, as they were read.
    pub(super) vector_stamp: Option<SystemTime>,
    /// What the generation's files looked like when they were read.
    pub(super) stamp: Option<SystemTime>,
    /// Where the catalog has followed each journal to.
    pub(super) places: Places,
}

impl State {
    pub(super) fn progress(&self, left: u64) -> Progress {
        let memories = self.catalog.classes().map(|(_, sums)| sums.memories).sum();
        let bare = |entry: &&Entry| !entry.gone && entry.vector.is_none();
        let waiting = self.catalog.entries.iter().filter(bare).count() as u64;
        Progress { memories, left, waiting }
    }

    pub(super) fn is_at(&self, journals: &[(Workspace, u64)]) -> bool {
        journals.iter().all(|(workspace, head)| {
            self.places.get(workspace).map_or(0, |place| place.sequence) >= *head
        })
    }

    /// Takes in what changed in one workspace.
    pub(super) fn take(&mut self, workspace: &Workspace, changes: Vec<Change>) {
        let Some(last) = changes.last() else { return };
        let place = Place::of(last);
        let mut seen = BTreeSet::new();
        // Each memory comes as it is now, however often it changed: the last time tells all.
        for change in changes.into_iter().rev() {
            let Ok(id) = change.subject.parse::<MemoryId>() else { continue };
            if !seen.insert(id) {
                continue;
            }
            let known = self.catalog.number(workspace.as_str(), id);
            match change.memory {
                Some(memory) => {
                    let fresh = known.is_none_or(|number| {
                        self.catalog.entry(number).facts.sequence < change.sequence
                    });
                    if fresh {
                        let tail = Tail::of(&memory, change.sequence);
                        let print = tail.described.facts.print;
                        let vector = self.vectors.as_ref().and_then(|it| it.of(print));
                        let number = self.catalog.put(tail.described.clone(), vector, true);
                        self.tail.insert(number, Arc::new(tail));
                    }
                }
                None => self.remove(workspace, id, change.sequence),
            }
        }
        self.places.insert(workspace.clone(), place);
    }

    fn remove(&mut self, workspace: &Workspace, id: MemoryId, sequence: u64) {
        let Some(number) = self.catalog.remove(workspace.as_str(), id, sequence) else { return };
        self.tail.remove(&number);
        let entry = self.catalog.entry(number);
        let gone = Described {
            class: self.catalog.class(entry).clone(),
            facts: entry.facts.clone(),
            session: None,
            topics: Vec::new(),
        };
        self.removed.push((gone, sequence));
    }

    /// Goes on to the last generation: what it has, the tail has no more.
    pub(super) fn reload(&mut self, folder: &Path) -> Result<()> {
        let Self { catalog, generation, tail, removed, .. } = self;
        match generation {
            Some(generation) => guarded(|| generation.reload(catalog))?,
            None => *generation = guarded(|| Generation::open(&folder.join(WORDS), catalog))?,
        }
        tail.retain(|number, _| catalog.entry(*number).in_tail);
        let places = generation.as_ref().map(|it| &it.places);
        removed.retain(|(gone, sequence)| {
            let place = places.and_then(|places| places.get(&gone.class.reach.workspace));
            place.is_none_or(|place| place.sequence < *sequence)
        });
        catalog.settle();
        Ok(())
    }
}
