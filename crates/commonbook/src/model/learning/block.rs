//! Learnings in prose: what stands behind a label (`Remember:`, `Gotchas`, `For the next one:`).
//!
//! The label begins a line, a heading, a list item, a sentence, or what stands behind a semicolon. At
//! the beginning of a line it covers the line, and the list, table or paragraph below it if the line ends
//! there; as a heading, its section; in a paragraph, its sentence; as the head of a column, the column. In
//! lower case it counts where nothing before it goes on. Quotations, reports of work and checklists are no
//! learnings.

use commonbook_text::sentences::sentences;

use super::label::{LabelRule, LearningLabel, find_label, names_source};
use super::markdown::{
    BlockKind, MarkdownBlock, MarkdownLine, markdown_blocks, without_quotations,
};
use super::report::{FIRST_UNSPACED, is_nothing, is_report, is_run};
use super::{Learning, LearningType, says_something};

/// A label and its colon stand in at most this many characters.
const LABEL_CHARS_MAX: usize = 80;

/// A cell of a table is a learning from this many words.
const CELL_WORDS_MIN: usize = 4;

/// Words around a quotation that only name who said it.
const ATTRIBUTION_WORDS_MAX: usize = 3;

/// The marks of a checklist.
pub(super) const TASK_BOXES: [&str; 3] = ["[ ] ", "[x] ", "[X] "];

/// Beginnings of a sentence in which the agent speaks to its user, no longer about what it learned.
const TALK_BEGINNINGS: [&str; 10] = [
    "I ",
    "I'",
    "I’",
    "Let me ",
    "Shall ",
    "Want me ",
    "Please let me ",
    "Ich ",
    "Soll ich ",
    "Je ",
];

/// A line of at least this many characters was wrapped and goes on in the next.
const WRAPPED_LINE_CHARS_MIN: usize = 60;

/// The beginning of a learning.
struct LearningMark<'a> {
    label: &'static LearningLabel,
    /// The label as written.
    words: &'a str,
    /// The type in brackets after the label, else that of the label.
    kind: LearningType,
    /// The text behind the colon.
    rest: &'a str,
    /// Whether the emphasis before the label goes on behind the colon: `**Remember: …**`.
    is_emphasised: bool,
    /// Whether a bracket opens before the label: `(gotcha: …)`.
    is_bracketed: bool,
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
        found.extend(column_learnings(block));
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
                found.extend(labelled(&mark, mark.rest));
                taken
            };
        } else if !mark.rest.is_empty() {
            let sentence = sentences(mark.rest).next().unwrap_or_default();
            found.extend(labelled(&mark, sentence));
        } else if place + 1 == starts.len() {
            taken = learnings_of_block(&mark, block, &block.lines[index + 1..], below, found);
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
    let below = if all_own { &below[..section_blocks(block, below)] } else { &[] };
    let lines_below = below.iter().flat_map(|next| &next.lines);
    if let Some(learning) = fields(mark, own.iter().chain(lines_below)) {
        found.push(learning);
        return LearningExtent { lines: own.len() + 1, blocks: below.len() };
    }
    if !mark.rest.is_empty() {
        let (text, lines) = with_wrapped_lines(mark.rest, own);
        found.extend(labelled(mark, &text));
        return LearningExtent { lines, blocks: 0 };
    }
    if !own.is_empty() {
        found.extend(labelled(mark, &joined(own)));
        return LearningExtent { lines: own.len() + 1, blocks: 0 };
    }
    found.extend(section_learnings(mark, below));
    LearningExtent { lines: 1, blocks: below.len() }
}

/// The number of blocks that a label without text covers: its list, its table or its paragraph. A heading
/// covers paragraphs, and the list or table that ends them, in its sections of lower levels too.
fn section_blocks(block: &MarkdownBlock, below: &[MarkdownBlock]) -> usize {
    let level = match block.kind {
        BlockKind::Heading(level) => Some(level),
        _ => None,
    };
    let mut is_complete = false;
    let covers = |next: &&MarkdownBlock| {
        let is_inside = next.depth > block.depth;
        let is_free = next
            .lines
            .first()
            .is_none_or(|line| line_mark(next, &next.lines, 0).is_none() && !is_report(&line.text));
        let is_covered = match next.kind {
            BlockKind::Heading(lower) => {
                level.is_some_and(|level| lower > level) && is_free && !next.lines.is_empty()
            }
            BlockKind::PlainCode => false,
            BlockKind::Item => is_inside,
            BlockKind::Table => is_inside || !is_complete || level.is_some(),
            BlockKind::Paragraph => {
                is_inside || next.depth == block.depth && !is_complete && is_free
            }
        };
        is_complete = match next.kind {
            BlockKind::Heading(_) => false,
            BlockKind::Paragraph => is_complete || level.is_none(),
            _ => true,
        };
        is_covered
    };
    below.iter().take_while(covers).count()
}

/// The learnings of the blocks below a label: items with what stands below them, rows, and paragraphs.
fn section_learnings(mark: &LearningMark<'_>, below: &[MarkdownBlock]) -> Vec<Learning> {
    let is_list = |next: &MarkdownBlock| matches!(next.kind, BlockKind::Item | BlockKind::Table);
    let mut found = Vec::new();
    let mut rest = below;
    while let Some((next, after)) = rest.split_first() {
        rest = after;
        match next.kind {
            BlockKind::Table => {
                let columns = column_learnings(next);
                if columns.is_empty() {
                    let rows = next.rows.iter().skip(1).map(|row| row.join(" | "));
                    let rows = rows.filter(|row| has_words(row, CELL_WORDS_MIN));
                    found.extend(rows.filter_map(|row| own_learning(mark, &row)));
                }
                found.extend(columns);
            }
            BlockKind::Item => {
                let is_lower = |lower: &&MarkdownBlock| {
                    let is_item = lower.kind == BlockKind::Item;
                    lower.depth > next.depth || !is_item && lower.depth == next.depth
                };
                let lower = after.iter().take_while(is_lower).count();
                rest = &after[lower..];
                let lower_lines = after[..lower].iter().flat_map(|lower| &lower.lines);
                let text = joined(next.lines.iter().chain(lower_lines.clone()));
                let own = line_mark(next, &next.lines, 0).filter(|own| !own.rest.is_empty());
                let is_task = TASK_BOXES.iter().any(|mark| text.starts_with(mark));
                if let Some(own) = own {
                    let lower = next.lines.iter().skip(1).chain(lower_lines);
                    found.extend(labelled(&own, &format!("{} {}", own.rest, joined(lower))));
                } else if !is_task {
                    found.extend(own_learning(mark, &text));
                }
            }
            BlockKind::Paragraph => {
                let text = joined(&next.lines);
                let introduces = text.ends_with([':', '：']) && after.first().is_some_and(is_list);
                if !introduces {
                    found.extend(own_learning(mark, &text));
                }
            }
            BlockKind::Heading(_) | BlockKind::PlainCode => {}
        }
    }
    found
}

/// The learning with this text, unless it reports work or quotes somebody.
fn own_learning(mark: &LearningMark<'_>, text: &str) -> Option<Learning> {
    (!is_report(text) && !is_quotation(text)).then(|| labelled(mark, text))?
}

/// The learnings in the columns of a table whose head is a label, each behind the first cell of its row.
fn column_learnings(block: &MarkdownBlock) -> Vec<Learning> {
    let Some((head, rows)) = block.rows.split_first() else { return Vec::new() };
    let labels = head.iter().enumerate().filter_map(|(column, cell)| {
        let label = find_label(cell).filter(|label| label.rule != LabelRule::Marked)?;
        Some((column, label))
    });
    let cells = labels.flat_map(|(column, label)| {
        let cells = rows.iter().filter_map(move |row| Some((row.first()?, row.get(column)?)));
        cells.map(move |(first, cell)| {
            let content = if column == 0 { cell.clone() } else { format!("{first}: {cell}") };
            (cell, Learning { kind: label.kind, content })
        })
    });
    let says =
        |cell: &str| has_words(cell, CELL_WORDS_MIN) && !is_report(cell) && !is_quotation(cell);
    cells.filter(|(cell, _)| says(cell)).map(|(_, learning)| learning).collect()
}

/// Whether a text has at least this many words; two characters of a script without blanks are one.
fn has_words(text: &str, count: usize) -> bool {
    let is_unspaced = |c: char| c >= FIRST_UNSPACED && c.is_alphanumeric();
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    let spaced = text.split(|c: char| c.is_whitespace() || is_unspaced(c));
    let spaced = spaced.filter(|word| word.contains(char::is_alphanumeric)).count();
    spaced + unspaced / 2 >= count
}

/// Whether a text is somebody's words between quotation marks, and at most names who said it.
pub(super) fn is_quotation(text: &str) -> bool {
    let masked = without_quotations(text);
    let (quoted, own): (Vec<&str>, Vec<&str>) = masked.split_whitespace().partition(|word| {
        word.trim_matches(|c: char| c.is_ascii_punctuation()).bytes().all(|b| b == b'x')
    });
    masked != text && !quoted.is_empty() && own.len() <= ATTRIBUTION_WORDS_MAX
}

/// The learning with this text and with its label, if it makes no sense without it.
fn labelled(mark: &LearningMark<'_>, text: &str) -> Option<Learning> {
    let Learning { kind, content } = learning(mark, text)?;
    let content = match mark.label.rule {
        LabelRule::Told if !says_something(&content) => return None,
        LabelRule::Told => format!("{}: {content}", mark.words),
        _ => content,
    };
    Some(Learning { kind, content })
}

/// The learning with this text; `None` for a question.
fn learning(mark: &LearningMark<'_>, text: &str) -> Option<Learning> {
    let text = without_task_box(text.trim());
    let text = if mark.is_bracketed { text.trim_end_matches([')', '）']) } else { text };
    let is_end = |sentence: &&str| is_talk(sentence) || is_report(sentence);
    let end = sentences(text).skip(1).find(is_end);
    let text = end.map_or(text, |talk| text[..offset_in(text, talk)].trim_end());
    let text = if mark.is_emphasised { text.trim_end_matches(['*', '_']) } else { text };
    let is_question = text.ends_with(['?', '？']);
    let (kind, content) = split_type(text);
    let kind = kind.unwrap_or(mark.kind);
    let says = !is_question && !is_nothing(text, mark.label.rule) && !is_run(text);
    (!text.is_empty() && says).then_some(Learning { kind, content })
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

fn joined<'a>(lines: impl IntoIterator<Item = &'a MarkdownLine>) -> String {
    lines.into_iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The byte at which a part of a text begins in it.
pub(super) fn offset_in(text: &str, part: &str) -> usize {
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
    let is_sign = |c: char| !c.is_ascii() && !c.is_alphanumeric();
    let boxed = without_task_box(masked).trim_start();
    let is_bracketed = boxed.starts_with(['(', '（']);
    let bare = boxed.trim_start_matches(['(', '（']).trim_start_matches(|c| is_sign(c) || c == ' ');
    let word = bare.trim_start_matches(['*', '_']);
    let emphasis = &bare[..bare.len() - word.len()];
    let is_heading = matches!(block.kind, BlockKind::Heading(_));
    let is_marked = !emphasis.is_empty() || is_heading;
    let has_sign = is_marked || boxed.starts_with(is_sign);
    // A sign may stand inside the emphasis, and the number of a section in its heading.
    let word = word.trim_start_matches(|c| {
        is_sign(c) || c == ' ' || is_heading && matches!(c, '0'..='9' | '.' | ')')
    });
    if !is_marked && case == LetterCase::Upper && word.starts_with(char::is_lowercase) {
        return None;
    }
    let named = |end: LabelEnd| {
        let (bare, kind) = without_bracket(&word[..end.at], is_heading)?;
        let label = find_label(bare).filter(|label| match label.rule {
            LabelRule::Marked => has_sign && end.is_clear,
            LabelRule::Comma => true,
            LabelRule::Plain | LabelRule::Told => end.is_clear,
        })?;
        Some((label, end, kind.unwrap_or(label.kind)))
    };
    let (label, end, kind) = label_ends(word, is_marked).find_map(named)?;
    let (inside, rest) = (&word[..end.at], &word[end.rest..]);
    let after = rest.strip_prefix(emphasis).filter(|_| !emphasis.is_empty());
    let is_closed = emphasis.is_empty() || inside.contains(emphasis) || after.is_some();
    let rest = after.filter(|_| !inside.contains(emphasis)).unwrap_or(rest);
    // The mask has the length of the text, so that both end at the same place.
    let rest = text.get(masked.len() - rest.len().min(masked.len())..)?.trim();
    let rest = if rest.trim_matches('#').is_empty() { "" } else { rest };
    let at = masked.len() - word.len();
    let words = text.get(at..at + inside.len())?.trim_matches(['*', '_', ' ']);
    Some(LearningMark { label, words, kind, rest, is_emphasised: !is_closed, is_bracketed })
}

/// Where a label may end.
struct LabelEnd {
    at: usize,
    /// Where what it marks begins.
    rest: usize,
    /// Whether more than a comma stands between.
    is_clear: bool,
}

/// The places where a label at the beginning of a text may end: a colon, a dash, a comma; behind `TIL`; as a
/// heading, or in bold letters, the end of the text; in bold letters a point too (`**Caveat.** …`).
fn label_ends(word: &str, is_marked: bool) -> impl Iterator<Item = LabelEnd> {
    let at_sign = |signs: [char; 2], is_clear| {
        let mut places = word.char_indices().take(LABEL_CHARS_MAX);
        let (at, sign) = places.find(|(_, c)| signs.contains(c))?;
        Some(LabelEnd { at, rest: at + sign.len_utf8(), is_clear })
    };
    let is_sentence = word.trim_end_matches(['*', '_', ' ']).ends_with(['.', '!', '?']);
    // This is called for each sentence of a text, which may be long.
    let beginning = &word[..word.floor_char_boundary(LABEL_CHARS_MAX)];
    let at_words = |words: &str, rest: usize| {
        beginning.find(words).map(|at| LabelEnd { at, rest: at + rest, is_clear: true })
    };
    let at_point = [".**", ".__"].iter().filter_map(|words| at_words(words, 1));
    let at_point = at_point.min_by_key(|end| end.at);
    let bare = word.trim_end_matches('#').len();
    let whole = LabelEnd { at: bare, rest: word.len(), is_clear: true };
    [
        at_sign([':', '：'], true),
        at_sign(['—', '–'], true),
        at_words(" - ", 3),
        at_sign([',', '，'], false),
        word.starts_with("TIL ").then_some(LabelEnd { at: 3, rest: 4, is_clear: true }),
        Some(whole).filter(|_| is_marked && !is_sentence),
        at_point.filter(|_| is_marked),
    ]
    .into_iter()
    .flatten()
}

/// The words of a label before its bracket, with the type that the bracket names. `None` if the bracket names
/// something else; in a heading that may be anything but the source of a quotation.
fn without_bracket(label: &str, is_heading: bool) -> Option<(&str, Option<LearningType>)> {
    let bare = label.trim_end_matches(['*', '_', ' ']);
    let inside = bare.strip_suffix([')', ']']).and_then(|bare| bare.rsplit_once(['(', '[']));
    let Some((words, bracket)) = inside else { return Some((label, None)) };
    match LearningType::of_word(bracket) {
        Some(kind) => Some((words, Some(kind))),
        None if is_heading && !names_source(bracket) => Some((words, None)),
        None => None,
    }
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The text without the box of a task: `[x] …`.
fn without_task_box(text: &str) -> &str {
    TASK_BOXES.iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
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
    let named = kind.map(|kind| LearningType::from_type_word(&kind));
    Some(Learning { kind: named.unwrap_or(mark.kind), content })
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
