//! The requests about standing memory files, and their responses.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StandingAction, StandingLimits, StandingLocation};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::learning::LearningType;

/// Lists the standing memory files: what an agent of each role always receives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListStanding {
    /// Whether to use only the files of the home, which hold for every project.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Returns the standing memory file of a role, as it is or in an earlier version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadStanding {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// The earlier version to return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Adds an item to the standing memory file of a role; creates the file if needed. An agent's item
/// is data of that agent; what a person adds at a terminal is a rule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddStanding {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// The item, one statement.
    #[schemars(length(min = 1, max = limits::STANDING_ITEM_CHARS))]
    pub text: String,
    /// The section; that of the type by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub section: Option<String>,
    /// The type of the item, which selects a section.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub item_type: Option<LearningType>,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Removes an item from the standing memory file of a role. An agent removes only its own items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveStanding {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// The text of the item, or a part that only this item has.
    #[schemars(length(min = 1))]
    pub text: String,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Removes repeated items from the standing memory file of a role. An agent removes only its own
/// items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanStanding {
    /// The role; every role by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub role: Option<String>,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Cleans the standing memory file of a role, breaks its long lines, and cuts it to its limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptimizeStanding {
    /// The role; every role by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub role: Option<String>,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Lists the versions of a standing memory file, newest first: when, who, which lines changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListStandingVersions {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// Maximum number of versions; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Restores an earlier version of a standing memory file as its newest version. Restore the version
/// before to undo that. An agent restores a version only if no item but its own changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreStanding {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// The version to restore.
    pub version: u64,
    /// Whether to use the file of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Creates a standing memory file for each of these roles that has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitStanding {
    /// The roles.
    pub roles: Vec<String>,
    /// Whether to use the files of the home instead of the project's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

/// Returns the role whose standing memory file a text fits best.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteStanding {
    /// The text.
    #[schemars(length(min = 1))]
    pub text: String,
    /// Whether to use only the files of the home.
    #[serde(default, skip_serializing_if = "is_false")]
    pub everywhere: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A standing memory file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingFileInfo {
    /// Its role.
    pub role: String,
    /// The file is the project's or the home folder's.
    pub location: StandingLocation,
    /// Its path.
    pub file: String,
    /// Its version; 0 if none is stored.
    pub version: u64,
    /// When it last changed.
    pub at: Timestamp,
    /// Its size, in bytes.
    pub bytes: usize,
    /// Number of items.
    pub items: usize,
}

/// A standing memory file in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingSummary {
    /// The file.
    #[serde(flatten)]
    pub info: StandingFileInfo,
    /// Its limits.
    pub limits: StandingLimits,
    /// The limits that it exceeds, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<String>,
}

/// The standing memory files that are in use, by role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingList {
    /// The files.
    pub items: Vec<StandingSummary>,
}

/// A standing memory file with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingPage {
    /// The file.
    #[serde(flatten)]
    pub info: StandingFileInfo,
    /// Its text.
    pub text: String,
}

/// The change of a standing memory file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingEdit {
    /// The file as it is now.
    #[serde(flatten)]
    pub info: StandingFileInfo,
    /// Whether it changed.
    pub changed: bool,
    /// The lines that were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The lines that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// The item of the file that says the same; nothing was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// The limits that the file exceeds, and the items dropped for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Shows what an agent of a role receives of the home's standing memory when nothing else competes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewStanding {
    /// The role, such as `engineer`.
    #[schemars(length(min = 1))]
    pub role: String,
    /// A further item that the file does not have yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
}

/// What an agent of a role receives of its standing memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingPreview {
    /// The role.
    pub role: String,
    /// The text, as a context has it.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// The tokens that a context of the role may have.
    pub budget: u32,
    /// Items and lines without room.
    pub left_out: u64,
}

/// Agrees that agents receive the standing memory files of a project, which somebody else may have
/// written, as its data: until a file changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreeStanding {
    /// Shows what waits, and agrees to nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The path of the file to agree to; every file by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub file: Option<String>,
    /// Agrees to the text with this SHA-256 alone, as `dry_run` shows it: a file that has changed
    /// since is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 64, max = 64))]
    pub sha256: Option<String>,
}

/// A file of a project, with the part that this home has not signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgreedFile {
    /// The role.
    pub role: String,
    /// The path.
    pub file: String,
    /// The text that needs the agreement.
    pub text: String,
    /// The SHA-256 of the text.
    pub sha256: String,
    /// The lines that are new since the last agreement; none without one, or if its text is no longer
    /// stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The lines that are gone since then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// The files that a person has agreed to, or with `dry_run` may agree to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingAgreement {
    /// The files that waited.
    pub items: Vec<AgreedFile>,
}

/// The changes of several standing memory files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingEdits {
    /// The change of each file, by role.
    pub items: Vec<StandingEdit>,
}

/// A version of a standing memory file in its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingVersionInfo {
    /// Its number.
    pub version: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// Who made it; missing for an editor or another program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Agent>,
    /// What made it.
    pub action: StandingAction,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The lines that it added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The lines that it removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether the version before is no longer stored, so that no changes are listed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_first: bool,
}

/// The versions of a standing memory file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingHistory {
    /// The role.
    pub role: String,
    /// The path of the file.
    pub file: String,
    /// The versions, newest first.
    pub items: Vec<StandingVersionInfo>,
}

/// The role that a text fits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingRoute {
    /// The role; missing if none fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its score.
    pub score: f64,
    /// The words that decide, stemmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}
