//! Audiences: groups of memories that the same callers may see.

use serde::{Deserialize, Serialize};

use super::{Sight, Visibility};
use crate::model::agent::Agent;
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;

/// The callers that may see a memory. All memories of one audience have the same readers, so a
/// lookup by audience takes no time for memories that the caller does not see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Every reader of the workspace: the memory is shared, about no user, and not quarantined.
    Everybody(Workspace),
    /// The callers that this visibility admits.
    Reach(Visibility),
}

impl Audience {
    /// The audience of a memory with this visibility.
    #[must_use]
    pub fn of(reach: &Visibility) -> Self {
        if reach.is_common() {
            return Self::Everybody(reach.workspace.clone());
        }
        // The rule only distinguishes quarantined memories from others.
        let trust = match reach.trust {
            Trust::Quarantined => Trust::Quarantined,
            _ => Trust::Normal,
        };
        Self::Reach(Visibility { trust, ..reach.clone() })
    }

    /// The audience of a statement about two memories by `author`: the callers of both audiences.
    /// If neither contains the other, only the author. Both are of one workspace.
    #[must_use]
    pub fn of_both(first: &Self, second: &Self, author: &Agent) -> Self {
        let (one, other) = match (first, second) {
            (Self::Everybody(_), narrow) => return narrow.clone(),
            (narrow, Self::Everybody(_)) => return narrow.clone(),
            (Self::Reach(one), Self::Reach(other)) => (one, other),
        };
        if one == other {
            return first.clone();
        }
        Self::Reach(Visibility {
            workspace: one.workspace.clone(),
            owner: author.clone(),
            user_id: one.user_id.clone().or_else(|| other.user_id.clone()),
            sharing: Sharing::Private,
            trust: Trust::Normal,
        })
    }
}

impl Sight {
    /// Whether the caller belongs to this audience: it sees all of its memories, or none.
    #[must_use]
    pub fn belongs_to(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody(workspace) => self.workspaces.contains(workspace),
            Audience::Reach(reach) => self.can_see(reach),
        }
    }
}
