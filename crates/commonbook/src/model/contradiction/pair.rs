//! Near pairs: two memories of which a reader says what one is to the other.

use commonbook_text::string_enum;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::agent::Agent;
use crate::model::memory::Trust;

string_enum! {
    /// What the newer memory of a pair is to the older one.
    PairRelation {
        /// Both cannot hold.
        Contradicts = "contradicts",
        /// Both say the same.
        Repeats = "repeats",
        /// The newer one holds instead of the older one.
        Replaces = "replaces",
        /// None of these.
        Neither = "neither",
    }
}

string_enum! {
    /// What an answer did.
    AnswerOutcome {
        /// It was recorded as your statement.
        Recorded = "recorded",
        /// The older memory is superseded by the newer one, as you may decide that.
        Superseded = "superseded",
        /// It was recorded, and merges nothing: you may change neither of the two.
        Noted = "noted",
        /// The pair had an answer before, which stays.
        AnsweredBefore = "answered_before",
    }
}

/// Lists pairs of near memories of which nobody has said what they are to each other, newest first: read
/// both parts and answer each pair with `answer_pairs`. A pair is listed until it is answered. A page can
/// have few pairs and a `next`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPairs {
    /// Pairs per page; 20 by default and at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::NEAR_PAIRS))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// One memory of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairSide {
    /// Its id.
    pub id: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// How far it is trusted.
    pub trust: Trust,
    /// The start of the time in which it holds.
    pub at: Timestamp,
    /// The part of it that is nearest to the other one: at most 30 words.
    pub says: String,
}

/// Two memories that may contradict, repeat or replace each other. A reader judges which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NearPair {
    /// The newer memory.
    pub newer: PairSide,
    /// The older memory.
    pub older: PairSide,
}

/// Says what the newer of two near memories is to the older one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPair {
    /// The id of the newer memory.
    pub newer: MemoryId,
    /// The id of the older memory.
    pub older: MemoryId,
    /// `contradicts`: both cannot hold. `repeats`: both say the same. `replaces`: the newer one holds
    /// instead. `neither`: none of these, and the pair is not listed again.
    pub answer: PairRelation,
}

/// Answers up to 20 pairs of `list_pairs`: all of them, or none. An answer is recorded as your statement
/// and changes no memory; only `replaces` supersedes an older memory that you may change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPairs {
    /// The answers.
    #[schemars(length(min = 1, max = limits::NEAR_PAIRS))]
    pub answers: Vec<AnswerPair>,
}

impl AnswerPairs {
    /// Checks the number of answers.
    ///
    /// # Errors
    /// `invalid` without an answer, `too_large` if there are more than [`limits::NEAR_PAIRS`].
    pub fn check(&self) -> Result<()> {
        let (count, most) = (self.answers.len(), limits::NEAR_PAIRS as usize);
        if count == 0 {
            return Err(Error::invalid("answers", "needs at least one answer")
                .hint("List pairs with `list_pairs`, and answer one or more."));
        }
        if count > most {
            return Err(Error::too_large("answers", count, most, "answers")
                .hint("Send the rest in another call."));
        }
        Ok(())
    }
}

/// What one answer did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredPair {
    /// The newer memory.
    pub newer: MemoryId,
    /// The older memory.
    pub older: MemoryId,
    /// What happened.
    pub outcome: AnswerOutcome,
}

/// What answers did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerPairsResult {
    /// Each answer, in order.
    pub pairs: Vec<AnsweredPair>,
}
