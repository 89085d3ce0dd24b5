//! What is said over the socket: a greeting, one request, one answer, each a line of JSON.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use commonbook::base::error::ErrorDetail;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Config;

/// What a server says first: which program it is, and which file it has open. Who asks does so only
/// of the same program on the same file, and has sent nothing otherwise.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerGreeting {
    version: String,
    /// The size of the program, and when it was built: versions alone do not tell builds apart.
    program: (u64, i64, i64),
    /// The device and the inode: another file may have come into the store's place.
    store: (u64, u64),
}

impl ServerGreeting {
    /// What this process would say now.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let store = fs::metadata(config.store_path().ok()?).ok()?;
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: (program.size(), program.mtime(), program.mtime_nsec()),
            store: (store.dev(), store.ino()),
        })
    }
}

/// What a server says last.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RpcResponse {
    /// What the verb answers.
    Answer(Value),
    /// Why it was not carried out.
    Error(ErrorDetail),
    /// Nothing was done: the sandbox of the server lacks the project of the caller.
    Declined,
}

/// Where the socket is.
pub(super) fn socket_path(config: &Config) -> Option<PathBuf> {
    config.home.as_ref().map(|home| home.join("server.sock"))
}
