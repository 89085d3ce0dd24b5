//! The SQL of what was forgotten.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::SqlTransaction;
use super::driver::{SqlRow, SqlValue, ValueKind};
use super::memory::{MEMORY_COLUMNS, from_row};
use super::row::{encode_json, json, text};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::home_key::HomeKey;
use crate::base::id::{CertificateId, MemoryId};
use crate::model::access::StoredMemory;
use crate::model::forgetting::{
    ForgetCertificate, ForgottenPhrases, Phrase, PhraseKey, Tombstone, redacted_memory,
    without_empty_items,
};
use crate::model::workspace::Workspace;
use crate::store::{ForgettingRows, QuoteCount};

/// The tables whose rows may quote a memory: the name for people, the table, and its columns.
pub(crate) const QUOTING_TABLES: &[(&str, &str, &[&str])] = &[
    ("cases", "case_log", &["title", "labels"]),
    ("proposals to cases", "case_proposal", &["entries"]),
    ("checkpoints", "checkpoint", &["title"]),
    ("receipts of contexts", "context", &["receipt", "standing"]),
    ("contradictions", "contradiction", &["contradiction"]),
    ("entities", "entity", &["entity"]),
    ("merges of entities", "entity_merge", &["merge"]),
    ("names of entities", "entity_name", &["value", "normalised"]),
    ("reviews of entities", "entity_review", &["review"]),
    ("statements about entities", "entity_statement", &["statement"]),
    ("handoffs", "handoff", &["task", "said", "note", "package", "left_out", "entities", "cycle"]),
    ("packages of handoffs", "handoff_memory", &["told", "passed"]),
    ("relations", "relation", &["relation"]),
    ("filters of webhooks", "webhook", &["filter"]),
];

/// The answers kept under idempotency keys, which go as a whole.
const ANSWERS: &str = "answers under idempotency keys";

/// The versions of standing memory files.
const STANDING_VERSIONS: &str = "versions of standing memory";

/// Every place where rows may quote, in the order of a certificate.
fn quoting_places() -> impl Iterator<Item = &'static str> {
    QUOTING_TABLES.iter().map(|(place, ..)| *place).chain([ANSWERS, STANDING_VERSIONS])
}

impl ForgettingRows for SqlTransaction<'_> {
    fn phrase_keys(&self) -> Result<Vec<PhraseKey>> {
        let unreadable = || {
            Error::new(ErrorKind::Unavailable, "the key of forgotten phrases is damaged")
                .hint("Restore the home from a backup.")
        };
        let keys = self.stored_phrase_keys()?;
        keys.iter().map(|key| HomeKey::from_hex(key).ok_or_else(unreadable)).collect()
    }

    fn add_phrase_key(&mut self, key: &str) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO tombstone_key (number, key) \
             SELECT 1 + ifnull(max(number), 0), ?1 FROM tombstone_key",
            [key],
        )?;
        Ok(())
    }

    fn stored_phrase_keys(&self) -> Result<Vec<String>> {
        let sql = "SELECT key FROM tombstone_key ORDER BY number";
        self.query_all(sql, (), |row| row.get(0))
    }

    fn forgetting_workspaces(&self) -> Result<Vec<Workspace>> {
        let sql = "SELECT DISTINCT workspace FROM certificate ORDER BY workspace";
        self.query_all(sql, (), |row| text(row, 0))
    }

    fn tombstone_lengths(&self, workspace: &Workspace) -> Result<BTreeSet<usize>> {
        // Each length is one step in the index.
        let sql = "WITH RECURSIVE length (words) AS (\
                SELECT min(words) FROM tombstone WHERE workspace = ?1 \
                UNION ALL SELECT (SELECT min(t.words) FROM tombstone t \
                    WHERE t.workspace = ?1 AND t.words > length.words) \
                FROM length WHERE length.words IS NOT NULL) \
             SELECT words FROM length WHERE words IS NOT NULL";
        let lengths = self.query_all(sql, [workspace.as_str()], |row| row.get::<_, usize>(0))?;
        Ok(lengths.into_iter().collect())
    }

    fn tombstones_among(
        &self,
        workspace: &Workspace,
        phrases: &BTreeSet<Phrase>,
    ) -> Result<Vec<Tombstone>> {
        let wanted: Vec<(usize, i64)> =
            phrases.iter().map(|phrase| (phrase.words, phrase.digest)).collect();
        let sql = "SELECT t.* FROM json_each(?2) w CROSS JOIN tombstone t \
                   ON t.workspace = ?1 AND t.words = CAST(w.value ->> 0 AS BIGINT) \
                       AND t.phrase = CAST(w.value ->> 1 AS BIGINT)";
        self.query_all(sql, (workspace.as_str(), encode_json(&wanted)?), tombstone_from_row)
    }

    fn tombstones(
        &self,
        workspace: &Workspace,
        certificate: Option<CertificateId>,
    ) -> Result<Vec<Tombstone>> {
        match certificate {
            None => {
                let sql = "SELECT * FROM tombstone WHERE workspace = ?1";
                self.query_all(sql, [workspace.as_str()], tombstone_from_row)
            }
            Some(id) => {
                let sql = "SELECT * FROM tombstone WHERE workspace = ?1 AND certificate = ?2";
                self.query_all(sql, [workspace.as_str(), &id.to_string()], tombstone_from_row)
            }
        }
    }

    fn put_tombstone(&mut self, tombstone: &Tombstone) -> Result<()> {
        let Tombstone { workspace, phrase, certificate, owner } = tombstone;
        self.execute(
            "INSERT OR IGNORE INTO tombstone (workspace, words, phrase, certificate, owner) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                workspace.as_str(),
                phrase.words,
                phrase.digest,
                certificate.to_string(),
                owner.as_ref().map_or("", |owner| owner.as_str()),
            ),
        )?;
        Ok(())
    }

    fn drop_tombstones(&mut self, workspace: &Workspace, certificate: CertificateId) -> Result<()> {
        let named = [workspace.as_str(), &certificate.to_string()];
        self.execute("DELETE FROM tombstone WHERE workspace = ?1 AND certificate = ?2", named)?;
        let sql = "DELETE FROM forgotten_memory WHERE workspace = ?1 AND certificate = ?2";
        self.execute(sql, named)?;
        Ok(())
    }

    fn put_certificate(&mut self, certificate: &ForgetCertificate) -> Result<()> {
        let ForgetCertificate { workspace, id, at, finished_at, allowed_at, .. } = certificate;
        self.execute(
            "INSERT OR REPLACE INTO certificate (workspace, id, at, finished_at, certificate) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                workspace.as_str(),
                id.to_string(),
                at.as_millisecond(),
                finished_at.map(Timestamp::as_millisecond),
                encode_json(certificate)?,
            ),
        )?;
        if allowed_at.is_some() {
            return Ok(());
        }
        for memory in &certificate.memories {
            self.execute(
                "INSERT OR IGNORE INTO forgotten_memory (workspace, memory, certificate) \
                 VALUES (?1, ?2, ?3)",
                (workspace.as_str(), memory.to_string(), id.to_string()),
            )?;
        }
        Ok(())
    }

    fn certificate(
        &self,
        workspace: &Workspace,
        id: CertificateId,
    ) -> Result<Option<ForgetCertificate>> {
        let sql = "SELECT certificate FROM certificate WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, [workspace.as_str(), &id.to_string()], |row| json(row, 0))
    }

    fn certificates(&self, workspace: &Workspace, limit: u32) -> Result<Vec<ForgetCertificate>> {
        let sql =
            "SELECT certificate FROM certificate WHERE workspace = ?1 ORDER BY id DESC LIMIT ?2";
        self.query_all(sql, (workspace.as_str(), limit), |row| json(row, 0))
    }

    fn unfinished_certificates(&self) -> Result<Vec<ForgetCertificate>> {
        let sql = "SELECT certificate FROM certificate INDEXED BY certificate_unfinished \
                   WHERE finished_at IS NULL ORDER BY at";
        self.query_all(sql, (), |row| json(row, 0))
    }

    fn certificate_of(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
    ) -> Result<Option<CertificateId>> {
        let sql = "SELECT certificate FROM forgotten_memory WHERE workspace = ?1 AND memory = ?2";
        self.query_one(sql, [workspace.as_str(), &memory.to_string()], |row| text(row, 0))
    }

    fn quoting_memories(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<StoredMemory>> {
        let sql = format!("SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.workspace = ?1");
        let unseen = self.unseen("what quotes a forgotten memory is changed, and shown in a sight");
        let quoting = unseen.all(&sql, [workspace.as_str()], |row| {
            let memory = from_row(row)?;
            Ok(redacted_memory(&memory, phrases).is_some().then_some(memory))
        })?;
        let mut quoting: Vec<StoredMemory> = quoting.into_iter().flatten().collect();
        // A memory may have quoted it before its last change.
        let sql = "SELECT DISTINCT memory, snapshot FROM revision WHERE workspace = ?1";
        let earlier = unseen.all(sql, [workspace.as_str()], |row| {
            let quotes = phrases.redact_column(row.get_ref(1)?.as_str()?).is_some();
            quotes.then(|| text::<MemoryId>(row, 0)).transpose()
        })?;
        let ids: BTreeSet<MemoryId> = earlier.into_iter().flatten().collect();
        let known: BTreeSet<MemoryId> = quoting.iter().map(|memory| memory.id).collect();
        let further: Vec<MemoryId> = ids.difference(&known).copied().collect();
        quoting.extend(self.memories_with_ids(workspace, &further)?);
        Ok(quoting)
    }

    fn memories_with_ids(
        &self,
        workspace: &Workspace,
        ids: &[MemoryId],
    ) -> Result<Vec<StoredMemory>> {
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM json_each(?2) w \
             CROSS JOIN memory m ON m.workspace = ?1 AND m.id = w.value"
        );
        let unseen = self.unseen("what was forgotten is removed, and shown to no caller");
        unseen.all(&sql, (workspace.as_str(), encode_json(&ids)?), from_row)
    }

    fn redact_revisions(
        &mut self,
        workspace: &Workspace,
        memory: MemoryId,
        phrases: &ForgottenPhrases,
    ) -> Result<u64> {
        let unseen = self.unseen("what was forgotten goes, and is shown to no caller");
        let sql = "SELECT revision, snapshot FROM revision WHERE workspace = ?1 AND memory = ?2";
        let named = (workspace.as_str(), memory.to_string());
        let found = unseen.all(sql, (named.0, &named.1), |row| {
            Ok((row.get::<_, i64>(0)?, json::<StoredMemory>(row, 1)?))
        })?;
        let mut changed = 0;
        for (revision, snapshot) in found {
            let Some(after) = redacted_memory(&snapshot, phrases) else { continue };
            changed += 1;
            unseen.execute(
                "UPDATE revision SET snapshot = ?4 \
                 WHERE workspace = ?1 AND memory = ?2 AND revision = ?3",
                (named.0, &named.1, revision, encode_json(&after)?),
            )?;
        }
        Ok(changed)
    }

    fn count_quotes(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<QuoteCount>> {
        Ok(count_by_place(&self.quoting_rows(workspace, phrases)?))
    }

    fn redact_quotes(
        &mut self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<QuoteCount>> {
        let rows = self.quoting_rows(workspace, phrases)?;
        let unseen = self.unseen("what was forgotten goes, and is shown to no caller");
        for QuotingRow { statement, values, .. } in &rows {
            unseen.execute(statement, values.as_slice())?;
        }
        Ok(count_by_place(&rows))
    }
}

fn count_by_place(rows: &[QuotingRow]) -> Vec<QuoteCount> {
    let count = |place| rows.iter().filter(|row| row.place == place).count() as u64;
    quoting_places().map(|place| (place, count(place))).collect()
}

/// A row that quotes forgotten phrases, and the statement that takes them out.
struct QuotingRow {
    place: &'static str,
    statement: String,
    values: Vec<SqlValue>,
}

impl SqlTransaction<'_> {
    fn quoting_rows(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<QuotingRow>> {
        let mut found = Vec::new();
        for (place, table, columns) in QUOTING_TABLES {
            self.find_quotes(place, table, columns, Some(workspace), phrases, &mut found)?;
        }
        let start = found.len();
        self.find_quotes(ANSWERS, "answer", &["answer"], Some(workspace), phrases, &mut found)?;
        for answer in &mut found[start..] {
            let (_, condition) = answer.statement.split_once(" WHERE ").unwrap_or_default();
            answer.statement = format!("DELETE FROM answer WHERE {condition}");
            answer.values.remove(0);
        }
        let (table, start) = ("standing_version", found.len());
        self.find_quotes(STANDING_VERSIONS, table, &["text"], None, phrases, &mut found)?;
        for version in &mut found[start..] {
            let Some(SqlValue::Text(text)) = version.values.first_mut() else { continue };
            *text = without_empty_items(text);
            let (bytes, hash) = (i64::try_from(text.len()).unwrap_or(i64::MAX), sha256(text));
            let sets = "SET bytes = ?, sha256 = ?, text = ?";
            version.statement = version.statement.replacen("SET text = ?", sets, 1);
            version.values.splice(0..0, [bytes.into(), hash.into()]);
        }
        Ok(found)
    }

    /// Finds the rows of a table that quote, of one workspace or of all.
    fn find_quotes(
        &self,
        place: &'static str,
        table: &str,
        columns: &[&str],
        workspace: Option<&Workspace>,
        phrases: &ForgottenPhrases,
        found: &mut Vec<QuotingRow>,
    ) -> Result<()> {
        let keys = self.connection.key_columns(table)?;
        let of_workspace =
            if workspace.is_some() { "WHERE workspace = ?1" } else { "WHERE ?1 = ''" };
        let sql = format!(
            "SELECT {}, {} FROM {table} {of_workspace}",
            columns.join(", "),
            keys.join(", ")
        );
        let sets = columns.iter().map(|column| format!("{column} = ?")).collect::<Vec<_>>();
        let named = keys.iter().map(|key| format!("{key} = ?")).collect::<Vec<_>>();
        let update =
            format!("UPDATE {table} SET {} WHERE {}", sets.join(", "), named.join(" AND "));
        let unseen = self.unseen("what quotes a forgotten memory is changed, and shown to nobody");
        let rows = unseen.all(&sql, [workspace.map_or("", Workspace::as_str)], |row| {
            let mut values = Vec::with_capacity(columns.len() + keys.len());
            let mut quotes = false;
            for place in 0..columns.len() {
                let value = row.get_ref(place)?.to_value(ValueKind::Text);
                let redacted = match &value {
                    SqlValue::Text(text) => phrases.redact_column(text),
                    _ => None,
                };
                quotes |= redacted.is_some();
                values.push(redacted.map_or(value, SqlValue::Text));
            }
            for place in 0..keys.len() {
                values.push(row.get_ref(columns.len() + place)?.to_value(ValueKind::Text));
            }
            Ok(quotes.then_some(values))
        })?;
        let rows = rows.into_iter().flatten();
        found.extend(rows.map(|values| QuotingRow { place, statement: update.clone(), values }));
        Ok(())
    }
}

fn tombstone_from_row(row: &SqlRow<'_>) -> Result<Tombstone> {
    let owner: String = row.get("owner")?;
    Ok(Tombstone {
        workspace: text(row, "workspace")?,
        phrase: Phrase { words: row.get("words")?, digest: row.get("phrase")? },
        certificate: text(row, "certificate")?,
        owner: if owner.is_empty() { None } else { text(row, "owner").map(Some)? },
    })
}
