//! Nodes: several processes on one store, each with a home of its own. Only one of them at a time delivers to a
//! webhook.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::base::error::Result;
use crate::base::home_key::HomeKey;
use crate::base::id::WebhookId;
use crate::base::limits;
use crate::verbs::Commonbook;

/// The longest time that a receiver may take to answer.
const ANSWER_TIME: SignedDuration =
    SignedDuration::from_secs(limits::WEBHOOK_SECONDS.cast_signed());

/// How long a node holds a webhook.
const LEASE_DURATION: SignedDuration = SignedDuration::from_secs(ANSWER_TIME.as_secs() + 5);

/// A lease is renewed when less than this is left of it, so that it lasts until the receiver has answered.
const LEASE_RENEWAL: SignedDuration = SignedDuration::from_secs(ANSWER_TIME.as_secs() + 2);

/// A process that is one of several on one store.
pub(in crate::verbs) struct NodeIdentity {
    /// A random name, new with each process.
    name: String,
    /// The webhooks that it holds, and until when.
    held: Mutex<BTreeMap<WebhookId, Timestamp>>,
}

impl NodeIdentity {
    pub(in crate::verbs) fn new() -> Result<Self> {
        Ok(Self { name: HomeKey::random_hex()?, held: Mutex::default() })
    }
}

/// What the key of the homes is derived for.
const HOME_KEY_PURPOSE: &str = "homes of the nodes";

impl Commonbook {
    /// Gives the home of this node the key that the homes of all nodes have: it follows from the first
    /// key in the store. What one node has signed, a sign-in or a standing rule, then holds on all.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read, or the key not written.
    pub(in crate::verbs) fn share_home_key(&self) -> Result<()> {
        let Some(home) = self.files.home() else { return Ok(()) };
        let keys = self.store.read(|tx| tx.phrase_keys())?;
        let first = keys.first().map(|key| key.derived_hex(HOME_KEY_PURPOSE));
        first.map_or(Ok(()), |digits| HomeKey::replace(home, &digits))
    }

    /// Whether this process delivers to a webhook now, and no other node: it holds a lease, takes one
    /// that has ended, or is no node. A node that is killed is followed by another within twenty seconds; what
    /// it settles after that counts for nothing, as the progress has moved on.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written.
    pub(in crate::verbs) fn holds_webhook(&self, id: WebhookId) -> Result<bool> {
        let Some(node) = &self.node else { return Ok(true) };
        let now = self.clock.now();
        let is_fresh = |until: &Timestamp| until.duration_since(now) > LEASE_RENEWAL;
        if node.held.lock().unwrap_or_else(PoisonError::into_inner).get(&id).is_some_and(is_fresh) {
            return Ok(true);
        }
        let until = now.checked_add(LEASE_DURATION).unwrap_or(now);
        let name = node.name.clone();
        let holds = self.store.write(move |tx| tx.lease_webhook(id, &name, now, until))?;
        let mut held = node.held.lock().unwrap_or_else(PoisonError::into_inner);
        match holds {
            true => held.insert(id, until),
            false => held.remove(&id),
        };
        Ok(holds)
    }
}
