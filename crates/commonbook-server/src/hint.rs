//! Hints and descriptions in the language of each door: the name of a verb becomes a tool, a route or a
//! command.
//!
//! The library names a verb in a text, as in `search_memory`. A caller on the command line can type
//! `commonbook search`, and a caller over HTTP can send `GET /v1/memories/search`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use commonbook::base::error::{Error, REQUEST_SHAPE_HINT};

use crate::{mcp, rest};

/// The door that shows a hint.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HintDoor<'c> {
    /// The command line, with the command that failed: `commonbook save`.
    CommandLine(&'c str),
    Mcp,
    Rest,
}

/// The command of each verb. Its tool has the name of the verb; `rest` knows its route.
const VERB_COMMANDS: [(&str, &str); 75] = [
    ("accept_handoff", "handoff accept"),
    ("add_relation", "entity relate"),
    ("adopt_memories", "adopt"),
    ("appeal_memory", "appeal"),
    ("append_entries", "case batch"),
    ("append_entry", "case append"),
    ("archive_case", "case archive"),
    ("changes_since", "changes"),
    ("checkpoint_and_summarise", "summarise"),
    ("close_case", "case close"),
    ("complete_handoff", "handoff complete"),
    ("create_checkpoint", "checkpoint"),
    ("create_handoff", "handoff create"),
    ("create_token", "token create"),
    ("decide_review", "entity decide"),
    ("delete_memory", "delete"),
    ("detect_contradictions", "contradictions list"),
    ("digest_case", "case digest"),
    ("end_session", "session end"),
    ("entity_mentions", "entity mentions"),
    ("explain_context", "explain"),
    ("find_entity", "entity find"),
    ("get_agent", "agent"),
    ("get_case", "case show"),
    ("get_case_context", "case context"),
    ("get_checkpoint", "session checkpoint"),
    ("get_collaborations", "handoff graph"),
    ("get_context", "context"),
    ("get_contradiction", "contradictions show"),
    ("get_entity", "entity show"),
    ("get_handoff", "handoff show"),
    ("get_memory", "show"),
    ("get_memory_stats", "stats"),
    ("get_session", "session show"),
    ("graph_query", "entity graph"),
    ("learn", "learn"),
    ("list_agents", "agents"),
    ("list_cases", "case list"),
    ("list_checkpoints", "checkpoints"),
    ("list_entities", "entity list"),
    ("list_events", "events"),
    ("list_handoffs", "handoff list"),
    ("list_memories", "list"),
    ("list_quarantined", "review"),
    ("list_reviews", "entity reviews"),
    ("list_sessions", "session list"),
    ("list_tokens", "token list"),
    ("list_users", "users"),
    ("mark_read", "mark"),
    ("memory_at", "show --at TIME"),
    ("memory_history", "history"),
    ("merge_entities", "entity merge"),
    ("open_case", "case open"),
    ("purge_memory", "purge"),
    ("purge_since", "purge --since TIME"),
    ("read_case", "case read"),
    ("recall", "context"),
    ("reject_handoff", "handoff reject"),
    ("release_memory", "release"),
    ("reopen_case", "case reopen"),
    ("resolve_contradiction", "contradictions resolve"),
    ("resolve_entity", "entity resolve"),
    ("restore_memory", "restore"),
    ("resume_session", "resume"),
    ("revoke_token", "token revoke"),
    ("rotate_token", "token rotate"),
    ("save_memories", "batch"),
    ("save_memory", "save"),
    ("search_memory", "search"),
    ("start_session", "session start"),
    ("touch_session", "session touch"),
    ("undo_act", "undo"),
    ("unmerge_entities", "entity unmerge"),
    ("update_memory", "update"),
    ("withdraw_handoff", "handoff withdraw"),
];

/// The method and the path of each verb that has a route.
static ROUTES: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(rest::verb_routes);

/// The verbs that have a tool.
static TOOLS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| mcp::tools().into_iter().map(|tool| tool.name.into_owned()).collect());

/// The same error with a hint that a caller at this door can follow.
pub(crate) fn for_door<'e>(error: &'e Error, door: HintDoor<'_>) -> Cow<'e, Error> {
    let Some(hint) = &error.hint else { return Cow::Borrowed(error) };
    let translated = match hint.as_str() {
        REQUEST_SHAPE_HINT => shape_hint(door),
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
        HintDoor::Mcp => {
            "Send the arguments that the input schema of the tool describes.".to_owned()
        }
        HintDoor::Rest => "`GET /openapi.json` describes the fields of every request.".to_owned(),
    }
}

/// Replaces each name of a verb in a text: in backticks, or with an underscore in it.
pub(crate) fn translate(text: &str, door: HintDoor<'_>) -> String {
    let mut translated = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| is_name_char(c)) {
        let (before, from_name) = rest.split_at(start);
        let end = from_name.find(|c: char| !is_name_char(c)).unwrap_or(from_name.len());
        let (name, after) = from_name.split_at(end);
        translated.push_str(before);
        let is_quoted = translated.ends_with('`') && after.starts_with('`');
        match verb_address(name, door).filter(|_| is_quoted || name.contains('_')) {
            Some(address) if is_quoted => translated.push_str(&address),
            Some(address) => translated.push_str(&format!("`{address}`")),
            None => translated.push_str(name),
        }
        rest = after;
    }
    translated + rest
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How a caller at this door calls a verb. A verb that the door lacks is a command of its operator.
fn verb_address(verb: &str, door: HintDoor<'_>) -> Option<String> {
    let (_, command) = VERB_COMMANDS.iter().find(|(name, _)| *name == verb)?;
    let own = match door {
        HintDoor::CommandLine(_) => None,
        HintDoor::Mcp => TOOLS.get(verb).cloned(),
        HintDoor::Rest => ROUTES.get(verb).cloned(),
    };
    Some(own.unwrap_or_else(|| format!("commonbook {command}")))
}

#[cfg(test)]
mod tests {
    use commonbook::base::error::ErrorKind;

    use super::*;

    fn hint(text: &str, door: HintDoor<'_>) -> String {
        let error = Error::new(ErrorKind::Invalid, "no").hint(text);
        for_door(&error, door).hint.clone().unwrap()
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
                "Create one with `commonbook token create`.",
                "Create one with `commonbook token create`.",
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
            let hints = [cli, HintDoor::Mcp, HintDoor::Rest].map(|door| hint(text, door));
            assert_eq!(hints, [command, tool, route], "{text}");
        }
    }

    #[test]
    fn each_verb_of_a_door_has_a_command_that_can_be_typed() {
        let names: BTreeSet<&str> = VERB_COMMANDS.iter().map(|(verb, _)| *verb).collect();
        assert_eq!(names.len(), VERB_COMMANDS.len(), "each verb once");
        for verb in TOOLS.iter().map(String::as_str).chain(ROUTES.keys().copied()) {
            assert!(names.contains(verb), "{verb} has a tool or a route, and no row here");
        }
        let mut program = crate::clap_command();
        program.build();
        for (verb, command) in VERB_COMMANDS {
            let words = command.split(' ').take_while(|word| !word.starts_with('-'));
            let found = words.fold(Some(&program), |command, word| command?.find_subcommand(word));
            assert!(found.is_some(), "{verb}: there is no command {command}");
        }
    }
}
