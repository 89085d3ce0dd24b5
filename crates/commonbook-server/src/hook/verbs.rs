//! Calls verbs for a hook: through a running server, else on the store, which it opens once.

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::Config;
use crate::local::{RpcClient, RpcOutcome, RpcRequest};

/// Opens the store.
pub(super) type StoreOpener = Box<dyn FnOnce() -> Result<Commonbook> + Send>;

/// The verbs, as a hook calls them.
pub(super) struct VerbClient<'c> {
    config: &'c Config,
    open: Option<StoreOpener>,
    book: Option<Commonbook>,
}

impl<'c> VerbClient<'c> {
    /// The verbs of this home.
    pub(super) fn new(config: &'c Config, open: StoreOpener) -> Self {
        Self { config, open: Some(open), book: None }
    }

    /// Calls a verb; `command` is its command, by which a server knows it.
    ///
    /// # Errors
    /// The error of the verb; `unavailable` if a server received the request and did not respond: the
    /// hook must not repeat its work.
    pub(super) fn call<Q, A>(
        &mut self,
        command: &str,
        caller: &Caller,
        request: &Q,
        verb: fn(&Commonbook, &Caller, &Q) -> Result<A>,
    ) -> Result<A>
    where
        Q: Serialize,
        A: DeserializeOwned,
    {
        if self.book.is_none() {
            if let Some(server) = RpcClient::connect_to_home(self.config)
                && let Some(told) = call_server(server, command, caller, request)?
            {
                return Ok(told);
            }
            self.book = self.open.take().map(|open| open()).transpose()?;
        }
        let closed = || Error::new(ErrorKind::Unavailable, "cannot open the store");
        verb(self.book.as_ref().ok_or_else(closed)?, caller, request)
    }
}

/// The response of a server; `None` if it leaves the work to this process.
fn call_server<A: DeserializeOwned>(
    server: RpcClient,
    command: &str,
    caller: &Caller,
    request: &impl Serialize,
) -> Result<Option<A>> {
    let wrong = |error: serde_json::Error| {
        Error::new(ErrorKind::Internal, "a request or response of the server is not valid")
            .with_cause(error)
    };
    let request = match serde_json::to_value(request).map_err(wrong)? {
        Value::Object(request) => request,
        _ => serde_json::Map::new(),
    };
    let asked = RpcRequest { verb: command.to_owned(), caller: caller.clone(), request };
    match server.send_rpc_request(&asked) {
        RpcOutcome::Answer(told) => serde_json::from_value(told?).map(Some).map_err(wrong),
        RpcOutcome::Declined => Ok(None),
        RpcOutcome::Lost => Err(Error::new(ErrorKind::Unavailable, "the server did not respond")),
    }
}
