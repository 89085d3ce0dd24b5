//! Why an agent can or cannot see a memory: the part of the permission rule that decided.

use commonbook_text::string_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sight, Visibility};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::memory::{Memory, Sharing, Trust};

/// Says whether an agent can see a memory that you can see, and which rule decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainSight {
    /// The memory's id.
    pub id: MemoryId,
    /// The agent.
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub reader: String,
    /// The user that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_user: Option<String>,
}

string_enum! {
    /// The rule that decides whether an agent sees a memory.
    SightRule {
        /// It is the agent's own.
        Own = "own",
        /// It is shared.
        Shared = "shared",
        /// It lies in a workspace that the agent does not read.
        Workspace = "workspace",
        /// It is private to its owner.
        Private = "private",
        /// It is about a user that the agent does not work for.
        User = "user",
        /// It is quarantined until a person releases it.
        Quarantined = "quarantined",
        /// It is deleted; only its owner can restore it.
        Deleted = "deleted",
    }
}

/// Whether an agent can see a memory, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SightExplanation {
    /// The memory.
    pub memory: MemoryId,
    /// The agent.
    pub reader: Agent,
    /// Whether the agent sees it.
    pub sees: bool,
    /// The rule that decides.
    pub rule: SightRule,
    /// The reason, as a sentence.
    pub reason: String,
}

impl Sight {
    /// The rule that decides whether this reader sees a memory with this visibility: the same
    /// decision as [`Sight::can_see`].
    fn deciding_rule(&self, visibility: &Visibility) -> SightRule {
        let own = visibility.owner == self.agent;
        if !self.workspaces.contains(&visibility.workspace) {
            SightRule::Workspace
        } else if !own && visibility.sharing == Sharing::Private {
            SightRule::Private
        } else if !self.is_for_subject(visibility.user_id.as_deref(), own) {
            SightRule::User
        } else if !self.is_let_out(visibility) {
            SightRule::Quarantined
        } else if own {
            SightRule::Own
        } else {
            SightRule::Shared
        }
    }

    /// Whether this reader can see a memory, with the rule that decides.
    #[must_use]
    pub fn explain(&self, memory: &Memory) -> SightExplanation {
        let visibility = Visibility::of(memory);
        let rule = match self.deciding_rule(&visibility) {
            SightRule::Own | SightRule::Shared if memory.deleted_at.is_some() => SightRule::Deleted,
            rule => rule,
        };
        let sees = matches!(rule, SightRule::Own | SightRule::Shared);
        let reader = &self.agent;
        let Memory { owner, workspace, .. } = memory;
        let reason = match rule {
            SightRule::Own => format!("{reader} sees it: it is its own memory."),
            SightRule::Shared => {
                format!("{reader} sees it: {owner} shares it with every agent of {workspace}.")
            }
            SightRule::Workspace => {
                let read: Vec<_> = self.workspaces.iter().map(ToString::to_string).collect();
                format!(
                    "{reader} does not see it: it lies in {workspace}, and {reader} reads {}.",
                    read.join(" and ")
                )
            }
            SightRule::Private => format!("{reader} does not see it: it is private to {owner}."),
            SightRule::User => {
                let about = memory.user_id.as_deref().unwrap_or_default();
                match &self.user {
                    Some(user) => format!(
                        "{reader} does not see it: it is about {about}, and {reader} works for {user}."
                    ),
                    None => format!(
                        "{reader} does not see it: it is about {about}, and {reader} works for nobody."
                    ),
                }
            }
            SightRule::Quarantined => {
                format!("{reader} does not see it: it is quarantined until a person releases it.")
            }
            SightRule::Deleted => {
                format!("{reader} does not see it: it is deleted, and only {owner} can restore it.")
            }
        };
        // Kept apart from the decision, so that the law below can compare both.
        debug_assert!(memory.deleted_at.is_some() || sees == self.can_see(&visibility));
        SightExplanation { memory: memory.id, reader: reader.clone(), sees, rule, reason }
    }

    /// Whether a quarantine lets this reader see the memory: its author and reviewers do.
    pub(super) fn is_let_out(&self, visibility: &Visibility) -> bool {
        // An anonymous memory has no author that could see it.
        let authors = visibility.owner == self.agent && !self.agent.is_anonymous();
        visibility.trust != Trust::Quarantined || self.reviews || authors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::workspace::Workspace;

    #[test]
    fn the_rule_and_the_decision_never_differ() {
        let here = Workspace::fallback();
        let there: Workspace = "elsewhere".parse().unwrap();
        let agents = ["ann", "bob", "anonymous"].map(|name| match name {
            "anonymous" => Agent::anonymous(),
            name => name.parse().unwrap(),
        });
        let mut seen = std::collections::BTreeSet::new();
        for owner in &agents {
            for reader in &agents {
                for workspace in [&here, &there] {
                    for sharing in [Sharing::Private, Sharing::Shared] {
                        for trust in [Trust::Normal, Trust::Quarantined] {
                            for about in [None, Some("alice")] {
                                for user in [None, Some("alice"), Some("bea")] {
                                    let mut caller =
                                        Caller::new(None, here.clone(), EntryPoint::Cli);
                                    caller.agent = reader.clone();
                                    caller.user = user.map(str::to_owned);
                                    let sight = Sight::of(&caller);
                                    let visibility = Visibility {
                                        workspace: workspace.clone(),
                                        owner: owner.clone(),
                                        user_id: about.map(str::to_owned),
                                        sharing,
                                        trust,
                                        opaque: false,
                                    };
                                    let rule = sight.deciding_rule(&visibility);
                                    let sees = matches!(rule, SightRule::Own | SightRule::Shared);
                                    assert_eq!(
                                        sees,
                                        sight.can_see(&visibility),
                                        "{reader} {visibility:?}"
                                    );
                                    seen.insert(rule.name());
                                }
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(seen.len(), 6, "each rule decides somewhere: {seen:?}");
    }
}
