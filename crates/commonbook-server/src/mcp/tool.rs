//! The tools: the verbs of the registry as MCP has them.

use std::sync::Arc;

use clap::ValueEnum;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::verb::{self, ToolTier, Verb, VerbEffect};

/// The tools to offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSelection {
    /// The ten tools that most work needs.
    #[default]
    Core,
    /// All tools.
    Full,
}

/// A verb as a tool.
pub(super) struct ToolOffer {
    pub(super) tool: Tool,
    pub(super) verb: &'static Verb,
}

/// The tools of this selection: the core first, each part in the order of the registry.
pub(super) fn offers(selection: ToolSelection) -> Vec<ToolOffer> {
    let of_tier = |tier| verb::all().iter().filter(move |verb| verb.tool == Some(tier));
    let full = of_tier(ToolTier::Full).filter(|_| selection == ToolSelection::Full);
    of_tier(ToolTier::Core).chain(full).map(offer).collect()
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
    let mut tool =
        Tool::new(*name, call.verb_description().to_owned(), schema_object(&call.request, true));
    tool.output_schema = Some(schema_object(&call.answer, false));
    tool.annotations = Some(hints);
    ToolOffer { tool, verb }
}

/// A schema of a tool. The description of a request is already the description of the tool.
fn schema_object(schema: &Value, request: bool) -> Arc<JsonObject> {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.remove("title");
    if request {
        object.remove("description");
        object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    Arc::new(object)
}

/// Every tool as a client sees it.
pub(crate) fn tools() -> Vec<Tool> {
    offers(ToolSelection::Full).into_iter().map(|offer| offer.tool).collect()
}
