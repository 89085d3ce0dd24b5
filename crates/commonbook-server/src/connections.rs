//! Connections over HTTP: places for them, each request's head in time, each finished at the end.

mod places;

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

use places::{ConnectionLimiter, ConnectionSlot, OpenConnection, RunningRequest};

/// Who sent a request, in its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// Serves until told to stop; then takes no more, and finishes what was begun. Who comes when every
/// place is taken gets the place of the connection that has waited longest for its next request.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    places: usize,
    stopping: CancellationToken,
) {
    let places = Arc::new(ConnectionLimiter::new(places));
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((client, peer)) => {
                let place = tokio::select! {
                    () = stopping.cancelled() => break,
                    place = ConnectionLimiter::acquire_slot(&places, peer.ip()) => place,
                };
                let Some(place) = place else {
                    tracing::debug!(peer = %peer.ip(), "a peer has its share of the connections");
                    continue;
                };
                // A stream is many small writes: none is to wait until the one before arrived.
                drop(client.set_nodelay(true));
                tokio::spawn(serve_connection(client, router.clone(), place, open.watcher()));
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
/// client that asks nothing for too long, or whose place another client needs.
async fn serve_connection(
    client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    place: ConnectionSlot,
    open: Watcher,
) {
    let connection = place.connection();
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
            tracing::debug!(%error, "a connection broke off");
        },
        () = connection.wait_for_head_timeout() => tracing::debug!("a head did not come in time"),
        () = connection.wait_for_displacement() => tracing::debug!("an idle connection made room"),
    }
}

/// The client's end of a connection, which tells when a head begins.
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

/// The body of an answer; its request is under way until the body was sent.
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
