//! German compounds: "Datenbankverbindung" is also "datenbank" and "verbindung".
//!
//! A word with a frequent last part is a compound, whatever stands before that part. The first part is
//! found as it is written and without the letters that join it: "Kunden" and "Kunde", "Kündigung".

use super::fold_term;
use crate::word_list::WordList;

/// The last parts.
static HEADS: WordList = WordList::new(include_str!("compound_heads.txt"));

/// Least letters of a compound.
const COMPOUND_LETTERS_MIN: usize = 8;

/// Most letters of a compound; longer runs are no words.
const COMPOUND_LETTERS_MAX: usize = 48;

/// Least letters of the first part.
const FIRST_LETTERS_MIN: usize = 4;

/// Least letters of the last part.
const HEAD_LETTERS_MIN: usize = 4;

/// Endings of the last part in its plural and its cases.
const HEAD_ENDINGS: [&str; 6] = ["", "n", "en", "e", "s", "es"];

/// Calls `found` with the parts of a German compound, in lower case and without diacritics: the last one
/// without its ending, then those before it.
pub(super) fn each_compound_part(word: &str, found: &mut impl FnMut(&str)) {
    if word.len() < COMPOUND_LETTERS_MIN || word.len() > COMPOUND_LETTERS_MAX {
        return;
    }
    // A name in code has capitals or digits inside, and parts of its own.
    let mut letters = word.chars();
    let begins = letters.next().is_some_and(char::is_alphabetic);
    if !begins || !letters.all(|letter| letter.is_lowercase()) {
        return;
    }
    let folded = fold_term(word);
    let mut rest: &str = if folded.is_ascii() { &folded } else { return };
    while let Some((first, head)) = last_part(rest) {
        found(head);
        each_form(first, found);
        rest = first;
    }
}

/// The compound before its last part, and that part without its ending; of several the longest.
fn last_part(word: &str) -> Option<(&str, &'static str)> {
    let ends = FIRST_LETTERS_MIN..(word.len() + 1).saturating_sub(HEAD_LETTERS_MIN);
    ends.into_iter().find_map(|end| {
        let (first, last) = word.split_at(end);
        let head = HEAD_ENDINGS.iter().find_map(|ending| HEADS.get(last.strip_suffix(ending)?))?;
        Some((first, head))
    })
}

/// Calls `found` with the forms that a first part has by itself: as written, and without the letters
/// that join it.
fn each_form(first: &str, found: &mut impl FnMut(&str)) {
    let joined_by_s = ["ungs", "heits", "keits", "schafts", "tions", "tats", "rats", "triebs"];
    if joined_by_s.iter().any(|ending| first.ends_with(ending)) {
        found(&first[..first.len() - 1]);
        return;
    }
    found(first);
    if let Some(plain) = first.strip_suffix(['n', 's'])
        && plain.len() >= FIRST_LETTERS_MIN
    {
        found(plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(word: &str) -> String {
        let mut parts = Vec::new();
        each_compound_part(word, &mut |part| parts.push(part.to_owned()));
        parts.join(" ")
    }

    #[test]
    fn compounds_come_apart_at_their_last_parts() {
        let table = [
            ("Datenbankverbindung", "verbindung datenbank"),
            ("datenbankverbindungen", "verbindung datenbank"),
            ("Kündigungsfrist", "frist kundigung"),
            ("Kundennummer", "nummer kunden kunde"),
            ("Straßenbeleuchtung", "beleuchtung strassen strasse"),
            ("Netzwerkkabelprüfung", "prufung netzwerkkabel kabel netzwerk"),
            ("Arbeitszeit", "zeit arbeits arbeit"),
            // The last part alone, other languages, names in code, keys.
            ("Verbindung", ""),
            ("verification", ""),
            ("understanding", ""),
            ("separate", ""),
            ("generation", ""),
            ("KundenNummer", ""),
            ("сетевойкабель", ""),
            ("数据库数据库数据库", ""),
        ];
        for (word, expected) in table {
            assert_eq!(parts(word), expected, "{word}");
        }
    }

    #[test]
    fn every_last_part_is_as_a_term_has_it() {
        let plain = |head: &str| head.bytes().all(|letter| letter.is_ascii_lowercase());
        assert!(HEADS.iter().all(|head| plain(head) && head.len() >= HEAD_LETTERS_MIN));
    }
}
