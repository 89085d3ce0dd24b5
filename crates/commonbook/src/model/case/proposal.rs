//! Proposals: entries that the digest of a case with a lead puts before the lead.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::{EntryProposal, KnownEntry};
use super::{AppendResult, Case, CaseKey};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::string_enum;

string_enum! {
    /// The status of a proposal.
    ProposalStatus {
        /// It waits for the lead.
        Open = "open",
        /// The lead rejected it; its entries are not proposed again.
        Rejected = "rejected",
    }
}

string_enum! {
    /// What the lead of a case decides on a proposal.
    ProposalDecision {
        /// Its entries are appended.
        Accept = "accept",
        /// They are not, and never proposed again.
        Reject = "reject",
    }
}

/// Entries that wait for the lead of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseProposal {
    /// The case.
    pub key: CaseKey,
    /// Its number in the case: 1, 2, 3 ….
    pub number: u64,
    /// Its status.
    pub status: ProposalStatus,
    /// When it was made.
    pub at: Timestamp,
    /// The entries, without those whose sources have changed since.
    pub entries: Vec<EntryProposal>,
}

/// Lists the proposals that wait for the lead of a case, at most one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListProposals {
    /// The case's key.
    pub key: CaseKey,
}

/// The proposals of a case that wait for its lead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalList {
    /// The lead.
    pub lead: Option<Agent>,
    /// The proposals.
    pub items: Vec<CaseProposal>,
}

/// Accepts or rejects the proposal for a case that you lead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideProposal {
    /// The case's key.
    pub key: CaseKey,
    /// The number of the proposal.
    pub number: u64,
    /// Accept or reject.
    pub decision: ProposalDecision,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl CaseProposal {
    /// The entries, as a digest that is made later knows them.
    pub fn known_entries(&self) -> impl Iterator<Item = KnownEntry> {
        self.entries.iter().map(|entry| {
            let sides = entry.sides.iter().map(|side| side.text.clone());
            let texts = [entry.summary.clone()].into_iter().chain(entry.extract.clone());
            KnownEntry {
                id: None,
                sources: Vec::new(),
                said_by: String::new(),
                texts: texts.chain(sides).collect(),
                at: None,
                is_current: false,
            }
        })
    }
}

impl Case {
    /// Checks that this agent decides on proposals: it is the lead, or an agent above it.
    ///
    /// # Errors
    /// `forbidden` for another agent, `conflict` if the case has no lead.
    pub fn may_decide(&self, agent: &Agent) -> Result<()> {
        match &self.lead {
            Some(lead) if lead == agent || lead.is_child_of(agent) => Ok(()),
            Some(lead) => {
                Err(Error::new(ErrorKind::Forbidden, format!("{lead} leads case {}", self.key))
                    .hint("Ask the lead, or name another one with `update_case`."))
            }
            None => Err(Error::conflict(format!("case {} has no lead", self.key))
                .hint("Name one with `update_case`.")),
        }
    }
}

/// The answer to a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionResult {
    /// What was decided.
    pub decision: ProposalDecision,
    /// The entries that were appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<AppendResult>,
}
