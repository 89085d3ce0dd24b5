//! Taking in what a sheet tells: each document gets the number of its memory.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{CatalogEntry, MemoryCatalog, MemoryClass, MemoryNumber};
use crate::base::error::Result;
use crate::index::damage::index_damage;
use crate::index::facts::segment_file::{SegmentFile, TextColumn};

/// Whatever has no number: a document that was deleted when its segment was read.
pub(in crate::index) const NO_MEMORY: MemoryNumber = MemoryNumber::MAX;

/// What the catalog knows of the documents of one segment.
#[derive(Debug, Clone)]
pub(in crate::index) struct SegmentDocuments {
    /// The number of each document's memory.
    pub(in crate::index) numbers: Arc<[MemoryNumber]>,
    /// The audiences that they have, in order.
    pub(in crate::index) audiences: Arc<[u32]>,
}

impl MemoryCatalog {
    /// Takes in the memories of these segments that are not known yet, and answers the numbers of
    /// each one's documents. Where there was nothing before, they stay in their sheets.
    ///
    /// # Errors
    /// `unavailable` when a sheet is not what was written.
    pub(in crate::index) fn load_segments<A: Fn(u32) -> bool>(
        &mut self,
        segments: Vec<(SegmentFile, A)>,
    ) -> Result<Vec<SegmentDocuments>> {
        let flat = self.classed.is_empty();
        if flat {
            // For all of them at once: to grow is to copy what is there.
            self.reserve(segments.iter().map(|(sheet, _)| sheet.documents as usize).sum());
        }
        let segments: Vec<(Arc<SegmentFile>, A)> =
            segments.into_iter().map(|(sheet, alive)| (Arc::new(sheet), alive)).collect();
        let mut classes = HashMap::new();
        let mut numbers = Vec::with_capacity(segments.len());
        for (sheet, alive) in &segments {
            let names = SegmentNames::of(sheet, self, &mut classes)?;
            if flat {
                self.kept.add_segment(Arc::clone(sheet), names.topics.clone());
            }
            numbers.push(self.load_segment(sheet, names, flat, alive)?);
        }
        if flat {
            self.rebuild_sessions();
        }
        Ok(numbers)
    }

    fn load_segment(
        &mut self,
        sheet: &SegmentFile,
        mut names: SegmentNames<'_>,
        flat: bool,
        alive: impl Fn(u32) -> bool,
    ) -> Result<SegmentDocuments> {
        let mut numbers = Vec::with_capacity(sheet.documents as usize);
        let mut topics = Vec::new();
        for document in 0..sheet.documents {
            // Each has a place, also one whose memory is elsewhere or gone.
            let place = flat.then(|| self.next_number());
            let facts = sheet.facts(document);
            let texts = sheet.texts(document);
            let class = *names.classes.get(texts.class).ok_or_else(index_damage)?;
            if !alive(document) || self.is_outdated(class, facts.id, facts.sequence) {
                numbers.push(NO_MEMORY);
                continue;
            }
            let known = self.number_in_class(class, facts.id);
            if let Some(known) = known
                && self.facts(known).sequence >= facts.sequence
            {
                self.leave_tail(known, facts.sequence);
                numbers.push(known);
                continue;
            }
            let session = names.sessions.number(texts.session, class, self);
            let case = names.cases.number(texts.case, class, self);
            let entry = CatalogEntry { facts, class, session, case };
            if let (Some(place), None) = (place, known) {
                self.register_entry(place, &entry, false);
                numbers.push(place);
                continue;
            }
            topics.clear();
            topics.extend(sheet.topics(document).filter_map(|place| names.topics.get(place)));
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

/// The numbers that the catalog has for the texts of a sheet, which are few beside its documents:
/// each is looked up once.
struct SegmentNames<'s> {
    classes: Vec<u32>,
    sessions: NumberedNames<'s>,
    cases: NumberedNames<'s>,
    topics: Vec<u32>,
}

impl<'s> SegmentNames<'s> {
    /// Those of a sheet; `classes` has the number of each class that was read before.
    fn of(
        sheet: &'s SegmentFile,
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
            names: sheet.distinct(column).collect(),
            numbers: FxHashMap::default(),
            // No workspace has the number 0.
            last: ((0, 0), 0),
        };
        Ok(Self {
            classes: sheet.distinct(TextColumn::Class).map(class).collect::<Result<_>>()?,
            sessions: numbered(TextColumn::Session),
            cases: numbered(TextColumn::Case),
            topics: sheet
                .distinct(TextColumn::Topic)
                .map(|topic| catalog.intern_topic(topic))
                .collect(),
        })
    }
}

/// Names that belong to a workspace, with the numbers that the catalog gives them.
struct NumberedNames<'s> {
    names: Vec<&'s str>,
    /// By workspace and place.
    numbers: FxHashMap<(u32, usize), u32>,
    /// The last one that was asked for: most documents are of the session of the one before.
    last: ((u32, usize), u32),
}

impl NumberedNames<'_> {
    /// The number of a name in the workspace of a class; 0 where there is no name.
    fn number(&mut self, name: usize, class: u32, catalog: &mut MemoryCatalog) -> u32 {
        let Some(place) = name.checked_sub(1) else { return 0 };
        let key = (catalog.classes.workspace(class), place);
        if self.last.0 != key {
            let number = *self.numbers.entry(key).or_insert_with(|| {
                let workspace = catalog.classes.class(class).reach.workspace.clone();
                let name = self.names.get(place).copied().unwrap_or_default();
                catalog.intern_session(workspace.as_str(), name)
            });
            self.last = (key, number);
        }
        self.last.1
    }
}
