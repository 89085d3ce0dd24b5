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
    let goes_on = |beginning: &Vec<&str>| {
        asked.len() >= beginning.len() && asked.iter().zip(beginning).all(|(a, b)| a == b)
    };
    let matter = asked.iter().rposition(|word| WORDS.is_matter(word));
    let reference = &asked[matter.map_or(0, |last| last + 1)..];
    WORDS.continuing.iter().any(goes_on)
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
}
