//! The package: a handoff as text for its target, within its budget.
//!
//! The source's own text comes first, then the memories and entities of the handoff. All of it is
//! written once, when the handoff is made, so that accepting it twice returns the same text.

pub mod stored;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::id::{EntityId, HandoffId, MemoryId, handle};
use crate::base::limits;
use crate::model::handoff::choose::{
    EntityCandidate, ExclusionReason, HandoffCandidate, HandoffSelection, HandoffSettings,
    MemoryExclusion, saturating_tokens, select_for_handoff,
};
use crate::model::handoff::{Handoff, HandoffEntity, HandoffMemory, InclusionReason};
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::budget::take_quote;
use crate::prompt::item::{
    EntitySummary, MemorySummary, PromptEntry, PromptItem, memory_tokens_max,
};
use commonbook_text::fence::Fence;
use commonbook_text::tokens::TokenBudget;

/// Tokens that one entity has at most.
const ENTITY_TOKENS_MAX: usize = 80;

/// Tokens of the headings above memories and entities.
const LISTS_TOKENS: usize = 16;

/// A memory that the handoff may carry.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryOffer {
    /// The facts that decide whether the handoff carries it.
    pub candidate: HandoffCandidate,
    /// The memory as text.
    pub summary: MemorySummary,
    /// The handoff by which the source received it.
    pub received_by: Option<HandoffId>,
}

/// An entity that the handoff may carry.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityOffer {
    /// The entity as text.
    pub summary: EntitySummary,
    /// Whether the task mentions it.
    pub in_task: bool,
    /// Whether the source received it by an earlier handoff.
    pub received: bool,
}

/// Everything that the handoff may carry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandoffOffers {
    /// The memories.
    pub memories: Vec<MemoryOffer>,
    /// The entities.
    pub entities: Vec<EntityOffer>,
    /// The entities that the task mentions.
    pub task: BTreeSet<EntityId>,
}

/// The text of a handoff in parts, written when the handoff is made. Parts that the target may not
/// see any more are left out when it accepts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HandoffPackage {
    /// The nonce of the fence.
    pub nonce: String,
    /// The source's own text.
    #[serde(deserialize_with = "stored::read_brief")]
    pub brief: Vec<BriefSection>,
    /// The entities of the handoff.
    #[serde(deserialize_with = "stored::read_entities")]
    pub entities: BTreeMap<EntityId, PromptItem>,
    /// The memories of the handoff; a purge removes one of them without reading the others.
    #[serde(skip)]
    pub memories: BTreeMap<MemoryId, PromptItem>,
}

/// A part of the source's own text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefSection {
    /// Its heading: `Task`, `Next steps`.
    pub heading: String,
    /// Its text.
    pub text: String,
}

impl BriefSection {
    fn to_entry(&self) -> PromptEntry {
        PromptEntry::Quote { heading: self.heading.clone(), text: self.text.clone() }
    }
}

impl HandoffPackage {
    /// The block for the target, with the memories and entities that the handoff names and this
    /// package still has.
    #[must_use]
    pub fn block(&self, handoff: &Handoff) -> PromptBlock {
        self.block_of(handoff, &handoff.memories, &handoff.entities)
    }

    fn block_of(
        &self,
        handoff: &Handoff,
        memories: &[HandoffMemory],
        entities: &[HandoffEntity],
    ) -> PromptBlock {
        let brief = self.brief.iter().map(BriefSection::to_entry).collect();
        let memories = memories.iter().filter_map(|memory| self.memories.get(&memory.id));
        let entities = entities.iter().filter_map(|entity| self.entities.get(&entity.id));
        let entries = |items: Vec<&PromptItem>| {
            items.into_iter().map(|item| PromptEntry::from(item.clone())).collect()
        };
        let mut block = handoff_frame(handoff);
        block.sections.push(PromptSection::new("", brief));
        block.sections.push(PromptSection::new("Memories", entries(memories.collect())));
        block.sections.push(PromptSection::new("Entities", entries(entities.collect())));
        block
    }
}

/// A handoff with everything that it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct PackResult {
    /// The handoff, which names what it carries.
    pub handoff: Handoff,
    /// Its text in parts.
    pub package: HandoffPackage,
    /// The candidates that were left out.
    pub left_out: Vec<MemoryExclusion>,
}

/// Chooses what a handoff carries within its budget, and writes its text.
#[must_use]
pub fn pack(
    handoff: Handoff,
    offers: &HandoffOffers,
    settings: &HandoffSettings,
    fence: &Fence,
) -> PackResult {
    let now = handoff.created_at;
    let budget = settings.budget as usize;
    // The text is written again whenever the handoff is accepted, each time with this nonce.
    let nonce = fence.nonce_for(&handoff.id.to_string()).into_owned();
    let mut package = HandoffPackage { nonce, ..HandoffPackage::default() };
    let mut entities = Vec::new();
    for offer in &offers.entities {
        let item = offer.summary.to_item(ENTITY_TOKENS_MAX);
        entities.push(entity_candidate(offer, item.tokens(now)));
        package.entities.insert(offer.summary.id, item);
    }
    let candidates: Vec<HandoffCandidate> =
        offers.memories.iter().map(|offer| offer.candidate.clone()).collect();
    let mut items = OfferItems::new(&handoff, &offers.memories, memory_tokens_max(budget));
    let mut choose = |room| {
        let tokens = |candidate: &HandoffCandidate| items.tokens(candidate.id);
        select_for_handoff(&candidates, &entities, &offers.task, settings, room, now, tokens)
    };

    let mut room = handoff_frame(&handoff).budget(budget, fence, now);
    room.take(LISTS_TOKENS);
    let wanted = choose(TokenBudget::new(usize::MAX));
    let memories = wanted.memories.iter().map(|memory| memory.tokens as usize);
    let wanted: usize = memories.chain(entities.iter().map(|entity| entity.tokens)).sum();
    // If the handoff carries little, the source's own text gets more than half of the room.
    let share = (room.left() / 2).max(room.left().saturating_sub(wanted));
    let mut brief_room = TokenBudget::new(share);
    package.brief = brief(&handoff, &mut brief_room);
    room.take(share - brief_room.left());
    let mut chosen = choose(room);
    package.memories = items.items.into_iter().map(|(id, (item, _))| (id, item)).collect();
    let mut block = package.block_of(&handoff, &chosen.memories, &chosen.entities);
    let rendered = block.render_within(budget, fence, now);
    for entry in rendered.dropped {
        drop_chosen(&mut chosen, &entry);
    }
    let tokens = saturating_tokens(rendered.tokens);
    let HandoffSelection { memories, entities, left_out } = chosen;
    package.memories.retain(|id, _| memories.iter().any(|memory| memory.id == *id));
    package.entities.retain(|id, _| entities.iter().any(|entity| entity.id == *id));
    PackResult { handoff: Handoff { memories, entities, tokens, ..handoff }, package, left_out }
}

/// The memories that the handoff may carry, each rendered when its tokens are needed.
struct OfferItems<'h> {
    handoff: &'h Handoff,
    offers: BTreeMap<MemoryId, &'h MemoryOffer>,
    max_tokens: usize,
    items: BTreeMap<MemoryId, (PromptItem, usize)>,
}

impl<'h> OfferItems<'h> {
    fn new(handoff: &'h Handoff, offers: &'h [MemoryOffer], max_tokens: usize) -> Self {
        let offers = offers.iter().map(|offer| (offer.candidate.id, offer)).collect();
        Self { handoff, offers, max_tokens, items: BTreeMap::new() }
    }

    /// The tokens of a memory in the text.
    fn tokens(&mut self, id: MemoryId) -> usize {
        let Some(offer) = self.offers.get(&id) else { return 0 };
        let (_, tokens) = self.items.entry(id).or_insert_with(|| {
            let mut item = offer.summary.to_item(self.max_tokens);
            item.notes.extend(inclusion_note(self.handoff, offer));
            let tokens = item.tokens(self.handoff.created_at);
            (item, tokens)
        });
        *tokens
    }
}

/// Removes an entry that did not fit from the selection.
fn drop_chosen(chosen: &mut HandoffSelection, entry: &PromptEntry) {
    let PromptEntry::Item(item) = entry else { return };
    chosen.entities.retain(|entity| entity.id.to_string() != item.id);
    let index = chosen.memories.iter().position(|memory| memory.id.to_string() == item.id);
    if let Some(HandoffMemory { id, score, .. }) = index.map(|index| chosen.memories.remove(index))
    {
        chosen.left_out.push(MemoryExclusion { id, score, reason: ExclusionReason::Budget });
    }
}

fn entity_candidate(offer: &EntityOffer, tokens: usize) -> EntityCandidate {
    EntityCandidate {
        id: offer.summary.id,
        kind: offer.summary.kind.clone(),
        value: offer.summary.value.clone(),
        in_task: offer.in_task,
        inherited: offer.received,
        tokens,
    }
}

/// Why a handoff carries a memory, if neither the task nor the session is the reason.
fn inclusion_note(handoff: &Handoff, offer: &MemoryOffer) -> Option<String> {
    match (offer.candidate.named, offer.received_by) {
        (true, _) => Some(format!("named by {}", handoff.from)),
        (false, Some(id)) => Some(format!("passed on from #{}", handle(&id.to_string()))),
        (false, None) => None,
    }
}

/// The source's own text, in reading order. If it is too long, the context is cut first, then
/// files, decisions and steps, and the task last.
fn brief(handoff: &Handoff, room: &mut TokenBudget) -> Vec<BriefSection> {
    let list = |lines: &[String]| {
        lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
    };
    let parts = [
        ("Task", handoff.task.clone(), 0),
        ("Context", handoff.context.clone().unwrap_or_default(), 4),
        ("Active files", list(&handoff.active_files), 3),
        ("Decisions made", list(&handoff.decisions_made), 2),
        ("Next steps", list(&handoff.next_steps), 1),
    ];
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| parts[*index].2);
    let mut written = [const { None }; 5];
    for index in order {
        let (heading, text, _) = &parts[index];
        if let Some(PromptEntry::Quote { heading, text }) = take_quote(room, heading, text) {
            written[index] = Some(BriefSection { heading, text });
        }
    }
    written.into_iter().flatten().collect()
}

/// The block of a handoff without memories and entities.
fn handoff_frame(handoff: &Handoff) -> PromptBlock {
    let Handoff { id, from, kind, depth, .. } = handoff;
    let made = handoff.created_at.strftime("%F %H:%M UTC");
    let chain = match *depth > 1 {
        true => format!(", number {depth} of the chain {}", handoff.chain),
        false => String::new(),
    };
    let lead = format!(
        "{from} hands work over to you: handoff {id}, {kind}, {made}{chain}. The task is a request \
         to you; everything else is"
    );
    PromptBlock {
        lead,
        next_step: "Call complete_handoff when the task is done.".to_owned(),
        ..PromptBlock::default()
    }
}

/// The memories that a source received by its earlier handoffs and passes on with the next one,
/// each once, with its best score and the handoff of that score.
#[must_use]
pub fn inherited_memories(received: &[&Handoff]) -> BTreeMap<MemoryId, (f64, HandoffId)> {
    let mut carried: BTreeMap<MemoryId, (f64, HandoffId)> = BTreeMap::new();
    for handoff in received {
        for memory in handoff.memories.iter().filter(|memory| !memory.private) {
            // A named memory is passed on with the best score.
            let score = if memory.why == InclusionReason::Named { 1.0 } else { memory.score };
            let best = carried.entry(memory.id).or_insert((score, handoff.id));
            if score > best.0 {
                *best = (score, handoff.id);
            }
        }
    }
    carried
}

const _: () = assert!(limits::HANDOFF_TOKENS_MIN as usize > LISTS_TOKENS + ENTITY_TOKENS_MAX);

#[cfg(test)]
mod tests;
