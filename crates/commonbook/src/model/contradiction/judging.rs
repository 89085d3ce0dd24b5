//! Judging: an endpoint of the user's own is asked about pairs that the rules leave open.
//!
//! The answer is not trusted: it is one word, or two, and everything else leaves the pair open. A
//! judgement is marked as the endpoint's, and holds only while both texts are those that it read.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Contradiction, ContradictionFinding, DifferenceKind, FindingSource};
use crate::base::error::Result;
use crate::base::page::PageCursor;
use crate::model::memory::Memory;

/// Confidence of a contradiction that an endpoint found.
const JUDGED_CONFIDENCE: f64 = 0.6;

/// The kinds that an endpoint may name.
pub const JUDGED_KINDS: [DifferenceKind; 7] = [
    DifferenceKind::Number,
    DifferenceKind::Date,
    DifferenceKind::Boolean,
    DifferenceKind::Negation,
    DifferenceKind::Antonym,
    DifferenceKind::Name,
    DifferenceKind::Meaning,
];

/// What came of asking about open pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeResult {
    /// The contradictions that the endpoint found; they are open from now on.
    pub contradictions: Vec<Contradiction>,
    /// Number of pairs that do not contradict each other, by its answers. They are not asked again
    /// while their texts stay the same.
    pub compatible: u64,
    /// Number of pairs that stay open because the answer was neither `no` nor `yes` with a kind.
    pub unclear: u64,
    /// Says that the endpoint failed. What it answered before is recorded; `next` begins with the
    /// pair that it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The cursor with which the next call goes on; `null` if nothing is left.
    pub next: Option<PageCursor>,
}

/// The judgement about two memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// They cannot both hold, and differ in this way.
    Contradict(DifferenceKind),
    /// Both can hold.
    Compatible,
}

impl Judgement {
    /// Reads an answer: `no`, or `yes` and a kind, on one line, in any letter case. `None` for
    /// everything else.
    #[must_use]
    pub fn read(answer: &str) -> Option<Self> {
        let line = answer.trim();
        let line = line.strip_suffix('.').unwrap_or(line).to_ascii_lowercase();
        match line.split_once(' ') {
            None => (line == "no").then_some(Self::Compatible),
            Some(("yes", kind)) => {
                let kind = JUDGED_KINDS.into_iter().find(|known| known.name() == kind);
                kind.map(Self::Contradict)
            }
            Some(_) => None,
        }
    }
}

impl ContradictionFinding {
    /// The finding of an endpoint. The reason is in our words: no text of a model is shown.
    #[must_use]
    pub fn of_endpoint(kind: DifferenceKind, older: &Memory, newer: &Memory) -> Self {
        let (a, b) = (&older.owner, &newer.owner);
        let said = match a == b {
            true => format!("the two notes of {a}"),
            false => format!("the notes of {a} and {b}"),
        };
        Self {
            kind,
            reason: format!("the endpoint in the settings judged that {said} cannot both hold"),
            confidence: JUDGED_CONFIDENCE,
            found_by: FindingSource::Endpoint,
            stated_by: None,
        }
    }
}

/// A judge that several threads share.
pub type ContradictionJudgeHandle = Arc<dyn ContradictionJudge>;

/// Answers whether two memories can both hold.
///
/// # Laws
/// - **It returns in time**, and leaves nothing running.
/// - **It returns a text and decides nothing**: the caller reads it strictly.
/// - **It is called outside of every transaction**, and never by a save.
pub trait ContradictionJudge: Send + Sync {
    /// The answer to a question, under these instructions.
    ///
    /// # Errors
    /// `unavailable` if the judge cannot be reached, fails, or is too slow. It is then not called
    /// again for other pairs.
    fn answer(&self, instructions: &str, question: &str, within: Duration) -> Result<String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_no_and_yes_with_a_kind_are_judgements() {
        for (answer, expected) in [
            ("no", Some(Judgement::Compatible)),
            (" No.\n", Some(Judgement::Compatible)),
            ("yes number", Some(Judgement::Contradict(DifferenceKind::Number))),
            ("YES MEANING", Some(Judgement::Contradict(DifferenceKind::Meaning))),
            ("yes", None),
            ("yes author", None),
            ("yes number because both name a port", None),
            ("no, both hold", None),
            ("yes\nnumber", None),
            ("maybe", None),
            ("", None),
            ("I cannot help with that.", None),
            ("{\"contradicts\": true}", None),
        ] {
            assert_eq!(Judgement::read(answer), expected, "{answer:?}");
        }
    }
}
