//! Excerpts: as much of a file as its share of a context's budget holds.
//!
//! Prose comes first, since it explains the items: lines with words of the task before the others, which
//! come in the order of the file. A line that is longer than half of the room is cut. Then come items: a
//! person's before all others, those with words of the task first, then the newest.

use std::collections::{BTreeMap, BTreeSet};

use super::{ItemAuthor, StandingBlock, StandingBlockKind, StandingDocument};
use commonbook_text::{terms, tokens};

/// An upper bound of the mean length of a token, in bytes.
const MEAN_TOKEN_BYTES_MAX: usize = 12;
/// A line of prose has at most this share of the room; a longer one is cut.
const LINE_SHARE_DIVISOR: usize = 2;
/// The least tokens of a line that is cut.
const CUT_TOKENS_MIN: usize = 40;
/// Maximum number of items and lines that are tried.
const UNITS_TRIED_MAX: usize = 600;

/// The part of a file that one author wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingPart {
    /// The author.
    pub author: ItemAuthor,
    /// What it wrote, under the headings of the file.
    pub document: StandingDocument,
}

/// An excerpt of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingExcerpt {
    /// Texts with the indexes of their parts, in order; none is empty.
    pub texts: Vec<(usize, String)>,
    /// Number of items and lines of prose without room, or without room for all of them.
    pub left_out: usize,
}

/// An item, or a line of prose, that an excerpt includes or leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ExcerptUnit {
    part: usize,
    block: usize,
    /// The line of prose in its block; 0 for an item.
    line: usize,
}

impl StandingExcerpt {
    /// The excerpt for a task: the whole file if it fits into `share` tokens. `count` counts the
    /// tokens that a text of the part with this index takes in the context.
    #[must_use]
    pub fn of(
        parts: &[StandingPart],
        task: &str,
        share: usize,
        count: impl Fn(usize, &str) -> usize,
    ) -> Self {
        let total = |texts: &[(usize, String)]| -> usize {
            texts.iter().map(|(part, text)| count(*part, text)).sum()
        };
        let bytes: usize = parts.iter().map(|part| part.document.render().len()).sum();
        let whole = || parts.iter().map(|part| part.document.trimmed()).enumerate();
        // Skips counting if the text is much too long.
        if bytes <= share.saturating_mul(MEAN_TOKEN_BYTES_MAX) {
            let texts: Vec<_> = whole().filter(|(_, text)| !text.is_empty()).collect();
            if total(&texts) <= share {
                return Self { texts, left_out: 0 };
            }
        }
        let order = units_in_order(parts, task);
        let mut taken = fitting_units(parts, &order, share, &count);
        loop {
            let chosen: BTreeMap<ExcerptUnit, Option<String>> = taken.iter().cloned().collect();
            let texts: Vec<_> = (0..parts.len())
                .map(|part| (part, excerpt_of_part(parts, part, &chosen)))
                .filter(|(_, text)| !text.is_empty())
                .collect();
            // The tokens of the units need not add up to those of the whole.
            if total(&texts) <= share || taken.is_empty() {
                let cut = taken.iter().filter(|(_, cut)| cut.is_some()).count();
                return Self { texts, left_out: order.len() - taken.len() + cut };
            }
            // The more the text exceeds its share, the more goes at a time.
            let surplus = total(&texts) - share;
            taken.truncate(taken.len().saturating_sub(1 + surplus / 40));
        }
    }
}

/// The lines of prose that have words.
fn prose_lines(block: &StandingBlock) -> impl Iterator<Item = &str> {
    block.raw.lines().filter(|line| !line.trim().is_empty())
}

/// All units, the most important first.
fn units_in_order(parts: &[StandingPart], task: &str) -> Vec<ExcerptUnit> {
    let mut prose = Vec::new();
    let mut items = Vec::new();
    for (part, StandingPart { author, document }) in parts.iter().enumerate() {
        let class = match author {
            ItemAuthor::Person => 0,
            ItemAuthor::File => 1,
            ItemAuthor::Agent { .. } => 2,
        };
        let scores = document.task_scores(task);
        let ages = document.item_ages();
        for (block, found) in document.blocks.iter().enumerate() {
            match &found.kind {
                StandingBlockKind::Prose => {
                    let lines = 0..prose_lines(found).count();
                    prose.extend(
                        lines.map(|line| {
                            (scores[&(block, line)], ExcerptUnit { part, block, line })
                        }),
                    );
                }
                StandingBlockKind::Item(_) => {
                    let (score, age) = (scores[&(block, 0)], ages[&block]);
                    let day = found.mark.as_ref().map(|mark| mark.day.clone());
                    items.push((class, score, day, age, ExcerptUnit { part, block, line: 0 }));
                }
                StandingBlockKind::Section(_) => {}
            }
        }
    }
    items.sort_by(|a, b| {
        let newest = b.2.cmp(&a.2).then(a.3.cmp(&b.3)).then(b.4.cmp(&a.4));
        a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(newest)
    });
    prose.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let prose = prose.into_iter().map(|(_, unit)| unit);
    prose.chain(items.into_iter().map(|(.., unit)| unit)).collect()
}

/// The units that fit into `share` tokens, tried in this order, each with its text if that is cut. An item that is
/// too long is skipped; of prose the first line that does not fit is cut, and what comes after it is left out.
fn fitting_units(
    parts: &[StandingPart],
    order: &[ExcerptUnit],
    share: usize,
    count: &impl Fn(usize, &str) -> usize,
) -> Vec<(ExcerptUnit, Option<String>)> {
    let (mut taken, mut room) = (Vec::new(), share);
    let (mut headings, mut full_prose, mut opened) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut frames: BTreeMap<usize, usize> = BTreeMap::new();
    let mut tried = 0;
    for unit in order {
        let document = &parts[unit.part].document;
        let block = &document.blocks[unit.block];
        let is_prose = block.kind == StandingBlockKind::Prose;
        if tried == UNITS_TRIED_MAX || (is_prose && full_prose.contains(&unit.part)) {
            continue;
        }
        tried += 1;
        let text = match is_prose {
            true => prose_lines(block).nth(unit.line).unwrap_or_default(),
            false => block.raw.as_str(),
        };
        let is_new = |heading: &usize| !headings.contains(&(unit.part, *heading));
        let heading = document.heading_of(unit.block).filter(is_new);
        let heading_text = heading.map_or("", |heading| document.blocks[heading].raw.as_str());
        let frame = *frames.entry(unit.part).or_insert_with(|| count(unit.part, ""));
        let tokens = |text: &str| count(unit.part, text.trim()).saturating_sub(frame) + 1;
        let head = if opened.contains(&unit.part) { 0 } else { frame };
        let heading_cost = heading.map_or(0, |_| tokens(heading_text) + 1);
        let beside = heading_cost + head;
        let most = if is_prose { share / LINE_SHARE_DIVISOR } else { room };
        let most = most.min(room.saturating_sub(beside));
        // Skips counting what is much too long.
        let may_fit = text.len() <= most.saturating_mul(MEAN_TOKEN_BYTES_MAX);
        let fits = may_fit && tokens(text) <= most;
        let cut = (!fits && is_prose && most >= CUT_TOKENS_MIN).then(|| cut_line(text, most));
        if is_prose && !fits {
            full_prose.insert(unit.part);
        }
        if fits || cut.is_some() {
            room = room.saturating_sub(tokens(cut.as_deref().unwrap_or(text)) + beside);
            opened.insert(unit.part);
            headings.extend(heading.map(|heading| (unit.part, heading)));
            taken.push((*unit, cut));
        }
    }
    taken
}

/// The beginning of a line, with a mark that it goes on.
fn cut_line(text: &str, max_tokens: usize) -> String {
    // Only the beginning of a long line is counted.
    let end = text.floor_char_boundary(max_tokens.saturating_mul(MEAN_TOKEN_BYTES_MAX));
    // A line in the text has some tokens more than alone.
    let cut = tokens::cut(text[..end].trim_end(), max_tokens.saturating_sub(CUT_TOKENS_MIN / 4));
    match cut.ends_with(tokens::CUT_MARK) {
        true => cut.into_owned(),
        false => format!("{cut}{}", tokens::CUT_MARK),
    }
}

/// The chosen units of a part under their headings, in the order of the file.
fn excerpt_of_part(
    parts: &[StandingPart],
    part: usize,
    chosen: &BTreeMap<ExcerptUnit, Option<String>>,
) -> String {
    let mut text = String::new();
    let mut heading: Option<&str> = None;
    for (block, found) in parts[part].document.blocks.iter().enumerate() {
        let lines: Vec<&str> = match &found.kind {
            StandingBlockKind::Section(_) => {
                heading = Some(&found.raw);
                continue;
            }
            StandingBlockKind::Item(_) => vec![found.raw.trim_end()],
            StandingBlockKind::Prose => prose_lines(found).collect(),
        };
        for (line, shown) in lines.into_iter().enumerate() {
            let Some(cut) = chosen.get(&ExcerptUnit { part, block, line }) else { continue };
            let shown = cut.as_deref().unwrap_or(shown);
            if let Some(heading) = heading.take() {
                let gap = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{gap}{}\n", heading.trim()));
            }
            text.push_str(shown.trim_end());
            text.push('\n');
        }
    }
    text.trim().to_owned()
}

impl StandingDocument {
    /// The text without blanks around it; empty for a file that has only headings.
    fn trimmed(&self) -> String {
        let is_bare = self.blocks.iter().all(|block| match &block.kind {
            StandingBlockKind::Prose => block.is_bare_prose(),
            StandingBlockKind::Section(_) => true,
            StandingBlockKind::Item(_) => false,
        });
        if is_bare { String::new() } else { self.render().trim().to_owned() }
    }

    /// The heading above a block.
    fn heading_of(&self, block: usize) -> Option<usize> {
        let is_heading =
            |index: &usize| matches!(self.blocks[*index].kind, StandingBlockKind::Section(_));
        (0..block).rev().find(is_heading)
    }

    /// The number of newer items in the section of each item.
    fn item_ages(&self) -> BTreeMap<usize, usize> {
        let (mut ages, mut age) = (BTreeMap::new(), 0);
        for (index, block) in self.blocks.iter().enumerate().rev() {
            match &block.kind {
                StandingBlockKind::Section(_) => age = 0,
                StandingBlockKind::Item(_) => {
                    ages.insert(index, age);
                    age += 1;
                }
                StandingBlockKind::Prose => {}
            }
        }
        ages
    }

    /// How much each item and each line of prose says about a task, by block and line: the words that it shares
    /// with it, rare ones more.
    fn task_scores(&self, task: &str) -> BTreeMap<(usize, usize), f64> {
        let wanted = terms::query_terms(task);
        let mut items: Vec<((usize, usize), BTreeSet<String>)> = Vec::new();
        let mut section: Vec<String> = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            match &block.kind {
                StandingBlockKind::Section(name) => section = terms::terms(name),
                StandingBlockKind::Item(text) => {
                    let words = terms::terms(text).into_iter().chain(section.iter().cloned());
                    items.push(((index, 0), words.collect()));
                }
                StandingBlockKind::Prose => {
                    let lines = prose_lines(block).enumerate();
                    items.extend(lines.map(|(line, text)| {
                        ((index, line), terms::terms(text).into_iter().collect())
                    }));
                }
            }
        }
        let worth = |term: &String| {
            let having = items.iter().filter(|(_, terms)| terms.contains(term)).count();
            (1.0 + items.len() as f64 / (1.0 + having as f64)).ln()
        };
        let worths: Vec<(&String, f64)> = wanted.iter().map(|term| (term, worth(term))).collect();
        let score = |terms: &BTreeSet<String>| {
            let found = worths.iter().filter(|(term, _)| terms.contains(*term));
            found.map(|(_, worth)| worth).sum()
        };
        items.iter().map(|(place, terms)| (*place, score(terms))).collect()
    }
}
