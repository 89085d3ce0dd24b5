//! The lifecycle of a handoff: its steps, where they lead, and which agent may take them.

use jiff::{SignedDuration, Timestamp};

use super::{Handoff, HandoffStatus};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::memory::fit_text;
use commonbook_text::string_enum;

string_enum! {
    /// A step of a handoff.
    HandoffStep {
        /// The target accepts it.
        Accept = "accept",
        /// The target has done it.
        Complete = "complete",
        /// The target refuses it.
        Reject = "reject",
        /// The source withdraws it.
        Withdraw = "withdraw",
        /// Its time is over.
        Expire = "expire",
    }
}

string_enum! {
    /// The side of an agent in handoffs.
    HandoffSide {
        /// The agent is the target.
        Received = "received",
        /// The agent is the source.
        Sent = "sent",
        /// The agent is source or target.
        Either = "either",
        /// Handoffs of all agents.
        All = "all",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for HandoffSide {
    fn default() -> Self {
        Self::Received
    }
}

/// The actor that may take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepActor {
    /// The target agent.
    Target,
    /// The source agent.
    Source,
    /// Commonbook itself.
    Layer,
}

impl HandoffStep {
    /// The actor that may take this step.
    #[must_use]
    pub const fn step_actor(self) -> StepActor {
        match self {
            Self::Accept | Self::Complete | Self::Reject => StepActor::Target,
            Self::Withdraw => StepActor::Source,
            Self::Expire => StepActor::Layer,
        }
    }
}

/// A step to be taken.
#[derive(Debug, Clone, Copy)]
pub struct StepAttempt<'a> {
    /// The step.
    pub step: HandoffStep,
    /// The agent that takes it.
    pub by: &'a Agent,
    /// The session in which it is taken.
    pub session: Option<&'a str>,
    /// The reason or the result.
    pub note: Option<&'a str>,
    /// When it is taken.
    pub at: Timestamp,
    /// When the target was last seen.
    pub target_seen: Option<Timestamp>,
}

/// The status after a step. Repeating a step changes nothing, so that a call whose response was
/// lost can be repeated.
///
/// # Errors
/// `conflict` if the status does not permit the step, with a possible next step.
pub fn next_status(status: HandoffStatus, step: HandoffStep) -> Result<HandoffStatus> {
    use HandoffStatus::{Accepted, Completed, Expired, Pending, Rejected, Withdrawn};
    match (status, step) {
        (Pending | Accepted, HandoffStep::Accept) => Ok(Accepted),
        // Its target reads it again.
        (Completed, HandoffStep::Accept) => Ok(Completed),
        (Accepted | Completed, HandoffStep::Complete) => Ok(Completed),
        (Pending | Accepted | Rejected, HandoffStep::Reject) => Ok(Rejected),
        (Pending | Withdrawn, HandoffStep::Withdraw) => Ok(Withdrawn),
        (Pending | Expired, HandoffStep::Expire) => Ok(Expired),
        (Pending, HandoffStep::Complete) => {
            Err(Error::conflict("this handoff is pending; expected an accepted one")
                .hint("Accept it first with `accept_handoff`."))
        }
        (Accepted, HandoffStep::Withdraw) => {
            Err(Error::conflict("this handoff is accepted; its target works on it").hint(format!(
                "Ask the target to reject it, or create another handoff for what is new. If the target stays \
                 silent for {} hours, it can be withdrawn.",
                limits::HANDOFF_SILENT_HOURS
            )))
        }
        (Expired, _) => Err(Error::conflict("this handoff has expired")
            .hint("Its text is an ordinary memory now: find it with `search_memory`.")),
        (status, step) => {
            Err(Error::conflict(format!("this handoff is {status}; it is too late to {step} it"))
                .hint(
                    "See with `list_handoffs` which ones are open, or create a new one for the rest of the work.",
                ))
        }
    }
}

impl Handoff {
    /// The handoff after a step. Returns `None` if its status does not change.
    ///
    /// The clock decides nothing here: a handoff expires when a sweep says so.
    ///
    /// # Errors
    /// `forbidden` if another agent has to take the step, `conflict` if the status does not permit
    /// it, `invalid` or `too_large` for the note.
    pub fn apply_step(&self, taken: StepAttempt<'_>) -> Result<Option<Self>> {
        let StepAttempt { step, by, session, note, at, target_seen: _ } = taken;
        self.check_actor(step, by)?;
        let note = note.map(|text| checked_note(step, text)).transpose()?;
        let status = self.status_after(taken)?;
        if status == self.status {
            self.check_same_note(step, note.as_deref())?;
            return Ok(None);
        }
        let mut next = Self { status, version: self.version + 1, ..self.clone() };
        if step == HandoffStep::Accept {
            next.to = by.clone();
        }
        match status {
            HandoffStatus::Accepted => {
                next.accepted_at = Some(at);
                next.accepted_in = session.map(str::to_owned);
            }
            _ => next.ended_at = Some(at),
        }
        next.note = note.or(next.note);
        Ok(Some(next))
    }

    /// The status after a step: work of a target that went silent ends as if it had not been accepted.
    fn status_after(&self, taken: StepAttempt<'_>) -> Result<HandoffStatus> {
        let is_left = self.has_silent_target(taken.target_seen, taken.at);
        match taken.step {
            HandoffStep::Withdraw | HandoffStep::Expire if is_left => {
                next_status(HandoffStatus::Pending, taken.step)
            }
            step => next_status(self.status, step),
        }
    }

    /// Whether its target accepted it and, at this time, has given no sign for
    /// [`limits::HANDOFF_SILENT_HOURS`]. `target_seen` is the last call of the target.
    #[must_use]
    pub fn has_silent_target(&self, target_seen: Option<Timestamp>, at: Timestamp) -> bool {
        let hours = SignedDuration::from_hours(limits::HANDOFF_SILENT_HOURS);
        let last = target_seen.max(self.accepted_at);
        self.status == HandoffStatus::Accepted
            && last.is_some_and(|last| at.duration_since(last) >= hours)
    }

    /// Whether its time is over. `sure` is a time that has certainly passed
    /// ([`crate::base::settled_clock`]), so that a clock jump does not expire handoffs.
    #[must_use]
    pub fn is_overdue(&self, sure: Timestamp) -> bool {
        self.status == HandoffStatus::Pending && self.expires_at <= sure
    }

    /// Checks that a repeated step says the same as the first one, or nothing.
    fn check_same_note(&self, step: HandoffStep, note: Option<&str>) -> Result<()> {
        if note.is_none() || note == self.note.as_deref() {
            return Ok(());
        }
        let field = note_field(step);
        let message = format!("this handoff is {} with another {field}", self.status);
        Err(Error::conflict(message)
            .with_field(field)
            .hint("Read the first one with `get_handoff`; save what is new as a memory."))
    }

    fn check_actor(&self, step: HandoffStep, by: &Agent) -> Result<()> {
        if self.to != *by && self.has_role(by) && step.step_actor() == StepActor::Target {
            return self.check_role_holder(step);
        }
        let (doer, hint) = match step.step_actor() {
            StepActor::Target if self.from == *by && self.status == HandoffStatus::Pending => {
                (&self.to, "Withdraw it with `withdraw_handoff` if the work is not to be done.")
            }
            StepActor::Target if self.from == *by => {
                (&self.to, "`list_handoffs` with the side `sent` tells how it ended.")
            }
            StepActor::Target => (&self.to, "Find the handoffs for you with `list_handoffs`."),
            StepActor::Source if self.to == *by => {
                (&self.from, "Reject it with `reject_handoff` if you will not do the work.")
            }
            StepActor::Source => {
                (&self.from, "`list_handoffs` with the side `sent` lists those that you created.")
            }
            StepActor::Layer => return Ok(()),
        };
        if doer == by {
            return Ok(());
        }
        let relation =
            if step.step_actor() == StepActor::Target { "is for" } else { "was created by" };
        let message = format!("this handoff {relation} '{doer}', and you are '{by}'");
        Err(Error::new(ErrorKind::Forbidden, message).hint(hint))
    }

    /// Checks a step of an agent that has the role of this handoff, but is not its target.
    fn check_role_holder(&self, step: HandoffStep) -> Result<()> {
        match (self.status, step, &self.role) {
            (HandoffStatus::Pending, HandoffStep::Reject, Some(role)) => {
                let message = format!("this handoff waits for any agent with the role '{role}'");
                Err(Error::conflict(message).hint(
                    "Leave it to the others, or accept it with `accept_handoff` and then reject it.",
                ))
            }
            // `next_status` says what has to come first.
            (HandoffStatus::Pending, ..) => Ok(()),
            _ if self.accepted_at.is_some() => {
                Err(Error::conflict(format!("'{}' has accepted this handoff", self.to))
                    .hint("Find those that wait for you with `list_handoffs`."))
            }
            // It ended before any agent accepted it.
            _ => Ok(()),
        }
    }
}

/// The field of a step's note.
const fn note_field(step: HandoffStep) -> &'static str {
    match step {
        HandoffStep::Complete => "result",
        _ => "reason",
    }
}

fn checked_note(step: HandoffStep, text: &str) -> Result<String> {
    let field = note_field(step);
    let text = text.trim();
    if input::is_blank(text) {
        return Err(Error::empty(field));
    }
    input::refuse_control_characters(field, text)?;
    let chars = text.chars().count();
    if chars > limits::HANDOFF_NOTE_CHARS {
        return Err(Error::too_large(field, chars, limits::HANDOFF_NOTE_CHARS, "characters")
            .hint("State the essential, and save the whole text as a memory."));
    }
    fit_text(field, text, limits::HANDOFF_NOTE_CHARS)
}
