//! Memory files of claude-mpm: one file an agent, `{agent}_memories.md`, `{agent}_agent.md` or `{agent}.md`, in
//! `.claude-mpm/memories` of a project or of the home.
//!
//! As that project's own memories and its memory system's documentation have them: headings with list items,
//! and comments with limits and times. An item is a memory of the agent, below Claude Code.

use std::path::Path;

use crate::files::{SourceFile, is_markdown};
use crate::instructions::block_rows;
use crate::note::note_rows;
use crate::{Progress, RowIterator, SourceFormat};

/// The endings of names, longest first; what stands before is the agent.
const ENDINGS: [&str; 2] = ["_memories", "_agent"];

/// Whether a file lies in a folder of memories, or has a name that only memories have.
pub(crate) fn reads(opened: &Path, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let folders = file.strip_suffix(name).unwrap_or_default();
    let is_in_memories = match folders {
        "" => opened.ends_with("memories") || has_own_name(name),
        "memories/" => opened.ends_with(".claude-mpm"),
        folders => folders.ends_with(".claude-mpm/memories/"),
    };
    let is_other = name.eq_ignore_ascii_case("README.md") || name.contains("_backup_");
    is_markdown(name) && is_in_memories && !is_other
}

pub(crate) fn has_own_name(file: &str) -> bool {
    let lower = file.to_lowercase();
    lower.ends_with("_memories.md") || lower.ends_with("_agent.md")
}

/// The agent of a file: `Data_Engineer_agent.md` is `data-engineer`'s.
fn agent_of(file: &SourceFile) -> String {
    let stem = file.stem().to_lowercase();
    let ending = ENDINGS.into_iter().find_map(|ending| stem.strip_suffix(ending));
    ending.unwrap_or(&stem).replace([' ', '_'], "-")
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    note_rows(file, progress, |note| {
        let owner = format!("claude-code/{}", agent_of(file));
        block_rows(SourceFormat::ClaudeMpm, file, note, |draft, block| {
            let section = block.headings.last().filter(|_| block.headings.len() > 1);
            draft
                .with("owner", owner.as_str())
                .with("memory_type", "learning")
                .about(section)
                .about(note.tags())
                .keeping(&note.fields, &["tags", "tag", "topics"])
        })
    })
}
