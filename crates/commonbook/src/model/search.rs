//! Search requests, the query for the index, and the hits with their scores.

pub(crate) mod period;
mod query;
pub mod rank;
pub mod relevance;
pub mod talk;
pub mod update;

pub use commonbook_text::dates::{QuestionTimes, TimeSpan, parse_times, tells_time};
pub use period::{moment_in_zone, time_in_zone};
pub use query::{SearchQuery, parse, query_in_zone};
pub use rank::ScoreParts;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::key::CaseKey;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::contradiction::ContradictionMark;
use crate::model::entity::EntityRef;
use crate::model::memory::{Importance, Memory, MemoryType, PathPattern, Trust};
use crate::model::workspace::Workspace;
use period::PeriodBound;
use query::QueryTerms;

/// Finds memories that answer a question: your own and those that others share. Search before you
/// start work, and before you ask the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMemory {
    /// The question in plain words, or words that the memory would contain. Among them may stand
    /// `"an exact phrase"`, `-without`, and filters: `owner:` `type:` `topic:` `user:` `session:`
    /// `case:` `entity:` `path:` `near:` `unseen:` `between:` `since:` `until:` `at:` `importance>=`
    /// `include:`. A filter without it lists the newest first.
    #[serde(default, alias = "q")]
    #[schemars(length(max = limits::QUERY_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub query: String,
    /// Number of hits; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::SEARCH_MAX))]
    pub k: Option<u32>,
    /// Only memories of this agent. `*`, the default, means every agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only memories of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only memories of at least this importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only memories of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only your own memories and the entries of this case. The case may be closed. With `include`
    /// `others`, also the memories of every other agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only memories that mention this entity: `tool:TypeScript`, a name or an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    /// Only memories with this trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Only memories about this user or about no user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Only memories that hold from then on: a date, `yesterday`, or an age such as `7d`. Or RFC
    /// 3339, a month, a year, `today`; the units of an age are `h`, `d`, `w`, `m`, `y`. Times are
    /// in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub since: Option<String>,
    /// Only memories that hold up to then. A date means its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub until: Option<String>,
    /// What held at this time, in the words of then. It may be superseded since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub at: Option<String>,
    /// Also finds these. Your own private memories and those of `global` are always found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<SearchInclusion>,
    /// Which workspaces to search.
    #[serde(default)]
    pub scope: SearchScope,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// What a search can find in addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchInclusion {
    /// The caller's own private memories, always found.
    Private,
    /// Memories that a newer one superseded.
    Superseded,
    /// Archived and deleted memories that can be restored, and all that `closed` finds.
    Archived,
    /// Memories of `global`, always found.
    Global,
    /// With a case, also memories that belong neither to the case nor to the caller.
    Others,
    /// Entries of cases that are closed or archived.
    Closed,
}

impl SearchInclusion {
    /// Every value, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Private, Self::Superseded, Self::Archived, Self::Global, Self::Others, Self::Closed];

    /// The value as text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Superseded => "superseded",
            Self::Archived => "archived",
            Self::Global => "global",
            Self::Others => "others",
            Self::Closed => "closed",
        }
    }
}

/// The workspaces that a search reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchScope {
    /// The caller's own and `global`.
    #[default]
    Workspace,
    /// Every workspace of this home.
    Home,
    /// The caller's own and `global`; every workspace of this home if nothing was ever saved in the
    /// caller's own.
    Nearest,
}

/// A memory that answers the question, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// The memory.
    pub memory: Memory,
    /// The score; it compares the hits of one search.
    pub score: f64,
    /// How likely the memory is relevant, 0 to 1, whatever else was found; 1 if the query has only
    /// filters.
    #[serde(default)]
    pub relevance: f64,
    /// The reasons of the match; none if the query has only filters.
    pub matched: Vec<MatchReason>,
    /// The parts of the score.
    pub parts: ScoreParts,
    /// Its contradictions that are open, and those resolved with a context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<ContradictionMark>,
}

/// A reason why a memory matches a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchReason {
    /// It contains words of the question.
    Words,
    /// Its meaning is near that of the question.
    Vector,
    /// Its surroundings in its session match.
    Context,
    /// It mentions an entity that the question names.
    Entity,
    /// It fits the time that the question names or asks for.
    Time,
}

/// The response to a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResponse {
    /// The hits of this page, best first.
    pub hits: Vec<SearchHit>,
    /// Number of matching memories that the caller may see.
    pub total: u64,
    /// The cursor of the next page; `null` on the last one.
    pub next: Option<PageCursor>,
    /// The workspaces that were read.
    pub workspaces: Vec<Workspace>,
    /// The model that ranks by meaning beside the words; left out if words alone rank.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// What the search could not do: why it used words only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notice: Option<String>,
}

/// A query for the index.
#[derive(Debug, Clone)]
pub struct IndexQuery {
    /// The question in words.
    pub text: String,
    /// Words that must follow each other, as terms.
    pub phrases: Vec<Vec<String>>,
    /// Words and phrases that must not occur, as terms.
    pub excluded: Vec<Vec<String>>,
    /// The user that the memories are about, if the query names one.
    pub user: Option<String>,
    /// The entity that the memories must mention.
    pub entity: Option<EntityRef>,
    /// At this path, or below it.
    pub path: Option<PathPattern>,
    /// The id or handle of the memory around which the found ones stand, as written.
    pub near: Option<String>,
    /// Only what the session of the caller has not been given yet.
    pub unseen: bool,
    /// For each entity that the question names and not too many memories mention, the memories in
    /// sight that mention it, according to the registry.
    pub about: Vec<Vec<MemoryRef>>,
    /// The other filters.
    pub within: SearchFilter,
    /// The time from which "yesterday" and ages are measured.
    pub now: Timestamp,
    /// Number of best hits to return; at most [`limits::SEARCH_DEPTH`].
    pub most: usize,
    /// Whether the text is that of a memory, to which the nearest are looked for: the answer to its save waits for no
    /// vector from another machine, and what the model reads serves the memory too.
    pub of_memory: bool,
}

/// A memory by its id and its workspace.
pub type MemoryRef = (Workspace, MemoryId);

/// The filters of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchFilter {
    /// Owned by this agent.
    pub owner: Option<String>,
    /// Of this type.
    pub memory_type: Option<String>,
    /// With all of these topics, whatever their case.
    pub topics: Vec<String>,
    /// Of at least this importance.
    pub importance: Option<Importance>,
    /// Of this session.
    pub session: Option<String>,
    /// Entries of this case, and the caller's own memories.
    pub case: Option<CaseKey>,
    /// With a case, all other memories too.
    pub others: bool,
    /// Entries of closed cases too.
    pub closed: bool,
    /// One of these, which mention an entity.
    pub mentioning: Option<Vec<MemoryRef>>,
    /// Around this one: beside it in its conversation, its session, or its author's hour.
    pub near: Option<MemoryRef>,
    /// Without these, which the session of the caller was given.
    pub given: Vec<MemoryRef>,
    /// With this trust.
    pub trust: Option<Trust>,
    /// That hold from this time or a later one on.
    pub since: Option<Timestamp>,
    /// That hold from this time or an earlier one on.
    pub until: Option<Timestamp>,
    /// That held at this time.
    pub at: Option<Timestamp>,
    /// Among memories about users, only those about the user that the caller works for; not even
    /// the caller's own about others.
    pub of_user: bool,
    /// Superseded memories too.
    pub superseded: bool,
    /// Deleted memories too.
    pub archived: bool,
}

/// The response of the index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexResponse {
    /// The best hits, best first, as many as the query requests.
    pub ranked: Vec<IndexHit>,
    /// Number of all matching memories.
    pub total: u64,
    /// Number of the memories that were searched.
    pub memories: u64,
    /// The model that ranked by meaning; `None` if words alone did.
    pub model: Option<String>,
    /// What the search could not do.
    pub notice: Option<String>,
}

/// A hit of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexHit {
    /// The workspace of the memory.
    pub workspace: Workspace,
    /// The memory.
    pub id: MemoryId,
    /// Its score.
    pub score: f64,
    /// How likely it is relevant, 0 to 1, whatever else was found.
    pub relevance: f64,
    /// The reasons of the match; none if the query has only filters.
    pub matched: Vec<MatchReason>,
    /// The parts of the score.
    pub parts: ScoreParts,
}

/// The filters of a list of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryFilter {
    /// Owned by this agent.
    pub owner: Option<String>,
    /// Of this type.
    pub memory_type: Option<String>,
    /// With this topic, whatever its case.
    pub topic: Option<String>,
    /// Of at least this importance.
    pub importance: Option<Importance>,
    /// Of this session.
    pub session: Option<String>,
    /// An entry of this case.
    pub case: Option<CaseKey>,
    /// With this trust.
    pub trust: Option<Trust>,
    /// At this path, or below it.
    pub path: Option<PathPattern>,
    /// Deleted memories, instead of current ones.
    pub deleted: bool,
    /// That hold from this time or a later one on.
    pub since: Option<Timestamp>,
    /// That held at this time.
    pub at: Option<Timestamp>,
    /// Saved, changed or deleted after this time, whatever `deleted` says.
    pub changed_since: Option<Timestamp>,
}

impl MemoryFilter {
    /// The filter by owner; `*` means all agents.
    ///
    /// # Errors
    /// `invalid` if the name cannot be an agent's.
    pub fn owner(name: Option<&str>) -> Result<Option<String>> {
        match name {
            None | Some("*") => Ok(None),
            Some(name) => crate::model::agent::Agent::with_any_name(name)
                .map(|agent| Some(agent.into()))
                .map_err(|error| error.with_field("owner")),
        }
    }
}

impl SearchMemory {
    /// Whether a field says what the memories have to be, so that there is something to list without a query.
    fn has_filter(&self) -> bool {
        let owner = self.owner.clone().filter(|name| name != "*");
        let SearchMemory { k, include, scope, cursor, query, .. } = SearchMemory::default();
        let filters = Self { owner, k, include, scope, cursor, query, ..self.clone() };
        filters != Self::default()
    }

    /// The query for the index.
    ///
    /// # Errors
    /// `invalid` if the query is empty without a filter or has control characters, if an owner or a time is
    /// malformed, if a field and an operator differ, and for more than [`limits::QUERY_WORDS`]
    /// words in phrases and exclusions; `too_large` if the query is too long.
    pub fn to_index_query(&self, now: Timestamp) -> Result<IndexQuery> {
        if self.query.trim().is_empty() && !self.has_filter() {
            return Err(Error::invalid(
                "query",
                "the query is empty; expected a question, words, or a filter such as topic or since",
            )
            .hint("Put the question, or words that the memory would contain, into `query`."));
        }
        if self.query.len() > limits::QUERY_BYTES {
            return Err(Error::too_large("query", self.query.len(), limits::QUERY_BYTES, "bytes"));
        }
        input::refuse_control_characters("query", &self.query)?;
        let parsed = parse(&self.query, now)?;
        let QueryTerms { phrases, excluded } = parsed.terms()?;
        let owner = agreed_filter("owner", self.owner.clone(), parsed.owner)?;
        let named = parsed.memory_type.map(MemoryType::try_from).transpose();
        let named = named.map_err(|error| error.with_field("query"))?;
        let memory_type = agreed_filter("memory_type", self.memory_type.clone(), named)?;
        let moment = |field: &str, text: &Option<String>, edge| -> Result<_> {
            let read = |text: &String| period::parse_period_bound(field, text, edge, now);
            text.as_ref().map(read).transpose()
        };
        let (since, until, at) = (
            moment("since", &self.since, PeriodBound::First)?,
            moment("until", &self.until, PeriodBound::Last)?,
            moment("at", &self.at, PeriodBound::Last)?,
        );
        let includes =
            |include| self.include.contains(&include) || parsed.include.contains(&include);
        let within = SearchFilter {
            owner: MemoryFilter::owner(owner.as_deref())?,
            memory_type: memory_type.map(Into::into),
            topics: self.topic.iter().cloned().chain(parsed.topics).collect(),
            importance: self.importance.max(parsed.importance),
            session: agreed_filter("session", self.session.clone(), parsed.session)?,
            case: agreed_filter("case", self.case.clone(), parsed.case)?,
            others: includes(SearchInclusion::Others),
            // Who wants what was put away wants the entries of archived cases too.
            closed: includes(SearchInclusion::Closed) || includes(SearchInclusion::Archived),
            mentioning: None,
            near: None,
            given: Vec::new(),
            of_user: false,
            trust: self.trust,
            since: since.max(parsed.since),
            until: [until, parsed.until].into_iter().flatten().min(),
            at: agreed_filter("at", at, parsed.at)?,
            superseded: includes(SearchInclusion::Superseded),
            archived: includes(SearchInclusion::Archived),
        };
        let named = parsed.entity.map(|name| name.parse()).transpose();
        let named = named.map_err(|error: Error| error.with_field("query"))?;
        let entity = agreed_filter("entity", self.entity.clone(), named)?;
        let plain = IndexQuery::from_plain_text(parsed.text, within, now);
        let (near, unseen, path) = (parsed.near, parsed.unseen, parsed.path);
        Ok(IndexQuery { phrases, excluded, user: parsed.user, entity, path, near, unseen, ..plain })
    }
}

/// The value of a request's field and of the query's operator for the same filter.
///
/// # Errors
/// `invalid` if both are set and differ.
fn agreed_filter<T: PartialEq>(
    field: &str,
    field_value: Option<T>,
    operator: Option<T>,
) -> Result<Option<T>> {
    match (&field_value, &operator) {
        (Some(field_value), Some(operator)) if field_value != operator => {
            Err(Error::invalid(field, "the query has another value than this field")
                .hint("Set it once, in the query or in the field."))
        }
        _ => Ok(field_value.or(operator)),
    }
}
