//! The feed of a workspace: reads each new event once for all readers.
//!
//! A thousand readers must not read the store a thousand times for one commit. The feed reads new
//! events without a caller, with the facts that decide who may see them, and each reader receives those
//! that `Sight::sees_event` admits. A later event about the same memory updates these facts, so that
//! the feed never shows what the store would not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::access::{EventSubject, Sight};
use commonbook::model::event::{
    EventFilter, EventRecord, JournalHistory, RecordedEvents, ResumeToken,
};
use commonbook::model::workspace::Workspace;
use tokio::sync::Mutex;
use tokio::sync::watch::{Receiver, Sender};

use super::event_frame;
use crate::calls::call::run_blocking;
use crate::http::watch::JournalWatch;

/// Number of events in one read.
const FEED_READ_EVENTS_MAX: u32 = 256;

/// The delay before a feed reads the store again after an error.
const FEED_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The feeds of all workspaces with readers.
pub(super) struct WorkspaceFeeds {
    book: Commonbook,
    watch: JournalWatch,
    /// The first reader starts a feed, and the last one ends it.
    open: Mutex<BTreeMap<Workspace, Arc<WorkspaceFeed>>>,
}

/// The newest events of one workspace, for all its readers.
pub(super) struct WorkspaceFeed {
    workspace: Workspace,
    recent: RwLock<RecentEvents>,
    /// The last sequence in the feed.
    end: Sender<u64>,
}

impl WorkspaceFeeds {
    pub(super) fn new(book: Commonbook, watch: JournalWatch) -> Arc<Self> {
        Arc::new(Self { book, watch, open: Mutex::default() })
    }

    /// The feed of this workspace, and the signal that it has advanced.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(super) async fn of(
        self: &Arc<Self>,
        workspace: &Workspace,
    ) -> Result<(Arc<WorkspaceFeed>, Receiver<u64>)> {
        let mut open = self.open.lock().await;
        if let Some(feed) = open.get(workspace) {
            return Ok((Arc::clone(feed), feed.end.subscribe()));
        }
        let grown = self.watch.of(workspace).await?;
        let end = *grown.borrow();
        let book = self.book.clone();
        let history = run_blocking(move || book.journal_history()).await?;
        let feed = Arc::new(WorkspaceFeed {
            workspace: workspace.clone(),
            recent: RwLock::new(RecentEvents::starting_after(end, history)),
            end: Sender::new(end),
        });
        open.insert(workspace.clone(), Arc::clone(&feed));
        let reader = feed.end.subscribe();
        tokio::spawn(Arc::clone(self).follow_journal(Arc::clone(&feed), grown));
        Ok((feed, reader))
    }

    /// Keeps a feed at the end of its journal until it has no readers.
    async fn follow_journal(self: Arc<Self>, feed: Arc<WorkspaceFeed>, mut grown: Receiver<u64>) {
        let mut failed = false;
        loop {
            tokio::select! {
                () = tokio::time::sleep(FEED_RETRY_DELAY), if failed => {},
                Ok(()) = grown.changed(), if !failed => {},
                () = feed.end.closed() => {
                    let mut open = self.open.lock().await;
                    if feed.end.receiver_count() == 0 {
                        open.remove(&feed.workspace);
                        return;
                    }
                    continue;
                }
                else => return,
            }
            let read = feed.read(&self.book).await;
            if let Err(error) = &read
                && !failed
            {
                tracing::warn!(%error, "cannot read the journal; trying again");
            }
            failed = read.is_err();
        }
    }
}

impl WorkspaceFeed {
    /// Reads new events to the end of the journal.
    async fn read(&self, book: &Commonbook) -> Result<()> {
        loop {
            let after = self.recent.read().unwrap_or_else(PoisonError::into_inner).end();
            let (book, workspace) = (book.clone(), self.workspace.clone());
            let new =
                run_blocking(move || book.recorded_events(&workspace, after, FEED_READ_EVENTS_MAX))
                    .await?;
            let is_last = new.items.len() < FEED_READ_EVENTS_MAX as usize;
            let end = {
                let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
                if recent.is_lost(&new) {
                    *recent = RecentEvents::starting_after(new.after, new.history.clone());
                }
                new.items.into_iter().for_each(|new| recent.push(new));
                recent.end()
            };
            self.end.send_replace(end);
            if is_last {
                return Ok(());
            }
        }
    }

    /// The history that its events belong to.
    pub(super) fn history(&self) -> JournalHistory {
        self.recent.read().unwrap_or_else(PoisonError::into_inner).history.clone()
    }

    /// The events after this position that the reader may see and wants; `None` if the feed no longer has
    /// all of them, or has those of another history.
    pub(super) fn take(
        &self,
        after: &ResumeToken,
        sight: &Sight,
        filter: &EventFilter,
    ) -> Option<FeedChunk> {
        self.recent.read().unwrap_or_else(PoisonError::into_inner).take(after, sight, filter)
    }
}

/// The events that a reader takes at once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FeedChunk {
    /// The events as server-sent events.
    pub(super) text: String,
    /// The sequence up to which the reader now has everything.
    pub(super) through: u64,
    /// The number of these events.
    pub(super) delivered: u64,
    /// The number of events that the reader may see and did not want.
    pub(super) filtered: u64,
}

/// The newest events of a journal, without a gap.
struct RecentEvents {
    /// The sequence before the first event.
    floor: u64,
    events: VecDeque<(EventRecord, String)>,
    /// The history that they belong to.
    history: JournalHistory,
}

impl RecentEvents {
    fn starting_after(floor: u64, history: JournalHistory) -> Self {
        Self { floor, events: VecDeque::new(), history }
    }

    /// Whether these events, read after the end, show that the journal may have lost some of those here.
    fn is_lost(&self, read: &RecordedEvents) -> bool {
        ResumeToken::new(self.end(), &self.history).is_lost(&read.history, read.after)
    }

    fn end(&self) -> u64 {
        self.floor + self.events.len() as u64
    }

    /// Appends the next event of the journal; drops the oldest one over the limit.
    fn push(&mut self, new: EventRecord) {
        let of_memory = new.event.kind.is_of_memory();
        for (known, _) in self.events.iter_mut().filter(|_| of_memory) {
            known.visibility.about.take_in(&new.event.subject, &new.visibility.about);
        }
        let same = |known: &&mut (EventRecord, String)| known.0.event.subject == new.event.subject;
        for (known, text) in self.events.iter_mut().filter(same) {
            // These hold what their own event says, not how its subject stands.
            let says_own = |about: &EventSubject| {
                matches!(about, EventSubject::Work(_) | EventSubject::Entries(_))
            };
            if says_own(&known.visibility.about) || says_own(&new.visibility.about) {
                continue;
            }
            known.visibility.about.clone_from(&new.visibility.about);
            // A purge takes the topics out of the journal.
            if new.visibility.about == EventSubject::Gone {
                known.event.topics.clear();
                *text = event_frame(&known.event, &self.history);
            }
        }
        let text = event_frame(&new.event, &self.history);
        self.events.push_back((new, text));
        if self.events.len() > limits::STREAM_RECENT {
            self.events.pop_front();
            self.floor += 1;
        }
    }

    fn take(&self, after: &ResumeToken, sight: &Sight, filter: &EventFilter) -> Option<FeedChunk> {
        // A reader that came from the journal may be ahead of the feed.
        if after.history.as_ref() != Some(&self.history) {
            return None;
        }
        let known = usize::try_from(after.sequence.checked_sub(self.floor)?).unwrap_or(usize::MAX);
        let mut taken = FeedChunk { through: after.sequence, ..FeedChunk::default() };
        for (recorded, text) in self.events.iter().skip(known) {
            if taken.delivered == limits::STREAM_BUFFER as u64 {
                break;
            }
            taken.through = recorded.event.sequence;
            if !sight.sees_event(&recorded.visibility) {
                continue;
            }
            if !filter.admits(&recorded.event) {
                taken.filtered += 1;
                continue;
            }
            taken.delivered += 1;
            // Each reader sees other items of what an agent received, and other entries of a case.
            match recorded.visibility.about {
                EventSubject::Work(_) | EventSubject::Entries(_) => {
                    let shown = recorded.shown_to(sight);
                    let frame = |event| event_frame(event, &self.history);
                    taken.text.push_str(&shown.as_ref().map(frame).unwrap_or_default());
                }
                _ => taken.text.push_str(text),
            }
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
