//! The session that a connection works in: the one that it has started or resumed over it.

use std::sync::{Mutex, PoisonError};

use commonbook::model::caller::Caller;
use serde_json::Value;

/// The tools after which a connection works in the session that they answer.
const SESSION_BEGIN_TOOLS: [&str; 2] = ["start_session", "resume_session"];

/// The tool after which it works in none.
const SESSION_END_TOOL: &str = "end_session";

/// The session that one connection works in.
#[derive(Default)]
pub(super) struct WorkingSession(Mutex<Option<String>>);

impl WorkingSession {
    /// The caller in this session, unless it names one itself.
    pub(super) fn of(&self, caller: Caller) -> Caller {
        let working = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = caller.session.clone().or_else(|| working.clone());
        Caller { session, ..caller }
    }

    /// Hears what a tool has answered.
    pub(super) fn note_tool_answer(&self, tool: &str, answer: &Value) {
        let mut working = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if SESSION_BEGIN_TOOLS.contains(&tool) {
            *working = answer["session"]["id"].as_str().map(str::to_owned).or(working.take());
        } else if tool == SESSION_END_TOOL && working.as_deref() == answer["id"].as_str() {
            *working = None;
        }
    }
}
