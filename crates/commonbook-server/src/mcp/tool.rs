//! The tools: the verbs of a selection as MCP has them.

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use super::contract;
use crate::verb::{self, ToolSelection, ToolTier, Verb, VerbEffect};

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
        self.tools.get_or_init(|| self.selection.verbs().into_iter().map(tool).collect())
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

/// Every tool as a client sees it.
pub(crate) fn tools() -> Vec<Tool> {
    ToolOffers::of(ToolSelection::of(ToolTier::Full)).tools().to_vec()
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
    #[expect(clippy::print_stdout, reason = "the figures are for people")]
    fn a_set_of_tools_costs_a_model_few_tokens() {
        for (tier, most) in
            [(ToolTier::Core, 2_150), (ToolTier::Team, 5_250), (ToolTier::Full, 12_450)]
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
