//! The tables, which the first process creates in one transaction.

use postgres::Client;
use postgres::error::SqlState;

use super::engine::PostgresSession;
use super::unusable_server;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::home_key::HomeKey;

/// The tables of this version.
const TABLES: &str = include_str!("schema.sql");

/// The version of the tables.
const SCHEMA_VERSION: i64 = 1;

/// The oldest server that has what the statements need, as `server_version_num`.
const SERVER_VERSION_MIN: i32 = 140_000;

/// Checks the server, and creates the tables if they are missing.
pub(super) fn prepare(session: &mut PostgresSession) -> Result<()> {
    check_server(session.client())?;
    if version(session.client())?.is_none() {
        create(session.client())?;
    }
    match version(session.client())? {
        Some(SCHEMA_VERSION) => Ok(()),
        found => {
            let found = found.unwrap_or_default();
            let message = format!(
                "the tables in PostgreSQL have version {found}, and this Commonbook knows \
                 {SCHEMA_VERSION}"
            );
            Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Use the commonbook of that version. Nothing was changed."))
        }
    }
}

/// Refuses a server on which answered writes could be lost or statements mean something else.
fn check_server(client: &mut Client) -> Result<()> {
    let sql = "SELECT current_setting('server_version_num')::int4, current_setting('fsync'), \
         current_setting('server_encoding')";
    let row = client.query_typed_one(sql, &[])?;
    let (number, fsync, encoding): (i32, String, String) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let refusal = if number < SERVER_VERSION_MIN {
        format!("PostgreSQL {} is older than 14", number / 10_000)
    } else if fsync != "on" {
        "PostgreSQL runs with `fsync = off`: it would lose answered writes".to_owned()
    } else if encoding != "UTF8" {
        format!("the database has the encoding {encoding}, and UTF8 is needed")
    } else {
        return Ok(());
    };
    Err(unusable_server(refusal))
}

/// The version of the tables; `None` if there are none.
fn version(client: &mut Client) -> Result<Option<i64>> {
    let known = client.query_typed_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])?;
    if !known.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    Ok(client.query_typed_one("SELECT max(version) FROM schema_version", &[])?.try_get(0)?)
}

/// Creates the tables, with the key of forgotten phrases. If another process creates them now, it waits for that one and does nothing.
fn create(client: &mut Client) -> Result<()> {
    // Hexadecimal digits need no escape.
    let key = HomeKey::random_hex()?;
    let created = client.batch_execute(&format!(
        "BEGIN; {TABLES} INSERT INTO schema_version (version) VALUES ({SCHEMA_VERSION}); \
         INSERT INTO tombstone_key (number, key) VALUES (1, '{key}'); COMMIT;"
    ));
    let Err(error) = created else { return Ok(()) };
    client.batch_execute("ROLLBACK")?;
    let taken =
        [&SqlState::UNIQUE_VIOLATION, &SqlState::DUPLICATE_TABLE, &SqlState::DUPLICATE_OBJECT];
    match error.code() {
        Some(code) if taken.contains(&code) => Ok(()),
        _ => Err(error.into()),
    }
}
