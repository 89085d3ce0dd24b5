//! The one place from which stored text reaches a model.
//!
//! [`context`], [`handoff`], [`resume`], [`case`], [`recall`], [`hits`] and [`judgement`] choose items and
//! headings; [`briefing`] is made of contexts, with [`news`] among their items; [`block`] renders them inside one fence, and [`budget`] decides by tokens which fit.
//! [`lists`] has the headlines of cases and handoffs; [`near`] chooses what the answer of a save says of other notes; [`recorded`] is every other answer: JSON that says itself what its texts are.

pub mod block;
pub mod briefing;
pub mod budget;
pub mod case;
pub mod consent;
pub mod context;
pub mod handoff;
pub mod headlines;
pub mod hits;
pub mod item;
pub mod judgement;
#[cfg(test)]
mod laws;
pub mod lists;
pub mod near;
pub mod news;
pub mod recall;
pub mod recorded;
pub mod resume;
