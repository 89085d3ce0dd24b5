//! Calls verbs for a hook: at the URL of its client or project, else through a running server of the
//! home, else on the store, which it opens once.

use std::path::Path;
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use commonbook::model::workspace::Workspace;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::calls::call::encoding_error;
use crate::calls::verb;
use crate::clients::local::{RpcClient, RpcOutcome, RpcRequest};
use crate::clients::remote::{RestClient, ServerAddress};
use crate::settings::config::Config;

/// Opens the store.
pub(super) type StoreOpener = Box<dyn FnOnce() -> Result<Commonbook> + Send>;

/// The time limit of one call of a server at a URL, below that of the hook.
const CALL_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The verbs, as a hook calls them.
pub(super) struct VerbClient<'c> {
    config: &'c Config,
    /// The server at a URL, if memories are there.
    server: Option<RestClient>,
    open: Option<StoreOpener>,
    book: Option<Commonbook>,
}

impl<'c> VerbClient<'c> {
    /// The verbs of the server at this address, else of this home.
    pub(super) fn new(
        config: &'c Config,
        address: Option<ServerAddress>,
        open: StoreOpener,
    ) -> Self {
        let server = address.map(|address| RestClient::new(address, CALL_TIMEOUT));
        Self { config, server, open: Some(open), book: None }
    }

    /// The verbs of a store that is open.
    pub(super) fn of_book(config: &'c Config, book: Commonbook) -> Self {
        Self { config, server: None, open: None, book: Some(book) }
    }

    /// The URL of the server that the memories are on, which has no files of this machine.
    pub(super) fn url(&self) -> Option<&str> {
        self.server.as_ref().map(RestClient::url)
    }

    /// The workspace of the project around a folder.
    ///
    /// # Errors
    /// As [`Config::nearest_workspace`].
    pub(super) fn workspace_around(&self, folder: &Path) -> Result<Workspace> {
        let config =
            Config { folder: Some(folder.to_owned()), workspace: None, ..self.config.clone() };
        Ok(config.nearest_workspace()?.map_or_else(Workspace::fallback, |near| near.name))
    }

    /// Calls a verb by its name in the registry: through the server that runs, else on the store.
    ///
    /// # Errors
    /// The error of the verb; `unavailable` if a server received the request and did not answer: the
    /// verb is not run again here.
    pub(super) fn call<A: DeserializeOwned>(
        &mut self,
        verb: &'static str,
        caller: &Caller,
        request: &impl Serialize,
    ) -> Result<A> {
        let request = fields_of(request)?;
        A::deserialize(&self.response(verb, caller, request)?).map_err(encoding_error)
    }

    /// As [`Self::call`], once for this idempotency key.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub(super) fn call_once<A: DeserializeOwned>(
        &mut self,
        verb: &'static str,
        caller: &Caller,
        request: &impl Serialize,
        key: &str,
    ) -> Result<A> {
        let mut request = fields_of(request)?;
        request.insert("idempotency_key".to_owned(), key.into());
        A::deserialize(&self.response(verb, caller, request)?).map_err(encoding_error)
    }

    fn response(
        &mut self,
        verb: &'static str,
        caller: &Caller,
        request: Map<String, Value>,
    ) -> Result<Value> {
        let unknown = || Error::new(ErrorKind::Internal, format!("there is no verb {verb}"));
        let found = verb::find(verb).ok_or_else(unknown)?;
        if let Some(server) = &self.server {
            return server.call(found, caller, request);
        }
        if self.book.is_none() {
            let request = RpcRequest {
                verb: verb.to_owned(),
                caller: caller.clone(),
                request: request.clone(),
                policy: self.config.policy()?,
                hears_results: false,
            };
            if let Some(server) = RpcClient::connect_to_home(self.config)
                && let Some(answer) = call_server(server, &request)?
            {
                return Ok(answer);
            }
            self.config.admit(found)?;
            self.book = self.open.take().map(|open| open()).transpose()?;
        }
        found.call.run(self.book.as_ref().ok_or_else(closed_store)?, caller, request.into())
    }
}

fn fields_of(request: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(request).map_err(encoding_error)? {
        Value::Object(request) => Ok(request),
        _ => Ok(Map::new()),
    }
}

fn closed_store() -> Error {
    Error::new(ErrorKind::Unavailable, "the store could not be opened")
}

/// The answer of a server; `None` if it leaves the work to this process.
fn call_server(server: RpcClient, request: &RpcRequest) -> Result<Option<Value>> {
    match server.send_rpc_request(request) {
        RpcOutcome::Answer(answer) => answer.map(|answer| Some(answer.response)),
        RpcOutcome::Declined => Ok(None),
        RpcOutcome::Lost => Err(Error::new(ErrorKind::Unavailable, "the server did not respond")),
    }
}
