//! The owner of an MCP session over HTTP: for every other caller the session does not exist.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use commonbook::base::id::TokenId;
use commonbook::base::limits;
use commonbook::model::agent::AgentName;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::http::caller::VerifiedToken;

/// The header that names a session.
const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// An id that no session has: session ids are random.
const UNKNOWN_SESSION: HeaderValue = HeaderValue::from_static("unknown");

/// Sessions in the table before it drops those that have ended.
const SWEEP_SESSIONS_MIN: usize = 256;

/// The caller that opened a session: its token, and the name that it gave. The name can be that of a
/// child of the token's agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SessionOwner {
    token: Option<TokenId>,
    name: Option<String>,
}

impl SessionOwner {
    fn of(request: &Request) -> Self {
        let admitted = request.extensions().get::<VerifiedToken>();
        let token = admitted.and_then(|admitted| admitted.0.as_ref()).map(|token| token.id);
        let header = request.headers().get("x-commonbook-agent");
        let header = header.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
        let query = request.uri().query().unwrap_or_default();
        let named = || {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find(|(name, _)| name == "agent_id").map(|(_, value)| value.into_owned())
        };
        let name = header.or_else(named);
        // Two spellings of one name are one agent; a later check refuses an invalid name.
        let name = name.map(|name| match name.parse::<AgentName>() {
            Ok(parsed) => parsed.agent.to_string(),
            Err(_) => name,
        });
        Self { token, name }
    }
}

/// An open session.
struct OpenSession {
    owner: SessionOwner,
    /// When its owner sent its last request.
    used: Instant,
}

/// The open sessions with their owners. Above a number of each token, and of all, the one that was not used
/// for the longest time ends: its client begins another, as the protocol has it.
#[derive(Clone)]
pub(super) struct SessionOwnership {
    sessions: Arc<LocalSessionManager>,
    open: Arc<Mutex<HashMap<String, OpenSession>>>,
}

impl SessionOwnership {
    /// No owners yet, for these sessions.
    pub(super) fn of(sessions: Arc<LocalSessionManager>) -> Self {
        Self { sessions, open: Arc::default() }
    }

    /// Whether the session is this owner's, who uses it now.
    fn owns(&self, owner: &SessionOwner, session: &str) -> bool {
        let mut open = self.lock_open();
        let Some(session) = open.get_mut(session).filter(|session| session.owner == *owner) else {
            return false;
        };
        session.used = Instant::now();
        true
    }

    fn lock_open(&self) -> MutexGuard<'_, HashMap<String, OpenSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the owner of a new session, and ends those that are too many.
    async fn note_opened(&self, session: String, owner: SessionOwner) {
        let (spare, is_full) = {
            let mut open = self.lock_open();
            open.insert(session, OpenSession { owner, used: Instant::now() });
            (remove_spare(&mut open), open.len() >= SWEEP_SESSIONS_MIN)
        };
        for session in spare {
            if let Err(error) = self.sessions.close_session(&session.as_str().into()).await {
                tracing::debug!(%error, "a session that is too many had ended");
            }
        }
        if is_full {
            let known = self.sessions.sessions.read().await;
            self.lock_open().retain(|session, _| known.contains_key(session.as_str()));
        }
    }
}

/// Removes the sessions that are too many of one token, or in all, and returns them.
fn remove_spare(open: &mut HashMap<String, OpenSession>) -> Vec<String> {
    let mut by_use: Vec<(Instant, Option<TokenId>, String)> =
        open.iter().map(|(id, session)| (session.used, session.owner.token, id.clone())).collect();
    by_use.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let (mut kept, mut kept_of_tokens) = (0, HashMap::<TokenId, usize>::new());
    let mut spare = Vec::new();
    for (_, token, session) in by_use {
        let mut unlimited = 0;
        let kept_of_token =
            token.map_or(&mut unlimited, |token| kept_of_tokens.entry(token).or_default());
        if kept == limits::MCP_SESSIONS || *kept_of_token == limits::MCP_TOKEN_SESSIONS {
            open.remove(&session);
            spare.push(session);
        } else {
            kept += 1;
            *kept_of_token += 1;
        }
    }
    spare
}

/// Lets a request into the session that it names if the caller owns the session. For any other session
/// the response is the one for an unknown session.
pub(super) async fn check_session_owner(
    State(ownership): State<SessionOwnership>,
    mut request: Request,
    next: Next,
) -> Response {
    let owner = SessionOwner::of(&request);
    let session = session_of(request.headers());
    let ends = request.method() == Method::DELETE;
    if let Some(session) = &session {
        if !ownership.owns(&owner, session) {
            request.headers_mut().insert(SESSION_HEADER, UNKNOWN_SESSION);
        } else if ends {
            ownership.lock_open().remove(session);
        }
    }
    let response = next.run(request).await;
    if session.is_none()
        && let Some(session) = session_of(response.headers())
    {
        ownership.note_opened(session, owner).await;
    }
    response
}

/// Whether a request belongs to a session of the protocol.
pub(super) fn names_session(headers: &HeaderMap) -> bool {
    headers.contains_key(&SESSION_HEADER)
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get(&SESSION_HEADER).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use commonbook::base::clock::{Clock, SystemClock};
    use commonbook::base::id::{CountingIds, Id};

    use super::*;

    #[test]
    fn the_sessions_that_were_not_used_for_the_longest_time_are_too_many() {
        let (ids, begun) = (CountingIds::default(), Instant::now());
        let [reader, writer] = [(), ()].map(|()| Id::new(&ids, SystemClock.now()));
        let mut open = HashMap::new();
        let mut add = |token: Option<TokenId>, name: &str, number: usize| {
            let owner = SessionOwner { token, name: None };
            let used = begun + Duration::from_secs(number as u64);
            open.insert(format!("{name}-{number:05}"), OpenSession { owner, used });
        };
        (0..limits::MCP_TOKEN_SESSIONS + 2).for_each(|number| add(Some(reader), "reader", number));
        (0..3).for_each(|number| add(Some(writer), "writer", number));
        let mut spare = remove_spare(&mut open);
        spare.sort();
        assert_eq!(spare, ["reader-00000", "reader-00001"]);
        let mut add = |number: usize| {
            let owner = SessionOwner { token: None, name: None };
            let used = begun + Duration::from_secs(10_000 + number as u64);
            open.insert(format!("all-{number:05}"), OpenSession { owner, used });
        };
        (0..limits::MCP_SESSIONS).for_each(&mut add);
        assert_eq!(remove_spare(&mut open).len(), limits::MCP_TOKEN_SESSIONS + 3);
        assert_eq!(open.len(), limits::MCP_SESSIONS);
        assert!(open.keys().all(|session| session.starts_with("all-")));
    }
}
