//! A folder of memories and of questions about them, whose right answers are known.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use clap::ValueEnum;
use commonbook::base::error::{Error, Result};
use commonbook::base::{input, limits};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What is one memory of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum MemoryGranularity {
    /// Each thing that was said.
    #[default]
    Turn,
    /// A whole session.
    Session,
}

impl MemoryGranularity {
    /// The word that the lines have for it.
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
    /// Its own id.
    pub(super) qid: String,
    /// The conversation it is about.
    pub(super) conv: String,
    gran: String,
    /// What sort of question it is.
    pub(super) category: String,
    /// What is asked.
    pub(super) question: String,
    /// The ids of the memories that answer it.
    pub(super) gold: Vec<String>,
    /// Which of them say what, where the data tells it.
    #[serde(default)]
    pub(super) roles: UpdateRoles,
}

/// What the memories of a question say, where something changed in between.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct UpdateRoles {
    /// Those that say how it was.
    #[serde(default)]
    pub(super) original_info: Vec<String>,
    /// Those that say how it is now.
    #[serde(default)]
    pub(super) updated_info: Vec<String>,
}

/// Categories that are asked but not counted: nothing answers them, or everything does.
const UNCOUNTED_CATEGORIES: [&str; 3] = ["adversarial", "abstention", "summarization"];

impl DatasetQuestion {
    /// Whether it is in the figures.
    pub(super) fn is_scored(&self) -> bool {
        !UNCOUNTED_CATEGORIES.contains(&self.category.as_str())
    }
}

/// A memory as the data gives it.
#[derive(Debug, Clone)]
pub(super) struct DatasetMemory {
    /// Where it stands, to tell what is wrong with it.
    pub(super) place: String,
    /// The conversation it is of.
    pub(super) conv: String,
    /// The whole line, its text no longer than a memory's may be.
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

/// A data set, as far as it is of one [`MemoryGranularity`].
#[derive(Debug)]
pub(super) struct DataSet {
    /// The memories, in the order of the file.
    pub(super) memories: Vec<DatasetMemory>,
    /// The questions, in the order of the file.
    pub(super) questions: Vec<DatasetQuestion>,
    /// How many texts were cut.
    pub(super) cut: usize,
}

impl DataSet {
    /// Reads `memories.jsonl` and `questions.jsonl` of a folder.
    ///
    /// # Errors
    /// `invalid`, with the file and the line, for what is missing or malformed.
    pub(super) fn read(folder: &Path, gran: MemoryGranularity) -> Result<Self> {
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
                return Err(Error::invalid("gold", "no memory answers the question"));
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
}

/// Gives each line of a file of JSON, with its place.
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

/// What is wrong with a line, with its place.
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
    fn only_what_is_of_the_gran_is_taken() {
        let other = MEMORY.replace("turn", "session");
        let data = read(&format!("{MEMORY}\n\n{other}\n"), QUESTION).unwrap();
        assert_eq!((data.memories.len(), data.questions.len(), data.cut), (1, 1, 0));
        assert_eq!(data.memories[0].line["id"], "D1:1");
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let long = MEMORY.replace("tea", &"ä".repeat(limits::TEXT_BYTES));
        let data = read(&long, QUESTION).unwrap();
        let text = data.memories[0].line["text"].as_str().unwrap();
        assert_eq!((data.cut, text.len()), (1, limits::TEXT_BYTES - 1));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file_and_line() {
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
