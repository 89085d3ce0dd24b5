//! Shapes: URLs, paths, functions and tickets, recognised by their spelling.

mod files;

use std::ops::Range;

use super::layout::TextBlockKind;
use super::listed::is_unspaced;
use super::{EntityEvidence, TextMention};
use crate::entities::EntityType;
use crate::word_list::WordList;

/// Prefixes of names that look like the key of a ticket: UTF-8, SHA-256.
static NO_TICKETS: WordList = WordList::new(include_str!("shapes/no_tickets.txt"));

/// Words after which a number with or without `#` is a ticket's.
const TICKET_WORDS: [&str; 8] = ["issue", "issues", "pr", "prs", "ticket", "tickets", "bug", "mr"];

/// Words after which a number with `#` is a ticket's.
const CLOSING_WORDS: [&str; 8] =
    ["request", "fixes", "closes", "fixed", "closed", "resolves", "see", "in"];

/// Words before a bracket that are no functions.
static NO_FUNCTIONS: WordList = WordList::new(include_str!("shapes/no_functions.txt"));

/// Finds the mentions by shape in a block.
pub(super) fn find(
    block: &str,
    start: usize,
    block_kind: TextBlockKind,
    found: &mut Vec<TextMention>,
) {
    let mut before = "";
    for token in tokens(block, block_kind) {
        let text = &block[token.clone()];
        // Most tokens are plain words, which have no shape.
        let quoted = block[..token.start].ends_with('`');
        let plain = text.bytes().all(|b| b.is_ascii_alphabetic());
        if plain && !quoted && !files::is_file_without_ending(text) {
            before = text;
            continue;
        }
        let at = |range: Range<usize>| {
            start + token.start + range.start..start + token.start + range.end
        };
        if let Some(url) = url_within(text) {
            let range = at(url.clone());
            add_address(&text[url], range, found);
        } else if let Some(ticket) =
            ticket_within(text, before).filter(|_| block_kind == TextBlockKind::Prose)
        {
            let name = &text[ticket.clone()];
            let mark = if is_number(name) { "#" } else { "" };
            let value = format!("{mark}{name}");
            found.push(TextMention::with_value(
                EntityType::Issue,
                at(ticket),
                value,
                EntityEvidence::Shape,
            ));
        } else if let Some(name) = function_name(text, block_kind) {
            let evidence = if quoted || name.contains(['_', ':']) {
                EntityEvidence::Shape
            } else {
                EntityEvidence::Cue
            };
            let range = at(0..name.len());
            found.push(TextMention::with_value(
                EntityType::Function,
                range,
                name.to_owned(),
                evidence,
            ));
        } else if block_kind == TextBlockKind::Prose && has_function_cue(block, &token, before) {
            found.push(TextMention::new(
                EntityType::Function,
                at(0..text.len()),
                EntityEvidence::Cue,
            ));
        } else if let Some(path) = assigned_path(text, quoted) {
            let evidence =
                if text.contains('/') { EntityEvidence::Shape } else { EntityEvidence::Cue };
            found.push(TextMention::new(EntityType::File, at(path), evidence));
        }
        before = text;
    }
}

/// Returns the range of a path in a token, also of one behind `=`: `file=a/b.csv`.
fn assigned_path(token: &str, quoted: bool) -> Option<Range<usize>> {
    let from = token.rfind('=').map_or(0, |at| at + 1);
    let path = files::path_within(&token[from..], quoted)?;
    Some(from + path.start..from + path.end)
}

/// Returns the tokens of a block: between blanks, quotation marks and separators, without punctuation
/// around them.
fn tokens(block: &str, block_kind: TextBlockKind) -> impl Iterator<Item = Range<usize>> {
    let bounds = move |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '`' | '<' | '>' | '|' | ',' | ';' | '“' | '”' | '‘' | '’' | '…' | '—' | '→'
            )
            || (block_kind == TextBlockKind::Prose && matches!(c, '[' | ']' | '\''))
            || is_wide_mark(c)
            || (block_kind != TextBlockKind::Prose && c == '\'')
    };
    let mut from = 0;
    let ends = block.char_indices().filter(move |(_, c)| bounds(*c));
    let ends = ends.map(|(index, c)| (index, index + c.len_utf8()));
    let stretches = ends.chain([(block.len(), block.len())]).map(move |(end, next)| {
        let stretch = from..end;
        from = next;
        stretch
    });
    let is_prose = block_kind == TextBlockKind::Prose;
    let parts = stretches.flat_map(move |stretch| script_parts(block, stretch, is_prose));
    parts.filter_map(move |part| {
        let range = trim_range(block, part);
        (!range.is_empty()).then_some(range)
    })
}

/// Whether a mark of Chinese or Japanese ends a word.
fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '、' | '。'
            | '「'
            | '」'
            | '『'
            | '』'
            | '【'
            | '】'
            | '《'
            | '》'
            | '・'
            | '，'
            | '；'
            | '：'
            | '！'
            | '？'
            | '（'
            | '）'
            | '｡'
    )
}

/// The parts of a stretch of prose, cut where a script that writes no blanks and Latin letters meet:
/// `看issue`, `用config.json配置`.
fn script_parts(block: &str, stretch: Range<usize>, is_prose: bool) -> Vec<Range<usize>> {
    let text = &block[stretch.clone()];
    if !is_prose || text.is_ascii() {
        return vec![stretch];
    }
    let (mut parts, mut from, mut before) = (Vec::new(), stretch.start, None);
    for (index, c) in text.char_indices() {
        let enters = before.is_some_and(is_unspaced) && (c.is_ascii_alphabetic() || c == '#');
        let leaves = is_unspaced(c) && before.is_some_and(|b: char| b.is_ascii_alphanumeric());
        if enters || leaves {
            parts.push(from..stretch.start + index);
            from = stretch.start + index;
        }
        before = Some(c);
    }
    parts.push(from..stretch.end);
    parts
}

fn trim_range(block: &str, range: Range<usize>) -> Range<usize> {
    let text = &block[range.clone()];
    let begun = text.trim_start_matches(['(', '{', '*', '\'', ':', '!']);
    let start = range.end - begun.len();
    let mut bare = begun;
    loop {
        let shorter = bare.trim_end_matches(['.', ':', '!', '?', '*', '~', '}', '\'']);
        // A bracket that was opened before the word does not belong to the word.
        let shorter = match shorter.strip_suffix(')') {
            Some(rest) if rest.matches('(').count() <= rest.matches(')').count() => rest,
            _ => shorter,
        };
        if shorter.len() == bare.len() {
            break;
        }
        bare = shorter;
    }
    start..start + bare.len()
}

/// Returns the range of a URL in a token.
fn url_within(token: &str) -> Option<Range<usize>> {
    let from = match token.find("://") {
        Some(mark) => {
            let letters =
                token.as_bytes()[..mark].iter().rev().take_while(|b| b.is_ascii_alphanumeric());
            let scheme = mark - letters.count();
            let schemes = ["http", "https", "ftp", "ws", "wss"];
            schemes
                .contains(&token[scheme..mark].to_ascii_lowercase().as_str())
                .then_some(scheme)?
        }
        None if token.starts_with("www.") && token.len() > 8 => 0,
        None => return None,
    };
    let rest = &token[from..];
    let (mut depth, mut end) = (0_i32, rest.len());
    for (index, c) in rest.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        // A placeholder ends the URL, together with the query that contains it.
        if matches!(c, '{' | '$') {
            end = rest[..index].find('?').unwrap_or(index);
            break;
        }
        if depth < 0 || c == '\\' {
            end = index;
            break;
        }
    }
    let url = rest[..end].trim_end_matches(['.', ':', '!', '?', '\'', '*', '/']);
    let host = url.split("://").nth(1).unwrap_or(url);
    let host = host.split(['/', '?', '#']).next().unwrap_or(host);
    let real = host.contains('.') || host.starts_with("localhost") || host.contains(':');
    let named = host.contains(char::is_alphanumeric) && !host.contains(['*', '%', '\'']);
    (real && named).then(|| from..from + url.len())
}

/// Adds a URL, and the ticket or project of its page.
fn add_address(url: &str, range: Range<usize>, found: &mut Vec<TextMention>) {
    found.push(TextMention::new(EntityType::Url, range.clone(), EntityEvidence::Shape));
    let rest = url.split("://").nth(1).unwrap_or(url);
    let parts: Vec<&str> = rest.split(['/', '?', '#']).filter(|part| *part != "-").collect();
    let [host, owner, project, deeper @ ..] = parts.as_slice() else { return };
    if !matches!(
        host.trim_start_matches("www."),
        "github.com" | "gitlab.com" | "bitbucket.org" | "codeberg.org"
    ) {
        return;
    }
    let project = project.trim_end_matches(".git");
    if owner.is_empty() || project.is_empty() || matches!(*owner, "orgs" | "features" | "settings")
    {
        return;
    }
    let mark = match deeper {
        ["issues" | "pull", number, ..] if is_number(number) => Some(('#', number)),
        ["merge_requests", number, ..] if is_number(number) => Some(('!', number)),
        _ => None,
    };
    let name = format!("{owner}/{project}");
    if let Some((mark, number)) = mark {
        let ticket = format!("{name}{mark}{number}");
        found.push(TextMention::with_value(
            EntityType::Issue,
            range.clone(),
            ticket,
            EntityEvidence::Shape,
        ));
    }
    found.push(TextMention::with_value(EntityType::Project, range, name, EntityEvidence::Shape));
}

fn is_number(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// The ticket of a token: the whole, or what follows the word for tickets in `PR#12`.
fn ticket_within(token: &str, before: &str) -> Option<Range<usize>> {
    let mark = token.find('#').filter(|mark| {
        let is_word = |word: &&str| word.eq_ignore_ascii_case(&token[..*mark]);
        TICKET_WORDS.iter().any(is_word) && is_number(&token[mark + 1..])
    });
    let begin = mark.or_else(|| is_ticket(token, before).then_some(0))?;
    Some(begin..token.len())
}

/// Whether a token is a ticket: `#12`, `owner/project#12`, `GH-12`, `PROJ-123`, a CVE. A single
/// digit after `#` is a rank as often; it needs a word before it that speaks of tickets.
fn is_ticket(token: &str, before: &str) -> bool {
    let is_one = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(before));
    let spoken = is_one(&TICKET_WORDS);
    if let Some(number) = token.strip_prefix('#') {
        return is_number(number)
            && (spoken || is_one(&CLOSING_WORDS) || (2..=5).contains(&number.len()))
            && !number.starts_with('0');
    }
    if spoken && is_number(token) {
        return token.len() <= 5;
    }
    if let Some((project, number)) = token.split_once('#') {
        let named = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        return is_number(number)
            && project.split_once('/').is_some_and(|(owner, name)| named(owner) && named(name));
    }
    let Some((key, number)) = token.split_once('-') else { return false };
    if key == "CVE" {
        return number.split_once('-').is_some_and(|(year, rest)| {
            year.len() == 4
                && is_number(year)
                && rest.len() >= 4
                && rest.bytes().all(|b| b.is_ascii_digit())
        });
    }
    let capitals = key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && key.starts_with(|c: char| c.is_ascii_uppercase());
    capitals
        && (2..=10).contains(&key.len())
        && is_number(number)
        && !NO_TICKETS.contains(key)
        && (spoken || key == "GH" || number.len() >= 2)
}

/// Words before a name in backticks that show a function.
static FUNCTION_CUES: WordList = WordList::new(include_str!("shapes/function_cues.txt"));

/// Words after a name in backticks that show a function.
const FUNCTION_NOUNS: [&str; 8] =
    ["function", "functions", "method", "methods", "test", "tests", "call", "calls"];

/// Whether a word beside a name in backticks shows a function.
fn has_function_cue(block: &str, token: &Range<usize>, before: &str) -> bool {
    let text = &block[token.clone()];
    let quoted = block[..token.start].ends_with('`') && block[token.end..].starts_with('`');
    let identifier = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':')
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let coded = text.contains('_') || text.bytes().any(|b| b.is_ascii_uppercase());
    let after = block[token.end..].trim_start_matches(['`', ' ', '\n']);
    let after = after.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    quoted
        && identifier
        && coded
        && (FUNCTION_CUES.contains(before) || FUNCTION_NOUNS.contains(&after))
}

/// Returns the function that a token names or calls, without arguments.
fn function_name(token: &str, block_kind: TextBlockKind) -> Option<&str> {
    let open = token.find('(');
    let name = &token[..open.unwrap_or(token.len())].trim_end_matches('!');
    let name = name.trim_start_matches(['&', '*', '.', '@']);
    let parts = || name.split("::").flat_map(|part| part.split(['.', '#']));
    let identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
    };
    if name.len() < 3
        || name.len() > 120
        || !parts().all(identifier)
        || token.len() != name.len() + token[name.len()..].len()
    {
        return None;
    }
    let last = parts().last()?;
    // `x_2(y)` is a formula.
    let worded = name.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_alphabetic));
    if !worded {
        return None;
    }
    if NO_FUNCTIONS.contains(name) || NO_FUNCTIONS.contains(last) || !token.starts_with(name) {
        return None;
    }
    let coded = name.contains('_')
        || name.contains("::")
        || last.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let small = last.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    match open {
        // Nearly every line of code calls a function; definitions are found in `traces`.
        Some(_) if block_kind != TextBlockKind::Prose => None,
        Some(at) if token[at..].starts_with("()") => (small || coded).then_some(name),
        // `file(s)` and `word(a note)` are prose.
        Some(_) => (coded && small).then_some(name),
        None => {
            let above = name.rsplit_once("::").map(|(above, _)| above)?;
            let owner = above.rsplit("::").next()?;
            (small && owner.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
        }
    }
}
