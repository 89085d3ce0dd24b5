//! Context: what an agent should know before it works, in sentences inside a fence, chosen within a
//! budget; and the receipt that explains the choice.

pub mod choose;
mod gather;
mod preferences;
mod requests;
pub mod tell;

pub use crate::model::delivery::{
    ContextDiagnostics, ContextFilter, ContextOrigin, ContextReceipt, ContextRecord,
    ContextSummary, StandingSnapshot,
};
pub use crate::model::standing::StandingLocation;
pub use gather::{
    CandidateBuilder, HandoffQueue, PROPOSAL_PREFIX, RETRACTION_PREFIX, retraction_of,
};
pub use preferences::{AgentPreference, ContextPreferences};
pub use requests::{
    AgentContext, ContextExplanation, ContextOptions, ContextReplay, ExplainContext, GetContext,
    ItemSummary, ListContexts,
};
