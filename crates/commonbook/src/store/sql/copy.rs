//! The SQL that copies whole tables: statements made of the names of their columns.

use super::Tx;
use super::driver::{SqlRow, SqlValue, ValueKind, store_failed};
use crate::base::error::Result;

/// The columns of a table that both stores have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumns {
    /// The names, those of the key first.
    pub(crate) names: Vec<String>,
    /// The number of those that make the key.
    pub(crate) key_count: usize,
}

impl TableColumns {
    /// Those of these columns that the other table has too.
    #[must_use]
    pub fn shared_with(&self, other: &Self) -> Self {
        let names = self.names.iter().filter(|name| other.names.contains(name)).cloned();
        Self { names: names.collect(), key_count: self.key_count }
    }
}

/// A row as it is stored: the values of [`TableColumns`], in their order. A truth value is 0 or 1.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRow(pub(crate) Vec<SqlValue>);

impl StoredRow {
    /// The key in words, for a message.
    #[must_use]
    pub fn key_text(&self, columns: &TableColumns) -> String {
        let word = |value: &SqlValue| match value {
            SqlValue::Text(text) => text.clone(),
            SqlValue::Integer(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        self.0.iter().take(columns.key_count).map(word).collect::<Vec<_>>().join(" ")
    }
}

/// Why these statements need no sight.
const REASON: &str = "a copy shows rows to nobody";

/// The rows of every table, as they are stored. Nothing of them is shown to a caller.
impl Tx<'_> {
    /// The columns of a table: those of its key first, in their order, and then the others by name.
    pub fn table_columns(&self, table: &str) -> Result<TableColumns> {
        let mut names = self.connection.key_columns(table)?;
        let key_count = names.len();
        let columns = self.connection.columns(table)?;
        let mut others: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        others.retain(|name| !names.contains(name));
        others.sort_unstable();
        names.append(&mut others);
        Ok(TableColumns { names, key_count })
    }

    /// The next `limit` rows of a table in the order of its key, after this row.
    pub fn stored_rows(
        &self,
        table: &str,
        columns: &TableColumns,
        after: Option<&StoredRow>,
        limit: u32,
    ) -> Result<Vec<StoredRow>> {
        let key = columns.names[..columns.key_count].join(", ");
        let beyond = match after {
            Some(_) => format!("WHERE ({key}) > ({})", places(columns.key_count)),
            None => String::new(),
        };
        let sql = format!(
            "SELECT {} FROM {table} {beyond} ORDER BY {key} LIMIT {limit}",
            columns.names.join(", ")
        );
        let key_values = after.map_or(&[][..], |row| &row.0[..columns.key_count]);
        self.unseen(REASON).all(&sql, key_values, |row| stored_row(row, columns))
    }

    /// The last row of a table in the order of its key.
    pub fn last_stored_row(
        &self,
        table: &str,
        columns: &TableColumns,
    ) -> Result<Option<StoredRow>> {
        let key = columns.names[..columns.key_count].iter().map(|name| format!("{name} DESC"));
        let sql = format!(
            "SELECT {} FROM {table} ORDER BY {} LIMIT 1",
            columns.names.join(", "),
            key.collect::<Vec<_>>().join(", ")
        );
        let found = self.unseen(REASON).all(&sql, (), |row| stored_row(row, columns))?;
        Ok(found.into_iter().next())
    }

    /// Stores rows as they are; one whose key is taken stays unchanged.
    pub fn put_stored_rows(
        &mut self,
        table: &str,
        columns: &TableColumns,
        rows: &[StoredRow],
    ) -> Result<()> {
        let known = self.connection.columns(table)?;
        let kind_of = |name: &String| {
            let column = known.iter().find(|column| column.name == *name);
            column.map_or(ValueKind::Text, |column| column.kind)
        };
        let kinds: Vec<ValueKind> = columns.names.iter().map(kind_of).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
            columns.names.join(", "),
            places(columns.names.len())
        );
        for row in rows {
            let values: Vec<SqlValue> =
                row.0.iter().zip(&kinds).map(|(value, kind)| as_kind(value, *kind)).collect();
            let count = self.unseen(REASON).execute(&sql, values.as_slice())?;
            // An engine that seals events learns of those that are new.
            if table == "event"
                && count > 0
                && let [SqlValue::Text(workspace), SqlValue::Integer(sequence), ..] = &row.0[..]
            {
                let sequence = u64::try_from(*sequence).map_err(store_failed)?;
                self.appended.push((workspace.parse()?, sequence));
            }
        }
        Ok(())
    }

    /// Removes all rows of a table.
    pub fn clear_table(&mut self, table: &str) -> Result<()> {
        self.unseen(REASON).execute(&format!("DELETE FROM {table}"), ())?;
        Ok(())
    }
}

/// The places of parameters, `?1, ?2, …`.
fn places(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|number| format!("?{number}")).collect();
    places.join(", ")
}

fn stored_row(row: &SqlRow<'_>, columns: &TableColumns) -> Result<StoredRow> {
    let value = |place| {
        let value = row.get_ref(place)?.to_value(ValueKind::Text);
        Ok(match value {
            SqlValue::Boolean(flag) => SqlValue::Integer(flag.into()),
            SqlValue::Null(_) => SqlValue::Null(ValueKind::Text),
            value => value,
        })
    };
    (0..columns.names.len()).map(value).collect::<Result<_>>().map(StoredRow)
}

/// A value as one of this kind, for an engine that distinguishes truth values from numbers.
fn as_kind(value: &SqlValue, kind: ValueKind) -> SqlValue {
    match (value, kind) {
        (SqlValue::Null(_), kind) => SqlValue::Null(kind),
        (SqlValue::Integer(number), ValueKind::Boolean) => SqlValue::Boolean(*number != 0),
        (value, _) => value.clone(),
    }
}
