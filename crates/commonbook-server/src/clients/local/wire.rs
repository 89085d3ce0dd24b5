//! The protocol of the socket: a greeting, one request, one response, each a line of JSON.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use commonbook::base::error::ErrorDetail;
use serde::{Deserialize, Serialize};

use super::RpcAnswer;
use crate::settings::config::Config;

/// The greeting of a server: its program and the store that it has open. A client sends its request
/// only to the same program with the same store.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerGreeting {
    version: String,
    /// The size and modification time of the program: versions alone do not distinguish builds.
    program: (u64, i64, i64),
    /// The device and the inode of the store, as another file may have replaced it; or the fingerprint of
    /// the database.
    store: String,
}

impl ServerGreeting {
    /// The greeting of this process.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let store = match config.database().ok()? {
            Some(database) => database.fingerprint(),
            None => {
                let file = fs::metadata(config.store_file().ok()?).ok()?;
                format!("{}:{}", file.dev(), file.ino())
            }
        };
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: (program.size(), program.mtime(), program.mtime_nsec()),
            store,
        })
    }
}

/// The response of a server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RpcResponse {
    /// The answer of the verb.
    Answer(RpcAnswer),
    /// The error of the verb.
    Error(ErrorDetail),
    /// The server did nothing: the caller's project is outside its sandbox.
    Declined,
}

/// The path of the socket.
pub(super) fn socket_path(config: &Config) -> Option<PathBuf> {
    config.home.as_ref().map(|home| home.join("server.sock"))
}
