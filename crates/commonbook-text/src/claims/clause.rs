//! Clauses: the plain statements of a text, each with its subject and its values.

use std::collections::{BTreeMap, BTreeSet};

use super::DifferenceKind;
use super::change::settle_change;
use super::names::{self, NameValue};
use super::opposites::{OPPOSITES, OppositeSide, WordPosition, side_of};
use super::value::{self, ClaimValue, NumberBound};
use super::vocabulary::{
    BEING_VERBS, CHANGE_WORDS, CHOICE_WORDS, CONDITION_WORDS, DENIALS, DISLIKE_VERBS, ENVIRONMENTS,
    LABEL_NOUNS, MEASURE_NOUNS, NEUTRAL_WORDS, NO_DENIAL_BEFORE, PAST_TENSE_VERBS, STATE_WORDS,
    SYNONYM_STEMS, UNCERTAIN_WORDS, VERBS,
};
use super::word::ClauseWord;
use crate::dates::DateToken;
use crate::sentences::sentences;
use crate::terms::{self, StemCache};
use crate::word_list::WordList;

/// Maximum characters of a text that are parsed.
const TEXT_CHARS_MAX: usize = 4_000;

/// Maximum clauses of a text.
const CLAUSES_MAX: usize = 24;

/// Maximum words of a clause; a longer one is prose with several statements.
const CLAUSE_WORDS_MAX: usize = 30;

/// A value with its words.
#[derive(Debug, Clone)]
pub struct ValuePhrase {
    /// The value.
    pub value: ClaimValue,
    /// The words, as the text writes them.
    pub words: String,
    /// Whether the value follows a name: "Node 18".
    pub of_a_name: bool,
}

/// One plain statement.
#[derive(Debug, Clone, Default)]
pub struct Clause {
    /// The stems of the subject, each with the word as written.
    pub subject: BTreeMap<String, String>,
    /// The words in order without articles, with the values in a form that can be compared.
    pub form: Vec<String>,
    /// The stems of the subject that make it another thing if only one of two clauses has them.
    pub names: BTreeSet<String>,
    /// The values, in order.
    pub values: Vec<ValuePhrase>,
    /// The sides of opposites, by pair: the side, and the word.
    pub sides: BTreeMap<usize, (usize, String)>,
    /// The word that denies the statement.
    pub denied: Option<String>,
    /// Whether it denies that there is any such thing: "no", "nobody".
    pub denies_any: bool,
    /// Whether the clause itself says that the state has changed.
    pub evolved: bool,
    /// Whether the clause is about its speaker.
    pub of_the_speaker: bool,
    /// Whether the clause states what something is.
    pub is_being: bool,
    /// Whether it holds in the present week, month or the like alone: "this week".
    pub is_current: bool,
}

/// The statements of a text.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    /// The plain statements.
    pub clauses: Vec<Clause>,
    /// Whether the text says nothing else.
    pub is_whole: bool,
}

/// Returns the plain statements of a text.
pub fn clauses(text: &str) -> Vec<Clause> {
    statements(text).clauses
}

/// Parses the statements of a text.
pub fn statements(text: &str) -> Statements {
    let text = &*terms::composed(text);
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(end, _)| end);
    let mut is_whole = end == text.len();
    let (mut found, mut fenced) = (Vec::new(), false);
    let mut heading: Vec<String> = Vec::new();
    let mut stems = StemCache::default();
    for line in text[..end].lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced || is_log(line) {
            is_whole &= line.is_empty();
            continue;
        }
        if line.starts_with('#') || line.ends_with(':') {
            heading = terms::query_terms(line);
            continue;
        }
        let bare = without_list_mark(line);
        is_whole &= !bare.contains('?');
        for sentence in line_clauses(bare).into_iter().map(without_opening) {
            if found.len() == CLAUSES_MAX {
                return Statements { clauses: found, is_whole: false };
            }
            let Some(mut clause) = parse_clause(sentence, &mut stems) else {
                is_whole = false;
                continue;
            };
            let about = heading.iter().map(|term| (term.clone(), term.clone()));
            clause.names.extend(heading.iter().cloned());
            clause.subject.extend(about);
            found.push(clause);
        }
    }
    Statements { clauses: found, is_whole }
}

/// A line without the mark of a list or a quote: `- `, `> `, `2. `, `2) `.
fn without_list_mark(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '+', '•', '>']).trim_start();
    let behind = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = behind.strip_prefix(". ").or_else(|| behind.strip_prefix(") "));
    numbered.filter(|_| behind.len() < bare.len()).map_or(bare, str::trim_start)
}

/// Openings that say only that somebody says what follows, in lower case.
const OPENINGS: [&str; 12] = [
    "i found that ",
    "i found out that ",
    "i confirmed that ",
    "i noticed that ",
    "we found that ",
    "we found out that ",
    "we confirmed that ",
    "we noticed that ",
    "it turns out that ",
    "turns out that ",
    "note that ",
    "remember that ",
];

/// A clause without its opening.
fn without_opening(clause: &str) -> &str {
    let begins = |opening: &&&str| {
        clause.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening))
    };
    OPENINGS.iter().find(begins).map_or(clause, |opening| clause[opening.len()..].trim_start())
}

/// Whether a line is a line of a log, or no prose.
fn is_log(line: &str) -> bool {
    let begins = line.get(..4).is_some_and(|year| year.chars().all(|c| c.is_ascii_digit()));
    let dated = begins && line.contains('-') && line.contains(':');
    let level = [" INFO ", " WARN ", " ERROR ", " DEBUG ", " TRACE "];
    dated
        || line.starts_with(['[', '{', '}', '|', '$', '<', '"'])
        || level.iter().any(|level| format!(" {line} ").contains(level))
}

/// Spans of time that "this" makes the present one.
const PRESENT_SPANS: [&str; 8] =
    ["week", "weekend", "month", "quarter", "sprint", "year", "season", "iteration"];

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
    let mut tokens: Vec<ClauseWord<'_>> = Vec::new();
    for written in sentence.split_whitespace() {
        let piece = written.trim_matches(around);
        let piece = piece.trim_end_matches(['.', ';']).trim_end_matches(around);
        let mut push = |raw| {
            let is_code = written.starts_with('`') && written.ends_with('`');
            tokens.push(ClauseWord { is_code, ..ClauseWord::new(raw) });
        };
        if let Some((name, value)) = piece.split_once('=').filter(|_| piece != "=") {
            [name, "=", value].into_iter().filter(|word| !word.is_empty()).for_each(&mut push);
        } else if let Some(name) = piece.strip_suffix(':').filter(|name| !name.is_empty()) {
            push(name.trim_matches(around));
            push(":");
        } else if ClauseWord::new(piece).is_flag() {
            push(piece);
        } else if piece.contains('-') && piece.chars().all(|c| c.is_alphabetic() || c == '-') {
            piece.split('-').filter(|word| !word.is_empty()).for_each(&mut push);
        } else if !piece.is_empty() && piece != "-" {
            push(piece);
        }
    }
    tokens
}

/// Parses the statement of a clause; `None` if the clause does not plainly state how things are.
fn parse_clause(sentence: &str, stems: &mut StemCache) -> Option<Clause> {
    let mut tokens = clause_words(sentence);
    let evolved = settle_change(&mut tokens);
    // "Tabs over spaces" chooses tabs.
    let over =
        |token: &ClauseWord<'_>| matches!(token.lower.as_str(), "over" | "rather" | "instead");
    let chooses = |token: &ClauseWord<'_>| CHOICE_WORDS.contains(token.lower.as_str());
    if tokens.iter().any(chooses)
        && let Some(index) = tokens.iter().position(over)
    {
        tokens.truncate(index);
    }
    let pronoun = tokens.first().is_none_or(|first| {
        let words = ["it", "this", "that", "they", "he", "she", "these", "those", "its", "their"];
        words.contains(&first.lower.as_str())
    });
    if pronoun || tokens.len() > CLAUSE_WORDS_MAX || !is_plain(&tokens) {
        return None;
    }
    let mut clause = Clause { evolved, ..Clause::default() };
    let mut index = 0;
    if let Some(name) = names::group_name(&tokens).or_else(|| names::role_name(&tokens)) {
        index = name.length;
        clause.add_name_value(&tokens, 0, name, stems);
        clause.add_form(&tokens[..index], 0);
    }
    while index < tokens.len() {
        let values = clause.values.len();
        let length = clause.take_word(&tokens, index, stems)?;
        clause.add_form(&tokens[index..index + length], values);
        index += length;
    }
    // "Uses" says only that something is there, unless it is all that the subject has.
    if clause.subject.len() > 1 {
        clause.subject.remove("use");
    }
    Some(clause)
}

/// Whether a clause states how things are: not how they were, may be, or came to be.
fn is_plain(tokens: &[ClauseWord<'_>]) -> bool {
    let being = tokens.iter().position(|token| BEING_VERBS.contains(&token.lower));
    tokens.iter().enumerate().all(|(index, token)| {
        let lower = token.lower.as_str();
        let before = index.checked_sub(1).map(|before| tokens[before].lower.as_str());
        let is = before.is_some_and(|before| {
            BEING_VERBS.contains(before) || DENIALS.contains(&before) || before.ends_with("ly")
        });
        let past = lower.len() > 4
            && lower.ends_with("ed")
            && !is
            && being.is_none_or(|being| index < being)
            && !STATE_WORDS.contains(lower)
            && side_of(lower).is_none();
        // "Can change" is an ability, and "is dropped in version 5" happens once.
        let settled = match lower {
            "change" => before.is_some_and(is_modal),
            "dropped" => before.is_some_and(is_present),
            _ => false,
        };
        let chosen =
            lower == "used" && tokens.get(index + 1).is_some_and(|word| word.lower == "to");
        let dated = matches!(DateToken::of(lower), DateToken::Day(_) | DateToken::Ago);
        !past
            && !chosen
            && !dated
            && (settled || !UNCERTAIN_WORDS.contains(lower))
            && (is || !PAST_TENSE_VERBS.contains(lower))
    })
}

fn is_modal(lower: &str) -> bool {
    matches!(lower, "can" | "cannot" | "can't" | "may" | "must" | "should" | "shall")
}

fn is_present(lower: &str) -> bool {
    matches!(lower, "is" | "are" | "be" | "gets" | "get")
}

impl Clause {
    /// Adds the word at an index, with the words that belong to it; returns their count. Returns
    /// `None` if the word makes the clause one that cannot be compared.
    fn take_word(
        &mut self,
        tokens: &[ClauseWord<'_>],
        index: usize,
        stems: &mut StemCache,
    ) -> Option<usize> {
        let token = &tokens[index];
        let lower = token.lower.as_str();
        let next = tokens.get(index + 1).map(|next| next.lower.as_str());
        let last = next.is_none();
        self.evolved |= CHANGE_WORDS.contains(&lower);
        self.of_the_speaker |= terms::is_first_person(lower);
        self.is_being |= BEING_VERBS.contains(lower);
        self.is_current |=
            lower == "this" && next.is_some_and(|next| PRESENT_SPANS.contains(&next));
        if let Some((bound_length, bound)) = parse_bound(lower, next)
            && let value_index = index + bound_length
            && tokens.get(value_index).is_some()
            && let Some((value, length)) = value::parse_value(tokens, value_index, bound)
        {
            self.add_value(tokens, value_index, length, value);
            return Some(bound_length + length);
        }
        let answer = last && index > 0 && BEING_VERBS.contains(&tokens[index - 1].lower);
        let denies = DENIALS.contains(&lower) || lower.ends_with("n't") || lower == "don't";
        if denies && !(answer && lower == "no") {
            if next.is_some_and(|next| NO_DENIAL_BEFORE.contains(next)) || self.denied.is_some() {
                return None;
            }
            self.denies_any = matches!(lower, "no" | "nobody");
            self.denied = Some(token.raw.to_owned());
            return Some(1);
        }
        if DISLIKE_VERBS.contains(&lower) && self.denied.is_none() {
            self.denied = Some(token.raw.to_owned());
            self.subject.insert("prefer".to_owned(), token.raw.to_owned());
            return Some(1);
        }
        if let Some((value, length)) = value::parse_period(tokens, index)
            && (!value::is_frequency_word(lower) || states_frequency(tokens, index))
        {
            self.add_value(tokens, index, length, value);
            return Some(length);
        }
        if let Some((value, length)) = value::parse_value(tokens, index, NumberBound::Exact) {
            let names = value::is_label(tokens, index) || is_in_subject(tokens, index, length);
            if names && !value.is_time() {
                self.add_name(format!("#{lower}"), token.raw);
            } else {
                self.add_value(tokens, index, length, value);
            }
            return Some(length);
        }
        let (side, length) = side_at(tokens, index);
        if let Some(side) =
            side.filter(|side| !side.is_name() && states_side(*side, tokens, index, length))
        {
            self.add_side(side, token.raw);
            return Some(length);
        }
        if let Some(name) = names::linked_name(tokens, index) {
            let length = name.length;
            self.add_name_value(tokens, index, name, stems);
            return Some(length);
        }
        if side.is_some_and(|side| states_side(side, tokens, index, length)) {
            let value = names::name_of(&tokens[index..index + length], false);
            self.add_value(tokens, index, length, value);
            return Some(length);
        }
        self.add_subject_word(token, index, stems);
        Some(1)
    }

    /// Adds words to the form; `values` is the number of values before them.
    fn add_form(&mut self, words: &[ClauseWord<'_>], values: usize) {
        match self.values.get(values) {
            Some(phrase) => self.form.push(format!("{:?}", phrase.value)),
            None => {
                let lower = words.iter().map(|word| word.lower.as_str());
                let states = |lower| if BEING_VERBS.contains(lower) { "is" } else { lower };
                let carries = |lower: &&str| !matches!(*lower, "a" | "an" | "the");
                self.form.extend(lower.filter(carries).map(|lower| states(lower).to_owned()));
            }
        }
    }

    fn add_value(
        &mut self,
        tokens: &[ClauseWord<'_>],
        index: usize,
        length: usize,
        value: ClaimValue,
    ) {
        let words: Vec<&str> = tokens[index..index + length].iter().map(|word| word.raw).collect();
        let of_a_name = index.checked_sub(1).is_some_and(|before| {
            let name = &tokens[before];
            name.raw.starts_with(char::is_uppercase) && !LABEL_NOUNS.contains(&name.lower)
        });
        self.values.push(ValuePhrase { value, words: words.join(" "), of_a_name });
    }

    /// Adds a name as a value, and takes the words of its link out of the subject.
    fn add_name_value(
        &mut self,
        tokens: &[ClauseWord<'_>],
        index: usize,
        name: NameValue,
        stems: &mut StemCache,
    ) {
        let NameValue { value, length, place_words } = name;
        for word in &tokens[index - place_words..index] {
            stems.each_term(&word.lower, |stem| {
                self.subject.remove(stem);
            });
        }
        let words: Vec<&str> = tokens[index..index + length].iter().map(|word| word.raw).collect();
        self.values.push(ValuePhrase { value, words: words.join(" "), of_a_name: false });
    }

    /// Notes the side of a pair that the clause takes; a clause with words of both sides takes none.
    fn add_side(&mut self, OppositeSide { pair, side }: OppositeSide, word: &str) {
        match self.sides.get(&pair) {
            Some((noted, _)) if *noted != side => {
                self.sides.remove(&pair);
                self.add_name(format!("pair {pair}"), word);
            }
            _ => {
                self.sides.insert(pair, (side, word.to_owned()));
            }
        }
    }

    /// Adds a word to the subject.
    fn add_subject_word(&mut self, token: &ClauseWord<'_>, index: usize, stems: &mut StemCache) {
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
        if token.is_identifier() || token.is_flag() {
            return self.add_name(lower.to_owned(), token.raw);
        }
        let (mut all, names) = (Vec::new(), token.is_capital(index));
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

/// Whether a number is part of the subject: "component 3 is written in Rust", "note 4 of client 2".
fn is_in_subject(tokens: &[ClauseWord<'_>], index: usize, length: usize) -> bool {
    let is_being = |token: &ClauseWord<'_>| BEING_VERBS.contains(token.lower.as_str());
    let before = index.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let noun = before.is_some_and(|word| {
        let says = BEING_VERBS.contains(word)
            || CHOICE_WORDS.contains(word)
            || NEUTRAL_WORDS.contains(word);
        !says && !terms::is_function_word(word)
    });
    let being_follows =
        !tokens[..index].iter().any(is_being) && tokens[index + length..].iter().any(is_being);
    // A number with a unit is a value, and so is one that is "the minimum version".
    length == 1
        && !is_the_measure(&tokens[index + length..])
        && noun
        && (being_follows || index <= 2 || numbers_one(tokens, index))
}

/// Whether words behind a number say that it is the one measure: "is the minimum version".
fn is_the_measure(after: &[ClauseWord<'_>]) -> bool {
    let is_being = |word: &ClauseWord<'_>| matches!(word.lower.as_str(), "is" | "remains");
    let is_the = |word: &ClauseWord<'_>| matches!(word.lower.as_str(), "the" | "our");
    matches!(after, [first, second, ..] if is_being(first) && is_the(second))
        && after.iter().skip(2).any(|word| MEASURE_NOUNS.contains(&word.lower))
}

/// Whether the number at an index, behind a noun, tells one thing from others of its kind. It does
/// unless the noun is a measure ("port 8080"), the clause chooses it ("uses node 18"), or the number
/// counts what follows ("retries 3 times").
fn numbers_one(tokens: &[ClauseWord<'_>], index: usize) -> bool {
    let noun = &tokens[index - 1];
    let is_plural_or_verb = noun.lower.ends_with('s') && !noun.lower.ends_with("ss");
    let is_verb = |word: &str| VERBS.contains(word) || VERBS.contains(format!("{word}s").as_str());
    let lower_at = |index: usize| tokens.get(index).map(|token| token.lower.as_str());
    let is_numbered = tokens.len() > index + 2
        && value::parse_value(tokens, index + 2, NumberBound::Exact).is_some();
    let counts = lower_at(index + 1).is_some_and(|next| {
        !(is_numbered || terms::is_function_word(next) || BEING_VERBS.contains(next))
    });
    let states = |word: &str| BEING_VERBS.contains(word) || is_verb(word) || is_choice(word);
    let chosen = index.checked_sub(2).is_some_and(|before| {
        let leads = matches!(tokens[before].lower.as_str(), "on" | "with" | "to" | "at");
        is_choice(&tokens[before].lower)
            || (leads && tokens[..before].iter().any(|token| states(&token.lower)))
    });
    !(noun.is_capital(index - 1)
        || noun.is_identifier()
        || is_plural_or_verb
        || is_verb(&noun.lower)
        || MEASURE_NOUNS.contains(&noun.lower)
        || chosen
        || counts)
}

/// Whether a word comes before what somebody chooses.
fn is_choice(word: &str) -> bool {
    CHOICE_WORDS.contains(word)
}

/// The side of the phrase of two words at an index, or of the word; and the number of its words.
fn side_at(tokens: &[ClauseWord<'_>], index: usize) -> (Option<OppositeSide>, usize) {
    let lower = tokens[index].lower.as_str();
    let phrase = tokens.get(index + 1).map(|next| format!("{lower} {}", next.lower));
    match phrase.and_then(|phrase| side_of(&phrase)) {
        Some(side) => (Some(side), 2),
        None => (side_of(lower), 1),
    }
}

/// Nouns behind a name that say only what it is: "the main branch".
const KIND_NOUNS: [&str; 8] =
    ["branch", "branches", "cluster", "database", "db", "format", "queue", "style"];

/// Whether a word of a pair states something at this index, and is not part of a name.
fn states_side(side: OppositeSide, tokens: &[ClauseWord<'_>], index: usize, length: usize) -> bool {
    let before = |list: &WordList| tokens[..index].iter().any(|token| list.contains(&token.lower));
    let keeps = |token: &ClauseWord<'_>| {
        matches!(token.lower.as_str(), "must" | "should" | "stay" | "keep")
    };
    let no_noun_follows = || no_noun_at(tokens, index + length);
    match OPPOSITES[side.pair].position {
        WordPosition::Anywhere => true,
        WordPosition::AtTheEnd => index > 0 && index + length == tokens.len(),
        WordPosition::AsState => {
            let is_last = index + length == tokens.len();
            let is = |word: &ClauseWord<'_>| {
                BEING_VERBS.contains(&word.lower)
                    || DENIALS.contains(&word.lower.as_str())
                    || word.lower == "now"
            };
            let limits = tokens.get(index + length).is_some_and(|next| {
                matches!(
                    next.lower.as_str(),
                    "by" | "for" | "in" | "at" | "during" | "when" | "while"
                )
            });
            index > 0 && (is_last || (limits && is(&tokens[index - 1])))
        }
        WordPosition::BeforeFlag => tokens.get(index + length).is_some_and(ClauseWord::is_flag),
        WordPosition::AfterBeing => {
            let names_kind = OPPOSITES[side.pair].kind == DifferenceKind::Antonym;
            (before(&BEING_VERBS) || tokens[..index].iter().any(keeps))
                && (!names_kind || no_noun_follows())
        }
        WordPosition::AfterChoosing => before(&BEING_VERBS) || before(&CHOICE_WORDS),
        WordPosition::AfterVerb => {
            (before(&BEING_VERBS) || before(&CHOICE_WORDS) || before(&VERBS)) && no_noun_follows()
        }
    }
}

/// Whether no noun begins at an index, so that the word before it does not describe one.
fn no_noun_at(tokens: &[ClauseWord<'_>], index: usize) -> bool {
    tokens.get(index).is_none_or(|next| {
        let lower = next.lower.as_str();
        let ends = terms::is_function_word(lower)
            || CONDITION_WORDS.contains(lower)
            || lower.ends_with("ly");
        ends || KIND_NOUNS.contains(&lower) || CHOICE_WORDS.contains(lower)
    })
}

/// Whether an adverb of frequency says how often: "the daily report" is one of several.
fn states_frequency(tokens: &[ClauseWord<'_>], index: usize) -> bool {
    let says = |token: &ClauseWord<'_>| {
        BEING_VERBS.contains(&token.lower)
            || CHOICE_WORDS.contains(&token.lower)
            || VERBS.contains(&token.lower)
    };
    tokens[..index].iter().any(says) && no_noun_at(tokens, index + 1)
}

/// Parses the bound before a number; returns the count of its words too.
fn parse_bound(lower: &str, next: Option<&str>) -> Option<(usize, NumberBound)> {
    Some(match (lower, next) {
        ("at", Some("least")) | ("more" | "greater", Some("than")) => (2, NumberBound::Least),
        ("at", Some("most")) | ("up", Some("to")) | ("less" | "fewer", Some("than")) => {
            (2, NumberBound::Most)
        }
        ("only" | "exactly" | "just", _) => (1, NumberBound::Exact),
        ("over" | "above" | "≥" | ">", _) => (1, NumberBound::Least),
        ("below" | "under" | "≤" | "<", _) => (1, NumberBound::Most),
        ("about" | "around" | "roughly" | "approximately" | "nearly" | "almost", _) => {
            (1, NumberBound::About)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accent_that_is_written_apart_makes_no_other_claim() {
        let read = |text: &str| -> Vec<_> {
            clauses(text).into_iter().map(|clause| (clause.form, clause.subject)).collect()
        };
        let (composed, apart) = ("The caf\u{e9} opens at 8:00", "The cafe\u{301} opens at 8:00");
        assert_eq!(read(composed).len(), 1);
        assert_eq!(read(composed), read(apart));
    }

    #[test]
    fn marks_of_lists_and_openings_are_no_part_of_a_claim() {
        let read = |text: &str| -> Vec<_> {
            clauses(text).into_iter().map(|clause| (clause.form, clause.subject)).collect()
        };
        let plain = read("The proxy listens on port 8080");
        assert_eq!(plain.len(), 1);
        for written in [
            "1. The proxy listens on port 8080",
            "12) The proxy listens on port 8080",
            "> - The proxy listens on port 8080",
            "I found that the proxy listens on port 8080.",
            "- We confirmed that the proxy listens on port 8080.",
            "It turns out that the proxy listens on port 8080",
        ] {
            assert_eq!(read(written), plain, "{written}");
        }
        // A number that begins a sentence stays.
        assert_ne!(read("8080 is the port of the proxy"), read("is the port of the proxy"));
    }
}
