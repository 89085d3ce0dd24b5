//! The reach of a forgetting: whose words go, beyond the memories that it names.

use super::{FORGOTTEN_MARK, ForgetCertificate, ForgottenPhrases};
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::case::digest::DigestOrigin;
use crate::model::memory::Memory;
use crate::model::standing::AuthorMark;

/// Whose words a forgetting takes out. Anyone can save a sentence that others have said and forget it: that must
/// neither erase theirs nor say whether they did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetReach {
    /// Everybody's: a person forgets.
    Everybody,
    /// Those of an agent and of the agents below it, and the copies that the program made of these memories.
    Agent {
        /// The agent.
        agent: Agent,
        /// The memories that it forgets, and those of its own that lose a quote.
        memories: Vec<MemoryId>,
    },
}

impl ForgetReach {
    /// The reach of what a certificate proves.
    #[must_use]
    pub fn of(certificate: &ForgetCertificate) -> Self {
        match certificate.by_person {
            true => Self::Everybody,
            false => {
                let memories = certificate.memories.iter().chain(&certificate.redacted);
                let (agent, memories) = (certificate.by.clone(), memories.copied().collect());
                Self::Agent { agent, memories }
            }
        }
    }

    /// The reach of an agent's forgetting of the `gone` memories, with its own of those that quote them.
    pub fn of_agent<'m>(
        agent: &Agent,
        gone: impl Iterator<Item = MemoryId>,
        quoting: impl Iterator<Item = &'m Memory>,
    ) -> Self {
        let is_own = |memory: &&Memory| memory.owner == *agent || memory.owner.is_child_of(agent);
        let own = quoting.filter(is_own).map(|memory| memory.id);
        Self::Agent { agent: agent.clone(), memories: gone.chain(own).collect() }
    }

    /// Whether the words of this author go.
    #[must_use]
    pub fn includes_author(&self, author: &str) -> bool {
        match self {
            Self::Everybody => true,
            Self::Agent { agent, .. } => {
                let below = author.strip_prefix(agent.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }

    /// Whether a row that names its memories by id is a copy of one that goes.
    #[must_use]
    pub fn includes_copy(&self, row: &str) -> bool {
        match self {
            Self::Everybody => true,
            Self::Agent { memories, .. } => memories.iter().any(|id| row.contains(&id.to_string())),
        }
    }

    /// Whether a digest made the memory of ones that go.
    #[must_use]
    pub fn includes_digest(&self, memory: &Memory) -> bool {
        match self {
            Self::Everybody => true,
            Self::Agent { memories, .. } => DigestOrigin::of(memory)
                .is_some_and(|origin| origin.sources.iter().any(|id| memories.contains(id))),
        }
    }
}

/// A standing memory file without these phrases, as far as this forgetting reaches: an item of which no word is
/// left goes as a whole. `None` if nothing goes.
#[must_use]
pub fn redacted_standing(
    text: &str,
    phrases: &ForgottenPhrases,
    reach: &ForgetReach,
) -> Option<String> {
    if *reach == ForgetReach::Everybody {
        return phrases.redact(text).map(|redacted| without_empty_items(&redacted));
    }
    let mut changed = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let (_, mark) = AuthorMark::split_from(line);
        let is_own = mark.is_some_and(|mark| reach.includes_author(&mark.author));
        match phrases.redact(line).filter(|_| is_own) {
            Some(redacted) => {
                changed = true;
                without_empty_items(&redacted)
            }
            None => line.to_owned(),
        }
    });
    let redacted: String = lines.collect();
    changed.then_some(redacted)
}

/// A redacted standing memory file without the items that have no word left.
#[must_use]
pub fn without_empty_items(redacted: &str) -> String {
    let is_empty = |line: &str| {
        let (said, _) = AuthorMark::split_from(line);
        let rest = said.replace(FORGOTTEN_MARK, "");
        rest.len() < said.len() && !rest.contains(char::is_alphanumeric)
    };
    redacted.split_inclusive('\n').filter(|line| !is_empty(line)).collect()
}
