//! The requests of forgetting.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{CertificateId, MemoryId};
use crate::base::input;
use crate::base::limits;
use crate::model::access;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::memory::Memory;
use crate::model::search::period;

/// Removes memories and every copy in the home for good. Without `confirm` it only shows what would
/// go. Name one by `id`, or several by other fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetMemory {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Their owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Whom they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub about_user: Option<String>,
    /// Their topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TOPIC_CHARS))]
    pub topic: Option<String>,
    /// Saved since this time, date or age (`7d`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Saved before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Also cut other agents' quotes.
    #[serde(default)]
    pub also_quotes: bool,
    /// Only show it.
    #[serde(default)]
    pub dry_run: bool,
    /// Do it. It cannot be undone.
    #[serde(default)]
    pub confirm: bool,
}

/// Removes several memories as `forget_memory` does. Without `confirm` it only shows what would go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetMemories {
    /// Their owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Whom they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub about_user: Option<String>,
    /// Their topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TOPIC_CHARS))]
    pub topic: Option<String>,
    /// Saved since this time, date or age (`7d`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Saved before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Also cut other agents' quotes.
    #[serde(default)]
    pub also_quotes: bool,
    /// Only show it.
    #[serde(default)]
    pub dry_run: bool,
    /// Do it. It cannot be undone.
    #[serde(default)]
    pub confirm: bool,
}

/// Returns the certificate of what was forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCertificate {
    /// The certificate's id.
    pub certificate: CertificateId,
}

/// Lists the certificates of what was forgotten in this workspace, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCertificates {
    /// At most this many; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
}

/// Allows texts again that were forgotten: they can be saved and imported from now on. What was removed
/// stays removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowForgotten {
    /// The certificate's id.
    pub certificate: CertificateId,
}

/// The memories that a request selects.
#[derive(Debug, Clone, PartialEq)]
pub enum ForgetSelection {
    /// One memory.
    Memory(MemoryId),
    /// The memories of an owner and its children.
    Owned {
        /// The owner.
        owner: Agent,
        /// Whom they are about.
        about_user: Option<String>,
        /// Their topic.
        topic: Option<String>,
        /// Saved since then.
        since: Option<Timestamp>,
        /// Saved before then.
        until: Option<Timestamp>,
    },
}

impl ForgetMemory {
    /// Whether it is to be done.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirm && !self.dry_run
    }

    /// Returns the selection.
    ///
    /// # Errors
    /// `invalid` with the field if it names none, or both an id and other fields; `forbidden` for
    /// another owner.
    pub fn read(&self, caller: &Caller, now: Timestamp) -> Result<ForgetSelection> {
        let filters = [&self.owner, &self.about_user, &self.topic, &self.since, &self.until];
        let is_filtered = filters.iter().any(|filter| filter.is_some());
        if let Some(id) = self.id {
            return match is_filtered {
                false => Ok(ForgetSelection::Memory(id)),
                true => {
                    Err(Error::invalid("id", "an id and other fields select different memories")
                        .hint("Name the id alone, or leave it out."))
                }
            };
        }
        if !is_filtered {
            return Err(Error::invalid("id", "nothing is selected")
                .hint("Name an id, an owner, a user, a topic or a time."));
        }
        let owner = match self.owner.as_deref() {
            None => caller.agent.clone(),
            Some(name) => Agent::with_any_name(name).map_err(|error| error.with_field("owner"))?,
        };
        let is_own = owner == caller.agent || owner.is_child_of(&caller.agent);
        if !is_own && !access::is_person(caller) {
            return Err(access::not_the_author(&owner, caller));
        }
        let (since, until) =
            period::period_bounds(self.since.as_deref(), self.until.as_deref(), now)?;
        let line = |field: &str, text: &Option<String>, chars: usize| {
            text.as_deref().map(|text| input::line(field, text, chars)).transpose()
        };
        let about_user = line("about_user", &self.about_user, limits::USER_CHARS)?;
        let topic = line("topic", &self.topic, limits::TOPIC_CHARS)?;
        Ok(ForgetSelection::Owned { owner, about_user, topic, since, until })
    }
}

impl From<ForgetMemories> for ForgetMemory {
    fn from(request: ForgetMemories) -> Self {
        let ForgetMemories {
            owner,
            about_user,
            topic,
            since,
            until,
            also_quotes,
            dry_run,
            confirm,
        } = request;
        Self { id: None, owner, about_user, topic, since, until, also_quotes, dry_run, confirm }
    }
}

impl ForgetSelection {
    /// Whether it selects this memory. Deleted memories are selected too.
    #[must_use]
    pub fn fits(&self, memory: &Memory) -> bool {
        match self {
            Self::Memory(id) => memory.id == *id,
            Self::Owned { owner, about_user, topic, since, until } => {
                (memory.owner == *owner || memory.owner.is_child_of(owner))
                    && about_user.as_ref().is_none_or(|user| memory.user_id.as_ref() == Some(user))
                    && topic.as_ref().is_none_or(|topic| {
                        let topic = topic.to_lowercase();
                        memory.topics.iter().any(|other| other.to_lowercase() == topic)
                    })
                    && since.is_none_or(|since| memory.recorded_at >= since)
                    && until.is_none_or(|until| memory.recorded_at <= until)
            }
        }
    }
}
