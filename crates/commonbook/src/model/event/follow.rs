//! Requests for events, and the filter of a journal.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resume::JournalHistory;
use super::{Event, EventKind, EventRecord};
use crate::base::error::{Error, Result};
use crate::base::{id, input, limits};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::memory::{Importance, distinct_topics};
use crate::model::search::period::period_bounds;
use crate::model::workspace::Workspace;

/// Lists the events of the workspace's journal, oldest first: what happened to which subject, and
/// by which agent. Returns only events about memories that you may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListEvents {
    /// Only events after this sequence; 0, the beginning, by default.
    #[serde(default)]
    pub after: u64,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Only events about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only events about subjects of at least this importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only events of these kinds: `memory.saved`, or `memory.*` for all kinds with this beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Leaves out your own events.
    #[serde(default)]
    pub exclude_self: bool,
    /// Only events by this agent and those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Only events about this: an id, the end of one, or a case's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only events since this time: a time, a date, or an age such as `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only events until this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Streams the events of the workspace's journal as they happen, oldest first. Sends only events
/// about memories that you may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowEvents {
    /// Begins after this sequence; at the present end of the journal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only events about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only events about subjects of at least this importance; with several, of one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub importance: Vec<Importance>,
    /// Only events of these kinds: `memory.saved`, or `memory.*` for all kinds with this beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Leaves out your own events.
    #[serde(default)]
    pub exclude_self: bool,
}

/// A page of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, oldest first. A filter can leave few or none, although more follow.
    pub items: Vec<Event>,
    /// The `after` of the next call; `null` if there are no more events yet.
    pub next: Option<u64>,
    /// If it is another one than in your last response, events that you have read may be lost.
    #[serde(default, skip_serializing_if = "JournalHistory::is_only")]
    #[schemars(with = "String")]
    pub history: JournalHistory,
}

/// The next events of a journal, and how far it was read for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// The events, oldest first.
    pub items: Vec<Event>,
    /// The last position that was read.
    pub through: u64,
    /// Whether the journal goes on beyond it.
    pub more: bool,
    /// The history that the journal belongs to.
    pub history: JournalHistory,
    /// Its end.
    pub end: u64,
}

/// The next events of a journal as they are recorded, without the sight of a reader.
#[derive(Debug, Clone)]
pub struct RecordedEvents {
    /// The position after which they were read: the end of the journal, if that is before the one
    /// asked for.
    pub after: u64,
    /// The events, oldest first.
    pub items: Vec<EventRecord>,
    /// The history that the journal belongs to.
    pub history: JournalHistory,
}

/// A filter of events; it admits all of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of one of these kinds; empty for any.
    pub kinds: Vec<EventKind>,
    /// About one of these topics, in lower case; empty for any.
    pub topics: Vec<String>,
    /// About subjects of one of these importances; empty for any.
    pub importances: Vec<Importance>,
    /// Not by this agent.
    pub except: Option<Agent>,
    /// By this agent or one below it.
    pub actor: Option<Agent>,
    /// About this subject.
    pub subject: Option<SubjectName>,
    /// At this time or later.
    pub since: Option<Timestamp>,
    /// At this time or earlier.
    pub until: Option<Timestamp>,
}

/// The name by which a filter finds the subject of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectName {
    /// The id or key of the subject.
    pub id: String,
    /// The letters in which the id of the subject may end instead.
    pub ending: Option<String>,
}

impl SubjectName {
    /// Parses the name in a request.
    ///
    /// # Errors
    /// `invalid` for an empty text, `too_large` for one longer than an id.
    pub fn parse(text: &str) -> Result<Self> {
        let id = input::line("subject", text, limits::SUBJECT_CHARS)?;
        let ending = id::parse_handle(&id);
        Ok(Self { id, ending })
    }

    /// Whether this is the name of the subject.
    #[must_use]
    pub fn names(&self, subject: &str) -> bool {
        let ends = |ending: &String| {
            subject.len() > ending.len() && id::handle_of_length(subject, ending.len()) == ending
        };
        self.id == subject || self.ending.as_ref().is_some_and(ends)
    }
}

impl EventFilter {
    /// Whether the filter admits this event.
    #[must_use]
    pub fn admits(&self, event: &Event) -> bool {
        let topics = &mut event.topics.iter().map(|topic| topic.to_lowercase());
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && (self.topics.is_empty() || topics.any(|topic| self.topics.contains(&topic)))
            && (self.importances.is_empty() || self.importances.contains(&event.importance))
            && self.except.as_ref() != Some(&event.actor)
            && self.actor.as_ref().is_none_or(|by| is_by(&event.actor, by))
            && self.subject.as_ref().is_none_or(|subject| subject.names(&event.subject))
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at <= until)
    }

    fn of(
        caller: &Caller,
        topics: &[String],
        events: &[String],
        importance: &[Importance],
        exclude_self: bool,
    ) -> Result<Self> {
        let topics = distinct_topics(topics)?;
        Ok(Self {
            kinds: kinds(events)?,
            topics: topics.into_iter().map(|topic| topic.to_lowercase()).collect(),
            importances: wanted_importances(importance),
            except: exclude_self.then(|| caller.agent.clone()),
            ..Self::default()
        })
    }
}

/// The importances that a request admits: one means it and all above it, several mean themselves.
fn wanted_importances(named: &[Importance]) -> Vec<Importance> {
    match named {
        [least] => Importance::ALL.iter().copied().filter(|it| it >= least).collect(),
        several => several.to_vec(),
    }
}

/// Whether this actor is the agent or one below it.
fn is_by(actor: &Agent, agent: &Agent) -> bool {
    actor == agent || actor.is_child_of(agent)
}

impl ListEvents {
    /// The filter for this caller, whose request came at `now`.
    ///
    /// # Errors
    /// `invalid` for an unknown kind, an empty topic, or a malformed name or time; `too_large` for too
    /// many topics or a long one.
    pub fn filter(&self, caller: &Caller, now: Timestamp) -> Result<EventFilter> {
        let filter = EventFilter::of(
            caller,
            &self.topics,
            &self.events,
            self.importance.as_slice(),
            self.exclude_self,
        )?;
        let actor = self.actor.as_deref().map(Agent::with_any_name).transpose();
        let (since, until) = period_bounds(self.since.as_deref(), self.until.as_deref(), now)?;
        Ok(EventFilter {
            actor: actor.map_err(|error| error.with_field("actor"))?,
            subject: self.subject.as_deref().map(SubjectName::parse).transpose()?,
            since,
            until,
            ..filter
        })
    }

    /// The same request, with the times that its ages stand for at `now`: each page of a long journal
    /// then has the same bounds.
    ///
    /// # Errors
    /// `invalid` for a malformed time.
    pub fn with_fixed_times(self, now: Timestamp) -> Result<Self> {
        let (since, until) = period_bounds(self.since.as_deref(), self.until.as_deref(), now)?;
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        Ok(Self { since: text(since), until: text(until), ..self })
    }
}

impl FollowEvents {
    /// The filter for this caller.
    ///
    /// # Errors
    /// As [`ListEvents::filter`].
    pub fn filter(&self, caller: &Caller) -> Result<EventFilter> {
        EventFilter::of(caller, &self.topics, &self.events, &self.importance, self.exclude_self)
    }
}

/// The kinds that match these names and prefixes, without duplicates.
fn kinds(names: &[String]) -> Result<Vec<EventKind>> {
    let mut found: Vec<EventKind> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let matching = |kind: &&EventKind| match name.strip_suffix('*') {
            Some(beginning) => kind.name().starts_with(beginning),
            None => kind.name() == name,
        };
        let before = found.len();
        found.extend(EventKind::ALL.iter().filter(matching));
        if found.len() == before {
            let all: Vec<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
            let all = all.join(", ");
            let wrong = format!("event kind {name:?} does not exist");
            return Err(Error::invalid(&format!("events[{place}]"), wrong)
                .hint(format!("Use one of {all}, or a prefix with *, as in memory.*.")));
        }
    }
    found.sort_by_key(|kind| kind.name());
    found.dedup();
    Ok(found)
}

/// A filtered range of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRange {
    /// The workspace.
    pub workspace: Workspace,
    /// The position before the range.
    pub after: u64,
    /// The last position of the range.
    pub until: u64,
    /// The filter.
    pub filter: EventFilter,
}

impl JournalRange {
    /// The whole journal of this workspace.
    #[must_use]
    pub fn entire_journal(workspace: Workspace) -> Self {
        Self { workspace, after: 0, until: u64::MAX, filter: EventFilter::default() }
    }

    /// The part of the range after this position.
    #[must_use]
    pub fn from_position(self, after: u64) -> Self {
        Self { after, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    fn named(names: &[&str]) -> Result<Vec<&'static str>> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(kinds(&names)?.into_iter().map(EventKind::name).collect())
    }

    #[test]
    fn a_final_star_matches_a_prefix_and_each_kind_once() {
        assert_eq!(named(&[]).ok(), Some(vec![]));
        assert_eq!(named(&["memory.saved"]).ok(), Some(vec!["memory.saved"]));
        let re = vec![
            "memory.released",
            "memory.restored",
            "memory.retracted",
            "memory.revision_purged",
        ];
        assert_eq!(named(&["memory.re*", "memory.restored"]).ok(), Some(re));
        assert_eq!(named(&["*"]).map(|kinds| kinds.len()).ok(), Some(EventKind::ALL.len()));
        let of_memories = EventKind::ALL.iter().filter(|kind| kind.is_of_memory()).count();
        assert_eq!(named(&["memory.*"]).map(|kinds| kinds.len()).ok(), Some(of_memories));
    }

    #[test]
    fn the_error_for_an_unknown_kind_lists_the_known_ones() {
        for bad in ["", "memory", "Memory.saved", "*.saved", "memory.*d", "cat.*", "memory.saved "]
        {
            let error = named(&["memory.saved", bad]).expect_err(bad);
            let field = error.field.as_deref();
            assert_eq!((error.kind, field), (ErrorKind::Invalid, Some("events[1]")), "{bad:?}");
            assert!(error.hint.is_some_and(|hint| hint.contains("memory.quarantined")));
        }
    }
}
