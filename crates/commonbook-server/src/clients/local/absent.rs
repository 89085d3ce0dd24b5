//! Systems without Unix sockets: every command opens the store itself.

use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::{HookTiming, RpcHandler, RpcOutcome, RpcRequest};
use crate::settings::config::Config;

/// A server, which never exists.
pub(crate) enum RpcClient {}

impl RpcClient {
    /// Returns `None`.
    pub(crate) fn connect_to_home(_: &Config) -> Option<Self> {
        None
    }

    /// Returns `None`.
    pub(crate) fn server_start(_: &Config) -> Option<SystemTime> {
        None
    }

    /// Never called.
    pub(crate) fn send_report(self, _: &HookTiming) {
        match self {}
    }

    /// Never called.
    pub(crate) fn send_rpc_request(self, _: &RpcRequest) -> RpcOutcome {
        match self {}
    }
}

/// A listener, which never exists.
pub(crate) enum RpcListener {}

impl RpcListener {
    /// Returns `None`.
    pub(crate) fn open(_: &Config, _: Arc<RpcHandler>) -> Option<Self> {
        None
    }

    /// Never called.
    pub(crate) async fn serve(self, _: CancellationToken) {
        match self {}
    }
}
