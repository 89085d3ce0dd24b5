//! Naming: reserved words, and names that look like other names.

use commonbook_text::injection;

/// Words that no agent or type can use: each has a meaning in Commonbook, or names a role to which
/// models give more weight than to an agent.
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

/// The Latin name that this one looks like: every look-alike letter of another script replaced.
#[must_use]
pub(crate) fn fold_lookalikes(name: &str) -> String {
    // An accented letter differs from the bare one.
    let fold = |c: char| {
        Some(injection::latin(c)).filter(|like| like.is_ascii_alphabetic() && !is_latin(c))
    };
    name.chars().map(|c| fold(c).unwrap_or(c)).collect()
}

/// Whether a name mixes Latin letters with look-alikes of another script.
pub(crate) fn mixes_scripts(name: &str) -> bool {
    let alike = |c: char| !is_latin(c) && injection::latin(c).is_ascii_alphabetic();
    name.contains(is_latin) && name.contains(alike)
}

/// Whether a character is a Latin letter, accented or not.
fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c.is_alphabetic()
}
