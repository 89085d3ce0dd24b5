//! Reading cases: their entries in order or selected, and the newest summaries as one text.

use super::{Commonbook, find_case};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::page::PageSize;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::digest::DigestOrigin;
use crate::model::case::{
    Case, CaseContext, CaseEntries, CaseEntry, CountUnread, EntryFilter, EntryMark, GetCaseContext,
    ReadCase, UnreadCount, UnreadList,
};
use crate::model::contradiction::ContradictionMark;
use crate::model::memory::Memory;
use crate::model::search::MemoryRef;
use crate::prompt::case::CaseTextBuilder;
use crate::store::{EntryStretch, Tx};
use crate::verbs::ops::handles::longer_handles;
use crate::verbs::ops::heirs::show_all;
use crate::verbs::ops::read_position::start_position;

/// Entries that a context reads in one batch, newest first.
const ENTRY_BATCH: u64 = 50;

/// Newest entries of a case among which those that agents wrote go before those of a digest.
const WRITTEN_ENTRIES: u64 = 200;

impl Commonbook {
    /// What the caller has not read of these cases.
    ///
    /// # Errors
    /// `not_found` if a case does not exist; as [`CountUnread::check`].
    pub fn count_unread(&self, caller: &Caller, request: &CountUnread) -> Result<UnreadList> {
        request.check()?;
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let counts = request.cases.iter().map(|key| {
                let case = find_case(tx, caller, key)?;
                count_unread(tx, caller, &sight, &case)
            });
            Ok(UnreadList { items: counts.collect::<Result<_>>()? })
        })
    }

    /// Reads the entries of a case after a position, oldest first. Without a position, reading
    /// continues after the caller's read mark; a selection of entries begins at the beginning.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range or the selection is contradictory, `not_found` if the
    /// case or the entry to read after does not exist; as [`crate::model::cursor::may_mark`] if the
    /// entries are to be marked as read.
    pub fn read_case(&self, caller: &Caller, request: &ReadCase) -> Result<CaseEntries> {
        let limit = PageSize::of(request.last.or(request.limit))
            .map_err(|error| match request.last {
                Some(_) => error.with_field("last"),
                None => error,
            })?
            .items();
        let filter = request.filter()?;
        let sight = Sight::reading_at_home(caller)?;
        let (who, request) = (caller.clone(), request.clone());
        self.read_and_mark(caller, request.mark, move |tx| {
            let case = find_case(tx, &who, &request.key)?;
            let after = request.after.map(|mark| position_of(tx, &sight, &case, mark));
            let after = after.transpose()?;
            let (entries, next, until) = match &filter {
                Some(filter) => {
                    let (entries, next) =
                        select_entries(tx, &sight, &case, filter, after.unwrap_or(0), limit)?;
                    (entries, next, case.version)
                }
                None => {
                    let after = start_position(tx, &who, Some(&request.key), after, case.version)?;
                    let until = case.version.min(after + u64::from(limit));
                    let entries = entries_in_range(tx, &sight, &case, after, until)?;
                    (entries, Some(until).filter(|until| *until < case.version), until)
                }
            };
            let Case { version: context_version, status, key, .. } = case;
            let read = CaseEntries { entries, context_version, status, next };
            Ok((read, (Some(key), until)))
        })
    }

    /// The newest summaries of a case that fit into a budget.
    ///
    /// # Errors
    /// `invalid` if the budget is out of range, `not_found` if the case does not exist.
    pub fn get_case_context(
        &self,
        caller: &Caller,
        request: &GetCaseContext,
    ) -> Result<CaseContext> {
        let budget = request.max_tokens()?;
        let sight = Sight::reading_at_home(caller)?;
        let now = self.clock.now();
        let fence = self.fence(caller)?;
        self.store.read(|tx| {
            let case = find_case(tx, caller, &request.key)?;
            let mut builder = CaseTextBuilder::new(&case, budget, fence.clone(), now);
            // What agents wrote themselves goes before what a digest made of their memories.
            let written = case.version.saturating_sub(WRITTEN_ENTRIES);
            walk_back(tx, &sight, &case, written, |entry, marks| {
                entry.origin.is_some() || builder.take_written(entry, marks)
            })?;
            let mut end = 0;
            walk_back(tx, &sight, &case, 0, |entry, marks| {
                let position = entry.position;
                if builder.tells(position) {
                    return true;
                }
                if end == 0 {
                    if builder.take(entry.clone(), marks) {
                        return true;
                    }
                    end = position;
                }
                builder.name(&entry)
            })?;
            let had_room = builder.count_behind(end);
            let handles = longer_handles(tx, &sight, &builder.ids())?;
            let (entries, text) = builder.finish(&handles);
            // The headlines may have taken the room of further ones.
            let behind = entries.iter().filter(|entry| entry.position > end).count();
            let before = entries.len() - behind;
            let left_out = end + (had_room - behind) as u64 - before as u64;
            Ok(CaseContext { case, entries, left_out, text })
        })
    }
}

/// Gives the entries of a case behind a position to `take`, newest first with the contradictions of their
/// batch, until it returns `false`.
fn walk_back(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
    end: u64,
    mut take: impl FnMut(CaseEntry, &[ContradictionMark]) -> bool,
) -> Result<()> {
    let mut before = case.version;
    while before > end {
        let after = before.saturating_sub(ENTRY_BATCH).max(end);
        let memories = entries_of(tx, sight, case, after, before)?;
        // Quarantined text is never shown, not even to its author.
        let tellable = memories.into_iter().rev().filter(|memory| !memory.is_quarantined());
        let tellable = show_all(tx, sight, tellable.collect())?;
        let marks = entry_marks(tx, sight, &tellable)?;
        for memory in tellable {
            if !take(CaseEntry::of(memory, Vec::new()), &marks) {
                return Ok(());
            }
        }
        before = after;
    }
    Ok(())
}

/// The contradictions of these entries; an entry of a digest has those of the memories that it was made of.
fn entry_marks(tx: &Tx<'_>, sight: &Sight, entries: &[Memory]) -> Result<Vec<ContradictionMark>> {
    let origins: Vec<(MemoryId, DigestOrigin)> =
        (entries.iter()).filter_map(|entry| Some((entry.id, DigestOrigin::of(entry)?))).collect();
    let place = |entry: &Memory| {
        let workspace = entry.workspace.clone();
        let sources = DigestOrigin::of(entry).map(|origin| origin.sources).unwrap_or_default();
        sources.into_iter().chain([entry.id]).map(move |id| (workspace.clone(), id))
    };
    let places: Vec<MemoryRef> = entries.iter().flat_map(place).collect();
    let mut marks = tx.contradiction_marks(sight, &places)?;
    let of_sources: Vec<ContradictionMark> = (origins.iter())
        .flat_map(|(entry, origin)| {
            let own = marks.iter().filter(|mark| origin.sources.contains(&mark.memory));
            own.map(|mark| ContradictionMark { memory: *entry, ..mark.clone() })
        })
        .collect();
    marks.extend(of_sources);
    Ok(marks)
}

/// The position that a mark names.
fn position_of(tx: &Tx<'_>, sight: &Sight, case: &Case, mark: EntryMark) -> Result<u64> {
    let id = match mark {
        EntryMark::Position(position) => return Ok(position),
        EntryMark::Entry(id) => id,
    };
    let entry = tx.memory(sight, id)?.filter(|memory| {
        stretches(tx, case, 0, case.version).is_ok_and(|stretches| {
            let position = memory.position.unwrap_or_default();
            stretches.iter().any(|stretch| {
                memory.case.as_ref() == Some(&stretch.case)
                    && stretch.after < position
                    && position <= stretch.until
            })
        })
    });
    entry.and_then(|entry| entry.position).ok_or_else(|| {
        Error::not_found(format!("the case {} has no entry {id}", case.key))
            .with_field("after")
            .hint("Read the case for the ids and positions of its entries.")
    })
}

/// How far a caller has read a case, and the number of entries of others behind that: what it wrote
/// itself it has read.
pub(in crate::verbs) fn count_unread(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    case: &Case,
) -> Result<UnreadCount> {
    let mark = start_position(tx, caller, Some(&case.key), None, case.version)?;
    let mut unread = 0;
    for stretch in stretches(tx, case, mark, case.version)? {
        unread += tx.entries_of_others(sight, &stretch, &caller.agent)?;
    }
    Ok(UnreadCount { case: case.key.clone(), mark, unread })
}

/// The stretches of a case between two positions, in order: a branch has the beginning of the case
/// that it left.
pub(in crate::verbs) fn stretches(
    tx: &Tx<'_>,
    case: &Case,
    after: u64,
    until: u64,
) -> Result<Vec<EntryStretch>> {
    let (mut found, mut case, mut until) = (Vec::new(), case.clone(), until);
    loop {
        let stretch = EntryStretch {
            workspace: case.workspace.clone(),
            case: case.key.clone(),
            after: after.max(case.branched_at()),
            until,
        };
        if stretch.after < stretch.until {
            found.push(stretch);
        }
        until = until.min(case.branched_at());
        let parent = case.branch.as_ref().filter(|_| after < until);
        match parent.map(|branch| tx.case(&case.workspace, &branch.of)).transpose()?.flatten() {
            Some(parent) => case = parent,
            None => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// The entries in sight between two positions of a case, in order.
pub(in crate::verbs) fn entries_of(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
    after: u64,
    until: u64,
) -> Result<Vec<StoredMemory>> {
    let mut found = Vec::new();
    for EntryStretch { workspace, case, after, until } in stretches(tx, case, after, until)? {
        found.extend(tx.entries(sight, &workspace, &case, after, until)?);
    }
    Ok(found)
}

/// The entries that a filter selects, oldest first, and the position after which there are more.
fn select_entries(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
    filter: &EntryFilter,
    after: u64,
    limit: u32,
) -> Result<(Vec<CaseEntry>, Option<u64>)> {
    let newest = filter.newest;
    // The newest positions of all authors are a range.
    if newest && filter.kind.is_none() && filter.author.is_none() {
        let after = case.version.saturating_sub(limit.into());
        return Ok((entries_in_range(tx, sight, case, after, case.version)?, None));
    }
    let mut stretches = stretches(tx, case, after, case.version)?;
    if newest {
        stretches.reverse();
    }
    let (mut found, wanted) = (Vec::new(), limit as usize + 1);
    for stretch in stretches {
        let left = u32::try_from(wanted - found.len()).unwrap_or(limit);
        found.extend(tx.selected_entries(sight, &stretch, filter, left)?);
        if found.len() >= wanted {
            break;
        }
    }
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    if newest {
        found.reverse();
    }
    let next = found.last().filter(|_| more && !newest).and_then(|entry| entry.position);
    Ok((case_entries(tx, sight, case, found)?, next))
}

/// Every position in a range of a case: the entry if it is in sight, else a mark that it is
/// withheld.
pub(in crate::verbs) fn entries_in_range(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
    after: u64,
    until: u64,
) -> Result<Vec<CaseEntry>> {
    let memories = entries_of(tx, sight, case, after, until)?;
    let mut entries = case_entries(tx, sight, case, memories)?.into_iter().peekable();
    let entry = |position| {
        let found = entries.next_if(|entry| entry.position == position);
        found.unwrap_or_else(|| CaseEntry::withheld(position))
    };
    Ok((after + 1..=until).map(entry).collect())
}

/// These memories as entries, each with what it supersedes.
fn case_entries(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
    memories: Vec<StoredMemory>,
) -> Result<Vec<CaseEntry>> {
    let memories = show_all(tx, sight, memories)?;
    let mut older = Vec::new();
    for key in stretches(tx, case, 0, case.version)?.into_iter().map(|stretch| stretch.case) {
        let of_case = memories.iter().filter(|memory| memory.case.as_ref() == Some(&key));
        let ids: Vec<MemoryId> = of_case.map(|memory| memory.id).collect();
        older.extend(tx.superseded_entries(sight, &case.workspace, &key, &ids)?);
    }
    let entry = |memory: Memory| {
        let id = memory.id;
        let supersedes = older.iter().filter(|(newer, _)| *newer == id).map(|(_, old)| *old);
        CaseEntry::of(memory, supersedes.collect())
    };
    Ok(memories.into_iter().map(entry).collect())
}
