//! The session of a call: the one that its connection started or resumed, else the client's own.

use std::sync::{Mutex, PoisonError};

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::{Caller, nearest_session_id};
use commonbook::model::session::StartSession;
use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// The tools whose response sets the session of the connection.
const SESSION_BEGIN_TOOLS: [&str; 2] = ["start_session", "resume_session"];

/// The tool that ends the session of the connection.
const SESSION_END_TOOL: &str = "end_session";

/// The session of one connection.
#[derive(Default)]
pub(super) struct WorkingSession(Mutex<Option<String>>);

impl WorkingSession {
    /// Puts the caller into this session, unless it names one itself.
    pub(super) fn of(&self, caller: Caller) -> Caller {
        let working = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = caller.session.clone().or_else(|| working.clone());
        Caller { session, ..caller }
    }

    /// Follows the response of a tool that starts or ends a session.
    pub(super) fn note_tool_response(&self, tool: &str, response: &Value) {
        let mut working = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if SESSION_BEGIN_TOOLS.contains(&tool) {
            *working = response["session"]["id"].as_str().map(str::to_owned).or(working.take());
        } else if tool == SESSION_END_TOOL && working.as_deref() == response["id"].as_str() {
            *working = None;
        }
    }
}

/// The client's own id of its session, which Codex sends with each call.
pub(super) fn client_session(meta: &RequestMetaObject) -> Option<String> {
    nearest_session_id(meta.get("x-codex-turn-metadata")?.get("session_id")?.as_str()?)
}

/// The caller in the session that the client's hooks started under this id, or in a new one.
///
/// # Errors
/// As `start_session`.
pub(super) fn in_client_session(
    book: &Commonbook,
    caller: &Caller,
    client_session: String,
) -> Result<Caller> {
    let start = StartSession { client_session: Some(client_session), ..StartSession::default() };
    let started = book.start_session(caller, &start)?;
    caller.clone().in_session(Some(&started.session.id.to_string()))
}
