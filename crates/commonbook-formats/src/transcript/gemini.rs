//! Sessions of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json`, or `.jsonl`.
//!
//! As gemini-cli's `chatRecordingService.ts` writes them: an object with `sessionId`, `projectHash` and
//! `messages` of `id`, `timestamp`, `type` (user or gemini) and `content`; newer versions write a line for the
//! session, one for each message, `{"$set":…}` for changes and `{"$rewindTo":ID}` for what was taken back. A
//! message is written again when its tool calls change.

use serde_json::Value;

use super::{MessageRole, SentenceExtractor, TranscriptMessage, TranscriptSession};
use crate::files::{SourceFile, has_ending};
use crate::json_members::DocumentMembers;
use crate::json_value::{message_text, text, time};
use crate::lines::JsonLines;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

pub(crate) fn recognises(value: &Value) -> bool {
    value.get("sessionId").is_some() && value.get("projectHash").is_some()
}

pub(super) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let (file, progress) = (file.clone(), progress.clone());
    let all = std::iter::once_with(move || {
        let mut messages = GeminiMessages::default();
        if has_ending(&file.name, &["jsonl"]) {
            for line in JsonLines::new(reader) {
                match line.value {
                    Ok(value) => messages.read_line(line.number, &value),
                    Err(reason) => {
                        messages.refused.push(RowOutcome::refused(&file, line.number, reason));
                    }
                }
            }
        } else {
            for member in DocumentMembers::new(reader) {
                match (member.key.as_deref(), member.value) {
                    (Some("sessionId"), Ok(id)) => {
                        messages.session = id.as_str().map(str::to_owned);
                    }
                    (Some("messages"), Ok(value)) => messages.push(member.line, &value),
                    (_, Ok(_)) => {}
                    (_, Err(reason)) => {
                        messages.refused.push(RowOutcome::refused(&file, member.line, reason));
                    }
                }
            }
        }
        messages.rows(&file, &progress)
    });
    Box::new(all.flatten())
}

/// The messages of a session as they stand at its end.
#[derive(Default)]
struct GeminiMessages {
    session: Option<String>,
    messages: Vec<TranscriptMessage>,
    refused: Vec<RowOutcome>,
}

impl GeminiMessages {
    fn read_line(&mut self, line: usize, value: &Value) {
        if let Some(id) = value["$rewindTo"].as_str() {
            let from = self.messages.iter().position(|message| message.id.as_deref() == Some(id));
            self.messages.truncate(from.unwrap_or(0));
            return;
        }
        if let Some(id) = text(value, "sessionId") {
            self.session.get_or_insert_with(|| id.to_owned());
        }
        self.push(line, value);
    }

    fn push(&mut self, line: usize, value: &Value) {
        let role = match value["type"].as_str() {
            Some("user") => MessageRole::User,
            Some("gemini") => MessageRole::Agent,
            _ => return,
        };
        let id = text(value, "id").map(str::to_owned);
        if id.is_some() {
            self.messages.retain(|message| message.id != id);
        }
        let message = message_text(&value["content"], &["text"]);
        self.messages.push(TranscriptMessage {
            id,
            role,
            text: message,
            at: time(value.get("timestamp")),
            line,
        });
    }

    fn rows(
        self,
        file: &SourceFile,
        progress: &Progress,
    ) -> impl Iterator<Item = RowOutcome> + use<> {
        let session = TranscriptSession {
            id: self.session,
            owner: Some("gemini-cli"),
            ..TranscriptSession::default()
        };
        let mut extractor = SentenceExtractor::new(session, progress);
        for message in &self.messages {
            extractor.read(message);
        }
        extractor.rows(SourceFormat::Gemini, file).into_iter().chain(self.refused)
    }
}
