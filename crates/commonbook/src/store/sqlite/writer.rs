//! The one thread that writes: when it is the turn of this process, it runs all waiting jobs, each in its own
//! savepoint, syncs once, and only then answers them all (group commit).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::ffi::ErrorCode;

use super::chain::JournalHead;
use super::digest::DigestTriggers;
use super::engine::SqliteEngine;
use super::holder::busy_store;
use super::mark::MarkFile;
use super::{chain, turn};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::store::StoreWrite;
use crate::store::sql::Tx;

/// Writes that share one sync at most; more would only delay the first one.
const GROUP_WRITES_MAX: usize = 256;

/// The longest time that writes wait for those of other processes.
const TURN_WAIT: Duration = Duration::from_secs(limits::WRITE_WAIT_SECONDS);

struct WriteJob {
    write: StoreWrite,
    answer: SyncSender<Result<()>>,
}

/// The state of the writing thread.
struct WriterThread {
    connection: Connection,
    mark: Option<MarkFile>,
    path: PathBuf,
    /// How the connection commits now.
    sync: Cell<CommitSync>,
    digests: DigestTriggers,
}

/// When a commit reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitSync {
    /// Before it is answered.
    AtOnce,
    /// With the next commit that does so, or when the log is copied back. A loss of power before that takes
    /// back the whole commit, and nothing that came before it.
    Later,
}

impl CommitSync {
    /// What a group of writes needs.
    fn of(group: &[WriteJob]) -> Self {
        match group.iter().all(|job| job.write.is_derived) {
            true => Self::Later,
            false => Self::AtOnce,
        }
    }

    /// The engine's name of it.
    const fn level(self) -> &'static str {
        match self {
            Self::AtOnce => "full",
            Self::Later => "normal",
        }
    }
}

/// The handle to the writing thread; dropping it waits until every accepted job is written.
pub(super) struct StoreWriter {
    jobs: Option<Sender<WriteJob>>,
    thread: Option<JoinHandle<()>>,
    /// Jobs that are not answered yet.
    queued: AtomicUsize,
}

impl StoreWriter {
    /// Starts the thread with a connection to the store at this path.
    pub(super) fn start(connection: Connection, path: &Path) -> Result<Self> {
        let (jobs, waiting) = channel();
        let mark = MarkFile::open(path, &connection).inspect_err(
            |error| tracing::warn!(%error, "the mark beside the store cannot be written"),
        );
        let sync = Cell::new(CommitSync::AtOnce);
        let (mark, path, digests) = (mark.ok(), path.to_owned(), DigestTriggers::default());
        let thread = WriterThread { connection, mark, path, sync, digests };
        let thread = std::thread::Builder::new()
            .name("commonbook-writer".to_owned())
            .spawn(move || thread.drain(&waiting))
            .map_err(|error| writer_stopped().with_cause(error))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), queued: AtomicUsize::new(0) })
    }

    /// Runs a write; returns when it is on disk, or when none of it is.
    pub(super) fn run(&self, write: StoreWrite) -> Result<()> {
        let (answer, answered) = sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(writer_stopped)?;
        self.queued.fetch_add(1, Ordering::Relaxed);
        let sent = jobs.send(WriteJob { write, answer });
        let answer = sent
            .map_err(|_| writer_stopped())
            .and_then(|()| answered.recv().map_err(|_| writer_stopped()));
        self.queued.fetch_sub(1, Ordering::Relaxed);
        answer?
    }

    /// Number of jobs that are not answered yet.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writing thread panicked");
        }
    }
}

fn writer_stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the store has stopped writing")
        .hint("Nothing was written. Start the program again.")
}

impl WriterThread {
    fn drain(&self, waiting: &Receiver<WriteJob>) {
        while let Ok(first) = waiting.recv() {
            let turn = turn::take_within(&self.path, TURN_WAIT);
            let mut group = vec![first];
            group.extend(waiting.try_iter().take(GROUP_WRITES_MAX - 1));
            let Ok(_turn) = turn else {
                let refused = group.iter().map(|_| Err(busy_store(&self.path))).collect();
                send_answers(group, refused);
                continue;
            };
            match self.transact(&mut group) {
                Ok(answers) => send_answers(group, answers),
                // The engine dropped the whole transaction, perhaps because of one job: each job
                // gets its own transaction.
                Err(_) if group.len() > 1 => {
                    for mut job in group {
                        let result = self.transact(std::slice::from_mut(&mut job));
                        let alone = result.and_then(|answers| answers.into_iter().collect());
                        send_answers(vec![job], vec![alone]);
                    }
                }
                Err(error) => send_answers(group, vec![Err(error)]),
            }
        }
    }

    fn execute(&self, sql: &str) -> Result<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Runs all jobs in one transaction. An error means that nothing of any of them is stored.
    fn transact(&self, group: &mut [WriteJob]) -> Result<Vec<Result<()>>> {
        let sync = CommitSync::of(group);
        match self.transact_with(group, sync)? {
            Some(answers) => Ok(answers),
            None => self.transact_with(group, CommitSync::AtOnce)?.ok_or_else(writer_stopped),
        }
    }

    /// As [`Self::transact`], for a commit that reaches the disk at this time. Returns `None`, and has stored
    /// nothing, if events were appended that must not wait: readers may act on what they have read.
    fn transact_with(
        &self,
        group: &mut [WriteJob],
        sync: CommitSync,
    ) -> Result<Option<Vec<Result<()>>>> {
        let answers = self.commit(group, sync);
        if !matches!(answers, Ok(Some(_))) {
            self.digests.check_again();
        }
        answers
    }

    /// As [`Self::transact_with`]; a transaction that fails leaves the triggers of digests unknown.
    fn commit(&self, group: &mut [WriteJob], sync: CommitSync) -> Result<Option<Vec<Result<()>>>> {
        self.use_sync(sync)?;
        self.begin()?;
        let undo = |error: Error| {
            if !self.connection.is_autocommit()
                && let Err(again) = self.execute("ROLLBACK")
            {
                tracing::error!(error = %again, "a failed transaction could not be rolled back");
            }
            error
        };
        let mut answers = Vec::with_capacity(group.len());
        let mut heads = Vec::new();
        // A verb that runs alone and fails ends the whole transaction: it needs no savepoint.
        let alone = group.len() == 1;
        for job in group {
            if alone {
                heads.extend(self.run(job).map_err(undo)?);
                answers.push(Ok(()));
                continue;
            }
            self.execute("SAVEPOINT verb").map_err(undo)?;
            let result = self.run(job);
            if self.connection.is_autocommit() {
                // A full disk, for example, ends the transaction from inside.
                return Err(result.err().unwrap_or_else(writer_stopped));
            }
            if result.is_err() {
                self.execute("ROLLBACK TO verb").map_err(undo)?;
                self.digests.check_again();
            }
            self.execute("RELEASE verb").map_err(undo)?;
            answers.push(result.map(|sealed| heads.extend(sealed)));
        }
        if sync == CommitSync::Later && !heads.is_empty() {
            self.execute("ROLLBACK")?;
            return Ok(None);
        }
        self.execute("COMMIT").map_err(undo)?;
        self.raise(&heads);
        Ok(Some(answers))
    }

    /// Has the connection commit in this way.
    fn use_sync(&self, sync: CommitSync) -> Result<()> {
        if self.sync.replace(sync) != sync {
            self.connection.pragma_update(None, "synchronous", sync.level())?;
        }
        Ok(())
    }

    /// Begins to write. If the store is busy, the error names the process that holds it.
    fn begin(&self) -> Result<()> {
        let begun = self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]);
        match begun {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Err(busy_store(&self.path).with_cause(error))
            }
            begun => Ok(begun.map(drop)?),
        }
    }

    /// Runs one job, and seals the events that it appended.
    fn run(&self, job: &mut WriteJob) -> Result<Vec<(String, JournalHead)>> {
        let engine = SqliteEngine::writing(&self.connection, &self.digests);
        let mut tx = Tx::new(&engine);
        catch_unwind(AssertUnwindSafe(|| {
            (job.write.act)(&mut tx)?;
            chain::seal(&self.connection, tx.appended())
        }))
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a write panicked")))
    }

    /// Raises the mark after a commit. If that fails, the mark stays behind, which only costs a
    /// warning.
    fn raise(&self, heads: &[(String, JournalHead)]) {
        // The last event of a journal is its head.
        let last: BTreeMap<&str, JournalHead> =
            heads.iter().map(|(name, head)| (&**name, *head)).collect();
        let last: Vec<(String, JournalHead)> =
            last.into_iter().map(|(name, head)| (name.to_owned(), head)).collect();
        if let Some(mark) = self.mark.as_ref().filter(|_| !last.is_empty())
            && let Err(error) = mark.raise(&last)
        {
            tracing::warn!(%error, "the mark beside the store could not be raised");
        }
    }
}

fn send_answers(group: Vec<WriteJob>, answers: Vec<Result<()>>) {
    for (job, answer) in group.into_iter().zip(answers) {
        // The caller may have gone; the write counts nevertheless.
        let _gone = job.answer.send(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{connection, open};
    use super::*;
    use crate::store::Tx;

    fn tokens(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM token", [], |row| row.get(0)).unwrap()
    }

    /// A write of this many bytes.
    fn fills(bytes: usize) -> StoreWrite {
        let act = Box::new(move |tx: &mut Tx<'_>| {
            let secret_sha256 = "x".repeat(bytes);
            let token = crate::model::token::CreateToken {
                agent_name: "ann".to_owned(),
                ..crate::model::token::CreateToken::default()
            };
            let now = jiff::Timestamp::UNIX_EPOCH;
            let id = crate::base::id::TokenId::new(&crate::base::id::RandomIds::default(), now);
            let token = token.token(id, now)?;
            tx.put_token(&crate::model::token::TokenRecord { token, secret_sha256 })
        });
        StoreWrite { workspace: None, is_derived: false, act }
    }

    /// A job with this write, whose answer nobody waits for.
    fn job(
        is_derived: bool,
        act: impl FnMut(&mut Tx<'_>) -> Result<()> + Send + 'static,
    ) -> WriteJob {
        let (answer, _) = sync_channel(1);
        WriteJob { write: StoreWrite { workspace: None, is_derived, act: Box::new(act) }, answer }
    }

    #[test]
    fn only_what_can_be_derived_again_is_not_synced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        drop(open::open_prepared(&path).unwrap());
        let connection = connection::writing_connection(&path).unwrap();
        let mark = MarkFile::open(&path, &connection).unwrap();
        let sync = Cell::new(CommitSync::AtOnce);
        let (mark, digests) = (Some(mark), DigestTriggers::default());
        let thread = WriterThread { connection, mark, path, sync, digests };
        let level = |group: &mut [WriteJob]| {
            thread.transact(group).unwrap().into_iter().for_each(|answer| answer.unwrap());
            let level = thread
                .connection
                .pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0));
            level.unwrap()
        };
        let event = |tx: &mut Tx<'_>| {
            let workspace = "w".parse()?;
            let (kind, at) =
                (crate::model::event::EventKind::CaseOpened, jiff::Timestamp::UNIX_EPOCH);
            let actor = crate::model::agent::Agent::system();
            let sharing = crate::model::memory::Sharing::Shared;
            let event = crate::model::event::NewEvent::for_subject(
                kind,
                &workspace,
                "case_x".to_owned(),
                &actor,
                at,
                sharing,
            );
            tx.append_event(&event).map(drop)
        };
        let (full, normal) = (2, 1);
        let figures = || job(true, |_| Ok(()));
        assert_eq!(level(&mut [figures()]), normal);
        assert_eq!(level(&mut [figures(), job(false, |_| Ok(()))]), full, "a group has one sync");
        assert_eq!(level(&mut [figures(), figures()]), normal);
        // Readers may act on an event: it does not wait, and is there once.
        assert_eq!(level(&mut [job(true, event)]), full);
        let count = "SELECT count(*) FROM event";
        let events: i64 = thread.connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(events, 1);
        assert_eq!(level(&mut [figures()]), normal);
    }

    #[test]
    fn a_row_has_its_digest_after_a_write_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let reader = open::open_prepared(&path).unwrap();
        let writer =
            StoreWriter::start(connection::writing_connection(&path).unwrap(), &path).unwrap();
        // Alone it ends its transaction, and with it the triggers that it made.
        let mut first = fills(5);
        let refused = StoreWrite {
            act: Box::new(move |tx: &mut Tx<'_>| {
                (first.act)(tx)?;
                Err(Error::new(ErrorKind::Invalid, "no"))
            }),
            ..fills(1)
        };
        assert_eq!(writer.run(refused).unwrap_err().kind, ErrorKind::Invalid);
        writer.run(fills(10)).unwrap();
        assert_eq!(tokens(&reader), 1);
        assert_eq!(super::super::digest::check(&reader).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_row_has_its_digest_after_a_failed_write_of_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let reader = open::open_prepared(&path).unwrap();
        let connection = connection::writing_connection(&path).unwrap();
        let mark = MarkFile::open(&path, &connection).ok();
        let (sync, digests) = (Cell::new(CommitSync::AtOnce), DigestTriggers::default());
        let thread = WriterThread { connection, mark, path, sync, digests };
        let mut filled = fills(5);
        let fails = job(false, move |tx| {
            (filled.act)(tx)?;
            Err(Error::new(ErrorKind::Invalid, "no"))
        });
        let mut written = fills(10);
        let answers =
            thread.transact(&mut [fails, job(false, move |tx| (written.act)(tx))]).unwrap();
        assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true]);
        assert_eq!(tokens(&reader), 1);
        assert_eq!(super::super::digest::check(&reader).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_full_disk_says_so_and_reads_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let reader = open::open_prepared(&path).unwrap();
        let connection = connection::writing_connection(&path).unwrap();
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages + 2).unwrap();
        let writer = StoreWriter::start(connection, &path).unwrap();
        writer.run(fills(100)).unwrap();
        let error = writer.run(fills(1_000_000)).unwrap_err();
        assert_eq!((error.kind, &*error.message), (ErrorKind::Unavailable, "the disk is full"));
        assert!(error.hint.unwrap().contains("Make room"));
        assert_eq!(tokens(&reader), 1, "what was written is read");
        writer.run(fills(10)).unwrap();
        assert_eq!(tokens(&reader), 2, "what fits is written again");
    }
}
