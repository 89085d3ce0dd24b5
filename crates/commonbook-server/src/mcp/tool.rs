//! The tools: the verbs of a selection as MCP has them.

use std::sync::{Arc, OnceLock};

use commonbook_text::nearest::nearest_name;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use super::contract;
use super::http::TOOLS_HEADER;
use crate::verb::{self, JOINED_TOOLS, JoinedTool, ToolSelection, ToolTier, Verb, VerbEffect};

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
    let mut description = contract::one_line(call.verb_description());
    if let Some(other) = verb.tool_without_arguments.and_then(verb::find) {
        let what = contract::first_sentence(other.call.verb_description());
        description += &format!(" Without arguments: {what}.");
    }
    let input: Arc<JsonObject> = Arc::new(contract::input_schema(verb));
    let mut tool = Tool::new(*name, description, input);
    tool.annotations = Some(hints);
    tool
}

fn joined_tool(joined: &JoinedTool) -> Tool {
    let hints = ToolAnnotations::with_title(joined.name).open_world(false);
    let hints = hints.read_only(false).destructive(false);
    let input: Arc<JsonObject> = Arc::new(contract::joined_schema(joined));
    let mut tool = Tool::new(joined.name, joined.description, input);
    tool.annotations = Some(hints);
    tool
}

/// Words of other tools' names, with the tools that do what they say.
const TOOLS_OF_WORDS: [(&str, &str); 17] = [
    ("add", "save_memory"),
    ("create", "save_memory"),
    ("store", "save_memory"),
    ("write", "save_memory"),
    ("remember", "save_memory"),
    ("save", "save_memory"),
    ("search", "search_memory"),
    ("find", "search_memory"),
    ("query", "search_memory"),
    ("retrieve", "search_memory"),
    ("recall", "search_memory"),
    ("context", "get_context"),
    ("get", "get_memory"),
    ("read", "get_memory"),
    ("edit", "update_memory"),
    ("update", "update_memory"),
    ("remove", "delete_memory"),
];

/// The message about a tool that is not offered: the set that has it, or the offered ones with near names.
pub(super) fn unknown_tool(name: &str, selection: &ToolSelection) -> String {
    if let Some(tier) =
        ToolTier::ALL.into_iter().find(|tier| tier.verbs().any(|verb| verb.name == name))
    {
        if let Some((tool, action)) =
            JoinedTool::of_verb(name).filter(|(it, _)| selection.offers(it.name))
        {
            let (tool, action) = (tool.name, action.name);
            return format!("unknown tool {name}: call {tool} with the action {action}");
        }
        let set = tier.name();
        return format!(
            "unknown tool {name}: it is not offered here. `commonbook mcp --tools {set}` offers it, or the header \
             {TOOLS_HEADER}: {set}"
        );
    }
    let plain = name.to_lowercase().replace('-', "_");
    let names = selection.tool_names();
    let does = plain.split('_').find_map(|word| TOOLS_OF_WORDS.iter().find(|(it, _)| *it == word));
    let does = does.map(|(_, tool)| *tool).filter(|tool| names.contains(tool));
    match nearest_name(&plain, &names).or(does) {
        Some(near) => format!("unknown tool {name}: did you mean {near}?"),
        None => format!("unknown tool {name}; the tools are {}", names.join(", ")),
    }
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
            ("read_case", "call cases with the action read"),
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
