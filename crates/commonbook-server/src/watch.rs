//! The watch of the journals: learning that one has grown, by this process's writes at once, and by
//! those of others soon.
//!
//! It tells places and nothing else. Whoever is woken reads the journal by a verb, with its own
//! sight. While nobody watches, nothing is asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::workspace::Workspace;
use tokio::sync::Notify;
use tokio::sync::watch::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use crate::call::run_blocking;

/// How often the store is asked what other processes wrote, while somebody watches.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(25);

/// How many times longer than a look the pause after it is: where many workspaces are watched, a look
/// takes a while, and is to leave the machine to others.
const PAUSE_FACTOR: u32 = 10;

/// How long a watch that cannot read the store waits before it tries again.
const WATCH_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The watch of a home's journals; one for each process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct JournalWatch {
    book: Commonbook,
    watched: Arc<WatchedJournals>,
}

/// What is watched, and what calls for a look.
#[derive(Default)]
struct WatchedJournals {
    /// The end of each journal that somebody watches.
    ends: Mutex<BTreeMap<Workspace, Sender<u64>>>,
    /// Something was written here, or somebody has begun to watch.
    called: Notify,
}

/// The same Commonbook, whose writes the watch hears of, and the watch of its journals. It watches
/// until the program stops. To be called within the runtime.
pub(crate) fn watch_journals(
    book: Commonbook,
    stopping: CancellationToken,
) -> (Commonbook, JournalWatch) {
    let watched = Arc::new(WatchedJournals::default());
    let called = Arc::clone(&watched);
    let book = book.on_write(move || called.called.notify_one());
    let watch = JournalWatch { book: book.clone(), watched };
    tokio::spawn(watch.clone().run(stopping));
    (book, watch)
}

impl JournalWatch {
    /// The place of the last event of this workspace's journal, now and whenever it changes. It
    /// never goes back, and no change after this call is missed; several may come as one.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
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
        let (mut failed, mut took) = (false, Duration::ZERO);
        loop {
            let workspaces = self.watched.workspaces();
            let pause = match (workspaces.is_empty(), failed) {
                (true, _) => None,
                (false, false) => Some(POLL_INTERVAL_MIN.max(took * PAUSE_FACTOR)),
                (false, true) => Some(WATCH_RETRY_DELAY),
            };
            tokio::select! {
                () = stopping.cancelled() => return,
                () = self.watched.called.notified(), if !failed => {},
                () = sleep_or_pend(pause) => {},
            }
            let begun = Instant::now();
            let looked = self.poll_journals(self.watched.workspaces()).await;
            took = begun.elapsed();
            if let Err(error) = &looked
                && !failed
            {
                tracing::warn!(%error, "the journals could not be watched; trying again");
            }
            failed = looked.is_err();
        }
    }

    /// Asks the store for the ends of these journals, and tells those that have grown.
    async fn poll_journals(&self, workspaces: Vec<Workspace>) -> Result<()> {
        if workspaces.is_empty() {
            return Ok(());
        }
        let book = self.book.clone();
        let found = run_blocking(move || {
            book.store().read(|tx| {
                let end = |workspace: &Workspace| tx.journal_end(workspace);
                let ends = workspaces.iter().map(|it| Ok((it.clone(), end(it)?)));
                ends.collect::<Result<Vec<_>>>()
            })
        });
        for (workspace, end) in found.await? {
            if let Some(known) = self.watched.ends().get(&workspace) {
                known.send_if_modified(|known| {
                    let grown = end > *known;
                    *known = end.max(*known);
                    grown
                });
            }
        }
        Ok(())
    }
}

impl WatchedJournals {
    fn ends(&self) -> MutexGuard<'_, BTreeMap<Workspace, Sender<u64>>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The workspaces that somebody watches; the others are forgotten.
    fn workspaces(&self) -> Vec<Workspace> {
        let mut ends = self.ends();
        ends.retain(|_, end| end.receiver_count() > 0);
        ends.keys().cloned().collect()
    }
}

/// Waits so long; for ever, when there is nothing to wait for.
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
        let tea = SaveMemory { text: "tea".into(), ..SaveMemory::default() };
        run_blocking(move || book.save_memory(&caller, &tea)).await.unwrap();
    }

    async fn told(end: &mut Receiver<u64>) -> u64 {
        tokio::time::timeout(Duration::from_secs(30), end.changed()).await.unwrap().unwrap();
        *end.borrow_and_update()
    }

    #[tokio::test]
    async fn growth_is_told_to_all_who_watch_whoever_wrote() {
        let home = tempfile::tempdir().unwrap();
        let stopping = CancellationToken::new();
        let (ours, watch) = watch_journals(book(&home), stopping.clone());
        // A store of its own on the same file, as another process has it.
        let theirs = book(&home);
        let x = "x".parse().unwrap();
        save(&theirs, "x").await;
        let (mut one, mut two) = (watch.of(&x).await.unwrap(), watch.of(&x).await.unwrap());
        assert_eq!((*one.borrow(), *two.borrow()), (1, 1), "what is there already is known");
        save(&ours, "x").await;
        assert_eq!((told(&mut one).await, told(&mut two).await), (2, 2));
        save(&ours, "y").await;
        save(&theirs, "x").await;
        assert_eq!((told(&mut one).await, told(&mut two).await), (3, 3), "y is not x");
        drop((one, two));
        assert_eq!(watch.watched.workspaces(), Vec::new(), "what nobody watches is forgotten");
        stopping.cancel();
    }

    #[tokio::test]
    async fn a_watch_that_begins_again_knows_what_happened_between() {
        let home = tempfile::tempdir().unwrap();
        let (ours, watch) = watch_journals(book(&home), CancellationToken::new());
        let x = "x".parse().unwrap();
        drop(watch.of(&x).await.unwrap());
        save(&ours, "x").await;
        let mut end = watch.of(&x).await.unwrap();
        assert_eq!(*end.borrow(), 1);
        save(&book(&home), "x").await;
        assert_eq!(told(&mut end).await, 2);
    }
}
