//! Rebuilding a context from the candidates in its receipt.

use std::collections::BTreeSet;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::{HandoffId, MemoryId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::Case;
use crate::model::contradiction::ContradictionMark;
use crate::prompt::context::choose::{
    CandidateReceipt, ContextCandidate, ContextQuery, ContextSettings, ContextSource,
    HeadlineSettings, OmissionReason,
};
use crate::prompt::context::{
    CandidateBuilder, ContextOptions, ContextOrigin, ContextReceipt, ContextRecord, ContextReplay,
    HandoffQueue, PROPOSAL_PREFIX,
};
use crate::store::Tx;
use crate::verbs::retraction::waiting_retractions;
use crate::verbs::{Commonbook, case};
use commonbook_text::fence::Fence;

use super::handoff_tokens;
use super::standing_parts::ContextFrame;

impl Commonbook {
    /// Rebuilds a context from the same candidates, each with its score and revision of then, with
    /// the same fence and at the same time.
    pub(super) fn replay(&self, caller: &Caller, kept: &ContextRecord) -> Result<ContextReplay> {
        may_replay(caller, kept)?;
        let user = kept.receipt.diagnostics.resolved_user_id.as_deref();
        let caller = caller.clone().for_user(user)?;
        let sight = Sight::reading(&caller)?;
        let wanted = ContextOptions {
            task: kept.receipt.query.clone(),
            settings: receipt_settings(&kept.receipt),
        };
        let mut differences = Vec::new();
        let contradictions = shown_pairs(&kept.receipt);
        let marks = receipt_marks(&kept.receipt);
        let gathering = CandidateBuilder {
            agent: &caller.agent,
            templates: &self.templates,
            contradictions: &contradictions,
            marks: &marks,
        };
        // A briefing with a prompt reads no file.
        let standing = match &kept.standing {
            Some(_) => self.own_standing(&caller, self.clock.now())?,
            None => Vec::new(),
        };
        let as_it_was = self.standing_snapshot(&caller, &standing)? == kept.standing;
        if !as_it_was {
            differences.push("the standing memory file has changed since".to_owned());
        }
        let mut candidates: Vec<ContextCandidate> = Vec::new();
        let queue = receipt_queue(&kept.receipt);
        let tokens = handoff_tokens(&wanted.settings, queue.told.max(1));
        let mut queue = Some(queue);
        self.store.read(|tx| {
            candidates.extend(told_retractions(tx, &caller, &sight, gathering, kept)?);
            for candidate in other_candidates(&kept.receipt) {
                if let Some(id) = handoff_of(candidate) {
                    match tx.handoff(&sight, id)? {
                        Some(handoff) => candidates.push(match candidate.source {
                            ContextSource::Result => gathering.result(&handoff),
                            // The first handoff carries the length of the queue.
                            _ => gathering.handoff(&handoff, tokens, queue.take()),
                        }),
                        None => differences.push(gone_message(candidate)),
                    }
                    continue;
                }
                match rebuild_candidate(tx, &sight, &caller, gathering, candidate)? {
                    Some(candidate) => candidates.push(candidate),
                    None if candidate.source == ContextSource::Standing => {}
                    None => differences.push(gone_message(candidate)),
                }
            }
            Ok(())
        })?;
        let query = ContextQuery {
            query: &wanted.task,
            user_id: user,
            now: kept.at,
            note: "",
            memories: kept.receipt.memories,
        };
        let fence = fence_then(kept)?;
        let prepare = |candidates: &mut Vec<ContextCandidate>| {
            place_as_then(candidates, &kept.receipt);
        };
        let settings = &wanted.settings;
        let frame = ContextFrame { gathering, settings, fence: &fence, prepare: &prepare };
        let chosen = self.choose_with_standing(&caller, &query, candidates, frame, &standing)?;
        let same = sha256(&chosen.text) == kept.sha256;
        if !same && differences.is_empty() {
            differences
                .push("the text differs: the templates or the version have changed".to_owned());
        }
        Ok(ContextReplay { same, differences })
    }
}

/// Checks that this caller can have this context built again.
///
/// # Errors
/// `forbidden` for the context of another agent, `invalid` for a text without a choice.
fn may_replay(caller: &Caller, kept: &ContextRecord) -> Result<()> {
    if kept.agent != caller.agent {
        let message = format!("{} alone can replay what it received", kept.agent);
        return Err(Error::new(ErrorKind::Forbidden, message)
            .with_field("replay")
            .hint("Leave `replay` out to read the receipt."));
    }
    if matches!(kept.receipt.origin, ContextOrigin::Handoff | ContextOrigin::Resume) {
        let message = format!("is for chosen contexts; this one is a {}", kept.receipt.origin);
        return Err(
            Error::invalid("replay", message).hint("Leave `replay` out to read the receipt.")
        );
    }
    Ok(())
}

/// The retractions that a context told, by what is stored of them.
fn told_retractions(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    builder: CandidateBuilder<'_>,
    kept: &ContextRecord,
) -> Result<Vec<ContextCandidate>> {
    let heard = waiting_retractions(tx, caller, sight, Some(kept.at))?;
    let told = heard.iter().filter_map(|(notice, memory)| builder.retraction(notice, memory));
    Ok(told.collect())
}

/// The candidates that the receipt itself names.
fn other_candidates(receipt: &ContextReceipt) -> impl Iterator<Item = &CandidateReceipt> {
    receipt.candidates.iter().filter(|candidate| candidate.source != ContextSource::Retraction)
}

/// The queue of handoffs that a context told of.
fn receipt_queue(receipt: &ContextReceipt) -> HandoffQueue {
    let waited = |candidate: &&CandidateReceipt| candidate.source == ContextSource::Handoff;
    let told = receipt.candidates.iter().filter(waited).count() as u64;
    HandoffQueue { told, waiting: told + receipt.handoffs_left }
}

/// The contradictions that a context showed; those of today may differ.
fn receipt_marks(receipt: &ContextReceipt) -> Vec<ContradictionMark> {
    receipt.candidates.iter().flat_map(|candidate| candidate.contradictions.clone()).collect()
}

/// Texts that were shown as a pair are shown as a pair again, whatever was found or resolved since.
fn shown_pairs(receipt: &ContextReceipt) -> Vec<(MemoryId, MemoryId)> {
    let pairs = receipt.candidates.iter().filter_map(|candidate| {
        candidate.id.parse().ok().zip(candidate.with.as_ref()?.parse().ok())
    });
    pairs.collect()
}

/// The fence of a context that was made before.
fn fence_then(kept: &ContextRecord) -> Result<Fence> {
    Fence::with_nonce(&kept.nonce).ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the receipt has a nonce that no fence can have")
    })
}

/// Gives candidates the places that the search gave them, leaves out again what the session had heard, and
/// names by headlines what the text named.
fn place_as_then(candidates: &mut [ContextCandidate], receipt: &ContextReceipt) {
    let ids = |chosen: fn(&CandidateReceipt) -> bool| -> BTreeSet<&str> {
        let candidates = receipt.candidates.iter().filter(|candidate| chosen(candidate));
        candidates.map(|candidate| candidate.id.as_str()).collect()
    };
    let heard = ids(|candidate| candidate.left_out == Some(OmissionReason::Repeated));
    let named = ids(|candidate| candidate.headline);
    for candidate in candidates.iter_mut() {
        candidate.repeated = heard.contains(candidate.item.id.as_str());
        candidate.headline_repeated = !named.contains(candidate.item.id.as_str());
    }
    let relevant = candidates.iter_mut().filter(|found| found.source == ContextSource::Relevant);
    for (place, candidate) in relevant.enumerate() {
        candidate.place = place;
    }
}

fn gone_message(candidate: &CandidateReceipt) -> String {
    format!("{} is gone or hidden now", candidate.id)
}

/// The handoff that a candidate tells of.
fn handoff_of(candidate: &CandidateReceipt) -> Option<HandoffId> {
    let is_handoff = matches!(candidate.source, ContextSource::Handoff | ContextSource::Result);
    candidate.id.parse().ok().filter(|_| is_handoff)
}

/// The settings that a receipt records.
fn receipt_settings(receipt: &ContextReceipt) -> ContextSettings {
    ContextSettings {
        auto_inject: receipt.diagnostics.auto_inject_enabled,
        headlines: match receipt.origin {
            ContextOrigin::Briefing => HeadlineSettings::PROMPT,
            _ => HeadlineSettings::TASK,
        },
        full_first: usize::try_from(receipt.full_first).unwrap_or(usize::MAX),
        by_command: receipt.by_command,
        threshold: receipt.threshold,
        maximum: receipt.maximum,
        budget: receipt.budget,
        standing: usize::try_from(receipt.standing_budget).ok().filter(|own| *own > 0),
        ..ContextSettings::default()
    }
}

/// A candidate as it was then; `None` if it is gone.
fn rebuild_candidate(
    tx: &Tx<'_>,
    sight: &Sight,
    caller: &Caller,
    builder: CandidateBuilder<'_>,
    receipt: &CandidateReceipt,
) -> Result<Option<ContextCandidate>> {
    if let Some(key) = receipt.id.strip_prefix(PROPOSAL_PREFIX) {
        let Some(case) = tx.case(&caller.workspace, &key.parse()?)? else { return Ok(None) };
        let proposal = case::open_proposal(tx, sight, &case)?;
        return Ok(proposal.map(|proposal| builder.proposal(&proposal)));
    }
    let Some((id, revision)) = MemoryId::parse(&receipt.id).zip(receipt.revision) else {
        return Ok(None);
    };
    let Some(memory) = memory_at_revision(tx, sight, id, revision)? else { return Ok(None) };
    let case: Option<Case> = match (&memory.case, receipt.source) {
        (Some(key), ContextSource::Entry) => tx.case(&caller.workspace, key)?,
        _ => None,
    };
    Ok(Some(match case {
        Some(case) => builder.entry(&case, &memory),
        None => builder.memory(receipt.source, &memory, receipt.score),
    }))
}

/// A memory at one of its revisions.
fn memory_at_revision(
    tx: &Tx<'_>,
    sight: &Sight,
    id: MemoryId,
    revision: u64,
) -> Result<Option<StoredMemory>> {
    match tx.memory(sight, id)? {
        Some(memory) if memory.revision == revision => Ok(Some(memory)),
        Some(_) => Ok(tx
            .earlier_revisions(sight, id)?
            .into_iter()
            .find(|memory| memory.revision == revision)),
        None => Ok(None),
    }
}
