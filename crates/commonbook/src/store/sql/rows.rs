//! Statements, and the access by which each reads the rows of memories.
//!
//! Tables that hold or describe what an agent wrote are protected: [`PROTECTED_TABLES`]. A
//! statement that reads one goes through [`Tx::seen`], whose [`VisibleRows`] yields the
//! permission condition for each alias and binds its parameters, or through
//! [`Tx::unseen`], which states why no condition is needed. Where an engine tells the
//! tables and columns that a statement reads, it refuses any other one in a debug build, and so in
//! every test.

use super::Tx;
use super::access::VisibleAudience;
use super::driver::{
    ParameterSource, ParameterValue, Parameters, ReadAccess, SqlRow, SqlValue, ToSql,
};
use crate::base::error::Result;
use crate::model::access::Sight;

/// The tables whose rows are read in a sight or for a stated reason, each with the column of the
/// permission condition, if it has one: a statement in a sight that reads the table must read it.
pub(crate) const PROTECTED_TABLES: &[(&str, Option<&str>)] = &[
    ("memory", Some("audience")),
    ("mention", Some("audience")),
    ("event", Some("sharing")),
    ("revision", None),
    ("usage", Some("audience")),
    ("case_proposal", None),
];

/// Runs a statement and returns all its rows.
fn all<T>(
    tx: &Tx<'_>,
    access: ReadAccess,
    sql: &str,
    parameters: Parameters<'_, '_>,
    mut map: impl FnMut(&SqlRow<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    tx.connection.query(access, sql, parameters, &mut |row| {
        found.push(map(row)?);
        Ok(true)
    })?;
    Ok(found)
}

/// Runs a statement and returns its first row.
fn first<T>(
    tx: &Tx<'_>,
    access: ReadAccess,
    sql: &str,
    parameters: Parameters<'_, '_>,
    map: impl FnOnce(&SqlRow<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let (mut found, mut map) = (None, Some(map));
    tx.connection.query(access, sql, parameters, &mut |row| {
        found = map.take().map(|map| map(row)).transpose()?;
        Ok(false)
    })?;
    Ok(found)
}

/// Rows of protected tables outside any sight, for a stated reason.
pub(crate) struct UnseenRows<'t>(&'t Tx<'t>);

impl UnseenRows<'_> {
    /// Runs a statement that changes rows; returns their number.
    pub(crate) fn execute(&self, sql: &str, params: impl ParameterSource) -> Result<usize> {
        params.bind(|bound| self.0.connection.execute(ReadAccess::Unseen, sql, bound))
    }

    /// Returns all rows.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl ParameterSource,
        map: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        params.bind(|bound| all(self.0, ReadAccess::Unseen, sql, bound, map))
    }

    /// Returns the first row.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl ParameterSource,
        map: impl FnOnce(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        params.bind(|bound| first(self.0, ReadAccess::Unseen, sql, bound, map))
    }
}

/// The rows that a sight sees: yields the permission condition for each alias of a statement, and
/// binds its parameters.
pub(crate) struct VisibleRows<'t> {
    tx: &'t Tx<'t>,
    /// The part after the audience column.
    condition: &'static str,
    parameters: Vec<(&'static str, SqlValue)>,
    access: ReadAccess,
}

impl VisibleRows<'_> {
    /// The condition that the row of this alias is in sight, the rule of [`Sight::can_see`]. The
    /// conformance suite proves the two equal.
    pub(crate) fn of(&self, alias: &str) -> String {
        self.among(&format!("{alias}.audience"))
    }

    /// The condition that this column names an audience in sight.
    pub(crate) fn among(&self, column: &str) -> String {
        format!("{column} {}", self.condition)
    }

    /// The same rows; the reason says why the statement also reads others and shows them to no
    /// caller.
    pub(crate) fn and_unseen(self, _reason: &'static str) -> Self {
        Self { access: ReadAccess::Unseen, ..self }
    }

    /// Returns all rows. Only the parameters that the statement names are bound.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        more: &[(&str, &dyn ToSql)],
        map: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        all(self.tx, self.access, sql, Parameters::Named(&self.parameters(more)?), map)
    }

    /// Returns the first row. Only the parameters that the statement names are bound.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        more: &[(&str, &dyn ToSql)],
        map: impl FnOnce(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        first(self.tx, self.access, sql, Parameters::Named(&self.parameters(more)?), map)
    }

    /// The parameters of the sight, and these.
    fn parameters<'p>(
        &'p self,
        more: &'p [(&'p str, &'p dyn ToSql)],
    ) -> Result<Vec<(&'p str, ParameterValue<'p>)>> {
        let mut parameters = Vec::with_capacity(self.parameters.len() + more.len());
        for (name, value) in &self.parameters {
            parameters.push((*name, value.parameter()?));
        }
        for (name, value) in more {
            parameters.push((*name, value.parameter()?));
        }
        Ok(parameters)
    }
}

impl Tx<'_> {
    /// The rows that this sight sees.
    pub(crate) fn seen(&self, sight: &Sight) -> Result<VisibleRows<'_>> {
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
    pub(crate) fn seen_without_audiences(&self, sight: &Sight) -> VisibleRows<'_> {
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
    pub(crate) const fn unseen(&self, _reason: &'static str) -> UnseenRows<'_> {
        UnseenRows(self)
    }

    /// Runs a statement that changes rows of unprotected tables; returns their number.
    pub(crate) fn execute(&self, sql: &str, params: impl ParameterSource) -> Result<usize> {
        params.bind(|bound| self.connection.execute(ReadAccess::Open, sql, bound))
    }

    /// Returns all rows of a statement that reads no protected table.
    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: impl ParameterSource,
        map: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        params.bind(|bound| all(self, ReadAccess::Open, sql, bound, map))
    }

    /// Returns the first row of a statement that reads no protected table.
    pub(crate) fn query_one<T>(
        &self,
        sql: &str,
        params: impl ParameterSource,
        map: impl FnOnce(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        params.bind(|bound| first(self, ReadAccess::Open, sql, bound, map))
    }
}
