//! Excerpts: the items that a task needs, if a file exceeds its share of the budget.

use std::collections::BTreeSet;

use super::{StandingBlockKind, StandingDocument};
use commonbook_text::terms;

/// An upper bound of the mean length of a token, in bytes.
const MEAN_TOKEN_BYTES_MAX: usize = 12;
/// Maximum number of items that are tried.
const ITEMS_TRIED_MAX: usize = 300;

/// An excerpt of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingExcerpt {
    /// The excerpt, in the order of the file.
    pub text: String,
    /// Number of items without room.
    pub left_out: usize,
}

impl StandingDocument {
    /// The excerpt for a task: the whole file if it fits into `share` tokens, else the items that
    /// have most of the task's words, rare words first; among equal ones the newest. `count` counts
    /// the tokens of a text.
    #[must_use]
    pub fn excerpt_for(
        &self,
        task: &str,
        share: usize,
        count: impl Fn(&str) -> usize,
    ) -> StandingExcerpt {
        let whole = self.render();
        if self.items().next().is_none() && self.is_bare() {
            return StandingExcerpt { text: String::new(), left_out: 0 };
        }
        // Skips counting if the text is much too long.
        if whole.len() <= share.saturating_mul(MEAN_TOKEN_BYTES_MAX) && count(&whole) <= share {
            return StandingExcerpt { text: whole.trim().to_owned(), left_out: 0 };
        }
        let order = self.by_relevance(task);
        let mut taken = self.fitting_items(&order, share, &count);
        loop {
            let text = self.excerpt(&taken.iter().copied().collect(), order.len());
            // The tokens of the parts need not add up to those of the whole.
            if count(&text) <= share || taken.pop().is_none() {
                let text = if taken.is_empty() { String::new() } else { text };
                return StandingExcerpt { text, left_out: order.len() - taken.len() };
            }
        }
    }

    /// The indexes of the items that fit into `share` tokens, tried in this order; an item that is
    /// too long is skipped.
    fn fitting_items(
        &self,
        order: &[usize],
        share: usize,
        count: &impl Fn(&str) -> usize,
    ) -> Vec<usize> {
        let (mut taken, mut headings) = (Vec::new(), BTreeSet::new());
        let mut room = share.saturating_sub(count(&rest_note(order.len())));
        for place in order.iter().take(ITEMS_TRIED_MAX) {
            let is_heading =
                |place: &usize| matches!(self.blocks[*place].kind, StandingBlockKind::Section(_));
            let heading =
                (0..*place).rev().find(is_heading).filter(|heading| !headings.contains(heading));
            let far_longer =
                |place: &usize| self.blocks[*place].raw.len() > room * MEAN_TOKEN_BYTES_MAX;
            if far_longer(place) || heading.as_ref().is_some_and(far_longer) {
                continue;
            }
            let tokens = |place: usize| count(self.blocks[place].raw.trim()) + 1;
            let cost = tokens(*place) + heading.map_or(0, tokens);
            if cost <= room {
                room -= cost;
                headings.extend(heading);
                taken.push(*place);
            }
        }
        taken
    }

    /// Whether a file has only headings.
    fn is_bare(&self) -> bool {
        self.blocks.iter().all(|block| match &block.kind {
            StandingBlockKind::Prose => block.is_bare_prose(),
            StandingBlockKind::Section(_) => true,
            StandingBlockKind::Item(_) => false,
        })
    }

    /// The indexes of all items, most relevant first.
    fn by_relevance(&self, task: &str) -> Vec<usize> {
        let wanted = terms::query_terms(task);
        let mut items: Vec<(usize, BTreeSet<String>)> = Vec::new();
        let mut section: Vec<String> = Vec::new();
        for (place, block) in self.blocks.iter().enumerate() {
            match &block.kind {
                StandingBlockKind::Section(name) => section = terms::terms(name),
                StandingBlockKind::Item(text) => {
                    let words = terms::terms(text).into_iter().chain(section.iter().cloned());
                    items.push((place, words.collect()));
                }
                StandingBlockKind::Prose => {}
            }
        }
        let worth = |term: &String| {
            let having = items.iter().filter(|(_, terms)| terms.contains(term)).count();
            (1.0 + items.len() as f64 / (1.0 + having as f64)).ln()
        };
        let worths: Vec<(&String, f64)> = wanted.iter().map(|term| (term, worth(term))).collect();
        let mut scored: Vec<(f64, usize)> = items
            .iter()
            .map(|(place, terms)| {
                let found = worths.iter().filter(|(term, _)| terms.contains(*term));
                (found.map(|(_, worth)| worth).sum(), *place)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        scored.into_iter().map(|(_, place)| place).collect()
    }

    /// These items under their headings, in the order of the file, and the number of others.
    fn excerpt(&self, taken: &BTreeSet<usize>, all: usize) -> String {
        let mut text = String::new();
        let mut heading: Option<&str> = None;
        for (place, block) in self.blocks.iter().enumerate() {
            match &block.kind {
                StandingBlockKind::Section(_) => heading = Some(&block.raw),
                StandingBlockKind::Item(_) if taken.contains(&place) => {
                    if let Some(heading) = heading.take() {
                        let gap = if text.is_empty() { "" } else { "\n" };
                        text.push_str(&format!("{gap}{}\n", heading.trim()));
                    }
                    text.push_str(block.raw.trim_end());
                    text.push('\n');
                }
                _ => {}
            }
        }
        if all > taken.len() {
            text.push_str(&format!("\n{}", rest_note(all - taken.len())));
        }
        text.trim().to_owned()
    }
}

/// The note about items left out.
fn rest_note(left: usize) -> String {
    let (items, are) = if left == 1 { ("item", "is") } else { ("items", "are") };
    format!("({left} more {items} of this file {are} left out here.)")
}
