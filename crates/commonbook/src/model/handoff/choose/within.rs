//! The choice itself: the best first, each as far as the budget lasts, and why the rest stays.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntityCandidate, HandoffCandidate, HandoffSettings};
use crate::base::id::{EntityId, MemoryId};
use crate::model::handoff::{HandoffEntity, HandoffMemory, InclusionReason};
use commonbook_text::string_enum;
use commonbook_text::tokens::TokenBudget;

/// The part of the room that is kept for entities, as far as they need it.
const ENTITY_ROOM_DIVISOR: usize = 5;

string_enum! {
    /// Why a memory did not go along.
    ExclusionReason {
        /// It does not fit the task well enough.
        Unfit = "unfit",
        /// Enough others fit better.
        Crowded = "crowded",
        /// It takes more tokens than were left when its turn came.
        Budget = "budget",
        /// It is private, and its owner did not name it.
        Private = "private",
    }
}

/// A memory that was looked at and stays behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExclusion {
    /// The memory.
    pub id: MemoryId,
    /// How well it scores.
    pub score: f64,
    /// Why it stays behind.
    pub reason: ExclusionReason,
}

/// What goes along, and what was looked at and does not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffSelection {
    /// The memories: those that were named, then the best first.
    pub memories: Vec<HandoffMemory>,
    /// The entities, those that most of the memories speak of first.
    pub entities: Vec<HandoffEntity>,
    /// The memories that stay behind, the best first.
    pub left_out: Vec<MemoryExclusion>,
}

/// Chooses, for a task that mentions these entities.
///
/// Named ones come first, in the order in which they are given; then all others by score, those
/// that came by an earlier handoff among them, with the score that they came with. One that takes
/// more tokens than are left is passed over, and the next is tried. A private one goes along only
/// if it is named. Entities go along that the task mentions, or a memory that goes along, or that
/// came by an earlier handoff. `tokens` tells how many a memory takes in the text: of those alone
/// which nothing else keeps back.
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
    for (score, candidate) in rank_candidates(candidates, settings, task, now) {
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
    let passed: BTreeSet<MemoryId> = chosen.memories.iter().map(|memory| memory.id).collect();
    let told = candidates.iter().filter(|candidate| passed.contains(&candidate.id));
    chosen.entities =
        choose_entities(entities, told, settings, TokenBudget::new(left.left() + kept));
    chosen
}

const fn inclusion_reason(candidate: &HandoffCandidate) -> InclusionReason {
    match (candidate.named, candidate.came_with) {
        (true, _) => InclusionReason::Named,
        (false, Some(_)) => InclusionReason::Inherited,
        (false, None) => InclusionReason::Chosen,
    }
}

/// Each memory once, as it ranks best, with its score: the named ones as they are given, then the best first; of
/// equally good ones the newer, and of those of one moment the one with the greater id.
fn rank_candidates<'a>(
    candidates: &'a [HandoffCandidate],
    settings: &HandoffSettings,
    task: &BTreeSet<EntityId>,
    now: Timestamp,
) -> Vec<(f64, &'a HandoffCandidate)> {
    let scored = |it| (HandoffCandidate::score(it, settings.weights, task, now), it);
    let mut ranked: Vec<(f64, &HandoffCandidate)> = candidates.iter().map(scored).collect();
    ranked.sort_by(|(a, x), (b, y)| {
        let order = || b.total_cmp(a).then(y.since.cmp(&x.since)).then(y.id.cmp(&x.id));
        match (x.named, y.named) {
            (true, true) => std::cmp::Ordering::Equal,
            (false, false) => order(),
            (x, y) => y.cmp(&x),
        }
    });
    let mut seen = BTreeSet::new();
    ranked.retain(|(_, candidate)| seen.insert(candidate.id));
    ranked
}

fn choose_entities<'a>(
    entities: &[EntityCandidate],
    told: impl Iterator<Item = &'a HandoffCandidate>,
    settings: &HandoffSettings,
    mut room: TokenBudget,
) -> Vec<HandoffEntity> {
    let mut mentions: BTreeMap<EntityId, usize> = BTreeMap::new();
    for id in told.flat_map(|candidate| &candidate.entities) {
        *mentions.entry(*id).or_default() += 1;
    }
    let weight =
        |entity: &EntityCandidate| (entity.in_task, mentions.get(&entity.id).copied().unwrap_or(0));
    let wanted = |entity: &&EntityCandidate| entity.came || weight(entity) != (false, 0);
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

/// A number of tokens as a row keeps it.
#[must_use]
pub fn saturating_tokens(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
