//! Agents: programs that act under one name, and the registry of those seen.

use std::fmt;
use std::str::FromStr;

use commonbook_text::sanitize::is_hidden;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::{input, limits};
use crate::model::naming;
use crate::model::naming::RESERVED_NAMES;

/// The JSON Schema pattern of an agent's name with its device, after trimming. Outside ASCII it
/// accepts letters and digits of every script.
pub const NAME_PATTERN: &str = concat!(
    r"^[^\x00-/:-@\[-`{-\x7f][^\x00-\x1f!-,/:-@\[-^`{-\x7f]*",
    r"(/[^\x00-/:-@\[-`{-\x7f][^\x00-\x1f!-,/:-@\[-^`{-\x7f]*)*",
    r"(@[^\x00-/:-@\[-`{-\x7f][^\x00-,/:-@\[-^`{-\x7f]*)?$"
);

/// File endings of agent definitions; a name with one of them is cut to the file's stem.
const FILE_ENDINGS: [&str; 13] = [
    "md", "mdc", "mdx", "markdown", "txt", "json", "jsonc", "yaml", "yml", "toml", "py", "js", "ts",
];

/// The name above the authors that a file names.
const FILE_ROOT: &str = "import";

/// The names of each client: the usual one first, then those of its hooks and its MCP connection, and
/// what people call it.
const CLIENT_NAMES: [&[&str]; 6] = [
    &["claude-code", "claude"],
    &["codex", "codex-cli", "codex-mcp-client"],
    &["gemini-cli", "gemini", "gemini-cli-mcp-client"],
    &["copilot-cli", "copilot", "github-copilot", "github-copilot-developer"],
    &["opencode", "opencode-cli"],
    &["cursor", "cursor-agent", "cursor-vscode"],
];

/// The name of an agent: a path of slugs, such as `claude-code` or `claude-code/engineer`.
///
/// Two names that normalise to the same path are the same agent.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Agent(String);

impl Agent {
    /// The agent of callers that give no name.
    #[must_use]
    pub fn anonymous() -> Self {
        Self("anonymous".to_owned())
    }

    /// The owner of memories older than ownership.
    #[must_use]
    pub fn legacy() -> Self {
        Self("legacy".to_owned())
    }

    /// The person that agents work for, and the owner of what an administrator adopts for that
    /// person.
    #[must_use]
    pub fn human() -> Self {
        Self("human".to_owned())
    }

    /// The agent under which Commonbook itself acts.
    #[must_use]
    pub fn system() -> Self {
        Self("system".to_owned())
    }

    /// The normalised name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is [`Self::anonymous`].
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.0 == "anonymous"
    }

    /// Whether this is [`Self::legacy`].
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        self.0 == "legacy"
    }

    /// Whether this is the name of nobody in particular: of a caller or an author without a name, or of an author
    /// that a file names, below `import`.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.is_anonymous() || self.is_legacy() || self.is_of_file()
    }

    /// Whether only a file names this agent: it stands below `import`.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        self.root() == FILE_ROOT
    }

    /// This agent as a file names it, which proves nothing of the agent of that name here.
    #[must_use]
    pub fn as_of_file(&self) -> Self {
        match self.is_nobody() {
            true => self.clone(),
            false if self.0 == "*" => Self::legacy(),
            false => Self(format!("{FILE_ROOT}/{}", self.0)),
        }
    }

    /// The name that a file gives to the agent: this one if no file names it.
    #[must_use]
    pub fn name_in_file(&self) -> Self {
        let below = self.0.strip_prefix(FILE_ROOT).and_then(|rest| rest.strip_prefix('/'));
        below.map_or_else(|| self.clone(), |name| Self(name.to_owned()))
    }

    /// Whether this agent is below `other`: `claude-code/engineer` is below `claude-code`.
    #[must_use]
    pub fn is_child_of(&self, other: &Self) -> bool {
        self.0.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The agents above this one, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = self.0.rmatch_indices('/').map(|(end, _)| end);
        ends.map(|end| Self(self.0[..end].to_owned()))
    }

    /// The first part of the path; it answers for every agent below it.
    #[must_use]
    pub fn root(&self) -> &str {
        self.0.split('/').next().unwrap_or(&self.0)
    }

    /// The last part of the path.
    #[must_use]
    pub fn role(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The other names of the same client: `gemini-cli` for `gemini`, and `claude-code/qa` for
    /// `claude/qa`.
    #[must_use]
    pub fn aliases(&self) -> Vec<Self> {
        self.client_names().into_iter().filter(|name| name != self).collect()
    }

    /// The usual name of the same client; this name if it is not that of a client.
    #[must_use]
    pub fn usual_name(&self) -> Self {
        self.client_names().into_iter().next().unwrap_or_else(|| self.clone())
    }

    /// All names of the same client, the usual one first; empty if the name is not that of a client.
    fn client_names(&self) -> Vec<Self> {
        let root = self.root();
        let names = CLIENT_NAMES.iter().find(|names| names.contains(&root));
        let names = names.into_iter().flat_map(|names| names.iter());
        names.map(|name| Self(format!("{name}{}", &self.0[root.len()..]))).collect()
    }

    /// The roles that a handoff to this agent may name: the last part of its path, and the aliases of
    /// that name.
    #[must_use]
    pub fn roles(&self) -> Vec<Self> {
        let role = Self(self.role().to_owned());
        let aliases = role.aliases();
        [role].into_iter().chain(aliases).collect()
    }

    /// Whether the name has one part, as a role has: `developer`, but not `claude-code/developer`.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        !self.0.contains('/')
    }

    /// The Latin name that this one looks like: every look-alike letter of another script replaced.
    #[must_use]
    pub fn lookalike_name(&self) -> Self {
        Self(naming::fold_lookalikes(&self.0))
    }

    /// Whether a glance takes this name for another agent's, of which it is the imitation: neither the name of a
    /// client nor one in plain Latin letters imitates what was there before it.
    #[must_use]
    pub fn looks_like(&self, other: &Self) -> bool {
        let is_plain = |agent: &Self| agent.lookalike_name() == *agent;
        let is_below_client = self.is_of_client() && self.root() != other.root();
        let is_original = is_below_client || (is_plain(self) && !is_plain(other));
        self != other
            && !is_original
            && naming::glance(&self.0) == naming::glance(&other.0)
            && !self.aliases().contains(other)
    }

    /// Whether a reader takes this name for the person.
    #[must_use]
    pub fn reads_as_person(&self) -> bool {
        naming::reads_as_person(&self.0)
    }

    /// Whether this is a client's name, or that of an agent below it.
    #[must_use]
    pub fn is_of_client(&self) -> bool {
        CLIENT_NAMES.iter().any(|names| names.contains(&self.root()))
    }

    /// Whether a part of the path mixes Latin letters with look-alikes of another script.
    fn mixes_scripts(&self) -> bool {
        self.0.split('/').any(naming::mixes_scripts)
    }

    /// Parses a name, reserved ones included. Use it to ask about agents, not to identify a caller.
    ///
    /// # Errors
    /// `invalid` if the text is not a name.
    pub fn with_any_name(text: &str) -> Result<Self> {
        normalise(text).map(Self)
    }
}

impl FromStr for Agent {
    type Err = Error;

    /// Parses the name that an agent claims.
    fn from_str(text: &str) -> Result<Self> {
        // As people call each other in chats.
        let text = text.trim_start().strip_prefix('@').unwrap_or(text);
        let agent = Self(normalise(text)?);
        let folded = agent.lookalike_name();
        let name = agent.as_str();
        if let Some(word) = naming::reserved_part(name) {
            let message = if name.split('/').any(|part| part == word) {
                format!("'{name}' is reserved: no agent can use '{word}'")
            } else {
                format!("'{name}' is reserved: it looks like '{word}', which no agent can use")
            };
            return Err(Error::invalid("agent", message)
                .hint("Choose another name, such as claude-code or reviewer."));
        }
        if naming::reads_as_person(name) {
            let message =
                format!("'{name}' is reserved: it reads as the person that agents work for");
            return Err(Error::invalid("agent", message)
                .hint("Choose another name, such as claude-code or reviewer."));
        }
        if name.contains(is_hidden) {
            let message = format!("{name:?} contains a character that no reader sees");
            return Err(Error::invalid("agent", message)
                .hint("Write the name with letters, digits, '-' and '.' alone."));
        }
        if agent.mixes_scripts() {
            let message =
                format!("'{name}' mixes Latin letters with look-alikes of another script");
            return Err(Error::invalid("agent", message)
                .hint(format!("Write each part of the name in one script: {folded}.")));
        }
        Ok(agent)
    }
}

impl TryFrom<String> for Agent {
    type Error = Error;

    /// Parses a name that is already normalised, as in rows and responses.
    fn try_from(text: String) -> Result<Self> {
        well_formed(text).map(Self)
    }
}

impl From<Agent> for String {
    fn from(agent: Agent) -> Self {
        agent.0
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lower-cases; turns spaces and underscores into `-`; drops from the last part a file ending, then
/// ONE trailing `-agent`, unless a reserved word would be left.
fn normalise(text: &str) -> Result<String> {
    let text = input::line("agent", text, limits::AGENT_CHARS)?.to_lowercase();
    let path = text.replace([' ', '_'], "-");
    let (parents, last) = match path.rsplit_once('/') {
        Some((parents, last)) => (Some(parents), last),
        None => (None, path.as_str()),
    };
    let stem = match last.rsplit_once('.') {
        Some((stem, ending)) if FILE_ENDINGS.contains(&ending) => stem,
        _ => last,
    };
    // The bare word alone is reserved: `assistant_agent` is a name of its own.
    let bare = stem.strip_suffix("-agent");
    let bare = bare.filter(|bare| parents.is_some() || !RESERVED_NAMES.contains(bare));
    let role = bare.unwrap_or(stem);
    well_formed(parents.map_or_else(|| role.to_owned(), |parents| format!("{parents}/{role}")))
}

fn well_formed(name: String) -> Result<String> {
    let fits = |part: &str| {
        part.starts_with(char::is_alphanumeric)
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
    };
    if name == "*" || name.split('/').all(fits) {
        return Ok(name);
    }
    Err(Error::invalid("agent", format!("{name:?} is not an agent's name"))
        .hint("Use letters, digits, '-' and '.', with '/' before the name of a child: claude-code/engineer."))
}

/// An agent's name and, if given, the device it runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentName {
    /// The agent. Ownership depends only on it.
    pub agent: Agent,
    /// The device, `jarvis` in `rook@jarvis`; kept for the audit.
    pub device: Option<String>,
}

impl AgentName {
    /// The nearest valid name to a text that was not written as one, such as an MCP client's name
    /// or a speaker. Characters that a name cannot hold become `-`; a reserved name is placed below
    /// `from`.
    ///
    /// # Errors
    /// `invalid` if no letter or digit is left.
    pub fn nearest_agent_name(text: &str, from: &str) -> Result<Self> {
        let is_letter = |c: char| c.is_alphanumeric() && !is_hidden(c);
        let fits = |c: char| if is_letter(c) || c == '.' { c } else { '-' };
        let name: String = text.chars().map(fits).take(limits::AGENT_CHARS / 2).collect();
        let agent = Agent::with_any_name(name.trim_matches(['-', '.']))?;
        // A reserved name, or one that looks like another, goes below `from`.
        let folded = agent.lookalike_name();
        let plain = !agent.mixes_scripts()
            && naming::reserved_part(agent.as_str()).is_none()
            && !naming::reads_as_person(agent.as_str())
            && !naming::reads_as_person(text);
        let agent = if plain { agent } else { Agent(format!("{from}/{folded}")) };
        Ok(Self { agent, device: None })
    }
}

impl FromStr for AgentName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, device) = match text.split_once('@') {
            Some((name, device)) => {
                (name, Some(input::slug("agent", device, limits::AGENT_CHARS)?))
            }
            None => (text, None),
        };
        Ok(Self { agent: name.parse()?, device })
    }
}

/// An agent in the registry. The registry informs; it does not control access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecord {
    /// The agent's name.
    pub agent: Agent,
    /// When it first called.
    pub first_seen: Timestamp,
    /// When it last called; for reads, to the minute.
    pub last_seen: Timestamp,
    /// The device of its last call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// The client program of its last call, with its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// Number of its memories that you may see.
    pub memory_count: u64,
}

/// Lists the agents that have read or written in this workspace.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAgents {}

/// The agents, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentList {
    /// One record per agent.
    pub items: Vec<AgentRecord>,
}

/// Returns the record of one agent: first and last call, client program, device, and the number of
/// its memories that you may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetAgent {
    /// The agent's name, such as `claude-code/engineer`.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn an_agent_of_a_file_is_another_than_the_one_of_that_name_here() {
        for (name, of_file) in [
            ("claude-code", "import/claude-code"),
            ("codex/engineer", "import/codex/engineer"),
            ("system", "import/system"),
            ("import/human", "import/human"),
            ("anonymous", "anonymous"),
            ("legacy", "legacy"),
            ("*", "legacy"),
        ] {
            let agent = Agent::with_any_name(name).expect(name);
            let named = agent.as_of_file();
            assert_eq!(named.as_str(), of_file);
            assert_eq!(named.as_of_file(), named);
            assert!(named.is_nobody() && Agent::try_from(of_file.to_owned()).is_ok());
            if name.starts_with('c') {
                assert!(named.is_of_file() && !agent.is_of_file());
                assert_eq!((named.name_in_file(), agent.name_in_file()), (agent.clone(), agent));
            }
        }
    }

    #[test]
    fn names_are_normalised() {
        let table = [
            ("claude-code", "claude-code"),
            ("Engineer Agent", "engineer"),
            ("engineer_agent.md", "engineer"),
            ("research-agent", "research"),
            ("agentic-coder", "agentic-coder"),
            ("agentic-coder-optimizer", "agentic-coder-optimizer"),
            ("agent-agent-agent", "agent-agent"),
            ("assistant_agent", "assistant-agent"),
            ("System Agent", "system-agent"),
            ("claude/assistant_agent", "claude/assistant"),
            ("agent", "agent"),
            ("Claude Code/QA Agent", "claude-code/qa"),
            ("gpt-4.1", "gpt-4.1"),
            ("李明", "李明"),
        ];
        for (text, name) in table {
            let agent: Agent = text.parse().expect(text);
            assert_eq!(agent.as_str(), name, "{text:?}");
            assert_eq!(Agent::try_from(name.to_owned()).ok(), Some(agent), "{text:?}");
        }
    }

    #[test]
    fn reserved_and_malformed_names_are_refused() {
        let reserved = ["legacy", "Anonymous", "HUMAN", "system", "*", "human.md"];
        let malformed = ["", " ", "-agent", "a//b", "/a", "a/", "a:b", "a\nb", "a\u{1b}b", "../x"];
        for bad in reserved.iter().chain(&malformed) {
            let refused = bad.parse::<Agent>().map_err(|error| error.kind);
            assert_eq!(refused, Err(ErrorKind::Invalid), "{bad:?}");
        }
        let long = "a".repeat(limits::AGENT_CHARS + 1);
        assert_eq!(long.parse::<Agent>().map_err(|e| e.kind), Err(ErrorKind::TooLarge));
    }

    #[test]
    fn role_words_and_names_that_look_like_another_are_refused() {
        let roles = ["user", "Assistant", "ADMINISTRATOR", "admin", "commonbook", "root", "tool"];
        let below = ["system/engineer", "human/me", "commonbook/server", "import/ann"];
        let children = ["mallory/human", "a/b/System", "x/commonbook", "x/hum4n", "x/ѕуѕtem"];
        let written = ["human.", "hum-an", "h.u.m.a.n", "hum4n", "5ystem", "r00t", "1mport"];
        let alike = ["ѕуѕtem", "clаude-code", "ＳＹＳＴＥＭ", "rοοk", "usеr", "cоdex/qa"];
        for bad in roles.iter().chain(&below).chain(&alike).chain(&children).chain(&written) {
            let refused = bad.parse::<Agent>().map_err(|error| error.kind);
            assert_eq!(refused, Err(ErrorKind::Invalid), "{bad:?}");
        }
        for bad in [
            "hurnan",
            "human1",
            "humanuser",
            "user1",
            "system1",
            "the-user",
            "your-user",
            "person",
            "you",
            "owner",
            "benutzer",
            "der.mensch",
            "usuario",
            "Usuário",
            "пользователь",
            "用户",
            "the-person-2",
            "your-human/qa",
            "humans",
            "hu\u{43c}an",
            "\u{442}eam-lead",
        ] {
            let refused = bad.parse::<Agent>().map_err(|error| error.kind);
            assert_eq!(refused, Err(ErrorKind::Invalid), "{bad:?}");
        }
        for good in [
            "codex2",
            "qa-1",
            "user-service-agent",
            "user-research",
            "owner-bot",
            "youtube",
            "humana",
            "personal",
            "mentor",
            "delamain",
            "李明",
            "помощник",
            "josé",
            "müller/qa",
            "βοηθός",
            "claude-code/user",
            "users-guide",
            "assistant_agent",
            "human-resources",
            "systems",
            "importer",
            "theme",
        ] {
            assert!(good.parse::<Agent>().is_ok(), "{good:?}");
        }
        // Memories stored under one of these names stay readable.
        for kept in ["user", "clаude-code", "system/engineer"] {
            assert!(Agent::try_from(kept.to_owned()).is_ok(), "{kept:?}");
        }
        let rook: Agent = "рок".parse().expect("a name of one script");
        assert_eq!(rook.lookalike_name().as_str(), "pok");
    }

    proptest::proptest! {
        #[test]
        fn the_pattern_matches_valid_names(text in "[a-zA-C0-2 ./@_*:é\\x00-]{0,8}") {
            let pattern = regex::Regex::new(NAME_PATTERN).expect("a pattern");
            // A pattern cannot express names that are invalid only by their end (`.md`, a reserved
            // name).
            match text.parse::<AgentName>() {
                Ok(_) => {
                    let parts = text.split('@').map(str::trim).collect::<Vec<_>>();
                    assert!(pattern.is_match(&parts.join("@")), "{text:?}");
                }
                Err(error) => assert!(
                    !pattern.is_match(&text) || error.message.contains("is reserved"),
                    "{text:?}: {error}"
                ),
            }
        }
    }

    #[test]
    fn a_device_is_separate_from_the_name() {
        let name: AgentName = "Rook@Jarvis".parse().expect("a name with a device");
        assert_eq!(name.agent.as_str(), "rook");
        assert_eq!(name.device.as_deref(), Some("jarvis"));
    }

    #[test]
    fn children_are_below_their_parent_only() {
        let parse = |text: &str| text.parse::<Agent>().expect(text);
        assert!(parse("claude-code/engineer").is_child_of(&parse("claude-code")));
        assert!(!parse("claude-code").is_child_of(&parse("claude-code")));
        assert!(!parse("claude-codex").is_child_of(&parse("claude-code")));
        assert_eq!(parse("claude-code/engineer").role(), "engineer");
    }

    #[test]
    fn a_client_has_several_names() {
        let names = |name: &str| {
            let agent = Agent::with_any_name(name).expect(name);
            agent.aliases().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("gemini"), ["gemini-cli", "gemini-cli-mcp-client"]);
        assert_eq!(names("claude/qa"), ["claude-code/qa"]);
        let copilot = Agent::with_any_name("copilot").expect("a name");
        assert_eq!(copilot.usual_name().as_str(), "copilot-cli");
        assert_eq!(copilot.usual_name().usual_name(), copilot.usual_name());
        assert!(names("developer").is_empty() && names("qa/claude").is_empty());
        let agent = Agent::with_any_name("codex/developer").expect("a name");
        assert_eq!(agent.roles(), [Agent::with_any_name("developer").expect("a name")]);
    }

    #[test]
    fn names_from_outside_get_the_nearest_valid_name() {
        let table = [
            ("Claude Desktop (v2)", "claude-desktop--v2"),
            ("@scope/inspector", "scope-inspector"),
            ("Human", "import/human"),
            ("You", "import/you"),
            ("human/x", "import/human-x"),
            ("the person you work for", "import/the-person-you-work-for"),
            ("The User 2", "import/the-user-2"),
            ("Melanie", "melanie"),
        ];
        for (given, name) in table {
            let near = AgentName::nearest_agent_name(given, "import").expect(given);
            assert_eq!(near.agent.as_str(), name, "{given:?}");
        }
        assert!(AgentName::nearest_agent_name("!!!", "import").is_err());
    }
}
