//! The tables: the first process creates them, and a newer program brings them to its version while nodes
//! of the version before go on.

use postgres::Client;
use postgres::error::SqlState;

use super::engine::PostgresSession;
use super::unusable_server;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::home_key::HomeKey;

/// The tables of the first version; what came later are migrations.
const FIRST_TABLES: &str = include_str!("schema.sql");

/// A step to the next version of the tables. The programs of the version before go on with what it
/// leaves: it adds tables, indexes, and columns that may be NULL or have a default. What nothing needs
/// any more is removed one version later.
struct Migration {
    version: i64,
    statements: &'static str,
}

/// The migrations, in order.
const MIGRATIONS: [Migration; 4] = [
    Migration { version: 2, statements: include_str!("migrations/V2__who_migrated.sql") },
    Migration { version: 3, statements: include_str!("migrations/V3__claim_audiences.sql") },
    Migration { version: 4, statements: include_str!("migrations/V4__statements.sql") },
    Migration { version: 5, statements: include_str!("migrations/V5__paths.sql") },
];

/// The version of the tables that this program works with.
const SCHEMA_VERSION: i64 = 5;

/// Begins a migration when every transaction has ended; none begins until it ends. While it waits, the
/// others wait behind it, so it gives up soon and tries again.
const BEGIN_MIGRATION: &str = "BEGIN; SET LOCAL lock_timeout = '2s'; \
    LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE";

/// How often a migration tries to begin: for longer than any statement may take.
const MIGRATION_TRIES_MAX: usize = 60;

/// The oldest server that has what the statements need, as `server_version_num`.
const SERVER_VERSION_MIN: i32 = 140_000;

/// Checks the server, creates the tables if they are missing, and migrates them if they are older.
pub(super) fn prepare(session: &mut PostgresSession) -> Result<()> {
    let client = session.client();
    check_server(client)?;
    if version(client)?.is_none() {
        create(client)?;
    }
    for migration in &MIGRATIONS {
        if version(client)?.is_some_and(|found| found < migration.version) {
            migrate(client, migration)?;
        }
    }
    check_version(version(client)?.unwrap_or_default())
}

/// As [`prepare`], but refuses older tables. Those that it has to create get the present version at once.
pub(super) fn prepare_without_upgrade(session: &mut PostgresSession) -> Result<()> {
    match version(session.client())? {
        None => prepare(session),
        Some(found) => {
            check_server(session.client())?;
            check_version(found)
        }
    }
}

/// Refuses tables that this program cannot work with: it knows those of its own version, and may go on
/// with those of the next one.
///
/// # Errors
/// `unavailable`, with both versions.
pub(super) fn check_version(found: i64) -> Result<()> {
    let message = format!(
        "the tables in PostgreSQL have version {found}, and this Commonbook works with \
         {SCHEMA_VERSION} and {}",
        SCHEMA_VERSION + 1
    );
    let hint = match found {
        SCHEMA_VERSION => return Ok(()),
        _ if found == SCHEMA_VERSION + 1 => return Ok(()),
        _ if found < SCHEMA_VERSION => "Start this Commonbook again, which migrates the tables.",
        _ => "Use a newer Commonbook.",
    };
    Err(Error::new(ErrorKind::Unavailable, message).hint(format!("{hint} Nothing was changed.")))
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
        "BEGIN; {FIRST_TABLES} INSERT INTO schema_version (version) VALUES (1); \
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

/// Makes one step, in one transaction that no other one overlaps. If another process has made it, it does
/// nothing.
fn migrate(client: &mut Client, migration: &Migration) -> Result<()> {
    for _ in 0..MIGRATION_TRIES_MAX {
        let Err(error) = migrate_once(client, migration) else { return Ok(()) };
        client.batch_execute("ROLLBACK")?;
        match error.code() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {}
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                let hint = "Open the database once with the role that owns its tables, for example by \
                            `commonbook doctor`. Nothing was changed.";
                let message =
                    format!("the role may not migrate the tables to version {}", migration.version);
                return Err(Error::new(ErrorKind::Unavailable, message)
                    .hint(hint)
                    .with_cause(error));
            }
            _ => return Err(error.into()),
        }
    }
    let message = format!("the tables could not be migrated to version {}", migration.version);
    Err(Error::new(ErrorKind::Unavailable, message)
        .hint("A transaction of another program keeps them; end it. Nothing was changed."))
}

fn migrate_once(client: &mut Client, migration: &Migration) -> Result<(), postgres::Error> {
    client.batch_execute(BEGIN_MIGRATION)?;
    let newest = client.query_typed_one("SELECT max(version) FROM schema_version", &[])?;
    if newest.try_get::<_, i64>(0)? >= migration.version {
        return client.batch_execute("ROLLBACK");
    }
    let Migration { version, statements } = migration;
    let program = env!("CARGO_PKG_VERSION");
    client.batch_execute(&format!(
        "{statements}; INSERT INTO schema_version (version, at, program) \
         VALUES ({version}, (extract(epoch FROM now()) * 1000)::bigint, '{program}'); COMMIT"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_migration_is_one_version_after_the_one_before() {
        let versions = MIGRATIONS.iter().map(|migration| migration.version);
        assert!(versions.eq(2..=SCHEMA_VERSION));
    }

    #[test]
    fn a_program_works_with_its_version_and_the_next_one() {
        for (found, is_served) in [
            (SCHEMA_VERSION - 1, false),
            (SCHEMA_VERSION, true),
            (SCHEMA_VERSION + 1, true),
            (SCHEMA_VERSION + 2, false),
        ] {
            assert_eq!(check_version(found).is_ok(), is_served, "version {found}");
        }
    }
}
