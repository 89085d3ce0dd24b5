//! `bench going-on`: whether a first message goes on with earlier work: judged by our phrases, by words that a user
//! could write himself, and by a reader that the program offered the last session.

use std::path::PathBuf;

use commonbook::base::error::Result;
use commonbook_server::child::step_error;
use commonbook_server::output::print_line;
use commonbook_text::referring::goes_on;
use serde::Deserialize;

/// The simplest rule: one of these words is in the text.
const SIMPLEST_RULE: [&str; 9] = [
    "continue",
    "resume",
    "go on",
    "carry on",
    "left off",
    "pick up",
    "what's next",
    "weiter",
    "继续",
];

/// Arguments of the bench.
#[derive(Debug, clap::Args)]
pub(super) struct GoingOnBench {
    /// A file of messages, one JSON object a line: `text`, `goes_on`, and the answer of a `reader`
    #[arg(long, default_value = "crates/commonbook-bench/tasks/going-on/prompts.jsonl")]
    prompts: PathBuf,
}

#[derive(Deserialize)]
struct JudgedPrompt {
    text: String,
    goes_on: bool,
    reader: bool,
}

impl GoingOnBench {
    /// Prints how many messages each judge finds, and how many it takes wrongly.
    ///
    /// # Errors
    /// `unavailable` if the file cannot be read or a line is malformed.
    pub(super) fn run(&self) -> Result<()> {
        let what = self.prompts.display().to_string();
        let lines = std::fs::read_to_string(&self.prompts);
        let lines = lines.map_err(|error| step_error(&what, error))?;
        let prompts = lines.lines().map(serde_json::from_str::<JudgedPrompt>);
        let prompts = prompts.collect::<serde_json::Result<Vec<_>>>();
        let prompts = prompts.map_err(|error| step_error(&what, error))?;
        let has_word = |prompt: &JudgedPrompt| {
            let text = prompt.text.to_lowercase();
            SIMPLEST_RULE.iter().any(|word| text.contains(word))
        };
        print_judge("phrases", &prompts, |prompt| goes_on(&prompt.text));
        print_judge("any of nine words", &prompts, has_word);
        print_judge("a reader, offered the session", &prompts, |prompt| prompt.reader);
        Ok(())
    }
}

fn print_judge(name: &str, prompts: &[JudgedPrompt], judge: impl Fn(&JudgedPrompt) -> bool) {
    let (going, other): (Vec<_>, Vec<_>) = prompts.iter().partition(|prompt| prompt.goes_on);
    let judged = |prompts: &[&JudgedPrompt]| prompts.iter().filter(|prompt| judge(prompt)).count();
    print_line(&format!(
        "{name:<30} found {:>3} of {}, wrongly {:>3} of {}",
        judged(&going),
        going.len(),
        judged(&other),
        other.len()
    ));
}
