//! The SQL of the journal.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Map;

use super::Tx;
use super::access::opaque_condition;
use super::driver::{SqlRow, ToSql};
use super::row::{encode_json, importance, json, optional_text, text, time};
use super::rows::VisibleRows;
use crate::base::error::{Error, Result};
use crate::model::access::{
    AppendedEntry, EventSubject, EventVisibility, HandoffVisibility, ItemKind, ItemVisibility,
    Sight, Visibility, WorkItem, WorkVisibility,
};
use crate::model::agent::Agent;
use crate::model::case::EntryKind;
use crate::model::event::{
    Event, EventFilter, EventKind, EventOrigin, EventRecord, EventTally, JournalRange, NewEvent,
    RateSteps, appended_positions, narrowed, with_entries, work_items,
};
use crate::model::memory::MemoryType;
use crate::model::workspace::Workspace;
use crate::store::{DeliveryFigures, EventFigures};

/// Whether the event `e` lists items that an agent received.
const LISTS_ITEMS: &str = "(e.kind IN ('context.built', 'agent.memory.loaded', 'agent.memory.retracted') \
    AND json_type(e.details, '$.items') IS NOT NULL)";

/// The rule of [`Sight::sees_work`] for an event `e` that lists items.
const SEEN_WORK: &str = "((e.owner = :agent OR :person \
        OR (e.owner > :agent || '/' AND e.owner < :agent || '0')) \
    AND (e.user_id IS NULL OR e.user_id = :user OR (:user IS NULL AND e.owner = :agent)))";

/// The rule of [`Sight::sees_event`] for a row `e` of the table `event`. The conformance suite
/// proves the two equal.
pub(super) fn seen_events(seen: &VisibleRows<'_>) -> String {
    let (seen_m, seen_q) = (seen.of("m"), seen.of("q"));
    format!(
        "e.workspace IN (SELECT value FROM json_each(:workspaces)) \
         AND CASE WHEN {LISTS_ITEMS} THEN {SEEN_WORK} \
             ELSE (e.owner = :agent OR e.told = :agent OR e.sharing = 'shared') \
             AND (e.user_id IS NULL OR e.user_id = :user \
                 OR (:user IS NULL AND :agent IN (e.owner, e.told))) AND ( \
             (e.kind NOT LIKE 'memory.%' AND e.kind NOT LIKE 'contradiction.%') \
             OR (e.kind LIKE 'contradiction.%' AND EXISTS (SELECT 1 FROM contradiction c \
                 CROSS JOIN memory q ON q.workspace = c.workspace AND q.id = c.newer AND {seen_q} \
                 CROSS JOIN memory m ON m.workspace = c.workspace AND m.id = c.older AND {seen_m} \
                 WHERE c.workspace = e.workspace AND c.id = e.subject)) \
             OR EXISTS (SELECT 1 FROM memory m WHERE e.kind LIKE 'memory.%' \
                     AND m.workspace = e.workspace AND m.id = e.subject AND {seen_m}) \
             OR (e.kind LIKE 'memory.%' AND e.owner = :agent AND NOT EXISTS \
                    (SELECT 1 FROM memory m WHERE m.workspace = e.workspace AND m.id = e.subject))) END"
    )
}

/// The rows of the journal.
impl Tx<'_> {
    /// Sets from where the caller of this write called: the events that follow say it, except those
    /// of Commonbook itself.
    pub fn set_origin(&mut self, origin: EventOrigin) {
        self.origin = Some(origin);
    }

    /// Appends an event at the end of its workspace's journal; returns its position there.
    pub fn append_event(&mut self, event: &NewEvent) -> Result<u64> {
        let workspace = event.workspace.as_str();
        let origin = self.origin.as_ref().filter(|origin| origin.is_of(&event.actor));
        let sequence = self
            .query_one(
                "INSERT INTO workspace (name, sequence) VALUES (?1, 1) \
                 ON CONFLICT (name) DO UPDATE SET sequence = workspace.sequence + 1 RETURNING sequence",
                [workspace],
                |row| row.get(0),
            )?
            .unwrap_or(1);
        self.execute(
            "INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, \
             told, topics, importance, changed, details, user_id, device, client, door) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            (
                workspace,
                sequence,
                event.at.as_millisecond(),
                event.kind.name(),
                event.actor.as_str(),
                &event.subject,
                event.owner.as_str(),
                event.sharing.name(),
                event.addressee.as_ref().map(Agent::as_str),
                encode_json(&event.topics)?,
                event.importance as i64,
                encode_json(&event.changed)?,
                (!event.details.is_empty()).then(|| encode_json(&event.details)).transpose()?,
                &event.user_id,
                origin.and_then(|origin| origin.device.as_ref()),
                origin.and_then(|origin| origin.client.as_ref()),
                origin.map(|origin| origin.door.name()),
            ),
        )?;
        self.appended.push((event.workspace.clone(), sequence));
        Ok(sequence)
    }

    /// The workspaces whose journals this write has appended events to.
    pub fn grown_journals(&self) -> BTreeSet<Workspace> {
        self.appended.iter().map(|(workspace, _)| workspace.clone()).collect()
    }

    /// At most `limit` events of this range that the filter admits and that are in sight, oldest
    /// first.
    pub fn events(&self, sight: &Sight, stretch: &JournalRange, limit: u32) -> Result<Vec<Event>> {
        let (seen, wanted) = (self.seen(sight)?, StretchParameters::of(stretch)?);
        let sql = format!(
            "SELECT e.* FROM event e WHERE {STRETCH_CONDITION} AND {} ORDER BY e.sequence LIMIT :limit",
            seen_events(&seen)
        );
        let mut more = wanted.parameters().to_vec();
        more.push((":limit", &limit));
        let found = seen.all(&sql, &more, from_row)?;
        self.narrow_to_sight(sight, found)
    }

    /// The last event in sight of this workspace's journal.
    pub fn last_event(&self, sight: &Sight, workspace: &Workspace) -> Result<Option<Event>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT e.* FROM event e WHERE e.workspace = :workspace AND {} \
             ORDER BY e.sequence DESC LIMIT 1",
            seen_events(&seen)
        );
        let found = seen.first(&sql, &[(":workspace", &workspace.as_str())], from_row)?;
        Ok(self.narrow_to_sight(sight, found.into_iter().collect())?.pop())
    }

    /// The number of events in this range that the filter admits and that are in sight.
    pub fn event_count(&self, sight: &Sight, stretch: &JournalRange) -> Result<u64> {
        let (seen, wanted) = (self.seen(sight)?, StretchParameters::of(stretch)?);
        let sql = format!(
            "SELECT count(*) FROM event e WHERE {STRETCH_CONDITION} AND {}",
            seen_events(&seen)
        );
        let count = seen.first(&sql, &wanted.parameters(), |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// The number of events in this range that the filter admits and that are in sight, by step of
    /// time and by kind. Events outside of the steps do not count.
    pub fn event_tallies(
        &self,
        sight: &Sight,
        stretch: &JournalRange,
        steps: &RateSteps,
    ) -> Result<Vec<EventTally>> {
        let (seen, wanted) = (self.seen(sight)?, StretchParameters::of(stretch)?);
        let sql = format!(
            "SELECT (e.at - :begin) / :step, e.kind, count(*) FROM event e \
             WHERE e.at >= :begin AND e.at < :end AND {STRETCH_CONDITION} AND {} GROUP BY 1, 2",
            seen_events(&seen)
        );
        let (begin, end) = (steps.since.as_millisecond(), steps.until().as_millisecond());
        let step = i64::try_from(steps.step.as_millis()).unwrap_or(i64::MAX).max(1);
        let mut more = wanted.parameters().to_vec();
        more.extend([(":begin", &begin as &dyn ToSql), (":end", &end), (":step", &step)]);
        seen.all(&sql, &more, |row| {
            Ok(EventTally { step: row.get(0)?, kind: text(row, 1)?, count: row.get(2)? })
        })
    }

    /// The position of the last event of a journal before this time, and 0 if there is none: found
    /// by halving, since a journal grows in the order of time.
    pub fn position_before(&self, workspace: &Workspace, time: Timestamp) -> Result<u64> {
        let unseen = self.unseen("where a time is in a journal, with nothing of its events");
        let sql = "SELECT e.sequence, e.at < ?3 FROM event e \
             WHERE e.workspace = ?1 AND e.sequence <= ?2 ORDER BY e.sequence DESC LIMIT 1";
        // All up to `low` are before the time, and all beyond `high` are not.
        let (mut low, mut high) = (0, self.journal_end(workspace)?);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let params = (workspace.as_str(), middle, time.as_millisecond());
            let found: Option<(u64, bool)> =
                unseen.first(sql, params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            match found {
                Some((sequence, false)) => high = sequence.saturating_sub(1),
                Some((_, true)) | None => low = middle,
            }
        }
        Ok(low)
    }

    /// What happened after this position of a journal, in at most `limit` events: numbers alone, of
    /// every event, in any sight or none.
    pub fn event_figures(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<EventFigures> {
        let unseen =
            self.unseen("numbers of events for an operator, with nothing of what they say");
        let name = workspace.as_str();
        let end = self.journal_end(workspace)?.min(after.saturating_add(u64::from(limit)));
        let sql = "SELECT e.kind, count(*) FROM event e \
             WHERE e.workspace = ?1 AND e.sequence > ?2 AND e.sequence <= ?3 GROUP BY e.kind";
        let kinds = unseen.all(sql, (name, after, end), |row| Ok((text(row, 0)?, row.get(1)?)))?;
        // Events of earlier versions list no items.
        let sql = "SELECT ifnull(e.details ->> '$.source', 'context'), json_array_length(e.details, '$.items'), \
                 ifnull(CAST(e.details ->> '$.candidate_count' AS BIGINT), 0), \
                 (SELECT ifnull(sum(CAST(i.value ->> '$.tokens' AS BIGINT)), 0) FROM json_each(e.details, '$.items') i) \
             FROM event e WHERE e.workspace = ?1 AND e.sequence > ?2 AND e.sequence <= ?3 \
                 AND e.kind = 'context.built' AND json_type(e.details, '$.items') IS NOT NULL \
             ORDER BY e.sequence";
        let contexts = unseen.all(sql, (name, after, end), |row| {
            let (items, candidates): (u64, u64) = (row.get(1)?, row.get(2)?);
            Ok(DeliveryFigures {
                origin: text(row, 0)?,
                items,
                left_out: candidates.saturating_sub(items),
                tokens: row.get(3)?,
            })
        })?;
        Ok(EventFigures { kinds, contexts, through: end.max(after) })
    }

    /// The next `limit` events of a journal after this position, in order, each with its present
    /// visibility: for readers that serve many callers, and filter by [`Sight::sees_event`] for
    /// each.
    pub fn event_records(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>> {
        let opaque = opaque_condition;
        let sql = format!(
            "\
            SELECT e.*, m.id AS m_id, m.owner AS m_owner, m.user_id AS m_user_id, \
                   m.sharing AS m_sharing, m.trust AS m_trust, {} AS m_opaque, \
                   o.id AS o_id, o.owner AS o_owner, o.user_id AS o_user_id, \
                   o.sharing AS o_sharing, o.trust AS o_trust, {} AS o_opaque, \
                   n.id AS n_id, n.owner AS n_owner, n.user_id AS n_user_id, \
                   n.sharing AS n_sharing, n.trust AS n_trust, {} AS n_opaque \
            FROM event e LEFT JOIN memory m ON m.workspace = e.workspace AND m.id = e.subject \
            LEFT JOIN contradiction c ON e.kind LIKE 'contradiction.%' \
                AND c.workspace = e.workspace AND c.id = e.subject \
            LEFT JOIN memory o ON o.workspace = c.workspace AND o.id = c.older \
            LEFT JOIN memory n ON n.workspace = c.workspace AND n.id = c.newer \
            WHERE e.workspace = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3",
            opaque("m"),
            opaque("o"),
            opaque("n")
        );
        let unseen = self.unseen("each event is shown by `Sight::sees_event` alone");
        let mut records = unseen.all(&sql, (workspace.as_str(), after, limit), |row| {
            Ok(EventRecord { event: from_row(row)?, visibility: visibility_from_row(row)? })
        })?;
        for record in &mut records {
            if let Some(work) = self.work_visibility(&record.event)? {
                record.visibility.about = EventSubject::Work(work);
            }
            if let Some(entries) = self.appended_entries(&record.event)? {
                record.visibility.about = EventSubject::Entries(entries);
            }
        }
        Ok(records)
    }
}

impl Tx<'_> {
    /// These events, which this sight sees, without the items that it does not see, and with the
    /// entries that it does.
    fn narrow_to_sight(&self, sight: &Sight, events: Vec<Event>) -> Result<Vec<Event>> {
        let narrowed_events = events.into_iter().map(|event| {
            if let Some(entries) = self.appended_entries(&event)? {
                return Ok(with_entries(&event, sight, &entries));
            }
            let work = self.work_visibility(&event)?;
            Ok(work.map(|work| narrowed(&event, sight, &work)).unwrap_or(event))
        });
        narrowed_events.collect()
    }

    /// Who sees what an event says that an agent received; `None` if it lists no items.
    fn work_visibility(&self, event: &Event) -> Result<Option<WorkVisibility>> {
        let items = event.kind.is_of_work().then(|| work_items(&event.details)).flatten();
        let Some(items) = items else { return Ok(None) };
        let items = items.into_iter().map(|item| {
            let visibility = self.item_visibility(&event.workspace, &item.id)?;
            Ok(WorkItem { id: item.id, visibility })
        });
        let items = items.collect::<Result<_>>()?;
        Ok(Some(WorkVisibility { items }))
    }

    /// The entries that an event says were appended to its case; `None` for another event.
    fn appended_entries(&self, event: &Event) -> Result<Option<Vec<AppendedEntry>>> {
        let appended = (event.kind == EventKind::CaseAppended).then_some(&event.details);
        let Some((first, last)) = appended.and_then(appended_positions) else { return Ok(None) };
        let sql = "SELECT id, position, memory_type, ifnull(summary, text), workspace, owner, \
                       user_id, sharing, trust FROM memory INDEXED BY memory_entry \
                   WHERE workspace = ?1 AND case_key = ?2 AND position BETWEEN ?3 AND ?4 \
                   ORDER BY position";
        let unseen = self.unseen("each entry of an event is shown by `Sight::can_see`");
        let params = (event.workspace.as_str(), event.subject.as_str(), first, last);
        let found = unseen.all(sql, params, |row| {
            let memory_type: MemoryType = text(row, 2)?;
            Ok(AppendedEntry {
                id: text(row, 0)?,
                position: row.get(1)?,
                kind: EntryKind::of(&memory_type).name(),
                summary: row.get(3)?,
                visibility: Some(Visibility {
                    workspace: text(row, 4)?,
                    owner: text(row, 5)?,
                    user_id: row.get(6)?,
                    sharing: text(row, 7)?,
                    trust: text(row, 8)?,
                    // An entry of a case has no path.
                    opaque: false,
                }),
            })
        })?;
        Ok(Some(found))
    }

    fn item_visibility(&self, workspace: &Workspace, id: &str) -> Result<ItemVisibility> {
        Ok(match ItemKind::of(id) {
            ItemKind::File => ItemVisibility::File,
            ItemKind::Handoff(id) => {
                let sql = "SELECT from_agent, to_agent, user_id FROM handoff \
                           WHERE workspace = ?1 AND id = ?2";
                let found = self.query_one(sql, (workspace.as_str(), id.to_string()), |row| {
                    Ok(HandoffVisibility {
                        workspace: workspace.clone(),
                        from: text(row, 0)?,
                        to: text(row, 1)?,
                        user_id: row.get(2)?,
                    })
                })?;
                found.map_or(ItemVisibility::Gone, ItemVisibility::Handoff)
            }
            ItemKind::Memory(id) => {
                let sql = format!(
                    "SELECT m.workspace, m.owner, m.user_id, m.sharing, m.trust, {} FROM memory m \
                     WHERE m.workspace IN (SELECT value FROM json_each(?1)) AND m.id = ?2",
                    opaque_condition("m")
                );
                let unseen = self.unseen("each item of an event is shown by `Sight::sees_item`");
                let workspaces = encode_json(&workspace.with_global())?;
                let found: Vec<Visibility> =
                    unseen.all(&sql, (workspaces, id.to_string()), |row| {
                        Ok(Visibility {
                            workspace: text(row, 0)?,
                            owner: text(row, 1)?,
                            user_id: row.get(2)?,
                            sharing: text(row, 3)?,
                            trust: text(row, 4)?,
                            opaque: row.get(5)?,
                        })
                    })?;
                match found.is_empty() {
                    true => ItemVisibility::Gone,
                    false => ItemVisibility::Memories(found),
                }
            }
        })
    }
}

/// The events that a [`JournalRange`] selects, for a row `e`.
const STRETCH_CONDITION: &str = "\
    e.workspace = :workspace AND e.sequence > :after AND e.sequence <= :until \
    AND (:kinds IS NULL OR e.kind IN (SELECT value FROM json_each(:kinds))) \
    AND (:importances IS NULL OR e.importance IN \
         (SELECT CAST(i.value AS BIGINT) FROM json_each(:importances) i)) \
    AND (:except IS NULL OR e.actor <> :except) \
    AND (:actor IS NULL OR e.actor = :actor \
         OR (e.actor > :actor || '/' AND e.actor < :actor || '0')) \
    AND (:since IS NULL OR e.at >= :since) AND (:until_time IS NULL OR e.at <= :until_time) \
    AND (:subject IS NULL OR e.subject = :subject \
         OR (length(e.subject) = 30 AND substr(e.subject, 4, 1) = '_' \
             AND substr(e.subject, -length(:ending)) = :ending)) \
    AND (:topics IS NULL OR EXISTS (SELECT 1 FROM json_each(e.topics) t \
         WHERE commonbook_lower(t.value) IN (SELECT value FROM json_each(:topics))))";

/// The parameters that [`STRETCH_CONDITION`] needs.
struct StretchParameters<'s> {
    workspace: &'s str,
    after: i64,
    until: i64,
    kinds: Option<String>,
    importances: Option<String>,
    except: Option<&'s str>,
    topics: Option<String>,
    actor: Option<&'s str>,
    subject: Option<&'s str>,
    ending: Option<&'s str>,
    since: Option<i64>,
    until_time: Option<i64>,
}

impl<'s> StretchParameters<'s> {
    fn of(stretch: &'s JournalRange) -> Result<Self> {
        let place = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        let EventFilter { kinds, topics, importances, except, actor, subject, since, until } =
            &stretch.filter;
        // A time is stored to the millisecond.
        let last_millisecond = |until: &Timestamp| until.as_millisecond();
        let first_millisecond = |since: &Timestamp| match time(since.as_millisecond()) {
            stored if stored < *since => since.as_millisecond() + 1,
            _ => since.as_millisecond(),
        };
        let numbers: Vec<i64> = importances.iter().map(|it| *it as i64).collect();
        Ok(Self {
            workspace: stretch.workspace.as_str(),
            after: place(stretch.after),
            until: place(stretch.until),
            kinds: (!kinds.is_empty()).then(|| encode_json(kinds)).transpose()?,
            importances: (!importances.is_empty()).then(|| encode_json(&numbers)).transpose()?,
            except: except.as_ref().map(Agent::as_str),
            topics: (!topics.is_empty()).then(|| encode_json(topics)).transpose()?,
            actor: actor.as_ref().map(Agent::as_str),
            subject: subject.as_ref().map(|subject| &*subject.id),
            ending: subject.as_ref().and_then(|subject| subject.ending.as_deref()),
            since: since.as_ref().map(first_millisecond),
            until_time: until.as_ref().map(last_millisecond),
        })
    }

    fn parameters(&self) -> [(&str, &dyn ToSql); 12] {
        [
            (":workspace", &self.workspace),
            (":after", &self.after),
            (":until", &self.until),
            (":kinds", &self.kinds),
            (":importances", &self.importances),
            (":except", &self.except),
            (":topics", &self.topics),
            (":actor", &self.actor),
            (":subject", &self.subject),
            (":ending", &self.ending),
            (":since", &self.since),
            (":until_time", &self.until_time),
        ]
    }
}

fn visibility_from_row(row: &SqlRow<'_>) -> Result<EventVisibility> {
    let workspace: Workspace = text(row, "workspace")?;
    let kind: EventKind = text(row, "kind")?;
    let is_there = |id| Ok::<_, Error>(!row.is_null(id)?);
    let of = |row: &SqlRow<'_>, name: &str| {
        Ok::<_, Error>(Visibility {
            workspace: workspace.clone(),
            owner: text(row, &*format!("{name}_owner"))?,
            user_id: row.get(&*format!("{name}_user_id"))?,
            sharing: text(row, &*format!("{name}_sharing"))?,
            trust: text(row, &*format!("{name}_trust"))?,
            opaque: row.get(&*format!("{name}_opaque"))?,
        })
    };
    let about = if kind.is_of_contradiction() {
        match is_there("o_id")? && is_there("n_id")? {
            true => EventSubject::Both(vec![
                (text(row, "o_id")?, of(row, "o")?),
                (text(row, "n_id")?, of(row, "n")?),
            ]),
            false => EventSubject::Both(Vec::new()),
        }
    } else if !kind.is_of_memory() {
        EventSubject::Other
    } else if is_there("m_id")? {
        EventSubject::Memory(of(row, "m")?)
    } else {
        EventSubject::Gone
    };
    Ok(EventVisibility {
        workspace,
        owner: text(row, "owner")?,
        user_id: row.get("user_id")?,
        sharing: text(row, "sharing")?,
        addressee: optional_text(row, "told")?,
        about,
    })
}

fn from_row(row: &SqlRow<'_>) -> Result<Event> {
    Ok(Event {
        sequence: row.get("sequence")?,
        workspace: text(row, "workspace")?,
        at: time(row.get("at")?),
        kind: text(row, "kind")?,
        actor: text(row, "actor")?,
        device: row.get("device")?,
        client: row.get("client")?,
        door: optional_text(row, "door")?,
        subject: row.get("subject")?,
        topics: json(row, "topics")?,
        importance: importance(row.get("importance")?),
        changed: json(row, "changed")?,
        details: match row.is_null("details")? {
            true => Map::new(),
            false => json(row, "details")?,
        },
    })
}
