//! Opens the store of a home: the file in it, or the database that its settings name.

use std::path::Path;
use std::sync::Arc;

use commonbook::base::error::Result;
use commonbook::store::Store;
use commonbook::store::postgres::PostgresStore;
use commonbook::store::sqlite::SqliteStore;

use super::config::Config;
use super::database::Database;
use crate::calls::blocking_store::BlockingStore;

/// Opens the store of this file, and migrates it if needed.
///
/// # Errors
/// As [`SqliteStore::open`].
pub(crate) fn open_store(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(SqliteStore::open(path)?)
}

/// Opens the store of this file even if it has lost events.
///
/// # Errors
/// As [`SqliteStore::open_despite_loss`].
pub(crate) fn open_store_despite_loss(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(SqliteStore::open_despite_loss(path)?)
}

/// Opens the store in this database, and creates its tables if needed.
///
/// # Errors
/// As [`PostgresStore::open`].
pub(crate) fn open_database(database: &Database) -> Result<Arc<dyn Store>> {
    let authorities = database.authorities.as_deref();
    Ok(BlockingStore::open(|| PostgresStore::open(&database.url.0, authorities))?)
}

/// Opens the store of this configuration.
pub(crate) fn open_any_store(config: &Config) -> Result<Arc<dyn Store>> {
    match config.database()? {
        Some(database) => open_database(&database),
        None => open_store(&config.store_file()?),
    }
}

/// As [`open_any_store`], for a process that may end at any time.
pub(crate) fn open_any_store_without_upgrade(config: &Config) -> Result<Arc<dyn Store>> {
    match config.database()? {
        Some(Database { url, authorities }) => {
            let open = || PostgresStore::open_without_upgrade(&url.0, authorities.as_deref());
            Ok(BlockingStore::open(open)?)
        }
        None => Ok(SqliteStore::open_without_upgrade(&config.store_file()?)?),
    }
}
