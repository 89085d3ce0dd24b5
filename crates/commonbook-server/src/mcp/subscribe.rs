//! Subscriptions: telling a client that a resource has changed, while it may read it.
//!
//! In the era of sessions a connection subscribes to one resource after another; in the other one a
//! stream is asked for with all of them. Both follow the journals as the caller: an event that it is
//! not told of changes nothing for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::event::ListEvents;
use commonbook::model::workspace::Workspace;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use tokio::sync::watch::Receiver;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{McpDoor, resource};
use crate::call::run_blocking;
use crate::gate;

/// What a connection has subscribed to; dropping one ends it.
type SubscriptionGuards = Mutex<BTreeMap<String, DropGuard>>;

/// Where the journals ended when a stream was asked for, by what it was asked for.
type StreamRequests = Mutex<Vec<(SubscriptionFilter, JournalEnds)>>;

type JournalEnds = BTreeMap<Workspace, u64>;

/// What one connection has subscribed to.
#[derive(Default)]
pub(super) struct ConnectionSubscriptions {
    all: Arc<SubscriptionGuards>,
    asked: StreamRequests,
}

fn lock_unpoisoned<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionSubscriptions {
    /// Begins a subscription, and answers what tells of its end; nothing for one that there is.
    ///
    /// # Errors
    /// `too_large` for more than a connection may have.
    fn begin(&self, uri: &str) -> Result<Option<CancellationToken>> {
        let mut all = lock_unpoisoned(&self.all);
        if all.contains_key(uri) {
            return Ok(None);
        }
        if all.len() >= limits::SUBSCRIPTIONS {
            let (found, most) = (all.len() + 1, limits::SUBSCRIPTIONS);
            return Err(Error::too_large("uri", found, most, "subscriptions")
                .hint("End one of them, or subscribe to commonbook://stats instead."));
        }
        let ended = CancellationToken::new();
        all.insert(uri.to_owned(), ended.clone().drop_guard());
        Ok(Some(ended))
    }

    /// Ends a subscription, if there is one.
    pub(super) fn end(&self, uri: &str) {
        lock_unpoisoned(&self.all).remove(uri);
    }
}

/// Where a client is told.
enum NotificationSink {
    /// On the stream of its session.
    Session(Peer<RoleServer>),
    /// On the stream that it asked for.
    Stream(SubscriptionSink),
}

impl NotificationSink {
    /// Tells that this resource has changed; whether the client is still there.
    async fn tell(&self, uri: &str) -> bool {
        let told = ResourceUpdatedNotificationParam::new(uri);
        match self {
            Self::Session(peer) => peer.notify_resource_updated(told).await.is_ok(),
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// The resources of a filter that can be subscribed to, as many as one may have. The client is told
/// of them before its stream begins: where the journals end now is kept until then, so that nothing
/// is missed between.
pub(super) fn accept_filter(door: &McpDoor, asked: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = asked.resource_subscriptions.iter().flatten();
    let ours = uris.filter(|uri| resource::is_ours(uri)).take(limits::SUBSCRIPTIONS);
    let ours: Vec<String> = ours.cloned().collect();
    if !ours.is_empty() {
        let ends = tokio::task::block_in_place(|| door.book.store().read(|tx| tx.journals()));
        // A store that cannot be read now is asked again when the stream begins.
        if let Ok(ends) = ends {
            let ends = ends.into_iter().collect();
            lock_unpoisoned(&door.subscribed.asked).push((asked.clone(), ends));
        }
    }
    SubscriptionFilter::builder().resource_subscriptions(ours).build()
}

/// Tells the client of a stream of what changes, until it is gone.
///
/// # Errors
/// As [`ResourceFollower::begin`] and [`ResourceFollower::tell`].
pub(super) async fn stream(door: &McpDoor, stream: &SubscriptionContext) -> Result<()> {
    let ends = {
        let mut asked = lock_unpoisoned(&door.subscribed.asked);
        let place = asked.iter().position(|(filter, _)| filter == stream.requested());
        place.map(|place| asked.remove(place).1)
    };
    let uris = stream.accepted().resource_subscriptions.clone().unwrap_or_default();
    let context = stream.request_context().clone();
    let mut followed = ResourceFollower::begin(door.for_connection(), context, uris).await?;
    if let Some(ends) = ends {
        followed.rewind_to(&ends);
    }
    followed.tell(&NotificationSink::Stream(stream.sink().clone())).await
}

/// Subscribes the caller of this request to a resource that it may read.
///
/// # Errors
/// What reading it answers; `too_large` for more than a connection may have.
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
    // From here on nothing is missed, though the client is answered before anything is told.
    let followed =
        ResourceFollower::begin(door.for_connection(), context.clone(), [uri.clone()]).await;
    let mut followed = followed.inspect_err(|_| door.subscribed.end(&uri))?;
    let (subscribed, sink) =
        (Arc::downgrade(&door.subscribed.all), NotificationSink::Session(context.peer));
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            result = followed.tell(&sink) => {
                let error = result.err().map(tracing::field::display);
                tracing::debug!(error, "a subscription broke off");
                if let Some(all) = subscribed.upgrade() {
                    lock_unpoisoned(&all).remove(&uri);
                }
            }
        }
    });
    Ok(())
}

/// The journals that a caller reads, followed for the sake of some resources.
struct ResourceFollower {
    door: McpDoor,
    context: RequestContext<RoleServer>,
    uris: BTreeSet<String>,
    journals: Vec<JournalFollower>,
}

/// A journal, as far as it was looked at. `caller` is who reads it, there.
struct JournalFollower {
    caller: Caller,
    end: Receiver<u64>,
    after: u64,
}

impl ResourceFollower {
    /// Follows, from now on, for the caller of this request.
    ///
    /// # Errors
    /// When nobody is calling, or the store cannot be read.
    async fn begin(
        door: McpDoor,
        context: RequestContext<RoleServer>,
        uris: impl IntoIterator<Item = String>,
    ) -> Result<Self> {
        let caller = door.caller(&context)?;
        let mut journals = Vec::new();
        for workspace in caller.workspace.with_global() {
            let end = door.watch.of(&workspace).await?;
            let after = *end.borrow();
            journals.push(JournalFollower {
                caller: Caller { workspace, ..caller.clone() },
                end,
                after,
            });
        }
        Ok(Self { door, context, uris: uris.into_iter().collect(), journals })
    }

    /// Follows from where the journals ended before.
    fn rewind_to(&mut self, ends: &JournalEnds) {
        for journal in &mut self.journals {
            let end = ends.get(&journal.caller.workspace).copied().unwrap_or(0);
            journal.after = end.min(journal.after);
        }
    }

    /// Tells of each change, until the client is gone.
    ///
    /// # Errors
    /// When nobody is calling any more.
    async fn tell(&mut self, sink: &NotificationSink) -> Result<()> {
        let mut failed = false;
        loop {
            if failed || self.journals.iter().all(|it| *it.end.borrow() <= it.after) {
                wait_for_growth(&mut self.journals).await?;
            }
            failed = match self.tell_once(sink).await {
                Ok(true) => false,
                Ok(false) => return Ok(()),
                Err(error) if error.kind == ErrorKind::Unavailable => {
                    tracing::warn!(%error, "what changed could not be told; with the next change");
                    true
                }
                Err(error) => return Err(error),
            };
        }
    }

    /// Tells what has changed until now; whether the client is still there.
    async fn tell_once(&mut self, sink: &NotificationSink) -> Result<bool> {
        for journal in &mut self.journals {
            journal.end.mark_unchanged();
        }
        self.check_still_admitted().await?;
        for (place, journal) in self.journals.iter_mut().enumerate() {
            for uri in journal.changed_uris(&self.door.book, place == 0).await? {
                if self.uris.contains(&uri) && !sink.tell(&uri).await {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether who subscribed may still call at all.
    async fn check_still_admitted(&self) -> Result<()> {
        let Some(parts) = self.context.extensions.get::<Parts>() else { return Ok(()) };
        let (book, headers) = (self.door.book.clone(), parts.headers.clone());
        run_blocking(move || gate::is_still_admitted(&book, &headers)).await
    }
}

impl JournalFollower {
    /// The resources that have changed since it was last looked at; of the caller's own workspace
    /// also its agents and what it holds.
    async fn changed_uris(&mut self, book: &Commonbook, own: bool) -> Result<BTreeSet<String>> {
        let end = *self.end.borrow_and_update();
        let (book, caller, mut after) = (book.clone(), self.caller.clone(), self.after);
        let changed = run_blocking(move || {
            let mut changed = BTreeSet::new();
            loop {
                let page =
                    book.list_events(&caller, &ListEvents { after, ..ListEvents::default() })?;
                for event in page.items {
                    changed.extend(resource::uri_of_subject(&event));
                    if own {
                        changed.extend(resource::uris_of_agent(&event.actor));
                        changed.insert(resource::uri_of_stats());
                    }
                    after = event.sequence;
                }
                match page.next {
                    Some(next) => after = next,
                    None => return Ok((changed, after)),
                }
            }
        });
        let (changed, after) = changed.await?;
        // What is out of sight is not looked at again.
        self.after = after.max(end);
        Ok(changed)
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
        Error::new(ErrorKind::Unavailable, "nobody watches any more").with_cause(gone)
    })
}
