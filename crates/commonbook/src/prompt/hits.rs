//! Hits: the answer to a search as text for an agent.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::base::id::handle;
use crate::base::limits;
use crate::model::case::digest::without_copies;
use crate::model::memory::Memory;
use crate::model::search::{SearchHit, SearchResponse};
use crate::model::workspace::Workspace;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::headlines::{HeadlineItem, headline_section};
use crate::prompt::item::{MemorySummary, PromptEntry, PromptItem, private_note};
use commonbook_text::fence::Fence;
use commonbook_text::sanitize::shown_label;
use commonbook_text::tokens;

/// Hits that come in full, if they are short.
const FULL_HITS_MAX: usize = 2;

/// Tokens of a hit in full.
const FULL_TOKENS_MAX: usize = 60;

/// The share of the best score below which a hit is not worth a line.
const SCORE_SHARE_MIN: f64 = 0.25;

/// The line above the headlines.
const HEADING: &str = "More by headline; get_memory opens several:";

/// The hits as text for an agent, best first: the first two in full where they are short, the others as
/// headlines, as far as the ranking does not fall off. `workspace` is the caller's; `handles` has the longer
/// handles by id. The text has at most [`limits::SEARCH_TOKENS`], and [`limits::SEARCH_HIT_TOKENS`] for each hit above
/// ten.
#[must_use]
pub fn hits_text(
    found: SearchResponse,
    workspace: &Workspace,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> String {
    let SearchResponse { hits, total, workspaces, notice, next, .. } = found;
    let (quarantined, hits): (Vec<_>, Vec<_>) =
        hits.into_iter().partition(|hit| hit.memory.is_quarantined());
    let mut hits = without_copies(hits, |hit| &hit.memory);
    let mut notes: Vec<String> = notice.into_iter().collect();
    if !quarantined.is_empty() {
        notes.push(format!("{} of your own are quarantined and not shown", quarantined.len()));
    }
    if hits.is_empty() {
        let places: Vec<&str> = workspaces.iter().map(Workspace::as_str).collect();
        let nothing = format!("No memory matches in {}", places.join(", "));
        return [vec![nothing], notes].concat().join(". ");
    }
    let more =
        limits::SEARCH_HIT_TOKENS * hits.len().saturating_sub(limits::SEARCH_DEFAULT as usize);
    let max_tokens = limits::SEARCH_TOKENS + more;
    let all = hits.len();
    let best = hits[0].score;
    hits.retain(|hit| !is_ranked(hit) || hit.score >= best * SCORE_SHARE_MIN);
    if next.is_some() || hits.len() < all {
        notes.push("A larger k or other words find more".to_owned());
    }
    let lead = |count: usize| format!("{count} of {total} memories:");
    let mut block =
        PromptBlock { lead: lead(all), next_step: notes.join(". "), ..PromptBlock::default() };
    let (full, named): (Vec<_>, Vec<_>) = hits.into_iter().enumerate().partition(|(place, hit)| {
        *place < FULL_HITS_MAX && tokens::fits(hit.memory.told_text(), FULL_TOKENS_MAX)
    });
    let full = full.into_iter().map(|(_, hit)| hit_item(hit, workspace));
    let full: Vec<PromptEntry> = full.map(PromptEntry::from).collect();
    let named: Vec<HeadlineItem> =
        named.into_iter().map(|(_, hit)| hit_headline(&hit, workspace)).collect();
    let heading = if full.is_empty() { "" } else { HEADING };
    let full = PromptSection::new("", full);
    let room = block.budget(max_tokens, fence, now).left();
    let room = room.saturating_sub(tokens::count(&full.render(now)));
    let named = headline_section(heading, &named, room, now);
    block.lead = lead(full.entries.len() + named.entries.len());
    block.sections = vec![full, named];
    block.set_handles(handles);
    block.render_within(max_tokens, fence, now).text
}

/// Whether the score of a hit says how well it answers; a query of filters alone ranks nothing.
fn is_ranked(hit: &SearchHit) -> bool {
    !hit.matched.is_empty()
}

/// A hit in full, with what its reader has to know to judge it.
fn hit_item(hit: SearchHit, workspace: &Workspace) -> PromptItem {
    let SearchHit { memory, contradictions, .. } = hit;
    let item = MemorySummary::of(&memory).with_contradictions(&contradictions).item;
    let notes = private_note(&memory).into_iter().chain(state_notes(&memory, workspace));
    notes.fold(item, PromptItem::with_note)
}

/// A hit as a headline, with the same notes.
fn hit_headline(hit: &SearchHit, workspace: &Workspace) -> HeadlineItem {
    let HeadlineItem { item, words } = HeadlineItem::of_memory(&hit.memory);
    let notes = state_notes(&hit.memory, workspace);
    HeadlineItem { item: notes.into_iter().fold(item, PromptItem::with_note), words }
}

/// What is unusual about a memory where it stands.
fn state_notes(memory: &Memory, workspace: &Workspace) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(case), Some(position)) = (&memory.case, memory.position) {
        notes.push(format!("entry {position} of {}", shown_label(case.as_str())));
    }
    if let Some(newer) = memory.superseded_by {
        notes.push(format!("superseded by #{}", handle(&newer.to_string())));
    }
    if memory.deleted_at.is_some() {
        notes.push("deleted".to_owned());
    }
    if memory.workspace != *workspace {
        notes.push(format!("in {}", memory.workspace));
    }
    notes
}
