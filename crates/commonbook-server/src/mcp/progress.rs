//! Progress: telling a client that asked for it that its call is under way.

use std::pin::pin;
use std::time::Duration;

use commonbook::base::cancellation::Cancellation;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::call::cancel_on_disconnect;

/// How often a client is told.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Does some work, and tells whoever gave a progress token that it goes on: at once, and then every
/// second, with the seconds that have gone by. How many it will take nobody knows: a write may have
/// to wait for others.
pub(super) async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    let tell = async |seconds: u32| {
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(seconds));
        // A client that is gone is told nothing; what it asked for is carried out.
        drop(context.peer.notify_progress(progress.with_message("under way")).await);
    };
    // The answer comes after it; but one that has closed its end would let us wait for ever.
    let first = async { drop(timeout(PROGRESS_INTERVAL, tell(0)).await) };
    let later = async {
        for seconds in 1.. {
            sleep(PROGRESS_INTERVAL).await;
            if context.ct.is_cancelled() {
                return;
            }
            tell(seconds).await;
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

/// Does some work to its end, and tells it when the client has taken its request back or is gone.
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
    async fn a_request_that_is_taken_back_cancels_what_is_under_way() {
        let (cancelled, cancellation) = (CancellationToken::new(), Cancellation::default());
        let wanted = cancellation.clone();
        let work = tokio::task::spawn_blocking(move || {
            while !wanted.is_cancelled() {
                std::thread::yield_now();
            }
            "ended"
        });
        let taken_back = cancelled.clone();
        let work = async move {
            taken_back.cancel();
            work.await.unwrap()
        };
        assert_eq!(with_cancellation(&cancelled, &cancellation, work).await, "ended");
        assert!(cancellation.is_cancelled());
    }
}
