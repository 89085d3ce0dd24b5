//! Bodies of requests: read whole, within a time limit, a limit for each and one for all together; and
//! drained if no handler reads them.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The memory for the bodies of all running requests.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

/// The body of a request, with its share of the budget until this is dropped.
#[derive(Debug)]
pub(crate) struct WholeBody {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// The share of the budget; it outlives the bytes if a value made from them does.
    pub(crate) share: BodyShare,
}

/// A part of the budget.
#[derive(Debug, Default)]
pub(crate) struct BodyShare(Option<OwnedSemaphorePermit>);

impl Default for BodyBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(limits::BODIES_BYTES)))
    }
}

impl BodyBudget {
    /// Reads a body to its end.
    ///
    /// # Errors
    /// `too_large` over [`limits::BODY_BYTES`], `invalid` if the connection fails or the body is too
    /// slow, `unavailable` if other bodies use the whole budget.
    pub(crate) async fn read(&self, body: Body) -> Result<WholeBody> {
        let limit = Duration::from_secs(limits::REQUEST_SECONDS);
        match timeout(limit, self.collect(body)).await {
            Ok(read) => read,
            Err(_) => {
                Err(Error::new(ErrorKind::Invalid, "the body did not arrive within the time limit"))
            }
        }
    }

    async fn collect(&self, mut body: Body) -> Result<WholeBody> {
        let (mut bytes, mut share) = (Vec::new(), BodyShare::default());
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
        {
            let frame = frame.map_err(|error| {
                Error::new(ErrorKind::Invalid, "the connection failed while the body was read")
                    .with_cause(error)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > limits::BODY_BYTES {
                let message = format!("the body is larger than {} bytes", limits::BODY_BYTES);
                return Err(
                    Error::new(ErrorKind::TooLarge, message).hint("Send it in several requests.")
                );
            }
            self.extend(&mut share, length.saturating_sub(limits::BODY_FREE_BYTES)).await?;
            bytes.extend_from_slice(&data);
        }
        Ok(WholeBody { bytes, share })
    }

    /// Extends a share to this size. A waiting request holds only the share of the bytes it has sent.
    async fn extend(&self, share: &mut BodyShare, bytes: usize) -> Result<()> {
        let held = share.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Some(more) = bytes.checked_sub(held).filter(|more| *more > 0) else { return Ok(()) };
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let wait = Duration::from_secs(limits::BODY_WAIT_SECONDS);
        let Ok(Ok(more)) = timeout(wait, Arc::clone(&self.0).acquire_many_owned(more)).await else {
            let message = "the server already reads as many large requests as it can";
            let error = Error::new(ErrorKind::Unavailable, message)
                .hint("Send the same request again in a second, or in several smaller ones.");
            return Err(Error { retry_after: Some(NonZeroU32::MIN), ..error });
        };
        match &mut share.0 {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// The body of a request: its handler reads it, and the server drains the rest.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<UnreadBody>>);

/// The unread part of a body.
struct UnreadBody {
    body: Body,
    has_ended: bool,
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        let mut unread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.has_ended {
            return Poll::Ready(None);
        }
        let frame = Pin::new(&mut unread.body).poll_frame(context);
        unread.has_ended = matches!(frame, Poll::Ready(None | Some(Err(_))));
        frame
    }

    fn is_end_stream(&self) -> bool {
        let unread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unread.has_ended || unread.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).body.size_hint()
    }
}

impl SharedBody {
    /// Reads the rest and discards it; returns whether it reached the end within the limits of a
    /// request.
    async fn drain(mut self) -> bool {
        let read_rest = async {
            let mut bytes = 0;
            while !self.is_end_stream() {
                let frame = std::future::poll_fn(|cx| Pin::new(&mut self).poll_frame(cx)).await;
                match frame {
                    None => break,
                    Some(Err(_)) => return false,
                    Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
                }
                if bytes > limits::BODY_BYTES {
                    return false;
                }
            }
            true
        };
        timeout(Duration::from_secs(limits::REQUEST_SECONDS), read_rest).await.unwrap_or(false)
    }
}

/// Reads each request to its end before the response, even a refused one: a client that is still writing
/// would see a broken connection instead of the response. A body that exceeds its limits ends the
/// connection after the response.
pub(crate) async fn drain_unread_body(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let shared = SharedBody(Arc::new(Mutex::new(UnreadBody { body, has_ended: false })));
    let request = Request::from_parts(parts, Body::new(shared.clone()));
    let mut response = next.run(request).await;
    if !shared.drain().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn body(mebibytes: usize) -> Body {
        let chunks = std::iter::repeat_n(Bytes::from_static(&[b' '; MIB]), mebibytes);
        Body::from_stream(futures_util::stream::iter(chunks.map(Ok::<_, std::io::Error>)))
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_each_other_and_small_ones_do_not() {
        let budget = BodyBudget::default();
        let mut held = Vec::new();
        for _ in 0..limits::BODIES_BYTES / limits::BODY_BYTES {
            held.push(budget.read(body(limits::BODY_BYTES / MIB)).await.unwrap());
        }
        let error = budget.read(body(8)).await.unwrap_err();
        assert_eq!(
            (error.kind, error.retry_after),
            (ErrorKind::Unavailable, Some(NonZeroU32::MIN))
        );
        let small = budget.read(Body::from("{}")).await.unwrap();
        assert_eq!(small.bytes, b"{}");
        // A value made from a body can outlive its bytes; then the share does too.
        let WholeBody { share, .. } = held.pop().unwrap();
        assert!(budget.read(body(8)).await.is_err());
        drop(share);
        assert!(budget.read(body(8)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_a_size_limit_and_a_time_limit() {
        let budget = BodyBudget::default();
        assert_eq!(budget.read(body(17)).await.unwrap_err().kind, ErrorKind::TooLarge);
        let slow = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
        let slow = Body::from_stream(slow.chain(futures_util::stream::pending()));
        assert_eq!(
            budget.read(slow).await.unwrap_err().message,
            "the body did not arrive within the time limit"
        );
        assert_eq!(budget.0.available_permits(), limits::BODIES_BYTES);
    }
}
