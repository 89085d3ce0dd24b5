//! The sizes of the home, measured each minute for the page Health.

use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::Result;

use crate::calls::call_history::HomeSizes;
use crate::calls::metrics::server_metrics;

/// The pause between two measurements.
const PAUSE: Duration = Duration::from_secs(60);

/// Measures the sizes of the home now and each minute, until the task is dropped.
pub(crate) async fn measure_in_background(book: Commonbook) {
    let mut minutes = tokio::time::interval(PAUSE);
    loop {
        minutes.tick().await;
        let book = book.clone();
        match tokio::task::spawn_blocking(move || sizes(&book)).await {
            Ok(Ok(sizes)) => {
                if let Some(metrics) = server_metrics() {
                    metrics.history().note_sizes(sizes, SystemClock.now());
                }
            }
            Ok(Err(error)) => tracing::debug!(%error, "the sizes of the home are not known"),
            Err(panic) => tracing::error!(%panic, "measuring the sizes of the home panicked"),
        }
    }
}

fn sizes(book: &Commonbook) -> Result<HomeSizes> {
    let index = book.index().figures();
    Ok(HomeSizes {
        store_bytes: book.store().disk_bytes()?,
        memories: index.memories,
        unembedded: index.unembedded,
    })
}
