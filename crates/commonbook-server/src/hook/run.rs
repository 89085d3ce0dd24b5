//! `hook`: the command that a client calls at its events. It always answers in time.

use std::io::Read;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use clap::Args;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;

use super::verbs::StoreOpener;
use super::{HookClient, HookEvent, HookInput};
use crate::caller::CallerClaims;
use crate::config::Config;
use crate::hook::invocation::HookInvocation;
use crate::local::HookTiming;

/// The time limit of a hook. Work that exceeds it goes on without its result.
const HOOK_TIMEOUT: Duration = Duration::from_millis(1_800);

/// The output of a hook without a response.
const EMPTY_RESPONSE: &str = "{}";

/// Answers one hook of a coding client: reads the event from standard input and prints JSON.
#[derive(Debug, Clone, Args)]
pub(crate) struct HookCommand {
    /// Client that calls the hook
    #[arg(value_enum)]
    client: HookClient,
    /// Name of the event in the client
    event: Option<String>,
}

/// What a hook puts out.
pub(crate) struct HookOutput {
    /// The line for the client.
    pub(crate) line: String,
    /// The report for a server, unless the hook had nothing to do.
    pub(crate) report: Option<HookTiming>,
}

impl HookCommand {
    /// Returns the output for the client: always one line of JSON, within the time limit. Logs errors.
    pub(crate) fn answer(
        self,
        claims: CallerClaims,
        config: Config,
        open: StoreOpener,
    ) -> HookOutput {
        let begun = Instant::now();
        let end = begun + HOOK_TIMEOUT;
        let (sender, receiver) = mpsc::channel();
        let (client, event) = (self.client, self.event.clone().unwrap_or_default());
        let worked_on = Arc::new(OnceLock::new());
        let noted = Arc::clone(&worked_on);
        std::thread::spawn(move || {
            // Sending fails after the time limit, when this process is about to end.
            drop(sender.send(self.try_answer(&claims, &config, open, end, &noted)));
        });
        let output = receiver.recv_timeout(HOOK_TIMEOUT).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Unavailable, "the hook took too long or panicked"))
        });
        let failed = output.is_err();
        let line = output.unwrap_or_else(|error| {
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::warn!(%client, event, %error, cause, "a hook failed");
            EMPTY_RESPONSE.to_owned()
        });
        let microseconds = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let report = |event: &HookEvent| HookTiming { client, event: *event, failed, microseconds };
        HookOutput { line, report: worked_on.get().map(report) }
    }

    fn try_answer(
        &self,
        claims: &CallerClaims,
        config: &Config,
        open: StoreOpener,
        end: Instant,
        worked_on: &OnceLock<HookEvent>,
    ) -> Result<String> {
        let mut bytes = Vec::new();
        let mut bounded = std::io::stdin().lock().take(limits::BODY_BYTES as u64 + 1);
        bounded.read_to_end(&mut bytes).map_err(|error| {
            Error::new(ErrorKind::Unavailable, "cannot read standard input").with_cause(error)
        })?;
        if bytes.len() > limits::BODY_BYTES {
            return Err(Error::too_large("stdin", bytes.len(), limits::BODY_BYTES, "bytes"));
        }
        let input =
            HookInput::read(self.client, self.event.as_deref().unwrap_or_default(), &bytes)?;
        HookInvocation::answer(input, claims, config, open, end, worked_on)
    }
}
