//! The one thread that writes: it runs what waits, each verb in its own savepoint, syncs once, and
//! only then answers them all (group commit).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::SqliteTransaction;
use crate::error::{Error, ErrorKind, Result};
use crate::store::Write;

/// Writes that share one sync at the most; more would only make the first one wait.
const GROUP: usize = 256;

struct Job {
    write: Write,
    answer: SyncSender<Result<()>>,
}

/// The handle to the writing thread; dropping it waits until everything accepted is written.
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (jobs, waiting) = channel();
        let thread = std::thread::Builder::new()
            .name("commonbook-writer".to_owned())
            .spawn(move || drain(&connection, &waiting))
            .map_err(|error| stopped().because(error))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs a write; returns when it is on disk, or when nothing of it is.
    pub(super) fn run(&self, write: Write) -> Result<()> {
        let (answer, answered) = sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Job { write, answer }).map_err(|_| stopped())?;
        answered.recv().map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writing thread panicked");
        }
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the store has stopped writing")
        .hint("Nothing was written. Start the program again.")
}

fn drain(connection: &Connection, waiting: &Receiver<Job>) {
    while let Ok(first) = waiting.recv() {
        let mut group = vec![first];
        group.extend(waiting.try_iter().take(GROUP - 1));
        match transact(connection, &mut group) {
            Ok(answers) => answer(group, answers),
            // The engine dropped the whole transaction, because of one of them it may be: each
            // gets one of its own.
            Err(_) if group.len() > 1 => {
                for mut job in group {
                    let result = transact(connection, std::slice::from_mut(&mut job));
                    let alone = result.and_then(|answers| answers.into_iter().collect());
                    answer(vec![job], vec![alone]);
                }
            }
            Err(error) => answer(group, vec![Err(error)]),
        }
    }
}

fn answer(group: Vec<Job>, answers: Vec<Result<()>>) {
    for (job, answer) in group.into_iter().zip(answers) {
        // Who asked may have gone; the write stands all the same.
        let _gone = job.answer.send(answer);
    }
}

/// Runs all of them in one transaction. An error means that nothing of any is kept.
fn transact(connection: &Connection, group: &mut [Job]) -> Result<Vec<Result<()>>> {
    let execute = |sql: &str| -> Result<()> {
        connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    };
    execute("BEGIN IMMEDIATE")?;
    let undo = |error: Error| {
        if !connection.is_autocommit()
            && let Err(again) = execute("ROLLBACK")
        {
            tracing::error!(error = %again, "a failed transaction could not be rolled back");
        }
        error
    };
    let mut answers = Vec::with_capacity(group.len());
    for job in group {
        execute("SAVEPOINT verb").map_err(undo)?;
        let mut tx = SqliteTransaction::on(connection);
        let result = catch_unwind(AssertUnwindSafe(|| (job.write)(&mut tx)))
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a write panicked")));
        if connection.is_autocommit() {
            // A full disk, say, ends the transaction from inside.
            return Err(result.err().unwrap_or_else(stopped));
        }
        if result.is_err() {
            execute("ROLLBACK TO verb").map_err(undo)?;
        }
        execute("RELEASE verb").map_err(undo)?;
        answers.push(result);
    }
    execute("COMMIT").map_err(undo)?;
    Ok(answers)
}
