//! Opening cases, appending to them and ending them.

mod branch;
mod proposal;
mod read;

use jiff::Timestamp;

use super::Commonbook;
use super::memory::{MemoryChange, keep_heir, keep_memory, may_replace_subject};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::base::{input, limits};
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::digest::digest_sources;
use crate::model::case::{
    AppendEntries, AppendEntry, AppendResult, ArchiveCase, Case, CaseKey, CaseOutcome, CaseStatus,
    CloseCase, EntryPosition, GetCase, ListBranches, ListCases, NewEntry, OpenCase, OpenCaseResult,
    ReopenCase, UpdateCase, fit_title,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::lineage::{BasisClaim, DerivedId};
use crate::model::memory::{Memory, Sharing};
use crate::model::search::MemoryRef;
use crate::model::session::Session;
use crate::prompt::lists::case_list_text;
use crate::store::Tx;
use crate::verbs::ops::basis::FoundBasis;
use crate::verbs::ops::write_once::WriteScope;
use crate::verbs::ops::write_request::WriteRequest;

pub(super) use proposal::{announce_proposal, open_proposal, proposals_to};
pub(super) use read::{count_unread, entries_in_range, entries_of, stretches};

impl Commonbook {
    /// Opens a case in the caller's workspace, or finds it if it exists.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `conflict` if the idempotency key was used for
    /// another request.
    pub fn open_case(&self, caller: &Caller, request: &OpenCase) -> Result<OpenCaseResult> {
        let (key, title) = request.key_and_title()?;
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            if let Some(case) = tx.case(&caller.workspace, &key)? {
                return Ok(OpenCaseResult { case, outcome: CaseOutcome::Found });
            }
            let case = open_new_case(tx, caller, &key, &title, now)?;
            Ok(OpenCaseResult { case, outcome: CaseOutcome::Opened })
        })?;
        Ok(once.answer)
    }

    /// Appends entries to a case: either all of them or none.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field and the index in the batch; `not_found` if the case
    /// does not exist, or if an entry to supersede is not in the case; `conflict` if the case is
    /// not open, if the entry was superseded before, or if the idempotency key was used for another
    /// request.
    pub fn append_entries(&self, caller: &Caller, request: &AppendEntries) -> Result<AppendResult> {
        request.check()?;
        let title = request.title.as_deref();
        let title = title.map(|title| fit_title(&request.key, title));
        let (title, now) = (title.transpose()?, self.clock.now());
        let draft = |(place, entry): (usize, &NewEntry)| {
            let id = MemoryId::new(&*self.ids, now);
            let memory = entry.memory(caller, Some(&request.key), id, now);
            Ok(EntryDraft {
                memory: memory.map_err(|error| error.in_part(&format!("entries[{place}]")))?,
                supersedes: entry.supersedes.clone(),
            })
        };
        let drafts = request.entries.iter().enumerate().map(draft).collect::<Result<Vec<_>>>()?;
        let (key, expected) = (request.key.clone(), request.expected_version);
        let claim = BasisClaim::parse(&request.based_on, request.require_current)?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let found = tx.case(&caller.workspace, &key)?;
            let latest = match (&found, &title) {
                (Some(case), _) => case.takes_entries().map(|()| case.version)?,
                (None, Some(_)) => 0,
                (None, None) => {
                    let hint = "Use a key from `list_cases`, or give a title to open the case.";
                    return Err(unknown_case(&key).hint(hint));
                }
            };
            if expected.is_some_and(|expected| expected != latest) {
                return Ok(AppendResult::version_conflict(latest));
            }
            let case = match (found, &title) {
                (Some(case), _) => case,
                (None, title) => {
                    let title = title.as_deref().unwrap_or(key.as_str());
                    open_new_case(tx, caller, &key, title, now)?
                }
            };
            let texts: Vec<String> = drafts.iter().map(|draft| draft.memory.full_text()).collect();
            let basis = FoundBasis::find(tx, scope, &claim, &texts.join("\n"))?;
            let appended = append(tx, caller, case, &drafts, now)?;
            let derived = appended.entries.iter().map(|entry| DerivedId::Memory(entry.entry_id));
            let stale = basis.record(tx, &caller.workspace, derived, now)?;
            Ok(AppendResult { stale, ..appended })
        })?;
        Ok(once.answer)
    }

    /// Appends one entry to a case.
    ///
    /// # Errors
    /// As [`Self::append_entries`].
    pub fn append_entry(&self, caller: &Caller, request: &AppendEntry) -> Result<AppendResult> {
        self.append_entries(caller, &request.clone().into()).map_err(single_entry_error)
    }

    /// One case.
    ///
    /// # Errors
    /// `not_found` if the case does not exist.
    pub fn get_case(&self, caller: &Caller, request: &GetCase) -> Result<Case> {
        Sight::reading_at_home(caller)?;
        self.store.read(|tx| find_case(tx, caller, &request.key))
    }

    /// The cases of the caller's workspace, last opened first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range or the cursor is malformed.
    pub fn list_cases(&self, caller: &Caller, request: &ListCases) -> Result<Page<Case>> {
        Sight::reading_at_home(caller)?;
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let label = request.label.as_deref();
        let label =
            label.map(|label| input::line("label", label, limits::LABEL_CHARS)).transpose()?;
        let label = label.map(|label| label.to_lowercase());
        let rows = self.store.read(|tx| {
            tx.cases(&caller.workspace, request.status, label.as_deref(), from, size.rows())
        })?;
        Ok(size.page_by_position(rows))
    }

    /// A page of cases as text for an agent: headlines.
    ///
    /// # Errors
    /// `unavailable` if the secret of the fence cannot be read.
    pub fn case_list_text(&self, caller: &Caller, page: &Page<Case>) -> Result<String> {
        Ok(case_list_text(page, &self.fence(caller)?, self.clock.now()))
    }

    /// The branches of a case, last opened first.
    ///
    /// # Errors
    /// `not_found` if the case does not exist; `invalid` if the limit is out of range or the cursor is
    /// malformed.
    pub fn list_branches(&self, caller: &Caller, request: &ListBranches) -> Result<Page<Case>> {
        Sight::reading_at_home(caller)?;
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let rows = self.store.read(|tx| {
            let case = find_case(tx, caller, &request.key)?;
            tx.branches(&case.workspace, &case.key, from, size.rows())
        })?;
        Ok(size.page_by_position(rows))
    }

    /// Changes the title, the labels or the lead of a case.
    ///
    /// # Errors
    /// `not_found`; as [`UpdateCase::apply`].
    pub fn update_case(&self, caller: &Caller, request: &UpdateCase) -> Result<Case> {
        let (change, now) = (request.clone(), self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let before = find_case(tx, caller, &change.key)?;
            let (case, changed) = change.apply(&before, now)?;
            if !changed.is_empty() {
                tx.replace_case(&case)?;
                let event = case_event(EventKind::CaseUpdated, &case, caller, now);
                tx.append_event(&event.with_changed_fields(&changed))?;
            }
            Ok(case)
        })?;
        Ok(once.answer)
    }

    /// Closes a case.
    ///
    /// # Errors
    /// `not_found`; `conflict` if the case is archived, or if the idempotency key was used for
    /// another request.
    pub fn close_case(&self, caller: &Caller, request: &CloseCase) -> Result<Case> {
        self.set_case_status(caller, request, &request.key, CaseStatus::Closed)
    }

    /// Archives a case.
    ///
    /// # Errors
    /// `not_found`; `conflict` if the idempotency key was used for another request.
    pub fn archive_case(&self, caller: &Caller, request: &ArchiveCase) -> Result<Case> {
        self.set_case_status(caller, request, &request.key, CaseStatus::Archived)
    }

    /// Opens a case again.
    ///
    /// # Errors
    /// `not_found`; `conflict` if the idempotency key was used for another request.
    pub fn reopen_case(&self, caller: &Caller, request: &ReopenCase) -> Result<Case> {
        self.set_case_status(caller, request, &request.key, CaseStatus::Open)
    }

    /// Gives a case another status. Setting the present status again changes nothing.
    fn set_case_status(
        &self,
        caller: &Caller,
        request: &impl WriteRequest,
        case: &CaseKey,
        status: CaseStatus,
    ) -> Result<Case> {
        let (key, now) = (case.clone(), self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let case = find_case(tx, caller, &key)?;
            let Some((case, kind)) = case.with_case_status(status, now)? else {
                return Ok(case);
            };
            tx.replace_case(&case)?;
            tx.append_event(&case_event(kind, &case, caller, now))?;
            Ok(case)
        })?;
        Ok(once.answer)
    }
}

/// An entry that is about to be appended, and the entries that it supersedes.
struct EntryDraft {
    memory: Memory,
    supersedes: Vec<MemoryId>,
}

/// The case with this key in the caller's workspace.
pub(super) fn find_case(tx: &Tx<'_>, caller: &Caller, key: &CaseKey) -> Result<Case> {
    tx.case(&caller.workspace, key)?.ok_or_else(|| unknown_case(key))
}

pub(super) fn unknown_case(key: &CaseKey) -> Error {
    Error::not_found(format!("no case {key} exists")).hint("Use a key from `list_cases`.")
}

/// Opens a case and appends its event.
pub(super) fn open_new_case(
    tx: &mut Tx<'_>,
    caller: &Caller,
    key: &CaseKey,
    title: &str,
    now: Timestamp,
) -> Result<Case> {
    let (key, title) = (key.clone(), title.to_owned());
    let case = Case::new(&caller.workspace, key, title, &caller.agent, now);
    let sequence = tx.append_event(&case_event(EventKind::CaseOpened, &case, caller, now))?;
    tx.insert_case(&case, sequence)?;
    Ok(case)
}

/// An event of a case; everybody in the workspace sees it.
pub(in crate::verbs) fn case_event(
    kind: EventKind,
    case: &Case,
    caller: &Caller,
    now: Timestamp,
) -> NewEvent {
    let key = case.key.to_string();
    NewEvent::for_subject(kind, &case.workspace, key, &caller.agent, now, Sharing::Shared)
}

/// Appends these entries at the end of a case, with their events.
fn append(
    tx: &mut Tx<'_>,
    caller: &Caller,
    case: Case,
    drafts: &[EntryDraft],
    now: Timestamp,
) -> Result<AppendResult> {
    let mut entries = Vec::with_capacity(drafts.len());
    for (place, draft) in drafts.iter().enumerate() {
        let position = case.version + place as u64 + 1;
        let memory = Memory { position: Some(position), ..draft.memory.clone() };
        let memory = keep_heir(tx, &memory, &draft.supersedes, now)?;
        for (which, old) in draft.supersedes.iter().enumerate() {
            supersede(tx, caller, &case, *old, &memory, now).map_err(|error| {
                error.with_field(&format!("entries[{place}].supersedes[{which}]"))
            })?;
        }
        entries.push(EntryPosition::of(&memory, position, caller.door));
    }
    let version = case.version + drafts.len() as u64;
    grow_case(tx, caller, case, version, now)?;
    Ok(AppendResult { context_version: version, entries, moved: None, stale: Vec::new() })
}

/// Appends one entry at the end of a case, with its events; `conflict` if the case takes no
/// entries.
pub(super) fn append_one(
    tx: &mut Tx<'_>,
    caller: &Caller,
    case: Case,
    memory: Memory,
    supersedes: Vec<MemoryId>,
    now: Timestamp,
) -> Result<AppendResult> {
    case.takes_entries()?;
    append(tx, caller, case, &[EntryDraft { memory, supersedes }], now)
}

/// The newest entries of a case that a rule made of what was saved in a session, and of nothing else:
/// the summary of its agent takes their place.
pub(super) fn digested_of_session(
    tx: &Tx<'_>,
    caller: &Caller,
    case: &Case,
    session: &Session,
) -> Result<Vec<MemoryId>> {
    let sight = Sight { workspaces: vec![case.workspace.clone()], ..Sight::writing(caller)? };
    let after = case.version.saturating_sub(limits::RESUME_ENTRIES).max(case.branched_at());
    let session = session.id.to_string();
    let mut found = Vec::new();
    for entry in tx.entries(&sight, &case.workspace, &case.key, after, case.version)? {
        let sources = digest_sources(&entry);
        if sources.is_empty() || entry.owner != Agent::system() || !entry.is_current() {
            continue;
        }
        let places: Vec<MemoryRef> =
            sources.iter().map(|id| (case.workspace.clone(), *id)).collect();
        let sources = tx.memories_of(&sight, &places)?;
        if sources.iter().all(|memory| memory.session.as_deref() == Some(session.as_str())) {
            found.push(entry.id);
        }
    }
    Ok(found)
}

/// Appends a memory from another verb at the end of the case that it names.
pub(super) fn file_in_case(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
) -> Result<()> {
    let Some(key) = &memory.case else {
        return keep_memory(tx, &Memory { position: None, ..memory.clone() }, now).map(drop);
    };
    let case = match tx.case(&memory.workspace, key)? {
        Some(case) => case.takes_entries().map(|()| case)?,
        None => open_new_case(tx, caller, key, key.as_str(), now)?,
    };
    let position = Some(case.version + 1);
    keep_memory(tx, &Memory { position, sharing: Sharing::Shared, ..memory.clone() }, now)?;
    let version = case.version + 1;
    grow_case(tx, caller, case, version, now).map(drop)
}

/// Records that a case has entries up to this version, with the event.
fn grow_case(
    tx: &mut Tx<'_>,
    caller: &Caller,
    case: Case,
    version: u64,
    now: Timestamp,
) -> Result<Case> {
    let first = case.version + 1;
    let case = Case { version, changed_at: now.max(case.changed_at), ..case };
    tx.replace_case(&case)?;
    let event = case_event(EventKind::CaseAppended, &case, caller, now);
    tx.append_event(&event.with_details(&[("first", first.into()), ("last", version.into())]))?;
    Ok(case)
}

/// Files an exported entry at its position of the case. Its position is what others cite, so that an
/// entry never gets another one.
///
/// # Errors
/// `conflict` if another entry has the position, or if the case has ended before it; `invalid` for a
/// position beyond the limit. Nothing is written then.
pub(super) fn restore_in_case(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
) -> Result<()> {
    let (Some(key), Some(position)) = (&memory.case, memory.position) else {
        return file_in_case(tx, caller, memory, now);
    };
    input::in_range("position", position, 1..=limits::CASE_POSITION)?;
    if let Some(other) = tx.entry_at(&memory.workspace, key, position)? {
        let message = format!("position {position} of case {key} has another entry, {other}");
        return Err(Error::conflict(message)
            .with_field("position")
            .hint("Import the case into another workspace, or append the entry by itself."));
    }
    let case = match tx.case(&memory.workspace, key)? {
        Some(case) if position <= case.version => case,
        Some(case) => case.takes_entries().map(|()| case)?,
        None => open_new_case(tx, caller, key, key.as_str(), now)?,
    };
    keep_memory(tx, &Memory { sharing: Sharing::Shared, ..memory.clone() }, now)?;
    if position > case.version {
        let changed_at = now.max(case.changed_at);
        tx.replace_case(&Case { version: position, changed_at, ..case.clone() })?;
    }
    tx.append_event(&case_event(EventKind::CaseAppended, &case, caller, now)).map(drop)
}

/// Stores a case of another home, with its event; its entries follow.
pub(super) fn restore_case(tx: &mut Tx<'_>, case: &Case, now: Timestamp) -> Result<()> {
    let author = AgentName { agent: case.opened_by.clone(), device: None };
    let author = Caller::new(Some(author), case.workspace.clone(), EntryPoint::Import);
    let event = case_event(EventKind::CaseOpened, case, &author, now);
    let sequence = tx.append_event(&event)?;
    tx.insert_case(case, sequence)?;
    tx.replace_case(case)
}

/// Lets a new entry supersede an older entry of the case, by any author.
fn supersede(
    tx: &mut Tx<'_>,
    caller: &Caller,
    case: &Case,
    old: MemoryId,
    new: &Memory,
    now: Timestamp,
) -> Result<()> {
    let sight = Sight { workspaces: vec![case.workspace.clone()], ..Sight::writing(caller)? };
    let before = tx.memory(&sight, old)?.filter(|before| {
        before.case.as_ref() == Some(&case.key)
            && before.position.is_some_and(|position| position <= case.version)
    });
    let Some(before) = before else {
        if let Some(branch) = &case.branch
            && tx.memory(&sight, old)?.is_some_and(|entry| entry.case.as_ref() == Some(&branch.of))
        {
            let message = format!("entry {old} is of the case {}, not of the branch", branch.of);
            return Err(Error::invalid("supersedes", message)
                .hint("Merge the branch first, and supersede the entry in the case."));
        }
        return Err(Error::not_found(format!("the case {} has no entry {old}", case.key)).hint(
            "An entry supersedes earlier ones of the same case; read the case for their ids.",
        ));
    };
    if before.superseded_by.is_some() {
        return Err(Error::conflict(format!("entry {old} was superseded before"))
            .hint("Supersede its successor instead."));
    }
    may_replace_subject(&before, new)?;
    let after = before.with(|after| after.superseded_by = Some(new.id));
    MemoryChange { kind: EventKind::MemorySuperseded, fields: &[], caller, now }
        .write(tx, &before, after)
        .map(drop)
}

/// The error of a batch of one entry, as an error of that entry.
fn single_entry_error(error: Error) -> Error {
    let Some(field) = error.field.clone() else { return error };
    let Some(own) = field.strip_prefix("entries[0].") else { return error };
    Error { message: error.message.replacen(&field, own, 1), ..error }.with_field(own)
}
