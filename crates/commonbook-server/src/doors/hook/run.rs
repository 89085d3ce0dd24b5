//! `hook`: the command that a client calls at its events. It always answers in time.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use clap::Args;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{limits, thread};

use super::HookInput;
use super::progress::HookProgress;
use super::spool::HookSpool;
use super::verbs::StoreOpener;
use crate::clients::hook_event::{HookClient, HookEvent};
use crate::clients::local::HookTiming;
use crate::doors::hook::invocation::HookInvocation;
use crate::http::caller::CallerClaims;
use crate::settings::config::Config;

/// The time limit of a hook. Work that exceeds it goes on without its result.
const HOOK_TIMEOUT: Duration = Duration::from_millis(1_800);

/// The time that a hook gives to what earlier ones could not write, after its output.
const REST_TIMEOUT: Duration = Duration::from_millis(400);

/// The output of a hook without a response.
const EMPTY_RESPONSE: &str = "{}";

/// Answers one hook of a coding client; `commonbook setup` installs these calls
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
    /// Ends when the hook has written what earlier ones could not write.
    rest: Receiver<Result<String>>,
    end: Instant,
}

impl HookOutput {
    /// Waits for the rest of the work, which the output does not depend on.
    pub(crate) fn finish(self) {
        let time_left = self.end.saturating_duration_since(Instant::now());
        drop(self.rest.recv_timeout(time_left.min(REST_TIMEOUT)));
    }
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
        let home = config.home.clone();
        let progress: Arc<HookProgress> = Arc::default();
        let own = Arc::clone(&progress);
        let begun_work = thread::start(move || {
            let answer = self.try_answer(&claims, &config, open, end, &own);
            let (line, invocation) = match answer {
                Ok((line, invocation)) => (Ok(line), invocation),
                Err(error) => (Err(error), None),
            };
            // Sending fails after the time limit, when this process is about to end.
            if sender.send(line).is_ok()
                && let Some(mut invocation) = invocation
            {
                invocation.drain_spool(Some(end));
            }
        });
        let no_answer = |_| match begun_work {
            Ok(_) => Err(Error::new(ErrorKind::Unavailable, "the hook took too long or panicked")),
            Err(error) => Err(error),
        };
        let output = receiver.recv_timeout(HOOK_TIMEOUT).unwrap_or_else(no_answer);
        keep_unwritten(home.as_deref(), &progress);
        let failed = output.is_err();
        let line = output.unwrap_or_else(|error| {
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::warn!(%client, event, %error, cause, "a hook failed");
            EMPTY_RESPONSE.to_owned()
        });
        let microseconds = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let report = |event: HookEvent| HookTiming { client, event, failed, microseconds };
        HookOutput { line, report: progress.moment().map(report), rest: receiver, end }
    }

    fn try_answer<'c>(
        &self,
        claims: &CallerClaims,
        config: &'c Config,
        open: StoreOpener,
        end: Instant,
        progress: &'c HookProgress,
    ) -> Result<(String, Option<HookInvocation<'c>>)> {
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
        HookInvocation::answer(input, claims, config, open, end, progress)
    }
}

/// Leaves what a hook has not written to the next one.
fn keep_unwritten(home: Option<&Path>, progress: &HookProgress) {
    let Some((home, record)) = home.zip(progress.take_unwritten()) else { return };
    match HookSpool::of(home).keep(&record) {
        Ok(()) => tracing::warn!("what the hook had to write waits for the next command or hook"),
        Err(error) => tracing::error!(%error, "what the hook had to write is lost"),
    }
}
