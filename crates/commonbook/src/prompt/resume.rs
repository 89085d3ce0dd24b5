//! Resume: a session's state as text for the agent that continues it, within a budget.

use std::collections::HashMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{DELETION_HANDLE_CHARS_MIN, EntityId, MemoryId, handle_of_length};
use crate::model::agent::Agent;
use crate::model::checkpoint::{
    CasePosition, Checkpoint, OpenHandoff, ResumeMetadata, ResumeOptions,
};
use crate::model::collaboration::HandoffEdge;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::budget::{take_list, take_quote};
use crate::prompt::item::{
    EntitySummary, MemorySummary, PromptEntry, PromptItem, memory_tokens_max,
};
use commonbook_text::day::day;
use commonbook_text::fence::Fence;
use commonbook_text::tokens::{self, TokenBudget};

/// Handoffs, cases and history each have at most this fraction of the room.
const STATE_SHARE_DIVISOR: usize = 8;

/// Entities have at most this fraction of the room.
const ENTITY_SHARE_DIVISOR: usize = 5;

/// Tokens of an entity, of a handoff's task and of a case's title at most.
const SHORT_TEXT_TOKENS_MAX: usize = 80;

/// The content of a session up to the checkpoint, within the sight of the agent that resumes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResumeMaterial {
    /// Its memories, newest first: by the journal, not by the clock.
    pub memories: Vec<MemorySummary>,
    /// The entities that its memories mention, latest first.
    pub entities: Vec<EntitySummary>,
    /// The open handoffs of its agents, the newest of each counterpart in turn.
    pub handoffs: Vec<OpenHandoff>,
    /// The number of further open handoffs.
    pub handoffs_left: usize,
    /// Its handoffs, newest first.
    pub history: Vec<HandoffEdge>,
    /// The positions in its cases.
    pub cases: Vec<CasePosition>,
}

impl ResumeMaterial {
    /// The ids of everything that its text can show.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let memories = self.memories.iter().map(|memory| memory.id.to_string());
        let entities = self.entities.iter().map(|entity| entity.id.to_string());
        let handoffs = self.handoffs.iter().map(|handoff| handoff.id.to_string());
        memories.chain(entities).chain(handoffs).collect()
    }
}

/// A resumed session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumePackage {
    /// All of it, for an agent to read.
    pub text: String,
    /// The requested memories of the session, newest first.
    pub memories: Vec<MemoryId>,
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
/// have up to an eighth each, entities a fifth, and the newest memories the rest; an entry that is
/// too long is skipped.
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
    let material = select_for_mode(material, wanted);
    let mut block = resume_frame(checkpoint, now);
    let mut room = block.budget(wanted.budget, fence, now);
    let names =
        [Some(short_id(session)), checkpoint.and_then(|checkpoint| checkpoint.title.as_deref())];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let names = take_quote(&mut TokenBudget::new(SHORT_TEXT_TOKENS_MAX), "", &names.join("\n"));
    room.take(SHORT_TEXT_TOKENS_MAX);
    let (whole, max_tokens) = (room.left(), memory_tokens_max(wanted.budget));
    let state = whole / STATE_SHARE_DIVISOR;
    let handoffs = take_list(&mut room, state, material.handoffs.iter().map(handoff_entry), now);
    let cases = take_list(&mut room, state, material.cases.iter().map(case_entry), now);
    let history = take_list(&mut room, state, material.history.iter().map(history_line), now);
    let entities =
        material.entities.iter().map(|entity| entity.to_item(SHORT_TEXT_TOKENS_MAX).into());
    let entities = take_list(&mut room, whole / ENTITY_SHARE_DIVISOR, entities, now);
    let memories = material.memories.iter().map(|memory| memory.to_item(max_tokens).into());
    let left = room.left();
    let mut memories = take_list(&mut room, left, memories, now);
    // They are chosen from the newest backwards, and shown oldest first.
    memories.reverse();
    let mut memories = PromptSection::new("Memories, the oldest first", memories);
    memories.first_goes = true;
    block.sections = vec![
        PromptSection::new("", names.into_iter().collect()),
        PromptSection::new(&open_handoffs_heading(material.handoffs_left), handoffs),
        PromptSection::new("Cases", cases),
        PromptSection::new("Handoffs, the latest first", history),
        PromptSection::new("Entities", entities),
        memories,
    ];
    if block.sections[1..].iter().all(|section| section.entries.is_empty()) {
        let nothing = PromptEntry::Line("Nothing was saved in it.".to_owned());
        block.sections[0].entries.push(nothing);
    }
    block.set_handles(handles);
    let rendered = block.render_within(wanted.budget, fence, now);
    let [entities, memories] = [4, 5].map(|index| block.sections[index].entries.len());
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
        memories_left_out: material.memories.len() - memories,
        entities_resumed: entities,
        handoffs_open: material.handoffs.len() + material.handoffs_left,
        collaborations: material.history.len(),
        tokens: rendered.tokens,
    };
    let told = block.items().cloned().collect();
    let package = ResumePackage {
        text: rendered.text,
        memories: material.memories.iter().map(|memory| memory.id).collect(),
        entities: material.entities.iter().map(|entity| entity.id).collect(),
        handoffs: material.handoffs,
        history: material.history,
        cases: material.cases,
        metadata,
    };
    ResumeText { package, told }
}

/// The parts of a session that a mode selects.
fn select_for_mode(mut material: ResumeMaterial, wanted: &ResumeOptions) -> ResumeMaterial {
    if let Some(agent) = &wanted.agent {
        material.memories.retain(|memory| memory.item.author == agent.as_str());
        material.entities.retain(|entity| entity.agent == *agent);
        material.handoffs.retain(|handoff| handoff.from == *agent || handoff.to == *agent);
        material.history.retain(|edge| edge.from == *agent || edge.to == *agent);
    }
    let (memories, entities) = wanted.mode.count_limits();
    material.memories.truncate(memories);
    material.entities.truncate(entities);
    material
}

/// The heading above the open handoffs.
fn open_handoffs_heading(left: usize) -> String {
    match left {
        0 => "Open handoffs".to_owned(),
        left => format!("Open handoffs; list_handoffs shows {left} more"),
    }
}

fn handoff_entry(handoff: &OpenHandoff) -> PromptEntry {
    let OpenHandoff { id, from, to, status, task } = handoff;
    let item = PromptItem::new(*id, "handoff", from, id.made_at(), task.clone());
    item.with_note(format!("to {to}"))
        .with_note(status.to_string())
        .shortened(SHORT_TEXT_TOKENS_MAX, None)
        .into()
}

fn case_entry(case: &CasePosition) -> PromptEntry {
    let CasePosition { key, title, context_version, read } = case;
    let unread = context_version.saturating_sub(*read);
    let heading = format!("Case {key}: {context_version} entries, {unread} unread");
    let text = tokens::cut(title, SHORT_TEXT_TOKENS_MAX).into_owned();
    PromptEntry::Quote { heading, text }
}

fn history_line(edge: &HandoffEdge) -> PromptEntry {
    let HandoffEdge { from, to, status, .. } = edge;
    let made = edge.created_at.strftime("%F %H:%M UTC");
    PromptEntry::Line(format!("{from} to {to}: {status}, {made}"))
}

/// The end of the id of a session or a checkpoint, as the command line shows it.
fn short_id(id: &str) -> &str {
    handle_of_length(id, DELETION_HANDLE_CHARS_MIN)
}

/// The block of a resumed session without its content.
fn resume_frame(checkpoint: Option<&Checkpoint>, now: Timestamp) -> PromptBlock {
    let lead = match checkpoint {
        None => "You continue a session that has no checkpoint:".to_owned(),
        Some(checkpoint) => {
            let Checkpoint { id, kind, agents_involved, created_at, .. } = checkpoint;
            let agents: Vec<&str> = agents_involved.iter().map(Agent::as_str).collect();
            let agents = agents.join(", ");
            let agents = tokens::cut(&agents, SHORT_TEXT_TOKENS_MAX);
            let (made, id) = (day(*created_at, now), id.to_string());
            let id = short_id(&id);
            format!("You continue a session from its {kind} checkpoint {id}, {made}, by {agents}:")
        }
    };
    PromptBlock { lead, ..PromptBlock::default() }
}

#[cfg(test)]
mod tests;
