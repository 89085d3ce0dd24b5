//! Standing memory: what an agent's role always knows, in a Markdown file that people edit too.
//!
//! A file is sections with lists (`## Known Issues`, `- Avoid os.getcwd()`), as in seed 003. What
//! Commonbook does not change stays as it is, to the byte. Within a section the oldest item stands
//! first; a file that is over its limits loses the oldest item of its longest section, and whoever
//! asked is told which.

mod edit;
mod pick;
mod place;
mod route;
#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::limits;

pub use edit::{AddOutcome, says_same, section_of};
pub use pick::StandingExcerpt;
pub use place::standing_paths;
pub use route::{RoleMatch, route};

/// The section that an item without one is put into.
pub const RECENT_SECTION: &str = "Recent Learnings";

/// The sections of a new file.
const DEFAULT_SECTIONS: [&str; 3] = [RECENT_SECTION, "Project-Specific Patterns", "Known Issues"];

/// How large a file may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingLimits {
    /// Bytes of the whole file.
    pub bytes: usize,
    /// Items of all sections together.
    pub items: usize,
    /// Characters of a line.
    pub line_chars: usize,
}

impl Default for StandingLimits {
    fn default() -> Self {
        Self {
            bytes: limits::STANDING_BYTES,
            items: limits::STANDING_ITEMS,
            line_chars: limits::STANDING_LINE_CHARS,
        }
    }
}

/// What the configuration says of one role; the rest is as for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsOverride {
    /// Bytes of the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Items of all sections together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// Characters of a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_chars: Option<usize>,
}

impl StandingLimits {
    /// These limits, but for what is overridden.
    #[must_use]
    pub fn with_override(self, other: &LimitsOverride) -> Self {
        Self {
            bytes: other.bytes.unwrap_or(self.bytes),
            items: other.items.unwrap_or(self.items),
            line_chars: other.line_chars.unwrap_or(self.line_chars),
        }
    }
}

/// What whoever changed a file, or looks at one, should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandingWarning {
    /// An item was taken out so that the file keeps to its limits.
    Dropped {
        /// The section it stood in.
        section: String,
        /// What it said.
        text: String,
    },
    /// Something is over its limit, and nothing can be taken out to mend it.
    Over {
        /// What: `bytes`, `items`, `characters of a line`.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
}

impl fmt::Display for StandingWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { section, text } => {
                write!(f, "the file is full; the oldest item of '{section}' was dropped: {text}")
            }
            Self::Over { what, found, limit } => {
                write!(f, "{found} {what}, and at most {limit} fit")
            }
        }
    }
}

/// A standing memory file, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingDocument {
    blocks: Vec<StandingBlock>,
}

/// Some lines of a file, as they are, with what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StandingBlock {
    raw: String,
    kind: StandingBlockKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StandingBlockKind {
    /// A heading that begins a section.
    Section(String),
    /// An item of a list, with the lines that belong to it.
    Item(String),
    /// Anything else.
    Prose,
}

/// What there is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StandingStatus {
    /// Bytes of the whole file.
    pub bytes: usize,
    /// Items of all sections together.
    pub items: usize,
    /// Each section with its items.
    pub sections: Vec<(String, usize)>,
    /// Characters of the longest line.
    pub longest_line: usize,
}

impl StandingDocument {
    /// A new file for this role.
    #[must_use]
    pub fn new(role: &str) -> Self {
        let sections = DEFAULT_SECTIONS.iter().map(|section| format!("\n## {section}\n"));
        Self::parse(&format!("# Agent Memory: {role}\n{}", sections.collect::<String>()))
    }

    /// The file that a text is; any text is one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut blocks: Vec<StandingBlock> = Vec::new();
        let mut code: Option<&str> = None;
        let mut rest = text;
        for line in text.split_inclusive('\n') {
            rest = rest.get(line.len()..).unwrap_or_default();
            let bare = line.trim_start_matches('\u{feff}').trim_end();
            let mark = code_mark(bare);
            let is_code = match (code, mark) {
                // What is never closed is no code: it would hide the rest of the file.
                (None, Some(mark)) => rest.lines().any(|line| code_mark(line) == Some(mark)),
                (open, _) => open.is_some(),
            };
            code = match (code, mark) {
                (None, mark) => mark.filter(|_| is_code),
                (open, mark) => open.filter(|open| mark != Some(open)),
            };
            let kind = if is_code { StandingBlockKind::Prose } else { kind_of(bare) };
            match (blocks.last_mut(), &kind) {
                // What is indented below an item belongs to it.
                (
                    Some(StandingBlock { raw, kind: StandingBlockKind::Item(said) }),
                    StandingBlockKind::Prose,
                ) if bare.starts_with([' ', '\t']) && !bare.trim().is_empty() => {
                    raw.push_str(line);
                    said.push(' ');
                    said.push_str(bare.trim());
                }
                (
                    Some(StandingBlock { raw, kind: StandingBlockKind::Prose }),
                    StandingBlockKind::Prose,
                ) => raw.push_str(line),
                _ => blocks.push(StandingBlock { raw: line.to_owned(), kind }),
            }
        }
        Self { blocks }
    }

    /// The text of the file.
    #[must_use]
    pub fn render(&self) -> String {
        self.blocks.iter().map(|block| block.raw.as_str()).collect()
    }

    /// Every item with its section, in order.
    pub fn items(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut section = "";
        self.blocks.iter().filter_map(move |block| match &block.kind {
            StandingBlockKind::Section(name) => {
                section = name;
                None
            }
            StandingBlockKind::Item(text) => Some((section, text.as_str())),
            StandingBlockKind::Prose => None,
        })
    }

    /// What there is in the file.
    #[must_use]
    pub fn status(&self) -> StandingStatus {
        let text = self.render();
        let mut sections: Vec<(String, usize)> = Vec::new();
        for block in &self.blocks {
            match (&block.kind, sections.last_mut()) {
                (StandingBlockKind::Section(name), _) => sections.push((name.clone(), 0)),
                (StandingBlockKind::Item(_), Some((_, count))) => *count += 1,
                (StandingBlockKind::Item(_), None) => sections.push((String::new(), 1)),
                (StandingBlockKind::Prose, _) => {}
            }
        }
        StandingStatus {
            bytes: text.len(),
            items: sections.iter().map(|(_, count)| count).sum(),
            sections,
            longest_line: text.lines().map(|line| line.chars().count()).max().unwrap_or(0),
        }
    }

    /// What of the file is over its limits.
    #[must_use]
    pub fn limit_warnings(&self, limits: &StandingLimits) -> Vec<StandingWarning> {
        let status = self.status();
        let found = [
            ("bytes", status.bytes, limits.bytes),
            ("items", status.items, limits.items),
            ("characters of a line", status.longest_line, limits.line_chars),
        ];
        let over = found.into_iter().filter(|(_, found, limit)| found > limit);
        over.map(|(what, found, limit)| StandingWarning::Over { what, found, limit }).collect()
    }

    /// The line end that the file uses.
    fn line_end(&self) -> &'static str {
        if self.blocks.iter().any(|block| block.raw.ends_with("\r\n")) { "\r\n" } else { "\n" }
    }
}

/// The mark by which a line opens or closes a block of code.
fn code_mark(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// What a line by itself is. Lists within lists and what is indented deeper belong to their item.
fn kind_of(line: &str) -> StandingBlockKind {
    if let Some(heading) = line.strip_prefix('#') {
        let name = heading.trim_start_matches('#');
        let depth = 1 + heading.len() - name.len();
        // The one heading of the first level is the title of the file.
        return match name.strip_prefix([' ', '\t']) {
            Some(name) if (2..=6).contains(&depth) => {
                StandingBlockKind::Section(name.trim().to_owned())
            }
            _ => StandingBlockKind::Prose,
        };
    }
    let plain = line.trim_start_matches(' ');
    if line.len() - plain.len() > 1 {
        return StandingBlockKind::Prose;
    }
    let digits = plain.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < plain.len() && plain.len() - digits.len() < 10;
    let bullet = plain.strip_prefix(['-', '*', '+']);
    let numbered = numbered.then(|| digits.strip_prefix(['.', ')'])).flatten();
    match bullet.or(numbered) {
        Some("") => StandingBlockKind::Item(String::new()),
        Some(rest) if rest.starts_with([' ', '\t']) && !is_rule(plain) => {
            StandingBlockKind::Item(rest.trim().to_owned())
        }
        _ => StandingBlockKind::Prose,
    }
}

/// Whether a line is a rule across the page: `- - -`.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3 && marks.iter().all(|mark| *mark == marks[0] && "-*".contains(*mark))
}
