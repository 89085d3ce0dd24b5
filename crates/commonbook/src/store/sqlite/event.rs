//! The SQL of the journal.

use rusqlite::Row;

use super::SqliteTransaction;
use super::access::{SEEN, SightParams};
use super::row::{encoded, importance, json, text, time};
use crate::access::Sight;
use crate::error::Result;
use crate::event::{Event, NewEvent};
use crate::store::EventRows;

/// Who sees an event `e`: who sees the memory it is about, and saw it then; when that is gone, its
/// owner.
fn seen_events() -> String {
    format!(
        "e.workspace IN (SELECT value FROM json_each(:workspaces)) \
         AND (e.owner = :agent OR e.sharing = 'shared') AND ( \
             EXISTS (SELECT 1 FROM memory m \
                     WHERE m.workspace = e.workspace AND m.id = e.subject AND {SEEN}) \
             OR (e.owner = :agent AND NOT EXISTS \
                    (SELECT 1 FROM memory m WHERE m.workspace = e.workspace AND m.id = e.subject)))"
    )
}

impl EventRows for SqliteTransaction<'_> {
    fn append_event(&mut self, event: &NewEvent) -> Result<u64> {
        let workspace = event.workspace.as_str();
        let sequence = self
            .one(
                "INSERT INTO workspace (name, sequence) VALUES (?1, 1) \
                 ON CONFLICT (name) DO UPDATE SET sequence = sequence + 1 RETURNING sequence",
                [workspace],
                |row| row.get(0),
            )?
            .unwrap_or(1);
        self.execute(
            "INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, \
             topics, importance, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                workspace,
                sequence,
                event.at.as_millisecond(),
                event.kind.name(),
                event.actor.as_str(),
                &event.subject,
                event.owner.as_str(),
                event.sharing.name(),
                encoded(&event.topics)?,
                event.importance as i64,
                encoded(&event.changed)?,
            ),
        )?;
        Ok(sequence)
    }

    fn events(&self, sight: &Sight, after: u64, limit: u32) -> Result<Vec<Event>> {
        let sql = format!(
            "SELECT e.* FROM event e WHERE e.sequence > :after AND {} \
             ORDER BY e.sequence LIMIT :limit",
            seen_events()
        );
        let seen = SightParams::of(sight);
        self.all(&sql, &*seen.with(&[(":after", &after), (":limit", &limit)]), from_row)
    }

    fn event_count(&self, sight: &Sight) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM event e WHERE {}", seen_events());
        let count = self.one(&sql, &*SightParams::of(sight).with(&[]), |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        sequence: row.get("sequence")?,
        workspace: text(row, "workspace")?,
        at: time(row.get("at")?),
        kind: text(row, "kind")?,
        actor: text(row, "actor")?,
        subject: row.get("subject")?,
        topics: json(row, "topics")?,
        importance: importance(row.get("importance")?),
        changed: json(row, "changed")?,
    })
}
