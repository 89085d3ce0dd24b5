//! A digest in each row, which reveals a row that was changed behind the store's back.
//!
//! A digest is 8 random bytes (the salt) and 16 bytes of the SHA-256 of the salt and of the row's
//! columns. The chain of the journal keeps the digests of removed rows; without the salt, which
//! goes with the row, they reveal nothing about it.
//!
//! Temporary triggers of the writing connection fill in the digests: no statement can forget them,
//! and the file itself holds no trigger. Those of a table are made when it is first written, since a command
//! writes few tables, and the triggers of all would cost it a third of its instructions.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error as EngineError};
use sha2::{Digest, Sha256};

use super::engine::unseen;
use crate::base::error::Result;

/// Bytes of the salt at the beginning of a digest.
pub(super) const SALT_BYTES: usize = 8;

/// Bytes of the hash that follows the salt.
const HASH_BYTES: usize = 16;

/// Findings of one table that are listed; more are counted.
const FINDINGS_MAX: usize = 20;

/// A table whose rows have digests.
struct DigestTable {
    name: String,
    /// The columns that a digest covers, in the order of their names.
    columns: Vec<String>,
    /// The columns of the primary key.
    key: Vec<String>,
}

impl DigestTable {
    /// The digest of a row, as SQL; `salt` is SQL too.
    fn expression(&self, salt: &str) -> String {
        let columns = self.columns.join(", ");
        format!("commonbook_digest('{}', {salt}, {columns})", self.columns.join(","))
    }

    /// The triggers that fill in the digests.
    fn triggers(&self) -> String {
        let (name, digest) = (&self.name, self.expression("randomblob(8)"));
        let row: Vec<String> = self.key.iter().map(|key| format!("{key} = NEW.{key}")).collect();
        let fill =
            format!("BEGIN UPDATE {name} SET digest = {digest} WHERE {}; END;", row.join(" AND "));
        format!(
            "CREATE TEMP TRIGGER IF NOT EXISTS digest_of_new_{name} AFTER INSERT ON main.{name} {fill}\n\
             CREATE TEMP TRIGGER IF NOT EXISTS digest_of_changed_{name} AFTER UPDATE OF {} ON main.{name} {fill}\n",
            self.columns.join(", ")
        )
    }
}

/// The triggers of a writing connection.
#[derive(Debug, Default)]
pub(super) struct DigestTriggers {
    /// The tables that have theirs, or need none.
    made: RefCell<BTreeSet<String>>,
}

impl DigestTriggers {
    /// Makes the triggers of a table that is about to be written.
    pub(super) fn make(&self, connection: &Connection, table: &str) -> Result<()> {
        if self.made.borrow().contains(table) {
            return Ok(());
        }
        let triggers: String =
            tables(connection, Some(table))?.iter().map(DigestTable::triggers).collect();
        connection.execute_batch(&triggers)?;
        self.made.borrow_mut().insert(table.to_owned());
        Ok(())
    }

    /// Has the triggers made again where they are missing: a transaction that is rolled back takes back those that
    /// it made.
    pub(super) fn check_again(&self) {
        self.made.borrow_mut().clear();
    }
}

/// The tables whose rows have digests, by name; of one name, if it is given.
fn tables(connection: &Connection, name: Option<&str>) -> Result<Vec<DigestTable>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.name, c.name, c.pk FROM main.sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND (?1 IS NULL OR t.name = ?1) ORDER BY t.name, c.name",
    )?;
    let mut found: Vec<(DigestTable, bool)> = Vec::new();
    let mut rows = statement.query([name])?;
    while let Some(row) = rows.next()? {
        let (name, column): (String, String) = (row.get(0)?, row.get(1)?);
        if found.last().is_none_or(|(table, _)| table.name != name) {
            let table = DigestTable { name, columns: Vec::new(), key: Vec::new() };
            found.push((table, false));
        }
        let Some((table, has_digest)) = found.last_mut() else { continue };
        if column == "digest" {
            *has_digest = true;
            continue;
        }
        if row.get::<_, i64>(2)? > 0 {
            table.key.push(column.clone());
        }
        table.columns.push(column);
    }
    // Of a table of another program only the name is known.
    found.retain(|(table, has_digest)| *has_digest && !table.key.is_empty());
    Ok(found.into_iter().map(|(table, _)| table).collect())
}

/// Registers the function that computes digests: `commonbook_digest('a,b', salt, a, b)`.
pub(super) fn register_digest(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("commonbook_digest", -1, flags, compute_digest)?;
    Ok(())
}

fn compute_digest(args: &Context<'_>) -> rusqlite::Result<Vec<u8>> {
    let wrong = |place: usize| EngineError::InvalidFunctionParameterType(place, Type::Blob);
    if args.len() < 2 {
        return Err(wrong(0));
    }
    let names = args.get_raw(0).as_str().map_err(|_| wrong(0))?;
    let salt = args.get_raw(1).as_blob().map_err(|_| wrong(1))?;
    let mut hasher = Sha256::new_with_prefix(salt);
    for (place, name) in names.split(',').enumerate() {
        if place + 2 >= args.len() {
            return Err(wrong(place + 2));
        }
        hash_column(&mut hasher, name, args.get_raw(place + 2));
    }
    let mut digest = salt.to_vec();
    digest.extend_from_slice(&hasher.finalize()[..HASH_BYTES]);
    Ok(digest)
}

/// Adds a column to a hash. NULL adds nothing, so that a column can be added to a table whose rows
/// have digests.
pub(super) fn hash_column(hasher: &mut Sha256, name: &str, value: ValueRef<'_>) {
    let (kind, number): (u8, [u8; 8]);
    let bytes: &[u8] = match value {
        ValueRef::Null => return,
        ValueRef::Integer(integer) => {
            (kind, number) = (b'i', integer.to_le_bytes());
            &number
        }
        ValueRef::Real(real) => {
            (kind, number) = (b'r', real.to_bits().to_le_bytes());
            &number
        }
        ValueRef::Text(text) => {
            kind = b't';
            text
        }
        ValueRef::Blob(blob) => {
            kind = b'b';
            blob
        }
    };
    hasher.update((name.len() as u64).to_le_bytes());
    hasher.update(name);
    hasher.update([kind]);
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The hash of a text with a salt, as in a digest.
pub(super) fn salted_hash(salt: &[u8], text: &str) -> Vec<u8> {
    Sha256::new_with_prefix(salt).chain_update(text).finalize()[..HASH_BYTES].to_vec()
}

/// Gives a digest to each row without one, as after a migration.
pub(super) fn fill_digests(connection: &Connection) -> Result<()> {
    for table in tables(connection, None)? {
        let (name, digest) = (&table.name, table.expression("randomblob(8)"));
        let none = SALT_BYTES + HASH_BYTES;
        connection.execute(
            &format!("UPDATE {name} SET digest = {digest} WHERE digest = zeroblob({none})"),
            [],
        )?;
    }
    Ok(())
}

/// Recomputes every digest; returns one line per finding.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>> {
    let _unseen = unseen("doctor recomputes each digest, and names keys alone");
    let mut findings = Vec::new();
    for table in tables(connection, None)? {
        let sql = format!(
            "SELECT json_array({}), digest = zeroblob({}) FROM {} WHERE digest IS NOT {}",
            table.key.join(", "),
            SALT_BYTES + HASH_BYTES,
            table.name,
            table.expression(&format!("substr(digest, 1, {SALT_BYTES})")),
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            count += 1;
            if count > FINDINGS_MAX {
                continue;
            }
            let (key, none): (String, bool) = (row.get(0)?, row.get(1)?);
            findings.push(match none {
                true => {
                    format!("{} {key}: the row has no digest; another program wrote it", table.name)
                }
                false => format!("{} {key}: the row was changed outside of commonbook", table.name),
            });
        }
        if let Some(more) = count.checked_sub(FINDINGS_MAX).filter(|more| *more > 0) {
            let mut line = String::new();
            // Writing to a string does not fail.
            let _written = write!(line, "{}: {more} more rows were changed", table.name);
            findings.push(line);
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::open;

    /// The tables whose rows have no digest, and why.
    const WITHOUT_DIGEST: &[(&str, &str)] = &[
        ("event", "the chain covers each event"),
        ("workspace", "the chain tells which workspaces there are, and where their journals end"),
        ("home", "the mark beside the store names the same id"),
        ("mention", "derived from memories, and made anew at will"),
        ("claim", "derived from memories, and made anew at will"),
        ("case_activity", "counts what waits for a digest, which runs at the next occasion anyway"),
        ("case_proposal", "made of memories that stay, and proposed anew if it is lost"),
        (
            "judged_pair",
            "answers of an endpoint or an agent, which can be asked anew: none changes a text",
        ),
        ("entity_key", "derived from names, and made anew at will"),
        ("follower", "tells how far what is derived has come"),
        ("briefing", "tells what one session has heard, and lasts as long"),
        ("briefed_item", "as briefing: a lost row repeats an item in one session"),
        ("usage", "counts without a claim about anybody: a wrong one changes no answer"),
        ("consolidation", "who holds the lease now, and when it was held last"),
        ("basis", "says for a notice what a text rests on: the texts themselves have digests"),
        ("told_memory", "follows from the receipts of a session, and lasts as long as it"),
        ("outdated", "marks for a review, made of what the journal and the lineage say"),
        ("knowledge", "ids that follow from receipts and read marks, and outlast them"),
        (
            "webhook_progress",
            "tells how far deliveries have come; a wrong position repeats or skips some",
        ),
        ("dead_letter", "names events by their positions: a lost one is not sent again"),
        ("retraction_notice", "waits for one text, and is made from what is known"),
        (
            "tombstone_key",
            "without its key a digest is no phrase any more: the certificate shows it",
        ),
        ("sqlite_sequence", "the engine's own: which number the last audience has"),
        ("refinery_schema_history", "has checksums of its own"),
    ];

    #[test]
    fn every_table_has_digests_or_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open::open_prepared(&folder.path().join("commonbook.db")).unwrap();
        let digested: Vec<String> =
            tables(&connection, None).unwrap().into_iter().map(|table| table.name).collect();
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let all = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for name in all.map(Result::unwrap) {
            let excused = WITHOUT_DIGEST.iter().any(|(table, _)| *table == name);
            assert!(
                digested.contains(&name) != excused,
                "{name}: add a column `digest` to it, or say in WITHOUT_DIGEST why it needs none"
            );
        }
    }
}
