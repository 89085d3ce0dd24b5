//! Briefings: texts that an agent receives without asking, at the beginning of a session and with
//! each prompt. No text repeats an item of an earlier one in the session.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::model::delivery::{BriefingItem, BriefingKey, BriefingRecord, MemoryCensus};

use super::context::ItemSummary;
use super::context::choose::{CandidateReceipt, ContextCandidate, ContextSelection, ContextSource};
use super::item::PromptItem;
use crate::base::clock::Timestamp;
use crate::base::hash::sha256;
use crate::base::id::ContextId;
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::delivery::HEADLINE_PREFIX;
use crate::model::memory::QuarantineNotice;
use crate::model::workspace::Workspace;
use commonbook_text::sanitize;
use commonbook_text::tokens::{self, TokenBudget};

/// Tokens of the notices about quarantined memories in one briefing.
const NOTICE_TOKENS_MAX: usize = 300;

/// Hex digits of a fingerprint that make a revision.
const REVISION_DIGITS: usize = 15;

/// Returns what you should know now, and nothing twice in a session: when it begins, standing
/// memory, the user, the most important memories and handoffs for you; with a prompt also what fits
/// it, and what is new. Hooks call it, so that you need not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetBriefing {
    /// What the user has said. Of a long text the first 8,000 characters count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = input::TEXT_PATTERN))]
    pub prompt: Option<String>,
    /// The client's own id of the session. By default the session you work in, else the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub client_session: Option<String>,
    /// Whether the session has lost its conversation: earlier items may come again.
    #[serde(default)]
    pub restart: bool,
    /// The user that you work for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
}

/// What an agent should know now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Briefing {
    /// The agent that it was made for.
    pub agent: Agent,
    /// The text; empty if nothing is new. What the session has lasting use for comes
    /// first.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// What the text has in full.
    pub items: Vec<ItemSummary>,
    /// What the text names by headlines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headlines: Vec<ItemSummary>,
    /// The ids of the receipts, which explain the choice.
    pub contexts: Vec<ContextId>,
}

impl Briefing {
    /// The briefing of these parts, without the empty ones.
    #[must_use]
    pub fn of(
        agent: Agent,
        parts: &[String],
        items: Vec<ItemSummary>,
        headlines: Vec<ItemSummary>,
        contexts: Vec<ContextId>,
    ) -> Self {
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let text = parts.join("\n\n");
        let tokens = u32::try_from(tokens::count(&text)).unwrap_or(u32::MAX);
        Self { agent, text, tokens, items, headlines, contexts }
    }
}

impl BriefingItem {
    /// The headline of a candidate at its present revision.
    #[must_use]
    pub fn headline_of(candidate: &ContextCandidate) -> Self {
        let Self { id, revision } = Self::of(candidate);
        Self { id: format!("{HEADLINE_PREFIX}{id}"), revision }
    }

    /// A candidate at its present revision.
    #[must_use]
    pub fn of(candidate: &ContextCandidate) -> Self {
        let ContextCandidate { item, source, revision, .. } = candidate;
        Self { id: item.id.clone(), revision: revision_of(item, *source, *revision) }
    }

    /// The items of a text and its headlines, those that stand beside a contradicting one included.
    #[must_use]
    pub fn all_of(chosen: &ContextSelection) -> Vec<Self> {
        let receipts: HashMap<&str, &CandidateReceipt> = (chosen.receipt.candidates.iter())
            .map(|candidate| (candidate.id.as_str(), candidate))
            .collect();
        let items = chosen.items.iter().flat_map(|item| [Some(item), item.against.as_deref()]);
        let items = items.flatten().filter_map(|item| {
            let receipt = receipts.get(item.id.as_str())?;
            let revision = revision_of(item, receipt.source, receipt.revision);
            Some(Self { id: item.id.clone(), revision })
        });
        let named = chosen.receipt.candidates.iter().filter(|candidate| candidate.headline);
        let headlines = named.map(|candidate| {
            let prefix = if candidate.taken { "" } else { HEADLINE_PREFIX };
            let revision = candidate.revision.unwrap_or_default();
            Self { id: format!("{prefix}{}", candidate.id), revision }
        });
        items.chain(headlines).collect()
    }
}

/// The revision of an item. A handoff never changes, and is cut to the room that it has; a standing
/// memory has a fingerprint of its text.
fn revision_of(item: &PromptItem, source: ContextSource, revision: Option<u64>) -> u64 {
    match (source, revision) {
        (_, Some(revision)) => revision,
        (ContextSource::Handoff, None) => 0,
        (_, None) => {
            u64::from_str_radix(&sha256(&item.text)[..REVISION_DIGITS], 16).unwrap_or_default()
        }
    }
}

impl MemoryCensus {
    /// The line at the end of the beginning of a session.
    #[must_use]
    pub fn line(self) -> String {
        let Self { memories, agents } = self;
        let agents = if agents == 1 { "1 agent".to_owned() } else { format!("{agents} agents") };
        let count = match memories {
            0 => {
                return "The shared memory is empty. Save what the next agent must know with \
                        save_memory."
                    .to_owned();
            }
            1 => "1 memory".to_owned(),
            many if many > limits::BRIEFING_COUNTED => {
                format!("more than {} memories", limits::BRIEFING_COUNTED)
            }
            many => format!("{many} memories"),
        };
        format!("The shared memory has {count} of {agents}; search_memory finds them.")
    }
}

/// What lies in a workspace that a project used before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierCensus {
    /// The workspace.
    pub workspace: Workspace,
    /// Its memories that the agent may read, at most [`limits::BRIEFING_COUNTED`] and one.
    pub memories: u64,
}

impl EarlierCensus {
    /// The line at the end of the beginning of a session.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { workspace, memories } = self;
        let count = match *memories {
            1 => "1 memory".to_owned(),
            many if many > limits::BRIEFING_COUNTED => {
                format!("more than {} memories", limits::BRIEFING_COUNTED)
            }
            many => format!("{many} memories"),
        };
        format!(
            "Workspace {workspace}, which this project used before, has {count}: search_memory finds them \
             too, marked with its name. The user can bring them here with `commonbook workspace move \
             {workspace}` (--topic selects some), or use that workspace: `commonbook workspace alias {workspace}`."
        )
    }
}

/// The last session in which something was saved. The reader decides whether a prompt goes on with it: no word tells,
/// since people say so in words of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// Its agent; `None` if it is the reader.
    pub other: Option<Agent>,
    /// Its beginning.
    pub begun: Timestamp,
}

impl LastSession {
    /// The line at the beginning of a session. `resume` is how the reader resumes a session.
    #[must_use]
    pub fn line(&self, resume: &str) -> String {
        let whose = match &self.other {
            None => "yours".to_owned(),
            Some(agent) => format!("that of {}", sanitize::shown_name(&agent.to_string())),
        };
        let begun = self.begun.strftime("%Y-%m-%d");
        format!(
            "The last session here was {whose}, begun {begun}. If the user goes on with earlier work, {resume} tells \
             what was done, decided and left."
        )
    }
}

/// Where an item of a briefing belongs: at the beginning of a session, or to a prompt.
#[must_use]
pub const fn belongs_to_beginning(source: ContextSource) -> bool {
    matches!(
        source,
        ContextSource::Retraction
            | ContextSource::Handoff
            | ContextSource::Result
            | ContextSource::Standing
            | ContextSource::Profile
            | ContextSource::TaskContext
            | ContextSource::Important
            | ContextSource::Entry
            | ContextSource::News
    )
}

/// Whether an item of this source can come with a prompt. The rest belongs to the beginning alone.
#[must_use]
pub const fn belongs_to_prompt(source: ContextSource) -> bool {
    !matches!(source, ContextSource::Standing | ContextSource::Important)
}

/// The notices to an author whose memories were quarantined, within their share of a briefing. They
/// repeat nothing of a text.
#[must_use]
pub fn quarantine_notices(notices: &[QuarantineNotice]) -> String {
    let mut room = TokenBudget::new(NOTICE_TOKENS_MAX);
    let mut lines = Vec::new();
    for notice in notices {
        let QuarantineNotice { id, owner, hint, .. } = notice;
        let line = format!("The memory {id} of {owner} is quarantined. {hint}");
        if !room.take(tokens::count(&line)) {
            let left = notices.len() - lines.len();
            lines.push(format!("{left} more of your memories are quarantined."));
            break;
        }
        lines.push(line);
    }
    lines.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_census_is_one_short_line() {
        let line = |memories, agents| MemoryCensus { memories, agents }.line();
        let table = [
            (line(142, 4), "has 142 memories of 4 agents;"),
            (line(1, 1), "has 1 memory of 1 agent;"),
            (line(limits::BRIEFING_COUNTED + 1, 7), "has more than 10000 memories of 7 agents;"),
            (line(0, 0), "is empty. Save what the next agent must know with save_memory."),
        ];
        for (line, part) in table {
            assert!(line.contains(part) && tokens::count(&line) <= 32, "{line}");
        }
    }
}
