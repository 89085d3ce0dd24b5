//! Delivering the events of a journal to webhooks, in order, each at least once.
//!
//! Each event is read by the sight that the owner has at that moment, right before it is sent, and the
//! position is stored after the receiver's answer: a process that is killed in between sends the event
//! again, under the same id.

use crate::base::error::{ErrorKind, Result};
use crate::base::id::WebhookId;
use crate::model::event::EventBatch;
use crate::model::webhook::WebhookRecord;
use crate::model::webhook::delivery::{DeliveryAttempt, DeliveryProgress, WebhookStop};
use crate::model::webhook::message::WebhookMessage;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::webhook::target;

/// The result of one step of a webhook's deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStep {
    /// The webhook has moved on: there may be more to deliver at once.
    Moved,
    /// There is nothing to deliver now: it is at the end of its journal, waits or has stopped.
    Idle,
}

impl Commonbook {
    /// The webhooks that have something to deliver now.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn webhooks_due(&self) -> Result<Vec<WebhookId>> {
        let now = self.clock.now();
        self.store.read(|tx| tx.webhooks_due(now))
    }

    /// Delivers the next event of a webhook, or moves it past events that it does not receive. One
    /// process at a time calls this for a webhook, outside of every transaction: it waits for the
    /// receiver.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written, or if this program has no sender.
    pub fn deliver_next(&self, id: WebhookId) -> Result<DeliveryStep> {
        let sender = self.webhook_sender()?;
        let Some(record) = self.store.read(|tx| tx.webhook(id))? else {
            return Ok(DeliveryStep::Idle);
        };
        let progress = &record.webhook.progress;
        let waits = progress.waits_until().is_some_and(|time| time > self.clock.now());
        if progress.stopped.is_some() || waits || !self.holds_webhook(id)? {
            return Ok(DeliveryStep::Idle);
        }
        let read = match self.next_events(&record) {
            Err(error)
                if matches!(error.kind, ErrorKind::Unauthenticated | ErrorKind::Forbidden) =>
            {
                tracing::warn!(webhook = %id, %error, "a webhook has stopped");
                return self.stop_webhook(id, WebhookStop::TokenInvalid);
            }
            read => read?,
        };
        let through = progress.through;
        match read.items.first() {
            Some(event) => {
                let message = WebhookMessage::of_event(id, &record.secret, event, self.clock.now());
                let outcome = sender.send(&target(&record.webhook), &message);
                let at = self.clock.now();
                let attempt =
                    DeliveryAttempt { webhook: id, sequence: event.sequence, outcome, at };
                self.settle_attempt(through, attempt)
            }
            None if read.through <= through => Ok(DeliveryStep::Idle),
            None => {
                let more = read.more;
                self.store.write(move |tx| {
                    let moved = present_progress(&*tx, id, through)?;
                    let Some(moved) = moved.map(|now| now.after_skipping(read.through)) else {
                        return Ok(());
                    };
                    tx.put_delivery_progress(id, &moved)
                })?;
                Ok(if more { DeliveryStep::Moved } else { DeliveryStep::Idle })
            }
        }
    }

    /// The next event that the owner may see now and the filter admits.
    fn next_events(&self, record: &WebhookRecord) -> Result<EventBatch> {
        let owner = self.owner_of_webhook(record)?;
        let filter = record.webhook.filter.as_stream().filter(&owner)?;
        self.follow_events(&owner, &filter, Some(record.webhook.progress.through), 1)
    }

    /// Stores the result of an attempt, unless the webhook was removed or moved meanwhile.
    fn settle_attempt(&self, through: u64, attempt: DeliveryAttempt) -> Result<DeliveryStep> {
        let (id, schedule) = (attempt.webhook, self.webhook_retries);
        let settled = self.store.write(move |tx| {
            let Some(present) = present_progress(&*tx, id, through)? else { return Ok(None) };
            let result = present.after_attempt(&attempt, &schedule);
            tx.put_delivery_progress(id, &result.progress)?;
            if let Some(letter) = &result.dead_letter {
                tx.put_dead_letter(id, letter)?;
            }
            Ok(Some(result))
        })?;
        let Some(result) = settled else { return Ok(DeliveryStep::Idle) };
        if let Some(letter) = &result.dead_letter {
            let (sequence, failure) = (letter.sequence, &letter.failure);
            tracing::warn!(webhook = %id, sequence, failure, "a delivery was given up");
        }
        let moved = result.progress.through > through;
        Ok(if moved { DeliveryStep::Moved } else { DeliveryStep::Idle })
    }

    fn stop_webhook(&self, id: WebhookId, reason: WebhookStop) -> Result<DeliveryStep> {
        self.store.write(move |tx| {
            let Some(record) = tx.webhook(id)? else { return Ok(()) };
            tx.put_delivery_progress(id, &record.webhook.progress.stopped_for(reason))
        })?;
        Ok(DeliveryStep::Idle)
    }
}

/// The progress of a webhook, if it is still at this position of its journal.
fn present_progress(tx: &Tx<'_>, id: WebhookId, through: u64) -> Result<Option<DeliveryProgress>> {
    let progress = tx.webhook(id)?.map(|record| record.webhook.progress);
    Ok(progress.filter(|progress| progress.through == through))
}
