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

/// Runs a write in the session that the client's hooks started under its own id, or in a new one,
/// unless the caller is in a session. Codex sends its id with each call.
pub(super) fn in_client_session<T>(
    meta: &RequestMetaObject,
    writes: bool,
    work: impl FnOnce(&Commonbook, &Caller) -> Result<T> + Send + 'static,
) -> impl FnOnce(&Commonbook, &Caller) -> Result<T> + Send + 'static {
    let client_session = client_session(meta).filter(|_| writes);
    move |book, caller| match client_session {
        Some(id) if caller.session.is_none() => {
            let start = StartSession { client_session: Some(id), ..StartSession::default() };
            let session = book.start_session(caller, &start)?.session.id.to_string();
            work(book, &caller.clone().in_session(Some(&session))?)
        }
        _ => work(book, caller),
    }
}

fn client_session(meta: &RequestMetaObject) -> Option<String> {
    nearest_session_id(meta.get("x-codex-turn-metadata")?.get("session_id")?.as_str()?)
}
