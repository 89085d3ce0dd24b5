//! The caller: who is behind the present request. Given by a door, never by a request's own fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, AgentName};
use crate::error::{Error, ErrorKind, Result};
use crate::workspace::Workspace;
use crate::{input, limits};

/// The way a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The Model Context Protocol.
    Mcp,
    /// HTTP under `/v1`.
    Rest,
    /// The command line.
    Cli,
    /// A file of earlier memories.
    Import,
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
    /// The way the request came in.
    pub door: Door,
}

impl Caller {
    /// A caller with this name, or without one, in this workspace.
    #[must_use]
    pub fn new(name: Option<AgentName>, workspace: Workspace, door: Door) -> Self {
        let name = name.unwrap_or(AgentName { agent: Agent::anonymous(), device: None });
        Self {
            agent: name.agent,
            device: name.device,
            client: None,
            session: None,
            workspace,
            user: None,
            door,
        }
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
            .at("user_id")
            .hint("Leave user_id out, or call for that user."));
        }
        self.user = Some(user);
        Ok(self)
    }

    /// The same caller, in this session.
    ///
    /// # Errors
    /// `invalid` for what cannot be a session's id.
    pub fn in_session(mut self, session: Option<&str>) -> Result<Self> {
        self.session = session
            .map(|session| input::line("session", session, limits::SESSION_CHARS))
            .transpose()?;
        Ok(self)
    }
}

/// A user's id: exact, case and all.
///
/// # Errors
/// `invalid` for an empty one, `too_large` for a long one.
pub fn user_id(text: &str) -> Result<String> {
    input::line("user_id", text, limits::USER_CHARS)
}
