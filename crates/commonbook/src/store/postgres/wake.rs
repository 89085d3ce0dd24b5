//! Waking the other nodes after a write, by NOTIFY: a hint that comes early, and never the only way.
//!
//! A NOTIFY inside a writing transaction holds a lock of the whole server through its commit, so it is
//! sent apart, on a connection of its own, once for all writes of a moment.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use super::address::DatabaseAddress;
use crate::base::error::{Error, ErrorKind, Result};
use crate::store::WriteCallback;

/// The shortest time between two notifications of one node.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(10);

/// The delay before a lost connection is opened again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// How long the listener waits before it looks whether its store and its connection are still open.
const STOP_INTERVAL: Duration = Duration::from_secs(1);

/// A notification. Its commit need not wait for the disk, as it loses nothing with the server; the
/// setting ends with the transaction, for the connection may be that of a pooler.
const NOTIFICATION: &str = "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY commonbook; COMMIT";

/// What wakes the other nodes.
pub(super) struct NodeWaker {
    address: DatabaseAddress,
    /// The way to the thread that notifies; the first write starts it.
    notifier: OnceLock<SyncSender<()>>,
    /// Ends the threads.
    closing: Arc<ClosingSignal>,
}

/// Says that the store is closed.
#[derive(Default)]
struct ClosingSignal {
    is_closed: Mutex<bool>,
    changed: Condvar,
}

impl ClosingSignal {
    fn close(&self) {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits this long, or until the store is closed; returns whether it is.
    fn wait(&self, time: Duration) -> bool {
        let is_closed = self.is_closed.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(is_closed, time, |is_closed| !*is_closed);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for NodeWaker {
    fn drop(&mut self) {
        self.closing.close();
    }
}

impl NodeWaker {
    pub(super) fn new(address: DatabaseAddress) -> Self {
        Self { address, notifier: OnceLock::new(), closing: Arc::default() }
    }

    /// Tells the other nodes soon that something was written. Never waits.
    pub(super) fn wake_others(&self) {
        let notifier = self.notifier.get_or_init(|| {
            let (sender, receiver) = sync_channel(1);
            let (address, closing) = (self.address.clone(), Arc::clone(&self.closing));
            let thread = thread::Builder::new().name("notify".to_owned());
            let notify = move || notify_until_closed(&address, &receiver, &closing);
            if let Err(error) = thread.spawn(notify) {
                tracing::warn!(%error, "other nodes are not woken; they read each second");
            }
            sender
        });
        match notifier.try_send(()) {
            // One that waits already covers this write.
            Ok(()) | Err(TrySendError::Full(())) => {}
            Err(TrySendError::Disconnected(())) => {
                tracing::debug!("the thread that wakes other nodes has ended");
            }
        }
    }

    /// Calls `notify` whenever another node has written, until the store is closed.
    ///
    /// # Errors
    /// `unavailable` if no thread can be started.
    pub(super) fn listen(&self, notify: Arc<WriteCallback>) -> Result<()> {
        let (address, closing) = (self.address.clone(), Arc::clone(&self.closing));
        let thread = thread::Builder::new().name("listen".to_owned());
        thread.spawn(move || listen_until_closed(&address, &closing, &*notify)).map_err(
            |error| {
                Error::new(
                    ErrorKind::Unavailable,
                    "cannot start the thread that listens to other nodes",
                )
                .with_cause(error)
            },
        )?;
        Ok(())
    }
}

/// Sends a notification for the writes of each moment, until the store is closed.
fn notify_until_closed(address: &DatabaseAddress, writes: &Receiver<()>, closing: &ClosingSignal) {
    let mut connection: Option<Client> = None;
    while writes.recv().is_ok() {
        let begun = Instant::now();
        let sent = match &mut connection {
            Some(client) => client.batch_execute(NOTIFICATION),
            None => address.connect().and_then(|mut client| {
                client.batch_execute(NOTIFICATION)?;
                connection = Some(client);
                Ok(())
            }),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "other nodes were not woken; they read each second");
            connection = None;
            closing.wait(RECONNECT_DELAY);
        }
        if closing.wait(NOTIFY_INTERVAL.saturating_sub(begun.elapsed())) {
            return;
        }
    }
}

/// Waits for notifications, and connects again when the connection is lost.
fn listen_until_closed(address: &DatabaseAddress, closing: &ClosingSignal, notify: &WriteCallback) {
    loop {
        let listened = address.connect().and_then(|mut client| {
            client.batch_execute("LISTEN commonbook")?;
            // What was written while nobody listened.
            notify();
            while !closing.wait(Duration::ZERO) {
                match hears(&mut client)? {
                    true => notify(),
                    false => client.is_valid(STOP_INTERVAL)?,
                }
            }
            Ok(())
        });
        if let Err(error) = listened {
            tracing::debug!(%error, "the connection that listens to other nodes was lost");
        }
        if closing.wait(RECONNECT_DELAY) {
            return;
        }
    }
}

/// Waits a moment for a notification; those that came with it are the same news.
fn hears(client: &mut Client) -> Result<bool, postgres::Error> {
    let mut notifications = client.notifications();
    let is_first = notifications.timeout_iter(STOP_INTERVAL).next()?.is_some();
    while notifications.iter().next()?.is_some() {}
    Ok(is_first)
}
