//! The budget of a block: which entries of a list fit, in tokens.

use jiff::Timestamp;

use super::item::PromptEntry;
use commonbook_text::tokens::{self, TokenBudget};

/// Items in a row that may be too long before the rest of a list is skipped.
const SKIPPED_ITEMS_MAX: usize = 10;

/// Tokens of a heading with its line ends.
const HEADING_TOKENS: usize = 16;

/// Takes the entries of a list in their order, within `share` tokens with a heading. An entry that
/// is too long is skipped; shorter ones below it may still fit.
pub fn take_list(
    budget: &mut TokenBudget,
    share: usize,
    entries: impl IntoIterator<Item = PromptEntry>,
    now: Timestamp,
) -> Vec<PromptEntry> {
    let share = share.min(budget.left());
    let mut room = TokenBudget::new(share.saturating_sub(HEADING_TOKENS));
    let (mut taken, mut skipped) = (Vec::new(), 0);
    for entry in entries {
        // A text that is too long is counted only as far as there is room.
        let text = entry.render(None, now);
        let tokens = tokens::count_within(&text, room.left());
        if tokens.is_some_and(|tokens| room.take(tokens)) {
            taken.push(entry);
            skipped = 0;
            continue;
        }
        skipped += 1;
        if skipped == SKIPPED_ITEMS_MAX {
            break;
        }
    }
    if !taken.is_empty() {
        budget.take(share - room.left());
    }
    taken
}

/// Takes as much of the beginning of a text as fits, quoted under its heading. Returns `None` if
/// nothing of it fits.
pub fn take_quote(budget: &mut TokenBudget, heading: &str, text: &str) -> Option<PromptEntry> {
    let limit = budget.left();
    let mut room = limit;
    while room > 0 {
        let beginning = tokens::cut(text, room);
        if beginning.trim_end_matches(tokens::CUT_MARK).trim().is_empty() {
            return None;
        }
        let (heading, text) = (heading.to_owned(), beginning.into_owned());
        let quote = PromptEntry::Quote { heading, text };
        let tokens = tokens::count(&quote.render(None, Timestamp::UNIX_EPOCH));
        if budget.take(tokens) {
            return Some(quote);
        }
        // The `>` of each quoted line takes tokens too.
        room = room.saturating_sub((tokens - limit).max(1));
    }
    None
}
