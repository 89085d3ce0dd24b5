//! The caller: who is behind the present request. Given by a door, never by a request's own fields.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::cancellation::Cancellation;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::TokenId;
use crate::base::{input, limits};
use crate::model::agent::{Agent, AgentName};
use crate::model::token::{Token, TokenScope};
use crate::model::workspace::Workspace;

/// The way a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// The Model Context Protocol.
    Mcp,
    /// HTTP under `/v1`.
    Rest,
    /// The command line.
    Cli,
    /// A file of earlier memories.
    Import,
    /// What a coding client calls at certain moments of a session.
    Hook,
    /// A handoff that nobody accepted in time.
    Handoff,
}

/// What proves who calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerProof {
    /// Nothing but its own word, which is a courtesy between the processes of one person.
    #[default]
    Word,
    /// A token of the agent, or of the agent above it.
    Token {
        /// Which one.
        id: TokenId,
        /// What it lets its holder do.
        scopes: Vec<TokenScope>,
        /// Whether it opens one workspace alone.
        bound: bool,
        /// Whether the caller is a child of the token's agent, which only its own word says.
        asserted: bool,
    },
}

impl CallerProof {
    /// Whether this is a token that opens one workspace alone.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(self, Self::Token { bound: true, .. })
    }

    /// Whether a token proves an agent above the caller, and that it is the one below is its own word.
    #[must_use]
    pub fn is_asserted(&self) -> bool {
        matches!(self, Self::Token { asserted: true, .. })
    }
}

/// Who is behind the present request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The agent that speaks.
    pub agent: Agent,
    /// The device it runs on, where it says so.
    pub device: Option<String>,
    /// The client program and its version, where the door knows it.
    pub client: Option<String>,
    /// The session it works in.
    pub session: Option<String>,
    /// The workspace it speaks in.
    pub workspace: Workspace,
    /// The user it works for: it then sees what is about that user or about nobody.
    pub user: Option<String>,
    /// The folder of the project that it works in, where it is on this machine.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// The way the request came in.
    pub door: EntryPoint,
    /// What proves who calls.
    #[serde(default)]
    pub proof: CallerProof,
    /// Whether the answer is still wanted.
    #[serde(skip)]
    pub cancellation: Cancellation,
}

impl Caller {
    /// A caller with this name, or without one, in this workspace.
    #[must_use]
    pub fn new(name: Option<AgentName>, workspace: Workspace, door: EntryPoint) -> Self {
        let name = name.unwrap_or(AgentName { agent: Agent::anonymous(), device: None });
        Self {
            agent: name.agent,
            device: name.device,
            client: None,
            session: None,
            workspace,
            user: None,
            project: None,
            door,
            proof: CallerProof::Word,
            cancellation: Cancellation::default(),
        }
    }

    /// The caller that a token proves: its agent, or the child of it that the caller says it is,
    /// in the token's workspace where it is bound to one, else in the one that it has `named`, else
    /// in that `near` it.
    ///
    /// # Errors
    /// `forbidden` for another agent's name, and for a workspace that the token does not open.
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
            let message = format!("the token is that of {}, and not of {}", own.agent, name.agent);
            return Err(Error::new(ErrorKind::Forbidden, message)
                .hint(format!("Leave the name out, or name a child: {}/reviewer.", own.agent)));
        }
        let workspace = match (&token.workspace, named) {
            (None, named) => named.or(near).unwrap_or_else(Workspace::fallback),
            (Some(bound), Some(named)) if named != *bound => {
                let message = format!("the token opens the workspace {bound}, and not {named}");
                return Err(Error::new(ErrorKind::Forbidden, message)
                    .hint("Leave the workspace out, or use a token that opens it."));
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
    /// `invalid` for what cannot be a user's id, `forbidden` when the caller works for another.
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

    /// The same caller, working in the project in this folder.
    #[must_use]
    pub fn in_project(self, project: Option<PathBuf>) -> Self {
        Self { project, ..self }
    }

    /// The same caller, or an agent that works below it: by its whole name, or by its role alone.
    ///
    /// # Errors
    /// `invalid` for what cannot be a name; `forbidden` for an agent that does not work below it.
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
            let message = format!("{} does not work below {}", name.agent, self.agent);
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
    /// `invalid` for what cannot be a session's id.
    pub fn in_session(mut self, session: Option<&str>) -> Result<Self> {
        self.session = session.map(|id| session_id("session", id)).transpose()?;
        Ok(self)
    }
}

/// What [`session_id`] lets pass, blanks around it and its length aside, as the pattern of a JSON
/// Schema. Of what is not ASCII it tells nothing: there it takes letters and digits of every script.
pub const SESSION_PATTERN: &str = r#"^[^\x00-"$-*,;<>?\[-^`{-\x7f]+$"#;

/// A session's id, which is told to agents: letters and digits of every script, and `-_.:@/+=#`.
///
/// # Errors
/// `invalid` with the field for an empty one and for other characters, `too_large` for a long one.
pub fn session_id(field: &str, text: &str) -> Result<String> {
    let hint = "Use letters, digits and -_.:@/+=#, such as the id that start_session answers.";
    let id = input::line(field, text, limits::SESSION_CHARS).map_err(|error| error.hint(hint))?;
    match id.chars().find(|c| !fits_session(*c)) {
        None => Ok(id),
        Some(odd) => {
            let message = format!("{odd:?} was found, and a session's id was expected");
            Err(Error::invalid(field, message).hint(hint))
        }
    }
}

/// The session's id nearest to a text that was not meant as one, such as the name that a client has for
/// its session: the text itself where it is an id; else what of it can stand in one, with a fingerprint
/// of the whole. Equal texts get equal ids, and others get others. A blank text names no session.
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

/// A user's id: exact, case and all.
///
/// # Errors
/// `invalid` for an empty one, `too_large` for a long one.
pub fn user_id(text: &str) -> Result<String> {
    input::line("user_id", text, limits::USER_CHARS)
}
