//! The filter of a list of memories as SQL.

use jiff::Timestamp;

use super::access::VisibleAudience;
use super::driver::ToSql;
use crate::model::case::CaseKey;
use crate::model::memory::{PathPattern, Trust};
use crate::model::search::MemoryFilter;

/// A [`MemoryFilter`] for a row `m` as SQL with its parameters. It holds only the conditions that are
/// set, so that the engine can choose an index by them.
pub(super) struct FilterParameters<'f> {
    filter: &'f MemoryFilter,
    importance: Option<i64>,
    topic: Option<String>,
    case: Option<&'f str>,
    trust: Option<&'static str>,
    since: Option<i64>,
    at: Option<i64>,
    changed_since: Option<i64>,
    path: Option<&'f str>,
}

impl<'f> FilterParameters<'f> {
    pub(super) fn of(filter: &'f MemoryFilter) -> Self {
        Self {
            filter,
            importance: filter.importance.map(|importance| importance as i64),
            topic: filter.topic.as_deref().map(str::to_lowercase),
            case: filter.case.as_ref().map(CaseKey::as_str),
            trust: filter.trust.map(Trust::name),
            since: filter.since.map(Timestamp::as_millisecond),
            at: filter.at.map(Timestamp::as_millisecond),
            changed_since: filter.changed_since.map(Timestamp::as_millisecond),
            path: filter.path.as_ref().map(|pattern| pattern.path.as_str()),
        }
    }

    /// The conditions, each with its parameter.
    fn conditions(&self) -> impl Iterator<Item = (&'static str, &'static str, &dyn ToSql)> {
        let Self { filter, importance, topic, case, trust, since, at, changed_since, path } = self;
        let path_condition = filter.path.as_ref().map_or("", path_condition);
        let all: [(bool, &str, &str, &dyn ToSql); 12] = [
            (filter.owner.is_some(), "m.owner = :owner", ":owner", &filter.owner),
            (filter.memory_type.is_some(), "m.memory_type = :type", ":type", &filter.memory_type),
            (filter.session.is_some(), "m.session = :session", ":session", &filter.session),
            (case.is_some(), "m.case_key = :case", ":case", case),
            (importance.is_some(), "m.importance >= :importance", ":importance", importance),
            (topic.is_some(), TOPIC_CONDITION, ":topic", topic),
            (path.is_some(), path_condition, ":path", path),
            (trust.is_some(), "m.trust = :trust", ":trust", trust),
            (since.is_some(), BEGUN_CONDITION, ":begun", since),
            (at.is_some(), HELD_CONDITION, ":at", at),
            (changed_since.is_some(), "m.revised_at > :since", ":since", changed_since),
            (changed_since.is_none(), DELETED_CONDITION, ":deleted", &filter.deleted),
        ];
        let set = all.into_iter().filter(|(set, ..)| *set);
        set.map(|(_, sql, name, value)| (sql, name, value))
    }

    pub(super) fn sql(&self) -> String {
        self.conditions().map(|(sql, ..)| sql).collect::<Vec<_>>().join(" AND ")
    }

    /// The best index for this filter, of those that are ordered by audience.
    pub(super) fn index(&self) -> &'static str {
        match self {
            Self { filter: MemoryFilter { session: Some(_), .. }, .. } => "memory_session",
            Self { case: Some(_), .. } => "memory_case",
            Self { filter: MemoryFilter { owner: Some(_), .. }, .. } => "memory_owner",
            Self { filter: MemoryFilter { memory_type: Some(_), .. }, .. } => "memory_by_type",
            _ => "memory_seen",
        }
    }

    /// Whether memories of this audience can match.
    pub(super) fn admits(&self, audience: &VisibleAudience) -> bool {
        let quarantined = |trust| trust == Trust::Quarantined;
        self.filter.trust.is_none_or(|trust| quarantined(trust) == audience.is_quarantined())
    }

    pub(super) fn parameters(&self) -> Vec<(&str, &dyn ToSql)> {
        self.conditions().map(|(_, name, value)| (name, value)).collect()
    }
}

/// Whether a memory is at a path, or below a beginning of one.
pub(super) const fn path_condition(pattern: &PathPattern) -> &'static str {
    match pattern.is_prefix {
        true => "m.path >= :path AND substr(m.path, 1, length(:path)) = :path",
        false => "m.path = :path",
    }
}

const DELETED_CONDITION: &str = "(m.deleted_at IS NOT NULL) = :deleted";

/// Whether a memory holds from a time or a later one on, as the index decides it.
const BEGUN_CONDITION: &str = "ifnull(m.valid_from, m.recorded_at) >= :begun";

/// Whether a memory held at a time, as the index decides it: it had begun, had not ended, and its
/// successor had not begun.
pub(super) const HELD_CONDITION: &str = "ifnull(m.valid_from, m.recorded_at) <= :at \
    AND (m.valid_until IS NULL OR m.valid_until > :at) \
    AND (m.superseded_by IS NULL OR EXISTS (SELECT 1 FROM memory h \
        WHERE h.workspace = m.workspace AND h.id = m.superseded_by \
        AND ifnull(h.valid_from, h.recorded_at) > :at))";

/// Whether a memory has a topic, whatever its case.
const TOPIC_CONDITION: &str = "EXISTS (SELECT 1 FROM json_each(m.topics) t \
    WHERE commonbook_lower(t.value) = :topic)";
