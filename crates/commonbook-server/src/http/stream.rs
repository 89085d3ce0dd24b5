//! The journal as server-sent events, for `GET /events/stream` and the pages; each reader receives what it may see.
//!
//! A reader first catches up from the journal, then takes new events from the feed of its workspace, at
//! most 64 at a time, and only when its connection can take them. A reader that falls behind the feed
//! receives `lagged` and catches up from the journal again. No reader delays another. A reader whose
//! position is of another history than the journal has now receives `resync`: what it read may be lost.

mod feed;

use std::cmp::Ordering;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits};
use commonbook::model::access::Sight;
use commonbook::model::caller::Caller;
use commonbook::model::event::{
    Event, EventBatch, EventFilter, FollowEvents, JournalHistory, RESYNC_EVENT, ResumeToken,
};
use commonbook::verbs::BusFollower;
use serde_json::json;
use tokio::sync::watch::Receiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::calls::call::run_blocking;
use crate::http::watch::JournalWatch;
use feed::{WorkspaceFeed, WorkspaceFeeds};

/// Maximum number of readers that read the store at the same time.
const STORE_READERS_MAX: usize = 8;

/// The header with the id of the last event that a reader received.
pub(crate) const LAST_EVENT_HEADER: &str = "last-event-id";

/// The comment after a time without events: it shows that the connection is alive.
const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// The streams of a server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct EventStreams {
    book: Commonbook,
    feeds: Arc<WorkspaceFeeds>,
    streams_max: usize,
    free: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    stopping: CancellationToken,
}

/// A reader of a journal over one connection.
struct StreamReader {
    streams: EventStreams,
    caller: Caller,
    sight: Sight,
    filter: EventFilter,
    feed: Arc<WorkspaceFeed>,
    /// Signals that the feed has advanced.
    grown: Receiver<u64>,
    /// The position up to which the reader has received everything.
    offset: ResumeToken,
    /// Whether the reader takes events from the feed.
    live: bool,
    quiet_until: Instant,
    /// The time of the next check of the reader's token.
    recheck_at: Instant,
    /// Counts what the reader receives.
    follower: BusFollower,
    _permit: OwnedSemaphorePermit,
}

impl EventStreams {
    /// Streams up to this number, until the server stops.
    pub(crate) fn new(
        book: Commonbook,
        watch: JournalWatch,
        streams_max: usize,
        stopping: CancellationToken,
    ) -> Self {
        let streams_max = streams_max.min(Semaphore::MAX_PERMITS);
        let feeds = WorkspaceFeeds::new(book.clone(), watch);
        let turns = Arc::new(Semaphore::new(STORE_READERS_MAX));
        let free = Arc::new(Semaphore::new(streams_max));
        Self { book, feeds, streams_max, free, turns, stopping }
    }

    /// Opens a stream for this caller. `pairs` are the fields of [`FollowEvents`], and `last` is the id of
    /// the last event that the reader received.
    ///
    /// # Errors
    /// `invalid` with the field; `forbidden` without the scope to read; `rate_limited` if too many
    /// streams are open.
    pub(crate) async fn open(
        self,
        caller: Caller,
        pairs: Vec<(String, String)>,
        last: Option<String>,
    ) -> Result<Response> {
        self.begin(caller, pairs, last).await.map(StreamReader::response)
    }

    async fn begin(
        self,
        caller: Caller,
        pairs: Vec<(String, String)>,
        last: Option<String>,
    ) -> Result<StreamReader> {
        let mut follow: FollowEvents = input::from_pairs(pairs)?;
        let mut history = None;
        if let Some(last) = last.filter(|id| !id.is_empty()) {
            let invalid = |_| {
                Error::invalid("Last-Event-ID", format!("{last:?} is not the id of an event")).hint(
                    "Send the `id` of the last event that you received, or leave the header out.",
                )
            };
            let token: ResumeToken = last.parse().map_err(invalid)?;
            follow.after = Some(token.sequence);
            history = token.history;
        }
        let (filter, sight) = (follow.filter(&caller)?, Sight::reading_at_home(&caller)?);
        let free = Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let message = format!("the limit of {} open streams is reached", self.streams_max);
            Error::new(ErrorKind::RateLimited, message)
                .hint("Close a stream, or start the server with a higher --streams.")
        })?;
        let (feed, grown) = self.feeds.of(&caller.workspace).await?;
        let follower = self.book.bus().follow(&caller);
        let mut reader = StreamReader {
            streams: self,
            caller,
            sight,
            filter,
            feed,
            grown,
            offset: ResumeToken { sequence: follow.after.unwrap_or_default(), history },
            live: false,
            quiet_until: silence_deadline(),
            recheck_at: silence_deadline(),
            follower,
            _permit: free,
        };
        if follow.after.is_none() {
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
            // A proxy must not buffer events.
            ("x-accel-buffering", "no"),
        ];
        (headers, Body::from_stream(events)).into_response()
    }

    /// The next part of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        let stopping = self.streams.stopping.clone();
        let text = tokio::select! {
            () = stopping.cancelled() => return None,
            text = self.wait_for_frames() => text,
        };
        self.quiet_until = silence_deadline();
        text.inspect_err(|error| {
            self.follower.note_failed();
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::info!(%error, cause, "a stream ended; its reader can reconnect with Last-Event-ID");
        })
        .ok()
    }

    /// Waits for the next events or a keep-alive.
    async fn wait_for_frames(&mut self) -> Result<String> {
        loop {
            if self.recheck_at <= Instant::now() {
                self.recheck_at = silence_deadline();
                let _turn = self.streams.turns.acquire().await;
                let (book, caller) = (self.streams.book.clone(), self.caller.clone());
                run_blocking(move || book.recheck_token(&caller)).await?;
            }
            if !self.live {
                let text = self.journal_frames(Some(self.offset.sequence)).await?;
                if !text.is_empty() {
                    return Ok(text);
                }
                continue;
            }
            self.grown.mark_unchanged();
            match self.feed.take(&self.offset, &self.sight, &self.filter) {
                None => match self.offset.history.cmp(&Some(self.feed.history())) {
                    Ordering::Equal => return self.lag_frame().await,
                    Ordering::Less => {
                        self.live = false;
                        continue;
                    }
                    // The reader has read the journal since its history is another one, and the feed has
                    // not yet.
                    Ordering::Greater => {}
                },
                Some(taken) => {
                    self.offset.sequence = taken.through;
                    self.follower.note_position(self.offset.sequence);
                    self.follower.note_delivered(taken.delivered);
                    self.follower.note_filtered(taken.filtered);
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

    /// Events of the journal after this sequence, and `resync` before them if the reader may have read
    /// what the journal has lost; at its end the reader switches to the feed.
    async fn journal_frames(&mut self, after: Option<u64>) -> Result<String> {
        let _turn = self.streams.turns.acquire().await;
        let (book, caller) = (self.streams.book.clone(), self.caller.clone());
        let (filter, limit) = (self.filter.clone(), limits::STREAM_BUFFER as u32);
        let read = move || book.follow_events(&caller, &filter, after, limit);
        let followed = run_blocking(read).await?;
        let EventBatch { items, through, more, history, end } = followed;
        let resync = match after {
            Some(after) if self.offset.is_lost(&history, end) => {
                self.follower.note_failed();
                resync_frame(&ResumeToken::new(after.min(end), &history))
            }
            _ => String::new(),
        };
        let frames: String = items.iter().map(|event| event_frame(event, &history)).collect();
        self.offset = ResumeToken { sequence: through, history: Some(history) };
        self.follower.note_position(through);
        self.live = !more;
        self.follower.note_delivered(items.len() as u64);
        Ok(resync + &frames)
    }

    /// The `lagged` event: the number of events that the feed no longer has; the journal follows.
    async fn lag_frame(&mut self) -> Result<String> {
        self.live = false;
        self.follower.note_failed();
        let _turn = self.streams.turns.acquire().await;
        let (book, caller) = (self.streams.book.clone(), self.caller.clone());
        let (filter, after) = (self.filter.clone(), self.offset.sequence);
        let missed = run_blocking(move || book.count_events(&caller, &filter, after)).await?;
        Ok(format!("event: lagged\ndata: {}\n\n", json!({"missed": missed})))
    }
}

/// An event in the form of server-sent events. JSON on one line keeps the field whole.
fn event_frame(event: &Event, history: &JournalHistory) -> String {
    let id = ResumeToken::new(event.sequence, history);
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {id}\nevent: {}\ndata: {data}\n\n", event.kind.name())
}

/// The `resync` event: the journal may have lost events that the reader has, and goes on after this
/// position.
fn resync_frame(token: &ResumeToken) -> String {
    format!("id: {token}\nevent: {RESYNC_EVENT}\ndata: {}\n\n", json!({"after": token.sequence}))
}

/// The time of the next keep-alive.
fn silence_deadline() -> Instant {
    Instant::now() + Duration::from_secs(limits::KEEP_ALIVE_SECONDS)
}
