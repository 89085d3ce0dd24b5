//! Who calls, when and with which request: for the tests of verbs, and for those of a vault.

use commonbook::base::clock::Timestamp;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};

/// A request as a door parses it.
pub(crate) fn request<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    commonbook::base::input::from_value(value).unwrap()
}

/// This many hours after the start.
pub(crate) fn at(hours: i64) -> Timestamp {
    let beginning: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    beginning + jiff::SignedDuration::from_hours(hours)
}

pub(crate) fn caller(agent: &str) -> Caller {
    elsewhere(agent, "x")
}

/// A person at the command line, who gives no agent's name.
pub(crate) fn person() -> Caller {
    caller("anonymous")
}

pub(crate) fn elsewhere(agent: &str, workspace: &str) -> Caller {
    let name = (agent != "anonymous")
        .then(|| AgentName { agent: Agent::with_any_name(agent).unwrap(), device: None });
    Caller::new(name, workspace.parse().unwrap(), EntryPoint::Cli)
}
