//! The permission rule: who sees what, and who changes what. It stands here and nowhere else.
//!
//! - Read: one's own, or shared; another agent's private memory does not exist.
//! - Users: who works for a user sees what is about that user or about nobody. Who works for
//!   nobody sees what is about nobody, and of what is about users only their own memories.
//! - Write: one's own, or a child's; what is `legacy`, anybody's. Only what one sees.
//!
//! A store applies the first two inside its queries, never after a limit; the conformance suite
//! proves its query equal to [`Sight::sees`].

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::caller::{Caller, Door};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Memory, Sharing, Trust};
use crate::workspace::Workspace;

/// What a caller may read: all that a query needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// The agent that reads.
    pub agent: Agent,
    /// The user it works for.
    pub user: Option<String>,
    /// The workspaces it reads.
    pub workspaces: Vec<Workspace>,
    /// Whether it looks at what is quarantined, to decide what becomes of it.
    pub reviews: bool,
}

impl Sight {
    /// The sight of this caller: its workspace and `global`.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        Self {
            agent: caller.agent.clone(),
            user: caller.user.clone(),
            workspaces: caller.workspace.with_global(),
            reviews: false,
        }
    }

    /// The sight of this caller when it reviews what is quarantined in its own workspace.
    ///
    /// # Errors
    /// As [`may_review`].
    pub fn reviewing(caller: &Caller) -> Result<Self> {
        may_review(caller)?;
        Ok(Self { reviews: true, ..Self::at_home(caller) })
    }

    /// The sight of this caller in its own workspace alone, where it writes.
    #[must_use]
    pub fn at_home(caller: &Caller) -> Self {
        Self { workspaces: vec![caller.workspace.clone()], ..Self::of(caller) }
    }

    /// Whether this memory exists for the caller.
    #[must_use]
    pub fn sees(&self, memory: &Memory) -> bool {
        self.reaches(&Reach::of(memory))
    }

    /// Whether what this says of a memory lets the caller see it.
    #[must_use]
    pub fn reaches(&self, reach: &Reach) -> bool {
        let own = reach.owner == self.agent;
        let about = match (&self.user, &reach.user_id) {
            (_, None) => true,
            (Some(user), Some(subject)) => user == subject,
            (None, Some(_)) => own,
        };
        // What nobody has signed has no author who could be given it.
        let authors = own && !self.agent.is_anonymous();
        let let_out = reach.trust != Trust::Quarantined || self.reviews || authors;
        self.workspaces.contains(&reach.workspace)
            && about
            && (own || reach.sharing == Sharing::Shared)
            && let_out
    }
}

/// What decides who sees a memory: all that the rule asks of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reach {
    /// The workspace it is kept in.
    pub workspace: Workspace,
    /// The agent that may change it.
    pub owner: Agent,
    /// The user it is about.
    pub user_id: Option<String>,
    /// Who else may read it.
    pub sharing: Sharing,
    /// How far it is trusted.
    pub trust: Trust,
}

impl Reach {
    /// The reach of this memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        Self {
            workspace: memory.workspace.clone(),
            owner: memory.owner.clone(),
            user_id: memory.user_id.clone(),
            sharing: memory.sharing,
            trust: memory.trust,
        }
    }
}

/// Whether this caller may look at what is quarantined, and release it.
///
/// # Errors
/// `forbidden` for everybody but a person at the command line: an agent could be told to release.
pub fn may_review(caller: &Caller) -> Result<()> {
    match caller.door {
        Door::Cli => Ok(()),
        Door::Mcp | Door::Rest | Door::Import => {
            Err(Error::new(ErrorKind::Forbidden, "what is quarantined is reviewed by a person")
                .hint("Run `commonbook review` at the command line."))
        }
    }
}

/// Whether this caller may change this memory, which it sees.
///
/// # Errors
/// `forbidden` with the code `ownership_mismatch` when it belongs to another agent.
pub fn may_change(caller: &Caller, memory: &Memory) -> Result<()> {
    let owner = &memory.owner;
    if *owner == caller.agent || owner.is_child_of(&caller.agent) || owner.is_legacy() {
        return Ok(());
    }
    Err(Error::ownership_mismatch(owner.as_str(), caller.agent.as_str()))
}

/// Whether an owner may have a memory with this sharing.
///
/// # Errors
/// `invalid` when nobody could ever read it: a private memory of what is nobody's name.
pub fn may_keep(owner: &Agent, sharing: Sharing) -> Result<()> {
    if sharing == Sharing::Private && (owner.is_anonymous() || owner.is_legacy()) {
        return Err(Error::invalid("sharing", "a private memory needs an owner with a name").hint(
            "Say who you are (--agent, X-Commonbook-Agent, COMMONBOOK_AGENT_ID), or share it.",
        ));
    }
    Ok(())
}
