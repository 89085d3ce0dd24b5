//! Changes since an agent last read, and the marks of what it has read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::ops::handles::longer_handles;
use super::ops::read_position::start_position;
use super::{Commonbook, case};
use crate::base::error::Result;
use crate::base::id::{ContradictionId, MemoryId, handle};
use crate::base::limits;
use crate::base::page::PageSize;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::cursor::{
    ChangeNotice, ChangesResponse, ChangesSince, MarkRead, ReadMark, may_mark,
};
use crate::model::event::{Event, EventFilter, EventKind, JournalRange, appended_ids};
use crate::model::memory::{ListOrder, Memory, QuarantineNotice, Sharing, Trust};
use crate::model::search::MemoryFilter;
use crate::prompt::headlines::listed_headline;
use crate::prompt::lists::changes_text;
use crate::store::Tx;
use crate::verbs::ops::write_once::WriteScope;
use commonbook_text::sanitize::shown_name;

impl Commonbook {
    /// What has changed since the caller's read mark: in a case, or in everything that it sees.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, `not_found` if the case does not exist; as
    /// [`may_mark`] if the changes are to be marked as read.
    pub fn changes_since(
        &self,
        caller: &Caller,
        request: &ChangesSince,
    ) -> Result<ChangesResponse> {
        let limit = PageSize::of(request.limit)?.items();
        let (sight, request) = (Sight::reading_at_home(caller)?, request.clone());
        let (who, mark) = (caller.clone(), request.mark);
        let place = request.case.clone();
        self.read_and_mark(caller, mark, move |tx| {
            let changes = match &request.case {
                Some(key) => new_entries(tx, &who, &sight, key, request.after, limit)?,
                None => journal_changes(tx, &who, &sight, &request, limit)?,
            };
            let through = changes.through;
            Ok((changes, (place.clone(), through)))
        })
    }

    /// Changes as text for an agent: headlines. Empty if nothing has changed.
    ///
    /// # Errors
    /// `unavailable` if the store or the secret of the fence cannot be read.
    pub fn changes_text(&self, caller: &Caller, changes: &ChangesResponse) -> Result<String> {
        let entries = changes.entries.iter().filter_map(|entry| entry.entry_id);
        let subjects = changes.changes.iter().map(|change| change.event.subject.clone());
        let ids: Vec<String> = entries.map(|id| id.to_string()).chain(subjects).collect();
        let sight = Sight::reading(caller)?;
        let longer = self.store.read(|tx| longer_handles(tx, &sight, &ids))?;
        Ok(changes_text(changes, &longer, &self.fence(caller)?, self.clock.now()))
    }

    /// Marks how far the caller has read a case, or the journal.
    ///
    /// # Errors
    /// As [`may_mark`]; `not_found` if the case does not exist.
    pub fn mark_read(&self, caller: &Caller, request: &MarkRead) -> Result<ReadMark> {
        may_mark(caller)?;
        let (key, position, now) = (request.case.clone(), request.position, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let end = end_position(tx, caller, key.as_ref())?;
            let read = position.map_or(end, |position| position.min(end));
            move_mark(tx, caller, key.as_ref(), read, now)?;
            let position = tx.cursor(&caller.workspace, &caller.agent, key.as_ref())?.min(end);
            Ok(ReadMark { case: key.clone(), position, end })
        })?;
        Ok(once.answer)
    }

    /// Reads, and in the same transaction moves the read mark if `request` asks for it.
    pub(super) fn read_and_mark<T: Send + 'static>(
        &self,
        caller: &Caller,
        mark: bool,
        mut look: impl FnMut(&Tx<'_>) -> Result<(T, (Option<CaseKey>, u64))> + Send + 'static,
    ) -> Result<T> {
        if !mark {
            return self.store.read(|tx| look(tx).map(|(answer, _)| answer));
        }
        may_mark(caller)?;
        let now = self.clock.now();
        self.write_as(caller, now, move |tx, caller| {
            let (answer, (case, through)) = look(&*tx)?;
            move_mark(tx, caller, case.as_ref(), through, now)?;
            Ok(answer)
        })
    }
}

/// Moves the mark of what a caller has read, and records which entries of a case that were.
fn move_mark(
    tx: &mut Tx<'_>,
    caller: &Caller,
    key: Option<&CaseKey>,
    position: u64,
    now: Timestamp,
) -> Result<()> {
    if let Some(key) = key {
        let read = tx.cursor(&caller.workspace, &caller.agent, Some(key))?;
        let case = case::find_case(tx, caller, key)?;
        for stretch in case::stretches(tx, &case, read, position)? {
            tx.record_entries_read(caller, &stretch, now)?;
        }
    }
    tx.put_cursor(&caller.workspace, &caller.agent, key, position, now)
}

/// The end of a case, or of the journal.
fn end_position(tx: &Tx<'_>, caller: &Caller, key: Option<&CaseKey>) -> Result<u64> {
    match key {
        Some(key) => case::find_case(tx, caller, key).map(|case| case.version),
        None => tx.journal_end(&caller.workspace),
    }
}

/// The entries of a case that are new to the caller.
fn new_entries(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    key: &CaseKey,
    after: Option<u64>,
    limit: u32,
) -> Result<ChangesResponse> {
    let case = case::find_case(tx, caller, key)?;
    let after = start_position(tx, caller, Some(key), after, case.version)?;
    let through = case.version.min(after + u64::from(limit));
    let entries = case::entries_in_range(tx, sight, &case, after, through)?;
    let left = case.version - through;
    let (changes, quarantined) = (Vec::new(), Vec::new());
    Ok(ChangesResponse { after, changes, entries, quarantined, through, left })
}

/// What has happened in the caller's workspace that is new to it.
fn journal_changes(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    request: &ChangesSince,
    limit: u32,
) -> Result<ChangesResponse> {
    let end = tx.journal_end(&caller.workspace)?;
    let after = start_position(tx, caller, None, request.after, end)?;
    let except = (!request.own).then(|| caller.agent.clone());
    // That an agent below received something changes nothing.
    let changing = EventKind::ALL.iter().copied().filter(|kind| !kind.is_of_work());
    let kinds = if request.own { Vec::new() } else { changing.collect() };
    let filter = EventFilter { except, kinds, ..EventFilter::default() };
    let stretch = |after: u64, places: u64| {
        let until = end.min(after.saturating_add(places));
        JournalRange { workspace: caller.workspace.clone(), after, until, filter: filter.clone() }
    };
    let looked_at = stretch(after, limits::EVENTS_LOOKED_AT);
    // One event more than the limit shows whether there are more.
    let mut events = tx.events(sight, &looked_at, limit + 1)?;
    let over = events.len() > limit as usize;
    events.truncate(limit as usize);
    let last = events.last().filter(|_| over).map(|event| event.sequence);
    let through = last.unwrap_or(looked_at.until);
    let left = tx.event_count(sight, &stretch(through, limits::CHANGES_COUNTED))?;
    tell_entries_once(&mut events);
    let about: Vec<_> = (events.iter())
        .flat_map(|event| memories_told(event).into_iter().map(|id| (event.workspace.clone(), id)))
        .collect();
    let memories = tx.memories_of(sight, &about)?;
    let says: BTreeMap<MemoryId, String> = (memories.iter())
        .filter(|memory| memory.deleted_at.is_none())
        .filter_map(|memory| Some((memory.id, listed_headline(memory)?)))
        .collect();
    let disputes = disputes_of(tx, sight, &events)?;
    let sides = disputes.values().flatten().map(|(memory, _)| memory.id);
    let ids: Vec<String> = says.keys().copied().chain(sides).map(|id| id.to_string()).collect();
    let handles = longer_handles(tx, sight, &ids)?;
    let change = |event: Event| {
        if let Some(sides) = disputes.get(&event.subject) {
            let says = Some(dispute_text(sides, &handles));
            return ChangeNotice { handle: None, says, event };
        }
        let told = memories_told(&event);
        let text = told.first().and_then(|id| says.get(id).cloned());
        let (one, more) = (text.is_some() && told.len() == 1, told.len().saturating_sub(1));
        let says = text.map(|text| if one { text } else { format!("{text} (and {more} more)") });
        let short = |id: String| handles.get(&id).map_or(handle(&id), String::as_str).to_owned();
        let handle = told.first().filter(|_| one).map(|id| short(id.to_string()));
        ChangeNotice { handle, says, event }
    };
    let changes = events.into_iter().map(change).collect();
    let quarantined = quarantine_notices(tx, caller, sight, after)?;
    Ok(ChangesResponse { after, changes, entries: Vec::new(), quarantined, through, left })
}

/// Leaves out that a memory was saved where another of the events says that its case got it as an entry.
fn tell_entries_once(events: &mut Vec<Event>) {
    let entries: BTreeSet<MemoryId> = events.iter().flat_map(appended_ids).collect();
    events.retain(|event| {
        let saved = (event.kind == EventKind::MemorySaved).then_some(&event.subject);
        !saved.and_then(|id| MemoryId::parse(id)).is_some_and(|id| entries.contains(&id))
    });
}

/// The memories that an event is about: its subject, or the entries that its case got.
fn memories_told(event: &Event) -> Vec<MemoryId> {
    match event.kind.is_of_memory() {
        true => MemoryId::parse(&event.subject).into_iter().collect(),
        false => appended_ids(event),
    }
}

/// The two memories of each contradiction that these events found, the newer one first, each with its headline; by
/// the subject of the event.
fn disputes_of(
    tx: &Tx<'_>,
    sight: &Sight,
    events: &[Event],
) -> Result<BTreeMap<String, [(StoredMemory, String); 2]>> {
    let mut disputes = BTreeMap::new();
    for event in events.iter().filter(|event| event.kind == EventKind::ContradictionFound) {
        let id = ContradictionId::parse(&event.subject);
        let found = id.map(|id| tx.contradiction(sight, id)).transpose()?.flatten();
        let Some((_, older, newer)) = found else { continue };
        if let (Some(old), Some(new)) = (listed_headline(&older), listed_headline(&newer)) {
            disputes.insert(event.subject.clone(), [(newer, new), (older, old)]);
        }
    }
    Ok(disputes)
}

/// `#2e9zesc5 ben: Frankfurt has the backups. / #4yr7m99c ann: Backups go to Vienna.`
fn dispute_text(sides: &[(StoredMemory, String); 2], handles: &HashMap<String, String>) -> String {
    let side = |(memory, says): &(StoredMemory, String)| {
        let id = memory.id.to_string();
        let short = handles.get(&id).map_or(handle(&id), String::as_str);
        format!("#{short} {}: {says}", shown_name(memory.owner.as_str()))
    };
    sides.each_ref().map(side).join(" / ")
}

/// Quarantined memories that the caller and the agents below it saved or changed after this
/// position of the journal. Each is looked up in its owner's sight; only the owner reads its text.
pub(super) fn quarantine_notices(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    after: u64,
) -> Result<Vec<QuarantineNotice>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let below =
        tx.agents_below(&caller.workspace, &caller.agent, limits::QUARANTINE_NOTICES_MAX)?;
    let mut found = Vec::new();
    for owner in std::iter::once(caller.agent.clone()).chain(below) {
        let sight = Sight { agent: owner.clone(), ..sight.clone() };
        let filter = MemoryFilter {
            owner: Some(owner.into()),
            trust: Some(Trust::Quarantined),
            ..MemoryFilter::default()
        };
        found.extend(tx.memories(
            &sight,
            &filter,
            ListOrder::Newest,
            None,
            limits::QUARANTINE_NOTICES_MAX,
        )?);
    }
    // Private memories of agents below it do not exist for the caller.
    let is_visible =
        |memory: &Memory| memory.owner == caller.agent || memory.sharing == Sharing::Shared;
    found.retain(|(sequence, memory)| *sequence > after && is_visible(memory));
    found.sort_by_key(|(sequence, _)| *sequence);
    let notices = found.iter().filter_map(|(_, memory)| QuarantineNotice::of(memory, caller));
    Ok(notices.take(limits::QUARANTINE_NOTICES_MAX as usize).collect())
}
