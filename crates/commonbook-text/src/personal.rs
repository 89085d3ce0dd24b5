//! Personal data in a text: account and card numbers, e-mail addresses, telephone numbers, days of birth
//! and addresses of houses.
//!
//! What a rule writes into a log that nobody can edit names none of them. Account and card numbers have
//! check digits, so that an order number stays; a telephone number shows itself by its country, its area,
//! its brackets or the word before it, a day of birth by that word.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Characters of an account number of any country.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;

/// Digits of a card number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Digits of a telephone number with its country.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

/// Account names of programs, not of persons, in front of a host.
const PROGRAM_ACCOUNTS: [&str; 6] = ["deploy", "git", "hg", "no-reply", "noreply", "root"];

/// A sort of personal data: what may be one, how many bytes of that are one, and the words in its place.
struct PersonalRule {
    pattern: Regex,
    length: fn(&str) -> Option<usize>,
    instead: &'static str,
}

static RULES: LazyLock<Vec<PersonalRule>> = LazyLock::new(|| {
    let rule = |pattern: &str, length: fn(&str) -> Option<usize>, instead| {
        // A pattern of this table compiles; a test reads all of them.
        Regex::new(pattern).ok().map(|pattern| PersonalRule { pattern, length, instead })
    };
    let rules = [
        rule(
            r"(?i)\b(?P<found>[a-z]{2}[0-9]{2}(?:[ \u{a0}-]?[a-z0-9]{1,4}){3,8})\b",
            iban_length,
            "[account number]",
        ),
        rule(
            r"\b(?P<found>[0-9](?:[ \u{a0}-]?[0-9]){12,18})\b",
            |found| is_card(found).then_some(found.len()),
            "[card number]",
        ),
        rule(
            r"(?i)(?P<found>[\p{L}0-9._%+-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)*\.\p{L}{2,})",
            |found| is_of_person(found).then_some(found.len()),
            "[e-mail address]",
        ),
        rule(
            r"(?P<found>(?:\+|\b00)[1-9][0-9]{0,2}[0-9 ()./\u{a0}-]{5,20}[0-9])",
            |found| is_phone(found).then_some(found.len()),
            "[telephone number]",
        ),
        rule(
            r"\b(?P<found>0[1-9][0-9]{1,3}[ /-][0-9]{6,8}|0[1-9][0-9]{2,4} [0-9]{3} ?[0-9]{3,4}|01[567][0-9]{8,9}|07[0-9]{9})\b",
            |found| Some(found.len()),
            "[telephone number]",
        ),
        rule(
            r"(?ix)\b(?P<lead>(?:born|geb(?:\.|oren)?|geburtsdatum|dob|d\.o\.b\.|date\ of\ birth|née?\ le|nacid[oa])
                (?:\ (?:on|am|el|is))?[.:]?\ *)(?P<found>[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4}\b)",
            |found| Some(found.len()),
            "[day of birth]",
        ),
        rule(
            r"\b(?P<found>[0-9]{1,4}[a-z]? (?:\p{Lu}\p{L}+ ){1,3}(?:Lane|Street|Road|Avenue|Terrace|Crescent)|\p{Lu}\p{L}+(?:straße|strasse|gasse|allee) [0-9]{1,4}[a-z]?)\b",
            |found| Some(found.len()),
            "[address]",
        ),
        rule(
            r"(?P<found>\(?\b[0-9]{3}\)?[ .-][0-9]{3}[.-][0-9]{4}\b|\(0[0-9]{1,5}\) ?[0-9][0-9 /-]{3,12}[0-9])",
            |found| Some(found.len()),
            "[telephone number]",
        ),
        rule(
            r"(?ix)\b(?P<lead>(?:phone|telephone|tel|mobile|cell|handy|handynummer|telefon|telefonnummer
                |durchwahl|fax|whatsapp|signal|téléphone|portable|teléfono|móvil|call(?:\ (?:me|him|her|them))?)
                (?:\ (?:number|no|nr|is|on|at|unter))*[.:]?\ *)(?P<found>[0-9(][0-9\ ()./-]{5,18}[0-9])",
            |found| is_phone(found).then_some(found.len()),
            "[telephone number]",
        ),
    ];
    rules.into_iter().flatten().collect()
});

/// The text with words in place of each account number, card number, e-mail address, telephone number,
/// day of birth and address of a person.
#[must_use]
pub fn without_personal_data(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    for PersonalRule { pattern, length, instead } in RULES.iter() {
        if !pattern.is_match(&clean) {
            continue;
        }
        let replaced = pattern.replace_all(&clean, |captures: &Captures<'_>| {
            let found = &captures["found"];
            match length(found) {
                Some(length) => {
                    let lead = captures.name("lead").map_or("", |lead| lead.as_str());
                    format!("{lead}{instead}{}", &found[length..])
                }
                None => captures[0].to_owned(),
            }
        });
        clean = Cow::Owned(replaced.into_owned());
    }
    clean
}

/// The bytes of the longest account number at the beginning of a text; words behind it may look like its groups.
fn iban_length(text: &str) -> Option<usize> {
    let gaps = text.match_indices(|c: char| !c.is_ascii_alphanumeric()).map(|(place, _)| place);
    let ends: Vec<usize> = gaps.chain([text.len()]).collect();
    ends.into_iter().rev().find(|end| is_iban(&text[..*end]))
}

/// Whether the check digits of an account number are right (ISO 13616).
fn is_iban(text: &str) -> bool {
    let signs: Vec<char> =
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    if !IBAN_CHARS.contains(&signs.len()) {
        return false;
    }
    let turned = signs[4..].iter().chain(&signs[..4]);
    let remainder = turned.fold(0, |remainder, sign| match sign.to_digit(36).unwrap_or(0) {
        digit @ 0..=9 => (remainder * 10 + digit) % 97,
        letter => (remainder * 100 + letter) % 97,
    });
    remainder == 1
}

/// Whether the check digit of a card number is right (Luhn), and it begins as cards do.
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = (digits.iter().rev().enumerate())
        .map(|(place, digit)| match place % 2 {
            0 => *digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    CARD_DIGITS.contains(&digits.len())
        && digits.first().is_some_and(|first| (2..=6).contains(first))
        && sum.is_multiple_of(10)
}

/// Whether an address is of a person, not of a program.
fn is_of_person(address: &str) -> bool {
    let account = address.split('@').next().unwrap_or_default().to_lowercase();
    !PROGRAM_ACCOUNTS.contains(&account.as_str())
}

fn is_phone(text: &str) -> bool {
    PHONE_DIGITS.contains(&text.chars().filter(char::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_data_is_left_out_and_numbers_of_the_work_stay() {
        assert_eq!(RULES.len(), 9, "each pattern compiles");
        let table = [
            ("Refund to DE89 3704 0044 0532 0130 00 today", "Refund to [account number] today"),
            ("BE68 5390 0754 7034 paid", "[account number] paid"),
            ("iban gb82west12345698765432.", "iban [account number]."),
            ("The card 4111 1111 1111 1111 was declined", "The card [card number] was declined"),
            ("Ask jörg.meier@example.co.uk, please", "Ask [e-mail address], please"),
            ("Call +49 (0)171 2345678 or 00 44", "Call [telephone number] or 00 44"),
            ("Her number: (415) 555-0132.", "Her number: [telephone number]."),
            (
                "Tel. 030 1234567, Handy: 0171/2345678",
                "Tel. [telephone number], Handy: [telephone number]",
            ),
            (
                "Rückruf an 0171 5550123 oder 0171/5550124, mobil 01715550125",
                "Rückruf an [telephone number] oder [telephone number], mobil [telephone number]",
            ),
            ("07700 900461 gets an answer at noon", "[telephone number] gets an answer at noon"),
            ("Patientin geb. 04.05.1961, liegt", "Patientin geb. [day of birth], liegt"),
            ("DOB: 1961-05-04; born 4/5/61", "DOB: [day of birth]; born [day of birth]"),
            ("Ship to 14 Tern Lane, Hauptstraße 3b", "Ship to [address], [address]"),
            ("Durchwahl (030) 123456-12 beim Kunden", "Durchwahl [telephone number] beim Kunden"),
        ];
        for (text, clean) in table {
            assert_eq!(without_personal_data(text), clean);
        }
        for text in [
            "Order 4111111111111112 is of 2026-11-28 10:13, 1,312 of 28,000 rows at 10.0.0.1:5432",
            "git clone git@github.com:acme/shop.git; release 2026.47.1; +12 % against 2025",
            "mem_01m8h3s1vbec39qb9mwn8bn8dj, commit 8c5d1f0a4b2e, port 55432, 1700000000000 ms",
            "p99 went from 380 ms to 4.2 s; the call 12 of 300 failed; DE89 is no account",
            "since 04.05.2026 at 09:30 100000 rows, 0930 1700 hours, Steckplatz 4, 3 Main tasks, 0.05 123456",
            "UUID 550e8400-e29b-41d4-a716-446655440000, 100 000 000 rows, SKU DE44 1234 5678",
        ] {
            assert_eq!(without_personal_data(text), text);
        }
    }
}
