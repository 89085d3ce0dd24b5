//! Plain lines: turns of conversations and memories of other programs, with the field names that those
//! programs use.

use std::borrow::Cow;

use commonbook_text::data_uri::without_data_uris;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::ConversationTurn;
use super::source_state::{SourceFate, SourceState, is_marked_private};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::input;
use crate::base::limits;
use crate::model::memory::{Importance, MemorySubject, MemoryType, Sharing, Trust};
use crate::model::origin::TextOrigin;

/// The names of each field, best first. A field that is understood under one name stays metadata under
/// the others.
const TEXT_FIELDS: [&str; 3] = ["text", "content", "memory"];
const SPEAKER_FIELDS: [&str; 6] =
    ["speaker", "owner", "owner_agent", "agent", "author", "agent_id"];
const SESSION_FIELDS: [&str; 2] = ["session", "session_id"];
const TIME_FIELDS: [&str; 3] = ["ts", "created_at", "timestamp"];
const TYPE_FIELDS: [&str; 3] = ["memory_type", "type", "category"];
const TOPIC_FIELDS: [&str; 2] = ["topics", "tags"];

/// Fields of a save that a line cannot have: they refer to memories of this home.
const UNFIT_FIELDS: [&str; 2] = ["supersedes", "based_on"];

/// Seconds since 1970 that are taken for milliseconds: those of the year 5138.
const MILLISECONDS_MIN: i64 = 100_000_000_000;

/// The turn of a line.
///
/// # Errors
/// `invalid` if it is no object, has no text, or a field that decides who may read the memory, whom it
/// is about or when it holds and cannot be read.
pub(super) fn turn_of(line: Value) -> Result<ConversationTurn> {
    let canonical = line.to_string();
    let Value::Object(mut rest) = without_embedded_files(line) else {
        return Err(Error::new(
            ErrorKind::Invalid,
            "the line is no object; expected a JSON object",
        ));
    };
    let source_id = source_id_of(&rest);
    let topics = TOPIC_FIELDS.into_iter().find_map(|field| topics_of(rest.get(field)?));
    let mut state = SourceState::of(&rest, topics.as_deref().unwrap_or_default());
    if matches!(state.fate, SourceFate::Deleted(_)) {
        // Whatever else is wrong with it, it is left out.
        return Ok(ConversationTurn { state, ..ConversationTurn::default() });
    }
    let text = take(&mut rest, &TEXT_FIELDS, text_of).ok_or_else(|| {
        Error::missing("text", "missing field `text`")
            .hint("Give the text as `text`, `content` or `memory`.")
    })?;
    state.is_private |= is_marked_private(&text);
    if let Some(field) = UNFIT_FIELDS.iter().find(|field| rest.contains_key(**field)) {
        return Err(Error::invalid(field, "a line cannot name other memories")
            .hint("Leave the field out, and relate the memories after the import."));
    }
    let at = take_time(&mut rest, &TIME_FIELDS)?;
    let valid_from = take_time(&mut rest, &["valid_from"])?;
    let valid_until = take_time(&mut rest, &["valid_until"])?;
    let entities = |value: &Value| input::from_value(value.clone()).ok();
    let metadata = take(&mut rest, &["metadata"], |value| value.as_object().cloned());
    let short = |most: usize| {
        move |value: &Value| {
            text_of(value).filter(|text| !text.is_empty() && text.chars().count() <= most)
        }
    };
    Ok(ConversationTurn {
        sharing: take_word::<Sharing>(&mut rest, "sharing")?,
        about: take_word::<MemorySubject>(&mut rest, "about")?,
        user_id: take_text(&mut rest, "user_id")?,
        valid_from,
        valid_until,
        title: take(&mut rest, &["title"], short(limits::TITLE_CHARS)),
        summary: take(&mut rest, &["summary"], short(limits::SUMMARY_CHARS)),
        text,
        conv: take(&mut rest, &["conv"], text_of),
        speaker: take(&mut rest, &SPEAKER_FIELDS, text_of),
        owner: None,
        session: take(&mut rest, &SESSION_FIELDS, text_of),
        at,
        memory_type: take(&mut rest, &TYPE_FIELDS, type_of),
        topics: take(&mut rest, &TOPIC_FIELDS, topics_of).unwrap_or_default(),
        importance: take(&mut rest, &["importance"], importance_of),
        entities: take(&mut rest, &["entities"], entities).unwrap_or_default(),
        untrusted: take(&mut rest, &["trust"], trust_of) == Some(Trust::Untrusted),
        origin: TextOrigin::default(),
        rest: metadata.unwrap_or_default().into_iter().chain(rest).collect(),
        source_id,
        state,
        sha256: sha256(&canonical),
    })
}

/// The value with the kind and the length of each file that a text of it embeds.
fn without_embedded_files(value: Value) -> Value {
    match value {
        Value::String(text) => match without_data_uris(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(text) => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(without_embedded_files).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, without_embedded_files(value))).collect()
        }
        other => other,
    }
}

/// The id that a row has in its source, by which other rows of it name this one.
fn source_id_of(row: &Map<String, Value>) -> Option<String> {
    let origin = row.get("metadata").and_then(|metadata| metadata.get("imported_from"));
    match origin.and_then(|origin| origin.get("id")).or_else(|| row.get("id"))? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Takes the value of the first of these fields that can be read; `null` counts as absent.
fn take<T>(
    rest: &mut Map<String, Value>,
    fields: &[&str],
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    for field in fields {
        if rest.get(*field).is_some_and(Value::is_null) {
            rest.shift_remove(*field);
        }
        if let Some(value) = rest.get(*field).and_then(&read) {
            rest.shift_remove(*field);
            return Some(value);
        }
    }
    None
}

/// Takes the value of a field that must be one of the words of an enum.
fn take_word<T: DeserializeOwned>(rest: &mut Map<String, Value>, field: &str) -> Result<Option<T>> {
    match rest.shift_remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => input::from_value(value)
            .map(Some)
            .map_err(|error: Error| Error::invalid(field, error.message)),
    }
}

/// Takes the value of a field that must be a text.
fn take_text(rest: &mut Map<String, Value>, field: &str) -> Result<Option<String>> {
    match rest.shift_remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(value) => Err(Error::invalid(field, format!("{value} is no text; expected a text"))),
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A type as a slug: `Meeting Note` is `meeting_note`.
fn type_of(value: &Value) -> Option<MemoryType> {
    let slug = value.as_str()?.trim().to_lowercase().replace(' ', "_");
    MemoryType::try_from(slug).ok().map(MemoryType::into_import_type)
}

/// A trust that a line may state; any other value stays metadata.
fn trust_of(value: &Value) -> Option<Trust> {
    match value.as_str()? {
        "normal" => Some(Trust::Normal),
        "untrusted" => Some(Trust::Untrusted),
        _ => None,
    }
}

/// A list of topics, or one text with commas between them.
fn topics_of(value: &Value) -> Option<Vec<String>> {
    let topics: Vec<String> = match value {
        Value::String(text) => text.split(',').map(|topic| topic.trim().to_owned()).collect(),
        Value::Array(topics) => topics.iter().map(text_of).collect::<Option<_>>()?,
        _ => return None,
    };
    Some(topics.into_iter().filter(|topic| !topic.trim().is_empty()).collect())
}

/// A word; a whole number of 1 to 10; or a fraction of 0 to 1.
fn importance_of(value: &Value) -> Option<Importance> {
    match value {
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "low" | "minor" | "trivial" => Some(Importance::Low),
            "normal" | "medium" | "moderate" => Some(Importance::Normal),
            "high" | "important" | "major" => Some(Importance::High),
            "critical" | "urgent" | "very high" => Some(Importance::Critical),
            word => word.parse::<Number>().ok().and_then(|number| importance_of(&number.into())),
        },
        Value::Number(number) => {
            let tenths = match number.as_u64() {
                Some(whole) => whole as f64,
                None => number.as_f64().map(|part| if part <= 1.0 { part * 10.0 } else { part })?,
            };
            match tenths {
                tenths if !(0.0..=10.0).contains(&tenths) => None,
                tenths if tenths < 3.5 => Some(Importance::Low),
                tenths if tenths < 6.5 => Some(Importance::Normal),
                tenths if tenths < 8.5 => Some(Importance::High),
                _ => Some(Importance::Critical),
            }
        }
        _ => None,
    }
}

fn take_time(rest: &mut Map<String, Value>, fields: &[&str]) -> Result<Option<Timestamp>> {
    let written = |value: &Value| (value.is_string() || value.is_number()).then(|| value.clone());
    let Some(field) =
        fields.iter().find(|field| rest.get(**field).is_some_and(|value| written(value).is_some()))
    else {
        return Ok(None);
    };
    let value = rest.shift_remove(*field).unwrap_or_default();
    parse_line_time(field, &value).map(Some)
}

/// Parses a time with its zone, a time without one (taken as UTC), a date (its beginning in UTC), or
/// seconds or milliseconds since 1970.
pub(super) fn parse_line_time(field: &str, value: &Value) -> Result<Timestamp> {
    let wrong = |error: jiff::Error| {
        Error::new(ErrorKind::Invalid, format!("{field}: {value} is not a time: {error}"))
            .with_field(field)
            .hint("Write it like 2023-05-08T13:56:00Z, or as a date.")
    };
    if let Some(number) = value.as_f64() {
        let seconds =
            if number.abs() < MILLISECONDS_MIN as f64 { number * 1_000.0 } else { number };
        return Timestamp::from_millisecond(seconds as i64).map_err(wrong);
    }
    let text = value.as_str().unwrap_or_default();
    let zoned = text.parse::<Timestamp>();
    let local = || text.parse::<DateTime>().and_then(|time| TimeZone::UTC.to_timestamp(time));
    zoned.or_else(|_| local()).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fields_of_a_save_are_understood_or_the_line_is_refused() {
        let turn = turn_of(json!({"text": "x", "sharing": "private", "user_id": "u77",
            "about": "user", "valid_from": "2026-03-01", "valid_until": "2026-04-01T10:00:00Z",
            "title": "T", "summary": "S", "entities": ["tool:Redis"], "metadata": {"a": 1}}))
        .expect("a line");
        assert_eq!((turn.sharing, turn.about), (Some(Sharing::Private), Some(MemorySubject::User)));
        assert_eq!(turn.user_id.as_deref(), Some("u77"));
        let times = [turn.valid_from, turn.valid_until].map(|at| at.map(|at| at.to_string()));
        let expected = ["2026-03-01T00:00:00Z", "2026-04-01T10:00:00Z"];
        assert_eq!(times, expected.map(|at| Some(at.to_owned())));
        assert_eq!((turn.title.as_deref(), turn.summary.as_deref()), (Some("T"), Some("S")));
        assert_eq!((turn.entities.len(), Value::Object(turn.rest)), (1, json!({"a": 1})));
        for (field, value) in [
            ("sharing", json!("secret")),
            ("sharing", json!(1)),
            ("about", json!("nobody")),
            ("user_id", json!(77)),
            ("valid_until", json!("soon")),
            ("supersedes", json!("mem_1")),
        ] {
            let error = turn_of(json!({"text": "x", field: value})).expect_err(field);
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(
                error.message.contains(field) || error.field.as_deref() == Some(field),
                "{error:?}"
            );
        }
    }

    #[test]
    fn a_file_inside_a_line_becomes_its_kind_and_length() {
        let picture = format!("data:image/png;base64,{}", "iVBO".repeat(9_000));
        let line = json!({"text": format!("The logo ![]({picture})"), "title": "T",
            "metadata": {"icons": [picture]}, "avatar": {"src": picture}});
        let turn = turn_of(line.clone()).expect("a line");
        let short = "data:image/png (27000 bytes)";
        assert_eq!(turn.text, format!("The logo ![]({short})"));
        assert_eq!(Value::Object(turn.rest), json!({"icons": [short], "avatar": {"src": short}}));
        assert_eq!(turn.sha256, sha256(&line.to_string()), "the line is what it was in its source");
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table, a row for each line")]
    fn lines_of_other_programs_are_understood() {
        use Importance::{Critical, High, Low, Normal};
        // The line; its text, speaker, type, topics, importance, time, and what stays metadata.
        let table = [
            (
                json!({"content": "Use WAL mode", "agent_id": "planner", "tags": ["sqlite", "db"],
                    "importance": 8, "created_at": "2026-03-01T10:00:00Z"}),
                (
                    "Use WAL mode",
                    Some("planner"),
                    None,
                    vec!["sqlite", "db"],
                    Some(High),
                    Some("2026-03-01T10:00:00Z"),
                    json!({}),
                ),
            ),
            (
                json!({"memory": "Ann drinks tea", "user_id": "ann", "score": 0.9}),
                ("Ann drinks tea", None, None, vec![], None, None, json!({"score": 0.9})),
            ),
            (
                json!({"text": "Deploys run on Friday", "owner_agent": "ops", "memory_type": "decision",
                    "topics": "deploy, release", "importance": 0.95}),
                (
                    "Deploys run on Friday",
                    Some("ops"),
                    Some("decision"),
                    vec!["deploy", "release"],
                    Some(Critical),
                    None,
                    json!({}),
                ),
            ),
            (
                json!({"content": "一つの決定", "type": "Meeting Note", "author": "Zoë",
                    "timestamp": 1_772_359_200}),
                (
                    "一つの決定",
                    Some("Zoë"),
                    Some("meeting_note"),
                    vec![],
                    None,
                    Some("2026-03-01T10:00:00Z"),
                    json!({}),
                ),
            ),
            (
                json!({"text": "x", "category": "fact", "importance": "medium",
                    "ts": 1_772_359_200_000_i64}),
                (
                    "x",
                    None,
                    Some("fact"),
                    vec![],
                    Some(Normal),
                    Some("2026-03-01T10:00:00Z"),
                    json!({}),
                ),
            ),
            (
                json!({"text": "x", "importance": 1}),
                ("x", None, None, vec![], Some(Low), None, json!({})),
            ),
            (
                json!({"text": "x", "importance": 1.0}),
                ("x", None, None, vec![], Some(Critical), None, json!({})),
            ),
            (
                json!({"text": "x", "importance": "very important", "tags": [1]}),
                (
                    "x",
                    None,
                    None,
                    vec![],
                    None,
                    None,
                    json!({"importance": "very important", "tags": [1]}),
                ),
            ),
            (
                json!({"text": "x", "importance": 11, "type": {"a": 1}}),
                ("x", None, None, vec![], None, None, json!({"importance": 11, "type": {"a": 1}})),
            ),
            (
                json!({"text": "x", "content": "y", "speaker": "ann", "agent": "bob"}),
                (
                    "x",
                    Some("ann"),
                    None,
                    vec![],
                    None,
                    None,
                    json!({"content": "y", "agent": "bob"}),
                ),
            ),
            (
                json!({"text": "x", "owner": null, "created_at": null, "agent": "bob", "type": "user"}),
                (
                    "x",
                    Some("bob"),
                    Some("import.user"),
                    vec![],
                    None,
                    None,
                    json!({"created_at": null}),
                ),
            ),
            (
                json!({"content": "x", "session_id": "s", "importance": "7", "created_at": "2026-03-01"}),
                ("x", None, None, vec![], Some(High), Some("2026-03-01T00:00:00Z"), json!({})),
            ),
        ];
        for (line, (text, speaker, memory_type, topics, importance, at, rest)) in table {
            let turn = turn_of(line.clone()).expect("a line that is understood");
            assert_eq!(turn.text, text, "{line}");
            assert_eq!(turn.speaker.as_deref(), speaker, "{line}");
            assert_eq!(turn.memory_type.as_ref().map(MemoryType::as_str), memory_type, "{line}");
            assert_eq!(turn.topics, topics, "{line}");
            assert_eq!(turn.importance, importance, "{line}");
            assert_eq!(turn.at.map(|at| at.to_string()).as_deref(), at, "{line}");
            assert_eq!(Value::Object(turn.rest), rest, "{line}");
        }
    }
}
