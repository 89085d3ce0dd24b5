//! Editing a standing memory file: add, clean, replace, keep within limits.

use super::{
    AuthorMark, RECENT_SECTION, StandingBlock, StandingBlockKind, StandingDocument, StandingLimits,
    StandingWarning,
};
use crate::base::error::{Error, Result};
use crate::base::limits;

/// Minimum similarity of two items with the same meaning.
const SAME_ITEM_LIKENESS_MIN: f64 = 0.85;
/// Words that change the meaning of a sentence: items that differ in one are different.
const TURNING_WORDS: [&str; 14] = [
    "not", "no", "never", "always", "don't", "dont", "avoid", "without", "disable", "enable",
    "before", "after", "must", "can't",
];

/// The result of adding an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddOutcome {
    /// It was added.
    Added,
    /// The file contains this item already.
    Repeated(String),
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingItem {
    /// The section.
    pub section: String,
    /// The text, in one line.
    pub text: String,
    /// Who adds it; a person needs no mark in the home.
    pub mark: Option<AuthorMark>,
}

impl StandingDocument {
    /// Adds an item at the end of a section, and creates the section if needed. Does nothing if the
    /// file contains the same or nearly the same item. Returns a warning for each item removed to
    /// make room. `mark` says who adds the item.
    ///
    /// # Errors
    /// `invalid` for an empty item or section, `too_large` for one that is too long.
    pub fn add(
        &mut self,
        section: &str,
        text: &str,
        mark: Option<AuthorMark>,
        limits: &StandingLimits,
    ) -> Result<(AddOutcome, Vec<StandingWarning>)> {
        let text = one_line(text);
        let section = one_line(section.trim_start_matches('#'));
        if !text.contains(char::is_alphanumeric) {
            return Err(Error::invalid("text", "must not be empty"));
        }
        if section.is_empty() || section.chars().count() > limits::TITLE_CHARS {
            return Err(Error::invalid("section", "expected a short line"));
        }
        let chars = text.chars().count();
        if chars > limits::STANDING_ITEM_CHARS {
            return Err(Error::too_large("text", chars, limits::STANDING_ITEM_CHARS, "characters")
                .hint("Put the short version here, and save the details with `save_memory`."));
        }
        if let Some((_, same)) = self.items().find(|(_, item)| says_same(item, &text)) {
            return Ok((AddOutcome::Repeated(same.to_owned()), Vec::new()));
        }
        let place = self.place_for(&section);
        self.blocks.insert(
            place,
            StandingBlock {
                raw: self.wrapped_item(&text, mark.as_ref(), limits),
                kind: StandingBlockKind::Item(text),
                mark,
            },
        );
        Ok((AddOutcome::Added, self.fit_limits(limits, Some(place))))
    }

    /// Removes empty items, and all but the first of items with the same meaning. Returns the
    /// removed items.
    pub fn clean(&mut self) -> Vec<String> {
        let (mut kept, mut gone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        self.blocks.retain(|block| {
            let StandingBlockKind::Item(text) = &block.kind else { return true };
            let keep = !text.is_empty() && !kept.iter().any(|item| says_same(item, text));
            if keep {
                kept.push(text.clone());
            } else {
                gone.push(text.clone());
            }
            keep
        });
        gone
    }

    /// Cleans the file, wraps long item lines, removes repeated blank lines, and enforces the
    /// limits. Returns the removed items and the warnings.
    pub fn optimize(&mut self, limits: &StandingLimits) -> (Vec<String>, Vec<StandingWarning>) {
        let gone = self.clean();
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
        let mut warnings = self.fit_limits(limits, None);
        warnings.extend(self.limit_warnings(limits).into_iter().filter(|warning| {
            matches!(warning, StandingWarning::Over { what: "characters of a line", .. })
        }));
        (gone, warnings)
    }

    /// Replaces all items by these, each with its section, and returns the old ones. Text outside
    /// of lists stays.
    ///
    /// # Errors
    /// As [`Self::add`]; the file is then unchanged.
    pub fn replace(
        &mut self,
        items: &[StandingItem],
        limits: &StandingLimits,
    ) -> Result<(Vec<String>, Vec<StandingWarning>)> {
        let before: Vec<String> = self.items().map(|(_, text)| text.to_owned()).collect();
        let mut next = self.clone();
        next.blocks.retain(|block| !matches!(block.kind, StandingBlockKind::Item(_)));
        let mut warnings = Vec::new();
        for StandingItem { section, text, mark } in items {
            warnings.extend(next.add(section, text, mark.clone(), limits)?.1);
        }
        *self = next;
        let gone = before.into_iter().filter(|text| !self.items().any(|(_, now)| now == text));
        Ok((gone.collect(), warnings))
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
        let mut chars = 1;
        let mark = mark.map(ToString::to_string);
        for word in text.split(' ').chain(mark.as_deref()) {
            let length = word.chars().count();
            // A line with this beginning would open a code block.
            let code = word.starts_with("```") || word.starts_with("~~~");
            if chars + 1 + length > limits.line_chars && chars > 1 && !code {
                raw.push_str(end);
                raw.push(' ');
                chars = 1;
            }
            raw.push(' ');
            raw.push_str(word);
            chars += 1 + length;
        }
        raw.push_str(end);
        raw
    }

    /// Removes the oldest items of the longest sections until the file is within its limits; never
    /// the new item at index `kept`.
    fn fit_limits(&mut self, limits: &StandingLimits, kept: Option<usize>) -> Vec<StandingWarning> {
        let (mut warnings, mut kept) = (Vec::new(), kept);
        loop {
            let status = self.status();
            if status.bytes <= limits.bytes && status.items <= limits.items {
                return warnings;
            }
            let Some((section, place)) = self.oldest(kept) else {
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
    fn oldest(&self, kept: Option<usize>) -> Option<(String, usize)> {
        let mut sections: Vec<(String, Vec<usize>)> = vec![(String::new(), Vec::new())];
        for (place, block) in self.blocks.iter().enumerate() {
            match &block.kind {
                StandingBlockKind::Section(name) => sections.push((name.clone(), Vec::new())),
                StandingBlockKind::Item(_) if Some(place) != kept => {
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

/// The text on one line, with single spaces, without a list mark and control characters.
fn one_line(text: &str) -> String {
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

/// Whether two items mean the same: equal or nearly equal words, with the same numbers and the same
/// words that change the meaning.
#[must_use]
pub fn says_same(a: &str, b: &str) -> bool {
    let (a, b) = (comparable_item(a), comparable_item(b));
    if a == b {
        return true;
    }
    let (longer, shorter) = (a.len().max(b.len()), a.len().min(b.len()));
    // A missing letter counts as a different letter.
    let near = shorter as f64 >= SAME_ITEM_LIKENESS_MIN / 2.0 * longer as f64;
    near && distinguishing_words(&a) == distinguishing_words(&b)
        && strsim::normalized_levenshtein(&a, &b) >= SAME_ITEM_LIKENESS_MIN
}

/// An item for comparison: lower case, single spaces, no punctuation at its end.
fn comparable_item(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['.', '!', ';', ',']).to_owned()
}

/// The words in which equal items must agree, in order: numbers, and words that change the meaning.
fn distinguishing_words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '.'));
    let words = words.map(|word| word.trim_matches(['.', '\'']));
    words
        .filter(|word| TURNING_WORDS.contains(word) || word.contains(|c: char| c.is_ascii_digit()))
        .collect()
}
