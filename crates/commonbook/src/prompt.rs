//! The one place from which stored text reaches a model.
//!
//! [`context`], [`handoff`], [`resume`], [`case`], [`recall`], [`hits`] and [`news`] choose items and
//! headings; [`block`] renders them inside one fence, and [`budget`] decides by tokens which fit.

pub mod block;
pub mod budget;
pub mod case;
pub mod context;
pub mod handoff;
pub mod hits;
pub mod item;
#[cfg(test)]
mod laws;
pub mod news;
pub mod recall;
pub mod resume;

use jiff::Timestamp;

use crate::base::id::IdSource;
use commonbook_text::fence::Fence;

/// A fence with a new nonce.
pub fn new_fence(ids: &dyn IdSource, now: Timestamp) -> Fence {
    // The lower half of an id is random; the upper half is the time.
    Fence::from_random(ids.next(now).as_u128() & u128::from(u64::MAX))
}
