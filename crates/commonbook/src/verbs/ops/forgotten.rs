//! What was forgotten does not come back: the check of every text before it is saved.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::CertificateId;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::export::ExportRecord;
use crate::model::forgetting::{
    ForgetReach, ForgottenPhrases, Phrase, Tombstone, is_empty_now, redacted_memory,
    redacted_standing, texts_of,
};
use crate::model::memory::{Memory, MemoryPath};
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;
use crate::store::Tx;
use crate::verbs::names;

/// The forgotten phrases of some texts.
pub(in crate::verbs) struct ForgottenText {
    pub(in crate::verbs) phrases: ForgottenPhrases,
    /// The newest certificate that names one.
    certificate: CertificateId,
}

/// The phrases of these texts that were forgotten in the workspace, as far as that holds for memories
/// of this owner; for anybody's without an owner.
pub(in crate::verbs) fn forgotten_phrases<'t>(
    tx: &Tx<'_>,
    workspace: &Workspace,
    owner: Option<&Agent>,
    texts: impl IntoIterator<Item = &'t str> + Clone,
) -> Result<Option<ForgottenText>> {
    let lengths = tx.tombstone_lengths(workspace)?;
    if lengths.is_empty() {
        return Ok(None);
    }
    let keys = tx.phrase_keys()?;
    let among = |wanted: BTreeSet<Phrase>| -> Result<Vec<Tombstone>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = tx.tombstones_among(workspace, &wanted)?;
        found.retain(|tombstone| owner.is_none_or(|owner| tombstone.holds_for(owner)));
        Ok(found)
    };
    let all_in = |text| Phrase::all_in(&keys, text, &lengths);
    let mut found = among(texts.clone().into_iter().flat_map(all_in).collect())?;
    if found.is_empty() {
        return Ok(None);
    }
    // Sentences can have any length: they are looked for only where all their stretches stand.
    let phrases = found.iter().map(|tombstone| tombstone.phrase);
    let phrases = ForgottenPhrases::new(keys.clone(), phrases);
    let possible = texts.into_iter().flat_map(|text| phrases.possible_sentences(text, &lengths));
    found.extend(among(possible.collect())?);
    let newest = found.iter().map(|tombstone| tombstone.certificate).max();
    Ok(newest.map(|certificate| ForgottenText {
        phrases: ForgottenPhrases::new(keys, found.iter().map(|tombstone| tombstone.phrase)),
        certificate,
    }))
}

fn forgotten_of_memory(tx: &Tx<'_>, memory: &Memory) -> Result<Option<ForgottenText>> {
    // Nothing reads or cuts an opaque document.
    if memory.is_opaque() {
        return Ok(None);
    }
    let metadata = Value::Object(memory.metadata.clone()).to_string();
    let further = memory.topics.iter().chain(memory.entities.iter().map(|entity| &entity.value));
    let path = memory.path.as_ref().map(MemoryPath::as_str);
    let further = further.map(String::as_str).chain([&*metadata]).chain(path);
    let texts = texts_of(memory).into_iter().flatten().chain(further);
    forgotten_phrases(tx, &memory.workspace, Some(&memory.owner), texts)
}

/// Whether a memory says what was forgotten in its workspace.
pub(in crate::verbs) fn says_forgotten(tx: &Tx<'_>, memory: &Memory) -> Result<bool> {
    let forgotten = forgotten_of_memory(tx, memory)?;
    Ok(forgotten.is_some_and(|found| redacted_memory(memory, &found.phrases).is_some()))
}

/// A memory without what was forgotten.
pub(in crate::verbs) enum MemoryRemainder {
    /// The memory, or what is left of it.
    Memory(Box<Memory>),
    /// Nothing is left: its text was forgotten then.
    Nothing(Timestamp),
}

/// The memory without what was forgotten. For what comes from a source, and not from an agent that
/// says it again.
pub(in crate::verbs) fn without_forgotten(tx: &Tx<'_>, memory: &Memory) -> Result<MemoryRemainder> {
    let whole = || MemoryRemainder::Memory(Box::new(memory.clone()));
    let Some(forgotten) = forgotten_of_memory(tx, memory)? else { return Ok(whole()) };
    Ok(match redacted_memory(memory, &forgotten.phrases) {
        None => whole(),
        Some(redacted) if is_empty_now(&redacted) => {
            MemoryRemainder::Nothing(forgotten.certificate.made_at())
        }
        Some(redacted) => MemoryRemainder::Memory(Box::new(redacted)),
    })
}

/// The memory without what was forgotten, if a machine made it of others.
///
/// # Errors
/// `conflict` if an agent says a forgotten text again.
pub(in crate::verbs) fn refuse_or_cut_forgotten(tx: &Tx<'_>, memory: &Memory) -> Result<Memory> {
    let Some(forgotten) = forgotten_of_memory(tx, memory)? else { return Ok(memory.clone()) };
    let ForgottenText { phrases, certificate } = forgotten;
    match memory.source.how {
        EntryPoint::Rest | EntryPoint::Mcp | EntryPoint::Cli | EntryPoint::Dashboard => {}
        EntryPoint::Hook | EntryPoint::Import | EntryPoint::Handoff | EntryPoint::Digest => {
            return Ok(redacted_memory(memory, &phrases).unwrap_or_else(|| memory.clone()));
        }
    }
    if phrases.is_one_word(&memory.text) {
        return Err(said_again("text", certificate));
    }
    let metadata = Value::Object(memory.metadata.clone());
    let fields = ["text", "title", "summary"].into_iter().zip(texts_of(memory));
    let fields = fields.filter_map(|(field, text)| Some((field.to_owned(), text?)));
    let mut fields: Vec<(String, &str)> = fields.collect();
    let mut named = Vec::new();
    named.extend(memory.path.iter().map(|path| ("path".to_owned(), path.as_str())));
    named.extend(memory.topics.iter().map(|topic| ("topics".to_owned(), &**topic)));
    named.extend(memory.entities.iter().map(|entity| ("entities".to_owned(), &*entity.value)));
    collect_texts(&metadata, "metadata".to_owned(), &mut named);
    fields.extend(named.into_iter().filter(|(_, text)| is_statement(text)));
    match fields.into_iter().find(|(_, text)| phrases.are_said_in(text)) {
        None => Ok(memory.clone()),
        Some((field, _)) => Err(said_again(&field, certificate)),
    }
}

/// Whether a text can state something: a short name of a topic or a case cannot.
fn is_statement(text: &str) -> bool {
    text.split_whitespace().nth(3).is_some()
}

/// Verbs whose memories are checked one by one when they are written.
const SAVING_VERBS: [&str; 4] =
    [names::LEARN, names::SAVE_MEMORIES, names::SAVE_MEMORY, names::UPDATE_MEMORY];

/// Refuses a request in which an agent says a forgotten sentence again, in whichever field: the task of
/// a handoff, the title of a case, what is said of an entity. The request is asked for only where something was
/// forgotten.
///
/// # Errors
/// `conflict` with the field; else the error of `request`.
pub(in crate::verbs) fn refuse_forgotten(
    tx: &Tx<'_>,
    caller: &Caller,
    verb: &str,
    request: impl FnOnce() -> Result<Value>,
) -> Result<()> {
    // A hook passes on what a client sends; to refuse it would lose the rest.
    if SAVING_VERBS.contains(&verb) || caller.door == EntryPoint::Hook {
        return Ok(());
    }
    if tx.tombstone_lengths(&caller.workspace)?.is_empty() {
        return Ok(());
    }
    let request = request()?;
    let mut fields = Vec::new();
    collect_texts(&request, String::new(), &mut fields);
    let texts = fields.iter().map(|(_, text)| *text);
    let forgotten = forgotten_phrases(tx, &caller.workspace, Some(&caller.agent), texts)?;
    let Some(ForgottenText { phrases, certificate }) = forgotten else { return Ok(()) };
    let says = |text: &str| is_statement(text) && phrases.are_said_in(text);
    match fields.into_iter().find(|(_, text)| says(text)) {
        None => Ok(()),
        Some((field, _)) => Err(said_again(&field, certificate)),
    }
}

fn said_again(field: &str, certificate: CertificateId) -> Error {
    let day = certificate.made_at().strftime("%Y-%m-%d");
    Error::new(ErrorKind::Conflict, format!("{field}: this was forgotten on {day}"))
        .with_field(field)
        .hint(format!(
            "Leave it out. Its owner or a person can allow it: `allow_forgotten {certificate}`."
        ))
}

/// A standing memory file without what was forgotten; `None` if it holds nothing of that. The files are in no
/// workspace: what holds for everybody goes in any workspace, and in its own a reader is spared the items of its own
/// that it forgot. What others wrote, a person's rules among them, stays: no agent can forget it.
pub(in crate::verbs) fn standing_without_forgotten(
    tx: &Tx<'_>,
    reader: Option<&Caller>,
    text: &str,
) -> Result<Option<String>> {
    let system = Agent::system();
    let mut redacted: Option<String> = None;
    for workspace in tx.forgetting_workspaces()? {
        let own = reader.filter(|reader| reader.workspace == workspace).map(|reader| &reader.agent);
        let reaches = own.map(|agent| {
            (agent, ForgetReach::Agent { agent: agent.clone(), memories: Vec::new() })
        });
        for (owner, reach) in [(&system, ForgetReach::Everybody)].into_iter().chain(reaches) {
            let said = redacted.as_deref().unwrap_or(text);
            let forgotten = forgotten_phrases(tx, &workspace, Some(owner), [said])?;
            let Some(forgotten) = forgotten else { continue };
            if let Some(rest) = redacted_standing(said, &forgotten.phrases, &reach) {
                redacted = Some(rest);
            }
        }
    }
    Ok(redacted)
}

/// The receipt without what was forgotten: its query repeats what an agent wrote.
pub(in crate::verbs) fn receipt_without_forgotten(
    tx: &Tx<'_>,
    record: &ContextRecord,
) -> Result<ContextRecord> {
    let mut record = record.clone();
    let query = [&*record.receipt.query];
    let forgotten = forgotten_phrases(tx, &record.workspace, Some(&record.agent), query)?;
    if let Some(query) = forgotten.and_then(|found| found.phrases.redact(&record.receipt.query)) {
        record.receipt.query = query;
    }
    Ok(record)
}

/// The record of an export without what was forgotten; `None` if it is of a forgotten memory.
pub(in crate::verbs) fn record_without_forgotten(
    tx: &Tx<'_>,
    record: &ExportRecord,
) -> Result<Option<ExportRecord>> {
    let Some(workspace) = record.workspace() else { return Ok(Some(record.clone())) };
    if let ExportRecord::Revisions(revisions) = record
        && let Some(first) = revisions.first()
        && tx.certificate_of(workspace, first.id)?.is_some()
    {
        return Ok(None);
    }
    let encoded = serde_json::to_value(record).map_err(|error| {
        Error::new(ErrorKind::Internal, "a record could not be encoded").with_cause(error)
    })?;
    let mut fields = Vec::new();
    collect_texts(&encoded, String::new(), &mut fields);
    let texts = fields.iter().map(|(_, text)| *text);
    let forgotten = forgotten_phrases(tx, workspace, record.author(), texts)?;
    let Some(forgotten) = forgotten else { return Ok(Some(record.clone())) };
    let mut redacted = encoded.clone();
    forgotten.phrases.redact_value(&mut redacted);
    serde_json::from_value(redacted).map(Some).map_err(|error| {
        Error::invalid("value", "the record holds what was forgotten").with_cause(error)
    })
}

/// Every text of a JSON value, with the path of its field.
fn collect_texts<'v>(value: &'v Value, field: String, texts: &mut Vec<(String, &'v str)>) {
    match value {
        Value::String(text) => texts.push((field, text)),
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                collect_texts(value, format!("{field}[{place}]"), texts);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                collect_texts(value, path, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
