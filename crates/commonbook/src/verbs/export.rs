//! Exporting: what a caller may read, line by line, in the order in which an import needs it.
//!
//! Each page is one snapshot. A page says where the next one begins: a workspace, a section, and the
//! last row of it; what is added meanwhile comes later or not at all.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Commonbook;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{Id, IdKind, MemoryId};
use crate::base::limits;
use crate::base::page::{PageCursor, PageSize};
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::Case;
use crate::model::checkpoint::Checkpoint;
use crate::model::entity::Entity;
use crate::model::export::{
    AgentState, CheckpointState, EXPORT_FORMAT, EntityState, ExportHeader, ExportPage,
    ExportRecord, ExportWorkspace, HandoffOrder, HandoffState, ProposalState, ReceiptState,
    RelationState, ReviewState, StandingText,
};
use crate::model::handoff::Handoff;
use crate::model::memory::{ListOrder, Memory};
use crate::model::origin::{TextOrigin, sign_line};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::session::Session;
use crate::model::standing::{ListStanding, ReadStanding};
use crate::model::workspace::Workspace;
use crate::prompt::context::{ContextFilter, ContextRecord};
use crate::store::Tx;
use crate::verbs::entity::review::sees_review;
use crate::verbs::ops::find_visible::sees_deletion;
use crate::verbs::ops::heirs::hide_kept;
use uuid::Uuid;

/// A line of an export.
type ExportLine = Map<String, Value>;

/// The numbers of a cursor before the name of its workspace: the section, the key, and the length of
/// the name in bytes.
const CURSOR_NUMBERS: usize = 4;

/// Bytes of a name in one number of a cursor.
const NAME_BYTES: usize = 8;

impl Commonbook {
    /// Exports what the caller may read of its workspace, or of all: a page of lines.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, the cursor is malformed or more than 100 memories are named;
    /// `forbidden` if a token that opens one workspace asks for all.
    pub fn export_workspace(
        &self,
        caller: &Caller,
        request: &ExportWorkspace,
    ) -> Result<ExportPage> {
        let size = PageSize::of(request.limit)?.items();
        let named = request.memories.as_ref().map_or(0, Vec::len);
        if named > limits::PAGE_MAX as usize {
            let message = format!("{named} memories; expected at most {}", limits::PAGE_MAX);
            return Err(Error::invalid("memories", message)
                .hint("Name fewer, or leave `memories` out to export all of them."));
        }
        let workspaces = self.exported_workspaces(caller, request.all_workspaces)?;
        let mut lines = Vec::new();
        let mut position = match &request.cursor {
            Some(cursor) => ExportPosition::of_cursor(cursor)?,
            None => {
                lines.push(line_of(&ExportRecord::Export(ExportHeader {
                    format: EXPORT_FORMAT,
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    workspaces: workspaces.clone(),
                }))?);
                ExportPosition::beginning(workspaces.first())
            }
        };
        while let Some(workspace) = position.workspace.clone() {
            if lines.len() >= size as usize {
                return Ok(self.signed_page(lines, Some(position.cursor())));
            }
            let sight = Sight::exporting(caller, &workspace)?;
            if position.section == 0 && position.key.is_none() {
                // A decision is shown at the revisions that were compared last.
                self.follow_contradictions(&Caller {
                    workspace: workspace.clone(),
                    ..caller.clone()
                })?;
            }
            let section = EXPORT_SECTIONS.get(position.section).copied();
            let page = section.filter(|section| section.is_wanted(request)).map(|section| {
                self.store.read(|tx| {
                    let named = request.memories.as_deref();
                    let reader = SectionReader { tx, sight: &sight, limit: size, named };
                    reader.read(section, &workspace, position.key)
                })
            });
            let page = page.transpose()?.unwrap_or_default();
            lines.extend(page.lines);
            position.key = page.next;
            if page.next.is_none() {
                position.section += 1;
            }
            if position.section >= EXPORT_SECTIONS.len() {
                let after = workspaces.iter().skip_while(|other| **other != workspace).nth(1);
                position = ExportPosition::beginning(after);
            }
        }
        if request.standing {
            lines.extend(self.standing_lines(caller)?);
        }
        Ok(self.signed_page(lines, None))
    }

    /// A page whose lines this home knows again as its own; without a home they have no signature.
    fn signed_page(&self, mut lines: Vec<ExportLine>, next: Option<PageCursor>) -> ExportPage {
        if let Some(key) = self.home_key() {
            lines.iter_mut().for_each(|line| sign_line(line, &key));
        }
        ExportPage { lines, next }
    }

    /// The workspaces of an export: `global` first, since handoffs of others name its memories.
    fn exported_workspaces(&self, caller: &Caller, all: bool) -> Result<Vec<Workspace>> {
        Sight::reading(caller)?;
        if !all {
            return Ok(vec![caller.workspace.clone()]);
        }
        access::may_roam(caller)?;
        let mut workspaces = self.store.read(|tx| tx.workspaces())?;
        workspaces.sort_by_key(|workspace| (*workspace != Workspace::global(), workspace.clone()));
        Ok(workspaces)
    }

    /// The standing memory files of the home. Those of a project travel with its repository.
    fn standing_lines(&self, caller: &Caller) -> Result<Vec<ExportLine>> {
        let list = self.list_standing(caller, &ListStanding { everywhere: true })?;
        let lines = list.items.into_iter().map(|summary| {
            let role = summary.info.role;
            let request = ReadStanding { role: role.clone(), version: None, everywhere: true };
            let text = self.read_standing(caller, &request)?.text;
            line_of(&ExportRecord::Standing(StandingText {
                role,
                text,
                origin: TextOrigin::ThisHome,
            }))
        });
        lines.collect()
    }
}

/// A part of the export of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportSection {
    Agents,
    Cases,
    Sessions,
    Memories,
    DeletedMemories,
    Entities,
    Reviews,
    Relations,
    Contradictions,
    Handoffs,
    HandoffOrder,
    Checkpoints,
    ReadMarks,
    Proposals,
    Receipts,
}

/// The sections in order: what a line refers to comes before it.
const EXPORT_SECTIONS: [ExportSection; 15] = [
    ExportSection::Agents,
    ExportSection::Cases,
    ExportSection::Sessions,
    ExportSection::Memories,
    ExportSection::DeletedMemories,
    ExportSection::Entities,
    ExportSection::Reviews,
    ExportSection::Relations,
    ExportSection::Contradictions,
    ExportSection::Handoffs,
    ExportSection::HandoffOrder,
    ExportSection::Checkpoints,
    ExportSection::ReadMarks,
    ExportSection::Proposals,
    ExportSection::Receipts,
];

impl ExportSection {
    fn is_wanted(self, request: &ExportWorkspace) -> bool {
        match self {
            Self::Receipts => request.receipts,
            Self::DeletedMemories => request.deleted,
            _ => true,
        }
    }
}

/// The last row of a section that was exported: its position, or the two halves of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SectionKey(u64, u64);

impl SectionKey {
    fn of_id<K: IdKind>(id: Id<K>) -> Self {
        let (high, low) = id.uuid().as_u64_pair();
        Self(high, low)
    }

    fn id<K: IdKind>(self) -> Id<K> {
        Id::from_uuid(Uuid::from_u64_pair(self.0, self.1))
    }
}

/// Where an export continues; without a workspace it is at its end.
#[derive(Debug, Clone)]
struct ExportPosition {
    workspace: Option<Workspace>,
    section: usize,
    key: Option<SectionKey>,
}

impl ExportPosition {
    fn beginning(workspace: Option<&Workspace>) -> Self {
        Self { workspace: workspace.cloned(), section: 0, key: None }
    }

    fn cursor(&self) -> PageCursor {
        let SectionKey(high, low) = self.key.unwrap_or(SectionKey(0, 0));
        let name = self.workspace.as_ref().map_or("", Workspace::as_str).as_bytes();
        let mut numbers = vec![self.section as u64, high, low, name.len() as u64];
        numbers.extend(name.chunks(NAME_BYTES).map(|chunk| {
            let mut bytes = [0; NAME_BYTES];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_be_bytes(bytes)
        }));
        PageCursor::of(&numbers)
    }

    /// # Errors
    /// `invalid` for the cursor of another list.
    fn of_cursor(cursor: &PageCursor) -> Result<Self> {
        let numbers = cursor.as_slice();
        let (&[section, high, low, length], words) =
            numbers.split_first_chunk::<CURSOR_NUMBERS>().ok_or_else(PageCursor::foreign_cursor)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let name = usize::try_from(length).ok().and_then(|length| bytes.get(..length));
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        let workspace = name.and_then(|name| name.parse().ok());
        let section = usize::try_from(section).ok().filter(|at| *at < EXPORT_SECTIONS.len());
        match (workspace, section) {
            (Some(workspace), Some(section)) => {
                let key = (high, low) != (0, 0);
                let key = key.then_some(SectionKey(high, low));
                Ok(Self { workspace: Some(workspace), section, key })
            }
            _ => Err(PageCursor::foreign_cursor()),
        }
    }
}

/// The lines of a part of a section, and the last row, if there may be more.
#[derive(Debug, Default)]
struct SectionPage {
    lines: Vec<ExportLine>,
    next: Option<SectionKey>,
}

/// Reads sections in one snapshot.
struct SectionReader<'r> {
    tx: &'r Tx<'r>,
    sight: &'r Sight,
    limit: u32,
    /// The memories that are wanted; all by default.
    named: Option<&'r [MemoryId]>,
}

impl SectionReader<'_> {
    fn read(
        &self,
        section: ExportSection,
        workspace: &Workspace,
        after: Option<SectionKey>,
    ) -> Result<SectionPage> {
        let position = after.map_or(0, |key| key.0);
        let (tx, sight, limit) = (self.tx, self.sight, self.limit);
        match section {
            ExportSection::Agents => self.agents(workspace, position),
            ExportSection::Cases => self.records(
                tx.cases_after(workspace, position, limit)?,
                |(position, _)| SectionKey(*position, 0),
                |(_, case)| ExportRecord::Case(Box::new(case)),
            ),
            ExportSection::Sessions => self.records(
                tx.sessions_after(sight, position, limit)?,
                |(position, _)| SectionKey(*position, 0),
                |(_, session)| ExportRecord::Session(Box::new(self.shown_session(session))),
            ),
            ExportSection::Memories => self.memories(workspace, position, false),
            ExportSection::DeletedMemories => self.memories(workspace, position, true),
            ExportSection::Handoffs => self.handoffs(workspace, position),
            ExportSection::HandoffOrder => {
                let handoffs = tx.handoff_order(sight)?;
                let order = HandoffOrder { workspace: workspace.clone(), handoffs };
                let order = Some(order).filter(|order| !order.handoffs.is_empty());
                let line = order.map(|order| line_of(&ExportRecord::HandoffOrder(order)));
                let lines = line.transpose()?.into_iter().collect();
                Ok(SectionPage { lines, next: None })
            }
            ExportSection::ReadMarks => {
                let marks = tx.case_marks(sight, position, limit)?;
                let read = marks.len() as u64;
                let next = SectionKey(position + read, 0);
                self.records(marks, |_| next, ExportRecord::ReadMark)
            }
            ExportSection::Proposals => self.page(
                tx.cases_after(workspace, position, limit)?,
                |(position, _)| SectionKey(*position, 0),
                |(_, case)| self.proposal_lines(&case),
            ),
            _ => self.read_by_id(section, workspace, after),
        }
    }

    /// The proposals of a case, with the entries whose sources are in sight.
    fn proposal_lines(&self, case: &Case) -> Result<Vec<ExportLine>> {
        let mut lines = Vec::new();
        for mut proposal in self.tx.proposals(&case.workspace, &case.key)? {
            let sources = proposal.entries.iter().flat_map(|entry| &entry.sources);
            let sources: Vec<MemoryRef> = sources.map(|id| (case.workspace.clone(), *id)).collect();
            let found = self.tx.memories_of(self.sight, &sources)?;
            let is_seen = |id: &MemoryId| found.iter().any(|memory| memory.id == *id);
            proposal.entries.retain(|entry| entry.sources.iter().all(is_seen));
            if !proposal.entries.is_empty() {
                let workspace = case.workspace.clone();
                let state = Box::new(ProposalState { workspace, proposal });
                lines.push(line_of(&ExportRecord::Proposal(state))?);
            }
        }
        Ok(lines)
    }

    /// Reads a section whose rows are in the order of their ids.
    fn read_by_id(
        &self,
        section: ExportSection,
        workspace: &Workspace,
        after: Option<SectionKey>,
    ) -> Result<SectionPage> {
        let (tx, sight, limit) = (self.tx, self.sight, self.limit);
        match section {
            ExportSection::Entities => self.page(
                tx.stated_entities_after(workspace, after.map(SectionKey::id), limit)?,
                |entity| SectionKey::of_id(entity.id),
                |entity| match entity.deleted.is_none() || sees_deletion(sight, &entity) {
                    true => Ok(vec![entity_line(tx, entity)?]),
                    false => Ok(Vec::new()),
                },
            ),
            ExportSection::Reviews => self.page(
                tx.reviews(workspace, after.map(SectionKey::id), limit)?,
                |review| SectionKey::of_id(review.id),
                |review| {
                    if !sees_review(tx, sight, &review)? {
                        return Ok(Vec::new());
                    }
                    let workspace = workspace.clone();
                    let state = ReviewState { workspace, review };
                    Ok(vec![line_of(&ExportRecord::Review(Box::new(state)))?])
                },
            ),
            ExportSection::Relations => self.records(
                tx.relations_after(sight, after.map(SectionKey::id), limit)?,
                |(relation, _)| SectionKey::of_id(relation.id),
                |(relation, audience)| {
                    ExportRecord::Relation(Box::new(RelationState { relation, audience }))
                },
            ),
            ExportSection::Contradictions => {
                let mut found =
                    tx.decided_contradictions_after(sight, after.map(SectionKey::id), limit)?;
                for record in &mut found {
                    if let Some(resolved) = &mut record.resolved {
                        hide_kept(tx, sight, &record.workspace, resolved)?;
                    }
                }
                self.records(
                    found,
                    |record| SectionKey::of_id(record.id),
                    |record| ExportRecord::Contradiction(Box::new(record)),
                )
            }
            ExportSection::Checkpoints => self.page(
                tx.checkpoints_after(sight, after.map(SectionKey::id), limit)?,
                |checkpoint| SectionKey::of_id(checkpoint.id),
                |checkpoint| Ok(vec![self.checkpoint_line(checkpoint)?]),
            ),
            ExportSection::Receipts => self.page(
                tx.contexts(sight, &ContextFilter::default(), after.map(SectionKey::id), limit)?,
                |record| SectionKey::of_id(record.id),
                |record| Ok(vec![self.receipt_line(record)?]),
            ),
            _ => Ok(SectionPage::default()),
        }
    }

    /// The page of these rows, each a record.
    fn records<T>(
        &self,
        rows: Vec<T>,
        key: impl Fn(&T) -> SectionKey,
        record: impl Fn(T) -> ExportRecord,
    ) -> Result<SectionPage> {
        self.page(rows, key, |row| Ok(vec![line_of(&record(row))?]))
    }

    /// The session as the caller may see it; the person keeps what only its agent sees, so that the
    /// agent finds its session in another home.
    fn shown_session(&self, session: Session) -> Session {
        if self.sight.is_person { session } else { session.for_agent(&self.sight.agent) }
    }

    fn checkpoint_line(&self, checkpoint: Checkpoint) -> Result<ExportLine> {
        let after = self.last_memory_before(checkpoint.position)?;
        let checkpoint = Checkpoint { position: 0, ..checkpoint };
        let state = CheckpointState { checkpoint, after };
        line_of(&ExportRecord::Checkpoint(Box::new(state)))
    }

    /// The page of these rows.
    fn page<T>(
        &self,
        rows: Vec<T>,
        key: impl Fn(&T) -> SectionKey,
        mut lines: impl FnMut(T) -> Result<Vec<ExportLine>>,
    ) -> Result<SectionPage> {
        let is_full = rows.len() == self.limit as usize;
        let next = rows.last().filter(|_| is_full).map(key);
        let mut page = SectionPage { lines: Vec::with_capacity(rows.len()), next };
        for row in rows {
            page.lines.extend(lines(row)?);
        }
        Ok(page)
    }

    fn agents(&self, workspace: &Workspace, skip: u64) -> Result<SectionPage> {
        let agents = self.tx.agents(self.sight, workspace)?;
        let (skip, limit) = (usize::try_from(skip).unwrap_or(usize::MAX), self.limit as usize);
        let is_full = agents.len() > skip.saturating_add(limit);
        let agents = agents.into_iter().skip(skip).take(limit);
        let lines =
            agents.map(|agent| line_of(&ExportRecord::Agent(AgentState::of(workspace, agent))));
        let next = is_full.then_some(SectionKey((skip + limit) as u64, 0));
        Ok(SectionPage { lines: lines.collect::<Result<_>>()?, next })
    }

    /// The memories, each with its earlier revisions after it.
    fn memories(&self, workspace: &Workspace, after: u64, deleted: bool) -> Result<SectionPage> {
        if let Some(ids) = self.named {
            return self.named_memories(workspace, ids, deleted);
        }
        let filter = MemoryFilter { deleted, ..MemoryFilter::default() };
        let rows =
            self.tx.memories(self.sight, &filter, ListOrder::Oldest, Some(after), self.limit)?;
        self.page(
            rows,
            |(position, _)| SectionKey(*position, 0),
            |(_, memory)| self.memory_lines(memory),
        )
    }

    /// Those of the named memories that are here, in the order in which they were saved.
    fn named_memories(
        &self,
        workspace: &Workspace,
        ids: &[MemoryId],
        deleted: bool,
    ) -> Result<SectionPage> {
        let mut rows = BTreeMap::new();
        for id in ids {
            if let Some(position) = self.tx.memory_position(workspace, *id)?
                && let Some(memory) = self.tx.memory(self.sight, *id)?
                && memory.workspace == *workspace
                && memory.deleted_at.is_some() == deleted
            {
                rows.insert(position, memory);
            }
        }
        let lines = rows.into_values().map(|memory| self.memory_lines(memory));
        let lines = lines.collect::<Result<Vec<_>>>()?.concat();
        Ok(SectionPage { lines, next: None })
    }

    fn memory_lines(&self, memory: StoredMemory) -> Result<Vec<ExportLine>> {
        // Usage belongs to the home.
        let memory = Memory { usage: None, rests_on: Vec::new(), ..self.show(memory)? };
        let mut lines = vec![line_of(&memory)?];
        if memory.revision > 1 {
            let earlier = self.tx.earlier_revisions(self.sight, memory.id)?.into_iter();
            let earlier: Vec<Memory> =
                earlier.map(|then| self.show(then)).collect::<Result<_>>()?;
            if !earlier.is_empty() {
                lines.push(line_of(&ExportRecord::Revisions(earlier))?);
            }
        }
        Ok(lines)
    }

    /// A memory as the reader may know it. A successor that is not here at all, such as a deleted one after
    /// an import, stays: the memory is not current.
    fn show(&self, memory: StoredMemory) -> Result<Memory> {
        let workspace = memory.workspace.clone();
        memory.show(|id| {
            let is_here = self.tx.memory_position(&workspace, id)?.is_some();
            Ok(!is_here || self.tx.memory(self.sight, id)?.is_some())
        })
    }

    fn handoffs(&self, workspace: &Workspace, after: u64) -> Result<SectionPage> {
        // A handoff may carry memories of `global`.
        let sight = Sight { workspaces: workspace.with_global(), ..self.sight.clone() };
        let rows = self.tx.handoffs_after(&sight, after, self.limit)?;
        self.page(
            rows,
            |(position, _)| SectionKey(*position, 0),
            |(_, handoff)| Ok(vec![handoff_line(self.tx, &sight, handoff)?]),
        )
    }

    /// The last memory in sight that was saved before this position of the journal.
    fn last_memory_before(&self, position: u64) -> Result<Option<MemoryId>> {
        let (filter, until) = (MemoryFilter::default(), Some(position.saturating_add(1)));
        let last = self.tx.memories(self.sight, &filter, ListOrder::Newest, until, 1)?;
        Ok(last.first().map(|(_, memory)| memory.id))
    }

    fn receipt_line(&self, record: ContextRecord) -> Result<ExportLine> {
        let seen = self.tx.items_in_sight(self.sight, &record.receipt.ids())?;
        let record = match record.agent == self.sight.agent {
            true => record,
            false => record.narrowed_to(|id| seen.contains(id)),
        };
        let state = ReceiptState {
            id: record.id,
            after: self.last_memory_before(record.sequence)?,
            workspace: record.workspace,
            agent: record.agent,
            at: record.at,
            milliseconds: record.milliseconds,
            sha256: record.sha256,
            nonce: record.nonce,
            standing: record.standing.map(json_of).transpose()?,
            receipt: json_of(record.receipt)?,
        };
        line_of(&ExportRecord::Receipt(Box::new(state)))
    }
}

fn entity_line(tx: &Tx<'_>, entity: Entity) -> Result<ExportLine> {
    let workspace = &entity.workspace;
    let redirects = tx.names_leading_to(workspace, entity.id)?;
    let names = tx.stated_names(workspace, &redirects)?;
    let state = EntityState {
        names: names.into_iter().map(|name| name.value).collect(),
        redirects,
        statements: tx.statements(workspace, entity.id, 0)?,
        merges: tx.merges(workspace, entity.id)?,
        entity,
    };
    line_of(&ExportRecord::Entity(Box::new(state)))
}

fn handoff_line(tx: &Tx<'_>, sight: &Sight, handoff: Handoff) -> Result<ExportLine> {
    let mut package = tx.package(&handoff)?;
    let ids: Vec<MemoryId> = handoff.memories.iter().map(|memory| memory.id).collect();
    let memories = ids.iter().filter_map(|id| package.memories.remove(id));
    let memories = memories.map(json_of).collect::<Result<_>>()?;
    let revisions = ids.iter().filter_map(|id| package.revisions.remove_entry(id)).collect();
    let left_out = tx.left_out(sight, handoff.id)?;
    let package = json_of(package)?;
    let state = HandoffState { handoff, package, memories, revisions, left_out };
    line_of(&ExportRecord::Handoff(Box::new(state)))
}

fn line_of(noun: &impl serde::Serialize) -> Result<ExportLine> {
    match json_of(noun)? {
        Value::Object(line) => Ok(line),
        _ => Err(Error::new(ErrorKind::Internal, "a line of an export is no JSON object")),
    }
}

fn json_of(noun: impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(noun).map_err(|error| {
        Error::new(ErrorKind::Internal, "a line of an export cannot be written").with_cause(error)
    })
}
