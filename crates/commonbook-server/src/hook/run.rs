//! `hook`: what a client calls at certain moments. It answers in time, whatever happens.

use std::io::Read;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;

use super::verbs::StoreOpener;
use super::{HookClient, HookInput};
use crate::caller::CallerClaims;
use crate::config::Config;
use crate::hook::invocation::HookInvocation;

/// How long it may take. What began then is left alone, and the client hears nothing of it.
const HOOK_TIMEOUT: Duration = Duration::from_millis(1_800);

/// What is answered where there is nothing to say.
const EMPTY_RESPONSE: &str = "{}";

/// Answers a client's hook: reads what happened from standard input, and prints JSON.
#[derive(Debug, Clone, Args)]
pub(crate) struct HookCommand {
    /// The client
    #[arg(value_enum)]
    client: HookClient,
    /// The event, as the client calls it
    event: Option<String>,
}

impl HookCommand {
    /// What the client is answered: always one line of JSON, and in time. What goes wrong is told to
    /// the log.
    pub(crate) fn answer(self, heard: CallerClaims, config: Config, open: StoreOpener) -> String {
        let end = Instant::now() + HOOK_TIMEOUT;
        let (tell, told) = mpsc::channel();
        let (client, event) = (self.client, self.event.clone().unwrap_or_default());
        std::thread::spawn(move || {
            // Nobody waits any more: then this process is about to end.
            drop(tell.send(self.try_answer(&heard, &config, open, end)));
        });
        let answer = told.recv_timeout(HOOK_TIMEOUT).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Unavailable, "it took too long, or broke off"))
        });
        answer.unwrap_or_else(|error| {
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::warn!(%client, event, %error, cause, "a hook said nothing");
            EMPTY_RESPONSE.to_owned()
        })
    }

    fn try_answer(
        &self,
        heard: &CallerClaims,
        config: &Config,
        open: StoreOpener,
        end: Instant,
    ) -> Result<String> {
        let mut told = Vec::new();
        let mut bounded = std::io::stdin().lock().take(limits::BODY_BYTES as u64 + 1);
        bounded.read_to_end(&mut told).map_err(|error| {
            Error::new(ErrorKind::Unavailable, "standard input cannot be read").with_cause(error)
        })?;
        if told.len() > limits::BODY_BYTES {
            return Err(Error::too_large("stdin", told.len(), limits::BODY_BYTES, "bytes"));
        }
        let input = HookInput::read(self.client, self.event.as_deref().unwrap_or_default(), &told)?;
        HookInvocation::answer(input, heard, config, open, end)
    }
}
