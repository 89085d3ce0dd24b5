//! Context: what an agent is given before it works, told in sentences, fenced, and chosen within a
//! budget; and the receipt that says why it is as it is.

pub mod choose;
mod gather;
mod preferences;
mod requests;
pub mod tell;

pub use choose::{Diagnostics, Receipt};
pub use gather::{Gathering, relevance};
pub use preferences::{Preference, Preferences};
pub use requests::{
    Context, ExplainContext, Explained, GetContext, Given, Kept, KeptContext, Replay, StandingRead,
    Wanted,
};
