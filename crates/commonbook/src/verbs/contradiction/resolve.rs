//! Resolving a contradiction, and the fate of its two memories.

use jiff::Timestamp;

use super::{contradiction_event, visible_contradiction};
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, RelationId};
use crate::model::access::{self, Audience, Sight, StoredMemory, Visibility};
use crate::model::caller::Caller;
use crate::model::contradiction::{
    Contradiction, ContradictionRecord, ContradictionResolution, ResolutionRecord,
    ResolveContradiction, ResolveContradictionResult, texts_sha256,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::graph::{AddRelation, GraphNode, NodeRef, Relation, RelationType};
use crate::model::lineage::{BasisClaim, DerivedId};
use crate::model::memory::{Memory, SaveMemory, Sharing};
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::memory::{MemoryDraft, keep_memory, replace};
use crate::verbs::ops::basis::FoundBasis;
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Resolves the contradiction between two memories. Repeating the same decision returns the
    /// same response.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `not_found` if no such contradiction is in sight;
    /// `conflict` if it was resolved otherwise; `forbidden` (`ownership_mismatch`) if the caller
    /// would supersede another agent's memory and may not review.
    pub fn resolve_contradiction(
        &self,
        caller: &Caller,
        request: &ResolveContradiction,
    ) -> Result<ResolveContradictionResult> {
        let claim = BasisClaim::parse(&request.based_on, request.require_current)?;
        let decision = request.clone().check()?;
        Sight::writing_at_home(caller)?;
        self.follow_contradictions(caller)?;
        let now = self.clock.now();
        let drafts = self.merge_draft(caller, &decision, now)?;
        let relations = [0, 1].map(|_| RelationId::new(&*self.ids, now));
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let (kept, older, newer) = visible_contradiction(tx, &sight, decision.contradiction)?;
            if let Some(resolved) = &kept.resolved {
                if kept.request_sha256.as_ref() == Some(&decision.fingerprint()) {
                    let contradiction = kept.into_contradiction(&older, &newer);
                    return Ok(ResolveContradictionResult { contradiction, stale: Vec::new() });
                }
                return Err(already_resolved(resolved));
            }
            let deciding = ContradictionDecision { caller, now, request: &decision, relations };
            let said = [&decision.text, &decision.context].into_iter().flatten();
            let said: Vec<&str> = said.map(String::as_str).collect();
            let basis = FoundBasis::find(tx, scope, &claim, &said.join("\n"))?;
            let contradiction = deciding.decide(tx, kept, &older, &newer, drafts.first())?;
            let derived = match drafts.first() {
                Some(draft) => DerivedId::Memory(draft.memory.id),
                None => DerivedId::Resolution(contradiction.id),
            };
            let stale = basis.record(tx, &contradiction.workspace, [derived], now)?;
            Ok(ResolveContradictionResult { contradiction, stale })
        })?;
        Ok(once.answer)
    }

    /// The memory that would supersede both: about everything that the two are about, and shared
    /// like the less shared of the two.
    fn merge_draft(
        &self,
        caller: &Caller,
        request: &ResolveContradiction,
        now: Timestamp,
    ) -> Result<Vec<MemoryDraft>> {
        let Some(text) = &request.text else { return Ok(Vec::new()) };
        let sight = Sight::writing_at_home(caller)?;
        let (_, older, newer) =
            self.store.read(|tx| visible_contradiction(tx, &sight, request.contradiction))?;
        let topics = [older.topics.clone(), newer.topics.clone()].concat();
        let request = SaveMemory {
            text: text.clone(),
            // A type that was saved before it became reserved cannot be chosen now.
            memory_type: Some(newer.memory_type.clone()).filter(|kind| kind.check_choice().is_ok()),
            topics: crate::model::memory::distinct_topics(
                &topics[..topics.len().min(crate::base::limits::TOPICS)],
            )?,
            importance: Some(older.importance.max(newer.importance)),
            sharing: Some(older.sharing.min(newer.sharing)),
            user_id: newer.user_id.clone(),
            about: Some(newer.subject()),
            ..SaveMemory::default()
        };
        let drafts = self.drafts(caller, &[request], now).map_err(|(_, error)| error)?;
        if drafts.iter().any(|draft| draft.memory.is_quarantined()) {
            return Err(Error::invalid("text", "reads like an order to other agents")
                .hint("Say what holds instead of both: a quarantined memory supersedes nothing."));
        }
        Ok(drafts)
    }
}

/// A decision: who makes it, when, and what it says.
struct ContradictionDecision<'d> {
    caller: &'d Caller,
    now: Timestamp,
    request: &'d ResolveContradiction,
    relations: [RelationId; 2],
}

impl ContradictionDecision<'_> {
    fn decide(
        &self,
        tx: &mut Tx<'_>,
        record: ContradictionRecord,
        older: &StoredMemory,
        newer: &StoredMemory,
        draft: Option<&MemoryDraft>,
    ) -> Result<Contradiction> {
        let (mut after, mut stands) = ([older.clone(), newer.clone()], None);
        match self.request.resolution {
            ContradictionResolution::KeepBoth => {
                self.relate(tx, self.relations[0], newer, "context", older)?;
            }
            ContradictionResolution::KeepNewer => {
                after[0] = self.replace(tx, older, self.relations[0], newer)?;
                stands = Some(newer.id);
            }
            ContradictionResolution::Override => {
                let keep = self.request.keep;
                let place = [older.id, newer.id].iter().position(|id| Some(*id) == keep);
                let place = place.ok_or_else(|| {
                    Error::invalid("keep", "the id is neither of the two memories")
                        .hint(format!("Give {} or {}.", older.id, newer.id))
                })?;
                let (winner, loser) = if place == 0 { (older, newer) } else { (newer, older) };
                after[1 - place] = self.replace(tx, loser, self.relations[0], winner)?;
                stands = Some(winner.id);
            }
            ContradictionResolution::Merge => {
                let merged = draft.map(|draft| &draft.memory);
                let merged = merged.ok_or_else(|| Error::invalid("text", "merge needs this"))?;
                if keep_memory(tx, merged, self.now)?.is_quarantined() {
                    return Err(Error::invalid("text", "completes an order to other agents")
                        .hint("Say what holds instead of both, in other words."));
                }
                for (place, old) in [older, newer].into_iter().enumerate() {
                    after[place] = self.replace(tx, old, self.relations[place], merged)?;
                }
                stands = Some(merged.id);
            }
        }
        let [older, newer] = after;
        let record = ContradictionRecord {
            memories: [(older.id, older.revision), (newer.id, newer.revision)],
            resolved: Some(self.resolution_record(stands)),
            request_sha256: Some(self.request.fingerprint()),
            texts_sha256: Some(texts_sha256(&older, &newer)),
            ..record
        };
        tx.put_contradiction(&record, 0)?;
        let kind = EventKind::ContradictionResolved;
        tx.append_event(&contradiction_event(kind, &older, &newer, &self.caller.agent, self.now))?;
        Ok(record.into_contradiction(&older, &newer))
    }

    fn resolution_record(&self, kept: Option<MemoryId>) -> ResolutionRecord {
        ResolutionRecord {
            resolution: self.request.resolution,
            resolved_by: self.caller.agent.clone(),
            resolved_at: self.now,
            context: self.request.context.clone(),
            kept,
        }
    }

    /// Lets one memory supersede another, if the caller may decide that.
    fn replace(
        &self,
        tx: &mut Tx<'_>,
        old: &StoredMemory,
        relation: RelationId,
        new: &Memory,
    ) -> Result<StoredMemory> {
        access::may_replace(self.caller, old).map_err(|error| {
            let hint = error.hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default();
            let owner = &old.owner;
            let other = format!(
                "Resolve it with `keep_both` and the context in which each holds, or let {owner} decide.{hint}"
            );
            error.hint(other)
        })?;
        let after = replace(tx, self.caller, old, new, self.now)
            .map_err(|error| error.with_field("resolution"))?;
        self.relate(tx, relation, new, "supersedes", old)?;
        Ok(after)
    }

    /// Relates two memories, with the event.
    fn relate(
        &self,
        tx: &mut Tx<'_>,
        id: RelationId,
        from: &Memory,
        kind: &str,
        to: &Memory,
    ) -> Result<()> {
        let relation_type: RelationType = kind.parse()?;
        let request = AddRelation {
            from: NodeRef::Memory(from.id),
            to: NodeRef::Memory(to.id),
            relation_type,
            valid_from: None,
            valid_until: None,
            idempotency_key: None,
        };
        let (agent, workspace) = (&self.caller.agent, &from.workspace);
        let (source, target) = (GraphNode::Memory(from.id), GraphNode::Memory(to.id));
        let of = |memory: &Memory| Audience::of(&Visibility::of(memory));
        let audience = Audience::of_both(&of(from), &of(to), agent);
        let existing = tx.relation(workspace, source, target, &request.relation_type, &audience)?;
        let relation = match existing {
            // A decision that was taken back may be taken again.
            Some(existing) => {
                Relation { valid_until: None, ..existing.reinforce(&request, self.now) }
            }
            None => Relation::new(id, workspace.clone(), source, &request, target, agent, self.now),
        };
        tx.put_relation(&relation, &audience)?;
        let sharing = Sharing::shared_if(access::is_common(from) && access::is_common(to));
        let (kind, id) = (EventKind::RelationAdded, relation.id.to_string());
        tx.append_event(&NewEvent::for_subject(kind, workspace, id, agent, self.now, sharing))?;
        Ok(())
    }
}

/// The error for a decision that differs from the earlier one.
fn already_resolved(resolved: &ResolutionRecord) -> Error {
    let ResolutionRecord { resolution, resolved_by, resolved_at, .. } = resolved;
    Error::conflict(format!("{resolved_by} resolved this with {resolution} at {resolved_at}"))
        .hint("Call reopen_contradiction to take that back, and resolve it anew.")
}
