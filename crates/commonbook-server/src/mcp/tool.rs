//! The tools: a table of verbs with the effect of each on stored data.

use std::sync::Arc;

use clap::ValueEnum;
use commonbook::Commonbook;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::call::JsonVerb;

/// The tools to offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSelection {
    /// The ten tools that most work needs.
    #[default]
    Core,
    /// All tools.
    Full,
}

/// The effect of a tool on stored data.
#[derive(Clone, Copy)]
enum ToolEffect {
    Reads,
    Adds,
    Changes,
    Destroys,
}

/// A verb as a tool.
pub(super) struct ToolOffer {
    pub(super) tool: Tool,
    pub(super) call: JsonVerb,
    /// Whether `core` includes it.
    pub(super) core: bool,
}

impl ToolOffer {
    /// Whether it changes stored data.
    pub(super) fn writes(&self) -> bool {
        let hints = self.tool.annotations.as_ref();
        hints.is_none_or(|hints| hints.read_only_hint != Some(true))
    }
}

/// Every tool, in the order of the documentation.
pub(super) fn offers() -> Vec<ToolOffer> {
    memory_tools().into_iter().chain(collaboration_tools()).collect()
}

/// The tools of cases, sessions, checkpoints and handoffs.
fn collaboration_tools() -> Vec<ToolOffer> {
    use ToolEffect::{Adds, Changes, Reads};
    let full = |name, effect, call| offer(name, effect, call, false);
    vec![
        full("open_case", Adds, JsonVerb::of(Commonbook::open_case)),
        full("get_case", Reads, JsonVerb::of(Commonbook::get_case)),
        full("get_case_context", Reads, JsonVerb::of(Commonbook::get_case_context)),
        full("list_cases", Reads, JsonVerb::of(Commonbook::list_cases)),
        full("digest_case", Adds, JsonVerb::of(Commonbook::digest_case)),
        full("close_case", Changes, JsonVerb::of(Commonbook::close_case)),
        full("archive_case", Changes, JsonVerb::of(Commonbook::archive_case)),
        full("reopen_case", Changes, JsonVerb::of(Commonbook::reopen_case)),
        full("changes_since", Changes, JsonVerb::of(Commonbook::changes_since)),
        full("mark_read", Changes, JsonVerb::of(Commonbook::mark_read)),
        full("start_session", Adds, JsonVerb::of(Commonbook::start_session)),
        full("touch_session", Changes, JsonVerb::of(Commonbook::touch_session)),
        full("end_session", Changes, JsonVerb::of(Commonbook::end_session)),
        full("resume_session", Changes, JsonVerb::of(Commonbook::resume_session)),
        full("create_checkpoint", Adds, JsonVerb::of(Commonbook::create_checkpoint)),
        full("checkpoint_and_summarise", Adds, JsonVerb::of(Commonbook::checkpoint_and_summarise)),
        full("list_checkpoints", Reads, JsonVerb::of(Commonbook::list_checkpoints)),
        full("get_checkpoint", Reads, JsonVerb::of(Commonbook::get_checkpoint)),
        full("list_handoffs", Reads, JsonVerb::of(Commonbook::list_handoffs)),
        full("get_handoff", Reads, JsonVerb::of(Commonbook::get_handoff)),
        full("reject_handoff", Changes, JsonVerb::of(Commonbook::reject_handoff)),
        full("withdraw_handoff", Changes, JsonVerb::of(Commonbook::withdraw_handoff)),
        full("get_collaborations", Reads, JsonVerb::of(Commonbook::get_collaborations)),
        full("get_session", Reads, JsonVerb::of(Commonbook::get_session)),
        full("list_sessions", Reads, JsonVerb::of(Commonbook::list_sessions)),
    ]
}

/// The core tools, and those of memories, entities and contradictions.
fn memory_tools() -> Vec<ToolOffer> {
    use ToolEffect::{Adds, Changes, Destroys, Reads};
    let core = |name, effect, call| offer(name, effect, call, true);
    let full = |name, effect, call| offer(name, effect, call, false);
    vec![
        core("save_memory", Adds, JsonVerb::of(Commonbook::save_memory)),
        core("search_memory", Reads, JsonVerb::of(Commonbook::search_memory)),
        core("get_memory", Reads, JsonVerb::of(Commonbook::get_memory)),
        core("update_memory", Changes, JsonVerb::of(Commonbook::update_memory)),
        core("append_entries", Adds, JsonVerb::of(Commonbook::append_entries)),
        core("read_case", Changes, JsonVerb::of(Commonbook::read_case)),
        core("create_handoff", Adds, JsonVerb::of(Commonbook::create_handoff)),
        core("accept_handoff", Changes, JsonVerb::of(Commonbook::accept_handoff)),
        core("complete_handoff", Changes, JsonVerb::of(Commonbook::complete_handoff)),
        core("get_context", Reads, JsonVerb::of(Commonbook::get_context)),
        full("explain_context", Reads, JsonVerb::of(Commonbook::explain_context)),
        full("learn", Adds, JsonVerb::of(Commonbook::learn)),
        full("delete_memory", Destroys, JsonVerb::of(Commonbook::delete_memory)),
        full("get_memory_stats", Reads, JsonVerb::of(Commonbook::get_memory_stats)),
        full("save_memories", Adds, JsonVerb::of(Commonbook::save_memories)),
        full("list_memories", Reads, JsonVerb::of(Commonbook::list_memories)),
        full("memory_history", Reads, JsonVerb::of(Commonbook::memory_history)),
        full("memory_at", Reads, JsonVerb::of(Commonbook::memory_at)),
        full("restore_memory", Changes, JsonVerb::of(Commonbook::restore_memory)),
        full("purge_memory", Destroys, JsonVerb::of(Commonbook::purge_memory)),
        full("appeal_memory", Changes, JsonVerb::of(Commonbook::appeal_memory)),
        full("list_quarantined", Reads, JsonVerb::of(Commonbook::list_quarantined)),
        full("release_memory", Changes, JsonVerb::of(Commonbook::release_memory)),
        full("adopt_memories", Changes, JsonVerb::of(Commonbook::adopt_memories)),
        full("purge_since", Destroys, JsonVerb::of(Commonbook::purge_since)),
        full("undo_act", Changes, JsonVerb::of(Commonbook::undo_act)),
        full("resolve_entity", Adds, JsonVerb::of(Commonbook::resolve_entity)),
        full("find_entity", Reads, JsonVerb::of(Commonbook::find_entity)),
        full("get_entity", Reads, JsonVerb::of(Commonbook::get_entity)),
        full("list_entities", Reads, JsonVerb::of(Commonbook::list_entities)),
        full("entity_mentions", Reads, JsonVerb::of(Commonbook::entity_mentions)),
        full("merge_entities", Changes, JsonVerb::of(Commonbook::merge_entities)),
        full("unmerge_entities", Changes, JsonVerb::of(Commonbook::unmerge_entities)),
        full("list_reviews", Reads, JsonVerb::of(Commonbook::list_reviews)),
        full("decide_review", Changes, JsonVerb::of(Commonbook::decide_review)),
        full("add_relation", Adds, JsonVerb::of(Commonbook::add_relation)),
        full("graph_query", Reads, JsonVerb::of(Commonbook::graph_query)),
        full("detect_contradictions", Reads, JsonVerb::of(Commonbook::detect_contradictions)),
        full("get_contradiction", Reads, JsonVerb::of(Commonbook::get_contradiction)),
        full("resolve_contradiction", Changes, JsonVerb::of(Commonbook::resolve_contradiction)),
        full("list_users", Reads, JsonVerb::of(Commonbook::list_users)),
        full("list_agents", Reads, JsonVerb::of(Commonbook::list_agents)),
        full("get_agent", Reads, JsonVerb::of(Commonbook::get_agent)),
        full("list_events", Reads, JsonVerb::of(Commonbook::list_events)),
    ]
}

fn offer(name: &'static str, effect: ToolEffect, call: JsonVerb, core: bool) -> ToolOffer {
    let hints = ToolAnnotations::with_title(name.replace('_', " ")).open_world(false);
    let hints = match effect {
        ToolEffect::Reads => hints.read_only(true).idempotent(true),
        ToolEffect::Adds => hints.read_only(false).destructive(false),
        ToolEffect::Changes => hints.read_only(false).destructive(false).idempotent(true),
        ToolEffect::Destroys => hints.read_only(false).destructive(true),
    };
    let mut tool =
        Tool::new(name, call.verb_description().to_owned(), schema_object(&call.request, true));
    tool.output_schema = Some(schema_object(&call.answer, false));
    tool.annotations = Some(hints);
    ToolOffer { tool, call, core }
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
    offers().into_iter().map(|offer| offer.tool).collect()
}
