//! A data set: a folder of memories, and of questions with known answers; or a file of stories by
//! another hand.

mod hand;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use clap::ValueEnum;
use commonbook::base::error::{Error, Result};
use commonbook::base::{input, limits};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The part of a conversation that becomes one memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum MemoryGranularity {
    /// Each turn.
    #[default]
    Turn,
    /// A whole session.
    Session,
}

impl MemoryGranularity {
    /// Its name in the data.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

/// A question, and the memories that answer it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct DatasetQuestion {
    /// Its id.
    pub(super) qid: String,
    /// Its conversation.
    pub(super) conv: String,
    gran: String,
    /// Its category.
    pub(super) category: String,
    /// The question.
    pub(super) question: String,
    /// The ids of the memories that answer it.
    pub(super) gold: Vec<String>,
    /// The part of the data that it belongs to, if the data has parts: one chooses, one judges.
    #[serde(default)]
    split: String,
    /// Old and new among these memories, if the data says so.
    #[serde(default)]
    pub(super) roles: UpdateRoles,
}

/// Old and new memories of a question about something that changed.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct UpdateRoles {
    /// Those with the old state.
    #[serde(default)]
    pub(super) original_info: Vec<String>,
    /// Those with the new state.
    #[serde(default)]
    pub(super) updated_info: Vec<String>,
}

/// Categories that are asked but not scored: no memory answers them, or every memory does.
const UNCOUNTED_CATEGORIES: [&str; 3] = ["adversarial", "abstention", "summarization"];

impl DatasetQuestion {
    /// Whether it counts in the figures.
    pub(super) fn is_scored(&self) -> bool {
        !UNCOUNTED_CATEGORIES.contains(&self.category.as_str())
    }
}

/// A memory of the data set.
#[derive(Debug, Clone)]
pub(super) struct DatasetMemory {
    /// Its file and line, for errors.
    pub(super) place: String,
    /// Its conversation.
    pub(super) conv: String,
    /// The whole line, its text cut to the maximum length of a memory.
    pub(super) line: Value,
}

#[derive(Deserialize)]
struct RequiredFields {
    conv: String,
    gran: String,
    text: String,
    #[serde(rename = "id")]
    _id: String,
}

/// The part of a data set with one [`MemoryGranularity`].
#[derive(Debug)]
pub(super) struct DataSet {
    /// The memories, in file order.
    pub(super) memories: Vec<DatasetMemory>,
    /// The questions, in file order.
    pub(super) questions: Vec<DatasetQuestion>,
    /// Number of cut texts.
    pub(super) cut: usize,
}

impl DataSet {
    /// Reads `memories.jsonl` and `questions.jsonl` of a folder, or a file of stories, whose notes are
    /// turns.
    ///
    /// # Errors
    /// `invalid`, with the file and line, for data that is missing or malformed.
    pub(super) fn read(folder: &Path, gran: MemoryGranularity) -> Result<Self> {
        if folder.is_file() {
            return hand::read_stories(folder);
        }
        let (mut memories, mut cut) = (Vec::new(), 0);
        each_json_line(&folder.join("memories.jsonl"), |place, mut line: Value| {
            let needed: RequiredFields = input::from_value(line.clone())?;
            if needed.gran == gran.name() {
                if needed.text.len() > limits::TEXT_BYTES {
                    let end = needed.text.floor_char_boundary(limits::TEXT_BYTES);
                    line["text"] = needed.text[..end].into();
                    cut += 1;
                }
                memories.push(DatasetMemory { place, conv: needed.conv, line });
            }
            Ok(())
        })?;
        let mut questions = Vec::new();
        let path = folder.join("questions.jsonl");
        each_json_line(&path, |_, line| {
            let question: DatasetQuestion = input::from_value(line)?;
            if question.is_scored() && question.gold.is_empty() {
                return Err(Error::invalid(
                    "gold",
                    "is empty; expected the ids of the memories that answer the question",
                ));
            }
            if question.gran == gran.name() {
                if !memories.iter().any(|memory| memory.conv == question.conv) {
                    let reason = format!("there is no memory of {:?}", question.conv);
                    return Err(Error::invalid("conv", reason));
                }
                questions.push(question);
            }
            Ok(())
        })?;
        if !questions.iter().any(DatasetQuestion::is_scored) {
            let reason = format!("{} has no question of gran {:?}", path.display(), gran.name());
            return Err(Error::invalid("data", reason).hint("Choose another --gran."));
        }
        Ok(Self { memories, questions, cut })
    }

    /// Leaves out the questions of other splits.
    ///
    /// # Errors
    /// `invalid` if no scored question is of the split.
    pub(super) fn keep_split(&mut self, split: &str) -> Result<()> {
        self.questions.retain(|question| question.split == split);
        if self.questions.iter().any(DatasetQuestion::is_scored) {
            return Ok(());
        }
        Err(Error::invalid("split", format!("the data has no question of the split {split:?}"))
            .hint("Choose another --split, or leave it out."))
    }
}

/// Calls a function for each line of a JSON file, with its place.
fn each_json_line<T: DeserializeOwned>(
    path: &Path,
    mut give: impl FnMut(String, T) -> Result<()>,
) -> Result<()> {
    let unreadable = |error: std::io::Error| {
        Error::invalid("data", format!("{} cannot be read: {error}", path.display()))
            .hint("The folder needs memories.jsonl and questions.jsonl.")
            .with_cause(error)
    };
    let file = File::open(path).map_err(unreadable)?;
    for (number, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let place = format!("{}:{}", path.display(), number + 1);
        let read = input::json(&line).and_then(input::from_value);
        read.and_then(|line| give(place.clone(), line))
            .map_err(|error| error_at_line(&place, &error))?;
    }
    Ok(())
}

/// An error with its file and line.
pub(super) fn error_at_line(place: &str, error: &Error) -> Error {
    Error::invalid("data", format!("{place}: {}", error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = r#"{"conv":"c","gran":"turn","id":"D1:1","text":"Ann: tea"}"#;
    const QUESTION: &str = r#"{"qid":"q","conv":"c","gran":"turn","category":"x","question":"tea?","gold":["D1:1"],"split":"dev"}"#;

    fn read(memories: &str, questions: &str) -> Result<DataSet> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("memories.jsonl"), memories).unwrap();
        std::fs::write(folder.path().join("questions.jsonl"), questions).unwrap();
        DataSet::read(folder.path(), MemoryGranularity::Turn)
    }

    #[test]
    fn only_lines_of_the_granularity_are_read() {
        let session = MEMORY.replace("turn", "session");
        let data = read(&format!("{MEMORY}\n\n{session}\n"), QUESTION).unwrap();
        assert_eq!((data.memories.len(), data.questions.len(), data.cut), (1, 1, 0));
        assert_eq!(data.memories[0].line["id"], "D1:1");
    }

    #[test]
    fn a_split_has_its_own_questions() {
        let other = QUESTION.replace("dev", "held").replace("\"q\"", "\"p\"");
        let mut data = read(MEMORY, &format!("{QUESTION}\n{other}\n")).unwrap();
        data.keep_split("held").unwrap();
        assert_eq!(data.questions.iter().map(|question| &*question.qid).collect::<Vec<_>>(), ["p"]);
        assert!(data.keep_split("dev").unwrap_err().message.contains("dev"));
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let long = MEMORY.replace("tea", &"ä".repeat(limits::TEXT_BYTES));
        let data = read(&long, QUESTION).unwrap();
        let text = data.memories[0].line["text"].as_str().unwrap();
        assert_eq!((data.cut, text.len()), (1, limits::TEXT_BYTES - 1));
    }

    #[test]
    fn errors_have_file_and_line() {
        let table = [
            (format!("{MEMORY}\n{{\"conv\""), QUESTION.to_owned(), "memories.jsonl:2", "JSON"),
            (MEMORY.replace("text", "txt"), QUESTION.to_owned(), "memories.jsonl:1", "text"),
            (MEMORY.to_owned(), QUESTION.replace("qid", "id"), "questions.jsonl:1", "qid"),
            (MEMORY.to_owned(), QUESTION.replace("\"D1:1\"", ""), "questions.jsonl:1", "gold"),
            (MEMORY.to_owned(), QUESTION.replace("\"c\"", "\"d\""), "questions.jsonl:1", "conv"),
            (MEMORY.to_owned(), String::new(), "questions.jsonl", "turn"),
        ];
        for (memories, questions, place, what) in table {
            let error = read(&memories, &questions).unwrap_err();
            assert!(error.message.contains(place), "{}", error.message);
            assert!(error.message.contains(what), "{}", error.message);
        }
        let error =
            DataSet::read(Path::new("/no/such/folder"), MemoryGranularity::Turn).unwrap_err();
        assert!(error.message.contains("memories.jsonl"), "{}", error.message);
    }
}
