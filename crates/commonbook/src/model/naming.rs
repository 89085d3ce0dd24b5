//! Naming: reserved words, and names that look like other names.

use std::collections::HashSet;
use std::sync::LazyLock;

use commonbook_text::injection;

/// Words that no agent or type can use: each has a meaning in Commonbook, or names a role to which
/// models give more weight than to an agent.
pub const RESERVED_NAMES: [&str; 16] = [
    "legacy",
    "anonymous",
    "human",
    "system",
    "*",
    "user",
    "users",
    "assistant",
    "admin",
    "administrator",
    "root",
    "commonbook",
    "tool",
    "function",
    "everyone",
    "nobody",
];

/// Words that no agent has as a later part of its path either: they say that the person, the home or a
/// file speaks.
const RESERVED_CHILDREN: [&str; 3] = ["human", "system", "commonbook"];

/// Words that name the person, in the languages that agents write.
const PERSON_WORDS: [&str; 46] = [
    "human",
    "humans",
    "user",
    "users",
    "person",
    "you",
    "yourself",
    "owner",
    "benutzer",
    "nutzer",
    "anwender",
    "mensch",
    "besitzer",
    "inhaber",
    "eigentümer",
    "utilisateur",
    "humain",
    "personne",
    "propriétaire",
    "usuario",
    "humano",
    "dueño",
    "propietario",
    "usuário",
    "utilizador",
    "pessoa",
    "proprietário",
    "utente",
    "umano",
    "proprietario",
    "gebruiker",
    "mens",
    "persoon",
    "eigenaar",
    "użytkownik",
    "człowiek",
    "kullanıcı",
    "пользователь",
    "человек",
    "владелец",
    "ユーザー",
    "人間",
    "用户",
    "用戶",
    "사용자",
    "사람",
];

/// Words that stand before such a word and change nothing.
const ARTICLES: [&str; 17] = [
    "workfor", "the", "your", "my", "our", "this", "der", "die", "das", "dein", "mein", "le", "la",
    "el", "il", "de", "het",
];

/// Both as a reader takes their letters, without accents too.
static PERSON_PARTS: LazyLock<[HashSet<String>; 2]> = LazyLock::new(|| {
    let read = |words: &[&str]| {
        let forms =
            words.iter().flat_map(|word| [read_letters(word), read_letters(&bare_letters(word))]);
        forms.collect()
    };
    [read(&PERSON_WORDS), read(&ARTICLES)]
});

/// The most letters of a name that is read as words for the person.
const PERSON_LETTERS_MAX: usize = 40;

/// Whether a reader takes a name for the person: one of these words or several, with articles and a number,
/// whatever stands between them. `user-service` names a service, and `codex2` an agent.
pub(crate) fn reads_as_person(path: &str) -> bool {
    let part = path.split('/').next().unwrap_or_default();
    let letters = read_letters(part);
    let without_number = read_letters(part.trim_end_matches(|c: char| c.is_ascii_digit()));
    [letters, without_number].iter().any(|letters| {
        letters.chars().count() <= PERSON_LETTERS_MAX && is_of_person_words(letters, false)
    })
}

/// Whether letters are nothing but articles and words for the person, of which one is there.
fn is_of_person_words(letters: &str, has_person: bool) -> bool {
    let [persons, articles] = &*PERSON_PARTS;
    letters.is_empty() && has_person
        || letters.char_indices().map(|(at, c)| letters.split_at(at + c.len_utf8())).any(
            |(word, rest)| {
                let is_person = persons.contains(word);
                (is_person || articles.contains(word))
                    && is_of_person_words(rest, has_person || is_person)
            },
        )
}

/// A word without the accents of its letters.
fn bare_letters(word: &str) -> String {
    let bare = |c: char| match c {
        'ä' => 'a',
        'ö' => 'o',
        'ü' => 'u',
        'é' => 'e',
        'á' => 'a',
        'ñ' => 'n',
        'ż' => 'z',
        'ł' => 'l',
        'ı' => 'i',
        c => c,
    };
    word.chars().map(bare).collect()
}

/// A name as a glance takes it: without signs between its letters, and with one letter for those that look
/// alike (`0` and `o`; `1`, `l` and `i`; `rn` and `m`; `vv` and `w`).
pub(crate) fn glance(path: &str) -> String {
    let part = |part: &str| {
        let letters = fold_lookalikes(part).to_lowercase();
        let letters = letters.chars().filter(|c| c.is_alphanumeric()).map(|c| match c {
            '0' => 'o',
            '1' | 'i' => 'l',
            c => c,
        });
        letters.collect::<String>().replace("rn", "m").replace("vv", "w")
    };
    path.split('/').map(part).collect::<Vec<String>>().join("/")
}

/// The reserved word that a part of an agent's path is, or that a reader takes it for: with letters of
/// another script, digits for letters, or signs between the letters. `import` begins the names that a
/// file's authors get.
pub(crate) fn reserved_part(path: &str) -> Option<&'static str> {
    if path == "*" {
        return Some("*");
    }
    path.split('/').enumerate().find_map(|(place, part)| {
        let read = read_letters(part);
        let words: &[&str] = if place == 0 { &RESERVED_NAMES } else { &RESERVED_CHILDREN };
        let import = (place == 0).then_some("import");
        let joined = read.replace("rn", "m").replace("vv", "w");
        let numbered = read_letters(part.trim_end_matches(|c: char| c.is_ascii_digit()));
        let is =
            |word: &str| word == read || word == joined || word == "system" && word == numbered;
        words.iter().copied().chain(import).find(|word| *word != "*" && is(word))
    })
}

/// The small Latin letters of a name as a reader takes them.
fn read_letters(name: &str) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | '|' | '!' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        c => c,
    };
    fold_lookalikes(name)
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .map(letter)
        .collect()
}

/// The Latin name that this one looks like: every look-alike letter of another script replaced.
#[must_use]
pub(crate) fn fold_lookalikes(name: &str) -> String {
    // An accented letter differs from the bare one.
    let fold = |c: char| {
        Some(injection::latin(c)).filter(|like| like.is_ascii_alphabetic() && !is_latin(c))
    };
    name.chars().map(|c| fold(c).unwrap_or(c)).collect()
}

/// Whether a name mixes Latin letters with look-alikes of another script, or has a word of Latin letters and
/// those of a script whose capitals look like them.
pub(crate) fn mixes_scripts(name: &str) -> bool {
    let alike = |c: char| !is_latin(c) && injection::latin(c).is_ascii_alphabetic();
    let mut words = name.split(|c: char| !c.is_alphabetic());
    name.contains(is_latin) && name.contains(alike)
        || words.any(|word| word.contains(is_latin) && word.contains(is_near_latin))
}

/// Whether a letter is of a script with capitals that look like Latin ones: Greek, Cyrillic, Armenian,
/// Cherokee or Coptic.
fn is_near_latin(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1f00}'..='\u{1fff}' | '\u{2c80}'..='\u{2cff}' | '\u{ab70}'..='\u{abbf}')
}

/// Whether a character is a Latin letter, accented or not.
fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c.is_alphabetic()
}
