//! Hits: the answer to a search as text for an agent.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::base::id::{DELETION_HANDLE_CHARS_MIN, handle_of_length};
use crate::base::limits;
use crate::model::memory::{Memory, Trust};
use crate::model::search::{MatchReason, SearchHit, SearchResponse};
use crate::model::workspace::Workspace;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::budget::take_list;
use crate::prompt::item::{MemorySummary, PromptEntry, PromptItem, memory_tokens_max};
use commonbook_text::fence::Fence;
use commonbook_text::sanitize::shown_name;

/// The hits as text within [`limits::SEARCH_TOKENS`], best first: of each its handle, owner and day,
/// what matched, and its text. `workspace` is the caller's. `handles` has the handles by id.
#[must_use]
pub fn hits_text(
    found: SearchResponse,
    workspace: &Workspace,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> String {
    let SearchResponse { hits, total, workspaces, notice, .. } = found;
    let (quarantined, hits): (Vec<_>, Vec<_>) =
        hits.into_iter().partition(|hit| hit.memory.is_quarantined());
    let max_tokens = memory_tokens_max(limits::SEARCH_TOKENS);
    let items: Vec<PromptEntry> =
        hits.into_iter().map(|hit| hit_item(hit, workspace, max_tokens).into()).collect();
    let mut notes: Vec<String> = notice.into_iter().collect();
    if !quarantined.is_empty() {
        notes.push(format!("{} of your own are quarantined and not shown", quarantined.len()));
    }
    if items.is_empty() {
        let places: Vec<&str> = workspaces.iter().map(Workspace::as_str).collect();
        let nothing = format!("No memory matches in {}", places.join(", "));
        return [vec![nothing], notes].concat().join(". ");
    }
    let lead = |count: usize| format!("{count} of {total} memories:");
    let next_step = notes.join(". ");
    let mut block = PromptBlock { lead: lead(items.len()), next_step, ..PromptBlock::default() };
    block.sections = vec![PromptSection::new("", items)];
    block.set_handles(handles);
    let entries = std::mem::take(&mut block.sections[0].entries);
    let mut room = block.budget(limits::SEARCH_TOKENS, fence, now);
    let left = room.left();
    let entries = take_list(&mut room, left, entries, now);
    block.lead = lead(entries.len());
    block.sections[0].entries = entries;
    block.render_within(limits::SEARCH_TOKENS, fence, now).text
}

/// A hit as an item: what matched, and what its reader has to know to judge it.
fn hit_item(hit: SearchHit, workspace: &Workspace, max_tokens: usize) -> PromptItem {
    let SearchHit { memory, matched, contradictions, .. } = hit;
    let mut notes: Vec<String> =
        matched.iter().map(|reason| reason_word(*reason).to_owned()).collect();
    notes.extend(state_notes(&memory));
    if memory.workspace != *workspace {
        notes.push(format!("in {}", memory.workspace));
    }
    let item = MemorySummary::of(&memory).with_contradictions(&contradictions);
    let item = item.to_item(max_tokens);
    notes.into_iter().fold(item, PromptItem::with_note)
}

fn state_notes(memory: &Memory) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(case), Some(position)) = (&memory.case, memory.position) {
        notes.push(format!("entry {position} of {}", shown_name(case.as_str())));
    }
    if memory.trust == Trust::Untrusted {
        notes.push(memory.trust.to_string());
    }
    if let Some(newer) = memory.superseded_by {
        let newer = newer.to_string();
        let handle = handle_of_length(&newer, DELETION_HANDLE_CHARS_MIN);
        notes.push(format!("superseded by #{handle}"));
    }
    if memory.deleted_at.is_some() {
        notes.push("deleted".to_owned());
    }
    notes
}

/// The word for what matched.
const fn reason_word(reason: MatchReason) -> &'static str {
    match reason {
        MatchReason::Words => "words",
        MatchReason::Vector => "meaning",
        MatchReason::Context => "context",
        MatchReason::Entity => "entity",
        MatchReason::Time => "time",
    }
}
