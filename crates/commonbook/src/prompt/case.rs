//! A case as text for an agent: its newest summaries, within a budget.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;

use crate::base::limits;
use crate::model::case::{Case, CaseEntry, EntryKind};
use crate::model::contradiction::ContradictionMark;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::headlines::{HeadlineItem, WITHOUT_ROOM, headline_room, headline_section};
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::fence::Fence;
use commonbook_text::sanitize::shown_label;
use commonbook_text::tokens::{self, TokenBudget};

/// Share of the budget that entries which agents wrote take before those of a digest, which repeats what its
/// agents know: a digest of an incident must not take the room of its cause and its decision.
const WRITTEN_SHARE: f64 = 2.0 / 3.0;

/// An entry in full, with its item.
#[derive(Debug)]
struct FullEntry {
    entry: CaseEntry,
    item: PromptItem,
}

/// The newest entries of a case that fit, each kind collected from the newest backwards.
#[derive(Debug)]
pub struct CaseTextBuilder {
    block: PromptBlock,
    max_tokens: usize,
    budget: TokenBudget,
    fence: Fence,
    now: Timestamp,
    /// The entries in full, in the order in which they were taken.
    full: Vec<FullEntry>,
    /// Older entries that have no room in full, newest first.
    named: Vec<HeadlineItem>,
}

impl CaseTextBuilder {
    /// A text without entries, of at most `max_tokens`.
    #[must_use]
    pub fn new(case: &Case, max_tokens: usize, fence: Fence, now: Timestamp) -> Self {
        let Case { key, title, status, version, opened_by, .. } = case;
        let of_file = if opened_by.is_of_file() { ", from a file" } else { "" };
        let title = PromptEntry::Quote { heading: String::new(), text: title.clone() };
        let mut block = PromptBlock {
            lead: format!(
                "Case {}{of_file}, {status}, {version} entries, the newest summaries last:",
                shown_label(key.as_str())
            ),
            ..PromptBlock::default()
        };
        block.sections.push(PromptSection::new("", vec![title.clone()]));
        let mut budget = block.budget(max_tokens, &fence, now);
        budget.take(tokens::count(&title.render(None, now)));
        Self { block, max_tokens, budget, fence, now, full: Vec::new(), named: Vec::new() }
    }

    /// Takes the next older entry with those of these marks that are its own; returns whether it fits. A withheld or superseded entry needs no
    /// tokens.
    pub fn take(&mut self, entry: CaseEntry, marks: &[ContradictionMark]) -> bool {
        let Some(item) = entry_item(&entry) else { return true };
        let item = item.with_contradictions(marks);
        let fits = self.budget.take(item.tokens(self.now));
        if fits {
            self.full.push(FullEntry { entry, item });
        }
        fits
    }

    /// Takes the next older entry that an agent wrote, as [`Self::take`] does, if these have room left beside
    /// those of a digest.
    pub fn take_written(&mut self, entry: CaseEntry, marks: &[ContradictionMark]) -> bool {
        let kept = (self.max_tokens as f64 * (1.0 - WRITTEN_SHARE)) as usize;
        self.budget.left() > kept && self.take(entry, marks)
    }

    /// Whether the text has the entry at this position in full.
    #[must_use]
    pub fn tells(&self, position: u64) -> bool {
        self.full.iter().any(|full| full.entry.position == position)
    }

    /// How many entries behind this position the text has in full.
    #[must_use]
    pub fn count_behind(&self, position: u64) -> usize {
        self.full.iter().filter(|full| full.entry.position > position).count()
    }

    /// Takes the next older entry as a headline, once one had no room; returns whether more may follow.
    pub fn name(&mut self, entry: &CaseEntry) -> bool {
        self.named.extend(entry_item(entry).map(HeadlineItem::of_item));
        self.named.len() < limits::TASK_HEADLINES
    }

    /// Makes headlines of the oldest entries in full, those of a digest first, until the headlines have their room.
    fn make_room(&mut self) {
        let room = headline_room(self.max_tokens);
        while !self.named.is_empty() && self.full.len() > 1 && self.budget.left() < room {
            let oldest = self.full.iter().rposition(|full| full.entry.origin.is_some());
            let FullEntry { item, .. } = self.full.remove(oldest.unwrap_or(self.full.len() - 1));
            self.budget = TokenBudget::new(self.budget.left() + item.tokens(self.now));
            self.named.insert(0, HeadlineItem::of_item(item));
        }
        self.named.truncate(limits::TASK_HEADLINES);
    }

    /// The entries and their text, both oldest first. `handles` has the longer handles that some of
    /// the entries need, by id.
    #[must_use]
    pub fn finish(mut self, handles: &HashMap<String, String>) -> (Vec<CaseEntry>, String) {
        self.full.sort_by_key(|full| Reverse(full.entry.position));
        self.make_room();
        self.full.reverse();
        let (mut entries, items): (Vec<CaseEntry>, Vec<PromptEntry>) =
            self.full.into_iter().map(|full| (full.entry, PromptEntry::from(full.item))).unzip();
        let section = PromptSection { first_goes: true, ..PromptSection::new("", items) };
        self.block.sections.push(section);
        for named in &mut self.named {
            named.item.set_handles(handles);
        }
        let room = headline_room(self.max_tokens).min(self.budget.left());
        self.block.sections.push(headline_section(WITHOUT_ROOM, &self.named, room, self.now));
        self.block.set_handles(handles);
        let rendered = self.block.render_within(self.max_tokens, &self.fence, self.now);
        let dropped = rendered.dropped.iter().filter(|entry| !is_headline(entry)).count();
        let first = entries.len().min(dropped);
        (entries.split_off(first), rendered.text)
    }

    /// The ids of the entries so far.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let named = self.named.iter().map(|named| named.item.id.clone());
        self.full.iter().map(|full| full.item.id.clone()).chain(named).collect()
    }
}

fn is_headline(entry: &PromptEntry) -> bool {
    matches!(entry, PromptEntry::Item(item) if item.is_headline)
}

/// An entry that can be shown as an item; `None` for a withheld, superseded or retracted one.
pub(super) fn entry_item(entry: &CaseEntry) -> Option<PromptItem> {
    if entry.withheld || entry.superseded_by.is_some() || entry.retraction.is_some() {
        return None;
    }
    let kind = entry.kind.map_or("entry", EntryKind::name);
    let text = entry.summary.clone().unwrap_or_default();
    let item = PromptItem::new(entry.entry_id?, kind, entry.agent.as_ref()?, entry.at?, text);
    let item = match &entry.origin_note {
        Some(note) => PromptItem { notes: Vec::new(), ..item }.with_note(note),
        None => item,
    };
    let item = entry.origin.iter().fold(item, PromptItem::said_by);
    Some(item.with_note(format!("entry {}", entry.position)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::id::{CountingIds, MemoryId};

    fn now() -> Timestamp {
        "2026-11-28T16:30:00Z".parse().expect("a time")
    }

    #[test]
    fn entries_without_room_are_headlines_within_the_budget() {
        let case: Case = serde_json::from_value(json!({
            "workspace": "w", "key": "orders", "title": "The orders page is slow", "status": "open",
            "version": 30, "opened_by": "ann", "opened_at": now(), "changed_at": now(),
        }))
        .expect("a case");
        let ids = CountingIds::default();
        let entry = |position: u64| -> CaseEntry {
            let summary = format!(
                "Important! Step {position} shows that the planner reads the whole table. {}",
                "The dashboard is green all the time. ".repeat(6)
            );
            serde_json::from_value(json!({
                "position": position, "entry_id": MemoryId::new(&ids, now()), "kind": "note",
                "agent": "codex", "at": now(), "summary": summary,
            }))
            .expect("an entry")
        };
        let mut builder = CaseTextBuilder::new(&case, 900, Fence::from_bits(7), now());
        let mut older =
            (1..=30).rev().map(entry).skip_while(|entry| builder.take(entry.clone(), &[]));
        let first = older.next().expect("an entry without room");
        let mut named = vec![first];
        named.extend(older);
        assert!(named.iter().take_while(|entry| builder.name(entry)).count() < 10);
        let (entries, text) = builder.finish(&HashMap::new());
        assert!(tokens::count(&text) <= 900, "{text}");
        let oldest = entries.first().expect("an entry in full").position;
        let (full, headlines) = text.split_once(WITHOUT_ROOM).expect("headlines");
        assert!(
            full.contains(&format!("entry {oldest}\n> Important! Step {oldest} shows")),
            "{text}"
        );
        let next = format!("entry {} > Step {} shows that", oldest - 1, oldest - 1);
        assert!(headlines.contains(&next) && headlines.matches(" > Step ").count() > 4, "{text}");
        assert!(!headlines.contains("green"), "{text}");
    }
}
