//! Subscriptions: notifications that a resource has changed, as long as the client may read it.
//!
//! With sessions, a client subscribes to one resource after another; without sessions, it opens a
//! stream for all of them. Both follow the journals as the caller: an event that the caller may not
//! see causes no notification.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::event::{JournalHistory, ListEvents};
use commonbook::model::workspace::Workspace;
use commonbook::verbs::BusFollower;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use tokio::sync::watch::Receiver;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{McpDoor, resource};
use crate::calls::call::run_blocking;
use crate::http::gate;

/// The subscriptions of a connection by URI; dropping a guard ends its subscription.
type SubscriptionGuards = Mutex<BTreeMap<String, DropGuard>>;

/// The ends of the journals when a client requested a stream, by its filter.
type StreamRequests = Mutex<Vec<(SubscriptionFilter, JournalEnds)>>;

type JournalEnds = BTreeMap<Workspace, u64>;

/// The subscriptions of one connection.
#[derive(Default)]
pub(super) struct ConnectionSubscriptions {
    all: Arc<SubscriptionGuards>,
    requested: StreamRequests,
}

fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionSubscriptions {
    /// Begins a subscription, and returns the token that its end cancels; `None` if it already exists.
    ///
    /// # Errors
    /// `too_large` if the connection has the maximum number of subscriptions.
    fn begin(&self, uri: &str) -> Result<Option<CancellationToken>> {
        let mut all = lock_unpoisoned(&self.all);
        if all.contains_key(uri) {
            return Ok(None);
        }
        if all.len() >= limits::SUBSCRIPTIONS {
            let (found, most) = (all.len() + 1, limits::SUBSCRIPTIONS);
            return Err(Error::too_large("uri", found, most, "subscriptions").hint(
                "Unsubscribe from one of them, or subscribe to commonbook://stats instead.",
            ));
        }
        let ended = CancellationToken::new();
        all.insert(uri.to_owned(), ended.clone().drop_guard());
        Ok(Some(ended))
    }

    /// Ends a subscription, if it exists.
    pub(super) fn end(&self, uri: &str) {
        lock_unpoisoned(&self.all).remove(uri);
    }
}

/// The stream that carries the notifications.
enum NotificationSink {
    /// The stream of the client's session.
    Session(Peer<RoleServer>),
    /// The stream that the client opened.
    Stream(SubscriptionSink),
}

impl NotificationSink {
    /// Sends that this resource has changed; returns whether the client is still connected.
    async fn notify(&self, uri: &str) -> bool {
        match self {
            Self::Session(peer) => {
                let notification = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(notification).await.is_ok()
            }
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// The resources of a filter that a client can subscribe to, up to the limit. Records the ends of the
/// journals: the stream starts later, and must not miss an event in between.
pub(super) fn accept_filter(door: &McpDoor, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let ours = uris.filter(|uri| resource::is_ours(uri)).take(limits::SUBSCRIPTIONS);
    let ours: Vec<String> = ours.cloned().collect();
    if !ours.is_empty() {
        let ends = tokio::task::block_in_place(|| door.book.store().read(|tx| tx.journals()));
        // If the store cannot be read now, the stream reads the ends when it starts.
        if let Ok(ends) = ends {
            let ends = ends.into_iter().collect();
            lock_unpoisoned(&door.subscribed.requested).push((requested.clone(), ends));
        }
    }
    SubscriptionFilter::builder().resource_subscriptions(ours).build()
}

/// Notifies the client of a stream of each change, until it disconnects.
///
/// # Errors
/// As [`ResourceFollower::begin`] and [`ResourceFollower::run`].
pub(super) async fn stream(door: &McpDoor, stream: &SubscriptionContext) -> Result<()> {
    let ends = {
        let mut requested = lock_unpoisoned(&door.subscribed.requested);
        let index = requested.iter().position(|(filter, _)| filter == stream.requested());
        index.map(|index| requested.remove(index).1)
    };
    let uris = stream.accepted().resource_subscriptions.clone().unwrap_or_default();
    let context = stream.request_context().clone();
    let mut follower = ResourceFollower::begin(door.for_connection(), context, uris).await?;
    if let Some(ends) = ends {
        follower.rewind_to(&ends);
    }
    follower.run(&NotificationSink::Stream(stream.sink().clone())).await
}

/// Subscribes the caller of this request to a resource that it may read.
///
/// # Errors
/// The error of reading it; `too_large` if the connection has the maximum number of subscriptions.
pub(super) async fn subscribe(
    door: &McpDoor,
    context: RequestContext<RoleServer>,
    uri: String,
) -> Result<()> {
    let read = uri.clone();
    door.run_as_caller(&context, false, move |book, caller| {
        resource::read(book, caller, &read).map(drop)
    })
    .await?;
    let Some(ended) = door.subscribed.begin(&uri)? else { return Ok(()) };
    // The follower misses no event from here on; the client gets its response before any notification.
    let follower =
        ResourceFollower::begin(door.for_connection(), context.clone(), [uri.clone()]).await;
    let mut follower = follower.inspect_err(|_| door.subscribed.end(&uri))?;
    let (subscribed, sink) =
        (Arc::downgrade(&door.subscribed.all), NotificationSink::Session(context.peer));
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            result = follower.run(&sink) => {
                let error = result.err().map(tracing::field::display);
                tracing::debug!(error, "a subscription ended");
                if let Some(all) = subscribed.upgrade() {
                    lock_unpoisoned(&all).remove(&uri);
                }
            }
        }
    });
    Ok(())
}

/// Follows the journals that a caller may read, for some resources.
struct ResourceFollower {
    door: McpDoor,
    context: RequestContext<RoleServer>,
    uris: BTreeSet<String>,
    journals: Vec<JournalFollower>,
}

/// A journal with the last sequence that was read. `caller` reads it, in its workspace.
struct JournalFollower {
    caller: Caller,
    end: Receiver<u64>,
    after: u64,
    /// The history in which it was read.
    history: Option<JournalHistory>,
    /// Counts what the subscriber receives.
    follower: BusFollower,
}

impl ResourceFollower {
    /// Starts to follow as the caller of this request.
    ///
    /// # Errors
    /// The error of the caller's identity; `unavailable` if the store cannot be read.
    async fn begin(
        door: McpDoor,
        context: RequestContext<RoleServer>,
        uris: impl IntoIterator<Item = String>,
    ) -> Result<Self> {
        let caller = door.caller(&context)?;
        let mut journals = Vec::new();
        for workspace in caller.workspace.with_global() {
            let end = door.watch.of(&workspace).await?;
            let book = door.book.clone();
            let history = Some(run_blocking(move || book.journal_history()).await?);
            let after = *end.borrow();
            let caller = Caller { workspace, ..caller.clone() };
            let follower = door.book.bus().follow(&caller);
            journals.push(JournalFollower { caller, end, after, history, follower });
        }
        Ok(Self { door, context, uris: uris.into_iter().collect(), journals })
    }

    /// Goes back to earlier ends of the journals.
    fn rewind_to(&mut self, ends: &JournalEnds) {
        for journal in &mut self.journals {
            let end = ends.get(&journal.caller.workspace).copied().unwrap_or(0);
            journal.after = end.min(journal.after);
        }
    }

    /// Notifies of each change, until the client disconnects.
    ///
    /// # Errors
    /// `unauthenticated` if the client's token no longer holds.
    async fn run(&mut self, sink: &NotificationSink) -> Result<()> {
        let mut failed = false;
        loop {
            if failed || self.journals.iter().all(|journal| *journal.end.borrow() <= journal.after)
            {
                wait_for_growth(&mut self.journals).await?;
            }
            failed = match self.notify_changes(sink).await {
                Ok(true) => false,
                Ok(false) => return Ok(()),
                Err(error) if error.kind == ErrorKind::Unavailable => {
                    tracing::warn!(%error, "cannot notify of changes; trying again with the next change");
                    true
                }
                Err(error) => return Err(error),
            };
        }
    }

    /// Notifies of the changes until now; returns whether the client is still connected.
    async fn notify_changes(&mut self, sink: &NotificationSink) -> Result<bool> {
        for journal in &mut self.journals {
            journal.end.mark_unchanged();
        }
        self.check_still_admitted().await?;
        for (index, journal) in self.journals.iter_mut().enumerate() {
            let changed = journal.changed_uris(&self.door.book, index == 0).await?;
            for uri in changed.unwrap_or_else(|| self.uris.clone()) {
                if !self.uris.contains(&uri) {
                    journal.follower.note_filtered(1);
                    continue;
                }
                if !sink.notify(&uri).await {
                    journal.follower.note_failed();
                    return Ok(false);
                }
                journal.follower.note_delivered(1);
            }
        }
        Ok(true)
    }

    /// Checks that the token of the subscriber still holds.
    async fn check_still_admitted(&self) -> Result<()> {
        let Some(parts) = self.context.extensions.get::<Parts>() else { return Ok(()) };
        let (book, headers) = (self.door.book.clone(), parts.headers.clone());
        run_blocking(move || gate::is_still_admitted(&book, &headers)).await
    }
}

impl JournalFollower {
    /// The resources that have changed since the last read; for the caller's own workspace also its
    /// agents and statistics. `None` if any may have changed: the journal has another history.
    async fn changed_uris(
        &mut self,
        book: &Commonbook,
        is_own: bool,
    ) -> Result<Option<BTreeSet<String>>> {
        let end = *self.end.borrow_and_update();
        let (book, caller, mut after) = (book.clone(), self.caller.clone(), self.after);
        let changed = run_blocking(move || {
            let mut changed = BTreeSet::new();
            loop {
                let page =
                    book.list_events(&caller, &ListEvents { after, ..ListEvents::default() })?;
                for event in page.items {
                    changed.extend(resource::uri_of_subject(&event));
                    if is_own {
                        changed.extend(resource::uris_of_agent(&event.actor));
                        changed.insert(resource::uri_of_stats());
                    }
                    after = event.sequence;
                }
                match page.next {
                    Some(next) => after = next,
                    None => return Ok((changed, after, page.history)),
                }
            }
        });
        let (changed, after, history) = changed.await?;
        let known = self.history.replace(history);
        let is_other = known.is_some_and(|known| self.history.as_ref() != Some(&known));
        // Events that the caller may not see are skipped for good.
        self.after = if is_other { end } else { after.max(end) };
        Ok((!is_other).then_some(changed))
    }
}

/// Waits until one of these journals has grown.
async fn wait_for_growth(journals: &mut [JournalFollower]) -> Result<()> {
    let grown = match journals {
        [own] => own.end.changed().await,
        [own, global] => tokio::select! {
            grown = own.end.changed() => grown,
            grown = global.end.changed() => grown,
        },
        _ => std::future::pending().await,
    };
    grown.map_err(|gone| {
        Error::new(ErrorKind::Unavailable, "the watch of the journals has ended").with_cause(gone)
    })
}
