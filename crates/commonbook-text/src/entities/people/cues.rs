//! Words beside a name that show a person, and words that show something else.

use crate::word_list::WordList;

/// Titles before the name of a person.
pub(super) static PERSON_TITLES: WordList = WordList::new(include_str!("titles.txt"));

/// Words for people by what they are to each other, after which a name may follow.
pub(super) static RELATION_NOUNS: WordList = WordList::new(include_str!("relations.txt"));

/// Words before a relation that say that a person is meant.
pub(super) const POSSESSIVES: [&str; 15] = [
    "my", "our", "his", "her", "their", "your", "mein", "meine", "unser", "unsere", "mon", "ma",
    "notre", "son", "sa",
];

/// What people alone do with words.
pub(super) static SPEECH_VERBS: WordList = WordList::new(include_str!("speech_verbs.txt"));

/// Greetings before the name of a person.
pub(super) static GREETINGS: WordList = WordList::new(include_str!("greetings.txt"));

/// Words after a greeting that name no person.
pub(super) static NON_PERSON_WORDS: WordList = WordList::new(include_str!("no_persons.txt"));

/// Words beside a name, with a capital letter too, that make it a place, an institution or a thing.
pub(super) static PLACE_WORDS: WordList = WordList::new(include_str!("place_words.txt"));

/// Parts of family names that are written small.
pub(super) static PARTICLES: WordList = WordList::new(include_str!("particles.txt"));

/// What makes a name that of a breed of dogs.
pub(super) const BREED_WORDS: [&str; 4] = ["mix", "mixes", "terrier", "terriers"];

/// Nouns for people without a relation.
pub(super) const PERSON_NOUNS: [&str; 8] =
    ["man", "woman", "guy", "girl", "boy", "person", "someone", "lady"];

/// Words that a letter of the alphabet numbers: "plan B".
pub(super) const LETTERED_WORDS: [&str; 20] = [
    "appendix",
    "build",
    "class",
    "figure",
    "grade",
    "group",
    "level",
    "option",
    "part",
    "phase",
    "plan",
    "section",
    "step",
    "table",
    "team",
    "type",
    "variant",
    "version",
    "vitamin",
    "вариант",
];
