//! The socket in the home folder: a running server runs the commands of other processes.
//!
//! A command that finds no server of the same build with the same store open opens the store itself,
//! as if there were no socket.

use std::sync::mpsc;
use std::time::Duration;

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::Result;
use commonbook::base::id::{Id, RandomIds, RequestKind};
use commonbook::model::access::AccessPolicy;
use commonbook::model::caller::Caller;
use commonbook::model::handoff::Handoff;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calls::metrics::{OUTCOME_FAILED, OUTCOME_OK, server_metrics};
use crate::clients::hook_event::{HookClient, HookEvent};
use crate::settings::config::Config;

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
    /// The access policy of the requesting process.
    pub(crate) policy: AccessPolicy,
    /// Whether the caller hears how its handoffs ended beside the response.
    pub(crate) hears_results: bool,
}

/// The answer to a request of a command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RpcAnswer {
    /// The response of the verb.
    pub(crate) response: Value,
    /// The caller's handoffs that have ended, if it hears of them: none that it has heard of.
    pub(crate) ended: Vec<Handoff>,
}

/// A hook of a client has ended: a server records how long it took, and answers nothing.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookTiming {
    /// The client.
    pub(crate) client: HookClient,
    /// The event.
    pub(crate) event: HookEvent,
    /// Whether the hook failed, or ran into its time limit.
    pub(crate) failed: bool,
    /// Its time, in microseconds.
    pub(crate) microseconds: u64,
}

impl HookTiming {
    /// Sends the report to a server of this home, if one runs. Waits only briefly: a client waits for
    /// the end of its hook.
    pub(crate) fn send(self, config: &Config) {
        let (sender, receiver) = mpsc::sync_channel(1);
        let config = config.clone();
        let send = move || {
            if let Some(server) = RpcClient::connect_to_home(&config) {
                server.send_report(&self);
            }
            if sender.send(()).is_err() {
                tracing::debug!("the report of a hook took longer than the hook waited");
            }
        };
        if std::thread::Builder::new().name("report".to_owned()).spawn(send).is_ok()
            && receiver.recv_timeout(REPORT_TIMEOUT).is_err()
        {
            tracing::debug!("the server did not take the report of a hook in time");
        }
    }

    /// Records the report.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only the socket brings reports"))]
    fn record(&self) {
        if let Some(metrics) = server_metrics() {
            let outcome = if self.failed { OUTCOME_FAILED } else { OUTCOME_OK };
            let took = Duration::from_micros(self.microseconds);
            metrics.note_hook(self.client.name(), self.event.name(), outcome, took);
        }
    }
}

/// The time that a hook waits for the server to take its report.
const REPORT_TIMEOUT: Duration = Duration::from_millis(50);

/// Runs a request; returns `None` for an unknown command.
pub(crate) type RpcHandler = dyn Fn(RpcRequest) -> Option<Result<RpcAnswer>> + Send + Sync;

/// The outcome of a request to a server.
pub(crate) enum RpcOutcome {
    /// The answer, or the error of the verb.
    Answer(Result<RpcAnswer>),
    /// The server did nothing: its sandbox does not include the caller's project.
    Declined,
    /// No response arrived. The server may have run the request.
    Lost,
}

/// A new idempotency key, for a write that may be sent twice.
pub(crate) fn new_idempotency_key() -> String {
    Id::<RequestKind>::new(&RandomIds::default(), SystemClock.now()).to_string()
}
