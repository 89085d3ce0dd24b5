//! Blocks: our lines between marks, in a Markdown file of the user.

use super::line_ending;
use super::splice::{TextSplice, replace_range};

const BLOCK_BEGIN: &str = "<!-- commonbook: begin -->";
const BLOCK_END: &str = "<!-- commonbook: end -->";

/// Whether a text contains our block with this content.
pub(super) fn has(text: &str, inner: &str) -> bool {
    find(text).is_some_and(|(at, length)| text[at..at + length] == block(inner, line_ending(text)))
}

/// The splice that appends our block behind a blank line, or replaces an existing block.
pub(super) fn write(text: &str, inner: &str) -> TextSplice {
    let end = line_ending(text);
    if let Some((at, length)) = find(text) {
        return TextSplice {
            at,
            before: text[at..at + length].to_owned(),
            after: block(inner, end),
        };
    }
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => end,
        _ => &end.repeat(2),
    };
    TextSplice {
        at: text.len(),
        before: String::new(),
        after: format!("{gap}{}{end}", block(inner, end)),
    }
}

/// The text without our block, its line end and the blank line before it.
pub(super) fn remove(text: &str) -> String {
    let Some((at, length)) = find(text) else { return text.to_owned() };
    let behind = &text[at + length..];
    let line = behind.len()
        - behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n')).unwrap_or(behind).len();
    let before = &text[..at];
    let gap = ["\r\n\r\n", "\n\n"]
        .into_iter()
        .find(|gap| before.ends_with(gap))
        .map_or(0, |gap| gap.len() / 2);
    replace_range(text, at - gap, gap + length + line, "")
}

/// The offset and length of our block, with its marks.
fn find(text: &str) -> Option<(usize, usize)> {
    let at = text.find(BLOCK_BEGIN)?;
    let end = text[at..].find(BLOCK_END)? + BLOCK_END.len();
    Some((at, end))
}

fn block(inner: &str, end: &str) -> String {
    format!(
        "{BLOCK_BEGIN}{end}{}{end}{BLOCK_END}",
        inner.trim().replace("\r\n", "\n").replace('\n', end)
    )
}
