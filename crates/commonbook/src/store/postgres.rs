//! The store in a PostgreSQL server: one memory for the processes of many machines.
//!
//! Writes run in serializable transactions; if another one changed what a write read, the whole
//! closure runs again. Writes that wait for each other share a transaction: those of one workspace, and
//! after a conflict for a while those of all. Reads run on snapshots. The statements are those of every
//! store; the dialect turns their text into PostgreSQL's. Rows have no digests here: a server that others
//! can write to has roles for that.

mod address;
mod dialect;
mod engine;
mod group;
mod pool;
mod schema;
mod wake;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use postgres::error::SqlState;

use crate::base::error::{Error, ErrorKind, Result};
use crate::store::sql::Tx;
use crate::store::{Store, StoreRead, StoreServer, StoreWrite, WriteCallback};
use address::DatabaseAddress;
use engine::{PostgresEngine, PostgresSession, TransactionPurpose, WriteConflict};
use group::WriteQueue;
use pool::ConnectionPool;
use wake::NodeWaker;

/// Runs of a write that others changed the rows of before it gives up. In its turn nobody does, unless
/// the connection that holds the turn is lost.
const WRITE_RUNS_MAX: usize = 256;

/// Runs of a write that finds a row with its key, or loses its connection, before that is an error:
/// another write may have made the row a moment ago, and the next run sees it.
const OTHER_RUNS_MAX: usize = 3;

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    pool: ConnectionPool,
    /// The first run of a write goes beside others; one that has to run again goes alone, in this
    /// process by this lock and on all nodes by one in the server. Otherwise a write that reads for
    /// some time would never end beside short ones: its snapshot is older than each of them.
    turns: RwLock<()>,
    /// Writes that wait for others of their workspace.
    waiting: WriteQueue,
    /// Writes that are not answered yet.
    queued: AtomicUsize,
    waker: NodeWaker,
}

/// Where a run of a write stands among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WritePlace {
    /// Beside the first runs of others.
    BesideOthers,
    /// Alone, in the turn of this process.
    InTurn,
}

/// How a run of a group of writes ended.
enum GroupRun {
    /// With a result for each.
    Ended(Vec<Result<()>>),
    /// They have to run again; the error counts if they may not.
    Conflicted(WriteConflict, Error),
}

impl PostgresStore {
    /// Connects to a database, creates the tables if they are missing, and migrates them if they are of an
    /// older version: each step when no transaction runs. A server on another
    /// machine is reached with TLS unless the connection string says `sslmode=disable`; its
    /// certificate is verified with the authorities of a file of PEM certificates, or with the
    /// public ones.
    ///
    /// # Errors
    /// `invalid` if the text is no connection string or the file holds no certificate; `unavailable`
    /// if the server cannot be reached, is older than version 14, runs without `fsync`, or holds tables
    /// of a version after the next one.
    pub fn open(connection: &str, authorities: Option<&Path>) -> Result<Arc<Self>> {
        Self::of(connection, authorities, schema::prepare)
    }

    /// As [`Self::open`], for a process that may end at any time, such as a hook: it upgrades nothing.
    ///
    /// # Errors
    /// As [`Self::open`]; `unavailable` too if the tables are of an older version.
    pub fn open_without_upgrade(connection: &str, authorities: Option<&Path>) -> Result<Arc<Self>> {
        Self::of(connection, authorities, schema::prepare_without_upgrade)
    }

    fn of(
        connection: &str,
        authorities: Option<&Path>,
        prepare: fn(&mut PostgresSession) -> Result<()>,
    ) -> Result<Arc<Self>> {
        let address = DatabaseAddress::parse(connection, authorities)?;
        let waker = NodeWaker::new(address.clone());
        let pool = ConnectionPool::new(address);
        pool.with(prepare)?;
        let (turns, waiting, queued) = Default::default();
        Ok(Arc::new(Self { pool, turns, waiting, queued, waker }))
    }

    /// Runs a group of writes; returns a result for each.
    fn run_group(&self, group: &mut [&mut StoreWrite]) -> Vec<Result<()>> {
        match self.run_until_settled(group) {
            Ok(GroupRun::Ended(results)) => results,
            // Perhaps because of one of them: each gets a transaction of its own.
            Ok(GroupRun::Conflicted(..)) if group.len() > 1 => {
                group.iter_mut().flat_map(|write| self.run_group(&mut [write])).collect()
            }
            Ok(GroupRun::Conflicted(_, error)) | Err(error) => vec![Err(error); group.len()],
        }
    }

    /// Runs a group of writes until it has ended or run too often.
    fn run_until_settled(&self, group: &mut [&mut StoreWrite]) -> Result<GroupRun> {
        let run = {
            let _beside_others = self.turns.read().unwrap_or_else(PoisonError::into_inner);
            self.run_once(group, WritePlace::BesideOthers)?
        };
        let GroupRun::Conflicted(conflict, error) = run else { return Ok(run) };
        self.waiting.join_lanes();
        let _alone = self.turns.write().unwrap_or_else(PoisonError::into_inner);
        // Another node may have the turn: the queue for it is in the server, and its lock ends
        // with this transaction, whatever becomes of this process.
        self.pool.with_begun(TransactionPurpose::KeepTurn, |turn| {
            turn.take_turn()?;
            let result = self.run_in_turn(group, conflict, error);
            // The writes have ended, whatever becomes of the turn.
            if let Err(error) = turn.end("ROLLBACK") {
                tracing::debug!(%error, "the connection with the turn was lost");
            }
            result
        })
    }

    /// Runs writes again until they end. The turn was given when the first runs of all others had
    /// ended, and none begins meanwhile.
    fn run_in_turn(
        &self,
        group: &mut [&mut StoreWrite],
        conflict: WriteConflict,
        error: Error,
    ) -> Result<GroupRun> {
        let (mut run, mut runs, mut other_runs) = (GroupRun::Conflicted(conflict, error), 1, 0);
        loop {
            let GroupRun::Conflicted(conflict, _) = &run else { return Ok(run) };
            other_runs += usize::from(*conflict != WriteConflict::Order);
            if runs >= WRITE_RUNS_MAX || other_runs >= OTHER_RUNS_MAX {
                return Ok(run);
            }
            runs += 1;
            run = self.run_once(group, WritePlace::InTurn)?;
        }
    }

    /// Runs a group of writes once, beside others or in a turn that this process has.
    fn run_once(&self, group: &mut [&mut StoreWrite], place: WritePlace) -> Result<GroupRun> {
        let purpose = match place {
            WritePlace::BesideOthers => TransactionPurpose::WriteBesideOthers,
            WritePlace::InTurn => TransactionPurpose::WriteAlone,
        };
        self.pool.with_begun(purpose, |session| {
            if place == WritePlace::BesideOthers && !session.shares_turn() {
                session.end("ROLLBACK")?;
                return Ok(GroupRun::Conflicted(WriteConflict::Order, busy_rows()));
            }
            let (ran, conflict) = {
                let engine = PostgresEngine::new(session);
                (run_all(group, &engine), engine.conflict())
            };
            // After a conflict the server refuses all else, whatever the closures made of it.
            if let Some(conflict) = conflict {
                if conflict != WriteConflict::Connection {
                    session.end("ROLLBACK")?;
                }
                let all: Result<()> = ran.and_then(|results| results.into_iter().collect());
                return Ok(GroupRun::Conflicted(conflict, all.err().unwrap_or_else(busy_rows)));
            }
            let results = match ran {
                Ok(results) if results.iter().any(Result::is_ok) => results,
                Ok(results) => {
                    session.end("ROLLBACK")?;
                    return Ok(GroupRun::Ended(results));
                }
                Err(error) => return session.end("ROLLBACK").map_err(Error::from).and(Err(error)),
            };
            // What one of them refused may rest on what another one wrote.
            let unknown = |error: Error| Ok(GroupRun::Ended(vec![Err(error); results.len()]));
            let Err(error) = session.end("COMMIT") else {
                if session.ended_with_warning() {
                    return unknown(unknown_commit("PostgreSQL did not wait for its standby"));
                }
                return Ok(GroupRun::Ended(results));
            };
            match WriteConflict::of(&error) {
                Some(WriteConflict::Connection) => {
                    let what = "the connection to PostgreSQL was lost during a commit";
                    unknown(unknown_commit(what).with_cause(error))
                }
                Some(conflict) => Ok(GroupRun::Conflicted(conflict, error.into())),
                None => Err(error.into()),
            }
        })
    }

    /// Runs one statement without parameters, and reads the first column of its first row.
    fn number(&self, sql: &str) -> Result<i64> {
        self.pool.with(|session| Ok(session.client().query_typed_one(sql, &[])?.try_get(0)?))
    }
}

impl Store for PostgresStore {
    fn place(&self) -> String {
        format!("PostgreSQL, {}", self.pool.address().summary())
    }

    fn server(&self) -> Result<Option<StoreServer>> {
        let sql = "SELECT split_part(current_setting('server_version'), ' ', 1), \
             current_setting('synchronous_commit'), current_setting('synchronous_standby_names')";
        let row = self.pool.with(|session| Ok(session.client().query_typed_one(sql, &[])?))?;
        Ok(Some(StoreServer {
            version: row.try_get(0)?,
            commit: row.try_get(1)?,
            standbys: row.try_get(2)?,
        }))
    }

    fn watch_others(&self, notify: Arc<WriteCallback>) -> Result<bool> {
        self.waker.listen(notify)?;
        Ok(true)
    }

    fn run_write(&self, write: StoreWrite) -> Result<()> {
        self.queued.fetch_add(1, Ordering::Relaxed);
        let result = self.waiting.run(write, |group| self.run_group(group));
        self.queued.fetch_sub(1, Ordering::Relaxed);
        if result.is_ok() {
            self.waker.wake_others();
        }
        result
    }

    fn run_read(&self, mut read: StoreRead<'_>) -> Result<()> {
        self.pool.with_begun(TransactionPurpose::Read, |session| {
            let result = read(&Tx::new(&PostgresEngine::new(session)));
            session.end("ROLLBACK")?;
            result
        })
    }

    /// Reads every row, so that the server compares the checksums of its pages if it has any.
    fn check(&self) -> Result<Vec<String>> {
        let tables = "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r' \
             AND c.relnamespace = (SELECT relnamespace FROM pg_class \
                 WHERE oid = to_regclass('schema_version')) ORDER BY 1";
        self.pool.with(|session| {
            let mut findings = Vec::new();
            for row in session.client().query_typed(tables, &[])? {
                let table: String = row.try_get(0)?;
                // An index alone would answer without a look at the pages of the table.
                let read = session.client().batch_execute(&format!(
                    "BEGIN READ ONLY; SET LOCAL enable_indexonlyscan = off; \
                     SELECT count(*) FROM {table}; COMMIT"
                ));
                if read.is_err() {
                    session.client().batch_execute("ROLLBACK")?;
                }
                match read {
                    Err(error) if error.code() == Some(&SqlState::DATA_CORRUPTED) => {
                        findings.push(format!("table {table}: {error}"));
                    }
                    read => read?,
                }
            }
            Ok(findings)
        })
    }

    /// Compares each journal with the number of its events: rows have no digests here.
    fn check_rows(&self) -> Result<Vec<String>> {
        let sql = "SELECT w.name, w.sequence, count(e.sequence) FROM workspace w \
             LEFT JOIN event e ON e.workspace = w.name GROUP BY w.name, w.sequence \
             HAVING count(e.sequence) <> w.sequence OR coalesce(max(e.sequence), 0) <> w.sequence \
             ORDER BY w.name";
        self.pool.with(|session| {
            let mut findings = Vec::new();
            for row in session.client().query_typed(sql, &[])? {
                let (name, end, count): (String, i64, i64) =
                    (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                findings.push(format!(
                    "workspace '{name}': its journal ends at event {end}, and {count} events exist"
                ));
            }
            Ok(findings)
        })
    }

    fn disk_bytes(&self) -> Result<u64> {
        let bytes = self.number("SELECT pg_database_size(current_database())")?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    fn schema_version(&self) -> Result<u32> {
        let version = self.number("SELECT max(version) FROM schema_version")?;
        Ok(u32::try_from(version).unwrap_or_default())
    }

    fn queued_writes(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    fn refresh_statistics(&self) -> Result<()> {
        self.pool.with(|session| Ok(session.client().batch_execute("ANALYZE")?))
    }

    /// Removes dead rows from the tables. The write-ahead log and its archive, standbys and backups
    /// keep what they have until they are rotated.
    fn scrub(&self) -> Result<()> {
        self.pool.with(|session| Ok(session.client().batch_execute("VACUUM")?))
    }

    fn shrink_log(&self) -> Result<()> {
        Ok(())
    }
}

/// Runs the writes of a group in one transaction, each so that its error undoes it alone. An error means
/// that nothing of any of them may stay; so does a conflict, which the engine notes.
fn run_all(group: &mut [&mut StoreWrite], engine: &PostgresEngine<'_>) -> Result<Vec<Result<()>>> {
    let is_shared = group.len() > 1;
    let mut results: Vec<Result<()>> = Vec::with_capacity(group.len());
    for write in group {
        if is_shared {
            engine.begin_part(results.last().map(Result::is_ok))?;
        }
        let mut tx = Tx::new(engine);
        let result = catch_unwind(AssertUnwindSafe(|| (write.act)(&mut tx)))
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a write panicked")));
        results.push(result);
        if engine.conflict().is_some() {
            return Ok(results);
        }
    }
    if is_shared && results.last().is_some_and(Result::is_err) {
        engine.undo_part()?;
    }
    Ok(results)
}

/// The error of a server that cannot be used.
fn unusable_server(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, message)
        .hint("Nothing was written. Check the PostgreSQL server and the connection string.")
}

/// The error of a write that others keep from its rows.
fn busy_rows() -> Error {
    Error::new(ErrorKind::Unavailable, "other writes keep the same rows of PostgreSQL busy")
        .hint("Nothing was written. Try again in a moment.")
}

/// The error of a commit that may be lost, because its answer was, or its standby may not have it.
fn unknown_commit(what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, what)
        .hint("Whether it was written is unknown. Repeat it with the same idempotency key.")
}
