//! Connections over HTTP: a limited number, each head within a time limit, each finished on shutdown.

mod slots;

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response};
use commonbook::base::limits;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use slots::{ConnectionLimiter, ConnectionSlot, OpenConnection, RunningRequest};

/// The address of the peer, in the extensions of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// Serves until `stopping`; then accepts no connection and finishes the running requests. When all slots
/// are taken, a new connection displaces the one that has been idle longest.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections_max: usize,
    stopping: CancellationToken,
) {
    let limiter = Arc::new(ConnectionLimiter::new(connections_max));
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((client, peer)) => {
                let slot = tokio::select! {
                    () = stopping.cancelled() => break,
                    slot = ConnectionLimiter::acquire_slot(&limiter, peer.ip()) => slot,
                };
                let Some(slot) = slot else {
                    tracing::debug!(peer = %peer.ip(), "a peer has used its share of the connections");
                    continue;
                };
                // Event streams make many small writes, which must not wait for acknowledgements.
                drop(client.set_nodelay(true));
                tokio::spawn(serve_connection(client, router.clone(), slot, open.watcher()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
    drop(listener);
    open.shutdown().await;
}

/// Serves one connection to its end. Ends it if a head is too slow, if the client is idle for too long,
/// or if another client needs the slot.
async fn serve_connection(
    client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    slot: ConnectionSlot,
    open: Watcher,
) {
    let connection = slot.connection();
    let router = TowerToHyperService::new(router);
    let running = Arc::clone(&connection);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let running = RunningRequest::begin(&running);
        request.extensions_mut().insert(PeerAddress(running.peer()));
        let answer = router.call(request);
        async move {
            let answer = answer.await?;
            let tracked = |body| Body::new(TrackedBody { body, _running: running });
            Ok::<Response<Body>, Infallible>(answer.map(tracked))
        }
    });
    let client = TrackedClient { client, connection: Arc::clone(&connection) };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits::REQUEST_SECONDS))
        .serve_connection(TokioIo::new(client), service);
    let mut served = pin!(open.watch(served));
    tokio::select! {
        served = &mut served => if let Err(error) = served {
            tracing::debug!(%error, "a connection failed");
        },
        () = connection.wait_for_head_timeout() => tracing::debug!("the head of a request was too slow"),
        () = connection.wait_for_displacement() => tracing::debug!("an idle connection made room"),
    }
}

/// The client's end of a connection; it reports when a head starts.
struct TrackedClient<C> {
    client: C,
    connection: Arc<OpenConnection>,
}

impl<C: AsyncRead + Unpin> AsyncRead for TrackedClient<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.client).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.connection.note_received();
        }
        read
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for TrackedClient<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.client).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.client).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.client).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.client).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.client.is_write_vectored()
    }
}

/// The body of a response; its request is running until the body has been sent.
struct TrackedBody {
    body: Body,
    _running: RunningRequest,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
