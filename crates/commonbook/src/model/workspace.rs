//! Workspaces: what one group of agents shares. A workspace is the unit of sharing, ordering and
//! sharding.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::{input, limits};

/// The name of a workspace: lower-case letters, digits, `-`, `_` and `.`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Workspace(String);

impl Workspace {
    /// The default workspace.
    #[must_use]
    pub fn fallback() -> Self {
        Self("default".to_owned())
    }

    /// The workspace whose memories every search includes.
    #[must_use]
    pub fn global() -> Self {
        Self("global".to_owned())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This workspace and `global`: what a caller reads by default.
    #[must_use]
    pub fn with_global(&self) -> Vec<Self> {
        let global = Self::global();
        if *self == global {
            return vec![global];
        }
        vec![self.clone(), global]
    }

    /// The nearest workspace name to a text that was not written as one, such as a folder's name:
    /// characters that a name cannot hold become `-`.
    #[must_use]
    pub fn nearest_workspace_name(text: &str) -> Option<Self> {
        let fits = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
        let name: String = text.chars().map(fits).take(limits::WORKSPACE_CHARS).collect();
        name.trim_matches(['-', '_', '.']).parse().ok()
    }
}

impl FromStr for Workspace {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        input::slug("workspace", text, limits::WORKSPACE_CHARS).map(Self)
    }
}

impl TryFrom<String> for Workspace {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Workspace> for String {
    fn from(workspace: Workspace) -> Self {
        workspace.0
    }
}

impl fmt::Display for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_become_workspace_names() {
        let table = [
            ("commonbook", Some("commonbook")),
            ("My Project (old)", Some("my-project--old")),
            ("conv-26", Some("conv-26")),
            (".hidden", Some("hidden")),
            ("///", None),
        ];
        for (folder, name) in table {
            let found = Workspace::nearest_workspace_name(folder);
            assert_eq!(found.as_ref().map(Workspace::as_str), name, "{folder:?}");
        }
    }
}
