//! `commonbook dashboard`: prints and opens a link that signs a browser in.

use std::io::{BufRead, BufReader, IsTerminal};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use serde_json::json;

use super::sign_in::SignInLink;
use crate::calls::output::{print_json, print_line, print_note};
use crate::clients::remote::ServerAddress;
use crate::http::gate::DASHBOARD_PATH;
use crate::settings::config::Config;
use crate::system::serving::running_server;

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
        // Its first line says that it listens; its errors stay on the terminal.
        serve.stdout(Stdio::piped());
        serve.spawn().map_err(|error| start_error().with_cause(error))
    }
}

/// Waits until the server that was started says where it listens.
fn await_server(home: &Path, server: &mut Child) -> Result<SocketAddr> {
    let mut line = String::new();
    if let Some(output) = server.stdout.as_mut() {
        let read = BufReader::new(output).read_line(&mut line);
        read.map_err(|error| start_error().with_cause(error))?;
    }
    running_server(home).ok_or_else(start_error)
}

fn start_error() -> Error {
    Error::new(ErrorKind::Unavailable, "the server did not start")
        .hint("Choose another port with --port, or run `commonbook serve` to see why.")
}
