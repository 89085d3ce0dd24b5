//! Records of the texts that agents received: receipts, what a session has heard, and the items of a text. They hold
//! what is needed to explain a text; `prompt/` alone writes one.

mod briefing;
mod item;
mod receipt;
mod record;

pub(crate) use briefing::HEADLINE_PREFIX;
pub use briefing::{BriefingItem, BriefingKey, BriefingRecord, MemoryCensus};
pub use item::PromptItem;
pub(crate) use receipt::figures_of;
pub use receipt::{
    CandidateReceipt, ContextDiagnostics, ContextOrigin, ContextReceipt, ContextSource,
    OmissionReason,
};
pub use record::{ContextFilter, ContextRecord, ContextSummary, StandingSnapshot};
