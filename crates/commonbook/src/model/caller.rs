//! The caller: the agent behind a request. The interface provides it; a request's own fields never
//! do.

pub mod connection;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::cancellation::Cancellation;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::TokenId;
use crate::base::{input, limits};
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::connection::ConnectionSessions;
use crate::model::token::{Token, TokenScope};
use crate::model::workspace::Workspace;

/// The interface through which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// The Model Context Protocol.
    Mcp,
    /// HTTP below `/v1`.
    Rest,
    /// The command line.
    Cli,
    /// An import file.
    Import,
    /// A hook of a coding client.
    Hook,
    /// The expiry of a handoff.
    Handoff,
    /// The digest of a case that runs by itself.
    Digest,
    /// The pages of the server, where a person has signed in.
    Dashboard,
}

impl EntryPoint {
    /// The value as it is stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Cli => "cli",
            Self::Import => "import",
            Self::Hook => "hook",
            Self::Handoff => "handoff",
            Self::Digest => "digest",
            Self::Dashboard => "dashboard",
        }
    }
}

/// The proof of a caller's identity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerProof {
    /// None: the caller's own word, which is enough between the processes of one person.
    #[default]
    Word,
    /// A token of the agent, or of an agent above it.
    Token {
        /// The token's id.
        id: TokenId,
        /// What the token permits.
        scopes: Vec<TokenScope>,
        /// Whether the token opens one workspace only.
        bound: bool,
        /// Whether only the caller's own word says which child of the token's agent it is.
        asserted: bool,
    },
}

impl CallerProof {
    /// The id of the token.
    #[must_use]
    pub fn token(&self) -> Option<TokenId> {
        match self {
            Self::Word => None,
            Self::Token { id, .. } => Some(*id),
        }
    }

    /// Whether this is a token for one workspace only.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(self, Self::Token { bound: true, .. })
    }

    /// Whether the token proves only an agent above the caller.
    #[must_use]
    pub fn is_asserted(&self) -> bool {
        matches!(self, Self::Token { asserted: true, .. })
    }
}

/// The agent behind a request, and where it works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The agent.
    pub agent: Agent,
    /// The device it runs on, if given.
    pub device: Option<String>,
    /// The client program and its version, if known.
    pub client: Option<String>,
    /// The session it works in.
    pub session: Option<String>,
    /// The workspace it works in.
    pub workspace: Workspace,
    /// The workspaces in which the memories of its project lay before: a search reads them too.
    #[serde(default)]
    pub earlier: Vec<Workspace>,
    /// The user it works for. The caller then sees only memories about that user or about no user.
    pub user: Option<String>,
    /// The folder of its project, if on this machine.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// The interface through which the request came.
    pub door: EntryPoint,
    /// Whether it has no tools of ours: what a text names is opened with a command.
    #[serde(default)]
    pub by_command: bool,
    /// Whether no person is at the command line: it has no terminal, and nothing says who types.
    #[serde(default)]
    pub unattended: bool,
    /// The proof of its identity.
    #[serde(default)]
    pub proof: CallerProof,
    /// Whether the caller still waits for the response.
    #[serde(skip)]
    pub cancellation: Cancellation,
    /// The sessions of its connection; `None` if each of its calls stands alone.
    #[serde(skip)]
    pub connection: Option<ConnectionSessions>,
    /// The start of its session, if its first write stores that.
    #[serde(skip)]
    pub begins_session: Option<SessionStart>,
}

/// A session that is stored with the first write in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStart {
    /// The user that it is for.
    pub user: Option<String>,
    /// Whether calls that stand alone share it: then the agent has one, whichever process begins it.
    pub shared: bool,
}

impl Caller {
    /// A caller with this name, or anonymous, in this workspace.
    #[must_use]
    pub fn new(name: Option<AgentName>, workspace: Workspace, door: EntryPoint) -> Self {
        let name = name.unwrap_or(AgentName { agent: Agent::anonymous(), device: None });
        Self {
            agent: name.agent,
            device: name.device,
            client: None,
            session: None,
            workspace,
            earlier: Vec::new(),
            user: None,
            project: None,
            by_command: door == EntryPoint::Cli,
            unattended: false,
            door,
            proof: CallerProof::Word,
            cancellation: Cancellation::default(),
            connection: None,
            begins_session: None,
        }
    }

    /// The caller that a token proves: the token's agent, or the child that the caller names. The
    /// workspace is the one that the token is bound to, else `named`, else `near`.
    ///
    /// # Errors
    /// `forbidden` for the name of another agent, and for a workspace that the token does not open.
    pub fn from_token(
        token: &Token,
        claimed: Option<AgentName>,
        named: Option<Workspace>,
        near: Option<Workspace>,
        door: EntryPoint,
    ) -> Result<Self> {
        let own = AgentName { agent: token.agent.clone(), device: None };
        let name = claimed.unwrap_or_else(|| own.clone());
        let asserted = name.agent != own.agent;
        if asserted && !name.agent.is_child_of(&own.agent) {
            let message = format!("the token belongs to {}, not to {}", own.agent, name.agent);
            return Err(Error::new(ErrorKind::Forbidden, message)
                .hint(format!("Leave the name out, or name a child: {}/reviewer.", own.agent)));
        }
        let workspace = match (&token.workspace, named) {
            (None, named) => named.or(near).unwrap_or_else(Workspace::fallback),
            (Some(bound), Some(named)) if named != *bound => {
                let message = format!("the token opens workspace {bound}, not {named}");
                return Err(Error::new(ErrorKind::Forbidden, message)
                    .hint("Leave the workspace out, or use a token for it."));
            }
            (Some(bound), _) => bound.clone(),
        };
        let (id, scopes, bound) = (token.id, token.scopes.clone(), token.workspace.is_some());
        let proof = CallerProof::Token { id, scopes, bound, asserted };
        Ok(Self { proof, ..Self::new(Some(name), workspace, door) })
    }

    /// The same caller, working for this user.
    ///
    /// # Errors
    /// `invalid` for a malformed user id, `forbidden` if the caller works for another user.
    pub fn for_user(mut self, user: Option<&str>) -> Result<Self> {
        let Some(user) = user else { return Ok(self) };
        let user = user_id(user)?;
        if self.user.as_ref().is_some_and(|bound| *bound != user) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "user_id: the caller works for another user",
            )
            .with_field("user_id")
            .hint("Leave user_id out, or call for that user."));
        }
        self.user = Some(user);
        Ok(self)
    }

    /// The same caller, in the project in this folder.
    #[must_use]
    pub fn in_project(self, project: Option<PathBuf>) -> Self {
        Self { project, ..self }
    }

    /// The same caller, or an agent below it, given by its full name or by its role alone.
    ///
    /// # Errors
    /// `invalid` for a malformed name; `forbidden` for an agent that is not below the caller.
    pub fn narrow_to(self, to: Option<&str>) -> Result<Self> {
        let Some(to) = to else { return Ok(self) };
        let name = to.parse::<AgentName>()?;
        if name.agent == self.agent || name.agent.as_str() == self.agent.role() {
            return Ok(self);
        }
        let below = format!("{}/{}", self.agent, name.agent);
        let child = if name.agent.is_child_of(&self.agent) {
            name.agent
        } else if !name.agent.as_str().contains('/') && !self.agent.is_anonymous() {
            below.parse::<AgentName>()?.agent
        } else {
            let message = format!("{} is not below {}", name.agent, self.agent);
            return Err(Error::new(ErrorKind::Forbidden, message)
                .with_field("agent")
                .hint(format!("Leave it out, or name an agent below yourself: {below}.")));
        };
        let proof = match self.proof {
            CallerProof::Token { id, scopes, bound, .. } => {
                CallerProof::Token { id, scopes, bound, asserted: true }
            }
            CallerProof::Word => CallerProof::Word,
        };
        Ok(Self { agent: child, device: name.device.or(self.device), proof, ..self })
    }

    /// The same caller, in this session.
    ///
    /// # Errors
    /// `invalid` for a malformed session id.
    pub fn in_session(mut self, session: Option<&str>) -> Result<Self> {
        self.session = session.map(|id| session_id("session", id)).transpose()?;
        Ok(self)
    }
}

/// What [`session_id`] accepts, after trimming and except for its length, as a JSON Schema pattern.
/// Outside ASCII it accepts letters and digits of every script.
pub const SESSION_PATTERN: &str = r#"^[^\x00-"$-*,;<>?\[-^`{-\x7f]+$"#;

/// Checks a session's id, which agents see: letters and digits of every script, and `-_.:@/+=#`.
///
/// # Errors
/// `invalid` with the field for an empty text and for other characters, `too_large` for a long one.
pub fn session_id(field: &str, text: &str) -> Result<String> {
    let hint = "Use letters, digits and -_.:@/+=#, such as the id that `start_session` returns.";
    let id = input::line(field, text, limits::SESSION_CHARS).map_err(|error| error.hint(hint))?;
    match id.chars().find(|c| !fits_session(*c)) {
        None => Ok(id),
        Some(odd) => {
            let message = format!("{odd:?} is not allowed in a session's id");
            Err(Error::invalid(field, message).hint(hint))
        }
    }
}

/// The session id nearest to a text that was not written as one, such as a client's own session
/// name: the text itself if it is valid, else its valid characters with a hash of the whole. Equal
/// texts get equal ids, different texts different ids. Returns `None` for a blank text.
#[must_use]
pub fn nearest_session_id(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if let Ok(id) = session_id("session", text) {
        return Some(id);
    }
    let fingerprint = sha256(text);
    let mark = &fingerprint[..limits::SESSION_MARK_CHARS];
    let fits = |c: char| if fits_session(c) { c } else { '-' };
    let begun = text.chars().map(fits).take(limits::SESSION_CHARS - mark.len() - 1);
    Some(format!("{}-{mark}", begun.collect::<String>()))
}

fn fits_session(c: char) -> bool {
    c.is_alphanumeric() || "-_.:@/+=#".contains(c)
}

/// Checks a user's id. Ids are case-sensitive.
///
/// # Errors
/// `invalid` for an empty text, `too_large` for a long one.
pub fn user_id(text: &str) -> Result<String> {
    input::line("user_id", text, limits::USER_CHARS)
}
