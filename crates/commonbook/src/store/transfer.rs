//! Moving everything from one store to another: each row of each table, and a comparison of both.

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::store::{Store, StoredRow, TableColumns, Tx};

/// The tables of a store, in the order in which they are copied. Events come after what they are about,
/// and the workspaces last: a store without them is empty, or a copy that did not end.
pub const TRANSFER_TABLES: [&str; 50] = [
    "tombstone_key",
    "act",
    "act_memory",
    "agent",
    "answer",
    "audience",
    "basis",
    "briefed_item",
    "briefing",
    "case_activity",
    "case_log",
    "case_proposal",
    "certificate",
    "checkpoint",
    "claim",
    "consolidation",
    "context",
    "contradiction",
    "cursor",
    "dead_letter",
    "entity",
    "entity_key",
    "entity_merge",
    "entity_name",
    "entity_review",
    "entity_same",
    "entity_statement",
    "follower",
    "forgotten_memory",
    "handoff",
    "handoff_memory",
    "judged_pair",
    "knowledge",
    "memory",
    "mention",
    "outdated",
    "relation",
    "retraction_notice",
    "revision",
    "session",
    "standing_version",
    "steady",
    "token",
    "told_memory",
    "tombstone",
    "usage",
    "webhook",
    "webhook_progress",
    "event",
    "workspace",
];

/// The table whose key a new store makes for itself, and which the copy replaces.
const KEY_TABLE: &str = "tombstone_key";

/// Rows that are copied in one transaction, and compared at once.
const PAGE_ROWS: u32 = 500;

/// A step of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferStep {
    /// The table.
    pub table: &'static str,
    /// Whether its rows are compared, after all were copied.
    pub is_comparison: bool,
    /// The rows of this step.
    pub rows: u64,
}

/// What a transfer did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransferSummary {
    /// Rows that were copied now; an earlier run that was cut may have copied others.
    pub copied: u64,
    /// Rows that are equal in both stores.
    pub compared: u64,
}

/// Copies every row of `from` into `to`, which must be empty, and compares both. A run that was cut is
/// continued by the next one; a run after a complete one only compares. Nothing may write to either
/// store meanwhile.
///
/// # Errors
/// `conflict` if `to` has other data, or if the stores differ at the end; `unavailable` if a store
/// cannot be read or written.
pub fn transfer(
    from: &dyn Store,
    to: &dyn Store,
    advance: &mut dyn FnMut(TransferStep),
) -> Result<TransferSummary> {
    let is_empty = to.read(|tx| tx.workspaces())?.is_empty();
    let mut summary = TransferSummary::default();
    from.run_read(Box::new(|tx| {
        summary = TransferSummary::default();
        if is_empty {
            to.write(|tx| tx.clear_table(KEY_TABLE))?;
            for table in TRANSFER_TABLES {
                let columns = shared_columns(tx, to, table)?;
                summary.copied += copy_table(tx, to, table, &columns, advance)?;
            }
        }
        for table in TRANSFER_TABLES {
            let columns = shared_columns(tx, to, table)?;
            summary.compared += compare_table(tx, to, table, &columns, advance)?;
        }
        Ok(())
    }))?;
    Ok(summary)
}

/// The columns of a table that both stores have.
fn shared_columns(from: &Tx<'_>, to: &dyn Store, table: &str) -> Result<TableColumns> {
    let theirs = to.read(|tx| tx.table_columns(table))?;
    Ok(from.table_columns(table)?.shared_with(&theirs))
}

/// Copies the rows of a table that come after the last one in `to`.
fn copy_table(
    from: &Tx<'_>,
    to: &dyn Store,
    table: &'static str,
    columns: &TableColumns,
    advance: &mut dyn FnMut(TransferStep),
) -> Result<u64> {
    let mut copied = 0;
    let mut last = to.read(|tx| tx.last_stored_row(table, columns))?;
    loop {
        let rows = from.stored_rows(table, columns, last.as_ref(), PAGE_ROWS)?;
        let Some(newest) = rows.last() else { return Ok(copied) };
        last = Some(newest.clone());
        let count = rows.len() as u64;
        let (page, columns) = (Arc::new(rows), columns.clone());
        to.write(move |tx| tx.put_stored_rows(table, &columns, &page))?;
        copied += count;
        advance(TransferStep { table, is_comparison: false, rows: count });
    }
}

/// Succeeds if a table has the same rows in both stores; returns their number.
fn compare_table(
    from: &Tx<'_>,
    to: &dyn Store,
    table: &'static str,
    columns: &TableColumns,
    advance: &mut dyn FnMut(TransferStep),
) -> Result<u64> {
    let mut compared = 0;
    let mut last: Option<StoredRow> = None;
    loop {
        let ours = from.stored_rows(table, columns, last.as_ref(), PAGE_ROWS)?;
        let theirs = to.read(|tx| tx.stored_rows(table, columns, last.as_ref(), PAGE_ROWS))?;
        if let Some(place) =
            (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at))
        {
            let row = ours.get(place).or(theirs.get(place));
            let key = row.map(|row| row.key_text(columns)).unwrap_or_default();
            let message = format!("the stores differ in the table {table}, at the row {key}");
            return Err(Error::conflict(message).hint(
                "Stop whatever writes to them. Then empty the store that is copied to, and copy again.",
            ));
        }
        let count = ours.len() as u64;
        compared += count;
        let Some(newest) = ours.last() else { return Ok(compared) };
        last = Some(newest.clone());
        advance(TransferStep { table, is_comparison: true, rows: count });
    }
}
