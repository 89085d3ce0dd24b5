//! A server as a child process, which the demo and the benches call.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::Value;

/// The first argument with which this executable runs the program, if it is not the program itself.
static PROGRAM_ARGUMENT: OnceLock<&str> = OnceLock::new();

/// Makes [`program_command`] put this argument before all others. The executable that calls this runs
/// the program if its first argument is this one.
pub fn set_program_argument(argument: &'static str) {
    PROGRAM_ARGUMENT.get_or_init(|| argument);
}

/// A running `commonbook serve`; dropping it ends it.
#[derive(Debug)]
pub struct ChildServer {
    child: Child,
    url: String,
    agent: ureq::Agent,
}

/// A command of this program on this home, without the identity and the server that the environment
/// names.
///
/// # Errors
/// `unavailable` if the path of the program is unknown.
pub fn program_command(home: &Path, arguments: &[&str]) -> Result<Command> {
    let program = std::env::current_exe()
        .map_err(|error| step_error("the path of this program is unknown", error))?;
    let mut command = Command::new(program);
    remove_settings(&mut command);
    command.args(PROGRAM_ARGUMENT.get()).args(arguments).arg("--home").arg(home);
    Ok(command)
}

/// Hides from a command what the environment says of another agent, workspace, server or database.
pub fn remove_settings(command: &mut Command) {
    for name in ["AGENT_ID", "DATABASE", "WORKSPACE", "USER_ID", "URL", "TOKEN"] {
        command.env_remove(format!("COMMONBOOK_{name}"));
    }
    command.env_remove("COMMONBOOK");
}

impl ChildServer {
    /// Starts a server for this home on a free port.
    ///
    /// # Errors
    /// `unavailable` if it does not start.
    pub fn start(home: &Path) -> Result<Self> {
        Self::run(program_command(home, &["serve", "--port", "0"])?)
    }

    /// Starts a server with this command.
    ///
    /// # Errors
    /// `unavailable` if it does not start.
    pub fn run(mut serve: Command) -> Result<Self> {
        let mut child = serve
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| step_error("the server did not start", error))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(|error| step_error("the server printed nothing", error))?;
        }
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        let Some(url) = url.map(str::to_owned) else {
            drop(child.kill());
            return Err(Error::new(ErrorKind::Unavailable, "the server did not start"));
        };
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .max_idle_connections_per_host(128)
            .build();
        Ok(Self { child, url, agent: config.into() })
    }

    /// The process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Calls REST as this agent in this workspace; returns the status and the body.
    ///
    /// # Errors
    /// `unavailable` if the server does not respond.
    pub fn call(
        &self,
        method: &str,
        path: &str,
        agent: &str,
        workspace: &str,
        body: &Value,
    ) -> Result<(u16, Value)> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("X-Commonbook-Agent", agent)
            .header("X-Commonbook-Workspace", workspace)
            .header("Content-Type", "application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request =
            request.body(body).map_err(|error| step_error("the request is not valid", error))?;
        let mut response = self
            .agent
            .run(request)
            .map_err(|error| step_error("the server did not respond", error))?;
        let status = response.status().as_u16();
        let answer = response.body_mut().with_config().limit(64 << 20).read_json();
        Ok((status, answer.map_err(|error| step_error("the response is not JSON", error))?))
    }
}

impl Drop for ChildServer {
    fn drop(&mut self) {
        // Killing a process that has ended fails, which is fine.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The error of a failed step, with its cause.
pub fn step_error(step: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{step}: {error}")).with_cause(error)
}
