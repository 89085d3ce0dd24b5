//! Where there are no such sockets: every command opens the store itself.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{RpcHandler, RpcOutcome, RpcRequest};
use crate::config::Config;

/// A server that is never found.
pub(crate) enum RpcClient {}

impl RpcClient {
    /// Finds none.
    pub(crate) fn connect_to_home(_: &Config) -> Option<Self> {
        None
    }

    /// Asks nobody.
    pub(crate) fn send_rpc_request(self, _: &RpcRequest) -> RpcOutcome {
        match self {}
    }
}

/// A listener that is never made.
pub(crate) enum RpcListener {}

impl RpcListener {
    /// Makes none.
    pub(crate) fn open(_: &Config, _: Arc<RpcHandler>) -> Option<Self> {
        None
    }

    /// Answers nobody.
    pub(crate) async fn serve(self, _: CancellationToken) {
        match self {}
    }
}
