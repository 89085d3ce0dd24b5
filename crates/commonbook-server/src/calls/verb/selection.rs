//! The selection of verbs that MCP offers as tools: a named set, or single tools by name.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use commonbook::base::error::{Error, Result};

use super::{JOINED_TOOLS, JoinedTool, ToolTier, Verb, all, find};

/// The header by which a client selects its tools: core, team, full, or names of tools.
pub(crate) const TOOLS_HEADER: &str = "x-commonbook-tools";

/// The tools to offer: `core`, `team`, `full`, or names of tools, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolSelection {
    text: String,
    names: BTreeSet<&'static str>,
}

impl ToolSelection {
    /// The tools of this set and of the smaller ones.
    pub(crate) fn of(tier: ToolTier) -> Self {
        let mut names: BTreeSet<&'static str> = tier.verbs().map(|verb| verb.name).collect();
        // The larger sets have the verbs of the joined tools themselves.
        if tier == ToolTier::Core {
            names.extend(JOINED_TOOLS.iter().map(|tool| tool.name));
        }
        Self { text: tier.name().to_owned(), names }
    }

    /// Whether it offers this tool.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The verbs that it offers: the core first, each set in the order of the registry.
    pub(crate) fn verbs(&self) -> Vec<&'static Verb> {
        let mut verbs: Vec<_> = all().iter().filter(|verb| self.offers(verb.name)).collect();
        verbs.sort_by_key(|verb| verb.tool);
        verbs
    }

    /// The tools of several verbs that it offers.
    pub(crate) fn joined_tools(&self) -> impl Iterator<Item = &'static JoinedTool> {
        JOINED_TOOLS.iter().filter(|tool| self.offers(tool.name))
    }

    /// The names of the tools that it offers, in the order in which a client sees them.
    pub(crate) fn tool_names(&self) -> Vec<&'static str> {
        let verbs = self.verbs().into_iter().map(|verb| verb.name);
        verbs.chain(self.joined_tools().map(|tool| tool.name)).collect()
    }
}

impl Default for ToolSelection {
    fn default() -> Self {
        Self::of(ToolTier::Core)
    }
}

impl fmt::Display for ToolSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ToolSelection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut names = BTreeSet::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if let Some(tier) = ToolTier::ALL.into_iter().find(|tier| tier.name() == name) {
                names.extend(Self::of(tier).names);
            } else if let Some(verb) = find(name).filter(|verb| verb.tool.is_some()) {
                names.insert(verb.name);
            } else if let Some(tool) = JoinedTool::find(name) {
                names.insert(tool.name);
            } else {
                return Err(unknown_tool(name));
            }
        }
        if names.is_empty() {
            return Err(Error::invalid("tools", "is empty; expected core, team, full or names"));
        }
        Ok(Self { text: text.to_owned(), names })
    }
}

/// The error of a name that neither a tool nor a set has.
fn unknown_tool(name: &str) -> Error {
    let tools = ToolTier::Full.verbs().map(|verb| verb.name);
    let joined = JOINED_TOOLS.iter().map(|tool| tool.name);
    let known = ToolTier::ALL.into_iter().map(ToolTier::name).chain(tools).chain(joined);
    let nearest = known.max_by(|one, other| {
        let likeness = |known| strsim::jaro_winkler(name, known);
        likeness(one).total_cmp(&likeness(other))
    });
    let nearest = nearest.unwrap_or_default();
    let sets = ToolTier::ALL.map(ToolTier::name).join(", ");
    let reason = format!(
        "no tool and no set is called {name:?}; the sets are {sets}, and the nearest name is {nearest}"
    );
    Error::invalid("tools", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_names_can_be_combined() {
        let selection: ToolSelection = "core, list_handoffs".parse().unwrap();
        let core = ToolSelection::default();
        assert!(core.verbs().iter().all(|verb| selection.offers(verb.name)));
        assert_eq!(selection.verbs().len(), core.verbs().len() + 1);
        assert!(selection.offers("list_handoffs") && !core.offers("list_handoffs"));
        assert_eq!(selection.to_string(), "core, list_handoffs");
        let one: ToolSelection = "get_memory".parse().unwrap();
        assert_eq!((one.verbs().len(), one.joined_tools().count()), (1, 0));
        let joined: ToolSelection = "team, cases".parse().unwrap();
        assert_eq!(joined.tool_names().last(), Some(&"cases"));
    }

    #[test]
    fn each_set_contains_the_smaller_one_and_begins_with_it() {
        let [core, team, full] =
            ToolTier::ALL.map(|tier| ToolSelection::of(tier).verbs().into_iter());
        let names = |verbs: std::vec::IntoIter<&'static Verb>| -> Vec<&str> {
            verbs.map(|verb| verb.name).collect()
        };
        let (core, team, full) = (names(core), names(team), names(full));
        assert!(core.len() <= 10 && team.starts_with(&core) && full.starts_with(&team));
        assert!(core.len() < team.len() && team.len() < full.len());
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        let table = [
            ("save_memroy", "save_memory"),
            ("search", "search_memory"),
            ("core,acept_handoff", "accept_handoff"),
            ("ful", "full"),
            ("tema", "team"),
        ];
        for (text, nearest) in table {
            let error = text.parse::<ToolSelection>().unwrap_err().message;
            assert!(error.ends_with(&format!("the nearest name is {nearest}")), "{text}: {error}");
        }
        for verb in ["append_entry", "create_token", "", " , "] {
            verb.parse::<ToolSelection>().unwrap_err();
        }
    }
}
