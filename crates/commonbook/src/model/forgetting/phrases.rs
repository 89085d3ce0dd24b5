//! Phrases that were forgotten, known by keyed digests alone, and finding them in other texts.
//!
//! A text of up to five words is one phrase. A longer text has a phrase for each stretch of six words,
//! so that a text that says nothing else is known, and one for each sentence: where a text says the
//! whole of it, whatever stands around it, it says it again. Out of what is stored already, only a
//! sentence is cut that repeats a forgotten one, and as a whole.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use commonbook_text::sentences::sentences;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::texts_of;
use crate::base::home_key::HomeKey;
use crate::model::memory::Memory;
use crate::model::standing::AuthorMark;

/// What stands in place of a forgotten phrase.
pub const FORGOTTEN_MARK: &str = "[forgotten]";

/// Words of a phrase of a long text. Fewer would be found in texts that say something else.
const STRETCH_WORDS: usize = 6;

/// Fewest words of a sentence, title or summary that is a phrase of its own.
const SENTENCE_WORDS_MIN: usize = 4;

/// A sentence repeats a forgotten one that has at least this share of its words: two thirds.
const REPEATED_SHARE: (usize, usize) = (2, 3);

/// Words that deny or end what stands beside them.
const NEGATIONS: [&str; 16] = [
    "no",
    "not",
    "never",
    "none",
    "nobody",
    "nothing",
    "nor",
    "neither",
    "without",
    "cannot",
    "unless",
    "wrong",
    "false",
    "untrue",
    "incorrect",
    "formerly",
];

/// Words that may begin a sentence with a capital, and name nobody.
const LEAD_WORDS: [&str; 75] = [
    "a",
    "about",
    "again",
    "also",
    "an",
    "and",
    "as",
    "asked",
    "at",
    "be",
    "because",
    "but",
    "by",
    "checked",
    "confirmed",
    "fact",
    "for",
    "found",
    "from",
    "fyi",
    "he",
    "heard",
    "here",
    "how",
    "i",
    "if",
    "important",
    "in",
    "info",
    "it",
    "its",
    "just",
    "know",
    "learned",
    "my",
    "note",
    "noted",
    "now",
    "of",
    "ok",
    "on",
    "once",
    "or",
    "our",
    "please",
    "recall",
    "record",
    "remark",
    "remember",
    "reminder",
    "said",
    "see",
    "she",
    "so",
    "still",
    "that",
    "the",
    "then",
    "there",
    "they",
    "this",
    "to",
    "today",
    "told",
    "update",
    "we",
    "well",
    "what",
    "when",
    "where",
    "while",
    "with",
    "yes",
    "you",
    "your",
];

/// Marks that separate the statements of a sentence.
const STATEMENT_MARKS: [&str; 5] = [": ", "; ", " - ", "\u{2013}", "\u{2014}"];

/// Marks that separate the parts of a sentence.
const PART_MARKS: [char; 14] = [
    ':', ';', ',', '.', '!', '?', '(', ')', '"', '\n', '\u{2013}', '\u{2014}', '\u{201c}',
    '\u{201d}',
];

/// The key of phrases.
pub type PhraseKey = HomeKey;

/// A phrase: its number of words, and 8 bytes of its keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phrase {
    /// Number of words; 1 is a text of one word, which is found only where it is the whole text, and
    /// six or more a sentence.
    pub words: usize,
    /// The digest.
    pub digest: i64,
}

impl Phrase {
    fn of(key: &PhraseKey, words: &[&str]) -> Self {
        Self::signed(key, "forgotten", words)
    }

    /// A sentence of six or more words, which no stretch of six equals.
    fn of_sentence(key: &PhraseKey, words: &[&str]) -> Self {
        Self::signed(key, "forgotten sentence", words)
    }

    fn signed(key: &PhraseKey, purpose: &str, words: &[&str]) -> Self {
        let signed = key.sign(&format!("{purpose}\n{}\n{}", words.len(), words.join(" ")));
        let mut first = [0; 8];
        first.copy_from_slice(&signed[..8]);
        Self { words: words.len(), digest: i64::from_be_bytes(first) }
    }

    /// Every phrase but sentences that this text could be recognised by, of these lengths.
    /// [`ForgottenPhrases::possible_sentences`] has the sentences.
    #[must_use]
    pub fn all_in(keys: &[PhraseKey], text: &str, lengths: &BTreeSet<usize>) -> BTreeSet<Self> {
        let words = normal_words(text);
        let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        let mut found = BTreeSet::new();
        for length in lengths.iter().filter(|length| (1..=STRETCH_WORDS).contains(*length)) {
            if *length == 1 && words.len() != 1 {
                continue;
            }
            for stretch in words.windows(*length) {
                found.extend(keys.iter().map(|key| Self::of(key, stretch)));
            }
        }
        found
    }
}

/// A word as it is compared, and where it stands.
struct NormalWord {
    normal: String,
    span: Range<usize>,
}

/// The words of a text, without case, punctuation, white space and forms of the same letter (NFKC).
fn normal_words(text: &str) -> Vec<NormalWord> {
    let mut words = Vec::new();
    let mut start: Option<usize> = None;
    let mut end_word = |start: &mut Option<usize>, end: usize| {
        if let Some(first) = start.take() {
            let normal: String = text[first..end].nfkc().flat_map(char::to_lowercase).collect();
            words.push(NormalWord { normal, span: first..end });
        }
    };
    for (place, letter) in text.char_indices() {
        if is_ideograph(letter) {
            // Chinese and Japanese put no space between words.
            end_word(&mut start, place);
            start = Some(place);
            end_word(&mut start, place + letter.len_utf8());
        } else if letter.is_alphanumeric() || (start.is_some() && is_combining_mark(letter)) {
            start.get_or_insert(place);
        } else {
            end_word(&mut start, place);
        }
    }
    end_word(&mut start, text.len());
    words
}

/// Whether the words outside a part of a sentence make it say something else: a number, a name, a
/// negation, or a piece of an identifier.
fn has_distinction(sentence: &str, words: &[NormalWord], part: &Range<usize>) -> bool {
    let is_joined = |first: usize| {
        let pair = words.get(first).zip(words.get(first + 1));
        pair.is_some_and(|(word, next)| {
            !sentence[word.span.end..next.span.start].contains(char::is_whitespace)
        })
    };
    let outside = (0..words.len()).filter(|place| !part.contains(place));
    outside.into_iter().any(|place| {
        let NormalWord { normal, span } = &words[place];
        NEGATIONS.contains(&&**normal)
            || normal.contains(char::is_numeric)
            || (sentence[span.clone()].contains(char::is_uppercase)
                && !LEAD_WORDS.contains(&&**normal))
            || is_joined(place)
            || (place > 0 && is_joined(place - 1))
    })
}

/// Where a part of a text stands in it.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// A sentence, and the statements in it: what follows a label (`Note: …`) may be said without it, if
/// the label distinguishes nothing.
fn statements(sentence: &str) -> impl Iterator<Item = &str> {
    let words = normal_words(sentence);
    let is_free = move |statement: &&str| {
        let Range { start, end } = range_in(sentence, statement);
        let first = words.partition_point(|word| word.span.start < start);
        let last = words.partition_point(|word| word.span.start < end);
        !has_distinction(sentence, &words, &(first..last))
    };
    let mark = |text: &str| {
        let marks = STATEMENT_MARKS.iter();
        let found = marks.filter_map(|mark| text.find(mark).map(|at| (at, at + mark.len())));
        found.min()
    };
    let mut rest = Some(sentence).filter(|sentence| mark(sentence).is_some());
    let parts = std::iter::from_fn(move || {
        let text = rest?;
        let (end, next) = mark(text).map_or((text.len(), None), |(end, next)| (end, Some(next)));
        rest = next.map(|next| &text[next..]);
        Some(&text[..end])
    });
    std::iter::once(sentence).chain(parts.filter(is_free))
}

/// The phrases of these memories.
#[must_use]
pub fn phrases_of_memories<'m>(
    key: &PhraseKey,
    memories: impl IntoIterator<Item = &'m Memory>,
) -> ForgottenPhrases {
    let mut phrases = ForgottenPhrases::new(vec![key.clone()], []);
    let (mut starts, mut whole) = (HashSet::new(), Vec::new());
    let mut add = |words: &[&str]| {
        if let Some(first) = words.first() {
            starts.insert((*first).to_owned());
            phrases.insert(Phrase::of(key, words));
        }
    };
    for memory in memories {
        for (place, text) in texts_of(memory).into_iter().enumerate() {
            let Some(text) = text else { continue };
            let words = normal_words(text);
            let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
            if words.len() < STRETCH_WORDS {
                // A short title says too little to be looked for.
                if place == 0 || words.len() >= SENTENCE_WORDS_MIN {
                    add(&words);
                }
                continue;
            }
            words.windows(STRETCH_WORDS).for_each(&mut add);
            whole.push(Phrase::of_sentence(key, &words));
            for statement in sentences(text).flat_map(statements) {
                let words = normal_words(statement);
                let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
                match words.len() {
                    ..SENTENCE_WORDS_MIN => {}
                    SENTENCE_WORDS_MIN..STRETCH_WORDS => add(&words),
                    STRETCH_WORDS.. => whole.push(Phrase::of_sentence(key, &words)),
                }
            }
        }
    }
    phrases.starts = Some(starts);
    whole.into_iter().for_each(|sentence| phrases.insert(sentence));
    phrases
}

/// A set of forgotten phrases, to find them in texts.
#[derive(Clone)]
pub struct ForgottenPhrases {
    keys: Vec<PhraseKey>,
    phrases: HashMap<usize, HashSet<i64>>,
    /// The first words of all phrases, where they are known.
    starts: Option<HashSet<String>>,
}

impl ForgottenPhrases {
    /// These phrases, whose digests were made with one of these keys.
    #[must_use]
    pub fn new(keys: Vec<PhraseKey>, phrases: impl IntoIterator<Item = Phrase>) -> Self {
        let mut all = Self { keys, phrases: HashMap::new(), starts: None };
        phrases.into_iter().for_each(|phrase| all.insert(phrase));
        all
    }

    fn insert(&mut self, phrase: Phrase) {
        self.phrases.entry(phrase.words).or_default().insert(phrase.digest);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// Every phrase.
    pub fn iter(&self) -> impl Iterator<Item = Phrase> + '_ {
        let phrases = self.phrases.iter();
        phrases.flat_map(|(words, digests)| {
            digests.iter().map(|digest| Phrase { words: *words, digest: *digest })
        })
    }

    fn holds(&self, words: &[&str]) -> bool {
        let Some(digests) = self.phrases.get(&words.len()) else { return false };
        let may_start = self.starts.as_ref().is_none_or(|starts| starts.contains(words[0]));
        may_start && self.keys.iter().any(|key| digests.contains(&Phrase::of(key, words).digest))
    }

    /// Whether this whole text is one forgotten word.
    #[must_use]
    pub fn is_one_word(&self, text: &str) -> bool {
        matches!(&*normal_words(text), [only] if self.holds(&[&only.normal]))
    }

    fn holds_sentence(&self, words: &[&str]) -> bool {
        let Some(digests) = self.phrases.get(&words.len()) else { return false };
        let is_held = |key| digests.contains(&Phrase::of_sentence(key, words).digest);
        words.len() >= STRETCH_WORDS && self.keys.iter().any(is_held)
    }

    /// The sentences of these lengths that a text may say, as far as every stretch of them is among
    /// these phrases.
    #[must_use]
    pub fn possible_sentences(&self, text: &str, lengths: &BTreeSet<usize>) -> BTreeSet<Phrase> {
        let words = normal_words(text);
        let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        let mut found = BTreeSet::new();
        for run in self.stretch_runs(&words) {
            for length in lengths.range(STRETCH_WORDS..=run.len()) {
                for sentence in words[run.clone()].windows(*length) {
                    found.extend(self.keys.iter().map(|key| Phrase::of_sentence(key, sentence)));
                }
            }
        }
        found
    }

    /// The words whose every stretch of six is forgotten.
    fn stretch_runs(&self, words: &[&str]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (first, stretch) in words.windows(STRETCH_WORDS).enumerate() {
            if !self.holds(stretch) {
                continue;
            }
            let end = first + STRETCH_WORDS;
            match runs.last_mut() {
                Some(run) if run.end + 1 == end => run.end = end,
                _ => runs.push(first..end),
            }
        }
        runs
    }

    /// Whether a text says something forgotten again: it, or a sentence of it, has no other words, or
    /// it holds a whole forgotten sentence, whatever stands around that. A part of a sentence among
    /// other words may be chance.
    #[must_use]
    pub fn are_said_in(&self, text: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        if [text].into_iter().chain(sentences(text)).any(|text| self.cover(text)) {
            return true;
        }
        let words = normal_words(text);
        let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        let short = (SENTENCE_WORDS_MIN..STRETCH_WORDS).rev();
        let says_short = short.into_iter().any(|length| {
            self.phrases.contains_key(&length) && words.windows(length).any(|part| self.holds(part))
        });
        // Two or three words are a statement if they stand alone: `Note: call Ann.`
        let says_part = || {
            text.split(PART_MARKS).any(|part| {
                let words = normal_words(part);
                let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
                (2..SENTENCE_WORDS_MIN).contains(&words.len()) && self.holds(&words)
            })
        };
        let says_sentence = || {
            self.stretch_runs(&words).into_iter().any(|run| {
                let lengths = self.phrases.keys().filter(|length| **length <= run.len());
                let mut parts = lengths.flat_map(|length| words[run.clone()].windows(*length));
                parts.any(|part| self.holds_sentence(part))
            })
        };
        says_short || says_part() || says_sentence()
    }

    /// Whether a text has words, and every one stands in a phrase.
    fn cover(&self, text: &str) -> bool {
        let words = normal_words(text);
        let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        let mut covered = vec![false; words.len()];
        // One word is no quote: see `is_one_word`. The stretches of a sentence cover it.
        for length in self.phrases.keys().filter(|length| (2..=STRETCH_WORDS).contains(*length)) {
            for (first, part) in words.windows(*length).enumerate() {
                if self.holds(part) {
                    covered[first..first + length].fill(true);
                }
            }
        }
        !covered.is_empty() && covered.into_iter().all(|word| word)
    }

    /// The text without the sentences that repeat a forgotten one; `None` if it has none. What stands
    /// beside them stays as it is.
    #[must_use]
    pub fn redact(&self, text: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let cuts = self.repetitions(text);
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for Range { start, end: cut_end } in cuts.iter().map(|cut| range_in(text, cut)) {
            redacted.push_str(&text[end..start]);
            redacted.push_str(FORGOTTEN_MARK);
            end = cut_end;
        }
        redacted.push_str(&text[end..]);
        let rest = redacted.replace(FORGOTTEN_MARK, "");
        (!cuts.is_empty()).then(|| match rest.chars().any(char::is_alphanumeric) {
            true => redacted,
            false => FORGOTTEN_MARK.to_owned(),
        })
    }

    /// The sentences of a text that repeat a forgotten one, without marks before their first word.
    #[must_use]
    pub fn repetitions<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if self.are_whole(text) {
            return vec![text];
        }
        let without_marks = |sentence: &'t str| {
            let (said, _) = AuthorMark::split_from(sentence);
            said.trim_start_matches(|letter: char| !letter.is_alphanumeric())
        };
        sentences(text).map(without_marks).filter(|said| self.are_repeated_by(said)).collect()
    }

    /// Whether a text has the words of a forgotten text or sentence, and no others.
    fn are_whole(&self, text: &str) -> bool {
        let words = normal_words(text);
        let words: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        match words.len() {
            // One word is no quote: see `is_one_word`.
            ..2 => false,
            2..STRETCH_WORDS => self.holds(&words),
            STRETCH_WORDS.. => self.holds_sentence(&words),
        }
    }

    /// Whether a sentence repeats a forgotten one: it says all its words in order, they are most of its
    /// own, and the others distinguish nothing. An excerpt (`…`) repeats it as far as it goes.
    fn are_repeated_by(&self, sentence: &str) -> bool {
        let words = normal_words(sentence);
        let normal: Vec<&str> = words.iter().map(|word| &*word.normal).collect();
        let runs = self.stretch_runs(&normal);
        let is_excerpt = sentence.ends_with(['\u{2026}']) || sentence.ends_with("...");
        if is_excerpt && runs.iter().any(|run| run.start == 0 && run.end + 1 >= normal.len()) {
            return true;
        }
        let says = |part: Range<usize>| match part.len() {
            ..STRETCH_WORDS => self.holds(&normal[part]),
            STRETCH_WORDS.. => {
                let is_possible =
                    |run: &Range<usize>| run.start <= part.start && part.end <= run.end;
                runs.iter().any(is_possible) && self.holds_sentence(&normal[part])
            }
        };
        let lengths = self.phrases.keys().copied().filter(|length| {
            // One word is no sentence: see `is_one_word`.
            (2..=words.len()).contains(length)
                && words.len() * REPEATED_SHARE.0 <= length * REPEATED_SHARE.1
        });
        lengths
            .flat_map(|length| (0..=words.len() - length).map(move |at| at..at + length))
            .any(|part| !has_distinction(sentence, &words, &part) && says(part))
    }

    /// Cuts the phrases out of every string of a JSON value; returns whether there were any.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        match value {
            // A name, an id or a time has no blanks.
            Value::String(text) if text.is_ascii() && !text.contains(char::is_whitespace) => false,
            Value::String(text) => match self.redact_column(text) {
                Some(redacted) => {
                    *text = redacted;
                    true
                }
                None => false,
            },
            Value::Array(values) => {
                values.iter_mut().fold(false, |changed, value| self.redact_value(value) | changed)
            }
            Value::Object(fields) => {
                fields.values_mut().fold(false, |changed, value| self.redact_value(value) | changed)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// As [`Self::repetitions`], for a text that may be JSON.
    #[must_use]
    pub fn repetitions_in_column(&self, text: &str) -> Vec<String> {
        let is_json = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
        if is_json && let Ok(value) = serde_json::from_str::<Value>(text) {
            return self.repetitions_in_value(&value);
        }
        self.repetitions(text).into_iter().map(str::to_owned).collect()
    }

    fn repetitions_in_value(&self, value: &Value) -> Vec<String> {
        match value {
            Value::String(text) => self.repetitions_in_column(text),
            Value::Array(values) => {
                values.iter().flat_map(|value| self.repetitions_in_value(value)).collect()
            }
            Value::Object(fields) => {
                fields.values().flat_map(|value| self.repetitions_in_value(value)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
        }
    }

    /// As [`Self::redact`], for a text that may be JSON.
    #[must_use]
    pub fn redact_column(&self, text: &str) -> Option<String> {
        let is_json = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
        if is_json && let Ok(mut value) = serde_json::from_str::<Value>(text) {
            return self.redact_value(&mut value).then(|| value.to_string());
        }
        self.redact(text)
    }
}
