//! Deliveries: how far a webhook has come, when a failed delivery is tried again, and when it is given up.
//!
//! A webhook delivers in the order of its journal. An event that its receiver does not accept holds the
//! later ones up until its last attempt; then it is a dead letter, and the next one follows.

use std::sync::Arc;

use commonbook_text::string_enum;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::message::WebhookMessage;
use crate::base::clock::whole_milliseconds;
use crate::base::id::WebhookId;
use crate::base::limits;

/// By how much each delay is longer than the one before it.
const DELAY_FACTOR: u32 = 4;

/// The longest delay between two attempts.
const DELAY_MAX: SignedDuration = SignedDuration::from_hours(6);

/// When failed deliveries are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySchedule {
    /// The longest delay after the first attempt.
    pub first_delay: SignedDuration,
    /// The number of attempts after which a delivery is given up.
    pub attempts_max: u32,
}

impl Default for RetrySchedule {
    fn default() -> Self {
        Self { first_delay: SignedDuration::from_secs(5), attempts_max: limits::WEBHOOK_ATTEMPTS }
    }
}

impl RetrySchedule {
    /// The delay after this many attempts: `chance`, from 0 to 1, lengthens it from the half to the
    /// whole, so that the webhooks of a receiver that failed do not return all at once.
    #[must_use]
    pub fn delay(&self, attempts: u32, chance: f64) -> SignedDuration {
        let factor = DELAY_FACTOR.saturating_pow(attempts.saturating_sub(1)).min(1 << 20);
        let factor = i32::try_from(factor).unwrap_or(i32::MAX);
        let whole = self.first_delay.checked_mul(factor).unwrap_or(DELAY_MAX).min(DELAY_MAX);
        whole.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
    }
}

/// A number from 0 to 1 that follows from the attempt: chance, without a source of it.
fn chance_of_attempt(webhook: WebhookId, sequence: u64, attempts: u32) -> f64 {
    let digest = Sha256::digest(format!("{webhook} {sequence} {attempts}"));
    let number = digest.iter().take(4).fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    f64::from(number) / f64::from(u32::MAX)
}

/// How far the deliveries of a webhook have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryProgress {
    /// The position of the journal up to which no event waits for its delivery.
    pub through: u64,
    /// The number of events that the receiver accepted.
    pub delivered: u64,
    /// The event that the receiver did not accept yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failing: Option<FailingDelivery>,
    /// Why it delivers nothing any more; `null` while it delivers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<WebhookStop>,
}

/// A delivery that the receiver did not accept yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingDelivery {
    /// The sequence of its event.
    pub sequence: u64,
    /// The number of attempts.
    pub attempts: u32,
    /// When the next one follows.
    pub retry_at: Timestamp,
    /// Why the last one failed.
    pub failure: String,
}

string_enum! {
    /// Why a webhook delivers nothing any more.
    WebhookStop {
        /// Its token was revoked or has expired, or does not permit reading.
        TokenInvalid = "token_invalid",
        /// The receiver answered 410: it is gone.
        ReceiverGone = "receiver_gone",
    }
}

/// An event that was given up: its position alone. What it says is read again, through the permission
/// rule, when it is retried; so nothing that was forgotten stays here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetter {
    /// The sequence of its event.
    pub sequence: u64,
    /// The number of attempts.
    pub attempts: u32,
    /// When the last one failed.
    pub failed_at: Timestamp,
    /// Why it failed.
    pub failure: String,
}

string_enum! {
    /// The result of sending a dead letter again.
    RetryOutcome {
        /// The receiver accepted it; it is no dead letter any more.
        Delivered = "delivered",
        /// The receiver did not accept it; it stays.
        Failed = "failed",
        /// The owner may not see the event any more: nothing was sent, and the letter is gone.
        Withheld = "withheld",
    }
}

/// The receiver's answer to a message, or the reason for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendOutcome {
    /// The receiver answered with this status.
    Answered(u16),
    /// No connection may be made: each address of the host is private, or public and the URL is `http`.
    AddressRefused,
    /// The name of the host has no address.
    HostUnknown,
    /// The receiver did not answer in time.
    TimedOut,
    /// The receiver's certificate is not valid, or it does not speak TLS.
    TlsFailed,
    /// No connection came about, or it broke.
    Unreachable,
}

impl SendOutcome {
    /// Whether the receiver accepted the message.
    #[must_use]
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }

    /// The status, if the receiver answered.
    #[must_use]
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Answered(status) => Some(status),
            _ => None,
        }
    }

    /// The reason of a failure, in our words: nothing of an answer is stored.
    #[must_use]
    pub fn failure(self) -> Option<String> {
        let reason = match self {
            Self::Answered(200..=299) => return None,
            Self::Answered(status @ 300..=399) => {
                return Some(format!("answered {status}; redirects are not followed"));
            }
            Self::Answered(status) => return Some(format!("answered {status}")),
            Self::AddressRefused => "the address is private, or public without https",
            Self::HostUnknown => "the name of the host has no address",
            Self::TimedOut => "no answer in time",
            Self::TlsFailed => "no valid TLS connection",
            Self::Unreachable => "cannot connect, or the connection broke",
        };
        Some(reason.to_owned())
    }
}

/// The state of a webhook after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResult {
    /// Its progress.
    pub progress: DeliveryProgress,
    /// The event, if this was its last attempt.
    pub dead_letter: Option<DeadLetter>,
}

/// An attempt to deliver an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The webhook.
    pub webhook: WebhookId,
    /// The sequence of the event.
    pub sequence: u64,
    /// Its outcome.
    pub outcome: SendOutcome,
    /// When it ended.
    pub at: Timestamp,
}

impl DeliveryProgress {
    /// The progress of a new webhook, which begins after this position of its journal.
    #[must_use]
    pub fn starting_after(through: u64) -> Self {
        Self { through, ..Self::default() }
    }

    /// The time before which nothing is sent.
    #[must_use]
    pub fn waits_until(&self) -> Option<Timestamp> {
        self.failing.as_ref().map(|failing| failing.retry_at)
    }

    /// The progress after events that are not delivered: the owner may not see them, or the filter
    /// does not admit them.
    #[must_use]
    pub fn after_skipping(&self, through: u64) -> Self {
        Self { through: self.through.max(through), failing: None, ..self.clone() }
    }

    /// The progress of a webhook that stops.
    #[must_use]
    pub fn stopped_for(&self, reason: WebhookStop) -> Self {
        Self { stopped: Some(reason), ..self.clone() }
    }

    /// The progress of a webhook that a person lets go on at once.
    #[must_use]
    pub fn resumed(&self, now: Timestamp) -> Self {
        let failing = self.failing.clone();
        let failing = failing.map(|failing| FailingDelivery { retry_at: now, ..failing });
        Self { failing, stopped: None, ..self.clone() }
    }

    /// The progress after an attempt to deliver the next event.
    #[must_use]
    pub fn after_attempt(
        &self,
        attempt: &DeliveryAttempt,
        schedule: &RetrySchedule,
    ) -> AttemptResult {
        let DeliveryAttempt { webhook, sequence, outcome, at } = *attempt;
        let Some(failure) = outcome.failure() else {
            let delivered = self.delivered + 1;
            let progress = Self { delivered, ..self.after_skipping(sequence) };
            return AttemptResult { progress, dead_letter: None };
        };
        let earlier = self.failing.as_ref().filter(|failing| failing.sequence == sequence);
        let attempts = earlier.map_or(0, |failing| failing.attempts) + 1;
        if outcome.status() == Some(410) {
            let failing = FailingDelivery { sequence, attempts, retry_at: at, failure };
            let stopped = Some(WebhookStop::ReceiverGone);
            let progress = Self { failing: Some(failing), stopped, ..self.clone() };
            return AttemptResult { progress, dead_letter: None };
        }
        if attempts >= schedule.attempts_max {
            let dead_letter = Some(DeadLetter { sequence, attempts, failed_at: at, failure });
            return AttemptResult { progress: self.after_skipping(sequence), dead_letter };
        }
        let delay = schedule.delay(attempts, chance_of_attempt(webhook, sequence, attempts));
        let retry_at = whole_milliseconds(at.checked_add(delay).unwrap_or(at));
        let failing = Some(FailingDelivery { sequence, attempts, retry_at, failure });
        AttemptResult { progress: Self { failing, ..self.clone() }, dead_letter: None }
    }
}

/// The receiver of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The URL.
    pub url: String,
    /// Whether a private address may be connected to.
    pub allow_private: bool,
}

/// A sender that several threads share.
pub type WebhookSenderHandle = Arc<dyn WebhookSender>;

/// Sends messages to the receivers of webhooks.
///
/// # Laws
/// - **It connects only to addresses that [`super::address::may_connect`] admits**: it checks the address
///   itself to which it connects, and follows no redirect.
/// - **It returns in time**, and leaves nothing running.
/// - **It is called outside of every transaction.**
pub trait WebhookSender: Send + Sync {
    /// Sends a message once.
    fn send(&self, target: &WebhookTarget, message: &WebhookMessage) -> SendOutcome;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::CountingIds;

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn attempt(sequence: u64, outcome: SendOutcome) -> DeliveryAttempt {
        let webhook = WebhookId::new(&CountingIds::default(), now());
        DeliveryAttempt { webhook, sequence, outcome, at: now() }
    }

    #[test]
    fn delays_grow_are_scattered_and_end() {
        let schedule = RetrySchedule::default();
        let seconds = |attempts, chance| schedule.delay(attempts, chance).as_secs_f64();
        let whole: Vec<f64> = (1..=9).map(|attempts| seconds(attempts, 1.0)).collect();
        let six_hours = 21_600.0;
        let expected = [5.0, 20.0, 80.0, 320.0, 1_280.0, 5_120.0, 20_480.0, six_hours, six_hours];
        assert_eq!(whole, expected);
        for attempts in [1, 4, 9, 40, u32::MAX] {
            let least = seconds(attempts, 0.0);
            assert_eq!(least, seconds(attempts, 1.0) / 2.0);
            assert!((least..=2.0 * least).contains(&seconds(attempts, 0.3)));
        }
        let ids = CountingIds::default();
        let chances: Vec<f64> =
            (0..100).map(|_| chance_of_attempt(WebhookId::new(&ids, now()), 7, 1)).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.iter().any(|chance| *chance < 0.2));
        assert!(chances.iter().any(|chance| *chance > 0.8));
    }

    #[test]
    fn a_delivery_is_tried_until_its_last_attempt_and_then_a_dead_letter() {
        let schedule = RetrySchedule { attempts_max: 3, ..RetrySchedule::default() };
        let mut progress = DeliveryProgress::starting_after(6);
        for attempts in 1..=2 {
            let after = progress.after_attempt(&attempt(7, SendOutcome::Answered(500)), &schedule);
            assert_eq!(after.dead_letter, None);
            progress = after.progress;
            let failing = progress.failing.as_ref().expect("it fails");
            assert_eq!((failing.sequence, failing.attempts), (7, attempts));
            assert_eq!((progress.through, failing.failure.as_str()), (6, "answered 500"));
            assert!(failing.retry_at > now());
        }
        let last = progress.after_attempt(&attempt(7, SendOutcome::TimedOut), &schedule);
        let letter = last.dead_letter.expect("a dead letter");
        assert_eq!((letter.sequence, letter.attempts), (7, 3));
        assert_eq!(letter.failure, "no answer in time");
        assert_eq!(last.progress, DeliveryProgress::starting_after(7));
    }

    #[test]
    fn an_accepted_delivery_ends_the_failure_and_another_event_begins_anew() {
        let schedule = RetrySchedule::default();
        let begun = DeliveryProgress::starting_after(0);
        let failed = begun.after_attempt(&attempt(3, SendOutcome::Unreachable), &schedule).progress;
        let done =
            failed.after_attempt(&attempt(3, SendOutcome::Answered(204)), &schedule).progress;
        assert_eq!((done.through, done.delivered, done.failing), (3, 1, None));
        // The failing event was hidden meanwhile: the next one has its own attempts.
        let next = failed.after_attempt(&attempt(4, SendOutcome::HostUnknown), &schedule).progress;
        assert_eq!(next.failing.map(|failing| (failing.sequence, failing.attempts)), Some((4, 1)));
        assert_eq!(failed.after_skipping(9).failing, None);
        assert_eq!(failed.after_skipping(0).through, 0);
    }

    #[test]
    fn a_receiver_that_is_gone_stops_its_webhook_until_a_person_resumes_it() {
        let schedule = RetrySchedule::default();
        let gone = DeliveryProgress::starting_after(0)
            .after_attempt(&attempt(3, SendOutcome::Answered(410)), &schedule)
            .progress;
        assert_eq!((gone.stopped, gone.through), (Some(WebhookStop::ReceiverGone), 0));
        let resumed = gone.resumed(now());
        assert_eq!((resumed.stopped, resumed.waits_until()), (None, Some(now())));
    }

    #[test]
    fn only_a_status_of_success_is_accepted_and_no_redirect_followed() {
        for (status, accepted) in [
            (200, true),
            (204, true),
            (299, true),
            (199, false),
            (301, false),
            (400, false),
            (503, false),
        ] {
            let outcome = SendOutcome::Answered(status);
            assert_eq!((outcome.is_accepted(), outcome.failure().is_none()), (accepted, accepted));
        }
        let redirect = SendOutcome::Answered(307).failure().expect("a failure");
        assert_eq!(redirect, "answered 307; redirects are not followed");
    }
}
