//! Gathering: what a context could tell, of what was kept.

use jiff::Timestamp;
use serde_json::Value;

use super::choose::{ContextCandidate, ContextSource};
use super::tell::{self, TemplateSet};
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::handoff::Handoff;
use crate::model::memory::Memory;
use crate::model::search::ScoreParts;
use commonbook_text::fence::FenceItem;

/// Makes candidates of memories, for one agent.
#[derive(Debug, Clone, Copy)]
pub struct CandidateBuilder<'g> {
    /// The agent that the context is for.
    pub agent: &'g Agent,
    /// How types are told.
    pub templates: &'g TemplateSet,
    /// Which memories are in an open contradiction with which others, each pair once.
    pub contradictions: &'g [(MemoryId, MemoryId)],
}

impl CandidateBuilder<'_> {
    /// A memory from this source, that answers the task so well.
    #[must_use]
    pub fn memory(
        &self,
        source: ContextSource,
        memory: &Memory,
        score: Option<f64>,
    ) -> ContextCandidate {
        let kind = memory.memory_type.as_str();
        let told = match kind {
            "learning" => {
                let sort = memory.metadata.get("learning").and_then(Value::as_str);
                tell::learning(sort.unwrap_or_default(), &memory.text)
            }
            _ => self.templates.tell(kind, &memory.text),
        };
        let text = match memory.title.as_deref() {
            Some(title) if !told.starts_with(title) => format!("{title}\n{told}"),
            _ => told,
        };
        self.candidate(source, memory, kind, text, score)
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

    /// A handoff that waits for the agent: of what its source wrote so many characters. What goes
    /// along is given when it is accepted. It tells how many wait besides.
    #[must_use]
    pub fn handoff(&self, handoff: &Handoff, chars: usize, left: u64) -> ContextCandidate {
        let mut text = tell::handoff(&tell::HandoffSummary {
            from: handoff.from.as_str(),
            task: &handoff.task,
            context: handoff.context.as_deref(),
            decisions_made: &handoff.decisions_made,
            next_steps: &handoff.next_steps,
            active_files: &handoff.active_files,
            text: None,
        });
        if let Some((end, _)) = text.char_indices().nth(chars) {
            text.truncate(end);
            text.push_str(" …");
        }
        text.push_str("\nIt waits for you: accept_handoff takes it and gives all that goes along.");
        if left > 0 {
            text.push_str(&format!("\n{left} more wait for you: list_handoffs shows them."));
        }
        let item = FenceItem {
            id: handoff.id.to_string(),
            kind: "handoff".to_owned(),
            author: handoff.from.to_string(),
            at: handoff.created_at,
            text,
            against: None,
        };
        ContextCandidate::of(item, ContextSource::Handoff)
    }

    /// A standing memory file, as far as it is told.
    #[must_use]
    pub fn standing(&self, file: &str, text: String, at: Timestamp) -> ContextCandidate {
        let item = FenceItem {
            id: file.to_owned(),
            kind: "standing memory".to_owned(),
            // People write there too: what it says is the file's, and no agent's.
            author: format!("file:{file}"),
            at,
            text,
            against: None,
        };
        ContextCandidate { own: true, ..ContextCandidate::of(item, ContextSource::Standing) }
    }

    /// With what a memory is in an open contradiction.
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
        let item = FenceItem {
            id: memory.id.to_string(),
            kind: kind.to_owned(),
            author: memory.owner.to_string(),
            at: memory.valid_from.unwrap_or(memory.recorded_at),
            text,
            against: None,
        };
        ContextCandidate {
            item,
            source,
            revision: Some(memory.revision),
            score,
            own: memory.owner == *self.agent,
            quarantined: memory.is_quarantined(),
            superseded_by: memory.superseded_by.map(|by| by.to_string()),
            supersedes: Vec::new(),
            contradicts: self.contradicting_ids(memory.id),
        }
    }
}

/// How well a memory answers a task, 0 to 1, on the scale that a handoff judges by: words, what is
/// around it, nearness and entities, before importance, freshness, author and time raise them.
#[must_use]
pub fn relevance(parts: &ScoreParts) -> f64 {
    (parts.words + parts.context + parts.vector + parts.entity).clamp(0.0, 1.0)
}
