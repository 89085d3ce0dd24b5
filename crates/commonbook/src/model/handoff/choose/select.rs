//! Selection: takes the best candidates within the budget, and records why others are left out.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntityCandidate, HandoffCandidate, HandoffSettings};
use crate::base::id::{EntityId, MemoryId};
use crate::base::limits;
use crate::model::handoff::{HandoffEntity, HandoffMemory, InclusionReason};
use crate::model::headline::shared_places;
use commonbook_text::string_enum;
use commonbook_text::tokens::TokenBudget;

/// One part in this many of the room is reserved for entities.
const ENTITY_ROOM_DIVISOR: usize = 5;

string_enum! {
    /// Why a handoff leaves a memory out.
    ExclusionReason {
        /// No search for the task found it.
        Unfit = "unfit",
        /// Others fit better, and have all headlines.
        Crowded = "crowded",
        /// It belongs to the work, and there was no room.
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
    /// The memories: named ones, then by score; headlines last, by fit.
    pub memories: Vec<HandoffMemory>,
    /// The entities, most mentioned first.
    pub entities: Vec<HandoffEntity>,
    /// The memories left out, by score.
    pub left_out: Vec<MemoryExclusion>,
}

/// Selects for a task that mentions these entities.
///
/// What comes in full is first: named memories in the order given, then the others by score, inherited ones with
/// the score of their earlier handoff. A memory that is longer than the tokens left is skipped, and the next is
/// tried. Of the rest, and of what has no room in full, the first ten by fit become headlines, of which one author
/// has at most six where others have some; their tokens are counted when they are written. A
/// private memory is included only if it is named. An entity is included if the
/// task or a memory in full mentions it, or an earlier handoff included it; not if these tell its
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
    let mut others = Vec::new();
    for (score, candidate) in rank_candidates(candidates, settings, task, now) {
        let why = inclusion_reason(candidate);
        if candidate.private && why != InclusionReason::Named {
            chosen.leave_out(candidate, score, ExclusionReason::Private);
            continue;
        }
        let is_counted = why != InclusionReason::Inherited;
        let has_place = !is_counted || counted < settings.max_memories;
        let is_full = candidate.is_full(score, settings) && has_place;
        let tokens = if is_full { tokens(candidate) } else { 0 };
        if !is_full || !left.take(tokens) {
            others.push((score, candidate));
            continue;
        }
        counted += u32::from(is_counted);
        let tokens = saturating_tokens(tokens);
        chosen.memories.push(HandoffMemory { tokens, ..passed(candidate, score) });
    }
    choose_headlines(&mut chosen, others, settings);
    let in_full = chosen.memories.iter().filter(|memory| !memory.headline);
    let in_full: BTreeSet<MemoryId> = in_full.map(|memory| memory.id).collect();
    let included = candidates.iter().filter(|candidate| in_full.contains(&candidate.id));
    chosen.entities =
        choose_entities(entities, included, settings, TokenBudget::new(left.left() + kept));
    chosen
}

impl HandoffSelection {
    fn leave_out(&mut self, candidate: &HandoffCandidate, score: f64, reason: ExclusionReason) {
        self.left_out.push(MemoryExclusion { id: candidate.id, score, reason });
    }
}

/// Chooses the headlines among these candidates, and leaves the others out, by score.
fn choose_headlines(
    chosen: &mut HandoffSelection,
    mut others: Vec<(f64, &HandoffCandidate)>,
    settings: &HandoffSettings,
) {
    others.sort_by(|(_, a), (_, b)| {
        b.fit().total_cmp(&a.fit()).then(b.since.cmp(&a.since)).then(b.id.cmp(&a.id))
    });
    let (fitting, unfit): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(_, candidate)| candidate.may_be_headline());
    let authors: Vec<&str> =
        fitting.iter().map(|(_, candidate)| candidate.author.as_str()).collect();
    let places = shared_places(&authors, limits::TASK_HEADLINES);
    for (index, (score, candidate)) in fitting.into_iter().enumerate() {
        if places.contains(&index) {
            let headline = true;
            chosen.memories.push(HandoffMemory { headline, ..passed(candidate, score) });
        } else if candidate.is_full(score, settings) {
            chosen.leave_out(candidate, score, ExclusionReason::Budget);
        } else {
            chosen.leave_out(candidate, score, ExclusionReason::Crowded);
        }
    }
    for (score, candidate) in unfit {
        chosen.leave_out(candidate, score, ExclusionReason::Unfit);
    }
    chosen.left_out.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// A candidate as a memory of the handoff.
fn passed(candidate: &HandoffCandidate, score: f64) -> HandoffMemory {
    HandoffMemory {
        id: candidate.id,
        author: candidate.author.clone(),
        why: inclusion_reason(candidate),
        score,
        private: candidate.private,
        headline: false,
        tokens: 0,
    }
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
