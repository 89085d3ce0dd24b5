//! What has changed since a handoff was made, as its target reads it.

use crate::base::id::handle;
use crate::model::memory::{Memory, MemoryChange, MemoryChangeKind};
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::sanitize::shown_name;
use commonbook_text::tokens;

/// Tokens that the present text of a changed memory has at least.
const PRESENT_TOKENS_MIN: usize = 60;

/// A change of a memory, with what holds in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct PresentMemory {
    /// The change.
    pub change: MemoryChange,
    /// The memory as it is now, or its successor; `None` if it was deleted or retracted.
    pub memory: Option<Memory>,
}

/// Puts the present text in the place of what has changed, and names what was deleted.
pub(super) fn show_changes(block: &mut PromptBlock, changes: &[PresentMemory]) {
    let told = block.item_ids();
    for section in &mut block.sections {
        let entries = std::mem::take(&mut section.entries);
        for entry in entries {
            match (&entry, find_change(&entry, changes)) {
                (PromptEntry::Item(item), Some(present)) => {
                    section.entries.extend(changed_entries(item, present, &told));
                }
                _ => section.entries.push(entry),
            }
        }
    }
    let gone = changes.iter().filter(|present| present.memory.is_none());
    let lines = gone.map(|PresentMemory { change, .. }| {
        let id = change.id.to_string();
        let (handle, owner, change) = (handle(&id), &change.owner, change.change);
        PromptEntry::Line(format!("#{handle} of {} was {change} since", shown_name(owner.as_str())))
    });
    let lines: Vec<PromptEntry> = lines.collect();
    let place = block.sections.len().min(1);
    block.sections.insert(place, PromptSection::new("", lines));
}

fn find_change<'c>(entry: &PromptEntry, changes: &'c [PresentMemory]) -> Option<&'c PresentMemory> {
    let PromptEntry::Item(item) = entry else { return None };
    changes.iter().find(|present| present.change.id.to_string() == item.id)
}

fn changed_entries(
    item: &PromptItem,
    present: &PresentMemory,
    told: &[String],
) -> Vec<PromptEntry> {
    let Some(memory) = &present.memory else { return Vec::new() };
    let max_tokens = tokens::count(&item.text).max(PRESENT_TOKENS_MIN);
    let now = PromptItem::of_memory(memory, memory.told_text().to_owned())
        .shortened(max_tokens, memory.summary.as_deref());
    if present.change.change == MemoryChangeKind::Corrected {
        let corrected = PromptItem { text: now.text, ..item.clone() };
        return vec![corrected.with_note("corrected since").into()];
    }
    let line =
        format!("#{} of {} is superseded since by #{}", item.handle, item.author, now.handle);
    let heir =
        (!told.contains(&now.id)).then(|| now.with_note(format!("supersedes #{}", item.handle)));
    [PromptEntry::Line(line)].into_iter().chain(heir.map(PromptEntry::from)).collect()
}
