//! The SQL of cases. Their entries are rows of memories.

use jiff::Timestamp;

use super::Tx;
use super::driver::{SqlRow, ToSql};
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::case::{Case, CaseBranch, CaseKey, CaseStatus, EntryFilter, EntryKind};
use crate::model::workspace::Workspace;

/// Positions of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryStretch {
    /// The workspace.
    pub workspace: Workspace,
    /// The case.
    pub case: CaseKey,
    /// After this position.
    pub after: u64,
    /// Up to this one.
    pub until: u64,
}

/// A case whose digest may run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseActivity {
    /// The workspace.
    pub workspace: Workspace,
    /// The case.
    pub case: CaseKey,
    /// Memories saved in sessions on it since its digest ran.
    pub memories: u32,
    /// Sessions on it that have ended since.
    pub ended: u32,
}

/// The rows of cases. Everybody in a workspace reads all its cases; their entries are memories.
impl Tx<'_> {
    /// The case with this key.
    pub fn case(&self, workspace: &Workspace, key: &CaseKey) -> Result<Option<Case>> {
        let sql = "SELECT * FROM case_log WHERE workspace = ?1 AND key = ?2";
        self.query_one(sql, [workspace.as_str(), key.as_str()], from_row)
    }

    /// At most `limit` cases with this status and label, or with any, last opened first, each with
    /// the position of its opening in the journal, which is before the given one.
    pub fn cases(
        &self,
        workspace: &Workspace,
        status: Option<CaseStatus>,
        label: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>> {
        let sql = "SELECT * FROM case_log WHERE workspace = ?1 AND (?2 IS NULL OR status = ?2) \
                   AND (?5 IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?5)) \
                   AND sequence < ?3 ORDER BY sequence DESC LIMIT ?4";
        let before =
            before.map_or(i64::MAX, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let params = (workspace.as_str(), status.map(CaseStatus::name), before, limit, label);
        self.query_all(sql, params, |row| Ok((row.get("sequence")?, from_row(row)?)))
    }

    /// At most `limit` branches of a case, last opened first, each with the position of its opening
    /// in the journal, which is before the given one.
    pub fn branches(
        &self,
        workspace: &Workspace,
        case: &CaseKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>> {
        let sql = "SELECT * FROM case_log WHERE workspace = ?1 AND parent = ?2 AND sequence < ?3 \
                   ORDER BY sequence DESC LIMIT ?4";
        let before =
            before.map_or(i64::MAX, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let params = (workspace.as_str(), case.as_str(), before, limit);
        self.query_all(sql, params, |row| Ok((row.get("sequence")?, from_row(row)?)))
    }

    /// At most `limit` keys of cases that begin with this text, in order.
    pub fn case_keys(
        &self,
        workspace: &Workspace,
        beginning: &str,
        limit: u32,
    ) -> Result<Vec<CaseKey>> {
        let sql = "SELECT key FROM case_log WHERE workspace = ?1 AND instr(key, ?2) = 1 \
                   ORDER BY key LIMIT ?3";
        self.query_all(sql, (workspace.as_str(), beginning, limit), |row| text(row, 0))
    }

    /// Every case that is not open, of one workspace or of all.
    pub fn inactive_cases(&self, of: Option<&Workspace>) -> Result<Vec<(Workspace, CaseKey)>> {
        let sql = "SELECT workspace, key FROM case_log WHERE status <> 'open'";
        let case = |row: &SqlRow<'_>| Ok((text(row, 0)?, text(row, 1)?));
        match of {
            Some(of) => self.query_all(&format!("{sql} AND workspace = ?1"), [of.as_str()], case),
            None => self.query_all(sql, (), case),
        }
    }

    /// The entries of a case in sight at the positions after `after` and up to `until`, in order.
    pub fn entries(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        case: &CaseKey,
        after: u64,
        until: u64,
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_case WHERE {seen_m} \
                 AND m.workspace = :workspace AND m.case_key = :case AND m.position > :after AND m.position <= :until \
             ORDER BY m.position"
        );
        let (workspace, case) = (workspace.as_str(), case.as_str());
        let more: [(&str, &dyn ToSql); 4] =
            [(":workspace", &workspace), (":case", &case), (":after", &after), (":until", &until)];
        seen.all(&sql, &more, memory::from_row)
    }

    /// At most `limit` entries of a case in sight at these positions that the filter selects: the
    /// first ones, or the last ones, in the order that the filter names.
    pub fn selected_entries(
        &self,
        sight: &Sight,
        stretch: &EntryStretch,
        filter: &EntryFilter,
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let order = if filter.newest { "DESC" } else { "ASC" };
        // A memory of another type is a note.
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_case WHERE {seen_m} \
                 AND m.workspace = :workspace AND m.case_key = :case AND m.position > :after AND m.position <= :until \
                 AND (:author IS NULL OR m.owner = :author) \
                 AND (:kind IS NULL OR :kind = CASE WHEN m.memory_type IN (SELECT value FROM json_each(:kinds)) \
                      THEN m.memory_type ELSE 'note' END) \
             ORDER BY m.position {order} LIMIT :limit"
        );
        let (workspace, case) = (stretch.workspace.as_str(), stretch.case.as_str());
        let kinds: Vec<&str> = EntryKind::ALL.iter().map(|kind| kind.name()).collect();
        let (kind, kinds) = (filter.kind.map(EntryKind::name), encode_json(&kinds)?);
        let more: [(&str, &dyn ToSql); 8] = [
            (":workspace", &workspace),
            (":case", &case),
            (":after", &stretch.after),
            (":until", &stretch.until),
            (":author", &filter.author),
            (":kind", &kind),
            (":kinds", &kinds),
            (":limit", &limit),
        ];
        seen.all(&sql, &more, memory::from_row)
    }

    /// The number of entries of a case in sight at these positions that other agents appended and
    /// nobody retracted.
    pub fn entries_of_others(
        &self,
        sight: &Sight,
        stretch: &EntryStretch,
        reader: &Agent,
    ) -> Result<u64> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT count(*) FROM memory m INDEXED BY memory_case WHERE {seen_m} \
                 AND m.workspace = :workspace AND m.case_key = :case AND m.position > :after AND m.position <= :until \
                 AND m.owner <> :reader AND m.retraction IS NULL"
        );
        let (workspace, case) = (stretch.workspace.as_str(), stretch.case.as_str());
        let reader = reader.as_str();
        let more: [(&str, &dyn ToSql); 5] = [
            (":workspace", &workspace),
            (":case", &case),
            (":after", &stretch.after),
            (":until", &stretch.until),
            (":reader", &reader),
        ];
        let count = seen.first(&sql, &more, |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// The entries of a case, in sight, that these entries superseded: pairs of the newer and the
    /// older one.
    pub fn superseded_entries(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        case: &CaseKey,
        by: &[MemoryId],
    ) -> Result<Vec<(MemoryId, MemoryId)>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT m.superseded_by, m.id FROM memory m INDEXED BY memory_entry_heir \
             WHERE {seen_m} AND m.workspace = :workspace AND m.case_key = :case AND m.superseded_by IN (SELECT value FROM json_each(:by)) ORDER BY m.position"
        );
        let (workspace, case, by) = (workspace.as_str(), case.as_str(), encode_json(&by)?);
        let more: [(&str, &dyn ToSql); 3] =
            [(":workspace", &workspace), (":case", &case), (":by", &by)];
        seen.all(&sql, &more, |row| Ok((text(row, 0)?, text(row, 1)?)))
    }

    /// Stores a new case; `sequence` is the position of its event in the journal.
    pub fn insert_case(&mut self, case: &Case, sequence: u64) -> Result<()> {
        self.execute(
            "INSERT INTO case_log (workspace, key, sequence, title, status, version, opened_by, \
             opened_at, changed_at, parent, branched_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                case.workspace.as_str(),
                case.key.as_str(),
                sequence,
                &case.title,
                case.status.name(),
                case.version,
                case.opened_by.as_str(),
                case.opened_at.as_millisecond(),
                case.changed_at.as_millisecond(),
                case.branch.as_ref().map(|branch| branch.of.as_str()),
                case.branch.as_ref().map(|branch| branch.at),
            ),
        )?;
        Ok(())
    }

    /// Replaces a case by its new state.
    pub fn replace_case(&mut self, case: &Case) -> Result<()> {
        self.execute(
            "UPDATE case_log SET title = ?3, status = ?4, version = ?5, changed_at = ?6, \
             revision = ?7, labels = ?8, lead = ?9, merged_at = ?10 WHERE workspace = ?1 AND key = ?2",
            (
                case.workspace.as_str(),
                case.key.as_str(),
                &case.title,
                case.status.name(),
                case.version,
                case.changed_at.as_millisecond(),
                (case.revision > 1).then_some(case.revision),
                (!case.labels.is_empty()).then(|| encode_json(&case.labels)).transpose()?,
                case.lead.as_ref().map(Agent::as_str),
                case.branch.as_ref().and_then(|branch| branch.merged_at).map(Timestamp::as_millisecond),
            ),
        )?;
        Ok(())
    }
}

pub(super) fn from_row(row: &SqlRow<'_>) -> Result<Case> {
    Ok(Case {
        key: text(row, "key")?,
        workspace: text(row, "workspace")?,
        title: row.get("title")?,
        status: text(row, "status")?,
        version: row.get("version")?,
        opened_by: text(row, "opened_by")?,
        opened_at: time(row.get("opened_at")?),
        changed_at: time(row.get("changed_at")?),
        revision: row.get::<_, Option<u64>>("revision")?.unwrap_or(1),
        labels: match row.is_null("labels")? {
            true => Vec::new(),
            false => json(row, "labels")?,
        },
        lead: optional_text(row, "lead")?,
        branch: match optional_text(row, "parent")? {
            None => None,
            Some(of) => Some(CaseBranch {
                of,
                at: row.get::<_, Option<u64>>("branched_at")?.unwrap_or(0),
                merged_at: row.get::<_, Option<i64>>("merged_at")?.map(time),
            }),
        },
    })
}
