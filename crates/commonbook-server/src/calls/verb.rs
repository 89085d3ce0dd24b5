//! The registry of verbs: each once by its name, with what it does and where each door has it.
//!
//! REST routes, MCP tools, prompts and resources, commands, hooks and the local socket take the verbs
//! from here. A door adds only how it carries an answer.

mod joined;
mod selection;

use std::sync::LazyLock;

use axum::http::Method;
use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::input::EmptyText;
use commonbook::model::caller::Caller;
use commonbook::model::session::SessionUse;
use commonbook::verbs::names;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::calls::call::JsonVerb;

pub(crate) use joined::{ACTION, JOINED_TOOLS, JoinedTool};
pub(crate) use selection::{TOOLS_HEADER, ToolSelection};

/// How a verb treats what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbEffect {
    /// Changes nothing that a caller sees.
    Reads,
    /// Adds something, and again at each call.
    Adds,
    /// Changes something; the same call once more changes nothing.
    Changes,
    /// Removes something.
    Destroys,
}

/// What is derived from the journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follower {
    /// The search index.
    Index,
    /// The entities that memories mention.
    Mentions,
    /// The contradictions between memories.
    Contradictions,
}

/// A follower that a verb needs caught up with the journals.
#[derive(Debug, Clone, Copy)]
struct FollowerNeed {
    follower: Follower,
    /// The field of the request that makes the need; each request has it if there is none.
    field: Option<&'static str>,
}

/// A set of MCP tools; each contains the smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToolTier {
    /// What one agent needs; its texts name no tool outside it.
    Core,
    /// What a team of agents needs: cases, sessions, entities, contradictions.
    Team,
    /// Every tool.
    Full,
}

impl ToolTier {
    /// Every set, the smallest first.
    pub(crate) const ALL: [Self; 3] = [Self::Core, Self::Team, Self::Full];

    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Team => "team",
            Self::Full => "full",
        }
    }

    /// The verbs that it offers, in the order of the registry.
    pub(crate) fn verbs(self) -> impl Iterator<Item = &'static Verb> {
        all().iter().filter(move |verb| verb.tool.is_some_and(|tier| tier <= self))
    }
}

/// A method and a path of REST.
#[derive(Debug, Clone)]
pub(crate) struct VerbRoute {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
}

/// Where the command line has a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbCommandName {
    /// A command; of one in a group, the group and the command.
    Own(&'static str),
    /// The command of another verb, where this field of the request is given.
    Of { verb: &'static str, field: &'static str },
}

/// A verb: what it does, and where each door has it.
pub(crate) struct Verb {
    /// The name by which every door, hook and socket calls it.
    pub(crate) name: &'static str,
    pub(crate) effect: VerbEffect,
    /// The call, with the schemas of its request and response.
    pub(crate) call: JsonVerb,
    /// Whether it reads or writes the standing memory files of the caller's project.
    pub(crate) uses_project: bool,
    /// Whether it is about standing memory files, which a person writes at a terminal.
    pub(crate) is_on_files: bool,
    pub(crate) route: Option<VerbRoute>,
    /// What the route calls instead if its body is a list.
    pub(crate) list_body: Option<ListBody>,
    /// The smallest set of MCP tools that has it.
    pub(crate) tool: Option<ToolTier>,
    /// The verb that its tool calls instead if it gets no arguments.
    pub(crate) tool_without_arguments: Option<&'static str>,
    pub(crate) command: Option<VerbCommandName>,
    needs: Vec<FollowerNeed>,
}

/// A body that is a list instead of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListBody {
    /// The verb that is called.
    pub(crate) verb: &'static str,
    /// The field of its request that holds the list.
    pub(crate) field: &'static str,
}

impl Verb {
    /// Whether it changes something.
    pub(crate) fn writes(&self) -> bool {
        self.effect != VerbEffect::Reads
    }

    /// Whether it shows what is stored, even if it also notes how far its caller has read.
    pub(crate) fn only_reads(&self) -> bool {
        let is_get = |route: &VerbRoute| route.method == Method::GET;
        !self.writes() || self.route.as_ref().is_some_and(is_get)
    }

    /// The verb that a request is for: one with nothing but a list in the field of the verb for lists is for
    /// that verb.
    pub(crate) fn for_request(&'static self, request: &Value) -> &'static Self {
        let list = self.list_body.and_then(|list| Some((find(list.verb)?, list.field)));
        match list {
            Some((verb, field)) if verb.call.is_list(request, field) => verb,
            _ => self,
        }
    }

    /// Whether it is about the tokens and webhooks of a home, not about memories.
    pub(crate) fn is_about_home(&self) -> bool {
        matches!(self.command, Some(VerbCommandName::Own(name))
            if name.starts_with("token ") || name.starts_with("webhook "))
    }

    /// Whether this request needs the follower caught up.
    pub(crate) fn needs(&self, follower: Follower, request: &Map<String, Value>) -> bool {
        let applies = |need: &FollowerNeed| need.field.is_none_or(|it| request.contains_key(it));
        self.needs.iter().any(|need| need.follower == follower && applies(need))
    }

    /// Sets what it does with a session that its caller does not name.
    fn session(mut self, session_use: SessionUse) -> Self {
        self.call.session_use = session_use;
        self
    }

    fn rest(self, method: Method, path: &'static str) -> Self {
        Self { route: Some(VerbRoute { method, path }), ..self }
    }

    fn get(self, path: &'static str) -> Self {
        self.rest(Method::GET, path)
    }

    fn post(self, path: &'static str) -> Self {
        self.rest(Method::POST, path)
    }

    fn list_body(self, verb: &'static str, field: &'static str) -> Self {
        Self { list_body: Some(ListBody { verb, field }), ..self }
    }

    fn core_tool(self) -> Self {
        Self { tool: Some(ToolTier::Core), ..self }
    }

    /// The core tool, which without arguments calls another verb.
    fn core_tool_or(self, without_arguments: &'static str) -> Self {
        Self { tool_without_arguments: Some(without_arguments), ..self.core_tool() }
    }

    fn team_tool(self) -> Self {
        Self { tool: Some(ToolTier::Team), ..self }
    }

    fn tool(self) -> Self {
        Self { tool: Some(ToolTier::Full), ..self }
    }

    fn command(self, name: &'static str) -> Self {
        Self { command: Some(VerbCommandName::Own(name)), ..self }
    }

    fn command_of(self, verb: &'static str, field: &'static str) -> Self {
        Self { command: Some(VerbCommandName::Of { verb, field }), ..self }
    }

    /// Sets that an empty text is no absent one: it selects what the verb changes.
    fn keeps_empty_texts(mut self) -> Self {
        self.call.empty = EmptyText::Kept;
        self
    }

    fn needs_follower(mut self, follower: Follower) -> Self {
        self.needs.push(FollowerNeed { follower, field: None });
        self
    }

    fn needs_follower_for(mut self, field: &'static str, follower: Follower) -> Self {
        self.needs.push(FollowerNeed { follower, field: Some(field) });
        self
    }

    fn in_project(self) -> Self {
        Self { uses_project: true, ..self }
    }

    fn on_files(self) -> Self {
        Self { is_on_files: true, ..self }
    }
}

fn verb<Q, A>(
    name: &'static str,
    effect: VerbEffect,
    call: impl Fn(&Commonbook, &Caller, &Q) -> Result<A> + Send + Sync + 'static,
) -> Verb
where
    Q: DeserializeOwned + JsonSchema,
    A: Serialize + JsonSchema,
{
    // What is written belongs to a session of its author.
    let session_use = match effect {
        VerbEffect::Adds | VerbEffect::Changes => SessionUse::Begins,
        VerbEffect::Reads | VerbEffect::Destroys => SessionUse::Unused,
    };
    let verb = Verb {
        name,
        effect,
        call: JsonVerb::of(name, call),
        uses_project: false,
        is_on_files: false,
        route: None,
        list_body: None,
        tool: None,
        tool_without_arguments: None,
        command: None,
        needs: Vec::new(),
    };
    let verb = verb.session(session_use);
    if effect == VerbEffect::Destroys { verb.keeps_empty_texts() } else { verb }
}

static VERBS: LazyLock<Vec<Verb>> = LazyLock::new(|| {
    [
        memory_verbs(),
        token_verbs(),
        webhook_verbs(),
        context_verbs(),
        standing_verbs(),
        session_verbs(),
        case_verbs(),
        handoff_verbs(),
        entity_verbs(),
        contradiction_verbs(),
        outdated_verbs(),
        consolidation_verbs(),
        retraction_verbs(),
        knowledge_verbs(),
        forgetting_verbs(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Every verb, in the order in which doors list them.
pub(crate) fn all() -> &'static [Verb] {
    &VERBS
}

/// The verb of this name.
pub(crate) fn find(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name)
}

#[expect(clippy::too_many_lines, reason = "a table, a row for each verb")]
fn memory_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    vec![
        verb(names::SAVE_MEMORY, Adds, C::save_beside_others)
            .post("/v1/memories")
            .list_body(names::SAVE_MEMORIES, "memories")
            .core_tool()
            .command("save"),
        verb(names::SEARCH_MEMORY, Reads, C::search_memory)
            .get("/v1/memories/search")
            .core_tool()
            .command("search")
            .needs_follower(Follower::Index)
            .needs_follower_for("entity", Follower::Mentions),
        verb(names::GET_MEMORY, Reads, C::get_memories)
            .get("/v1/memories/{id}")
            .core_tool()
            .command("show")
            // What is opened belongs to what the session received.
            .session(SessionUse::Joins),
        verb(names::MEMORY_AT, Reads, C::memory_at).tool(),
        verb(names::LIST_MEMORIES, Reads, C::list_memories)
            .get("/v1/memories")
            .team_tool()
            .command("list"),
        verb(names::DIFF_MEMORIES, Reads, C::diff_memories)
            .get("/v1/memories/diff")
            .command("diff"),
        verb(names::UPDATE_MEMORY, Changes, C::update_memory)
            .rest(Method::PATCH, "/v1/memories/{id}")
            .core_tool()
            .command("update"),
        verb(names::DELETE_MEMORY, Destroys, C::delete_memory)
            .rest(Method::DELETE, "/v1/memories/{id}")
            .core_tool()
            .command("delete")
            .session(SessionUse::Joins),
        verb(names::RESTORE_MEMORY, Changes, C::restore_memory)
            .post("/v1/memories/{id}/restore")
            .tool()
            .command("restore"),
        verb(names::PURGE_MEMORY, Destroys, C::purge_memory)
            .post("/v1/memories/{id}/purge")
            .tool()
            .command("purge"),
        verb(names::PURGE_SINCE, Destroys, C::purge_since)
            .post("/v1/memories/purge")
            .tool()
            .command_of(names::PURGE_MEMORY, "since"),
        verb(names::ADOPT_MEMORIES, Changes, C::adopt_memories)
            .post("/v1/memories/adopt")
            .tool()
            .command("adopt")
            .keeps_empty_texts()
            .session(SessionUse::Unused),
        verb(names::MOVE_MEMORIES, Changes, C::move_memories)
            .post("/v1/memories/move")
            .command("workspace move")
            .keeps_empty_texts()
            .session(SessionUse::Unused),
        verb(names::UNDO_OPERATION, Adds, C::undo_operation)
            .post("/v1/operations/{operation_id}/undo")
            .tool()
            .command("undo")
            .session(SessionUse::Unused),
        verb(names::LIST_USERS, Reads, C::list_users).get("/v1/users").tool().command("users"),
        verb(names::MEMORY_HISTORY, Reads, C::memory_history)
            .get("/v1/memories/{id}/history")
            .tool()
            .command("history"),
        verb(names::EXPLAIN_SIGHT, Reads, C::explain_sight)
            .get("/v1/memories/{id}/sight")
            .command("why"),
        verb(names::GET_MEMORY_STATS, Reads, C::get_memory_stats)
            .get("/v1/stats")
            .tool()
            .command("stats"),
        verb(names::LIST_AGENTS, Reads, C::list_agents)
            .get("/v1/agents")
            .team_tool()
            .command("agents"),
        verb(names::GET_AGENT, Reads, C::get_agent)
            .get("/v1/agents/{name}")
            .tool()
            .command("agent show"),
        verb(names::LIST_EVENTS, Reads, C::list_events).get("/v1/events").tool().command("events"),
        verb(names::GET_EVENT_RATES, Reads, C::get_event_rates).command("rates"),
        verb(names::LIST_QUARANTINED, Reads, C::list_quarantined)
            .get("/v1/quarantine")
            .tool()
            .command("review"),
        verb(names::APPEAL_MEMORY, Changes, C::appeal_memory)
            .post("/v1/memories/{id}/appeal")
            .tool()
            .command("appeal"),
        verb(names::RELEASE_MEMORY, Changes, C::release_memory)
            .post("/v1/memories/{id}/release")
            .tool()
            .command("release")
            .session(SessionUse::Unused),
        verb(names::SAVE_MEMORIES, Adds, C::save_memories).tool().command("batch"),
        verb(names::IMPORT_MEMORIES, Adds, C::import_memories)
            .post("/v1/memories/import")
            .session(SessionUse::Unused),
        verb(names::EXPORT_WORKSPACE, Reads, C::export_workspace)
            .get("/v1/export")
            .session(SessionUse::Unused),
    ]
}

fn token_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::CREATE_TOKEN, Adds, C::create_token).command("token create"),
        verb(names::LIST_TOKENS, Reads, C::list_tokens).command("token list"),
        verb(names::REVOKE_TOKEN, Destroys, C::revoke_token).command("token revoke"),
        verb(names::ROTATE_TOKEN, Changes, C::rotate_token).command("token rotate"),
    ];
    verbs.into_iter().map(|verb| verb.session(SessionUse::Unused)).collect()
}

fn webhook_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::ADD_WEBHOOK, Adds, C::add_webhook).command("webhook add"),
        verb(names::LIST_WEBHOOKS, Reads, C::list_webhooks).command("webhook list"),
        verb(names::GET_WEBHOOK, Reads, C::get_webhook).command("webhook show"),
        verb(names::REMOVE_WEBHOOK, Destroys, C::remove_webhook).command("webhook remove"),
        verb(names::RETRY_DELIVERY, Changes, C::retry_delivery).command("webhook retry"),
        verb(names::TEST_WEBHOOK, Adds, C::test_webhook).command("webhook test"),
    ];
    verbs.into_iter().map(|verb| verb.session(SessionUse::Unused)).collect()
}

fn context_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb(names::GET_CONTEXT, Reads, C::get_context)
            .post("/v1/context")
            .core_tool()
            .command("context")
            .session(SessionUse::Begins)
            .needs_follower(Follower::Index)
            .in_project(),
        verb(names::GET_BRIEFING, Changes, C::get_briefing)
            .post("/v1/briefing")
            .tool()
            .command("briefing")
            .needs_follower_for("prompt", Follower::Index)
            .in_project(),
        verb(names::LIST_CONTEXTS, Reads, C::list_contexts)
            .get("/v1/contexts")
            .tool()
            .command("contexts"),
        verb(names::EXPLAIN_CONTEXT, Reads, C::explain_context)
            .get("/v1/contexts/{context}")
            .tool()
            .command("explain")
            .in_project(),
        verb(names::RECALL, Reads, C::recall).needs_follower(Follower::Index),
        verb(names::LEARN, Adds, C::learn)
            .post("/v1/learnings")
            .tool()
            .command("learn")
            .in_project(),
    ]
}

fn standing_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::LIST_STANDING, Reads, C::list_standing)
            .get("/v1/standing")
            .tool()
            .command("memory status"),
        verb(names::READ_STANDING, Reads, C::read_standing)
            .get("/v1/standing/{role}")
            .tool()
            .command("memory show"),
        verb(names::PREVIEW_STANDING, Reads, C::preview_standing).command("memory preview"),
        verb(names::AGREE_STANDING, Changes, C::agree_standing).command("memory agree"),
        verb(names::ADD_STANDING, Adds, C::add_standing)
            .post("/v1/standing/{role}/items")
            .tool()
            .command("memory add"),
        verb(names::REMOVE_STANDING, Destroys, C::remove_standing)
            .rest(Method::DELETE, "/v1/standing/{role}/items")
            .tool()
            .command("memory remove"),
        verb(names::CLEAN_STANDING, Destroys, C::clean_standing)
            .post("/v1/standing/{role}/clean")
            .tool()
            .command("memory clean"),
        verb(names::OPTIMIZE_STANDING, Destroys, C::optimize_standing)
            .post("/v1/standing/{role}/optimize")
            .command("memory optimize"),
        verb(names::STANDING_HISTORY, Reads, C::standing_history)
            .get("/v1/standing/{role}/versions")
            .tool()
            .command("memory history"),
        verb(names::RESTORE_STANDING, Changes, C::restore_standing)
            .post("/v1/standing/{role}/restore")
            .tool()
            .command("memory restore"),
        verb(names::INIT_STANDING, Changes, C::init_standing)
            .post("/v1/standing")
            .command("memory init"),
        verb(names::ROUTE_STANDING, Reads, C::route_standing)
            .get("/v1/roles/match")
            .command("memory route"),
    ];
    let verbs = verbs.into_iter().map(|verb| verb.session(SessionUse::Unused));
    verbs.map(Verb::in_project).map(Verb::on_files).collect()
}

#[expect(clippy::too_many_lines, reason = "a table, a row for each verb")]
fn session_verbs() -> Vec<Verb> {
    use SessionUse::{Joins, Unused};
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    vec![
        verb(names::CHANGES_SINCE, Changes, C::changes_since)
            .get("/v1/changes")
            .team_tool()
            .command("changes")
            .session(Unused),
        verb(names::MARK_READ, Changes, C::mark_read)
            .post("/v1/changes/mark")
            .tool()
            .command("mark")
            .session(Unused),
        verb(names::START_SESSION, Adds, C::start_session)
            .post("/v1/sessions")
            .team_tool()
            .command("session start")
            .session(Unused),
        verb(names::END_SESSION, Changes, C::end_session)
            .post("/v1/sessions/{session}/end")
            .team_tool()
            .command("session end")
            .session(Joins),
        verb(names::TOUCH_SESSION, Changes, C::touch_session)
            .post("/v1/sessions/{session}/touch")
            .tool()
            .command("session touch")
            .session(Unused),
        verb(names::RESUME_SESSION, Changes, C::resume_session)
            .post("/v1/sessions/{session}/resume")
            .team_tool()
            .command("resume")
            .session(Unused),
        verb(names::CREATE_CHECKPOINT, Adds, C::create_checkpoint)
            .post("/v1/checkpoints")
            .team_tool()
            .command("checkpoint")
            .session(Joins),
        verb(names::CHECKPOINT_AND_SUMMARISE, Adds, C::checkpoint_and_summarise)
            .post("/v1/checkpoints/summarise")
            .tool()
            .command("summarise")
            .session(Joins),
        verb(names::GET_CHECKPOINT, Reads, C::get_checkpoint)
            .get("/v1/checkpoints/{checkpoint}")
            .tool()
            .command("session checkpoint"),
        verb(names::ARCHIVE_CHECKPOINT, Changes, C::archive_checkpoint)
            .post("/v1/checkpoints/{checkpoint}/archive")
            .tool()
            .command("session archive-checkpoint")
            .session(Unused),
        verb(names::DELETE_CHECKPOINT, Destroys, C::delete_checkpoint)
            .rest(Method::DELETE, "/v1/checkpoints/{checkpoint}")
            .tool()
            .command("session delete-checkpoint"),
        verb(names::LIST_CHECKPOINTS, Reads, C::list_checkpoints)
            .get("/v1/checkpoints")
            .tool()
            .command("checkpoints")
            .session(Joins),
        verb(names::GET_SESSION, Reads, C::get_session)
            .get("/v1/sessions/{session}")
            .tool()
            .command("session show"),
        verb(names::LIST_SESSIONS, Reads, C::list_sessions)
            .get("/v1/sessions")
            .tool()
            .command("session list"),
    ]
}

fn case_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb(names::OPEN_CASE, Adds, C::open_case)
            .post("/v1/cases")
            .team_tool()
            .command("case open"),
        verb(names::APPEND_ENTRY, Adds, C::append_entry).command("case append"),
        verb(names::APPEND_ENTRIES, Adds, C::append_entries)
            .post("/v1/cases/{key}/entries")
            .list_body(names::APPEND_ENTRIES, "entries")
            .team_tool()
            .command("case batch"),
        verb(names::READ_CASE, Changes, C::read_case)
            .get("/v1/cases/{key}/entries")
            .team_tool()
            .command("case read")
            .session(SessionUse::Unused),
        verb(names::GET_CASE_CONTEXT, Reads, C::get_case_context)
            .get("/v1/cases/{key}/context")
            .tool()
            .command("case context"),
        verb(names::DIGEST_CASE, Adds, C::digest_case)
            .post("/v1/cases/{key}/digest")
            .tool()
            .command("case digest"),
        verb(names::LIST_PROPOSALS, Reads, C::list_proposals)
            .get("/v1/cases/{key}/proposals")
            .tool()
            .command("case proposals"),
        verb(names::DECIDE_PROPOSAL, Changes, C::decide_proposal)
            .post("/v1/cases/{key}/decide")
            .tool()
            .command("case decide"),
        verb(names::BRANCH_CASE, Adds, C::branch_case)
            .post("/v1/cases/{key}/branch")
            .tool()
            .command("case branch"),
        verb(names::MERGE_CASE, Changes, C::merge_case)
            .post("/v1/cases/{key}/merge")
            .tool()
            .command("case merge"),
        verb(names::GET_CASE, Reads, C::get_case)
            .get("/v1/cases/{key}")
            .tool()
            .command("case show"),
        verb(names::LIST_CASES, Reads, C::list_cases)
            .get("/v1/cases")
            .team_tool()
            .command("case list"),
        verb(names::LIST_BRANCHES, Reads, C::list_branches).command("case branches"),
        verb(names::COUNT_UNREAD, Reads, C::count_unread).command("case unread"),
        verb(names::UPDATE_CASE, Changes, C::update_case)
            .rest(Method::PATCH, "/v1/cases/{key}")
            .tool()
            .command("case update"),
        verb(names::CLOSE_CASE, Changes, C::close_case)
            .post("/v1/cases/{key}/close")
            .team_tool()
            .command("case close"),
        verb(names::ARCHIVE_CASE, Changes, C::archive_case)
            .post("/v1/cases/{key}/archive")
            .tool()
            .command("case archive"),
        verb(names::REOPEN_CASE, Changes, C::reopen_case)
            .post("/v1/cases/{key}/reopen")
            .tool()
            .command("case reopen"),
    ]
}

fn handoff_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb(names::CREATE_HANDOFF, Adds, C::create_handoff)
            .post("/v1/handoffs")
            .core_tool()
            .command("handoff create"),
        verb(names::LIST_HANDOFFS, Reads, C::list_handoffs)
            .get("/v1/handoffs")
            .team_tool()
            .command("handoff list"),
        verb(names::GET_HANDOFF, Reads, C::get_handoff)
            .get("/v1/handoffs/{handoff}")
            .tool()
            .command("handoff show"),
        verb(names::ACCEPT_HANDOFF, Changes, C::accept_handoff)
            .post("/v1/handoffs/{handoff}/accept")
            .core_tool_or(names::LIST_HANDOFFS)
            .command("handoff accept"),
        verb(names::COMPLETE_HANDOFF, Changes, C::complete_handoff)
            .post("/v1/handoffs/{handoff}/complete")
            .core_tool()
            .command("handoff complete"),
        verb(names::REJECT_HANDOFF, Changes, C::reject_handoff)
            .post("/v1/handoffs/{handoff}/reject")
            .team_tool()
            .command("handoff reject"),
        verb(names::WITHDRAW_HANDOFF, Changes, C::withdraw_handoff)
            .post("/v1/handoffs/{handoff}/withdraw")
            .tool()
            .command("handoff withdraw"),
        verb(names::GET_COLLABORATIONS, Reads, C::get_collaborations)
            .get("/v1/collaborations")
            .tool()
            .command("handoff graph"),
    ]
}

fn entity_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::RESOLVE_ENTITY, Adds, C::resolve_entity)
            .post("/v1/entities/resolve")
            .team_tool()
            .command("entity resolve"),
        verb(names::FIND_ENTITY, Reads, C::find_entity)
            .get("/v1/entities/find")
            .tool()
            .command("entity find"),
        verb(names::GET_ENTITY, Reads, C::get_entity)
            .get("/v1/entities/{entity}")
            .team_tool()
            .command("entity show"),
        verb(names::LIST_ENTITIES, Reads, C::list_entities)
            .get("/v1/entities")
            .team_tool()
            .command("entity list"),
        verb(names::ENTITY_MENTIONS, Reads, C::entity_mentions)
            .get("/v1/entities/{entity}/mentions")
            .tool()
            .command("entity mentions"),
        verb(names::MERGE_ENTITIES, Changes, C::merge_entities)
            .post("/v1/entities/merge")
            .tool()
            .command("entity merge"),
        verb(names::UNMERGE_ENTITIES, Changes, C::unmerge_entities)
            .post("/v1/entities/{source}/unmerge")
            .tool()
            .command("entity unmerge"),
        verb(names::RENAME_ENTITY, Changes, C::rename_entity)
            .post("/v1/entities/{entity}/rename")
            .tool()
            .command("entity rename"),
        verb(names::DELETE_ENTITY, Changes, C::delete_entity)
            .post("/v1/entities/{entity}/delete")
            .tool()
            .command("entity delete"),
        verb(names::RESTORE_ENTITY, Changes, C::restore_entity)
            .post("/v1/entities/{entity}/restore")
            .tool()
            .command("entity restore"),
        verb(names::LIST_REVIEWS, Reads, C::list_reviews)
            .get("/v1/entities/reviews")
            .tool()
            .command("entity reviews"),
        verb(names::DECIDE_REVIEW, Changes, C::decide_review)
            .post("/v1/entities/reviews/{review_id}")
            .tool()
            .command("entity decide"),
        verb(names::ADD_RELATION, Adds, C::add_relation)
            .post("/v1/relations")
            .tool()
            .command("entity relate"),
        verb(names::REMOVE_RELATION, Changes, C::remove_relation)
            .post("/v1/relations/remove")
            .tool()
            .command("entity unrelate"),
        verb(names::GRAPH_QUERY, Reads, C::graph_query)
            .get("/v1/graph")
            .tool()
            .command("entity graph"),
    ];
    verbs.into_iter().map(|verb| verb.needs_follower(Follower::Mentions)).collect()
}

fn retraction_verbs() -> Vec<Verb> {
    use VerbEffect::Changes;
    type C = Commonbook;
    let retract = verb(names::RETRACT_MEMORY, Changes, C::retract_memory)
        .post("/v1/memories/{id}/retract")
        .tool()
        .command("retract")
        .session(SessionUse::Unused)
        .in_project();
    vec![retract]
}

fn knowledge_verbs() -> Vec<Verb> {
    use VerbEffect::Reads;
    type C = Commonbook;
    let knowledge = verb(names::WHO_KNOWS, Reads, C::who_knows)
        .get("/v1/knowledge")
        .tool()
        .command("knowledge")
        .needs_follower_for("entity", Follower::Mentions);
    vec![knowledge]
}

fn contradiction_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::DETECT_CONTRADICTIONS, Reads, C::detect_contradictions)
            .get("/v1/contradictions")
            .team_tool()
            .command("contradictions list"),
        verb(names::GET_CONTRADICTION, Reads, C::get_contradiction)
            .get("/v1/contradictions/{contradiction}")
            .tool()
            .command("contradictions show"),
        verb(names::JUDGE_CONTRADICTIONS, Adds, C::judge_contradictions)
            .post("/v1/contradictions/judge")
            .tool()
            .command("contradictions judge"),
        verb(names::LIST_PAIRS, Reads, C::list_pairs)
            .get("/v1/contradictions/pairs")
            .team_tool()
            .command("contradictions pairs")
            .needs_follower(Follower::Index),
        verb(names::ANSWER_PAIR, Changes, C::answer_pair).command("contradictions answer"),
        verb(names::ANSWER_PAIRS, Changes, C::answer_pairs)
            .post("/v1/contradictions/pairs")
            .team_tool()
            .command("contradictions answers"),
        verb(names::RESOLVE_CONTRADICTION, Changes, C::resolve_contradiction)
            .post("/v1/contradictions/{contradiction}/resolve")
            .team_tool()
            .command("contradictions resolve"),
        verb(names::REOPEN_CONTRADICTION, Changes, C::reopen_contradiction)
            .post("/v1/contradictions/{contradiction}/reopen")
            .tool()
            .command("contradictions reopen"),
    ];
    verbs.into_iter().map(|verb| verb.needs_follower(Follower::Contradictions)).collect()
}

fn outdated_verbs() -> Vec<Verb> {
    type C = Commonbook;
    vec![
        verb(names::LIST_OUTDATED, VerbEffect::Reads, C::list_outdated)
            .get("/v1/outdated")
            .tool()
            .command("outdated list"),
        verb(names::ACKNOWLEDGE_OUTDATED, VerbEffect::Changes, C::acknowledge_outdated)
            .post("/v1/outdated/{id}/acknowledge")
            .tool()
            .command("outdated acknowledge")
            .session(SessionUse::Unused),
    ]
}

fn forgetting_verbs() -> Vec<Verb> {
    use VerbEffect::{Changes, Destroys, Reads};
    type C = Commonbook;
    vec![
        verb(names::FORGET_MEMORY, Destroys, C::forget_memory)
            .post("/v1/memories/{id}/forget")
            .tool()
            .command("forget"),
        verb(names::FORGET_MEMORIES, Destroys, C::forget_memories).post("/v1/memories/forget"),
        verb(names::LIST_CERTIFICATES, Reads, C::list_certificates)
            .get("/v1/certificates")
            .command("forgotten"),
        verb(names::GET_CERTIFICATE, Reads, C::get_certificate)
            .get("/v1/certificates/{certificate}")
            .command_of(names::FORGET_MEMORY, "certificate"),
        verb(names::ALLOW_FORGOTTEN, Changes, C::allow_forgotten)
            .post("/v1/certificates/{certificate}/allow")
            .command("allow")
            .session(SessionUse::Unused),
    ]
}

fn consolidation_verbs() -> Vec<Verb> {
    let verb = verb(names::CONSOLIDATE_MEMORY, VerbEffect::Changes, Commonbook::consolidate_memory)
        .post("/v1/consolidations")
        .tool()
        .command("consolidate")
        .session(SessionUse::Unused)
        .needs_follower(Follower::Mentions)
        .needs_follower(Follower::Contradictions);
    vec![verb]
}

#[cfg(test)]
mod tests;
