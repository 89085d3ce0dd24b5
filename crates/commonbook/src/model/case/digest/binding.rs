//! Binding sentences: what forbids, names an end or an owner, or takes back what stands before it.
//!
//! Such a sentence is often short and says nothing alone ("Do not remove.", "Owner: ann.", "Not run yet."),
//! and the sentence before it is dangerous without it. So both are one.

use super::guesses;

/// Words that forbid or allow one way only.
const PROHIBITIONS: [&str; 30] = [
    " do not ",
    " don't ",
    " dont ",
    " must not ",
    " mustn't ",
    " may not ",
    " never ",
    " not allowed ",
    " no longer ",
    " only by ",
    " only with ",
    " only after ",
    " cannot be ",
    " can't be ",
    " hands off ",
    " not without ",
    " darf nicht ",
    " dürfen nicht ",
    " nicht ohne ",
    " nur durch ",
    " nur mit ",
    " nur nach ",
    " bitte nicht ",
    " finger weg ",
    " ne pas ",
    " interdit ",
    " pas sans ",
    " no se debe ",
    " prohibido ",
    " solo con ",
];

/// Words that say that something is not done, or is undone.
const STATES: [&str; 21] = [
    " not yet ",
    " still open ",
    " still to do ",
    " not run ",
    " not done ",
    " not reviewed ",
    " not tested ",
    " not deployed ",
    " removed ",
    " reverted ",
    " undone ",
    " rolled back ",
    " no effect ",
    " noch nicht ",
    " noch offen ",
    " entfernt ",
    " zurückgenommen ",
    " pas encore ",
    " retiré ",
    " todavía no ",
    " aún no ",
];

/// Words that begin an end or an owner.
const TERMS: [&str; 18] = [
    " before ",
    " until ",
    " till ",
    " by ",
    " due ",
    " deadline ",
    " latest ",
    " no later than ",
    " eod ",
    " bis ",
    " vor ",
    " spätestens ",
    " fällig ",
    " avant ",
    " jusqu'à ",
    " antes ",
    " hasta ",
    " am ",
];

/// Words that name a day, besides a number.
const DAYS: [&str; 35] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "tomorrow",
    "tonight",
    "noon",
    "midnight",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "morgen",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "demain",
    "lunes",
    "martes",
    "miércoles",
    "viernes",
    "mañana",
];

/// Names of an owner before a colon.
const OWNERS: [&str; 9] = [
    " owner :",
    " owned by ",
    " assignee :",
    " responsible :",
    " on call :",
    " verantwortlich ",
    " zuständig ",
    " responsable ",
    " dueño :",
];

/// Words behind "until" that are read.
const TERM_WORDS: usize = 4;

/// What stands behind the number of an hour, or between those of a time.
const MOMENT_MARKS: [&str; 6] = [":", "am", "pm", "uhr", "utc", "o'clock"];

/// Whether a sentence belongs to the one before it.
pub(super) fn binds(sentence: &str) -> bool {
    let plain = guesses::plain(sentence);
    let lists = [&PROHIBITIONS[..], &STATES, &OWNERS];
    lists.iter().any(|list| guesses::has(&plain, list))
        || guesses::refutes(&plain)
        || has_term(sentence)
}

/// Whether a sentence names an end: "until Friday", "before 05:58".
pub(super) fn has_term(sentence: &str) -> bool {
    let plain = guesses::plain(sentence);
    TERMS.iter().any(|term| {
        plain.match_indices(term).any(|(place, _)| {
            // "by tomorrow", "vor Montag", "until the 12th", "before 05:58", "bis 02.12."
            let rest = plain[place + term.len()..].split(' ').filter(|word| !word.is_empty());
            let rest: Vec<&str> = rest.take(TERM_WORDS).collect();
            let is_moment = |pair: &[&str]| {
                is_number(pair[0]) && (is_number(pair[1]) || MOMENT_MARKS.contains(&pair[1]))
            };
            rest.iter().take(2).any(|word| DAYS.contains(word) || is_ordinal(word))
                || rest.windows(2).any(is_moment)
        })
    })
}

fn is_number(word: &str) -> bool {
    (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is a day or an hour with its ending: `12th`, `3pm`, `05h`.
fn is_ordinal(word: &str) -> bool {
    let ending = word.trim_start_matches(|c: char| c.is_ascii_digit());
    ending.len() < word.len() && ["th", "st", "nd", "rd", "am", "pm", "h"].contains(&ending)
}
