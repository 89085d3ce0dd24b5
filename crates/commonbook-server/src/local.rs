//! The socket in the home folder: the commands of other processes, carried out by a running server.
//!
//! It decides nothing. A command that finds no server of this very program on this very store opens
//! the store itself, as if there were no socket.

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
pub(crate) use absent::{Listener, Server};
#[cfg(unix)]
pub(crate) use ask::RpcClient;
#[cfg(unix)]
pub(crate) use listen::RpcListener;

/// What a command asks for. The caller travels whole: the process that asks has heard it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RpcRequest {
    /// The name of the command.
    pub(crate) verb: String,
    /// Who calls.
    pub(crate) caller: Caller,
    /// The fields of the request.
    pub(crate) request: Map<String, Value>,
}

/// Carries out what is asked; nothing for a command that there is not.
pub(crate) type RpcHandler = dyn Fn(RpcRequest) -> Option<Result<Value>> + Send + Sync;

/// What became of a request to a server.
pub(crate) enum RpcOutcome {
    /// What the verb answered.
    Answer(Result<Value>),
    /// The server has done nothing, for its sandbox lacks the project of the caller.
    Declined,
    /// No answer came. The server may have done what was asked.
    Lost,
}

/// A new idempotency key, for a write that may have to be sent twice.
pub(crate) fn new_idempotency_key() -> String {
    Id::<RequestKind>::new(&RandomIds::default(), SystemClock.now()).to_string()
}
