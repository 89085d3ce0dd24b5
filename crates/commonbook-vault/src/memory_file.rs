//! A memory as a Markdown file: its fields as frontmatter, its text as the body, byte for byte.
//!
//! The key `checksum` is of what a person may change, as the program wrote it: a file that still has it was
//! not edited. `ancestors` holds those of the revisions before, the newest first: by them a file that was
//! written elsewhere is compared with the revision that both sides have. `undone_deletions` holds the times
//! of deletions that were undone: by them another machine that deleted the memory too restores it.
//! `supersedes` is for readers. `signature` tells other homes which home wrote the file.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use commonbook::base::id::MemoryId;
use commonbook::base::input;
use commonbook::model::entity::EntityLabel;
use commonbook::model::memory::{Importance, Memory, MemoryType, Sharing};
use commonbook::model::origin::is_person_elsewhere;
use commonbook::model::workspace::Workspace;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use commonbook_formats::frontmatter;

use crate::frontmatter::{YamlBlock, normalised_lines};
use crate::writer::{VaultWriter, WriterKey};

/// The keys of a file in order, each with the field of the memory.
const FIELDS: [MemoryField; 29] = [
    MemoryField::same("id"),
    MemoryField { key: "memory_path", field: "path" },
    MemoryField::same("title"),
    MemoryField::same("summary"),
    MemoryField::same("topics"),
    MemoryField::same("importance"),
    MemoryField::same("memory_type"),
    MemoryField { key: "owner_agent", field: "owner" },
    MemoryField::same("sharing"),
    MemoryField::same("user_id"),
    MemoryField { key: "created_at", field: "recorded_at" },
    MemoryField { key: "updated_at", field: "revised_at" },
    MemoryField { key: "updated_by", field: "revised_by" },
    MemoryField::same("revision"),
    MemoryField::same("valid_from"),
    MemoryField::same("valid_until"),
    MemoryField::same("session"),
    MemoryField::same("case"),
    MemoryField::same("position"),
    MemoryField::same("entities"),
    MemoryField::same("superseded_by"),
    MemoryField::same("trust"),
    MemoryField::same("suspicions"),
    MemoryField::same("review"),
    MemoryField::same("redacted"),
    MemoryField::same("retraction"),
    MemoryField::same("deleted_at"),
    MemoryField::same("archived_at"),
    MemoryField::same("metadata"),
];

/// Where the memory came from: the last of the fields, since it is long.
const SOURCE: &str = "source";
const SUPERSEDES: &str = "supersedes";
const CHECKSUM: &str = "checksum";
const ANCESTORS: &str = "ancestors";
const UNDONE_DELETIONS: &str = "undone_deletions";

/// The signature of the home that wrote the file: the last key.
const SIGNATURE: &str = "signature";

/// The keys that say whose memory it is and where it came from.
const FOREIGN_KEYS: [&str; 5] = ["owner_agent", "user_id", "created_at", "trust", SOURCE];

/// Checksums of earlier revisions in a file at most.
const ANCESTORS_MAX: usize = 16;

/// Undone deletions in a file at most, the newest ones.
const UNDONE_DELETIONS_MAX: usize = 16;

/// Characters of a checksum.
const CHECKSUM_CHARS: usize = 12;

/// A key of the frontmatter, and the field of a memory that it holds.
struct MemoryField {
    key: &'static str,
    field: &'static str,
}

impl MemoryField {
    const fn same(name: &'static str) -> Self {
        Self { key: name, field: name }
    }
}

/// What a file says beside its memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryNotes {
    /// The checksums of its earlier revisions, oldest first.
    pub earlier: Vec<String>,
    /// When the memory was deleted, of each deletion that was undone.
    pub undone_deletions: BTreeSet<Timestamp>,
    /// The names of the files of the memories that it superseded.
    pub supersedes: Vec<String>,
}

/// The fields of a memory that a person may change in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct EditableFields {
    /// The text.
    pub text: String,
    /// The heading.
    pub title: Option<String>,
    /// The summary.
    pub summary: Option<String>,
    /// The topics.
    pub topics: Vec<String>,
    /// The entities.
    pub entities: Vec<EntityLabel>,
    /// The importance.
    pub importance: Importance,
    /// The type.
    pub memory_type: MemoryType,
    /// Who may read it.
    pub sharing: Sharing,
    /// When it begins to hold.
    pub valid_from: Option<Timestamp>,
    /// When it ceases to hold.
    pub valid_until: Option<Timestamp>,
    /// Further data.
    pub metadata: Map<String, Value>,
}

impl EditableFields {
    /// Those of this memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let Memory { text, title, summary, topics, entities, metadata, .. } = memory.clone();
        Self {
            text,
            title,
            summary,
            topics,
            entities,
            importance: memory.importance,
            memory_type: memory.memory_type.clone(),
            sharing: memory.sharing,
            valid_from: memory.valid_from,
            valid_until: memory.valid_until,
            metadata,
        }
    }

    /// Whether both say the same; an editor that adds or takes an empty line at the end changes nothing.
    #[must_use]
    pub fn says_same(&self, other: &Self) -> bool {
        self.canonical_json() == other.canonical_json()
    }

    /// The checksum of these fields of a memory.
    #[must_use]
    pub fn checksum(&self, id: MemoryId) -> String {
        sha256(&format!("{id}\n{}", self.canonical_json()))[..CHECKSUM_CHARS].to_owned()
    }

    /// What they say, line by line: those of the text, and each other field.
    pub(crate) fn lines(&self) -> BTreeSet<String> {
        let text = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let fields = self.canonical_json();
        let fields = fields.as_array().into_iter().flatten().enumerate().skip(1);
        let fields = fields.map(|(place, value)| format!("{place}: {value}"));
        text.map(str::to_owned).chain(fields).collect()
    }

    /// The fields as JSON, whatever the order of the metadata.
    fn canonical_json(&self) -> Value {
        let metadata: BTreeMap<&String, &Value> = self.metadata.iter().collect();
        json!([
            self.text.trim_end(),
            self.title,
            self.summary,
            self.topics,
            self.entities,
            self.importance,
            self.memory_type,
            self.sharing,
            self.valid_from,
            self.valid_until,
            metadata,
        ])
    }
}

/// Why a memory does not hold any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryEnding {
    /// It was deleted at this time.
    Deleted(Timestamp),
    /// This memory took its place.
    Superseded(MemoryId),
}

/// A file of a memory, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryFile {
    frontmatter: YamlBlock,
    /// The text of the memory.
    pub text: String,
    /// The memory that it is of; `None` for one that a person has begun.
    pub id: Option<MemoryId>,
}

impl MemoryFile {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// `invalid` with the line if the frontmatter is no YAML; with the key if the id is none.
    pub fn parse(content: &str) -> Result<Self> {
        let content = normalised_lines(content);
        let marked = |mark: &str| content.lines().zip(1..).find(|(line, _)| line.starts_with(mark));
        if let (Some((_, line)), Some(_)) = (marked("<<<<<<< "), marked(">>>>>>> ")) {
            let message = format!("line {line}: git left both sides of a conflict in the file");
            return Err(Error::invalid("file", message)
                .hint("Keep one side, such as `git checkout --theirs FILE`, and save the file."));
        }
        let (frontmatter, body) = match frontmatter::split(&content) {
            Some(split) => {
                let body = split.body.strip_prefix('\n').unwrap_or(split.body);
                (YamlBlock::parse(split.yaml)?, body)
            }
            None => (YamlBlock::default(), content.as_str()),
        };
        let text = body.strip_suffix('\n').unwrap_or(body).to_owned();
        let id = match frontmatter.fields().get("id") {
            None | Some(Value::Null) => None,
            Some(id) => {
                let parsed = id.as_str().and_then(MemoryId::parse);
                Some(parsed.ok_or_else(|| {
                    Error::invalid("id", format!("{id} is not the id of a memory")).hint(
                        "Remove the key `id` for a new memory, or restore the one that was there.",
                    )
                })?)
            }
        };
        Ok(Self { frontmatter, text, id })
    }

    /// The number of the revision that was written.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        self.frontmatter.fields().get("revision").and_then(Value::as_u64)
    }

    /// The checksum of the revision that was written.
    #[must_use]
    pub fn written_checksum(&self) -> Option<&str> {
        self.frontmatter.fields().get(CHECKSUM).and_then(Value::as_str)
    }

    /// The checksums of the revision that was written and of those before it, the newest first.
    #[must_use]
    pub fn known_checksums(&self) -> Vec<&str> {
        let earlier = self.frontmatter.fields().get(ANCESTORS).and_then(Value::as_array);
        let earlier = earlier.into_iter().flatten().filter_map(Value::as_str);
        self.written_checksum().into_iter().chain(earlier).collect()
    }

    /// Whether it says what the program wrote.
    #[must_use]
    pub fn is_unedited(&self, fields: &EditableFields) -> bool {
        self.id.is_some_and(|id| self.written_checksum() == Some(&*fields.checksum(id)))
    }

    /// Whether the memory was put away when the file was written.
    #[must_use]
    pub fn is_put_away(&self) -> bool {
        let fields = self.frontmatter.fields();
        let keys = ["deleted_at", "superseded_by", "archived_at", "retraction"];
        keys.iter().any(|key| fields.get(*key).is_some_and(|value| !value.is_null()))
    }

    /// The memory that superseded it, or when it was deleted, as the file says.
    #[must_use]
    pub fn ending(&self) -> Option<MemoryEnding> {
        let fields = self.frontmatter.fields();
        if let Some(deleted_at) = fields.get("deleted_at").and_then(time_of) {
            return Some(MemoryEnding::Deleted(deleted_at));
        }
        let heir = fields.get("superseded_by").and_then(Value::as_str).and_then(MemoryId::parse);
        heir.map(MemoryEnding::Superseded)
    }

    /// When the memory was deleted, of each deletion that was undone, as the file says.
    #[must_use]
    pub fn undone_deletions(&self) -> BTreeSet<Timestamp> {
        let times = self.frontmatter.fields().get(UNDONE_DELETIONS).and_then(Value::as_array);
        times.into_iter().flatten().filter_map(time_of).collect()
    }

    /// The memory that the file holds.
    ///
    /// # Errors
    /// `invalid` with the key that is missing or wrong.
    pub fn memory(&self, workspace: &Workspace) -> Result<Memory> {
        let fields = self.frontmatter.fields();
        let mut memory = Map::new();
        let source = MemoryField::same(SOURCE);
        for MemoryField { key, field } in FIELDS.iter().chain([&source]) {
            if let Some(value) = fields.get(*key) {
                memory.insert((*field).to_owned(), value.clone());
            }
        }
        memory.insert("workspace".to_owned(), json!(workspace));
        memory.insert("text".to_owned(), json!(self.text));
        for (field, value) in
            [("trust", json!("normal")), ("topics", json!([])), ("metadata", json!({}))]
        {
            memory.entry(field).or_insert(value);
        }
        input::from_value(Value::Object(memory))
    }

    /// What a person may change, as the file says it. Topics, importance, type and sharing that it leaves
    /// out are as in `before`; whatever else it leaves out is nothing.
    ///
    /// # Errors
    /// `invalid` with the key whose value is wrong.
    pub fn editable_fields(&self, before: &EditableFields) -> Result<EditableFields> {
        let fields = self.frontmatter.fields();
        Ok(EditableFields {
            text: self.text.clone(),
            title: value_of(fields, "title")?.flatten(),
            summary: value_of(fields, "summary")?.flatten(),
            topics: topics_of(fields)?.unwrap_or_else(|| before.topics.clone()),
            entities: value_of(fields, "entities")?.unwrap_or_default(),
            importance: value_of(fields, "importance")?.unwrap_or(before.importance),
            memory_type: value_of(fields, "memory_type")?
                .unwrap_or_else(|| before.memory_type.clone()),
            sharing: value_of(fields, "sharing")?.unwrap_or(before.sharing),
            valid_from: value_of(fields, "valid_from")?.flatten(),
            valid_until: value_of(fields, "valid_until")?.flatten(),
            metadata: value_of(fields, "metadata")?.unwrap_or_default(),
        })
    }

    /// The owner that the file names.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.frontmatter.fields().get("owner_agent").and_then(Value::as_str)
    }

    /// The content of the file with this memory; keys that are not the program's stay as they are, and of a
    /// memory that others wrote, the keys that say so.
    #[must_use]
    pub fn with_memory(&self, memory: &Memory, notes: &MemoryNotes) -> String {
        let mut known = known_fields(memory);
        if self.is_of_others(memory) {
            let fields = self.frontmatter.fields();
            for (key, value) in known.iter_mut().filter(|(key, _)| FOREIGN_KEYS.contains(key)) {
                *value = fields.get(*key).cloned();
            }
        }
        let supersedes: Vec<String> =
            notes.supersedes.iter().map(|name| format!("[[{name}]]")).collect();
        let supersedes =
            Some(supersedes).filter(|names| !names.is_empty()).map(|names| json!(names));
        let sum = memory_checksum(memory);
        // What the file was before counts too: it may be of another store, and was compared with this one.
        let own = notes.earlier.iter().rev().map(String::as_str);
        let mut ancestors: Vec<&str> = Vec::new();
        for earlier in own.chain(self.known_checksums()) {
            if earlier != sum && !ancestors.contains(&earlier) {
                ancestors.push(earlier);
            }
        }
        ancestors.truncate(ANCESTORS_MAX);
        let ancestors = Some(ancestors).filter(|sums| !sums.is_empty()).map(|sums| json!(sums));
        let mut undone = self.undone_deletions();
        undone.extend(&notes.undone_deletions);
        if let (Some(MemoryEnding::Deleted(at)), None) = (self.ending(), memory.deleted_at) {
            undone.insert(at);
        }
        let undone: Vec<Timestamp> = undone.into_iter().rev().take(UNDONE_DELETIONS_MAX).collect();
        let undone = Some(undone).filter(|times| !times.is_empty()).map(|times| json!(times));
        let notes = [
            (SUPERSEDES, supersedes),
            (UNDONE_DELETIONS, undone),
            (ANCESTORS, ancestors),
            (CHECKSUM, Some(json!(sum))),
            (SIGNATURE, None),
        ];
        let mut frontmatter = self.frontmatter.clone();
        frontmatter.set_all(known.into_iter().chain(notes));
        format!("{}\n{}\n", frontmatter.render(), memory.text)
    }

    /// The file, signed by the home that writes it: its content but for the signature, of this workspace.
    #[must_use]
    pub fn signed(&self, workspace: &Workspace, writer: &VaultWriter) -> String {
        let mut frontmatter = self.frontmatter.clone();
        frontmatter.set_all([(SIGNATURE, None)]);
        let signature = writer.sign(&self.signed_text(workspace));
        frontmatter.set_last(SIGNATURE, json!(signature));
        format!("{}\n{}\n", frontmatter.render(), self.text)
    }

    /// The home that wrote the file as it is; `None` if it has no signature, or was changed since.
    #[must_use]
    pub fn writer(&self, workspace: &Workspace) -> Option<WriterKey> {
        let signature = self.frontmatter.fields().get(SIGNATURE)?.as_str()?;
        WriterKey::of_signature(signature, &self.signed_text(workspace))
    }

    fn signed_text(&self, workspace: &Workspace) -> String {
        let mut frontmatter = self.frontmatter.clone();
        frontmatter.set_all([(SIGNATURE, None)]);
        format!("{workspace}\n{}\n{}\n", frontmatter.render(), self.text)
    }

    /// Whether others wrote the file, so that the store has its memory as nobody's, or as that of the person
    /// of another home.
    #[must_use]
    pub fn is_of_others(&self, memory: &Memory) -> bool {
        let is_foreign = memory.owner.is_legacy() || is_person_elsewhere(&memory.owner);
        is_foreign && self.owner().is_some_and(|owner| owner != memory.owner.as_str())
    }
}

/// The checksum of the file of this memory.
#[must_use]
pub fn memory_checksum(memory: &Memory) -> String {
    EditableFields::of(memory).checksum(memory.id)
}

/// The content of a new file with this memory.
#[must_use]
pub fn memory_file(memory: &Memory, notes: &MemoryNotes) -> String {
    let empty = MemoryFile { frontmatter: YamlBlock::default(), text: String::new(), id: None };
    empty.with_memory(memory, notes)
}

/// The keys of this memory in order; a key that a memory need not have is left out at its usual value.
fn known_fields(memory: &Memory) -> Vec<(&'static str, Option<Value>)> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(memory) else { return Vec::new() };
    let is_usual = |field: &str, value: &Value| match field {
        "trust" => value == "normal",
        "metadata" => value.as_object().is_some_and(Map::is_empty),
        _ => value.is_null(),
    };
    let source = MemoryField::same(SOURCE);
    let known = FIELDS.iter().chain([&source]).map(|MemoryField { key, field }| {
        (*key, fields.shift_remove(*field).filter(|value| !is_usual(field, value)))
    });
    known.collect()
}

fn time_of(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// The value of a key.
fn value_of<T: DeserializeOwned>(
    fields: &Map<String, Value>,
    key: &'static str,
) -> Result<Option<T>> {
    let Some(value) = fields.get(key) else { return Ok(None) };
    input::from_value(value.clone())
        .map(Some)
        .map_err(|error: Error| Error::invalid(key, error.message))
}

/// The topics as a list, or one text with commas between them.
fn topics_of(fields: &Map<String, Value>) -> Result<Option<Vec<String>>> {
    let topics = match fields.get("topics") {
        Some(Value::String(text)) => text.split(',').map(|topic| topic.trim().to_owned()).collect(),
        Some(Value::Null) => Vec::new(),
        _ => return value_of(fields, "topics"),
    };
    Ok(Some(topics.into_iter().filter(|topic: &String| !topic.is_empty()).collect()))
}
