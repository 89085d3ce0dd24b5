//! The SQL of what was forgotten.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Tx;
use super::access::opaque_condition;
use super::driver::{SqlRow, SqlValue, ValueKind};
use super::memory::{MEMORY_COLUMNS, from_row};
use super::row::{encode_json, json, text};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::home_key::HomeKey;
use crate::base::id::{CertificateId, MemoryId};
use crate::model::access::StoredMemory;
use crate::model::forgetting::{
    ForgetCertificate, ForgetReach, ForgottenPhrases, Phrase, PhraseKey, Tombstone,
    redacted_memory, redacted_standing,
};
use crate::model::workspace::Workspace;

/// A kind of rows, and how many of them quote.
pub type QuoteCount = (&'static str, u64);

/// Rows that quote forgotten phrases, by their keys.
#[derive(Debug, Clone, Default)]
pub struct QuotingRows {
    rows: Vec<QuotingRow>,
}

/// A row of a kind that may quote.
#[derive(Debug, Clone)]
struct QuotingRow {
    /// The kind, by its place in the list of all.
    kind: usize,
    /// The values of the columns of its key.
    key: Vec<SqlValue>,
    /// The sentences of it that repeat a phrase.
    says: Vec<String>,
}

impl QuotingRows {
    /// Whether no row quotes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The sentences that go from each kind of rows, by its place.
    #[must_use]
    pub fn sentences(&self) -> BTreeMap<&'static str, Vec<String>> {
        let places: Vec<&'static str> = quoting_places().collect();
        let mut sentences: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for row in &self.rows {
            sentences.entry(places[row.kind]).or_default().extend(row.says.iter().cloned());
        }
        sentences
    }

    /// The number of rows of each kind, also of those without one.
    #[must_use]
    pub fn counts(&self) -> Vec<QuoteCount> {
        let count = |kind| self.rows.iter().filter(|row| row.kind == kind).count() as u64;
        quoting_places().enumerate().map(|(kind, place)| (place, count(kind))).collect()
    }
}

/// The tables whose rows may quote a memory, in the order of a certificate.
pub(crate) const QUOTING_TABLES: &[QuotingTable] = &[
    table("cases", "case_log", &["title", "labels"], RowAuthor::Column("opened_by")),
    table("proposals to cases", "case_proposal", &["entries"], RowAuthor::Memories),
    table("checkpoints", "checkpoint", &["title"], RowAuthor::Column("agent")),
    table("receipts of contexts", "context", &["receipt", "standing"], RowAuthor::Column("agent")),
    table("contradictions", "contradiction", &["contradiction"], RowAuthor::Memories),
    table("entities", "entity", &["entity"], RowAuthor::Many),
    table("merges of entities", "entity_merge", &["merge"], RowAuthor::Many),
    table("names of entities", "entity_name", &["value", "normalised"], RowAuthor::Many),
    table("reviews of entities", "entity_review", &["review"], RowAuthor::Many),
    table("statements about entities", "entity_statement", &["statement"], RowAuthor::Many),
    table(
        "handoffs",
        "handoff",
        &["task", "said", "note", "package", "left_out", "entities", "cycle"],
        RowAuthor::Column("from_agent"),
    ),
    table("packages of handoffs", "handoff_memory", &["told", "passed"], RowAuthor::Copy("memory")),
    table("relations", "relation", &["relation"], RowAuthor::Many),
    table("filters of webhooks", "webhook", &["filter"], RowAuthor::Column("agent")),
];

/// A table whose rows may quote a memory.
#[derive(Clone, Copy)]
pub(crate) struct QuotingTable {
    /// The name for people.
    pub(crate) place: &'static str,
    /// The table.
    pub(crate) table: &'static str,
    /// Its columns with words.
    pub(crate) columns: &'static [&'static str],
    author: RowAuthor,
}

/// Whose words a row has.
#[derive(Clone, Copy)]
enum RowAuthor {
    /// Those of the agent in this column.
    Column(&'static str),
    /// Those of the memory whose id is in this column.
    Copy(&'static str),
    /// Those of the memories that its own columns name.
    Memories,
    /// In a standing memory file each item has a mark.
    Marks,
    /// Those of many: only a person takes some out.
    Many,
}

const fn table(
    place: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
    author: RowAuthor,
) -> QuotingTable {
    QuotingTable { place, table, columns, author }
}

/// The answers kept under idempotency keys, which go as a whole.
const ANSWERS: &str = "answers under idempotency keys";

/// The versions of standing memory files, which belong to no workspace.
const STANDING_VERSIONS: &str = "versions of standing memory";

/// Every kind of rows that may quote, in the order of a certificate.
fn quoting_kinds() -> impl Iterator<Item = QuotingTable> {
    let further = [
        table(ANSWERS, "answer", &["answer"], RowAuthor::Column("agent")),
        table(STANDING_VERSIONS, "standing_version", &["text"], RowAuthor::Marks),
    ];
    QUOTING_TABLES.iter().copied().chain(further)
}

/// Every place where rows may quote, in the order of a certificate.
pub(in crate::store) fn quoting_places() -> impl Iterator<Item = &'static str> {
    quoting_kinds().map(|kind| kind.place)
}

/// The rows of what was forgotten.
impl Tx<'_> {
    /// The keys of phrases, the own one first.
    pub fn phrase_keys(&self) -> Result<Vec<PhraseKey>> {
        let unreadable = || {
            Error::new(ErrorKind::Unavailable, "the key of forgotten phrases is damaged")
                .hint("Restore the home from a backup.")
        };
        let keys = self.stored_phrase_keys()?;
        keys.iter().map(|key| HomeKey::from_hex(key).ok_or_else(unreadable)).collect()
    }

    /// Adds a key of another store, unless it is there.
    pub fn add_phrase_key(&mut self, key: &str) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO tombstone_key (number, key) \
             SELECT 1 + ifnull(max(number), 0), ?1 FROM tombstone_key",
            [key],
        )?;
        Ok(())
    }

    /// The keys as they are stored.
    pub fn stored_phrase_keys(&self) -> Result<Vec<String>> {
        let sql = "SELECT key FROM tombstone_key ORDER BY number";
        self.query_all(sql, (), |row| row.get(0))
    }

    /// The workspaces in which something was forgotten.
    pub fn forgetting_workspaces(&self) -> Result<Vec<Workspace>> {
        let sql = "SELECT DISTINCT workspace FROM certificate ORDER BY workspace";
        self.query_all(sql, (), |row| text(row, 0))
    }

    /// The lengths in words of the forgotten phrases of a workspace.
    pub fn tombstone_lengths(&self, workspace: &Workspace) -> Result<BTreeSet<usize>> {
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

    /// The tombstones of a workspace among these phrases.
    pub fn tombstones_among(
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

    /// The tombstones of a workspace, or of one certificate.
    pub fn tombstones(
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

    /// Stores a tombstone; an existing one stays.
    pub fn put_tombstone(&mut self, tombstone: &Tombstone) -> Result<()> {
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

    /// Removes the tombstones of a certificate.
    pub fn drop_tombstones(
        &mut self,
        workspace: &Workspace,
        certificate: CertificateId,
    ) -> Result<()> {
        let named = [workspace.as_str(), &certificate.to_string()];
        self.execute("DELETE FROM tombstone WHERE workspace = ?1 AND certificate = ?2", named)?;
        let sql = "DELETE FROM forgotten_memory WHERE workspace = ?1 AND certificate = ?2";
        self.execute(sql, named)?;
        Ok(())
    }

    /// Stores a certificate with the ids of its memories, replacing an earlier state of it.
    pub fn put_certificate(&mut self, certificate: &ForgetCertificate) -> Result<()> {
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

    /// The certificate with this id.
    pub fn certificate(
        &self,
        workspace: &Workspace,
        id: CertificateId,
    ) -> Result<Option<ForgetCertificate>> {
        let sql = "SELECT certificate FROM certificate WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, [workspace.as_str(), &id.to_string()], |row| json(row, 0))
    }

    /// At most `limit` certificates of a workspace, newest first.
    pub fn certificates(
        &self,
        workspace: &Workspace,
        limit: u32,
    ) -> Result<Vec<ForgetCertificate>> {
        let sql =
            "SELECT certificate FROM certificate WHERE workspace = ?1 ORDER BY id DESC LIMIT ?2";
        self.query_all(sql, (workspace.as_str(), limit), |row| json(row, 0))
    }

    /// The certificates of all workspaces that wait for the files to be clean.
    pub fn unfinished_certificates(&self) -> Result<Vec<ForgetCertificate>> {
        let sql = "SELECT certificate FROM certificate INDEXED BY certificate_unfinished \
                   WHERE finished_at IS NULL ORDER BY at";
        self.query_all(sql, (), |row| json(row, 0))
    }

    /// The certificate of a memory that was forgotten, while it holds.
    pub fn certificate_of(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
    ) -> Result<Option<CertificateId>> {
        let sql = "SELECT certificate FROM forgotten_memory WHERE workspace = ?1 AND memory = ?2";
        self.query_one(sql, [workspace.as_str(), &memory.to_string()], |row| text(row, 0))
    }

    /// The memories of a workspace that quote these phrases, in sight or not, deleted ones too. An opaque
    /// document quotes nothing.
    pub fn quoting_memories(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<StoredMemory>> {
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.workspace = ?1 AND NOT {}",
            opaque_condition("m")
        );
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
        let further = self.memories_with_ids(workspace, &further)?.into_iter();
        quoting.extend(further.filter(|memory| !memory.is_opaque()));
        Ok(quoting)
    }

    /// The memories among these ids that quote these phrases now or did in an earlier revision, in sight or
    /// not.
    pub fn quoting_among(
        &self,
        workspace: &Workspace,
        ids: &[MemoryId],
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<StoredMemory>> {
        let unseen = self.unseen("what quotes a forgotten memory is changed, and shown in a sight");
        let sql = "SELECT snapshot FROM revision WHERE workspace = ?1 AND memory = ?2";
        let mut found = Vec::new();
        for memory in self.memories_with_ids(workspace, ids)? {
            let quotes = |text: &str| phrases.redact_column(text).is_some();
            let quoted = || {
                let named = (workspace.as_str(), memory.id.to_string());
                let earlier =
                    unseen.all(sql, named, |row| Ok(quotes(row.get_ref(0)?.as_str()?)))?;
                Ok::<_, Error>(earlier.contains(&true))
            };
            if memory.is_opaque() {
                continue;
            }
            if redacted_memory(&memory, phrases).is_some() || quoted()? {
                found.push(memory);
            }
        }
        Ok(found)
    }

    /// The memories that events of a journal after this position are about, in sight or not, each with the
    /// position: at most `limit`, oldest first.
    pub fn memory_subjects(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, MemoryId)>> {
        let sql = "SELECT sequence, subject FROM event \
                   WHERE workspace = ?1 AND sequence > ?2 AND subject LIKE 'mem_%' \
                   ORDER BY sequence LIMIT ?3";
        let unseen = self.unseen("what quotes a forgotten memory is changed, and shown in a sight");
        unseen.all(sql, (workspace.as_str(), after, limit), |row| {
            Ok((row.get("sequence")?, text(row, "subject")?))
        })
    }

    /// The memories among these ids, in sight or not.
    pub fn memories_with_ids(
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

    /// Takes the phrases out of the earlier revisions of a memory; returns their number.
    pub fn redact_revisions(
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

    /// Finds the other rows of a workspace within this reach that quote these phrases, and the versions of
    /// standing memory files. Reads every row: not for a transaction in which others wait.
    pub fn quoting_rows(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
    ) -> Result<QuotingRows> {
        let mut rows = Vec::new();
        for (kind, of) in quoting_kinds().enumerate() {
            let found = self.quotes_of_kind(of, workspace, None, phrases, reach)?.into_iter();
            rows.extend(found.map(|QuoteFound { key, says, .. }| QuotingRow { kind, key, says }));
        }
        Ok(QuotingRows { rows })
    }

    /// Takes the phrases out of those rows as they are now, and counts the rows that still quoted: every
    /// kind of rows, also where none did. Reads no other row.
    pub fn redact_rows(
        &mut self,
        workspace: &Workspace,
        rows: &QuotingRows,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
    ) -> Result<Vec<QuoteCount>> {
        let kinds: Vec<QuotingTable> = quoting_kinds().collect();
        let mut still = QuotingRows::default();
        for row in &rows.rows {
            let kind = kinds[row.kind];
            for found in self.quotes_of_kind(kind, workspace, Some(&row.key), phrases, reach)? {
                self.write_redacted_row(kind, &found)?;
                still.rows.push(row.clone());
            }
        }
        Ok(still.counts())
    }
}

/// A row that quotes: its key, and its columns without the phrases.
struct QuoteFound {
    key: Vec<SqlValue>,
    redacted: Vec<SqlValue>,
    /// The sentences that go.
    says: Vec<String>,
}

impl Tx<'_> {
    /// The rows of a kind within this reach that quote: all of a workspace, or the one with this key.
    fn quotes_of_kind(
        &self,
        QuotingTable { place, table, columns, author }: QuotingTable,
        workspace: &Workspace,
        key: Option<&[SqlValue]>,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
    ) -> Result<Vec<QuoteFound>> {
        let is_everybodys = *reach == ForgetReach::Everybody;
        if matches!(author, RowAuthor::Many) && !is_everybodys {
            return Ok(Vec::new());
        }
        let keys = self.connection.key_columns(table)?;
        let is_everywhere = place == STANDING_VERSIONS;
        let (condition, values) = match key {
            Some(key) => {
                let named = keys.iter().map(|key| format!("{key} = ?"));
                (named.collect::<Vec<_>>().join(" AND "), key.to_vec())
            }
            None if is_everywhere => ("TRUE".to_owned(), Vec::new()),
            None => ("workspace = ?".to_owned(), vec![workspace.as_str().to_owned().into()]),
        };
        let named_author = match author {
            RowAuthor::Column(column) | RowAuthor::Copy(column) => column,
            RowAuthor::Memories | RowAuthor::Marks | RowAuthor::Many => columns[0],
        };
        let sql = format!(
            "SELECT {}, {}, {named_author} FROM {table} WHERE {condition}",
            columns.join(", "),
            keys.join(", ")
        );
        let unseen = self.unseen("what quotes a forgotten memory is changed, and shown to nobody");
        let rows = unseen.all(&sql, values.as_slice(), |row| {
            let author_text =
                match row.get_ref(columns.len() + keys.len())?.to_value(ValueKind::Text) {
                    SqlValue::Text(text) => text,
                    _ => String::new(),
                };
            let is_reached = match author {
                RowAuthor::Column(_) => reach.includes_author(&author_text),
                RowAuthor::Copy(_) | RowAuthor::Memories => reach.includes_copy(&author_text),
                RowAuthor::Marks | RowAuthor::Many => true,
            };
            if !is_reached {
                return Ok(None);
            }
            let (mut redacted, mut says) = (Vec::with_capacity(columns.len()), Vec::new());
            let mut quotes = false;
            for column in 0..columns.len() {
                let value = row.get_ref(column)?.to_value(ValueKind::Text);
                let without = match (&value, author) {
                    (SqlValue::Text(text), RowAuthor::Marks) => {
                        redacted_standing(text, phrases, reach)
                    }
                    (SqlValue::Text(text), _) => phrases.redact_column(text),
                    _ => None,
                };
                if let (Some(_), SqlValue::Text(text)) = (&without, &value) {
                    quotes = true;
                    says.extend(phrases.repetitions_in_column(text));
                }
                redacted.push(without.map_or(value, SqlValue::Text));
            }
            let key = (0..keys.len())
                .map(|at| Ok(row.get_ref(columns.len() + at)?.to_value(ValueKind::Text)))
                .collect::<Result<Vec<SqlValue>>>()?;
            Ok(quotes.then_some(QuoteFound { key, redacted, says }))
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Writes a row without the phrases. An answer goes as a whole.
    fn write_redacted_row(
        &self,
        QuotingTable { place, table, columns, .. }: QuotingTable,
        found: &QuoteFound,
    ) -> Result<()> {
        let keys = self.connection.key_columns(table)?;
        let named = keys.iter().map(|key| format!("{key} = ?")).collect::<Vec<_>>().join(" AND ");
        let unseen = self.unseen("what was forgotten goes, and is shown to no caller");
        if place == ANSWERS {
            let sql = format!("DELETE FROM {table} WHERE {named}");
            return unseen.execute(&sql, found.key.as_slice()).map(drop);
        }
        let (mut columns, mut values) = (columns.to_vec(), found.redacted.clone());
        if let (STANDING_VERSIONS, [SqlValue::Text(text)]) = (place, found.redacted.as_slice()) {
            columns = vec!["bytes", "sha256", "text"];
            let bytes = i64::try_from(text.len()).unwrap_or(i64::MAX);
            values = vec![bytes.into(), sha256(text).into(), text.clone().into()];
        }
        let sets = columns.iter().map(|column| format!("{column} = ?")).collect::<Vec<_>>();
        let sql = format!("UPDATE {table} SET {} WHERE {named}", sets.join(", "));
        values.extend(found.key.iter().cloned());
        unseen.execute(&sql, values.as_slice()).map(drop)
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
