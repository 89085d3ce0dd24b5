//! The programs beside this one: coding clients and their setups, the server of the home, and one elsewhere.

pub(crate) mod hook_event;
pub(crate) mod local;
pub(crate) mod remote;
pub(crate) mod rules;
pub(crate) mod sandbox;
pub(crate) mod setup;
pub(crate) mod ticket;
