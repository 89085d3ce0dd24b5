//! What a server observes of each call of a verb, whichever door it came through: its metrics, and its
//! span if traces are sent.

use std::time::Instant;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::model::caller::EntryPoint;

use crate::calls::metrics::{OUTCOME_OK, server_metrics};
use crate::calls::traces::{self, CallSpan};

/// A call of a verb that runs. Dropping it records the call, also if the verb panics.
pub(crate) struct ObservedCall {
    verb: &'static str,
    door: EntryPoint,
    begun: Instant,
    outcome: &'static str,
    span: Option<CallSpan>,
}

impl ObservedCall {
    /// A call of this verb through this door begins.
    pub(crate) fn begin(verb: &'static str, door: EntryPoint) -> Self {
        if let Some(metrics) = server_metrics() {
            metrics.begin_call();
        }
        let span = traces::begin_call(verb, door);
        let outcome = ErrorKind::Internal.name();
        Self { verb, door, begun: Instant::now(), outcome, span }
    }

    /// The call has ended so.
    pub(crate) fn end<T>(mut self, response: &Result<T>) {
        self.outcome = match response {
            Ok(_) => OUTCOME_OK,
            Err(error) => error.kind.name(),
        };
    }
}

impl Drop for ObservedCall {
    fn drop(&mut self) {
        if let Some(metrics) = server_metrics() {
            metrics.end_call(self.verb, self.door, self.outcome, self.begun.elapsed());
        }
        if let Some(span) = self.span.take() {
            span.end(self.outcome);
        }
    }
}
