//! Referring tasks: whether a task refers to work that was done before, or names its matter itself.
//!
//! "Continue", "Fix what I found" and "Implement the analysis findings" say nothing by themselves: they
//! mean what their author has just worked on. "Order pizza for the party" and "Summarise the findings of
//! the customer survey" name their matter.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::terms::{is_function_word, plain_words};
use crate::word_list::entries;

/// Words that may precede what a task asks for.
const COURTESIES: [&str; 9] = ["please", "now", "ok", "okay", "then", "just", "so", "can", "you"];

static WORDS: LazyLock<ReferringWords> = LazyLock::new(ReferringWords::parse);

/// The words by which a task refers to earlier work.
struct ReferringWords {
    /// Beginnings that mean the work in hand, each as its words.
    continuing: Vec<Vec<&'static str>>,
    /// Words of any work, which name no matter.
    work: FxHashSet<&'static str>,
    /// Words that mean what its reader already knows.
    telling: FxHashSet<&'static str>,
}

impl ReferringWords {
    fn parse() -> Self {
        Self {
            continuing: entries(include_str!("referring/continuing.txt"))
                .map(|line| line.split(' ').collect())
                .collect(),
            work: entries(include_str!("referring/work.txt")).collect(),
            telling: entries(include_str!("referring/telling.txt")).collect(),
        }
    }

    /// Whether a word names a matter.
    fn is_matter(&self, word: &str) -> bool {
        // Of "didn't" and "let's" remains one letter.
        word.len() > 1 && !is_function_word(word) && !self.work.contains(word)
    }
}

/// Marks and words between two clauses of a task.
const CLAUSE_BREAKS: [&str; 9] = [". ", "; ", ", ", "! ", ": ", "\n", " and ", " then ", " und "];

/// Whether a task refers to work that was done before: a clause of it says to go on, or ends with what
/// is known before, or the task names no matter at all. A matter that follows the reference is what the
/// task is about: "the findings of the survey".
#[must_use]
pub fn refers_back(task: &str) -> bool {
    let words = plain_words(task);
    let names_nothing = !words.is_empty() && !words.iter().any(|word| WORDS.is_matter(word));
    names_nothing || clauses(task).into_iter().any(clause_refers_back)
}

/// Whether a task asks to go on with earlier work, or what that was, and names no matter of its own:
/// "Continue where we left off", "What was I doing?".
#[must_use]
pub fn goes_on(task: &str) -> bool {
    let words = plain_words(task);
    let (mut place, mut goes_on) = (0, false);
    while let Some(word) = words.get(place) {
        match continuing_length(&words[place..]) {
            Some(length) => (place, goes_on) = (place + length, true),
            None if WORDS.is_matter(word) => return false,
            None => place += 1,
        }
    }
    goes_on
}

/// The number of the words with which a text begins by saying to go on, the longest.
fn continuing_length(words: &[String]) -> Option<usize> {
    let begins = |beginning: &&Vec<&str>| {
        words.len() >= beginning.len() && words.iter().zip(beginning.iter()).all(|(a, b)| a == b)
    };
    WORDS.continuing.iter().filter(begins).map(Vec::len).max()
}

/// The clauses of a task.
fn clauses(task: &str) -> Vec<&str> {
    let mut found = vec![task];
    for mark in CLAUSE_BREAKS {
        found = found.into_iter().flat_map(|clause| clause.split(mark)).collect();
    }
    found
}

fn clause_refers_back(clause: &str) -> bool {
    let words = plain_words(clause);
    let begin = words.iter().take_while(|word| COURTESIES.contains(&word.as_str())).count();
    let asked = &words[begin..];
    let matter = asked.iter().rposition(|word| WORDS.is_matter(word));
    let reference = &asked[matter.map_or(0, |last| last + 1)..];
    continuing_length(asked).is_some()
        || reference.iter().any(|word| WORDS.telling.contains(word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_refers_back_or_names_its_matter() {
        let table = [
            ("Continue", true),
            ("Please go on with the billing page", true),
            ("Take over", true),
            ("Implement the analysis findings", true),
            ("Fix what I found", true),
            ("Fix the login issues identified in the analysis", true),
            ("Review my changes", true),
            ("Mach weiter", true),
            ("Setze die Ergebnisse der Analyse um", true),
            ("继续", true),
            ("Implement the recommendations of the analysis and hand over to the team", true),
            ("Hi Bob, please take over from here", true),
            ("Order pizza for the party", false),
            ("Write the press release", false),
            ("Write a haiku about spring", false),
            ("Fix the slow query of the orders page", false),
            ("Summarise the findings of the customer survey", false),
            ("Bestelle Pizza für die Feier", false),
            ("写一首诗", false),
            ("", false),
        ];
        for (task, refers) in table {
            assert_eq!(refers_back(task), refers, "{task}");
        }
    }

    #[test]
    fn a_task_goes_on_with_what_it_does_not_name() {
        let table = [
            ("Continue where we left off", true),
            ("Go on with yesterday's work", true),
            ("let's pick up where we stopped on friday please", true),
            ("Morning! where were we?", true),
            ("ok so what was i doing before lunch", true),
            ("What's next?", true),
            ("hey, can you catch me up real quick", true),
            ("remind me what we were working on last time", true),
            ("I'm back. Keep going.", true),
            ("what is still open from the last session?", true),
            ("Resume the previous session", true),
            ("where are we with this", true),
            ("Take over from here", true),
            ("Mach da weiter, wo wir gestern aufgehört haben", true),
            ("Wo waren wir stehen geblieben?", true),
            ("Reprends là où on en était hier", true),
            ("Sigue donde lo dejamos ayer", true),
            ("继续", true),
            ("Continue with the billing page", false),
            ("Where do we keep the fixtures of the parser?", false),
            ("What is the status of the invoice job?", false),
            ("thanks", false),
            ("yes, do it", false),
            ("Fix the bug", false),
            ("Run the tests", false),
            ("commit this", false),
            ("hello", false),
            ("Order pizza for the party", false),
            ("", false),
        ];
        for (task, expected) in table {
            assert_eq!(goes_on(task), expected, "{task}");
        }
    }
}
