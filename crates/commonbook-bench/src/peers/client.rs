//! A client of MCP over standard input and output: one object of JSON a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use commonbook::base::error::Result;
use commonbook_server::child::{remove_settings, step_error};
use serde_json::{Value, json};

use super::peer_error;

/// The version of the protocol that every peer knows.
const PROTOCOL: &str = "2025-06-18";

/// A server that was started, and its pipes.
pub(super) struct McpClient {
    server: Child,
    /// Closed when it is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The id of the last request.
    last: u64,
}

impl McpClient {
    /// Starts a server in a home, and greets it.
    ///
    /// # Errors
    /// `unavailable` if it does not start or does not answer.
    pub(super) fn start(
        command: &[String],
        environment: impl Iterator<Item = (String, String)>,
        home: &Path,
    ) -> Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| peer_error("its command is empty"))?;
        let mut command = Command::new(program);
        remove_settings(&mut command);
        let mut server = command
            .args(arguments)
            .env("HOME", home)
            .envs(environment)
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| step_error("it does not start", error))?;
        let pipes = server.stdin.take().zip(server.stdout.take());
        let (input, output) = pipes.ok_or_else(|| peer_error("it has no pipes"))?;
        let output = BufReader::new(output);
        let mut client = Self { server, input: Some(input), output, last: 0 };
        let greeting = json!({
            "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        });
        client.request("initialize", &greeting)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Calls a tool; returns the text of its answer.
    ///
    /// # Errors
    /// `unavailable` if the server has ended, or answers with an error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text = answer["content"].to_string();
        match answer["isError"].as_bool() {
            Some(true) => Err(peer_error(format!("{tool}: {text}"))),
            _ => Ok(text),
        }
    }

    /// Closes its input and waits for its end.
    ///
    /// # Errors
    /// `unavailable` if it cannot be waited for.
    pub(super) fn stop(mut self) -> Result<()> {
        self.input = None;
        self.server.wait().map(drop).map_err(|error| step_error("its end cannot be seen", error))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.output.read_line(&mut line);
            if read.map_err(|error| step_error("it cannot be read", error))? == 0 {
                return Err(peer_error(format!("it ended at {method}")));
            }
            // What is no answer to this request is a notification, or a request that asks nothing of us.
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
            if message["id"] != id || !message["method"].is_null() {
                continue;
            }
            return match message["error"].take() {
                Value::Null => Ok(message["result"].take()),
                error => Err(peer_error(format!("{method}: {error}"))),
            };
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().ok_or_else(|| peer_error("it was ended"))?;
        let written = writeln!(input, "{message}").and_then(|()| input.flush());
        written.map_err(|error| step_error("it takes no input", error))
    }
}

impl Drop for McpClient {
    /// Ends a server that was not stopped.
    fn drop(&mut self) {
        if self.input.is_some() && self.server.kill().is_ok() {
            let _ = self.server.wait();
        }
    }
}
