//! Context: what an agent is given before it works, told in sentences, fenced, and chosen within a
//! budget; and the receipt that says why it is as it is.

pub mod choose;
mod gather;
mod preferences;
mod requests;
pub mod tell;

pub use choose::{ContextDiagnostics, ContextReceipt};
pub use gather::CandidateBuilder;
pub use preferences::{AgentPreference, ContextPreferences};
pub use requests::{
    AgentContext, ContextExplanation, ContextOptions, ContextRecord, ContextReplay, ExplainContext,
    GetContext, ItemSummary, StandingLocation, StandingSnapshot,
};
