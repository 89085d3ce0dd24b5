//! Stories by another hand: notes of projects with tasks that need some of them, and pairs of notes
//! that contradict or repeat each other.
//!
//! Each task is a question to the notes of its project. The second note of a pair is a question for
//! the first one, which stands among those of all pairs of its kind and of all projects.

use std::path::Path;

use commonbook::base::error::{Error, Result};
use commonbook::base::input;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{DataSet, DatasetMemory, DatasetQuestion, UpdateRoles, error_at_line};

/// The parts of a file that a search can be measured with; the others belong to other measurements.
#[derive(Deserialize)]
struct HandStories {
    projects: Map<String, Value>,
    contradictions: Vec<NotePair>,
    duplicates: Vec<NotePair>,
}

/// The notes of a project, by their keys, and its tasks.
#[derive(Deserialize)]
struct HandProject {
    memories: Map<String, Value>,
    tasks: Vec<HandTask>,
}

/// A task, and the keys of the notes that it needs; of none, if it needs none.
#[derive(Deserialize)]
struct HandTask {
    task: String,
    relevant: Vec<String>,
}

/// Two notes on one matter, or on two that look alike.
#[derive(Deserialize)]
struct NotePair {
    a: String,
    b: String,
    /// 1 if both cannot hold.
    #[serde(default)]
    contradiction: u8,
    /// 1 if both say the same.
    #[serde(default)]
    same: u8,
}

/// Reads a file of stories.
///
/// # Errors
/// `invalid`, with the file, for one that cannot be read or is malformed.
pub(super) fn read_stories(path: &Path) -> Result<DataSet> {
    let place = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Error::invalid("data", format!("{place} cannot be read: {error}")).with_cause(error)
    })?;
    parse_stories(&bytes, &place).map_err(|error| error_at_line(&place, &error))
}

fn parse_stories(bytes: &[u8], place: &str) -> Result<DataSet> {
    let stories: HandStories = input::json(bytes).and_then(input::from_value)?;
    let mut data = DataSet { memories: Vec::new(), questions: Vec::new(), cut: 0 };
    let mut notes = Vec::new();
    for (name, project) in stories.projects {
        let project: HandProject = input::from_value(project)?;
        for (key, text) in project.memories {
            data.memories.push(note(place, &name, &key, &text));
            notes.push((format!("{name}/{key}"), text));
        }
        let tasks = project.tasks.into_iter().filter(|task| !task.relevant.is_empty());
        for (number, task) in tasks.enumerate() {
            data.questions.push(question(&name, number, "task", task.task, task.relevant));
        }
    }
    let kinds = [("contrary note", stories.contradictions), ("repeated note", stories.duplicates)];
    for (kind, pairs) in kinds {
        for (number, pair) in pairs.iter().enumerate() {
            data.memories.push(note(place, kind, &number.to_string(), &json!(pair.a)));
        }
        data.memories.extend(notes.iter().map(|(key, text)| note(place, kind, key, text)));
        let pairs = pairs.into_iter().enumerate();
        for (number, pair) in pairs.filter(|(_, pair)| pair.contradiction + pair.same > 0) {
            data.questions.push(question(kind, number, kind, pair.b, vec![number.to_string()]));
        }
    }
    Ok(data)
}

fn note(place: &str, conv: &str, id: &str, text: &Value) -> DatasetMemory {
    let line = json!({"conv": conv, "gran": "turn", "id": id, "text": text});
    DatasetMemory { place: place.to_owned(), conv: conv.to_owned(), line }
}

fn question(
    conv: &str,
    number: usize,
    category: &str,
    question: String,
    gold: Vec<String>,
) -> DatasetQuestion {
    DatasetQuestion {
        qid: format!("{conv}/{number}"),
        conv: conv.to_owned(),
        gran: "turn".to_owned(),
        category: category.to_owned(),
        question,
        gold,
        split: String::new(),
        roles: UpdateRoles::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORIES: &str = r#"{
        "projects": {"mill": {"memories": {"m1": "The mill stops at six.", "m2": "Flour is in bin 4."},
            "tasks": [{"task": "Book the mill for five.", "kind": "with", "relevant": ["m1"]},
                {"task": "Translate this.", "kind": "none", "relevant": []}]}},
        "handoffs": [], "learnings": [],
        "contradictions": [{"a": "Bin 4 is full.", "b": "Bin 4 is empty.", "contradiction": 1},
            {"a": "Bin 5 is full.", "b": "Bin 6 is empty.", "contradiction": 0}],
        "duplicates": [{"a": "Two bins leak.", "b": "A leak in two bins.", "same": 1}]
    }"#;

    #[test]
    fn tasks_ask_their_project_and_pairs_ask_all_notes() {
        let data = parse_stories(STORIES.as_bytes(), "hand.json").unwrap();
        let asked = |question: &DatasetQuestion| {
            format!("{} {} {}", question.qid, question.category, question.gold.join(","))
        };
        assert_eq!(
            data.questions.iter().map(asked).collect::<Vec<_>>(),
            [
                "mill/0 task m1",
                "contrary note/0 contrary note 0",
                "repeated note/0 repeated note 0"
            ]
        );
        let count = |conv| data.memories.iter().filter(|memory| memory.conv == conv).count();
        assert_eq!(["mill", "contrary note", "repeated note"].map(count), [2, 4, 3]);
        assert!(data.memories.iter().any(|memory| memory.line["id"] == "mill/m2"));
    }

    #[test]
    fn a_malformed_file_is_named() {
        let error = read_stories(Path::new("/no/such/hand.json")).unwrap_err();
        assert!(error.message.contains("hand.json"), "{}", error.message);
        let broken = STORIES.replace("\"relevant\"", "\"needs\"");
        assert!(parse_stories(broken.as_bytes(), "hand.json").is_err());
    }
}
