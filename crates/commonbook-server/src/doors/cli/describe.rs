//! Events in words: who did what, and to what.

use commonbook::model::event::Event;

use super::layout::{one_line, second, short};
use super::lookup::ViewLookup;
use crate::calls::words;

/// An event in words. `says` is the text of its memory, where the response has it.
pub(super) fn event_words(event: &Event, says: Option<&str>, lookup: &ViewLookup<'_>) -> String {
    words::event_words(event, says, &|verb, request| (lookup.call)(lookup.caller, verb, request))
}

/// From where an event's caller called, in words: `on jarvis, with claude-code/2.1, over mcp`; empty if
/// Commonbook did it by itself, or before it noted that.
pub(super) fn origin_words(event: &Event) -> String {
    let device = event.device.as_ref().map(|device| format!("on {device}"));
    let client = event.client.as_ref().map(|client| format!("with {}", one_line(client)));
    let door = event.door.map(|door| format!("over {}", door.name()));
    [device, client, door].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The facts of an event: the handle of its subject, kind, time and position.
pub(super) fn event_facts(event: &Event) -> Vec<String> {
    let Event { kind, subject, sequence, at, .. } = event;
    vec![short(subject), kind.name().to_owned(), second(*at), format!("event {sequence}")]
}
