//! Learnings in prose: blocks under `Remember:`, `Memorize:` or `Add To Memory:`.

use super::{Learning, LearningType};

/// The words that begin a block, before a colon.
const BLOCK_HEADINGS: [&str; 5] =
    ["remember", "memorize", "memorise", "add to memory", "add to memories"];

/// A line that begins a block.
struct BlockHeading<'a> {
    /// The type in brackets after the word.
    kind: Option<LearningType>,
    /// The text after the colon.
    rest: &'a str,
    /// Whether it is marked as a heading, with `#` or in bold.
    marked: bool,
}

/// The learnings of a message in prose.
pub(super) fn learnings_in_prose(text: &str) -> Vec<Learning> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let (mut place, mut code, mut apart) = (0, None, true);
    while let Some(line) = lines.get(place) {
        place += 1;
        if let Some(language) = line.trim_start().strip_prefix("```") {
            code = if code.is_some() { None } else { Some(language.trim().to_lowercase()) };
            apart = true;
            continue;
        }
        let plain = matches!(code.as_deref(), None | Some("" | "text" | "txt" | "markdown" | "md"));
        let Some(heading) = heading(line).filter(|_| plain) else {
            apart = ends_paragraph(line);
            continue;
        };
        let (block, next) = block_from(&lines, place, !heading.rest.is_empty());
        let learnings = of_block(&heading, &block);
        // In code, only a block with all its fields counts; in prose, a heading inside a paragraph
        // does not.
        let complete = fields(&heading, &block).is_some();
        if complete || (code.is_none() && (apart || heading.marked)) {
            found.extend(learnings);
            place = next;
            apart = true;
        } else {
            apart = false;
        }
    }
    found
}

/// Parses a line as a heading.
fn heading(line: &str) -> Option<BlockHeading<'_>> {
    // Four spaces make a line code, and a quotation is another author's.
    if line.starts_with("    ") || line.starts_with('\t') {
        return None;
    }
    let is_mark =
        |c: char| matches!(c, '#' | '*' | '_' | ' ') || (!c.is_ascii() && !c.is_alphanumeric());
    let bare = line.trim_start_matches(is_mark);
    let marks = &line[..line.len() - bare.len()];
    // `* Remember: …` is an item of a list.
    if marks.starts_with("* ") {
        return None;
    }
    let marked = marks.contains(['#', '*', '_']);
    let word = BLOCK_HEADINGS
        .iter()
        .filter(|word| starts_with(bare, word))
        .max_by_key(|word| word.len())?;
    if !marked && !bare.starts_with(char::is_uppercase) {
        return None;
    }
    let mut rest = bare[word.len()..].trim_start_matches(['*', '_', ' ']);
    let mut kind = None;
    if let Some((inside, behind)) =
        rest.strip_prefix(['(', '[']).and_then(|rest| rest.split_once([')', ']']))
    {
        kind = Some(LearningType::of_word(inside)?);
        rest = behind.trim_start_matches(['*', '_', ' ']);
    }
    let rest = rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']).trim();
    Some(BlockHeading { kind, rest, marked })
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The lines of a block, and the index after it. It ends at a blank line, a heading, a line of only
/// `#`, or code. Blank lines between a heading and its block, and between list items, do not end
/// it.
fn block_from<'a>(lines: &[&'a str], from: usize, begun: bool) -> (Vec<&'a str>, usize) {
    let mut block: Vec<&str> = Vec::new();
    let mut place = from;
    while let Some(line) = lines.get(place) {
        let bare = line.trim();
        let blank_within = bare.is_empty()
            && lines.get(place + 1).is_some_and(|next| match block.last() {
                None => !begun && place == from && heading(next).is_none(),
                Some(last) => item(last).is_some() && item(next).is_some(),
            });
        if blank_within {
            place += 1;
            continue;
        }
        if bare.is_empty() || bare.starts_with("```") || heading(line).is_some() {
            break;
        }
        place += 1;
        if ends_paragraph(line) {
            // A closing line of `#` belongs to the block; a heading does not.
            place -= usize::from(!bare.trim_matches('#').is_empty());
            break;
        }
        block.push(line);
    }
    (block, place)
}

/// Whether a line ends its paragraph: blank, a heading, a rule.
fn ends_paragraph(line: &str) -> bool {
    let bare = line.trim();
    bare.is_empty() || bare.starts_with('#') || bare.starts_with("---") || bare.starts_with("===")
}

fn of_block(heading: &BlockHeading<'_>, block: &[&str]) -> Vec<Learning> {
    if let Some(learning) = fields(heading, block) {
        return vec![learning];
    }
    let make = |text: &str| {
        let (kind, content) = split_type(text);
        Learning { kind: kind.or(heading.kind).unwrap_or(LearningType::Context), content }
    };
    if heading.rest.is_empty() && block.iter().any(|line| item(line).is_some()) {
        return items(block).iter().map(|item| make(item)).collect();
    }
    // `Remember: …` covers its sentence; a list below it is a separate matter.
    let prose = block.iter().take_while(|line| item(line).is_none()).map(|line| line.trim());
    let text: Vec<&str> =
        [heading.rest].into_iter().chain(prose).filter(|text| !text.is_empty()).collect();
    let text = text.join(" ");
    if text.is_empty() { Vec::new() } else { vec![make(&text)] }
}

/// The learning of a block with the fields `Type:` and `Content:`; the type is optional.
fn fields(heading: &BlockHeading<'_>, block: &[&str]) -> Option<Learning> {
    let (mut kind, mut content): (Option<String>, Option<String>) = (None, None);
    let mut in_content = false;
    for line in [heading.rest].iter().chain(block).map(|line| line.trim()) {
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
    let named = kind.map(|kind| LearningType::from_type_word(&kind)).or(heading.kind);
    Some(Learning { kind: named.unwrap_or(LearningType::Context), content })
}

/// The value of a field: `- **Type:** pattern`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let bare = line.trim_start_matches(['-', '*', '_', ' ']);
    let rest =
        starts_with(bare, name).then(|| bare[name.len()..].trim_start_matches(['*', '_', ' ']))?;
    Some(rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']).trim())
}

/// The items of a list, each with its continuation lines.
fn items(block: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in block {
        match (item(line), items.last_mut()) {
            (Some(text), _) => items.push(text.to_owned()),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (None, None) => {}
        }
    }
    items
}

/// The text of a list item after `-`, `*`, `+`, `•` or a number.
fn item(line: &str) -> Option<&str> {
    let bare = line.trim();
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if digits.len() < bare.len() { digits.strip_prefix(['.', ')']) } else { None };
    let text = bare.strip_prefix(['-', '*', '+', '•']).or(numbered)?.strip_prefix(' ')?;
    Some(text.trim())
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
