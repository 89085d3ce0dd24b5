//! Where a text from outside comes from, by an import or a vault, and what it may therefore do.
//!
//! A line of an import that this home wrote carries the home's signature, and becomes what it was. Every
//! other line is a text of a file: whatever it says of itself, it becomes no rule and no word of the person,
//! and leads no context. The agents that its records name (who handed over, opened a case or stated something)
//! are names of that file, below `import`. Another home's key signs no line, so that a move to another machine goes by `backup`.
//! The files of a vault know two origins more.

use serde_json::{Map, Value};

use crate::base::home_key::HomeKey;
use crate::model::agent::Agent;

/// The field of a line with the signature of the home that wrote it.
const SIGNATURE_FIELD: &str = "signature";

/// The name that a file may give to a person.
const FILE_PERSON_NAME: &str = "import/human";

/// Fields whose value is a text or an addressee, not an author.
const FIELDS_WITHOUT_AUTHOR: [&str; 6] = ["text", "title", "summary", "topics", "to", "metadata"];

/// Fields of a record whose value is an agent, or a list of agents, that speaks by it.
const AUTHOR_FIELDS: [&str; 11] = [
    "agent",
    "agents_involved",
    "agreed",
    "author",
    "authors",
    "from",
    "last_agent",
    "opened_by",
    "resolved_by",
    "said_by",
    "stated_by",
];

/// Fields of a record below which no agent speaks: what someone stated, and who may read it.
const FIELDS_WITHOUT_AGENT: [&str; 3] = ["value", "audience", "audiences"];

/// The origin of a text, as the program itself knows it and never as the text says. What the text may do
/// follows from this alone; `docs/security.md` has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextOrigin {
    /// This home wrote it: its signature is right, it never left the home, or the person edited it here.
    ThisHome,
    /// Another home wrote it, whose key a person accepted.
    KnownHome,
    /// A file of the person's own, by its place and its owner, which the person imports at a terminal.
    OwnFile,
    /// What a reader of another program's files found, which a person imports.
    Program,
    /// A file that a person imports.
    #[default]
    File,
    /// Others wrote it, and no person chose it: git brought it.
    Stranger,
}

impl TextOrigin {
    /// Whether its authors are those that it names, and its rules the person's.
    #[must_use]
    pub const fn names_authors(self) -> bool {
        matches!(self, Self::ThisHome)
    }

    /// Whether the name of an agent in it is more than a claim.
    #[must_use]
    pub const fn proves_agents(self) -> bool {
        !matches!(self, Self::File | Self::Stranger)
    }

    /// Whether it may lead contexts.
    #[must_use]
    pub const fn may_lead(self) -> bool {
        matches!(self, Self::ThisHome | Self::OwnFile)
    }

    /// Whether the person stands for its text, so that it waits for no review.
    #[must_use]
    pub const fn is_reviewed(self) -> bool {
        matches!(self, Self::OwnFile)
    }

    /// Whether it may change, end and restore memories that are here.
    #[must_use]
    pub const fn may_change_memories(self) -> bool {
        matches!(self, Self::ThisHome | Self::KnownHome)
    }

    /// The origin of a line as its signature proves it; without a key every line is a file's.
    #[must_use]
    pub fn of_line(line: &Value, key: Option<&HomeKey>) -> Self {
        let is_signed = || {
            let mut line = line.as_object()?.clone();
            let signature = line.shift_remove(SIGNATURE_FIELD)?;
            key?.proves(&message_of(line), signature.as_str()?).then_some(())
        };
        if is_signed().is_some() { Self::ThisHome } else { Self::File }
    }

    /// The line as its origin permits: without its signature, and of a file without the person's name.
    #[must_use]
    pub(in crate::model) fn admit(self, mut line: Value) -> Value {
        if let Value::Object(fields) = &mut line {
            remove_signature(fields);
        }
        if !self.names_authors() {
            rename_person(&mut line);
        }
        line
    }
}

/// An author that another home names, as this home names it: its person is not the person of this one.
#[must_use]
pub fn author_elsewhere(author: Agent) -> Agent {
    match author == Agent::human() || author.reads_as_person() {
        true => Agent::with_any_name(FILE_PERSON_NAME).unwrap_or_else(|_| Agent::legacy()),
        false => author,
    }
}

/// Whether an agent stands for the person of another home.
#[must_use]
pub fn is_person_elsewhere(agent: &Agent) -> bool {
    agent.as_str() == FILE_PERSON_NAME
}

/// Adds this home's signature to a line.
pub fn sign_line(line: &mut Map<String, Value>, key: &HomeKey) {
    remove_signature(line);
    let signature = key.signature(&message_of(line.clone()));
    line.insert(SIGNATURE_FIELD.to_owned(), signature.into());
}

/// Removes the signature of a line, if it has one.
pub fn remove_signature(line: &mut Map<String, Value>) {
    line.shift_remove(SIGNATURE_FIELD);
}

/// What is signed: the fields of a line in their order, as JSON without blanks.
fn message_of(line: Map<String, Value>) -> String {
    format!("line of an export\n{}", Value::Object(line))
}

/// Gives what a line says to be the person's to the person of its file.
fn rename_person(value: &mut Value) {
    match value {
        Value::String(name) if is_person(name) => FILE_PERSON_NAME.clone_into(name),
        Value::Array(values) => values.iter_mut().for_each(rename_person),
        Value::Object(fields) => {
            let authors = fields
                .iter_mut()
                .filter(|(name, _)| !FIELDS_WITHOUT_AUTHOR.contains(&name.as_str()));
            authors.for_each(|(_, value)| rename_person(value));
        }
        _ => {}
    }
}

/// Gives what a record says to be agents' words to agents of its file: none of them proves to be the agent of
/// that name here, which receives it as data of a file.
pub(in crate::model) fn rename_authors(record: &mut Value) {
    match record {
        Value::Array(values) => values.iter_mut().for_each(rename_authors),
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.as_str();
                if AUTHOR_FIELDS.contains(&name) {
                    rename_author(value);
                } else if !FIELDS_WITHOUT_AUTHOR.contains(&name)
                    && !FIELDS_WITHOUT_AGENT.contains(&name)
                {
                    rename_authors(value);
                }
            }
        }
        _ => {}
    }
}

/// Renames an agent or a list of agents; what else stands there, such as an id or an entity, stays.
fn rename_author(value: &mut Value) {
    match value {
        Value::String(name) => {
            if let Ok(agent) = Agent::try_from(name.clone()) {
                *name = agent.as_of_file().into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(rename_author),
        other => rename_authors(other),
    }
}

/// Whether a name is the person's, however it is written: `HUMAN` and `human_agent` are too.
fn is_person(name: &str) -> bool {
    Agent::with_any_name(name).is_ok_and(|agent| agent == Agent::human())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_this_home_speaks_for_its_authors_and_strangers_do_nothing() {
        let rights = |origin: TextOrigin| {
            let may_change = origin.may_change_memories();
            [origin.names_authors(), origin.may_lead(), may_change, origin.is_reviewed()]
        };
        assert_eq!(rights(TextOrigin::ThisHome), [true, true, true, false]);
        assert_eq!(rights(TextOrigin::OwnFile), [false, true, false, true]);
        assert_eq!(rights(TextOrigin::KnownHome), [false, false, true, false]);
        assert_eq!(rights(TextOrigin::File), [false, false, false, false]);
        assert_eq!(rights(TextOrigin::Program), [false, false, false, false]);
        assert!(TextOrigin::Program.proves_agents() && !TextOrigin::File.proves_agents());
        assert_eq!(rights(TextOrigin::Stranger), [false, false, false, false]);
    }

    fn key(digit: &str) -> HomeKey {
        HomeKey::from_hex(&digit.repeat(64)).expect("a key")
    }

    #[test]
    fn only_the_whole_line_with_this_homes_signature_is_this_homes() {
        let Value::Object(mut line) = json!({"owner": "human", "text": "x", "n": 0.1}) else {
            panic!("an object")
        };
        sign_line(&mut line, &key("1"));
        let text = Value::Object(line.clone()).to_string();
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(TextOrigin::of_line(&read, Some(&key("1"))), TextOrigin::ThisHome);
        assert_eq!(TextOrigin::of_line(&read, Some(&key("2"))), TextOrigin::File);
        assert_eq!(TextOrigin::of_line(&read, None), TextOrigin::File);
        for (field, value) in [("text", json!("y")), ("more", json!(1)), ("signature", json!("00"))]
        {
            let mut line = line.clone();
            line.insert(field.to_owned(), value);
            let origin = TextOrigin::of_line(&Value::Object(line), Some(&key("1")));
            assert_eq!(origin, TextOrigin::File, "{field}");
        }
    }

    #[test]
    fn a_record_of_a_file_speaks_for_no_agent() {
        let mut record = json!({
            "from": "claude-code", "to": "codex", "task": "ann", "lead": "codex",
            "memories": [{"author": "codex/qa", "text": "codex", "notes": ["ann"]}],
            "attributes": {"owner": {"value": {"agent": "ann"}, "agent": "ann", "agreed": ["bob"]}},
            "audience": {"owner": "ann", "agent": "ann"}, "opened_by": "import/human"
        });
        rename_authors(&mut record);
        assert_eq!(
            record,
            json!({
                "from": "import/claude-code", "to": "codex", "task": "ann", "lead": "codex",
                "memories": [{"author": "import/codex/qa", "text": "codex", "notes": ["ann"]}],
                "attributes": {"owner": {"value": {"agent": "ann"}, "agent": "import/ann",
                    "agreed": ["import/bob"]}},
                "audience": {"owner": "ann", "agent": "ann"}, "opened_by": "import/human"
            })
        );
        let mut relation = json!({"from": "ent_01m7y9c4dpeqkspxh7a865d434", "author": "ann"});
        rename_authors(&mut relation);
        assert_eq!(relation["from"], "ent_01m7y9c4dpeqkspxh7a865d434");
    }

    #[test]
    fn a_file_speaks_for_no_person() {
        let line = json!({
            "owner": "human", "text": "human", "source": {"agent": "human"}, "to": "human",
            "by": ["human", "ann"], "signature": "00"
        });
        let admitted = TextOrigin::File.admit(line.clone());
        assert_eq!(
            admitted,
            json!({
                "owner": "import/human", "text": "human", "source": {"agent": "import/human"},
                "to": "human", "by": ["import/human", "ann"]
            })
        );
        assert_eq!(TextOrigin::ThisHome.admit(line)["owner"], "human");
        for name in ["Human", "HUMAN", " human ", "human_agent", "human-agent"] {
            let owner = &TextOrigin::File.admit(json!({"owner": name}))["owner"];
            let agent = Agent::with_any_name(owner.as_str().expect("a name"));
            assert!(agent.is_err() || agent.is_ok_and(|agent| agent != Agent::human()), "{name}");
        }
    }
}
