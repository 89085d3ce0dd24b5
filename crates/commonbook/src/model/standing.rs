//! Standing memory: what an agent's role always knows, in a Markdown file that people edit too.
//!
//! A file has sections with lists (`## Known Issues`, `- Avoid os.getcwd()`). Bytes that Commonbook
//! does not edit stay unchanged. Within a section the oldest item comes first; a file over its
//! limits loses the oldest item of its longest section, and the caller receives a warning.

mod author;
mod edit;
mod excerpt;
mod paths;
mod requests;
mod route;
#[cfg(test)]
mod tests;
mod version;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::limits;

pub use author::{AuthorEvidence, AuthorMark, AuthorSeal, FileSigner, ItemAuthor};
pub use edit::{AddOutcome, StandingItem, StandingReplacement, StandingWriter, section_of};
pub use excerpt::{StandingExcerpt, StandingPart};
pub use paths::{file_of_role, role_of_file, standing_file_name, standing_folders};
pub use requests::{
    AddStanding, AgreeStanding, AgreedFile, CleanStanding, InitStanding, ListStanding,
    ListStandingVersions, OptimizeStanding, PreviewStanding, ReadStanding, RemoveStanding,
    RestoreStanding, RouteStanding, StandingAgreement, StandingEdit, StandingEdits,
    StandingFileInfo, StandingHistory, StandingList, StandingPage, StandingPreview, StandingRoute,
    StandingSummary, StandingVersionInfo,
};
pub use route::{RoleMatch, route};
pub use version::{
    LineChanges, StandingAction, StandingKey, StandingLocation, StandingVersion, TOLD_ENDING,
};

/// The default section of an item.
pub const RECENT_SECTION: &str = "Recent Learnings";

/// The sections of a new file.
const DEFAULT_SECTIONS: [&str; 3] = [RECENT_SECTION, "Project-Specific Patterns", "Known Issues"];

/// The size limits of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingLimits {
    /// Size of the file, in bytes.
    pub bytes: usize,
    /// Number of items in all sections.
    pub items: usize,
    /// Length of a line, in characters.
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

/// The limits that the configuration sets for one role; others keep their default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsOverride {
    /// Size of the file, in bytes; 81,920 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Number of items in all sections; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// Length of a line, in characters; 120 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_chars: Option<usize>,
}

impl StandingLimits {
    /// These limits with the overrides applied.
    #[must_use]
    pub fn with_override(self, other: &LimitsOverride) -> Self {
        Self {
            bytes: other.bytes.unwrap_or(self.bytes),
            items: other.items.unwrap_or(self.items),
            line_chars: other.line_chars.unwrap_or(self.line_chars),
        }
    }
}

/// A warning about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandingWarning {
    /// An item was removed to keep the file within its limits.
    Dropped {
        /// Its section.
        section: String,
        /// Its text.
        text: String,
    },
    /// The file is over a limit, and removing items does not help.
    Over {
        /// The limit: `bytes`, `items`, `characters of a line`.
        what: &'static str,
        /// The present value.
        found: usize,
        /// The maximum.
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
                write!(f, "{found} {what}; the maximum is {limit}")
            }
        }
    }
}

/// A parsed standing memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingDocument {
    blocks: Vec<StandingBlock>,
}

/// Some lines of a file with their meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StandingBlock {
    raw: String,
    kind: StandingBlockKind,
    /// The mark of an item's author.
    mark: Option<AuthorMark>,
}

impl StandingBlock {
    fn new(raw: String, kind: StandingBlockKind) -> Self {
        Self { raw, kind, mark: None }
    }

    /// Separates the mark at the end of an item from its text.
    fn split_mark(&mut self) {
        if let StandingBlockKind::Item(text) = &mut self.kind
            && let (bare, Some(mark)) = AuthorMark::split_from(text)
        {
            (*text, self.mark) = (bare.to_owned(), Some(mark));
        }
    }

    /// The same with a text that does not show the mark.
    fn without_mark(&self) -> Self {
        let Some(mark) = &self.mark else { return self.clone() };
        let raw = self.raw.replacen(&mark.to_string(), "", 1);
        let ending = &raw[raw.trim_end().len()..];
        let line_end = if ending.contains("\r\n") { "\r\n" } else { "\n" };
        Self { raw: format!("{}{line_end}", raw.trim_end()), ..self.clone() }
    }

    /// Whether an agent added this item.
    fn is_an_agents(&self) -> bool {
        self.mark.as_ref().is_some_and(AuthorMark::is_of_an_agent)
    }

    /// Whether prose is only blank lines and the title of the file.
    fn is_bare_prose(&self) -> bool {
        let is_title = |line: &str| {
            line.trim().is_empty() || line.trim_start_matches('\u{feff}').starts_with("# ")
        };
        self.raw.lines().all(is_title)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StandingBlockKind {
    /// A heading that begins a section.
    Section(String),
    /// A list item with its continuation lines.
    Item(String),
    /// Anything else.
    Prose,
}

/// Figures of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StandingStatus {
    /// Size of the file, in bytes.
    pub bytes: usize,
    /// Number of items in all sections.
    pub items: usize,
    /// Each section with its number of items.
    pub sections: Vec<(String, usize)>,
    /// Length of the longest line, in characters.
    pub longest_line: usize,
}

impl StandingDocument {
    /// An empty file for this role.
    #[must_use]
    pub fn new(role: &str) -> Self {
        let sections = DEFAULT_SECTIONS.iter().map(|section| format!("\n## {section}\n"));
        Self::parse(&format!("# Agent Memory: {role}\n{}", sections.collect::<String>()))
    }

    /// Parses a text; every text is a valid file.
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
                // An unclosed code fence is ignored: it would hide the rest of the file.
                (None, Some(mark)) => rest.lines().any(|line| code_mark(line) == Some(mark)),
                (open, _) => open.is_some(),
            };
            code = match (code, mark) {
                (None, mark) => mark.filter(|_| is_code),
                (open, mark) => open.filter(|open| mark != Some(open)),
            };
            let kind = if is_code { StandingBlockKind::Prose } else { kind_of(bare) };
            match (blocks.last_mut(), &kind) {
                // Lines indented below an item belong to it.
                (
                    Some(StandingBlock { raw, kind: StandingBlockKind::Item(text), .. }),
                    StandingBlockKind::Prose,
                ) if bare.starts_with([' ', '\t']) && !bare.trim().is_empty() => {
                    raw.push_str(line);
                    text.push(' ');
                    text.push_str(bare.trim());
                }
                (
                    Some(StandingBlock { raw, kind: StandingBlockKind::Prose, .. }),
                    StandingBlockKind::Prose,
                ) => raw.push_str(line),
                _ => blocks.push(StandingBlock::new(line.to_owned(), kind)),
            }
        }
        blocks.iter_mut().for_each(StandingBlock::split_mark);
        Self { blocks }
    }

    /// The file as text.
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

    /// The figures of the file.
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

    /// The limits that the file exceeds.
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

    /// The line ending of the file.
    fn line_end(&self) -> &'static str {
        if self.blocks.iter().any(|block| block.raw.ends_with("\r\n")) { "\r\n" } else { "\n" }
    }
}

/// The fence with which a line opens or closes a code block.
fn code_mark(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// The kind of a line by itself. Nested lists and deeper indentation belong to their item.
fn kind_of(line: &str) -> StandingBlockKind {
    if let Some(heading) = line.strip_prefix('#') {
        let name = heading.trim_start_matches('#');
        let depth = 1 + heading.len() - name.len();
        // The only first-level heading is the title of the file.
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

/// Whether a line is a horizontal rule: `- - -`.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3 && marks.iter().all(|mark| *mark == marks[0] && "-*".contains(*mark))
}
