//! Hints and descriptions in the language of each door: the name of a verb becomes a tool, a route or a
//! command.
//!
//! The library names a verb in a text, as in `search_memory`. A caller on the command line can type
//! `commonbook search`, and a caller over HTTP can send `GET /v1/memories/search`. What a caller has no call
//! for is said in plain words. A command that is no verb, such as `commonbook doctor`, is for a person at every door.

use std::borrow::Cow;

use commonbook::base::error::{Error, ErrorCode, NAMELESS_OWNER_HINT, REQUEST_SHAPE_HINT};
use commonbook::verbs::names;

use crate::calls::verb::{self, ACTION, JoinedTool, ToolSelection, Verb};

/// The door that shows a hint.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HintDoor<'c> {
    /// The command line, with the command that failed: `commonbook save`.
    CommandLine(&'c str),
    /// MCP, with the tools that the client has.
    Mcp(&'c ToolSelection),
    Rest,
}

/// The command that a person typed.
#[derive(Debug)]
pub struct TypedCommand {
    /// Its words: `commonbook case open`.
    pub words: String,
    /// Its arguments, as the command line reads them.
    pub arguments: clap::Command,
}

impl TypedCommand {
    /// The flag of a field of its request; `None` if the field has none.
    fn flag_of(&self, field: &str) -> Option<String> {
        let argument =
            self.arguments.get_arguments().find(|argument| argument.get_id() == field)?;
        argument.get_long().map(str::to_owned)
    }
}

/// The same error with a hint that a caller at this door can follow.
pub(crate) fn for_door<'e>(error: &'e Error, door: HintDoor<'_>) -> Cow<'e, Error> {
    let Some(hint) = &error.hint else { return Cow::Borrowed(error) };
    let translated = match hint.as_str() {
        REQUEST_SHAPE_HINT => shape_hint(door),
        NAMELESS_OWNER_HINT => nameless_owner_hint(error, door),
        _ => translate(hint, door),
    };
    match translated == *hint {
        true => Cow::Borrowed(error),
        false => Cow::Owned(error.clone().hint(translated)),
    }
}

/// The hint for a request with a wrong field.
fn shape_hint(door: HintDoor<'_>) -> String {
    match door {
        HintDoor::CommandLine(command) => format!("Run `{command} --help`."),
        HintDoor::Mcp(_) => {
            "Send the arguments that the input schema of the tool describes.".to_owned()
        }
        HintDoor::Rest => "`GET /openapi.json` describes the fields of every request.".to_owned(),
    }
}

/// The hint about a memory that was saved without a name: the call that makes it the caller's.
fn nameless_owner_hint(error: &Error, door: HintDoor<'_>) -> String {
    let caller = error.mismatch.as_ref().map_or("NAME", |mismatch| &mismatch.caller);
    let call = match door {
        HintDoor::Mcp(tools) if tools.offers(names::ADOPT_MEMORIES) => {
            format!("`adopt_memories` {{\"agent_name\": \"{caller}\", \"owner\": \"anonymous\"}}")
        }
        HintDoor::Rest => format!(
            "`POST /v1/memories/adopt` {{\"agent_name\": \"{caller}\", \"owner\": \"anonymous\"}}"
        ),
        HintDoor::Mcp(_) => {
            format!("`commonbook adopt {caller} --owner anonymous` {PERSON_WORDS}")
        }
        HintDoor::CommandLine(_) => format!("`commonbook adopt {caller} --owner anonymous`"),
    };
    format!("If it was saved without a name, this makes it yours: {call}.")
}

/// The message of an error for a person who typed this command: a field of the request has the name of
/// its flag.
pub(crate) fn message_in_flags(error: &Error, command: &TypedCommand) -> String {
    let flag = error.field.as_deref().and_then(|field| command.flag_of(field));
    let Some(flag) = flag else { return error.message.clone() };
    // The message of a field names it first, but for one that serde misses.
    let reason = Some(error.reason()).filter(|reason| *reason != error.message);
    match (error.code, reason) {
        (Some(ErrorCode::MissingField | ErrorCode::EmptyField), _) if flag == "reason" => {
            "say why: --reason \"…\"".to_owned()
        }
        (Some(ErrorCode::MissingField), None) => format!("--{flag} is missing"),
        (Some(ErrorCode::MissingField), Some(reason)) => format!("--{flag} is missing: {reason}"),
        (Some(ErrorCode::NoObject), _) => {
            format!("--{flag} takes JSON: '{{\"version\": \"17\"}}'")
        }
        (_, Some(reason)) => format!("--{flag}: {reason}"),
        (_, None) => error.message.clone(),
    }
}

/// A hint for a person who typed this command: a field of the request in backticks has the name of its flag.
pub(crate) fn hint_in_flags(hint: &str, command: &TypedCommand) -> String {
    let parts = hint.split('`').enumerate().map(|(place, part)| {
        let flag = (place % 2 == 1).then(|| command.flag_of(part)).flatten();
        flag.map_or_else(|| part.to_owned(), |flag| format!("--{flag}"))
    });
    parts.collect::<Vec<_>>().join("`")
}

/// What a caller can do only through a person: these words follow those of the verb.
const PERSON_WORDS: &str = "(a person can, at the command line)";

/// Replaces each name of a verb in a text: in backticks, alone or with an id (`allow_forgotten crt_…`), or
/// with an underscore in it. At doors without commands it replaces the commands of verbs, too.
pub(crate) fn translate(text: &str, door: HintDoor<'_>) -> String {
    let mut translated = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| is_name_char(c)) {
        let (before, from_name) = rest.split_at(start);
        let end = from_name.find(|c: char| !is_name_char(c)).unwrap_or(from_name.len());
        let (name, after) = from_name.split_at(end);
        translated.push_str(before);
        rest = after;
        let quote = translated.ends_with('`').then(|| after.split_once('`')).flatten();
        let Some((verb, arguments)) = named_verb(name, quote.map(|(inside, _)| inside), door)
        else {
            translated.push_str(name);
            continue;
        };
        let address = verb_address(verb, door);
        if quote.is_some() {
            translated.pop();
        }
        match &address {
            Some(address) => {
                let call = arguments.map(|arguments| with_arguments(address, arguments));
                translated.push_str(&format!("`{}`", call.as_deref().unwrap_or(address)));
            }
            None => {
                let words = person_words(verb, arguments);
                translated.push_str(&format!("{words} {PERSON_WORDS}"));
            }
        }
        rest = quote.map_or(after, |(_, behind)| behind);
    }
    translated + rest
}

/// The verb that a name stands for, with the arguments behind it; `inside` is what follows it up to the end
/// of its quote. Returns `None` for a word that is no verb here.
fn named_verb<'t>(
    name: &str,
    inside: Option<&'t str>,
    door: HintDoor<'_>,
) -> Option<(&'static Verb, Option<&'t str>)> {
    if name == "commonbook" && !matches!(door, HintDoor::CommandLine(_)) {
        return verb_of_command(inside?.strip_prefix(' ')?);
    }
    let verb = verb::find(name)?;
    let id = inside.and_then(quoted_id);
    match inside {
        Some("") => Some((verb, None)),
        Some(_) if id.is_some() => Some((verb, id)),
        // A call that the door has as it is written keeps its arguments.
        Some(_) if verb_address(verb, door).as_deref() == Some(name) => None,
        _ if name.contains('_') => Some((verb, None)),
        _ => None,
    }
}

/// The verb whose command a line begins with, the longest one, and the ids among what follows.
fn verb_of_command(line: &str) -> Option<(&'static Verb, Option<&str>)> {
    let rest = |verb: &'static Verb| {
        let rest = line.strip_prefix(verb.command_line?)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some((verb, rest))
    };
    let (verb, rest) = verb::all().iter().filter_map(rest).min_by_key(|(_, rest)| rest.len())?;
    let id = rest.split(' ').find(|word| word.contains('_') && word.chars().all(is_name_char));
    Some((verb, id))
}

/// What a person does for a caller without the call: the command that an agent can pass on where no set of
/// tools has the verb, else words.
fn person_words(verb: &Verb, arguments: Option<&str>) -> String {
    match verb.command_line.filter(|_| verb.tool.is_none()) {
        Some(command) => {
            let arguments = arguments.map(|arguments| format!(" {arguments}")).unwrap_or_default();
            format!("`commonbook {command}{arguments}`")
        }
        None => verb.name.replace('_', " "),
    }
}

/// The id behind the name of a verb in its quote.
fn quoted_id(inside: &str) -> Option<&str> {
    let id = inside.strip_prefix(' ')?;
    let (kind, rest) = id.split_once('_')?;
    (kind.len() == 3 && rest.len() == 26 && rest.chars().all(is_name_char)).then_some(id)
}

/// How a verb is called with this id: in the path of its route, else behind its name.
fn with_arguments(address: &str, id: &str) -> String {
    match address.split_once('{').and_then(|(path, rest)| Some((path, rest.split_once('}')?.1))) {
        Some((path, rest)) => format!("{path}{id}{rest}"),
        None => format!("{address} {id}"),
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How a caller at this door calls a verb. One without the tool or the route has no call of its own: it reads
/// in words what a person does.
fn verb_address(verb: &Verb, door: HintDoor<'_>) -> Option<String> {
    match door {
        HintDoor::CommandLine(_) => Some(format!("commonbook {}", verb.command_line?)),
        HintDoor::Mcp(tools) => tool_call(verb, tools),
        HintDoor::Rest => {
            verb.route.as_ref().map(|route| format!("{} {}", route.method, route.path))
        }
    }
}

/// How a client with these tools calls a verb: by its tool, by an action, or by another tool without arguments.
fn tool_call(verb: &Verb, tools: &ToolSelection) -> Option<String> {
    if tools.offers(verb.name) {
        return Some(verb.name.to_owned());
    }
    let name = verb.singular.unwrap_or(verb.name);
    if let Some((tool, action)) =
        JoinedTool::of_verb(name).filter(|(tool, _)| tools.offers(tool.name))
    {
        return Some(format!("{} {{\"{ACTION}\": \"{}\"}}", tool.name, action.name));
    }
    let calls_it = |verb: &&&Verb| verb.tool_without_arguments == Some(name);
    tools.verbs().iter().find(calls_it).map(|verb| format!("{} {{}}", verb.name))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use commonbook::base::error::ErrorKind;

    use super::*;
    use crate::calls::verb::ToolTier;

    fn hint(text: &str, door: HintDoor<'_>) -> String {
        let error = Error::new(ErrorKind::Invalid, "no").hint(text);
        for_door(&error, door).hint.clone().unwrap()
    }

    #[test]
    fn what_was_saved_without_a_name_can_be_adopted_at_each_door() {
        let error = Error::ownership_mismatch("anonymous", "ann");
        let core = ToolSelection::of(ToolTier::Core);
        let at = |door| for_door(&error, door).hint.clone().unwrap();
        let command = "`commonbook adopt ann --owner anonymous`.";
        assert!(at(HintDoor::CommandLine("commonbook update")).ends_with(command));
        assert!(
            at(HintDoor::Mcp(&core))
                .ends_with("--owner anonymous` (a person can, at the command line).")
        );
        assert!(at(HintDoor::Rest).contains("`POST /v1/memories/adopt` {\"agent_name\": \"ann\""));
        let other = Error::ownership_mismatch("bob", "ann");
        assert!(!other.hint.unwrap().contains("adopt"));
    }

    #[test]
    fn a_hint_names_the_verb_in_the_language_of_the_door() {
        let cli = HintDoor::CommandLine("commonbook save");
        let table = [
            (
                "Call `list_handoffs`.",
                "Call `commonbook handoff list`.",
                "Call `list_handoffs`.",
                "Call `GET /v1/handoffs`.",
            ),
            (
                "search_memory finds it.",
                "`commonbook search` finds it.",
                "`search_memory` finds it.",
                "`GET /v1/memories/search` finds it.",
            ),
            (
                "Create one with `create_token`.",
                "Create one with `commonbook token create`.",
                "Create one with `commonbook token create` (a person can, at the command line).",
                "Create one with `commonbook token create` (a person can, at the command line).",
            ),
            (
                "`commonbook show mem_0` tells why.",
                "`commonbook show mem_0` tells why.",
                "`get_memory mem_0` tells why.",
                "`GET /v1/memories/mem_0` tells why.",
            ),
            (
                "Run `commonbook doctor`.",
                "Run `commonbook doctor`.",
                "Run `commonbook doctor`.",
                "Run `commonbook doctor`.",
            ),
            (
                "Ask for `allow_forgotten crt_00000000000000000000000000`.",
                "Ask for `commonbook allow crt_00000000000000000000000000`.",
                "Ask for `commonbook allow crt_00000000000000000000000000` (a person can, at the command line).",
                "Ask for `POST /v1/certificates/crt_00000000000000000000000000/allow`.",
            ),
            ("Learn to learn.", "Learn to learn.", "Learn to learn.", "Learn to learn."),
            (
                REQUEST_SHAPE_HINT,
                "Run `commonbook save --help`.",
                "Send the arguments that the input schema of the tool describes.",
                "`GET /openapi.json` describes the fields of every request.",
            ),
        ];
        for (text, command, tool, route) in table {
            let full = ToolSelection::of(ToolTier::Full);
            let hints = [cli, HintDoor::Mcp(&full), HintDoor::Rest].map(|door| hint(text, door));
            assert_eq!(hints, [command, tool, route], "{text}");
        }
    }

    #[test]
    fn a_hint_names_the_action_of_a_tool_that_the_client_has() {
        let core = ToolSelection::of(ToolTier::Core);
        let table = [
            ("Call `withdraw_handoff`.", "Call `handoffs {\"action\": \"withdraw\"}`."),
            ("read_case tells it.", "`cases {\"action\": \"read\"}` tells it."),
            ("`list_handoffs` lists them.", "`handoffs {\"action\": \"list\"}` lists them."),
        ];
        for (text, expected) in table {
            assert_eq!(hint(text, HintDoor::Mcp(&core)), expected);
        }
    }

    #[test]
    fn an_error_at_the_command_line_names_flags() {
        let plain = |message: &str| Error::new(ErrorKind::Invalid, message);
        let lacks = |field: &str| {
            plain(&format!("missing field `{field}`"))
                .with_field(field)
                .with_code(ErrorCode::MissingField)
        };
        let typed = |words: &str| {
            let words = format!("commonbook {words}");
            crate::typed_command(&words.split(' ').map(Into::into).collect::<Vec<_>>())
        };
        let table = [
            ("retract", lacks("reason"), "say why: --reason \"…\""),
            ("retract", Error::empty("reason"), "say why: --reason \"…\""),
            (
                "contradictions resolve",
                Error::missing("context", "keep_both needs this field"),
                "--context is missing: keep_both needs this field",
            ),
            ("handoff create", lacks("task"), "missing field `task`"),
            (
                "save",
                Error::invalid("metadata", "invalid type: string, expected an object")
                    .with_code(ErrorCode::NoObject),
                "--metadata takes JSON: '{\"version\": \"17\"}'",
            ),
            (
                "save",
                Error::invalid("valid_until", "expected a time such as 2025-09-01T00:00:00Z"),
                "--valid-until: expected a time such as 2025-09-01T00:00:00Z",
            ),
            // What has no flag keeps its name.
            ("show", Error::invalid("id", "\"nope\" is no id"), "id: \"nope\" is no id"),
            ("save", lacks("text"), "missing field `text`"),
            ("save", plain("no space is left"), "no space is left"),
        ];
        for (command, error, message) in table {
            assert_eq!(message_in_flags(&error, &typed(command)), message);
        }
    }

    #[test]
    fn a_hint_names_no_tool_that_the_client_lacks() {
        let core = ToolSelection::default();
        let table = [
            (
                "list_handoffs, accept_handoff and list_memories exist.",
                "`handoffs {\"action\": \"list\"}`, `accept_handoff` and list memories (a person can, at the \
                 command line) exist.",
            ),
            (
                "Run `commonbook handoff list` or `commonbook session list`.",
                "Run `handoffs {\"action\": \"list\"}` or list sessions (a person can, at the command line).",
            ),
            (
                "Append an entry that supersedes it, with `append_entries`.",
                "Append an entry that supersedes it, with `cases {\"action\": \"append\"}`.",
            ),
            (
                "`learn` and `remember`.",
                "learn (a person can, at the command line) and `remember`.",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(hint(text, HintDoor::Mcp(&core)), expected);
        }
        // No hint of the library names a command of a verb at a door without commands.
        for verb in verb::all() {
            let text =
                format!("See `{}` or `commonbook {}`.", verb.name, verb.command_line.unwrap());
            for door in [HintDoor::Mcp(&core), HintDoor::Rest] {
                let told = hint(&text, door);
                assert!(!told.contains("commonbook") || verb.tool.is_none(), "{told}");
            }
        }
    }

    #[test]
    fn each_verb_of_a_door_has_a_command_that_can_be_typed() {
        let mut program = crate::clap_command();
        program.build();
        for verb in verb::all() {
            let (verb, command) = (verb.name, verb.command_line.unwrap());
            let words = command.split(' ').take_while(|word| !word.starts_with('-'));
            let mut words = words;
            let found = words.try_fold(&program, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{verb}: there is no command {command}");
        }
    }

    /// The texts of the library and the doors that models read, with the smallest set of tools that
    /// returns one: a text of `resume.rs` reaches only models that have `resume_session`.
    fn texts_for_models() -> Vec<(PathBuf, ToolTier)> {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let library = server.join("../../commonbook/src");
        let folders = [library.join("prompt"), server.join("doors/mcp"), server.join("doors/hook")];
        let mut open: Vec<PathBuf> = folders.into();
        let mut files = vec![server.join("doors/mcp.rs"), server.join("doors/hook.rs")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => files.push(path),
                }
            }
        }
        // The door translates what a prompt asks for.
        files.retain(|path| !path.ends_with("tests.rs") && !path.ends_with("mcp/prompt.rs"));
        let least = |path: PathBuf| {
            let tier = if path.ends_with("resume.rs") { ToolTier::Team } else { ToolTier::Core };
            (path, tier)
        };
        files.into_iter().map(least).collect()
    }

    #[test]
    fn a_text_names_no_tool_outside_the_sets_that_return_it() {
        let mut named = 0;
        for (path, tier) in texts_for_models() {
            let source = std::fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in lines {
                // What stands alone between quotes is a name for the program.
                let words = line.split(|c: char| !is_name_char(c) && c != '"' && c != '(');
                let verbs = words.filter(|word| word.contains('_')).filter_map(verb::find);
                for verb in verbs.filter(|_| line.contains('"')) {
                    named += 1;
                    let offered = verb.tool.is_some_and(|least| least <= tier);
                    let place = path.display();
                    assert!(offered, "{} is not in {}: {place}: {line}", verb.name, tier.name());
                }
            }
        }
        assert!(named > 5, "{named}");
    }

    #[test]
    fn the_tools_of_a_set_name_no_tool_outside_it() {
        for tier in ToolTier::ALL {
            for tool in crate::doors::mcp::tools() {
                // A tool of several verbs is in the core set.
                let least = verb::find(&tool.name).map_or(Some(ToolTier::Core), |verb| verb.tool);
                if least.is_none_or(|least| least > tier) {
                    continue;
                }
                let text = serde_json::to_string(&tool).unwrap();
                let words = text.split(|c: char| !is_name_char(c));
                let verbs = words.filter(|word| word.contains('_')).filter_map(verb::find);
                let others = verbs.filter(|other| other.tool.is_none_or(|least| least > tier));
                let others: Vec<&str> = others.map(|other| other.name).collect();
                assert!(others.is_empty(), "{} in {}: {others:?}", tool.name, tier.name());
            }
        }
    }
}
