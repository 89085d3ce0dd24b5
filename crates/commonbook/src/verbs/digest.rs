//! The digest of a case: shared memories about the case that it does not hold yet.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::ops::write_once::fit_key;
use super::{Commonbook, case};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::case::digest::writing::{DigestWriterHandle, WriterRequest};
use crate::model::case::digest::{
    self, DigestCase, DigestMaterial, DigestResult, DigestSource, EntryProposal, KnownEntry,
    propose_entries,
};
use crate::model::case::{AppendEntries, Case, CaseProposal};
use crate::model::memory::{ListOrder, Memory, Trust};
use crate::model::search::{IndexQuery, MemoryFilter, MemoryRef, SearchFilter};
use crate::model::session::{Session, SessionFilter};
use crate::store::Tx;

/// Memories that a digest reads at most.
const DIGEST_MEMORIES_MAX: usize = 200;

/// Successors of a source that are followed, one after the other.
const SUCCESSORS_MAX: usize = 5;

/// The newest entries that describe what a case is about.
const LATEST_ENTRIES_MAX: usize = 5;

/// The notice of a writer that failed. It names neither the writer nor the cause; the owner finds
/// both in the log.
const WRITER_FAILURE_NOTICE: &str = "The writer in the settings failed; entries marked as extract are agents' own \
    sentences. The log says why.";
const WRITER_UNFIT_NOTICE: &str = "The writer in the settings wrote what is no entry; those marked as extract are \
    agents' own sentences. The log says why.";

impl Commonbook {
    /// The same Commonbook, with this writer for the sentences of digests.
    #[must_use]
    pub fn with_digest_writer(self, writer: Option<DigestWriterHandle>) -> Self {
        Self { writer, ..self }
    }

    /// Gathers what the agents on a case have shared about it and the case does not hold yet, and
    /// appends it unless the request only asks for a preview. The writer, if configured, runs after
    /// all reading and before the one write.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range; `not_found` if the case does not exist; `conflict`
    /// if it takes no entries.
    pub fn digest_case(&self, caller: &Caller, request: &DigestCase) -> Result<DigestResult> {
        let most = u32::try_from(limits::DIGEST_ENTRIES).unwrap_or(u32::MAX);
        let most = page::page_size("limit", request.limit, most, most)?;
        fit_key(request.idempotency_key.as_deref())?;
        let (sight, now) = (Sight::reading_at_home(caller)?, self.clock.now());
        // A digest shows the contradictions of what was saved just before.
        self.follow_contradictions_once(caller)?;
        let (case, entries, proposals) = self.store.read(|tx| {
            let case = case::find_case(tx, caller, &request.key)?;
            let entries = visible_entries(tx, &sight, &case)?;
            let proposals = tx.proposals(&case.workspace, &case.key)?;
            Ok((case, entries, proposals))
        })?;
        let SharedMaterial { memories, replaced, contradictions } =
            self.shared_memories(caller, &sight, &case, &entries, now)?;
        let known: Vec<KnownEntry> = (entries.iter().map(|entry| KnownEntry::of(entry)))
            .chain(proposals.iter().flat_map(CaseProposal::known_entries))
            .collect();
        let shared: Vec<DigestSource> = (memories.into_iter().map(DigestSource::from))
            .map(|source| {
                let old = replaced.iter().filter(|(_, heir)| *heir == source.id);
                DigestSource { replaces: old.map(|(old, _)| *old).collect(), ..source }
            })
            .collect();
        let material =
            DigestMaterial { memories: &shared, known: &known, contradictions: &contradictions };
        let proposed = propose_entries(material, most as usize);
        if !request.dry_run && !proposed.is_empty() {
            // The writer is not asked for entries that cannot be appended.
            self.policy.may_write(caller)?;
            case.takes_entries()?;
        }
        let (proposed, notice) = self.write_proposals(&case, proposed, &shared);
        let result = DigestResult { proposed, appended: None, proposal: None, notice };
        if request.dry_run || result.proposed.is_empty() {
            return Ok(result);
        }
        if case.lead.is_some() {
            let proposal = self.put_proposal(caller, &case, &result.proposed)?;
            return Ok(DigestResult { proposal: Some(proposal), ..result });
        }
        let append = AppendEntries {
            key: request.key.clone(),
            title: None,
            entries: result.proposed.iter().map(EntryProposal::entry).collect(),
            // Another digest may have appended the same meanwhile.
            expected_version: Some(case.version),
            based_on: digest_sources(&result.proposed),
            require_current: false,
            idempotency_key: request.idempotency_key.clone(),
        };
        let appended = Some(self.append_entries(caller, &append)?);
        Ok(DigestResult { appended, ..result })
    }

    /// These entries in the writer's sentences, and a notice if the writer failed. After a failure
    /// the agents' own sentences stand, and the writer is not asked again.
    fn write_proposals(
        &self,
        case: &Case,
        proposed: Vec<EntryProposal>,
        sources: &[DigestSource],
    ) -> (Vec<EntryProposal>, Option<String>) {
        let Some(writer) = &self.writer else { return (proposed, None) };
        const ENTRY_TIMEOUT: Duration = Duration::from_secs(limits::DIGEST_ENTRY_SECONDS);
        const DIGEST_TIMEOUT: Duration = Duration::from_secs(limits::DIGEST_SECONDS);
        let (begun, mut notice, mut failed) = (self.clock.now(), None, false);
        let mut entries = Vec::with_capacity(proposed.len());
        for entry in proposed {
            let took = self.clock.now().duration_since(begun);
            let left = DIGEST_TIMEOUT.saturating_sub(took.try_into().unwrap_or_default());
            // Both sides of a contradiction stay in their own words.
            if !entry.sides.is_empty() {
                entries.push(entry);
                continue;
            }
            if failed || left.is_zero() {
                notice = Some(WRITER_FAILURE_NOTICE);
                entries.push(entry);
                continue;
            }
            let facts = WriterRequest::of(case, &entry, sources);
            let written =
                writer.write(&facts, left.min(ENTRY_TIMEOUT)).inspect_err(|_| failed = true);
            match written.and_then(|written| facts.fit(&written)) {
                Ok(sentence) => entries.push(entry.with_wording(writer.kind(), &sentence)),
                Err(error) => {
                    tracing::warn!(case = %case.key, %error, "a digest keeps an agent's own sentence");
                    notice = Some(if failed {
                        WRITER_FAILURE_NOTICE
                    } else {
                        notice.unwrap_or(WRITER_UNFIT_NOTICE)
                    });
                    entries.push(entry);
                }
            }
        }
        (entries, notice.map(str::to_owned))
    }

    /// What the agents on a case have shared about it besides its entries: memories of sessions on
    /// the case, and memories that answer what the case is about. Also returns which of these and of
    /// the entries contradict each other.
    fn shared_memories(
        &self,
        caller: &Caller,
        sight: &Sight,
        case: &Case,
        entries: &[StoredMemory],
        now: Timestamp,
    ) -> Result<SharedMaterial> {
        let latest = entries.iter().rev().filter_map(|entry| entry.summary.as_deref());
        let about: Vec<&str> =
            [case.title.as_str()].into_iter().chain(latest.take(LATEST_ENTRIES_MAX)).collect();
        let question = IndexQuery::from_plain_text(about.join("\n"), SearchFilter::default(), now);
        let found = self.search_index(caller, sight, &question)?.0;
        let fits = found.ranked.into_iter().filter(|hit| hit.relevance >= limits::RELEVANCE_MIN);
        let wanted: Vec<_> =
            fits.take(DIGEST_MEMORIES_MAX).map(|hit| (hit.workspace, hit.id)).collect();
        self.store.read(|tx| {
            let of_case =
                SessionFilter { case: Some(case.key.clone()), ..SessionFilter::default() };
            let sessions = tx.sessions(sight, &of_case, None, limits::PAGE_MAX)?;
            let sessions: Vec<Session> = sessions.into_iter().map(|(_, session)| session).collect();
            let mut agents: BTreeSet<Agent> =
                entries.iter().map(|entry| entry.source.agent.clone()).collect();
            agents.extend(sessions.iter().map(|session| session.agent.clone()));
            let mut shared = tx.memories_of(sight, &wanted)?;
            shared.retain(|memory| agents.contains(&memory.source.agent));
            for session in &sessions {
                let id = Some(session.id.to_string());
                let kept = MemoryFilter { session: id, ..MemoryFilter::default() };
                let kept = tx.memories(sight, &kept, ListOrder::Newest, None, limits::PAGE_MAX)?;
                shared.extend(kept.into_iter().map(|(_, memory)| memory));
            }
            // The agent's own words of a session, in the case, are its digest.
            shared.retain(|memory| !sessions.iter().any(|session| session.has_summed_up(memory)));
            let SourceHeirs { heirs, replaced } = heirs_of_sources(tx, sight, entries)?;
            shared.extend(heirs);
            shared.retain(|memory| is_shareable(memory));
            shared.truncate(DIGEST_MEMORIES_MAX);
            let places: Vec<MemoryRef> = (entries.iter().chain(&shared))
                .map(|memory| (memory.workspace.clone(), memory.id))
                .collect();
            let contradictions = tx.contradicting_pairs(sight, &places)?;
            Ok(SharedMaterial { memories: shared, replaced, contradictions })
        })
    }
}

/// What agents have shared about a case.
struct SharedMaterial {
    memories: Vec<StoredMemory>,
    /// The sources of earlier entries that were superseded since, each with the memory in its place.
    replaced: Vec<(MemoryId, MemoryId)>,
    /// Which of these and of the entries contradict each other.
    contradictions: Vec<(MemoryId, MemoryId)>,
}

/// The memories that took the place of sources of entries.
struct SourceHeirs {
    heirs: Vec<StoredMemory>,
    /// Each source with its heir.
    replaced: Vec<(MemoryId, MemoryId)>,
}

/// The memories that took the place of sources of these entries, and which of which.
fn heirs_of_sources(tx: &Tx<'_>, sight: &Sight, entries: &[StoredMemory]) -> Result<SourceHeirs> {
    let current = entries.iter().filter(|entry| entry.is_current());
    let mut old: Vec<(MemoryRef, MemoryId)> = current
        .flat_map(|entry| {
            let sources = digest::digest_sources(entry).into_iter();
            sources.map(|id| ((entry.workspace.clone(), id), id))
        })
        .collect();
    let (mut heirs, mut replaced) = (Vec::new(), Vec::new());
    for _ in 0..SUCCESSORS_MAX {
        let places: Vec<MemoryRef> = old.iter().map(|(place, _)| place.clone()).collect();
        let found = tx.memories_of(sight, &places)?;
        let of = |(workspace, id): &MemoryRef| {
            found.iter().find(|memory| memory.id == *id && memory.workspace == *workspace)
        };
        let mut next = Vec::new();
        for (place, source) in &old {
            let Some(memory) = of(place) else { continue };
            match memory.superseded_by {
                Some(heir) => next.push(((memory.workspace.clone(), heir), *source)),
                None if memory.id != *source => {
                    replaced.push((*source, memory.id));
                    heirs.push(memory.clone());
                }
                None => {}
            }
        }
        if next.is_empty() {
            break;
        }
        old = next;
    }
    Ok(SourceHeirs { heirs, replaced })
}

/// Whether a memory can go into a case: everybody who reads the case may read the memory.
pub(super) fn is_shareable(memory: &Memory) -> bool {
    memory.case.is_none()
        && access::is_common(memory)
        && memory.is_current()
        && memory.trust == Trust::Normal
}

/// The entries of a case that are in sight, in their order.
fn visible_entries(tx: &Tx<'_>, sight: &Sight, case: &Case) -> Result<Vec<StoredMemory>> {
    case::entries_of(tx, sight, case, 0, case.version)
}

/// The sources of a digest, as an append names its basis: the first of each entry at least.
fn digest_sources(proposed: &[EntryProposal]) -> Vec<String> {
    let firsts = proposed.iter().flat_map(|entry| entry.sources.first());
    let others = proposed.iter().flat_map(|entry| entry.sources.iter().skip(1));
    let mut sources: Vec<String> = firsts.chain(others).map(ToString::to_string).collect();
    sources.truncate(limits::BASED_ON);
    sources
}
