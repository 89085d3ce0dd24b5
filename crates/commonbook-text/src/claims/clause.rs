//! Clauses: what a text states plainly, each with what it is about and what it says of that.

use std::collections::{BTreeMap, BTreeSet};

use super::opposites::{OPPOSITES, OppositeSide, WordPosition, side_of};
use super::value::{self, ClaimValue, NumberBound};
use super::vocabulary::{
    BEING_VERBS, CHANGE_WORDS, CHOICE_WORDS, CONDITION_WORDS, DENIALS, DISLIKE_VERBS, ENVIRONMENTS,
    LABEL_NOUNS, NEUTRAL_WORDS, NO_DENIAL_BEFORE, PAST_TENSE_VERBS, STATE_WORDS, SYNONYM_STEMS,
    UNCERTAIN_WORDS,
};
use super::word::ClauseWord;
use crate::dates::DateToken;
use crate::sentences::sentences;
use crate::terms::{self, StemCache};
use crate::word_list::WordList;

/// Characters of a text that are looked at.
const TEXT_CHARS_MAX: usize = 4_000;

/// Clauses of a text that are looked at.
const CLAUSES_MAX: usize = 24;

/// Words of a clause at the most; a longer one is prose that says many things.
const CLAUSE_WORDS_MAX: usize = 30;

/// A value with the words that say it.
#[derive(Debug, Clone)]
pub struct ValuePhrase {
    /// The value.
    pub value: ClaimValue,
    /// The words, as the text writes them.
    pub words: String,
    /// Whether it stands right behind a name: "Node 18".
    pub of_a_name: bool,
}

/// One plain statement.
#[derive(Debug, Clone, Default)]
pub struct Clause {
    /// The stems of what it is about, each with the word as it is written.
    pub subject: BTreeMap<String, String>,
    /// Of those, what can only be another thing when it stands on one side alone.
    pub names: BTreeSet<String>,
    /// The values it gives, in order.
    pub values: Vec<ValuePhrase>,
    /// The sides it takes: of which pair, which side, and the word.
    pub sides: BTreeMap<usize, (usize, String)>,
    /// The word that denies it.
    pub denied: Option<String>,
    /// Whether it says itself that it was otherwise before.
    pub evolved: bool,
    /// Whether it speaks of who says it.
    pub of_the_speaker: bool,
    /// Whether it says what something is.
    pub is_being: bool,
}

/// The plain statements of a text.
pub fn clauses(text: &str) -> Vec<Clause> {
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(end, _)| end);
    let (mut found, mut fenced) = (Vec::new(), false);
    let mut heading: Vec<String> = Vec::new();
    let mut stems = StemCache::default();
    for line in text[..end].lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced || is_log(line) {
            continue;
        }
        if line.starts_with('#') || line.ends_with(':') {
            heading = terms::query_terms(line);
            continue;
        }
        let bare = line.trim_start_matches(['-', '*', '+', '•', '>']).trim_start();
        for sentence in line_clauses(bare) {
            if found.len() == CLAUSES_MAX {
                return found;
            }
            if let Some(mut clause) = parse_clause(sentence, &mut stems) {
                let about = heading.iter().map(|term| (term.clone(), term.clone()));
                clause.names.extend(heading.iter().cloned());
                clause.subject.extend(about);
                found.push(clause);
            }
        }
    }
    found
}

/// Whether a line tells what happened to a program, or is no prose at all.
fn is_log(line: &str) -> bool {
    let begins = line.get(..4).is_some_and(|year| year.chars().all(|c| c.is_ascii_digit()));
    let dated = begins && line.contains('-') && line.contains(':');
    let level = [" INFO ", " WARN ", " ERROR ", " DEBUG ", " TRACE "];
    dated
        || line.starts_with(['[', '{', '}', '|', '$', '<', '"'])
        || level.iter().any(|level| format!(" {line} ").contains(level))
}

/// Words and marks between two clauses of one sentence.
const CLAUSE_BREAKS: [&str; 6] = ["; ", " but ", " while ", " whereas ", " because ", " ("];

/// The clauses of a line, without questions.
fn line_clauses(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for sentence in sentences(line) {
        let mut rest = sentence;
        loop {
            let breaks = CLAUSE_BREAKS.iter();
            let next = breaks.filter_map(|mark| Some((rest.find(mark)?, mark.len()))).min();
            let (index, length) = next.unwrap_or((rest.len(), 0));
            let clause = rest[..index].trim();
            if !clause.is_empty() && !clause.ends_with('?') {
                found.push(clause);
            }
            if next.is_none() {
                break;
            }
            rest = &rest[index + length..];
        }
    }
    found
}

fn clause_words(sentence: &str) -> Vec<ClauseWord<'_>> {
    let around =
        |c: char| matches!(c, ',' | '"' | '\'' | '`' | '(' | ')' | '!' | '“' | '”' | '’' | '*');
    let mut tokens = Vec::new();
    let mut push = |raw| {
        let lower = str::to_lowercase(raw);
        tokens.push(ClauseWord { raw, lower: lower.replace('’', "'") });
    };
    for piece in sentence.split_whitespace() {
        let piece = piece.trim_matches(around);
        let piece = piece.trim_end_matches(['.', ';']).trim_end_matches(around);
        if let Some((name, value)) = piece.split_once('=').filter(|_| piece != "=") {
            [name, "=", value].into_iter().filter(|it| !it.is_empty()).for_each(&mut push);
        } else if let Some(name) = piece.strip_suffix(':').filter(|name| !name.is_empty()) {
            push(name);
            push(":");
        } else if piece.contains('-') && piece.chars().all(|c| c.is_alphabetic() || c == '-') {
            piece.split('-').filter(|it| !it.is_empty()).for_each(&mut push);
        } else if !piece.is_empty() && piece != "-" {
            push(piece);
        }
    }
    tokens
}

/// What a sentence states; nothing where it is no plain statement of how things are.
fn parse_clause(sentence: &str, stems: &mut StemCache) -> Option<Clause> {
    let mut tokens = clause_words(sentence);
    // "Tabs over spaces" chooses tabs.
    let over =
        |token: &ClauseWord<'_>| matches!(token.lower.as_str(), "over" | "rather" | "instead");
    let chooses = |token: &ClauseWord<'_>| CHOICE_WORDS.contains(token.lower.as_str());
    if tokens.iter().any(chooses)
        && let Some(place) = tokens.iter().position(over)
    {
        tokens.truncate(place);
    }
    let pronoun = tokens.first().is_none_or(|first| {
        let words = ["it", "this", "that", "they", "he", "she", "these", "those", "its", "their"];
        words.contains(&first.lower.as_str())
    });
    if pronoun || tokens.len() > CLAUSE_WORDS_MAX || !is_plain(&tokens) {
        return None;
    }
    let mut clause = Clause::default();
    let mut place = 0;
    while place < tokens.len() {
        place += clause.take_word(&tokens, place, stems)?;
    }
    Some(clause)
}

/// Whether a clause says how things are: not how they were, may be, or came to be.
fn is_plain(tokens: &[ClauseWord<'_>]) -> bool {
    tokens.iter().enumerate().all(|(place, token)| {
        let lower = token.lower.as_str();
        let before = place.checked_sub(1).map(|before| tokens[before].lower.as_str());
        let is = before.is_some_and(|before| {
            BEING_VERBS.contains(before) || DENIALS.contains(&before) || before.ends_with("ly")
        });
        let past = lower.len() > 4
            && lower.ends_with("ed")
            && !is
            && !STATE_WORDS.contains(lower)
            && side_of(lower).is_none();
        let chosen = lower == "used" && tokens.get(place + 1).is_some_and(|it| it.lower == "to");
        let dated = matches!(DateToken::of(lower), DateToken::Day(_) | DateToken::Ago);
        !past
            && !chosen
            && !dated
            && !UNCERTAIN_WORDS.contains(lower)
            && !PAST_TENSE_VERBS.contains(lower)
    })
}

impl Clause {
    /// Takes the word at a place, and those that belong to it; answers how many. Nothing where it
    /// makes the clause one that cannot be compared.
    fn take_word(
        &mut self,
        tokens: &[ClauseWord<'_>],
        place: usize,
        stems: &mut StemCache,
    ) -> Option<usize> {
        let token = &tokens[place];
        let lower = token.lower.as_str();
        let next = tokens.get(place + 1).map(|next| next.lower.as_str());
        let last = next.is_none();
        self.evolved |= CHANGE_WORDS.contains(&lower);
        self.of_the_speaker |= terms::is_first_person(lower);
        self.is_being |= BEING_VERBS.contains(lower);
        if let Some((taken, bound)) = parse_bound(lower, next)
            && tokens.get(place + taken).is_some()
            && let Some((value, length)) = value::parse_value(tokens, place + taken, bound)
        {
            self.add_value(tokens, place + taken, length, value);
            return Some(taken + length);
        }
        let answer = last && place > 0 && BEING_VERBS.contains(&tokens[place - 1].lower);
        let denies = DENIALS.contains(&lower) || lower.ends_with("n't") || lower == "don't";
        if denies && !(answer && lower == "no") {
            if next.is_some_and(|next| NO_DENIAL_BEFORE.contains(next)) || self.denied.is_some() {
                return None;
            }
            self.denied = Some(token.raw.to_owned());
            return Some(1);
        }
        if DISLIKE_VERBS.contains(&lower) && self.denied.is_none() {
            self.denied = Some(token.raw.to_owned());
            self.subject.insert("prefer".to_owned(), token.raw.to_owned());
            return Some(1);
        }
        if let Some((value, length)) = value::parse_value(tokens, place, NumberBound::Exact) {
            let names = value::is_label(tokens, place) || is_in_subject(tokens, place, length);
            if names && !value.is_time() {
                self.add_name(format!("#{lower}"), token.raw);
            } else {
                self.add_value(tokens, place, length, value);
            }
            return Some(length);
        }
        if let Some(side) = side_of(lower)
            && states_side(side, tokens, place)
        {
            self.add_side(side, token.raw);
            return Some(1);
        }
        self.add_subject_word(token, place, stems);
        Some(1)
    }

    fn add_value(
        &mut self,
        tokens: &[ClauseWord<'_>],
        place: usize,
        length: usize,
        value: ClaimValue,
    ) {
        let words: Vec<&str> = tokens[place..place + length].iter().map(|it| it.raw).collect();
        let of_a_name = place.checked_sub(1).is_some_and(|before| {
            let before_it = &tokens[before];
            before_it.raw.starts_with(char::is_uppercase)
                && !LABEL_NOUNS.contains(before_it.lower.as_str())
        });
        self.values.push(ValuePhrase { value, words: words.join(" "), of_a_name });
    }

    /// Notes the side of a pair that the clause takes; a clause with words of both sides takes none.
    fn add_side(&mut self, OppositeSide { pair, side }: OppositeSide, word: &str) {
        match self.sides.get(&pair) {
            Some((known, _)) if *known != side => {
                self.sides.remove(&pair);
                self.add_name(format!("pair {pair}"), word);
            }
            _ => {
                self.sides.insert(pair, (side, word.to_owned()));
            }
        }
    }

    /// Notes a word of what it is about.
    fn add_subject_word(&mut self, token: &ClauseWord<'_>, place: usize, stems: &mut StemCache) {
        let lower = token.lower.trim_end_matches("'s");
        if CONDITION_WORDS.contains(lower) {
            return self.add_name(lower.to_owned(), token.raw);
        }
        if NEUTRAL_WORDS.contains(lower)
            || terms::is_function_word(lower)
            || BEING_VERBS.contains(lower)
        {
            return;
        }
        if token.is_identifier() {
            return self.add_name(lower.to_owned(), token.raw);
        }
        let (mut all, names) = (Vec::new(), token.is_capital(place));
        stems.each_term(lower, |stem| all.push(stem.to_owned()));
        for stem in all {
            let same = SYNONYM_STEMS.get(stem.as_str());
            let stem = same.map_or(stem, |same| (*same).to_owned());
            if names || ENVIRONMENTS.contains(lower) {
                self.names.insert(stem.clone());
            }
            self.subject.insert(stem, token.raw.to_owned());
        }
    }

    fn add_name(&mut self, stem: String, raw: &str) {
        self.names.insert(stem.clone());
        self.subject.insert(stem, raw.to_owned());
    }
}

/// Whether a number is part of what a clause is about: "component 3 is written in Rust".
fn is_in_subject(tokens: &[ClauseWord<'_>], place: usize, length: usize) -> bool {
    let is_being = |token: &ClauseWord<'_>| BEING_VERBS.contains(token.lower.as_str());
    let before = place.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let noun = before.is_some_and(|word| {
        let says = BEING_VERBS.contains(word)
            || CHOICE_WORDS.contains(word)
            || NEUTRAL_WORDS.contains(word);
        !says && !terms::is_function_word(word)
    });
    let being_follows =
        !tokens[..place].iter().any(is_being) && tokens[place + length..].iter().any(is_being);
    // With a unit it is no name.
    length == 1 && noun && (being_follows || place <= 2)
}

/// Whether a word of a pair states something at this index, and is not part of a name.
fn states_side(side: OppositeSide, tokens: &[ClauseWord<'_>], place: usize) -> bool {
    let before = |list: &WordList| tokens[..place].iter().any(|token| list.contains(&token.lower));
    let keeps = |token: &ClauseWord<'_>| {
        matches!(token.lower.as_str(), "must" | "should" | "stay" | "keep")
    };
    match OPPOSITES[side.pair].position {
        WordPosition::Anywhere => true,
        WordPosition::AtTheEnd => place > 0 && place + 1 == tokens.len(),
        WordPosition::AfterBeing => before(&BEING_VERBS) || tokens[..place].iter().any(keeps),
        WordPosition::AfterChoosing => before(&BEING_VERBS) || before(&CHOICE_WORDS),
    }
}

/// How many words before a number say how near it comes, and how near that is.
fn parse_bound(lower: &str, next: Option<&str>) -> Option<(usize, NumberBound)> {
    Some(match (lower, next) {
        ("at", Some("least")) | ("more" | "greater", Some("than")) => (2, NumberBound::Least),
        ("at", Some("most")) | ("up", Some("to")) | ("less" | "fewer", Some("than")) => {
            (2, NumberBound::Most)
        }
        ("over" | "above" | "≥" | ">", _) => (1, NumberBound::Least),
        ("below" | "under" | "≤" | "<", _) => (1, NumberBound::Most),
        ("about" | "around" | "roughly" | "approximately" | "nearly" | "almost", _) => {
            (1, NumberBound::About)
        }
        _ => return None,
    })
}
