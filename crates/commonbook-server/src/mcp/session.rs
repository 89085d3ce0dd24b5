//! The session of a connection: the one that its client started or resumed over it.

use std::sync::{Mutex, PoisonError};

use commonbook::model::caller::Caller;
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
