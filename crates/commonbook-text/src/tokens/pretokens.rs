//! Pieces: the parts of a text whose tokens are looked up, as `o200k` defines them.
//!
//! OpenAI publishes the rule as a regular expression with seven alternatives, of which the first
//! match counts. Here it is a function: it is the only part of this program that needs Unicode's
//! categories, whose tables a regular expression would bring for all.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The class of a character in the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharacterClass {
    /// A capital letter.
    Capital,
    /// A small letter.
    Small,
    /// A letter without case, or a mark on a letter.
    Caseless,
    /// A digit or another number.
    Number,
    /// A blank or a line end.
    Blank,
    /// Anything else.
    Symbol,
}

fn character_class(c: char) -> CharacterClass {
    use GeneralCategory as Is;
    match c {
        'a'..='z' => CharacterClass::Small,
        'A'..='Z' => CharacterClass::Capital,
        '0'..='9' => CharacterClass::Number,
        c if c.is_whitespace() => CharacterClass::Blank,
        c if c.is_ascii() => CharacterClass::Symbol,
        c => match c.general_category() {
            Is::UppercaseLetter | Is::TitlecaseLetter => CharacterClass::Capital,
            Is::LowercaseLetter => CharacterClass::Small,
            Is::ModifierLetter | Is::OtherLetter => CharacterClass::Caseless,
            Is::NonspacingMark | Is::SpacingMark | Is::EnclosingMark => CharacterClass::Caseless,
            Is::DecimalNumber | Is::LetterNumber | Is::OtherNumber => CharacterClass::Number,
            _ => CharacterClass::Symbol,
        },
    }
}

fn is_mark(c: char) -> bool {
    use GeneralCategory as Is;
    let category = c.general_category();
    matches!(category, Is::NonspacingMark | Is::SpacingMark | Is::EnclosingMark)
}

const fn is_line_end(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

/// Maximum bytes of a piece. No word is so long. A longer run of letters, which would take a second
/// per megabyte, is counted in stretches, at the cost of a token here and there.
const PIECE_BYTES_MAX: usize = 1024;

/// The pieces of a text in order, without gaps.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let stretch = &rest[..rest.floor_char_boundary(rest.len().min(PIECE_BYTES_MAX))];
        let (piece, after) = rest.split_at(first_piece_bytes(stretch)?);
        rest = after;
        Some(piece)
    })
}

/// The bytes of the first piece of a text; `None` if the text is empty.
fn first_piece_bytes(text: &str) -> Option<usize> {
    let c = text.chars().next()?;
    word_bytes(text)
        .or_else(|| {
            (character_class(c) == CharacterClass::Number)
                .then(|| run_bytes(text, 3, |c| character_class(c) == CharacterClass::Number))
        })
        .or_else(|| symbol_bytes(text))
        .or_else(|| Some(blank_bytes(text)))
}

/// The number of bytes of the leading characters that satisfy `is`, of at most `most` characters.
fn run_bytes(text: &str, most: usize, is: impl Fn(char) -> bool) -> usize {
    text.chars().take(most).take_while(|c| is(*c)).map(char::len_utf8).sum()
}

/// Letters, after at most one character that is neither a letter, a number nor a line end: capitals
/// and then at least one small letter; else capitals only. Then the ending of a contraction.
fn word_bytes(text: &str) -> Option<usize> {
    let c = text.chars().next()?;
    let leads = match character_class(c) {
        CharacterClass::Symbol | CharacterClass::Blank => !is_line_end(c),
        CharacterClass::Caseless => is_mark(c),
        _ => false,
    };
    let after = leads.then(|| c.len_utf8());
    let with_small = |from: usize| small_bytes(&text[from..]).map(|letters| from + letters);
    let capital = |from: usize| {
        let letters =
            run_bytes(&text[from..], usize::MAX, |c| character_class(c) == CharacterClass::Capital);
        (letters > 0).then_some(from + letters)
    };
    let end = after
        .and_then(with_small)
        .or_else(|| with_small(0))
        .or_else(|| after.and_then(capital))
        .or_else(|| capital(0))?;
    Some(end + contraction_bytes(&text[end..]))
}

/// Capital and caseless letters, then at least one small or caseless one, as many as possible.
fn small_bytes(text: &str) -> Option<usize> {
    let upper = run_bytes(text, usize::MAX, |c| {
        matches!(character_class(c), CharacterClass::Capital | CharacterClass::Caseless)
    });
    let lower = |from: usize| {
        from + run_bytes(&text[from..], usize::MAX, |c| {
            matches!(character_class(c), CharacterClass::Small | CharacterClass::Caseless)
        })
    };
    let end = lower(upper);
    if end > upper {
        return Some(end);
    }
    // No small letter follows: the last caseless letter of the run takes its place.
    text[..upper]
        .char_indices()
        .rev()
        .find(|(_, c)| character_class(*c) == CharacterClass::Caseless)
        .map(|(at, _)| lower(at))
}

/// The bytes of `'s`, `'ll` and similar endings, in any case; `ſ` is an old `s`.
fn contraction_bytes(text: &str) -> usize {
    let mut letters = text.chars();
    if letters.next() != Some('\'') {
        return 0;
    }
    let lower = |c: Option<char>| c.map_or('\0', |c| c.to_ascii_lowercase());
    let (first, second) = (lower(letters.next()), lower(letters.next()));
    match (first, second) {
        ('s' | 't' | 'm' | 'd', _) => 2,
        ('ſ', _) => 1 + 'ſ'.len_utf8(),
        ('r' | 'v', 'e') | ('l', 'l') => 3,
        _ => 0,
    }
}

/// Neither letters, numbers nor blanks, after at most one blank; then line ends and slashes.
fn symbol_bytes(text: &str) -> Option<usize> {
    let from = usize::from(text.starts_with(' '));
    let is = |c: char| {
        character_class(c) == CharacterClass::Symbol
            || (character_class(c) == CharacterClass::Caseless && is_mark(c))
    };
    let end = from + run_bytes(&text[from..], usize::MAX, is);
    let ends = |c: char| is_line_end(c) || c == '/';
    (end > from).then(|| end + run_bytes(&text[end..], usize::MAX, ends))
}

/// Blanks: up to the last line end among them; else all at the end of a text; before other text,
/// all but the last, or a single one.
fn blank_bytes(text: &str) -> usize {
    let all = run_bytes(text, usize::MAX, char::is_whitespace);
    let last_end = text[..all].rfind(is_line_end).map(|at| at + 1);
    if let Some(end) = last_end {
        return end;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all == text.len() || all == last { all } else { all - last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_word_is_taken_apart_in_stretches() {
        for letter in ["a", "é", "漢", " ", "\n", "-"] {
            let text = letter.repeat(5_000);
            let found: Vec<&str> = pieces(&text).collect();
            assert_eq!(found.concat(), text);
            assert!(found.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX) && found.len() <= 16);
        }
    }

    #[test]
    fn texts_are_taken_apart_as_the_rule_says() {
        let table: [(&str, &[&str]); 12] = [
            ("", &[]),
            ("Hello, world!", &["Hello", ",", " world", "!"]),
            ("camelCase HTTPServer ABC", &["camel", "Case", " HTTPServer", " ABC"]),
            ("don't DON'T we'll it'ſ x'y", &["don't", " DON'T", " we'll", " it'ſ", " x", "'y"]),
            ("12345 ½", &["123", "45", " ", "½"]),
            ("a  b\n\n c", &["a", " ", " b", "\n\n", " c"]),
            ("x \n  \n  y", &["x", " \n  \n", " ", " y"]),
            ("end  ", &["end", "  "]),
            ("--//\n\n/x", &["--//\n\n/", "x"]),
            (" ...\r\n", &[" ...\r\n"]),
            ("日本語 ABC漢D", &["日本語", " ABC漢", "D"]),
            ("e\u{301}a !\u{301}x", &["e\u{301}a", " !\u{301}", "x"]),
        ];
        for (text, expected) in table {
            assert_eq!(pieces(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
