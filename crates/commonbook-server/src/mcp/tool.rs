//! The tools: the verbs of a selection as MCP has them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use super::contract;
use crate::verb::{self, ToolSelection, ToolTier, Verb, VerbEffect};

/// A verb as a tool.
pub(super) struct ToolOffer {
    pub(super) tool: Tool,
    pub(super) verb: &'static Verb,
}

/// The tools of this selection.
pub(super) fn offers(selection: &ToolSelection) -> Vec<ToolOffer> {
    selection.verbs().into_iter().map(offer).collect()
}

fn offer(verb: &'static Verb) -> ToolOffer {
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
    ToolOffer { tool, verb }
}

/// Every tool as a client sees it.
pub(crate) fn tools() -> Vec<Tool> {
    let full = ToolSelection::of(ToolTier::Full);
    offers(&full).into_iter().map(|offer| offer.tool).collect()
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
            [(ToolTier::Core, 2_000), (ToolTier::Team, 5_000), (ToolTier::Full, 12_000)]
        {
            let offers = offers(&ToolSelection::of(tier));
            let tokens: usize = offers.iter().map(|offer| tokens_of(&offer.tool)).sum();
            let bytes = serde_json::to_string(&offers.iter().map(|o| &o.tool).collect::<Vec<_>>());
            let (tools, bytes) = (offers.len(), bytes.unwrap().len());
            println!("{}: {tools} tools, {tokens} of {most} tokens, {bytes} bytes", tier.name());
            assert!(tokens <= most, "{}: {tokens} tokens; the maximum is {most}", tier.name());
        }
    }
}
