//! A memory as an episode, and back: each field of ours has one place there, or is in the foreign field.

use serde_json::{Map, Value, json};

use super::canonical_json;
use super::manifest::BundleTime;
use super::records::Episode;

/// The foreign field of an episode in which what the format has no field for stands.
pub(super) const OWN_FIELD: &str = "commonbook";

/// The fields of a memory that an episode has a field for, of the same form.
const SHARED_FIELDS: [&str; 5] = ["id", "workspace", "text", "topics", "metadata"];

/// In the foreign field: the metadata that are no text, and stand in the episode as JSON.
const JSON_METADATA: &str = "json_metadata";

/// Characters of a summary that is made of a text.
const SUMMARY_CHARS: usize = 120;

/// The numbers of the words of importance.
const IMPORTANCE: [(&str, f64); 4] =
    [("low", 0.25), ("normal", 0.5), ("high", 0.75), ("critical", 1.0)];

/// The sensitivity of what everybody may read, and of what is private or about a user.
const OPEN_SENSITIVITY: &str = "low";
const PRIVATE_SENSITIVITY: &str = "high";

/// Letters of the number in an id.
const ID_LETTERS: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// Letters of an id after its prefix.
const ID_CHARS: usize = 26;

/// Whether an id is one of our memories.
pub(super) fn is_memory_id(id: &str) -> bool {
    let number = id.strip_prefix("mem_").filter(|number| number.len() == ID_CHARS);
    number.is_some_and(|number| number.chars().all(|letter| ID_LETTERS.contains(letter)))
}

/// Whether a line of our own file is a memory, or the earlier revisions of one.
pub(super) fn is_own_line(line: &Value) -> bool {
    let is_memory = |memory: &Value| {
        memory["id"].as_str().is_some_and(is_memory_id) && memory["owner"].is_string()
    };
    match line.get("record") {
        None => is_memory(line),
        Some(record) => {
            let revisions = line["value"].as_array().filter(|revisions| !revisions.is_empty());
            record == "revisions" && revisions.is_some_and(|list| list.iter().all(is_memory))
        }
    }
}

fn text_of<'l>(line: &'l Map<String, Value>, field: &str) -> Option<&'l str> {
    line.get(field).and_then(Value::as_str)
}

fn time_of(line: &Map<String, Value>, field: &str) -> Option<BundleTime> {
    text_of(line, field).and_then(BundleTime::parse)
}

/// The line of a memory as an episode.
///
/// # Errors
/// The field that is missing.
pub(super) fn episode_of(line: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let needed =
        |field: &str| text_of(line, field).ok_or_else(|| format!("the memory has no {field}"));
    let (id, text, owner) = (needed("id")?, needed("text")?, needed("owner")?);
    let recorded = time_of(line, "recorded_at").ok_or("the memory has no recorded_at")?;
    let begins = time_of(line, "valid_from").unwrap_or(recorded);
    let is_conversation = text_of(line, "memory_type") == Some("conversation");
    let is_archived = line.get("archived_at").is_some();
    let user = text_of(line, "user_id");
    let is_open = text_of(line, "sharing") == Some("shared") && user.is_none();
    let actors: Vec<&str> = std::iter::once(owner).chain(user).collect();
    let confidence = if text_of(line, "trust") == Some("normal") { json!(1) } else { json!(0.5) };
    let (metadata, json_metadata) = metadata_as_texts(line);
    let mut own: Map<String, Value> = line
        .iter()
        .filter(|(field, _)| !SHARED_FIELDS.contains(&field.as_str()))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    if !json_metadata.is_empty() {
        own.insert(JSON_METADATA.to_owned(), json!(json_metadata));
    }
    let episode = json!({
        "id": id,
        "eventTime": begins.canonical(),
        "mentionTime": recorded.canonical(),
        "ingestionTime": recorded.canonical(),
        "sourceType": if is_conversation { "chat" } else { "note" },
        "actors": actors,
        "summary": summary_of(line, text),
        "details": text,
        "sensitivity": if is_open { OPEN_SENSITIVITY } else { PRIVATE_SENSITIVITY },
        "metadata": metadata,
        "categories": line.get("topics").cloned().unwrap_or_else(|| json!([])),
        "importance": importance_number(line),
        "confidence": confidence,
        "lifecycleState": if is_archived { "COLD" } else { "HOT" },
        "extractionState": "done",
        "accessCount": 0,
        "pinned": false,
        "vaultRefs": [],
        "contextID": line.get("workspace").cloned().unwrap_or_default(),
        "expirationDate": time_of(line, "valid_until").map(BundleTime::canonical),
        OWN_FIELD: own,
    });
    let Value::Object(mut episode) = episode else { return Err("no episode".to_owned()) };
    episode.retain(|_, value| !value.is_null());
    Ok(episode)
}

/// The metadata as the texts that the format knows, and the names of those that are JSON.
fn metadata_as_texts(line: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let mut json_names = Vec::new();
    let metadata = line.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let metadata = metadata.map(|(name, value)| match value {
        Value::String(_) => (name.clone(), value.clone()),
        value => {
            json_names.push(name.clone());
            (name.clone(), json!(canonical_json(value)))
        }
    });
    let metadata = metadata.collect();
    // Equal memories give equal bytes, in whatever order their metadata are stored.
    json_names.sort_unstable();
    (metadata, json_names)
}

/// The summary, else the title, else the beginning of the text.
fn summary_of(line: &Map<String, Value>, text: &str) -> String {
    match text_of(line, "summary").or_else(|| text_of(line, "title")) {
        Some(summary) => summary.to_owned(),
        None => {
            let first = text.trim().lines().next().unwrap_or_default();
            first.chars().take(SUMMARY_CHARS).collect()
        }
    }
}

fn importance_number(line: &Map<String, Value>) -> Value {
    let word = text_of(line, "importance").unwrap_or("normal");
    let number = IMPORTANCE.into_iter().find(|(known, _)| *known == word).map_or(0.5, |row| row.1);
    // A whole number has no point in the format.
    if number == 1.0 { json!(1) } else { json!(number) }
}

/// The word of a number of 0 to 1: the nearest of ours.
pub(super) fn importance_word(number: f64) -> &'static str {
    match number {
        number if number < 0.375 => "low",
        number if number < 0.625 => "normal",
        number if number < 0.875 => "high",
        _ => "critical",
    }
}

/// Whether a sensitivity says that everybody may read the record.
pub(super) fn is_open(sensitivity: &str) -> bool {
    matches!(sensitivity.to_lowercase().as_str(), "" | "low" | "none" | "public")
}

/// The line of a memory that this program wrote as an episode; `None` for an episode of another program.
///
/// What another program has changed since in a field of the format counts: the foreign field only says more
/// precisely what the format's field still says.
pub(super) fn own_line(
    episode: &Episode,
    fields: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let own = fields.get(OWN_FIELD)?.as_object().filter(|own| own.contains_key("owner"))?;
    if !is_memory_id(&episode.id) {
        return None;
    }
    let mut line = own.clone();
    let json_metadata = line.shift_remove(JSON_METADATA).unwrap_or_default();
    let json_names: Vec<&str> =
        json_metadata.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let metadata = episode.metadata.iter().map(|(name, text)| {
        let value = json_names.contains(&name.as_str()).then(|| serde_json::from_str(text).ok());
        (name.clone(), value.flatten().unwrap_or_else(|| json!(text)))
    });
    line.insert("id".to_owned(), json!(episode.id));
    line.insert("text".to_owned(), json!(episode.details));
    line.insert("topics".to_owned(), json!(episode.categories));
    line.insert("metadata".to_owned(), metadata.collect());
    if let Some(workspace) = &episode.context_id {
        line.insert("workspace".to_owned(), json!(workspace));
    }
    take_changes(episode, &mut line);
    Some(line)
}

/// Puts into a line what another program changed in the fields of the format.
fn take_changes(episode: &Episode, line: &mut Map<String, Value>) {
    let word = importance_word(episode.importance);
    if text_of(line, "importance").is_some_and(|known| known != word) {
        line.insert("importance".to_owned(), json!(word));
    }
    let begins = time_of(line, "valid_from").or_else(|| time_of(line, "recorded_at"));
    let shown = |time: Option<BundleTime>| time.map(BundleTime::canonical);
    if shown(begins) != shown(Some(episode.event_time)) {
        line.insert("valid_from".to_owned(), json!(episode.event_time.canonical()));
    }
    if shown(time_of(line, "valid_until")) != shown(episode.expiration_date) {
        match episode.expiration_date {
            Some(time) => line.insert("valid_until".to_owned(), json!(time.canonical())),
            None => line.shift_remove("valid_until"),
        };
    }
    let own = text_of(line, "summary").or_else(|| text_of(line, "title"));
    if own.is_some_and(|own| own != episode.summary) && !episode.summary.trim().is_empty() {
        line.insert("summary".to_owned(), json!(episode.summary));
    }
    // What became private there stays so; what is private here is opened by nobody there.
    if !is_open(&episode.sensitivity) && !line.contains_key("user_id") {
        line.insert("sharing".to_owned(), json!("private"));
    }
}
