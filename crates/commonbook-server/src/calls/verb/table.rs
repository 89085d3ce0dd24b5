//! The rows of the registry: each verb with what it does, where each door has it, and examples of its request and answer.

#![expect(clippy::too_many_lines, reason = "tables, a row for each verb")]

use std::sync::LazyLock;

use axum::http::Method;
use commonbook::Commonbook;
use commonbook::model::session::SessionUse;
use commonbook::verbs::names;
use serde_json::json;

use super::{AnswerKind, Follower, Verb, VerbEffect, examples, verb};

/// Every verb, in the order in which doors list them.
pub(super) static VERBS: LazyLock<Vec<Verb>> = LazyLock::new(|| {
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

fn memory_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Destroys, Reads};
    type C = Commonbook;
    vec![
        verb(names::SAVE_MEMORY, Adds, C::save_beside_others)
            .post("/v1/memories")
            .list_body(names::SAVE_MEMORIES, "memories")
            .core_tool()
            .command("save")
            .answers(AnswerKind::Written)
            .creates()
            .memory_pointer("/memory")
            .request_example(|| json!({
                "text": "The payment service retries three times with backoff.",
                "memory_type": "decision", "topics": ["payments", "retries"], "importance": "high",
            })),
        verb(names::SEARCH_MEMORY, Reads, C::search_memory)
            .get("/v1/memories/search")
            .core_tool()
            .command("search")
            .needs_follower(Follower::Index)
            .needs_follower_for("entity", Follower::Mentions)
            .answer_example(examples::search_answer),
        verb(names::GET_MEMORY, Reads, C::get_memories)
            .get("/v1/memories/{id}")
            .core_tool()
            .command("show")
            // What is opened belongs to what the session received.
            .session(SessionUse::Joins)
            .memory_pointer(""),
        verb(names::MEMORY_AT, Reads, C::memory_at).tool()
            .command_line("show --at TIME"),
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
            .command("update")
            .answers(AnswerKind::Written)
            .memory_pointer("")
            .request_example(|| json!({"text": "It retries five times.", "expected_revision": 1})),
        verb(names::DELETE_MEMORY, Destroys, C::delete_memory)
            .rest(Method::DELETE, "/v1/memories/{id}")
            .core_tool()
            .command("delete")
            .session(SessionUse::Joins)
            .answers(AnswerKind::Written)
            .memory_pointer(""),
        verb(names::RESTORE_MEMORY, Changes, C::restore_memory)
            .post("/v1/memories/{id}/restore")
            .tool()
            .command("restore")
            .answers(AnswerKind::Written)
            .memory_pointer("")
            .request_example(|| json!({})),
        verb(names::PURGE_MEMORY, Destroys, C::purge_memory)
            .post("/v1/memories/{id}/purge")
            .tool()
            .command("purge")
            .request_example(|| json!({}))
            .answer_example(examples::purge_answer),
        verb(names::PURGE_SINCE, Destroys, C::purge_since)
            .post("/v1/memories/purge")
            .tool()
            .command_of(names::PURGE_MEMORY, "since")
            .command_line("purge --since TIME")
            .request_example(|| json!({"since": "1h", "dry_run": true})),
        verb(names::ADOPT_MEMORIES, Changes, C::adopt_memories)
            .post("/v1/memories/adopt")
            .tool()
            .command("adopt")
            .keeps_empty_texts()
            .session(SessionUse::Unused)
            .answers(AnswerKind::Written)
            .request_example(|| json!({"agent_name": "claude-code", "dry_run": true})),
        verb(names::MOVE_MEMORIES, Changes, C::move_memories)
            .post("/v1/memories/move")
            .command("workspace move")
            .keeps_empty_texts()
            .session(SessionUse::Unused)
            .request_example(|| json!({"from": "old-project", "topic": "billing", "dry_run": true})),
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
            .command("stats")
            .answers(AnswerKind::Details)
            .answer_example(examples::stats_answer),
        verb(names::LIST_AGENTS, Reads, C::list_agents)
            .get("/v1/agents")
            .team_tool()
            .command("agents")
            .answer_example(examples::agents_answer),
        verb(names::GET_AGENT, Reads, C::get_agent)
            .get("/v1/agents/{name}")
            .tool()
            .command("agent show")
            .answers(AnswerKind::Details),
        verb(names::LIST_EVENTS, Reads, C::list_events).get("/v1/events").tool().command("events")
            .answer_example(examples::events_answer),
        verb(names::GET_EVENT_RATES, Reads, C::get_event_rates).command("rates")
            .answers(AnswerKind::Details),
        verb(names::LIST_QUARANTINED, Reads, C::list_quarantined)
            .get("/v1/quarantine")
            .tool()
            .command("review"),
        verb(names::APPEAL_MEMORY, Changes, C::appeal_memory)
            .post("/v1/memories/{id}/appeal")
            .tool()
            .command("appeal")
            .answers(AnswerKind::Written)
            .memory_pointer("")
            .request_example(|| json!({"reason": "It quotes an attack that our filter must know."})),
        verb(names::RELEASE_MEMORY, Changes, C::release_memory)
            .post("/v1/memories/{id}/release")
            .tool()
            .command("release")
            .session(SessionUse::Unused)
            .answers(AnswerKind::Written)
            .memory_pointer("")
            .request_example(|| json!({"expected_revision": 1})),
        verb(names::SAVE_MEMORIES, Adds, C::save_memories).tool().command("batch")
            .answers(AnswerKind::Written),
        verb(names::IMPORT_MEMORIES, Adds, C::import_memories)
            .post("/v1/memories/import")
            .session(SessionUse::Unused)
            .command_line("import")
            .request_example(|| json!({"lines": [{"text": "Ann: tea", "speaker": "ann"}]})),
        verb(names::EXPORT_WORKSPACE, Reads, C::export_workspace)
            .get("/v1/export")
            .session(SessionUse::Unused)
            .command_line("export"),
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
        verb(names::GET_WEBHOOK, Reads, C::get_webhook)
            .command("webhook show")
            .answers(AnswerKind::Details),
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
            .in_project()
            .answers(AnswerKind::Text)
            .request_example(|| json!({"task": "Make the payment service retry", "budget": 1000}))
            .answer_example(examples::context_answer),
        verb(names::GET_BRIEFING, Changes, C::get_briefing)
            .post("/v1/briefing")
            .tool()
            .command("briefing")
            .needs_follower_for("prompt", Follower::Index)
            .in_project()
            .answers(AnswerKind::Text)
            .request_example(
                || json!({"prompt": "Why does the payment service fail?", "client_session": "s1"}),
            ),
        verb(names::LIST_CONTEXTS, Reads, C::list_contexts)
            .get("/v1/contexts")
            .tool()
            .command("contexts"),
        verb(names::EXPLAIN_CONTEXT, Reads, C::explain_context)
            .get("/v1/contexts/{context}")
            .tool()
            .command("explain")
            .in_project(),
        verb(names::RECALL, Reads, C::recall)
            .needs_follower(Follower::Index)
            .command_line("context"),
        verb(names::LEARN, Adds, C::learn)
            .post("/v1/learnings")
            .tool()
            .command("learn")
            .in_project()
            .answers(AnswerKind::Written)
            .request_example(
                || json!({"message": "Done.\n\nRemember:\n- Backoff starts at 100 ms\n"}),
            ),
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
            .session(Unused)
            .answers(AnswerKind::Text),
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
            .command("session checkpoint")
            .answers(AnswerKind::Details),
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
            .command("session show")
            .answers(AnswerKind::Details),
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
            .command("case batch")
            .singular(names::APPEND_ENTRY),
        verb(names::READ_CASE, Changes, C::read_case)
            .get("/v1/cases/{key}/entries")
            .team_tool()
            .command("case read")
            .session(SessionUse::Unused),
        verb(names::GET_CASE_CONTEXT, Reads, C::get_case_context)
            .get("/v1/cases/{key}/context")
            .tool()
            .command("case context")
            .answers(AnswerKind::Text),
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
            .command("case show")
            .answers(AnswerKind::Details),
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
            .command("handoff create")
            .answers(AnswerKind::Written)
            .creates(),
        verb(names::LIST_HANDOFFS, Reads, C::list_handoffs)
            .get("/v1/handoffs")
            .team_tool()
            .command("handoff list"),
        verb(names::GET_HANDOFF, Reads, C::get_handoff)
            .get("/v1/handoffs/{handoff}")
            .tool()
            .command("handoff show")
            .answers(AnswerKind::Details),
        verb(names::ACCEPT_HANDOFF, Changes, C::accept_handoff)
            .post("/v1/handoffs/{handoff}/accept")
            .core_tool_or(names::LIST_HANDOFFS)
            .command("handoff accept")
            .answers(AnswerKind::Text),
        verb(names::COMPLETE_HANDOFF, Changes, C::complete_handoff)
            .post("/v1/handoffs/{handoff}/complete")
            .core_tool()
            .command("handoff complete")
            .answers(AnswerKind::Written),
        verb(names::REJECT_HANDOFF, Changes, C::reject_handoff)
            .post("/v1/handoffs/{handoff}/reject")
            .team_tool()
            .command("handoff reject")
            .answers(AnswerKind::Written),
        verb(names::WITHDRAW_HANDOFF, Changes, C::withdraw_handoff)
            .post("/v1/handoffs/{handoff}/withdraw")
            .tool()
            .command("handoff withdraw")
            .answers(AnswerKind::Written),
        verb(names::GET_COLLABORATIONS, Reads, C::get_collaborations)
            .get("/v1/collaborations")
            .tool()
            .command("handoff graph")
            .answers(AnswerKind::Details),
    ]
}

fn entity_verbs() -> Vec<Verb> {
    use VerbEffect::{Adds, Changes, Reads};
    type C = Commonbook;
    let verbs = vec![
        verb(names::RESOLVE_ENTITY, Adds, C::resolve_entity)
            .post("/v1/entities/resolve")
            .team_tool()
            .command("entity resolve")
            .request_example(|| {
                json!({
                    "type": "tool", "value": "TypeScript", "context": "Compile target ES2020",
                })
            }),
        verb(names::FIND_ENTITY, Reads, C::find_entity)
            .get("/v1/entities/find")
            .tool()
            .command("entity find"),
        verb(names::GET_ENTITY, Reads, C::get_entity)
            .get("/v1/entities/{entity}")
            .team_tool()
            .command("entity show")
            .answers(AnswerKind::Details),
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
    let verbs =
        vec![
        verb(names::DETECT_CONTRADICTIONS, Reads, C::detect_contradictions)
            .get("/v1/contradictions")
            .team_tool()
            .command("contradictions list"),
        verb(names::GET_CONTRADICTION, Reads, C::get_contradiction)
            .get("/v1/contradictions/{contradiction}")
            .tool()
            .command("contradictions show")
            .answers(AnswerKind::Details),
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
            .command("contradictions resolve")
            .request_example(|| json!({
                "resolution": "keep_both", "context": "3 retries for payments, 5 for refunds",
            })),
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
        verb(names::FORGET_MEMORIES, Destroys, C::forget_memories)
            .post("/v1/memories/forget")
            .command_line("forget --topic"),
        verb(names::LIST_CERTIFICATES, Reads, C::list_certificates)
            .get("/v1/certificates")
            .command("forgotten"),
        verb(names::GET_CERTIFICATE, Reads, C::get_certificate)
            .get("/v1/certificates/{certificate}")
            .command_of(names::FORGET_MEMORY, "certificate")
            .answers(AnswerKind::Details)
            .command_line("forget --certificate"),
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
