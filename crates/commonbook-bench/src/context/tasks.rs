//! The tasks: questions of a data set, or the bench's own in two Markdown files.

use std::collections::BTreeMap;
use std::path::Path;

use commonbook::base::error::Result;
use commonbook_text::terms;
use serde::Serialize;
use serde_json::json;

use super::{RelevantIds, task_error};
use crate::dataset::{DataSet, DatasetMemory, MemoryGranularity};

const FITTING_TASKS: &str = include_str!("../../tasks/fitting.md");
const JUDGING_TASKS: &str = include_str!("../../tasks/judging.md");

/// The halves of the tasks. The constants of the relevance model are fitted on one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TaskHalf {
    /// The constants are fitted on it.
    Fitting,
    /// It only judges.
    Judging,
}

impl TaskHalf {
    pub(super) const ALL: [Self; 2] = [Self::Fitting, Self::Judging];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fitting => "fitting",
            Self::Judging => "judging",
        }
    }
}

/// A task put to one collection of memories.
#[derive(Debug, Clone)]
pub(super) struct BenchTask {
    pub(super) half: TaskHalf,
    /// The collection.
    pub(super) conv: String,
    pub(super) text: String,
    pub(super) relevant: RelevantIds,
    /// Whether the task shares no word with a relevant memory.
    pub(super) is_wordless: bool,
}

/// Memories, and tasks put to them.
#[derive(Debug, Default)]
pub(super) struct TaskCollection {
    pub(super) memories: Vec<DatasetMemory>,
    pub(super) tasks: Vec<BenchTask>,
}

impl TaskCollection {
    /// The questions of a data set: each put to its own conversation, and to the others of its half,
    /// none of which can answer it. The conversations go to the halves in turn.
    pub(super) fn of_data(folder: &Path) -> Result<Self> {
        let data = DataSet::read(folder, MemoryGranularity::Turn)?;
        let mut halves: BTreeMap<&str, TaskHalf> = BTreeMap::new();
        for memory in &data.memories {
            let half = TaskHalf::ALL[halves.len() % 2];
            halves.entry(&memory.conv).or_insert(half);
        }
        let mut tasks = Vec::new();
        for question in data.questions.iter().filter(|question| question.is_scored()) {
            let half = halves[question.conv.as_str()];
            for (conv, _) in halves.iter().filter(|(_, of_conv)| **of_conv == half) {
                let own = *conv == question.conv;
                tasks.push(BenchTask {
                    half,
                    conv: (*conv).to_owned(),
                    text: question.question.clone(),
                    relevant: question.gold.iter().filter(|_| own).cloned().collect(),
                    is_wordless: false,
                });
            }
        }
        let mut collection = Self { memories: data.memories, tasks };
        collection.mark_wordless();
        Ok(collection)
    }

    /// The bench's own tasks.
    pub(super) fn own() -> Result<Self> {
        let mut collection = Self::default();
        collection.read(FITTING_TASKS, TaskHalf::Fitting)?;
        collection.read(JUDGING_TASKS, TaskHalf::Judging)?;
        collection.mark_wordless();
        Ok(collection)
    }

    /// Reads a file of tasks: per heading a numbered list of facts, and a table of tasks with the
    /// numbers of the relevant ones.
    fn read(&mut self, text: &str, half: TaskHalf) -> Result<()> {
        let mut conv = String::new();
        for (index, line) in text.lines().enumerate() {
            let place = format!("{}.md:{}", half.name(), index + 1);
            if let Some(heading) = line.strip_prefix("## ") {
                conv = format!("{} {heading}", half.name());
            } else if let Some((number, fact)) = numbered_fact(line) {
                let line = json!({"conv": conv, "id": number, "text": fact});
                self.memories.push(DatasetMemory { place, conv: conv.clone(), line });
            } else if let Some((task, numbers)) = table_row(line) {
                let numbers = numbers.split(", ").filter(|number| *number != "-");
                let relevant: RelevantIds = numbers.map(str::to_owned).collect();
                let is_known = |number: &String| {
                    let of_set = self.memories.iter().filter(|memory| memory.conv == conv);
                    of_set.into_iter().any(|memory| memory.line["id"] == number.as_str())
                };
                if !relevant.iter().all(is_known) {
                    return Err(task_error(&place, "the set has no fact of this number"));
                }
                let (conv, text) = (conv.clone(), task.to_owned());
                self.tasks.push(BenchTask { half, conv, text, relevant, is_wordless: false });
            }
        }
        Ok(())
    }

    fn mark_wordless(&mut self) {
        let mut words: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for memory in &self.memories {
            let text = |field: &str| memory.line[field].as_str().unwrap_or_default();
            words.insert((&memory.conv, text("id")), terms::terms(text("text")));
        }
        for task in &mut self.tasks {
            let asked = terms::query_terms(&task.text);
            let shares = |id: &String| {
                let words = words.get(&(task.conv.as_str(), id.as_str()));
                words.is_some_and(|words| asked.iter().any(|term| words.contains(term)))
            };
            task.is_wordless = !task.relevant.is_empty() && !task.relevant.iter().any(shares);
        }
    }
}

/// The number and the text of a line such as `3. The boiler is serviced in October.`
fn numbered_fact(line: &str) -> Option<(&str, &str)> {
    let (number, fact) = line.split_once(". ")?;
    number.parse::<u32>().is_ok().then_some((number, fact))
}

/// The two cells of a row of a table, without its head.
fn table_row(line: &str) -> Option<(&str, &str)> {
    let (task, numbers) = line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | ")?;
    (numbers == "-" || numbers.starts_with(|c: char| c.is_ascii_digit())).then_some((task, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_has_a_hundred_tasks_and_half_of_them_have_no_relevant_fact() {
        let collection = TaskCollection::own().unwrap();
        for half in TaskHalf::ALL {
            let of_half = || collection.tasks.iter().filter(|task| task.half == half);
            let silent = of_half().filter(|task| task.relevant.is_empty()).count();
            let wordless = of_half().filter(|task| task.is_wordless).count();
            assert_eq!((of_half().count(), silent), (100, 50), "{half:?}");
            assert!((20..=30).contains(&wordless), "{half:?}: {wordless}");
        }
        let mut texts: Vec<&str> = collection.tasks.iter().map(|task| task.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 200);
    }

    #[test]
    fn a_task_with_an_unknown_fact_is_refused() {
        let text = "## A set\n1. A fact.\n\n| task | relevant |\n| --- | --- |\n| Do | 2 |\n";
        let error = TaskCollection::default().read(text, TaskHalf::Judging).unwrap_err();
        assert!(error.message.contains("judging.md:6"), "{}", error.message);
    }
}
