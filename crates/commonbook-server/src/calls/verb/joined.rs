//! Tools of several verbs: their argument `action` says which one a call means, also by another word for it. The core set has them, so
//! that an agent with few tools lacks nothing; the larger sets have each verb as a tool of its own.

use commonbook::base::error::{Error, Result};
use commonbook::base::input::plain_name;
use commonbook::verbs::names;
use serde_json::{Map, Value};

use super::{Verb, find};

/// The argument that names the action.
pub(crate) const ACTION: &str = "action";

/// An action of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolAction {
    /// Its name.
    pub(crate) name: &'static str,
    /// The verb that it calls.
    pub(crate) verb: &'static str,
}

/// A tool of several verbs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JoinedTool {
    /// Its name.
    pub(crate) name: &'static str,
    /// What a model reads of it.
    pub(crate) description: &'static str,
    /// Its actions. A call without arguments means the first.
    pub(crate) actions: &'static [ToolAction],
    /// The arguments that it declares. Each has the schema of the first verb with such a field; the verbs take
    /// their other fields besides.
    pub(crate) fields: &'static [&'static str],
}

/// Filters of a verb without a word for everything: a call that has every field had to choose one.
const FORCED_FILTERS: [(&str, &str); 1] = [(names::READ_CASE, "kind")];

/// Other words for actions; a tool has at most one of those that a word may mean.
const ACTION_WORDS: [(&str, &[&str]); 9] = [
    (
        "append",
        &[
            "add", "create", "entry", "log", "new", "note", "open", "post", "start", "update",
            "write",
        ],
    ),
    ("read", &["fetch", "get", "show", "view"]),
    ("close", &["complete", "done", "finish", "resolve"]),
    ("reject", &["decline", "deny", "refuse"]),
    ("withdraw", &["cancel", "retract", "revoke"]),
    ("changes", &["diff", "news", "what_changed"]),
    ("resume", &["continue", "get", "load", "restore"]),
    ("checkpoint", &["create", "save", "snapshot"]),
    ("end", &["close", "finish", "stop"]),
];
/// Words that open a case, where no entry comes with it.
const OPENING_WORDS: [&str; 4] = ["open", "create", "new", "start"];

const fn action(name: &'static str, verb: &'static str) -> ToolAction {
    ToolAction { name, verb }
}

/// All of them.
pub(crate) const JOINED_TOOLS: [JoinedTool; 3] = [
    JoinedTool {
        name: "cases",
        description: "A case is the log of one matter that several agents work on. Lists cases, reads one, or \
             appends an entry, with a title to a new case.",
        actions: &[
            action("list", names::LIST_CASES),
            action("read", names::READ_CASE),
            action("append", names::APPEND_ENTRY),
            action("close", names::CLOSE_CASE),
        ],
        fields: &["key", "summary", "text", "kind", "title"],
    },
    JoinedTool {
        name: "handoffs",
        description: "Lists handoffs for you, or with side those that you sent; rejects or withdraws one.",
        actions: &[
            action("list", names::LIST_HANDOFFS),
            action("reject", names::REJECT_HANDOFF),
            action("withdraw", names::WITHDRAW_HANDOFF),
        ],
        fields: &["handoff", "reason", "side"],
    },
    JoinedTool {
        name: "sessions",
        description: "Tells what other agents changed, resumes the last session or another one, makes a checkpoint, \
             or ends yours with a summary.",
        actions: &[
            action("changes", names::CHANGES_SINCE),
            action("resume", names::RESUME_SESSION),
            action("checkpoint", names::CREATE_CHECKPOINT),
            action("end", names::END_SESSION),
        ],
        fields: &["session", "title", "summary", "mark"],
    },
];

impl JoinedTool {
    /// The tool of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        JOINED_TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The tool with an action for this verb, and that action.
    pub(crate) fn of_verb(verb: &str) -> Option<(&'static Self, &'static ToolAction)> {
        let action = |tool: &'static Self| tool.actions.iter().find(|action| action.verb == verb);
        JOINED_TOOLS.iter().find_map(|tool| Some((tool, action(tool)?)))
    }

    /// Its verbs, in the order of its actions.
    pub(crate) fn verbs(&self) -> impl Iterator<Item = &'static Verb> {
        self.actions.iter().filter_map(|action| find(action.verb))
    }

    /// Takes the action off the arguments of a call, and returns its verb. Fields of other actions that say nothing
    /// go too, and of a call that has every field those with a choice: a strict client had to choose one.
    ///
    /// # Errors
    /// `invalid` if the action is none of this tool's.
    pub(crate) fn take_verb(
        &self,
        arguments: &mut Map<String, Value>,
        is_filled: bool,
    ) -> Result<&'static Verb> {
        let verb = self.verb_of(arguments)?;
        let last = ["summary", "text"].into_iter().find(|name| {
            verb.name == names::CLOSE_CASE
                && arguments.get(*name).is_some_and(|it| !says_nothing(it))
        });
        if let Some(field) = last.filter(|_| !is_filled) {
            return Err(Error::invalid(field, "a case is closed without a text")
                .hint("Append it first, with the action append; then close the case."));
        }
        let has_field = |name: &str| verb.call.fields().any(|(field, _)| field == name);
        arguments.retain(|name, value| {
            let is_choice = is_filled && self.verbs().any(|verb| verb.call.is_choice(name));
            let is_needless = !has_field(name) && (is_choice || says_nothing(value));
            let is_forced = is_filled && FORCED_FILTERS.contains(&(verb.name, name.as_str()));
            !(self.fields.contains(&name.as_str()) && is_needless || is_forced)
        });
        Ok(verb)
    }

    fn has_action(&self, name: &str) -> bool {
        self.actions.iter().any(|action| action.name == name)
    }

    /// Takes the action off the arguments of a call; the verb that it means.
    fn verb_of(&self, arguments: &mut Map<String, Value>) -> Result<&'static Verb> {
        let wanted = arguments.shift_remove(ACTION).filter(|value| !is_absent(value));
        let name = match &wanted {
            Some(Value::String(name)) => plain_name(name),
            None if arguments.values().all(is_absent) => self.actions[0].name.to_owned(),
            _ => String::new(),
        };
        let has_entry = ["summary", "text", "content"]
            .iter()
            .any(|it| arguments.get(*it).is_some_and(|it| !is_absent(it)));
        let opens = OPENING_WORDS.contains(&name.as_str()) && !has_entry;
        if let Some(verb) = find(names::OPEN_CASE).filter(|_| opens && self.has_action("append")) {
            return Ok(verb);
        }
        let means = |action: &&ToolAction| {
            let words = ACTION_WORDS.iter().find(|(own, _)| *own == action.name);
            words.is_some_and(|(_, words)| words.contains(&name.as_str()))
        };
        let is_own = |action: &&ToolAction| action.name == name || action.verb == name;
        let found = self.actions.iter().find(is_own).or_else(|| self.actions.iter().find(means));
        let sums_up = arguments.get("summary").is_some_and(|summary| !says_nothing(summary));
        let verb = found.map(|action| match action.verb {
            names::CREATE_CHECKPOINT if sums_up => names::CHECKPOINT_AND_SUMMARISE,
            verb => verb,
        });
        verb.and_then(find).ok_or_else(|| {
            let names: Vec<&str> = self.actions.iter().map(|action| action.name).collect();
            let what = wanted.map_or_else(|| "is missing".to_owned(), |it| format!("is {it}"));
            Error::invalid(ACTION, format!("{what}; expected one of {}", names.join(", ")))
        })
    }
}

fn is_absent(value: &Value) -> bool {
    value.is_null() || value == ""
}

/// Whether a field of another action holds nothing that could be lost.
fn says_nothing(value: &Value) -> bool {
    is_absent(value) || value == false || value.as_array().is_some_and(Vec::is_empty)
}
