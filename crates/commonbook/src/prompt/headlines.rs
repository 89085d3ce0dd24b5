//! Headlines in a block: what a reader may open, each on one line.

use std::ops::RangeInclusive;

use jiff::Timestamp;

use crate::prompt::block::PromptSection;
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::headline::first_words;
use commonbook_text::tokens;

/// Tokens of the words of one headline: all headlines of a section have the same, the most with which they fit.
const WORDS_TOKENS: RangeInclusive<usize> = 6..=24;

/// An item with its headline.
pub struct HeadlineItem {
    /// The item; as a headline it keeps its handle, author, day and notes.
    pub item: PromptItem,
    /// Its headline.
    pub words: String,
}

/// The first of these headlines that fit into `max_tokens` together with the heading; empty if none does.
#[must_use]
pub fn headline_section(
    heading: &str,
    mut items: &[HeadlineItem],
    max_tokens: usize,
    now: Timestamp,
) -> PromptSection {
    while let Some((_, fewer)) = items.split_last() {
        for words_tokens in WORDS_TOKENS.rev() {
            let entries = items.iter().map(|HeadlineItem { item, words }| {
                PromptEntry::from(item.as_headline(first_words(words, words_tokens)))
            });
            let section = PromptSection::new(heading, entries.collect());
            if tokens::count(&section.render(now)) <= max_tokens {
                return section;
            }
        }
        items = fewer;
    }
    PromptSection::default()
}
