//! The policy of a home: what it decides for everybody, beyond what each memory says.

use super::require_scope;
use crate::base::error::{Error, ErrorKind, Result};
use crate::model::caller::Caller;
use crate::model::memory::{MemoryType, Sharing};
use crate::model::token::TokenScope;

/// What the layer decides for everybody, beyond what each memory says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessPolicy {
    /// Whether who calls without a name may write.
    pub anonymous_writes: bool,
    /// Who else may read a memory when its author does not say; a conversation stays private.
    pub sharing: Sharing,
}

impl Default for AccessPolicy {
    fn default() -> Self {
        Self { anonymous_writes: true, sharing: Sharing::Shared }
    }
}

impl AccessPolicy {
    /// How a memory of this type is shared when its author does not say.
    #[must_use]
    pub fn sharing_of(&self, memory_type: &MemoryType) -> Sharing {
        // Of the two the narrower.
        self.sharing.min(memory_type.default_sharing())
    }

    /// Whether this caller may write.
    ///
    /// # Errors
    /// `unauthenticated` for who calls without a name where that is not allowed; else as [`require_scope`].
    pub fn may_write(&self, caller: &Caller) -> Result<()> {
        if caller.agent.is_anonymous() && !self.anonymous_writes {
            return Err(Error::new(
                ErrorKind::Unauthenticated,
                "in production nobody writes without a name",
            )
            .hint(
                "Say who you are: --agent or COMMONBOOK_AGENT_ID at the command line, the header \
                 X-Commonbook-Agent or a token over HTTP.",
            ));
        }
        require_scope(caller, TokenScope::Write)
    }
}
