//! Figures of a journal for an operator: numbers of events, with nothing of what they say.

use crate::model::delivery::ContextOrigin;
use crate::model::event::EventKind;

/// What happened in a range of a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFigures {
    /// The number of events of each kind that occurs.
    pub kinds: Vec<(EventKind, u64)>,
    /// Each text that an agent received, in order.
    pub contexts: Vec<DeliveryFigures>,
    /// The position of the last event of the range.
    pub through: u64,
}

/// A text that an agent received: a context, a briefing, a handoff, a resumed session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFigures {
    /// What told it.
    pub origin: ContextOrigin,
    /// Its items.
    pub items: u64,
    /// Candidates that were left out.
    pub left_out: u64,
    /// Tokens of its items.
    pub tokens: u64,
}
