//! Whether a tool call of an agent left something for other agents.

use commonbook::verbs::names;
use serde_json::{Map, Value};

use super::command_line;
use super::event::own_tool;
use crate::calls::verb::{self, JoinedTool, Verb, VerbCommandName};

/// The verbs with which an agent leaves something for others.
const SAVING_VERBS: [&str; 17] = [
    names::SAVE_MEMORY,
    names::SAVE_MEMORIES,
    names::UPDATE_MEMORY,
    names::IMPORT_MEMORIES,
    names::LEARN,
    names::ADD_STANDING,
    names::OPEN_CASE,
    names::APPEND_ENTRY,
    names::APPEND_ENTRIES,
    names::DIGEST_CASE,
    names::CREATE_HANDOFF,
    names::COMPLETE_HANDOFF,
    names::CREATE_CHECKPOINT,
    names::CHECKPOINT_AND_SUMMARISE,
    names::END_SESSION,
    names::RESOLVE_ENTITY,
    names::ADD_RELATION,
];

/// Those of them that leave something only with a text besides what they end.
const ENDING_VERBS: [&str; 2] = [names::COMPLETE_HANDOFF, names::END_SESSION];

/// Arguments that name what a call is about.
const NAMING_ARGUMENTS: [&str; 5] = ["handoff", "handoff_id", "id", "session", "idempotency_key"];

/// The argument of a tool of Gemini that is named as one of ours and writes a file of its own.
const FOREIGN_ARGUMENT: &str = "fact";

/// The commands of the program that save as one of the verbs does, and are none of a verb.
const SAVING_COMMANDS: [&str; 1] = ["import"];

/// Flags with which a command changes nothing.
const IDLE_FLAGS: [&str; 3] = ["--help", "-h", "--dry-run"];

/// The arguments that hold a text or the words for a shell.
const COMMAND_ARGUMENTS: [&str; 4] = ["command", "cmd", "script", "argv"];

/// The prefix of our tools in code that calls tools.
const CODE_PREFIX: &str = "mcp__commonbook__";

/// Whether a call of a tool leaves something for other agents: one of ours, or a command of the program in a
/// shell.
pub(super) fn saves(tool: &str, arguments: &Value) -> bool {
    let arguments = parsed(arguments);
    let named =
        own_tool(tool).or_else(|| arguments.get(FOREIGN_ARGUMENT).is_none().then_some(tool));
    named.is_some_and(|tool| saves_by_tool(tool, arguments.as_object()))
        || COMMAND_ARGUMENTS.iter().any(|name| saves_by_command(&arguments[*name]))
}

/// Whether code that calls tools leaves something: by one of ours, or by a text for a shell.
pub(super) fn saves_in_code(code: &str) -> bool {
    let called = |(at, _): (usize, &str)| {
        let call = &code[at + CODE_PREFIX.len()..];
        let end = call.find(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(call.len());
        saves_by_tool(&call[..end], Some(&literals(&call[end..])))
    };
    code.match_indices(CODE_PREFIX).any(called)
        || saves_by_text(code)
        || code.split(['"', '\'', '`']).skip(1).step_by(2).any(saves_by_text)
        || literals(code).values().any(saves_by_command)
}

/// Arguments as a value: some clients write them as JSON in a text.
fn parsed(arguments: &Value) -> Value {
    let text = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    text.unwrap_or_else(|| arguments.clone())
}

fn saves_by_tool(tool: &str, arguments: Option<&Map<String, Value>>) -> bool {
    let mut arguments = arguments.cloned().unwrap_or_default();
    let verb = match JoinedTool::find(tool) {
        Some(joined) => joined.take_verb(&mut arguments, false).ok(),
        None => verb::find(tool),
    };
    let says = |(name, value): (&String, &Value)| {
        !NAMING_ARGUMENTS.contains(&name.as_str()) && !value.is_null() && *value != ""
    };
    verb.is_some_and(|verb| leaves_something(verb, arguments.iter().any(says)))
}

/// Whether a verb leaves something, given whether its call has a text besides what it names.
fn leaves_something(verb: &Verb, has_text: bool) -> bool {
    SAVING_VERBS.contains(&verb.name) && (has_text || !ENDING_VERBS.contains(&verb.name))
}

/// Whether a text for a shell, or the words of a command, run the program so that something is left.
fn saves_by_command(command: &Value) -> bool {
    match command {
        Value::String(text) => saves_by_text(text),
        Value::Array(words) => {
            let words: Vec<String> =
                words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
            command_line::own_calls_of(&words).iter().any(|call| saves_by_arguments(call))
        }
        _ => false,
    }
}

fn saves_by_text(text: &str) -> bool {
    command_line::own_calls(text).iter().any(|call| saves_by_arguments(call))
}

/// Whether the program leaves something with these arguments: the first that name a command do, options and
/// their values aside.
fn saves_by_arguments(arguments: &[String]) -> bool {
    if arguments.iter().any(|word| IDLE_FLAGS.contains(&word.as_str())) {
        return false;
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    (0..words.len()).find_map(|at| {
        if SAVING_COMMANDS.contains(&words[at]) {
            return Some(true);
        }
        let two = words.get(at + 1).map(|next| format!("{} {next}", words[at]));
        let names = [two.as_deref().map(|name| (name, 2)), Some((words[at], 1))];
        let (verb, length) = names
            .into_iter()
            .flatten()
            .find_map(|(name, length)| Some((verb_of_command(name)?, length)))?;
        // The first word behind the command names what it is about, as in `session end s1 --summary "…"`.
        Some(leaves_something(verb, words.len() > at + length + 1))
    }) == Some(true)
}

fn verb_of_command(name: &str) -> Option<&'static Verb> {
    let is_named =
        |verb: &&Verb| matches!(verb.command, Some(VerbCommandName::Own(own)) if own == name);
    verb::all().iter().find(is_named)
}

/// The texts that code gives to the fields of an object, as far as they stand there literally: `{action: "end"}`.
fn literals(code: &str) -> Map<String, Value> {
    let parts: Vec<&str> = code.split(['"', '\'', '`']).collect();
    let mut found = Map::new();
    for at in (1..parts.len()).step_by(2) {
        let Some(before) = parts[at - 1].trim_end().strip_suffix(':') else { continue };
        let is_quoted = before.trim().is_empty() && at >= 2;
        let name = if is_quoted { parts[at - 2] } else { before };
        let name = name.rsplit(|it: char| it != '_' && !it.is_alphanumeric()).next();
        found.insert(name.unwrap_or_default().to_owned(), parts[at].into());
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_that_leaves_something_is_known_by_its_verb() {
        let own = |tool: &str| format!("mcp__commonbook__{tool}");
        let shell = |command: &str| ("Bash".to_owned(), json!({"command": command}));
        let left = [
            (own("save_memory"), json!({"text": "x"})),
            ("commonbook-learn".to_owned(), json!({"text": "x"})),
            ("mcp_commonbook_update_memory".to_owned(), json!({})),
            ("mcp__plugin_commonbook_commonbook__update_memory".to_owned(), json!({})),
            ("commonbook__append_entries".to_owned(), json!({})),
            ("commonbook/save_memory".to_owned(), json!({})),
            ("save_memory".to_owned(), json!({"text": "x"})),
            (own("cases"), json!({"action": "append", "key": "k", "summary": "s"})),
            (own("cases"), json!({"action": "add", "key": "k", "summary": "s"})),
            (own("cases"), json!(r#"{"action": "append", "key": "k", "summary": "s"}"#)),
            (own("sessions"), json!({"action": "checkpoint", "title": "t"})),
            (own("sessions"), json!({"action": "end", "summary": "what we found"})),
            (own("end_session"), json!({"summary": "what we found"})),
            (own("complete_handoff"), json!({"handoff": "h", "result": "done"})),
            ("shell".to_owned(), json!({"command": ["bash", "-lc", "commonbook save foo"]})),
            (
                "shell".to_owned(),
                json!(r#"{"command": ["commonbook", "case", "append", "k", "x"]}"#),
            ),
            ("exec_command".to_owned(), json!({"cmd": "cd x && /usr/bin/commonbook checkpoint"})),
            shell("commonbook --agent x save foo"),
            shell("commonbook session end s1 --summary 'what we found'"),
            shell("commonbook handoff complete h done"),
            shell("commonbook memory add engineer foo"),
            shell("commonbook import notes.md"),
        ];
        let nothing = [
            (own("search_memory"), json!({"query": "x"})),
            (own("cases"), json!({"action": "read", "key": "k"})),
            (own("cases"), json!({})),
            (own("handoffs"), json!({"action": "reject", "handoff": "h"})),
            (own("sessions"), json!({"action": "end"})),
            (own("end_session"), json!({"session": "s1", "summary": ""})),
            (own("complete_handoff"), json!({"handoff": "h"})),
            ("save_memory".to_owned(), json!({"fact": "the client's own"})),
            ("Grep".to_owned(), json!({"pattern": "commonbook save"})),
            ("Write".to_owned(), json!({"content": "commonbook save x"})),
            shell("commonbook search 'how to save'"),
            shell("commonbook save --help"),
            shell("commonbook import notes.md --dry-run"),
            shell("commonbook session end s1"),
            shell("commonbook handoff complete h"),
            shell("commonbook list"),
            shell("git commit -m 'commonbook save x'"),
        ];
        for (calls, expected) in [(&left[..], true), (&nothing[..], false)] {
            for (tool, arguments) in calls {
                assert_eq!(saves(tool, arguments), expected, "{tool} {arguments}");
            }
        }
    }

    #[test]
    fn code_that_calls_tools_leaves_something() {
        let table = [
            ("commonbook save foo", true),
            (
                r#"const r = await tools.exec_command({cmd: "cd x && commonbook save 'foo'"});"#,
                true,
            ),
            (r#"tools.exec_command({"cmd": "commonbook list"})"#, false),
            ("await tools.mcp__commonbook__save_memory({text: 'x'})", true),
            (
                r#"tools.mcp__commonbook__cases({"action": "append", "key": "k", "summary": "s"})"#,
                true,
            ),
            ("tools.mcp__commonbook__sessions({action: 'end', summary: `we found x`})", true),
            ("tools.mcp__commonbook__sessions({action: 'resume'})", false),
            ("tools.mcp__commonbook__search_memory({query: 'x'})", false),
            ("ls", false),
        ];
        for (code, expected) in table {
            assert_eq!(saves_in_code(code), expected, "{code}");
        }
    }
}
