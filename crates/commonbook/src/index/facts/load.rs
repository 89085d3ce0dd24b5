//! Loading segment files: each document gets the number of its memory.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{CatalogEntry, MemoryCatalog, MemoryClass, MemoryNumber};
use crate::base::error::Result;
use crate::index::damage::index_damage;
use crate::index::facts::segment_file::{SegmentFile, TextColumn};

/// The number of a document that was deleted when its segment was read.
pub(in crate::index) const NO_MEMORY: MemoryNumber = MemoryNumber::MAX;

/// The catalog numbers of one segment's documents.
#[derive(Debug, Clone)]
pub(in crate::index) struct SegmentDocuments {
    /// The number of each document's memory.
    pub(in crate::index) numbers: Arc<[MemoryNumber]>,
    /// Their audiences, sorted.
    pub(in crate::index) audiences: Arc<[u32]>,
}

impl MemoryCatalog {
    /// Adds the new memories of these segments, and returns the numbers of each segment's
    /// documents. In an empty catalog their facts stay in the segment files.
    ///
    /// # Errors
    /// `unavailable` if a segment file is damaged.
    pub(in crate::index) fn load_segments<A: Fn(u32) -> bool>(
        &mut self,
        segments: Vec<(SegmentFile, A)>,
    ) -> Result<Vec<SegmentDocuments>> {
        let flat = self.classed.is_empty();
        if flat {
            // Once for all segments: growing copies what exists.
            self.reserve(
                segments.iter().map(|(segment_file, _)| segment_file.documents as usize).sum(),
            );
        }
        let segments: Vec<(Arc<SegmentFile>, A)> = segments
            .into_iter()
            .map(|(segment_file, alive)| (Arc::new(segment_file), alive))
            .collect();
        let mut classes = HashMap::new();
        let mut numbers = Vec::with_capacity(segments.len());
        for (segment_file, alive) in &segments {
            let names = SegmentNames::of(segment_file, self, &mut classes)?;
            if flat {
                self.kept.add_segment(Arc::clone(segment_file), names.topics.clone());
            }
            numbers.push(self.load_segment(segment_file, names, flat, alive)?);
        }
        if flat {
            self.rebuild_sessions();
        }
        Ok(numbers)
    }

    fn load_segment(
        &mut self,
        segment_file: &SegmentFile,
        mut names: SegmentNames<'_>,
        flat: bool,
        alive: impl Fn(u32) -> bool,
    ) -> Result<SegmentDocuments> {
        let mut numbers = Vec::with_capacity(segment_file.documents as usize);
        let mut topics = Vec::new();
        for document in 0..segment_file.documents {
            // Every document gets a number, also if its memory is in another segment or deleted.
            let place = flat.then(|| self.next_number());
            let facts = segment_file.facts(document);
            let texts = segment_file.texts(document);
            let class = *names.classes.get(texts.class).ok_or_else(index_damage)?;
            if !alive(document) || self.is_outdated(class, facts.id, facts.sequence) {
                numbers.push(NO_MEMORY);
                continue;
            }
            let existing = match place {
                Some(place) => self.number_or_insert(class, facts.id, place),
                None => self.number_in_class(class, facts.id),
            };
            if let Some(existing) = existing
                && self.facts(existing).sequence >= facts.sequence
            {
                self.leave_tail(existing, facts.sequence);
                numbers.push(existing);
                continue;
            }
            let session = names.sessions.number(texts.session, class, self);
            let case = names.cases.number(texts.case, class, self);
            let stream = self.stream(self.classes.workspace(class), session, facts.from);
            let entry = CatalogEntry { facts, class, session, stream, case };
            if let (Some(place), None) = (place, existing) {
                self.register_entry(place, &entry, false);
                numbers.push(place);
                continue;
            }
            topics.clear();
            topics
                .extend(segment_file.topics(document).filter_map(|place| names.topics.get(place)));
            numbers.push(self.put_entry(&entry, &topics, false));
        }
        let written = numbers.iter().filter(|number| **number != NO_MEMORY);
        written.for_each(|number| self.written.insert(*number as usize));
        let mut audiences: Vec<u32> =
            names.classes.iter().map(|class| self.classes.audience(*class)).collect();
        audiences.sort_unstable();
        audiences.dedup();
        Ok(SegmentDocuments { numbers: numbers.into(), audiences: audiences.into() })
    }
}

/// The catalog numbers of a segment file's texts: few compared to its documents, so each is looked
/// up once.
struct SegmentNames<'s> {
    classes: Vec<u32>,
    sessions: NumberedNames<'s>,
    cases: NumberedNames<'s>,
    topics: Vec<u32>,
}

impl<'s> SegmentNames<'s> {
    /// The names of a segment file; `classes` has the number of each class.
    fn of(
        segment_file: &'s SegmentFile,
        catalog: &mut MemoryCatalog,
        classes: &mut HashMap<&'s str, u32>,
    ) -> Result<Self> {
        let class = |text| -> Result<u32> {
            if let Some(number) = classes.get(text) {
                return Ok(*number);
            }
            let class: MemoryClass =
                serde_json::from_str(text).map_err(|error| index_damage().with_cause(error))?;
            let number = catalog.classes.number(class, &mut catalog.workspaces);
            classes.insert(text, number);
            Ok(number)
        };
        let numbered = |column| NumberedNames {
            names: segment_file.distinct(column).collect(),
            numbers: FxHashMap::default(),
            // No workspace has the number 0.
            last: ((0, 0), 0),
        };
        Ok(Self {
            classes: segment_file.distinct(TextColumn::Class).map(class).collect::<Result<_>>()?,
            sessions: numbered(TextColumn::Session),
            cases: numbered(TextColumn::Case),
            topics: segment_file
                .distinct(TextColumn::Topic)
                .map(|topic| catalog.intern_topic(topic))
                .collect(),
        })
    }
}

/// Names within workspaces, with their numbers in the catalog.
struct NumberedNames<'s> {
    names: Vec<&'s str>,
    /// By workspace and index.
    numbers: FxHashMap<(u32, usize), u32>,
    /// The last lookup: most documents have the session of the previous one.
    last: ((u32, usize), u32),
}

impl NumberedNames<'_> {
    /// The number of a name in the workspace of a class; 0 without a name.
    fn number(&mut self, name: usize, class: u32, catalog: &mut MemoryCatalog) -> u32 {
        let Some(place) = name.checked_sub(1) else { return 0 };
        let key = (catalog.classes.workspace(class), place);
        if self.last.0 != key {
            let number = *self.numbers.entry(key).or_insert_with(|| {
                let workspace = catalog.classes.class(class).visibility.workspace.clone();
                let name = self.names.get(place).copied().unwrap_or_default();
                catalog.intern_session(workspace.as_str(), name)
            });
            self.last = (key, number);
        }
        self.last.1
    }
}
