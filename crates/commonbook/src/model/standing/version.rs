//! The versions of a standing memory file.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::string_enum;

/// How the file beside a store ends that lists the texts of projects' files which stood there at the
/// upgrade from a version without agreements: a JSON list of the folder of the project, the role and the
/// SHA-256 of the text.
pub const TOLD_ENDING: &str = ".told";

string_enum! {
    /// The folder of a standing memory file.
    StandingLocation {
        /// In the folder of the project.
        Project = "project",
        /// In the home folder, for every project.
        Home = "home",
    }
}

string_enum! {
    /// What made a version of a standing memory file.
    StandingAction {
        /// The file was created.
        Created = "created",
        /// An item was added.
        Added = "added",
        /// An item was removed.
        Removed = "removed",
        /// Repeated items were removed, or lines broken.
        Cleaned = "cleaned",
        /// A message added or replaced items.
        Learned = "learned",
        /// An earlier version was restored.
        Restored = "restored",
        /// An editor or another program changed the file.
        Edited = "edited",
    }
}

/// The file whose versions these are: one role in the home, or in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingKey {
    /// The folder of the project; empty for the home, which may move.
    pub project: String,
    /// The role.
    pub role: String,
}

/// A version of a file, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingVersion {
    /// Its number: 1, 2, 3 …
    pub version: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// Who made it; `None` for an editor.
    pub by: Option<Agent>,
    /// What made it.
    pub action: StandingAction,
    /// The size of its text, in bytes.
    pub bytes: u64,
    /// The SHA-256 of its text.
    pub sha256: String,
}

/// The lines by which two texts differ, each list in the order of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineChanges {
    /// The lines of the later text alone.
    pub added: Vec<String>,
    /// The lines of the earlier text alone.
    pub removed: Vec<String>,
}

impl LineChanges {
    /// Compares two texts. Blank lines do not count, and neither does the order of lines.
    #[must_use]
    pub fn between(before: &str, after: &str) -> Self {
        let lines = |text: &'_ str| -> Vec<String> {
            let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
            lines.map(str::to_owned).collect()
        };
        let alone = |these: &[String], others: &[String]| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            others.iter().for_each(|line| *counts.entry(line).or_default() += 1);
            let mut alone = Vec::new();
            for line in these {
                match counts.get_mut(line.as_str()).filter(|count| **count > 0) {
                    Some(count) => *count -= 1,
                    None => alone.push(line.chars().take(limits::STANDING_ITEM_CHARS).collect()),
                }
            }
            alone
        };
        let (before, after) = (lines(before), lines(after));
        Self { added: alone(&after, &before), removed: alone(&before, &after) }
    }
}
