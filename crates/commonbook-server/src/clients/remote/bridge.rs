//! The bridge from a client that starts an MCP server to the MCP of a server at a URL.
//!
//! The client writes JSON-RPC messages to standard input. Each goes to the server over streamable HTTP,
//! with the workspace of the project and the name of the agent, which a ticket can make a sub-agent.
//! A session of the server belongs to one agent, so that the bridge opens one for each.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{limits, thread};
use commonbook::model::caller::{Caller, EntryPoint};
use serde_json::{Map, Value, json};
use ureq::Body;
use ureq::http::{HeaderValue, Response, StatusCode};

use super::address::ServerAddress;
use super::http::HttpClient;
use super::rest::COMMAND_TIMEOUT;
use crate::calls::hint::{HintDoor, for_door};
use crate::calls::rpc::{self, ClientMessages, LISTEN_METHOD};
use crate::calls::verb::TOOLS_HEADER;
use crate::calls::verb::ToolSelection;
use crate::clients::ticket;
use crate::http::caller::{CallerClaims, resolve_caller};
use crate::settings::config::Config;
use crate::settings::project::map::NearWorkspace;

/// The path of MCP on the server.
const MCP_PATH: &str = "/mcp";

/// The header of a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The field of a request with the version of a protocol without sessions.
const VERSION_POINTER: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// A JSON-RPC error of the bridge itself.
const SERVER_ERROR_CODE: i32 = -32000;

/// The bridge of one client.
pub(crate) struct McpBridge {
    requests: HttpClient,
    streams: HttpClient,
    config: Config,
    claims: CallerClaims,
    near: Option<NearWorkspace>,
    /// The tools that the server offers to this client, if not the server's own selection.
    tools: Option<ToolSelection>,
    connection: Mutex<BridgeConnection>,
}

/// The state of a connection.
#[derive(Default)]
struct BridgeConnection {
    /// The message with which the client began.
    initialize: Option<Value>,
    /// The name and version that the client gave.
    client: Option<(String, String)>,
    /// The protocol version that the server chose.
    version: Option<String>,
    /// The session of each agent.
    sessions: HashMap<String, String>,
}

impl McpBridge {
    /// A bridge to the server at this address, for a client with these claims in this workspace.
    pub(crate) fn new(
        address: ServerAddress,
        config: Config,
        claims: CallerClaims,
        near: Option<NearWorkspace>,
    ) -> Self {
        let config = Config { agent: config.agent.or_else(|| address.agent.clone()), ..config };
        Self {
            requests: HttpClient::new(address.clone(), Some(COMMAND_TIMEOUT)),
            streams: HttpClient::new(address, None),
            config,
            claims,
            near,
            tools: None,
            connection: Mutex::default(),
        }
    }

    /// Selects the tools that the server offers to this client.
    pub(crate) fn with_tools(self, tools: Option<ToolSelection>) -> Self {
        Self { tools, ..self }
    }

    /// Passes messages on until the client closes its end; then waits for the pending responses.
    ///
    /// # Errors
    /// `unavailable` if standard input cannot be read.
    pub(crate) fn serve(self) -> Result<()> {
        let bridge = Arc::new(self);
        let mut pending: Vec<JoinHandle<()>> = Vec::new();
        let mut input = BufReader::new(std::io::stdin());
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut input).take(limits::BODY_BYTES as u64 + 1);
            let read = bounded.read_until(b'\n', &mut line).map_err(|error| {
                Error::new(ErrorKind::Unavailable, "cannot read standard input").with_cause(error)
            })?;
            if read == 0 || line.len() > limits::BODY_BYTES {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Each message of a batch has its answer, which names its request.
            let messages = match rpc::read(&line, true) {
                Ok(ClientMessages::One(message)) => vec![Ok(message)],
                Ok(ClientMessages::Batch(messages)) => messages,
                Err(refusals) => refusals.into_iter().map(Err).collect(),
            };
            for message in messages {
                match message {
                    Ok(message) => pending.extend(bridge.begin(message)),
                    Err(refusal) => write_line(&refusal.to_string()),
                }
            }
            pending.retain(|thread| !thread.is_finished());
        }
        for thread in pending {
            // A thread that panicked has no response.
            drop(thread.join());
        }
        Ok(())
    }

    /// Passes one message on, and its response back: on a thread that ends with the response, if others
    /// may precede it.
    fn begin(self: &Arc<Self>, message: Value) -> Option<JoinHandle<()>> {
        let method = message["method"].as_str().unwrap_or_default();
        // Notifications keep their order, and nothing precedes the response to `initialize`.
        if message.get("id").is_none() || method == rpc::INITIALIZE_METHOD {
            self.answer(message);
            return None;
        }
        let is_listening = method == LISTEN_METHOD;
        let own = Arc::clone(self);
        let sent = message.clone();
        let Ok(thread) = thread::start(move || own.answer(sent)) else {
            // Without room for a thread this one passes it on.
            self.answer(message);
            return None;
        };
        Some(thread).filter(|_| !is_listening)
    }

    /// Passes one message on, and its response back.
    fn answer(self: &Arc<Self>, message: Value) {
        let id = message.get("id").cloned();
        let is_begun = message["method"] == "notifications/initialized";
        let is_tool = message["method"] == "tools/call";
        match self.forward(message) {
            Ok(()) if is_begun => self.listen(),
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%error, "a message was not passed on");
                if let Some(id) = id {
                    let tools = self.tools.clone().unwrap_or_default();
                    write_line(&error_message(&id, &error, is_tool, &tools).to_string());
                }
            }
        }
    }

    fn forward(&self, mut message: Value) -> Result<()> {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let begins = method == rpc::INITIALIZE_METHOD;
        if begins {
            let info = &message["params"]["clientInfo"];
            let text = |name: &str| info[name].as_str().unwrap_or_default().to_owned();
            let client = Some((text("name"), text("version")));
            let initialize = Some(message.clone());
            *self.connection() = BridgeConnection { initialize, client, ..Default::default() };
        }
        let caller = self.caller_of(&method, &mut message)?;
        let has_sessions = !begins && message.pointer(VERSION_POINTER).is_none();
        let mut session = if has_sessions { self.session_of(&caller)? } else { None };
        let mut response = self.post(&message, &caller, session.as_deref())?;
        if response.status() == StatusCode::NOT_FOUND && session.is_some() {
            // The server has restarted since.
            self.connection().sessions.remove(caller.agent.as_str());
            session = self.session_of(&caller)?;
            response = self.post(&message, &caller, session.as_deref())?;
        }
        if begins && let Some(session) = session_header(&response) {
            self.connection().sessions.insert(caller.agent.to_string(), session);
        }
        let id = message.get("id");
        let is_answered = self.copy(response, id)?;
        match id {
            Some(_) if !is_answered => {
                let url = &self.requests.address.url;
                let message = format!("{url} ended the response before its end");
                Err(Error::new(ErrorKind::Unavailable, message).hint("Call it again."))
            }
            _ => Ok(()),
        }
    }

    /// The caller of a message: the client, or the sub-agent that the ticket of a call names.
    fn caller_of(&self, method: &str, message: &mut Value) -> Result<Caller> {
        let client = self.claims.client.clone().or_else(|| self.connection().client.clone());
        let claims = CallerClaims { client, ..self.claims.clone() };
        let caller = resolve_caller(&claims, &self.config, self.near.clone(), EntryPoint::Mcp)?;
        let name = message["params"]["name"].as_str().unwrap_or_default().to_owned();
        let arguments = message.pointer_mut("/params/arguments").and_then(Value::as_object_mut);
        match arguments.filter(|_| method == "tools/call") {
            Some(arguments) => {
                let home = self.config.home.as_deref();
                Ok(ticket::redeem_ticket(caller, &name, arguments, home))
            }
            None => Ok(caller),
        }
    }

    /// The session of an agent; a new one if it has none and the client has begun.
    fn session_of(&self, caller: &Caller) -> Result<Option<String>> {
        let (known, initialize) = {
            let connection = self.connection();
            let known = connection.sessions.get(caller.agent.as_str()).cloned();
            (known, connection.initialize.clone())
        };
        let (None, Some(initialize)) = (&known, initialize) else { return Ok(known) };
        let mut response = self.post(&initialize, caller, None)?;
        let session = session_header(&response);
        drop(response.body_mut().read_to_string());
        if let Some(session) = &session {
            let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            self.post(&begun, caller, Some(session))?;
            self.connection().sessions.insert(caller.agent.to_string(), session.clone());
        }
        Ok(session)
    }

    /// Sends a message; returns the response, which can be an error of JSON-RPC.
    fn post(
        &self,
        message: &Value,
        caller: &Caller,
        session: Option<&str>,
    ) -> Result<Response<Body>> {
        let method = message["method"].as_str().unwrap_or_default();
        let client = if method == LISTEN_METHOD { &self.streams } else { &self.requests };
        let named = message.pointer(VERSION_POINTER).and_then(Value::as_str);
        let chosen = self.connection().version.clone().filter(|_| method != rpc::INITIALIZE_METHOD);
        let version = named.map(str::to_owned).or(chosen);
        let params = &message["params"];
        let name = params["name"].as_str().or(params["uri"].as_str()).filter(|_| named.is_some());
        let tools = self.tools.as_ref().map(ToString::to_string);
        let headers = [
            ("accept", Some("application/json, text/event-stream")),
            (TOOLS_HEADER, tools.as_deref()),
            ("mcp-protocol-version", version.as_deref()),
            (SESSION_HEADER, session),
            // A protocol without sessions names each call in its headers too.
            ("mcp-method", Some(method).filter(|_| named.is_some())),
            ("mcp-name", name),
        ];
        let mut request = client.request("POST", MCP_PATH, caller);
        for (header, value) in headers {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                request = request.header(header, value);
            }
        }
        client.run(request, message.to_string())
    }

    /// Writes the messages of a response; returns whether one of them answers this request.
    fn copy(&self, response: Response<Body>, id: Option<&Value>) -> Result<bool> {
        let status = response.status();
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let body = BufReader::new(response.into_body().into_reader());
        if is_stream {
            return Ok(self.copy_stream(body, id));
        }
        let mut text = String::new();
        let mut bounded = body.take(limits::BODY_BYTES as u64);
        bounded
            .read_to_string(&mut text)
            .map_err(|error| self.requests.unavailable("the response cannot be read", error))?;
        match serde_json::from_str::<Map<String, Value>>(&text) {
            Ok(message) if message.contains_key("jsonrpc") => Ok(self.pass(&text, id)),
            _ if status.is_success() => Ok(false),
            _ => Err(self.requests.refusal(status, &text)),
        }
    }

    /// Writes the messages of an event stream until it ends.
    fn copy_stream(&self, body: impl BufRead, id: Option<&Value>) -> bool {
        let mut is_answered = false;
        for line in body.lines().map_while(std::io::Result::ok) {
            if let Some(data) =
                line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty())
            {
                is_answered |= self.pass(data, id);
            }
        }
        is_answered
    }

    /// Writes one message; returns whether it answers this request.
    fn pass(&self, text: &str, id: Option<&Value>) -> bool {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(version) = message.pointer("/result/protocolVersion").and_then(Value::as_str) {
            self.connection().version = Some(version.to_owned());
        }
        write_line(&message.to_string());
        id.is_some_and(|id| message.get("id") == Some(id) && message.get("method").is_none())
    }

    /// Receives what the server sends on its own, such as changes of resources, in the background.
    fn listen(self: &Arc<Self>) {
        let bridge = Arc::clone(self);
        let begun = thread::start(move || {
            let listened = (|| {
                let caller = bridge.caller_of("", &mut Value::Null)?;
                let Some(session) = bridge.session_of(&caller)? else { return Ok(()) };
                let request = bridge.streams.request("GET", MCP_PATH, &caller);
                let request = request.header("accept", "text/event-stream");
                let response =
                    bridge.streams.run(request.header(SESSION_HEADER, session), String::new())?;
                if response.status().is_success() {
                    bridge.copy_stream(BufReader::new(response.into_body().into_reader()), None);
                }
                Ok(())
            })();
            if let Err(error) = listened {
                let error: Error = error;
                tracing::debug!(%error, "the server sends nothing on its own");
            }
        });
        if let Err(error) = begun {
            tracing::debug!(%error, "what the server sends on its own is not read");
        }
    }

    fn connection(&self) -> MutexGuard<'_, BridgeConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The response to a message that was not passed on. The model reads the error of a tool.
fn error_message(id: &Value, error: &Error, is_tool: bool, tools: &ToolSelection) -> Value {
    let detail = for_door(error, HintDoor::Mcp(tools)).body(None).error;
    let text = format!("{}. {}", detail.message, detail.hint.as_deref().unwrap_or_default());
    let text = text.trim();
    match is_tool {
        true => {
            let content = json!([{"type": "text", "text": text}]);
            json!({"jsonrpc": "2.0", "id": id, "result": {"content": content, "isError": true}})
        }
        false => {
            let error = json!({"code": SERVER_ERROR_CODE, "message": text, "data": detail});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}

fn session_header(response: &Response<Body>) -> Option<String> {
    response.headers().get(SESSION_HEADER)?.to_str().ok().map(str::to_owned)
}

/// Writes a line for the client, which may have closed its end.
fn write_line(line: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
        tracing::debug!(%error, "the client does not read");
    }
}
