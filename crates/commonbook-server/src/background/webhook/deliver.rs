//! Delivering to webhooks in the background: one process of a home does it, with a thread for each webhook
//! that has something to deliver, so that a slow receiver delays no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::id::WebhookId;
use commonbook::verbs::DeliveryStep;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::calls::call::run_blocking;

/// Maximum delay before an event is sent.
const DELIVERY_DELAY_MAX: Duration = Duration::from_millis(250);

/// The delay before deliveries that failed in this process, not at the receiver, are tried again.
const DELIVERY_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Delivers to the webhooks of a home until the program stops, unless another process does.
pub(crate) async fn deliver_in_background(
    book: Commonbook,
    home: PathBuf,
    stopping: CancellationToken,
) {
    let (ends, mut ended) = unbounded_channel();
    let mut deliveries =
        RunningDeliveries { book, home, lease: None, busy: BTreeMap::new(), ends, stopping };
    let (mut failed, mut pause) = (false, DELIVERY_DELAY_MAX);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {},
            () = deliveries.stopping.cancelled() => return,
        }
        while let Ok(end) = ended.try_recv() {
            deliveries.note_end(&end);
        }
        let begun = deliveries.begin_due().await;
        if let Err(error) = &begun
            && !failed
        {
            tracing::warn!(%error, "cannot deliver to webhooks; trying again");
        }
        failed = begun.is_err();
        pause = if failed { DELIVERY_RETRY_DELAY } else { DELIVERY_DELAY_MAX };
    }
}

/// The deliveries of this process.
struct RunningDeliveries {
    book: Commonbook,
    home: PathBuf,
    /// The lock by which this process delivers and no other. The kernel releases it when the process
    /// ends, however it ends.
    lease: Option<FileLock>,
    /// The webhooks with a thread, and those that rest until this time.
    busy: BTreeMap<WebhookId, Option<Instant>>,
    ends: UnboundedSender<DeliveryEnd>,
    stopping: CancellationToken,
}

/// The end of a webhook's thread.
struct DeliveryEnd {
    webhook: WebhookId,
    failed: bool,
}

impl RunningDeliveries {
    fn note_end(&mut self, end: &DeliveryEnd) {
        match end.failed {
            true => self.busy.insert(end.webhook, Some(Instant::now() + DELIVERY_RETRY_DELAY)),
            false => self.busy.remove(&end.webhook),
        };
    }

    /// Starts a thread for each webhook that has something to deliver and has none.
    async fn begin_due(&mut self) -> Result<()> {
        let book = self.book.clone();
        let due = run_blocking(move || book.webhooks_due()).await?;
        if due.is_empty() {
            return Ok(());
        }
        if self.lease.is_none() {
            self.lease = take_lease(&self.home)?;
        }
        if self.lease.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        self.busy.retain(|_, rests| rests.is_none_or(|until| until > now));
        for webhook in due {
            if self.busy.contains_key(&webhook) {
                continue;
            }
            self.busy.insert(webhook, None);
            let (book, stopping) = (self.book.clone(), self.stopping.clone());
            let ends = self.ends.clone();
            let deliver = move || {
                let failed = deliver_all(&book, webhook, &stopping);
                // The receiver is gone when the program stops.
                drop(ends.send(DeliveryEnd { webhook, failed }));
            };
            if let Err(error) = std::thread::Builder::new().name("webhook".into()).spawn(deliver) {
                self.note_end(&DeliveryEnd { webhook, failed: true });
                tracing::warn!(%error, "cannot start a thread for a webhook; trying again");
            }
        }
        Ok(())
    }
}

/// Delivers what waits for a webhook; returns whether this process failed.
fn deliver_all(book: &Commonbook, webhook: WebhookId, stopping: &CancellationToken) -> bool {
    while !stopping.is_cancelled() {
        match book.deliver_next(webhook) {
            Ok(DeliveryStep::Moved) => {}
            Ok(DeliveryStep::Idle) => return false,
            Err(error) => {
                tracing::warn!(%webhook, %error, "cannot deliver to a webhook; trying again");
                return true;
            }
        }
    }
    false
}

/// The lease for delivering, held as long as the value; `None` if another process holds it.
fn take_lease(home: &Path) -> Result<Option<FileLock>> {
    let path = home.join("webhook.lock");
    let unusable = |error: std::io::Error| {
        let message = format!("cannot lock {}: {error}", path.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint("Check the permissions of the folder.")
            .with_cause(error)
    };
    FileLock::take(&path).map_err(unusable)
}
