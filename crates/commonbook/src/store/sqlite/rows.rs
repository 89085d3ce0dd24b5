//! Statements, and the access by which each reads the rows of memories.
//!
//! Tables that hold or describe what an agent wrote are protected: [`PROTECTED_TABLES`]. A
//! statement that reads one goes through [`SqliteTransaction::seen`], whose [`VisibleRows`] yields
//! the permission condition for each alias and binds its parameters, or through
//! [`SqliteTransaction::unseen`] or [`unseen`], which state why no condition is needed. In a debug
//! build, and so in every test, the engine itself refuses any other statement: its authorizer names
//! the tables and columns that each statement reads.

use std::cell::Cell;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSql, Value};
use rusqlite::{Connection, OptionalExtension, Params, Row, Statement};

use super::SqliteTransaction;
use super::access::VisibleAudience;
use crate::base::error::Result;
use crate::model::access::Sight;

/// The tables whose rows are read in a sight or for a stated reason, each with the column of the
/// permission condition, if it has one: a statement in a sight that reads the table must read it.
const PROTECTED_TABLES: &[(&str, Option<&str>)] = &[
    ("memory", Some("audience")),
    ("mention", Some("audience")),
    ("event", Some("sharing")),
    ("revision", None),
    ("usage", Some("audience")),
    ("case_proposal", None),
];

/// The access by which this thread's statement reads protected tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadAccess {
    /// None: it reads no protected table.
    Open,
    /// A sight: the statement carries the permission condition.
    Seen,
    /// A stated reason.
    Unseen,
}

thread_local! {
    static ACCESS: Cell<ReadAccess> = const { Cell::new(ReadAccess::Open) };
    /// Which of [`PROTECTED_TABLES`] the present statement reads, and whether it reads the column of
    /// the permission condition.
    static READ: Cell<[(bool, bool); PROTECTED_TABLES.len()]> =
        const { Cell::new([(false, false); PROTECTED_TABLES.len()]) };
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

/// Makes the engine refuse every statement on this connection that reads a protected table without
/// access. Only in debug builds.
pub(super) fn guard_reads(connection: &mut Connection) -> Result<()> {
    if cfg!(debug_assertions) {
        connection.authorizer(Some(authorize))?;
    }
    Ok(())
}

fn authorize(context: AuthContext<'_>) -> Authorization {
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

/// Prepares a statement with this access, and runs it.
fn run<T>(
    tx: &SqliteTransaction<'_>,
    access: ReadAccess,
    sql: &str,
    act: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
) -> Result<T> {
    // The engine may prepare a statement again while it runs.
    let _access = AccessGuard::set(access);
    READ.set([(false, false); PROTECTED_TABLES.len()]);
    let mut statement = tx.connection.prepare_cached(sql)?;
    if access == ReadAccess::Seen {
        for ((table, _), (read, conditioned)) in PROTECTED_TABLES.iter().zip(READ.get()) {
            debug_assert!(
                !read || conditioned,
                "this reads {table} in a sight, without the permission condition: {sql}"
            );
        }
    }
    let result = act(&mut statement);
    tx.count_work(&statement);
    Ok(result?)
}

/// Lets this thread prepare and run statements on a connection that read protected tables in no
/// sight, until the guard is dropped. The reason says why no caller receives a row out of its
/// sight.
pub(super) fn unseen(_reason: &'static str) -> AccessGuard {
    AccessGuard::set(ReadAccess::Unseen)
}

/// Rows of protected tables outside any sight, for a stated reason.
pub(super) struct UnseenRows<'t>(&'t SqliteTransaction<'t>);

impl UnseenRows<'_> {
    /// Runs a statement that changes rows; returns their number.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        run(self.0, ReadAccess::Unseen, sql, |statement| statement.execute(params))
    }

    /// Returns all rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        run(self.0, ReadAccess::Unseen, sql, |statement| {
            statement.query_map(params, map)?.collect()
        })
    }

    /// Returns the first row.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        run(self.0, ReadAccess::Unseen, sql, |statement| {
            statement.query_row(params, map).optional()
        })
    }
}

/// The rows that a sight sees: yields the permission condition for each alias of a statement, and
/// binds its parameters.
pub(super) struct VisibleRows<'t> {
    tx: &'t SqliteTransaction<'t>,
    /// The part after the audience column.
    condition: &'static str,
    parameters: Vec<(&'static str, Value)>,
    access: ReadAccess,
}

impl VisibleRows<'_> {
    /// The condition that the row of this alias is in sight, the rule of [`Sight::sees_node`]. The
    /// conformance suite proves the two equal.
    pub(super) fn of(&self, alias: &str) -> String {
        self.among(&format!("{alias}.audience"))
    }

    /// The condition that this column names an audience in sight.
    pub(super) fn among(&self, column: &str) -> String {
        format!("{column} {}", self.condition)
    }

    /// The same rows; the reason says why the statement also reads others and shows them to no
    /// caller.
    pub(super) fn and_unseen(self, _reason: &'static str) -> Self {
        Self { access: ReadAccess::Unseen, ..self }
    }

    /// Returns all rows. Only the parameters that the statement names are bound.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        more: &[(&str, &dyn ToSql)],
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        run(self.tx, self.access, sql, |statement| {
            let params = self.named_by(statement, more)?;
            statement.query_map(&*params, map)?.collect()
        })
    }

    /// Returns the first row. Only the parameters that the statement names are bound.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        more: &[(&str, &dyn ToSql)],
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        run(self.tx, self.access, sql, |statement| {
            let params = self.named_by(statement, more)?;
            statement.query_row(&*params, map).optional()
        })
    }

    /// The parameters of the sight, and these, that the statement names.
    fn named_by<'p>(
        &'p self,
        statement: &Statement<'_>,
        more: &[(&'p str, &'p dyn ToSql)],
    ) -> rusqlite::Result<Vec<(&'p str, &'p dyn ToSql)>> {
        let own = self.parameters.iter().map(|(name, value)| (*name, value as &dyn ToSql));
        let mut params = Vec::with_capacity(self.parameters.len() + more.len());
        for (name, value) in own.chain(more.iter().copied()) {
            if statement.parameter_index(name)?.is_some() {
                params.push((name, value));
            }
        }
        Ok(params)
    }
}

impl SqliteTransaction<'_> {
    /// The rows that this sight sees.
    pub(super) fn seen(&self, sight: &Sight) -> Result<VisibleRows<'_>> {
        self.seen_among(sight, |_| true)
    }

    /// The rows that this sight sees in these audiences.
    pub(super) fn seen_among(
        &self,
        sight: &Sight,
        wanted: impl Fn(&VisibleAudience) -> bool,
    ) -> Result<VisibleRows<'_>> {
        let audiences = self.visible_audiences(sight)?;
        let wanted = audiences.iter().filter(|audience| wanted(audience));
        let numbers: Vec<i64> = wanted.map(|audience| audience.number).collect();
        let audiences = serde_json::json!(numbers).to_string();
        let mut rows = self.seen_without_audiences(sight);
        rows.parameters.push((":audiences", audiences.into()));
        Ok(rows)
    }

    /// The rows that this sight sees of tables without audiences, such as sessions and handoffs.
    pub(super) fn seen_without_audiences(&self, sight: &Sight) -> VisibleRows<'_> {
        VisibleRows {
            tx: self,
            condition: "IN (SELECT value FROM json_each(:audiences))",
            parameters: vec![
                (":agent", sight.agent.as_str().to_owned().into()),
                (":user", sight.user.clone().into()),
                (":person", sight.is_person.into()),
                (":workspaces", serde_json::json!(sight.workspaces).to_string().into()),
            ],
            access: ReadAccess::Seen,
        }
    }

    /// The rows of one audience that a sight belongs to.
    pub(super) fn seen_in(&self, audience: &VisibleAudience) -> VisibleRows<'_> {
        VisibleRows {
            tx: self,
            condition: "= :audience",
            parameters: vec![(":audience", audience.number.into())],
            access: ReadAccess::Seen,
        }
    }

    /// Rows of protected tables without a sight. The reason says why no caller receives a row out
    /// of its sight.
    pub(super) const fn unseen(&self, _reason: &'static str) -> UnseenRows<'_> {
        UnseenRows(self)
    }

    /// Runs a statement that changes rows of unprotected tables; returns their number.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        run(self, ReadAccess::Open, sql, |statement| statement.execute(params))
    }

    /// Returns all rows of a statement that reads no protected table.
    pub(super) fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        run(self, ReadAccess::Open, sql, |statement| statement.query_map(params, map)?.collect())
    }

    /// Returns the first row of a statement that reads no protected table.
    pub(super) fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        run(self, ReadAccess::Open, sql, |statement| statement.query_row(params, map).optional())
    }
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::workspace::Workspace;

    /// What the engine says of a statement on a connection whose reads are guarded.
    fn with_rows<T>(act: impl FnOnce(&SqliteTransaction<'_>) -> Result<T>) -> Result<T> {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = open::open_prepared(&folder.path().join("commonbook.db")).unwrap();
        guard_reads(&mut connection).unwrap();
        act(&SqliteTransaction::new(&connection))
    }

    fn sight() -> Sight {
        Sight::of(&Caller::new(None, Workspace::fallback(), EntryPoint::Cli))
    }

    #[test]
    fn a_statement_that_reads_a_protected_table_without_access_is_refused() {
        for (table, _) in PROTECTED_TABLES {
            let sql = format!("SELECT workspace FROM {table} LIMIT 1");
            let read = |row: &Row<'_>| row.get::<_, String>(0);
            assert!(with_rows(|tx| tx.query_all(&sql, [], read)).is_err(), "{table}");
            assert!(with_rows(|tx| tx.unseen("a test").all(&sql, [], read)).is_ok(), "{table}");
            let below = format!("SELECT name FROM workspace WHERE EXISTS ({sql})");
            assert!(with_rows(|tx| tx.query_all(&below, [], read)).is_err(), "{table}");
        }
        let open = |tx: &SqliteTransaction<'_>| {
            tx.query_all("SELECT name FROM workspace", [], |row| row.get::<_, String>(0))
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
            rows.all(&sql, &[(":limit", &1), (":other", &2)], |row| row.get::<_, String>(0))
        });
        assert_eq!(found.unwrap(), Vec::<String>::new());
    }
}
