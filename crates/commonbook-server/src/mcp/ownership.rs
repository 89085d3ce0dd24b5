//! The owner of an MCP session over HTTP: for every other caller the session does not exist.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use commonbook::base::id::TokenId;
use commonbook::model::agent::AgentName;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::caller::VerifiedToken;

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

/// The owners of the open sessions.
#[derive(Clone)]
pub(super) struct SessionOwnership {
    sessions: Arc<LocalSessionManager>,
    owners: Arc<Mutex<HashMap<String, SessionOwner>>>,
}

impl SessionOwnership {
    /// No owners yet, for these sessions.
    pub(super) fn of(sessions: Arc<LocalSessionManager>) -> Self {
        Self { sessions, owners: Arc::default() }
    }

    fn owns(&self, owner: &SessionOwner, session: &str) -> bool {
        self.lock_owners().get(session) == Some(owner)
    }

    fn lock_owners(&self) -> std::sync::MutexGuard<'_, HashMap<String, SessionOwner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the owner of a new session, and drops sessions that have ended.
    async fn note_opened(&self, session: String, owner: SessionOwner) {
        let full = {
            let mut owners = self.lock_owners();
            owners.insert(session, owner);
            owners.len() >= SWEEP_SESSIONS_MIN
        };
        if full {
            let open = self.sessions.sessions.read().await;
            self.lock_owners().retain(|session, _| open.contains_key(session.as_str()));
        }
    }
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
            ownership.lock_owners().remove(session);
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
