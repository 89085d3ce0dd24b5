//! The socket in the home folder: a running server runs the commands of other processes.
//!
//! A command that finds no server of the same build with the same store open opens the store itself,
//! as if there were no socket.

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::Result;
use commonbook::base::id::{Id, RandomIds, RequestKind};
use commonbook::model::caller::Caller;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod listen;
#[cfg(unix)]
mod wire;

#[cfg(not(unix))]
mod absent;

#[cfg(not(unix))]
pub(crate) use absent::{RpcClient, RpcListener};
#[cfg(unix)]
pub(crate) use ask::RpcClient;
#[cfg(unix)]
pub(crate) use listen::RpcListener;

/// The request of a command. It carries the whole caller, which the requesting process has resolved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RpcRequest {
    /// The name of the verb, in the registry.
    pub(crate) verb: String,
    /// The caller.
    pub(crate) caller: Caller,
    /// The fields of the request.
    pub(crate) request: Map<String, Value>,
}

/// Runs a request; returns `None` for an unknown command.
pub(crate) type RpcHandler = dyn Fn(RpcRequest) -> Option<Result<Value>> + Send + Sync;

/// The outcome of a request to a server.
pub(crate) enum RpcOutcome {
    /// The response of the verb.
    Answer(Result<Value>),
    /// The server did nothing: its sandbox does not include the caller's project.
    Declined,
    /// No response arrived. The server may have run the request.
    Lost,
}

/// A new idempotency key, for a write that may be sent twice.
pub(crate) fn new_idempotency_key() -> String {
    Id::<RequestKind>::new(&RandomIds::default(), SystemClock.now()).to_string()
}
