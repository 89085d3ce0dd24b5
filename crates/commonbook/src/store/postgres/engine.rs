//! A connection to PostgreSQL as the driver of statements.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use postgres::error::{DbError, SqlState};
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql as EngineParameter, Type, to_sql_checked};
use postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::dialect::{ParameterName, Translation, translate};
use super::unusable_server;
use crate::base::error::{Error, ErrorKind, Result};
use crate::model::event::JournalHistory;
use crate::store::EngineWork;
use crate::store::sql::driver::{
    ColumnValue, ParameterValue, Parameters, ReadAccess, RowColumns, SqlConnection, SqlRow,
    TableColumn, ValueKind, store_failed,
};

/// Statements that a connection keeps prepared; then it begins anew.
const PREPARED_STATEMENTS_MAX: usize = 512;

/// Locks the journal of a workspace until the end of the transaction.
const LOCK_JOURNAL: &str = "SELECT 1 FROM workspace WHERE name = ?1 FOR UPDATE";

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionPurpose {
    /// A read of one snapshot.
    Read,
    /// A write beside others.
    WriteBesideOthers,
    /// A write that runs alone.
    WriteAlone,
    /// Keeping the turn of writes that run again.
    KeepTurn,
}

impl TransactionPurpose {
    const fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::WriteBesideOthers | Self::WriteAlone => "BEGIN ISOLATION LEVEL SERIALIZABLE",
            Self::KeepTurn => "BEGIN",
        }
    }

    /// Whether it shares the turn: a write beside others has, until its end, a share of the lock that
    /// [`TAKE_TURN`] takes alone. The number is Commonbook's own.
    const fn share_of_turn(self) -> &'static str {
        match self {
            Self::WriteBesideOthers => "pg_try_advisory_xact_lock_shared(2026112623)",
            Self::Read | Self::WriteAlone | Self::KeepTurn => "false",
        }
    }
}

/// Takes the turn of writes that run again, until the end of the transaction.
const TAKE_TURN: &str = "SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(2026112623)";

/// How each transaction works: joins in the order of the statements, as `CROSS JOIN` fixes it in
/// SQLite; no compilation of plans, which costs more than our statements; limits for locks, for a
/// statement, and for a process that stops in the middle. They are set with each beginning, in the
/// same round trip: a pooler may give another connection to the next transaction.
const SETTINGS: &str = "SET LOCAL client_min_messages = warning; \
    SET LOCAL join_collapse_limit = 1; SET LOCAL jit = off; SET LOCAL lock_timeout = '10s'; \
    SET LOCAL statement_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// Keeps migrations away until the end of the transaction. It comes before the transaction's snapshot,
/// so that the version that is read after it holds for all of it.
const KEEP_VERSION: &str = "LOCK TABLE schema_version IN ACCESS SHARE MODE";

/// Collations that lower-case all of Unicode, the best first: that of ICU, those of PostgreSQL 18 and
/// 17, and that of the system's library.
const LOWER_COLLATIONS: [&str; 4] = ["und-x-icu", "pg_unicode_fast", "pg_c_utf8", "C.utf8"];

/// A connection with its prepared statements.
pub(super) struct PostgresSession {
    client: Client,
    /// Whether a pooler may give the next transaction another connection: then no statement is
    /// prepared for longer than its run.
    is_pooled: bool,
    prepared: HashMap<String, PreparedStatement>,
    in_transaction: bool,
    shares_turn: bool,
    /// The version of the tables, which holds for the transaction.
    schema_version: i64,
    /// The collation that lower-cases text.
    lower: String,
    /// The history of the server that the connection leads to, if it always leads to the same.
    history: Option<JournalHistory>,
    /// Whether the server has warned of something since the transaction began to end.
    is_warned: Arc<AtomicBool>,
}

struct PreparedStatement {
    statement: Statement,
    parameters: Vec<ParameterName>,
    kinds: Vec<ValueKind>,
}

impl PostgresSession {
    /// Prepares a new connection for the statements of the store; `is_warned` tells of its warnings.
    pub(super) fn start(
        mut client: Client,
        is_pooled: bool,
        is_warned: Arc<AtomicBool>,
    ) -> Result<Self> {
        let sql = "SELECT collname::text FROM pg_collation WHERE collname = ANY ($1::text[]) \
             AND collencoding IN (-1, 6) ORDER BY array_position($1::text[], collname::text) LIMIT 1";
        let names: &(dyn EngineParameter + Sync) = &LOWER_COLLATIONS.as_slice();
        let found = client.query_typed_opt(sql, &[(names, Type::TEXT_ARRAY)])?;
        let found = found.ok_or_else(|| {
            unusable_server("PostgreSQL has no collation that lower-cases all letters")
        })?;
        let lower = found.try_get(0)?;
        let history = match is_pooled {
            true => None,
            false => Some(match read_history(&mut client) {
                Ok(history) => history,
                // A server that only speaks like PostgreSQL may have no write-ahead log to ask for.
                Err(error) if error.code().is_some() => {
                    tracing::debug!(%error, "the server does not name its timeline");
                    JournalHistory::default()
                }
                Err(error) => return Err(error.into()),
            }),
        };
        Ok(Self {
            client,
            is_pooled,
            prepared: HashMap::new(),
            in_transaction: false,
            shares_turn: false,
            schema_version: 0,
            lower,
            history,
            is_warned,
        })
    }

    /// The history of the server, if the connection always leads to the same.
    pub(super) fn fixed_history(&self) -> Option<&JournalHistory> {
        self.history.as_ref()
    }

    /// The history of the server.
    fn history(&mut self) -> Result<JournalHistory> {
        match &self.history {
            Some(history) => Ok(history.clone()),
            None => Ok(read_history(&mut self.client)?),
        }
    }

    /// The connection, for what is no statement of the store.
    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Whether another transaction may begin on it.
    pub(super) fn is_usable(&self) -> bool {
        !self.in_transaction && !self.client.is_closed()
    }

    /// Begins a transaction.
    pub(super) fn begin(&mut self, purpose: TransactionPurpose) -> Result<(), postgres::Error> {
        self.in_transaction = true;
        let (begin, share_of_turn) = (purpose.begin(), purpose.share_of_turn());
        let answers = self.client.simple_query(&format!(
            "{begin}; {SETTINGS}; {KEEP_VERSION}; \
             SELECT {share_of_turn}, (SELECT max(version) FROM schema_version)"
        ))?;
        let row = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        self.shares_turn = row.is_some_and(|row| row.get(0) == Some("t"));
        let version = row.and_then(|row| row.get(1)?.parse().ok());
        self.schema_version = version.unwrap_or_default();
        Ok(())
    }

    /// The version of the tables, for as long as the transaction lasts.
    pub(super) fn schema_version(&self) -> i64 {
        self.schema_version
    }

    /// Ends the transaction by `COMMIT` or `ROLLBACK`.
    pub(super) fn end(&mut self, end: &str) -> Result<(), postgres::Error> {
        self.is_warned.store(false, Ordering::Relaxed);
        self.client.batch_execute(end)?;
        self.in_transaction = false;
        Ok(())
    }

    /// Whether the server warned while the last transaction ended: a commit that did not wait for its
    /// standby to the end is one with a warning (PostgreSQL, `SyncRepWaitForLSN`).
    pub(super) fn ended_with_warning(&self) -> bool {
        self.is_warned.load(Ordering::Relaxed)
    }

    /// Whether the transaction, a [`TransactionPurpose::WriteBesideOthers`], shares the turn: no write has it
    /// alone or waits for it.
    pub(super) fn shares_turn(&self) -> bool {
        self.shares_turn
    }

    /// Waits for the turn, and has it until the end of the transaction.
    pub(super) fn take_turn(&mut self) -> Result<()> {
        Ok(self.client.batch_execute(TAKE_TURN)?)
    }

    /// Runs a statement that changes rows; returns their number.
    fn execute(&mut self, sql: &str, given: Parameters<'_, '_>) -> Result<u64, StatementError> {
        if self.is_pooled {
            let (text, values) = self.translate(sql, given)?;
            let typed: Vec<_> = values.iter().map(BoundValue::typed).collect();
            return Ok(self.client.execute_typed(&text, &typed)?);
        }
        let (statement, values) = self.prepare(sql, given)?;
        let values: Vec<_> = values.iter().map(BoundValue::untyped).collect();
        Ok(self.client.execute(&statement, &values)?)
    }

    /// Runs a statement, and returns its rows.
    fn query(&mut self, sql: &str, given: Parameters<'_, '_>) -> Result<Vec<Row>, StatementError> {
        if self.is_pooled {
            let (text, values) = self.translate(sql, given)?;
            let typed: Vec<_> = values.iter().map(BoundValue::typed).collect();
            return Ok(self.client.query_typed(&text, &typed)?);
        }
        let (statement, values) = self.prepare(sql, given)?;
        let values: Vec<_> = values.iter().map(BoundValue::untyped).collect();
        Ok(self.client.query(&statement, &values)?)
    }

    /// A statement in the server's words, with the values to bind.
    fn translate<'v>(
        &self,
        sql: &str,
        given: Parameters<'_, 'v>,
    ) -> Result<(String, Vec<BoundValue<'v>>), StatementError> {
        let Translation { sql: text, parameters: names } = translate(sql, &self.lower)?;
        Ok((text, bind(&names, given)?))
    }

    /// Prepares a statement once for each text and the kinds of its parameters; returns it with the
    /// values to bind.
    fn prepare<'v>(
        &mut self,
        sql: &str,
        parameters: Parameters<'_, 'v>,
    ) -> Result<(Statement, Vec<BoundValue<'v>>), StatementError> {
        if let Some(known) = self.prepared.get(sql) {
            let values = bind(&known.parameters, parameters)?;
            if values.iter().map(BoundValue::kind).eq(known.kinds.iter().copied()) {
                return Ok((known.statement.clone(), values));
            }
        }
        let Translation { sql: text, parameters: names } = translate(sql, &self.lower)?;
        let values = bind(&names, parameters)?;
        let kinds: Vec<ValueKind> = values.iter().map(BoundValue::kind).collect();
        let types: Vec<Type> = kinds.iter().copied().map(type_of).collect();
        let statement = self.client.prepare_typed(&text, &types)?;
        if self.prepared.len() >= PREPARED_STATEMENTS_MAX {
            self.prepared.clear();
        }
        let known = PreparedStatement { statement: statement.clone(), parameters: names, kinds };
        self.prepared.insert(sql.to_owned(), known);
        Ok((statement, values))
    }
}

/// The timeline of the server: a promotion from standby and a restore to an earlier time begin a new one
/// (PostgreSQL, "Timelines"; the first eight digits of the names of its log's files).
fn read_history(client: &mut Client) -> Result<JournalHistory, postgres::Error> {
    let sql = "SELECT CASE WHEN pg_is_in_recovery() THEN '' \
               ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";
    Ok(JournalHistory::named(client.query_typed_one(sql, &[])?.try_get::<_, String>(0)?))
}

/// The values of a statement's parameters, in the order of their numbers. A name that was not given
/// is NULL, as in SQLite.
fn bind<'v>(
    names: &[ParameterName],
    parameters: Parameters<'_, 'v>,
) -> Result<Vec<BoundValue<'v>>> {
    let value = |name: &ParameterName| match (name, parameters) {
        (ParameterName::Position(place), Parameters::Positional(values)) => {
            values.get(*place).copied().ok_or_else(|| store_failed(MissingParameter(*place + 1)))
        }
        (ParameterName::Name(name), Parameters::Named(values)) => {
            let found = values.iter().find(|(given, _)| given == name);
            Ok(found.map_or(ParameterValue::Null(ValueKind::Text), |(_, value)| *value))
        }
        (ParameterName::Position(place), Parameters::Named(_)) => {
            Err(store_failed(MissingParameter(*place + 1)))
        }
        (ParameterName::Name(_), Parameters::Positional(_)) => {
            Err(store_failed(MissingParameter(0)))
        }
    };
    names.iter().map(|name| value(name).map(BoundValue)).collect()
}

/// A statement has a parameter without a value.
#[derive(Debug, thiserror::Error)]
#[error("parameter {0} of a statement has no value")]
struct MissingParameter(usize);

/// A value on its way to the server.
#[derive(Debug)]
struct BoundValue<'v>(ParameterValue<'v>);

impl BoundValue<'_> {
    fn untyped(&self) -> &(dyn EngineParameter + Sync) {
        self
    }

    fn typed(&self) -> (&(dyn EngineParameter + Sync), Type) {
        (self, type_of(self.kind()))
    }

    fn kind(&self) -> ValueKind {
        match self.0 {
            ParameterValue::Null(kind) => kind,
            ParameterValue::Boolean(_) => ValueKind::Boolean,
            ParameterValue::Integer(_) => ValueKind::Integer,
            ParameterValue::Real(_) => ValueKind::Real,
            ParameterValue::Text(_) => ValueKind::Text,
            ParameterValue::Blob(_) => ValueKind::Blob,
        }
    }
}

/// The type that the server uses for a parameter of this kind.
fn type_of(kind: ValueKind) -> Type {
    match kind {
        ValueKind::Boolean => Type::BOOL,
        ValueKind::Integer => Type::INT8,
        ValueKind::Real => Type::FLOAT8,
        ValueKind::Text => Type::TEXT,
        ValueKind::Blob => Type::BYTEA,
    }
}

impl EngineParameter for BoundValue<'_> {
    fn to_sql(
        &self,
        engine_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self.0 {
            ParameterValue::Null(_) => Ok(IsNull::Yes),
            ParameterValue::Boolean(flag) => flag.to_sql(engine_type, out),
            ParameterValue::Integer(number) => number.to_sql(engine_type, out),
            ParameterValue::Real(number) => number.to_sql(engine_type, out),
            ParameterValue::Text(text) => text.to_sql(engine_type, out),
            ParameterValue::Blob(bytes) => bytes.to_sql(engine_type, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A transaction on a connection that somebody else ends.
pub(super) struct PostgresEngine<'c> {
    session: RefCell<&'c mut PostgresSession>,
    /// Why the whole transaction has to run again.
    conflict: Cell<Option<WriteConflict>>,
    /// Whether the write that runs has changed anything.
    has_written: Cell<bool>,
    /// The workspace whose journal was locked last.
    locked_journal: RefCell<Option<String>>,
}

/// Why a transaction cannot be committed, and may succeed if it runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteConflict {
    /// Another transaction changed what this one read or wrote.
    Order,
    /// A row with the same key was there already, perhaps since a moment ago.
    Key,
    /// The connection was lost before the commit.
    Connection,
}

impl WriteConflict {
    /// The conflict that an error of the server stands for.
    pub(super) fn of(error: &postgres::Error) -> Option<Self> {
        let Some(code) = error.code() else {
            return is_lost(error).then_some(Self::Connection);
        };
        match code {
            code if *code == SqlState::T_R_SERIALIZATION_FAILURE => Some(Self::Order),
            code if *code == SqlState::T_R_DEADLOCK_DETECTED => Some(Self::Order),
            code if *code == SqlState::UNIQUE_VIOLATION => Some(Self::Key),
            code if *code == SqlState::ADMIN_SHUTDOWN => Some(Self::Connection),
            _ => None,
        }
    }
}

/// Why a statement failed: before it reached the server, or there.
enum StatementError {
    Unsent(Error),
    Server(postgres::Error),
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        Self::Unsent(error)
    }
}

impl From<postgres::Error> for StatementError {
    fn from(error: postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl<'c> PostgresEngine<'c> {
    pub(super) fn new(session: &'c mut PostgresSession) -> Self {
        Self {
            session: RefCell::new(session),
            conflict: Cell::new(None),
            has_written: Cell::new(false),
            locked_journal: RefCell::default(),
        }
    }

    /// Why the transaction has to run again, whatever its closure returned.
    pub(super) fn conflict(&self) -> Option<WriteConflict> {
        self.conflict.get()
    }

    /// Begins the part of the transaction that one write of a group has; `last_succeeded` says how the
    /// write before it ended, if there was one.
    pub(super) fn begin_part(&self, last_succeeded: Option<bool>) -> Result<()> {
        match last_succeeded {
            None => self.control("SAVEPOINT part"),
            // Parts inside of parts would cost the server more with each.
            Some(true) => {
                self.has_written.set(false);
                self.control("RELEASE part; SAVEPOINT part")
            }
            Some(false) => self.undo_part(),
        }
    }

    /// Undoes what was written since the part began.
    pub(super) fn undo_part(&self) -> Result<()> {
        // The lock of the journal may have gone with it.
        self.has_written.set(false);
        self.locked_journal.take();
        self.control("ROLLBACK TO part")
    }

    fn control(&self, sql: &str) -> Result<()> {
        let done = self.session.borrow_mut().client.batch_execute(sql);
        self.settle(done.map_err(StatementError::Server))
    }

    /// Before the first change of a write, locks the journal of the workspace, which is the first parameter
    /// of nearly every change: two writes of one workspace would otherwise lock their rows in two orders,
    /// and wait a second for the server to notice.
    fn lock_journal(&self, sql: &str, parameters: Parameters<'_, '_>) -> Result<()> {
        let changes = ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb));
        if !changes || self.has_written.replace(true) {
            return Ok(());
        }
        let first = match parameters {
            Parameters::Positional(values) => values.first().copied(),
            Parameters::Named(values) => {
                values.iter().find(|(name, _)| *name == ":workspace").map(|(_, value)| *value)
            }
        };
        if let Some(workspace @ ParameterValue::Text(name)) = first {
            let last = self.locked_journal.replace(Some(name.to_owned()));
            if last.as_deref() == Some(name) {
                return Ok(());
            }
            let locked = self
                .session
                .borrow_mut()
                .execute(LOCK_JOURNAL, Parameters::Positional(&[workspace]));
            self.settle(locked)?;
        }
        Ok(())
    }

    /// The result of a statement; notes a conflict, after which the transaction has to run again.
    fn settle<T>(&self, result: Result<T, StatementError>) -> Result<T> {
        result.map_err(|error| match error {
            StatementError::Unsent(error) => error,
            StatementError::Server(error) => {
                if let Some(conflict) = WriteConflict::of(&error) {
                    self.conflict.set(Some(conflict));
                }
                server_error(error)
            }
        })
    }
}

impl SqlConnection for PostgresEngine<'_> {
    fn execute(&self, _: ReadAccess, sql: &str, parameters: Parameters<'_, '_>) -> Result<usize> {
        self.lock_journal(sql, parameters)?;
        let changed = self.session.borrow_mut().execute(sql, parameters);
        Ok(usize::try_from(self.settle(changed)?).unwrap_or(usize::MAX))
    }

    fn query(
        &self,
        _: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.lock_journal(sql, parameters)?;
        let rows = self.session.borrow_mut().query(sql, parameters);
        for row in &self.settle(rows)? {
            if !each(&SqlRow::new(row))? {
                break;
            }
        }
        Ok(())
    }

    fn key_columns(&self, table: &str) -> Result<Vec<String>> {
        let sql = "SELECT a.attname::text FROM pg_index i \
             JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place) ON TRUE \
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number \
             WHERE i.indrelid = to_regclass(?1) AND i.indisprimary ORDER BY k.place";
        let (mut names, table) = (Vec::new(), [ParameterValue::Text(table)]);
        self.query(ReadAccess::Open, sql, Parameters::Positional(&table), &mut |row| {
            names.push(row.get(0)?);
            Ok(true)
        })?;
        Ok(names)
    }

    fn columns(&self, table: &str) -> Result<Vec<TableColumn>> {
        let sql = "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute \
             WHERE attrelid = to_regclass(?1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let (mut columns, table) = (Vec::new(), [ParameterValue::Text(table)]);
        self.query(ReadAccess::Open, sql, Parameters::Positional(&table), &mut |row| {
            let kind = match row.get_ref(1)?.as_str()? {
                "boolean" => ValueKind::Boolean,
                "double precision" => ValueKind::Real,
                "text" => ValueKind::Text,
                "bytea" => ValueKind::Blob,
                _ => ValueKind::Integer,
            };
            columns.push(TableColumn { name: row.get(0)?, kind });
            Ok(true)
        })?;
        Ok(columns)
    }

    fn history(&self) -> Result<JournalHistory> {
        self.session.borrow_mut().history()
    }

    fn work(&self) -> Option<EngineWork> {
        None
    }
}

impl RowColumns for Row {
    fn value(&self, index: usize) -> Result<ColumnValue<'_>> {
        let Some(column) = self.columns().get(index) else {
            return Err(store_failed(UnknownColumn(format!("{index}"))));
        };
        let value = match *column.type_() {
            Type::INT8 => self.try_get::<_, Option<i64>>(index)?.map(ColumnValue::Integer),
            Type::INT4 => self
                .try_get::<_, Option<i32>>(index)?
                .map(|number| ColumnValue::Integer(number.into())),
            Type::BOOL => self.try_get::<_, Option<bool>>(index)?.map(ColumnValue::Boolean),
            Type::FLOAT8 => self.try_get::<_, Option<f64>>(index)?.map(ColumnValue::Real),
            Type::TEXT | Type::VARCHAR | Type::NAME => {
                self.try_get::<_, Option<&str>>(index)?.map(ColumnValue::Text)
            }
            Type::BYTEA => self.try_get::<_, Option<&[u8]>>(index)?.map(ColumnValue::Blob),
            _ => {
                let (name, its_type) = (column.name(), column.type_());
                return Err(store_failed(UnknownColumn(format!("{name} of type {its_type}"))));
            }
        };
        Ok(value.unwrap_or(ColumnValue::Null))
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name() == name)
    }
}

/// A statement returned a column that no noun is read from.
#[derive(Debug, thiserror::Error)]
#[error("a row has no readable column {0}")]
struct UnknownColumn(String);

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        server_error(error)
    }
}

/// The server's error in terms of the domain. Nothing was written when it occurs before a commit.
pub(super) fn server_error(error: postgres::Error) -> Error {
    let unavailable = |message: &str| Error::new(ErrorKind::Unavailable, message);
    let Some(code) = error.code().cloned() else {
        return match is_lost(&error) {
            true => unusable_server("the connection to PostgreSQL is lost").with_cause(error),
            false => store_failed(error),
        };
    };
    match code {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE => {
            unavailable("other writes keep the same rows of PostgreSQL busy")
                .hint("Nothing was written. Try again in a moment.")
        }
        SqlState::DISK_FULL => unavailable("the disk of PostgreSQL is full")
            .hint("Nothing was written. Make room on the server."),
        SqlState::INSUFFICIENT_PRIVILEGE => {
            unusable_server("PostgreSQL refuses what the role of Commonbook needs")
        }
        SqlState::TOO_MANY_CONNECTIONS
        | SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW => unusable_server("PostgreSQL accepts no connection now"),
        SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INVALID_CATALOG_NAME => {
            let reason = error.as_db_error().map(DbError::message).unwrap_or_default();
            unusable_server(format!("PostgreSQL refuses the connection: {reason}"))
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            unusable_server("this PostgreSQL server is read-only, as a standby is")
        }
        _ => return store_failed(error),
    }
    .with_cause(error)
}

/// Whether an error comes from the connection itself.
fn is_lost(error: &postgres::Error) -> bool {
    error.is_closed() || error.source().is_some_and(<dyn StdError>::is::<std::io::Error>)
}
