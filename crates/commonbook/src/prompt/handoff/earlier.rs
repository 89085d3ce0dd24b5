//! Earlier handoffs, of the chain and those whose results it builds on, as a section: what each source wrote and what each target
//! answered, under its own name.

use jiff::Timestamp;

use crate::model::handoff::{ChainLink, HandoffStatus};
use crate::prompt::block::PromptSection;
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::sanitize::shown_name;
use commonbook_text::tokens::{self, TokenBudget};

/// The heading of the section.
const HEADING: &str = "Earlier work, nearest first";

/// Tokens of the heading, of the line with the number of handoffs left out, and of what the tokens of parts
/// do not add up to: four items of letters of every script counted ten more than their parts.
const FRAME_TOKENS: usize = 48;

/// Tokens kept for the result of a handoff that has none yet.
const RESULT_TOKENS: usize = 100;

/// Tokens that a handoff needs to say anything.
const LINK_TOKENS_MIN: usize = 40;

/// The tokens of all of these handoffs, with room for results that come later.
pub(super) fn tokens_wanted(links: &[ChainLink], now: Timestamp) -> usize {
    if links.is_empty() {
        return 0;
    }
    let items = links.iter().flat_map(|link| items_of(link, usize::MAX, now));
    let written: usize = items.map(|item| item.tokens(now)).sum();
    let waiting = links.iter().filter(|link| link.status.is_open()).count();
    FRAME_TOKENS + written + waiting * RESULT_TOKENS
}

/// The section within this room, and its tokens. If not all of them have room,
/// the longest are cut to the same length; the farthest are left out first.
pub(super) fn section(
    links: &[ChainLink],
    room: TokenBudget,
    now: Timestamp,
) -> (PromptSection, usize) {
    if links.is_empty() {
        return (PromptSection::default(), 0);
    }
    let all = room.left();
    let mut room = TokenBudget::new(all.saturating_sub(FRAME_TOKENS));
    let shown = links.len().min(room.left() / LINK_TOKENS_MIN);
    let tokens = |link| items_of(link, usize::MAX, now).iter().map(|item| item.tokens(now)).sum();
    let max_tokens = length_within(links[..shown].iter().map(tokens).collect(), room.left());
    let (mut entries, mut left_out) = (Vec::new(), links.len() - shown);
    for link in &links[..shown] {
        let items = items_of(link, max_tokens, now);
        match room.take(items.iter().map(|item| item.tokens(now)).sum()) {
            true => entries.extend(items.into_iter().map(PromptEntry::from)),
            false => left_out += 1,
        }
    }
    if left_out > 0 {
        let noun = if left_out == 1 { "handoff is" } else { "handoffs are" };
        let line = format!("{left_out} earlier {noun} left out; the chain has all of them");
        entries.push(PromptEntry::Line(line));
    }
    (PromptSection::new(HEADING, entries), all - room.left())
}

/// The length to which texts of these lengths are cut so that all of them have room.
fn length_within(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, count) = (room, lengths.len());
    for (index, length) in lengths.into_iter().enumerate() {
        let share = left / (count - index);
        if length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// What its target answered and what its source wrote, within these tokens together.
fn items_of(link: &ChainLink, max_tokens: usize, now: Timestamp) -> Vec<PromptItem> {
    let place = (!link.is_brought).then(|| format!("number {} of the chain", link.depth));
    let placed = |item: PromptItem| place.iter().fold(item, PromptItem::with_note);
    let result = link.note.as_ref().map(|note| {
        let kind = match link.status {
            HandoffStatus::Rejected => "reason to reject",
            _ => "result",
        };
        let at = link.ended_at.unwrap_or(link.created_at);
        let item = PromptItem::new(link.handoff, kind, &link.to, at, note.clone());
        shortened_to(placed(item), max_tokens / 2, now)
    });
    let used = result.as_ref().map_or(0, |item| item.tokens(now));
    let item = PromptItem::new(link.handoff, "handoff", &link.from, link.created_at, text_of(link))
        .with_note(format!("to {}", shown_name(link.to.as_str())));
    let item = shortened_to(placed(item), max_tokens.saturating_sub(used), now);
    result.into_iter().chain([item]).collect()
}

/// The item with its head within these tokens; a note says how many lines are left out.
fn shortened_to(item: PromptItem, max_tokens: usize, now: Timestamp) -> PromptItem {
    if max_tokens == usize::MAX || item.tokens(now) <= max_tokens {
        return item;
    }
    let all = item.text.lines().count();
    let noted = |item: PromptItem, left: usize| match left {
        0 => item.with_note("cut"),
        left => item.with_note(format!("{left} of {all} lines left out")),
    };
    let head = noted(PromptItem { text: String::new(), ..item.clone() }, all);
    let room = max_tokens.saturating_sub(head.tokens(now));
    let mut text = String::new();
    let mut left = all;
    for line in item.text.lines() {
        let longer = if text.is_empty() { line.to_owned() } else { format!("{text}\n{line}") };
        // The mark of a quoted line takes a token.
        if tokens::count(&longer) + (all - left) + 1 > room {
            break;
        }
        text = longer;
        left -= 1;
    }
    if text.is_empty() {
        text = tokens::cut(&item.text, room.saturating_sub(1)).into_owned();
    }
    noted(PromptItem { text, ..item }, left)
}

/// Task, decisions, next steps and files.
fn text_of(link: &ChainLink) -> String {
    let lists = [
        ("Decisions made", &link.decisions_made),
        ("Next steps", &link.next_steps),
        ("Active files", &link.active_files),
    ];
    let mut text = format!("Task: {}", link.task);
    for (heading, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text += &format!("\n{heading}:");
        for line in lines {
            text += &format!("\n- {line}");
        }
    }
    text
}
