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
        verb("save_memory", Adds, C::save_beside_others)
            .post("/v1/memories")
            .list_body("save_memories", "memories")
            .core_tool()
            .command("save"),
        verb("search_memory", Reads, C::search_memory)
            .get("/v1/memories/search")
            .core_tool()
            .command("search")
            .needs_follower(Follower::Index)
            .needs_follower_for("entity", Follower::Mentions),
        verb("get_memory", Reads, C::get_memories)
            .get("/v1/memories/{id}")
            .core_tool()
            .command("show")
            // What is opened belongs to what the session received.
            .session(SessionUse::Joins),
        verb("memory_at", Reads, C::memory_at).tool(),
        verb("list_memories", Reads, C::list_memories)
            .get("/v1/memories")
            .team_tool()
            .command("list"),
        verb("diff_memories", Reads, C::diff_memories).get("/v1/memories/diff").command("diff"),
        verb("update_memory", Changes, C::update_memory)
            .rest(Method::PATCH, "/v1/memories/{id}")
            .core_tool()
            .command("update"),
        verb("delete_memory", Destroys, C::delete_memory)
            .rest(Method::DELETE, "/v1/memories/{id}")
            .core_tool()
            .command("delete")
            .session(SessionUse::Joins),
        verb("restore_memory", Changes, C::restore_memory)
            .post("/v1/memories/{id}/restore")
            .tool()
            .command("restore"),
        verb("purge_memory", Destroys, C::purge_memory)
            .post("/v1/memories/{id}/purge")
            .tool()
            .command("purge"),
        verb("purge_since", Destroys, C::purge_since)
            .post("/v1/memories/purge")
            .tool()
            .command_of("purge_memory", "since"),
        verb("adopt_memories", Changes, C::adopt_memories)
            .post("/v1/memories/adopt")
            .tool()
            .command("adopt")
            .keeps_empty_texts()
            .session(SessionUse::Unused),
        verb("move_memories", Changes, C::move_memories)
            .post("/v1/memories/move")
            .command("workspace move")
            .keeps_empty_texts()
            .session(SessionUse::Unused),
        verb("undo_operation", Adds, C::undo_operation)
            .post("/v1/operations/{operation_id}/undo")
            .tool()
            .command("undo")
            .session(SessionUse::Unused),
        verb("list_users", Reads, C::list_users).get("/v1/users").tool().command("users"),
        verb("memory_history", Reads, C::memory_history)
            .get("/v1/memories/{id}/history")
            .tool()
            .command("history"),
        verb("explain_sight", Reads, C::explain_sight)
            .get("/v1/memories/{id}/sight")
            .command("why"),
        verb("get_memory_stats", Reads, C::get_memory_stats)
            .get("/v1/stats")
            .tool()
            .command("stats"),
        verb("list_agents", Reads, C::list_agents).get("/v1/agents").team_tool().command("agents"),
        verb("get_agent", Reads, C::get_agent)
            .get("/v1/agents/{name}")
            .tool()
            .command("agent show"),
        verb("list_events", Reads, C::list_events).get("/v1/events").tool().command("events"),
        verb("get_event_rates", Reads, C::get_event_rates).command("rates"),
        verb("list_quarantined", Reads, C::list_quarantined)
            .get("/v1/quarantine")
            .tool()
            .command("review"),
        verb("appeal_memory", Changes, C::appeal_memory)
            .post("/v1/memories/{id}/appeal")
            .tool()
            .command("appeal"),
        verb("release_memory", Changes, C::release_memory)
            .post("/v1/memories/{id}/release")
            .tool()
            .command("release")
            .session(SessionUse::Unused),
        verb("save_memories", Adds, C::save_memories).tool().command("batch"),
        verb("import_memories", Adds, C::import_memories)
            .post("/v1/memories/import")
            .session(SessionUse::Unused),
        verb("export_workspace", Reads, C::export_workspace)
            .get("/v1/export")
            .session(SessionUse::Unused),
    ]
}

fn token_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb("create_token", Adds, C::create_token).command("token create"),
        verb("list_tokens", Reads, C::list_tokens).command("token list"),
        verb("revoke_token", Destroys, C::revoke_token).command("token revoke"),
        verb("rotate_token", Changes, C::rotate_token).command("token rotate"),
    ];
    verbs.into_iter().map(|verb| verb.session(SessionUse::Unused)).collect()
}

fn webhook_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb("add_webhook", Adds, C::add_webhook).command("webhook add"),
        verb("list_webhooks", Reads, C::list_webhooks).command("webhook list"),
        verb("get_webhook", Reads, C::get_webhook).command("webhook show"),
        verb("remove_webhook", Destroys, C::remove_webhook).command("webhook remove"),
        verb("retry_delivery", Changes, C::retry_delivery).command("webhook retry"),
        verb("test_webhook", Adds, C::test_webhook).command("webhook test"),
    ];
    verbs.into_iter().map(|verb| verb.session(SessionUse::Unused)).collect()
}

fn context_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb("get_context", Reads, C::get_context)
            .post("/v1/context")
            .core_tool()
            .command("context")
            .session(SessionUse::Begins)
            .needs_follower(Follower::Index)
            .in_project(),
        verb("get_briefing", Changes, C::get_briefing)
            .post("/v1/briefing")
            .tool()
            .command("briefing")
            .needs_follower_for("prompt", Follower::Index)
            .in_project(),
        verb("list_contexts", Reads, C::list_contexts)
            .get("/v1/contexts")
            .tool()
            .command("contexts"),
        verb("explain_context", Reads, C::explain_context)
            .get("/v1/contexts/{context}")
            .tool()
            .command("explain")
            .in_project(),
        verb("recall", Reads, C::recall).needs_follower(Follower::Index),
        verb("learn", Adds, C::learn).post("/v1/learnings").tool().command("learn").in_project(),
    ]
}

/// The verb of a person's agreement, which holds in the home of this machine.
pub(crate) const AGREE_STANDING: &str = "agree_standing";

fn standing_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb("list_standing", Reads, C::list_standing)
            .get("/v1/standing")
            .tool()
            .command("memory status"),
        verb("read_standing", Reads, C::read_standing)
            .get("/v1/standing/{role}")
            .tool()
            .command("memory show"),
        verb("preview_standing", Reads, C::preview_standing).command("memory preview"),
        verb(AGREE_STANDING, Changes, C::agree_standing).command("memory agree"),
        verb("add_standing", Adds, C::add_standing)
            .post("/v1/standing/{role}/items")
            .tool()
            .command("memory add"),
        verb("remove_standing", Destroys, C::remove_standing)
            .rest(Method::DELETE, "/v1/standing/{role}/items")
            .tool()
            .command("memory remove"),
        verb("clean_standing", Destroys, C::clean_standing)
            .post("/v1/standing/{role}/clean")
            .tool()
            .command("memory clean"),
        verb("optimize_standing", Destroys, C::optimize_standing)
            .post("/v1/standing/{role}/optimize")
            .command("memory optimize"),
        verb("standing_history", Reads, C::standing_history)
            .get("/v1/standing/{role}/versions")
            .tool()
            .command("memory history"),
        verb("restore_standing", Changes, C::restore_standing)
            .post("/v1/standing/{role}/restore")
            .tool()
            .command("memory restore"),
        verb("init_standing", Changes, C::init_standing)
            .post("/v1/standing")
            .command("memory init"),
        verb("route_standing", Reads, C::route_standing)
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
        verb("changes_since", Changes, C::changes_since)
            .get("/v1/changes")
            .team_tool()
            .command("changes")
            .session(Unused),
        verb("mark_read", Changes, C::mark_read)
            .post("/v1/changes/mark")
            .tool()
            .command("mark")
            .session(Unused),
        verb("start_session", Adds, C::start_session)
            .post("/v1/sessions")
            .team_tool()
            .command("session start")
            .session(Unused),
        verb("end_session", Changes, C::end_session)
            .post("/v1/sessions/{session}/end")
            .team_tool()
            .command("session end")
            .session(Joins),
        verb("touch_session", Changes, C::touch_session)
            .post("/v1/sessions/{session}/touch")
            .tool()
            .command("session touch")
            .session(Unused),
        verb("resume_session", Changes, C::resume_session)
            .post("/v1/sessions/{session}/resume")
            .team_tool()
            .command("resume")
            .session(Unused),
        verb("create_checkpoint", Adds, C::create_checkpoint)
            .post("/v1/checkpoints")
            .team_tool()
            .command("checkpoint")
            .session(Joins),
        verb("checkpoint_and_summarise", Adds, C::checkpoint_and_summarise)
            .post("/v1/checkpoints/summarise")
            .tool()
            .command("summarise")
            .session(Joins),
        verb("get_checkpoint", Reads, C::get_checkpoint)
            .get("/v1/checkpoints/{checkpoint}")
            .tool()
            .command("session checkpoint"),
        verb("archive_checkpoint", Changes, C::archive_checkpoint)
            .post("/v1/checkpoints/{checkpoint}/archive")
            .tool()
            .command("session archive-checkpoint")
            .session(Unused),
        verb("delete_checkpoint", Destroys, C::delete_checkpoint)
            .rest(Method::DELETE, "/v1/checkpoints/{checkpoint}")
            .tool()
            .command("session delete-checkpoint"),
        verb("list_checkpoints", Reads, C::list_checkpoints)
            .get("/v1/checkpoints")
            .tool()
            .command("checkpoints")
            .session(Joins),
        verb("get_session", Reads, C::get_session)
            .get("/v1/sessions/{session}")
            .tool()
            .command("session show"),
        verb("list_sessions", Reads, C::list_sessions)
            .get("/v1/sessions")
            .tool()
            .command("session list"),
    ]
}

fn case_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb("open_case", Adds, C::open_case).post("/v1/cases").team_tool().command("case open"),
        verb("append_entry", Adds, C::append_entry).command("case append"),
        verb("append_entries", Adds, C::append_entries)
            .post("/v1/cases/{key}/entries")
            .list_body("append_entries", "entries")
            .team_tool()
            .command("case batch"),
        verb("read_case", Changes, C::read_case)
            .get("/v1/cases/{key}/entries")
            .team_tool()
            .command("case read")
            .session(SessionUse::Unused),
        verb("get_case_context", Reads, C::get_case_context)
            .get("/v1/cases/{key}/context")
            .tool()
            .command("case context"),
        verb("digest_case", Adds, C::digest_case)
            .post("/v1/cases/{key}/digest")
            .tool()
            .command("case digest"),
        verb("list_proposals", Reads, C::list_proposals)
            .get("/v1/cases/{key}/proposals")
            .tool()
            .command("case proposals"),
        verb("decide_proposal", Changes, C::decide_proposal)
            .post("/v1/cases/{key}/decide")
            .tool()
            .command("case decide"),
        verb("branch_case", Adds, C::branch_case)
            .post("/v1/cases/{key}/branch")
            .tool()
            .command("case branch"),
        verb("merge_case", Changes, C::merge_case)
            .post("/v1/cases/{key}/merge")
            .tool()
            .command("case merge"),
        verb("get_case", Reads, C::get_case).get("/v1/cases/{key}").tool().command("case show"),
        verb("list_cases", Reads, C::list_cases).get("/v1/cases").team_tool().command("case list"),
        verb("list_branches", Reads, C::list_branches).command("case branches"),
        verb("count_unread", Reads, C::count_unread).command("case unread"),
        verb("update_case", Changes, C::update_case)
            .rest(Method::PATCH, "/v1/cases/{key}")
            .tool()
            .command("case update"),
        verb("close_case", Changes, C::close_case)
            .post("/v1/cases/{key}/close")
            .team_tool()
            .command("case close"),
        verb("archive_case", Changes, C::archive_case)
            .post("/v1/cases/{key}/archive")
            .tool()
            .command("case archive"),
        verb("reopen_case", Changes, C::reopen_case)
            .post("/v1/cases/{key}/reopen")
            .tool()
            .command("case reopen"),
    ]
}

fn handoff_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    vec![
        verb("create_handoff", Adds, C::create_handoff)
            .post("/v1/handoffs")
            .core_tool()
            .command("handoff create"),
        verb("list_handoffs", Reads, C::list_handoffs)
            .get("/v1/handoffs")
            .team_tool()
            .command("handoff list"),
        verb("get_handoff", Reads, C::get_handoff)
            .get("/v1/handoffs/{handoff}")
            .tool()
            .command("handoff show"),
        verb("accept_handoff", Changes, C::accept_handoff)
            .post("/v1/handoffs/{handoff}/accept")
            .core_tool_or("list_handoffs")
            .command("handoff accept"),
        verb("complete_handoff", Changes, C::complete_handoff)
            .post("/v1/handoffs/{handoff}/complete")
            .core_tool()
            .command("handoff complete"),
        verb("reject_handoff", Changes, C::reject_handoff)
            .post("/v1/handoffs/{handoff}/reject")
            .team_tool()
            .command("handoff reject"),
        verb("withdraw_handoff", Changes, C::withdraw_handoff)
            .post("/v1/handoffs/{handoff}/withdraw")
            .tool()
            .command("handoff withdraw"),
        verb("get_collaborations", Reads, C::get_collaborations)
            .get("/v1/collaborations")
            .tool()
            .command("handoff graph"),
    ]
}

fn entity_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb("resolve_entity", Adds, C::resolve_entity)
            .post("/v1/entities/resolve")
            .team_tool()
            .command("entity resolve"),
        verb("find_entity", Reads, C::find_entity)
            .get("/v1/entities/find")
            .tool()
            .command("entity find"),
        verb("get_entity", Reads, C::get_entity)
            .get("/v1/entities/{entity}")
            .team_tool()
            .command("entity show"),
        verb("list_entities", Reads, C::list_entities)
            .get("/v1/entities")
            .team_tool()
            .command("entity list"),
        verb("entity_mentions", Reads, C::entity_mentions)
            .get("/v1/entities/{entity}/mentions")
            .tool()
            .command("entity mentions"),
        verb("merge_entities", Changes, C::merge_entities)
            .post("/v1/entities/merge")
            .tool()
            .command("entity merge"),
        verb("unmerge_entities", Changes, C::unmerge_entities)
            .post("/v1/entities/{source}/unmerge")
            .tool()
            .command("entity unmerge"),
        verb("rename_entity", Changes, C::rename_entity)
            .post("/v1/entities/{entity}/rename")
            .tool()
            .command("entity rename"),
        verb("delete_entity", Changes, C::delete_entity)
            .post("/v1/entities/{entity}/delete")
            .tool()
            .command("entity delete"),
        verb("restore_entity", Changes, C::restore_entity)
            .post("/v1/entities/{entity}/restore")
            .tool()
            .command("entity restore"),
        verb("list_reviews", Reads, C::list_reviews)
            .get("/v1/entities/reviews")
            .tool()
            .command("entity reviews"),
        verb("decide_review", Changes, C::decide_review)
            .post("/v1/entities/reviews/{review_id}")
            .tool()
            .command("entity decide"),
        verb("add_relation", Adds, C::add_relation)
            .post("/v1/relations")
            .tool()
            .command("entity relate"),
        verb("remove_relation", Changes, C::remove_relation)
            .post("/v1/relations/remove")
            .tool()
            .command("entity unrelate"),
        verb("graph_query", Reads, C::graph_query).get("/v1/graph").tool().command("entity graph"),
    ];
    verbs.into_iter().map(|verb| verb.needs_follower(Follower::Mentions)).collect()
}

fn retraction_verbs() -> Vec<Verb> {
    use VerbEffect::Changes;
    type C = Commonbook;
    let retract = verb("retract_memory", Changes, C::retract_memory)
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
    let knowledge = verb("who_knows", Reads, C::who_knows)
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
        verb("detect_contradictions", Reads, C::detect_contradictions)
            .get("/v1/contradictions")
            .team_tool()
            .command("contradictions list"),
        verb("get_contradiction", Reads, C::get_contradiction)
            .get("/v1/contradictions/{contradiction}")
            .tool()
            .command("contradictions show"),
        verb("judge_contradictions", Adds, C::judge_contradictions)
            .post("/v1/contradictions/judge")
            .tool()
            .command("contradictions judge"),
        verb("list_pairs", Reads, C::list_pairs)
            .get("/v1/contradictions/pairs")
            .team_tool()
            .command("contradictions pairs")
            .needs_follower(Follower::Index),
        verb("answer_pair", Changes, C::answer_pair).command("contradictions answer"),
        verb("answer_pairs", Changes, C::answer_pairs)
            .post("/v1/contradictions/pairs")
            .team_tool()
            .command("contradictions answers"),
        verb("resolve_contradiction", Changes, C::resolve_contradiction)
            .post("/v1/contradictions/{contradiction}/resolve")
            .team_tool()
            .command("contradictions resolve"),
        verb("reopen_contradiction", Changes, C::reopen_contradiction)
            .post("/v1/contradictions/{contradiction}/reopen")
            .tool()
            .command("contradictions reopen"),
    ];
    verbs.into_iter().map(|verb| verb.needs_follower(Follower::Contradictions)).collect()
}

fn outdated_verbs() -> Vec<Verb> {
    type C = Commonbook;
    vec![
        verb("list_outdated", VerbEffect::Reads, C::list_outdated)
            .get("/v1/outdated")
            .tool()
            .command("outdated list"),
        verb("acknowledge_outdated", VerbEffect::Changes, C::acknowledge_outdated)
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
        verb("forget_memory", Destroys, C::forget_memory)
            .post("/v1/memories/{id}/forget")
            .tool()
            .command("forget"),
        verb("forget_memories", Destroys, C::forget_memories).post("/v1/memories/forget"),
        verb("list_certificates", Reads, C::list_certificates)
            .get("/v1/certificates")
            .command("forgotten"),
        verb("get_certificate", Reads, C::get_certificate)
            .get("/v1/certificates/{certificate}")
            .command_of("forget_memory", "certificate"),
        verb("allow_forgotten", Changes, C::allow_forgotten)
            .post("/v1/certificates/{certificate}/allow")
            .command("allow")
            .session(SessionUse::Unused),
    ]
}

fn consolidation_verbs() -> Vec<Verb> {
    let verb = verb("consolidate_memory", VerbEffect::Changes, Commonbook::consolidate_memory)
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
