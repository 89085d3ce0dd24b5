//! Subscriptions: telling a client that a resource has changed, while it may read it.
//!
//! In the era of sessions a connection subscribes to one resource after another; in the other one a
//! stream is asked for with all of them. Both follow the journals as the caller: an event that it is
//! not told of changes nothing for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use commonbook::Commonbook;
use commonbook::caller::Caller;
use commonbook::error::{Error, ErrorKind, Result};
use commonbook::event::ListEvents;
use commonbook::limits;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionSink};
use tokio::sync::watch::Receiver;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{McpDoor, resource};
use crate::call::blocking;
use crate::gate;

/// What a connection has subscribed to; dropping one ends it.
type All = Mutex<BTreeMap<String, DropGuard>>;

/// What one connection has subscribed to. A clone belongs to another connection, and has nothing.
#[derive(Default)]
pub(super) struct Subscribed(Arc<All>);

impl Clone for Subscribed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

fn locked(all: &All) -> MutexGuard<'_, BTreeMap<String, DropGuard>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subscribed {
    /// Begins a subscription, and answers what tells of its end; nothing for one that there is.
    ///
    /// # Errors
    /// `too_large` for more than a connection may have.
    fn begin(&self, uri: &str) -> Result<Option<CancellationToken>> {
        let mut all = locked(&self.0);
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
        locked(&self.0).remove(uri);
    }
}

/// Where a client is told.
pub(super) enum Sink {
    /// On the stream of its session.
    Session(Peer<RoleServer>),
    /// On the stream that it asked for.
    Stream(SubscriptionSink),
}

impl Sink {
    /// Tells that this resource has changed; whether the client is still there.
    async fn tell(&self, uri: &str) -> bool {
        let told = ResourceUpdatedNotificationParam::new(uri);
        match self {
            Self::Session(peer) => peer.notify_resource_updated(told).await.is_ok(),
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// The resources of a filter that can be subscribed to, as many as one may have.
pub(super) fn accepted(asked: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = asked.resource_subscriptions.iter().flatten();
    let ours = uris.filter(|uri| resource::is_ours(uri)).take(limits::SUBSCRIPTIONS);
    SubscriptionFilter::builder().resource_subscriptions(ours.cloned()).build()
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
    door.ask(&context, move |book, caller| resource::read(book, caller, &read).map(drop)).await?;
    let Some(ended) = door.subscribed.begin(&uri)? else { return Ok(()) };
    // From here on nothing is missed, though the client is answered before anything is told.
    let followed = Followed::begin(door.clone(), context.clone(), [uri.clone()]).await;
    let mut followed = followed.inspect_err(|_| door.subscribed.end(&uri))?;
    let (subscribed, sink) = (Arc::downgrade(&door.subscribed.0), Sink::Session(context.peer));
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            result = followed.tell(&sink) => {
                let error = result.err().map(tracing::field::display);
                tracing::debug!(error, "a subscription broke off");
                if let Some(all) = subscribed.upgrade() {
                    locked(&all).remove(&uri);
                }
            }
        }
    });
    Ok(())
}

/// The journals that a caller reads, followed for the sake of some resources.
pub(super) struct Followed {
    door: McpDoor,
    context: RequestContext<RoleServer>,
    uris: BTreeSet<String>,
    journals: Vec<Journal>,
}

/// A journal, as far as it was looked at. `caller` is who reads it, there.
struct Journal {
    caller: Caller,
    end: Receiver<u64>,
    after: u64,
}

impl Followed {
    /// Follows, from now on, for the caller of this request.
    ///
    /// # Errors
    /// When nobody is calling, or the store cannot be read.
    pub(super) async fn begin(
        door: McpDoor,
        context: RequestContext<RoleServer>,
        uris: impl IntoIterator<Item = String>,
    ) -> Result<Self> {
        let caller = door.caller(&context)?;
        let mut journals = Vec::new();
        for workspace in caller.workspace.with_global() {
            let end = door.watch.of(&workspace).await?;
            let after = *end.borrow();
            journals.push(Journal { caller: Caller { workspace, ..caller.clone() }, end, after });
        }
        Ok(Self { door, context, uris: uris.into_iter().collect(), journals })
    }

    /// Tells of each change, until the client is gone.
    ///
    /// # Errors
    /// When nobody is calling any more.
    pub(super) async fn tell(&mut self, sink: &Sink) -> Result<()> {
        loop {
            grown(&mut self.journals).await?;
            self.still_calls().await?;
            for (place, journal) in self.journals.iter_mut().enumerate() {
                let changed = journal.changed(&self.door.book, place == 0).await;
                let changed = changed.unwrap_or_else(|error| {
                    tracing::warn!(%error, "what changed could not be told; trying again soon");
                    BTreeSet::new()
                });
                for uri in changed {
                    if self.uris.contains(&uri) && !sink.tell(&uri).await {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Followed {
    /// Whether who subscribed may still call at all.
    async fn still_calls(&self) -> Result<()> {
        let Some(parts) = self.context.extensions.get::<Parts>() else { return Ok(()) };
        let (book, headers) = (self.door.book.clone(), parts.headers.clone());
        blocking(move || gate::holds_still(&book, &headers)).await
    }
}

impl Journal {
    /// The resources that have changed since it was last looked at; of the caller's own workspace
    /// also its agents and what it holds.
    async fn changed(&mut self, book: &Commonbook, own: bool) -> Result<BTreeSet<String>> {
        let end = *self.end.borrow_and_update();
        let (book, caller, mut after) = (book.clone(), self.caller.clone(), self.after);
        let changed = blocking(move || {
            let mut changed = BTreeSet::new();
            loop {
                let page =
                    book.list_events(&caller, &ListEvents { after, ..ListEvents::default() })?;
                for event in page.items {
                    changed.insert(resource::uri_of_memory(&event.subject));
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
async fn grown(journals: &mut [Journal]) -> Result<()> {
    let grown = match journals {
        [own] => own.end.changed().await,
        [own, global] => tokio::select! {
            grown = own.end.changed() => grown,
            grown = global.end.changed() => grown,
        },
        _ => std::future::pending().await,
    };
    grown
        .map_err(|gone| Error::new(ErrorKind::Unavailable, "nobody watches any more").because(gone))
}
