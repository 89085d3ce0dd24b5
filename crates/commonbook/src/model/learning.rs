//! Learnings: what an agent says that it wants remembered, and what its report states for the next one.
//!
//! A learning stands behind a label of `labels.txt` (`Remember:`, `Gotchas`, `Root
//! cause:`, `For the next one:`) as a sentence, a list, a table, a section, or a type and a content; or in JSON with
//! `remember`, which adds, or `MEMORIES`, which replaces. Ignored are sentences that only contain
//! the word, questions, code, quotations, reports of work, and contexts that Commonbook gave to the agent.
//! A report without a label has lessons where sentences read like one (`lesson.rs`).

mod block;
mod json;
mod label;
mod lesson;
mod markdown;
mod report;
mod requests;
#[cfg(test)]
mod tests;

pub use requests::{LearnRequest, LearnResult, StandingChange};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::limits;
use commonbook_text::claims::compare::says_same;
use commonbook_text::echo::without_contexts;
use commonbook_text::string_enum;

string_enum! {
    /// The type of a learning.
    LearningType {
        /// How recurring work is done.
        Pattern = "pattern",
        /// How the system is built.
        Architecture = "architecture",
        /// A rule to follow.
        Guideline = "guideline",
        /// A mistake to avoid.
        Mistake = "mistake",
        /// An approach to a problem.
        Strategy = "strategy",
        /// How it connects to other systems.
        Integration = "integration",
        /// What makes it fast or slow.
        Performance = "performance",
        /// Any other useful fact.
        Context = "context",
    }
}

impl LearningType {
    /// The type that a word names, also in the plural or by a synonym; [`Self::Context`] for any
    /// other word.
    #[must_use]
    pub fn from_type_word(word: &str) -> Self {
        Self::of_word(word).unwrap_or(Self::Context)
    }

    fn of_word(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase().replace(['-', '_'], " ");
        Some(match word.as_str() {
            "pattern" | "patterns" | "convention" | "conventions" | "code pattern" => Self::Pattern,
            "architecture" | "architectural" | "arch" | "design" | "structure" => {
                Self::Architecture
            }
            "guideline" | "guidelines" | "rule" | "rules" | "best practice" | "best practices"
            | "style" => Self::Guideline,
            "mistake" | "mistakes" | "error" | "bug" | "issue" | "gotcha" | "pitfall"
            | "lesson" => Self::Mistake,
            "strategy" | "strategies" | "approach" | "decision" => Self::Strategy,
            "integration" | "integrations" | "api" | "dependency" => Self::Integration,
            "performance" | "perf" | "optimization" | "optimisation" => Self::Performance,
            "context" | "fact" | "note" | "info" | "general" => Self::Context,
            _ => return None,
        })
    }
}

/// The name under which the metadata of a memory keep the sort of the learning.
pub const LEARNING_SORT_KEY: &str = "learning";

/// Words that a template has between its places.
const TEMPLATE_WORDS_MAX: usize = 2;

/// One learning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Learning {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: LearningType,
    /// Its content.
    pub content: String,
}

/// The learnings of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearningUpdate {
    /// The learnings that replace all earlier ones, if the message says so.
    pub replace: Option<Vec<Learning>>,
    /// The learnings to add.
    pub append: Vec<Learning>,
    /// Learnings that were not accepted, each with the reason.
    pub left_out: Vec<String>,
}

/// Extracts the learnings of a message, without duplicates. Skips contexts that Commonbook gave.
#[must_use]
pub fn extract_learnings(message: &str) -> LearningUpdate {
    let text = without_contexts(message);
    let mut learned = LearningUpdate::default();
    for found in json::learnings_in_json(&text) {
        let learnings = found.learnings;
        if found.replaces {
            learned.replace.get_or_insert_default().extend(learnings);
        } else {
            learned.append.extend(learnings);
        }
    }
    learned.append.extend(block::learnings_in_prose(&text));
    let mut left_out = Vec::new();
    if let Some(all) = &mut learned.replace {
        keep_distinct(all, &mut left_out);
    }
    keep_distinct(&mut learned.append, &mut left_out);
    learned.left_out = left_out;
    learned
}

/// The lessons of a report that stand behind no label, the surest three. A reader may find that one is none.
#[must_use]
pub fn lessons_in_report(report: &str) -> Vec<Learning> {
    let found = lesson::lessons_in_prose(&without_contexts(report)).into_iter();
    let learning = |content| Learning { kind: LearningType::Context, content };
    let mut lessons: Vec<Learning> = found.map(learning).collect();
    keep_distinct(&mut lessons, &mut Vec::new());
    lessons
}

/// Removes repetitions and texts that are no learnings, and limits their number.
fn keep_distinct(learnings: &mut Vec<Learning>, left_out: &mut Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    learnings.retain(|learning| {
        let chars = learning.content.chars().count();
        let same = learning.content.to_lowercase();
        let is_same =
            |said: &String| said.to_lowercase() == same || says_same(said, &learning.content);
        if !says_something(&learning.content) || seen.iter().any(is_same) {
            return false;
        }
        if chars > limits::LEARNING_CHARS {
            left_out.push(format!(
                "a learning has {chars} characters; the maximum is {}",
                limits::LEARNING_CHARS
            ));
            return false;
        }
        if seen.len() == limits::LEARNINGS {
            left_out.push(format!("the message has more than {} learnings", limits::LEARNINGS));
            return false;
        }
        seen.push(learning.content.clone());
        true
    });
}

/// Whether a content can be a learning: more than one word, and not a placeholder or a template of some.
fn says_something(content: &str) -> bool {
    let place = |open, close| content.starts_with(open) && content.ends_with(close);
    let words = content.split_whitespace().count();
    let no_blanks = content.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count() >= 4;
    let is_place = place('<', '>') || place('[', ']') || place('{', '}');
    (words > 1 || no_blanks) && !is_place && !is_template(content)
}

/// Whether a content is little else than places to fill in: `<component> failed because <reason>`.
fn is_template(content: &str) -> bool {
    let (mut own, mut rest, mut places) = (String::new(), content, 0);
    while let Some((before, behind)) = rest.split_once('<') {
        let Some((_, after)) = behind.split_once('>') else { break };
        own.push_str(before);
        (rest, places) = (after, places + 1);
    }
    own.push_str(rest);
    let says = own.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    places > 0 && says.count() <= TEMPLATE_WORDS_MAX
}
