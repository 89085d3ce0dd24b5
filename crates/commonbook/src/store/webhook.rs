//! The contract of a store for webhooks: what they are, how far they have come, and what was given up.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::WebhookId;
use crate::model::webhook::delivery::{DeadLetter, DeliveryProgress};
use crate::model::webhook::{Webhook, WebhookRecord};

/// The rows of webhooks, which belong to the home, each with one workspace whose journal it follows.
pub trait WebhookRows {
    /// The webhook with this id, with its progress and the number of its dead letters.
    fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>>;

    /// Every webhook, newest first.
    fn webhooks(&self) -> Result<Vec<Webhook>>;

    /// Stores a new webhook with its progress.
    fn insert_webhook(&mut self, record: &WebhookRecord) -> Result<()>;

    /// Removes a webhook with its secret, its progress and its dead letters.
    fn remove_webhook(&mut self, id: WebhookId) -> Result<()>;

    /// The webhooks that have something to deliver at this time: they did not stop, wait for no later
    /// attempt, and their journal has grown beyond their progress.
    fn webhooks_due(&self, now: Timestamp) -> Result<Vec<WebhookId>>;

    /// Replaces the progress of a webhook.
    fn put_delivery_progress(&mut self, id: WebhookId, progress: &DeliveryProgress) -> Result<()>;

    /// Lets this node deliver to a webhook until then, unless another one holds it at this time;
    /// returns whether it may.
    fn lease_webhook(
        &mut self,
        id: WebhookId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool>;

    /// At most `limit` dead letters of a webhook, the oldest event first.
    fn dead_letters(&self, id: WebhookId, limit: u32) -> Result<Vec<DeadLetter>>;

    /// The dead letter of an event of a webhook.
    fn dead_letter(&self, id: WebhookId, sequence: u64) -> Result<Option<DeadLetter>>;

    /// Stores a dead letter, replacing the one of its event.
    fn put_dead_letter(&mut self, id: WebhookId, letter: &DeadLetter) -> Result<()>;

    /// Removes a dead letter; returns whether there was one.
    fn drop_dead_letter(&mut self, id: WebhookId, sequence: u64) -> Result<bool>;
}
