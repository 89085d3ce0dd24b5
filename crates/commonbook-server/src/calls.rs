//! A call, whatever its door: the registry of verbs, one call of one, its figures and traces, and the words for
//! people about it.

pub(crate) mod blocking_store;
pub(crate) mod call;
pub(crate) mod call_history;
pub(crate) mod ended_handoffs;
pub(crate) mod hint;
pub(crate) mod metrics;
pub(crate) mod observe;
pub mod output;
pub(crate) mod rpc;
pub(crate) mod slow_calls;
pub(crate) mod traces;
pub(crate) mod verb;
pub(crate) mod words;
