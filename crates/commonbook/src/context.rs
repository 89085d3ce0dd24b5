//! Context: what an agent is given before it works, told in sentences, fenced, and chosen within a
//! budget; and the receipt that says why it is as it is.

mod ask;
pub mod choose;
pub mod fence;
mod gather;
mod preferences;
pub mod tell;

pub use ask::{
    Context, ExplainContext, Explained, GetContext, Given, Kept, KeptContext, Replay, StandingRead,
    Wanted,
};
pub use choose::{Diagnostics, Receipt};
pub use gather::{Gathering, relevance};
pub use preferences::{Preference, Preferences};
