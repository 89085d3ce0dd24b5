//! `hook`: what a client calls at certain moments. It answers in time, whatever happens.

use std::io::Read;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;

use super::verbs::Open;
use super::{Client, Input};
use crate::caller::Heard;
use crate::config::Config;
use crate::hook::invocation::Turn;

/// How long it may take. What began then is left alone, and the client hears nothing of it.
const PATIENCE: Duration = Duration::from_millis(1_800);

/// What is answered where there is nothing to say.
const NOTHING: &str = "{}";

/// Answers a client's hook: reads what happened from standard input, and prints JSON.
#[derive(Debug, Clone, Args)]
pub(crate) struct Hook {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// The event, as the client calls it
    event: Option<String>,
}

impl Hook {
    /// What the client is answered: always one line of JSON, and in time. What goes wrong is told to
    /// the log.
    pub(crate) fn answer(self, heard: Heard, config: Config, open: Open) -> String {
        let end = Instant::now() + PATIENCE;
        let (tell, told) = mpsc::channel();
        let (client, event) = (self.client, self.event.clone().unwrap_or_default());
        std::thread::spawn(move || {
            // Nobody waits any more: then this process is about to end.
            drop(tell.send(self.answered(&heard, &config, open, end)));
        });
        let answer = told.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Unavailable, "it took too long, or broke off"))
        });
        answer.unwrap_or_else(|error| {
            let cause = error.cause.as_ref().map(tracing::field::display);
            tracing::warn!(%client, event, %error, cause, "a hook said nothing");
            NOTHING.to_owned()
        })
    }

    fn answered(&self, heard: &Heard, config: &Config, open: Open, end: Instant) -> Result<String> {
        let mut told = Vec::new();
        let mut bounded = std::io::stdin().lock().take(limits::BODY_BYTES as u64 + 1);
        bounded.read_to_end(&mut told).map_err(|error| {
            Error::new(ErrorKind::Unavailable, "standard input cannot be read").because(error)
        })?;
        if told.len() > limits::BODY_BYTES {
            return Err(Error::too_large("stdin", told.len(), limits::BODY_BYTES, "bytes"));
        }
        let input = Input::read(self.client, self.event.as_deref().unwrap_or_default(), &told)?;
        Turn::answer(input, heard, config, open, end)
    }
}
