//! The contract of a store for copying whole tables, whatever their rows mean.

use crate::base::error::Result;
use crate::store::sql::driver::SqlValue;

/// The rows of every table, as they are stored. Nothing of them is shown to a caller.
pub trait CopyRows {
    /// The columns of a table: those of its key first, in their order, and then the others by name.
    fn table_columns(&self, table: &str) -> Result<TableColumns>;

    /// The next `limit` rows of a table in the order of its key, after this row.
    fn stored_rows(
        &self,
        table: &str,
        columns: &TableColumns,
        after: Option<&StoredRow>,
        limit: u32,
    ) -> Result<Vec<StoredRow>>;

    /// The last row of a table in the order of its key.
    fn last_stored_row(&self, table: &str, columns: &TableColumns) -> Result<Option<StoredRow>>;

    /// Stores rows as they are; one whose key is taken stays unchanged.
    fn put_stored_rows(
        &mut self,
        table: &str,
        columns: &TableColumns,
        rows: &[StoredRow],
    ) -> Result<()>;

    /// Removes all rows of a table.
    fn clear_table(&mut self, table: &str) -> Result<()>;
}

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
