//! Whose turn it is to write, among the processes of one store.
//!
//! The engine sleeps between its tries to begin, longer each time: of sixteen processes that wrote at once,
//! one waited for a second while the others had many turns. The kernel gives a lock of a file to those that
//! wait for it in the order in which they came. The engine's own lock still decides who writes.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::file::sibling_path;
use super::holder::busy_store;
use crate::base::error::Result;
use crate::base::file_lock::FileLock;

/// Waits until it is this caller's turn, for this time at most. The turn ends with the value; `None` where
/// the file system has no locks.
///
/// # Errors
/// `unavailable` if others had their turns for all that time.
pub(super) fn take_within(store: &Path, limit: Duration) -> Result<Option<FileLock>> {
    let path = sibling_path(store, ".lock");
    match FileLock::take(&path) {
        Ok(None) => {}
        Ok(turn) => return Ok(turn),
        Err(error) => {
            tracing::debug!(%error, "writers cannot queue");
            return Ok(None);
        }
    }
    // The kernel knows no limit, so another thread waits. If it gets its turn too late, nobody receives it,
    // and it ends at once.
    let (sender, receiver) = sync_channel(1);
    let wait = move || drop(sender.send(FileLock::wait(&path)));
    if std::thread::Builder::new().name("commonbook-turn".to_owned()).spawn(wait).is_err() {
        return Ok(None);
    }
    match receiver.recv_timeout(limit) {
        Ok(turn) => Ok(turn.ok()),
        Err(_) => Err(busy_store(store)),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::base::error::ErrorKind;

    const LONG: Duration = Duration::from_secs(60);

    /// Waits until this number of callers wait for the lock of this store, as the kernel shows them.
    fn await_waiting(store: &Path, count: usize) {
        let inode = std::fs::metadata(sibling_path(store, ".lock")).unwrap().ino();
        let ending = format!(":{inode} 0 EOF");
        let waits = |line: &&str| line.contains("-> FLOCK") && line.ends_with(&ending);
        while std::fs::read_to_string("/proc/locks").unwrap().lines().filter(waits).count() < count
        {
            std::thread::yield_now();
        }
    }

    #[test]
    fn turns_are_taken_in_the_order_in_which_callers_came() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("commonbook.db");
        let first = take_within(&store, LONG).unwrap().unwrap();
        let (sender, order) = channel();
        let callers: Vec<_> = (0..8)
            .map(|number| {
                let (store, sender) = (store.clone(), sender.clone());
                let path = store.clone();
                let caller = std::thread::spawn(move || {
                    let turn = take_within(&store, LONG).unwrap().unwrap();
                    sender.send(number).unwrap();
                    drop(turn);
                });
                await_waiting(&path, number + 1);
                caller
            })
            .collect();
        drop(first);
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        drop(sender);
        assert_eq!(order.iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn who_waits_too_long_is_refused_and_keeps_no_turn() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("commonbook.db");
        let first = take_within(&store, LONG).unwrap().unwrap();
        let refused = take_within(&store, Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unavailable);
        drop(first);
        assert!(take_within(&store, LONG).unwrap().is_some());
    }

    #[test]
    fn a_write_waits_for_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let store: std::sync::Arc<dyn crate::store::Store> =
            super::super::SqliteStore::open(&path).unwrap();
        let other = take_within(&path, LONG).unwrap().unwrap();
        let write = std::thread::spawn(move || store.write(|_| Ok(())));
        await_waiting(&path, 1);
        drop(other);
        write.join().unwrap().unwrap();
    }
}
