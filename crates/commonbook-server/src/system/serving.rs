//! The file in the home that says where its server listens.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::system::atomic::StagedFile;

/// How long a server may take to answer whether it lives.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct ServerRecord {
    address: SocketAddr,
}

/// The file of a running server; dropping it removes the file.
pub(crate) struct ServerFile {
    path: PathBuf,
    text: String,
}

impl ServerFile {
    /// Says in the home that a server listens on this address. If that fails, logs it: only
    /// `commonbook dashboard` needs the file.
    pub(crate) fn write(home: &Path, address: SocketAddr) -> Option<Self> {
        let file = Self {
            path: path_in(home),
            text: serde_json::to_string(&ServerRecord { address }).unwrap_or_default(),
        };
        match StagedFile::write(&file.path, &file.text).and_then(StagedFile::replace_target) {
            Ok(()) => Some(file),
            Err(error) => {
                tracing::debug!(%error, "cannot write the address of the server into the home");
                None
            }
        }
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        // Another server of the same home may have written its own.
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// The address of the running server of this home; `None` if none answers.
pub(crate) fn running_server(home: &Path) -> Option<SocketAddr> {
    let text = fs::read_to_string(path_in(home)).ok()?;
    let ServerRecord { address } = serde_json::from_str(&text).ok()?;
    let agent = ureq::Agent::config_builder().timeout_global(Some(HEALTH_TIMEOUT)).build();
    let agent = ureq::Agent::new_with_config(agent);
    agent.get(format!("http://{}/health", reachable(address))).call().ok()?;
    Some(reachable(address))
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
