//! Learnings: what an agent says in so many words that it wants remembered.
//!
//! Nothing is guessed. A learning is a block with a heading of its own (`Remember:`, `Memorize:`,
//! `Add To Memory:`) with a type and a content, a list or a sentence; or JSON with `remember`, which
//! adds, or `MEMORIES`, which takes the place of all that was there. A sentence in which somebody
//! remembers something is none; neither is what stands in code, in a quotation, or in a context
//! that was given to the agent.

mod block;
mod json;
mod requests;
#[cfg(test)]
mod tests;

pub use requests::{LearnRequest, LearnResult, StandingChange};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::limits;
use commonbook_text::echo::without_contexts;
use commonbook_text::string_enum;

string_enum! {
    /// What sort of thing was learned.
    LearningType {
        /// How things are done here again and again.
        Pattern = "pattern",
        /// How it is built.
        Architecture = "architecture",
        /// What to keep to.
        Guideline = "guideline",
        /// What went wrong, and is not to go wrong again.
        Mistake = "mistake",
        /// How to go about a problem.
        Strategy = "strategy",
        /// How it connects to others.
        Integration = "integration",
        /// What makes it fast or slow.
        Performance = "performance",
        /// Anything else that is good to know.
        Context = "context",
    }
}

impl LearningType {
    /// The type that a word names: itself, in the plural, or by another word for it. What names
    /// none is [`Self::Context`].
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

/// One thing that was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Learning {
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: LearningType,
    /// What was learned.
    pub content: String,
}

/// What an agent wants remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearningUpdate {
    /// What takes the place of all that was there, where it says so.
    pub replace: Option<Vec<Learning>>,
    /// What comes to it.
    pub append: Vec<Learning>,
    /// What was not taken, with the reason; never silently.
    pub left_out: Vec<String>,
}

/// What a message wants remembered, each thing once. The contexts that stand in it are passed over.
#[must_use]
pub fn extract_learnings(message: &str) -> LearningUpdate {
    let text = without_contexts(message);
    let mut learned = LearningUpdate::default();
    for said in json::learnings_in_json(&text) {
        let learnings = said.learnings;
        if said.replaces {
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

/// Each learning once, without those that are no learnings, and not more than there may be.
fn keep_distinct(learnings: &mut Vec<Learning>, left_out: &mut Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    learnings.retain(|learning| {
        let chars = learning.content.chars().count();
        let same = learning.content.to_lowercase();
        if !says_something(&learning.content) || seen.contains(&same) {
            return false;
        }
        if chars > limits::LEARNING_CHARS {
            left_out.push(format!(
                "a learning of {chars} characters, and at most {} fit",
                limits::LEARNING_CHARS
            ));
            return false;
        }
        if seen.len() == limits::LEARNINGS {
            left_out.push(format!("more than {} learnings in one message", limits::LEARNINGS));
            return false;
        }
        seen.push(same);
        true
    });
}

/// Whether a content can be a learning: more than a word, and no place to be filled in.
fn says_something(content: &str) -> bool {
    let place = |open, close| content.starts_with(open) && content.ends_with(close);
    let words = content.split_whitespace().count();
    let no_blanks = content.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count() >= 4;
    (words > 1 || no_blanks) && !place('<', '>') && !place('[', ']') && !place('{', '}')
}
