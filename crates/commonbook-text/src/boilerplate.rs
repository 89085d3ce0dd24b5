//! Boilerplate: the sentences of a task that earlier tasks had too.
//!
//! An orchestrator wraps each task in the same rules and the same request for a report. They say nothing of
//! this task, and would find what resembles them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::sentences::sentences;

/// Earlier tasks, not equal to each other, that make a sentence of theirs boilerplate.
const TASKS_MIN: usize = 2;

/// Words that a task keeps at least: a few new words beside an old task ("try it again") do not replace it.
const NEW_WORDS_MIN: usize = 6;

/// The task without the sentences that at least two earlier tasks have; the whole task if hardly anything is
/// left.
#[must_use]
pub fn without_boilerplate<'t>(task: &'t str, earlier: &[String]) -> Cow<'t, str> {
    let different: HashSet<&str> = earlier.iter().map(|other| other.trim()).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for other in different.into_iter().filter(|other| *other != task.trim()) {
        for sentence in sentences(other).map(comparable).collect::<HashSet<String>>() {
            *counts.entry(sentence).or_default() += 1;
        }
    }
    let is_new =
        |sentence: &&str| counts.get(&comparable(sentence)).is_none_or(|count| *count < TASKS_MIN);
    let (all, new): (usize, Vec<&str>) =
        (sentences(task).count(), sentences(task).filter(is_new).collect());
    let words: usize = new.iter().map(|sentence| sentence.split_whitespace().count()).sum();
    match words < NEW_WORDS_MIN || new.len() == all {
        true => Cow::Borrowed(task),
        false => Cow::Owned(new.join("\n")),
    }
}

/// A sentence in the form for comparison.
fn comparable(sentence: &str) -> String {
    sentence.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "Follow the rules of the project. Run the tests before you report.";

    fn task(own: &str) -> String {
        format!("{RULES}\nTask: {own}\nReport which files you changed.")
    }

    #[test]
    fn what_two_earlier_tasks_have_says_nothing_of_this_one() {
        let earlier =
            ["Mend the parser of the river tables", "Write the page about gates"].map(task);
        let next = task("Move the quay lamps to the new circuit");
        assert_eq!(
            without_boilerplate(&next, &earlier),
            "Task: Move the quay lamps to the new circuit"
        );
        // One earlier task may be the same work; equal tasks count once.
        assert_eq!(without_boilerplate(&next, &earlier[..1]), next);
        assert_eq!(without_boilerplate(&next, &[earlier[0].clone(), earlier[0].clone()]), next);
    }

    #[test]
    fn a_task_that_comes_again_stays_whole() {
        let again = task("Mend the parser of the river tables");
        let earlier = vec![again.clone(), format!("{again}\nIt failed."), format!("{again}\nSo?")];
        assert_eq!(without_boilerplate(&again, &earlier), again);
        let more = format!("{again}\nTry it again, please.");
        assert_eq!(without_boilerplate(&more, &earlier), more);
        assert_eq!(without_boilerplate("", &earlier), "");
    }
}
