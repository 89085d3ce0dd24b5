//! Sessions of coding clients, and the extraction of what is worth keeping out of any conversation.
//!
//! Extraction invents nothing: a row is a sentence that a person or an agent wrote, and that is a decision, a
//! correction by the person, or what the person says is to be remembered. Outputs of tools, code and
//! quotations are never read, nor what Commonbook itself told an agent. Rows are private, and a session has at
//! most [`SESSION_ROWS_MAX`].

mod claude_code;
mod codex;
mod gemini;
mod opencode;
mod sentence;

use std::collections::HashSet;
use std::path::Path;

use commonbook_text::data_uri::without_data_uris;
use commonbook_text::echo::without_contexts;
use commonbook_text::sentences::sentences;
use serde_json::Value;

use crate::files::{SourceFile, has_ending};
use crate::markdown::blocks;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};
pub(crate) use claude_code::recognises as is_claude_code;
pub(crate) use codex::recognises as is_codex;
pub(crate) use gemini::recognises as is_gemini;
pub(crate) use opencode::recognises as is_opencode;
use sentence::{SentenceKind, plain_sentence};

/// Rows of one session.
pub const SESSION_ROWS_MAX: usize = 20;

/// Characters of a row.
const ROW_CHARS_MAX: usize = 600;
const ROW_CHARS_MIN: usize = 12;
/// The same where a letter is a word or a syllable.
const ROW_CHARS_MIN_OF_SYLLABLES: usize = 4;
/// Characters below which a correction needs the sentence after it: `No.`
const SHORT_CHARS_MAX: usize = 20;
/// Bytes of a message that are read.
const MESSAGE_BYTES_MAX: usize = 256 << 10;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageRole {
    User,
    Agent,
}

/// A message of a session, without outputs of tools.
pub(crate) struct TranscriptMessage {
    pub id: Option<String>,
    pub role: MessageRole,
    pub text: String,
    pub at: Value,
    pub line: usize,
}

/// What is known of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct TranscriptSession {
    pub id: Option<String>,
    pub title: Option<String>,
    /// The client's agent; the importer if there is none.
    pub owner: Option<&'static str>,
    /// The name of the folder in which the client ran, without its path.
    pub project: Option<String>,
}

/// A sentence that is kept.
struct SentenceExtract {
    kind: SentenceKind,
    role: MessageRole,
    text: String,
    id: Option<String>,
    at: Value,
    line: usize,
}

/// Collects what is worth keeping of a session, message by message.
pub(crate) struct SentenceExtractor {
    progress: Progress,
    pub session: TranscriptSession,
    extracts: Vec<SentenceExtract>,
    seen: HashSet<String>,
    left_out: usize,
}

impl SentenceExtractor {
    pub(crate) fn new(session: TranscriptSession, progress: &Progress) -> Self {
        let progress = progress.clone();
        Self { progress, session, extracts: Vec::new(), seen: HashSet::new(), left_out: 0 }
    }

    /// Reads a message.
    pub(crate) fn read(&mut self, message: &TranscriptMessage) {
        self.progress.add_message();
        let text = without_data_uris(sentence::without_marks_around(&message.text));
        if text.len() > MESSAGE_BYTES_MAX || sentence::is_injected(&text) {
            return;
        }
        let text = sentence::without_notes(&text);
        let text = without_contexts(&text);
        for block in blocks(&text) {
            if block.text.starts_with(['>', '|', '`', '<']) {
                continue;
            }
            let text = block.text.split("\n```").next().unwrap_or_default();
            let mut rest = sentences(text).map(plain_sentence);
            let (mut before, mut quotation): (Option<String>, _) = (None, None);
            while let Some(mut sentence) = rest.next() {
                let is_quoted = quotation.is_some();
                quotation = sentence::open_quotation(&sentence, quotation);
                if is_quoted {
                    continue;
                }
                if message.role == MessageRole::User && sentence::points_back(&sentence) {
                    if let Some(before) = before.take() {
                        self.keep(SentenceKind::Remember, &before, message);
                    }
                    continue;
                }
                before = Some(sentence.clone()).filter(|sentence| !sentence.ends_with('?'));
                let Some(kind) = SentenceKind::of(&sentence, message.role) else { continue };
                let is_short = sentence.chars().count() <= SHORT_CHARS_MAX;
                if kind == SentenceKind::Correction
                    && is_short
                    && let Some(next) = rest.next()
                {
                    sentence = format!("{sentence} {next}");
                }
                self.keep(kind, &sentence, message);
            }
        }
    }

    fn keep(&mut self, kind: SentenceKind, sentence: &str, message: &TranscriptMessage) {
        let text = kind.content(sentence);
        let chars = text.chars().count();
        let chars_min = match text.chars().any(|letter| letter >= '\u{3040}') {
            true => ROW_CHARS_MIN_OF_SYLLABLES,
            false => ROW_CHARS_MIN,
        };
        if !(chars_min..=ROW_CHARS_MAX).contains(&chars) || !self.seen.insert(text.to_lowercase()) {
            return;
        }
        self.extracts.push(SentenceExtract {
            kind,
            role: message.role,
            text,
            id: message.id.clone(),
            at: message.at.clone(),
            line: message.line,
        });
        if self.extracts.len() > SESSION_ROWS_MAX {
            // The last of the least important goes.
            let least = self.extracts.iter().map(|extract| extract.kind).max();
            let last = self.extracts.iter().rposition(|extract| Some(extract.kind) == least);
            if let Some(last) = last {
                self.extracts.remove(last);
            }
            self.left_out += 1;
        }
    }

    /// The rows of the session.
    pub(crate) fn rows(self, format: SourceFormat, file: &SourceFile) -> Vec<RowOutcome> {
        let Self { session, extracts, left_out, .. } = self;
        let mut rows: Vec<RowOutcome> = extracts
            .into_iter()
            .map(|extract| {
                let said_by = match extract.role {
                    MessageRole::User => "user",
                    MessageRole::Agent => "agent",
                };
                RowDraft::new(&extract.text)
                    .with("memory_type", extract.kind.memory_type())
                    .with("sharing", "private")
                    .with("owner", session.owner)
                    .with("session", session.id.as_deref())
                    .with("created_at", extract.at)
                    .noting("kind", extract.kind.name())
                    .noting("said_by", said_by)
                    .noting("conversation", session.title.as_deref())
                    .noting("project", session.project.as_deref())
                    .known_as(extract.id.as_deref())
                    .finish(format, file, extract.line)
            })
            .collect();
        if left_out > 0 {
            let reason = format!(
                "{left_out} more sentences; at most {SESSION_ROWS_MAX} of a session are imported"
            );
            rows.push(RowOutcome::left_out_rows(file, left_out as u64, reason));
        }
        rows
    }
}

/// Whether a format of sessions reads this file of a folder.
pub(crate) fn reads(format: SourceFormat, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    match format {
        SourceFormat::ClaudeCode => {
            has_ending(name, &["jsonl"]) && !name.starts_with("rollout-") && name != "history.jsonl"
        }
        SourceFormat::Codex => name.starts_with("rollout-") && has_ending(name, &["jsonl"]),
        SourceFormat::Gemini => {
            name.starts_with("session-") && has_ending(name, &["json", "jsonl"])
        }
        _ => opencode::reads(file),
    }
}

/// Whether a format of sessions reads this file together with another one.
pub(crate) fn reads_with_session(format: SourceFormat, file: &str) -> bool {
    format == SourceFormat::Opencode && opencode::reads_with_session(file)
}

pub(crate) fn rows(
    format: SourceFormat,
    file: &SourceFile,
    folder: &Path,
    progress: &Progress,
) -> RowIterator {
    match format {
        SourceFormat::ClaudeCode => claude_code::rows(file, progress),
        SourceFormat::Codex => codex::rows(file, progress),
        SourceFormat::Gemini => gemini::rows(file, progress),
        _ => opencode::rows(file, folder, progress),
    }
}

/// The rows of a session of JSON lines. `read` takes each line.
fn session_rows(
    format: SourceFormat,
    file: &SourceFile,
    progress: &Progress,
    owner: &'static str,
    read: impl Fn(&mut SentenceExtractor, usize, &Value) + 'static,
) -> RowIterator {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let (file, progress) = (file.clone(), progress.clone());
    let all = std::iter::once_with(move || {
        let session = TranscriptSession { owner: Some(owner), ..TranscriptSession::default() };
        let mut extractor = SentenceExtractor::new(session, &progress);
        let mut refused = Vec::new();
        for line in crate::lines::JsonLines::new(reader) {
            match line.value {
                Ok(value) => read(&mut extractor, line.number, &value),
                Err(reason) => refused.push(RowOutcome::refused(&file, line.number, reason)),
            }
        }
        extractor.rows(format, &file).into_iter().chain(refused)
    });
    Box::new(all.flatten())
}

/// The name of the folder of a path, without those above it.
fn folder_name(path: &str) -> Option<String> {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}
