//! A context as it is stored.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::{ContextOrigin, ContextReceipt};
use crate::base::id::ContextId;
use crate::model::access::ItemKind;
use crate::model::agent::Agent;
use crate::model::lineage::{MemoryReading, day_session};
use crate::model::standing::StandingLocation;
use crate::model::workspace::Workspace;

/// A context as it is stored: its receipt, and what is needed to build it again. It holds no text
/// of the context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRecord {
    /// Its id.
    pub id: ContextId,
    /// The workspace it was made in.
    pub workspace: Workspace,
    /// The agent that it was made for.
    pub agent: Agent,
    /// When it was made.
    pub at: Timestamp,
    /// The position of the last event of the journal that it considered.
    pub sequence: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// The nonce of its fence.
    pub nonce: String,
    /// The standing memory file that was read for it.
    pub standing: Option<StandingSnapshot>,
    /// Whether its reader may write in this workspace alone, and it waits to be counted: then what
    /// it read of `global` counts nothing there.
    pub is_bound: bool,
    /// The candidates and their outcomes.
    pub receipt: ContextReceipt,
}

impl ContextRecord {
    /// The memories that the session received in full.
    #[must_use]
    pub fn reading(&self) -> MemoryReading {
        let session = self.receipt.session.clone();
        let memories = self.receipt.included().filter_map(|candidate| {
            let ItemKind::Memory(id) = ItemKind::of(&candidate.id) else { return None };
            Some((id, candidate.revision))
        });
        MemoryReading {
            workspace: self.workspace.clone(),
            agent: self.agent.clone(),
            session: session.unwrap_or_else(|| day_session(self.at)),
            context: Some(self.id),
            sequence: self.sequence,
            at: self.at,
            memories: memories.collect(),
        }
    }

    /// The user that it was made for.
    #[must_use]
    pub fn user_id(&self) -> Option<&str> {
        self.receipt.diagnostics.resolved_user_id.as_deref()
    }

    /// The same record for another reader than its agent, who sees these items of it alone.
    #[must_use]
    pub fn narrowed_to(self, sees: impl Fn(&str) -> bool) -> Self {
        let receipt = self.receipt.narrowed_to(sees);
        Self { sha256: String::new(), receipt, ..self }
    }

    /// The record as a list shows it to a reader who sees these items.
    #[must_use]
    pub fn summary(self, sees: impl Fn(&str) -> bool) -> ContextSummary {
        let items: Vec<_> = self.receipt.told().filter(|item| sees(&item.id)).collect();
        let bytes: usize = items.iter().filter_map(|item| item.bytes).sum();
        ContextSummary {
            id: self.id,
            agent: self.agent,
            at: self.at,
            origin: self.receipt.origin,
            session: self.receipt.session.clone(),
            items: items.len() as u64,
            tokens: self.receipt.tokens_for(&sees) as u64,
            bytes: bytes as u64,
        }
    }
}

/// Which contexts a list has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextFilter {
    /// Only those of this agent.
    pub agent: Option<Agent>,
    /// Only those of this session.
    pub session: Option<String>,
    /// Only those since this time.
    pub since: Option<Timestamp>,
}

/// A context, with the figures of the items that you may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSummary {
    /// Its id.
    pub id: ContextId,
    /// Its agent.
    pub agent: Agent,
    /// When it was built.
    pub at: Timestamp,
    /// What told it.
    pub origin: ContextOrigin,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Items, in full or by a headline.
    pub items: u64,
    /// Tokens of the text; of the items in full alone, if you may not read all that it has.
    pub tokens: u64,
    /// Bytes of the items, each in full.
    pub bytes: u64,
}

/// A standing memory file as a context read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingSnapshot {
    /// Its path.
    pub file: String,
    /// The file is the project's or the home folder's.
    pub source: StandingLocation,
    /// Its bytes.
    pub bytes: u64,
    /// The SHA-256 of its text.
    pub sha256: String,
}
