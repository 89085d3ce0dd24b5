//! `commonbook dashboard`: prints and opens a link that signs a browser in.

use std::io::IsTerminal;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use serde_json::json;

use super::sign_in::{DASHBOARD_PATH, SignInLink};
use crate::config::Config;
use crate::output::{print_json, print_line, print_note};
use crate::remote::ServerAddress;
use crate::serving::running_server;

/// How long a server may take to start: a large home is migrated before.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How often it is looked for meanwhile.
const START_INTERVAL: Duration = Duration::from_millis(50);

/// Opens the pages of the server in a browser, signed in; starts a server if none runs.
#[derive(Debug, clap::Args)]
pub(crate) struct DashboardCommand {
    /// Print the link alone, without opening a browser
    #[arg(long)]
    no_open: bool,
    /// Port of the server, if this starts one; 0 selects a free port
    #[arg(long)]
    port: Option<u16>,
}

impl DashboardCommand {
    /// Prints the link and opens it. If it started a server, serves until a signal stops it.
    ///
    /// # Errors
    /// `unavailable` if no server runs and none can be started.
    pub(crate) fn run(&self, config: &Config, caller: &Caller, as_json: bool) -> Result<()> {
        if let Some(address) = ServerAddress::of(config, None)? {
            let url = format!("{}{DASHBOARD_PATH}", address.url.trim_end_matches('/'));
            print_note("note: memories are at a server; sign in there with a token");
            self.show(&url, as_json);
            return Ok(());
        }
        let home = config.home()?;
        let (address, server) = match running_server(home) {
            Some(address) => (address, None),
            None => {
                let mut server = self.start_server(home, caller)?;
                (await_server(home, &mut server)?, Some(server))
            }
        };
        let path = SignInLink::new_path(home, &caller.workspace)?;
        self.show(&format!("http://{address}{path}"), as_json);
        match server {
            None => Ok(()),
            Some(mut server) => {
                print_note("The server runs until you press Ctrl-C.");
                server.wait().map(drop).map_err(|error| start_error().with_cause(error))
            }
        }
    }

    fn show(&self, url: &str, as_json: bool) {
        match as_json {
            true => print_json(&json!({"url": url})),
            false => print_line(url),
        }
        if !self.no_open && std::io::stdout().is_terminal() && opener::open(url).is_err() {
            print_note(
                "No browser could be opened: open the link yourself. It works once, for 5 minutes.",
            );
        }
    }

    fn start_server(&self, home: &Path, caller: &Caller) -> Result<Child> {
        let program = std::env::current_exe().map_err(|error| start_error().with_cause(error))?;
        let mut serve = Command::new(program);
        serve.args(["serve", "--workspace", caller.workspace.as_str(), "--home"]).arg(home);
        if let Some(port) = self.port {
            serve.args(["--port", &port.to_string()]);
        }
        // Its messages would stand between the link and its reader; its errors stay.
        serve.stdout(Stdio::null());
        serve.spawn().map_err(|error| start_error().with_cause(error))
    }
}

/// Waits until the server that was started answers.
fn await_server(home: &Path, server: &mut Child) -> Result<std::net::SocketAddr> {
    let begun = Instant::now();
    while begun.elapsed() < START_TIMEOUT {
        if let Some(address) = running_server(home) {
            return Ok(address);
        }
        if let Ok(Some(_)) = server.try_wait() {
            return Err(start_error());
        }
        std::thread::sleep(START_INTERVAL);
    }
    drop(server.kill());
    Err(start_error())
}

fn start_error() -> Error {
    Error::new(ErrorKind::Unavailable, "the server did not start")
        .hint("Choose another port with --port, or run `commonbook serve` to see why.")
}
