//! The database of each home, if the tests use PostgreSQL in place of the files of their homes.

#[path = "server.rs"]
mod server;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use commonbook::base::home_key::HomeKey;
use commonbook::store::postgres::PostgresStore;
use postgres::{Client, NoTls};
use server::Server;

/// `postgres` if the tests use it in place of the files of their homes.
const STORE_VARIABLE: &str = "COMMONBOOK_TEST_STORE";

/// Whether the tests use PostgreSQL in place of the files of their homes.
#[expect(clippy::disallowed_methods, reason = "the tests alone take the store from a variable")]
pub(crate) fn is_wanted() -> bool {
    match std::env::var(STORE_VARIABLE) {
        Ok(store) if store == "postgres" => true,
        Ok(store) => panic!("{STORE_VARIABLE} is `{store}`; expected postgres"),
        Err(_) => false,
    }
}

/// The way of a store to the database of a home.
pub(crate) fn way_of_store(home: &Path) -> String {
    Server::running().way_of_store(&database_of(home))
}

/// The way of a test to the database of a home.
pub(crate) fn way_of_test(home: &Path) -> String {
    Server::running().to(&database_of(home))
}

/// The database of a home, which is created when it is asked for first. Databases of homes that are gone are dropped
/// then: those of all tests of one process need 10 GB.
fn database_of(home: &Path) -> String {
    static DATABASES: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut databases = DATABASES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = databases.get(home) {
        return name.clone();
    }
    let gone: Vec<_> = databases.extract_if(.., |home, _| !home.exists()).collect();
    let name = format!("home_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let database = name.clone();
    // The client must not wait on a thread that drives the tasks of a test.
    let made = std::thread::spawn(move || {
        gone.iter().for_each(|(_, name)| Server::running().remove(name));
        create_home(&database);
    });
    made.join().unwrap();
    databases.insert(home.to_owned(), name.clone());
    name
}

/// Creates the database of a home with its tables, and with a key of its own. The tables are copied from the first
/// one: a store needs 90 ms to create them. That it can is a law of the stores.
fn create_home(name: &str) {
    static TEMPLATE: Once = Once::new();
    let server = Server::running();
    TEMPLATE.call_once(|| {
        let store = PostgresStore::open(&server.create("template_home"), None).unwrap();
        drop(store);
        let end = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = 'template_home'";
        client(&server.to("postgres")).batch_execute(end).unwrap();
    });
    let key = HomeKey::random_hex().unwrap();
    let own_key = format!("UPDATE tombstone_key SET key = '{key}'");
    client(&server.copy("template_home", name)).batch_execute(&own_key).unwrap();
}

fn client(way: &str) -> Client {
    Client::connect(way, NoTls).unwrap()
}
