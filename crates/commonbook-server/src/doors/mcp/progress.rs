//! Progress notifications for a client that asked for them.

use std::pin::pin;
use std::time::Duration;

use commonbook::base::cancellation::Cancellation;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::calls::call::cancel_on_disconnect;

/// The time between two notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Runs some work; for a client with a progress token, sends a notification at once and then every
/// second, with the elapsed seconds and no total: a write may have to wait for others.
pub(super) async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    let notify = async |seconds: u32| {
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(seconds));
        // The work goes on if the client has disconnected.
        drop(context.peer.notify_progress(progress.with_message("running")).await);
    };
    // The response follows the first notification, which a disconnected client would block for ever.
    let first = async { drop(timeout(PROGRESS_INTERVAL, notify(0)).await) };
    let later = async {
        for seconds in 1.. {
            sleep(PROGRESS_INTERVAL).await;
            if context.ct.is_cancelled() {
                return;
            }
            notify(seconds).await;
        }
    };
    let working = async {
        let mut work = pin!(work);
        tokio::select! {
            done = &mut work => done,
            () = later => work.await,
        }
    };
    tokio::join!(first, working).1
}

/// Runs some work to its end, and cancels it when the client cancels its request or disconnects.
pub(super) async fn with_cancellation<T>(
    cancelled: &CancellationToken,
    cancellation: &Cancellation,
    work: impl Future<Output = T>,
) -> T {
    cancel_on_disconnect(cancelled.cancelled(), cancellation, work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cancelled_request_cancels_its_work() {
        let (cancelled, cancellation) = (CancellationToken::new(), Cancellation::default());
        let observed = cancellation.clone();
        let work = tokio::task::spawn_blocking(move || {
            while !observed.is_cancelled() {
                std::thread::yield_now();
            }
            "ended"
        });
        let request = cancelled.clone();
        let work = async move {
            request.cancel();
            work.await.unwrap()
        };
        assert_eq!(with_cancellation(&cancelled, &cancellation, work).await, "ended");
        assert!(cancellation.is_cancelled());
    }
}
