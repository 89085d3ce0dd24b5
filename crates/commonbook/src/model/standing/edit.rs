//! Editing a standing memory file: add, remove, clean, replace, keep within limits.

use std::ops::RangeInclusive;

use super::{
    AuthorMark, AuthorSeal, RECENT_SECTION, StandingBlock, StandingBlockKind, StandingDocument,
    StandingLimits, StandingWarning,
};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::claims::compare::{ClaimContext, TextRelation, compare_texts, says_same};

/// The result of adding an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    /// It was added.
    Added,
    /// The file contains this item already.
    Repeated(String),
    /// It took the place of this item of the same author, which it corrects.
    Replaced(String),
    /// The file is full of what an agent may not drop.
    Full,
}

/// Who edits a file, which decides what the edit may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingWriter<'a> {
    /// A person, who may change everything.
    Person,
    /// An agent, which may change its own items.
    Agent(&'a Agent),
}

impl StandingWriter<'_> {
    fn may_change(self, block: &StandingBlock) -> bool {
        match self {
            Self::Person => true,
            Self::Agent(agent) => block.mark.as_ref().is_some_and(|mark| mark.is_of(agent)),
        }
    }

    /// Whether this is an item of its own. A person's are those that no agent has marked.
    fn wrote(self, block: &StandingBlock) -> bool {
        match self {
            Self::Person => !block.is_an_agents(),
            Self::Agent(_) => self.may_change(block),
        }
    }
}

/// The section of a learning of this type.
#[must_use]
pub fn section_of(learning: &str) -> &'static str {
    match learning {
        "pattern" => "Project-Specific Patterns",
        "architecture" => "Architecture",
        "guideline" => "Guidelines",
        "mistake" => "Known Issues",
        "strategy" => "Strategies",
        "integration" => "Integrations",
        "performance" => "Performance",
        "context" => "Context",
        _ => RECENT_SECTION,
    }
}

/// An item to put into a file.
#[derive(Clone)]
pub struct StandingItem {
    /// The section.
    pub section: String,
    /// The text, in one line.
    pub text: String,
    /// Who adds it; a person needs no mark in the home.
    pub seal: Option<AuthorSeal>,
}

/// The result of replacing the items of an author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingReplacement {
    /// Number of items that were added.
    pub added: u32,
    /// The items that are gone.
    pub gone: Vec<String>,
    /// The items that did not fit.
    pub left_out: Vec<String>,
    /// The limits that the file exceeds.
    pub warnings: Vec<StandingWarning>,
}

impl StandingDocument {
    /// Adds an item at the end of a section, and creates the section if needed. Does nothing if the
    /// file contains an item that says the same, and takes the place of one that the same author
    /// corrects; an agent's item becomes a person's, and one that names the same author without the
    /// signature that its file needs gives way. Returns a warning for each item removed to make room. `seal` says who adds the item: an agent's item takes the room of agents'
    /// items alone.
    ///
    /// # Errors
    /// `invalid` for an empty item or section, `too_large` for one that is too long.
    pub fn add(
        &mut self,
        section: &str,
        text: &str,
        seal: Option<AuthorSeal>,
        limits: &StandingLimits,
    ) -> Result<(AddOutcome, Vec<StandingWarning>)> {
        let chars = text.trim().chars().count();
        let text = item_line(text);
        let section = item_line(section.trim_start_matches('#'));
        if !text.contains(char::is_alphanumeric) {
            return Err(Error::empty("text"));
        }
        if section.is_empty() || section.chars().count() > limits::TITLE_CHARS {
            return Err(Error::invalid("section", "expected a short line"));
        }
        if chars > limits::STANDING_ITEM_CHARS {
            return Err(Error::too_large("text", chars, limits::STANDING_ITEM_CHARS, "characters")
                .hint("Put the short version here, and save the details with `save_memory`."));
        }
        let by_agent = seal.as_ref().is_some_and(AuthorSeal::is_of_an_agent);
        let before = self.clone();
        let says = |block: &StandingBlock| matches!(&block.kind, StandingBlockKind::Item(item) if says_same(item, &text));
        if let Some(same) = self.blocks.iter().position(says) {
            let is_counterfeit = seal.as_ref().is_some_and(|seal| {
                seal.is_author_of(self.blocks[same].mark.as_ref()) && !self.is_genuine(same, seal)
            });
            let is_an_agents = self.blocks[same].is_an_agents();
            if (by_agent || !is_an_agents) && !is_counterfeit {
                let same = self.items().find(|(_, item)| says_same(item, &text));
                let same = same.map(|(_, item)| item.to_owned()).unwrap_or_default();
                return Ok((AddOutcome::Repeated(same), Vec::new()));
            }
            self.blocks.remove(same);
        }
        let corrected = self.corrected_by(&text, seal.as_ref());
        let place = match &corrected {
            Some((place, _)) => *place,
            None => self.place_for(&section),
        };
        let mark = seal.map(|seal| seal.mark(self.section_above(place), &text));
        let raw = self.wrapped_item(&text, mark.as_ref(), limits);
        let block = StandingBlock { raw, kind: StandingBlockKind::Item(text), mark };
        let outcome = match corrected {
            Some((_, old)) => {
                self.blocks[place] = block;
                AddOutcome::Replaced(old)
            }
            None => {
                self.blocks.insert(place, block);
                AddOutcome::Added
            }
        };
        let may_drop = |block: &StandingBlock| !by_agent || block.is_an_agents();
        let warnings = self.fit_limits(limits, Some(place), may_drop);
        let status = self.status();
        if by_agent && (status.bytes > limits.bytes || status.items > limits.items) {
            *self = before;
            return Ok((AddOutcome::Full, Vec::new()));
        }
        Ok((outcome, warnings))
    }

    /// The index and the text of the item of this author that a text corrects.
    fn corrected_by(&self, text: &str, seal: Option<&AuthorSeal>) -> Option<(usize, String)> {
        // The file says what holds now: of two Fridays the later text means the next one.
        let context = ClaimContext { one_author: true, one_week: true };
        let is_own = |place: usize| match seal {
            Some(seal) => self.is_genuine(place, seal),
            None => self.blocks[place].mark.is_none(),
        };
        self.blocks.iter().enumerate().find_map(|(place, block)| {
            let StandingBlockKind::Item(item) = &block.kind else { return None };
            let is_corrected = is_own(place)
                && matches!(compare_texts(item, text, context), TextRelation::Corrects(_));
            is_corrected.then(|| (place, item.clone()))
        })
    }

    /// Whether the item at a place has the mark of this author as its file needs it.
    fn is_genuine(&self, place: usize, seal: &AuthorSeal) -> bool {
        let StandingBlock { kind: StandingBlockKind::Item(text), mark: Some(mark), .. } =
            &self.blocks[place]
        else {
            return false;
        };
        seal.has_made(self.section_above(place), text, mark)
    }

    /// The heading above a place; empty above all headings.
    fn section_above(&self, place: usize) -> &str {
        let above = self.blocks[..place].iter().rev();
        let mut names = above.filter_map(|block| match &block.kind {
            StandingBlockKind::Section(name) => Some(name.as_str()),
            StandingBlockKind::Item(_) | StandingBlockKind::Prose => None,
        });
        names.next().unwrap_or_default()
    }

    /// Removes the item with this text, or the only one that contains it, in either case. Returns
    /// the text of the item.
    ///
    /// # Errors
    /// `not_found` if no item has the text, `conflict` if several do, `forbidden` if the writer may
    /// not change the item.
    pub fn remove(&mut self, text: &str, writer: StandingWriter<'_>) -> Result<String> {
        let wanted = comparable_item(text);
        let item_text = |block: &StandingBlock| match &block.kind {
            StandingBlockKind::Item(text) => Some(comparable_item(text)),
            StandingBlockKind::Section(_) | StandingBlockKind::Prose => None,
        };
        let places = |holds: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let all = self.blocks.iter().enumerate();
            let found = all.filter(|(_, block)| item_text(block).is_some_and(|item| holds(&item)));
            found.map(|(place, _)| place).collect()
        };
        let equal = places(&|item| item == wanted);
        let found = match equal.is_empty() {
            true => places(&|item| !wanted.is_empty() && item.contains(&wanted)),
            false => equal[..1].to_vec(),
        };
        let place = match found.as_slice() {
            [] => {
                return Err(Error::not_found("no item has this text")
                    .with_field("text")
                    .hint("Read the file with `read_standing`."));
            }
            [place] => *place,
            several => {
                let message = format!("{} items contain this text", several.len());
                return Err(Error::conflict(message)
                    .with_field("text")
                    .hint("Send the whole text of one of them."));
            }
        };
        if !writer.may_change(&self.blocks[place]) {
            return Err(not_own_item());
        }
        match self.blocks.remove(place).kind {
            StandingBlockKind::Item(text) => Ok(text),
            StandingBlockKind::Section(_) | StandingBlockKind::Prose => Ok(String::new()),
        }
    }

    /// Removes the items that carry the mark of this agent, or of one below it, with a day between these
    /// two (`2026-11-18`). Returns the texts of the removed items.
    pub fn drop_items_of(&mut self, agent: &Agent, days: RangeInclusive<&str>) -> Vec<String> {
        let is_its = |block: &StandingBlock| {
            let mark = block.mark.as_ref().filter(|mark| mark.is_of(agent));
            mark.is_some_and(|mark| days.contains(&mark.day.as_str()))
        };
        let (gone, kept) = std::mem::take(&mut self.blocks).into_iter().partition(is_its);
        self.blocks = kept;
        let text = |block: StandingBlock| match block.kind {
            StandingBlockKind::Item(text) => Some(text),
            StandingBlockKind::Section(_) | StandingBlockKind::Prose => None,
        };
        Vec::into_iter(gone).filter_map(text).collect()
    }

    /// Removes empty items, and all but one of items with the same meaning: a person's stays, else
    /// the first. Returns the removed items.
    pub fn clean(&mut self, writer: StandingWriter<'_>) -> Vec<String> {
        let (mut kept, mut gone): (Vec<(usize, String)>, Vec<usize>) = (Vec::new(), Vec::new());
        for (place, block) in self.blocks.iter().enumerate() {
            let StandingBlockKind::Item(text) = &block.kind else { continue };
            let same = kept.iter().position(|(_, item)| says_same(item, text));
            let first = same.map(|index| kept[index].0);
            let instead = first
                .is_some_and(|first| self.blocks[first].is_an_agents() && !block.is_an_agents());
            let spare = match (first, instead) {
                (Some(first), true) => first,
                (Some(_), false) => place,
                (None, _) if text.is_empty() => place,
                (None, _) => {
                    kept.push((place, text.clone()));
                    continue;
                }
            };
            if writer.may_change(&self.blocks[spare]) {
                gone.push(spare);
                if let Some(index) = same.filter(|_| instead) {
                    kept[index] = (place, text.clone());
                }
            }
        }
        gone.sort_unstable();
        let removed = gone.iter().rev().map(|place| match self.blocks.remove(*place).kind {
            StandingBlockKind::Item(text) => text,
            StandingBlockKind::Section(_) | StandingBlockKind::Prose => String::new(),
        });
        let mut removed: Vec<String> = removed.collect();
        removed.reverse();
        removed
    }

    /// Succeeds if the writer may make `after` of this file.
    ///
    /// # Errors
    /// `forbidden` if something changes that is neither a heading nor an item of the writer.
    pub fn may_become(&self, after: &Self, writer: StandingWriter<'_>) -> Result<()> {
        let fixed = |document: &'_ Self| -> Vec<String> {
            let blocks = document.blocks.iter().filter(|block| {
                !matches!(block.kind, StandingBlockKind::Section(_))
                    && !block.raw.trim().is_empty()
                    && !writer.may_change(block)
            });
            blocks.map(|block| block.raw.trim().to_owned()).collect()
        };
        if fixed(self) == fixed(after) { Ok(()) } else { Err(not_own_item()) }
    }

    /// Cleans the file, wraps long item lines, removes repeated blank lines, and enforces the
    /// limits. Returns the removed items and the warnings.
    pub fn optimize(&mut self, limits: &StandingLimits) -> (Vec<String>, Vec<StandingWarning>) {
        let gone = self.clean(StandingWriter::Person);
        let fits = |raw: &str| raw.lines().all(|line| line.chars().count() <= limits.line_chars);
        for place in 0..self.blocks.len() {
            let block = &self.blocks[place];
            // An item of several lines may contain a list or code, so it is not rewrapped.
            let raw = match &block.kind {
                StandingBlockKind::Item(text)
                    if !fits(&block.raw) && block.raw.lines().count() == 1 =>
                {
                    self.wrapped_item(text, block.mark.as_ref(), limits)
                }
                StandingBlockKind::Prose => without_spare_blanks(&block.raw),
                _ => continue,
            };
            self.blocks[place].raw = raw;
        }
        self.blocks.retain(|block| !block.raw.is_empty());
        let mut warnings = self.fit_limits(limits, None, |_| true);
        warnings.extend(self.limit_warnings(limits).into_iter().filter(|warning| {
            matches!(warning, StandingWarning::Over { what: "characters of a line", .. })
        }));
        (gone, warnings)
    }

    /// Replaces the items of an author by these, each with its section. Items of other authors and text
    /// outside of lists stay.
    ///
    /// # Errors
    /// As [`Self::add`]; the file is then unchanged.
    pub fn replace(
        &mut self,
        author: StandingWriter<'_>,
        items: &[StandingItem],
        limits: &StandingLimits,
    ) -> Result<StandingReplacement> {
        let before: Vec<String> = self.items().map(|(_, text)| text.to_owned()).collect();
        let mut next = self.clone();
        let is_item = |block: &StandingBlock| matches!(block.kind, StandingBlockKind::Item(_));
        next.blocks.retain(|block| !is_item(block) || !author.wrote(block));
        let mut replacement = StandingReplacement::default();
        for StandingItem { section, text, seal } in items {
            let (outcome, warnings) = next.add(section, text, seal.clone(), limits)?;
            match outcome {
                AddOutcome::Full => replacement.left_out.push(text.clone()),
                AddOutcome::Added | AddOutcome::Replaced(_) => replacement.added += 1,
                AddOutcome::Repeated(_) => {}
            }
            replacement.warnings.extend(warnings);
        }
        *self = next;
        let gone = before.into_iter().filter(|text| !self.items().any(|(_, now)| now == text));
        replacement.gone = gone.collect();
        Ok(replacement)
    }

    /// The index for the next item of a section: after its last item, or after its heading. Creates
    /// a missing section at the end.
    fn place_for(&mut self, section: &str) -> usize {
        let names = |block: &StandingBlock| matches!(&block.kind, StandingBlockKind::Section(name) if name.eq_ignore_ascii_case(section));
        let end = self.line_end();
        let Some(heading) = self.blocks.iter().position(names) else {
            if let Some(last) = self.blocks.last_mut() {
                close_last_line(&mut last.raw, end);
                if last.raw.lines().last().is_some_and(|line| !line.trim().is_empty()) {
                    self.blocks.push(StandingBlock::new(end.to_owned(), StandingBlockKind::Prose));
                }
            }
            let raw = format!("## {section}{end}");
            let kind = StandingBlockKind::Section(section.to_owned());
            self.blocks.push(StandingBlock::new(raw, kind));
            return self.blocks.len();
        };
        let below = self.blocks[heading + 1..].iter();
        let length =
            below.take_while(|block| !matches!(block.kind, StandingBlockKind::Section(_))).count();
        let within = heading..=heading + length;
        let last = within
            .rev()
            .find(|place| matches!(self.blocks[*place].kind, StandingBlockKind::Item(_)));
        let place = last.unwrap_or(heading);
        close_last_line(&mut self.blocks[place].raw, end);
        place + 1
    }

    /// An item as Markdown, wrapped to the maximum line length, with the mark of its author.
    fn wrapped_item(
        &self,
        text: &str,
        mark: Option<&AuthorMark>,
        limits: &StandingLimits,
    ) -> String {
        let end = self.line_end();
        let mut raw = String::from("-");
        let (mut chars, mut is_rule) = (1, true);
        let mark = mark.map(ToString::to_string);
        for word in text.split(' ').chain(mark.as_deref()) {
            let length = word.chars().count();
            // A line with this beginning would open a code block.
            let code = word.starts_with("```") || word.starts_with("~~~");
            // A line of dashes alone would be a rule instead of an item: it takes a further word.
            if chars + 1 + length > limits.line_chars && chars > 1 && !code && !is_rule {
                raw.push_str(end);
                raw.push(' ');
                (chars, is_rule) = (1, true);
            }
            is_rule &= word.chars().all(|letter| "-*_".contains(letter));
            raw.push(' ');
            raw.push_str(word);
            chars += 1 + length;
        }
        raw.push_str(end);
        raw
    }

    /// Removes the oldest items of the longest sections until the file is within its limits; never
    /// the new item at index `kept`, and only items that `may_drop` names.
    fn fit_limits(
        &mut self,
        limits: &StandingLimits,
        kept: Option<usize>,
        may_drop: impl Fn(&StandingBlock) -> bool,
    ) -> Vec<StandingWarning> {
        let (mut warnings, mut kept) = (Vec::new(), kept);
        loop {
            let status = self.status();
            if status.bytes <= limits.bytes && status.items <= limits.items {
                return warnings;
            }
            let Some((section, place)) = self.oldest(kept, &may_drop) else {
                let over = self.limit_warnings(limits).into_iter();
                warnings.extend(over.filter(|warning| {
                    !matches!(warning, StandingWarning::Over { what: "characters of a line", .. })
                }));
                return warnings;
            };
            if let StandingBlockKind::Item(text) = self.blocks.remove(place).kind {
                warnings.push(StandingWarning::Dropped { section, text });
            }
            kept = kept.map(|kept| if place < kept { kept - 1 } else { kept });
        }
    }

    /// The first item of the longest section, with that section.
    fn oldest(
        &self,
        kept: Option<usize>,
        may_drop: impl Fn(&StandingBlock) -> bool,
    ) -> Option<(String, usize)> {
        let mut sections: Vec<(String, Vec<usize>)> = vec![(String::new(), Vec::new())];
        for (place, block) in self.blocks.iter().enumerate() {
            match &block.kind {
                StandingBlockKind::Section(name) => sections.push((name.clone(), Vec::new())),
                StandingBlockKind::Item(_) if Some(place) != kept && may_drop(block) => {
                    if let Some((_, places)) = sections.last_mut() {
                        places.push(place);
                    }
                }
                _ => {}
            }
        }
        let longest = sections.into_iter().rev().max_by_key(|(_, places)| places.len())?;
        longest.1.first().map(|place| (longest.0, *place))
    }
}

fn not_own_item() -> Error {
    Error::new(ErrorKind::Forbidden, "this changes what a person or another agent wrote")
        .hint("Change only your own items, or ask a person to do this at the command line.")
}

/// The text on one line, with single spaces, without a list mark and control characters.
fn item_line(text: &str) -> String {
    let seen: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = line.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' '));
    bare.unwrap_or(&line).to_owned()
}

/// Ends a block's last line, so that another can follow.
fn close_last_line(raw: &mut String, end: &str) {
    if !raw.is_empty() && !raw.ends_with('\n') {
        raw.push_str(end);
    }
}

/// The prose without repeated blank lines.
fn without_spare_blanks(raw: &str) -> String {
    let mut blank = false;
    let lines = raw.split_inclusive('\n').filter(|line| {
        let spare = blank && line.trim().is_empty();
        blank = line.trim().is_empty();
        !spare
    });
    lines.collect()
}

/// An item for comparison: lower case, single spaces, no punctuation at its end.
fn comparable_item(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['.', '!', ';', ',']).to_owned()
}
