//! An export of one workspace in parts, and as lines again.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id::{HandoffId, MemoryId};
use commonbook::base::input;
use commonbook::model::agent::Agent;
use commonbook::model::case::{Case, CaseKey};
use commonbook::model::contradiction::ContradictionRecord;
use commonbook::model::export::{
    AgentState, EXPORT_FORMAT, EntityState, ExportHeader, ExportRecord, HandoffState,
};
use commonbook::model::memory::Memory;
use commonbook::model::origin::remove_signature;
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::plan::HomeMemory;

/// A line of an export.
pub type RecordLine = Map<String, Value>;

/// The kinds of records that have no page, by where an import needs them.
const BEFORE_MEMORIES: [&str; 1] = ["session"];
const AFTER_ENTITIES: [&str; 2] = ["review", "relation"];
const AFTER_HANDOFFS: [&str; 4] = ["handoff_order", "checkpoint", "read_mark", "proposal"];

/// The lines of an export, as they are made.
#[derive(Default)]
struct RecordLines(Vec<RecordLine>);

impl RecordLines {
    fn add(&mut self, record: &ExportRecord) -> Result<()> {
        self.0.push(line_of(record)?);
        Ok(())
    }

    fn add_all<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        record: impl Fn(T) -> ExportRecord,
    ) -> Result<()> {
        items.into_iter().try_for_each(|item| self.add(&record(item)))
    }

    fn take(&mut self, records: &mut BTreeMap<String, Vec<RecordLine>>, kinds: &[&str]) {
        self.0.extend(kinds.iter().flat_map(|kind| records.remove(*kind).unwrap_or_default()));
    }
}

/// The order of cases, memories and handoffs where it is not that of their ids: an export lists them in
/// the order in which they came into the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOrder {
    /// The memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<MemoryId>,
    /// The cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseKey>,
    /// The handoffs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<HandoffId>,
}

/// Everything that a vault holds of a workspace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VaultExport {
    /// The agents.
    pub agents: Vec<AgentState>,
    /// The cases, in the order in which they were opened.
    pub cases: Vec<Case>,
    /// The memories, in the order in which they were saved.
    pub memories: Vec<HomeMemory>,
    /// The entities that agents made statements about, by id.
    pub entities: Vec<EntityState>,
    /// The contradictions that an agent or a person decided or found, by id.
    pub contradictions: Vec<ContradictionRecord>,
    /// The handoffs, in the order in which they were created.
    pub handoffs: Vec<HandoffState>,
    /// The other records by kind, each in the order of the export.
    pub records: BTreeMap<String, Vec<RecordLine>>,
}

impl VaultExport {
    /// The parts of these lines.
    ///
    /// # Errors
    /// `invalid` for a line that this version does not know.
    pub fn of_lines(lines: impl IntoIterator<Item = RecordLine>) -> Result<Self> {
        let mut export = Self::default();
        for line in lines {
            export.add_line(line)?;
        }
        Ok(export)
    }

    /// Adds a line; one of an opaque document, which is for no reader, is left out.
    ///
    /// # Errors
    /// As [`Self::of_lines`].
    pub fn add_line(&mut self, mut line: RecordLine) -> Result<()> {
        remove_signature(&mut line);
        let value = Value::Object(line);
        if !ExportRecord::is_record(&value) {
            let memory: Memory = input::from_value(value)?;
            if !memory.is_opaque() {
                self.memories.push(HomeMemory { memory, earlier: Vec::new() });
            }
            return Ok(());
        }
        match ExportRecord::from_json(value.clone())? {
            ExportRecord::Revisions(earlier) if earlier.iter().any(Memory::is_opaque) => {}
            ExportRecord::Revisions(earlier) => {
                let id = earlier.first().map(|memory| memory.id);
                match self.memories.last_mut().filter(|stored| Some(stored.memory.id) == id) {
                    Some(stored) => stored.earlier = earlier,
                    None => return Err(Error::invalid("revisions", "follow no memory of theirs")),
                }
            }
            ExportRecord::Agent(agent) => self.agents.push(agent),
            ExportRecord::Case(case) => self.cases.push(*case),
            ExportRecord::Entity(state) => self.entities.push(*state),
            ExportRecord::Contradiction(record) => self.contradictions.push(*record),
            ExportRecord::Handoff(state) => self.handoffs.push(*state),
            ExportRecord::Export(_) | ExportRecord::Standing(_) => {}
            _ => {
                let kind = value["record"].as_str().unwrap_or_default().to_owned();
                let Value::Object(line) = value else { return Ok(()) };
                self.records.entry(kind).or_default().push(line);
            }
        }
        Ok(())
    }

    /// Takes over a later export of these memories alone: each in its place, and new ones after all others.
    pub fn replace(&mut self, ids: &BTreeSet<MemoryId>, later: Self) {
        let mut memories = std::mem::replace(&mut *self, later).memories;
        let later = std::mem::take(&mut self.memories);
        let order: Vec<MemoryId> = later.iter().map(|stored| stored.memory.id).collect();
        let mut later: BTreeMap<MemoryId, HomeMemory> =
            later.into_iter().map(|stored| (stored.memory.id, stored)).collect();
        memories.retain_mut(|stored| {
            let id = stored.memory.id;
            match later.remove(&id) {
                Some(new) => *stored = new,
                None => return !ids.contains(&id),
            }
            true
        });
        memories.extend(order.into_iter().filter_map(|id| later.remove(&id)));
        // As an export has them: deleted ones after all others.
        memories.sort_by_key(|stored| stored.memory.deleted_at.is_some());
        self.memories = memories;
    }

    /// The lines in the order in which an import needs them.
    ///
    /// # Errors
    /// `internal` if a part is no JSON.
    pub fn into_lines(self, workspace: &Workspace) -> Result<Vec<RecordLine>> {
        let header = ExportHeader {
            format: EXPORT_FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workspaces: vec![workspace.clone()],
        };
        let mut records = self.records;
        let mut lines = RecordLines::default();
        lines.add(&ExportRecord::Export(header))?;
        lines.add_all(self.agents, ExportRecord::Agent)?;
        lines.add_all(self.cases, |case| ExportRecord::Case(Box::new(case)))?;
        lines.take(&mut records, &BEFORE_MEMORIES);
        for HomeMemory { memory, earlier } in self.memories {
            lines.0.push(line_of(&memory)?);
            if !earlier.is_empty() {
                lines.add(&ExportRecord::Revisions(earlier))?;
            }
        }
        lines.add_all(self.entities, |state| ExportRecord::Entity(Box::new(state)))?;
        lines.take(&mut records, &AFTER_ENTITIES);
        lines.add_all(self.contradictions, |it| ExportRecord::Contradiction(Box::new(it)))?;
        lines.add_all(self.handoffs, |state| ExportRecord::Handoff(Box::new(state)))?;
        lines.take(&mut records, &AFTER_HANDOFFS);
        Ok(lines.0)
    }

    /// The order of what is not in the order of its ids.
    #[must_use]
    pub fn order(&self) -> RecordOrder {
        // An export lists deleted memories after all others.
        let live = self.memories.iter().map(|stored| &stored.memory);
        let live = live.filter(|memory| memory.deleted_at.is_none());
        RecordOrder {
            memories: unsorted(live.map(|memory| memory.id)),
            cases: unsorted(self.cases.iter().map(|case| case.key.clone())),
            handoffs: unsorted(self.handoffs.iter().map(|state| state.handoff.id)),
        }
    }

    /// Puts cases, memories and handoffs into this order, and all others by id after them.
    pub fn sort_by(&mut self, order: &RecordOrder) {
        sort_as(&mut self.memories, &order.memories, |stored| stored.memory.id);
        sort_as(&mut self.cases, &order.cases, |case| case.key.clone());
        sort_as(&mut self.handoffs, &order.handoffs, |state| state.handoff.id);
        self.entities.sort_by_key(|state| state.entity.id);
        self.contradictions.sort_by_key(|record| record.id);
        self.agents.sort_by(|a, b| a.agent.cmp(&b.agent));
    }

    /// The agents that own memories, with how many they own.
    #[must_use]
    pub fn memory_counts(&self) -> BTreeMap<&Agent, u64> {
        let mut counts = BTreeMap::new();
        for HomeMemory { memory, .. } in &self.memories {
            *counts.entry(&memory.owner).or_default() += u64::from(memory.deleted_at.is_none());
        }
        counts
    }
}

/// These ids, unless they are sorted.
fn unsorted<T: Ord>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let ids: Vec<T> = ids.collect();
    if ids.is_sorted() { Vec::new() } else { ids }
}

fn sort_as<T, K: Ord>(items: &mut [T], order: &[K], key: impl Fn(&T) -> K) {
    let places: BTreeMap<&K, usize> = order.iter().zip(0..).collect();
    items.sort_by_cached_key(|item| {
        let key = key(item);
        (places.get(&key).copied().unwrap_or(usize::MAX), key)
    });
}

/// A line with this record or memory.
///
/// # Errors
/// `internal` if it is no JSON object.
pub fn line_of(noun: &impl Serialize) -> Result<RecordLine> {
    let value = serde_json::to_value(noun).map_err(|error| {
        Error::new(ErrorKind::Internal, "a line cannot be written").with_cause(error)
    })?;
    match value {
        Value::Object(line) => Ok(line),
        _ => Err(Error::new(ErrorKind::Internal, "a line is no JSON object")),
    }
}
