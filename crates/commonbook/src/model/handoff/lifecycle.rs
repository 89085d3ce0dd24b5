//! What becomes of a handoff: which step leads where, and who may take it.

use jiff::Timestamp;

use super::{Handoff, HandoffStatus};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::memory::fit_text;
use commonbook_text::string_enum;

string_enum! {
    /// What can be done with a handoff.
    HandoffStep {
        /// The target takes the work.
        Accept = "accept",
        /// The target has done it.
        Complete = "complete",
        /// The target will not do it.
        Reject = "reject",
        /// The source takes it back.
        Withdraw = "withdraw",
        /// Its time is over.
        Expire = "expire",
    }
}

string_enum! {
    /// Which side of handoffs an agent stands on.
    HandoffSide {
        /// They are for it.
        Received = "received",
        /// It made them.
        Sent = "sent",
        /// Either.
        Either = "either",
        /// Everybody's.
        All = "all",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for HandoffSide {
    fn default() -> Self {
        Self::Received
    }
}

/// Who can take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepActor {
    /// The agent that the handoff is for.
    Target,
    /// The agent that made it.
    Source,
    /// The layer itself.
    Layer,
}

impl HandoffStep {
    /// Who can take this step.
    #[must_use]
    pub const fn step_actor(self) -> StepActor {
        match self {
            Self::Accept | Self::Complete | Self::Reject => StepActor::Target,
            Self::Withdraw => StepActor::Source,
            Self::Expire => StepActor::Layer,
        }
    }
}

/// A step that is being taken.
#[derive(Debug, Clone, Copy)]
pub struct StepAttempt<'a> {
    /// Which one.
    pub step: HandoffStep,
    /// The agent that takes it.
    pub by: &'a Agent,
    /// The session that it takes it in.
    pub session: Option<&'a str>,
    /// The reason or the result.
    pub note: Option<&'a str>,
    /// When.
    pub at: Timestamp,
}

/// Where a step leads from this status. A step taken again leads nowhere else, so that a call
/// whose answer was lost can be made once more.
///
/// # Errors
/// `conflict` when the handoff has gone another way, with what can be done instead.
pub fn next_status(status: HandoffStatus, step: HandoffStep) -> Result<HandoffStatus> {
    use HandoffStatus::{Accepted, Completed, Expired, Pending, Rejected, Withdrawn};
    match (status, step) {
        (Pending | Accepted, HandoffStep::Accept) => Ok(Accepted),
        (Accepted | Completed, HandoffStep::Complete) => Ok(Completed),
        (Pending | Accepted | Rejected, HandoffStep::Reject) => Ok(Rejected),
        (Pending | Withdrawn, HandoffStep::Withdraw) => Ok(Withdrawn),
        (Pending | Expired, HandoffStep::Expire) => Ok(Expired),
        (Pending, HandoffStep::Complete) => {
            Err(Error::conflict("nobody has accepted this handoff yet")
                .hint("Accept it first, with accept_handoff; its text tells what is to be done."))
        }
        (Accepted, HandoffStep::Withdraw) => {
            Err(Error::conflict("this handoff has been accepted, and its target works on it")
                .hint("Ask the target to reject it, or hand over what is new."))
        }
        (Expired, _) => Err(Error::conflict("this handoff has expired")
            .hint("What it said is an ordinary memory now: search_memory finds it.")),
        (status, step) => {
            Err(Error::conflict(format!("this handoff is {status}: it is too late to {step} it"))
                .hint(
                    "list_handoffs shows what still waits; make a new one for what is left to do.",
                ))
        }
    }
}

impl Handoff {
    /// The handoff after a step; nothing when it stands so already.
    ///
    /// The clock decides nothing here: a handoff is expired when a sweep has said so.
    ///
    /// # Errors
    /// `forbidden` when another agent has to take the step, `conflict` when the handoff has gone
    /// another way, `invalid` and `too_large` for the note.
    pub fn apply_step(&self, taken: StepAttempt<'_>) -> Result<Option<Self>> {
        let StepAttempt { step, by, session, note, at } = taken;
        self.check_actor(step, by)?;
        let note = note.map(|text| checked_note(step, text)).transpose()?;
        let status = next_status(self.status, step)?;
        if status == self.status {
            return Ok(None);
        }
        let mut next = Self { status, version: self.version + 1, ..self.clone() };
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

    /// Whether its time is over. `sure` is a time that the clock has reached without doubt
    /// ([`crate::base::settled_clock`]): a clock that leaps must not end what nobody had time to accept.
    #[must_use]
    pub fn is_overdue(&self, sure: Timestamp) -> bool {
        self.status == HandoffStatus::Pending && self.expires_at <= sure
    }

    fn check_actor(&self, step: HandoffStep, by: &Agent) -> Result<()> {
        let (doer, hint) = match step.step_actor() {
            StepActor::Target if self.from == *by => {
                (&self.to, "Withdraw it if it is not to be done.")
            }
            StepActor::Target => (&self.to, "list_handoffs shows those that are for you."),
            StepActor::Source if self.to == *by => (&self.from, "Reject it if you will not do it."),
            StepActor::Source => (&self.from, "list_handoffs shows those that you have made."),
            StepActor::Layer => return Ok(()),
        };
        if doer == by {
            return Ok(());
        }
        let is = if step.step_actor() == StepActor::Target { "is for" } else { "was made by" };
        let message = format!("this handoff {is} '{doer}', and you are '{by}'");
        Err(Error::new(ErrorKind::Forbidden, message).hint(hint))
    }
}

/// The field that a step's note comes in.
const fn note_field(step: HandoffStep) -> &'static str {
    match step {
        HandoffStep::Complete => "result",
        _ => "reason",
    }
}

fn checked_note(step: HandoffStep, text: &str) -> Result<String> {
    let field = note_field(step);
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid(field, "this must not be empty"));
    }
    input::refuse_control_characters(field, text)?;
    let chars = text.chars().count();
    if chars > limits::HANDOFF_NOTE_CHARS {
        return Err(Error::too_large(field, chars, limits::HANDOFF_NOTE_CHARS, "characters")
            .hint("Say the essential, and save the whole as a memory."));
    }
    fit_text(field, text, limits::HANDOFF_NOTE_CHARS)
}
