//! How people read webhooks: the secret once, then where each sends, how far it has come, and what it gave
//! up.

use commonbook::base::error::{Error, ErrorKind};
use commonbook::model::webhook::delivery::RetryOutcome;
use commonbook::model::webhook::{
    NewWebhook, RetryResult, Webhook, WebhookDetails, WebhookList, WebhookTestResult,
};
use commonbook::verbs::names;
use serde_json::Value;

use super::layout::{minute, print_facts, print_record, print_table, short, show};
use crate::calls::output::{count_text, print_line, print_note};
use crate::calls::words::{webhook_filter, webhook_state};

pub(super) fn show_new_webhook(response: &Value) {
    show(response, |new: &NewWebhook| {
        print_line(&new.secret);
        let Webhook { id, url, agent, workspace, .. } = &new.webhook;
        print_note(&format!(
            "Keep this secret now: it is not shown again. Webhook {} sends what {agent} may see in \
             {workspace} to {url}.",
            short(id)
        ));
        print_note(&format!(
            "A running server delivers. Try it with `commonbook webhook test {}`.",
            short(id)
        ));
    });
}

pub(super) fn list(response: &Value) {
    show(response, |webhooks: &WebhookList| {
        if webhooks.items.is_empty() {
            print_line("No webhooks; `commonbook webhook add URL` adds one");
        }
        for webhook in &webhooks.items {
            let owner = format!("{} in {}", webhook.agent, webhook.workspace);
            let letters = (webhook.dead_letters > 0)
                .then(|| count_text(webhook.dead_letters, "dead letter", "dead letters"));
            let facts = [
                short(&webhook.id),
                owner,
                webhook_filter(webhook),
                webhook_state(webhook),
                letters.unwrap_or_default(),
            ];
            print_record(&webhook.url, &facts);
        }
    });
}

pub(super) fn show_details(response: &Value) {
    show(response, |details: &WebhookDetails| {
        print_webhook(&details.webhook);
        if details.dead_letters.is_empty() {
            return;
        }
        let rows = details.dead_letters.iter().map(|letter| {
            vec![
                letter.sequence.to_string(),
                minute(letter.failed_at),
                letter.attempts.to_string(),
                letter.failure.clone(),
            ]
        });
        print_table(&["dead letter", "failed", "attempts", "why"], rows);
        print_note(&format!(
            "Send them again with `commonbook webhook retry {}`.",
            short(&details.webhook.id)
        ));
    });
}

pub(super) fn show_removed(response: &Value) {
    show(response, |webhook: &Webhook| {
        print_line(&format!("Removed {}, which sent to {}", short(&webhook.id), webhook.url));
    });
}

pub(super) fn show_retry_result(response: &Value) {
    show(response, |result: &RetryResult| {
        for item in &result.items {
            let sequence = item.sequence;
            print_line(&match item.outcome {
                RetryOutcome::Delivered => format!("Delivered event {sequence}"),
                RetryOutcome::Withheld => {
                    format!("Dropped event {sequence}: its owner may not see it any more")
                }
                RetryOutcome::Failed => {
                    let why = item.failure.as_deref().unwrap_or_default();
                    format!("Event {sequence} failed again: {why}")
                }
            });
        }
        if result.items.is_empty() {
            print_line("No dead letters; what waits is sent at once");
        }
        let left = result.webhook.dead_letters;
        if left > 0 {
            print_note(&count_text(left, "dead letter is left", "dead letters are left"));
        }
    });
}

pub(super) fn show_test_result(response: &Value) {
    show(response, |result: &WebhookTestResult| {
        // What failed is the error of the command.
        if result.failure.is_none() {
            let status = result.status.unwrap_or_default();
            print_line(&format!("The receiver accepted the message (answered {status})"));
        }
    });
}

/// The error of a test that the receiver did not accept, so that a script sees it.
pub(super) fn test_failure(verb: &str, response: &Value) -> Option<Error> {
    let failure = response["failure"].as_str().filter(|_| verb == names::TEST_WEBHOOK)?;
    let message = format!("the receiver did not accept the message: {failure}");
    let hint = "Look at the receiver, and at the address with `commonbook webhook list`.";
    Some(Error::new(ErrorKind::Unavailable, message).hint(hint))
}

fn print_webhook(webhook: &Webhook) {
    let token = webhook.token_id.as_ref().map(short).unwrap_or_default();
    let private = if webhook.allow_private { "allowed" } else { "" };
    print_facts(&[
        ("webhook", short(&webhook.id)),
        ("url", webhook.url.clone()),
        ("owner", webhook.agent.to_string()),
        ("workspace", webhook.workspace.to_string()),
        ("user", webhook.user_id.clone().unwrap_or_default()),
        ("token", token),
        ("events", webhook_filter(webhook)),
        ("private addresses", private.to_owned()),
        ("added", minute(webhook.created_at)),
        ("state", webhook_state(webhook)),
        ("read through", webhook.progress.through.to_string()),
    ]);
}
