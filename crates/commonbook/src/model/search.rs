//! Searching: the question, the words that carry it, and how much a hit is worth.

pub(crate) mod period;
mod query;
pub mod rank;
pub mod update;

pub use commonbook_text::dates::{QuestionTimes, TimeSpan, parse_times, tells_time};
pub use query::{SearchQuery, parse};
pub use rank::ScoreParts;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::key::CaseKey;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::entity::EntityRef;
use crate::model::memory::{Importance, Memory, MemoryType, Trust};
use crate::model::workspace::Workspace;
use period::PeriodBound;
use query::QueryTerms;

/// Finds memories that answer a question: your own and those that others share. Ask in plain
/// words; search before you start work and before you ask the user what may already be known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMemory {
    /// The question, or words that the memory would contain. Among them may stand `"an exact
    /// phrase"`, `-without`, and filters: `owner:` `type:` `topic:` `user:` `session:` `case:` `entity:`
    /// `since:` `until:` `at:` `importance>=` `include:`.
    #[serde(alias = "q")]
    #[schemars(length(min = 1, max = limits::QUERY_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub query: String,
    /// How many hits at once, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::SEARCH_MAX))]
    pub k: Option<u32>,
    /// Only those of this agent; `*`, the default, for everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only those of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only those about this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only those that matter at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only those of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Your own memories and the entries of this case, closed or not; with `include` `others`,
    /// everybody else's too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only those that mention this entity: its id, its type and a name as in `tool:TypeScript`, or
    /// the name alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityRef>,
    /// Only those that are trusted so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// About this user or about nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Only those that hold from this time or a later one on: RFC 3339, a date, a month, a year,
    /// `today`, `yesterday`, or an age (`12h`, `7d`, `3w`, `2m`, `1y`); in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("anyOf" = period::time_schema()))]
    pub since: Option<String>,
    /// Only those that hold from this time or an earlier one on; of a date, its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("anyOf" = period::time_schema()))]
    pub until: Option<String>,
    /// As things were at this time: what held then, though it may be superseded since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("anyOf" = period::time_schema()))]
    pub at: Option<String>,
    /// What is found besides. Your own private memories and those of `global` always are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<SearchInclusion>,
    /// Which workspaces are read.
    #[serde(default)]
    pub scope: SearchScope,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// What a search can be told to find besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchInclusion {
    /// The caller's own private memories, which are found anyway.
    Private,
    /// Memories that a newer one has replaced.
    Superseded,
    /// Memories that were deleted and can still be restored.
    Archived,
    /// Memories of the workspace `global`, which are found anyway.
    Global,
    /// Beside a case, what is neither of the case nor the caller's own.
    Others,
    /// Entries of cases that are closed or archived.
    Closed,
}

impl SearchInclusion {
    /// Every value, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Private, Self::Superseded, Self::Archived, Self::Global, Self::Others, Self::Closed];

    /// The value as it is written.
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

/// Which workspaces a search reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchScope {
    /// The caller's own and `global`.
    #[default]
    Workspace,
    /// Every workspace of this home.
    Home,
    /// The caller's own and `global`; every workspace of this home when nothing was ever kept in
    /// the caller's own.
    Nearest,
}

/// A memory that answers the question, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// The memory.
    pub memory: Memory,
    /// How well it answers; to compare hits of one search with each other.
    pub score: f64,
    /// What about it matched.
    pub matched: Vec<MatchReason>,
    /// What the score is made of.
    pub parts: ScoreParts,
}

/// What about a memory matched a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchReason {
    /// Words of the question stand in it.
    Words,
    /// Its meaning is near that of the question.
    Vector,
    /// What stands around it in its session matches.
    Context,
    /// It mentions an entity that the question names.
    Entity,
    /// It fits the time that the question names or asks for.
    Time,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResponse {
    /// The hits of this page, best first.
    pub hits: Vec<SearchHit>,
    /// How many memories match, of those that the caller may see.
    pub total: u64,
    /// Where the next page begins; `null` on the last one.
    pub next: Option<PageCursor>,
    /// The workspaces that were read.
    pub workspaces: Vec<Workspace>,
    /// What the search could not do: that it went by words alone, and why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notice: Option<String>,
}

/// A search as the index carries it out.
#[derive(Debug, Clone)]
pub struct IndexQuery {
    /// What is asked, in words.
    pub text: String,
    /// Words that must stand one after the other, as terms.
    pub phrases: Vec<Vec<String>>,
    /// Words and phrases that must not stand, as terms.
    pub excluded: Vec<Vec<String>>,
    /// The user it is about, where the words themselves say so.
    pub user: Option<String>,
    /// The entity that what is found has to mention.
    pub entity: Option<EntityRef>,
    /// For each entity that the question names and not too many memories mention, those in sight
    /// that do: what the registry knows of them.
    pub about: Vec<Vec<MemoryRef>>,
    /// What else must hold.
    pub within: SearchFilter,
    /// The time against which "yesterday" and age are measured.
    pub now: Timestamp,
    /// How many hits are asked for, the best; at most [`limits::SEARCH_DEPTH`].
    pub most: usize,
}

/// A memory by its id and the workspace it is kept in.
pub type MemoryRef = (Workspace, MemoryId);

/// What must hold of the memories that a search gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchFilter {
    /// Owned by this agent.
    pub owner: Option<String>,
    /// Of this type.
    pub memory_type: Option<String>,
    /// About all of these topics, whatever their case.
    pub topics: Vec<String>,
    /// Of at least this importance.
    pub importance: Option<Importance>,
    /// Of this session.
    pub session: Option<String>,
    /// Entries of this case, and the caller's own.
    pub case: Option<CaseKey>,
    /// Beside a case, everything else too.
    pub others: bool,
    /// Entries of closed cases too.
    pub closed: bool,
    /// One of these, which mention an entity.
    pub mentioning: Option<Vec<MemoryRef>>,
    /// Trusted so far.
    pub trust: Option<Trust>,
    /// That hold from this time or a later one on.
    pub since: Option<Timestamp>,
    /// That hold from this time or an earlier one on.
    pub until: Option<Timestamp>,
    /// That held at this time.
    pub at: Option<Timestamp>,
    /// Of what is about users, only what is about the one that the caller works for: of others not
    /// even its own.
    pub of_user: bool,
    /// Superseded ones too.
    pub superseded: bool,
    /// Deleted ones too.
    pub archived: bool,
}

/// What the index answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexResponse {
    /// The best hits, best first; as many as were asked for.
    pub ranked: Vec<IndexHit>,
    /// How many memories match in all.
    pub total: u64,
    /// What the search could not do.
    pub notice: Option<String>,
}

/// A hit as the index knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexHit {
    /// The workspace of the memory.
    pub workspace: Workspace,
    /// The memory.
    pub id: MemoryId,
    /// How well it answers.
    pub score: f64,
    /// What about it matched.
    pub matched: Vec<MatchReason>,
    /// What the score is made of.
    pub parts: ScoreParts,
}

/// What must hold of the memories that a list or a search gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryFilter {
    /// Owned by this agent.
    pub owner: Option<String>,
    /// Of this type.
    pub memory_type: Option<String>,
    /// About this topic, whatever its case.
    pub topic: Option<String>,
    /// Of at least this importance.
    pub importance: Option<Importance>,
    /// Of this session.
    pub session: Option<String>,
    /// An entry of this case.
    pub case: Option<CaseKey>,
    /// Trusted so far.
    pub trust: Option<Trust>,
    /// Deleted, instead of standing.
    pub deleted: bool,
}

impl MemoryFilter {
    /// The filter by owner, where `*` means everybody.
    ///
    /// # Errors
    /// `invalid` for what cannot be an agent's name.
    pub fn owner(given: Option<&str>) -> Result<Option<String>> {
        match given {
            None | Some("*") => Ok(None),
            Some(name) => crate::model::agent::Agent::with_any_name(name)
                .map(|agent| Some(agent.into()))
                .map_err(|error| error.with_field("owner")),
        }
    }
}

impl SearchMemory {
    /// What the index is asked.
    ///
    /// # Errors
    /// `invalid` for an empty query, one with control characters, an owner or a time that is none,
    /// a filter that asks for two things, and over [`limits::QUERY_WORDS`] words; `too_large` for a
    /// long query.
    pub fn to_index_query(&self, now: Timestamp) -> Result<IndexQuery> {
        if self.query.trim().is_empty() {
            return Err(Error::invalid("query", "there is nothing to search for")
                .hint("Put the question, or words that the memory would contain, into query."));
        }
        if self.query.len() > limits::QUERY_BYTES {
            return Err(Error::too_large("query", self.query.len(), limits::QUERY_BYTES, "bytes"));
        }
        input::refuse_control_characters("query", &self.query)?;
        let asked = parse(&self.query, now)?;
        let QueryTerms { phrases, excluded } = asked.terms()?;
        let owner = agreed_filter("owner", self.owner.clone(), asked.owner)?;
        let named = asked.memory_type.map(MemoryType::try_from).transpose();
        let named = named.map_err(|error| error.with_field("query"))?;
        let memory_type = agreed_filter("memory_type", self.memory_type.clone(), named)?;
        let moment = |field: &str, given: &Option<String>, edge| -> Result<_> {
            let read = |text: &String| period::parse_period_bound(field, text, edge, now);
            given.as_ref().map(read).transpose()
        };
        let (since, until, at) = (
            moment("since", &self.since, PeriodBound::First)?,
            moment("until", &self.until, PeriodBound::Last)?,
            moment("at", &self.at, PeriodBound::Last)?,
        );
        let includes =
            |include| self.include.contains(&include) || asked.include.contains(&include);
        let within = SearchFilter {
            owner: MemoryFilter::owner(owner.as_deref())?,
            memory_type: memory_type.map(Into::into),
            topics: self.topic.iter().cloned().chain(asked.topics).collect(),
            importance: self.importance.max(asked.importance),
            session: agreed_filter("session", self.session.clone(), asked.session)?,
            case: agreed_filter("case", self.case.clone(), asked.case)?,
            others: includes(SearchInclusion::Others),
            closed: includes(SearchInclusion::Closed),
            mentioning: None,
            of_user: false,
            trust: self.trust,
            since: since.max(asked.since),
            until: [until, asked.until].into_iter().flatten().min(),
            at: agreed_filter("at", at, asked.at)?,
            superseded: includes(SearchInclusion::Superseded),
            archived: includes(SearchInclusion::Archived),
        };
        let named = asked.entity.map(|name| name.parse()).transpose();
        let named = named.map_err(|error: Error| error.with_field("query"))?;
        let entity = agreed_filter("entity", self.entity.clone(), named)?;
        let plain = IndexQuery::from_plain_text(asked.text, within, now);
        Ok(IndexQuery { phrases, excluded, user: asked.user, entity, ..plain })
    }
}

/// What a field of the request and an operator of the query both ask for.
///
/// # Errors
/// `invalid` when they ask for two different things.
fn agreed_filter<T: PartialEq>(
    field: &str,
    given: Option<T>,
    asked: Option<T>,
) -> Result<Option<T>> {
    match (&given, &asked) {
        (Some(given), Some(asked)) if given != asked => {
            Err(Error::invalid(field, "the query asks for another one than this field")
                .hint("Say it once, in the query or in the field."))
        }
        _ => Ok(given.or(asked)),
    }
}
