//! Events in words: who did what, and to what.

use commonbook::model::contradiction::Contradiction;
use commonbook::model::event::{Event, EventKind};
use commonbook::model::graph::EntityDetails;
use commonbook::model::handoff::HandoffReceipt;
use commonbook::model::memory::Memory;
use serde_json::json;

use super::handoff::transfer;
use super::layout::{beginning, memory_glance, one_line, second, short};
use super::lookup::ViewLookup;

/// Characters of the text of a memory behind an event.
const SAID_CHARS_MAX: usize = 160;

/// An event in words. `says` is the text of its memory, where the response has it.
pub(super) fn event_words(event: &Event, says: Option<&str>, lookup: &ViewLookup<'_>) -> String {
    let Event { kind, actor, subject, .. } = event;
    let done = done(*kind);
    if kind.is_of_memory() {
        let text = says.map(|says| beginning(says, SAID_CHARS_MAX)).or_else(|| {
            // To show an event is no use of its memory.
            let then = json!({"id": subject, "at": event.at});
            let memory: Memory = lookup.get("memory_at", then)?;
            Some(memory_glance(&memory))
        });
        let fields = match event.changed.is_empty() {
            true => String::new(),
            false => format!(" ({})", event.changed.join(", ")),
        };
        return match text {
            Some(text) => format!("{actor} {done}{fields}: {text}"),
            None => format!("{actor} {done} a memory{fields}"),
        };
    }
    let name = kind.name().split('.').next().unwrap_or_default();
    match name {
        "handoff" => {
            let receipt: Option<HandoffReceipt> =
                lookup.get("get_handoff", json!({"handoff": subject}));
            match (receipt, kind) {
                (Some(receipt), EventKind::HandoffCreated) => transfer(&receipt.handoff),
                (Some(receipt), _) => format!("{actor} {done} {}", transfer(&receipt.handoff)),
                (None, _) => format!("{actor} {done} a handoff"),
            }
        }
        "contradiction" => {
            let found: Option<Contradiction> =
                lookup.get("get_contradiction", json!({"contradiction": subject}));
            let reason = found.map(|found| format!(": {}", found.reason)).unwrap_or_default();
            format!("{actor} {done} a contradiction{reason}")
        }
        "entity" => {
            let page: Option<EntityDetails> = lookup.get("get_entity", json!({"entity": subject}));
            let name = page.map(|page| {
                let entity = page.entity;
                format!(" {}:{}", entity.entity_type, entity.value)
            });
            format!("{actor} {done} the entity{}", name.unwrap_or_default())
        }
        "case" => format!("{actor} {done} the case {subject}"),
        "session" => format!("{actor} {done} a session"),
        _ => format!("{actor} {done}"),
    }
}

/// What an event says of its subject.
fn done(kind: EventKind) -> &'static str {
    match kind {
        EventKind::CheckpointCreated => "created a checkpoint",
        EventKind::CheckpointArchived => "archived a checkpoint",
        EventKind::CheckpointDeleted => "deleted a checkpoint",
        EventKind::RelationAdded => "stated a relation",
        EventKind::ContextBuilt => "received a context",
        EventKind::AgentMemoryLoaded => "received its standing memory",
        EventKind::ConsolidationCompleted => "consolidated its memories",
        EventKind::StoreLossAccepted => "accepted that the store lost events",
        EventKind::SessionUnsummarised => "ended without a summary",
        EventKind::HandoffExpired => "let expire",
        EventKind::HandoffCycleFound => "closed a cycle with",
        EventKind::HandoffRefused => "was refused another round of",
        EventKind::CaseAppended => "appended to",
        EventKind::MemoryAppealed => "asked to release",
        EventKind::EntityCreated => "stated",
        EventKind::EntityMerged => "added to",
        kind => kind.name().rsplit('.').next().unwrap_or_default(),
    }
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
