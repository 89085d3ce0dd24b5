//! The permission rule: who sees what, and who changes what. It stands here and nowhere else.
//!
//! - Read: one's own, or shared; another agent's private memory does not exist.
//! - Users: who works for a user sees what is about that user or about nobody. Who works for
//!   nobody sees what is about nobody, and of what is about users only their own memories.
//! - Write: one's own, or a child's; what is `legacy`, anybody's. Only what one sees. An entry of a
//!   case, nobody.
//! - Tokens: who shows one may do what its scopes say, and where it is bound to one workspace, write
//!   there alone. Where there are tokens, or where others can
//!   reach the server, nobody calls over HTTP without one.
//!
//! A store applies the first two inside its queries, never after a limit; the conformance suite
//! proves its queries equal to [`Sight::sees`], and to [`Sight::sees_event`] for events.

mod audience;
mod policy;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::memory::{Memory, Sharing, Trust};
use crate::model::token::TokenScope;
use crate::model::workspace::Workspace;

pub use audience::Audience;
pub use policy::AccessPolicy;

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

    /// The sight of this caller when it reads.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reading(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Read).map(|()| Self::of(caller))
    }

    /// The sight of this caller when it reads in its own workspace alone.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reading_at_home(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Read).map(|()| Self::at_home(caller))
    }

    /// The sight of this caller when it writes: it changes only what it sees. Whoever a token binds to
    /// one workspace changes nothing beyond it, not in `global` either.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn writing(caller: &Caller) -> Result<Self> {
        let sight = Self::consulting(caller)?;
        Ok(if caller.proof.is_bound() { Self::at_home(caller) } else { sight })
    }

    /// The sight of this caller in what it reads in order to write: what goes along with a handoff may
    /// come from `global`, whoever hands over.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn consulting(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Write).map(|()| Self::of(caller))
    }

    /// The sight of this caller when it writes in its own workspace alone.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn writing_at_home(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Write).map(|()| Self::at_home(caller))
    }

    /// The sight of this caller when it reviews what is quarantined in its own workspace.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reviewing(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Admin)?;
        Ok(Self { reviews: true, ..Self::at_home(caller) })
    }

    /// The sight of a memory's owner where the memory is: what it may decide was judged when it
    /// kept the memory.
    #[must_use]
    pub fn of_owner(memory: &Memory) -> Self {
        Self {
            agent: memory.owner.clone(),
            user: memory.user_id.clone(),
            workspaces: memory.workspace.with_global(),
            reviews: false,
        }
    }

    /// The sight of this caller in its own workspace alone, where it writes.
    #[must_use]
    pub fn at_home(caller: &Caller) -> Self {
        Self { workspaces: vec![caller.workspace.clone()], ..Self::of(caller) }
    }

    /// Whether this memory exists for the caller.
    #[must_use]
    pub fn sees(&self, memory: &Memory) -> bool {
        self.can_see(&Visibility::of(memory))
    }

    /// Whether what this says of a memory lets the caller see it.
    #[must_use]
    pub fn can_see(&self, reach: &Visibility) -> bool {
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

    /// Whether the caller is told of an event: who may read what it is about, and could then. Of a
    /// memory, who sees it now too; when that is gone, its owner.
    #[must_use]
    pub fn sees_event(&self, reach: &EventVisibility) -> bool {
        let own = reach.owner == self.agent;
        let still = match &reach.about {
            EventSubject::Memory(now) => self.can_see(now),
            EventSubject::Gone => own,
            EventSubject::Both(both) => {
                both.len() == 2 && both.iter().all(|(_, it)| self.can_see(it))
            }
            EventSubject::Other => true,
        };
        let other_side = reach.told.as_ref() == Some(&self.agent);
        self.workspaces.contains(&reach.workspace)
            && (own || other_side || reach.sharing == Sharing::Shared)
            && still
    }
}

/// What decides who sees a memory: all that the rule asks of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Visibility {
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

impl Visibility {
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

/// What decides who is told of an event: all that the rule asks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventVisibility {
    /// The workspace whose journal it is in.
    pub workspace: Workspace,
    /// The owner of what it is about, then.
    pub owner: Agent,
    /// Who else could read what it is about, then.
    pub sharing: Sharing,
    /// Another agent that is told of it all the same.
    pub told: Option<Agent>,
    /// What it is about, as that is now.
    pub about: EventSubject,
}

/// What an event is about, as the rule asks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventSubject {
    /// A memory, with what it lets see now.
    Memory(Visibility),
    /// A memory that is gone for good.
    Gone,
    /// Two memories that contradict each other, each with what it lets see now; none, when the
    /// contradiction is gone: then nobody is told.
    Both(Vec<(MemoryId, Visibility)>),
    /// No memory.
    Other,
}

impl EventSubject {
    /// Takes in what became of a memory, where this is about it and another.
    pub fn take_in(&mut self, memory: &str, now: &Self) {
        let Self::Both(both) = self else { return };
        let Some(place) = both.iter().position(|(id, _)| id.to_string() == memory) else { return };
        match now {
            Self::Memory(reach) => both[place].1 = reach.clone(),
            Self::Gone => both.clear(),
            Self::Both(_) | Self::Other => {}
        }
    }
}

/// Whether this caller may do what takes this scope.
///
/// # Errors
/// `forbidden` when its token does not say so; and for [`TokenScope::Admin`], when it has none and is
/// not a person at the command line: an agent could be told to release, or to remove.
pub fn require_scope(caller: &Caller, scope: TokenScope) -> Result<()> {
    let refused = match (&caller.proof, scope) {
        (CallerProof::Token { scopes, .. }, scope) => !scopes.contains(&scope),
        (CallerProof::Word, TokenScope::Admin) => caller.door != EntryPoint::Cli,
        (CallerProof::Word, TokenScope::Read | TokenScope::Write | TokenScope::Hook) => false,
    };
    if !refused {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Forbidden, format!("this takes the scope {scope}"));
    Err(error.hint(match scope {
        TokenScope::Admin => {
            "A person does this at the command line, or a token with the scope admin."
        }
        _ => "Use a token that has it: `commonbook token create AGENT --scopes …`.",
    }))
}

/// This caller in what the hooks of a client do for it, which is to give context and to keep what was
/// learned: there, and nowhere else, a token with [`TokenScope::Hook`] reads and writes.
#[must_use]
pub fn hook_caller(caller: &Caller) -> Caller {
    let mut caller = caller.clone();
    if let CallerProof::Token { scopes, .. } = &mut caller.proof
        && scopes.contains(&TokenScope::Hook)
    {
        scopes.extend([TokenScope::Read, TokenScope::Write]);
    }
    caller
}

/// Whether this caller may look beyond its own workspace, at the whole home.
///
/// # Errors
/// `forbidden` when its token opens one workspace alone.
pub fn may_roam(caller: &Caller) -> Result<()> {
    if !caller.proof.is_bound() {
        return Ok(());
    }
    let message = format!("the token opens the workspace {} alone", caller.workspace);
    Err(Error::new(ErrorKind::Forbidden, message).hint("Search without a scope."))
}

/// Whether this caller may change something in this workspace.
///
/// # Errors
/// `forbidden` when its token opens another workspace alone.
pub fn may_write_in(caller: &Caller, workspace: &Workspace) -> Result<()> {
    if !caller.proof.is_bound() || *workspace == caller.workspace {
        return Ok(());
    }
    let message =
        format!("the token writes in the workspace {} alone, not in {workspace}", caller.workspace);
    Err(Error::new(ErrorKind::Forbidden, message).hint(format!(
        "Save your own version in {}, or use a token that opens all workspaces.",
        caller.workspace
    )))
}

/// What a caller over HTTP shows, and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub struct AccessAttempt {
    /// Whether a token was shown, which then holds.
    pub shown: bool,
    /// Whether there is any token that was not revoked.
    pub tokens: bool,
    /// Whether others than this machine can reach the server.
    pub exposed: bool,
}

impl AccessAttempt {
    /// Whether the caller is let in.
    ///
    /// # Errors
    /// `unauthenticated` without a token where one is needed.
    pub fn judge(self) -> Result<()> {
        if self.shown || !(self.tokens || self.exposed) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unauthenticated, "who calls here shows a token").hint(
            "Send it as `Authorization: Bearer TOKEN`; `commonbook token create AGENT` makes one.",
        ))
    }
}

/// Whether this caller may change this memory, which it sees.
///
/// # Errors
/// `forbidden` for an entry of a case, which nobody changes; in a workspace that the caller's token
/// does not open for writing; with the code `ownership_mismatch` when it belongs to another agent.
pub fn may_change(caller: &Caller, memory: &Memory) -> Result<()> {
    may_write_in(caller, &memory.workspace)?;
    if let Some(case) = &memory.case {
        let message = format!("this is an entry of the case {case}, and never changed");
        return Err(Error::new(ErrorKind::Forbidden, message)
            .hint("Append another one to the case that supersedes it."));
    }
    let owner = &memory.owner;
    if *owner == caller.agent || owner.is_child_of(&caller.agent) || owner.is_legacy() {
        return Ok(());
    }
    Err(Error::ownership_mismatch(owner.as_str(), caller.agent.as_str()))
}

/// Whether this caller may let another memory take the place of this one, which contradicts it: who
/// may change it, and who reviews. An entry of a case is nobody's to replace but the case's.
///
/// # Errors
/// As [`may_change`].
pub fn may_replace(caller: &Caller, memory: &Memory) -> Result<()> {
    match may_change(caller, memory) {
        Err(_) if memory.case.is_none() && require_scope(caller, TokenScope::Admin).is_ok() => {
            Ok(())
        }
        judged => judged,
    }
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
