//! Events in words: who did what, and to what.

use commonbook::model::event::Event;

use super::layout::{second, short};
use super::lookup::ViewLookup;
use crate::words;

/// An event in words. `says` is the text of its memory, where the response has it.
pub(super) fn event_words(event: &Event, says: Option<&str>, lookup: &ViewLookup<'_>) -> String {
    words::event_words(event, says, &|verb, request| (lookup.call)(lookup.caller, verb, request))
}

/// The facts of an event: the handle of its subject, kind, time and position.
pub(super) fn event_facts(event: &Event) -> Vec<String> {
    let Event { kind, subject, sequence, at, .. } = event;
    vec![short(subject), kind.name().to_owned(), second(*at), format!("event {sequence}")]
}
