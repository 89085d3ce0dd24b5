//! Data of the Claude app: `memories.json`, `projects.json` and `conversations.json` of its export.
//!
//! As other importers read them (basic-memory's `claude_conversations_importer.py` for conversations with
//! `chat_messages`; several for `[{"conversations_memory","project_memories","account_uuid"}]`): a memory is
//! Markdown, of which each item and paragraph is a row. A project has instructions (`prompt_template`), a
//! description, and documents with their text (`docs`); what it says of itself, such as that it is private, it says
//! of its memory in the other file too. Of a conversation only what [`crate::transcript`] extracts is read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use commonbook_text::data_uri::without_data_uris;
use serde_json::{Map, Value};

use crate::files::{SourceFile, has_ending};
use crate::json_members::DocumentMembers;
use crate::json_value::{message_text, text, text_of, time};
use crate::markdown::{blocks, parts};
use crate::note::NOTE_BYTES_MAX;
use crate::row::RowDraft;
use crate::transcript::{MessageRole, SentenceExtractor, TranscriptMessage, TranscriptSession};
use crate::utf8::Utf8Reader;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat, json_members};

/// Fields of a project that have their own place.
const PROJECT_FIELDS: [&str; 8] = [
    "uuid",
    "name",
    "description",
    "prompt_template",
    "docs",
    "created_at",
    "updated_at",
    "creator",
];

pub(crate) fn reads(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    let is_memory = file.starts_with("memories/") || file.contains("/memories/");
    let is_known =
        ["conversations", "memories", "projects"].iter().any(|begin| name.starts_with(begin));
    name.ends_with(".json") && (is_known || is_memory)
}

/// Whether an element is one of the Claude app's.
pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    let has = |field: &str| value.get(field).is_some();
    let is_project = has("prompt_template") && has("docs");
    has("chat_messages")
        || has("conversations_memory")
        || key == Some("conversations_memory")
        || is_project
}

pub(crate) fn rows(file: &SourceFile, folder: &Path, progress: &Progress) -> RowIterator {
    let read = progress.clone();
    let projects = match has_memory_name(file) {
        true => ProjectFields::beside(file, folder),
        false => ProjectFields::default(),
    };
    json_members::rows_of_members(file, progress, move |file, key, line, value| {
        match (key, value) {
            (_, Value::Object(fields)) if fields.contains_key("chat_messages") => {
                conversation_rows(file, line, value, &read)
            }
            (None, Value::Object(fields)) if fields.contains_key("docs") => {
                project_text_rows(file, line, value)
            }
            (Some("conversations_memory"), Value::String(memory)) => {
                memory_rows(file, line, memory, &MemoryProject::default())
            }
            (Some("project_memories"), Value::Object(_)) => projects.memory_rows(file, line, value),
            (None, Value::Object(_)) => {
                let memory = value["conversations_memory"].as_str().unwrap_or_default();
                let mut rows = memory_rows(file, line, memory, &MemoryProject::default());
                rows.extend(projects.memory_rows(file, line, &value["project_memories"]));
                if rows.is_empty() && value.get("conversations_memory").is_none() {
                    let reason = "expected `chat_messages` or `conversations_memory`";
                    rows.push(RowOutcome::refused(file, line, reason));
                }
                rows
            }
            (None, _) => vec![RowOutcome::refused(file, line, "expected an object")],
            _ => Vec::new(),
        }
    })
}

/// The texts of a project: its instructions, its description, and its documents.
fn project_text_rows(file: &SourceFile, line: usize, value: &Value) -> Vec<RowOutcome> {
    let name = text(value, "name").unwrap_or("project");
    let row = |content: &str, kind: &str, title: &str, source: &Value| {
        RowDraft::new(content)
            .titled(title)
            .with("memory_type", if kind == "instructions" { "procedural" } else { "semantic" })
            .with("created_at", time(source.get("created_at")))
            .noting("project", name)
            .noting("kind", kind)
            .known_as(text(source, "uuid"))
            .keeping(value.as_object().unwrap_or(&Map::new()), &PROJECT_FIELDS)
            .finish(SourceFormat::ClaudeAi, file, line)
    };
    let mut found = Vec::new();
    for (field, kind) in [("prompt_template", "instructions"), ("description", "description")] {
        found.extend(text(value, field).map(|content| row(content, kind, name, value)));
    }
    for document in value["docs"].as_array().into_iter().flatten() {
        let file_name = text(document, "filename").unwrap_or("document");
        let Some(content) = text(document, "content") else {
            let reason = format!("line {line}: the document {file_name:?} of {name:?} has no text");
            found.push(RowOutcome::left_out(file, reason));
            continue;
        };
        let content = without_data_uris(content);
        let rows = parts(&content, NOTE_BYTES_MAX).into_iter().map(|part| {
            let heading = part.heading.map(|heading| format!(" › {heading}")).unwrap_or_default();
            row(part.text, "document", &format!("{name} › {file_name}{heading}"), document)
        });
        found.extend(rows);
    }
    if found.is_empty() {
        found.push(RowOutcome::left_out(
            file,
            format!("line {line}: the project {name:?} has no text"),
        ));
    }
    found
}

/// Whether a file may have memories of projects.
fn has_memory_name(file: &SourceFile) -> bool {
    !["conversations", "projects"].iter().any(|begin| file.base_name().starts_with(begin))
}

/// A project of whose memory a row is.
#[derive(Default)]
struct MemoryProject<'p> {
    id: Option<&'p str>,
    fields: Option<&'p Map<String, Value>>,
}

/// What the projects of an export say of themselves, by their ids.
#[derive(Default)]
struct ProjectFields(HashMap<String, Map<String, Value>>);

impl ProjectFields {
    /// Reads the projects of the export of a file, as `projects.json` or one by one.
    fn beside(file: &SourceFile, folder: &Path) -> Self {
        let mut found = Self::default();
        let own = file.path.parent().unwrap_or(folder);
        let export = own.parent().filter(|_| own.ends_with("memories")).unwrap_or(own);
        for folder in [folder, export] {
            found.read_files(folder, |name| name.starts_with("projects"));
            found.read_files(&folder.join("projects"), |_| true);
        }
        found
    }

    fn read_files(&mut self, folder: &Path, is_read: impl Fn(&str) -> bool) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if has_ending(&name, &["json"])
                && is_read(&name)
                && let Ok(file) = File::open(entry.path()).and_then(Utf8Reader::new)
            {
                self.read(BufReader::new(file));
            }
        }
    }

    fn read(&mut self, reader: impl BufRead) {
        // A file of one project has its fields as members.
        let mut single = Map::new();
        for member in DocumentMembers::new(reader) {
            match (member.key, member.value) {
                (Some(key), Ok(value @ (Value::String(_) | Value::Bool(_)))) => {
                    single.insert(key, value);
                }
                (_, Ok(Value::Object(project))) => self.add(project),
                _ => {}
            }
        }
        self.add(single);
    }

    fn add(&mut self, project: Map<String, Value>) {
        if let Some(id) = text_of(&project, "uuid").map(str::to_owned) {
            let fields = project.into_iter().filter(|(key, _)| !PROJECT_FIELDS.contains(&&**key));
            self.0.insert(id, fields.collect());
        }
    }

    /// The rows of the memories of projects.
    fn memory_rows(&self, file: &SourceFile, line: usize, projects: &Value) -> Vec<RowOutcome> {
        let rows = |(id, value): (&String, &Value)| {
            let project = MemoryProject { id: Some(id), fields: self.0.get(id) };
            Some(memory_rows(file, line, value.as_str()?, &project))
        };
        projects.as_object().into_iter().flatten().filter_map(rows).flatten().collect()
    }
}

fn memory_rows(
    file: &SourceFile,
    line: usize,
    memory: &str,
    project: &MemoryProject<'_>,
) -> Vec<RowOutcome> {
    let mut heading = String::new();
    let mut found = Vec::new();
    for block in blocks(memory) {
        // Claude writes its headings as bold lines.
        let bold = block.text.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
        if let Some(bold) = bold.filter(|bold| !bold.contains("**") && !bold.contains('\n')) {
            bold.clone_into(&mut heading);
            continue;
        }
        let title = match heading.is_empty() {
            true => block.headings.join(" › "),
            false => heading.clone(),
        };
        found.push(
            RowDraft::new(&block.text)
                .titled(&title)
                .with("memory_type", "semantic")
                .noting("project", project.id)
                .keeping(project.fields.unwrap_or(&Map::new()), &[])
                .finish(SourceFormat::ClaudeAi, file, line),
        );
    }
    found
}

fn conversation_rows(
    file: &SourceFile,
    line: usize,
    value: &Value,
    progress: &Progress,
) -> Vec<RowOutcome> {
    let session = TranscriptSession {
        id: text(value, "uuid").map(str::to_owned),
        title: text(value, "name").map(str::to_owned),
        owner: None,
        project: None,
    };
    let mut extractor = SentenceExtractor::new(session, progress);
    for message in value["chat_messages"].as_array().into_iter().flatten() {
        let role = match text(message, "sender") {
            Some("human" | "user") => MessageRole::User,
            Some("assistant") => MessageRole::Agent,
            _ => continue,
        };
        let parts = message_text(&message["content"], &["text"]);
        let text_of_message = match parts.trim().is_empty() {
            true => text(message, "text").unwrap_or_default().to_owned(),
            false => parts,
        };
        extractor.read(&TranscriptMessage {
            id: text(message, "uuid").map(str::to_owned),
            role,
            text: text_of_message,
            at: time(message.get("created_at")),
            line,
        });
    }
    extractor.rows(SourceFormat::ClaudeAi, file)
}
