//! Memories, handoffs and events in words, as the command line and the pages show them.

use commonbook::model::contradiction::Contradiction;
use commonbook::model::event::{Event, EventKind};
use commonbook::model::graph::EntityDetails;
use commonbook::model::handoff::{Handoff, HandoffReceipt};
use commonbook::model::memory::Memory;
use commonbook::model::webhook::Webhook;
use commonbook::model::webhook::delivery::WebhookStop;
use commonbook::prompt::headlines::listed_headline;
use commonbook::verbs::names;
use commonbook_text::headline::headline;
pub(crate) use commonbook_text::sanitize::{is_hidden, one_line};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::calls::output::count_text;

/// What a person reads when the journal may have lost events.
pub(crate) const LOST_EVENTS_NOTE: &str = "The journal has another history now, as after a failover of the \
    database: events that were shown may be lost";

/// Calls a verb as the reader; `None` if it fails.
pub(crate) type WordLookup<'c> = dyn Fn(&str, Value) -> Option<Value> + 'c;

fn look_up<T: DeserializeOwned>(lookup: &WordLookup<'_>, verb: &str, request: Value) -> Option<T> {
    T::deserialize(&lookup(verb, request)?).ok()
}

/// The beginning of a text, on one line.
pub(crate) fn beginning(text: &str, chars_max: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A time to the minute, in the zone of this machine.
pub(crate) fn minute(time: Timestamp) -> String {
    local(time).strftime("%F %H:%M %Z").to_string()
}

/// A time to the second, in the zone of this machine.
pub(crate) fn second(time: Timestamp) -> String {
    local(time).strftime("%F %T %Z").to_string()
}

fn local(time: Timestamp) -> Zoned {
    time.to_zoned(TimeZone::system())
}

/// A memory in a list: its headline. What is unusual about it stands beside.
pub(crate) fn memory_glance(memory: &Memory) -> String {
    memory.headline()
}

/// Who hands what over to whom.
pub(crate) fn transfer(handoff: &Handoff) -> String {
    let Handoff { from, to, task, .. } = handoff;
    format!("{from} → {to}: {}", headline(task))
}

/// An event in words. `says` is the headline of its memory, where the response has it.
pub(crate) fn event_words(event: &Event, says: Option<&str>, lookup: &WordLookup<'_>) -> String {
    let Event { kind, actor, subject, .. } = event;
    let done = done(*kind);
    if kind.is_of_memory() {
        let text = says.map(one_line).or_else(|| {
            // To show an event is no use of its memory.
            let then = json!({"id": subject, "at": event.at});
            let memory: Memory = look_up(lookup, names::MEMORY_AT, then)?;
            listed_headline(&memory)
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
                look_up(lookup, names::GET_HANDOFF, json!({"handoff": subject}));
            match (receipt, kind) {
                (Some(receipt), EventKind::HandoffCreated) => transfer(&receipt.handoff),
                (Some(receipt), _) => format!("{actor} {done} {}", transfer(&receipt.handoff)),
                (None, _) => format!("{actor} {done} a handoff"),
            }
        }
        "contradiction" => {
            let found: Option<Contradiction> =
                look_up(lookup, names::GET_CONTRADICTION, json!({"contradiction": subject}));
            let reason = found.map(|found| format!(": {}", found.reason)).unwrap_or_default();
            format!("{actor} {done} a contradiction{reason}")
        }
        "entity" => {
            let page: Option<EntityDetails> =
                look_up(lookup, names::GET_ENTITY, json!({"entity": subject}));
            let name = page.map(|page| {
                let entity = page.entity;
                format!(" {}:{}", entity.entity_type, entity.value)
            });
            format!("{actor} {done} the entity{}", name.unwrap_or_default())
        }
        "case" => match says.map(one_line) {
            Some(says) => format!("{actor} {done} the case {subject}: {says}"),
            None => format!("{actor} {done} the case {subject}"),
        },
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
        EventKind::RelationRemoved => "removed a relation",
        EventKind::ContextBuilt => "received a context",
        EventKind::AgentMemoryLoaded => "received its standing memory",
        EventKind::ConsolidationCompleted => "consolidated its memories",
        EventKind::StoreLossAccepted => "accepted that the store lost events",
        EventKind::SessionUnsummarised => "ended without a summary",
        EventKind::HandoffExpired => "let expire",
        EventKind::HandoffCycleFound => "closed a cycle with",
        EventKind::HandoffRefused => "was refused another round of",
        EventKind::CaseAppended => "appended to",
        EventKind::MemoryRevisionPurged => "purged an earlier revision of",
        EventKind::MemoryAppealed => "asked to release",
        EventKind::EntityCreated => "stated",
        EventKind::EntityMerged => "added to",
        kind => kind.name().rsplit('.').next().unwrap_or_default(),
    }
}

/// The events that a webhook receives.
pub(crate) fn webhook_filter(webhook: &Webhook) -> String {
    let filter = &webhook.filter;
    let mut parts = Vec::new();
    if !filter.events.is_empty() {
        parts.push(filter.events.join(","));
    }
    if !filter.topics.is_empty() {
        parts.push(format!("about {}", filter.topics.join(",")));
    }
    if let Some(importance) = filter.importance {
        parts.push(format!("{} or more", importance.name()));
    }
    if filter.exclude_self {
        parts.push("not its own".to_owned());
    }
    if parts.is_empty() { "all events".to_owned() } else { parts.join(", ") }
}

/// Whether a webhook delivers.
pub(crate) fn webhook_state(webhook: &Webhook) -> String {
    let progress = &webhook.progress;
    match (progress.stopped, &progress.failing) {
        (Some(WebhookStop::TokenInvalid), _) => "stopped: its token is not valid".to_owned(),
        (Some(WebhookStop::ReceiverGone), _) => "stopped: the receiver answered 410".to_owned(),
        (None, Some(failing)) => format!(
            "event {} failed {} ({}), next attempt {}",
            failing.sequence,
            count_text(u64::from(failing.attempts), "time", "times"),
            failing.failure,
            second(failing.retry_at)
        ),
        (None, None) => format!("{} delivered", progress.delivered),
    }
}
