//! Acts on many memories at once: adopting and purging, each with a preview and an undo.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{ActId, MemoryId};
use crate::base::limits;
use crate::model::agent::{Agent, AgentName};
use crate::model::memory::{Memory, MemoryType};
use crate::model::search::period::{self, PeriodBound};
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

string_enum! {
    /// What was done to many memories.
    BulkKind {
        /// They were given another owner.
        Adopted = "adopted",
        /// They were deleted, to be gone for good after 30 days.
        Purged = "purged",
    }
}

/// Something that was done to many memories at once, and can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkOperation {
    /// Its id.
    pub id: ActId,
    /// The workspace it was done in.
    pub workspace: Workspace,
    /// What was done.
    pub kind: BulkKind,
    /// The agent that did it.
    pub agent: Agent,
    /// When.
    pub at: Timestamp,
}

/// What an act did to one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkItem {
    /// The memory.
    pub memory: MemoryId,
    /// Whose it was before.
    pub owner: Agent,
    /// The revision that it left the memory at.
    pub revision: u64,
}

/// Gives memories that belong to nobody in particular another owner: those that are `legacy`, or
/// whose owner's name fits a pattern. A dry run only tells which; undo takes it back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdoptMemories {
    /// The agent that they belong to from now on; `human`, for what the person vouches for.
    pub agent_name: String,
    /// Whose they are now: a name, or the beginning of names with * at its end (import/*); legacy
    /// by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only those of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only those about this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only those kept since then: a time, a date, or so long ago (7d).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only those kept until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Tell what would be done, and do nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Deletes all memories of yours, and of your children, that were kept since a time: when what an
/// agent has saved cannot be trusted. A dry run only tells which; undo brings them back for 30 days,
/// and then they are gone for good.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeSince {
    /// Those kept since then: a time, a date, or so long ago (7d).
    pub since: String,
    /// Only those kept until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Tell what would be done, and do nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Takes back what was done to many memories at once, of those that are still as it left them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoAct {
    /// The id that it was answered with.
    pub act_id: ActId,
}

/// What was done to many memories, or would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BulkResult {
    /// What undoes it; nothing for a dry run, and where there was nothing to do.
    pub act: Option<ActId>,
    /// How many memories.
    pub memories: u64,
    /// The first of them, at most 20, as they were before.
    pub items: Vec<Memory>,
    /// How many entries of cases were meant too: nobody changes or deletes those, and they stay.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub entries: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

/// Which memories are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct BulkSelection {
    owner: OwnerPattern,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq)]
enum OwnerPattern {
    Is(Agent),
    Begins(String),
    IsOrBelow(Agent),
}

impl BulkSelection {
    /// Whether this memory is one of them; one that is deleted never is.
    #[must_use]
    pub fn fits(&self, memory: &Memory) -> bool {
        let owned = match &self.owner {
            OwnerPattern::Is(agent) => memory.owner == *agent,
            OwnerPattern::Begins(start) => memory.owner.as_str().starts_with(start.as_str()),
            OwnerPattern::IsOrBelow(agent) => {
                memory.owner == *agent || memory.owner.is_child_of(agent)
            }
        };
        owned
            && memory.deleted_at.is_none()
            && self.since.is_none_or(|since| memory.recorded_at >= since)
            && self.until.is_none_or(|until| memory.recorded_at <= until)
    }
}

impl AdoptMemories {
    /// To whom, and which memories.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn read(&self, now: Timestamp) -> Result<(Agent, BulkSelection)> {
        let to = match Agent::with_any_name(&self.agent_name) {
            // No agent claims this name; an administrator says what stands under it.
            Ok(named) if named == Agent::human() => named,
            _ => {
                let name = self.agent_name.parse::<AgentName>();
                name.map_err(|error| error.with_field("agent_name"))?.agent
            }
        };
        let owner = match self.owner.as_deref() {
            None => OwnerPattern::Is(Agent::legacy()),
            Some(pattern) => match pattern.strip_suffix('*') {
                Some("") => {
                    return Err(Error::invalid("owner", "this fits everybody's memories")
                        .hint("Begin with the name of those that are meant: import/*."));
                }
                Some(start) => OwnerPattern::Begins(start.to_lowercase()),
                None => OwnerPattern::Is(
                    Agent::with_any_name(pattern).map_err(|error| error.with_field("owner"))?,
                ),
            },
        };
        let (since, until) = (self.since.as_deref(), self.until.as_deref());
        Ok((to, bulk_selection(owner, since, until, now)?))
    }
}

impl PurgeSince {
    /// Which memories are meant, of this agent.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn read(&self, agent: &Agent, now: Timestamp) -> Result<BulkSelection> {
        let owner = OwnerPattern::IsOrBelow(agent.clone());
        bulk_selection(owner, Some(&self.since), self.until.as_deref(), now)
    }
}

fn bulk_selection(
    owner: OwnerPattern,
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
) -> Result<BulkSelection> {
    let since = since
        .map(|text| period::parse_period_bound("since", text, PeriodBound::First, now))
        .transpose()?;
    let until = until
        .map(|text| period::parse_period_bound("until", text, PeriodBound::Last, now))
        .transpose()?;
    if since.zip(until).is_some_and(|(since, until)| until < since) {
        return Err(Error::invalid("until", "this is before since"));
    }
    Ok(BulkSelection { owner, since, until })
}

impl BulkResult {
    /// One more memory that it is done to.
    pub fn add(&mut self, memory: &Memory) {
        self.memories += 1;
        if self.items.len() < limits::PAGE_DEFAULT as usize {
            self.items.push(memory.clone());
        }
    }
}
