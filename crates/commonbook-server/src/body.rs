//! Bodies of requests: read whole and in time, within a limit for each and one for all together.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// What the bodies of all requests under way may take.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

/// The body of a request, and the part of the budget that it takes until this is dropped.
#[derive(Debug)]
pub(crate) struct WholeBody {
    /// The bytes themselves.
    pub(crate) bytes: Vec<u8>,
    /// What they take; it outlives the bytes where what was made of them does.
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
    /// `too_large` over [`limits::BODY_BYTES`], `invalid` for one that breaks off or does not come in
    /// time, `unavailable` where the bodies of others leave no room.
    pub(crate) async fn read(&self, body: Body) -> Result<WholeBody> {
        let patience = Duration::from_secs(limits::REQUEST_SECONDS);
        match timeout(patience, self.collect(body)).await {
            Ok(read) => read,
            Err(_) => Err(Error::new(ErrorKind::Invalid, "the body did not come in time")),
        }
    }

    async fn collect(&self, mut body: Body) -> Result<WholeBody> {
        let (mut bytes, mut share) = (Vec::new(), BodyShare::default());
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
        {
            let frame = frame.map_err(|error| {
                Error::new(ErrorKind::Invalid, "the body broke off").with_cause(error)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > limits::BODY_BYTES {
                let message = format!("the body is over {} bytes", limits::BODY_BYTES);
                return Err(
                    Error::new(ErrorKind::TooLarge, message).hint("Send it in several requests.")
                );
            }
            self.extend(&mut share, length.saturating_sub(limits::BODY_FREE_BYTES)).await?;
            bytes.extend_from_slice(&data);
        }
        Ok(WholeBody { bytes, share })
    }

    /// Makes a share as large as this. What waits holds no more than it was sent, and not for long.
    async fn extend(&self, share: &mut BodyShare, bytes: usize) -> Result<()> {
        let held = share.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Some(more) = bytes.checked_sub(held).filter(|more| *more > 0) else { return Ok(()) };
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let wait = Duration::from_secs(limits::BODY_WAIT_SECONDS);
        let Ok(Ok(more)) = timeout(wait, Arc::clone(&self.0).acquire_many_owned(more)).await else {
            let message = "the server is reading as many large requests as it can";
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

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
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
        // What was made of a body may outlive its bytes; then its share does.
        let WholeBody { share, .. } = held.pop().unwrap();
        assert!(budget.read(body(8)).await.is_err());
        drop(share);
        assert!(budget.read(body(8)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_within_its_limit_and_its_time() {
        let budget = BodyBudget::default();
        assert_eq!(budget.read(body(17)).await.unwrap_err().kind, ErrorKind::TooLarge);
        let slow = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
        let slow = Body::from_stream(slow.chain(futures_util::stream::pending()));
        assert_eq!(budget.read(slow).await.unwrap_err().message, "the body did not come in time");
        assert_eq!(budget.0.available_permits(), limits::BODIES_BYTES);
    }
}
