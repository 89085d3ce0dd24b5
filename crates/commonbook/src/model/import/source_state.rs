//! How a row stands in its source: deleted, archived, replaced, ended, private. Whatever program wrote it, a row
//! that does not hold there does not hold here, and one that is private there is private here.

use std::sync::LazyLock;

use commonbook_text::word_list;
use jiff::Timestamp;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::plain::parse_line_time;

/// Characters of a status that are named.
const STATUS_CHARS_MAX: usize = 40;
/// Seconds below which a number is a length of time, not a time: those of 1973.
const SECONDS_MIN: f64 = 100_000_000.0;
/// Objects of a row whose fields speak for the row.
const INNER_OBJECTS: [&str; 2] = ["metadata", "metadata_"];
/// Objects within objects in which a row may say that it is private.
const DEPTH_MAX: usize = 4;
/// What says no, and what says nothing.
const NO_WORDS: [&str; 16] = [
    "false",
    "no",
    "off",
    "0",
    "n",
    "never",
    "none",
    "nein",
    "non",
    "nee",
    "não",
    "нет",
    "いいえ",
    "否",
    "아니요",
    "hayır",
];

/// What a row is in its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SourceFate {
    /// It holds.
    #[default]
    Current,
    /// It is kept there, and not used; since when, if the row says it.
    Archived(Option<Timestamp>),
    /// Another row replaced it; which one, by its id there.
    Superseded(Option<String>),
    /// It is deleted there, as this field says.
    Deleted(String),
}

/// How a row stands in its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceState {
    /// What it is there.
    pub fate: SourceFate,
    /// When it ended or ends.
    pub ends_at: Option<Timestamp>,
    /// Whether it says that it is private.
    pub is_private: bool,
    /// A status that says neither that it holds nor that it does not, or a field that says not plainly who may read.
    pub unknown_status: Option<String>,
}

/// What a word says of a row, as a field or as a value.
#[derive(Default)]
struct SourceWords(FxHashMap<&'static str, Vec<&'static str>>);

static WORDS: LazyLock<SourceWords> = LazyLock::new(|| {
    let mut words = SourceWords::default();
    for [meaning, word] in word_list::rows(include_str!("source_words.tsv")) {
        words.0.entry(word).or_default().push(meaning);
    }
    words
});

impl SourceWords {
    fn says(&self, word: &str, meaning: &str) -> bool {
        self.0.get(word).is_some_and(|meanings| meanings.contains(&meaning))
    }

    /// Whether a name of a field says this: `isDeleted`, `deleted_at`.
    fn field_says(&self, name: &str, meaning: &str) -> bool {
        let bare = name.strip_prefix("is").filter(|bare| self.0.contains_key(bare)).unwrap_or(name);
        let timeless = ["at", "on", "date"].into_iter().find_map(|end| bare.strip_suffix(end));
        self.says(bare, meaning) || timeless.is_some_and(|bare| self.says(bare, meaning))
    }

    /// Whether a text says this, as a whole or by its first word: `superseded by ADR-7`.
    fn text_says(&self, text: &str, meaning: &str) -> bool {
        let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        self.says(&plain_word(text), meaning)
            || first.is_some_and(|first| self.says(&plain_word(first), meaning))
    }
}

impl SourceState {
    /// The state that the fields of a row and those of its metadata tell, and its topics.
    pub(super) fn of(row: &Map<String, Value>, topics: &[String]) -> Self {
        let mut state = Self::default();
        let inner = INNER_OBJECTS.into_iter().filter_map(|key| row.get(key)?.as_object());
        for (name, value) in std::iter::once(row).chain(inner).flatten() {
            state.read_field(name, value);
        }
        state.is_private |= row.iter().any(|(name, value)| is_private_inside(name, value, 0));
        let folders = origin_folders(row);
        let title = row.get("title").and_then(Value::as_str).unwrap_or_default();
        state.is_private |= title.split('›').any(is_private_label);
        let more_topics = row.get("metadata").and_then(|metadata| metadata.get("more_topics"));
        state.is_private |= topics
            .iter()
            .map(String::as_str)
            .chain(more_topics.map(texts_of).unwrap_or_default())
            .flat_map(|topic| topic.split('/'))
            .chain(folders.split('/'))
            .any(|word| WORDS.says(&plain_word(word), "private"));
        state
    }

    fn read_field(&mut self, name: &str, value: &Value) {
        let field = plain_word(name);
        match readers_of(&field, value) {
            Some(SourceReaders::Owner) => self.is_private = true,
            Some(SourceReaders::Unknown) => {
                self.unknown_status.get_or_insert_with(|| field_text(name, value));
            }
            Some(SourceReaders::Everyone) => {}
            None => self.read_fate(name, &field, value),
        }
    }

    fn read_fate(&mut self, name: &str, field: &str, value: &Value) {
        if WORDS.says(field, "end") {
            self.ends_at = self.ends_at.or_else(|| time_of(name, value));
        } else if WORDS.says(field, "heir") {
            if let Some(heir) = heir_of(value) {
                self.worsen(SourceFate::Superseded(Some(heir)));
            }
        } else if WORDS.says(field, "status") {
            texts_of(value).into_iter().for_each(|text| self.read_status(name, text));
        } else if field == "event" {
            // The answer of a program that deleted it just now.
            if texts_of(value).into_iter().any(|text| WORDS.says(&plain_word(text), "deleted")) {
                self.worsen(SourceFate::Deleted(field_text(name, value)));
            }
        } else {
            self.read_mark(name, field, value);
        }
    }

    /// Reads a field that is itself such a word: `deleted_at`, `is_active`.
    fn read_mark(&mut self, name: &str, field: &str, value: &Value) {
        let at = time_of(name, value);
        let is_said = says_yes(value) == Some(true) || at.is_some();
        let is_denied = says_yes(value) == Some(false);
        if WORDS.field_says(field, "deleted") && is_said {
            self.worsen(SourceFate::Deleted(field_text(name, value)));
        } else if WORDS.field_says(field, "superseded") && is_said {
            self.worsen(SourceFate::Superseded(None));
        } else if (WORDS.field_says(field, "archived") && is_said)
            || (WORDS.field_says(field, "alive") && is_denied)
        {
            self.worsen(SourceFate::Archived(at));
        }
    }

    fn read_status(&mut self, name: &str, status: &str) {
        if WORDS.text_says(status, "deleted") {
            self.worsen(SourceFate::Deleted(format!("{name}: {status}")));
        } else if WORDS.text_says(status, "superseded") {
            self.worsen(SourceFate::Superseded(None));
        } else if WORDS.text_says(status, "archived") {
            self.worsen(SourceFate::Archived(None));
        } else if WORDS.text_says(status, "private") {
            self.is_private = true;
        } else if !WORDS.text_says(status, "current") {
            self.unknown_status = Some(status.chars().take(STATUS_CHARS_MAX).collect());
        }
    }

    /// The worse of the fate so far and this one; of two of a kind the one that says more.
    fn worsen(&mut self, fate: SourceFate) {
        let rank = |fate: &SourceFate| match fate {
            SourceFate::Current => 0,
            SourceFate::Archived(None) => 1,
            SourceFate::Archived(Some(_)) => 2,
            SourceFate::Superseded(None) => 3,
            SourceFate::Superseded(Some(_)) => 4,
            SourceFate::Deleted(_) => 5,
        };
        if rank(&fate) > rank(&self.fate) {
            self.fate = fate;
        }
    }

    /// Why the row is left out, if it is.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        match &self.fate {
            SourceFate::Deleted(field) => Some(format!("it is deleted in its source ({field})")),
            _ => None,
        }
    }
}

/// Who may read a row, as one of its fields says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceReaders {
    Owner,
    Everyone,
    /// The value says it in no word that is known.
    Unknown,
}

/// Who may read a row, as this field says; `None` if it says nothing about it.
fn readers_of(field: &str, value: &Value) -> Option<SourceReaders> {
    let answer = says_yes(value);
    let texts = texts_of(value);
    let says = |meanings: &[&str]| {
        texts.iter().any(|text| meanings.iter().any(|meaning| WORDS.text_says(text, meaning)))
    };
    let is_private = if WORDS.field_says(field, "private") {
        return (answer == Some(true) || value.is_string() && !says_no(value))
            .then_some(SourceReaders::Owner);
    } else if WORDS.field_says(field, "public") {
        return (answer == Some(false)).then_some(SourceReaders::Owner);
    } else if WORDS.says(field, "label") {
        return texts.iter().any(|text| is_private_label(text)).then_some(SourceReaders::Owner);
    } else if WORDS.says(field, "readers") {
        *value == Value::Bool(false) || says(&["private", "owner"])
    } else if WORDS.says(field, "secrecy") {
        *value == Value::Bool(true) || says(&["private", "grave"])
    } else {
        return None;
    };
    let is_open = value.is_boolean() || says(&["everyone", "mild", "current"]);
    Some(match (is_private, is_open || (texts.is_empty() && !value.is_number())) {
        (true, _) => SourceReaders::Owner,
        (false, true) => SourceReaders::Everyone,
        (false, false) => SourceReaders::Unknown,
    })
}

/// Whether a label is one of a private row, as a whole or in a list or a path: `work, private/health`.
fn is_private_label(label: &str) -> bool {
    let separators = [',', ';', '/', '#', '|', '(', ')', '[', ']', ':', '–', '—'];
    label.split(separators).any(|word| WORDS.says(&plain_word(word), "private"))
}

/// Whether a text says by a mark at its beginning or end, or in a comment, that it is private: `[private] …`,
/// `Private: …`, `… (do not share)`.
pub(super) fn is_marked_private(text: &str) -> bool {
    const BRACKETS: [(char, char); 5] =
        [('[', ']'), ('(', ')'), ('（', '）'), ('【', '】'), ('{', '}')];
    let text = text.trim().trim_matches(['*', '_', '~', '`', '.']);
    let first_line = text.lines().next().unwrap_or_default();
    let before_colon = first_line.split_once([':', '：']).map(|(word, _)| word);
    let bracketed = BRACKETS.into_iter().flat_map(|(open, close)| {
        let first = text.strip_prefix(open).and_then(|rest| Some(rest.split_once(close)?.0));
        let last = text.strip_suffix(close).and_then(|rest| Some(rest.rsplit_once(open)?.1));
        [first, last]
    });
    let comments = text.split("<!--").skip(1).filter_map(|rest| Some(rest.split_once("-->")?.0));
    bracketed.flatten().chain(before_colon).chain(comments).any(is_private_label)
}

/// Whether an object within a row says that the row is private: `{"meta": {"private": true}}`.
fn is_private_inside(name: &str, value: &Value, depth: usize) -> bool {
    let fields = value.as_object().filter(|_| depth < DEPTH_MAX && name != "imported_from");
    fields.into_iter().flatten().any(|(name, value)| {
        readers_of(&plain_word(name), value) == Some(SourceReaders::Owner)
            || is_private_inside(name, value, depth + 1)
    })
}

/// The folders of the file that a row is of.
fn origin_folders(row: &Map<String, Value>) -> &str {
    let origin = row.get("metadata").and_then(|metadata| metadata.get("imported_from"));
    let file = origin.and_then(|origin| origin.get("file")).and_then(Value::as_str);
    file.and_then(|file| file.rsplit_once('/')).map_or("", |(folders, _)| folders)
}

/// A word in small letters, without blanks, marks and leading digits: `is_deleted` is `isdeleted`.
fn plain_word(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let word: String = letters.collect();
    word.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
}

fn texts_of(value: &Value) -> Vec<&str> {
    let one = std::slice::from_ref(value);
    let values = value.as_array().map_or(one, Vec::as_slice);
    values.iter().filter_map(Value::as_str).filter(|text| !text.trim().is_empty()).collect()
}

fn says_no(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().trim().to_lowercase();
    text.is_empty() || NO_WORDS.contains(&&*text)
}

/// Whether a value says yes or no; `None` if it says something else, or nothing.
fn says_yes(value: &Value) -> Option<bool> {
    const YES_WORDS: [&str; 14] =
        ["true", "yes", "on", "1", "y", "x", "ja", "oui", "sí", "sì", "sim", "да", "はい", "是"];
    match value {
        Value::Bool(answer) => Some(*answer),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(_) if says_no(value) => Some(false),
        Value::String(text) => YES_WORDS.contains(&&*text.trim().to_lowercase()).then_some(true),
        _ => None,
    }
}

fn time_of(name: &str, value: &Value) -> Option<Timestamp> {
    let may_be_time = match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(number) => number.as_f64().is_some_and(|number| number >= SECONDS_MIN),
        _ => false,
    };
    may_be_time.then(|| parse_line_time(name, value).ok()).flatten()
}

/// The id of the row that replaced this one.
fn heir_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => values.first().and_then(heir_of),
        Value::Object(fields) => fields.get("id").and_then(heir_of),
        _ => None,
    }
}

/// A field as its source writes it.
fn field_text(name: &str, value: &Value) -> String {
    let value: String = value.to_string().chars().take(STATUS_CHARS_MAX).collect();
    format!("{name}: {}", value.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "a row is written where it is judged")]
    fn state(row: Value) -> SourceState {
        SourceState::of(row.as_object().expect("an object"), &[])
    }

    #[test]
    fn a_mark_in_a_text_or_a_heading_above_it_makes_a_row_private() {
        for text in [
            "[private] My therapist is Dr Ray.",
            "(Privat) Meine Kontonummer endet auf 12.",
            "Private: the salary band is C.",
            "**Vertraulich:** der Kunde kündigt.",
            "My home gate code is in the blue book (do not share).",
            "I am on leave in May [personal]",
            "Ma sœur vit à Lyon (privé)",
            "The landlord is Ann <!-- private -->",
        ] {
            assert!(is_marked_private(text), "{text}");
        }
        for text in [
            "Use private fields where you can.",
            "Private methods begin with an underscore: see style.md",
            "Call close() (idempotent)",
            "Note: the private key is read from the vault.",
            "Keep `private: false` in the manifest",
            "[personal access tokens] expire after a year",
        ] {
            assert!(!is_marked_private(text), "{text}");
        }
        for heading in [
            "Private",
            "Notes (private)",
            "Accounts – confidential",
            "My stuff #private",
            "Personal notes",
            "Privat: Konten",
        ] {
            let title = format!("Project › {heading}");
            assert!(state(json!({"title": title})).is_private, "{heading}");
            assert!(state(json!({"metadata": {"headings": ["Project", heading]}})).is_private);
        }
        for heading in ["Private registry", "Secret handling", "Public and private methods"] {
            let title = format!("Project › {heading}");
            assert!(!state(json!({"title": title})).is_private, "{heading}");
        }
    }

    #[test]
    fn rows_that_do_not_hold_in_their_source_say_so_in_many_ways() {
        let deleted = [
            json!({"state": "deleted"}),
            json!({"status": "Trashed"}),
            json!({"is_deleted": true}),
            json!({"isDeleted": 1}),
            json!({"deleted": "yes"}),
            json!({"deletedAt": "2025-03-01T10:00:00Z"}),
            json!({"deleted_on": "2025-03-01"}),
            json!({"metadata": {"status": "gelöscht"}}),
            json!({"metadata_": {"state": "deleted"}}),
            json!({"event": "DELETE"}),
            json!({"lifecycle_state": "soft-deleted", "archived": true}),
            json!({"status": "已删除"}),
        ];
        for row in deleted {
            let found = state(row.clone());
            assert!(matches!(found.fate, SourceFate::Deleted(_)), "{row}: {found:?}");
            assert!(
                found.left_out().is_some_and(|reason| reason.contains("deleted in its source"))
            );
        }
        let archived = [
            json!({"state": "archived"}),
            json!({"state": "PAUSED"}),
            json!({"status": "expired"}),
            json!({"status": ["inactive"]}),
            json!({"active": false}),
            json!({"is_active": 0}),
            json!({"enabled": "no"}),
            json!({"archived": true}),
            json!({"status": "Rejected (2024)"}),
            json!({"metadata": {"archivé": "oui"}}),
        ];
        for row in archived {
            assert_eq!(state(row.clone()).fate, SourceFate::Archived(None), "{row}");
        }
        let at = "2025-03-01T00:00:00Z".parse().ok();
        assert_eq!(state(json!({"archived_at": "2025-03-01"})).fate, SourceFate::Archived(at));
        let heir = SourceFate::Superseded(Some("b".to_owned()));
        assert_eq!(state(json!({"status": "active", "supersededBy": "b"})).fate, heir);
        for row in [json!({"status": "superseded by ADR-7"}), json!({"superseded": true})] {
            assert_eq!(state(row.clone()).fate, SourceFate::Superseded(None), "{row}");
        }
        for row in [
            json!({"state": "active", "deleted": false, "deleted_at": null, "archived_at": ""}),
            json!({"is_active": true, "status": "in progress", "expires": "never"}),
            json!({"superseded_by": null, "event": "ADD", "deleted": 0, "published": "2024-05-01"}),
        ] {
            assert_eq!(state(row.clone()), SourceState::default(), "{row}");
        }
        assert_eq!(state(json!({"status": "Wombat"})).unknown_status.as_deref(), Some("Wombat"));
    }

    #[test]
    fn an_end_is_a_time_under_any_of_its_names() {
        for field in ["expiration_date", "expires_at", "expiresAt", "valid_to", "invalid_at"] {
            let ends = |value: Value| state(json!({"metadata": {field: value}})).ends_at;
            assert_eq!(ends(json!("2024-01-01")), "2024-01-01T00:00:00Z".parse().ok(), "{field}");
            assert_eq!(ends(json!(1_704_067_200)), "2024-01-01T00:00:00Z".parse().ok(), "{field}");
            assert_eq!(
                (ends(json!("never")), ends(json!(3600)), ends(json!(null))),
                (None, None, None)
            );
        }
    }

    #[test]
    fn what_says_that_it_is_private_is_private() {
        for row in [
            json!({"private": true}),
            json!({"metadata": {"private": "ja"}}),
            json!({"metadata": {"publish": false}}),
            json!({"metadata": {"dg-publish": false}}),
            json!({"metadata": {"Public": "no"}}),
            json!({"visibility": "Only me"}),
            json!({"metadata": {"vertraulich": true}}),
            json!({"metadata": {"privé": true}}),
            json!({"metadata": {"sharing": "private"}}),
            json!({"status": "private"}),
            json!({"metadata": {"imported_from": {"file": "life/01 Private/health.md"}}}),
            json!({"scope": "private"}),
            json!({"labels": ["work", "Private"]}),
            json!({"metadata": {"keywords": "health, private"}}),
            json!({"category": "Personal"}),
            json!({"sensitivity": "private"}),
            json!({"sensitivity_label": "PII"}),
            json!({"confidentiality": true}),
            json!({"visibility": "hidden"}),
            json!({"visibility": false}),
            json!({"access_level": "owner"}),
            json!({"permissions": {"visibility": "none"}}),
            json!({"shared_with": ["nobody"]}),
            json!({"metadata": {"meta": {"private": true}}}),
            json!({"data": {"attributes": {"labels": {"private": true}}}}),
        ] {
            assert!(state(row.clone()).is_private, "{row}");
        }
        for topic in ["private", "Privat", "private/health", "個人", "do-not-share", "личное"]
        {
            assert!(SourceState::of(&Map::new(), &[topic.to_owned()]).is_private, "{topic}");
        }
        for row in [
            json!({"private": false}),
            json!({"private": null, "publish": true, "published": "2024-05-01"}),
            json!({"visibility": "team"}),
            json!({"access": ["read", "write"], "sensitivity": "low", "confidentiality": false}),
            json!({"scope": "user", "category": "private key handling", "labels": []}),
            json!({"permissions": null, "classification": "", "meta": {"private": false}}),
            json!({"metadata": {"imported_from": {"file": "work/private.md"}}}),
        ] {
            let found = state(row.clone());
            assert_eq!((found.is_private, found.unknown_status), (false, None), "{row}");
        }
        for (row, field) in [
            (json!({"visibility": "squad 7"}), "visibility: squad 7"),
            (json!({"metadata": {"access_level": 3}}), "access_level: 3"),
            (json!({"sensitivity": ["amber"]}), "sensitivity: [\"amber\"]"),
        ] {
            assert_eq!(state(row.clone()).unknown_status.as_deref(), Some(field), "{row}");
        }
    }
}
