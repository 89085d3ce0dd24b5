//! Turning memories, entries, handoffs and standing memory into candidates for a context.

use jiff::Timestamp;
use serde_json::Value;

use super::choose::{ContextCandidate, ContextSource};
use super::tell::{self, TemplateSet};
use crate::base::id::{MemoryId, handle};
use crate::model::agent::Agent;
use crate::model::case::digest::DigestOrigin;
use crate::model::case::{Case, CaseProposal};
use crate::model::contradiction::{ContradictionMark, ContradictionStatus};
use crate::model::handoff::{Handoff, HandoffStatus};
use crate::model::memory::{Memory, RetractionNotice};
use crate::prompt::headlines::headline_notes;
use crate::prompt::item::PromptItem;
use commonbook_text::sanitize::shown_label;

/// The handoffs that wait for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandoffQueue {
    /// Number of those that a text tells, the oldest first.
    pub told: u64,
    /// Number of all.
    pub waiting: u64,
}

impl HandoffQueue {
    /// Whether more wait than the text tells.
    fn is_longer(&self) -> bool {
        self.waiting > self.told
    }
}
/// How the id of a proposal in a context begins; the key of its case follows.
pub const PROPOSAL_PREFIX: &str = "proposal:";

/// How the id of a retraction in a context begins; the id of its memory follows. The memory itself is
/// not told again.
pub const RETRACTION_PREFIX: &str = "retraction:";

/// The memory whose retraction an item with this id tells of.
#[must_use]
pub fn retraction_of(id: &str) -> Option<MemoryId> {
    MemoryId::parse(id.strip_prefix(RETRACTION_PREFIX)?)
}

/// Builds candidates for one agent.
#[derive(Debug, Clone, Copy)]
pub struct CandidateBuilder<'g> {
    /// The agent that the context is for.
    pub agent: &'g Agent,
    /// The sentences for each memory type.
    pub templates: &'g TemplateSet,
    /// The pairs of memories that are in an open contradiction, each pair once.
    pub contradictions: &'g [(MemoryId, MemoryId)],
    /// The marks of these memories.
    pub marks: &'g [ContradictionMark],
}

impl CandidateBuilder<'_> {
    /// A memory from this source, with its score for the task.
    #[must_use]
    pub fn memory(
        &self,
        source: ContextSource,
        memory: &Memory,
        score: Option<f64>,
    ) -> ContextCandidate {
        let kind = memory.memory_type.as_str();
        let sentences = match kind {
            "learning" => {
                let sort = memory.metadata.get("learning").and_then(Value::as_str);
                tell::learning(sort.unwrap_or_default(), memory.told_text())
            }
            _ => self.templates.tell(kind, memory.told_text()),
        };
        let (headline, mut headline_notes) = (memory.headline(), headline_notes(memory));
        let open = self
            .marks
            .iter()
            .find(|mark| mark.memory == memory.id && mark.status == ContradictionStatus::Open);
        headline_notes
            .extend(open.map(|mark| format!("contradicts #{}", handle(&mark.other.to_string()))));
        ContextCandidate {
            headline,
            headline_notes,
            ..self.candidate(source, memory, kind, sentences, score)
        }
    }

    /// An entry of a case that the agent has not read.
    #[must_use]
    pub fn entry(&self, case: &Case, memory: &Memory) -> ContextCandidate {
        let text = tell::entry(&tell::EntrySummary {
            case: case.key.as_str(),
            title: Some(&case.title),
            position: memory.position.unwrap_or_default(),
            summary: memory.summary.as_deref().unwrap_or_default(),
            has_text: !memory.text.is_empty() && Some(&memory.text) != memory.summary.as_ref(),
        });
        self.candidate(ContextSource::Entry, memory, "entry", text, None)
    }

    /// A handoff that waits for the agent, or that it accepted earlier, with a text of at most `max_tokens`; the first one says how
    /// much of the `queue` a text tells. Its memories and entities are returned when the agent accepts it.
    #[must_use]
    pub fn handoff(
        &self,
        handoff: &Handoff,
        max_tokens: usize,
        queue: Option<HandoffQueue>,
    ) -> ContextCandidate {
        let text = tell::handoff(&tell::HandoffSummary {
            from: handoff.from.as_str(),
            task: &handoff.task,
            context: handoff.context.as_deref(),
            decisions_made: &handoff.decisions_made,
            next_steps: &handoff.next_steps,
            active_files: &handoff.active_files,
            text: None,
        });
        let (at, from) = (handoff.created_at, &handoff.from);
        let mut item = PromptItem::new(handoff.id, "handoff", from, at, text)
            .shortened(max_tokens, None)
            .with_note(match handoff.status {
                HandoffStatus::Accepted => "you accepted it; complete_handoff ends it",
                _ => "waits for your accept_handoff",
            });
        if let Some(HandoffQueue { told, waiting }) = queue.filter(HandoffQueue::is_longer) {
            item = item.with_note(format!("{told} of {waiting} told"));
            item = item.with_note("accept_handoff without an id lists all");
        }
        ContextCandidate::of(item, ContextSource::Handoff)
    }

    /// An ended handoff of the agent, in the words of its target.
    #[must_use]
    pub fn result(&self, handoff: &Handoff) -> ContextCandidate {
        let text = tell::handoff_result(&handoff.task, handoff.status, handoff.note.as_deref());
        let at = handoff.ended_at.unwrap_or(handoff.created_at);
        let item = PromptItem::new(handoff.id, "handoff", &handoff.to, at, text);
        let item = item.with_note(format!("{} your handoff", handoff.status));
        let candidate = ContextCandidate::of(item, ContextSource::Result);
        ContextCandidate { revision: Some(handoff.version), ..candidate }
    }

    /// A proposal of entries for a case that the agent leads.
    #[must_use]
    pub fn proposal(&self, proposal: &CaseProposal) -> ContextCandidate {
        let CaseProposal { key, number, at, entries, .. } = proposal;
        let lines = entries.iter().map(|entry| format!("\n- {}", entry.summary));
        let item = PromptItem {
            id: format!("{PROPOSAL_PREFIX}{key}"),
            handle: key.to_string(),
            kind: "proposal".to_owned(),
            author: Agent::system().to_string(),
            at: *at,
            notes: Vec::new(),
            text: format!("Proposal {number}{}", lines.collect::<String>()),
            is_headline: false,
            against: None,
            contradictions: Vec::new(),
        };
        let is_of_file = entries.iter().flat_map(|entry| &entry.authors).any(Agent::is_of_file);
        let item = if is_of_file { item.as_of_file() } else { item };
        let case = shown_label(key.as_str());
        let item = item.with_note(format!("waits for your decision in case {case}"));
        ContextCandidate::of(item, ContextSource::Entry)
    }

    /// What the agent hears of a retraction; `None` if the memory is not what the notice says any more.
    #[must_use]
    pub fn retraction(
        &self,
        notice: &RetractionNotice,
        memory: &Memory,
    ) -> Option<ContextCandidate> {
        let text = tell::retraction(notice, memory)?;
        let id = notice.memory.to_string();
        let item = PromptItem {
            handle: handle(&id).to_owned(),
            id: format!("{RETRACTION_PREFIX}{id}"),
            kind: ContextSource::Retraction.name().to_owned(),
            author: notice.actor.to_string(),
            at: notice.at,
            notes: Vec::new(),
            text,
            is_headline: false,
            against: None,
            contradictions: Vec::new(),
        };
        Some(ContextCandidate::of(item, ContextSource::Retraction))
    }

    /// A part of a standing memory file, by its author.
    #[must_use]
    pub fn standing(
        &self,
        id: &str,
        author: &str,
        text: String,
        at: Timestamp,
    ) -> ContextCandidate {
        let item = PromptItem {
            id: id.to_owned(),
            handle: id.split(':').next().unwrap_or(id).to_owned(),
            kind: "standing memory".to_owned(),
            author: author.to_owned(),
            at,
            notes: Vec::new(),
            text,
            is_headline: false,
            against: None,
            contradictions: Vec::new(),
        };
        ContextCandidate { own: true, ..ContextCandidate::of(item, ContextSource::Standing) }
    }

    /// The ids that a memory is in an open contradiction with.
    fn contradicting_ids(&self, id: MemoryId) -> Vec<String> {
        let others = self.contradictions.iter().filter_map(|(a, b)| match id {
            _ if id == *a => Some(b),
            _ if id == *b => Some(a),
            _ => None,
        });
        others.map(ToString::to_string).collect()
    }

    fn candidate(
        &self,
        source: ContextSource,
        memory: &Memory,
        kind: &str,
        text: String,
        score: Option<f64>,
    ) -> ContextCandidate {
        let item = PromptItem { kind: kind.to_owned(), ..PromptItem::of_memory(memory, text) };
        let item = item.with_contradictions(self.marks);
        ContextCandidate {
            revision: Some(memory.revision),
            score,
            own: memory.owner == *self.agent,
            quarantined: memory.is_quarantined(),
            superseded_by: memory.superseded_by.map(|by| by.to_string()),
            contradicts: self.contradicting_ids(memory.id),
            copy_of: DigestOrigin::of(memory)
                .into_iter()
                .flat_map(|origin| origin.sources)
                .map(|source| source.to_string())
                .collect(),
            case: memory.case.clone().filter(|_| source == ContextSource::Relevant),
            ..ContextCandidate::of(item, source)
        }
    }
}
