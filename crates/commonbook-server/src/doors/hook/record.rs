//! What a hook writes: the learnings of an agent, its checkpoint, or the end of its session.

use std::fs::File;
use std::path::{Path, PathBuf};

use commonbook::base::error::{ErrorKind, Result};
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, CallerProof, EntryPoint, nearest_session_id};
use commonbook::model::checkpoint::{Checkpoint, CheckpointKind, CreateCheckpoint};
use commonbook::model::learning::{LearnRequest, LearnResult};
use commonbook::model::session::{EndSession, EndSessionResult, StartSession, StartSessionResult};
use commonbook::verbs::names;
use serde::{Deserialize, Serialize};

use super::verbs::VerbClient;
use super::{HookInput, transcript};
use crate::clients::hook_event::{HookClient, HookEvent};
use crate::clients::local::new_idempotency_key;
use crate::clients::sandbox;

/// What one hook writes. However often it is tried, it is written once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HookRecord {
    /// The key of its writes.
    pub(super) key: String,
    /// The server at a URL that the memories are on, instead of the home.
    pub(super) url: Option<String>,
    /// The client, in the workspace of its folder.
    caller: Caller,
    /// Its folder, if the home could not tell its workspace.
    unplaced: Option<PathBuf>,
    /// The agent: the client, or its sub-agent.
    agent: Agent,
    client: HookClient,
    pub(super) moment: HookEvent,
    /// The client's id of its session.
    session: Option<String>,
    transcript: Option<String>,
    prompt: Option<String>,
    /// The last message of the agent.
    message: Option<String>,
    is_subagent: bool,
    /// Whether the message is read as the report of a delegated task.
    #[serde(default)]
    pub(super) is_report: bool,
}

impl HookRecord {
    /// The record of this event; `None` if a hook writes nothing at it.
    pub(super) fn of(input: &HookInput, caller: &Caller, url: Option<String>) -> Option<Self> {
        if !input.moment.is_recorded() {
            return None;
        }
        Some(Self {
            key: new_idempotency_key(),
            url,
            caller: caller.clone(),
            unplaced: None,
            agent: input.agent(&caller.agent),
            client: input.client,
            moment: input.moment,
            session: input.session.clone(),
            transcript: input.transcript.clone(),
            prompt: input.prompt.clone(),
            message: input.last_message.clone(),
            is_subagent: input.subagent.is_some(),
            is_report: input.subagent.is_some() && input.moment == HookEvent::SubagentStop,
        })
    }

    /// The record of a caller whose workspace the home cannot tell now.
    pub(super) fn unplaced(self, folder: Option<PathBuf>) -> Self {
        Self { unplaced: folder, ..self }
    }

    /// Reads from the transcript what the client did not send: a later message may end it before this
    /// record is written.
    ///
    /// # Errors
    /// `unavailable` if the transcript cannot be read.
    pub(super) fn complete(&mut self) -> Result<()> {
        if !matches!(self.moment, HookEvent::SubagentStop | HookEvent::TurnEnd) {
            return Ok(());
        }
        let Some(path) = self.transcript.as_deref().map(Path::new) else { return Ok(()) };
        if self.message.is_none() && self.client == HookClient::Copilot {
            self.message = transcript::await_last_message(path)?;
        }
        if self.prompt.is_none() && self.message.is_some() {
            let found = transcript::last_prompt(path, self.is_subagent);
            let warn = |error: &_| tracing::warn!(%error, "the prompt was not found");
            self.prompt = found.inspect_err(warn).ok().flatten();
        }
        Ok(())
    }

    /// Whether this process can do all of it: the sandbox of a server may not hold the files of the project or
    /// of the client.
    pub(super) fn is_in_reach(&self) -> bool {
        let is_readable = |path: &String| File::open(path).is_ok() || !Path::new(path).exists();
        sandbox::covers_project(&self.caller, false)
            && (self.message.is_some() || self.transcript.as_ref().is_none_or(is_readable))
    }

    /// Writes it. A second time it changes nothing. Returns the number of learnings in the last message of an
    /// agent, saved now or before; `None` if it wrote something else.
    ///
    /// # Errors
    /// Those of the verbs.
    pub(super) fn write(&self, verbs: &mut VerbClient<'_>) -> Result<Option<usize>> {
        // The record is a file: what it says of its caller is no more than a hook may say.
        let mut caller = Caller {
            agent: self.caller.agent.as_str().parse()?,
            door: EntryPoint::Hook,
            proof: CallerProof::default(),
            ..self.caller.clone()
        };
        if let Some(folder) = &self.unplaced {
            caller.workspace = verbs.workspace_around(folder)?;
        }
        match self.moment {
            HookEvent::SubagentStop | HookEvent::TurnEnd => self.learn(verbs, &caller),
            HookEvent::Compaction => self.checkpoint(verbs, &caller).map(|()| None),
            HookEvent::SessionEnd => self.end_session(verbs, &caller).map(|()| None),
            _ => Ok(None),
        }
    }

    /// Saves the learnings in the last message of an agent; returns their number, `None` without a message.
    fn learn(&self, verbs: &mut VerbClient<'_>, caller: &Caller) -> Result<Option<usize>> {
        let Some(message) = self.message.clone().filter(|message| !message.trim().is_empty())
        else {
            return Ok(None);
        };
        let prompt = self.prompt.clone();
        let report = self.is_report;
        let learn = LearnRequest { message, prompt, report, ..LearnRequest::default() };
        let session = self.session(verbs, caller)?;
        let agent: Agent = self.agent.as_str().parse()?;
        let caller = caller.clone().narrow_to(Some(agent.as_str()))?;
        let caller = caller.in_session(session.as_deref())?;
        let learned = verbs.call_once::<LearnResult>(names::LEARN, &caller, &learn, &self.key)?;
        Ok(Some(learned.learnings.len() + learned.repeated as usize))
    }

    /// Creates a checkpoint before the client compacts the conversation.
    fn checkpoint(&self, verbs: &mut VerbClient<'_>, caller: &Caller) -> Result<()> {
        let Some(session) = self.session(verbs, caller)? else { return Ok(()) };
        let checkpoint = CreateCheckpoint {
            session: Some(session),
            kind: CheckpointKind::Automatic,
            title: Some("Before the conversation was compacted".to_owned()),
            ..CreateCheckpoint::default()
        };
        verbs
            .call_once::<Checkpoint>(names::CREATE_CHECKPOINT, caller, &checkpoint, &self.key)
            .map(drop)
    }

    /// Ends the session.
    fn end_session(&self, verbs: &mut VerbClient<'_>, caller: &Caller) -> Result<()> {
        let Some(session) = client_session(self.session.as_deref()) else { return Ok(()) };
        let end = EndSession { session: Some(session), ..EndSession::default() };
        match verbs.call_once::<EndSessionResult>(names::END_SESSION, caller, &end, &self.key) {
            // The session was never started here, or has already ended.
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict) => Ok(()),
            ended => ended.map(drop),
        }
    }

    fn session(&self, verbs: &mut VerbClient<'_>, caller: &Caller) -> Result<Option<String>> {
        session_of(verbs, caller, self.session.as_deref())
    }
}

/// The client's id of its session, with invalid characters replaced.
pub(super) fn client_session(session: Option<&str>) -> Option<String> {
    session.and_then(nearest_session_id)
}

/// The session for the client's id of it: the existing one, or a new one.
///
/// # Errors
/// Those of the verb.
pub(super) fn session_of(
    verbs: &mut VerbClient<'_>,
    caller: &Caller,
    session: Option<&str>,
) -> Result<Option<String>> {
    let Some(client_session) = client_session(session) else { return Ok(None) };
    let start = StartSession { client_session: Some(client_session), ..StartSession::default() };
    let started = verbs.call::<StartSessionResult>(names::START_SESSION, caller, &start)?;
    Ok(Some(started.session.id.to_string()))
}
