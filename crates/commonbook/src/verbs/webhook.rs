//! Adding, showing, testing and removing webhooks, and retrying what they gave up.
//!
//! A webhook is a setting of the home, as a token is: adding one is no event of a journal.

use jiff::SignedDuration;

use super::Commonbook;
use super::token::find_token;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::WebhookId;
use crate::base::limits;
use crate::model::access::{self, Sight};
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::event::EventFilter;
use crate::model::token::{TokenScope, unknown_token};
use crate::model::webhook::delivery::{
    DeadLetter, DeliveryProgress, RetryOutcome, RetrySchedule, SendOutcome, WebhookSender,
    WebhookSenderHandle, WebhookTarget,
};
use crate::model::webhook::message::{WebhookMessage, WebhookSecret};
use crate::model::webhook::{
    AddWebhook, GetWebhook, ListWebhooks, NewWebhook, RemoveWebhook, RetriedDelivery,
    RetryDelivery, RetryResult, TestWebhook, Webhook, WebhookDetails, WebhookList, WebhookRecord,
    WebhookTestResult, check_webhook_count, unknown_webhook,
};
use crate::store::Tx;

/// The time in which one call begins to send dead letters; the next call goes on.
const RETRY_TIME_MAX: SignedDuration = SignedDuration::from_secs(45);

impl Commonbook {
    /// The same Commonbook, sending the messages of webhooks with this sender.
    #[must_use]
    pub fn with_webhook_sender(self, sender: Option<WebhookSenderHandle>) -> Self {
        Self { webhooks: sender, ..self }
    }

    /// The same Commonbook, trying failed deliveries again by this schedule.
    #[must_use]
    pub fn with_webhook_retries(self, webhook_retries: RetrySchedule) -> Self {
        Self { webhook_retries, ..self }
    }

    /// Adds a webhook of the caller, or of a token's agent. It begins at the end of the journal of
    /// its workspace.
    ///
    /// # Errors
    /// `invalid` with the field for a URL or a filter that is not valid, and for a caller without a
    /// name that is no person; `forbidden` if the caller allows private addresses or names a token,
    /// and is no administrator; `not_found` for an unknown token; `conflict` if the home has as many
    /// webhooks as it can.
    pub fn add_webhook(&self, caller: &Caller, request: &AddWebhook) -> Result<NewWebhook> {
        access::require_scope(caller, TokenScope::Write)?;
        if request.allow_private || request.token_id.is_some() {
            access::require_scope(caller, TokenScope::Admin)?;
        }
        let url = request.address()?;
        let owner = self.new_owner(caller, request)?;
        let _reads = Sight::reading_at_home(&owner)?;
        request.filter().as_stream().filter(&owner)?;
        let now = self.clock.now();
        let webhook = Webhook {
            id: WebhookId::new(&*self.ids, now),
            url: url.as_str().to_owned(),
            workspace: owner.workspace.clone(),
            agent: owner.agent.clone(),
            user_id: owner.user.clone(),
            token_id: owner.proof.token(),
            filter: request.filter(),
            allow_private: request.allow_private,
            created_at: now,
            progress: DeliveryProgress::default(),
            dead_letters: 0,
        };
        let secret = WebhookSecret::new(&*self.ids)?;
        let record = WebhookRecord { webhook, secret: secret.clone(), door: owner.door };
        let webhook = self.store.write(move |tx| {
            check_webhook_count(tx.webhooks()?.len())?;
            let mut record = record.clone();
            let end = tx.journal_end(&record.webhook.workspace)?;
            record.webhook.progress = DeliveryProgress::starting_after(end);
            tx.insert_webhook(&record)?;
            Ok(record.webhook)
        })?;
        Ok(NewWebhook { webhook, secret: secret.text() })
    }

    /// The webhooks of the caller and of agents below it; for a person all of the home.
    ///
    /// # Errors
    /// `forbidden` if the token may not read.
    pub fn list_webhooks(&self, caller: &Caller, _request: &ListWebhooks) -> Result<WebhookList> {
        access::require_scope(caller, TokenScope::Read)?;
        let mut items = self.store.read(|tx| tx.webhooks())?;
        items.retain(|webhook| webhook.is_managed_by(caller));
        Ok(WebhookList { items })
    }

    /// A webhook with its dead letters.
    ///
    /// # Errors
    /// `not_found` if it does not exist or belongs to another agent.
    pub fn get_webhook(&self, caller: &Caller, request: &GetWebhook) -> Result<WebhookDetails> {
        access::require_scope(caller, TokenScope::Read)?;
        self.store.read(|tx| {
            let webhook = managed_webhook(tx, caller, request.webhook_id)?.webhook;
            let dead_letters = tx.dead_letters(webhook.id, limits::PAGE_MAX)?;
            Ok(WebhookDetails { webhook, dead_letters })
        })
    }

    /// Removes a webhook; nothing is sent any more.
    ///
    /// # Errors
    /// `not_found` as [`Self::get_webhook`].
    pub fn remove_webhook(&self, caller: &Caller, request: &RemoveWebhook) -> Result<Webhook> {
        access::require_scope(caller, TokenScope::Write)?;
        let (caller, id) = (caller.clone(), request.webhook_id);
        self.store.write(move |tx| {
            let webhook = managed_webhook(&*tx, &caller, id)?.webhook;
            tx.remove_webhook(id)?;
            Ok(webhook)
        })
    }

    /// Sends a test message at once.
    ///
    /// # Errors
    /// `not_found` as [`Self::get_webhook`]; `unavailable` if this program sends no messages. A
    /// receiver that does not accept the message is no error.
    pub fn test_webhook(
        &self,
        caller: &Caller,
        request: &TestWebhook,
    ) -> Result<WebhookTestResult> {
        access::require_scope(caller, TokenScope::Write)?;
        let sender = self.webhook_sender()?;
        let record = self.store.read(|tx| managed_webhook(tx, caller, request.webhook_id))?;
        let now = self.clock.now();
        let message = WebhookMessage::of_test(record.webhook.id, &record.secret, now);
        let outcome = sender.send(&target(&record.webhook), &message);
        Ok(WebhookTestResult {
            accepted: outcome.is_accepted(),
            status: outcome.status(),
            failure: outcome.failure(),
        })
    }

    /// Sends dead letters again, in order, until one fails, and lets the webhook go on at once.
    ///
    /// # Errors
    /// `not_found` as [`Self::get_webhook`], and for an event that is no dead letter;
    /// `unauthenticated` if the token of the webhook is not valid any more; `unavailable` if this
    /// program sends no messages. A receiver that does not accept a message is no error.
    pub fn retry_delivery(&self, caller: &Caller, request: &RetryDelivery) -> Result<RetryResult> {
        access::require_scope(caller, TokenScope::Write)?;
        let (sender, id) = (self.webhook_sender()?, request.webhook_id);
        let record = self.store.read(|tx| managed_webhook(tx, caller, id))?;
        let owner = self.owner_of_webhook(&record)?;
        let letters =
            self.store.read(|tx| wanted_letters(tx, &record.webhook, request.sequence))?;
        let begun = self.clock.now();
        let mut items = Vec::with_capacity(letters.len());
        for letter in letters {
            if self.clock.now().duration_since(begun) > RETRY_TIME_MAX {
                break;
            }
            let item = self.retry_letter(&*sender, &record, &owner, &letter)?;
            let failed = item.outcome == RetryOutcome::Failed;
            items.push(item);
            if failed {
                break;
            }
        }
        let (now, caller) = (self.clock.now(), caller.clone());
        let webhook = self.store.write(move |tx| {
            let webhook = managed_webhook(&*tx, &caller, id)?.webhook;
            let progress = webhook.progress.resumed(now);
            tx.put_delivery_progress(id, &progress)?;
            Ok(Webhook { progress, ..webhook })
        })?;
        Ok(RetryResult { webhook, items })
    }

    /// Sends one dead letter again, with what its event says now.
    fn retry_letter(
        &self,
        sender: &dyn WebhookSender,
        record: &WebhookRecord,
        owner: &Caller,
        letter: &DeadLetter,
    ) -> Result<RetriedDelivery> {
        let (id, sequence) = (record.webhook.id, letter.sequence);
        let before = Some(sequence.saturating_sub(1));
        let read = self.follow_events(owner, &EventFilter::default(), before, 1)?;
        let event = read.items.into_iter().find(|event| event.sequence == sequence);
        let Some(event) = event else {
            self.store.write(move |tx| tx.drop_dead_letter(id, sequence))?;
            return Ok(RetriedDelivery {
                sequence,
                outcome: RetryOutcome::Withheld,
                failure: None,
            });
        };
        let message = WebhookMessage::of_event(id, &record.secret, &event, self.clock.now());
        let outcome: SendOutcome = sender.send(&target(&record.webhook), &message);
        let now = self.clock.now();
        let failure = outcome.failure();
        let changed = failure.clone().map(|failure| {
            let attempts = letter.attempts.saturating_add(1);
            DeadLetter { sequence, attempts, failed_at: now, failure }
        });
        self.store.write(move |tx| {
            // The webhook may have been removed meanwhile.
            let Some(record) = tx.webhook(id)? else { return Ok(()) };
            let mut progress = record.webhook.progress;
            match &changed {
                Some(letter) => return tx.put_dead_letter(id, letter),
                None if tx.drop_dead_letter(id, sequence)? => progress.delivered += 1,
                None => {}
            }
            tx.put_delivery_progress(id, &progress)
        })?;
        let outcome = match failure.is_none() {
            true => RetryOutcome::Delivered,
            false => RetryOutcome::Failed,
        };
        Ok(RetriedDelivery { sequence, outcome, failure })
    }

    /// The sender of this program.
    ///
    /// # Errors
    /// `unavailable` if it has none.
    pub(in crate::verbs) fn webhook_sender(&self) -> Result<WebhookSenderHandle> {
        self.webhooks.clone().ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, "this program sends no messages of webhooks")
                .hint("Use the program `commonbook`.")
        })
    }

    /// The owner of a new webhook: the caller, or the agent of the token that it names.
    fn new_owner(&self, caller: &Caller, request: &AddWebhook) -> Result<Caller> {
        let named = request.token_id.filter(|id| caller.proof.token() != Some(*id));
        let owner = match named {
            None => caller.clone(),
            Some(id) => {
                let kept = self.store.read(|tx| find_token(tx, caller, id));
                let token = kept.map_err(|error| error.with_field("token_id"))?.token;
                token.check_valid(self.clock.now())?;
                let near = Some(caller.workspace.clone());
                Caller::from_token(&token, None, None, near, caller.door)?
            }
        };
        if owner.agent.is_anonymous() && !access::is_person(&owner) {
            return Err(Error::new(
                ErrorKind::Unauthenticated,
                "a webhook needs an owner with a name",
            )
            .hint("Give your name: --agent or COMMONBOOK_AGENT_ID at the command line."));
        }
        Ok(owner)
    }

    /// The owner of a webhook as a caller, with the rights that it has now.
    ///
    /// # Errors
    /// `unauthenticated` if its token was revoked or has expired, or if it has none and a caller
    /// through its interface needs one now; `forbidden` if its token does not open the workspace.
    pub(in crate::verbs) fn owner_of_webhook(&self, record: &WebhookRecord) -> Result<Caller> {
        let Webhook { agent, workspace, user_id, token_id, .. } = &record.webhook;
        let (name, workspace) =
            (AgentName { agent: agent.clone(), device: None }, workspace.clone());
        let owner = match token_id {
            None => Caller::new(Some(name), workspace, record.door),
            Some(id) => {
                let kept = self.store.read(|tx| tx.token(*id))?.ok_or_else(unknown_token)?;
                kept.token.check_valid(self.clock.now())?;
                Caller::from_token(&kept.token, Some(name), Some(workspace), None, record.door)?
            }
        };
        if record.door != EntryPoint::Cli {
            self.recheck_token(&owner)?;
        }
        owner.for_user(user_id.as_deref())
    }
}

/// The receiver of a webhook.
pub(in crate::verbs) fn target(webhook: &Webhook) -> WebhookTarget {
    WebhookTarget { url: webhook.url.clone(), allow_private: webhook.allow_private }
}

/// The webhook with this id, which the caller may see and change.
fn managed_webhook(tx: &Tx<'_>, caller: &Caller, id: WebhookId) -> Result<WebhookRecord> {
    let found = tx.webhook(id)?.filter(|record| record.webhook.is_managed_by(caller));
    found.ok_or_else(|| unknown_webhook(id))
}

/// The dead letters to send again: the one of this event, or the oldest. The event that is tried by
/// itself anyway has none.
fn wanted_letters(
    tx: &Tx<'_>,
    webhook: &Webhook,
    sequence: Option<u64>,
) -> Result<Vec<DeadLetter>> {
    let Some(sequence) = sequence else { return tx.dead_letters(webhook.id, limits::PAGE_MAX) };
    let found = tx.dead_letter(webhook.id, sequence)?;
    let is_failing =
        webhook.progress.failing.as_ref().is_some_and(|failing| failing.sequence == sequence);
    if found.is_none() && !is_failing {
        let message = format!("webhook {} has no dead letter {sequence}", webhook.id);
        return Err(Error::not_found(message).with_field("sequence").hint("See `get_webhook`."));
    }
    Ok(found.into_iter().collect())
}
