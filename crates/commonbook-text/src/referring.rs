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
    continuing: Vec<Vec<String>>,
    /// Words that may stand around such a beginning and name no matter, each as its words: a script without
    /// blanks has one for each of its characters.
    passing: Vec<Vec<String>>,
    /// Words of any work, which name no matter.
    work: FxHashSet<&'static str>,
    /// Words that mean what its reader already knows.
    telling: FxHashSet<&'static str>,
}

impl ReferringWords {
    fn parse() -> Self {
        Self {
            continuing: entries(include_str!("referring/continuing.txt"))
                .map(plain_words)
                .collect(),
            passing: entries(include_str!("referring/passing.txt")).map(plain_words).collect(),
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
        let rest = &words[place..];
        match (continuing_length(rest), longest_beginning(&WORDS.passing, rest)) {
            (Some(length), _) => (place, goes_on) = (place + length, true),
            (None, Some(length)) => place += length,
            (None, None) if WORDS.is_matter(word) => return false,
            (None, None) => place += 1,
        }
    }
    goes_on
}

/// The number of the words with which a text begins by saying to go on, the longest.
fn continuing_length(words: &[String]) -> Option<usize> {
    longest_beginning(&WORDS.continuing, words)
}

/// The number of words of the longest of these phrases with which a text begins.
fn longest_beginning(phrases: &[Vec<String>], words: &[String]) -> Option<usize> {
    phrases.iter().filter(|phrase| words.starts_with(phrase)).map(Vec::len).max()
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
            ("Open the PR", true),
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

    #[test]
    fn a_task_goes_on_in_many_languages() {
        let table = [
            ("Reprends là où on s'était arrêtés", true),
            ("Reprends là où nous nous sommes arrêtés, on a jusqu'à midi", true),
            ("On continue ? On en était où ?", true),
            ("Où en étions-nous ?", true),
            ("Poursuis ce qu'on faisait hier, s'il vous plaît", true),
            ("Mach da weiter, wo wir stehen geblieben sind", true),
            ("Lass uns da weitermachen, wo wir gestern aufgehört haben, bitte", true),
            ("Guten Morgen! Weiter mit der Arbeit von gestern", true),
            ("Wo waren wir gestern stehengeblieben?", true),
            ("Continúa donde lo dejamos", true),
            ("Retoma el trabajo de ayer, por favor, tenemos hasta mediodía", true),
            ("¿Por dónde íbamos?", true),
            ("Continua de onde paramos", true),
            ("Retome o trabalho de ontem", true),
            ("Onde é que íamos?", true),
            ("Riprendi da dove ci eravamo fermati", true),
            ("Continuiamo da dove avevamo lasciato", true),
            ("Ga door waar we gisteren gestopt zijn", true),
            ("Waar waren we gebleven?", true),
            ("Ga verder met het werk van gisteren, alsjeblieft", true),
            ("Kontynuuj od miejsca, w którym skończyliśmy", true),
            ("Na czym skończyliśmy?", true),
            ("继续昨天的工作", true),
            ("从我们上次停下的地方继续", true),
            ("请继续之前的任务", true),
            ("我们上次做到哪里了？", true),
            ("前回の続きをお願いします", true),
            ("昨日の続きから始めましょう", true),
            ("어제 하던 일 계속해 줘", true),
            ("지난번에 하던 거 이어서 하자", true),
            ("어디까지 했지?", true),
            ("Продолжим с того места, где мы остановились", true),
            ("На чём мы остановились?", true),
            ("Продолжай, пожалуйста", true),
            ("Pick up where we stopped, please, I have a meeting at three", true),
            ("Let's carry on from yesterday, we've got an hour", true),
            ("Reprends la migration de la base de données", false),
            ("Continue la documentation du module de paiement", false),
            ("Mach weiter mit dem Umbau der Suche", false),
            ("Continúa con la página de facturas", false),
            ("继续翻译用户手册", false),
            ("続けてログイン画面のバグを直してください", false),
            ("Продолжи рефакторинг парсера", false),
            ("Kontynuuj tłumaczenie strony głównej", false),
            ("Ga door met de facturen", false),
            ("로그인 화면의 오류를 계속 고쳐줘", false),
            ("写一首诗", false),
            ("Übersetze die Seite ins Deutsche", false),
            ("Où sont les fixtures du parseur ?", false),
        ];
        let wrong: Vec<_> =
            table.iter().filter(|(task, expected)| goes_on(task) != *expected).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
