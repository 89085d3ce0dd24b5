//! Selection: takes the best candidates within the budget, and records why others are left out.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntityCandidate, HandoffCandidate, HandoffSettings};
use crate::base::id::{EntityId, MemoryId};
use crate::model::handoff::{HandoffEntity, HandoffMemory, InclusionReason};
use commonbook_text::string_enum;
use commonbook_text::tokens::TokenBudget;

/// One part in this many of the room is reserved for entities.
const ENTITY_ROOM_DIVISOR: usize = 5;

string_enum! {
    /// Why a handoff leaves a memory out.
    ExclusionReason {
        /// Its score or its fit is too low.
        Unfit = "unfit",
        /// The maximum number of memories was reached.
        Crowded = "crowded",
        /// It is longer than the tokens that were left.
        Budget = "budget",
        /// It is private, and its owner did not name it.
        Private = "private",
    }
}

/// A memory that a handoff leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExclusion {
    /// The memory's id.
    pub id: MemoryId,
    /// Its score.
    pub score: f64,
    /// Why it is left out.
    pub reason: ExclusionReason,
}

/// The contents of a handoff, and the candidates left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffSelection {
    /// The memories: named ones, then by score.
    pub memories: Vec<HandoffMemory>,
    /// The entities, most mentioned first.
    pub entities: Vec<HandoffEntity>,
    /// The memories left out, by score.
    pub left_out: Vec<MemoryExclusion>,
}

/// Selects for a task that mentions these entities.
///
/// Named memories come first, in the order given; then all others by score, inherited ones with the
/// score of their earlier handoff. Those that are only at hand and the rest take turns; the result is
/// by score. A memory that is longer than the tokens left is skipped, and the
/// next is tried. A private memory is included only if it is named. An entity is included if the
/// task or an included memory mentions it, or an earlier handoff included it; not if these tell its
/// name and nothing more is known about it. `tokens` returns the
/// length of a memory in the text; it is called only for memories that nothing else excludes.
#[must_use]
pub fn select_for_handoff(
    candidates: &[HandoffCandidate],
    entities: &[EntityCandidate],
    task: &BTreeSet<EntityId>,
    settings: &HandoffSettings,
    room: TokenBudget,
    now: Timestamp,
    mut tokens: impl FnMut(&HandoffCandidate) -> usize,
) -> HandoffSelection {
    let mut chosen = HandoffSelection::default();
    let needed: usize = entities.iter().map(|entity| entity.tokens).sum();
    let kept = needed.min(room.left() / ENTITY_ROOM_DIVISOR);
    let mut left = TokenBudget::new(room.left() - kept);
    let mut counted = 0;
    let ranked = rank_candidates(candidates, settings, task, now);
    for (score, candidate) in take_turns(ranked, settings) {
        let why = inclusion_reason(candidate);
        let reason = match why {
            InclusionReason::Chosen | InclusionReason::Inherited if candidate.private => {
                Some(ExclusionReason::Private)
            }
            InclusionReason::Chosen if score < settings.threshold => Some(ExclusionReason::Unfit),
            InclusionReason::Chosen if candidate.fit() < settings.least_fit => {
                Some(ExclusionReason::Unfit)
            }
            InclusionReason::Chosen | InclusionReason::Named
                if counted >= settings.max_memories =>
            {
                Some(ExclusionReason::Crowded)
            }
            _ => None,
        };
        let tokens = if reason.is_none() { tokens(candidate) } else { 0 };
        let fits = reason.is_none() && left.take(tokens);
        let reason = reason.or((!fits).then_some(ExclusionReason::Budget));
        if let Some(reason) = reason {
            chosen.left_out.push(MemoryExclusion { id: candidate.id, score, reason });
            continue;
        }
        counted += u32::from(why != InclusionReason::Inherited);
        chosen.memories.push(HandoffMemory {
            id: candidate.id,
            author: candidate.author.clone(),
            why,
            score,
            private: candidate.private,
            tokens: saturating_tokens(tokens),
        });
    }
    chosen.memories.sort_by(|a, b| {
        let is_named = |memory: &HandoffMemory| memory.why == InclusionReason::Named;
        let by_score = || b.score.total_cmp(&a.score);
        is_named(b).cmp(&is_named(a)).then_with(|| match is_named(a) {
            true => Ordering::Equal,
            false => by_score(),
        })
    });
    chosen.left_out.sort_by(|a, b| b.score.total_cmp(&a.score));
    let passed: BTreeSet<MemoryId> = chosen.memories.iter().map(|memory| memory.id).collect();
    let included = candidates.iter().filter(|candidate| passed.contains(&candidate.id));
    chosen.entities =
        choose_entities(entities, included, settings, TokenBudget::new(left.left() + kept));
    chosen
}

const fn inclusion_reason(candidate: &HandoffCandidate) -> InclusionReason {
    match (candidate.named, candidate.came_with) {
        (true, _) => InclusionReason::Named,
        (false, Some(_)) => InclusionReason::Inherited,
        (false, None) => InclusionReason::Chosen,
    }
}

/// Each memory once, at its best rank, with its score: named ones in the order given, then by
/// score; among equal scores the newer first, then the greater id.
fn rank_candidates<'a>(
    candidates: &'a [HandoffCandidate],
    settings: &HandoffSettings,
    task: &BTreeSet<EntityId>,
    now: Timestamp,
) -> Vec<(f64, &'a HandoffCandidate)> {
    let scored =
        |candidate| (HandoffCandidate::score(candidate, settings.weights, task, now), candidate);
    let mut ranked: Vec<(f64, &HandoffCandidate)> = candidates.iter().map(scored).collect();
    ranked.sort_by(|(a, x), (b, y)| {
        let order = || b.total_cmp(a).then(y.since.cmp(&x.since)).then(y.id.cmp(&x.id));
        match (x.named, y.named) {
            (true, true) => Ordering::Equal,
            (false, false) => order(),
            (x, y) => y.cmp(&x),
        }
    });
    let mut seen = BTreeSet::new();
    ranked.retain(|(_, candidate)| seen.insert(candidate.id));
    ranked
}

/// Named candidates, then those that are only at hand and the others by turns, each kind in its
/// order, the kind of the best first.
fn take_turns<'a>(
    ranked: Vec<(f64, &'a HandoffCandidate)>,
    settings: &HandoffSettings,
) -> Vec<(f64, &'a HandoffCandidate)> {
    let only_at_hand = |candidate: &HandoffCandidate| {
        candidate.at_hand && candidate.came_with.is_none() && candidate.found < settings.least_fit
    };
    let (mut ordered, rest): (Vec<_>, Vec<_>) =
        ranked.into_iter().partition(|(_, candidate)| candidate.named);
    let best_is_at_hand = rest.first().is_some_and(|(_, candidate)| only_at_hand(candidate));
    let (at_hand, others): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(_, candidate)| only_at_hand(candidate));
    let (first, second) = if best_is_at_hand { (at_hand, others) } else { (others, at_hand) };
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let turn = [first.next(), second.next()];
        if turn.iter().all(Option::is_none) {
            return ordered;
        }
        ordered.extend(turn.into_iter().flatten());
    }
}

fn choose_entities<'a>(
    entities: &[EntityCandidate],
    included: impl Iterator<Item = &'a HandoffCandidate>,
    settings: &HandoffSettings,
    mut room: TokenBudget,
) -> Vec<HandoffEntity> {
    let mut mentions: BTreeMap<EntityId, usize> = BTreeMap::new();
    for id in included.flat_map(|candidate| &candidate.entities) {
        *mentions.entry(*id).or_default() += 1;
    }
    let weight =
        |entity: &EntityCandidate| (entity.in_task, mentions.get(&entity.id).copied().unwrap_or(0));
    // Memories and task tell the name of what they mention.
    let wanted = |entity: &&EntityCandidate| match weight(entity) {
        (false, 0) => entity.inherited,
        _ => entity.has_facts,
    };
    let mut ranked: Vec<&EntityCandidate> = entities.iter().filter(wanted).collect();
    ranked.sort_by_key(|entity| (Reverse(weight(entity)), entity.id));
    ranked.dedup_by_key(|entity| entity.id);
    let mut chosen = Vec::new();
    for entity in ranked {
        if chosen.len() >= settings.max_entities as usize || !room.take(entity.tokens) {
            continue;
        }
        chosen.push(HandoffEntity {
            id: entity.id,
            kind: entity.kind.clone(),
            value: entity.value.clone(),
            tokens: saturating_tokens(entity.tokens),
        });
    }
    chosen
}

/// The number, at most `u32::MAX`.
#[must_use]
pub fn saturating_tokens(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
