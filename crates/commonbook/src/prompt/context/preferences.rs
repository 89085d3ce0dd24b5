//! Preferences: the configuration of contexts, for all agents and for each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choose::ContextSettings;
use super::tell::TemplateSet;
use crate::base::error::Result;
use crate::base::{input, limits as fixed};
use crate::model::agent::Agent;
use crate::model::memory::MemoryType;
use crate::model::standing::{LimitsOverride, StandingLimits};

/// The configuration of contexts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextPreferences {
    /// Settings for agents, by name, by role, and under `*` for all; the most specific ones win.
    pub agents: BTreeMap<String, AgentPreference>,
    /// The sentences for memories of a type: `Research on {topic}. Found by {author}.`
    pub templates: BTreeMap<String, String>,
    /// The limits of standing memory files, by role; `*` for every role.
    pub standing: BTreeMap<String, LimitsOverride>,
    /// Agents whose `profile` and `task_context` come first in every agent's contexts.
    pub profile_owners: Vec<String>,
}

/// The configuration of contexts for one agent, or for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentPreference {
    /// Whether it receives contexts; yes by default.
    pub auto_inject: Option<bool>,
    /// Whether its conversations with its user are saved, as private memories; no by default.
    pub auto_extract: Option<bool>,
    /// The least relevance of a memory that comes in full; 0.5 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// At most this many memories and entries; 8 by default.
    #[schemars(range(min = 1, max = fixed::CONTEXT_MAXIMUM_MAX))]
    pub max_memories: Option<u32>,
    /// At most this many tokens, standing memory included; by default 1,500, and 2,500 more for standing memory.
    #[schemars(range(min = fixed::CONTEXT_TOKENS_MIN, max = fixed::CONTEXT_TOKENS_MAX))]
    pub budget: Option<u32>,
}

impl AgentPreference {
    /// This preference, with the values of another where it has none.
    fn or_fallback(self, other: &Self) -> Self {
        Self {
            auto_inject: self.auto_inject.or(other.auto_inject),
            auto_extract: self.auto_extract.or(other.auto_extract),
            threshold: self.threshold.or(other.threshold),
            max_memories: self.max_memories.or(other.max_memories),
            budget: self.budget.or(other.budget),
        }
    }

    fn check(&self, whose: &str) -> Result<()> {
        let field = |name: &str| format!("{whose}{name}");
        if let Some(threshold) = self.threshold {
            input::in_range(&field("threshold"), threshold, 0.0..=1.0)?;
        }
        let bounds = [
            ("budget", self.budget, fixed::CONTEXT_TOKENS_MIN, fixed::CONTEXT_TOKENS_MAX),
            ("max_memories", self.max_memories, 1, fixed::CONTEXT_MAXIMUM_MAX),
        ];
        for (name, number, least, most) in bounds {
            if let Some(number) = number {
                input::in_range(&field(name), number, least..=most)?;
            }
        }
        Ok(())
    }
}

impl ContextPreferences {
    /// Checks the configuration, and returns the templates.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn check(&self) -> Result<TemplateSet> {
        for (name, preference) in &self.agents {
            let named = if name == "*" { Ok(Agent::system()) } else { Agent::with_any_name(name) };
            named.map_err(|error| error.with_field(&format!("agents.{name}")))?;
            preference.check(&format!("agents.{name}."))?;
        }
        for (index, name) in self.profile_owners.iter().enumerate() {
            Agent::with_any_name(name)
                .map_err(|error| error.with_field(&format!("profile_owners[{index}]")))?;
        }
        for (kind, template) in &self.templates {
            let memory_type = MemoryType::try_from(kind.clone());
            let chosen = memory_type.and_then(|memory_type| memory_type.check_choice());
            let pair = [(kind.as_str(), template.as_str())];
            chosen
                .and_then(|()| TemplateSet::of(pair))
                .map_err(|error| error.with_field(&format!("templates.{kind}")))?;
        }
        TemplateSet::of(self.templates.iter().map(|(kind, template)| (&**kind, &**template)))
    }

    /// The preference for this agent.
    #[must_use]
    pub fn of(&self, agent: &Agent) -> AgentPreference {
        let named = |name: &str| self.agents.get(name).copied().unwrap_or_default();
        let role = if agent.role() == agent.as_str() { "" } else { agent.role() };
        named(agent.as_str()).or_fallback(&named(role)).or_fallback(&named("*"))
    }

    /// The owners whose `profile` and `task_context` come first in this agent's contexts, most
    /// important first: the person, the owners in the settings, the agent itself, and the agents
    /// above it, which may change its memories anyway. An agent below it is not among them: a
    /// parent answers for its children, but they do not answer for it. An anonymous agent has no
    /// owners above it.
    #[must_use]
    pub fn profile_owners(&self, agent: &Agent) -> Vec<Agent> {
        let named = self.profile_owners.iter().filter_map(|name| Agent::with_any_name(name).ok());
        let own = Some(agent.clone()).filter(|agent| !agent.is_anonymous());
        let mut owners = Vec::new();
        for owner in [Agent::human()].into_iter().chain(named).chain(own).chain(agent.ancestors()) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners
    }

    /// How much the contexts of this agent may include.
    #[must_use]
    pub fn settings(&self, agent: &Agent) -> ContextSettings {
        let (own, usual) = (self.of(agent), ContextSettings::default());
        ContextSettings {
            auto_inject: own.auto_inject.unwrap_or(usual.auto_inject),
            threshold: own.threshold.unwrap_or(usual.threshold),
            maximum: own.max_memories.map_or(usual.maximum, |most| most as usize),
            budget: own.budget.map_or(usual.budget, |most| most as usize),
            standing: usual.standing.filter(|_| own.budget.is_none()),
            ..usual
        }
    }

    /// Whether the conversations of this agent with its user are saved.
    #[must_use]
    pub fn extracts(&self, agent: &Agent) -> bool {
        self.of(agent).auto_extract.unwrap_or(false)
    }

    /// The limits of the standing memory file of a role.
    #[must_use]
    pub fn limits(&self, role: &str) -> StandingLimits {
        let named = |name: &str| self.standing.get(name).copied().unwrap_or_default();
        StandingLimits::default().with_override(&named("*")).with_override(&named(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> ContextPreferences {
        serde_json::from_str(json).expect("preferences")
    }

    #[test]
    fn the_name_counts_before_the_role_and_that_before_what_holds_for_all() {
        let all = read(
            r#"{"agents": {
                "*": {"budget": 900, "auto_extract": true},
                "engineer": {"budget": 800, "max_memories": 3},
                "claude-code/engineer": {"budget": 700}}}"#,
        );
        let table = [("qa", 900, 8), ("x/engineer", 800, 3), ("claude-code/engineer", 700, 3)];
        for (name, budget, maximum) in table {
            let agent = Agent::with_any_name(name).expect("a name");
            let settings = all.settings(&agent);
            assert_eq!((settings.budget, settings.maximum), (budget, maximum), "{name}");
            assert!(all.extracts(&agent) && settings.auto_inject);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_field() {
        let table = [
            (r#"{"agents": {"*": {"threshold": 2}}}"#, "agents.*.threshold"),
            (r#"{"agents": {"qa": {"budget": 1}}}"#, "agents.qa.budget"),
            (r#"{"agents": {"qa": {"max_memories": 0}}}"#, "agents.qa.max_memories"),
            (r#"{"templates": {"research": "no place"}}"#, "templates.research"),
            (r#"{"templates": {"system": "On {topic}."}}"#, "templates.system"),
            (r#"{"templates": {"two words": "On {topic}."}}"#, "templates.two words"),
            (r#"{"profile_owners": ["codex", "../x"]}"#, "profile_owners[1]"),
        ];
        for (json, field) in table {
            let error = read(json).check().expect_err(json);
            assert_eq!(error.field.as_deref(), Some(field), "{json}");
        }
        assert!(read(r#"{"templates": {"research": "On {topic}."}}"#).check().is_ok());
    }

    #[test]
    fn an_agent_trusts_the_person_the_settings_itself_and_who_is_above_it() {
        let all = read(r#"{"profile_owners": ["Profiler Agent", "claude-code"]}"#);
        let owners = |name: &str| {
            let owners = all.profile_owners(&Agent::with_any_name(name).expect("a name"));
            owners.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert!(all.check().is_ok());
        assert_eq!(owners("codex"), "human profiler claude-code codex");
        assert_eq!(owners("claude-code"), "human profiler claude-code");
        assert_eq!(owners("codex/qa/eu"), "human profiler claude-code codex/qa/eu codex/qa codex");
        assert_eq!(owners("anonymous"), "human profiler claude-code");
    }

    #[test]
    fn a_role_may_have_other_limits() {
        let all = read(r#"{"standing": {"*": {"items": 50}, "qa": {"bytes": 1000}}}"#);
        assert_eq!((all.limits("qa").items, all.limits("qa").bytes), (50, 1000));
        assert_eq!(all.limits("pm").bytes, fixed::STANDING_BYTES);
    }
}
