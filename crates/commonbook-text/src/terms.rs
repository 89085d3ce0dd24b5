//! Terms: the parts of texts that a search compares.
//!
//! A term is a run of letters and digits, in lower case, without diacritics, reduced to its English
//! stem (Snowball). A letter without a decomposition is written as its language writes it without that
//! letter: "ß" is "ss", "ø" is "o". A character of a script without blanks, and an emoji, is a term by
//! itself. The parts of a name in code follow the whole name: `InvoiceBuilder` is also "invoice" and
//! "builder"; so do the pairs of syllables of a Korean word, whose endings join the word.
//! Questions and memories have the same rules.

mod compounds;

use std::borrow::Cow;
use std::ops::Range;

use crate::word_list::WordList;
use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Maximum words of a query that are read; further ones are left out.
pub const QUERY_WORDS_MAX: usize = 256;

/// Maximum bytes of a term; of a longer run of letters (a key, a data URL) the beginning counts.
const TERM_BYTES_MAX: usize = 64;

/// Words that say how a question is put and not what it is about: the closed classes of English
/// (articles, pronouns, prepositions, conjunctions, auxiliaries) and the question words. On real
/// questions, leaving them out raises recall by six points (`docs/decisions/0004-search-index.md`).
static FUNCTION_WORDS: WordList = WordList::new(include_str!("terms/function_words.txt"));

/// The parts after the apostrophe of "didn't" or "Caroline's", which carry no meaning.
const APOSTROPHE_REMNANTS: &[&str] = &["s", "t", "d", "m", "ll", "re", "ve"];

/// A text in which a letter with its accent is one character (NFC): systems write them both ways, and the
/// texts are equal.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Returns the terms of a text, in order.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::with_capacity(text.len() / 6);
    StemCache::default().each_term(text, |term| terms.push(term.to_owned()));
    terms
}

/// A cache of stems for many texts: most words repeat, and a look-up is faster than stemming.
#[derive(Debug, Default)]
pub struct StemCache(FxHashMap<Box<str>, Box<str>>);

/// Maximum words in the cache; a full cache is cleared.
const STEM_CACHE_MAX: usize = 20_000;

impl StemCache {
    /// Calls `found` with each term of a text, in order.
    pub fn each_term(&mut self, text: &str, mut found: impl FnMut(&str)) {
        let stemmer = Stemmer::new(Algorithm::English);
        each_word_and_part(text, |word| {
            let word = fold_term(word);
            if word.is_empty() {
                return;
            }
            if let Some(stem) = self.0.get(&*word) {
                found(stem);
                return;
            }
            let stem = stemmer.stem(&word);
            found(&stem);
            if self.0.len() >= STEM_CACHE_MAX {
                self.0.clear();
            }
            self.0.insert((&*word).into(), stem.into());
        });
    }
}

/// Returns the terms of a query, each once: without function words, or with them if the query has
/// no other words. At most [`QUERY_WORDS_MAX`].
#[must_use]
pub fn query_terms(query: &str) -> Vec<String> {
    let stemmer = Stemmer::new(Algorithm::English);
    let (mut content, mut all) = (Vec::new(), Vec::new());
    let mut first = true;
    each_word_and_part(query, |word| {
        let word = fold_term(word);
        let is_remnant = is_remnant(&word, std::mem::take(&mut first));
        if is_remnant || word.is_empty() || all.len() > 2 * QUERY_WORDS_MAX {
            return;
        }
        let term = stemmer.stem(&word).into_owned();
        if !is_function_word(&word) && !content.contains(&term) {
            content.push(term.clone());
        }
        if !all.contains(&term) {
            all.push(term);
        }
    });
    let mut terms = if content.is_empty() { all } else { content };
    terms.truncate(QUERY_WORDS_MAX);
    terms
}

/// Returns the whole words of a text that are not function words, in order: where each stands, and its term. A name in code is one
/// word.
#[must_use]
pub fn content_words(text: &str) -> Vec<(Range<usize>, String)> {
    let stemmer = Stemmer::new(Algorithm::English);
    let mut words = Vec::new();
    let mut first = true;
    each_word_range(text, |range| {
        let word = fold_term(&text[range.clone()]);
        let is_remnant = is_remnant(&word, std::mem::take(&mut first));
        if !is_remnant && !word.is_empty() && !is_function_word(&word) {
            words.push((range, stemmer.stem(&word).into_owned()));
        }
    });
    words
}

/// Returns the words of a text, in lower case and without diacritics.
#[must_use]
pub fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word| words.push(fold_word(word).into_owned()));
    words
}

/// Whether a word in lower case is a function word.
#[must_use]
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(word)
}

/// Whether a folded word is the remnant of an apostrophe; at the beginning of a text it is a word.
fn is_remnant(word: &str, is_first: bool) -> bool {
    !is_first && APOSTROPHE_REMNANTS.contains(&word)
}

/// Whether a word in lower case refers to the speaker.
#[must_use]
pub fn is_first_person(word: &str) -> bool {
    matches!(word, "i" | "me" | "my" | "mine" | "myself")
}

/// Calls `found` with each word of a text, as written.
fn each_word(text: &str, mut found: impl FnMut(&str)) {
    each_word_range(text, |range| found(&text[range]));
}

/// Calls `found` with the bytes of each word of a text.
fn each_word_range(text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut start = None;
    for (index, c) in text.char_indices() {
        // A combining accent (NFD) belongs to its letter.
        let inside = c.is_alphanumeric() || is_combining_mark(c);
        let alone = stands_alone(c);
        if (!inside || alone)
            && let Some(from) = start.take()
        {
            found(from..index);
        }
        if alone {
            found(index..index + c.len_utf8());
        } else if inside && start.is_none() {
            start = Some(index);
        }
    }
    if let Some(from) = start {
        found(from..text.len());
    }
}

/// Calls `found` with each word of a text, as written, and with the parts of a name in code or of a
/// compound after the whole.
fn each_word_and_part(text: &str, mut found: impl FnMut(&str)) {
    each_word(text, |word| {
        found(word);
        each_part(word, &mut found);
        compounds::each_compound_part(word, &mut found);
        each_syllable_pair(word, &mut found);
    });
}

/// Calls `found` with each pair of neighbouring syllables of a Korean word, if it has more than two.
fn each_syllable_pair(word: &str, mut found: impl FnMut(&str)) {
    let is_syllable = |c: char| ('\u{ac00}'..='\u{d7a3}').contains(&c);
    let mut before: Option<usize> = None;
    for (index, letter) in word.char_indices() {
        let end = index + letter.len_utf8();
        let pair = before.filter(|_| is_syllable(letter)).map(|start| start..end);
        if let Some(pair) = pair.filter(|pair| pair.len() < word.len()) {
            found(&word[pair]);
        }
        before = is_syllable(letter).then_some(index);
    }
}

/// Calls `found` with each part of a name in code, if it has several: "Invoice" and "Builder", "HTTP"
/// and "Server", "port" and "8080". A part of one letter says nothing and is left out; "w42" and "river1" have none.
fn each_part(word: &str, mut found: impl FnMut(&str)) {
    let mut part_found = |part: &str| {
        if part.len() > 1 && part.len() < word.len() {
            found(part);
        }
    };
    let (mut start, mut run) = (0, 0);
    let mut before: Option<char> = None;
    let mut letters = word.char_indices().peekable();
    while let Some((index, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let alike = |other: char| other.is_numeric() == letter.is_numeric();
        // A part begins where small letters, capitals and digits meet; letters and digits have to be
        // several each.
        let begins = before.is_some_and(|before| {
            let digits = !alike(before) && run > 1 && next.is_some_and(alike);
            let capital = before.is_lowercase()
                || before.is_uppercase() && next.is_some_and(char::is_lowercase);
            digits || letter.is_uppercase() && capital
        });
        if begins {
            part_found(&word[start..index]);
            start = index;
        }
        run = if before.is_some_and(alike) { run + 1 } else { 1 };
        before = Some(letter);
    }
    part_found(&word[start..]);
}

/// Whether a character is a word by itself: letters of scripts without blanks between words (Han,
/// Kana, Thai, Lao, Khmer, Burmese), and pictographs, by Unicode blocks.
fn stands_alone(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2600}'..='\u{27bf}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Returns a word in lower case, without diacritics, cut to [`TERM_BYTES_MAX`].
fn fold_word(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if word.len() <= TERM_BYTES_MAX && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    let letters = word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    let mut folded = String::with_capacity(word.len().min(TERM_BYTES_MAX));
    for letter in letters {
        if folded.len() + letter.len_utf8() > TERM_BYTES_MAX {
            break;
        }
        folded.push(letter);
    }
    Cow::Owned(folded)
}

/// Letters that no decomposition takes apart, and how their languages write them without them.
const LETTER_FORMS: [(char, &str); 12] = [
    ('ß', "ss"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ı', "i"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ŋ', "ng"),
];

/// Returns a word as a term has it: folded, and without letters that keyboards and systems lack.
fn fold_term(word: &str) -> Cow<'_, str> {
    let folded = fold_word(word);
    if folded.is_ascii() {
        return folded;
    }
    let mut plain = String::with_capacity(folded.len());
    for letter in folded.chars() {
        match LETTER_FORMS.iter().find(|(known, _)| *known == letter) {
            Some((_, form)) => plain.push_str(form),
            None => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_without_a_decomposition_and_korean_endings_are_found() {
        let table = [
            ("Die Straße zum Hafen", "strasse"),
            ("GROẞE Pläne", "grosse"),
            ("Sørens båd", "soren bad"),
            ("w Łodzi", "lodzi"),
            ("Ægir's œuvre", "aegir oeuvre"),
            ("서버는 새 데이터베이스에서 시작한다", "서버 데이터베이스"),
            ("결제서비스의 재시도", "서비스"),
        ];
        for (text, question) in table {
            let found = terms(text);
            let missed: Vec<String> =
                query_terms(question).into_iter().filter(|term| !found.contains(term)).collect();
            // A whole Korean word is a term besides its pairs, and need not be in the text.
            let whole = question.split(' ').count();
            let pairs = query_terms(question).len() - missed.len();
            assert!(missed.is_empty() || missed.len() <= whole && pairs >= 1, "{text}: {missed:?}");
        }
        assert_eq!(terms("서버"), terms("서버는")[1..2]);
    }

    #[test]
    fn questions_are_searched_by_the_stems_of_their_content_words() {
        let table: [(&str, &[&str]); 15] = [
            (
                "When did Caroline go to the LGBTQ support groups?",
                &["carolin", "go", "lgbtq", "support", "group"],
            ),
            ("Caroline's group didn't meet", &["carolin", "group", "didn", "meet"]),
            ("who is it", &["who", "is", "it"]),
            ("t", &["t"]),
            ("foo::bar<T> src/lib.rs:42", &["foo", "bar", "src", "lib", "rs", "42"]),
            ("InvoiceBuilder::add_line", &["invoicebuild", "invoic", "builder", "add", "line"]),
            ("parseHTTPRequest2xx", &["parsehttprequest2xx", "pars", "http", "request2xx"]),
            (
                "port8080 w42 iOS 500ms",
                &["port8080", "port", "8080", "w42", "io", "os", "500ms", "500", "ms"],
            ),
            ("IsReady river1", &["isreadi", "readi", "river1"]),
            ("x AND y OR NOT \"z\" NEAR(*)", &["x", "y", "z", "near"]),
            ("🙂 !!", &["🙂"]),
            ("数据库 库", &["数", "据", "库"]),
            ("Tee tee TEE", &["tee"]),
            ("Café cafe\u{301} CAFE", &["cafe"]),
            ("", &[]),
        ];
        for (query, terms) in table {
            assert_eq!(query_terms(query), terms, "{query:?}");
        }
    }

    #[test]
    fn content_words_stand_where_the_text_has_them() {
        let text = "The caches didn't fill: InvoiceBuilder, 数据";
        let words = content_words(text);
        let found: Vec<(&str, &str)> =
            words.iter().map(|(range, term)| (&text[range.clone()], &**term)).collect();
        let expected = [
            ("caches", "cach"),
            ("didn", "didn"),
            ("fill", "fill"),
            ("InvoiceBuilder", "invoicebuild"),
            ("数", "数"),
            ("据", "据"),
        ];
        assert_eq!(found, expected);
        assert_eq!(content_words("t"), [(0..1, "t".to_owned())]);
    }

    #[test]
    fn a_long_query_is_cut_to_its_first_words() {
        let query: String = (0..10_000).map(|n| format!("word{n} ")).collect();
        assert_eq!(query_terms(&query).len(), QUERY_WORDS_MAX);
    }

    #[test]
    fn a_text_keeps_every_word_in_order_and_long_runs_are_cut() {
        assert_eq!(terms("The tests, the tested test"), ["the", "test", "the", "test", "test"]);
        let long = "ä".repeat(1_000);
        assert_eq!(terms(&long), ["a".repeat(TERM_BYTES_MAX)]);
    }
}
