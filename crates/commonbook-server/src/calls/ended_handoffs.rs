//! The ends of handoffs, which their source hears behind the answer to its next call: over MCP as a second text, on the
//! command line as lines for people.

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::Caller;
use commonbook::model::handoff::Handoff;
use commonbook::verbs::names;

use crate::calls::verb::Verb;

/// Verbs whose text tells the ends of the caller's handoffs itself.
const TELLING_VERBS: [&str; 2] = [names::GET_BRIEFING, names::GET_CONTEXT];

/// The ends of the caller's handoffs of which it has not heard, as text for a model, after a call of this verb that
/// went well. Empty if there are none, or if the verb tells them itself.
pub(crate) fn ended_handoffs_text(book: &Commonbook, caller: &Caller, verb: &Verb) -> String {
    told_beside(verb, || book.take_results(caller))
}

/// The same handoffs, for a person to read.
pub(crate) fn ended_handoffs(book: &Commonbook, caller: &Caller, verb: &Verb) -> Vec<Handoff> {
    told_beside(verb, || book.take_ended_handoffs(caller))
}

/// What a caller hears beside the answer of a verb; nothing if the verb tells it itself.
fn told_beside<T: Default>(verb: &Verb, take: impl FnOnce() -> Result<T>) -> T {
    if TELLING_VERBS.contains(&verb.name) {
        return T::default();
    }
    take().unwrap_or_else(|error| {
        // The call itself went well; a context tells them later.
        tracing::debug!(%error, "results of handoffs could not be told");
        T::default()
    })
}
