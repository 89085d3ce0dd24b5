//! Import lines: JSON from a conversation or from an export.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::error::{Error, ErrorDetail, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::{IdSource, MemoryId};
use crate::base::{input, limits};
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, EntryPoint, nearest_session_id};
use crate::model::memory::Sharing;
use crate::model::memory::{Memory, MemoryType, QuarantineNotice, SaveMemory, SaveOutcome};
use crate::model::workspace::Workspace;

/// One parsed line.
#[derive(Debug, Clone)]
pub enum ImportLine {
    /// One turn of a conversation.
    Message(Box<ConversationTurn>),
    /// A memory as an export writes it; it keeps its id, owner and times.
    Exported(Box<Memory>),
}

/// The result of one imported line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLineResult {
    /// Whether it was new.
    pub outcome: SaveOutcome,
    /// The notice of a memory that was quarantined.
    pub quarantined: Option<QuarantineNotice>,
}

/// Imports memories of `commonbook export`, or turns of conversations, each once and under the name of its
/// own author. A token imports for its agent and the agents below it; for others it needs the scope admin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportMemories {
    /// The lines, at most 100: an exported memory each, or `{"text","conv","speaker","session","ts",…}`.
    pub lines: Vec<Map<String, Value>>,
    /// Saves each line in the workspace that it names, not in yours.
    #[serde(default)]
    pub by_line: bool,
}

impl ImportMemories {
    /// The parsed lines.
    ///
    /// # Errors
    /// `too_large` for too many lines.
    pub fn parse_lines(&self) -> Result<Vec<Result<ImportLine>>> {
        if self.lines.len() > limits::BATCH {
            return Err(Error::too_large("lines", self.lines.len(), limits::BATCH, "lines"));
        }
        let lines = self.lines.iter().cloned().map(Value::Object);
        Ok(lines.map(ImportLine::from_json).collect())
    }
}

/// The result of each imported line, in order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportMemoriesResult {
    /// The results.
    pub results: Vec<ImportRecord>,
}

/// The result of one line: what happened, or why the line was not imported.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportRecord {
    /// Whether it was new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SaveOutcome>,
    /// The notice of a memory that was quarantined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<QuarantineNotice>,
    /// Why the line was not imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}

impl From<Result<ImportLineResult>> for ImportRecord {
    fn from(result: Result<ImportLineResult>) -> Self {
        match result {
            Ok(ImportLineResult { outcome, quarantined }) => {
                Self { outcome: Some(outcome), quarantined, error: None }
            }
            Err(error) => {
                Self { outcome: None, quarantined: None, error: Some(error.body(None).error) }
            }
        }
    }
}

impl From<ImportRecord> for Result<ImportLineResult> {
    fn from(line: ImportRecord) -> Self {
        match (line.outcome, line.error) {
            (_, Some(error)) => Err(error.into()),
            (Some(outcome), None) => {
                Ok(ImportLineResult { outcome, quarantined: line.quarantined })
            }
            (None, None) => Err(Error::new(ErrorKind::Internal, "the line has no result")),
        }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct ConversationTurn {
    /// The text.
    pub text: String,
    /// The conversation; names the workspace if the import names none.
    #[serde(default)]
    pub conv: Option<String>,
    /// The speaker; names the agent. If empty, the caller is the agent.
    #[serde(default)]
    pub speaker: Option<String>,
    /// The session.
    #[serde(default)]
    pub session: Option<String>,
    /// When it was said: a time with or without its zone (then UTC), or a date.
    #[serde(default)]
    pub ts: Option<String>,
    /// Every other field of the line; kept as metadata.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// The hash of the line, by which a repeated import recognises it.
    #[serde(skip)]
    pub sha256: String,
}

/// Parses one line.
///
/// # Errors
/// `invalid` for a line that is not UTF-8, not JSON, or has no text.
pub fn parse(line: &[u8]) -> Result<ImportLine> {
    ImportLine::from_json(input::json(line)?)
}

impl ImportLine {
    /// The line of a JSON object.
    ///
    /// # Errors
    /// `invalid` if it has no text.
    pub fn from_json(value: Value) -> Result<Self> {
        let exported = value["id"].as_str().is_some_and(|id| MemoryId::parse(id).is_some());
        if exported && value.get("owner").is_some() {
            return input::from_value(value).map(Box::new).map(Self::Exported);
        }
        let canonical = value.to_string();
        let mut turn: ConversationTurn = input::from_value(value)?;
        turn.sha256 = sha256(&canonical);
        Ok(Self::Message(Box::new(turn)))
    }

    /// The workspace of the line: `given`, else the one that the line names, else the caller's.
    ///
    /// # Errors
    /// `invalid` if the conversation's name has no letter or digit.
    pub fn workspace(&self, requested: Option<&Workspace>, caller: &Caller) -> Result<Workspace> {
        match (requested, self) {
            (Some(requested), _) => Ok(requested.clone()),
            (None, Self::Exported(memory)) => Ok(memory.workspace.clone()),
            (None, Self::Message(turn)) => match &turn.conv {
                None => Ok(caller.workspace.clone()),
                Some(conv) => Workspace::nearest_workspace_name(conv)
                    .ok_or_else(|| Error::invalid("conv", format!("{conv:?} names no workspace"))),
            },
        }
    }

    /// The memory that the line becomes in this workspace.
    ///
    /// # Errors
    /// `invalid` or `too_large`, as for any other memory.
    pub fn memory(
        self,
        workspace: &Workspace,
        caller: &Caller,
        default_sharing: Sharing,
        ids: &dyn IdSource,
        now: Timestamp,
    ) -> Result<Memory> {
        match self {
            Self::Exported(mut memory) => {
                memory.workspace = workspace.clone();
                memory.memory_type = memory.memory_type.into_import_type();
                memory.receive(None)?;
                for session in [&mut memory.session, &mut memory.source.session] {
                    *session = session.as_deref().and_then(nearest_session_id);
                }
                Ok(*memory)
            }
            Self::Message(turn) => {
                turn.memory(workspace, caller, default_sharing, MemoryId::new(ids, now), now)
            }
        }
    }
}

impl ConversationTurn {
    fn memory(
        self,
        workspace: &Workspace,
        caller: &Caller,
        default_sharing: Sharing,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Memory> {
        let speaker = self.speaker.as_deref().filter(|speaker| !speaker.trim().is_empty());
        let name = match speaker {
            None => AgentName { agent: caller.agent.clone(), device: caller.device.clone() },
            Some(speaker) => AgentName::nearest_agent_name(speaker, "import")
                .map_err(|e| e.with_field("speaker"))?,
        };
        let speaker = Caller::new(Some(name), workspace.clone(), EntryPoint::Import)
            .for_user(caller.user.as_deref())?
            .in_session(self.session.as_deref().and_then(nearest_session_id).as_deref())?;
        let request = SaveMemory {
            text: self.text,
            memory_type: Some(MemoryType::episodic()),
            metadata: self.rest,
            valid_from: self.ts.as_deref().map(parse_line_time).transpose()?,
            ..SaveMemory::default()
        };
        let mut memory = request.memory(&speaker, default_sharing, id, now)?;
        memory.source.sha256 = self.sha256;
        Ok(memory)
    }
}

/// Parses a time with its zone, a time without one (taken as UTC), or a date (its beginning in
/// UTC).
fn parse_line_time(text: &str) -> Result<Timestamp> {
    let zoned = text.parse::<Timestamp>();
    let local = || text.parse::<DateTime>().and_then(|time| TimeZone::UTC.to_timestamp(time));
    zoned.or_else(|_| local()).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("ts: {text:?} is not a time: {error}"))
            .with_field("ts")
            .hint("Write it like 2023-05-08T13:56:00Z, or as a date.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::CountingIds;

    fn memory_of(line: &str) -> Result<Memory> {
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Import);
        let line = parse(line.as_bytes())?;
        let workspace = line.workspace(None, &caller)?;
        line.memory(
            &workspace,
            &caller,
            Sharing::Shared,
            &CountingIds::default(),
            Timestamp::UNIX_EPOCH,
        )
    }

    #[test]
    fn a_conversation_line_becomes_the_speakers_memory() {
        let memory = memory_of(
            r#"{"conv":"conv-1","gran":"turn","id":"D1:3","session":"D1","text":"Ann: tea",
                "ts":"2023-05-08T13:56:00","speaker":"Ann","extra":{"a":1}}"#,
        )
        .expect("a spoken line");
        assert_eq!(memory.workspace.as_str(), "conv-1");
        assert_eq!(memory.owner.as_str(), "ann");
        assert_eq!(memory.session.as_deref(), Some("D1"));
        assert_eq!(
            memory.valid_from.map(|t| t.to_string()).as_deref(),
            Some("2023-05-08T13:56:00Z")
        );
        assert_eq!(memory.metadata["id"], "D1:3");
        assert_eq!(memory.metadata["extra"]["a"], 1);
        assert_eq!(memory.source.how, EntryPoint::Import);
    }

    #[test]
    fn an_exported_line_is_imported_unchanged() {
        let memory = memory_of(r#"{"text":"tea","speaker":"ann"}"#).expect("a spoken line");
        let line = serde_json::to_string(&memory).expect("a memory is JSON");
        assert_eq!(memory_of(&line).ok(), Some(memory));
    }

    #[test]
    fn bad_lines_are_refused_with_their_reason() {
        let table = [
            ("{\"text\": \"tea\"", "not JSON"),
            ("{\"speaker\": \"ann\"}", "missing field `text`"),
            ("{\"text\": \"\"}", "text: must not be empty"),
            ("{\"text\": \"tea\", \"ts\": \"yesterday\"}", "not a time"),
            ("{\"text\": \"tea\", \"speaker\": \"!!\"}", "empty"),
            ("{\"text\": \"tea\", \"conv\": \"!!\"}", "names no workspace"),
            ("[]", "expected"),
        ];
        for (line, reason) in table {
            let error = memory_of(line).expect_err(line);
            assert!(error.message.contains(reason), "{line}: {}", error.message);
            assert_eq!(error.kind, ErrorKind::Invalid);
        }
    }
}
