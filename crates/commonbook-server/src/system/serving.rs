//! The file in the home that says where its servers listen.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::Result;
use commonbook::base::file_lock::FileLock;
use commonbook::base::id::{Id, RandomIds, RequestKind};
use serde::{Deserialize, Serialize};

use crate::system::atomic::StagedFile;

/// The header of `/health` with the id of the server process, which distinguishes it from a server of another
/// home on the same port.
pub(crate) const SERVER_HEADER: &str = "x-commonbook-server";

/// How long a server may take to answer whether it lives.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Servers in the file; those of long ago that were killed leave it first.
const SERVERS_MAX: usize = 4;

/// A random id of one server process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ServerId(pub(crate) String);

impl ServerId {
    /// A new one.
    pub(crate) fn random() -> Self {
        Self(Id::<RequestKind>::new(&RandomIds::default(), SystemClock.now()).to_string())
    }
}

/// A server of the home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ServerRecord {
    address: SocketAddr,
    /// Absent in the file of an earlier release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<ServerId>,
}

/// The content of the file: the server that began last, and those before it that have not ended.
#[derive(Debug, Serialize, Deserialize)]
struct ServerRecords {
    #[serde(flatten)]
    newest: ServerRecord,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<ServerRecord>,
}

/// The entry of a running server in the file; dropping it removes the entry, and the file with the last one.
pub(crate) struct ServerEntry {
    home: PathBuf,
    record: ServerRecord,
}

impl ServerEntry {
    /// Says in the home that a server listens on this address. If that fails, logs it: commands reach the
    /// server by its socket.
    pub(crate) fn write(home: &Path, address: SocketAddr, id: ServerId) -> Option<Self> {
        let entry = Self { home: home.to_owned(), record: ServerRecord { address, id: Some(id) } };
        // The server that had this address before has ended.
        let written = change_records(home, |records| {
            records.retain(|record| record.address != address);
            records.insert(0, entry.record.clone());
            records.truncate(SERVERS_MAX);
        });
        match written {
            Ok(()) => Some(entry),
            Err(error) => {
                tracing::debug!(%error, "cannot write the address of the server into the home");
                None
            }
        }
    }
}

impl Drop for ServerEntry {
    fn drop(&mut self) {
        drop(change_records(&self.home, |records| records.retain(|other| *other != self.record)));
    }
}

/// Changes the servers in the file, one process at a time.
fn change_records(home: &Path, change: impl FnOnce(&mut Vec<ServerRecord>)) -> Result<()> {
    // Where a folder cannot be locked, two servers that begin at the same moment may lose an entry.
    let _lock = FileLock::wait_for_folder(home).ok();
    let mut records = read_records(home);
    let before = records.clone();
    change(&mut records);
    let path = path_in(home);
    match records.split_first() {
        _ if records == before => Ok(()),
        None => {
            drop(fs::remove_file(path));
            Ok(())
        }
        Some((newest, others)) => {
            let records = ServerRecords { newest: newest.clone(), others: others.to_vec() };
            let text = serde_json::to_string(&records).unwrap_or_default();
            StagedFile::write(&path, &text).and_then(StagedFile::replace_target)
        }
    }
}

/// The servers in the file, the newest first; none if it is missing or damaged.
fn read_records(home: &Path) -> Vec<ServerRecord> {
    let text = fs::read_to_string(path_in(home)).unwrap_or_default();
    let Ok(ServerRecords { newest, others }) = serde_json::from_str(&text) else {
        return Vec::new();
    };
    [newest].into_iter().chain(others).collect()
}

/// The address of a running server of this home, the newest that answers; `None` if none does.
pub(crate) fn running_server(home: &Path) -> Option<SocketAddr> {
    let agent = ureq::Agent::config_builder().timeout_global(Some(HEALTH_TIMEOUT)).build();
    let agent = ureq::Agent::new_with_config(agent);
    let answers = |record: &ServerRecord| {
        let health = agent.get(format!("http://{}/health", reachable(record.address))).call();
        let Ok(health) = health else { return false };
        let id = health.headers().get(SERVER_HEADER).and_then(|id| id.to_str().ok());
        record.id.as_ref().is_none_or(|expected| id == Some(&expected.0))
    };
    let record = read_records(home).into_iter().find(answers)?;
    Some(reachable(record.address))
}

/// An address that this machine can call: a server that listens on every address has none of its own.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::new([127, 0, 0, 1].into(), address.port()),
        false => address,
    }
}

fn path_in(home: &Path) -> PathBuf {
    home.join("server.json")
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// The address of a server that says in each answer that it is this one.
    fn answering(id: &ServerId) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = format!(
            "HTTP/1.1 200 OK\r\n{SERVER_HEADER}: {}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}",
            id.0
        );
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let _ = connection.read(&mut [0; 1024]).unwrap();
                connection.write_all(answer.as_bytes()).unwrap();
            }
        });
        address
    }

    #[test]
    fn a_server_is_found_after_another_one_ended() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(running_server(home), None);
        let ids = [ServerId::random(), ServerId::random()];
        let addresses = ids.each_ref().map(answering);
        let first = ServerEntry::write(home, addresses[0], ids[0].clone()).unwrap();
        let second = ServerEntry::write(home, addresses[1], ids[1].clone()).unwrap();
        assert_eq!(running_server(home), Some(addresses[1]), "the newest");
        drop(second);
        assert_eq!(running_server(home), Some(addresses[0]));
        let third = ServerEntry::write(home, addresses[1], ids[1].clone()).unwrap();
        drop(first);
        assert_eq!(running_server(home), Some(addresses[1]));
        drop(third);
        assert!(!path_in(home).exists(), "the last one takes the file along");
    }

    #[test]
    fn neither_a_killed_server_nor_one_of_another_home_is_found() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let id = ServerId::random();
        let living = ServerEntry::write(home, answering(&id), id.clone()).unwrap();
        // Nothing listens there any more.
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        std::mem::forget(ServerEntry::write(home, gone, ServerId::random()).unwrap());
        // A server of another home has the port of one that was killed.
        let foreign = answering(&ServerId::random());
        std::mem::forget(ServerEntry::write(home, foreign, ServerId::random()).unwrap());
        assert_eq!(running_server(home), Some(living.record.address));
        drop(living);
        assert_eq!(running_server(home), None);
    }

    #[test]
    fn the_file_of_an_earlier_release_is_read() {
        let home = tempfile::tempdir().unwrap();
        let address = answering(&ServerId::random());
        fs::write(path_in(home.path()), format!(r#"{{"address": "{address}"}}"#)).unwrap();
        assert_eq!(running_server(home.path()), Some(address));
    }
}
