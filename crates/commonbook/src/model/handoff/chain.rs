//! Chains: which handoff a new one continues, and what it tells of the earlier ones.
//!
//! Work goes on from the handoff that its agent accepted or completed last. Another case or another
//! user is another chain. A completed handoff is continued in its case, in its session by a task with a word of it,
//! and elsewhere by a task that speaks of it, for [`limits::CHAIN_HOURS`] until its work has gone on to another agent
//! once (`docs/decisions/0035-chains.md`). An agent that hands part after part to others builds on what came back: the
//! results of its own completed handoffs ([`BroughtWork`]).

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Handoff, HandoffDraft, HandoffKind, HandoffStatus};
use crate::base::error::{Error, Result};
use crate::base::id::HandoffId;
use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::referring::refers_back;
use commonbook_text::terms::query_terms;

/// The position of a new handoff in its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPosition {
    /// The handoffs that it continues.
    pub follows: Vec<HandoffId>,
    /// The first handoff of the chain.
    pub chain: HandoffId,
    /// Its depth in the chain.
    pub depth: u32,
}

/// The handoffs that an agent has accepted, and what decides which of them it continues.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReceivedHandoffs<'r> {
    /// Accepted and completed ones, in the order in which each was accepted or completed last, by
    /// the journal, not by the clock.
    pub handoffs: &'r [Handoff],
    /// Those whose work the agent has already handed on.
    pub handed_on: &'r [HandoffId],
    /// Completed ones that the agent itself sent and the request names.
    pub sent: &'r [Handoff],
    /// The user that the agent works for.
    pub user: Option<&'r str>,
    /// The present time.
    pub now: Timestamp,
}

impl ChainPosition {
    /// The position of a handoff `id` that `from` creates. If the request names no received handoff,
    /// the new one continues the one that [`ReceivedHandoffs`] has last.
    ///
    /// # Errors
    /// `invalid` if a named handoff was neither accepted by `from` nor sent by it and completed, or if several are
    /// named and the kind is not `join`.
    pub fn of(
        id: HandoffId,
        draft: &HandoffDraft,
        from: &Agent,
        received: ReceivedHandoffs<'_>,
    ) -> Result<Self> {
        let mut before = Vec::new();
        for (place, named) in draft.follows.iter().enumerate() {
            let mut known = received.accepted_by(from).chain(received.sent_by(from));
            let found = known.find(|handoff| handoff.id == *named);
            before.push(found.ok_or_else(|| {
                let field = format!("follows[{place}]");
                let message = format!(
                    "{named} is neither a handoff that you have accepted nor one of yours that is completed"
                );
                Error::invalid(&field, message)
                    .hint("Accept it first, or leave follows out to continue the latest one.")
            })?);
        }
        if before.is_empty() {
            before.extend(received.latest(draft, from));
        }
        if before.len() > 1 && draft.kind != HandoffKind::Join {
            return Err(Error::invalid("follows", "several handoffs given; expected kind join")
                .hint("Set `kind` to join, or name one handoff."));
        }
        let depth = before.iter().map(|handoff| handoff.depth).max().unwrap_or(0).saturating_add(1);
        Ok(Self {
            follows: before.iter().map(|handoff| handoff.id).collect(),
            chain: before.first().map_or(id, |handoff| handoff.chain),
            depth,
        })
    }
}

impl<'r> ReceivedHandoffs<'r> {
    /// The handoffs that are continued only if their work has not been handed on.
    #[must_use]
    pub fn completed_lately(self) -> Vec<HandoffId> {
        let is_completed = |handoff: &&Handoff| handoff.status == HandoffStatus::Completed;
        let completed = self.handoffs.iter().filter(is_completed);
        completed.filter(|handoff| self.ended_lately(handoff)).map(|handoff| handoff.id).collect()
    }

    fn accepted_by(self, agent: &Agent) -> impl DoubleEndedIterator<Item = &'r Handoff> {
        self.handoffs.iter().filter(move |handoff| {
            handoff.to == *agent && handoff.accepted_at.is_some() && handoff.status.passes_work()
        })
    }

    fn sent_by(self, agent: &Agent) -> impl Iterator<Item = &'r Handoff> {
        self.sent.iter().filter(move |handoff| {
            handoff.from == *agent && handoff.status == HandoffStatus::Completed
        })
    }

    /// The handoff that work continues by default.
    fn latest(self, draft: &HandoffDraft, from: &Agent) -> Option<&'r Handoff> {
        self.accepted_by(from).rev().find(|handoff| self.continues(handoff, draft))
    }

    /// Whether the new handoff continues this one.
    fn continues(self, handoff: &Handoff, draft: &HandoffDraft) -> bool {
        if handoff.is_of_other_work(draft, self.user) {
            return false;
        }
        let is_of_session = is_same(&handoff.accepted_in, &draft.session)
            || is_same(&handoff.session, &draft.session);
        match handoff.status {
            HandoffStatus::Accepted => true,
            HandoffStatus::Completed if is_same(&handoff.case, &draft.case) => true,
            HandoffStatus::Completed => {
                let (work, text) = (BroughtWork::from(handoff.clone()), draft.whole_text());
                let is_open = self.ended_lately(handoff) && !self.handed_on.contains(&handoff.id);
                // Decisions and files name matters of their own.
                let refers = refers_back(&draft.task);
                (is_of_session && (refers || work.shares_words(&text, 1)))
                    || (is_open && (refers || work.is_meant_by(&text)))
            }
            _ => false,
        }
    }

    fn ended_lately(self, handoff: &Handoff) -> bool {
        let span = SignedDuration::from_hours(limits::CHAIN_HOURS);
        handoff.ended_at.is_some_and(|ended| self.now.duration_since(ended) <= span)
    }
}

impl Handoff {
    /// Whether a new handoff is of another case, or for another user.
    fn is_of_other_work(&self, draft: &HandoffDraft, user: Option<&str>) -> bool {
        let other_case = self.case.is_some() && draft.case.is_some() && self.case != draft.case;
        other_case || (self.user_id.is_some() && self.user_id.as_deref() != user)
    }
}

/// Whether both name the same session or case.
fn is_same(a: &Option<String>, b: &Option<String>) -> bool {
    a.is_some() && a == b
}

/// Words in common by which a task speaks of a handoff: one alone is chance, but in a short task.
const SHARED_WORDS_MIN: usize = 2;

/// Words of a short task.
const SHORT_TASK_WORDS: usize = 3;

/// What a completed handoff brought back to its source.
#[derive(Debug, Clone, PartialEq)]
pub struct BroughtWork {
    /// The handoff with its result.
    pub link: ChainLink,
    /// The words of its task and its result.
    pub words: BTreeSet<String>,
}

impl BroughtWork {
    /// Whether a completed handoff of the source belongs to the work that it hands over now: it is of the same
    /// session or case, and without a session of the last [`limits::HANDOFF_RECENT_HOURS`].
    #[must_use]
    pub fn belongs_to(
        handoff: &Handoff,
        draft: &HandoffDraft,
        user: Option<&str>,
        now: Timestamp,
    ) -> bool {
        if handoff.is_of_other_work(draft, user) {
            return false;
        }
        let recent = SignedDuration::from_hours(limits::HANDOFF_RECENT_HOURS);
        let is_recent = handoff.ended_at.is_some_and(|ended| now.duration_since(ended) <= recent);
        is_same(&handoff.session, &draft.session)
            || is_same(&handoff.case, &draft.case)
            || (draft.session.is_none() && is_recent)
    }

    /// Whether a task is about it: the task refers to earlier work, or has words in common with what was to be done and
    /// what came of it.
    #[must_use]
    pub fn is_meant_by(&self, task: &str) -> bool {
        let is_short = query_terms(task).len() <= SHORT_TASK_WORDS;
        refers_back(task) || self.shares_words(task, if is_short { 1 } else { SHARED_WORDS_MIN })
    }

    /// Whether a text has this number of words in common with it.
    fn shares_words(&self, text: &str, least: usize) -> bool {
        let words = query_terms(text);
        words.iter().filter(|word| self.words.contains(*word)).count() >= least
    }
}

impl From<Handoff> for BroughtWork {
    fn from(handoff: Handoff) -> Self {
        let words = query_terms(&handoff.written_and_answered()).into_iter().collect();
        Self { link: ChainLink { is_brought: true, ..ChainLink::from(handoff) }, words }
    }
}

/// An earlier handoff of a chain, as later agents of the chain read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainLink {
    /// The handoff.
    pub handoff: HandoffId,
    /// Its depth in the chain, from 1.
    pub depth: u32,
    /// Whether it is no handoff of the chain: a completed one of the source, on whose result the chain builds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_brought: bool,
    /// The agent that wrote task, decisions, files and next steps.
    pub from: Agent,
    /// The agent that wrote the result.
    pub to: Agent,
    /// Its status.
    pub status: HandoffStatus,
    /// The work that was to be done.
    pub task: String,
    /// The decisions made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions_made: Vec<String>,
    /// The next steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// The files that were being worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_files: Vec<String>,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl From<Handoff> for ChainLink {
    fn from(handoff: Handoff) -> Self {
        Self {
            handoff: handoff.id,
            depth: handoff.depth,
            is_brought: false,
            from: handoff.from,
            to: handoff.to,
            status: handoff.status,
            task: handoff.task,
            decisions_made: handoff.decisions_made,
            next_steps: handoff.next_steps,
            active_files: handoff.active_files,
            note: handoff.note,
            created_at: handoff.created_at,
            ended_at: handoff.ended_at,
        }
    }
}
