//! Reports of work and next steps, which are no learnings: `All 212 tests pass`, `Next steps: …`.

use commonbook_text::word_list::{WordList, rows};

use super::label::LabelRule;

/// The beginnings of reports.
static REPORT_BEGINNINGS: WordList = WordList::new(include_str!("reports.txt"));

/// Answers that there is nothing to say, or nothing yet: whole ones, and with `…` their beginnings.
const NOTHING_ANSWERS: &str = include_str!("nothing.txt");

/// Marks behind an answer that says no more than why: `TBD (see the ticket)`.
const ANSWER_ENDS: [char; 11] = [',', '.', ';', ':', '(', '—', '–', '-', '（', '，', '。'];

/// Words that take back part of an answer: `None, except that …`.
const EXCEPTION_WORDS: [&str; 12] = [
    "except",
    "but",
    "only",
    "besides",
    "other than",
    "apart",
    "außer",
    "aber",
    "sauf",
    "mais",
    "salvo",
    "pero",
];

/// A report of a test run is at most this long, in words.
const RUN_WORDS_MAX: usize = 12;

/// The first letter of the scripts that stand without blanks.
pub(super) const FIRST_UNSPACED: char = '\u{2e80}';

/// What a report of a run counts.
const RUN_WORDS: [&str; 12] = [
    "test",
    "tests",
    "suite",
    "suites",
    "checks",
    "specs",
    "pruebas",
    "assertions",
    "cases",
    "benchmarks",
    "migrations",
    "files",
];

/// How a run ended.
const RUN_ENDS: [&str; 14] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "green",
    "ok",
    "grün",
    "bestanden",
    "passent",
    "vert",
    "verts",
    "pasan",
    "verde",
    "✅",
];

/// Whether a text says that there is nothing to say, or nothing yet: `None this time.`, `pending until Monday`.
pub(super) fn is_nothing(text: &str, rule: LabelRule) -> bool {
    let bare = text.replace(['*', '_', '`'], "").to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    let says = |answer: &str| match answer.strip_suffix(" …") {
        Some(beginning) => bare.strip_prefix(beginning).is_some_and(|after| {
            let goes_on = after.starts_with(char::is_alphanumeric);
            !goes_on || beginning.ends_with(|last: char| last >= FIRST_UNSPACED)
        }),
        None => bare.strip_prefix(answer).is_some_and(|after| {
            let after = after.trim_start();
            let more = after.trim_start_matches(|c: char| !c.is_alphanumeric());
            let is_excepted = EXCEPTION_WORDS.iter().any(|word| more.starts_with(word));
            after.is_empty() || after.starts_with(ANSWER_ENDS) && !is_excepted
        }),
    };
    let applies = |told: &str| told.is_empty() || rule == LabelRule::Told;
    rows(NOTHING_ANSWERS).any(|[answer, told]| applies(told) && says(answer))
}

/// Whether a sentence reports what was done, or what comes next.
pub(super) fn is_report(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let bare = bare.replace(['*', '`'], "").to_lowercase();
    let begins = |beginning: &str| {
        let after = bare.strip_prefix(beginning);
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_lowercase() || c == '-'))
    };
    REPORT_BEGINNINGS.iter().any(begins) || is_run(&bare)
}

/// Whether a sentence is the count of a run: `All 212 render tests green`, `88/88 passed`.
pub(super) fn is_run(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase();
    let words: Vec<&str> = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()))
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let ratio = words.iter().any(|word| {
        word.split_once('/').is_some_and(|(done, all)| {
            done == all && !done.is_empty() && done.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    let is_short = words.len() <= RUN_WORDS_MAX;
    is_short && has(&RUN_ENDS) && (ratio || words.iter().any(is_number) && has(&RUN_WORDS))
}
