//! The tools: the verbs as a table, with what each does to what is kept.

use std::sync::Arc;

use clap::ValueEnum;
use commonbook::Commonbook;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::call::Call;

/// Which tools are offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tools {
    /// The few that most work needs.
    #[default]
    Core,
    /// All of them.
    Full,
}

/// How a tool treats what is there.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Adds,
    Changes,
    Destroys,
}

/// A verb as a tool.
pub(super) struct Offer {
    pub(super) tool: Tool,
    pub(super) call: Call,
    /// Whether it is one of the few.
    pub(super) core: bool,
}

impl Offer {
    /// Whether it changes what is kept.
    pub(super) fn writes(&self) -> bool {
        let hints = self.tool.annotations.as_ref();
        hints.is_none_or(|hints| hints.read_only_hint != Some(true))
    }
}

/// Every tool, in the order of the documentation.
pub(super) fn offers() -> Vec<Offer> {
    of_memories().into_iter().chain(of_work()).collect()
}

/// The tools of what agents work on together, beside the few.
fn of_work() -> Vec<Offer> {
    use Effect::{Adds, Changes, Reads};
    let full = |name, effect, call| offer(name, effect, call, false);
    vec![
        full("open_case", Adds, Call::of(Commonbook::open_case)),
        full("get_case", Reads, Call::of(Commonbook::get_case)),
        full("get_case_context", Reads, Call::of(Commonbook::get_case_context)),
        full("list_cases", Reads, Call::of(Commonbook::list_cases)),
        full("digest_case", Adds, Call::of(Commonbook::digest_case)),
        full("close_case", Changes, Call::of(Commonbook::close_case)),
        full("archive_case", Changes, Call::of(Commonbook::archive_case)),
        full("reopen_case", Changes, Call::of(Commonbook::reopen_case)),
        full("changes_since", Changes, Call::of(Commonbook::changes_since)),
        full("mark_read", Changes, Call::of(Commonbook::mark_read)),
        full("start_session", Adds, Call::of(Commonbook::start_session)),
        full("touch_session", Changes, Call::of(Commonbook::touch_session)),
        full("end_session", Changes, Call::of(Commonbook::end_session)),
        full("resume_session", Changes, Call::of(Commonbook::resume_session)),
        full("create_checkpoint", Adds, Call::of(Commonbook::create_checkpoint)),
        full("checkpoint_and_summarise", Adds, Call::of(Commonbook::checkpoint_and_summarise)),
        full("list_checkpoints", Reads, Call::of(Commonbook::list_checkpoints)),
        full("get_checkpoint", Reads, Call::of(Commonbook::get_checkpoint)),
        full("list_handoffs", Reads, Call::of(Commonbook::list_handoffs)),
        full("get_handoff", Reads, Call::of(Commonbook::get_handoff)),
        full("reject_handoff", Changes, Call::of(Commonbook::reject_handoff)),
        full("withdraw_handoff", Changes, Call::of(Commonbook::withdraw_handoff)),
        full("get_collaborations", Reads, Call::of(Commonbook::get_collaborations)),
        full("get_session", Reads, Call::of(Commonbook::get_session)),
        full("list_sessions", Reads, Call::of(Commonbook::list_sessions)),
    ]
}

/// The few tools, and those of memories.
fn of_memories() -> Vec<Offer> {
    use Effect::{Adds, Changes, Destroys, Reads};
    let core = |name, effect, call| offer(name, effect, call, true);
    let full = |name, effect, call| offer(name, effect, call, false);
    vec![
        core("save_memory", Adds, Call::of(Commonbook::save_memory)),
        core("search_memory", Reads, Call::of(Commonbook::search_memory)),
        core("get_memory", Reads, Call::of(Commonbook::get_memory)),
        core("update_memory", Changes, Call::of(Commonbook::update_memory)),
        core("append_entries", Adds, Call::of(Commonbook::append_entries)),
        core("read_case", Changes, Call::of(Commonbook::read_case)),
        core("create_handoff", Adds, Call::of(Commonbook::create_handoff)),
        core("accept_handoff", Changes, Call::of(Commonbook::accept_handoff)),
        core("complete_handoff", Changes, Call::of(Commonbook::complete_handoff)),
        core("get_context", Reads, Call::of(Commonbook::get_context)),
        full("explain_context", Reads, Call::of(Commonbook::explain_context)),
        full("learn", Adds, Call::of(Commonbook::learn)),
        full("delete_memory", Destroys, Call::of(Commonbook::delete_memory)),
        full("get_memory_stats", Reads, Call::of(Commonbook::get_memory_stats)),
        full("save_memories", Adds, Call::of(Commonbook::save_memories)),
        full("list_memories", Reads, Call::of(Commonbook::list_memories)),
        full("memory_history", Reads, Call::of(Commonbook::memory_history)),
        full("memory_at", Reads, Call::of(Commonbook::memory_at)),
        full("restore_memory", Changes, Call::of(Commonbook::restore_memory)),
        full("purge_memory", Destroys, Call::of(Commonbook::purge_memory)),
        full("appeal_memory", Changes, Call::of(Commonbook::appeal_memory)),
        full("list_quarantined", Reads, Call::of(Commonbook::list_quarantined)),
        full("release_memory", Changes, Call::of(Commonbook::release_memory)),
        full("adopt_memories", Changes, Call::of(Commonbook::adopt_memories)),
        full("purge_since", Destroys, Call::of(Commonbook::purge_since)),
        full("undo_act", Changes, Call::of(Commonbook::undo_act)),
        full("resolve_entity", Adds, Call::of(Commonbook::resolve_entity)),
        full("find_entity", Reads, Call::of(Commonbook::find_entity)),
        full("get_entity", Reads, Call::of(Commonbook::get_entity)),
        full("list_entities", Reads, Call::of(Commonbook::list_entities)),
        full("entity_mentions", Reads, Call::of(Commonbook::entity_mentions)),
        full("merge_entities", Changes, Call::of(Commonbook::merge_entities)),
        full("unmerge_entities", Changes, Call::of(Commonbook::unmerge_entities)),
        full("list_reviews", Reads, Call::of(Commonbook::list_reviews)),
        full("decide_review", Changes, Call::of(Commonbook::decide_review)),
        full("add_relation", Adds, Call::of(Commonbook::add_relation)),
        full("graph_query", Reads, Call::of(Commonbook::graph_query)),
        full("detect_contradictions", Reads, Call::of(Commonbook::detect_contradictions)),
        full("get_contradiction", Reads, Call::of(Commonbook::get_contradiction)),
        full("resolve_contradiction", Changes, Call::of(Commonbook::resolve_contradiction)),
        full("list_users", Reads, Call::of(Commonbook::list_users)),
        full("list_agents", Reads, Call::of(Commonbook::list_agents)),
        full("get_agent", Reads, Call::of(Commonbook::get_agent)),
        full("list_events", Reads, Call::of(Commonbook::list_events)),
    ]
}

fn offer(name: &'static str, effect: Effect, call: Call, core: bool) -> Offer {
    let hints = ToolAnnotations::with_title(name.replace('_', " ")).open_world(false);
    let hints = match effect {
        Effect::Reads => hints.read_only(true).idempotent(true),
        Effect::Adds => hints.read_only(false).destructive(false),
        Effect::Changes => hints.read_only(false).destructive(false).idempotent(true),
        Effect::Destroys => hints.read_only(false).destructive(true),
    };
    let mut tool = Tool::new(name, call.about().to_owned(), object(&call.request, true));
    tool.output_schema = Some(object(&call.answer, false));
    tool.annotations = Some(hints);
    Offer { tool, call, core }
}

/// A schema as tools carry it. The description of a request is the tool's own already.
fn object(schema: &Value, request: bool) -> Arc<JsonObject> {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.remove("title");
    if request {
        object.remove("description");
        object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    Arc::new(object)
}

/// Every tool as a client sees it; for the golden file.
pub(crate) fn tools() -> Vec<Tool> {
    offers().into_iter().map(|offer| offer.tool).collect()
}
