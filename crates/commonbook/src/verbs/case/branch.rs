//! Branching cases, and merging branches.

use jiff::Timestamp;

use super::{Commonbook, case_event, entries_of, find_case, grow_case};
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, SessionId};
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::case::{
    BranchCase, BranchMergeOutcome, BranchMergeResult, Case, CaseBranch, CaseKey, CaseOutcome,
    CaseStatus, EntryPosition, MergeCase, OpenCaseResult, VersionConflict,
};
use crate::model::event::EventKind;
use crate::model::memory::Memory;
use crate::store::Tx;
use crate::verbs::memory::keep_memory;
use crate::verbs::ops::heirs::show_all;
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Opens a branch of a case, or finds the one of this name. The caller's session on the case
    /// goes on in the branch.
    ///
    /// # Errors
    /// `not_found` if the case does not exist; `conflict` if it is not open, or if another case or a
    /// branch that is not open has the key; `invalid` or `too_large` with the name.
    pub fn branch_case(&self, caller: &Caller, request: &BranchCase) -> Result<OpenCaseResult> {
        let (request_key, name, now) =
            (request.key.clone(), request.name.clone(), self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let parent = find_case(tx, caller, &request_key)?;
            parent.takes_entries()?;
            let key = match &name {
                Some(name) => parent.branch_key(name.as_str())?,
                None => free_key(tx, &parent)?,
            };
            if let Some(case) = tx.case(&caller.workspace, &key)? {
                let is_ours = case.branch.as_ref().is_some_and(|branch| branch.of == parent.key);
                if !is_ours || case.status != CaseStatus::Open {
                    let what = if is_ours { "is no longer open" } else { "is not a branch of it" };
                    return Err(Error::conflict(format!("case {key} exists and {what}"))
                        .with_field("name")
                        .hint("Name the branch otherwise."));
                }
                move_session(tx, sight, caller, &parent.key, &key)?;
                return Ok(OpenCaseResult { case, outcome: CaseOutcome::Found });
            }
            let case = open_branch(tx, caller, &parent, key, now)?;
            move_session(tx, sight, caller, &parent.key, &case.key)?;
            Ok(OpenCaseResult { case, outcome: CaseOutcome::Opened })
        })?;
        Ok(once.answer)
    }

    /// Appends the entries of a branch to its case, each under its author's name, and closes the
    /// branch. Entries that are superseded, quarantined or out of the caller's sight stay in the
    /// branch. Merging again changes nothing.
    ///
    /// # Errors
    /// `not_found` if the branch does not exist; `invalid` if it is no branch; `conflict` if the
    /// branch or its case is not open.
    pub fn merge_case(&self, caller: &Caller, request: &MergeCase) -> Result<BranchMergeResult> {
        let (key, expected, now) =
            (request.key.clone(), request.expected_version, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let branch = find_case(tx, caller, &key)?;
            let place = branch.as_branch()?.clone();
            let case = find_case(tx, caller, &place.of)?;
            let unchanged = |outcome, moved| BranchMergeResult {
                outcome,
                case: case.clone(),
                branch: branch.clone(),
                entries: Vec::new(),
                left: 0,
                moved,
            };
            if place.merged_at.is_some() {
                return Ok(unchanged(BranchMergeOutcome::Repeated, None));
            }
            if expected.is_some_and(|expected| expected != case.version) {
                let moved = VersionConflict { latest: case.version };
                return Ok(unchanged(BranchMergeOutcome::Moved, Some(moved)));
            }
            branch.takes_entries()?;
            case.takes_entries()?;
            merge(tx, scope, branch, case, now)
        })?;
        Ok(once.answer)
    }
}

/// The first key of a branch that no case has.
fn free_key(tx: &Tx<'_>, parent: &Case) -> Result<CaseKey> {
    let mut number = 1_u32;
    loop {
        let key = parent.branch_key(&format!("branch-{number}"))?;
        if tx.case(&parent.workspace, &key)?.is_none() {
            return Ok(key);
        }
        number += 1;
    }
}

fn open_branch(
    tx: &mut Tx<'_>,
    caller: &Caller,
    parent: &Case,
    key: CaseKey,
    now: Timestamp,
) -> Result<Case> {
    let new = Case::new(&caller.workspace, key, parent.title.clone(), &caller.agent, now);
    let branch = CaseBranch { of: parent.key.clone(), at: parent.version, merged_at: None };
    let case = Case { version: parent.version, branch: Some(branch), ..new };
    let sequence = tx.append_event(&case_event(EventKind::CaseOpened, &case, caller, now))?;
    tx.insert_case(&case, sequence)?;
    let event = case_event(EventKind::CaseBranched, &case, caller, now);
    let details = [("of", parent.key.as_str().into()), ("at", parent.version.into())];
    tx.append_event(&event.with_details(&details))?;
    Ok(case)
}

/// Lets the caller's own session on one case go on in another.
fn move_session(
    tx: &mut Tx<'_>,
    sight: &Sight,
    caller: &Caller,
    from: &CaseKey,
    to: &CaseKey,
) -> Result<()> {
    let id = caller.session.as_deref().and_then(|id| id.parse::<SessionId>().ok());
    let Some(mut session) = id.map(|id| tx.session(sight, id)).transpose()?.flatten() else {
        return Ok(());
    };
    if session.agent == caller.agent && session.case.as_ref() == Some(from) {
        session.case = Some(to.clone());
        tx.replace_session(&session)?;
    }
    Ok(())
}

fn merge(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    branch: Case,
    case: Case,
    now: Timestamp,
) -> Result<BranchMergeResult> {
    let WriteScope { caller, sight, ids, .. } = scope;
    let at_home = Sight { workspaces: vec![case.workspace.clone()], ..sight.clone() };
    let own = entries_of(tx, &at_home, &branch, branch.branched_at(), branch.version)?;
    let merged = own
        .into_iter()
        .filter(|entry| entry.superseded_by.is_none() && !entry.is_quarantined())
        .collect();
    let merged = show_all(tx, sight, merged)?;
    let left = branch.version - branch.branched_at() - merged.len() as u64;
    let mut entries = Vec::with_capacity(merged.len());
    for entry in merged {
        let position = case.version + 1 + entries.len() as u64;
        access::may_keep(&entry.owner, entry.sharing)?;
        let copy = Memory {
            id: MemoryId::new(ids, now),
            case: Some(case.key.clone()),
            position: Some(position),
            revision: 1,
            revised_at: now,
            ..entry
        };
        let copy = keep_memory(tx, &copy, now)?;
        entries.push(EntryPosition::of(&copy, position, caller.door));
    }
    let version = case.version + entries.len() as u64;
    let case = match entries.is_empty() {
        true => case,
        false => grow_case(tx, caller, case, version, now)?,
    };
    let place = branch.branch.clone().map(|place| CaseBranch { merged_at: Some(now), ..place });
    let branch = Case { branch: place, ..branch };
    let closed = branch.with_case_status(CaseStatus::Closed, now)?;
    let (branch, kind) = closed.unwrap_or((branch, EventKind::CaseClosed));
    tx.replace_case(&branch)?;
    tx.append_event(&case_event(kind, &branch, caller, now))?;
    let event = case_event(EventKind::CaseMerged, &branch, caller, now);
    tx.append_event(&event.with_details(&[("into", case.key.as_str().into())]))?;
    move_session(tx, sight, caller, &branch.key, &case.key)?;
    Ok(BranchMergeResult {
        outcome: BranchMergeOutcome::Merged,
        case,
        branch,
        entries,
        left,
        moved: None,
    })
}
