//! The SQL of webhooks.

use jiff::Timestamp;

use super::Tx;
use super::driver::{SqlRow, store_failed};
use super::row::{encode_json, json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::WebhookId;
use crate::model::webhook::delivery::{DeadLetter, DeliveryProgress, FailingDelivery, WebhookStop};
use crate::model::webhook::message::WebhookSecret;
use crate::model::webhook::{Webhook, WebhookRecord};

/// Webhooks with their progress and the number of their dead letters.
const WEBHOOKS: &str = "SELECT w.*, p.*, \
    (SELECT count(*) FROM dead_letter d WHERE d.webhook = w.id) AS dead_letters \
    FROM webhook w JOIN webhook_progress p ON p.webhook = w.id";

/// The rows of webhooks, which belong to the home, each with one workspace whose journal it follows.
impl Tx<'_> {
    /// The webhook with this id, with its progress and the number of its dead letters.
    pub fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>> {
        let sql = format!("{WEBHOOKS} WHERE w.id = ?1");
        self.query_one(&sql, [id.to_string()], |row| {
            Ok(WebhookRecord {
                webhook: webhook_from_row(row)?,
                secret: secret_from_row(row)?,
                door: text(row, "door")?,
            })
        })
    }

    /// Every webhook, newest first.
    pub fn webhooks(&self) -> Result<Vec<Webhook>> {
        self.query_all(&format!("{WEBHOOKS} ORDER BY w.id DESC"), (), webhook_from_row)
    }

    /// Stores a new webhook with its progress.
    pub fn insert_webhook(&mut self, record: &WebhookRecord) -> Result<()> {
        let webhook = &record.webhook;
        self.execute(
            "INSERT INTO webhook (id, workspace, agent, user_id, token, door, url, secret, filter, \
             allow_private, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                webhook.id.to_string(),
                webhook.workspace.as_str(),
                webhook.agent.as_str(),
                &webhook.user_id,
                webhook.token_id.map(|token| token.to_string()),
                record.door.name(),
                &webhook.url,
                record.secret.text(),
                encode_json(&webhook.filter)?,
                webhook.allow_private,
                webhook.created_at.as_millisecond(),
            ),
        )?;
        let sql = "INSERT INTO webhook_progress (webhook, through, delivered) VALUES (?1, 0, 0)";
        self.execute(sql, [webhook.id.to_string()])?;
        self.put_delivery_progress(webhook.id, &webhook.progress)
    }

    /// Removes a webhook with its secret, its progress and its dead letters.
    pub fn remove_webhook(&mut self, id: WebhookId) -> Result<()> {
        self.execute("DELETE FROM dead_letter WHERE webhook = ?1", [id.to_string()])?;
        self.execute("DELETE FROM webhook_progress WHERE webhook = ?1", [id.to_string()])?;
        self.execute("DELETE FROM webhook_lease WHERE webhook = ?1", [id.to_string()])?;
        self.execute("DELETE FROM webhook WHERE id = ?1", [id.to_string()])?;
        Ok(())
    }

    /// The webhooks that have something to deliver at this time: they did not stop, wait for no later
    /// attempt, and their journal has grown beyond their progress.
    pub fn webhooks_due(&self, now: Timestamp) -> Result<Vec<WebhookId>> {
        let sql = "SELECT w.id FROM webhook w JOIN webhook_progress p ON p.webhook = w.id \
             JOIN workspace j ON j.name = w.workspace \
             WHERE j.sequence > p.through AND p.stopped IS NULL \
                 AND ifnull(p.retry_at, 0) <= ?1 ORDER BY w.id";
        self.query_all(sql, [now.as_millisecond()], |row| text(row, 0))
    }

    /// Replaces the progress of a webhook.
    pub fn put_delivery_progress(
        &mut self,
        id: WebhookId,
        progress: &DeliveryProgress,
    ) -> Result<()> {
        let failing = progress.failing.as_ref();
        self.execute(
            "UPDATE webhook_progress SET through = ?2, delivered = ?3, failing = ?4, attempts = ?5, \
             retry_at = ?6, failure = ?7, stopped = ?8 WHERE webhook = ?1",
            (
                id.to_string(),
                progress.through,
                progress.delivered,
                failing.map(|failing| failing.sequence),
                failing.map(|failing| failing.attempts),
                failing.map(|failing| failing.retry_at.as_millisecond()),
                failing.map(|failing| failing.failure.as_str()),
                progress.stopped.map(WebhookStop::name),
            ),
        )?;
        Ok(())
    }

    /// Lets this node deliver to a webhook until then, unless another one holds it at this time;
    /// returns whether it may.
    pub fn lease_webhook(
        &mut self,
        id: WebhookId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool> {
        let sql = "SELECT 1 FROM webhook_lease \
             WHERE webhook = ?1 AND holder <> ?2 AND held_until > ?3";
        let is_taken = self
            .query_one(sql, (id.to_string(), holder, now.as_millisecond()), |_| Ok(()))?
            .is_some();
        if is_taken {
            return Ok(false);
        }
        self.execute(
            "INSERT INTO webhook_lease (webhook, holder, held_until) VALUES (?1, ?2, ?3) \
             ON CONFLICT (webhook) DO UPDATE \
             SET holder = excluded.holder, held_until = excluded.held_until",
            (id.to_string(), holder, until.as_millisecond()),
        )?;
        Ok(true)
    }

    /// At most `limit` dead letters of a webhook, the oldest event first.
    pub fn dead_letters(&self, id: WebhookId, limit: u32) -> Result<Vec<DeadLetter>> {
        let sql = "SELECT * FROM dead_letter WHERE webhook = ?1 ORDER BY sequence LIMIT ?2";
        self.query_all(sql, (id.to_string(), limit), letter_from_row)
    }

    /// The dead letter of an event of a webhook.
    pub fn dead_letter(&self, id: WebhookId, sequence: u64) -> Result<Option<DeadLetter>> {
        let sql = "SELECT * FROM dead_letter WHERE webhook = ?1 AND sequence = ?2";
        self.query_one(sql, (id.to_string(), sequence), letter_from_row)
    }

    /// Stores a dead letter, replacing the one of its event.
    pub fn put_dead_letter(&mut self, id: WebhookId, letter: &DeadLetter) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO dead_letter (webhook, sequence, attempts, failed_at, failure) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                id.to_string(),
                letter.sequence,
                letter.attempts,
                letter.failed_at.as_millisecond(),
                &letter.failure,
            ),
        )?;
        Ok(())
    }

    /// Removes a dead letter; returns whether there was one.
    pub fn drop_dead_letter(&mut self, id: WebhookId, sequence: u64) -> Result<bool> {
        let sql = "DELETE FROM dead_letter WHERE webhook = ?1 AND sequence = ?2";
        Ok(self.execute(sql, (id.to_string(), sequence))? > 0)
    }
}

fn webhook_from_row(row: &SqlRow<'_>) -> Result<Webhook> {
    Ok(Webhook {
        id: text(row, "id")?,
        url: row.get("url")?,
        workspace: text(row, "workspace")?,
        agent: text(row, "agent")?,
        user_id: row.get("user_id")?,
        token_id: optional_text(row, "token")?,
        filter: json(row, "filter")?,
        allow_private: row.get("allow_private")?,
        created_at: time(row.get("created_at")?),
        progress: progress_from_row(row)?,
        dead_letters: row.get("dead_letters")?,
    })
}

fn progress_from_row(row: &SqlRow<'_>) -> Result<DeliveryProgress> {
    let failing = match row.get::<_, Option<u64>>("failing")? {
        None => None,
        Some(sequence) => Some(FailingDelivery {
            sequence,
            attempts: row.get("attempts")?,
            retry_at: time(row.get("retry_at")?),
            failure: row.get("failure")?,
        }),
    };
    Ok(DeliveryProgress {
        through: row.get("through")?,
        delivered: row.get("delivered")?,
        failing,
        stopped: optional_text(row, "stopped")?,
    })
}

fn secret_from_row(row: &SqlRow<'_>) -> Result<WebhookSecret> {
    WebhookSecret::read(&row.get::<_, String>("secret")?).map_err(store_failed)
}

fn letter_from_row(row: &SqlRow<'_>) -> Result<DeadLetter> {
    Ok(DeadLetter {
        sequence: row.get("sequence")?,
        attempts: row.get("attempts")?,
        failed_at: time(row.get("failed_at")?),
        failure: row.get("failure")?,
    })
}
