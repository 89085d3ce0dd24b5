//! One sentence: its words, whether it names a person, and its subject.

use crate::entities::EntityType;
use crate::entities::value::fold_text;
use crate::entities::vocabulary::{NameRequirement, find, given_name};
use crate::word_list::WordList;

static USER_WORDS: WordList = WordList::new(include_str!("user_words.txt"));
static PERSON_NOUNS: WordList = WordList::new(include_str!("person_nouns.txt"));
static PERSON_COMPOUNDS: WordList = WordList::new(include_str!("person_compounds.txt"));
static PROJECT_POSSESSIONS: WordList = WordList::new(include_str!("project_possessions.txt"));
static STRONG_WORDS: WordList = WordList::new(include_str!("strong_words.txt"));
static WEAK_WORDS: WordList = WordList::new(include_str!("weak_words.txt"));
static VERBS: WordList = WordList::new(include_str!("verbs.txt"));
static IMPERATIVES: WordList = WordList::new(include_str!("imperatives.txt"));
static LEAD_WORDS: WordList = WordList::new(include_str!("lead_words.txt"));
static DETERMINERS: WordList = WordList::new(include_str!("determiners.txt"));
static TEAM_WORDS: WordList = WordList::new(include_str!("team_words.txt"));
static IDENTITY_WORDS: WordList = WordList::new(include_str!("identity_words.txt"));
static NOTE_LABELS: WordList = WordList::new(include_str!("note_labels.txt"));

/// Words before an imperative.
const IMPERATIVE_ADVERBS: [&str; 7] = ["always", "never", "do", "don't", "not", "only", "then"];

/// Imperatives of plain life: only code or a technical word that is no tool beside them shows the
/// project.
const PLAIN_IMPERATIVES: [&str; 15] = [
    "add", "avoid", "call", "copy", "create", "delete", "install", "move", "put", "remove", "set",
    "start", "stop", "touch", "use",
];

/// Verbs that say of the people of the project that they work with what follows.
const TEAM_VERBS: [&str; 10] =
    ["chose", "moved", "pin", "run", "switched", "use", "uses", "nutzen", "utilisons", "verwenden"];

/// Words that begin another clause, whose verb has another subject.
const CLAUSE_WORDS: [&str; 8] =
    ["although", "because", "if", "that", "when", "which", "while", "who"];

/// Words of the subject of a statement, at most.
const SUBJECT_WORDS_MAX: usize = 9;
/// Words before a comma or an article that say when or where, at most.
const LEAD_WORDS_MAX: usize = 8;
/// Words before the colon of a label, at most.
const LABEL_WORDS_MAX: usize = 4;

/// What the technical weight of a word is enough for: a strong word stands alone, a weak one needs
/// another.
const STRONG_WEIGHT: usize = 2;
const WEAK_WEIGHT: usize = 1;

/// The grammatical subject of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentenceSubject {
    /// The people of the project together, and whether the verb says that they work on it.
    Team { acts: bool },
    /// A thing, with the number of its technical words.
    Thing { terms: usize },
    /// None: the sentence is an instruction, with its technical weight.
    Imperative { weight: usize },
    /// Another, or none that the rule finds.
    Unclear,
}

#[derive(Debug)]
struct SentenceWord<'t> {
    raw: &'t str,
    lower: String,
    /// Whether the text marks or writes it as code.
    is_code: bool,
    /// The mark behind it.
    mark: Option<char>,
}

/// A sentence as its words.
#[derive(Debug)]
pub(super) struct Sentence<'t> {
    words: Vec<SentenceWord<'t>>,
}

impl<'t> Sentence<'t> {
    /// The sentence of this text, without list marks and a label such as `Decided:`.
    pub(super) fn of(text: &'t str) -> Self {
        let mut words: Vec<SentenceWord<'t>> = Vec::new();
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 1 {
                let lower = part.to_lowercase();
                words.push(SentenceWord { raw: part, lower, is_code: true, mark: None });
                continue;
            }
            // A mark right behind code belongs to the code.
            if let (Some(mark), Some(last)) = (part.chars().next(), words.last_mut())
                && is_mark(mark)
            {
                last.mark = Some(mark);
            }
            words.extend(part.split_whitespace().filter_map(SentenceWord::of));
        }
        let is_label =
            |word: &SentenceWord<'_>| word.mark == Some(':') && NOTE_LABELS.contains(&word.lower);
        if words.first().is_some_and(is_label) {
            words.remove(0);
        }
        Self { words }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn begins_with(&self, list: &WordList) -> bool {
        self.words.first().is_some_and(|word| list.contains(&word.lower))
    }

    /// Whether a word of the sentence shows that it is about a person. `user_names` are the names
    /// of the user.
    pub(super) fn names_person(&self, user_names: &[String]) -> bool {
        let mut words = self.words.iter().peekable();
        while let Some(word) = words.next() {
            let next = words.peek().map(|next| next.lower.as_str());
            if user_names.contains(&word.lower)
                || word.parts().any(|part| user_names.iter().any(|name| name == part))
                || !word.is_code && (word.is_of_person(next) || word.is_person_name())
                || word.is_of_home()
                || word.is_phrase() && word.parts().any(|part| USER_WORDS.contains(part))
            {
                return true;
            }
        }
        false
    }

    /// How technical the sentence is: 2 for each strong word, 1 for each weak one.
    pub(super) fn technical_weight(&self) -> usize {
        weight(&self.words)
    }

    /// The subject of the sentence.
    pub(super) fn subject(&self) -> SentenceSubject {
        let words = without_lead(&self.words);
        let Some(first) = words.first() else { return SentenceSubject::Unclear };
        let team = words.iter().take(2).position(|word| TEAM_WORDS.contains(&word.lower));
        if let Some(verb) = team.map(|team| words.get(team + 1)) {
            let acts = verb.is_some_and(|verb| {
                TEAM_VERBS.contains(&verb.lower.as_str()) || STRONG_WORDS.contains(&verb.lower)
            });
            return SentenceSubject::Team { acts };
        }
        if let Some(terms) = label_terms(words).or_else(|| subject_terms(words)) {
            return SentenceSubject::Thing { terms };
        }
        let verb = words.iter().find(|word| !IMPERATIVE_ADVERBS.contains(&word.lower.as_str()));
        match verb.map(|verb| verb.lower.as_str()) {
            Some(verb) if IMPERATIVES.contains(verb) && !first.is_code => {
                let is_plain = PLAIN_IMPERATIVES.contains(&verb);
                let is_clear = |word: &SentenceWord<'_>| {
                    (word.is_code || word.weight() > WEAK_WEIGHT) && !word.is_tool()
                };
                let counts = !is_plain || words.iter().any(is_clear);
                SentenceSubject::Imperative { weight: if counts { weight(words) } else { 0 } }
            }
            _ => SentenceSubject::Unclear,
        }
    }
}

impl<'t> SentenceWord<'t> {
    fn of(whole: &'t str) -> Option<Self> {
        let edge =
            |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '@' | '-' | '$' | '~');
        let raw = whole.trim_matches(edge).trim_end_matches(['.', '-']);
        let raw = if raw.starts_with("--") { raw } else { raw.trim_start_matches('-') };
        if !raw.contains(char::is_alphanumeric) {
            return None;
        }
        let lower = raw.to_lowercase().replace('’', "'");
        let mark = whole.chars().next_back().filter(|mark| is_mark(*mark));
        Some(Self { raw, is_code: is_code(raw), lower, mark })
    }

    /// The runs of letters and digits in the word.
    fn parts(&self) -> impl Iterator<Item = &str> {
        self.lower.split(|c: char| !c.is_alphanumeric())
    }

    /// Whether the word is several: alternatives, or a phrase that the text marks as code.
    fn is_phrase(&self) -> bool {
        self.raw.contains(['/', ' '])
    }

    /// The owner in a possessive form: `alice` of `alice's`.
    fn owner(&self) -> Option<&str> {
        self.lower.strip_suffix("'s").or_else(|| self.lower.strip_suffix("s'"))
    }

    /// Whether the word, before this one, speaks of a person.
    fn is_of_person(&self, next: Option<&str>) -> bool {
        if let Some(owner) = self.owner() {
            let is_projects = next.is_some_and(|next| PROJECT_POSSESSIONS.contains(next));
            let is_person = PERSON_NOUNS.contains(owner) || USER_WORDS.contains(owner);
            let is_name = self.raw.starts_with(char::is_uppercase) && term_weight(owner) == 0;
            return !is_projects && (is_person || is_name);
        }
        USER_WORDS.contains(&self.lower)
            || PERSON_NOUNS.contains(&self.lower)
                && !next.is_some_and(|next| PERSON_COMPOUNDS.contains(next))
    }

    /// Whether the word is a listed name of persons and nothing else.
    fn is_person_name(&self) -> bool {
        self.raw.starts_with(char::is_uppercase)
            && !self.is_tool()
            && given_name(&fold_text(self.raw)) == Some(NameRequirement::Nothing)
    }

    /// Whether the word is an address of a person or a path in the folder of a person.
    fn is_of_home(&self) -> bool {
        let is_address = self.lower.find('@').is_some_and(|at| at > 0)
            && self.lower.rsplit('@').next().is_some_and(|host| host.contains('.'))
            && !self.lower.contains(['/', ':', ' ']);
        is_address || ["~/", "/home/", "/users/"].iter().any(|start| self.lower.starts_with(start))
    }

    fn is_tool(&self) -> bool {
        is_tool(&self.lower)
    }

    fn weight(&self) -> usize {
        if self.is_code {
            return STRONG_WEIGHT;
        }
        let is_acronym = self.raw.chars().count() > 1
            && self.raw.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && self.raw.starts_with(|c: char| c.is_ascii_uppercase());
        // Each part of a compound counts: "openapi-client", "Redis-Cache".
        let parts = self.lower.split('-').map(term_weight);
        parts.chain([term_weight(&self.lower), usize::from(is_acronym)]).max().unwrap_or(0)
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, ',' | ':' | ';')
}

/// Whether a word is written like code: a path, a file, a flag, a variable.
fn is_code(raw: &str) -> bool {
    let is_email = raw.contains('@') && raw.contains('.') && !raw.starts_with('@');
    let is_path = raw.contains('/') && raw.chars().filter(|c| c.is_alphabetic()).count() > 3;
    let has_ending = raw.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..5).contains(&ending.len())
            && ending.starts_with(char::is_alphabetic)
    });
    let is_joined = raw.contains('_') || raw.contains("::") || raw.contains('=');
    !is_email && (is_path || has_ending || is_joined || raw.starts_with("--"))
}

fn is_tool(lower: &str) -> bool {
    find(EntityType::Tool, lower).is_some_and(|term| term.needs != NameRequirement::Cue)
}

fn term_weight(lower: &str) -> usize {
    if STRONG_WORDS.contains(lower) || is_tool(lower) {
        return STRONG_WEIGHT;
    }
    if WEAK_WORDS.contains(lower) { WEAK_WEIGHT } else { 0 }
}

fn weight(words: &[SentenceWord<'_>]) -> usize {
    words.iter().map(SentenceWord::weight).sum()
}

/// The words without those before them that say when or where: `In production, …`.
fn without_lead<'w, 't>(words: &'w [SentenceWord<'t>]) -> &'w [SentenceWord<'t>] {
    if !words.first().is_some_and(|word| LEAD_WORDS.contains(&word.lower)) {
        return words;
    }
    let near = &words[..words.len().min(LEAD_WORDS_MAX)];
    if let Some(comma) = near.iter().position(|word| word.mark == Some(',')) {
        return &words[comma + 1..];
    }
    let begins = |word: &SentenceWord<'_>| {
        DETERMINERS.contains(&word.lower) || TEAM_WORDS.contains(&word.lower)
    };
    let start = near.iter().enumerate().skip(2).find(|(_, word)| begins(word));
    start.map_or(words, |(index, _)| &words[index..])
}

/// The number of technical words, as in `Default branch: develop`, of a label with two or more.
fn label_terms(words: &[SentenceWord<'_>]) -> Option<usize> {
    let colon = words.iter().take(LABEL_WORDS_MAX).position(|word| word.mark == Some(':'))?;
    let is_identity = IDENTITY_WORDS.contains(&words[colon].lower);
    Some(terms(&words[..=colon])).filter(|terms| *terms > 1 && !is_identity)
}

/// The number of technical words in the subject of a statement; `None` if no verb follows a
/// subject.
fn subject_terms(words: &[SentenceWord<'_>]) -> Option<usize> {
    let first = words.first()?;
    let has_article = DETERMINERS.contains(&first.lower);
    let is_verb = |word: &SentenceWord<'_>| !word.is_code && VERBS.contains(&word.lower);
    // "The deploy": an article makes a noun of a word.
    let nouns = if has_article { 2 } else { 1 };
    let near = words.iter().take(SUBJECT_WORDS_MAX + 1);
    let verb = near.enumerate().skip(nouns).find(|(_, word)| is_verb(word))?.0;
    let is_identity = |end: usize| IDENTITY_WORDS.contains(&words[end - 1].lower);
    if is_identity(verb) {
        return None;
    }
    // "The token store holds": a noun that looks like a verb, before another verb.
    let verb = verb + usize::from(words.get(verb + 1).is_some_and(is_verb));
    let subject = &words[..verb];
    let begins_well = has_article
        || first.lower.chars().all(|c| c.is_ascii_digit())
        || first.weight() > 0
        || subject.get(1).is_some_and(|second| second.weight() > 0);
    let begins_clause = |word: &SentenceWord<'_>| {
        word.mark == Some(':') || CLAUSE_WORDS.contains(&word.lower.as_str())
    };
    let has_clause = subject.iter().any(begins_clause);
    (begins_well && !has_clause && !is_identity(verb)).then(|| terms(subject))
}

fn terms(words: &[SentenceWord<'_>]) -> usize {
    words.iter().filter(|word| word.weight() > 0).count()
}
