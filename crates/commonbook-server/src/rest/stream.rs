//! `GET /events/stream`: the journal as server-sent events, to each reader what it may see.
//!
//! A reader first catches up from the journal, then takes what is new from the feed of its
//! workspace, at most 64 events at a time, and only when its connection can take them. One that
//! falls further behind than the feed goes back is told so (`lagged`), and catches up from the
//! journal again. It waits for nobody, and nobody waits for it.

mod feed;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits};
use commonbook::model::access::Sight;
use commonbook::model::caller::{Caller, EntryPoint as Way};
use commonbook::model::event::{Event, EventFilter, FollowEvents};
use serde_json::json;
use tokio::sync::watch::Receiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::route::{RequestId, RestDoor, error_response};
use crate::call::run_blocking;
use crate::caller::{HttpCallerSource, header_text as heard, resolve_http_caller};
use crate::watch::JournalWatch;
use feed::{WorkspaceFeed, WorkspaceFeeds};

/// Readers that ask the store at the same time; the others wait for their turn.
const STORE_READERS_MAX: usize = 8;

/// What is sent when there was nothing else to send for a while: it shows that both ends are there.
const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// The streams of a server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct EventStreams {
    book: Commonbook,
    feeds: Arc<WorkspaceFeeds>,
    most: usize,
    free: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    stopping: CancellationToken,
}

/// Who follows a journal over one connection.
struct StreamReader {
    streams: EventStreams,
    caller: Caller,
    sight: Sight,
    filter: EventFilter,
    feed: Arc<WorkspaceFeed>,
    /// Tells that the feed has come further.
    grown: Receiver<u64>,
    /// The place up to which the reader was given everything.
    place: u64,
    /// Whether the feed goes on where the reader is.
    live: bool,
    quiet_until: Instant,
    /// When it is next asked whether the reader may still be here.
    asked_again: Instant,
    _one_of_the_free: OwnedSemaphorePermit,
}

impl EventStreams {
    /// So many streams at the most, until the server stops.
    pub(crate) fn new(
        book: Commonbook,
        watch: JournalWatch,
        most: usize,
        stopping: CancellationToken,
    ) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        let feeds = WorkspaceFeeds::new(book.clone(), watch);
        let turns = Arc::new(Semaphore::new(STORE_READERS_MAX));
        Self { book, feeds, most, free: Arc::new(Semaphore::new(most)), turns, stopping }
    }

    /// Answers a request for a stream.
    pub(super) async fn serve(self, door: RestDoor, id: RequestId, request: Request) -> Response {
        match self.begin(&door, request).await {
            Ok(reader) => reader.response(),
            Err(error) => error_response(&error, &id),
        }
    }

    async fn begin(self, door: &RestDoor, request: Request) -> Result<StreamReader> {
        let (parts, _) = request.into_parts();
        let http = HttpCallerSource { parts: &parts, client: None, door: Way::Rest };
        let (caller, pairs) = resolve_http_caller(http, &door.config)?;
        let mut asked: FollowEvents = input::from_pairs(pairs)?;
        if let Some(last) = heard(&parts.headers, "last-event-id")?.filter(|id| !id.is_empty()) {
            let none = |_| {
                Error::invalid("Last-Event-ID", format!("{last:?} is not a sequence"))
                    .hint("Send back the `id` of the last event that came, or leave it out.")
            };
            asked.after = Some(last.parse().map_err(none)?);
        }
        let (filter, sight) = (asked.filter(&caller)?, Sight::reading_at_home(&caller)?);
        let free = Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let many = format!("{} streams are open, and no more are allowed", self.most);
            Error::new(ErrorKind::RateLimited, many)
                .hint("Close one that nobody needs, or start the server with more (--streams).")
        })?;
        let (feed, grown) = self.feeds.of(&caller.workspace).await?;
        let mut reader = StreamReader {
            streams: self,
            caller,
            sight,
            filter,
            feed,
            grown,
            place: asked.after.unwrap_or_default(),
            live: false,
            quiet_until: silence_deadline(),
            asked_again: silence_deadline(),
            _one_of_the_free: free,
        };
        if asked.after.is_none() {
            reader.journal_frames(None).await?;
        }
        Ok(reader)
    }
}

impl StreamReader {
    fn response(self) -> Response {
        let events = futures_util::stream::unfold(self, |mut reader| async move {
            let text = reader.next().await?;
            Some((Ok::<_, Infallible>(text), reader))
        });
        let headers = [
            (header::CONTENT_TYPE.as_str(), "text/event-stream"),
            (header::CACHE_CONTROL.as_str(), "no-cache"),
            // A proxy is not to collect what should arrive at once.
            ("x-accel-buffering", "no"),
        ];
        (headers, Body::from_stream(events)).into_response()
    }

    /// What is sent next; nothing when the stream ends.
    async fn next(&mut self) -> Option<String> {
        let stopping = self.streams.stopping.clone();
        let text = tokio::select! {
            () = stopping.cancelled() => return None,
            text = self.wait_for_frames() => text,
        };
        self.quiet_until = silence_deadline();
        text.inspect_err(|error| {
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::info!(%error, cause, "a stream ends; its reader can go on where it was");
        })
        .ok()
    }

    /// Waits for what the reader is told next.
    async fn wait_for_frames(&mut self) -> Result<String> {
        loop {
            if self.asked_again <= Instant::now() {
                self.asked_again = silence_deadline();
                let _turn = self.streams.turns.acquire().await;
                let (book, caller) = (self.streams.book.clone(), self.caller.clone());
                run_blocking(move || book.recheck_token(&caller)).await?;
            }
            if !self.live {
                let text = self.journal_frames(Some(self.place)).await?;
                if !text.is_empty() {
                    return Ok(text);
                }
                continue;
            }
            self.grown.mark_unchanged();
            match self.feed.take(self.place, &self.sight, &self.filter) {
                None => return self.lag_frame().await,
                Some(taken) => {
                    self.place = taken.through;
                    if !taken.text.is_empty() {
                        return Ok(taken.text);
                    }
                }
            }
            tokio::select! {
                () = sleep_until(self.quiet_until) => return Ok(KEEP_ALIVE.to_owned()),
                grown = self.grown.changed() => if grown.is_err() {
                    return Err(Error::new(ErrorKind::Internal, "the feed has ended"));
                },
            }
        }
    }

    /// What the journal has after this place; at its end the feed goes on.
    async fn journal_frames(&mut self, after: Option<u64>) -> Result<String> {
        let _turn = self.streams.turns.acquire().await;
        let (book, caller) = (self.streams.book.clone(), self.caller.clone());
        let (filter, limit) = (self.filter.clone(), limits::STREAM_BUFFER as u32);
        let read = move || book.follow_events(&caller, &filter, after, limit);
        let followed = run_blocking(read).await?;
        self.place = followed.through;
        self.live = !followed.more;
        Ok(followed.items.iter().map(event_frame).collect())
    }

    /// Says how many events the feed no longer has for this reader; the journal has them.
    async fn lag_frame(&mut self) -> Result<String> {
        self.live = false;
        let _turn = self.streams.turns.acquire().await;
        let (book, caller) = (self.streams.book.clone(), self.caller.clone());
        let (filter, after) = (self.filter.clone(), self.place);
        let missed = run_blocking(move || book.count_events(&caller, &filter, after)).await?;
        Ok(format!("event: lagged\ndata: {}\n\n", json!({"missed": missed})))
    }
}

/// An event as it is sent. JSON has no line ends, which would end the field.
fn event_frame(event: &Event) -> String {
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", event.sequence, event.kind.name())
}

/// Until when a stream may be silent from now on.
fn silence_deadline() -> Instant {
    Instant::now() + Duration::from_secs(limits::KEEP_ALIVE_SECONDS)
}
