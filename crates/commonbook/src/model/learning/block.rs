//! Learnings in prose: what stands behind `Remember:`, `Memorize:`, `Learned:`, `Note to self:` or
//! `Add To Memory:`.
//!
//! The word begins a line, a heading, a list item, a sentence, or what stands behind a semicolon. At
//! the beginning of a line it covers the line, and the list below it if the line ends there; in a
//! paragraph, its sentence. In lower case it counts where nothing before it goes on.

use commonbook_text::sentences::sentences;

use super::markdown::{BlockKind, MarkdownBlock, MarkdownLine, markdown_blocks};
use super::{Learning, LearningType};

/// The words that mark a learning, before a colon.
const LEARNING_MARKS: [&str; 15] = [
    "remember",
    "memorize",
    "memorise",
    "learned",
    "learnings",
    "key learning",
    "key learnings",
    "key lesson",
    "key lessons",
    "lesson learned",
    "lessons learned",
    "note to self",
    "notes to self",
    "add to memory",
    "add to memories",
];

/// Beginnings of a sentence in which the agent speaks to its user, no longer about what it learned.
const TALK_BEGINNINGS: [&str; 7] =
    ["I ", "I'", "I’", "Let me ", "Shall ", "Want me ", "Please let me "];

/// A line of at least this many characters was wrapped and goes on in the next.
const WRAPPED_LINE_CHARS_MIN: usize = 60;

/// The beginning of a learning.
struct LearningMark<'a> {
    /// The type in brackets after the word.
    kind: Option<LearningType>,
    /// The text behind the colon.
    rest: &'a str,
    /// Whether the emphasis before the word goes on behind the colon: `**Remember: …**`.
    is_emphasised: bool,
}

/// The learnings of a message in prose.
pub(super) fn learnings_in_prose(text: &str) -> Vec<Learning> {
    let blocks = markdown_blocks(text);
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(block) = blocks.get(index) {
        index += 1;
        if block.kind == BlockKind::PlainCode {
            found.extend(block.lines.iter().flat_map(|code| complete_blocks(&code.text)));
            continue;
        }
        let mut line = 0;
        while line < block.lines.len() {
            let below = if line + 1 == block.lines.len() { &blocks[index..] } else { &[] };
            let taken = learnings_of_line(block, line, below, &mut found);
            line += taken.lines.max(1);
            index += taken.blocks;
        }
    }
    found
}

/// In code only a block with all its fields counts.
fn complete_blocks(code: &str) -> Vec<Learning> {
    let blocks = markdown_blocks(code);
    let lines = blocks.iter().enumerate().filter_map(|(index, block)| {
        let mark = line_mark(block, &block.lines, 0)?;
        let below = blocks.get(index + 1).map_or(&[][..], |below| &below.lines);
        fields(&mark, block.lines[1..].iter().chain(below))
    });
    lines.collect()
}

/// The lines and blocks that learnings took.
#[derive(Default)]
struct LearningExtent {
    lines: usize,
    blocks: usize,
}

/// Adds the learnings that begin in a line. `below` are the blocks behind it, if it is the last of
/// its block.
fn learnings_of_line(
    block: &MarkdownBlock,
    index: usize,
    below: &[MarkdownBlock],
    found: &mut Vec<Learning>,
) -> LearningExtent {
    let MarkdownLine { text, masked } = &block.lines[index];
    let mut starts: Vec<usize> = sentences(masked).map(|s| offset_in(masked, s)).collect();
    let is_mark = |start: usize| {
        learning_mark(&text[start..], &masked[start..], block, LetterCase::Any).is_some()
    };
    let semicolons = masked.match_indices("; ").map(|(at, mark)| at + mark.len());
    starts.extend(semicolons.filter(|start| is_mark(*start)));
    starts.sort_unstable();
    starts.dedup();
    let mark_at = |place: usize| {
        let start = *starts.get(place)?;
        if place == 0 {
            return line_mark(block, &block.lines, index);
        }
        let case = match masked[..start].trim_end().ends_with(';') {
            true => LetterCase::Any,
            false => LetterCase::Upper,
        };
        learning_mark(&text[start..], &masked[start..], block, case)
    };
    let mut taken = LearningExtent::default();
    for place in 0..starts.len() {
        let Some(mark) = mark_at(place) else { continue };
        if place == 0 {
            let after = &block.lines[index + 1..];
            let end = (1..starts.len())
                .find(|next| mark_at(*next).is_some() || is_talk(&text[starts[*next]..]))
                .map_or(text.len(), |next| starts[next]);
            let is_whole_line = end == text.len();
            let talk = text.len() - end;
            let rest = mark.rest.get(..mark.rest.len().saturating_sub(talk)).unwrap_or_default();
            let rest = match is_whole_line {
                true => rest.trim(),
                false => rest.trim().trim_end_matches(';'),
            };
            let mark = LearningMark { rest, ..mark };
            taken = if is_whole_line {
                learnings_of_block(&mark, block, after, below, found)
            } else {
                found.extend(learning(&mark, mark.rest));
                taken
            };
        } else if !mark.rest.is_empty() {
            let sentence = sentences(mark.rest).next().unwrap_or_default();
            found.extend(learning(&mark, sentence));
        }
    }
    taken
}

/// Adds the learnings of a mark whose text fills its line: with fields, in a list, or in prose.
fn learnings_of_block(
    mark: &LearningMark<'_>,
    block: &MarkdownBlock,
    after: &[MarkdownLine],
    below: &[MarkdownBlock],
    found: &mut Vec<Learning>,
) -> LearningExtent {
    let first = block.lines.len() - after.len();
    let is_start = |index: &usize| line_mark(block, &block.lines, *index).is_some();
    let own = (first..block.lines.len()).take_while(|index| !is_start(index)).count();
    let (own, all_own) = (&after[..own], own == after.len());
    let items = below
        .iter()
        .take_while(|next| next.depth > block.depth && next.kind != BlockKind::PlainCode)
        .count();
    let paragraph = below.first().filter(|next| {
        next.kind == BlockKind::Paragraph
            && next.depth == block.depth
            && !next.lines.is_empty()
            && line_mark(block, &next.lines, 0).is_none()
    });
    let below_count = if items == 0 { usize::from(paragraph.is_some()) } else { items };
    let below = if all_own { &below[..below_count] } else { &[] };
    let lines_below = below.iter().flat_map(|next| &next.lines);
    if let Some(learning) = fields(mark, own.iter().chain(lines_below)) {
        found.push(learning);
        return LearningExtent { lines: own.len() + 1, blocks: below.len() };
    }
    if !mark.rest.is_empty() {
        let (text, lines) = with_wrapped_lines(mark.rest, own);
        found.extend(learning(mark, &text));
        return LearningExtent { lines, blocks: 0 };
    }
    if !own.is_empty() {
        found.extend(learning(mark, &joined(own)));
        return LearningExtent { lines: own.len() + 1, blocks: 0 };
    }
    if items > 0 {
        let items = below.iter().filter(|next| next.kind == BlockKind::Item);
        found.extend(items.filter_map(|item| learning(mark, &joined(&item.lines))));
    } else if let Some(paragraph) = below.first() {
        found.extend(learning(mark, &joined(&paragraph.lines)));
    }
    LearningExtent { lines: 1, blocks: below.len() }
}

/// The learning with this text; `None` for a question.
fn learning(mark: &LearningMark<'_>, text: &str) -> Option<Learning> {
    let text = without_task_box(text.trim());
    let end = sentences(text).skip(1).find(|sentence| is_talk(sentence));
    let text = end.map_or(text, |talk| text[..offset_in(text, talk)].trim_end());
    let text = if mark.is_emphasised { text.trim_end_matches(['*', '_']) } else { text };
    let is_question = text.ends_with(['?', '？']);
    let (kind, content) = split_type(text);
    let kind = kind.or(mark.kind).unwrap_or(LearningType::Context);
    (!text.is_empty() && !is_question).then_some(Learning { kind, content })
}

/// Whether the agent speaks to its user in this sentence.
fn is_talk(text: &str) -> bool {
    TALK_BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || sentences(text).next().is_some_and(|sentence| sentence.ends_with(['?', '？']))
}

/// The text with the next lines as long as it was wrapped, and the number of lines.
fn with_wrapped_lines(first: &str, next: &[MarkdownLine]) -> (String, usize) {
    let (mut text, mut last, mut lines) = (first.to_owned(), first, 1);
    for MarkdownLine { text: line, .. } in next {
        let is_ended = last.ends_with(LINE_ENDS);
        let is_wrapped = last.chars().count() >= WRAPPED_LINE_CHARS_MIN
            || line.starts_with(|c: char| c.is_lowercase());
        if is_ended || !is_wrapped {
            break;
        }
        text.push(' ');
        text.push_str(line);
        last = line;
        lines += 1;
    }
    (text, lines)
}

fn joined(lines: &[MarkdownLine]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The byte at which a part of a text begins in it.
fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// Marks at the end of a line that does not go on in the next.
const LINE_ENDS: [char; 8] = ['.', '!', '?', '。', '！', '？', ':', ';'];

/// The letters in which a mark may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterCase {
    Upper,
    Any,
}

/// Parses the beginning of a line as a mark. A line in lower case may go on from the line before.
fn line_mark<'a>(
    block: &MarkdownBlock,
    lines: &'a [MarkdownLine],
    index: usize,
) -> Option<LearningMark<'a>> {
    let line = lines.get(index)?;
    let before = index.checked_sub(1).and_then(|before| lines.get(before));
    let case = match before.is_none_or(|before| before.text.ends_with(LINE_ENDS)) {
        true => LetterCase::Any,
        false => LetterCase::Upper,
    };
    learning_mark(&line.text, &line.masked, block, case)
}

/// Parses the beginning of a sentence as a mark. `masked` hides code and quotations.
fn learning_mark<'a>(
    text: &'a str,
    masked: &str,
    block: &MarkdownBlock,
    case: LetterCase,
) -> Option<LearningMark<'a>> {
    let bare = without_task_box(masked);
    let bare = bare.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric() || c == ' ');
    let word = bare.trim_start_matches(['*', '_']);
    let emphasis = &bare[..bare.len() - word.len()];
    // An emoji may stand inside the emphasis.
    let word = word.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric() || c == ' ');
    let name = LEARNING_MARKS
        .iter()
        .filter(|name| starts_with(word, name))
        .max_by_key(|name| name.len())?;
    let is_marked = !emphasis.is_empty() || block.kind == BlockKind::Heading;
    if !is_marked && case == LetterCase::Upper && !word.starts_with(char::is_uppercase) {
        return None;
    }
    let mut rest = &word[name.len()..];
    let mut is_closed = emphasis.is_empty();
    let mut close = |rest: &mut &str| {
        if let Some(after) = rest.strip_prefix(emphasis).filter(|_| !is_closed) {
            (*rest, is_closed) = (after, true);
        }
        *rest = rest.trim_start();
    };
    close(&mut rest);
    let mut kind = None;
    if let Some((inside, behind)) =
        rest.strip_prefix(['(', '[']).and_then(|rest| rest.split_once([')', ']']))
    {
        kind = Some(LearningType::of_word(inside)?);
        rest = behind;
        close(&mut rest);
    }
    let colon = rest.strip_prefix([':', '：']);
    let dash = || rest.strip_prefix(['—', '–']).filter(|_| !emphasis.is_empty());
    // A heading needs no colon.
    rest = match colon.or_else(dash) {
        Some(rest) => rest,
        None if rest.trim_matches('#').trim().is_empty() && is_marked => "",
        None => return None,
    };
    close(&mut rest);
    // The mask has the length of the text, so that both end at the same place.
    let rest = text.get(masked.len() - rest.len().min(masked.len())..)?.trim();
    let rest = if rest.trim_matches('#').is_empty() { "" } else { rest };
    Some(LearningMark { kind, rest, is_emphasised: !is_closed })
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The text without the box of a task: `[x] …`.
fn without_task_box(text: &str) -> &str {
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}

/// The learning of a block with the fields `Type:` and `Content:`; the type is optional.
fn fields<'a>(
    mark: &LearningMark<'a>,
    lines: impl Iterator<Item = &'a MarkdownLine>,
) -> Option<Learning> {
    let (mut kind, mut content): (Option<String>, Option<String>) = (None, None);
    let mut in_content = false;
    for line in std::iter::once(mark.rest).chain(lines.map(|line| line.text.as_str())) {
        if let Some(value) = field(line, "type") {
            // `Type: pattern Content: …` on one line.
            let at = value.to_ascii_lowercase().find("content:");
            let (before, behind) =
                at.map_or((value, None), |at| (&value[..at], Some(value[at + 8..].trim())));
            kind = Some(before.trim().trim_end_matches([',', ';', '|']).to_owned());
            content = behind.map(str::to_owned).or(content);
            in_content = behind.is_some();
        } else if let Some(value) = field(line, "content") {
            content = Some(value.to_owned());
            in_content = true;
        } else if let Some(content) = content.as_mut().filter(|_| in_content) {
            content.push(' ');
            content.push_str(line);
        }
    }
    let content = content?.trim().to_owned();
    // A type that lists all types is an empty template.
    if kind.as_ref().is_some_and(|kind| kind.contains(['|', '<'])) {
        return Some(Learning { kind: LearningType::Context, content: String::new() });
    }
    let named = kind.map(|kind| LearningType::from_type_word(&kind)).or(mark.kind);
    Some(Learning { kind: named.unwrap_or(LearningType::Context), content })
}

/// The value of a field: `**Type:** pattern`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let bare = line.trim_start_matches(['-', '*', '_', ' ']);
    let rest =
        starts_with(bare, name).then(|| bare[name.len()..].trim_start_matches(['*', '_', ' ']))?;
    Some(rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']).trim())
}

/// Splits off a leading type: `[mistake] …`, `**Pattern**: …`.
pub(super) fn split_type(text: &str) -> (Option<LearningType>, String) {
    let text = text.trim();
    let bare = text.trim_start_matches(['*', '_']);
    let bracketed = bare.strip_prefix(['[', '(']).and_then(|rest| rest.split_once([']', ')']));
    let colon = || bare.split_once(':');
    let parts = bracketed.or_else(colon).and_then(|(word, rest)| {
        let kind = LearningType::of_word(word.trim_matches(['*', '_', ' ']))?;
        Some((kind, rest.trim_start_matches([':', '*', '_', ' ', '-'])))
    });
    match parts {
        Some((kind, rest)) if !rest.is_empty() => (Some(kind), rest.trim().to_owned()),
        _ => (None, text.to_owned()),
    }
}
