//! Knowledge: which agent received which memory, at which revision and when.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{ContextId, MemoryId};
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::access::StoredMemory;
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::entity::EntityRef;
use crate::model::memory::{Memory, Retraction, says_same};
use crate::model::search::period::{self, PeriodBound};
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

string_enum! {
    /// What an agent knows of a memory.
    KnowledgeState {
        /// It received the memory as it is, or wrote it.
        Current = "current",
        /// It received something that does not hold any more.
        Stale = "stale",
        /// It never received it.
        Never = "never",
    }
}

/// Lists which agents know a memory as it is, which know it as it was, and which never received it. An
/// agent sees itself and the agents below it; a person sees all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhoKnows {
    /// Only this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Only memories that mention this entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    /// Only entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only what this agent knows.
    #[serde(default, alias = "agent", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only what this agent and `owner` do not know alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub with: Option<String>,
    /// Only this state. By default `never` is listed only of a named memory, entity or case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<KnowledgeState>,
    /// As of a date or an age (`7d`). Or `yesterday`, or RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub at: Option<String>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// A checked request for knowledge.
#[derive(Debug, Clone, PartialEq)]
pub struct KnowledgeQuery {
    /// The agents that are asked about; all in sight if there are none.
    pub agents: Vec<Agent>,
    /// Whether only differences between the two agents count.
    pub differences: bool,
    /// The states that are listed.
    pub states: Vec<KnowledgeState>,
    /// The time that the answer is of.
    pub at: Timestamp,
}

impl WhoKnows {
    /// The checked request at time `now`.
    ///
    /// # Errors
    /// `invalid` for a name or a time that is malformed, for `with` without `owner`, and for several of
    /// `memory`, `entity` and `case`.
    pub fn query(&self, now: Timestamp) -> Result<KnowledgeQuery> {
        let agent = |field: &str, name: &Option<String>| {
            let agent = name.as_deref().map(Agent::with_any_name).transpose();
            agent.map_err(|error| error.with_field(field))
        };
        let (of, with) = (agent("owner", &self.owner)?, agent("with", &self.with)?);
        if with.is_some() && (of.is_none() || of == with) {
            return Err(Error::invalid(
                "with",
                "compares two agents; expected another one as owner",
            )
            .hint("Name one agent in `owner` and another in `with`."));
        }
        let named = [self.memory.is_some(), self.entity.is_some(), self.case.is_some()];
        let named = named.into_iter().filter(|is_named| *is_named).count();
        if named > 1 {
            let reason = "memory, entity and case exclude each other; expected one of them";
            return Err(
                Error::invalid("memory", reason).hint("Ask about one of them in each call.")
            );
        }
        let at = self.at.as_deref();
        let at = at.map(|text| period::parse_period_bound("at", text, PeriodBound::Last, now));
        let all = KnowledgeState::ALL.iter().copied();
        let lists_never = named > 0 || with.is_some();
        let listed = |state: &KnowledgeState| match self.state {
            Some(only) => *state == only,
            None => lists_never || *state != KnowledgeState::Never,
        };
        Ok(KnowledgeQuery {
            differences: with.is_some(),
            agents: of.into_iter().chain(with).collect(),
            states: all.filter(listed).collect(),
            at: at.transpose()?.unwrap_or(now).min(now),
        })
    }
}

/// A memory, with what agents know of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownMemory {
    /// The memory.
    pub memory: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// What it says, shortened.
    pub says: String,
    /// Its revision.
    pub revision: u64,
    /// Why it was retracted, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Retraction>,
    /// The memory that superseded it, if you may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The agents, by name.
    pub agents: Vec<AgentKnowledge>,
}

/// What one agent knows of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentKnowledge {
    /// The agent.
    pub agent: Agent,
    /// What it knows.
    pub state: KnowledgeState,
    /// The revision that it received last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// When it was first told that revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What told it: `context`, `briefing`, `handoff`, `resume`, `case`, or `author`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// The receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextId>,
}

/// That an agent received a memory at a revision, the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeRecord {
    /// The memory.
    pub memory: MemoryId,
    /// The workspace of the agent.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The revision.
    pub revision: u64,
    /// The user that the agent worked for.
    pub user: Option<String>,
    /// When it received that.
    pub at: Timestamp,
    /// What told it.
    pub origin: String,
    /// The receipt.
    pub context: Option<ContextId>,
}

/// The origin of knowledge that comes from reading a case.
pub const CASE_ORIGIN: &str = "case";

/// The origin of what an agent wrote itself.
const AUTHOR_ORIGIN: &str = "author";

/// A memory at the time of a question, and whether the revisions before say the same.
#[derive(Debug, Clone)]
pub struct MemoryFacts {
    /// The memory as it was then.
    pub memory: StoredMemory,
    /// The revisions that say what the memory says.
    pub same: BTreeSet<u64>,
}

impl MemoryFacts {
    /// The memory with those of its earlier revisions that say the same.
    #[must_use]
    pub fn of(memory: StoredMemory, earlier: &[StoredMemory]) -> Self {
        let alike = earlier.iter().filter(|earlier| says_same(earlier, &memory));
        let same = alike.map(|earlier| earlier.revision).chain([memory.revision]).collect();
        Self { memory, same }
    }

    /// What this agent knew of the memory, by what it received until then, in order.
    #[must_use]
    pub fn known_by(&self, agent: &Agent, told: &[&KnowledgeRecord]) -> AgentKnowledge {
        let Memory { owner, revision, recorded_at, .. } = &*self.memory;
        if owner == agent {
            return AgentKnowledge {
                agent: agent.clone(),
                state: KnowledgeState::Current,
                revision: Some(*revision),
                at: Some(*recorded_at),
                origin: AUTHOR_ORIGIN.to_owned(),
                context: None,
            };
        }
        let own = told.iter().filter(|record| record.agent == *agent);
        let Some(last) = own.max_by_key(|record| (record.at, record.revision)) else {
            return AgentKnowledge {
                agent: agent.clone(),
                state: KnowledgeState::Never,
                revision: None,
                at: None,
                origin: String::new(),
                context: None,
            };
        };
        let holds = self.memory.is_current() && self.same.contains(&last.revision);
        AgentKnowledge {
            agent: agent.clone(),
            state: if holds { KnowledgeState::Current } else { KnowledgeState::Stale },
            revision: Some(last.revision),
            at: Some(last.at),
            origin: last.origin.clone(),
            context: last.context,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::base::id::CountingIds;
    use crate::model::agent::AgentName;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::{SaveMemory, Sharing};

    fn at(minute: i64) -> Timestamp {
        let beginning: Timestamp = "2026-11-23T10:00:00Z".parse().expect("a time");
        beginning + jiff::SignedDuration::from_mins(minute)
    }

    fn agent(name: &str) -> Agent {
        Agent::with_any_name(name).expect("a name")
    }

    fn saved() -> Memory {
        let name = AgentName { agent: agent("ann"), device: None };
        let caller = Caller::new(Some(name), Workspace::fallback(), EntryPoint::Mcp);
        let request = SaveMemory { text: "We ship on Fridays".into(), ..SaveMemory::default() };
        let id = MemoryId::new(&CountingIds::default(), at(0));
        request.memory(&caller, Sharing::Shared, id, at(0)).expect("a memory")
    }

    fn told(memory: &Memory, revision: u64, minute: i64) -> KnowledgeRecord {
        KnowledgeRecord {
            memory: memory.id,
            workspace: memory.workspace.clone(),
            agent: agent("bob"),
            revision,
            user: None,
            at: at(minute),
            origin: "context".into(),
            context: None,
        }
    }

    #[test]
    fn an_agent_knows_what_it_was_told_last() {
        let first = saved();
        let shared = Memory { revision: 2, ..first.clone() };
        let corrected = Memory { revision: 3, text: "We ship on Tuesdays".into(), ..first.clone() };
        let retraction = Retraction { reason: "x".into(), by: agent("ann"), at: at(9) };
        let retracted = Memory { retraction: Some(retraction), ..first.clone() };
        let deleted = Memory { deleted_at: Some(at(9)), ..first.clone() };
        let table = [
            ("as it is", &first, vec![1], KnowledgeState::Current),
            ("no word changed", &shared, vec![1], KnowledgeState::Current),
            ("corrected since", &corrected, vec![1, 2], KnowledgeState::Stale),
            ("told the correction", &corrected, vec![1, 3], KnowledgeState::Current),
            ("retracted", &retracted, vec![1], KnowledgeState::Stale),
            ("deleted", &deleted, vec![1], KnowledgeState::Stale),
            ("never told", &first, vec![], KnowledgeState::Never),
        ];
        for (case, memory, revisions, state) in table {
            let facts = MemoryFacts::of(
                StoredMemory::of(memory.clone()),
                &[first.clone(), shared.clone()].map(StoredMemory::of),
            );
            let minutes = revisions.into_iter().zip(1..);
            let told: Vec<_> =
                minutes.map(|(revision, minute)| told(memory, revision, minute)).collect();
            let told: Vec<&KnowledgeRecord> = told.iter().collect();
            assert_eq!(facts.known_by(&agent("bob"), &told).state, state, "{case}");
        }
        let author =
            MemoryFacts::of(StoredMemory::of(first.clone()), &[]).known_by(&agent("ann"), &[]);
        assert_eq!((author.state, author.origin.as_str()), (KnowledgeState::Current, "author"));
    }

    #[test]
    fn a_request_names_one_subject_and_two_agents_to_compare() {
        let id = Some(saved().id);
        let bad = [
            ("with", WhoKnows { with: Some("bob".into()), ..WhoKnows::default() }),
            (
                "with",
                WhoKnows {
                    owner: Some("bob".into()),
                    with: Some("bob".into()),
                    ..WhoKnows::default()
                },
            ),
            ("memory", WhoKnows { memory: id, case: "outage".parse().ok(), ..WhoKnows::default() }),
            ("at", WhoKnows { at: Some("soon".into()), ..WhoKnows::default() }),
        ];
        for (field, request) in bad {
            let error = request.query(at(0)).expect_err(field);
            assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some(field)));
        }
        let states = |request: WhoKnows| request.query(at(0)).expect("a query").states.len();
        assert_eq!(states(WhoKnows::default()), 2);
        assert_eq!(states(WhoKnows { memory: id, ..WhoKnows::default() }), 3);
        let state = Some(KnowledgeState::Never);
        assert_eq!(states(WhoKnows { state, ..WhoKnows::default() }), 1);
    }
}
