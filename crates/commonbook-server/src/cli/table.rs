//! The table of commands: the verb that each calls, and how it prints the response.

use commonbook::Commonbook;
use serde_json::Value;

use super::{
    VerbCommand, case, checkpoint, context, contradictions, entities, handoff, session, show,
    tokens,
};
use crate::call::JsonVerb;

/// The groups of commands, with their help.
pub(super) const COMMAND_GROUPS: &[(&str, &str)] = &[
    ("session", "Starts, ends and shows sessions, each one stretch of an agent's work"),
    ("case", "Opens, reads and extends cases: shared logs, each of one matter"),
    ("handoff", "Hands work over to another agent, accepts it, and shows who hands work to whom"),
    ("entity", "Shows and edits the people, tools, files and projects that memories mention"),
    ("contradictions", "Lists and resolves memories that contradict each other"),
    ("token", "Creates, lists, rotates and revokes tokens, which prove who calls over HTTP"),
];

/// The fields that a command reads from a file with a JSON list.
pub(super) const LIST_FILE_FIELDS: &[(&str, &str)] =
    &[("batch", "memories"), ("case batch", "entries")];

/// The verb of `purge --since TIME`; it has no command of its own.
pub(super) const PURGE_SINCE: &str = "purge-since";

/// Every verb that has a command.
pub(super) fn verb_commands() -> Vec<VerbCommand> {
    let of_work = [session_commands(), case_commands(), handoff_commands()].into_iter().flatten();
    let of_contents = [entity_commands(), contradiction_commands()].into_iter().flatten();
    [memory_commands(), context_commands(), of_work.collect(), of_contents.collect()]
        .into_iter()
        .flatten()
        .collect()
}

fn verb_command(
    name: &'static str,
    call: JsonVerb,
    positional: &'static [&'static str],
    show: fn(&Value),
) -> VerbCommand {
    VerbCommand { name, call, positional, show, or: None }
}

#[expect(clippy::too_many_lines, reason = "a table of commands")]
fn memory_commands() -> Vec<VerbCommand> {
    vec![
        verb_command(
            "save",
            JsonVerb::of(Commonbook::save_memory),
            &["text"],
            show::show_saved_memory,
        ),
        verb_command("search", JsonVerb::of(Commonbook::search_memory), &["query"], show::hits),
        verb_command("show", JsonVerb::of(Commonbook::get_memory), &["id"], show::memory),
        verb_command("list", JsonVerb::of(Commonbook::list_memories), &[], show::memories),
        verb_command(
            "update",
            JsonVerb::of(Commonbook::update_memory),
            &["id"],
            show::show_changed_memory,
        ),
        verb_command(
            "delete",
            JsonVerb::of(Commonbook::delete_memory),
            &["id"],
            show::show_deleted_memory,
        ),
        verb_command(
            "restore",
            JsonVerb::of(Commonbook::restore_memory),
            &["id"],
            show::show_changed_memory,
        ),
        verb_command("purge", JsonVerb::of(Commonbook::purge_memory), &["id"], show::show_purge)
            .with_alternative("since", PURGE_SINCE),
        verb_command(
            PURGE_SINCE,
            JsonVerb::of(Commonbook::purge_since),
            &[],
            show::show_bulk_result,
        ),
        verb_command(
            "adopt",
            JsonVerb::of(Commonbook::adopt_memories),
            &["agent_name"],
            show::show_bulk_result,
        ),
        verb_command(
            "undo",
            JsonVerb::of(Commonbook::undo_act),
            &["act_id"],
            show::show_undo_result,
        ),
        verb_command("users", JsonVerb::of(Commonbook::list_users), &[], show::users),
        verb_command("history", JsonVerb::of(Commonbook::memory_history), &["id"], show::history),
        verb_command("stats", JsonVerb::of(Commonbook::get_memory_stats), &[], show::stats),
        verb_command("agents", JsonVerb::of(Commonbook::list_agents), &[], show::agents),
        verb_command("agent", JsonVerb::of(Commonbook::get_agent), &["name"], show::agent),
        verb_command("events", JsonVerb::of(Commonbook::list_events), &[], show::events),
        verb_command(
            "review",
            JsonVerb::of(Commonbook::list_quarantined),
            &[],
            show::show_quarantined,
        ),
        verb_command("appeal", JsonVerb::of(Commonbook::appeal_memory), &["id"], show::show_appeal),
        verb_command(
            "release",
            JsonVerb::of(Commonbook::release_memory),
            &["id"],
            show::show_changed_memory,
        ),
        verb_command(
            "token create",
            JsonVerb::of(Commonbook::create_token),
            &["agent_name"],
            tokens::show_issued_token,
        ),
        verb_command("token list", JsonVerb::of(Commonbook::list_tokens), &[], tokens::list),
        verb_command(
            "token revoke",
            JsonVerb::of(Commonbook::revoke_token),
            &["token_id"],
            tokens::show_revoked_token,
        ),
        verb_command(
            "token rotate",
            JsonVerb::of(Commonbook::rotate_token),
            &["token_id"],
            tokens::show_issued_token,
        ),
        verb_command("batch", JsonVerb::of(Commonbook::save_memories), &["memories"], show::batch),
    ]
}

fn context_commands() -> Vec<VerbCommand> {
    vec![
        verb_command("context", JsonVerb::of(Commonbook::get_context), &["task"], context::context),
        verb_command(
            "explain",
            JsonVerb::of(Commonbook::explain_context),
            &["context"],
            context::show_explained_context,
        ),
        verb_command(
            "learn",
            JsonVerb::of(Commonbook::learn),
            &["message"],
            context::show_learnings,
        ),
    ]
}

fn contradiction_commands() -> Vec<VerbCommand> {
    vec![
        verb_command(
            "contradictions list",
            JsonVerb::of(Commonbook::detect_contradictions),
            &[],
            contradictions::list,
        ),
        verb_command(
            "contradictions show",
            JsonVerb::of(Commonbook::get_contradiction),
            &["contradiction"],
            contradictions::show_contradiction,
        ),
        verb_command(
            "contradictions resolve",
            JsonVerb::of(Commonbook::resolve_contradiction),
            &["contradiction", "resolution"],
            contradictions::show_contradiction,
        ),
    ]
}

fn case_commands() -> Vec<VerbCommand> {
    vec![
        verb_command(
            "case open",
            JsonVerb::of(Commonbook::open_case),
            &["key"],
            case::show_opened_case,
        ),
        verb_command(
            "case append",
            JsonVerb::of(Commonbook::append_entry),
            &["key", "summary"],
            case::show_appended_entries,
        ),
        verb_command(
            "case batch",
            JsonVerb::of(Commonbook::append_entries),
            &["key", "entries"],
            case::show_appended_entries,
        ),
        verb_command("case read", JsonVerb::of(Commonbook::read_case), &["key"], case::entries),
        verb_command(
            "case context",
            JsonVerb::of(Commonbook::get_case_context),
            &["key"],
            case::context,
        ),
        verb_command(
            "case digest",
            JsonVerb::of(Commonbook::digest_case),
            &["key"],
            case::show_case_digest,
        ),
        verb_command("case show", JsonVerb::of(Commonbook::get_case), &["key"], case::case),
        verb_command("case list", JsonVerb::of(Commonbook::list_cases), &[], case::list),
        verb_command("case close", JsonVerb::of(Commonbook::close_case), &["key"], case::case),
        verb_command("case archive", JsonVerb::of(Commonbook::archive_case), &["key"], case::case),
        verb_command("case reopen", JsonVerb::of(Commonbook::reopen_case), &["key"], case::case),
    ]
}

fn session_commands() -> Vec<VerbCommand> {
    vec![
        verb_command("changes", JsonVerb::of(Commonbook::changes_since), &[], session::changes),
        verb_command(
            "mark",
            JsonVerb::of(Commonbook::mark_read),
            &["position"],
            session::show_marked_cursor,
        ),
        verb_command(
            "session start",
            JsonVerb::of(Commonbook::start_session),
            &[],
            session::show_started_session,
        ),
        verb_command(
            "session end",
            JsonVerb::of(Commonbook::end_session),
            &["session"],
            session::show_ended_session,
        ),
        verb_command(
            "session touch",
            JsonVerb::of(Commonbook::touch_session),
            &["session"],
            session::session,
        ),
        verb_command(
            "resume",
            JsonVerb::of(Commonbook::resume_session),
            &["session"],
            checkpoint::show_resumed_session,
        ),
        verb_command(
            "checkpoint",
            JsonVerb::of(Commonbook::create_checkpoint),
            &[],
            checkpoint::show_new_checkpoint,
        ),
        verb_command(
            "summarise",
            JsonVerb::of(Commonbook::checkpoint_and_summarise),
            &["summary"],
            checkpoint::show_summarised_checkpoint,
        ),
        verb_command(
            "session checkpoint",
            JsonVerb::of(Commonbook::get_checkpoint),
            &["checkpoint"],
            checkpoint::show_new_checkpoint,
        ),
        verb_command(
            "checkpoints",
            JsonVerb::of(Commonbook::list_checkpoints),
            &["session"],
            checkpoint::list,
        ),
        verb_command(
            "session show",
            JsonVerb::of(Commonbook::get_session),
            &["session"],
            session::show_session_details,
        ),
        verb_command("session list", JsonVerb::of(Commonbook::list_sessions), &[], session::list),
    ]
}

fn handoff_commands() -> Vec<VerbCommand> {
    vec![
        verb_command(
            "handoff create",
            JsonVerb::of(Commonbook::create_handoff),
            &["to", "task"],
            handoff::show_new_handoff,
        ),
        verb_command("handoff list", JsonVerb::of(Commonbook::list_handoffs), &[], handoff::list),
        verb_command(
            "handoff show",
            JsonVerb::of(Commonbook::get_handoff),
            &["handoff"],
            handoff::receipt,
        ),
        verb_command(
            "handoff accept",
            JsonVerb::of(Commonbook::accept_handoff),
            &["handoff"],
            handoff::show_accepted_handoff,
        ),
        verb_command(
            "handoff complete",
            JsonVerb::of(Commonbook::complete_handoff),
            &["handoff", "result"],
            handoff::show_handoff_step,
        ),
        verb_command(
            "handoff reject",
            JsonVerb::of(Commonbook::reject_handoff),
            &["handoff", "reason"],
            handoff::show_handoff_step,
        ),
        verb_command(
            "handoff withdraw",
            JsonVerb::of(Commonbook::withdraw_handoff),
            &["handoff", "reason"],
            handoff::show_handoff_step,
        ),
        verb_command(
            "handoff graph",
            JsonVerb::of(Commonbook::get_collaborations),
            &[],
            handoff::graph,
        ),
    ]
}

fn entity_commands() -> Vec<VerbCommand> {
    vec![
        verb_command(
            "entity resolve",
            JsonVerb::of(Commonbook::resolve_entity),
            &["type", "value"],
            entities::show_resolved_entity,
        ),
        verb_command(
            "entity find",
            JsonVerb::of(Commonbook::find_entity),
            &["type", "value"],
            entities::entity,
        ),
        verb_command(
            "entity show",
            JsonVerb::of(Commonbook::get_entity),
            &["entity"],
            entities::page,
        ),
        verb_command("entity list", JsonVerb::of(Commonbook::list_entities), &[], entities::list),
        verb_command(
            "entity mentions",
            JsonVerb::of(Commonbook::entity_mentions),
            &["entity"],
            entities::mentions,
        ),
        verb_command(
            "entity merge",
            JsonVerb::of(Commonbook::merge_entities),
            &["source", "target"],
            entities::show_merged_entities,
        ),
        verb_command(
            "entity unmerge",
            JsonVerb::of(Commonbook::unmerge_entities),
            &["source"],
            entities::show_unmerged_entities,
        ),
        verb_command(
            "entity reviews",
            JsonVerb::of(Commonbook::list_reviews),
            &[],
            entities::reviews,
        ),
        verb_command(
            "entity decide",
            JsonVerb::of(Commonbook::decide_review),
            &["review_id", "judgement"],
            entities::show_resolved_entity,
        ),
        verb_command(
            "entity relate",
            JsonVerb::of(Commonbook::add_relation),
            &["from", "type", "to"],
            entities::relation,
        ),
        verb_command(
            "entity graph",
            JsonVerb::of(Commonbook::graph_query),
            &["from"],
            entities::graph,
        ),
    ]
}
