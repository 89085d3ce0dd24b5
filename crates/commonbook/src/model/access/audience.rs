//! Audiences: groups of memories that the same callers may see.

use serde::{Deserialize, Serialize};

use super::{Sight, Visibility};
use crate::model::agent::Agent;
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;

/// The callers that may see a memory. All memories of one audience have the same readers, so a
/// lookup by audience takes no time for memories that the caller does not see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Audience {
    /// Every reader of the workspace: the memory is shared, about no user, and not quarantined.
    #[serde(rename = "everybody")]
    Workspace(Workspace),
    /// The callers that this visibility admits.
    #[serde(rename = "reach")]
    Visibility(Visibility),
}

impl Audience {
    /// The audience of a memory with this visibility.
    #[must_use]
    pub fn of(visibility: &Visibility) -> Self {
        if visibility.is_common() {
            return Self::Workspace(visibility.workspace.clone());
        }
        // The rule only distinguishes quarantined memories from others.
        let trust = match visibility.trust {
            Trust::Quarantined => Trust::Quarantined,
            _ => Trust::Normal,
        };
        Self::Visibility(Visibility { trust, ..visibility.clone() })
    }

    /// The audience of a statement about two memories by `author`: the callers of both audiences.
    /// If neither contains the other, only the author. Both are of one workspace.
    #[must_use]
    pub fn of_both(first: &Self, second: &Self, author: &Agent) -> Self {
        let (left, right) = match (first, second) {
            (Self::Workspace(_), narrow) => return narrow.clone(),
            (narrow, Self::Workspace(_)) => return narrow.clone(),
            (Self::Visibility(first), Self::Visibility(second)) => (first, second),
        };
        if left == right {
            return first.clone();
        }
        Self::Visibility(Visibility {
            workspace: left.workspace.clone(),
            owner: author.clone(),
            user_id: left.user_id.clone().or_else(|| right.user_id.clone()),
            sharing: Sharing::Private,
            trust: Trust::Normal,
            opaque: false,
        })
    }
}

impl Sight {
    /// Whether the caller belongs to this audience: it sees all of its memories, or none.
    #[must_use]
    pub fn belongs_to(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Workspace(workspace) => self.workspaces.contains(workspace),
            Audience::Visibility(visibility) => self.can_see(visibility),
        }
    }
}
