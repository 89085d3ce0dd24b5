//! `stats --watch`: prints the statistics again whenever they have changed, until Ctrl-C.
//!
//! It calls the verb about once a second and compares: statistics change by what others write, in any process,
//! and by the event streams of a server, of which no event tells.

use std::pin::pin;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::Value;

use super::show;
use crate::build_runtime;
use crate::calls::{output, verb};
use crate::clients::local::{RpcClient, RpcOutcome, RpcRequest};
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::settings::config::Config;
use crate::system::process;

/// The flag.
const WATCH_FLAG: &str = "watch";

/// The shortest time between two calls.
const WATCH_INTERVAL_MIN: Duration = Duration::from_secs(1);

/// The pause after a call as a multiple of its duration: in a very large home, watching costs a tenth of
/// a core at most.
const PAUSE_FACTOR: u32 = 9;

/// The flag as an argument of the command.
pub(super) fn argument() -> Arg {
    Arg::new(WATCH_FLAG)
        .long(WATCH_FLAG)
        .action(ArgAction::SetTrue)
        .help("Print again whenever something has changed, at most once a second, until Ctrl-C")
}

/// Whether the flag is given.
pub(super) fn is_on(matches: &ArgMatches) -> bool {
    matches.get_flag(WATCH_FLAG)
}

/// Prints the statistics and each change of them, until Ctrl-C or until the reader closes the pipe.
///
/// # Errors
/// The error of the first call; a later one that fails is repeated, and its error is printed once.
pub(super) fn run(
    config: &Config,
    address: Option<ServerAddress>,
    request: RpcRequest,
    as_json: bool,
    open: impl Fn() -> Result<Commonbook>,
) -> Result<()> {
    let mut source = StatsSource { config, server: None, request, book: None, open };
    source.server = address.map(|address| RestClient::new(address, COMMAND_TIMEOUT));
    build_runtime()?.block_on(async {
        let mut stop = pin!(process::stop_signal());
        let mut begun = Instant::now();
        let (mut shown, mut failed) = (source.read()?, false);
        print(&shown, as_json, true);
        loop {
            let pause = WATCH_INTERVAL_MIN.max(begun.elapsed() * PAUSE_FACTOR);
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
            begun = Instant::now();
            match source.read() {
                Ok(response) if response != shown => {
                    print(&response, as_json, false);
                    shown = response;
                    failed = false;
                }
                Ok(_) => failed = false,
                Err(error) if !failed => {
                    output::print_note(&format!("{error}; trying again"));
                    failed = true;
                }
                Err(_) => {}
            }
            if output::is_closed() {
                return Ok(());
            }
        }
    })
}

fn print(response: &Value, as_json: bool, is_first: bool) {
    if as_json {
        return output::print_line(&output::json_line(response));
    }
    if !output::clear_screen() && !is_first {
        output::print_line("");
    }
    show::stats(response);
}

/// Where the statistics come from.
struct StatsSource<'c, O> {
    config: &'c Config,
    /// The server at a URL, if memories are there.
    server: Option<RestClient>,
    request: RpcRequest,
    /// The store, once no server of this home has answered.
    book: Option<Commonbook>,
    open: O,
}

impl<O: Fn() -> Result<Commonbook>> StatsSource<'_, O> {
    /// The statistics now: of the server at a URL, else of a running server of the home, else of the
    /// store.
    fn read(&mut self) -> Result<Value> {
        let RpcRequest { verb, caller, request, .. } = &self.request;
        if let Some(server) = &self.server {
            return server.call_named(verb, caller, Value::Object(request.clone()));
        }
        if let Some(server) = RpcClient::connect_to_home(self.config)
            && let RpcOutcome::Answer(answer) = server.send_rpc_request(&self.request)
        {
            return answer.map(|answer| answer.response);
        }
        let unknown = || Error::new(ErrorKind::Internal, format!("there is no verb {verb}"));
        let call = &verb::find(verb).ok_or_else(unknown)?.call;
        let book = match self.book.take() {
            Some(book) => book,
            None => (self.open)()?,
        };
        let book = self.book.insert(book);
        call.run(book, caller, Value::Object(request.clone()))
    }
}
