//! The feed of a workspace: each new event read once, for all who follow it.
//!
//! A thousand readers must not ask the store a thousand times for one commit. So the feed reads what
//! is new in nobody's sight, with what decides who is told of it, and each reader is given what
//! `Sight::is_told` lets it see. What became of a memory since is told by a later event about it,
//! which overrules what the feed knew: nobody is given from memory what the store would not give.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::access::{EventSubject, Sight};
use commonbook::model::event::{EventFilter, EventRecord};
use commonbook::model::workspace::Workspace;
use tokio::sync::Mutex;
use tokio::sync::watch::{Receiver, Sender};

use super::event_frame;
use crate::call::run_blocking;
use crate::watch::JournalWatch;

/// Events that are read at once.
const FEED_READ_EVENTS_MAX: u32 = 256;

/// How long a feed that cannot read the store waits before it tries again.
const FEED_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The feeds of all workspaces that somebody follows.
pub(super) struct WorkspaceFeeds {
    book: Commonbook,
    watch: JournalWatch,
    /// A feed is begun by its first reader and ends with its last.
    open: Mutex<BTreeMap<Workspace, Arc<WorkspaceFeed>>>,
}

/// The newest events of one workspace, for all who follow it.
pub(super) struct WorkspaceFeed {
    workspace: Workspace,
    recent: RwLock<RecentEvents>,
    /// The place that the feed has come to.
    end: Sender<u64>,
}

impl WorkspaceFeeds {
    pub(super) fn new(book: Commonbook, watch: JournalWatch) -> Arc<Self> {
        Arc::new(Self { book, watch, open: Mutex::default() })
    }

    /// The feed of this workspace, and what tells that it has come further.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub(super) async fn of(
        self: &Arc<Self>,
        workspace: &Workspace,
    ) -> Result<(Arc<WorkspaceFeed>, Receiver<u64>)> {
        let mut open = self.open.lock().await;
        if let Some(feed) = open.get(workspace) {
            return Ok((Arc::clone(feed), feed.end.subscribe()));
        }
        let grown = self.watch.of(workspace).await?;
        let place = *grown.borrow();
        let feed = Arc::new(WorkspaceFeed {
            workspace: workspace.clone(),
            recent: RwLock::new(RecentEvents::starting_after(place)),
            end: Sender::new(place),
        });
        open.insert(workspace.clone(), Arc::clone(&feed));
        let reader = feed.end.subscribe();
        tokio::spawn(Arc::clone(self).follow_journal(Arc::clone(&feed), grown));
        Ok((feed, reader))
    }

    /// Keeps a feed at the end of its journal until nobody follows it any more.
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
                tracing::warn!(%error, "the journal could not be followed; trying again");
            }
            failed = read.is_err();
        }
    }
}

impl WorkspaceFeed {
    /// Reads what is new, to the end of the journal.
    async fn read(&self, book: &Commonbook) -> Result<()> {
        loop {
            let after = self.recent.read().unwrap_or_else(PoisonError::into_inner).end();
            let (book, workspace) = (book.clone(), self.workspace.clone());
            let new =
                run_blocking(move || book.recorded_events(&workspace, after, FEED_READ_EVENTS_MAX))
                    .await?;
            let whole = new.len() < FEED_READ_EVENTS_MAX as usize;
            let end = {
                let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
                new.into_iter().for_each(|new| recent.push(new));
                recent.end()
            };
            self.end.send_replace(end);
            if whole {
                return Ok(());
            }
        }
    }

    /// What comes after this place for who sees and wants so; nothing when it is no longer all here.
    pub(super) fn take(
        &self,
        place: u64,
        sight: &Sight,
        filter: &EventFilter,
    ) -> Option<FeedChunk> {
        self.recent.read().unwrap_or_else(PoisonError::into_inner).take(place, sight, filter)
    }
}

/// What a reader has taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FeedChunk {
    /// The events, as they are sent.
    pub(super) text: String,
    /// The place up to which it was given everything.
    pub(super) through: u64,
}

/// The newest events of a journal, without a gap.
struct RecentEvents {
    /// The place that they come after.
    floor: u64,
    events: VecDeque<(EventRecord, String)>,
}

impl RecentEvents {
    fn starting_after(floor: u64) -> Self {
        Self { floor, events: VecDeque::new() }
    }

    fn end(&self) -> u64 {
        self.floor + self.events.len() as u64
    }

    /// Takes in the next event of the journal; the oldest one goes when there are too many.
    fn push(&mut self, new: EventRecord) {
        let of_memory = new.event.kind.is_of_memory();
        for (known, _) in self.events.iter_mut().filter(|_| of_memory) {
            known.reach.about.take_in(&new.event.subject, &new.reach.about);
        }
        let same = |known: &&mut (EventRecord, String)| known.0.event.subject == new.event.subject;
        for (known, text) in self.events.iter_mut().filter(same) {
            known.reach.about.clone_from(&new.reach.about);
            // A purge takes the topics out of the journal.
            if new.reach.about == EventSubject::Gone {
                known.event.topics.clear();
                *text = event_frame(&known.event);
            }
        }
        let text = event_frame(&new.event);
        self.events.push_back((new, text));
        if self.events.len() > limits::STREAM_RECENT {
            self.events.pop_front();
            self.floor += 1;
        }
    }

    fn take(&self, place: u64, sight: &Sight, filter: &EventFilter) -> Option<FeedChunk> {
        let known = usize::try_from(place.checked_sub(self.floor)?).unwrap_or(usize::MAX);
        let mut taken = FeedChunk { text: String::new(), through: place };
        let mut count = 0;
        for (recorded, text) in self.events.iter().skip(known) {
            if count == limits::STREAM_BUFFER {
                break;
            }
            taken.through = recorded.event.sequence;
            if sight.sees_event(&recorded.reach) && filter.admits(&recorded.event) {
                taken.text.push_str(text);
                count += 1;
            }
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
