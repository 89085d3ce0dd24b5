//! Progress: telling a client that asked for it that its call is under way.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{sleep, timeout};

/// How often a client is told.
const STEP: Duration = Duration::from_secs(1);

/// Does some work, and tells whoever gave a progress token that it goes on: at once, and then every
/// second, with the seconds that have gone by. How many it will take nobody knows: a write may have
/// to wait for others.
pub(super) async fn telling<T>(
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
    let first = async { drop(timeout(STEP, tell(0)).await) };
    let later = async {
        for seconds in 1.. {
            sleep(STEP).await;
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
