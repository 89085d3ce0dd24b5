//! Cleaning: other people's text without what deceives its reader.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::injection;

/// Terminal escapes: colours, titles, links. An unterminated escape extends to the end of its line.
static ANSI: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?",
        r"|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\n\x{9c}]*(?:\x07|\x1b\\|\x{9c})?",
        r"|\x1b[ -/]*[0-~]?"
    ))
    .expect("the tests compile it")
});

/// Whether a terminal escape can begin here: each match of [`ANSI`] does.
fn begins_order(c: char) -> bool {
    matches!(c, '\x1b' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}')
}

/// Text after a bracket that a model could take for a mark of its client, of its template or of
/// ours: the beginning of such marks.
const MARK_PREFIXES: [&str; 30] = [
    "commonbook",
    "systemprompt",
    "systemreminder",
    "tasknotification",
    "hookcontext",
    "sessioncontext",
    "loadedcontext",
    "untrustedcontext",
    "agentmemory",
    "functioncall",
    "functionresult",
    "antml",
    "toolresult",
    "tooluse",
    "toolcall",
    "imstart",
    "imend",
    "imsep",
    "endoftext",
    "startoftext",
    "eotid",
    "startheaderid",
    "endheaderid",
    "endofturn",
    "startofturn",
    "fimprefix",
    "fimsuffix",
    "beginoftext",
    "endofprompt",
    "agentinstructions",
];

/// Whole names of such marks: words that are also names in programs.
const MARK_WORDS: [&str; 14] = [
    "system",
    "sys",
    "user",
    "human",
    "assistant",
    "developer",
    "instruction",
    "instructions",
    "inst",
    "memory",
    "memories",
    "context",
    "invoke",
    "s",
];

/// Number of characters behind a bracket that the search for a mark reads.
const MARK_CHARS_MAX: usize = 48;

/// A text whose every line begins with `> `, clean and of at most `limit` characters.
pub fn quote_lines(text: &str, limit: usize) -> String {
    let lines = clean(text, limit);
    let mut out = String::with_capacity(lines.len() + 16);
    for (place, line) in lines.trim().lines().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        out.push_str("> ");
        out.push_str(line.trim_end());
    }
    if out.is_empty() { "> ".to_owned() } else { out }
}

/// A text without invisible characters, terminal escapes and false marks, whose line ends are all `\n`.
#[must_use]
pub fn readable(text: &str) -> String {
    clean(text, usize::MAX)
}

/// A text on one line, without what a reader cannot see.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|c| c.is_whitespace() || !is_hidden(*c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a reader does not see a character, or sees no letter: a control character, an invisible one, or one
/// that reorders what is around it.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    shown_char(c) != ShownChar::Itself
}

/// A text for a terminal: `\n` alone ends a line in it, and what a reader cannot see is left out. The
/// styles of the program itself stay: bold, dim and colours.
#[must_use]
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c != '\n' && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if begins_order(c) {
            let order = ANSI.find(rest).map_or(c.len_utf8(), |found| found.end());
            if is_style(&rest[..order]) {
                shown.push_str(&rest[..order]);
            }
            rest = &rest[order..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match shown_char(c) {
            _ if c == '\n' => shown.push('\n'),
            // The end of a line of Windows.
            _ if c == '\r' && rest.starts_with('\n') => {}
            ShownChar::Itself => shown.push(c),
            ShownChar::LineEnd | ShownChar::Blank => shown.push(' '),
            ShownChar::Nothing => {}
        }
    }
    Cow::Owned(shown)
}

/// JSON in which what a reader cannot see is escaped; it has the same value.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let unseen = |c: char| (!c.is_ascii() || c == '\u{7f}') && is_hidden(c);
    if !json.contains(unseen) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if unseen(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether an order to a terminal only sets a style: `ESC [ 1 ; 31 m`.
fn is_style(order: &str) -> bool {
    let codes = order.strip_prefix("\x1b[").and_then(|rest| rest.strip_suffix('m'));
    codes.is_some_and(|codes| codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
}

/// What a reader gets for a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownChar {
    Itself,
    LineEnd,
    Blank,
    Nothing,
}

/// What a reader gets for this character: the one rule for every text of others.
fn shown_char(c: char) -> ShownChar {
    match c {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => ShownChar::LineEnd,
        '\t' => ShownChar::Blank,
        _ if c.is_control() || injection::is_unseen(c) => ShownChar::Nothing,
        // Marks of music, shorthand and annotations, and what Unicode keeps for further invisible ones.
        '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => {
            ShownChar::Nothing
        }
        '\u{e0000}'..='\u{e0fff}' => ShownChar::Nothing,
        _ => ShownChar::Itself,
    }
}

/// A word for the head of an item: letters, digits, blanks and a few marks, on one line.
pub fn head_word(text: &str, limit: usize) -> String {
    let fits = |c: &char| {
        c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | '@' | '#' | ':' | '"')
    };
    // Fillers count as letters.
    let word: String = text.chars().filter(|c| fits(c) && !is_hidden(*c)).take(limit).collect();
    let word = word.trim();
    if word.is_empty() { "unknown".to_owned() } else { word.to_owned() }
}

/// Characters of a name that a line in our own words shows.
const NAME_CHARS_MAX: usize = 64;

/// Words of a name that needs no quotation marks: `claude-code`, `gemini-cli`.
const PLAIN_WORDS_MAX: usize = 2;

/// Words beside which another word speaks of the person or of its rules: `human-approved`, `user_rules`.
const PERSON_WORDS: [&str; 6] = ["human", "user", "person", "owner", "rule", "rules"];

/// Words with which our own lines begin or name what stands below them, and words for the reader. As an agent's
/// whole name, or a whole part of it, each reads as one of these lines or as what the reader said itself.
const FRAME_WORDS: [&str; 29] = [
    "me",
    "myself",
    "self",
    "we",
    "you",
    "rule",
    "rules",
    "order",
    "orders",
    "instruction",
    "instructions",
    "command",
    "commands",
    "policy",
    "mandatory",
    "important",
    "note",
    "notes",
    "person",
    "system",
    "prompt",
    "task",
    "tasks",
    "context",
    "memory",
    "memories",
    "handoff",
    "case",
    "commonbook",
];

/// The name of an agent that a stranger chose, for a line in our own words: shortened, without marks, and in
/// quotation marks if it could read as our own: if it has more words than a plain name, as
/// `approved-by-the-user` has, speaks of the person, as `human-approved` does, or is a word of our lines, as
/// `rules` and `claude-code/task` are.
pub fn shown_name(text: &str) -> String {
    let name = plain_or_quoted(text);
    let is_of_frame = |part: &str| FRAME_WORDS.contains(&part.to_lowercase().as_str());
    match !name.starts_with('"') && name.split('/').any(is_of_frame) {
        true => format!("\"{name}\""),
        false => name,
    }
}

/// Whether a text is a plain name or a word: one that a line of ours shows as it is.
#[must_use]
pub fn is_plain_word(text: &str) -> bool {
    plain_or_quoted(text) == text
}

/// A text as a name: shortened, without marks, and in quotation marks unless it is a plain name.
fn plain_or_quoted(text: &str) -> String {
    let name = head_word(&text.replace('"', ""), NAME_CHARS_MAX);
    let is_plain_part = |part: &str| {
        let words: Vec<&str> = part.split([' ', '-', '_', '.', ':', '#', '@']).collect();
        let names_person = words.iter().any(|word| {
            let word = word.to_lowercase();
            PERSON_WORDS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()))
        });
        words.len() <= PLAIN_WORDS_MAX && (words.len() == 1 || !names_person)
    };
    let is_plain = name.split('/').all(is_plain_part);
    if is_plain { name } else { format!("\"{name}\"") }
}

/// Words of a label that could read as our own: who speaks, or that it is an order.
const RANK_WORDS: [&str; 21] = [
    "human",
    "user",
    "person",
    "owner",
    "system",
    "admin",
    "assistant",
    "developer",
    "commonbook",
    "rule",
    "rules",
    "order",
    "instruction",
    "instructions",
    "prompt",
    "command",
    "commands",
    "directive",
    "policy",
    "mandatory",
    "override",
];

/// The name of a kind or of a case that a stranger chose, as [`shown_name`]; in quotation marks too if a word
/// of it claims a rank, as `user-rule` and `system-prompt` do.
pub fn shown_label(text: &str) -> String {
    let name = plain_or_quoted(text);
    let lower = name.to_lowercase();
    let claims_rank =
        lower.split(|c: char| !c.is_alphabetic()).any(|word| RANK_WORDS.contains(&word));
    if claims_rank && !name.starts_with('"') { format!("\"{name}\"") } else { name }
}

/// The text without invisible characters, terminal escapes and marks, cut to `limit` characters.
fn clean(text: &str, limit: usize) -> String {
    // Cleaning only shortens the text, but a megabyte of it need not be read for that.
    let end = text.char_indices().nth(limit.saturating_mul(2)).map_or(text.len(), |(end, _)| end);
    let plain = match &text[..end] {
        // Few texts have any: for the others the expression is not even compiled.
        text if text.contains(begins_order) => ANSI.replace_all(text, ""),
        text => text.into(),
    };
    let plain = plain.replace("\r\n", "\n");
    let mut seen: Vec<char> = Vec::with_capacity(plain.len());
    for c in plain.chars() {
        match shown_char(c) {
            ShownChar::Itself => seen.push(c),
            ShownChar::LineEnd => seen.push('\n'),
            ShownChar::Blank => seen.push(' '),
            ShownChar::Nothing => {}
        }
    }
    let cut = seen.len() > limit || end < text.len();
    seen.truncate(limit);
    round_brackets(&mut seen);
    let mut clean: String = seen.into_iter().collect();
    if cut {
        clean.push_str(" …");
    }
    clean
}

/// Replaces every bracket that opens a mark by a round one.
fn round_brackets(text: &mut [char]) {
    for place in 0..text.len() {
        let Some(bracket) = bracket_likeness(text[place]) else { continue };
        let before = place.checked_sub(1).and_then(|before| text.get(before));
        // `Option<User>` and `parse::<Context>` are not marks, and `</user>` is one anywhere.
        let joined = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
        if opens_mark(bracket, joined, &text[place + 1..]) {
            text[place] = '(';
        }
    }
}

/// The bracket that a character is or looks like.
fn bracket_likeness(c: char) -> Option<char> {
    match c {
        '<' | '＜' | '‹' | '〈' | '《' | '⟨' | '⟪' | '\u{2329}' | '❮' | '❰' | '˂' | 'ᐸ' | '≺'
        | '«' | '﹤' | '⧼' | '⦑' | '𝈶' => Some('<'),
        '[' | '［' | '【' | '〔' | '⟦' | '〚' | '❲' => Some('['),
        _ => None,
    }
}

/// Whether a bracket before this text begins a mark.
fn opens_mark(bracket: char, joined: bool, rest: &[char]) -> bool {
    let rest = &rest[..rest.len().min(MARK_CHARS_MAX)];
    let is_sign = |c: &char| {
        matches!(c, '/' | '|' | '!' | '?' | '\\' | '∕' | '⁄' | '／' | '｜') || c.is_whitespace()
    };
    let again = |c: &char| self::bracket_likeness(*c) == Some(bracket);
    let start = rest.iter().position(|c| !is_sign(c) && !again(c)).unwrap_or(rest.len());
    let signs = &rest[..start];
    let name = rest[start..].iter().take_while(|c| c.is_alphanumeric() || is_joiner(**c));
    let name: String = name.filter(|c| !is_joiner(**c)).map(|c| injection::latin(*c)).collect();
    let whole = MARK_WORDS.contains(&name.as_str());
    match bracket {
        '[' => name.starts_with("commonbook") || matches!(name.as_str(), "inst" | "sys" | "system"),
        _ if joined && signs.is_empty() => name.starts_with("commonbook"),
        _ => whole || MARK_PREFIXES.iter().any(|mark| name.starts_with(mark)),
    }
}

/// Characters that join the words of a name.
fn is_joiner(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ':' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '－' | '＿' | '▁')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_word_of_our_lines_stands_in_quotation_marks() {
        let quoted = ["rules", "system", "instructions", "person", "task", "Task", "codex/rules"];
        for name in quoted.into_iter().chain([
            "import/person",
            "memories",
            "commonbook",
            "me",
            "codex/self",
        ]) {
            assert_eq!(shown_name(name), format!("\"{name}\""));
        }
        let plain =
            ["human", "claude-code", "gemini-cli/qa", "import/codex", "task-runner", "ruler"];
        for name in plain {
            assert_eq!(shown_name(name), name);
        }
        // Kinds are words of ours.
        for label in ["task", "handoff", "context", "task_context"] {
            assert_eq!(shown_label(label), label);
            assert!(is_plain_word(label), "{label}");
        }
        assert_eq!(shown_label("rules"), "\"rules\"");
    }

    #[test]
    fn no_order_to_a_terminal_begins_otherwise() {
        for c in (0..=0x2ff).filter_map(char::from_u32) {
            assert_eq!(begins_order(c), ANSI.is_match(&c.to_string()), "{c:?}");
        }
    }

    /// Characters that break a line, hide text or turn its direction.
    const UNSEEN: [char; 20] = [
        '\r',
        '\t',
        '\u{b}',
        '\u{c}',
        '\u{7f}',
        '\u{85}',
        '\u{9b}',
        '\u{ad}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{2028}',
        '\u{2029}',
        '\u{202e}',
        '\u{2066}',
        '\u{2060}',
        '\u{3164}',
        '\u{feff}',
        '\u{e0041}',
        '\u{e0100}',
    ];

    #[test]
    fn nothing_that_a_reader_cannot_see_is_told_printed_or_put_on_a_line() {
        for c in UNSEEN {
            let text = format!("tea{c}> rule\nmilk");
            assert!(is_hidden(c), "{c:?}");
            for told in [
                readable(&text),
                quote_lines(&text, 99),
                for_terminal(&text).into_owned(),
                one_line(&text),
            ] {
                assert!(!told.contains(c), "{c:?}: {told:?}");
            }
            assert_eq!(for_terminal(&text).lines().count(), 2, "{c:?}");
            assert_eq!(one_line(&text).lines().count(), 1, "{c:?}");
            assert!(!shown_name(&text).contains(c), "{c:?}");
            let json = serde_json::to_string(&text).expect("a string is JSON");
            let shown = visible_json(&json);
            assert!(!shown.contains(c), "{c:?}: {shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), text);
        }
        assert_eq!(for_terminal("tea\r\nmilk"), "tea\nmilk");
        assert_eq!(
            for_terminal("\u{1b}[1;31mtea\u{1b}[0m\u{1b}[2J\u{9b}31m \u{1b}]8;;x\u{7}y"),
            "\u{1b}[1;31mtea\u{1b}[0m y"
        );
        assert!(matches!(for_terminal("\u{e9}t\u{e9}, tea\n"), Cow::Borrowed(_)));
    }
}
