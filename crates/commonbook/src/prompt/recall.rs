//! Recall: the memories about a task as text for an agent.

use std::collections::HashMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::case::digest::without_copies;
use crate::model::contradiction::ContradictionMark;
use crate::model::memory::Memory;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::budget::{take_list, take_quote};
use crate::prompt::item::{MemorySummary, PromptEntry, memory_tokens_max};
use commonbook_text::fence::Fence;
use commonbook_text::sanitize::shown_name;
use commonbook_text::tokens::TokenBudget;

/// Returns what the shared memory holds about a task or a question, as text to read before the work
/// begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The task or the question, in plain words. Search filters may stand among them.
    pub task: String,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only memories of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What the shared memory holds about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecallResult {
    /// The memories as text.
    pub text: String,
    /// The memories in the text, the best match first.
    pub memories: Vec<MemoryId>,
}

/// A topic in the head of an item: in quotation marks, so that it does not read as our words.
fn quoted_label(topic: &str) -> String {
    format!("\"{}\"", shown_name(topic).trim_matches('"'))
}

impl RecallResult {
    /// The best of `memories`, of which there are `total`, within [`limits::RECALL_TOKENS`].
    /// `marks` are their contradictions. `handles` has the longer handles that some of them need, by id.
    #[must_use]
    pub fn of(
        task: &str,
        memories: Vec<Memory>,
        total: u64,
        marks: &[ContradictionMark],
        handles: &HashMap<String, String>,
        fence: &Fence,
        now: Timestamp,
    ) -> Self {
        let (lead, next_step) = match memories.len() {
            0 => (
                "The shared memory has nothing about this task:".to_owned(),
                "Save what you learn with save_memory.",
            ),
            count => (
                format!("The shared memory about this task, the best {count} of {total} memories:"),
                "search_memory finds more; get_memory returns one memory whole.",
            ),
        };
        let next_step = next_step.to_owned();
        let mut block = PromptBlock { lead, next_step, ..PromptBlock::default() };
        let mut room = block.budget(limits::RECALL_TOKENS, fence, now);
        let mut task_room = TokenBudget::new(memory_tokens_max(limits::RECALL_TOKENS));
        let task = take_quote(&mut task_room, "Task", task);
        room.take(memory_tokens_max(limits::RECALL_TOKENS) - task_room.left());
        let max_tokens = memory_tokens_max(limits::RECALL_TOKENS);
        let memories = without_copies(memories, |memory| memory);
        let items = memories.into_iter().map(|memory| {
            let topics: Vec<String> =
                memory.topics.iter().map(|topic| quoted_label(topic)).collect();
            let topics = topics.join(" ");
            let item = MemorySummary::of(&memory).with_contradictions(marks).to_item(max_tokens);
            PromptEntry::from(if topics.is_empty() { item } else { item.with_note(topics) })
        });
        let left = room.left();
        let items = take_list(&mut room, left, items, now);
        block.sections = vec![
            PromptSection::new("", task.into_iter().collect()),
            PromptSection::new("Memories", items),
        ];
        block.set_handles(handles);
        let text = block.render_within(limits::RECALL_TOKENS, fence, now).text;
        let memories = block.items_mut().filter_map(|item| item.id.parse().ok()).collect();
        Self { text, memories }
    }
}
