//! Resume: a session's state as text for the agent that continues it, within a budget.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{EntityId, MemoryId, handle};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::case::{CaseEntry, EntryKind};
use crate::model::checkpoint::{
    CasePosition, Checkpoint, OpenHandoff, ResumeMetadata, ResumeMode, ResumeOptions,
};
use crate::model::collaboration::HandoffEdge;
use crate::model::memory::MemoryChange;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::budget::{take_list, take_quote};
use crate::prompt::case::entry_item;
use crate::prompt::headlines::{HeadlineItem, WITHOUT_ROOM, headline_room, headline_section};
use crate::prompt::item::{
    EntitySummary, MemorySummary, PromptEntry, PromptItem, memory_tokens_max,
};
use commonbook_text::day::day;
use commonbook_text::fence::Fence;
use commonbook_text::sanitize::{shown_label, shown_name};
use commonbook_text::tokens::{self, TokenBudget};

/// Handoffs, cases and history each have at most this fraction of the room.
const STATE_SHARE_DIVISOR: usize = 8;

/// Entities have at most this fraction of the room.
const ENTITY_SHARE_DIVISOR: usize = 5;

/// Entries of the case have at most this fraction of the room that is left for them and the memories.
const ENTRY_SHARE_DIVISOR: usize = 2;

/// Tokens of an entity, of a handoff's task and of a case's title at most.
const SHORT_TEXT_TOKENS_MAX: usize = 80;

/// A memory that was deleted since the checkpoint: its text is not told.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgottenMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its author.
    pub author: Agent,
    /// When it was saved.
    pub at: Timestamp,
}

/// An entry of the case of a session that other agents wrote, or the session's agent elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumedEntry {
    /// The entry.
    pub entry: CaseEntry,
    /// Whether the reader has not read it.
    pub is_unread: bool,
}

impl ResumedEntry {
    /// Its place where not all have room: what the reader has not read, then what was decided, then the rest.
    fn rank(&self) -> usize {
        let is_decision = self.entry.kind == Some(EntryKind::Decision);
        if self.is_unread { 0 } else { 2 - usize::from(is_decision) }
    }
}

/// The content of a session up to the checkpoint, within the sight of the agent that resumes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResumeMaterial {
    /// When the checkpoint was made as of which it stands; `None` if it is as of now.
    pub as_of: Option<Timestamp>,
    /// Its memories, newest first: by the journal, not by the clock.
    pub memories: Vec<MemorySummary>,
    /// The number of older memories that were not read.
    pub memories_beyond: usize,
    /// Its memories that were deleted since the checkpoint.
    pub forgotten: Vec<ForgottenMemory>,
    /// How its memories have changed since the checkpoint.
    pub changes: Vec<MemoryChange>,
    /// The entities that its memories mention, latest first.
    pub entities: Vec<EntitySummary>,
    /// Those about which something was stated after the checkpoint.
    pub entities_later: BTreeSet<EntityId>,
    /// The open handoffs of its agents, the newest of each counterpart in turn.
    pub handoffs: Vec<OpenHandoff>,
    /// The number of further open handoffs.
    pub handoffs_left: usize,
    /// The number of those that a briefing of the session has told.
    pub handoffs_told: usize,
    /// Its handoffs, newest first.
    pub history: Vec<HandoffEdge>,
    /// The positions in its cases.
    pub cases: Vec<CasePosition>,
    /// Entries of its case that are none of its memories, newest first.
    pub entries: Vec<ResumedEntry>,
    /// What other agents saved after its newest memory, newest first.
    pub news: Vec<HeadlineItem>,
}

impl ResumeMaterial {
    /// The ids of everything that its text can show.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let memories = self.memories.iter().map(|memory| memory.id.to_string());
        let entities = self.entities.iter().map(|entity| entity.id.to_string());
        let handoffs = self.handoffs.iter().map(|handoff| handoff.id.to_string());
        let entries = self.entries.iter().filter_map(|entry| entry.entry.entry_id);
        let entries = entries.map(|id| id.to_string());
        let news = self.news.iter().map(|news| news.item.id.clone());
        memories.chain(entities).chain(handoffs).chain(entries).chain(news).collect()
    }
}

/// A resumed session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumePackage {
    /// All of it, for an agent to read.
    pub text: String,
    /// The requested memories of the session, newest first.
    pub memories: Vec<MemoryId>,
    /// How they have changed since the checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<MemoryChange>,
    /// The requested entities, latest first.
    pub entities: Vec<EntityId>,
    /// The open handoffs.
    pub handoffs: Vec<OpenHandoff>,
    /// The handoffs of the session, newest first.
    pub history: Vec<HandoffEdge>,
    /// The positions in the cases.
    pub cases: Vec<CasePosition>,
    /// The session and the checkpoint that were resumed.
    pub metadata: ResumeMetadata,
}

/// A resumed session with the memories and handoffs that its text tells.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumeText {
    /// The session.
    pub package: ResumePackage,
    /// What its text tells.
    pub told: Vec<PromptItem>,
}

/// Renders a session for the agent that resumes it. `handles` has the longer handles that some
/// memories need, by id. If the budget does not hold everything, open handoffs, cases and history
/// have up to an eighth each, entities a fifth, headlines of what others did since a fifth, entries of the case
/// half of what is left, and the newest memories the rest; an entry that is too long is skipped. Headlines name
/// the newest memories without room. An entity of which no more is known than its name stands in its memory.
#[must_use]
pub fn build_resume(
    session: &str,
    checkpoint: Option<&Checkpoint>,
    wanted: &ResumeOptions,
    material: ResumeMaterial,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> ResumeText {
    let (material, cut) = select_for_mode(material, wanted);
    let mut block = resume_frame(checkpoint, now);
    let count = material.memories.len();
    // The longest line that can stand below: it takes its room before the choice.
    block.next_step = next_step(wanted, count, cut);
    let mut room = block.budget(wanted.budget, fence, now);
    let name = format!("session {}", handle(session));
    let title = checkpoint.and_then(|checkpoint| checkpoint.title.as_deref());
    let names: Vec<&str> = [Some(name.as_str()), title].into_iter().flatten().collect();
    let names = take_quote(&mut TokenBudget::new(SHORT_TEXT_TOKENS_MAX), "", &names.join("\n"));
    room.take(SHORT_TEXT_TOKENS_MAX);
    block.sections = resume_sections(&material, &mut room, wanted.budget, now);
    block.sections[NAMES].entries.extend(names);
    if block.sections[1..].iter().all(|section| section.entries.is_empty()) {
        let nothing = PromptEntry::Line("Nothing was saved in it.".to_owned());
        block.sections[NAMES].entries.push(nothing);
    }
    block.set_handles(handles);
    let rendered = loop {
        let told = [MEMORIES, NAMED].map(|index| block.sections[index].entries.len());
        let told: usize = told.into_iter().sum();
        block.next_step = next_step(wanted, count - told, cut);
        let rendered = block.render_within(wanted.budget, fence, now);
        let left = [MEMORIES, NAMED].map(|index| block.sections[index].entries.len());
        if left.into_iter().sum::<usize>() == told {
            break rendered;
        }
    };
    let [entities, memories] =
        [ENTITIES, MEMORIES].map(|index| block.sections[index].entries.len());
    let metadata = ResumeMetadata {
        session: session.to_owned(),
        checkpoint: checkpoint.map(|checkpoint| checkpoint.id),
        checkpoint_at: checkpoint.map(|checkpoint| checkpoint.created_at),
        mode: wanted.mode,
        agent: wanted.agent.clone(),
        agents_involved: checkpoint
            .map(|checkpoint| checkpoint.agents_involved.clone())
            .unwrap_or_default(),
        memories_resumed: memories,
        memories_left_out: count - memories,
        memories_beyond: cut,
        entities_resumed: entities,
        handoffs_open: material.handoffs.len() + material.handoffs_left + material.handoffs_told,
        collaborations: material.history.len(),
        tokens: rendered.tokens,
    };
    let told = block.items().cloned().collect();
    let package = ResumePackage {
        text: rendered.text,
        memories: material.memories.iter().map(|memory| memory.id).collect(),
        changes: material.changes,
        entities: material.entities.iter().map(|entity| entity.id).collect(),
        handoffs: material.handoffs,
        history: material.history,
        cases: material.cases,
        metadata,
    };
    ResumeText { package, told }
}

/// The index of the section with the names of the session and the checkpoint.
const NAMES: usize = 0;

/// The index of the section of entities.
const ENTITIES: usize = 5;

/// The index of the section of memories.
const MEMORIES: usize = 7;

/// The index of the section of memories by headline.
const NAMED: usize = 8;

/// The sections of a resumed session, chosen within a budget. The first is empty.
fn resume_sections(
    material: &ResumeMaterial,
    room: &mut TokenBudget,
    budget: usize,
    now: Timestamp,
) -> Vec<PromptSection> {
    let (whole, max_tokens) = (room.left(), memory_tokens_max(budget));
    let state = whole / STATE_SHARE_DIVISOR;
    let handoffs = take_list(room, state, material.handoffs.iter().map(handoff_entry), now);
    let told: BTreeSet<String> = handoffs
        .iter()
        .filter_map(|entry| match entry {
            PromptEntry::Item(item) => Some(item.id.clone()),
            PromptEntry::Quote { .. } | PromptEntry::Line(_) => None,
        })
        .collect();
    let cases = take_list(room, state, material.cases.iter().map(case_entry), now);
    // An open handoff above is not told again.
    let history = material.history.iter().filter(|edge| !told.contains(&edge.handoff.to_string()));
    let history = history.map(|edge| history_line(edge, material.as_of));
    let history = take_list(room, state, history, now);
    let forgotten = take_list(room, state, material.forgotten.iter().map(forgotten_line), now);
    let entities = material.entities.iter().filter(|entity| entity.has_facts()).map(|entity| {
        let item = entity.to_item(SHORT_TEXT_TOKENS_MAX);
        match material.entities_later.contains(&entity.id) {
            true => item.with_note("stated after the checkpoint").into(),
            false => item.into(),
        }
    });
    let entities = take_list(room, whole / ENTITY_SHARE_DIVISOR, entities, now);
    let news_tokens = headline_room(budget).min(whole / ENTITY_SHARE_DIVISOR);
    let news = headline_section("What others did since", &material.news, news_tokens, now);
    room.take(tokens::count(&news.render(now)));
    let memories = material.memories.iter().map(|memory| {
        let change = material.changes.iter().find(|change| change.id == memory.id);
        let item = memory.to_item(max_tokens);
        match change.map(change_note) {
            Some(note) => item.with_note(note).into(),
            None => item.into(),
        }
    });
    let entries = case_entries(&material.entries, room, now);
    let (mut memories, named) = choose_memories(&material.memories, memories, room, budget, now);
    // They are chosen from the newest backwards, and shown oldest first.
    memories.reverse();
    let mut memories = PromptSection::new("Memories, the oldest first", memories);
    memories.first_goes = true;
    vec![
        PromptSection::new("", Vec::new()),
        PromptSection::new(&open_handoffs_heading(material), handoffs),
        PromptSection::new("Cases", cases),
        PromptSection::new("Handoffs, the latest first", history),
        PromptSection::new("Deleted after the checkpoint", forgotten),
        PromptSection::new("Entities", entities),
        entries,
        memories,
        named,
        news,
    ]
}

/// The memories that have room in full, newest first, and headlines of the newest of the others.
fn choose_memories(
    memories: &[MemorySummary],
    entries: impl Iterator<Item = PromptEntry> + Clone,
    room: &mut TokenBudget,
    budget: usize,
    now: Timestamp,
) -> (Vec<PromptEntry>, PromptSection) {
    let all = room.left();
    let taken = take_list(&mut TokenBudget::new(all), all, entries.clone(), now);
    if taken.len() == memories.len() {
        return (taken, PromptSection::default());
    }
    let headline_tokens = headline_room(budget).min(all / 2);
    let taken = take_list(room, all - headline_tokens, entries, now);
    let is_taken = |memory: &&MemorySummary| {
        let id = memory.id.to_string();
        taken.iter().any(|entry| matches!(entry, PromptEntry::Item(item) if item.id == id))
    };
    let rest = memories.iter().filter(|memory| !is_taken(memory)).take(limits::TASK_HEADLINES);
    let named: Vec<HeadlineItem> = rest
        .map(|memory| HeadlineItem { item: memory.item.clone(), words: memory.headline.clone() })
        .collect();
    let named = headline_section(WITHOUT_ROOM, &named, headline_tokens, now);
    (taken, named)
}

/// The entries of the case that have room, the oldest first.
fn case_entries(entries: &[ResumedEntry], room: &mut TokenBudget, now: Timestamp) -> PromptSection {
    let mut ranked: Vec<(u64, usize, PromptItem)> = (entries.iter())
        .filter_map(|found| {
            let item = entry_item(&found.entry)?;
            let item = if found.is_unread { item.with_note("unread") } else { item };
            Some((found.entry.position, found.rank(), item))
        })
        .collect();
    ranked.sort_by_key(|(_, rank, _)| *rank);
    let positions: HashMap<String, u64> =
        ranked.iter().map(|(position, _, item)| (item.id.clone(), *position)).collect();
    let share = room.left() / ENTRY_SHARE_DIVISOR;
    let items = ranked.into_iter().map(|(_, _, item)| item.into());
    let mut taken = take_list(room, share, items, now);
    taken.sort_by_key(|entry| match entry {
        PromptEntry::Item(item) => positions.get(&item.id).copied(),
        PromptEntry::Quote { .. } | PromptEntry::Line(_) => None,
    });
    let section = PromptSection::new("Other entries of the case, the oldest first", taken);
    PromptSection { first_goes: true, ..section }
}

/// What the reader can do about memories that are not told: `left` had no room, `beyond` are older
/// than what the mode resumes.
fn next_step(wanted: &ResumeOptions, left: usize, beyond: usize) -> String {
    let count = |count: usize| match count {
        1 => "1 older memory is".to_owned(),
        count => format!("{count} older memories are"),
    };
    let raise = wanted.budget < limits::RESUME_TOKENS_MAX as usize;
    let left = (left > 0).then(|| match raise {
        true => format!("{} not told: raise the budget.", count(left)),
        false => format!("{} not told: list_memories with this session has them.", count(left)),
    });
    let beyond = (beyond > 0).then(|| match wanted.mode {
        ResumeMode::Partial => format!("{} not in a partial resume: use mode full.", count(beyond)),
        ResumeMode::Full | ResumeMode::Agent => {
            format!("{} too many: list_memories with this session has them.", count(beyond))
        }
    });
    left.into_iter().chain(beyond).collect::<Vec<_>>().join(" ")
}

/// The parts of a session that a mode selects, and the number of older memories beyond them.
fn select_for_mode(
    mut material: ResumeMaterial,
    wanted: &ResumeOptions,
) -> (ResumeMaterial, usize) {
    if let Some(agent) = &wanted.agent {
        material.memories.retain(|memory| memory.item.author == agent.as_str());
        material.forgotten.retain(|memory| memory.author == *agent);
        material.entities.retain(|entity| entity.agent == *agent);
        material.handoffs.retain(|handoff| handoff.concerns(agent));
        material.history.retain(|edge| edge.from == *agent || edge.to == *agent);
        material.entries.retain(|found| found.entry.agent.as_ref() == Some(agent));
        material.news.retain(|news| news.item.author == agent.as_str());
    }
    let (memories, entities) = wanted.count_limits;
    let beyond = material.memories_beyond + material.memories.len().saturating_sub(memories);
    material.memories.truncate(memories);
    material.entities.truncate(entities);
    (material, beyond)
}

/// The heading above the open handoffs.
fn open_handoffs_heading(material: &ResumeMaterial) -> String {
    let mut heading = "Open handoffs".to_owned();
    if material.handoffs_told > 0 {
        heading += &format!("; {} more are in a briefing of this session", material.handoffs_told);
    }
    if material.handoffs_left > 0 {
        heading += &format!("; list_handoffs shows {} more", material.handoffs_left);
    }
    heading
}

/// How a memory has changed since the checkpoint, as a note in its head.
fn change_note(change: &MemoryChange) -> String {
    let heir = change.by.map(|heir| heir.to_string());
    let heir = heir.map(|heir| format!(" by #{}", handle(&heir))).unwrap_or_default();
    format!("{} since{heir}", change.change)
}

/// `#qa7xw2bc of claude-code, 2026-11-21`
fn forgotten_line(memory: &ForgottenMemory) -> PromptEntry {
    let ForgottenMemory { id, author, at } = memory;
    let id = id.to_string();
    PromptEntry::Line(format!(
        "#{} of {}, {}",
        handle(&id),
        shown_name(author.as_str()),
        at.strftime("%F")
    ))
}

fn handoff_entry(handoff: &OpenHandoff) -> PromptEntry {
    let OpenHandoff { id, from, to, role: _, status, task, later } = handoff;
    let item = PromptItem::new(*id, "handoff", from, id.made_at(), task.clone());
    let item =
        item.with_note(format!("to {}", shown_name(to.as_str()))).with_note(status.to_string());
    let item = if *later { item.with_note("later than the checkpoint") } else { item };
    item.shortened(SHORT_TEXT_TOKENS_MAX, None).into()
}

fn case_entry(case: &CasePosition) -> PromptEntry {
    let CasePosition { key, title, context_version, read } = case;
    let unread = context_version.saturating_sub(*read);
    let heading =
        format!("Case {}: {context_version} entries, {unread} unread", shown_label(key.as_str()));
    let text = tokens::cut(title, SHORT_TEXT_TOKENS_MAX).into_owned();
    PromptEntry::Quote { heading, text }
}

fn history_line(edge: &HandoffEdge, as_of: Option<Timestamp>) -> PromptEntry {
    let HandoffEdge { from, to, status, created_at, accepted_at, ended_at, .. } = edge;
    let after = |at: Timestamp| as_of.is_some_and(|then| at > then);
    let note = if after(*created_at) {
        ", later than the checkpoint"
    } else if ended_at.or(*accepted_at).is_some_and(after) {
        ", since the checkpoint"
    } else {
        ""
    };
    let made = created_at.strftime("%F %H:%M UTC");
    PromptEntry::Line(format!(
        "{} to {}: {status}{note}, {made}",
        shown_name(from.as_str()),
        shown_name(to.as_str())
    ))
}

/// The block of a resumed session without its content.
fn resume_frame(checkpoint: Option<&Checkpoint>, now: Timestamp) -> PromptBlock {
    let lead = match checkpoint {
        None => "You continue a session that has no checkpoint:".to_owned(),
        Some(checkpoint) => {
            let Checkpoint { id, kind, agent, agents_involved, created_at, .. } = checkpoint;
            let agents: Vec<String> =
                agents_involved.iter().map(|agent| shown_name(agent.as_str())).collect();
            let of_file = if agent.is_of_file() { ", from a file" } else { "" };
            let agents = agents.join(", ");
            let agents = tokens::cut(&agents, SHORT_TEXT_TOKENS_MAX);
            let (made, id) = (day(*created_at, now), id.to_string());
            let id = handle(&id);
            format!(
                "You continue a session from its {kind} checkpoint {id}, {made}, by {agents}{of_file}:"
            )
        }
    };
    PromptBlock { lead, ..PromptBlock::default() }
}

#[cfg(test)]
mod tests;
