//! The message of a delivery: its body, its id and its signature, as the Standard Webhooks specification
//! has them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{IdSource, WebhookId};
use crate::model::event::Event;

/// The prefix of every secret.
const SECRET_PREFIX: &str = "whsec_";

/// The version of the signature.
const SIGNATURE_VERSION: &str = "v1";

/// The type of a test message.
const TEST_TYPE: &str = "webhook.test";

/// The secret of a webhook, by which its receiver knows that a message is ours.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret([u8; 32]);

impl WebhookSecret {
    /// A new secret.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub fn new(ids: &dyn IdSource) -> Result<Self> {
        Ok(Self(ids.secret()?))
    }

    /// The secret with this text.
    ///
    /// # Errors
    /// `internal` if it is not the text of a secret. The error does not repeat it.
    pub fn read(text: &str) -> Result<Self> {
        let key = text.strip_prefix(SECRET_PREFIX).and_then(|rest| STANDARD.decode(rest).ok());
        let key = key.and_then(|key| key.try_into().ok()).map(Self);
        key.ok_or_else(|| Error::new(ErrorKind::Internal, "the secret of a webhook is damaged"))
    }

    /// Its text, `whsec_` and Base64.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0))
    }

    /// The signature of a message: HMAC-SHA-256 of `id.timestamp.body`.
    fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let key = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        let tag = key.chain_update(format!("{id}.{timestamp}.{body}")).finalize().into_bytes();
        format!("{SIGNATURE_VERSION},{}", STANDARD.encode(tag))
    }
}

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// A signed message, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookMessage {
    /// The header `webhook-id`: the same at each attempt, so that a receiver knows a repetition.
    pub id: String,
    /// The header `webhook-timestamp`: the time of this attempt, in seconds since 1970.
    pub timestamp: i64,
    /// The header `webhook-signature`.
    pub signature: String,
    /// The body, JSON.
    pub body: String,
}

impl WebhookMessage {
    /// The message of an event, signed at this time.
    #[must_use]
    pub fn of_event(
        webhook: WebhookId,
        secret: &WebhookSecret,
        event: &Event,
        now: Timestamp,
    ) -> Self {
        let body = json!({"type": event.kind.name(), "timestamp": event.at, "data": event});
        Self::signed(format!("{webhook}_{}", event.sequence), secret, &body, now)
    }

    /// The message of a test.
    #[must_use]
    pub fn of_test(webhook: WebhookId, secret: &WebhookSecret, now: Timestamp) -> Self {
        let data = json!({"webhook_id": webhook});
        let body = json!({"type": TEST_TYPE, "timestamp": now, "data": data});
        Self::signed(format!("{webhook}_test_{}", now.as_millisecond()), secret, &body, now)
    }

    fn signed(id: String, secret: &WebhookSecret, body: &Value, now: Timestamp) -> Self {
        let (timestamp, body) = (now.as_second(), body.to_string());
        let signature = secret.sign(&id, timestamp, &body);
        Self { id, timestamp, signature, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::CountingIds;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // Computed with another implementation: printf '%s' "$id.$timestamp.$body" | openssl dgst
        // -sha256 -mac HMAC -macopt hexkey:$key -binary | base64
        let secret = WebhookSecret::read("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let secret = secret.expect("a secret");
        let signature = secret.sign("msg_1", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,GWvjEzx3AphU7wha3hNZPXJnymF9Fg+ZdvPQqWPOjZ0=");
    }

    #[test]
    fn a_secret_is_read_as_it_was_written_and_not_shown_in_the_log() {
        let secret = WebhookSecret::new(&CountingIds::default()).expect("a secret");
        let text = secret.text();
        assert!(text.starts_with("whsec_") && text.len() == 6 + 44, "{text}");
        assert_eq!(WebhookSecret::read(&text).ok(), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(&text[6..20]));
        for bad in ["", "whsec_", "whsec_AAAA", &text[6..], &text[..40]] {
            let error = WebhookSecret::read(bad).expect_err(bad);
            assert_eq!(error.message, "the secret of a webhook is damaged");
        }
    }
}
