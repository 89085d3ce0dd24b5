//! The access policy of a home: settings for all agents.

use serde::{Deserialize, Serialize};

use super::require_scope;
use crate::base::error::{Error, ErrorKind, Result};
use crate::model::caller::Caller;
use crate::model::memory::Sharing;
use crate::model::token::TokenScope;

/// Settings of access for all agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPolicy {
    /// Whether callers without a name may write.
    pub anonymous_writes: bool,
    /// The default sharing of a memory; conversations stay private.
    pub sharing: Sharing,
}

impl Default for AccessPolicy {
    fn default() -> Self {
        Self { anonymous_writes: true, sharing: Sharing::Shared }
    }
}

impl AccessPolicy {
    /// The policy that keeps to both: a server's, and that of the process which asks it.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let is_private = [self.sharing, other.sharing].contains(&Sharing::Private);
        Self {
            anonymous_writes: self.anonymous_writes && other.anonymous_writes,
            sharing: if is_private { Sharing::Private } else { self.sharing },
        }
    }

    /// Checks that this caller may write.
    ///
    /// # Errors
    /// `unauthenticated` for a caller without a name if that is not allowed; else as
    /// [`require_scope`].
    pub fn may_write(&self, caller: &Caller) -> Result<()> {
        if caller.agent.is_anonymous() && !self.anonymous_writes {
            return Err(Error::new(
                ErrorKind::Unauthenticated,
                "callers without a name may not write here",
            )
            .hint(
                "Give your name: --agent or COMMONBOOK_AGENT_ID at the command line, the header \
                 X-Commonbook-Agent or a token over HTTP.",
            ));
        }
        require_scope(caller, TokenScope::Write)
    }
}
