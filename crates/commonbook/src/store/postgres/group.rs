//! Writes that wait for each other: they share a transaction, and so one commit.
//!
//! Each workspace has a lane. The first write of a lane runs at once. Those that come meanwhile wait, and
//! when it has ended one of them runs them all in its thread: that of a caller, if there is one. Writes
//! of one process and workspace never conflict, and a write that finds nobody before it pays nothing.
//!
//! Writes of two workspaces can conflict, as a serializable transaction knows what it has read by pages.
//! After that the writes that follow have one lane, whatever their workspace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::workspace::Workspace;
use crate::store::StoreWrite;

/// Writes that share a transaction at most. With 64 clients in one workspace groups of 16 saved more a
/// second than groups of 32 or 64: the versions of a row that one transaction makes stay until its end.
const GROUP_WRITES_MAX: usize = 16;

/// Writes that have one lane after a conflict. A conflict at their end costs little beside them, and lanes
/// part again within a second or two on a database where workspaces share no pages.
const JOINED_WRITES: usize = 256;

/// The writes that wait in this process. A lane has an entry while one of its writes runs.
#[derive(Default)]
pub(super) struct WriteQueue {
    waiting: Mutex<BTreeMap<WriteLane, Vec<WaitingWrite>>>,
    /// How many of the writes to come have one lane.
    joined: AtomicUsize,
}

/// Writes that run one group after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum WriteLane {
    /// Those of one workspace.
    Workspace(Workspace),
    /// Those of all workspaces.
    All,
}

struct WaitingWrite {
    write: StoreWrite,
    /// The way to its thread, which waits.
    news: SyncSender<WriteNews>,
}

/// What the thread of a waiting write hears.
enum WriteNews {
    /// It runs these writes.
    Lead(WriteGroup),
    /// Its write has run.
    Ran(Result<()>),
}

/// Writes that share a transaction, in the order of their workspaces: all nodes lock journals in that order,
/// so that no two groups each have the journal that the other one waits for.
struct WriteGroup {
    writes: Vec<WaitingWrite>,
    /// The place of the write whose thread runs them.
    lead: usize,
}

impl WriteGroup {
    fn new(mut writes: Vec<WaitingWrite>) -> Self {
        writes.sort_by(|one, other| one.write.workspace.cmp(&other.write.workspace));
        let lead = writes.iter().position(|waiting| !waiting.write.is_derived).unwrap_or(0);
        Self { writes, lead }
    }
}

impl WriteQueue {
    /// Runs a write, perhaps with others of its lane: `run` receives a group and returns a result
    /// for each of its writes, in their order.
    pub(super) fn run(
        &self,
        mut write: StoreWrite,
        run: impl FnOnce(&mut [&mut StoreWrite]) -> Vec<Result<()>>,
    ) -> Result<()> {
        let Some(workspace) = write.workspace.clone() else {
            return run(&mut [&mut write]).pop().unwrap_or_else(|| Err(not_run()));
        };
        let lane = self.lane_of(workspace);
        let (sender, news) = sync_channel(1);
        let first = {
            let mut waiting = self.waiting();
            let write = WaitingWrite { write, news: sender };
            match waiting.get_mut(&lane) {
                Some(queue) => {
                    queue.push(write);
                    None
                }
                None => {
                    waiting.insert(lane.clone(), Vec::new());
                    Some(write)
                }
            }
        };
        let WriteGroup { mut writes, lead } = match first {
            Some(first) => WriteGroup::new(vec![first]),
            None => match news.recv() {
                Ok(WriteNews::Lead(group)) => group,
                Ok(WriteNews::Ran(result)) => return result,
                Err(_) => return Err(not_run()),
            },
        };
        let turn = LaneTurn { queue: self, lane: &lane };
        let results =
            run(&mut writes.iter_mut().map(|waiting| &mut waiting.write).collect::<Vec<_>>());
        // The next group begins before the answers of this one are sent.
        drop(turn);
        let mut own = Err(not_run());
        for (place, (waiting, result)) in writes.into_iter().zip(results).enumerate() {
            match place == lead {
                true => own = result,
                // The caller waits until it hears something.
                false => drop(waiting.news.send(WriteNews::Ran(result))),
            }
        }
        own
    }

    /// Gives the writes to come one lane: a write could not run beside those of other workspaces.
    pub(super) fn join_lanes(&self) {
        self.joined.store(JOINED_WRITES, Ordering::Relaxed);
    }

    fn lane_of(&self, workspace: Workspace) -> WriteLane {
        let less = |left: usize| left.checked_sub(1);
        match self.joined.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => WriteLane::All,
            Err(_) => WriteLane::Workspace(workspace),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<WriteLane, Vec<WaitingWrite>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to run the writes of a lane; the end of it lets the next group run.
struct LaneTurn<'q> {
    queue: &'q WriteQueue,
    lane: &'q WriteLane,
}

impl Drop for LaneTurn<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting();
        let Some(queue) = waiting.get_mut(self.lane) else { return };
        let writes: Vec<WaitingWrite> = queue.drain(..queue.len().min(GROUP_WRITES_MAX)).collect();
        let group = WriteGroup::new(writes);
        match group.writes.get(group.lead).map(|lead| lead.news.clone()) {
            // Its thread waits, and has room for one message.
            Some(lead) => drop(lead.send(WriteNews::Lead(group))),
            None => drop(waiting.remove(self.lane)),
        }
    }
}

fn not_run() -> Error {
    Error::new(ErrorKind::Internal, "the store answered without running the write")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::Scope;

    use super::*;

    fn write(workspace: Option<&str>) -> StoreWrite {
        let workspace = workspace.map(|name| name.parse().unwrap());
        StoreWrite { workspace, is_derived: false, act: Box::new(|_| Ok(())) }
    }

    impl WriteQueue {
        /// Writes that wait.
        fn count(&self) -> usize {
            self.waiting().values().map(Vec::len).sum::<usize>()
        }

        /// Waits until this number of writes waits.
        fn await_count(&self, count: usize) {
            while self.count() < count {
                std::thread::yield_now();
            }
        }
    }

    /// Begins a write of the workspace `x`, which ends when this number of writes waits.
    fn hold<'s>(queue: &'s WriteQueue, scope: &'s Scope<'s, '_>, count: usize) {
        let (begun, first) = channel();
        scope.spawn(move || {
            let wait = |group: &mut [&mut StoreWrite]| {
                begun.send(()).unwrap();
                queue.await_count(count);
                vec![Ok(()); group.len()]
            };
            queue.run(write(Some("x")), wait).unwrap();
        });
        first.recv().unwrap();
    }

    fn conflict(number: usize) -> Result<()> {
        Err(Error::conflict(format!("number {number}")))
    }

    #[test]
    fn what_waits_for_a_write_of_its_workspace_runs_as_one_group() {
        let queue = WriteQueue::default();
        let (sizes, results) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let (begun, first) = channel();
            let (queue, sizes, results) = (&queue, &sizes, &results);
            let run = move |group: &mut [&mut StoreWrite]| {
                sizes.lock().unwrap().push(group.len());
                (0..group.len()).map(conflict).collect()
            };
            scope.spawn(move || {
                let hold = |group: &mut [&mut StoreWrite]| {
                    begun.send(()).unwrap();
                    queue.await_count(GROUP_WRITES_MAX + 1);
                    run(group)
                };
                queue.run(write(Some("x")), hold).unwrap_err();
            });
            first.recv().unwrap();
            // Others are not kept waiting.
            queue.run(write(Some("y")), run).unwrap_err();
            queue.run(write(None), run).unwrap_err();
            for _ in 0..=GROUP_WRITES_MAX {
                scope.spawn(move || {
                    let error = queue.run(write(Some("x")), run).unwrap_err();
                    results.lock().unwrap().push(error.message);
                });
            }
        });
        assert_eq!(*sizes.lock().unwrap(), [1, 1, 1, GROUP_WRITES_MAX, 1]);
        let mut heard = results.into_inner().unwrap();
        heard.sort();
        let mut expected: Vec<String> =
            (0..GROUP_WRITES_MAX).chain([0]).map(|number| format!("number {number}")).collect();
        expected.sort();
        assert_eq!(heard, expected, "each hears its own result");
        assert!(queue.waiting().is_empty());
    }

    #[test]
    fn the_thread_of_a_caller_runs_what_followers_write_and_not_the_other_way_round() {
        let queue = WriteQueue::default();
        let leads = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let (queue, leads) = (&queue, &leads);
            let run = move |who: &'static str, write: StoreWrite| {
                queue.run(write, |group| {
                    leads.lock().unwrap().push((who, group.len()));
                    vec![Ok(()); group.len()]
                })
            };
            hold(queue, scope, 3);
            scope.spawn(move || {
                run("a follower", StoreWrite { is_derived: true, ..write(Some("x")) })
            });
            queue.await_count(1);
            scope.spawn(move || run("a caller", write(Some("x"))));
            queue.await_count(2);
            scope.spawn(move || run("another caller", write(Some("x"))));
        });
        assert_eq!(*leads.lock().unwrap(), [("a caller", 3)]);
    }

    #[test]
    fn after_a_conflict_writes_of_all_workspaces_run_as_one_group_for_a_while() {
        let queue = WriteQueue::default();
        queue.join_lanes();
        let groups = Mutex::new(Vec::new());
        let names = |group: &[&mut StoreWrite]| -> Vec<String> {
            group.iter().map(|write| write.workspace.as_ref().unwrap().to_string()).collect()
        };
        std::thread::scope(|scope| {
            let (queue, groups) = (&queue, &groups);
            hold(queue, scope, 3);
            for name in ["y", "z", "w"] {
                scope.spawn(move || {
                    queue.run(write(Some(name)), |group| {
                        groups.lock().unwrap().push(names(group));
                        vec![Ok(()); group.len()]
                    })
                });
            }
        });
        assert_eq!(*groups.lock().unwrap(), [["w", "y", "z"]]);
        let lanes = (4..JOINED_WRITES).map(|_| queue.lane_of("x".parse().unwrap()));
        assert!(lanes.into_iter().all(|lane| lane == WriteLane::All));
        assert_ne!(queue.lane_of("x".parse().unwrap()), WriteLane::All, "lanes part again");
    }

    #[test]
    fn a_panic_of_the_one_that_runs_a_group_keeps_nobody_waiting() {
        let queue = WriteQueue::default();
        let panics = || queue.run(write(Some("x")), |_| panic!("a mistake"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert!(caught.is_err());
        queue.run(write(Some("x")), |_| vec![Ok(())]).unwrap();
    }
}
