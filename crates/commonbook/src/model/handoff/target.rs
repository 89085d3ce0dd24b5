//! The target of a handoff: one agent, or a role that several agents may have.

use crate::model::agent::Agent;
use commonbook_text::nearest::nearest_name;

/// The target that a name means in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffTarget {
    /// The agent, or the name of the role.
    pub to: Agent,
    /// The role, if the name is that of no known agent: every agent with it may accept.
    pub role: Option<Agent>,
    /// Set if no agent that could accept is known.
    pub warning: Option<String>,
}

impl HandoffTarget {
    /// The target that `from` means by a name. `known` are the agents of the workspace.
    ///
    /// An agent of exactly that name comes first, then another name of the same client. A name of
    /// one part that no agent has is a role.
    #[must_use]
    pub fn resolve(name: &Agent, from: &Agent, known: &[Agent]) -> Self {
        let aliases = name.aliases();
        let names = [name].into_iter().chain(&aliases);
        if let Some(agent) = names.clone().find(|name| known.contains(name)) {
            return Self { to: agent.clone(), role: None, warning: None };
        }
        let others = || known.iter().filter(|agent| *agent != from);
        if !name.is_bare() {
            let warning = Some(unknown_target(name, others()));
            return Self { to: name.usual_name(), role: None, warning };
        }
        let role = names.clone().find(|name| others().any(|agent| agent.role() == name.as_str()));
        let warning = role.is_none().then(|| unknown_target(name, others()));
        let to = role.cloned().unwrap_or_else(|| name.usual_name());
        Self { role: Some(to.clone()), to, warning }
    }
}

/// A name without its digits.
fn letters(name: &str) -> String {
    name.chars().filter(|character| !character.is_ascii_digit()).collect()
}

fn unknown_target<'a>(name: &Agent, known: impl Iterator<Item = &'a Agent>) -> String {
    let names = known.flat_map(|agent| [agent.as_str(), agent.role()]);
    // Names of one team that differ by their number are no slips.
    let names: Vec<&str> = names.filter(|known| letters(known) != letters(name.as_str())).collect();
    match nearest_name(name.as_str(), &names) {
        Some(near) => format!("no agent `{name}` is known here; did you mean `{near}`?"),
        None => format!("no agent `{name}` is known here yet; the handoff waits for it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str) -> Agent {
        Agent::with_any_name(name).expect("a name")
    }

    #[test]
    fn a_name_means_an_agent_then_a_client_then_a_role() {
        let known = [
            "ann",
            "claude-code",
            "claude-code/developer",
            "codex/developer",
            "engineer",
            "worker1",
        ];
        let known = known.map(agent);
        // The name; the target; whether it is a role; a part of the warning.
        let table = [
            ("ann", "ann", false, ""),
            ("claude-code", "claude-code", false, ""),
            ("claude", "claude-code", false, ""),
            ("developer", "developer", true, ""),
            ("claude/developer", "claude-code/developer", false, ""),
            (
                "enginer",
                "enginer",
                true,
                "no agent `enginer` is known here; did you mean `engineer`?",
            ),
            ("claude-code/develper", "claude-code/develper", false, "`claude-code/developer`?"),
            ("worker12", "worker12", true, "no agent `worker12` is known here yet"),
            ("gemini", "gemini-cli", true, "no agent `gemini` is known here yet"),
            ("claude/qa", "claude-code/qa", false, "no agent `claude/qa` is known here yet"),
        ];
        for (name, to, is_role, warning) in table {
            let found = HandoffTarget::resolve(&agent(name), &agent("source"), &known);
            assert_eq!(found.to, agent(to), "{name}");
            assert_eq!(found.role, is_role.then(|| agent(to)), "{name}");
            let told = found.warning.unwrap_or_default();
            assert!(told.contains(warning) && told.is_empty() == warning.is_empty(), "{told}");
        }
        // The source alone has the role: nobody known could accept.
        let found = HandoffTarget::resolve(&agent("engineer"), &agent("x/engineer"), &[]);
        assert!(found.role.is_some() && found.warning.is_some());
    }
}
