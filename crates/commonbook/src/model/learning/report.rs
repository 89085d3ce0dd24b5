//! Reports of work and next steps, which are no learnings: `All 212 tests pass`, `Next steps: …`.

use commonbook_text::word_list::WordList;

/// The beginnings of reports.
static REPORT_BEGINNINGS: WordList = WordList::new(include_str!("reports.txt"));

/// A report of a test run is at most this long, in words.
const RUN_WORDS_MAX: usize = 12;

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

/// Answers that there is nothing to say.
const NOTHING_ANSWERS: [&str; 42] = [
    "none",
    "none so far",
    "none this time",
    "none yet",
    "none found",
    "n/a",
    "na",
    "tbd",
    "unknown",
    "still unknown",
    "not known",
    "not known yet",
    "unclear",
    "nothing",
    "nothing new",
    "nothing special",
    "nothing this time",
    "nothing to add",
    "nothing to note",
    "nothing to report",
    "no surprises",
    "no lessons",
    "nothing unexpected",
    "keine",
    "keine neuen",
    "nichts",
    "nichts neues",
    "unbekannt",
    "aucun",
    "aucune",
    "rien",
    "rien de nouveau",
    "rien à signaler",
    "inconnue",
    "ninguna",
    "ninguno",
    "nada",
    "nada nuevo",
    "desconocida",
    "无",
    "没有",
    "未知",
];

/// Whether a text says that there is nothing to say: `None this time.`
pub(super) fn is_nothing(text: &str) -> bool {
    let bare = text.to_lowercase();
    NOTHING_ANSWERS.contains(&bare.trim_matches(|c: char| !c.is_alphanumeric()))
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
fn is_run(sentence: &str) -> bool {
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
