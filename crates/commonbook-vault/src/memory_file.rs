//! A memory as a Markdown file: its fields as frontmatter, its text as the body, byte for byte.
//!
//! The key `checksum` says what the program wrote: a file whose other keys and text still have it was not
//! edited. `ancestors` holds the checksums of the revisions before, the newest first: by them a vault that
//! was written elsewhere is compared with the revision that both have. `supersedes` and `access_count` are
//! for readers.

use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use commonbook::base::id::MemoryId;
use commonbook::base::input;
use commonbook::model::entity::EntityLabel;
use commonbook::model::memory::{Importance, Memory, MemoryType, Sharing};
use commonbook::model::workspace::Workspace;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::frontmatter::{Frontmatter, flow_value, normalised_lines, split_markdown};

/// The keys of a file in order, each with the field of the memory.
const FIELDS: [MemoryField; 28] = [
    MemoryField::same("id"),
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
const ACCESS_COUNT: &str = "access_count";
const CHECKSUM: &str = "checksum";
const ANCESTORS: &str = "ancestors";

/// Checksums of earlier revisions in a file at most.
const ANCESTORS_MAX: usize = 8;

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
    /// The names of the files of the memories that it superseded.
    pub supersedes: Vec<String>,
    /// How often it reached readers until the file was written.
    pub access_count: u64,
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
        let trimmed = |fields: &Self| {
            let text = fields.text.trim_end().to_owned();
            Self { text, ..fields.clone() }
        };
        trimmed(self) == trimmed(other)
    }
}

/// A file of a memory, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryFile {
    frontmatter: Frontmatter,
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
        let parts = split_markdown(&content);
        let frontmatter = Frontmatter::parse(parts.frontmatter.unwrap_or_default())?;
        let body = parts.body;
        let body = match parts.frontmatter {
            Some(_) => body.strip_prefix('\n').unwrap_or(body),
            None => body,
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

    /// Whether the keys that the program wrote, and the text, are as it wrote them.
    #[must_use]
    pub fn is_unedited(&self) -> bool {
        let fields = self.frontmatter.fields();
        let known = FIELDS.iter().map(|field| field.key).chain([SOURCE]);
        let known = known.filter_map(|key| Some((key, fields.get(key)?)));
        self.written_checksum() == Some(&*checksum(known, &self.text))
    }

    /// The memory that an unedited file holds.
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

    /// The content of the file with this memory; keys that are not the program's stay as they are.
    #[must_use]
    pub fn with_memory(&self, memory: &Memory, notes: &MemoryNotes) -> String {
        let known = known_fields(memory);
        let sum = memory_checksum(memory);
        let mut frontmatter = self.frontmatter.clone();
        // A count is written with another change, and is no change by itself.
        let count = Some(notes.access_count).filter(|count| *count > 0).map(Value::from);
        let is_same = frontmatter.fields().get(CHECKSUM) == Some(&json!(sum));
        let count = match is_same {
            true => frontmatter.fields().get(ACCESS_COUNT).cloned(),
            false => count,
        };
        let supersedes: Vec<String> =
            notes.supersedes.iter().map(|name| format!("[[{name}]]")).collect();
        let supersedes =
            Some(supersedes).filter(|names| !names.is_empty()).map(|names| json!(names));
        let earlier: Vec<&String> = notes.earlier.iter().rev().take(ANCESTORS_MAX).collect();
        let earlier = Some(earlier).filter(|sums| !sums.is_empty()).map(|sums| json!(sums));
        let notes = [
            (SUPERSEDES, supersedes),
            (ACCESS_COUNT, count),
            (ANCESTORS, earlier),
            (CHECKSUM, Some(json!(sum))),
        ];
        frontmatter.set_all(known.into_iter().chain(notes));
        format!("{}\n{}\n", frontmatter.render(), memory.text)
    }
}

/// The checksum of the file of this memory.
#[must_use]
pub fn memory_checksum(memory: &Memory) -> String {
    let known = known_fields(memory);
    checksum(known.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?))), &memory.text)
}

/// The content of a new file with this memory.
#[must_use]
pub fn memory_file(memory: &Memory, notes: &MemoryNotes) -> String {
    let empty = MemoryFile { frontmatter: Frontmatter::default(), text: String::new(), id: None };
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

/// The checksum of these keys and this text.
fn checksum<'v>(fields: impl Iterator<Item = (&'static str, &'v Value)>, text: &str) -> String {
    let mut whole = String::new();
    for (key, value) in fields {
        whole.push_str(key);
        whole.push('=');
        whole.push_str(&flow_value(value));
        whole.push('\n');
    }
    whole.push_str(text);
    sha256(&whole)[..CHECKSUM_CHARS].to_owned()
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
