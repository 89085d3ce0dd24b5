//! Slots for connections: their number, the share of each peer, and the displacement of idle ones.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use commonbook::base::limits;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The slots of a server.
pub(super) struct ConnectionLimiter {
    slots_max: usize,
    table: Mutex<ConnectionTable>,
    /// Notified when a connection ends or becomes idle.
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
    limiter: Arc<ConnectionLimiter>,
}

/// The activity of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionActivity {
    /// Waiting for the head of a request since this time.
    Head(Instant),
    /// Reading, running or answering a request.
    Busy,
    /// Idle since this time.
    Idle(Instant),
}

/// The slot of a connection; dropping it frees the slot.
pub(super) struct ConnectionSlot {
    number: u64,
    connection: Arc<OpenConnection>,
}

/// A running request, until this is dropped.
pub(super) struct RunningRequest(Arc<OpenConnection>);

impl ConnectionLimiter {
    /// A limiter with this number of slots.
    pub(super) fn new(slots_max: usize) -> Self {
        Self { slots_max, table: Mutex::default(), changed: Notify::new() }
    }

    /// A slot for this peer. If all are taken, displaces the connection that has been idle longest, else
    /// the one that has waited longest for a head; if all are busy, waits. A peer of another machine
    /// has at most half of the slots: returns `None` if all of those are busy.
    pub(super) async fn acquire_slot(limiter: &Arc<Self>, peer: IpAddr) -> Option<ConnectionSlot> {
        let slots_max = limiter.slots_max;
        let share = if peer.is_loopback() { slots_max } else { (slots_max / 2).max(1) };
        loop {
            let changed = limiter.changed.notified();
            {
                let mut table = limiter.table();
                if table.open.values().filter(|connection| connection.peer == peer).count() >= share
                    && !table.displace(|connection| connection.peer == peer)
                    && !peer.is_loopback()
                {
                    return None;
                }
                if table.open.len() < slots_max || table.displace(|_| true) {
                    return Some(table.open(limiter, peer));
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
    fn open(&mut self, limiter: &Arc<ConnectionLimiter>, peer: IpAddr) -> ConnectionSlot {
        let connection = Arc::new(OpenConnection {
            peer,
            activity: watch::Sender::new(ConnectionActivity::Head(Instant::now())),
            displaced: CancellationToken::new(),
            limiter: Arc::clone(limiter),
        });
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Arc::clone(&connection));
        ConnectionSlot { number, connection }
    }

    /// Ends the eligible connection that has waited longest for its client; returns whether one existed.
    fn displace(&mut self, is_eligible: impl Fn(&OpenConnection) -> bool) -> bool {
        let waiting = self.open.iter().filter(|(_, connection)| is_eligible(connection));
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
    /// The connection in this slot.
    pub(super) fn connection(&self) -> Arc<OpenConnection> {
        Arc::clone(&self.connection)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connection.limiter.table().open.remove(&self.number);
        self.connection.limiter.changed.notify_one();
    }
}

impl OpenConnection {
    /// Records bytes from the client: on an idle connection, a head starts.
    pub(super) fn note_received(&self) {
        self.activity.send_if_modified(|activity| {
            let begins = matches!(activity, ConnectionActivity::Idle(_));
            if begins {
                *activity = ConnectionActivity::Head(Instant::now());
            }
            begins
        });
    }

    /// Waits until a head exceeds its time limit.
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
                // `self` holds the sender, so the channel stays open.
                _ = activity.changed() => {}
            }
        }
    }

    /// Waits until another client has taken the slot.
    pub(super) async fn wait_for_displacement(&self) {
        self.displaced.cancelled().await;
    }
}

impl RunningRequest {
    /// Starts a request of this connection.
    pub(super) fn begin(connection: &Arc<OpenConnection>) -> Self {
        connection.activity.send_replace(ConnectionActivity::Busy);
        Self(Arc::clone(connection))
    }

    /// The address of the peer.
    pub(super) fn peer(&self) -> IpAddr {
        self.0.peer
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.activity.send_replace(ConnectionActivity::Idle(Instant::now()));
        self.0.limiter.changed.notify_one();
    }
}
