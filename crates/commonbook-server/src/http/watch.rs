//! The watch of the journals: reports that a journal has grown, at once for writes of this process, and
//! soon for those of others.
//!
//! It reports sequences only. A subscriber then reads the journal by a verb, with its own permissions.
//! Without subscribers it does not poll the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::event::JournalHistory;
use commonbook::model::workspace::Workspace;
use tokio::sync::Notify;
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::calls::call::run_blocking;

/// The shortest time between two polls for the writes of other processes.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(25);

/// The time between two polls where the store reports the writes of other processes: a report can get
/// lost.
const POLL_INTERVAL_REPORTED: Duration = Duration::from_secs(1);

/// The pause after a poll as a multiple of its duration, which bounds the load of many workspaces.
const PAUSE_FACTOR: u32 = 10;

/// The delay before the watch reads the store again after an error.
const WATCH_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The watch of a home's journals, one for each process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct JournalWatch {
    book: Commonbook,
    watched: Arc<WatchedJournals>,
    /// The shortest time between two polls.
    interval: Duration,
}

/// The watched journals, and the signal for a poll.
#[derive(Default)]
struct WatchedJournals {
    /// The end of each watched journal.
    ends: Mutex<BTreeMap<Workspace, Sender<u64>>>,
    /// The history that the journals had at the last poll.
    history: Mutex<Option<JournalHistory>>,
    /// Signals a write of this process, or a new subscriber.
    called: Notify,
}

/// Returns the watch of the journals, and a Commonbook that reports its writes to it. The watch runs
/// until the program stops. Call this inside the runtime.
pub(crate) fn watch_journals(
    book: Commonbook,
    stopping: CancellationToken,
) -> (Commonbook, JournalWatch) {
    let watched = Arc::new(WatchedJournals::default());
    let called = Arc::clone(&watched);
    let book = book.on_write(move || called.called.notify_one());
    if let Err(error) = book.begin_bus() {
        tracing::warn!(%error, "cannot read the journals; statistics lack the event streams");
    }
    let called = Arc::clone(&watched);
    let reports = book.store().watch_others(Arc::new(move || called.called.notify_one()));
    let interval = match reports {
        Ok(true) => POLL_INTERVAL_REPORTED,
        Ok(false) => POLL_INTERVAL_MIN,
        Err(error) => {
            tracing::warn!(%error, "the journals are polled");
            POLL_INTERVAL_MIN
        }
    };
    let watch = JournalWatch { book: book.clone(), watched, interval };
    tokio::spawn(watch.clone().run(stopping));
    (book, watch)
}

impl JournalWatch {
    /// The sequence of the last event of this workspace's journal, now and after each change. It misses no
    /// change after this call; several changes can arrive as one. It decreases only if the journals have
    /// got another history, which is a change even where the sequence stays.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(crate) async fn of(&self, workspace: &Workspace) -> Result<Receiver<u64>> {
        let mut end = {
            let mut ends = self.watched.ends();
            let end = ends.entry(workspace.clone()).or_insert_with(|| Sender::new(0));
            end.subscribe()
        };
        self.watched.called.notify_one();
        self.poll_journals(vec![workspace.clone()]).await?;
        end.mark_unchanged();
        Ok(end)
    }

    async fn run(self, stopping: CancellationToken) {
        let (mut failed, mut took, mut rested) = (false, Duration::ZERO, Instant::now());
        loop {
            let workspaces = self.watched.workspaces();
            let pause = match (workspaces.is_empty(), failed) {
                (true, _) => None,
                (false, false) => Some(self.interval.max(took * PAUSE_FACTOR)),
                (false, true) => Some(WATCH_RETRY_DELAY),
            };
            tokio::select! {
                () = stopping.cancelled() => return,
                () = self.watched.called.notified(), if !failed => {},
                () = sleep_or_pend(pause) => {},
            }
            // After a poll the watch rests as long: one poll answers all calls of that time.
            sleep_until(rested).await;
            let begun = Instant::now();
            let polled = self.poll_journals(self.watched.workspaces()).await;
            took = begun.elapsed();
            rested = Instant::now() + took.min(POLL_INTERVAL_MIN);
            if let Err(error) = &polled
                && !failed
            {
                tracing::warn!(%error, "cannot read the journals; trying again");
            }
            failed = polled.is_err();
        }
    }

    /// Reads the ends of these journals, and reports those that have grown.
    async fn poll_journals(&self, workspaces: Vec<Workspace>) -> Result<()> {
        if workspaces.is_empty() {
            return Ok(());
        }
        // A journal without events has no row.
        let mut found: BTreeMap<Workspace, u64> =
            workspaces.iter().map(|workspace| (workspace.clone(), 0)).collect();
        let book = self.book.clone();
        let polled = run_blocking(move || {
            book.store().read(|tx| Ok((tx.journals_of(&workspaces)?, tx.history()?)))
        });
        let (ends, history) = polled.await?;
        found.extend(ends);
        let is_other = self.watched.enter_history(history);
        let ends = self.watched.ends();
        if is_other {
            // Every subscriber looks again, also those of journals that this poll did not read.
            ends.values().for_each(|known| known.send_modify(|_| {}));
        }
        for (workspace, end) in found {
            if let Some(known) = ends.get(&workspace) {
                known.send_if_modified(|known| {
                    let is_changed = if is_other { end != *known } else { end > *known };
                    if is_changed {
                        *known = end;
                    }
                    is_changed
                });
            }
        }
        Ok(())
    }
}

impl WatchedJournals {
    /// Notes the history of the journals; returns whether they had another one before.
    fn enter_history(&self, history: JournalHistory) -> bool {
        let mut known = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.replace(history);
        before.is_some_and(|before| known.as_ref() != Some(&before))
    }

    fn ends(&self) -> MutexGuard<'_, BTreeMap<Workspace, Sender<u64>>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The workspaces with subscribers; drops the others.
    fn workspaces(&self) -> Vec<Workspace> {
        let mut ends = self.ends();
        ends.retain(|_, end| end.receiver_count() > 0);
        ends.keys().cloned().collect()
    }
}

/// Sleeps this long; for ever if there is no pause.
async fn sleep_or_pend(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {

    use commonbook::model::agent::AgentName;
    use commonbook::model::caller::{Caller, EntryPoint};
    use commonbook::model::memory::SaveMemory;
    use commonbook::store::sqlite::SqliteStore;

    use super::*;

    fn book(home: &tempfile::TempDir) -> Commonbook {
        Commonbook::new(SqliteStore::open(&home.path().join("commonbook.db")).unwrap())
    }

    async fn save(book: &Commonbook, workspace: &str) {
        let (book, workspace) = (book.clone(), workspace.parse().unwrap());
        let name: AgentName = "ann".parse().unwrap();
        let caller = Caller::new(Some(name), workspace, EntryPoint::Cli);
        // Of two equal texts only the first is saved.
        let text = format!("tea {}", fastrand::u64(..));
        let tea = SaveMemory { text, ..SaveMemory::default() };
        run_blocking(move || book.save_memory(&caller, &tea)).await.unwrap();
    }

    async fn next_end(end: &mut Receiver<u64>) -> u64 {
        tokio::time::timeout(Duration::from_secs(30), end.changed()).await.unwrap().unwrap();
        *end.borrow_and_update()
    }

    #[tokio::test]
    async fn every_subscriber_sees_the_writes_of_every_process() {
        let home = tempfile::tempdir().unwrap();
        let stopping = CancellationToken::new();
        let (ours, watch) = watch_journals(book(&home), stopping.clone());
        // A second store on the same file stands for another process.
        let theirs = book(&home);
        let x = "x".parse().unwrap();
        save(&theirs, "x").await;
        let (mut one, mut two) = (watch.of(&x).await.unwrap(), watch.of(&x).await.unwrap());
        assert_eq!((*one.borrow(), *two.borrow()), (1, 1), "the first value is the present end");
        save(&ours, "x").await;
        assert_eq!((next_end(&mut one).await, next_end(&mut two).await), (2, 2));
        save(&ours, "y").await;
        save(&theirs, "x").await;
        assert_eq!((next_end(&mut one).await, next_end(&mut two).await), (3, 3), "y is not x");
        drop((one, two));
        assert_eq!(
            watch.watched.workspaces(),
            Vec::new(),
            "a journal without subscribers is dropped"
        );
        stopping.cancel();
    }

    #[tokio::test]
    async fn a_new_subscriber_sees_the_writes_before_it() {
        let home = tempfile::tempdir().unwrap();
        let (ours, watch) = watch_journals(book(&home), CancellationToken::new());
        let x = "x".parse().unwrap();
        drop(watch.of(&x).await.unwrap());
        save(&ours, "x").await;
        let mut end = watch.of(&x).await.unwrap();
        assert_eq!(*end.borrow(), 1);
        save(&book(&home), "x").await;
        assert_eq!(next_end(&mut end).await, 2);
    }
}
