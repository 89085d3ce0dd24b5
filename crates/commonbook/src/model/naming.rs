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

/// Words that no agent has as a later part of its path either: they say that the person, the home or a
/// file speaks.
const RESERVED_CHILDREN: [&str; 3] = ["human", "system", "commonbook"];

/// The reserved word that a part of an agent's path is, or that a reader takes it for: with letters of
/// another script, digits for letters, or signs between the letters. `import` begins the names that a
/// file's authors get.
pub(crate) fn reserved_part(path: &str) -> Option<&'static str> {
    if path == "*" {
        return Some("*");
    }
    path.split('/').enumerate().find_map(|(place, part)| {
        let read = read_letters(part);
        let words: &[&str] = if place == 0 { &RESERVED_NAMES } else { &RESERVED_CHILDREN };
        let import = (place == 0).then_some("import");
        words.iter().copied().chain(import).find(|word| *word != "*" && *word == read)
    })
}

/// The small Latin letters of a name as a reader takes them.
fn read_letters(name: &str) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | '|' | '!' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        c => c,
    };
    fold_lookalikes(name)
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .map(letter)
        .collect()
}

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
