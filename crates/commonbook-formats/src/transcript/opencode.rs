//! Sessions of opencode: its folder `storage` of JSON files, or the file that `opencode export` writes.
//!
//! As opencode's storage is documented by its readers: `session/PROJECT/SESSION.json`,
//! `message/SESSION/MESSAGE.json` with `role`, `part/MESSAGE/PART.json` with `type` and `text`; an export is
//! `{"info":…,"messages":[{"info":…,"parts":[…]}]}`. Versions that keep sessions in a database are read by their
//! export.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook_text::json_text::json_text;
use serde_json::Value;

use super::{MessageRole, SentenceExtractor, TranscriptMessage, TranscriptSession, folder_name};
use crate::files::{SourceFile, has_ending};
use crate::json_members::DocumentMembers;
use crate::json_value::{text, time};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// Bytes of a file of the storage.
const FILE_BYTES_MAX: u64 = 16 << 20;
const OWNER: &str = "opencode";

pub(crate) fn recognises(key: Option<&str>, value: &Value) -> bool {
    key == Some("info") && value["id"].as_str().is_some_and(|id| id.starts_with("ses"))
}

pub(super) fn reads(file: &str) -> bool {
    let is_session = file.starts_with("session/") || file.contains("/session/");
    let name = file.rsplit('/').next().unwrap_or(file);
    has_ending(file, &["json"]) && (is_session || (name == file && !name.starts_with("ses_")))
}

/// Whether a session reads this file of its storage.
pub(super) fn reads_with_session(file: &str) -> bool {
    let is_in = |folder: &str| file.starts_with(folder) || file.contains(&format!("/{folder}"));
    has_ending(file, &["json"]) && (is_in("message/") || is_in("part/"))
}

pub(super) fn rows(file: &SourceFile, _folder: &Path, progress: &Progress) -> RowIterator {
    let (file, progress) = (file.clone(), progress.clone());
    let all = std::iter::once_with(move || {
        let is_stored = file.path.components().any(|part| part.as_os_str() == "session");
        match storage_of(&file.path).filter(|_| is_stored) {
            Some(storage) => stored_rows(&file, &storage, &progress),
            None => exported_rows(&file, &progress),
        }
    });
    Box::new(all.flatten())
}

/// The folder `storage` that a session of it lies in.
fn storage_of(session: &Path) -> Option<PathBuf> {
    let session_folder = session.ancestors().find(|folder| folder.ends_with("session"))?;
    session_folder.parent().map(Path::to_owned)
}

fn stored_rows(file: &SourceFile, storage: &Path, progress: &Progress) -> Vec<RowOutcome> {
    let info = match read_json(&file.path) {
        Ok(info) => info,
        Err(reason) => return vec![RowOutcome::refused(file, 1, reason)],
    };
    let Some(id) = text(&info, "id") else {
        return vec![RowOutcome::refused(file, 1, "expected a session with its `id`")];
    };
    let mut refused = Vec::new();
    let mut extractor = SentenceExtractor::new(session_of(&info), progress);
    for message in json_files(&storage.join("message").join(id)) {
        let info = match read_json(&message) {
            Ok(info) => info,
            Err(reason) => {
                let name = message.file_name().unwrap_or_default().to_string_lossy().into_owned();
                refused.push(RowOutcome::refused(file, None, format!("message {name}: {reason}")));
                continue;
            }
        };
        let parts = json_files(&storage.join("part").join(text(&info, "id").unwrap_or_default()));
        let parts: Vec<Value> = parts.iter().filter_map(|part| read_json(part).ok()).collect();
        read_message(&mut extractor, &info, &parts, 1);
    }
    let mut rows = extractor.rows(SourceFormat::Opencode, file);
    rows.extend(refused);
    rows
}

fn exported_rows(file: &SourceFile, progress: &Progress) -> Vec<RowOutcome> {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return vec![refused],
    };
    let mut refused = Vec::new();
    let session = TranscriptSession { owner: Some(OWNER), ..TranscriptSession::default() };
    let mut extractor = SentenceExtractor::new(session, progress);
    for member in DocumentMembers::new(reader) {
        match (member.key.as_deref(), member.value) {
            (Some("info"), Ok(info)) => extractor.session = session_of(&info),
            (Some("messages"), Ok(message)) => {
                let parts = message["parts"].as_array().cloned().unwrap_or_default();
                read_message(&mut extractor, &message["info"], &parts, member.line);
            }
            (_, Ok(_)) => {}
            (_, Err(reason)) => refused.push(RowOutcome::refused(file, member.line, reason)),
        }
    }
    let mut rows = extractor.rows(SourceFormat::Opencode, file);
    rows.extend(refused);
    rows
}

fn session_of(info: &Value) -> TranscriptSession {
    TranscriptSession {
        id: text(info, "id").map(str::to_owned),
        title: text(info, "title").map(str::to_owned),
        owner: Some(OWNER),
        project: text(info, "directory").and_then(folder_name),
    }
}

fn read_message(extractor: &mut SentenceExtractor, info: &Value, parts: &[Value], line: usize) {
    let role = match text(info, "role") {
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Agent,
        _ => return,
    };
    let is_written = |part: &&Value| {
        part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true
    };
    let texts: Vec<&str> =
        parts.iter().filter(is_written).filter_map(|part| part["text"].as_str()).collect();
    let id = text(info, "id").map(str::to_owned);
    let at = time(info["time"].get("created"));
    extractor.read(&TranscriptMessage { id, role, text: texts.join("\n\n"), at, line });
}

/// The JSON files of a folder, by name; ids grow with time.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

fn read_json(path: &Path) -> Result<Value, String> {
    let unreadable = |error: std::io::Error| format!("the file cannot be read: {error}");
    let bytes = fs::metadata(path).map_err(unreadable)?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(format!("the file has {bytes} bytes; expected at most {FILE_BYTES_MAX}"));
    }
    let text = fs::read(path).map_err(unreadable)?;
    serde_json::from_str(&json_text(&text))
        .map_err(|error| format!("the file is not JSON: {error}"))
}
