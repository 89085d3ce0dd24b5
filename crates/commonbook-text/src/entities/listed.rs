//! Listed entities: tools, organizations and concepts of the vocabulary in prose.

use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Input, MatchKind};

use super::{EntityEvidence, TextMention};
use crate::entities::EntityType;
use crate::entities::vocabulary::{self, NameRequirement, TERMS};
use crate::word_list::WordList;

/// Every spelling of every listed entity, with the index of the entity in [`TERMS`].
struct SpellingMatcher {
    words: NFA,
    owners: Vec<(usize, &'static str)>,
}

static SPELLINGS: LazyLock<SpellingMatcher> = LazyLock::new(|| {
    let owners: Vec<(usize, &str)> = TERMS
        .iter()
        .enumerate()
        .flat_map(|(index, term)| term.spellings.iter().map(move |spelling| (index, *spelling)))
        .collect();
    let words = NFA::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(owners.iter().map(|(_, spelling)| spelling))
        .expect("a list of names is small");
    SpellingMatcher { words, owners }
});

/// Words before a name that show a tool or a language: "using Go".
static TOOL_LEAD_WORDS: WordList = WordList::new(include_str!("listed/tool_lead_words.txt"));

/// Words after a name that show a tool: "Go compiler".
static TOOL_TAIL_WORDS: WordList = WordList::new(include_str!("listed/tool_tail_words.txt"));

/// Words before or after the name of an organization that is an ordinary word too.
static ORGANIZATION_CUES: WordList = WordList::new(include_str!("listed/organization_cues.txt"));

/// Bytes of a technical word.
const TECHNICAL_WORD_BYTES_MAX: usize = 12;

/// Endings of a compound that begins with the name of a tool: "React-based".
static COMPOUND_ENDINGS: WordList = WordList::new(include_str!("listed/compound_endings.txt"));

/// Technical words: two different ones make a text technical.
static TECHNICAL_WORDS: WordList = WordList::new(include_str!("listed/technical_words.txt"));

/// Whether a text is about software: it has two technical words.
pub(super) fn is_technical(text: &str) -> bool {
    let mut first: Option<&str> = None;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut buffer = [0; TECHNICAL_WORD_BYTES_MAX];
    for word in words.filter(|word| (3..=TECHNICAL_WORD_BYTES_MAX).contains(&word.len())) {
        let lower = &mut buffer[..word.len()];
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        let Some(index) =
            std::str::from_utf8(lower).ok().and_then(|word| TECHNICAL_WORDS.get(word))
        else {
            continue;
        };
        match first {
            Some(first) if first != index => return true,
            _ => first = Some(index),
        }
    }
    false
}

/// Finds the listed entities of a block of prose.
pub(super) fn find(block: &str, start: usize, technical: bool, found: &mut Vec<TextMention>) {
    let hits = SPELLINGS.words.try_find_iter(Input::new(block));
    for hit in hits.expect("the automaton is unanchored") {
        let (index, spelling) = SPELLINGS.owners[hit.pattern().as_usize()];
        let term = &TERMS[index];
        let range = hit.start()..hit.end();
        if !stands_alone(block, &range) {
            continue;
        }
        let written = &block[range.clone()];
        let around = NameContext { block, range: range.clone(), technical };
        let Some(evidence) = around.evidence(term.kind, term.needs, written, spelling) else {
            continue;
        };
        let range = start + range.start..start + range.end;
        found.push(TextMention::with_value(term.kind, range, term.name.to_owned(), evidence));
    }
}

/// Whether no letter, path or URL continues before or after a name.
fn stands_alone(block: &str, range: &std::ops::Range<usize>) -> bool {
    let before = block[..range.start].chars().next_back();
    let mut after = block[range.end..].chars();
    let (next, second) = (after.next(), after.next());
    // A script without blanks continues no Latin name: `用Redis缓存`.
    let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let inside = |c: char| is_letter(c) || matches!(c, '_' | '@' | '$' | '\\');
    let joins_before = before.is_some_and(|c| inside(c) || matches!(c, '.' | '-' | '#'));
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let joins_after = match next {
        Some(':') if second == Some('/') => true,
        Some('.' | '-' | '/' | ':' | '+' | '#') => {
            second.is_some_and(goes_on)
                && !is_compound(block, range)
                && !is_abbreviated_compound(block, range)
                && !is_german_compound(block, range)
        }
        Some(c) => inside(c) || c == '(' && second == Some(')'),
        None => false,
    };
    !joins_before && !joins_after
}

/// Whether a name begins a compound like `React-based` or a pair like `Vue/React`.
fn is_compound(block: &str, range: &std::ops::Range<usize>) -> bool {
    let rest = &block[range.end..];
    let word: String = rest.chars().skip(1).take_while(|c| c.is_alphabetic()).collect();
    let capital = block[range.clone()].starts_with(|c: char| c.is_ascii_uppercase());
    match rest.chars().next() {
        Some('-') => capital && COMPOUND_ENDINGS.contains(&word),
        Some('/') => capital && word.starts_with(|c: char| c.is_ascii_uppercase()),
        _ => false,
    }
}

/// Whether a name begins a German compound: `Redis-Cache`, `Docker-Abbild`. In English the second
/// word is small, and lists have the names that are written so (`React-Native`).
fn is_german_compound(block: &str, range: &std::ops::Range<usize>) -> bool {
    let capital = block[range.clone()].starts_with(|c: char| c.is_ascii_uppercase());
    let rest = block[range.end..].strip_prefix('-').unwrap_or_default();
    let word = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let mut letters = word.chars();
    let is_noun = letters.next().is_some_and(char::is_uppercase)
        && letters.clone().count() >= 3
        && letters.all(char::is_lowercase);
    let after = rest[word.len()..].chars().next();
    capital && is_noun && after.is_none_or(|c| !c.is_ascii_digit() && !matches!(c, '_' | '/' | '='))
}

/// Whether a name begins a compound with an abbreviation or a word of another script: `Postgres-DB`,
/// `Redis-кластер`.
fn is_abbreviated_compound(block: &str, range: &std::ops::Range<usize>) -> bool {
    let capital = block[range.clone()].starts_with(|c: char| c.is_ascii_uppercase());
    let rest = block[range.end..].strip_prefix('-').unwrap_or_default();
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '=');
    let word = rest.split(|c: char| !goes_on(c)).next().unwrap_or_default();
    let abbreviation =
        (2..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
    let foreign = word.starts_with(|c: char| c.is_alphabetic() && c > '\u{36f}');
    capital && (abbreviation || foreign)
}

/// Whether a letter belongs to a script that writes no blanks between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

struct NameContext<'a> {
    block: &'a str,
    range: std::ops::Range<usize>,
    technical: bool,
}

impl NameContext<'_> {
    /// Returns the evidence that this spelling means the listed entity here.
    fn evidence(
        &self,
        kind: EntityType,
        needs: NameRequirement,
        written: &str,
        spelling: &str,
    ) -> Option<EntityEvidence> {
        if kind == EntityType::Concept {
            return self.concept_evidence(written, spelling);
        }
        // Two words, or letters with digits or signs, mean nothing else.
        let peculiar = spelling.contains(|c: char| !c.is_alphabetic()) && spelling.len() >= 3;
        let needs = if peculiar { NameRequirement::Nothing } else { needs };
        let exact = written == spelling;
        let lower = spelling.chars().all(|c| !c.is_uppercase());
        let case = exact
            || (peculiar && (self.technical || !written.chars().all(|c| !c.is_uppercase())))
            || (needs == NameRequirement::Nothing && written.len() >= 4 && self.technical);
        if !case || (lower && needs == NameRequirement::Nothing && !peculiar && !self.technical) {
            return None;
        }
        match (kind, needs) {
            (_, NameRequirement::Nothing) if exact => Some(EntityEvidence::Listed),
            (_, NameRequirement::Nothing) => Some(EntityEvidence::Guess),
            (_, NameRequirement::Technical) => self.technical.then_some(EntityEvidence::Guess),
            (EntityType::Organization, NameRequirement::Cue) => {
                let before = self.word_before();
                (ORGANIZATION_CUES.contains(before.as_str()) || self.is_possessive())
                    .then_some(EntityEvidence::Cue)
            }
            (_, NameRequirement::Cue) => {
                (self.technical && self.has_tool_cue()).then_some(EntityEvidence::Cue)
            }
        }
    }

    /// Returns the evidence for a concept: in any letter case, an abbreviation in its own.
    fn concept_evidence(&self, written: &str, spelling: &str) -> Option<EntityEvidence> {
        let short = spelling.chars().filter(char::is_ascii_uppercase).count() > 1;
        let single = !spelling.contains([' ', '-', '/']);
        match (short, single) {
            (true, _) if written != spelling => None,
            (true, true) => self.technical.then_some(EntityEvidence::Listed),
            // `Authorization: …` is a header.
            (_, true) if self.block[self.range.end..].starts_with(':') => None,
            (_, true) => self.technical.then_some(EntityEvidence::Guess),
            _ => Some(EntityEvidence::Listed),
        }
    }

    fn word_before(&self) -> String {
        let before = self.block[..self.range.start].trim_end_matches([' ', '\n', '`', '*', '"']);
        let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        word.to_ascii_lowercase()
    }

    fn word_after(&self) -> &str {
        let after = self.block[self.range.end..].trim_start_matches([' ', '\n', '`', '*']);
        after.split(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or_default()
    }

    fn is_possessive(&self) -> bool {
        self.block[self.range.end..].starts_with("'s")
            || self.block[self.range.end..].starts_with("’s")
    }

    /// Whether a word beside the name shows a tool.
    fn has_tool_cue(&self) -> bool {
        let after = self.word_after().trim_end_matches('.');
        let number = after.strip_prefix('v').unwrap_or(after);
        is_compound(self.block, &self.range)
            || TOOL_LEAD_WORDS.contains(self.word_before().as_str())
            || TOOL_TAIL_WORDS.contains(after.to_ascii_lowercase().as_str())
            || number.starts_with(|c: char| c.is_ascii_digit())
            || self.block[..self.range.start].ends_with('`')
    }
}

/// Returns the listed tool or organization that a whole text names.
pub(super) fn find_whole(text: &str) -> Option<(EntityType, &'static str)> {
    [EntityType::Tool, EntityType::Organization].into_iter().find_map(|kind| {
        let normal = crate::entities::value::normalise(kind, text);
        vocabulary::find(kind, &normal).map(|term| (kind, term.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_different_technical_words_make_a_text_technical() {
        assert!(TECHNICAL_WORDS.iter().all(|word| word.len() <= TECHNICAL_WORD_BYTES_MAX));
        assert!(is_technical("The API of the server") && !is_technical("The api, the API"));
    }
}
