//! Context: what an agent should know before it works, in sentences inside a fence, chosen within a
//! budget; and the receipt that explains the choice.

pub mod choose;
mod gather;
mod preferences;
mod requests;
pub mod tell;

pub use crate::model::standing::StandingLocation;
pub use choose::{ContextDiagnostics, ContextOrigin, ContextReceipt};
pub use gather::{
    CandidateBuilder, HandoffQueue, PROPOSAL_PREFIX, RETRACTION_PREFIX, retraction_of,
};
pub use preferences::{AgentPreference, ContextPreferences};
pub use requests::{
    AgentContext, ContextExplanation, ContextFilter, ContextOptions, ContextRecord, ContextReplay,
    ContextSummary, ExplainContext, GetContext, ItemSummary, ListContexts, StandingSnapshot,
};
