//! Consolidation: the requests and results, and the rules by which many memories become fewer.
//!
//! A plan is a pure function of the memories: what it says would change is what a run changes.

pub mod duplicate;
pub mod plan;
pub mod suggest;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, OperationId, SessionId};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;
pub use suggest::{Suggestion, SuggestionAction};

/// Consolidates your memories: merges equal ones and those said to repeat each other, archives what is
/// superseded, expired or was never read, summarises old sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsolidateMemory {
    /// Only reports what would change.
    #[serde(default)]
    pub dry_run: bool,
    /// An `operation` to take back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<OperationId>,
    /// Only suggests what to promote, split or retire.
    #[serde(default)]
    pub suggest: bool,
    /// The memories of all agents; needs the scope admin.
    #[serde(default)]
    pub force: bool,
    /// The `plan` of a dry run: changes nothing if another plan is due by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PLAN_CHARS))]
    pub plan: Option<String>,
    /// Items shown; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::CONSOLIDATION_ITEMS))]
    pub limit: Option<u32>,
}

/// What a request for a consolidation asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsolidationMode {
    /// The plan.
    Preview,
    /// The changes; of this plan alone, if there is one.
    Run(Option<String>),
    /// The reversal of an earlier run.
    Undo(OperationId),
    /// Suggestions.
    Suggest,
}

impl ConsolidateMemory {
    /// Returns what is asked for, and the number of items to show.
    ///
    /// # Errors
    /// `invalid` with the field, if the limit is out of range or two fields exclude each other.
    pub fn read(&self) -> Result<(ConsolidationMode, usize)> {
        let shown = self.limit.unwrap_or(limits::PAGE_DEFAULT);
        input::in_range("limit", shown, 1..=limits::CONSOLIDATION_ITEMS)?;
        let chosen = [
            (self.dry_run, "dry_run"),
            (self.undo.is_some(), "undo"),
            (self.suggest, "suggest"),
            (self.plan.is_some(), "plan"),
        ];
        let chosen: Vec<&str> =
            chosen.iter().filter(|(is_set, _)| *is_set).map(|(_, field)| *field).collect();
        if let [first, second, ..] = chosen.as_slice() {
            return Err(Error::invalid(second, format!("excludes `{first}`"))
                .hint("Leave one of the two out."));
        }
        if let Some(plan) = &self.plan {
            input::line("plan", plan, limits::PLAN_CHARS)?;
        }
        let mode = match self.undo {
            Some(operation) => ConsolidationMode::Undo(operation),
            None if self.suggest => ConsolidationMode::Suggest,
            None if self.dry_run => ConsolidationMode::Preview,
            None => ConsolidationMode::Run(self.plan.clone()),
        };
        Ok((mode, shown as usize))
    }
}

string_enum! {
    /// What a consolidation did.
    ConsolidationOutcome {
        /// It changed what its plan says.
        Completed = "completed",
        /// It only planned.
        Planned = "planned",
        /// Nothing: another one is running in the workspace.
        Skipped = "skipped",
        /// It took an earlier one back.
        Undone = "undone",
        /// It only suggested.
        Suggested = "suggested",
    }
}

string_enum! {
    /// A change of one memory.
    ConsolidationAction {
        /// It has the text of `into`, or was said to repeat it; `into` supersedes it.
        Merge = "merge",
        /// It takes in what others have besides their text.
        Keep = "keep",
        /// It is archived: superseded or expired.
        Archive = "archive",
        /// It is archived: no reader ever received it.
        Prune = "prune",
        /// The entity is merged into another one whose name means the same.
        Join = "join",
        /// The session gets a summary.
        Summarise = "summarise",
    }
}

/// One change of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidationItem {
    /// What changes.
    pub action: ConsolidationAction,
    /// The memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemoryId>,
    /// The memory that stays instead of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub into: Option<MemoryId>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionId>,
    /// The reason.
    pub reason: String,
}

/// The result of a consolidation, of its preview or of its reversal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidationResult {
    /// What was done.
    pub outcome: ConsolidationOutcome,
    /// Why nothing was done: `already running since …`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The id to undo it with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub operation: Option<OperationId>,
    /// The digest of the plan, with which a run does exactly this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<String>,
    /// Memories merged into others.
    pub merged: u64,
    /// Superseded and expired memories archived.
    pub archived: u64,
    /// Memories archived that nobody ever read.
    pub pruned: u64,
    /// Sessions summarised.
    pub summarised: u64,
    /// Entities merged.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub entities: u64,
    /// Memories and entities put back.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub restored: u64,
    /// Open contradictions that you see.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub contradictions: u64,
    /// Seconds that it took.
    pub seconds: u64,
    /// The first changes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub items: Vec<ConsolidationItem>,
    /// What to promote, split or retire.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub suggestions: Vec<Suggestion>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ConsolidationResult {
    /// A result in which nothing has changed yet.
    #[must_use]
    pub const fn of(outcome: ConsolidationOutcome) -> Self {
        Self {
            outcome,
            reason: None,
            operation: None,
            plan: None,
            merged: 0,
            archived: 0,
            pruned: 0,
            summarised: 0,
            entities: 0,
            restored: 0,
            contradictions: 0,
            seconds: 0,
            items: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// Counts a change.
    pub const fn count(&mut self, action: ConsolidationAction) {
        match action {
            ConsolidationAction::Merge => self.merged += 1,
            ConsolidationAction::Archive => self.archived += 1,
            ConsolidationAction::Prune => self.pruned += 1,
            ConsolidationAction::Join => self.entities += 1,
            ConsolidationAction::Summarise => self.summarised += 1,
            ConsolidationAction::Keep => {}
        }
    }
}

/// The right to consolidate a workspace, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsolidationLease {
    /// The workspace.
    pub workspace: Workspace,
    /// The fencing token: it grows with each lease, and an older one is refused.
    pub token: u64,
    /// The agent that consolidates.
    pub agent: Agent,
    /// The operation; one that died is continued under its id.
    pub operation: OperationId,
}

/// Who holds the right to consolidate a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The operation, whose id was made when it began.
    pub operation: OperationId,
    /// When the lease ends unless it is extended.
    pub until: Timestamp,
}

impl LeaseHolder {
    /// Why another consolidation is skipped now.
    #[must_use]
    pub fn skip_reason(&self, now: Timestamp) -> String {
        let since = self.operation.made_at().strftime("%H:%M");
        let millis = self.until.duration_since(now).as_millis().max(0);
        let seconds = (millis + 999) / 1000;
        format!(
            "already running since {since} UTC (its lease ends in {seconds} s; if that process died, \
             try again then)"
        )
    }
}

/// When consolidations run by themselves: the section `consolidation` of config.json.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationSettings {
    /// Hours from one consolidation of a workspace to the next; never, by default.
    #[schemars(range(min = 1, max = limits::CONSOLIDATION_HOURS))]
    pub every_hours: Option<u32>,
}

impl ConsolidationSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn check(&self) -> Result<()> {
        match self.every_hours {
            Some(hours) => {
                input::in_range("every_hours", hours, 1..=limits::CONSOLIDATION_HOURS).map(drop)
            }
            None => Ok(()),
        }
    }

    /// The time before which a workspace was last consolidated, if it is due now.
    #[must_use]
    pub fn due_before(&self, now: Timestamp) -> Option<Timestamp> {
        let hours = jiff::SignedDuration::from_hours(i64::from(self.every_hours?));
        now.checked_sub(hours).ok()
    }
}
