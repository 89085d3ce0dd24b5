//! The fences around stored text for a caller.

use crate::base::error::Result;
use crate::base::home_key::HomeKey;
use crate::model::caller::Caller;
use crate::verbs::Commonbook;
use commonbook_text::fence::Fence;

impl Commonbook {
    /// The fence for texts that this caller reads in its session. Its nonces are derived with the key
    /// of the home, which no author of a memory knows; without a home, with a key of this process.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub(in crate::verbs) fn fence(&self, caller: &Caller) -> Result<Fence> {
        let key = match self.fence_key.get() {
            Some(key) => key,
            None => {
                let key = self.home_key().map_or_else(HomeKey::random, Ok)?;
                self.fence_key.get_or_init(|| key)
            }
        };
        Ok(fence_for(key, caller))
    }

    /// The key of the home, if there is a home and it can be read or created.
    #[must_use]
    pub fn home_key(&self) -> Option<HomeKey> {
        let key = HomeKey::open(self.files.home()?);
        key.inspect_err(|error| tracing::info!(%error, "the home has no key")).ok()
    }
}

/// The fence for texts that a caller reads in its session, derived with this key.
pub(in crate::verbs) fn fence_for(key: &HomeKey, caller: &Caller) -> Fence {
    // None of the parts can contain a control character.
    let session = caller.session.as_deref().unwrap_or_default();
    let reader = format!("fence\n{}\n{}\n{session}", caller.workspace, caller.agent);
    Fence::derived(key.sign(&reader))
}
