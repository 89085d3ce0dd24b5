//! Asking for events: a stretch of a journal, and which of its events are wanted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, EventKind};
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::memory::{Importance, distinct_topics};
use crate::model::workspace::Workspace;

/// Reads the journal of the workspace, oldest first: what happened, to what, by whom. Only what
/// is about memories that you may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListEvents {
    /// Only what came after this sequence; 0, the beginning, by default.
    #[serde(default)]
    pub after: u64,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Only what is about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only what is about things that matter at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only events of these kinds: `memory.saved`, or `memory.*` for all that begin so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only what others did.
    #[serde(default)]
    pub exclude_self: bool,
}

/// Follows the journal of the workspace: tells each event as it happens, oldest first, and only
/// what is about memories that you may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowEvents {
    /// What came after this sequence first; the present end of the journal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only what is about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Only what is about things that matter at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only events of these kinds: `memory.saved`, or `memory.*` for all that begin so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only what others did.
    #[serde(default)]
    pub exclude_self: bool,
}

/// A stretch of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, oldest first. Filters may leave few of them, or none, though more follow.
    pub items: Vec<Event>,
    /// What to give as `after` for the next stretch; `null` when there is nothing more yet.
    pub next: Option<u64>,
}

/// What came next in a journal, and how far it was looked through for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// The events, oldest first.
    pub items: Vec<Event>,
    /// The place up to which everything that is wanted was told.
    pub through: u64,
    /// Whether the journal goes on beyond it.
    pub more: bool,
}

/// Which events of a journal are wanted; all of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of one of these kinds; of any, when there are none.
    pub kinds: Vec<EventKind>,
    /// About one of these topics, in lower case; about anything, when there are none.
    pub topics: Vec<String>,
    /// About things of at least this importance.
    pub importance: Option<Importance>,
    /// Not done by this agent.
    pub except: Option<Agent>,
}

impl EventFilter {
    /// Whether this event is wanted.
    #[must_use]
    pub fn admits(&self, event: &Event) -> bool {
        let topics = &mut event.topics.iter().map(|topic| topic.to_lowercase());
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && (self.topics.is_empty() || topics.any(|topic| self.topics.contains(&topic)))
            && self.importance.is_none_or(|least| event.importance >= least)
            && self.except.as_ref() != Some(&event.actor)
    }

    fn of(
        caller: &Caller,
        topics: &[String],
        events: &[String],
        importance: Option<Importance>,
        exclude_self: bool,
    ) -> Result<Self> {
        let topics = distinct_topics(topics)?;
        Ok(Self {
            kinds: kinds(events)?,
            topics: topics.into_iter().map(|topic| topic.to_lowercase()).collect(),
            importance,
            except: exclude_self.then(|| caller.agent.clone()),
        })
    }
}

impl ListEvents {
    /// Which events this caller wants.
    ///
    /// # Errors
    /// `invalid` for a kind of event that there is not, or an empty topic; `too_large` for too many
    /// topics or a long one.
    pub fn filter(&self, caller: &Caller) -> Result<EventFilter> {
        EventFilter::of(caller, &self.topics, &self.events, self.importance, self.exclude_self)
    }
}

impl FollowEvents {
    /// Which events this caller wants.
    ///
    /// # Errors
    /// As [`ListEvents::filter`].
    pub fn filter(&self, caller: &Caller) -> Result<EventFilter> {
        EventFilter::of(caller, &self.topics, &self.events, self.importance, self.exclude_self)
    }
}

/// The kinds that these names and beginnings mean, each once.
fn kinds(given: &[String]) -> Result<Vec<EventKind>> {
    let mut found: Vec<EventKind> = Vec::new();
    for (place, name) in given.iter().enumerate() {
        let meant = |kind: &&EventKind| match name.strip_suffix('*') {
            Some(beginning) => kind.name().starts_with(beginning),
            None => kind.name() == name,
        };
        let before = found.len();
        found.extend(EventKind::ALL.iter().filter(meant));
        if found.len() == before {
            let all: Vec<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
            let all = all.join(", ");
            let wrong = format!("there is no event {name:?}");
            return Err(Error::invalid(&format!("events[{place}]"), wrong).hint(format!(
                "There are {all}; a * at the end stands for any ending, as in memory.*."
            )));
        }
    }
    found.sort_by_key(|kind| kind.name());
    found.dedup();
    Ok(found)
}

/// A stretch of one journal, and which of its events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRange {
    /// The workspace whose journal it is of.
    pub workspace: Workspace,
    /// The place that it begins after.
    pub after: u64,
    /// The last place that belongs to it.
    pub until: u64,
    /// Which events are wanted.
    pub filter: EventFilter,
}

impl JournalRange {
    /// The whole journal of this workspace.
    #[must_use]
    pub fn entire_journal(workspace: Workspace) -> Self {
        Self { workspace, after: 0, until: u64::MAX, filter: EventFilter::default() }
    }

    /// What of it comes after this place.
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
    fn a_star_at_the_end_is_a_beginning_and_each_kind_comes_once() {
        assert_eq!(named(&[]).ok(), Some(vec![]));
        assert_eq!(named(&["memory.saved"]).ok(), Some(vec!["memory.saved"]));
        let re = vec!["memory.released", "memory.restored"];
        assert_eq!(named(&["memory.re*", "memory.restored"]).ok(), Some(re));
        assert_eq!(named(&["*"]).map(|kinds| kinds.len()).ok(), Some(EventKind::ALL.len()));
        let of_memories = EventKind::ALL.iter().filter(|kind| kind.is_of_memory()).count();
        assert_eq!(named(&["memory.*"]).map(|kinds| kinds.len()).ok(), Some(of_memories));
    }

    #[test]
    fn a_kind_that_there_is_not_is_told_with_those_that_there_are() {
        for bad in ["", "memory", "Memory.saved", "*.saved", "memory.*d", "cat.*", "memory.saved "]
        {
            let error = named(&["memory.saved", bad]).expect_err(bad);
            let field = error.field.as_deref();
            assert_eq!((error.kind, field), (ErrorKind::Invalid, Some("events[1]")), "{bad:?}");
            assert!(error.hint.is_some_and(|hint| hint.contains("memory.quarantined")));
        }
    }
}
