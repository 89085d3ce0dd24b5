//! The hash chain over each journal, which reveals and names an event that was changed behind the
//! store's back.
//!
//! The hash of an event covers the hash before it, every column that is never erased, the hash of
//! its topics and its user, and that of its subject's row as it was then. A purge erases topics and
//! user with their salt and keeps their hash: the chain holds without the text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use sha2::{Digest, Sha256};

use super::digest::{SALT_BYTES, hash_column, salted_hash};
use super::engine::unseen;
use crate::base::error::Result;
use crate::model::workspace::Workspace;

/// The hash of an event.
pub(super) type EventHash = [u8; 32];

/// The hash before the first event, and of an event without a hash.
pub(super) const NO_HASH: EventHash = [0; 32];

/// The topics of an event that names none, or whose topics were erased.
const NO_TOPICS: &str = "[]";

/// Columns that the hash does not cover, or covers as a digest only: a purge erases the topics and
/// the user.
const UNHASHED_COLUMNS: [&str; 7] =
    ["hash", "topics", "topics_salt", "topics_hash", "subject_hash", "new_salt", "user_id"];

/// Where the row of an event's subject is: the prefix of the kind, the table, the column.
const SUBJECT_TABLES: [(&str, &str, &str); 9] = [
    ("memory.", "memory", "id"),
    ("case.", "case_log", "key"),
    ("session.", "session", "id"),
    ("handoff.", "handoff", "id"),
    ("checkpoint.", "checkpoint", "id"),
    ("contradiction.", "contradiction", "id"),
    ("entity.", "entity", "id"),
    ("relation.", "relation", "id"),
    ("context.", "context", "id"),
];

/// The kinds of events whose subject's row exists from then on, except after a purge.
const LASTING_EVENTS: [&str; 4] =
    ["memory.saved", "case.opened", "session.started", "handoff.created"];

/// The last event of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JournalHead {
    /// Its position.
    pub(super) sequence: u64,
    /// Its hash.
    pub(super) hash: EventHash,
}

/// The hash of an event from its row.
fn hash_of(
    row: &Row<'_>,
    previous: &EventHash,
    topics_hash: Option<&[u8]>,
    subject_hash: Option<&[u8]>,
) -> rusqlite::Result<EventHash> {
    let statement = row.as_ref();
    let mut columns: Vec<(&str, usize)> = Vec::with_capacity(statement.column_count());
    for place in 0..statement.column_count() {
        let name = statement.column_name(place)?;
        if !UNHASHED_COLUMNS.contains(&name) {
            columns.push((name, place));
        }
    }
    columns.sort_unstable();
    let mut hasher = Sha256::new_with_prefix(previous);
    for (name, place) in columns {
        hash_column(&mut hasher, name, row.get_ref(place)?);
    }
    hash_column(&mut hasher, "topics_hash", ValueRef::from(topics_hash));
    hash_column(&mut hasher, "subject_hash", ValueRef::from(subject_hash));
    Ok(hasher.finalize().into())
}

/// The hash part of the digest of an event's subject, if its row exists.
fn subject_hash(
    connection: &Connection,
    workspace: &str,
    kind: &str,
    subject: &str,
) -> Result<Option<Vec<u8>>> {
    let Some((_, table, key)) = SUBJECT_TABLES.iter().find(|(kinds, ..)| kind.starts_with(kinds))
    else {
        return Ok(None);
    };
    let first = SALT_BYTES + 1;
    let sql =
        format!("SELECT substr(digest, {first}) FROM {table} WHERE workspace = ?1 AND {key} = ?2");
    let _unseen = unseen("a hash tells nothing of what it covers");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([workspace, subject], |row| row.get(0)).optional()?)
}

/// Whether the hash covers the subject's row. It does not for events from before the chain existed,
/// whose subjects have changed since.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SubjectCoverage {
    AsItIs,
    Unknown,
}

/// Gives an event its hash; `None` if the event does not exist.
fn seal_event(
    connection: &Connection,
    workspace: &str,
    sequence: u64,
    previous: &EventHash,
    subject: SubjectCoverage,
) -> Result<Option<EventHash>> {
    let _unseen = unseen("an event gets its hash, and no caller is shown it");
    let sql = "SELECT e.*, randomblob(8) AS new_salt FROM event e \
               WHERE e.workspace = ?1 AND e.sequence = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((workspace, sequence))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let erasable = erasable_text(row)?;
    let salt = (erasable != NO_TOPICS).then(|| row.get::<_, Vec<u8>>("new_salt")).transpose()?;
    let topics_hash = salt.as_ref().map(|salt| salted_hash(salt, &erasable));
    let subject_hash = match subject {
        SubjectCoverage::AsItIs => {
            let (kind, id): (String, String) = (row.get("kind")?, row.get("subject")?);
            subject_hash(connection, workspace, &kind, &id)?
        }
        SubjectCoverage::Unknown => None,
    };
    let hash = hash_of(row, previous, topics_hash.as_deref(), subject_hash.as_deref())?;
    drop(rows);
    let sql = "UPDATE event SET topics_salt = ?3, topics_hash = ?4, subject_hash = ?5, hash = ?6 \
               WHERE workspace = ?1 AND sequence = ?2";
    connection.prepare_cached(sql)?.execute((
        workspace,
        sequence,
        salt,
        topics_hash,
        subject_hash,
        hash,
    ))?;
    Ok(Some(hash))
}

/// The hash of the event at this position; that of no event before the first.
pub(super) fn hash_at(
    connection: &Connection,
    workspace: &str,
    sequence: u64,
) -> Result<Option<EventHash>> {
    let _unseen = unseen("a hash tells nothing of what it covers");
    let sql = "SELECT hash FROM event WHERE workspace = ?1 AND sequence = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row((workspace, sequence), |row| row.get(0)).optional()?)
}

/// Gives each event that a write appended its hash, once all rows are final; returns the heads of their
/// journals.
pub(super) fn seal(
    connection: &Connection,
    appended: &[(Workspace, u64)],
) -> Result<Vec<(String, JournalHead)>> {
    let mut heads: Vec<(String, JournalHead)> = Vec::new();
    for (workspace, sequence) in appended {
        let workspace = workspace.as_str();
        let known_head = heads.iter_mut().find(|(name, _)| name == workspace);
        let previous = match &known_head {
            Some((_, head)) => head.hash,
            None => hash_before(connection, workspace, *sequence)?,
        };
        let coverage = SubjectCoverage::AsItIs;
        let Some(hash) = seal_event(connection, workspace, *sequence, &previous, coverage)? else {
            continue;
        };
        let head = JournalHead { sequence: *sequence, hash };
        match known_head {
            Some((_, last)) => *last = head,
            None => heads.push((workspace.to_owned(), head)),
        }
    }
    Ok(heads)
}

/// The hash of the event before this one. A process of an older version may have appended
/// events without a hash: they get one now.
fn hash_before(connection: &Connection, workspace: &str, sequence: u64) -> Result<EventHash> {
    let mut sealed = sequence - 1;
    let mut hash = NO_HASH;
    while sealed > 0 {
        hash = hash_at(connection, workspace, sealed)?.unwrap_or(NO_HASH);
        if hash != NO_HASH {
            break;
        }
        sealed -= 1;
    }
    for missing in sealed + 1..sequence {
        let coverage = SubjectCoverage::Unknown;
        hash = seal_event(connection, workspace, missing, &hash, coverage)?.unwrap_or(hash);
    }
    Ok(hash)
}

/// Gives every event without a hash its hash, as after a migration.
pub(super) fn fill_hashes(connection: &Connection) -> Result<()> {
    for (workspace, end) in journals(connection)? {
        let mut hash = NO_HASH;
        for sequence in 1..=end {
            hash = match hash_at(connection, &workspace, sequence)? {
                None => continue,
                Some(NO_HASH) => {
                    let coverage = SubjectCoverage::Unknown;
                    seal_event(connection, &workspace, sequence, &hash, coverage)?.unwrap_or(hash)
                }
                Some(sealed) => sealed,
            };
        }
    }
    Ok(())
}

/// Every workspace, with the end of its journal.
fn journals(connection: &Connection) -> Result<Vec<(String, u64)>> {
    let mut statement = connection.prepare("SELECT name, sequence FROM workspace ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The last events of all journals.
pub(super) fn heads(connection: &Connection) -> Result<Vec<(String, JournalHead)>> {
    let mut heads = Vec::new();
    for (workspace, sequence) in journals(connection)? {
        if let Some(hash) =
            hash_at(connection, &workspace, sequence)?.filter(|hash| *hash != NO_HASH)
        {
            heads.push((workspace, JournalHead { sequence, hash }));
        }
    }
    Ok(heads)
}

/// The state of a subject according to the events about it.
#[derive(Default)]
struct SubjectRecord {
    /// Whether its row must exist.
    lasts: bool,
    /// The hash of its row at the last event, if recorded.
    hash: Option<Vec<u8>>,
    /// The position of that event.
    sequence: u64,
}

/// Recomputes the chain of each journal, and names the first changed event of each.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (workspace, end) in journals(connection)? {
        findings.extend(check_journal(connection, &workspace, end)?);
    }
    let _unseen = unseen("doctor looks for journals without a workspace");
    let mut statement = connection.prepare(
        "SELECT DISTINCT workspace FROM event \
         WHERE workspace NOT IN (SELECT name FROM workspace) ORDER BY 1",
    )?;
    let strays = statement.query_map([], |row| row.get::<_, String>(0))?;
    for stray in strays {
        findings.push(format!("workspace '{}': the row is missing, but its events exist", stray?));
    }
    Ok(findings)
}

fn check_journal(connection: &Connection, workspace: &str, end: u64) -> Result<Vec<String>> {
    let _unseen = unseen("doctor recomputes the chain, and names places alone");
    let mut statement =
        connection.prepare("SELECT * FROM event WHERE workspace = ?1 ORDER BY sequence")?;
    let mut rows = statement.query([workspace])?;
    let mut changed: Vec<String> = Vec::new();
    let mut subjects: BTreeMap<(usize, String), SubjectRecord> = BTreeMap::new();
    let (mut previous, mut last) = (NO_HASH, 0);
    while let Some(row) = rows.next()? {
        let sequence: u64 = row.get("sequence")?;
        if sequence != last + 1 {
            changed.push(format!("event {} of workspace '{workspace}' is missing", last + 1));
        }
        let stored: EventHash = row.get("hash")?;
        if stored == NO_HASH {
            changed.push(format!("event {sequence} of workspace '{workspace}' has no hash"));
        } else if !matches_hash(row, &previous, &stored)? {
            changed.push(format!("event {sequence} of workspace '{workspace}' was changed"));
        }
        note_subject(row, sequence, &mut subjects)?;
        (previous, last) = (stored, sequence);
    }
    if last != end {
        changed.push(format!(
            "the journal of workspace '{workspace}' ends at event {last}, and {end} was its last"
        ));
    }
    let more = changed.len().saturating_sub(1);
    changed.truncate(1);
    if more > 0
        && let Some(first) = changed.first_mut()
    {
        *first += &format!(", and {more} findings after it");
    }
    changed.extend(check_subjects(connection, workspace, subjects)?);
    Ok(changed)
}

/// What a purge erases of an event: its topics, and below them the user that it was about.
fn erasable_text(row: &Row<'_>) -> rusqlite::Result<String> {
    let topics: String = row.get("topics")?;
    let user: Option<String> = match row.get("user_id") {
        // A row of a schema without the column was about nobody.
        Err(rusqlite::Error::InvalidColumnName(_)) => None,
        user => user?,
    };
    Ok(match user {
        Some(user) => format!("{topics}\n{user}"),
        None => topics,
    })
}

/// Whether an event matches its hash.
fn matches_hash(row: &Row<'_>, previous: &EventHash, stored: &EventHash) -> Result<bool> {
    let erasable = erasable_text(row)?;
    let salt: Option<Vec<u8>> = row.get("topics_salt")?;
    let topics_hash: Option<Vec<u8>> = row.get("topics_hash")?;
    let subject_hash: Option<Vec<u8>> = row.get("subject_hash")?;
    let topics_hold = match (&salt, &topics_hash) {
        (Some(salt), Some(hash)) => salted_hash(salt, &erasable) == *hash,
        (Some(_), None) => false,
        (None, _) => erasable == NO_TOPICS,
    };
    let hash = hash_of(row, previous, topics_hash.as_deref(), subject_hash.as_deref())?;
    Ok(topics_hold && hash == *stored)
}

fn note_subject(
    row: &Row<'_>,
    sequence: u64,
    subjects: &mut BTreeMap<(usize, String), SubjectRecord>,
) -> Result<()> {
    let kind: String = row.get("kind")?;
    let Some(table) = SUBJECT_TABLES.iter().position(|(kinds, ..)| kind.starts_with(kinds)) else {
        return Ok(());
    };
    let entry = subjects.entry((table, row.get("subject")?));
    if matches!(&*kind, "memory.purged" | "memory.forgotten") {
        if let Entry::Occupied(purged) = entry {
            purged.remove();
        }
        return Ok(());
    }
    let record = entry.or_default();
    record.lasts |= LASTING_EVENTS.contains(&kind.as_str());
    record.hash = row.get("subject_hash")?;
    record.sequence = sequence;
    Ok(())
}

/// Checks that the rows of the subjects exist, and that memories are as their last event left them.
fn check_subjects(
    connection: &Connection,
    workspace: &str,
    subjects: BTreeMap<(usize, String), SubjectRecord>,
) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for ((table, subject), record) in subjects {
        let (kind, name, _) = SUBJECT_TABLES[table];
        if !record.lasts && name != "memory" {
            continue;
        }
        let now = subject_hash(connection, workspace, kind, &subject)?;
        let sequence = record.sequence;
        match (now, record.hash) {
            (None, _) if record.lasts => findings.push(format!(
                "{name} {subject} of workspace '{workspace}' is missing, \
                 but event {sequence} names it"
            )),
            // Every change of a memory is an event; other rows also change without one.
            (Some(now), Some(then)) if name == "memory" && now != then => findings.push(format!(
                "{name} {subject} of workspace '{workspace}' is not as event {sequence} \
                 left it"
            )),
            _ => {}
        }
    }
    Ok(findings)
}
