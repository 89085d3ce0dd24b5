//! The names of files and folders in a vault.

use commonbook::base::id::{Id, IdKind};
use commonbook::model::memory::Memory;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Memories that hold.
pub const MEMORIES: &str = "memories";
/// Memories that were superseded, retracted, deleted or archived.
pub const ARCHIVE: &str = "archive";
/// Memories that only their owner reads; git ignores the folder.
pub const PRIVATE: &str = "private";
/// Memories that wait for a person's review; git ignores the folder.
pub const QUARANTINE: &str = "quarantine";
/// The earlier revisions of memories.
pub const HISTORY: &str = "history";
/// Cases with their entries.
pub const CASES: &str = "cases";
/// Handoffs.
pub const HANDOFFS: &str = "handoffs";
/// Entities.
pub const ENTITIES: &str = "entities";
/// Contradictions that an agent or a person decided.
pub const CONTRADICTIONS: &str = "contradictions";
/// Sessions, checkpoints and other records without a page.
pub const RECORDS: &str = "records";
/// A page for each agent.
pub const AGENTS: &str = "agents";
/// A page for each topic.
pub const TOPICS: &str = "topics";
/// The files of this machine; git ignores the folder.
pub const LOCAL: &str = ".commonbook";
/// The registry of agents.
pub const AGENTS_FILE: &str = "agents.json";
/// The first page.
pub const INDEX_FILE: &str = "index.md";
/// What the vault is of.
pub const SETTINGS_FILE: &str = "vault.json";

/// Letters of a slug at most.
pub const SLUG_CHARS: usize = 40;

/// Letters at the end of an id that a file's name ends in.
const ID_ENDING_CHARS: usize = 8;

/// Names that some systems refuse for a file.
const DEVICE_NAMES: [&str; 8] = ["con", "prn", "aux", "nul", "com1", "com2", "lpt1", "lpt2"];

/// A folder that memories are in: each memory has one file, anywhere below its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryArea {
    /// It holds, and others read it.
    Shared,
    /// Others read it, and it does not hold any more.
    Archived,
    /// Only its owner reads it.
    Private,
    /// It waits for a person's review.
    Quarantined,
}

impl MemoryArea {
    /// Every area.
    pub const ALL: [Self; 4] = [Self::Shared, Self::Archived, Self::Private, Self::Quarantined];

    /// The area of this memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        use commonbook::model::memory::Sharing;
        match memory.sharing {
            _ if memory.is_quarantined() => Self::Quarantined,
            Sharing::Private => Self::Private,
            Sharing::Shared if memory.is_current() => Self::Shared,
            Sharing::Shared => Self::Archived,
        }
    }

    /// Its folder.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Shared => MEMORIES,
            Self::Archived => ARCHIVE,
            Self::Private => PRIVATE,
            Self::Quarantined => QUARANTINE,
        }
    }

    /// The area of a path, with `/` between its parts; `None` for what is no memory's file.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (folder, _) = path.split_once('/')?;
        let area = Self::ALL.into_iter().find(|area| area.folder() == folder)?;
        path.to_lowercase().ends_with(".md").then_some(area)
    }
}

/// The path of a new file of a memory: `memories/ann/20261125_ann_deploys-run-on-friday_7a865d43.md`.
#[must_use]
pub fn memory_path(memory: &Memory) -> String {
    let agent = memory.owner.as_str();
    let folder: Vec<String> = agent.split('/').map(|part| slug(part, SLUG_CHARS)).collect();
    let about = memory.title.as_deref().unwrap_or(&memory.text);
    format!(
        "{}/{}/{}_{}_{}_{}.md",
        MemoryArea::of(memory).folder(),
        folder.join("/"),
        day(memory.recorded_at),
        slug(&agent.replace('/', "-"), SLUG_CHARS),
        slug(about, SLUG_CHARS),
        id_ending(memory.id)
    )
}

/// The day of a time in UTC: `20261125`.
#[must_use]
pub fn day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y%m%d").to_string()
}

/// The last letters of an id.
#[must_use]
pub fn id_ending<K: IdKind>(id: Id<K>) -> String {
    let id = id.to_string();
    id[id.len() - ID_ENDING_CHARS..].to_owned()
}

/// The words of a text as part of a file's name: letters, digits and dots in lower case, with `-` between words,
/// at most `chars` of them; `note` if it has none.
#[must_use]
pub fn slug(text: &str, chars: usize) -> String {
    let mut slug = String::new();
    let mut length = 0;
    for letter in text.chars().flat_map(char::to_lowercase) {
        if length == chars {
            break;
        }
        let is_word = letter.is_alphanumeric() || (letter == '.' && !slug.is_empty());
        match is_word {
            true => slug.push(letter),
            false if slug.is_empty() || slug.ends_with('-') => continue,
            false => slug.push('-'),
        }
        length += 1;
    }
    let slug = slug.trim_end_matches(['-', '.']);
    match slug {
        "" => "note".to_owned(),
        slug if DEVICE_NAMES.contains(&slug) => format!("{slug}-"),
        slug => slug.to_owned(),
    }
}

/// The name of a page without its ending, for a link to it.
#[must_use]
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_name_on_every_disk() {
        let table = [
            ("Deploys run on Friday, after lunch.", "deploys-run-on-friday-after-lunch"),
            ("Die Fähre legt um 7 Uhr ab ⛴", "die-fähre-legt-um-7-uhr-ab"),
            ("../../etc/passwd", "etc-passwd"),
            ("  v1.2 … ", "v1.2"),
            ("…", "note"),
            ("CON", "con-"),
            (".hidden.", "hidden"),
            (
                "a very long heading that goes on and on and on",
                "a-very-long-heading-that-goes-on-and-on",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(slug(text, SLUG_CHARS), expected, "{text:?}");
        }
    }
}
