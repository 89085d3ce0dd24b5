//! Naming: which words nobody may take as a name, and which name another looks like.

use commonbook_text::injection;

/// Words that nobody can take: each has a meaning of its own, or is the word for a role that a prompt
/// gives more weight than an agent.
pub const RESERVED_NAMES: [&str; 16] = [
    "legacy",
    "anonymous",
    "human",
    "system",
    "*",
    "user",
    "users",
    "assistant",
    "admin",
    "administrator",
    "root",
    "commonbook",
    "tool",
    "function",
    "everyone",
    "nobody",
];

/// The name that this one looks like: with Latin letters for those of other scripts that are drawn
/// alike.
#[must_use]
pub(crate) fn fold_lookalikes(name: &str) -> String {
    // A letter that only carries a mark is told from the bare one.
    let fold = |c: char| {
        Some(injection::latin(c)).filter(|like| like.is_ascii_alphabetic() && !is_latin(c))
    };
    name.chars().map(|c| fold(c).unwrap_or(c)).collect()
}

/// Whether a name has Latin letters beside others that look like Latin ones.
pub(crate) fn mixes_scripts(name: &str) -> bool {
    let alike = |c: char| !is_latin(c) && injection::latin(c).is_ascii_alphabetic();
    name.contains(is_latin) && name.contains(alike)
}

/// Whether a character is a letter of the Latin script, with marks or without.
fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c.is_alphabetic()
}
