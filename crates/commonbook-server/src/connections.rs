//! Connections over HTTP: so many at once, each request's head in time, each finished at the end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use commonbook::limits;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Serves until told to stop; then takes no more, and finishes what was begun. Who comes when every
/// place is taken waits in the system's queue.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    places: usize,
    stopping: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    loop {
        let next = async {
            // Nobody closes the semaphore.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = stopping.cancelled() => break,
            next = next => next,
        };
        match accepted {
            Ok((client, _)) => {
                // A stream is many small writes: none is to wait until the one before arrived.
                drop(client.set_nodelay(true));
                let served = one(client, router.clone(), open.watcher());
                tokio::spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken now");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
    drop(listener);
    open.shutdown().await;
}

/// Serves one connection to its end. A head that does not come in time ends it, and so does a
/// client that asks nothing for so long.
async fn one(
    client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    open: Watcher,
) {
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits::REQUEST_SECONDS))
        .serve_connection(TokioIo::new(client), TowerToHyperService::new(router));
    if let Err(error) = open.watch(served).await {
        tracing::debug!(%error, "a connection broke off");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// What a client is answered that sends this and then waits; the clock runs when nothing else does.
    async fn answered(sent: &[u8]) -> String {
        let router = Router::new().route("/", axum::routing::get(|| async { "tea" }));
        let (mut client, ours) = tokio::io::duplex(1024);
        let open = GracefulShutdown::new();
        let serving = tokio::spawn(one(ours, router, open.watcher()));
        client.write_all(sent).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        serving.await.unwrap();
        answer
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_dawdles_over_a_head_loses_its_connection() {
        for sent in [&b""[..], b"GET / HTTP/1.1\r\nHost: x\r\nX-Sl"] {
            assert!(!answered(sent).await.contains("tea"));
        }
        let whole = answered(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(whole.starts_with("HTTP/1.1 200") && whole.ends_with("tea"), "{whole}");
    }
}
