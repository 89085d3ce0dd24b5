//! Webhooks: addresses that receive the events that their owner may see, as signed requests.

pub mod address;
pub mod delivery;
pub mod message;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{TokenId, WebhookId};
use crate::base::limits;
use crate::model::access;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::event::FollowEvents;
use crate::model::memory::Importance;
use crate::model::workspace::Workspace;

use address::WebhookUrl;
use delivery::{DeadLetter, DeliveryProgress, RetryOutcome};
use message::WebhookSecret;

/// The events that a webhook receives, of those that its owner may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookFilter {
    /// Only events of these kinds, or with these beginnings (`memory.*`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only events about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only events about subjects of at least this importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Whether it leaves out the events of its owner.
    #[serde(default)]
    pub exclude_self: bool,
}

impl WebhookFilter {
    /// The same filter as the request of a stream, so that both admit the same events.
    #[must_use]
    pub fn as_stream(&self) -> FollowEvents {
        let Self { events, topics, importance, exclude_self } = self.clone();
        let importance = importance.into_iter().collect();
        FollowEvents { after: None, topics, importance, events, exclude_self }
    }
}

/// A webhook, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The address that receives the events.
    pub url: String,
    /// The workspace whose events it receives.
    pub workspace: Workspace,
    /// Its owner: it receives what this agent may see.
    pub agent: Agent,
    /// The user that its owner works for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_id: Option<String>,
    /// The token that proves its owner. The webhook stops when the token is revoked or expires.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token_id: Option<TokenId>,
    /// Which of these events it receives.
    pub filter: WebhookFilter,
    /// Whether it may connect to private addresses.
    pub allow_private: bool,
    /// When it was added.
    pub created_at: Timestamp,
    /// How far its deliveries have come.
    pub progress: DeliveryProgress,
    /// The number of its dead letters: events that were given up.
    pub dead_letters: u64,
}

/// A webhook as stored: with its secret, and with the interface through which its owner called.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookRecord {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret that signs its deliveries.
    pub secret: WebhookSecret,
    /// The interface through which it was added. A person is known by it.
    pub door: EntryPoint,
}

impl Webhook {
    /// Whether this caller may see and change it: its owner or an agent above it, in its workspace,
    /// and a person, whose token may be bound to the workspace.
    #[must_use]
    pub fn is_managed_by(&self, caller: &Caller) -> bool {
        let is_here = self.workspace == caller.workspace;
        if access::is_person(caller) {
            return is_here || !caller.proof.is_bound();
        }
        let is_own = self.agent == caller.agent || self.agent.is_child_of(&caller.agent);
        is_here && is_own && !caller.agent.is_anonymous()
    }
}

/// Adds a webhook: each event that you may see and that the filters admit is sent to the URL as a
/// signed POST, from now on. The response shows the secret, which cannot be shown again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddWebhook {
    /// The address: `https://…`; `http://…` for private addresses only.
    pub url: String,
    /// Only events of these kinds: `memory.saved`, or `memory.*` for all kinds with this beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only events about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only events about subjects of at least this importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Leaves out your own events.
    #[serde(default)]
    pub exclude_self: bool,
    /// Lets it connect to loopback, private and link-local addresses; for a person.
    #[serde(default)]
    pub allow_private: bool,
    /// The token whose agent owns it; for a person. It stops when the token is revoked or expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
}

impl AddWebhook {
    /// The filter of this request.
    #[must_use]
    pub fn filter(&self) -> WebhookFilter {
        WebhookFilter {
            events: self.events.clone(),
            topics: self.topics.clone(),
            importance: self.importance,
            exclude_self: self.exclude_self,
        }
    }

    /// The address of this request.
    ///
    /// # Errors
    /// `invalid` for a URL of another form, and for one that names an address to which the webhook
    /// may not connect; `too_large` for a long one.
    pub fn address(&self) -> Result<WebhookUrl> {
        let url = WebhookUrl::parse(&self.url)?;
        url.check_named_address(self.allow_private)?;
        Ok(url)
    }
}

/// A webhook with its secret, which is shown only once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret, `whsec_…`: the receiver verifies the header `webhook-signature` with it.
    pub secret: String,
}

/// Lists webhooks, newest first: your own, or as a person all of the home.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWebhooks {}

/// Webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookList {
    /// The webhooks, newest first.
    pub items: Vec<Webhook>,
}

/// Shows a webhook with its dead letters: the events that were given up after the last attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetWebhook {
    /// The webhook's id, from the list of webhooks.
    pub webhook_id: WebhookId,
}

/// A webhook with its dead letters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookDetails {
    /// The webhook.
    pub webhook: Webhook,
    /// Its oldest dead letters, at most 100.
    pub dead_letters: Vec<DeadLetter>,
}

/// Removes a webhook with its secret and its dead letters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveWebhook {
    /// The webhook's id, from the list of webhooks.
    pub webhook_id: WebhookId,
}

/// Sends the dead letters of a webhook again, the oldest first, until one fails. A webhook that
/// waits for its next attempt or has stopped goes on at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryDelivery {
    /// The webhook's id, from the list of webhooks.
    pub webhook_id: WebhookId,
    /// Only the dead letter of the event with this sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

/// The result of sending dead letters again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetryResult {
    /// The webhook, as it is now.
    pub webhook: Webhook,
    /// The dead letters that were tried, in order.
    pub items: Vec<RetriedDelivery>,
}

/// A dead letter that was tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetriedDelivery {
    /// The sequence of its event.
    pub sequence: u64,
    /// The result.
    pub outcome: RetryOutcome,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
}

/// Sends a signed test message to the URL of a webhook at once, and says what the receiver answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestWebhook {
    /// The webhook's id, from the list of webhooks.
    pub webhook_id: WebhookId,
}

/// The receiver's answer to a test message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookTestResult {
    /// Whether the receiver accepted it, with a status from 200 to 299.
    pub accepted: bool,
    /// The status, if the receiver answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
}

/// The error for a webhook that does not exist, or that the caller may not see.
#[must_use]
pub fn unknown_webhook(id: WebhookId) -> Error {
    Error::not_found(format!("no webhook {id} exists"))
        .with_field("webhook_id")
        .hint("See `list_webhooks`.")
}

/// Checks that a home with this number of webhooks can have another.
///
/// # Errors
/// `conflict` if it has as many as it can.
pub fn check_webhook_count(count: usize) -> Result<()> {
    if count < limits::WEBHOOKS {
        return Ok(());
    }
    let message = format!("the home has {count} webhooks; the maximum is {}", limits::WEBHOOKS);
    Err(Error::conflict(message).hint("Remove one with `remove_webhook`."))
}
