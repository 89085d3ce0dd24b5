//! The tools: the verbs of a selection as MCP has them.

use std::sync::{Arc, OnceLock};

use commonbook::base::error::Error;
use commonbook::base::input::plain_name;
use commonbook::verbs::names;
use commonbook_text::nearest::nearest_name;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};

use super::contract;
use crate::calls::verb::TOOLS_HEADER;
use crate::calls::verb::{
    self, JOINED_TOOLS, JoinedTool, ToolSelection, ToolTier, Verb, VerbEffect,
};

/// The beginning of the list of fields in the error of an unknown one.
const FIELD_LIST: &str = "xpected one of `";

/// The tools of a selection, made when a client lists them.
pub(super) struct ToolOffers {
    pub(super) selection: ToolSelection,
    tools: OnceLock<Vec<Tool>>,
}

impl ToolOffers {
    /// The tools of this selection.
    pub(super) fn of(selection: ToolSelection) -> Self {
        Self { selection, tools: OnceLock::new() }
    }

    /// The tools as clients see them.
    pub(super) fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(|| {
            let joined = self.selection.joined_tools().map(joined_tool);
            self.selection.verbs().into_iter().map(tool).chain(joined).collect()
        })
    }

    /// The tool of several verbs that is offered under this name.
    pub(super) fn joined(&self, name: &str) -> Option<&'static JoinedTool> {
        JoinedTool::find(name).filter(|tool| self.selection.offers(tool.name))
    }

    /// Whether arguments have every field that a tool declares, as clients with strict schemas must send it. Such a
    /// call leaves nothing out, so what is empty in it says nothing.
    pub(super) fn is_filled(&self, name: &str, arguments: &JsonObject) -> bool {
        let declared = self.tools().iter().find(|tool| tool.name == name);
        let fields = declared.and_then(|tool| tool.input_schema["properties"].as_object());
        fields.is_some_and(|fields| fields.keys().all(|field| arguments.contains_key(field)))
    }

    /// The error of a call of this tool: of an unknown field it lists the fields that the tool declares, not all that
    /// its verb accepts.
    pub(super) fn in_declared_fields(&self, name: &str, error: Error) -> Error {
        let declared = self.tools().iter().find(|tool| tool.name == name);
        let declared = declared.and_then(|tool| tool.input_schema["properties"].as_object());
        let list = error.message.split_once(FIELD_LIST).filter(|(_, list)| list.ends_with('`'));
        let (Some(declared), Some((before, list))) = (declared, list) else { return error };
        let names = list.trim_end_matches('`').split("`, `");
        let shown: Vec<&str> = names.filter(|name| declared.contains_key(*name)).collect();
        match shown.is_empty() {
            true => error,
            false => {
                Error { message: format!("{before}{FIELD_LIST}{}`", shown.join("`, `")), ..error }
            }
        }
    }

    /// The verb of an offered tool.
    pub(super) fn verb(&self, name: &str) -> Option<&'static Verb> {
        verb::find(name).filter(|verb| self.selection.offers(verb.name))
    }
}

fn tool(verb: &'static Verb) -> Tool {
    let Verb { name, call, .. } = verb;
    let hints = ToolAnnotations::with_title(name.replace('_', " ")).open_world(false);
    let hints = match verb.effect {
        VerbEffect::Reads => hints.read_only(true).idempotent(true),
        VerbEffect::Adds => hints.read_only(false).destructive(false),
        VerbEffect::Changes => hints.read_only(false).destructive(false).idempotent(true),
        VerbEffect::Destroys => hints.read_only(false).destructive(true),
    };
    let mut description = contract::description_line(call.verb_description());
    if let Some(other) = verb.tool_without_arguments.and_then(verb::find) {
        let what = contract::first_sentence(other.call.verb_description());
        description += &format!(" Without arguments: {what}.");
    }
    let input: Arc<JsonObject> = Arc::new(contract::input_schema(verb));
    let mut tool = Tool::new(*name, description, input);
    tool.annotations = Some(hints);
    tool.meta = always_load(name);
    tool
}

/// The key by which Claude shows a tool to its model at once, instead of behind a search for tools.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// What tells a client to show a tool at once: for those of the smallest set, which every session needs.
fn always_load(name: &str) -> Option<MetaObject> {
    let is_core = ToolSelection::of(ToolTier::Core).offers(name);
    is_core.then(|| MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), true.into())])))
}

fn joined_tool(joined: &JoinedTool) -> Tool {
    let hints = ToolAnnotations::with_title(joined.name).open_world(false);
    let hints = hints.read_only(false).destructive(false);
    let input: Arc<JsonObject> = Arc::new(contract::joined_schema(joined));
    let mut tool = Tool::new(joined.name, joined.description, input);
    tool.annotations = Some(hints);
    tool.meta = always_load(joined.name);
    tool
}

/// The names of tools that an error lists; of more it lists these and says where the others are.
const LISTED_TOOLS_MAX: usize = 16;

/// The tools of other memories, with the verb that does the same.
const OTHER_TOOLS: [(&str, &[&str]); 8] = [
    (
        names::SAVE_MEMORY,
        &[
            "add",
            "add_fact",
            "add_memories",
            "add_memory",
            "add_note",
            "add_observations",
            "create_entities",
            "create_memory",
            "create_note",
            "insert_memory",
            "memorize",
            "memory_add",
            "memory_save",
            "memory_store",
            "new_memory",
            "note",
            "put_memory",
            "record",
            "remember",
            "remember_fact",
            "save",
            "save_to_memory",
            "set_memory",
            "store",
            "store_memory",
            "write_memory",
            "write_note",
            "add_episode",
        ],
    ),
    (
        names::SEARCH_MEMORY,
        &[
            "ask_memory",
            "find",
            "find_memories",
            "find_memory",
            "lookup",
            "memory_query",
            "memory_recall",
            "memory_search",
            "open_nodes",
            "query",
            "query_memory",
            "recall",
            "recall_memory",
            "retrieve",
            "retrieve_memories",
            "retrieve_memory",
            "search",
            "search_facts",
            "search_nodes",
            "search_notes",
            "semantic_search",
        ],
    ),
    (
        names::LIST_MEMORIES,
        &[
            "get_all",
            "get_all_memories",
            "get_memories",
            "list",
            "list_all_memories",
            "list_notes",
            "read_graph",
            "show_memories",
        ],
    ),
    (
        names::GET_MEMORY,
        &["fetch", "get", "memory_get", "open_memory", "read_memory", "read_note", "show_memory"],
    ),
    (
        names::UPDATE_MEMORY,
        &[
            "change_memory",
            "edit",
            "edit_memory",
            "edit_note",
            "memory_update",
            "modify_memory",
            "replace_memory",
        ],
    ),
    (
        names::DELETE_MEMORY,
        &[
            "clear_memory",
            "delete",
            "delete_all",
            "delete_all_memories",
            "delete_entities",
            "delete_memories",
            "delete_note",
            "delete_observations",
            "erase_memory",
            "forget",
            "memory_delete",
            "remove",
            "remove_memories",
            "remove_memory",
            "reset_memory",
            "wipe_memory",
        ],
    ),
    (names::GET_CONTEXT, &["build_context", "context", "load_context", "memory_context"]),
    (names::ADD_RELATION, &["create_relation", "create_relations", "link_memories", "relate"]),
];

/// Words in names of tools, with the tools that do what they say.
const TOOLS_OF_WORDS: [(&str, &str); 18] = [
    ("add", names::SAVE_MEMORY),
    ("create", names::SAVE_MEMORY),
    ("store", names::SAVE_MEMORY),
    ("write", names::SAVE_MEMORY),
    ("remember", names::SAVE_MEMORY),
    ("save", names::SAVE_MEMORY),
    ("search", names::SEARCH_MEMORY),
    ("find", names::SEARCH_MEMORY),
    ("query", names::SEARCH_MEMORY),
    ("retrieve", names::SEARCH_MEMORY),
    ("recall", names::SEARCH_MEMORY),
    ("context", names::GET_CONTEXT),
    ("get", names::GET_MEMORY),
    ("read", names::GET_MEMORY),
    ("edit", names::UPDATE_MEMORY),
    ("update", names::UPDATE_MEMORY),
    ("remove", names::DELETE_MEMORY),
    ("forget", names::DELETE_MEMORY),
];

/// The message about a tool that is not offered: how it is called here, the set that has it, or what has a near name.
pub(super) fn unknown_tool(name: &str, selection: &ToolSelection) -> String {
    // Clients and models write the server before the name: `functions.save_memory`, `commonbook:save_memory`.
    let own = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let plain = plain_name(own.rsplit("__").next().unwrap_or(own));
    let offered = selection.tool_names();
    let all: Vec<&str> = ToolTier::Full.verbs().map(|verb| verb.name).collect();
    let other = OTHER_TOOLS.iter().find(|(_, names)| names.contains(&plain.as_str()));
    let of_word =
        || plain.split('_').find_map(|word| TOOLS_OF_WORDS.iter().find(|(it, _)| *it == word));
    let own = offered.iter().chain(&all).copied().find(|known| *known == plain);
    let near = own
        .or_else(|| other.map(|(tool, _)| *tool))
        .or_else(|| nearest_name(&plain, &offered))
        .or_else(|| nearest_name(&plain, &all))
        .or_else(|| of_word().map(|(_, tool)| *tool));
    let Some(near) = near else {
        let listed = offered.iter().take(LISTED_TOOLS_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = match offered.len().saturating_sub(LISTED_TOOLS_MAX) {
            0 => String::new(),
            more => format!(" and {more} more, which tools/list has"),
        };
        return format!("unknown tool {name}; the tools are {listed}{more}");
    };
    let is_meant = if near == name { String::new() } else { format!("did you mean {near}? ") };
    if selection.offers(near) {
        return format!("unknown tool {name}: {}", is_meant.trim_end());
    }
    if let Some((tool, action)) =
        JoinedTool::of_verb(near).filter(|(tool, _)| selection.offers(tool.name))
    {
        let (tool, action) = (tool.name, action.name);
        return format!("unknown tool {name}: {is_meant}Call {tool} with the action {action}");
    }
    let set = ToolTier::ALL.into_iter().find(|tier| tier.verbs().any(|verb| verb.name == near));
    let set = set.map_or(near, ToolTier::name);
    format!(
        "unknown tool {name}: {is_meant}It is not offered here. `commonbook mcp --tools {set}` offers it, or the header \
         {TOOLS_HEADER}: {set}"
    )
}

/// Every tool as a client sees it, those of several verbs last.
pub(crate) fn tools() -> Vec<Tool> {
    let single = ToolOffers::of(ToolSelection::of(ToolTier::Full)).tools().to_vec();
    single.into_iter().chain(JOINED_TOOLS.iter().map(joined_tool)).collect()
}

#[cfg(test)]
mod tests {
    use commonbook_text::tokens;
    use serde_json::json;

    use super::*;

    /// The tokens of a tool as a model receives it.
    fn tokens_of(tool: &Tool) -> usize {
        let contract = json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.input_schema,
        });
        tokens::count(&contract.to_string())
    }

    #[test]
    fn an_unknown_tool_names_what_can_be_called() {
        let core = ToolSelection::of(ToolTier::Core);
        let table = [
            ("list_memories", "`commonbook mcp --tools team` offers it"),
            ("append_entries", "`commonbook mcp --tools team` offers it"),
            ("read_case", "Call cases with the action read"),
            (
                "list_memorys",
                "did you mean list_memories? It is not offered here. `commonbook mcp --tools team`",
            ),
            ("delete_all_memories", "did you mean delete_memory?"),
            ("forget", "did you mean delete_memory?"),
            ("store_memory", "did you mean save_memory?"),
            ("createEntities", "did you mean save_memory?"),
            ("read_graph", "did you mean list_memories?"),
            ("functions.save_memory", "did you mean save_memory?"),
            ("commonbook:search_memory", "did you mean search_memory?"),
            ("mcp__commonbook__get_memory", "did you mean get_memory?"),
            ("save_memories", "`commonbook mcp --tools full` offers it"),
            ("add_memory", "did you mean save_memory?"),
            ("serch_memory", "did you mean search_memory?"),
            ("search-memories", "did you mean search_memory?"),
            ("retrieve", "did you mean search_memory?"),
            ("weather", "the tools are save_memory, search_memory, "),
        ];
        for (name, expected) in table {
            let found = unknown_tool(name, &core);
            assert!(found.contains(expected), "{name}: {found}");
        }
        let full = unknown_tool("weather", &ToolSelection::of(ToolTier::Full));
        assert!(full.len() < 400 && full.contains(" more, which tools/list has"), "{full}");
        for (verb, _) in OTHER_TOOLS {
            assert!(verb::find(verb).is_some(), "{verb}");
        }
    }

    #[test]
    fn a_client_shows_the_core_tools_at_once() {
        let core = ToolSelection::of(ToolTier::Core);
        for tool in tools() {
            let meta = serde_json::to_value(&tool).unwrap()["_meta"].clone();
            let expected = match core.offers(&tool.name) {
                true => json!({"anthropic/alwaysLoad": true}),
                false => json!(null),
            };
            assert_eq!(meta, expected, "{}", tool.name);
        }
    }

    #[test]
    fn the_error_of_an_unknown_field_lists_what_the_tool_declares() {
        let offers = ToolOffers::of(ToolSelection::of(ToolTier::Core));
        for (name, expected) in [
            ("accept_handoff", "handoff"),
            ("cases", "key`, `title"),
            ("list_agents", "key`, `title`, `idempotency_key`, `handoff"),
        ] {
            let message =
                "unknown field `x`, expected one of `key`, `title`, `idempotency_key`, `handoff`";
            let error = offers.in_declared_fields(name, Error::invalid("x", message));
            assert_eq!(
                error.message,
                format!("x: unknown field `x`, expected one of `{expected}`"),
                "{name}"
            );
        }
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "the figures are for people")]
    fn a_set_of_tools_costs_a_model_few_tokens() {
        for (tier, most) in
            [(ToolTier::Core, 2_500), (ToolTier::Team, 5_400), (ToolTier::Full, 13_300)]
        {
            let offers = ToolOffers::of(ToolSelection::of(tier));
            let tokens: usize = offers.tools().iter().map(tokens_of).sum();
            let bytes = serde_json::to_string(offers.tools());
            let (tools, bytes) = (offers.tools().len(), bytes.unwrap().len());
            println!("{}: {tools} tools, {tokens} of {most} tokens, {bytes} bytes", tier.name());
            assert!(tokens <= most, "{}: {tokens} tokens; the maximum is {most}", tier.name());
        }
    }
}
