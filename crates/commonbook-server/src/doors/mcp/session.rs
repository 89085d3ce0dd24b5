//! The session of a call: the one that it names, else that of its connection, else the client's own.

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::connection::ConnectionSessions;
use commonbook::model::caller::{Caller, nearest_session_id};
use commonbook::model::session::{SessionUse, StartSession};
use commonbook::verbs::names;
use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// The tools whose response sets the session of the connection.
const SESSION_BEGIN_TOOLS: [&str; 2] = [names::START_SESSION, names::RESUME_SESSION];

/// Puts a caller on its connection, into the session of that connection unless it names one itself.
pub(super) fn on_connection(caller: Caller, sessions: &ConnectionSessions) -> Caller {
    let session = caller.session.clone().or_else(|| sessions.current(&caller));
    Caller { session, connection: Some(sessions.clone()), ..caller }
}

/// Follows the response of a tool that starts or ends a session.
pub(super) fn note_tool_response(caller: &Caller, tool: &str, response: &Value) {
    let Some(connection) = &caller.connection else { return };
    let mut sessions = connection.lock();
    if SESSION_BEGIN_TOOLS.contains(&tool) {
        if let Some(id) = response["session"]["id"].as_str() {
            sessions.of(caller).chosen = Some(id.to_owned());
        }
    } else if tool == names::END_SESSION
        && let Some(id) = response["id"].as_str()
    {
        sessions.note_end(caller, id);
    }
}

/// Runs a call in the session that the client's hooks started under its own id, or in a new one,
/// unless the caller is in a session. Codex sends its id with each call.
pub(super) fn in_client_session<T>(
    meta: &RequestMetaObject,
    usage: SessionUse,
    work: impl FnOnce(&Commonbook, &Caller) -> Result<T> + Send + 'static,
) -> impl FnOnce(&Commonbook, &Caller) -> Result<T> + Send + 'static {
    let client_session = client_session(meta).filter(|_| usage == SessionUse::Begins);
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
