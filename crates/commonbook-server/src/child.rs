//! A server of our own, started as a child process: what the demo and the benches call for real.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::Value;

/// The argument by which this executable runs the program, where it is another than the program itself.
static PROGRAM_ARGUMENT: OnceLock<&str> = OnceLock::new();

/// Has [`program_command`] put this argument before all others: the executable that calls it runs the program when
/// its first argument is this one.
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

/// A command of this program on this home, which nothing of the environment speaks for.
///
/// # Errors
/// `unavailable` when the system cannot tell where the program is.
pub fn program_command(home: &Path, arguments: &[&str]) -> Result<Command> {
    let program = std::env::current_exe()
        .map_err(|error| step_error("this program cannot find itself", error))?;
    let mut command = Command::new(program);
    for name in ["COMMONBOOK_AGENT_ID", "COMMONBOOK_WORKSPACE", "COMMONBOOK_USER_ID"] {
        command.env_remove(name);
    }
    command.args(PROGRAM_ARGUMENT.get()).args(arguments).arg("--home").arg(home);
    Ok(command)
}

impl ChildServer {
    /// Starts a server on a free port of this machine, for this home.
    ///
    /// # Errors
    /// `unavailable` when it does not start.
    pub fn start(home: &Path) -> Result<Self> {
        Self::run(program_command(home, &["serve", "--port", "0"])?)
    }

    /// Starts this server, with what its environment says.
    ///
    /// # Errors
    /// `unavailable` when it does not start.
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
                .map_err(|error| step_error("the server said nothing", error))?;
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

    /// The number of its process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Calls REST as this agent in this workspace; answers the status and the body.
    ///
    /// # Errors
    /// `unavailable` when the server cannot be reached.
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
            request.body(body).map_err(|error| step_error("the request is none", error))?;
        let mut response = self
            .agent
            .run(request)
            .map_err(|error| step_error("the server did not answer", error))?;
        let status = response.status().as_u16();
        let answer = response.body_mut().with_config().limit(64 << 20).read_json();
        Ok((status, answer.map_err(|error| step_error("the answer is no JSON", error))?))
    }
}

impl Drop for ChildServer {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The error of a step that failed, with the system's own reason.
pub fn step_error(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{what}: {error}")).with_cause(error)
}
