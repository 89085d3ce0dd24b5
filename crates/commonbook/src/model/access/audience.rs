//! Audiences: who reads a memory, decided for many memories alike.

use serde::{Deserialize, Serialize};

use super::{Sight, Visibility};
use crate::model::agent::Agent;
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;

/// Who reads a memory. All memories of one audience are seen by the same callers, so what is looked
/// up audience by audience takes no longer where others keep more that the caller does not see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Everybody who reads in this workspace: the memory is shared, about no user, and not quarantined.
    Everybody(Workspace),
    /// Those whom this reach lets in.
    Reach(Visibility),
}

impl Audience {
    /// The audience of a memory with this reach.
    #[must_use]
    pub fn of(reach: &Visibility) -> Self {
        let open = reach.sharing == Sharing::Shared
            && reach.user_id.is_none()
            && reach.trust != Trust::Quarantined;
        if open {
            return Self::Everybody(reach.workspace.clone());
        }
        // Of trust, the rule asks only whether a memory is quarantined.
        let trust = match reach.trust {
            Trust::Quarantined => Trust::Quarantined,
            _ => Trust::Normal,
        };
        Self::Reach(Visibility { trust, ..reach.clone() })
    }

    /// The audience of what an author states of two things: who belongs to the audiences of both. Where
    /// neither holds the other, that is the author alone. Both are of one workspace.
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
    /// Whether the caller belongs to this audience: then it sees each of its memories, else none.
    #[must_use]
    pub fn belongs_to(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody(workspace) => self.workspaces.contains(workspace),
            Audience::Reach(reach) => self.can_see(reach),
        }
    }
}
