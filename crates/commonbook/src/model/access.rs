//! The permission rule: what a caller sees, and what it may change. It stands here and nowhere
//! else.
//!
//! - Read: its own memories and shared ones. For other agents, a private memory does not exist.
//! - Users: a caller that works for a user sees what is about that user or no user. A caller that
//!   works for no user sees what is about no user, and its own memories about any user.
//!   What a memory is about, a user or the project, is decided when it is saved
//!   ([`crate::model::memory::MemorySubject`]).
//! - Opaque documents: their owner sees them where it names documents, and nowhere else.
//! - Work: what an agent received is seen by the agent, by the agents above it and by the person, and
//!   each of them sees only those items in it that it may read anyway.
//! - Write: its own memories, its children's, and `legacy` ones, if it sees them. Entries of a case
//!   cannot be changed.
//! - Tokens: a caller with a token may do what the token's scopes permit, and if the token is bound
//!   to one workspace, write only there. If tokens exist, or other machines can reach the server,
//!   every HTTP call needs a token.
//!
//! A store applies the first two inside its queries, never after a limit; the conformance suite
//! proves its queries equal to [`Sight::sees`], and to [`Sight::sees_event`] for events.

mod audience;
mod explain;
mod policy;
mod stored;
mod work;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::memory::{Memory, Sharing, Trust};
use crate::model::token::TokenScope;
use crate::model::workspace::Workspace;

pub use audience::Audience;
pub use explain::{ExplainSight, SightExplanation, SightRule};
pub use policy::AccessPolicy;
pub use stored::StoredMemory;
pub(crate) use stored::{hide_links, links_of};
pub(crate) use work::ItemKind;
pub use work::{HandoffVisibility, ItemVisibility, WorkItem, WorkVisibility};

/// What a caller may read: everything that a query needs to know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// The agent that reads.
    pub agent: Agent,
    /// The user it works for.
    pub user: Option<String>,
    /// The workspaces it reads.
    pub workspaces: Vec<Workspace>,
    /// Whether it sees all quarantined memories, to review them.
    pub reviews: bool,
    /// Whether the person reads: it sees what every agent received, as far as it may read that.
    pub is_person: bool,
    /// Whether it sees opaque documents too: only what names documents asks for them.
    pub opaque: bool,
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
            is_person: is_person(caller),
            opaque: false,
        }
    }

    /// The sight of a caller that reads.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reading(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Read).map(|()| Self::of(caller))
    }

    /// The sight of a caller that reads only in its own workspace.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reading_at_home(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Read).map(|()| Self::at_home(caller))
    }

    /// The sight of a caller that writes: it changes only what it sees. A caller whose token is
    /// bound to one workspace changes nothing in others, `global` included.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn writing(caller: &Caller) -> Result<Self> {
        let sight = Self::consulting(caller)?;
        Ok(if caller.proof.is_bound() { Self::at_home(caller) } else { sight })
    }

    /// The sight of a caller that reads in order to write: a handoff may include memories of
    /// `global`, whatever the token.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn consulting(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Write).map(|()| Self::of(caller))
    }

    /// The sight of a caller that writes only in its own workspace.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn writing_at_home(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Write).map(|()| Self::at_home(caller))
    }

    /// The sight of a caller that reviews quarantined memories of its own workspace.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn reviewing(caller: &Caller) -> Result<Self> {
        require_scope(caller, TokenScope::Admin)?;
        Ok(Self { reviews: true, ..Self::at_home(caller) })
    }

    /// The sight of a caller that exports this workspace, opaque documents included. The person also exports what waits for
    /// review.
    ///
    /// # Errors
    /// As [`require_scope`].
    pub fn exporting(caller: &Caller, workspace: &Workspace) -> Result<Self> {
        let sight = Self::reading_at_home(caller)?.with_opaque();
        let reviews = sight.is_person;
        Ok(Self { workspaces: vec![workspace.clone()], reviews, ..sight })
    }

    /// The sight of a memory's owner in the memory's workspace. The owner's rights were checked
    /// when it saved the memory.
    #[must_use]
    pub fn of_owner(memory: &Memory) -> Self {
        Self {
            agent: memory.owner.clone(),
            user: memory.user_id.clone(),
            workspaces: memory.workspace.with_global(),
            reviews: false,
            is_person: false,
            opaque: memory.is_opaque(),
        }
    }

    /// The same sight, and the opaque documents in it.
    #[must_use]
    pub fn with_opaque(self) -> Self {
        Self { opaque: true, ..self }
    }

    /// The same sight, and what lies in the workspaces that the caller's project used before.
    #[must_use]
    pub fn with_earlier(mut self, caller: &Caller) -> Self {
        if may_roam(caller).is_ok() {
            let earlier = caller.earlier.iter().filter(|name| !self.workspaces.contains(name));
            let earlier: Vec<Workspace> = earlier.cloned().collect();
            self.workspaces.extend(earlier);
        }
        self
    }

    /// The sight of this caller in its own workspace only.
    #[must_use]
    pub fn at_home(caller: &Caller) -> Self {
        Self { workspaces: vec![caller.workspace.clone()], ..Self::of(caller) }
    }

    /// Whether the caller may see this memory.
    #[must_use]
    pub fn sees(&self, memory: &Memory) -> bool {
        self.can_see(&Visibility::of(memory))
    }

    /// Whether the caller may see a memory with this visibility.
    #[must_use]
    pub fn can_see(&self, visibility: &Visibility) -> bool {
        let own = visibility.owner == self.agent;
        let about = self.is_for_subject(visibility.user_id.as_deref(), own);
        self.workspaces.contains(&visibility.workspace)
            && about
            && (own || visibility.sharing == Sharing::Shared)
            && (self.opaque || !visibility.opaque)
            && self.is_let_out(visibility)
    }

    /// Whether a caller may see what is about this user or no user; `own` if it is the caller's.
    fn is_for_subject(&self, user: Option<&str>, own: bool) -> bool {
        match (self.user.as_deref(), user) {
            (_, None) => true,
            (Some(user), Some(subject)) => user == subject,
            (None, Some(_)) => own,
        }
    }

    /// Whether the caller may see an event: it could read the subject at the time of the event, and
    /// if the subject is a memory, can read it now; if the memory is gone, only its owner sees the
    /// event.
    #[must_use]
    pub fn sees_event(&self, visibility: &EventVisibility) -> bool {
        let own = visibility.owner == self.agent;
        if let EventSubject::Work(_) = &visibility.about {
            return self.workspaces.contains(&visibility.workspace)
                && self.sees_work(&visibility.owner, visibility.user_id.as_deref());
        }
        let still = match &visibility.about {
            EventSubject::Memory(now) => self.can_see(now),
            EventSubject::Gone => own,
            EventSubject::Both(both) => {
                both.len() == 2 && both.iter().all(|(_, visibility)| self.can_see(visibility))
            }
            EventSubject::Work(_) | EventSubject::Entries(_) | EventSubject::Other => true,
        };
        let other_side = visibility.addressee.as_ref() == Some(&self.agent);
        self.workspaces.contains(&visibility.workspace)
            && (own || other_side || visibility.sharing == Sharing::Shared)
            && self.is_for_subject(visibility.user_id.as_deref(), own || other_side)
            && still
    }
}

/// What decides who sees a memory: everything that the rule reads of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Visibility {
    /// The workspace.
    pub workspace: Workspace,
    /// The owner.
    pub owner: Agent,
    /// The user it is about.
    pub user_id: Option<String>,
    /// Its sharing.
    pub sharing: Sharing,
    /// Its trust.
    pub trust: Trust,
    /// Whether it is an opaque document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opaque: bool,
}

/// Whether every agent in the workspace of a memory may read it, whichever user the agent works for.
#[must_use]
pub fn is_common(memory: &Memory) -> bool {
    memory.deleted_at.is_none() && Visibility::of(memory).is_common()
}

/// Whether every reader of `old` can read the memory that is to supersede it: it is not deleted and not
/// quarantined, shared unless both are private to one owner, and about no other user. Both are of one
/// workspace.
#[must_use]
pub fn covers(heir: &Memory, old: &Memory) -> bool {
    let is_own = old.sharing == Sharing::Private && old.owner == heir.owner;
    heir.deleted_at.is_none()
        && !heir.is_quarantined()
        && (heir.sharing == Sharing::Shared || is_own)
        && (heir.user_id.is_none() || heir.user_id == old.user_id)
}

impl Visibility {
    /// Whether every agent of the workspace may see it: shared, about no user, not quarantined.
    #[must_use]
    pub fn is_common(&self) -> bool {
        self.sharing == Sharing::Shared
            && self.user_id.is_none()
            && self.trust != Trust::Quarantined
    }

    /// The visibility of this memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        Self {
            workspace: memory.workspace.clone(),
            owner: memory.owner.clone(),
            user_id: memory.user_id.clone(),
            sharing: memory.sharing,
            trust: memory.trust,
            opaque: memory.is_opaque(),
        }
    }
}

/// What decides who sees an event: everything that the rule reads of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventVisibility {
    /// The workspace of the journal.
    pub workspace: Workspace,
    /// The subject's owner at the time of the event.
    pub owner: Agent,
    /// The user that the subject was about at the time of the event.
    pub user_id: Option<String>,
    /// The subject's sharing at the time of the event.
    pub sharing: Sharing,
    /// Another agent that sees the event in any case.
    pub addressee: Option<Agent>,
    /// The subject as it is now.
    pub about: EventSubject,
}

/// The subject of an event, as the rule reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventSubject {
    /// A memory, with its present visibility.
    Memory(Visibility),
    /// A memory that was removed permanently.
    Gone,
    /// A contradiction, with the present visibility of its two memories; empty if the contradiction
    /// is gone, and then no agent sees the event.
    Both(Vec<(MemoryId, Visibility)>),
    /// What an agent received, with the present visibility of each item.
    Work(WorkVisibility),
    /// Entries that were appended to a case.
    Entries(Vec<AppendedEntry>),
    /// A subject that is not a memory.
    Other,
}

/// An entry that was appended to a case, with its present visibility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendedEntry {
    /// The id of its memory.
    pub id: MemoryId,
    /// Its position in the case.
    pub position: u64,
    /// The name of its kind.
    pub kind: &'static str,
    /// What it says.
    pub summary: String,
    /// Who sees it now; `None` if it was removed permanently.
    pub visibility: Option<Visibility>,
}

impl EventSubject {
    /// Updates the visibility of one memory of the subject.
    pub fn take_in(&mut self, memory: &str, now: &Self) {
        if let Self::Work(work) = self {
            work.take_in(memory, now);
        }
        if let Self::Entries(entries) = self {
            for entry in entries.iter_mut().filter(|entry| entry.id.to_string() == memory) {
                entry.visibility = match now {
                    Self::Memory(visibility) => Some(visibility.clone()),
                    _ => None,
                };
            }
        }
        let Self::Both(both) = self else { return };
        let Some(place) = both.iter().position(|(id, _)| id.to_string() == memory) else { return };
        match now {
            Self::Memory(visibility) => both[place].1 = visibility.clone(),
            Self::Gone => both.clear(),
            Self::Both(_) | Self::Work(_) | Self::Entries(_) | Self::Other => {}
        }
    }
}

/// Whether the person calls: at the command line without the name of an agent, where a person is; signed in
/// at the pages; or with a token that has the scope admin.
#[must_use]
pub fn is_person(caller: &Caller) -> bool {
    require_scope(caller, TokenScope::Admin).is_ok()
}

/// Whether the caller gives no agent's name, and a person is there.
fn is_unnamed(caller: &Caller) -> bool {
    caller.agent.is_anonymous() && !caller.unattended || caller.agent == Agent::human()
}

/// What a person types to be one.
const PERSON_HINT: &str =
    "A person leaves out --agent, and unsets COMMONBOOK_AGENT_ID if it is set.";

/// What a caller does that neither is at a terminal nor gives a name. It names no way around the refusal:
/// an agent could be talked into that.
const UNATTENDED_HINT: &str = "A person runs this at a terminal. An agent gives its name: --agent NAME, or COMMONBOOK_AGENT_ID.";

/// Whether something other than a person calls at the command line: an agent that gives its name, or a
/// caller of which nothing is known.
fn is_agent_at_cli(caller: &Caller) -> bool {
    caller.door == EntryPoint::Cli && caller.proof == CallerProof::Word && !is_unnamed(caller)
}

/// What this caller does to be a person.
fn person_hint(caller: &Caller) -> &'static str {
    if caller.agent.is_anonymous() { UNATTENDED_HINT } else { PERSON_HINT }
}

/// The error of a call that a person may make, with what a person at the command line types.
pub(crate) fn unless_person(caller: &Caller, error: Error) -> Error {
    if !is_agent_at_cli(caller) {
        return error;
    }
    let hints: Vec<&str> = error.hint.as_deref().into_iter().chain([person_hint(caller)]).collect();
    let hint = hints.join(" ");
    error.hint(hint)
}

/// Checks that this caller has this scope.
///
/// # Errors
/// `forbidden` if its token does not have the scope. [`TokenScope::Admin`] also refuses a caller
/// without a token that is not a person at the command line or signed in at the pages, such as an
/// agent that gives its name there: a text could trick an agent into releasing or removing memories.
pub fn require_scope(caller: &Caller, scope: TokenScope) -> Result<()> {
    let refused = match (&caller.proof, scope) {
        (CallerProof::Token { scopes, .. }, scope) => !scopes.contains(&scope),
        (CallerProof::Word, TokenScope::Admin) => {
            let is_at_door = [EntryPoint::Cli, EntryPoint::Dashboard].contains(&caller.door);
            !is_at_door || !is_unnamed(caller)
        }
        (CallerProof::Word, TokenScope::Read | TokenScope::Write | TokenScope::Hook) => false,
    };
    if !refused {
        return Ok(());
    }
    let is_agent_at_cli = is_agent_at_cli(caller);
    let message = match scope {
        TokenScope::Admin if is_agent_at_cli && caller.agent.is_anonymous() => {
            "this is for a person, and nothing says that one calls: no terminal, and no name"
                .to_owned()
        }
        TokenScope::Admin if is_agent_at_cli => {
            format!("{} is an agent, and this is for a person", caller.agent)
        }
        _ => format!("this call needs the scope {scope}"),
    };
    Err(Error::new(ErrorKind::Forbidden, message).hint(match scope {
        TokenScope::Admin if is_agent_at_cli => person_hint(caller),
        TokenScope::Admin => {
            "Ask a person to do this at the command line, or use a token with the scope admin."
        }
        _ => "Use a token with this scope: `commonbook token create AGENT --scopes …`.",
    }))
}

/// Checks that this caller may see the figures of the home, which are of all workspaces together.
///
/// # Errors
/// `forbidden` if it has a token without the scope [`TokenScope::Admin`], or one for a single
/// workspace. A caller without a token may: they are numbers, and where tokens exist none is let in.
pub fn may_see_figures(caller: &Caller) -> Result<()> {
    match &caller.proof {
        CallerProof::Word => Ok(()),
        CallerProof::Token { bound: true, .. } => {
            let message = format!(
                "the figures are of all workspaces, and the token opens only {}",
                caller.workspace
            );
            Err(Error::new(ErrorKind::Forbidden, message)
                .hint("Use a token with the scope admin for all workspaces."))
        }
        CallerProof::Token { .. } => require_scope(caller, TokenScope::Admin),
    }
}

/// This caller with the rights of a client's hooks, which give context and save learnings: only
/// there does [`TokenScope::Hook`] permit reads and writes.
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

/// Checks that this caller may look at all workspaces.
///
/// # Errors
/// `forbidden` if its token is bound to one workspace.
pub fn may_roam(caller: &Caller) -> Result<()> {
    if !caller.proof.is_bound() {
        return Ok(());
    }
    let message = format!("the token opens only workspace {}", caller.workspace);
    Err(Error::new(ErrorKind::Forbidden, message).hint("Leave the scope out."))
}

/// Checks that this caller may write in this workspace.
///
/// # Errors
/// `forbidden` if its token is bound to another workspace.
pub fn may_write_in(caller: &Caller, workspace: &Workspace) -> Result<()> {
    if !caller.proof.is_bound() || *workspace == caller.workspace {
        return Ok(());
    }
    let message =
        format!("the token writes only in workspace {}, not in {workspace}", caller.workspace);
    Err(Error::new(ErrorKind::Forbidden, message).hint(format!(
        "Save your own version in {}, or use a token for all workspaces.",
        caller.workspace
    )))
}

/// A caller over HTTP, and the server's state.
#[derive(Debug, Clone, Copy)]
pub struct AccessAttempt {
    /// Whether the caller sent a valid token.
    pub shown: bool,
    /// Whether a token exists that was not revoked.
    pub tokens: bool,
    /// Whether other machines can reach the server.
    pub exposed: bool,
}

impl AccessAttempt {
    /// Checks that the caller is admitted.
    ///
    /// # Errors
    /// `unauthenticated` without a token if one is needed.
    pub fn judge(self) -> Result<()> {
        if self.shown || !(self.tokens || self.exposed) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unauthenticated, "this server needs a token").hint(
            "Send one as `Authorization: Bearer TOKEN`; create it with `commonbook token create AGENT`.",
        ))
    }
}

/// Checks that this caller may change this memory, which it sees.
///
/// # Errors
/// `forbidden` for an entry of a case; for a workspace that the caller's token does not open for
/// writing; with the code `ownership_mismatch` for a memory of another agent.
pub fn may_change(caller: &Caller, memory: &Memory) -> Result<()> {
    may_write_in(caller, &memory.workspace)?;
    if let Some(case) = &memory.case {
        let message = format!("this is an entry of case {case}, and entries cannot be changed");
        return Err(Error::new(ErrorKind::Forbidden, message)
            .hint("Append another entry that supersedes it, with `append_entries`."));
    }
    let owner = &memory.owner;
    if *owner == caller.agent || owner.is_child_of(&caller.agent) || owner.is_legacy() {
        return Ok(());
    }
    Err(Error::ownership_mismatch(owner.as_str(), caller.agent.as_str()))
}

/// Checks that this caller may forget this memory: its owner, an agent above the owner, a person, or who has
/// the scope admin. Entries of cases can be forgotten too.
///
/// # Errors
/// `forbidden` (`ownership_mismatch`) for any other.
pub fn may_forget(caller: &Caller, memory: &Memory) -> Result<()> {
    may_write_in(caller, &memory.workspace)?;
    let owner = &memory.owner;
    let is_own = *owner == caller.agent || owner.is_child_of(&caller.agent) || owner.is_legacy();
    if is_own || is_person(caller) {
        return Ok(());
    }
    Err(not_the_author(owner, caller))
}

/// The refusal of what only an author may do with a memory, such as forgetting it: a version of one's
/// own is no way around it.
pub(crate) fn not_the_author(owner: &Agent, caller: &Caller) -> Error {
    let error = Error::ownership_mismatch(owner.as_str(), caller.agent.as_str())
        .hint(format!("Only {owner}, an agent above {owner} or a person can do this."));
    unless_person(caller, error)
}

/// Checks that this caller may supersede this memory by one that contradicts it: it may change the
/// memory, or it reviews. Only the case can replace an entry of a case.
///
/// # Errors
/// As [`may_change`].
pub fn may_replace(caller: &Caller, memory: &Memory) -> Result<()> {
    match may_change(caller, memory) {
        Err(_) if memory.case.is_none() && require_scope(caller, TokenScope::Admin).is_ok() => {
            Ok(())
        }
        Err(error) if memory.case.is_none() => Err(unless_person(caller, error)),
        judged => judged,
    }
}

/// Checks that this caller may change this memory by an edit of its file: only a person may, for
/// memories of every owner. The files of a vault are the person's own.
///
/// # Errors
/// `forbidden` for any other caller, and for an entry of a case.
pub fn may_edit_file(caller: &Caller, memory: &Memory) -> Result<()> {
    require_scope(caller, TokenScope::Admin)?;
    match may_change(caller, memory) {
        Err(_) if memory.case.is_none() => may_write_in(caller, &memory.workspace),
        judged => judged,
    }
}

/// Checks that this caller may import memories of this owner: its own and those of agents below it, and
/// without a token those of every name that a caller can claim.
///
/// # Errors
/// `forbidden` for another owner, unless the caller has the scope admin.
pub fn may_import(caller: &Caller, owner: &Agent) -> Result<()> {
    let is_own = *owner == caller.agent || owner.is_child_of(&caller.agent);
    let is_claimable = || owner.is_nobody() || owner.as_str().parse::<AgentName>().is_ok();
    if is_own || (caller.proof == CallerProof::Word && is_claimable()) {
        return Ok(());
    }
    require_scope(caller, TokenScope::Admin).map_err(|_| {
        let message = format!("{} may not import memories of {owner}", caller.agent);
        Error::new(ErrorKind::Forbidden, message).hint(
            "A person imports them at the command line of the server's machine, without --agent; or \
             use a token with the scope admin.",
        )
    })
}

/// Checks that an owner may have a memory with this sharing.
///
/// # Errors
/// `invalid` for a private memory of an anonymous owner, which no agent could read.
pub fn may_keep(owner: &Agent, sharing: Sharing) -> Result<()> {
    if sharing == Sharing::Private && (owner.is_anonymous() || owner.is_legacy()) {
        return Err(Error::invalid("sharing", "a private memory needs an owner with a name").hint(
            "Give your name (--agent, X-Commonbook-Agent, COMMONBOOK_AGENT_ID), or share the memory.",
        ));
    }
    Ok(())
}
