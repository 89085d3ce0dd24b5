//! Cycles: handoffs that lead back to an earlier agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use commonbook_text::sanitize::shown_name;

use crate::model::agent::Agent;

/// A cycle that a handoff closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffCycle {
    /// The agents of the cycle, each handing over to the next; begins and ends with the source of
    /// the new handoff.
    pub path: Vec<Agent>,
    /// Whether it was closed before: another round.
    pub again: bool,
    /// Whether none of its agents wrote anything since it was closed last, nor this handoff says
    /// anything new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

impl HandoffCycle {
    /// A cycle that was not closed before.
    #[must_use]
    pub fn first(path: Vec<Agent>) -> Self {
        Self { path, again: false, idle: false }
    }

    /// The cycle as text with its path, shortened in the middle if long.
    #[must_use]
    pub fn cycle_text(&self) -> String {
        const PATH_ENDS_SHOWN: usize = 6;
        let names: Vec<String> = self.path.iter().map(|agent| shown_name(agent.as_str())).collect();
        let path = match names.len() {
            0..=12 => names.join(" → "),
            count => {
                let between = count - 2 * PATH_ENDS_SHOWN;
                let (head, tail) = (&names[..PATH_ENDS_SHOWN], &names[count - PATH_ENDS_SHOWN..]);
                format!("{} → … {between} more … → {}", head.join(" → "), tail.join(" → "))
            }
        };
        let again = match (self.again, self.idle) {
            (_, true) => " again, and none of its agents wrote anything since",
            (true, false) => " again",
            (false, false) => "",
        };
        format!("this handoff closes a cycle of {}{again}: {path}", names.len().saturating_sub(1))
    }
}
