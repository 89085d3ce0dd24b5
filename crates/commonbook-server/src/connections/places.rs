//! Places for connections: so many at once, a share for each peer, and who leaves when all are taken.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use commonbook::base::limits;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The places that there are.
pub(super) struct ConnectionLimiter {
    most: usize,
    table: Mutex<ConnectionTable>,
    /// Told when a connection ends, and when one becomes idle.
    changed: Notify,
}

/// The open connections, the oldest first.
#[derive(Default)]
struct ConnectionTable {
    next: u64,
    open: BTreeMap<u64, Arc<OpenConnection>>,
}

/// One open connection.
pub(super) struct OpenConnection {
    peer: IpAddr,
    activity: watch::Sender<ConnectionActivity>,
    displaced: CancellationToken,
    places: Arc<ConnectionLimiter>,
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionActivity {
    /// It was opened then, or has begun a head then.
    Head(Instant),
    /// Its request is being read, carried out or answered.
    Busy,
    /// It has had its answer then, and asks nothing.
    Idle(Instant),
}

/// The place of a connection; it is free again when this is dropped.
pub(super) struct ConnectionSlot {
    number: u64,
    connection: Arc<OpenConnection>,
}

/// A request that is under way until this is dropped.
pub(super) struct RunningRequest(Arc<OpenConnection>);

impl ConnectionLimiter {
    /// So many places.
    pub(super) fn new(most: usize) -> Self {
        Self { most, table: Mutex::default(), changed: Notify::new() }
    }

    /// A place for this peer. Where all are taken, the connection that has been idle longest makes room,
    /// else the one whose head is awaited longest; where every connection is busy, this waits. A peer of
    /// another machine has half of all places at the most: nothing when all of those are busy.
    pub(super) async fn acquire_slot(places: &Arc<Self>, peer: IpAddr) -> Option<ConnectionSlot> {
        let share = if peer.is_loopback() { places.most } else { (places.most / 2).max(1) };
        loop {
            let changed = places.changed.notified();
            {
                let mut table = places.table();
                if table.open.values().filter(|other| other.peer == peer).count() >= share
                    && !table.displace(|other| other.peer == peer)
                    && !peer.is_loopback()
                {
                    return None;
                }
                if table.open.len() < places.most || table.displace(|_| true) {
                    return Some(table.open(places, peer));
                }
            }
            changed.await;
        }
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    fn open(&mut self, places: &Arc<ConnectionLimiter>, peer: IpAddr) -> ConnectionSlot {
        let connection = Arc::new(OpenConnection {
            peer,
            activity: watch::Sender::new(ConnectionActivity::Head(Instant::now())),
            displaced: CancellationToken::new(),
            places: Arc::clone(places),
        });
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Arc::clone(&connection));
        ConnectionSlot { number, connection }
    }

    /// Ends the connection among these that waits longest for its client; whether there was any.
    fn displace(&mut self, among: impl Fn(&OpenConnection) -> bool) -> bool {
        let waiting = self.open.iter().filter(|(_, connection)| among(connection));
        let oldest =
            waiting.filter_map(|(number, connection)| match *connection.activity.borrow() {
                ConnectionActivity::Idle(since) => Some(((0, since), *number)),
                ConnectionActivity::Head(since) => Some(((1, since), *number)),
                ConnectionActivity::Busy => None,
            });
        let Some((_, number)) = oldest.min() else { return false };
        if let Some(connection) = self.open.remove(&number) {
            connection.displaced.cancel();
        }
        true
    }
}

impl ConnectionSlot {
    /// The connection in this place.
    pub(super) fn connection(&self) -> Arc<OpenConnection> {
        Arc::clone(&self.connection)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connection.places.table().open.remove(&self.number);
        self.connection.places.changed.notify_one();
    }
}

impl OpenConnection {
    /// Its client has sent something: where it was idle, a head begins.
    pub(super) fn note_received(&self) {
        self.activity.send_if_modified(|activity| {
            let begins = matches!(activity, ConnectionActivity::Idle(_));
            if begins {
                *activity = ConnectionActivity::Head(Instant::now());
            }
            begins
        });
    }

    /// Waits until a head is over its time.
    pub(super) async fn wait_for_head_timeout(&self) {
        let mut activity = self.activity.subscribe();
        loop {
            let now = *activity.borrow_and_update();
            let late = async {
                match now {
                    ConnectionActivity::Head(since) => {
                        sleep_until(since + Duration::from_secs(limits::HEAD_SECONDS)).await;
                    }
                    ConnectionActivity::Busy | ConnectionActivity::Idle(_) => {
                        std::future::pending::<()>().await;
                    }
                }
            };
            tokio::select! {
                () = late => return,
                // Its sender is here, so that it does not end.
                _ = activity.changed() => {}
            }
        }
    }

    /// Waits until another client has got its place.
    pub(super) async fn wait_for_displacement(&self) {
        self.displaced.cancelled().await;
    }
}

impl RunningRequest {
    /// A request of this connection is under way.
    pub(super) fn begin(connection: &Arc<OpenConnection>) -> Self {
        connection.activity.send_replace(ConnectionActivity::Busy);
        Self(Arc::clone(connection))
    }

    /// Who sent it.
    pub(super) fn peer(&self) -> IpAddr {
        self.0.peer
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.activity.send_replace(ConnectionActivity::Idle(Instant::now()));
        self.0.places.changed.notify_one();
    }
}
