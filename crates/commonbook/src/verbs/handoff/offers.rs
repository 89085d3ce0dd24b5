//! What a handoff may carry: memories found by its task, at hand, inherited from earlier handoffs,
//! or named.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::super::Commonbook;
use super::super::memory::live_memory;
use super::text::earlier_links;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{EntityId, HandoffId, MemoryId, SessionId};
use crate::base::limits;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::case::digest::is_copy_of;
use crate::model::entity::{MentionLink, OwnTypes, query_name_ids};
use crate::model::handoff::choose::{
    AT_HAND_CANDIDATES_MAX, HandoffCandidate, MeaningNearness, SEARCH_CANDIDATES_MAX,
};
use crate::model::handoff::{
    BroughtWork, ChainPosition, Handoff, HandoffDraft, HandoffFilter, HandoffOrigin, HandoffSide,
    HandoffStatus, ReceivedHandoffs, SearchText,
};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::{IndexQuery, MemoryFilter, MemoryRef, SearchFilter};
use crate::model::session::SessionStatus;
use crate::prompt::handoff::{EntityOffer, HandoffOffers, MemoryOffer, inherited_memories};
use crate::prompt::item::EntitySummary;
use crate::store::Tx;
use crate::verbs::ops::find_visible::{find_visible_entity, mentioned_items};
use crate::verbs::ops::heirs::last_heir;
use commonbook_text::terms::query_terms;

impl Commonbook {
    /// The requested handoff, and everything that it may carry.
    pub(super) fn offers(
        &self,
        caller: &Caller,
        id: HandoffId,
        draft: &HandoffDraft,
        now: Timestamp,
    ) -> Result<(Handoff, HandoffOffers)> {
        self.follow_mentions(caller)?;
        let sight = Sight::consulting(caller)?;
        let found = self.search_task(caller, &sight, draft, now)?;
        let (handoff, offers) = self.store.read(|tx| {
            if let Some(case) = &draft.case {
                super::super::case::find_case(tx, caller, &case_key(case)?)?;
            }
            let most = limits::HANDOFFS_RECEIVED;
            let received = tx.received_handoffs(&sight, &caller.agent, most)?;
            let place = chain_position(tx, caller, id, draft, &received, now)?;
            let before = |handoff: &&Handoff| place.follows.contains(&handoff.id);
            let followed: Vec<&Handoff> = received.iter().filter(before).collect();
            let mut gathered = OfferPool::default();
            gathered.add_named(tx, &sight, caller, draft)?;
            gathered.add_hits(tx, &sight, &found)?;
            gathered.add_at_hand(tx, &sight, caller, draft)?;
            gathered.add_recent(tx, &sight, caller, now)?;
            gathered.add_inherited(tx, &sight, &followed)?;
            let brought = brought_back(tx, &sight, caller, draft, now)?;
            for handoff in &brought {
                gathered.add_brought(tx, &sight, handoff)?;
            }
            let origin = HandoffOrigin {
                workspace: caller.workspace.clone(),
                from: caller.agent.clone(),
                user_id: caller.user.clone(),
            };
            let handoff = Handoff::new(id, draft, origin, place, now);
            let inherited = followed
                .iter()
                .flat_map(|handoff| &handoff.entities)
                .map(|entity| entity.id)
                .collect();
            let offers = gathered.into_offers(
                tx,
                &sight,
                &self.entity_rules.own_types,
                &handoff,
                draft,
                &inherited,
            )?;
            let target = target_sight(&handoff);
            let earlier = earlier_links(tx, &target, &handoff)?;
            let seen = |brought: &Handoff| {
                let is_new = !earlier.iter().any(|link| link.handoff == brought.id);
                is_new && target.can_see(&brought.handoff_visibility(&target.agent))
            };
            let brought = brought.into_iter().filter(seen).map(BroughtWork::from).collect();
            Ok((handoff, HandoffOffers { earlier, brought, ..offers }))
        })?;
        let nearness = self.nearness_at_hand(caller, draft, &offers.memories, now);
        Ok((handoff, HandoffOffers { nearness, ..offers }))
    }

    /// The request with the case of the source's session, if it names none.
    pub(super) fn with_session_case(
        &self,
        caller: &Caller,
        draft: HandoffDraft,
    ) -> Result<HandoffDraft> {
        let session = draft.session.as_deref().and_then(SessionId::parse);
        let Some(session) = session.filter(|_| draft.case.is_none()) else { return Ok(draft) };
        let sight = Sight::consulting(caller)?;
        let found = self.store.read(|tx| tx.session(&sight, session))?;
        let case = found.and_then(|found| found.case).map(|case| case.to_string());
        Ok(HandoffDraft { case, ..draft })
    }

    /// How near what is at hand is to the task and to each other.
    fn nearness_at_hand(
        &self,
        caller: &Caller,
        draft: &HandoffDraft,
        offers: &[MemoryOffer],
        now: Timestamp,
    ) -> MeaningNearness {
        let at_hand =
            offers.iter().filter(|offer| offer.candidate.at_hand || offer.candidate.recent);
        let place = |offer: &MemoryOffer| (caller.workspace.clone(), offer.candidate.id);
        let places: Vec<MemoryRef> = at_hand.map(place).collect();
        // The text of the first search, whose vector is known.
        let text = draft.search_texts().into_iter().next().map(|search| search.text);
        let text = text.unwrap_or_default();
        let task = IndexQuery::from_plain_text(text, SearchFilter::default(), now);
        self.index.meaning_nearness(&task, &places)
    }

    /// The memories that searches for the task and for the source's lines find, each with its best
    /// score from 0 to 1.
    fn search_task(
        &self,
        caller: &Caller,
        sight: &Sight,
        draft: &HandoffDraft,
        now: Timestamp,
    ) -> Result<BTreeMap<MemoryRef, f64>> {
        let mut scores: BTreeMap<MemoryRef, f64> = BTreeMap::new();
        for SearchText { text, weight } in draft.search_texts() {
            // Not parsed as a query: the task may contain `-without` or `type:x`.
            let question = IndexQuery::from_plain_text(text, SearchFilter::default(), now);
            let question = IndexQuery { most: SEARCH_CANDIDATES_MAX as usize, ..question };
            for hit in self.search_index(caller, sight, &question)?.0.ranked {
                let best = scores.entry((hit.workspace, hit.id)).or_default();
                *best = best.max(weight * hit.relevance);
            }
        }
        Ok(scores)
    }
}

/// The position of a new handoff in its chain.
fn chain_position(
    tx: &Tx<'_>,
    caller: &Caller,
    id: HandoffId,
    draft: &HandoffDraft,
    received: &[Handoff],
    now: Timestamp,
) -> Result<ChainPosition> {
    let user = caller.user.as_deref();
    let is_other = |id: &&HandoffId| !received.iter().any(|handoff| handoff.id == **id);
    let sight = Sight::consulting(caller)?;
    let sent = draft.follows.iter().filter(is_other);
    let sent = sent.filter_map(|id| tx.handoff(&sight, *id).transpose());
    let sent = sent.collect::<Result<Vec<Handoff>>>()?;
    let received = ReceivedHandoffs { handoffs: received, sent: &sent, handed_on: &[], user, now };
    let completed = received.completed_lately();
    let handed_on = match completed.is_empty() {
        true => Vec::new(),
        false => tx.handed_on(&caller.workspace, &completed)?,
    };
    let received = ReceivedHandoffs { handed_on: &handed_on, ..received };
    ChainPosition::of(id, draft, &caller.agent, received)
}

/// The latest completed handoffs of the source that belong to this work, each with the completed ones to which its
/// target handed parts of it on.
fn brought_back(
    tx: &Tx<'_>,
    sight: &Sight,
    caller: &Caller,
    draft: &HandoffDraft,
    now: Timestamp,
) -> Result<Vec<Handoff>> {
    let completed = |side, chain| HandoffFilter {
        side,
        chain,
        status: vec![HandoffStatus::Completed],
        ..HandoffFilter::default()
    };
    let found = tx.handoffs(sight, &completed(HandoffSide::Sent, None), None, BROUGHT_MAX)?;
    let user = caller.user.as_deref();
    let belongs = |handoff: &Handoff| BroughtWork::belongs_to(handoff, draft, user, now);
    let mut brought: Vec<Handoff> =
        found.into_iter().map(|(_, handoff)| handoff).filter(belongs).collect();
    let chains: BTreeSet<HandoffId> = brought.iter().map(|handoff| handoff.chain).collect();
    for chain in chains {
        let filter = completed(HandoffSide::All, Some(chain));
        let of_chain = tx.handoffs(sight, &filter, None, BROUGHT_MAX)?;
        // The newest come first, and a part is newer than the whole.
        for (_, part) in of_chain.into_iter().rev() {
            let is_known = |id: &HandoffId| brought.iter().any(|handoff| handoff.id == *id);
            let is_part = part.follows.iter().any(is_known) && !is_known(&part.id);
            if is_part && part.from != caller.agent && brought.len() < BROUGHT_MAX as usize {
                brought.push(part);
            }
        }
    }
    Ok(brought)
}

/// The sight of a handoff's target in its work.
fn target_sight(handoff: &Handoff) -> Sight {
    Sight {
        agent: handoff.to.clone(),
        user: handoff.user_id.clone(),
        workspaces: handoff.workspace.with_global(),
        reviews: false,
        is_person: false,
        opaque: false,
    }
}

/// The latest completed handoffs of the source, and of a chain, that are read.
const BROUGHT_MAX: u32 = 20;

/// Entities named in the task, and by no memory of the handoff, that are looked up at most.
const TASK_ENTITIES_MAX: usize = 5;

/// A memory that the handoff may carry, and why.
struct OfferCandidate {
    memory: StoredMemory,
    found: f64,
    at_hand: bool,
    brought_by: Option<HandoffId>,
    recent: bool,
    named: bool,
    inherited: Option<(f64, HandoffId)>,
}

/// The memories that the handoff may carry, in the order of their discovery.
#[derive(Default)]
struct OfferPool(Vec<OfferCandidate>);

impl OfferPool {
    /// The candidate of a memory, added if it is new; `None` if the memory is not current or is
    /// quarantined.
    fn add(&mut self, memory: StoredMemory) -> Option<&mut OfferCandidate> {
        if !memory.is_usable() {
            return None;
        }
        let existing = self.0.iter().position(|candidate| candidate.memory.id == memory.id);
        let place = existing.unwrap_or_else(|| {
            self.0.push(OfferCandidate {
                memory,
                found: 0.0,
                at_hand: false,
                brought_by: None,
                recent: false,
                named: false,
                inherited: None,
            });
            self.0.len() - 1
        });
        self.0.get_mut(place)
    }

    /// Adds the memories that the source named.
    fn add_named(
        &mut self,
        tx: &Tx<'_>,
        sight: &Sight,
        caller: &Caller,
        draft: &HandoffDraft,
    ) -> Result<()> {
        for (place, id) in draft.memories.iter().enumerate() {
            let field = format!("memories[{place}]");
            let memory = live_memory(tx, sight, *id).map_err(|error| error.with_field(&field))?;
            if memory.user_id.is_some() && memory.user_id != caller.user {
                let error =
                    Error::invalid(&field, "the memory is about a user for whom you do not work");
                return Err(error.hint("Hand the memory over while you work for that user."));
            }
            match self.add(memory) {
                Some(candidate) => candidate.named = true,
                None => {
                    return Err(Error::invalid(&field, "the memory is superseded or quarantined")
                        .hint("Name its successor; a quarantined memory cannot be handed over."));
                }
            }
        }
        Ok(())
    }

    /// Adds the memories that searches found.
    fn add_hits(
        &mut self,
        tx: &Tx<'_>,
        sight: &Sight,
        hits: &BTreeMap<MemoryRef, f64>,
    ) -> Result<()> {
        let wanted: Vec<MemoryRef> = hits.keys().cloned().collect();
        for memory in tx.memories_of(sight, &wanted)? {
            let score = hits.get(&(memory.workspace.clone(), memory.id)).copied();
            if let Some(candidate) = self.add(memory) {
                candidate.found = score.unwrap_or(0.0);
            }
        }
        Ok(())
    }

    /// Adds the newest memories that the source saved in this session, and the newest of this case.
    fn add_at_hand(
        &mut self,
        tx: &Tx<'_>,
        sight: &Sight,
        caller: &Caller,
        draft: &HandoffDraft,
    ) -> Result<()> {
        let owner = Some(caller.agent.to_string());
        let of_session = draft.session.clone().map(|session| MemoryFilter {
            session: Some(session),
            owner,
            ..MemoryFilter::default()
        });
        let case = draft.case.as_deref().map(case_key).transpose()?;
        let of_case = case.map(|case| MemoryFilter { case: Some(case), ..MemoryFilter::default() });
        for filter in of_session.into_iter().chain(of_case) {
            for (_, memory) in
                tx.memories(sight, &filter, ListOrder::Newest, None, AT_HAND_CANDIDATES_MAX)?
            {
                if let Some(candidate) = self.add(memory) {
                    candidate.at_hand = true;
                }
            }
        }
        Ok(())
    }

    /// Adds the newest memories that the source saved in the last hours; if it works in a session,
    /// without those of its other sessions that have not ended.
    fn add_recent(
        &mut self,
        tx: &Tx<'_>,
        sight: &Sight,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<()> {
        let at_hand = self.0.iter().filter(|candidate| candidate.at_hand).count();
        let room = (AT_HAND_CANDIDATES_MAX as usize).saturating_sub(at_hand);
        if room == 0 {
            return Ok(());
        }
        let here = Sight { workspaces: vec![caller.workspace.clone()], ..sight.clone() };
        let owner = Some(caller.agent.to_string());
        let filter = MemoryFilter { owner, ..MemoryFilter::default() };
        let hours = SignedDuration::from_hours(limits::HANDOFF_RECENT_HOURS);
        let since = now.checked_sub(hours).unwrap_or(Timestamp::MIN);
        let newest =
            tx.memories(&here, &filter, ListOrder::Newest, None, AT_HAND_CANDIDATES_MAX)?;
        let mut other_work: BTreeMap<String, bool> = BTreeMap::new();
        let mut added = 0;
        for (_, memory) in newest {
            if memory.recorded_at < since || added == room {
                break;
            }
            let other = memory.session.clone().filter(|_| caller.session.is_some());
            if let Some(other) = other.filter(|other| caller.session.as_ref() != Some(other)) {
                let known = other_work.get(&other).copied();
                let is_open = known.map_or_else(|| is_open_session(tx, &here, &other), Ok)?;
                other_work.insert(other, is_open);
                if is_open {
                    continue;
                }
            }
            if let Some(candidate) = self.add(memory) {
                candidate.recent = true;
                added += 1;
            }
        }
        Ok(())
    }

    /// Adds the memories that the source received by the handoffs that this one continues. The
    /// successor of one that was superseded since takes its place.
    fn add_inherited(&mut self, tx: &Tx<'_>, sight: &Sight, followed: &[&Handoff]) -> Result<()> {
        for (id, with) in inherited_memories(followed) {
            let Some(memory) = tx.memory(sight, id)? else { continue };
            let memory = last_heir(tx, sight, &memory)?.unwrap_or(memory);
            if let Some(candidate) = self.add(memory) {
                let best = candidate.inherited.filter(|(score, _)| *score >= with.0);
                candidate.inherited = best.or(Some(with));
            }
        }
        Ok(())
    }

    /// Adds the memories that the target of a completed handoff saved while it held it.
    fn add_brought(&mut self, tx: &Tx<'_>, sight: &Sight, handoff: &Handoff) -> Result<()> {
        let (Some(start), Some(end)) = (handoff.accepted_at, handoff.ended_at) else {
            return Ok(());
        };
        let owner = Some(handoff.to.to_string());
        let filter =
            MemoryFilter { owner, session: handoff.accepted_in.clone(), ..MemoryFilter::default() };
        let found = tx.memories(sight, &filter, ListOrder::Newest, None, AT_HAND_CANDIDATES_MAX)?;
        for (_, memory) in found {
            if (start..=end).contains(&memory.recorded_at)
                && let Some(candidate) = self.add(memory)
            {
                candidate.at_hand = true;
                candidate.brought_by = Some(handoff.id);
            }
        }
        Ok(())
    }

    /// Turns all candidates into offers, with the entities that they and the task mention.
    fn into_offers(
        mut self,
        tx: &Tx<'_>,
        sight: &Sight,
        own: &OwnTypes,
        handoff: &Handoff,
        draft: &HandoffDraft,
        inherited: &BTreeSet<EntityId>,
    ) -> Result<HandoffOffers> {
        // A memory about a user goes along only while the work is for that user.
        let about = |memory: &Memory| memory.user_id.is_none() || memory.user_id == handoff.user_id;
        let all = self.0.len();
        self.0.retain(|candidate| about(&candidate.memory));
        let about_others = all - self.0.len();
        let workspace = &handoff.workspace;
        let offered: Vec<MemoryId> = self.0.iter().map(|candidate| candidate.memory.id).collect();
        // Nobody receives an entry beside the memory that a digest made it of, unless it is named.
        self.0.retain(|candidate| candidate.named || !is_copy_of(&candidate.memory, &offered));
        let ids: Vec<MemoryId> = self.0.iter().map(|candidate| candidate.memory.id).collect();
        let mentions = tx.entities_mentioned_in(sight, workspace, &ids)?;
        let mut mentioned: BTreeMap<MemoryId, BTreeSet<EntityId>> = BTreeMap::new();
        for mention in &mentions {
            mentioned.entry(mention.memory).or_default().insert(mention.entity);
        }
        let names = query_name_ids(workspace, &draft.whole_text(), own);
        let task: BTreeSet<EntityId> = tx.roots(sight, workspace, &names)?.into_iter().collect();
        let memories: Vec<&Memory> = self.0.iter().map(|candidate| &*candidate.memory).collect();
        let entities = entity_offers(tx, handoff, draft, &memories, &mentions, &task, inherited)?;
        let offer = |offered: OfferCandidate| {
            let memory = offered.memory;
            let candidate = HandoffCandidate {
                found: offered.found,
                at_hand: offered.at_hand,
                brought_by: offered.brought_by,
                recent: offered.recent,
                words: match offered.at_hand || offered.recent {
                    true => query_terms(&memory.full_text()).into_iter().collect(),
                    false => BTreeSet::new(),
                },
                entities: mentioned.get(&memory.id).cloned().unwrap_or_default(),
                named: offered.named,
                came_with: offered.inherited.map(|(score, _)| score),
                ..HandoffCandidate::of(&memory)
            };
            let received_by = offered.inherited.map(|(_, by)| by);
            MemoryOffer { candidate, memory: (*memory).clone(), received_by }
        };
        let memories = self.0.into_iter().map(offer).collect();
        Ok(HandoffOffers { memories, entities, task, about_others, ..HandoffOffers::default() })
    }
}

/// The entities that the handoff may carry, of those that the target sees: first those that the
/// task names, then inherited ones, then those that most memories mention.
fn entity_offers(
    tx: &Tx<'_>,
    handoff: &Handoff,
    draft: &HandoffDraft,
    memories: &[&Memory],
    mentions: &[MentionLink],
    task: &BTreeSet<EntityId>,
    inherited: &BTreeSet<EntityId>,
) -> Result<Vec<EntityOffer>> {
    let target = target_sight(handoff);
    // An entity exists for the target if the target sees a memory that mentions it.
    let seen: BTreeMap<MemoryId, &Memory> = memories
        .iter()
        .filter(|memory| target.sees(memory))
        .map(|memory| (memory.id, *memory))
        .collect();
    let by = |id: MemoryId| seen.get(&id).copied();
    let mut summaries = mentioned_items(tx, &handoff.workspace, mentions, by)?;
    for id in task.iter().take(TASK_ENTITIES_MAX) {
        if summaries.contains_key(id) {
            continue;
        }
        match find_visible_entity(tx, &target, *id) {
            Ok(entity) => drop(summaries.insert(*id, entity.into())),
            Err(error) if error.kind == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut counts: BTreeMap<EntityId, usize> = BTreeMap::new();
    for mention in mentions {
        *counts.entry(mention.entity).or_default() += 1;
    }
    let mut ranked: Vec<EntitySummary> = summaries.into_values().collect();
    let weight =
        |id: &EntityId| (task.contains(id), inherited.contains(id), counts.get(id).copied());
    ranked.sort_by_key(|summary| std::cmp::Reverse(weight(&summary.id)));
    ranked.truncate(draft.settings.max_entities as usize);
    let offer = |summary: EntitySummary| {
        let (in_task, received) = (task.contains(&summary.id), inherited.contains(&summary.id));
        EntityOffer { summary, in_task, received }
    };
    Ok(ranked.into_iter().map(offer).collect())
}

/// Whether a session has not ended. One that was never started by its id counts as not ended: nobody
/// says that its work is over.
fn is_open_session(tx: &Tx<'_>, sight: &Sight, session: &str) -> Result<bool> {
    let Some(id) = SessionId::parse(session) else { return Ok(true) };
    let found = tx.session(sight, id)?;
    Ok(found.is_none_or(|found| found.status != SessionStatus::Completed))
}

fn case_key(case: &str) -> Result<CaseKey> {
    case.parse().map_err(|error: Error| error.with_field("case"))
}
