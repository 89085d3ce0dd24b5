//! A connection of SQLite as the driver of statements, with the guard over what they read.
//!
//! In a debug build, and so in every test, the engine refuses a statement that reads a protected
//! table without access: its authorizer names the tables and columns that each statement reads. It refuses one
//! that writes rows of another table than its first words say, which would have no digest.

use std::cell::{Cell, RefCell};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSql as EngineParameter, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row, StatementStatus};

use super::digest::DigestTriggers;
use crate::base::error::Result;
use crate::model::event::JournalHistory;
use crate::store::EngineWork;
use crate::store::sql::PROTECTED_TABLES;
use crate::store::sql::driver::{
    ColumnValue, ParameterValue, Parameters, ReadAccess, RowColumns, SqlConnection, SqlRow,
    TableColumn, ValueKind, store_failed,
};

/// Columns of an event that the chain fills.
const SEAL_COLUMNS: [&str; 4] = ["hash", "subject_hash", "topics_hash", "topics_salt"];

thread_local! {
    /// The access by which this thread's statement reads protected tables.
    static ACCESS: Cell<ReadAccess> = const { Cell::new(ReadAccess::Open) };
    /// Which of [`PROTECTED_TABLES`] the present statement reads, and whether it reads the column of
    /// the permission condition.
    static READ: Cell<[(bool, bool); PROTECTED_TABLES.len()]> =
        const { Cell::new([(false, false); PROTECTED_TABLES.len()]) };
    /// The table whose rows the present statement may write; `None` where nobody has asked.
    static WRITTEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the access of this thread; dropping it restores the access of before.
pub(super) struct AccessGuard(ReadAccess);

impl AccessGuard {
    fn set(access: ReadAccess) -> Self {
        Self(ACCESS.replace(access))
    }
}

impl Drop for AccessGuard {
    fn drop(&mut self) {
        ACCESS.set(self.0);
    }
}

/// Names the table that statements of this thread may write, in a debug build, until it is dropped.
struct WrittenTable;

impl WrittenTable {
    fn set(table: Option<&str>) -> Self {
        if cfg!(debug_assertions) {
            WRITTEN.set(Some(table.unwrap_or_default().to_owned()));
        }
        Self
    }
}

impl Drop for WrittenTable {
    fn drop(&mut self) {
        WRITTEN.set(None);
    }
}

/// Makes the engine refuse every statement on this connection that reads a protected table without
/// access. Only in debug builds.
pub(super) fn guard_reads(connection: &mut Connection) -> Result<()> {
    if cfg!(debug_assertions) {
        connection.authorizer(Some(authorize))?;
    }
    Ok(())
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    if let AuthAction::Insert { table_name } | AuthAction::Update { table_name, .. } =
        context.action
        && context.accessor.is_none()
    {
        let is_named = |written: &Option<String>| {
            written.as_ref().is_none_or(|it| it == table_name || table_name.starts_with("sqlite_"))
        };
        return match WRITTEN.with_borrow(is_named) {
            true => Authorization::Allow,
            false => Authorization::Deny,
        };
    }
    let AuthAction::Read { table_name, column_name } = context.action else {
        return Authorization::Allow;
    };
    // The triggers that write digests read the row that a statement writes.
    let place = PROTECTED_TABLES.iter().position(|(table, _)| *table == table_name);
    let Some(place) = place.filter(|_| context.accessor.is_none()) else {
        return Authorization::Allow;
    };
    if ACCESS.get() == ReadAccess::Open {
        return Authorization::Deny;
    }
    let mut read = READ.get();
    read[place].0 = true;
    read[place].1 |= PROTECTED_TABLES[place].1 == Some(column_name);
    READ.set(read);
    Authorization::Allow
}

/// Lets this thread prepare and run statements on a connection that read protected tables in no
/// sight, until the guard is dropped. The reason says why no caller receives a row out of its
/// sight.
pub(super) fn unseen(_reason: &'static str) -> AccessGuard {
    AccessGuard::set(ReadAccess::Unseen)
}

/// A connection in a transaction that somebody else ends.
pub(super) struct SqliteEngine<'c> {
    connection: &'c Connection,
    /// Those of a connection that writes.
    triggers: Option<&'c DigestTriggers>,
    work: Cell<EngineWork>,
}

impl<'c> SqliteEngine<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, triggers: None, work: Cell::default() }
    }

    /// The engine of a transaction that writes: each row that it writes gets a digest.
    pub(super) fn writing(connection: &'c Connection, triggers: &'c DigestTriggers) -> Self {
        Self { triggers: Some(triggers), ..Self::new(connection) }
    }

    /// Prepares a statement with this access, and runs it.
    fn run<T>(
        &self,
        access: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
        act: impl FnOnce(&mut CachedStatement<'_>) -> Result<T>,
    ) -> Result<T> {
        let table = written_table(sql);
        if let (Some(triggers), Some(table)) = (self.triggers, table) {
            triggers.make(self.connection, table)?;
        }
        let _written = self.triggers.map(|_| WrittenTable::set(table));
        // The engine may prepare a statement again while it runs.
        let _access = AccessGuard::set(access);
        READ.set([(false, false); PROTECTED_TABLES.len()]);
        let mut statement = self.connection.prepare_cached(sql)?;
        if access == ReadAccess::Seen {
            for ((table, _), (read, conditioned)) in PROTECTED_TABLES.iter().zip(READ.get()) {
                debug_assert!(
                    !read || conditioned,
                    "this reads {table} in a sight, without the permission condition: {sql}"
                );
            }
        }
        bind(&mut statement, parameters)?;
        let result = act(&mut statement);
        self.count_work(&statement);
        result
    }

    /// Adds the cost of a statement to the cost of the transaction.
    fn count_work(&self, statement: &CachedStatement<'_>) {
        let of = |status| u64::from(statement.reset_status(status).unsigned_abs());
        let cost = EngineWork {
            steps: of(StatementStatus::VmStep),
            scanned_rows: of(StatementStatus::FullscanStep),
            sorts: of(StatementStatus::Sort),
        };
        self.work.set(self.work.get() + cost);
    }
}

/// The table that a statement inserts rows into, or whose rows it updates: its first words name it.
fn written_table(sql: &str) -> Option<&str> {
    let mut words = sql.split_ascii_whitespace();
    let name = match words.next()? {
        "INSERT" | "REPLACE" => words.find(|word| *word == "INTO").and(words.next())?,
        "UPDATE" => match words.next()? {
            "OR" => words.nth(1)?,
            name => name,
        },
        _ => return None,
    };
    name.split('(').next()
}

fn bind(statement: &mut CachedStatement<'_>, parameters: Parameters<'_, '_>) -> Result<()> {
    match parameters {
        Parameters::Positional(values) => {
            let expected = statement.parameter_count();
            if values.len() != expected {
                let given = values.len();
                return Err(rusqlite::Error::InvalidParameterCount(given, expected).into());
            }
            for (place, value) in values.iter().enumerate() {
                statement.raw_bind_parameter(place + 1, value)?;
            }
        }
        Parameters::Named(values) => {
            for (name, value) in values {
                if let Some(place) = statement.parameter_index(name)? {
                    statement.raw_bind_parameter(place, value)?;
                }
            }
        }
    }
    Ok(())
}

impl EngineParameter for ParameterValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null(_) => ValueRef::Null,
            Self::Boolean(flag) => ValueRef::Integer(flag.into()),
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl SqlConnection for SqliteEngine<'_> {
    fn execute(
        &self,
        access: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
    ) -> Result<usize> {
        self.run(access, sql, parameters, |statement| Ok(statement.raw_execute()?))
    }

    fn query(
        &self,
        access: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.run(access, sql, parameters, |statement| {
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !each(&SqlRow::new(row))? {
                    break;
                }
            }
            Ok(())
        })
    }

    fn key_columns(&self, table: &str) -> Result<Vec<String>> {
        let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
        let mut statement = self.connection.prepare_cached(sql)?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    fn columns(&self, table: &str) -> Result<Vec<TableColumn>> {
        let sql = "SELECT name, type FROM pragma_table_info(?1) WHERE name <> 'digest' \
             AND (?1 <> 'event' OR name NOT IN (SELECT value FROM json_each(?2)))";
        let mut statement = self.connection.prepare_cached(sql)?;
        let seals = serde_json::json!(SEAL_COLUMNS).to_string();
        let columns = statement.query_map([table, &seals], |row| {
            let kind = match row.get::<_, String>(1)?.as_str() {
                "TEXT" => ValueKind::Text,
                "REAL" => ValueKind::Real,
                "BLOB" => ValueKind::Blob,
                _ => ValueKind::Integer,
            };
            Ok(TableColumn { name: row.get(0)?, kind })
        })?;
        Ok(columns.collect::<rusqlite::Result<_>>()?)
    }

    /// A file has one history: it is closed before another one takes its place.
    fn history(&self) -> Result<JournalHistory> {
        Ok(JournalHistory::default())
    }

    fn work(&self) -> Option<EngineWork> {
        Some(self.work.get())
    }
}

impl RowColumns for Row<'_> {
    fn value(&self, index: usize) -> Result<ColumnValue<'_>> {
        Ok(match self.get_ref(index)? {
            ValueRef::Null => ColumnValue::Null,
            ValueRef::Integer(number) => ColumnValue::Integer(number),
            ValueRef::Real(number) => ColumnValue::Real(number),
            ValueRef::Text(text) => {
                ColumnValue::Text(std::str::from_utf8(text).map_err(store_failed)?)
            }
            ValueRef::Blob(bytes) => ColumnValue::Blob(bytes),
        })
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.as_ref().column_index(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
    use crate::model::access::Sight;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::workspace::Workspace;
    use crate::store::sql::{QUOTING_TABLES, Tx};

    #[test]
    fn the_first_words_of_a_statement_name_the_table_that_it_writes() {
        let table = [
            ("INSERT INTO memory (id) VALUES (?1)", Some("memory")),
            ("INSERT OR IGNORE INTO revision(workspace) SELECT 1", Some("revision")),
            ("UPDATE event SET topics = '[]'", Some("event")),
            ("UPDATE OR REPLACE agent SET name = 'x'", Some("agent")),
            ("DELETE FROM memory", None),
            ("SELECT 1", None),
        ];
        for (sql, expected) in table {
            assert_eq!(written_table(sql), expected, "{sql}");
        }
    }

    /// What the engine says of a statement on a connection whose reads are guarded.
    fn with_rows<T>(act: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = open::open_prepared(&folder.path().join("commonbook.db")).unwrap();
        guard_reads(&mut connection).unwrap();
        act(&Tx::new(&SqliteEngine::new(&connection)))
    }

    fn sight() -> Sight {
        Sight::of(&Caller::new(None, Workspace::fallback(), EntryPoint::Cli))
    }

    #[test]
    fn a_statement_that_reads_a_protected_table_without_access_is_refused() {
        for (table, _) in PROTECTED_TABLES {
            let sql = format!("SELECT workspace FROM {table} LIMIT 1");
            let read = |row: &SqlRow<'_>| row.get::<_, String>(0);
            assert!(with_rows(|tx| tx.query_all(&sql, (), read)).is_err(), "{table}");
            assert!(with_rows(|tx| tx.unseen("a test").all(&sql, (), read)).is_ok(), "{table}");
            let below = format!("SELECT name FROM workspace WHERE EXISTS ({sql})");
            assert!(with_rows(|tx| tx.query_all(&below, (), read)).is_err(), "{table}");
        }
        let open = |tx: &Tx<'_>| {
            tx.query_all("SELECT name FROM workspace", (), |row| row.get::<_, String>(0))
        };
        assert!(with_rows(open).is_ok());
    }

    #[test]
    fn a_statement_that_changes_a_protected_table_states_its_reason() {
        let sql = "DELETE FROM memory WHERE workspace = ?1";
        assert!(with_rows(|tx| tx.execute(sql, ["x"])).is_err());
    }

    #[test]
    #[should_panic(expected = "without the permission condition")]
    fn a_statement_in_a_sight_carries_the_permission_condition() {
        let sql = "SELECT m.id FROM memory m WHERE m.workspace = 'x'";
        let _ = with_rows(|tx| tx.seen(&sight())?.all(sql, &[], |row| row.get::<_, String>(0)));
    }

    #[test]
    fn a_condition_names_its_alias_and_binds_its_parameters() {
        let found = with_rows(|tx| {
            let rows = tx.seen(&sight())?;
            let (m, q) = (rows.of("m"), rows.of("q"));
            assert_eq!(m, "m.audience IN (SELECT value FROM json_each(:audiences))");
            let sql = format!(
                "SELECT m.id FROM memory m CROSS JOIN memory q ON q.id = m.id AND {q} WHERE {m} LIMIT :limit"
            );
            rows.all(&sql, &[(":limit", &1_i64), (":other", &2_i64)], |row| row.get::<_, String>(0))
        });
        assert_eq!(found.unwrap(), Vec::<String>::new());
    }

    /// Columns with ids, names of agents and clients, digests, times and words of a closed list: no
    /// statement stands in them.
    const NAME_COLUMNS: &str = "accepted_in act action actor agent agents_involved case_key chain \
        changed client client_session context derived device digest door entity entity_type failure \
        first follows from_agent handoff hash holder id imported item key kind lead mark memory memory_type name \
        newer nonce older opened_by operation origin owner parent project relation_type \
        request_sha256 revised_by role said said_by scopes second secret secret_sha256 session sha256 sharing source \
        status stopped subject subject_hash superseded_by target texts to_agent token told topics_hash \
        topics_salt trust url user_id webhook workspace";

    /// Columns that [`Commonbook::forget_memory`](crate::Commonbook::forget_memory) cleans as rows of a
    /// memory or as lines of the journal, and those of the certificates themselves.
    const OWN_COLUMNS: [&str; 18] = [
        "certificate.certificate",
        "event.details",
        "event.topics",
        "forgotten_memory.certificate",
        "memory.entities",
        "memory.metadata",
        "memory.path",
        "memory.redacted",
        "memory.retraction",
        "memory.review",
        "memory.summary",
        "memory.suspicions",
        "memory.text",
        "memory.title",
        "memory.topics",
        "mention.value",
        // The id of a memory.
        "session.summary",
        "tombstone.certificate",
    ];

    #[test]
    fn every_column_with_text_is_searched_for_what_was_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open::open_prepared(&folder.path().join("commonbook.db")).unwrap();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND upper(c.type) IN ('TEXT', 'BLOB', 'ANY') \
                   AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'refinery_%'";
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
        let is_searched = |table: &str, column: &str| {
            QUOTING_TABLES
                .iter()
                .any(|quoting| quoting.table == table && quoting.columns.contains(&column))
                || ["answer.answer", "standing_version.text", "revision.snapshot"]
                    .contains(&&*format!("{table}.{column}"))
        };
        let unknown: Vec<String> = columns
            .iter()
            .filter(|(table, column)| {
                !is_searched(table, column)
                    && !NAME_COLUMNS.split_whitespace().any(|name| name == column)
                    && !OWN_COLUMNS.contains(&&*format!("{table}.{column}"))
            })
            .map(|(table, column)| format!("{table}.{column}"))
            .collect();
        assert!(columns.len() > 200, "{} columns", columns.len());
        assert_eq!(unknown, Vec::<String>::new(), "may they hold what somebody said?");
    }
}
