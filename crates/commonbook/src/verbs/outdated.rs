//! What was derived from a memory that has changed since: it is marked, and waits for its owner.

use std::collections::{BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;
use serde_json::json;

use super::Commonbook;
use super::ops::basis::changes_since_told;
use super::ops::write_once::WriteScope;
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::event::{EventKind, NewEvent};
use crate::model::handoff::HandoffStatus;
use crate::model::lineage::{
    AcknowledgeOutdated, Basis, DerivedId, ListOutdated, OutdatedItem, OutdatedMark,
    OutdatedRecord, OutdatedReview, ReadSetKey, excerpt,
};
use crate::model::memory::{Memory, MemoryChangeKind, Sharing, says_same};
use crate::prompt::briefing::BriefingItem;
use crate::prompt::news::{outdated_notice, told_notice};
use crate::store::Tx;

impl Commonbook {
    /// Lists what the caller derived from memories that have changed since, oldest first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range or the cursor is malformed.
    pub fn list_outdated(
        &self,
        caller: &Caller,
        request: &ListOutdated,
    ) -> Result<Page<OutdatedItem>> {
        let sight = Sight::reading(caller)?;
        let size = PageSize::of(request.limit)?;
        let after = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        self.store.read(|tx| {
            let (home, owner) = (&caller.workspace, &caller.agent);
            if owner.is_anonymous() {
                return Ok(Page { items: Vec::new(), next: None });
            }
            let found = tx.outdated(home, owner, after.unwrap_or(0), size.rows())?;
            let items = found
                .into_iter()
                .map(|(sequence, record)| Ok((sequence, outdated_item(tx, &sight, record)?)));
            Ok(size.page_by_position(items.collect::<Result<Vec<_>>>()?))
        })
    }

    /// Records that the caller has reviewed something that it derived, and that it still holds.
    ///
    /// # Errors
    /// `invalid` for a malformed id; `not_found` if no such item of the caller waits.
    pub fn acknowledge_outdated(
        &self,
        caller: &Caller,
        request: &AcknowledgeOutdated,
    ) -> Result<OutdatedReview> {
        let (ending, now) = (request.ending()?, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, .. } = scope;
            let (home, owner) = (&caller.workspace, &caller.agent);
            let mut found = tx.outdated_ending(home, owner, &ending)?;
            let derived = found.pop().filter(|_| found.is_empty()).ok_or_else(|| {
                Error::not_found(format!("{ending} does not wait for your review"))
                    .with_field("id")
                    .hint("Use the `id` of an item of list_outdated.")
            })?;
            let removed = tx.drop_outdated(home, derived)?;
            Ok(OutdatedReview { id: derived.to_string(), removed })
        })?;
        Ok(once.answer)
    }
}

/// An item as its owner may see it.
fn outdated_item(tx: &Tx<'_>, sight: &Sight, record: OutdatedRecord) -> Result<OutdatedItem> {
    let OutdatedRecord { derived, memory, mark, .. } = record;
    let mut path = Vec::new();
    for step in mark.path {
        let is_seen = match step {
            DerivedId::Memory(id) => tx.memory(sight, id)?.is_some(),
            DerivedId::Handoff(id) => tx.handoff(sight, id)?.is_some(),
            DerivedId::Resolution(_) => true,
        };
        path.extend(is_seen.then(|| step.to_string()));
    }
    let text = match derived {
        DerivedId::Memory(id) => tx.memory(sight, id)?.map(|memory| memory.text.clone()),
        DerivedId::Handoff(id) => tx.handoff(sight, id)?.map(|handoff| handoff.task),
        DerivedId::Resolution(_) => None,
    };
    let changed = path.contains(&memory.to_string()).then_some(memory);
    let OutdatedMark { change, by, at, .. } = mark;
    let text = text.as_deref().map(excerpt);
    Ok(OutdatedItem { id: derived.to_string(), text, memory: changed, change, by, at, path })
}

/// Marks what was derived from a memory, if the memory has changed, and removes the marks that the change
/// answers: those of the memory itself, and those of an earlier change that it takes back.
pub(super) fn note_change(
    tx: &mut Tx<'_>,
    before: &Memory,
    after: &Memory,
    actor: &Agent,
    now: Timestamp,
) -> Result<()> {
    tx.drop_outdated(&after.workspace, DerivedId::Memory(after.id))?;
    let is_restored = (before.deleted_at.is_some() && after.deleted_at.is_none())
        || (before.superseded_by.is_some() && after.superseded_by.is_none())
        || (before.retraction.is_some() && after.retraction.is_none());
    if is_restored {
        tx.drop_outdated_by(&after.workspace, after.id, None)?;
    }
    // The marks of those who may not read it any more go, for what is done to it later must change nothing
    // for them.
    if after.sharing == Sharing::Private && before.sharing == Sharing::Shared {
        tx.drop_outdated_by(&after.workspace, after.id, Some(&after.owner))?;
    }
    let change = if after.deleted_at.is_some() && before.deleted_at.is_none() {
        MemoryChangeKind::Deleted
    } else if after.retraction.is_some() && before.retraction.is_none() {
        MemoryChangeKind::Retracted
    } else if after.superseded_by.is_some() && before.superseded_by.is_none() {
        MemoryChangeKind::Superseded
    } else if !says_same(before, after) {
        MemoryChangeKind::Corrected
    } else {
        return Ok(());
    };
    let mark = |path| OutdatedMark { change, by: actor.clone(), at: now, path };
    let heir = after.superseded_by.map(DerivedId::Memory);
    for (row, path) in descendants(tx, after)? {
        if Some(row.derived) == heir {
            continue;
        }
        mark_derived(tx, after, &row, mark(path), now)?;
    }
    Ok(())
}

/// What was derived from a memory, and from that, each with the path from the memory, nearest first.
fn descendants(tx: &Tx<'_>, memory: &Memory) -> Result<Vec<(Basis, Vec<DerivedId>)>> {
    let most = limits::OUTDATED_MARKS;
    let limit = u32::try_from(most).unwrap_or(u32::MAX);
    let root = DerivedId::Memory(memory.id);
    let mut seen = BTreeSet::from([root]);
    let mut found = Vec::new();
    let mut open = VecDeque::from([(memory.workspace.clone(), memory.id, vec![root])]);
    while let Some((origin, id, path)) = open.pop_front() {
        for row in tx.derived_from(&origin, id, limit)? {
            if found.len() >= most || !seen.insert(row.derived) {
                continue;
            }
            let path: Vec<DerivedId> = path.iter().copied().chain([row.derived]).collect();
            if let DerivedId::Memory(next) = row.derived {
                open.push_back((row.workspace.clone(), next, path.clone()));
            }
            found.push((row, path));
        }
    }
    Ok(found)
}

/// Marks one thing for an owner that may read what changed, with its event, which only those see who may
/// read it too. What is no longer current needs no review, and a resolution is reopened by itself where a
/// text changes.
fn mark_derived(
    tx: &mut Tx<'_>,
    changed: &Memory,
    row: &Basis,
    mark: OutdatedMark,
    now: Timestamp,
) -> Result<()> {
    let details = [("change", json!(mark.change))];
    let actor = mark.by.clone();
    let (owner, event) = match row.derived {
        DerivedId::Memory(id) => {
            let Some(memory) = tx.derived_memory(&row.workspace, id)? else { return Ok(()) };
            if !memory.is_current() {
                return Ok(());
            }
            let event = NewEvent::of(EventKind::MemoryOutdated, &memory, &actor, now);
            (memory.owner.clone(), event)
        }
        DerivedId::Handoff(id) => {
            let Some(handoff) = tx.derived_handoff(&row.workspace, id)? else { return Ok(()) };
            let owner = match handoff.status {
                HandoffStatus::Completed => handoff.to.clone(),
                HandoffStatus::Pending | HandoffStatus::Accepted => handoff.from.clone(),
                _ => return Ok(()),
            };
            (owner, handoff.event(EventKind::HandoffOutdated, &actor, now))
        }
        DerivedId::Resolution(_) => return Ok(()),
    };
    let reader = Sight { agent: owner.clone(), ..Sight::of_owner(changed) };
    if !reader.sees(changed) {
        return Ok(());
    }
    let event = NewEvent { user_id: event.user_id.or_else(|| changed.user_id.clone()), ..event };
    let event = match changed.sharing {
        Sharing::Shared => event,
        Sharing::Private => {
            NewEvent { owner: owner.clone(), sharing: Sharing::Private, addressee: None, ..event }
        }
    };
    let record = OutdatedRecord {
        workspace: row.workspace.clone(),
        derived: row.derived,
        owner,
        origin: changed.workspace.clone(),
        memory: changed.id,
        mark,
    };
    let sequence = tx.append_event(&event.with_details(&details))?;
    tx.put_outdated(&record, sequence)
}

/// What a session hears once of what has changed under it.
#[derive(Debug, Clone, Default)]
pub(super) struct ReviewNotices {
    /// The notices, a line each.
    pub(super) lines: Vec<String>,
    /// By these the session is known to have heard them.
    pub(super) items: Vec<BriefingItem>,
}

impl ReviewNotices {
    /// The notices as one text.
    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }

    fn add(&mut self, heard: &HashMap<String, u64>, id: String, revision: u64, line: String) {
        if heard.get(&id) != Some(&revision) && self.lines.len() < limits::REVIEW_NOTICES {
            self.lines.push(line);
            self.items.push(BriefingItem { id, revision });
        }
    }
}

/// The notices for a session, besides those that it has `heard`: what it received and has changed since,
/// and what its agent derived from memories that have changed. They repeat nothing of a text.
pub(super) fn review_notices(
    tx: &Tx<'_>,
    key: Option<ReadSetKey>,
    sight: &Sight,
    heard: &HashMap<String, u64>,
) -> Result<ReviewNotices> {
    let mut notices = ReviewNotices::default();
    let Some(key) = key else { return Ok(notices) };
    for change in changes_since_told(tx, sight, &key)? {
        let id = format!("changed {}", change.memory);
        notices.add(heard, id, change.current_revision, told_notice(&change));
    }
    let most = u32::try_from(limits::OUTDATED_MARKS).unwrap_or(u32::MAX);
    for (sequence, record) in tx.outdated(&key.workspace, &key.agent, 0, most)? {
        let id = format!("outdated {}", record.derived);
        let item = outdated_item(tx, sight, record)?;
        notices.add(heard, id, sequence, outdated_notice(&item));
    }
    Ok(notices)
}
