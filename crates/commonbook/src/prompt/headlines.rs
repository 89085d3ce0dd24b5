//! Headlines in a block: what a reader may open, each on one line.

use std::ops::RangeInclusive;

use jiff::Timestamp;

use crate::base::limits;
use crate::model::memory::Memory;
use crate::prompt::block::PromptSection;
use crate::prompt::item::{PromptEntry, PromptItem, basis_note, private_note};
use commonbook_text::headline::{first_words, headline};
use commonbook_text::tokens;

/// Tokens of the words of a headline in the second half of a section. Those of the first half, where most of what a
/// reader needs stands, have twice as many, up to the same end. A section has the most with which it fits.
const WORDS_TOKENS: RangeInclusive<usize> = 4..=24;

/// Headlines of what had no room in full have at most this fraction of a text.
const ROOM_SHARE_DIVISOR: usize = 5;

/// Tokens of the words beside which a headline of the last day has its time; with fewer it has its day.
const TIMED_WORDS_TOKENS: usize = 7;

/// The line above headlines of what had no room in full.
pub const WITHOUT_ROOM: &str =
    "More by headline; get_memory opens several, or `commonbook show A B C`:";

/// Tokens that headlines may have below what had room in a text of at most `max_tokens`.
#[must_use]
pub fn headline_room(max_tokens: usize) -> usize {
    limits::TASK_HEADLINE_TOKENS.min(max_tokens / ROOM_SHARE_DIVISOR)
}

/// An item with its headline.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadlineItem {
    /// The item; as a headline it keeps its handle, author, day and notes.
    pub item: PromptItem,
    /// Its headline.
    pub words: String,
}

impl HeadlineItem {
    /// An item by the headline of its text.
    #[must_use]
    pub fn of_item(item: PromptItem) -> Self {
        Self { words: headline(&item.text), item }
    }

    /// A memory by its headline, with the notes of one.
    #[must_use]
    pub fn of_memory(memory: &Memory) -> Self {
        let item = PromptItem::of_memory(memory, memory.told_text().to_owned());
        Self {
            item: PromptItem { notes: headline_notes(memory), ..item },
            words: memory.headline(),
        }
    }
}

/// What stands before the words of a headline besides author and day: that the memory is private, that
/// its origin is not trusted, and that it rests on what has changed.
#[must_use]
pub fn headline_notes(memory: &Memory) -> Vec<String> {
    let origin = memory.origin_note().map(str::to_owned);
    private_note(memory).into_iter().chain(origin).chain(basis_note(memory)).collect()
}

/// A memory by its headline as a list says it, with its notes before the words: `private > The depot shuts at
/// six`. A quarantined memory has none.
#[must_use]
pub fn listed_headline(memory: &Memory) -> Option<String> {
    if memory.is_quarantined() {
        return None;
    }
    let (notes, words) = (headline_notes(memory).join(", "), memory.headline());
    Some(if notes.is_empty() { words } else { format!("{notes} > {words}") })
}

/// The first of these headlines that fit into `max_tokens` together with the heading; empty if none does.
/// Where times of day leave too little room for words, all have their days.
#[must_use]
pub fn headline_section(
    heading: &str,
    mut items: &[HeadlineItem],
    max_tokens: usize,
    now: Timestamp,
) -> PromptSection {
    while let Some((_, fewer)) = items.split_last() {
        let timed = TIMED_WORDS_TOKENS..=*WORDS_TOKENS.end();
        for (has_times, words) in [(true, timed), (false, WORDS_TOKENS)] {
            let section = |words_tokens: usize| {
                let first_half = items.len() / 2;
                let entries =
                    items.iter().enumerate().map(|(place, HeadlineItem { item, words })| {
                        let factor = if place < first_half { 2 } else { 1 };
                        let words_tokens = (factor * words_tokens).min(*WORDS_TOKENS.end());
                        let item = item.as_headline(first_words(words, words_tokens));
                        PromptEntry::from(if has_times { item } else { item.without_time() })
                    });
                PromptSection::new(heading, entries.collect())
            };
            let lengths: Vec<usize> = words.collect();
            let fits = |length: &usize| tokens::count(&section(*length).render(now)) <= max_tokens;
            // Fewer words have fewer tokens.
            if let Some(place) = lengths.partition_point(fits).checked_sub(1) {
                return section(lengths[place]);
            }
        }
        items = fewer;
    }
    PromptSection::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{CountingIds, MemoryId};
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::{SaveMemory, Sharing, Trust};

    fn now() -> Timestamp {
        "2026-11-28T16:30:00Z".parse().expect("a time")
    }

    /// A memory of the minute `minutes` before now.
    fn memory(ids: &CountingIds, owner: &str, minutes: i64) -> Memory {
        let at = now() - jiff::SignedDuration::from_mins(minutes);
        let name = owner.parse().expect("a name");
        let caller = Caller::new(Some(name), "w".parse().expect("a workspace"), EntryPoint::Mcp);
        let text =
            "Retries of the webhook worker use the key of the event, not that of the attempt.";
        let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
        request.memory(&caller, Sharing::Shared, MemoryId::new(ids, at), at).expect("a memory")
    }

    #[test]
    fn a_headline_says_that_a_memory_is_private_and_not_trusted() {
        let saved = memory(&CountingIds::default(), "ann", 25);
        let saved = Memory { sharing: Sharing::Private, trust: Trust::Untrusted, ..saved };
        let item = HeadlineItem::of_memory(&saved);
        let listed = listed_headline(&saved).expect("a headline");
        assert!(listed.starts_with("private, untrusted > Retries of the"), "{listed}");
        let section = headline_section("", &[item], limits::TASK_HEADLINE_TOKENS, now());
        let line = section.render(now());
        assert!(line.contains(" ann, 16:05, private, untrusted > Retries of the"), "{line}");
        let open = Memory { sharing: Sharing::Shared, trust: Trust::Normal, ..saved.clone() };
        assert_eq!(listed_headline(&open), Some(open.headline()));
        let hidden = Memory { trust: Trust::Quarantined, ..saved };
        assert_eq!(listed_headline(&hidden), None);
    }

    #[test]
    fn ten_headlines_of_a_day_have_times_only_where_there_is_room() {
        let ids = CountingIds::default();
        let authors = ["claude-code/engineer", "codex", "gemini-cli"];
        let items: Vec<HeadlineItem> = (0..10)
            .map(|n| HeadlineItem::of_memory(&memory(&ids, authors[n % 3], 7 * n as i64)))
            .collect();
        let table = [(limits::TASK_HEADLINE_TOKENS, "28 Nov"), (400, "16:23")];
        for (max_tokens, time) in table {
            let section = headline_section("Headlines:", &items, max_tokens, now());
            let text = section.render(now());
            assert_eq!(section.entries.len(), 10, "{text}");
            assert!(text.contains(time) && tokens::count(&text) <= max_tokens, "{text}");
        }
    }

    #[test]
    fn the_first_half_of_headlines_says_more() {
        let ids = CountingIds::default();
        let items: Vec<HeadlineItem> =
            (0..10).map(|n| HeadlineItem::of_memory(&memory(&ids, "ann", n))).collect();
        let section = headline_section("Headlines:", &items, limits::TASK_HEADLINE_TOKENS, now());
        let text = section.render(now());
        let (told, rest): (Vec<_>, Vec<_>) = text
            .lines()
            .filter(|line| line.starts_with('#'))
            .partition(|line| line.contains("use the key of the event"));
        assert_eq!((told.len(), rest.len()), (5, 5), "{text}");
        assert!(text.find(rest[0]) > text.find(told[4]), "{text}");
    }
}
