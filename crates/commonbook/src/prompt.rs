//! The one place from which stored text reaches a model.

pub mod block;
pub mod case;
pub mod context;
pub mod handoff;
pub mod recall;
pub mod resume;

use commonbook_text::fence::Fence;

use crate::base::error::{Error, ErrorKind, Result};

/// The fence with this nonce.
///
/// # Errors
/// `internal` if the nonce is not one that an id source makes.
pub fn fence(nonce: &str) -> Result<Fence> {
    let unfit =
        || Error::new(ErrorKind::Internal, "the nonce of a fence is too short, or has odd letters");
    Fence::new(nonce).ok_or_else(unfit)
}
