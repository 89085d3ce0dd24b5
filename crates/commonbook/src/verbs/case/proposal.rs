//! Proposing entries to the lead of a case, and the decision of the lead.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Commonbook, EntryDraft, append, case_event, find_case};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::case::digest::EntryProposal;
use crate::model::case::{
    Case, CaseProposal, DecideProposal, DecisionResult, ListProposals, ProposalDecision,
    ProposalList, ProposalStatus,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::Sharing;
use crate::store::Tx;
use crate::verbs::digest::is_shareable;
use crate::verbs::ops::write_once::WriteScope;

/// Proposals that a context tells at most.
const TOLD_PROPOSALS_MAX: u32 = 3;

impl Commonbook {
    /// The proposals that wait for the lead of a case. Every agent in the workspace reads them.
    ///
    /// # Errors
    /// `not_found` if the case does not exist.
    pub fn list_proposals(&self, caller: &Caller, request: &ListProposals) -> Result<ProposalList> {
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let case = find_case(tx, caller, &request.key)?;
            let items = open_proposal(tx, &sight, &case)?.into_iter().collect();
            Ok(ProposalList { lead: case.lead, items })
        })
    }

    /// Appends the entries of a proposal, or keeps that the lead rejected them.
    ///
    /// # Errors
    /// `not_found` if the case or the proposal does not exist; `forbidden` unless the caller leads
    /// the case; `conflict` if the case has no lead or takes no entries.
    pub fn decide_proposal(
        &self,
        caller: &Caller,
        request: &DecideProposal,
    ) -> Result<DecisionResult> {
        let (decide, now) = (request.clone(), self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, ids, .. } = scope;
            let at_home = Sight { workspaces: vec![caller.workspace.clone()], ..sight.clone() };
            let case = find_case(tx, caller, &decide.key)?;
            case.may_decide(&caller.agent)?;
            let found = open_proposal(tx, &at_home, &case)?;
            let proposal = found.filter(|proposal| proposal.number == decide.number);
            let proposal = proposal.ok_or_else(|| {
                let number = decide.number;
                Error::not_found(format!("no proposal {number} waits in case {}", case.key))
                    .with_field("number")
                    .hint("See the proposals with `list_proposals`.")
            })?;
            let event = case_event(EventKind::CaseDecided, &case, caller, now);
            let decision = decide.decision;
            let details = [("number", decide.number.into()), ("decision", decision.name().into())];
            tx.append_event(&event.with_details(&details))?;
            let appended = match decision {
                ProposalDecision::Reject => {
                    let rejected = CaseProposal { status: ProposalStatus::Rejected, ..proposal };
                    tx.put_proposal(&case.workspace, &rejected)?;
                    None
                }
                ProposalDecision::Accept => {
                    case.takes_entries()?;
                    tx.drop_proposal(&case.workspace, &case.key, decide.number)?;
                    let draft = |entry: &EntryProposal| {
                        let id = MemoryId::new(ids, now);
                        let memory = entry.entry().memory(caller, Some(&case.key), id, now)?;
                        let supersedes = still_current(tx, &at_home, &entry.supersedes)?;
                        Ok(EntryDraft { memory, supersedes })
                    };
                    let drafts = proposal.entries.iter().map(draft).collect::<Result<Vec<_>>>()?;
                    match drafts.is_empty() {
                        true => None,
                        false => Some(append(tx, caller, case, &drafts, now)?),
                    }
                }
            };
            Ok(DecisionResult { decision, appended })
        })?;
        Ok(once.answer)
    }

    /// Stores what a digest proposes to the lead of a case; returns its number. It goes beside what
    /// waits already, as one proposal with a new number.
    pub(in crate::verbs) fn put_proposal(
        &self,
        caller: &Caller,
        case: &Case,
        entries: &[EntryProposal],
    ) -> Result<u64> {
        self.policy.may_write(caller)?;
        let (key, entries) = (case.key.clone(), entries.to_vec());
        let now = self.clock.now();
        self.write_as(caller, now, move |tx, caller| {
            let case = find_case(tx, caller, &key)?;
            case.takes_entries()?;
            let earlier = tx.proposals(&case.workspace, &key)?;
            let number = earlier.last().map_or(0, |proposal| proposal.number) + 1;
            let open = earlier.into_iter().find(|found| found.status == ProposalStatus::Open);
            let mut all = Vec::new();
            if let Some(open) = open {
                tx.drop_proposal(&case.workspace, &key, open.number)?;
                all.extend(open.entries);
            }
            // Another process may have proposed the same meanwhile.
            all.extend(
                entries.iter().filter(|entry| !all.contains(*entry)).cloned().collect::<Vec<_>>(),
            );
            let status = ProposalStatus::Open;
            let proposal = CaseProposal { key: key.clone(), number, status, at: now, entries: all };
            tx.put_proposal(&case.workspace, &proposal)?;
            announce_proposal(tx, &caller.agent, &case, number, now)?;
            Ok(number)
        })
    }
}

/// Those of these entries that nothing has superseded or retracted meanwhile.
fn still_current(tx: &Tx<'_>, sight: &Sight, entries: &[MemoryId]) -> Result<Vec<MemoryId>> {
    let mut current = Vec::new();
    for id in entries {
        current.extend(tx.memory(sight, *id)?.filter(|entry| entry.is_current()).map(|_| *id));
    }
    Ok(current)
}

/// Appends the event of a proposal, which the lead of its case sees.
pub(in crate::verbs) fn announce_proposal(
    tx: &mut Tx<'_>,
    actor: &Agent,
    case: &Case,
    number: u64,
    now: Timestamp,
) -> Result<()> {
    let (kind, key) = (EventKind::CaseProposed, case.key.to_string());
    let mut event = NewEvent::for_subject(kind, &case.workspace, key, actor, now, Sharing::Shared);
    event.addressee.clone_from(&case.lead);
    tx.append_event(&event.with_details(&[("number", number.into())])).map(drop)
}

/// The proposals for cases that the caller leads.
pub(in crate::verbs) fn proposals_to(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
) -> Result<Vec<CaseProposal>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let cases = tx.cases_with_proposals(&caller.workspace, &caller.agent, TOLD_PROPOSALS_MAX)?;
    let mut found = Vec::new();
    for case in cases {
        found.extend(open_proposal(tx, sight, &case)?);
    }
    found.retain(|proposal| !proposal.entries.is_empty());
    Ok(found)
}

/// The proposal that waits for the lead of a case, with the entries whose sources everybody on the
/// case still reads as they were.
pub(in crate::verbs) fn open_proposal(
    tx: &Tx<'_>,
    sight: &Sight,
    case: &Case,
) -> Result<Option<CaseProposal>> {
    let all = tx.proposals(&case.workspace, &case.key)?;
    let Some(mut proposal) = all.into_iter().find(|found| found.status == ProposalStatus::Open)
    else {
        return Ok(None);
    };
    let sources: BTreeSet<MemoryId> =
        proposal.entries.iter().flat_map(|entry| entry.sources.iter().copied()).collect();
    let places: Vec<_> = sources.into_iter().map(|id| (case.workspace.clone(), id)).collect();
    let found = tx.memories_of(sight, &places)?;
    let unchanged: BTreeSet<MemoryId> = (found.iter())
        .filter(|memory| is_shareable(memory) && memory.revised_at <= proposal.at)
        .map(|memory| memory.id)
        .collect();
    proposal.entries.retain(|entry| entry.sources.iter().all(|id| unchanged.contains(id)));
    Ok(Some(proposal))
}
