//! Files: words that are paths, and words that only look like paths.

use std::ops::Range;

use crate::entities::EntityType;
use crate::entities::value::normalise;
use crate::entities::vocabulary;
use crate::word_list::WordList;

/// Endings that name a file wherever they stand.
static FILE_ENDINGS: WordList = WordList::new(include_str!("file_endings.txt"));

/// Endings that are words, initials or parts of code too. They name a file below a folder, between
/// backticks, or after a stem that is no word.
static SHORT_ENDINGS: WordList = WordList::new(include_str!("ambiguous_endings.txt"));

/// Well-known files without an ending.
static FILES_WITHOUT_ENDING: WordList = WordList::new(include_str!("files_without_ending.txt"));

/// First folders of a path without an ending.
static ROOT_FOLDERS: WordList = WordList::new(include_str!("root_folders.txt"));

/// Top folders of a file system.
static SYSTEM_FOLDERS: WordList = WordList::new(include_str!("system_folders.txt"));

/// Whether a word is a well-known file without an ending.
pub(super) fn is_file_without_ending(word: &str) -> bool {
    (word.ends_with("file") || word == "CODEOWNERS") && FILES_WITHOUT_ENDING.contains(word)
}

/// Returns the range of a path in a token.
pub(super) fn path_within(token: &str, quoted: bool) -> Option<Range<usize>> {
    let whole = token.trim_end_matches(['\'', ')', '/']);
    let path = without_line(whole);
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '_' | '-' | '+' | '@' | '~' | ':')
    };
    let letters = path.contains(|c: char| c.is_alphabetic());
    if path.len() > 200
        || path.len() < 2
        || !letters
        || !path.chars().all(plain)
        || path.contains("...")
        || path.contains("::")
        || path.trim_start_matches('/').starts_with("path/to")
    {
        return None;
    }
    let is_file =
        if path.contains(['/', '\\']) { is_path(path, quoted) } else { is_name(path, quoted) };
    is_file.then_some(0..whole.len())
}

fn without_line(path: &str) -> &str {
    let digits =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let mut bare = path.split_once("#L").map_or(path, |(before, _)| before);
    for _ in 0..2 {
        match bare.rsplit_once(':') {
            Some((before, line)) if digits(line) => bare = before,
            _ => break,
        }
    }
    bare
}

/// Whether a text with slashes is a path and no fraction, choice of words, route or package.
fn is_path(path: &str, quoted: bool) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.contains(':') && !drive {
        return false;
    }
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let Some(last) = parts.last().filter(|last| !last.is_empty()) else { return false };
    if parts.len() > 1 && parts.iter().skip(1).any(|part| part.is_empty()) || path.starts_with('@')
    {
        return false;
    }
    if path.starts_with('/') {
        return parts.len() > 2 && (SYSTEM_FOLDERS.contains(parts[1]) || has_ending(last, true));
    }
    let begun = matches!(parts[0], "." | ".." | "~") || drive;
    let rooted = ROOT_FOLDERS.contains(parts[0]) && (parts.len() > 2 || quoted);
    // Of "Node.js/Express" and "read/write.md" the first is a pair of tools.
    let tools = parts.iter().all(|part| is_tool(part));
    !tools && (begun || rooted || has_ending(last, true) || FILES_WITHOUT_ENDING.contains(last))
}

/// Whether a word is the name of a file by itself.
fn is_name(name: &str, quoted: bool) -> bool {
    if FILES_WITHOUT_ENDING.contains(name) {
        return true;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let lower = stem.to_lowercase();
    if stem.is_empty() || ending.contains(':') || is_tool(name) || name.contains([':', '@', '~']) {
        return false;
    }
    // "docs.rs" is a site, "1.2.rs" is neither.
    let site = matches!(name, "docs.rs" | "crates.rs" | "lib.rs.");
    let worded = stem.contains(|c: char| c.is_alphabetic());
    let short = quoted
        || lower == "main"
        || stem.contains(['_', '-'])
        || !vocabulary::is_ordinary(&lower) && stem == lower && stem.len() > 2;
    worded && !site && has_ending(name, short)
}

fn has_ending(name: &str, short: bool) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    !stem.is_empty() && (FILE_ENDINGS.contains(ending) || (short && SHORT_ENDINGS.contains(ending)))
}

fn is_tool(name: &str) -> bool {
    vocabulary::find(EntityType::Tool, &normalise(EntityType::Tool, name)).is_some()
}
