//! Normal forms: the form of a name in which two names of exactly the same entity are equal.
//!
//! Each type has its own rules: `Node.js` and `nodejs` are one tool, `./src/a.rs:12` is the file
//! `src/a.rs`, `getUser` and `getuser` are two functions, and `C`, `C#` and `C++` three languages.
//! The form depends on the name and its type alone, and on no list that grows, so that stored rows
//! stay right; the `vocabulary` has the synonyms of a tool.

mod address;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::entities::EntityType;
use crate::word_list::WordList;

/// Titles before the name of a person; no part of the name.
static TITLES: WordList = WordList::new(include_str!("value/titles.txt"));

/// Legal forms behind the name of a company.
static LEGAL_FORMS: WordList = WordList::new(include_str!("value/legal_forms.txt"));

/// Returns the normal form of a name; empty if the text names nothing.
#[must_use]
pub fn normalise(kind: EntityType, value: &str) -> String {
    let value = value.trim().trim_matches(['`', '"', '\'', '“', '”', '‘', '’']);
    match kind {
        EntityType::Person => normalise_person(value),
        EntityType::Organization => normalise_organization(value),
        EntityType::Project => compact_name(value.trim_end_matches('/').trim_end_matches(".git")),
        EntityType::Tool | EntityType::Own(_) => compact_name(value),
        EntityType::File => address::normalise_path(value),
        EntityType::Function => normalise_function(value),
        EntityType::Url => address::normalise_url(value),
        EntityType::Issue => address::normalise_issue(value),
        EntityType::Decision | EntityType::Concept => normalise_concept(value),
    }
}

/// Returns the beginning of a name in folded form, for any type.
#[must_use]
pub fn fold_beginning(text: &str) -> String {
    fold_text(text.trim())
}

/// Returns the words of a name in normal form.
pub fn words(kind: EntityType, value: &str) -> Vec<String> {
    match kind {
        EntityType::Organization => organization_words(value),
        EntityType::Project | EntityType::Tool | EntityType::Own(_) => {
            let folded = fold_text(value.trim().trim_matches(['`', '"', '\'']));
            let parts = folded.split(|c: char| c.is_whitespace() || is_gap(c));
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        _ => normalise(kind, value).split(' ').map(str::to_owned).collect(),
    }
}

/// Lower case, compatibility form, without accents, typographic marks as a keyboard has them.
pub fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    let mut folded = String::with_capacity(text.len());
    for letter in letters {
        match plain_letter(letter) {
            Some(plain) => folded.push_str(plain),
            None => folded.push(letter),
        }
    }
    folded
}

/// Returns the ASCII form of letters and marks without a Unicode decomposition.
fn plain_letter(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{b4}' => "'",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ı' => "i",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ß' => "ss",
        _ => return None,
    })
}

/// Returns the letters and digits of a name, with the signs that distinguish names (`C#`, `a/b`,
/// `@scope`). Drops separators of words, but not between two digits: 3.1 is not 31.
fn compact_name(value: &str) -> String {
    let folded = fold_text(value);
    let mut name = String::with_capacity(folded.len());
    let mut gap = None;
    for c in folded.chars() {
        if c.is_whitespace() || is_gap(c) {
            gap = gap.or(Some(if c == '.' { '.' } else { '-' }));
            continue;
        }
        let digits = c.is_ascii_digit() && name.ends_with(|c: char| c.is_ascii_digit());
        if let Some(mark) = gap.take().filter(|_| digits) {
            name.push(mark);
        }
        name.push(c);
    }
    if name.chars().any(char::is_alphanumeric) { name } else { String::new() }
}

/// Whether a sign only separates the words of a name.
fn is_gap(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ',' | '\'' | '"' | '`')
}

/// Returns the words of a name, of letters and digits, without separators.
fn plain_words(folded: &str) -> Vec<String> {
    let words = folded.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | ',' | '/'));
    let letters = |word: &str| word.chars().filter(|c| c.is_alphanumeric() || *c == '&').collect();
    words.map(letters).filter(|word: &String| !word.is_empty()).collect()
}

/// Returns a person's name: given name first, without titles, accents and marks. `Dr. García, María`
/// is `maria garcia`.
fn normalise_person(value: &str) -> String {
    let value = value.split('<').next().unwrap_or(value).trim_start_matches('@');
    let folded = fold_text(value);
    let turned = match folded.split_once(',') {
        // "Smith, Jr." and lists of names stay as they are.
        Some((family, given_name))
            if !given_name.contains(',') && !given_name.trim().starts_with("jr") =>
        {
            format!("{given_name} {family}")
        }
        _ => folded,
    };
    let mut words = plain_words(&turned);
    while words.len() > 1 && words.iter().any(|word| TITLES.contains(word.as_str())) {
        let Some(index) = words.iter().position(|w| TITLES.contains(w.as_str())) else { break };
        words.remove(index);
    }
    words.join(" ")
}

/// Returns an organization's name without article and legal form: `The Acme Company, Inc.` is `acme`.
fn normalise_organization(value: &str) -> String {
    compact_name(&organization_words(value).join(" "))
}

fn organization_words(value: &str) -> Vec<String> {
    let mut words = plain_words(&fold_text(&value.replace('&', " and ")));
    while words.len() > 1 && words.last().is_some_and(|w| LEGAL_FORMS.contains(w.as_str())) {
        words.pop();
    }
    if words.len() > 1 && words[0] == "the" {
        words.remove(0);
    }
    words
}

/// Returns a function's name with dots between the parts of its path, without arguments:
/// `Memory::check(&self)` is `Memory.check`. Letter case distinguishes functions.
fn normalise_function(value: &str) -> String {
    let head = value.split('(').next().unwrap_or(value).trim();
    let name = head.rsplit(char::is_whitespace).next().unwrap_or(head);
    let mut plain = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            '-' if letters.peek() == Some(&'>') => {
                letters.next();
                plain.push('.');
            }
            _ if depth > 0 => {}
            ':' | '#' | '.' => {
                if !plain.ends_with('.') {
                    plain.push('.');
                }
            }
            '`' | '&' | '*' | ';' | ',' => {}
            _ => plain.push(c),
        }
    }
    let mut name = plain.trim_matches('.');
    for own in ["crate.", "self.", "Self.", "this."] {
        name = name.strip_prefix(own).unwrap_or(name);
    }
    match name.contains(char::is_alphanumeric) {
        true if name.is_ascii() => name.to_owned(),
        true => name.nfc().collect(),
        false => String::new(),
    }
}

/// Returns the words of a concept without article, marks around it and hyphens inside; an ADR by its
/// number: `ADR-0004` is `adr 4`.
fn normalise_concept(value: &str) -> String {
    let folded = fold_text(value);
    let outer = |c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '$' | '%' | '/' | '@');
    let mut words: Vec<String> = Vec::new();
    for word in folded.trim_matches(outer).split_whitespace() {
        words.extend(hyphen_parts(word));
    }
    if words.len() > 1 && ["the", "a", "an"].contains(&words[0].as_str()) {
        words.remove(0);
    }
    if let [adr, number] = words.as_mut_slice()
        && adr == "adr"
    {
        let short = number.trim_start_matches('0');
        if !short.is_empty() {
            *number = short.to_owned();
        }
    }
    words.retain(|word| word.contains(char::is_alphanumeric));
    words.join(" ")
}

/// Returns the parts of a hyphenated word. A hyphen between digits is part of a range, a date or a
/// number.
fn hyphen_parts(word: &str) -> Vec<String> {
    let word = word.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | '"'));
    let mut parts: Vec<String> = Vec::new();
    for piece in word.split('-').filter(|piece| !piece.is_empty()) {
        match parts.last_mut() {
            Some(last)
                if last.ends_with(|c: char| c.is_ascii_digit())
                    && piece.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                last.push('-');
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::vocabulary;
    use EntityType::{Person, Tool};

    #[test]
    fn well_known_names_of_one_tool_are_looked_up_together() {
        let names = vocabulary::names(Tool, "postgres");
        assert_eq!(names[0], "postgres");
        assert!(names.contains(&"postgresql".to_owned()));
        assert_eq!(vocabulary::names(Tool, "myowntool"), ["myowntool"]);
        assert_eq!(vocabulary::names(Person, "postgres"), ["postgres"]);
    }
}
