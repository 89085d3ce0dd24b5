//! How the command line takes the request of each verb, and shows its answer to people.

use serde_json::Value;

use super::lookup::ViewLookup;
use super::{
    case, checkpoint, consolidation, context, contradictions, entities, forgetting, handoff,
    history, lineage, retraction, session, show, standing, tokens, webhooks,
};

/// The groups of commands, with their help.
pub(super) const COMMAND_GROUPS: &[(&str, &str)] = &[
    ("session", "Starts, ends and shows sessions, each one stretch of an agent's work"),
    ("case", "Opens, reads and extends cases: shared logs, each of one matter"),
    ("handoff", "Hands work over to another agent, accepts it, and shows who hands work to whom"),
    ("agent", "Shows an agent; adds and removes agents with their own token"),
    ("entity", "Shows and edits the people, tools, files and projects that memories mention"),
    ("outdated", "Lists what you derived from memories that have changed since"),
    ("contradictions", "Lists and resolves memories that contradict each other"),
    ("memory", "Shows and edits standing memory files, which a role always receives"),
    ("workspace", "Shows and chooses the workspaces of projects, and moves memories between them"),
    ("token", "Creates, lists, rotates and revokes tokens, which prove who calls over HTTP"),
    (
        "webhook",
        "Adds, shows, tests and removes webhooks, which send events to a URL, and retries them",
    ),
];

/// How a verb is taken and shown.
#[derive(Clone, Copy)]
pub(super) struct VerbView {
    /// The verb, in the registry.
    pub(super) verb: &'static str,
    /// The fields that are given without a flag, in order.
    pub(super) positional: &'static [&'static str],
    /// Prints the answer for people.
    pub(super) show: ViewPrinter,
    /// The field that a file is given for, which has a JSON list.
    pub(super) list_file: Option<&'static str>,
    /// Whether `--private` stands for `--sharing private`.
    pub(super) private_flag: bool,
}

/// How a view prints a response.
#[derive(Clone, Copy)]
pub(super) enum ViewPrinter {
    /// From the response alone.
    Response(fn(&Value)),
    /// With further calls.
    WithLookup(fn(&Value, &ViewLookup<'_>)),
}

const fn view(
    verb: &'static str,
    positional: &'static [&'static str],
    show: fn(&Value),
) -> VerbView {
    VerbView {
        verb,
        positional,
        show: ViewPrinter::Response(show),
        list_file: None,
        private_flag: false,
    }
}

const fn lookup_view(
    verb: &'static str,
    positional: &'static [&'static str],
    show: fn(&Value, &ViewLookup<'_>),
) -> VerbView {
    VerbView {
        verb,
        positional,
        show: ViewPrinter::WithLookup(show),
        list_file: None,
        private_flag: false,
    }
}

impl VerbView {
    const fn with_list_file(self, field: &'static str) -> Self {
        Self { list_file: Some(field), ..self }
    }

    const fn with_private_flag(self) -> Self {
        Self { private_flag: true, ..self }
    }
}

/// The view of each verb that the registry gives to the command line.
#[expect(clippy::too_many_lines, reason = "a table, a row for each verb")]
pub(super) fn verb_views() -> Vec<VerbView> {
    vec![
        view("save_memory", &["text"], show::show_saved_memory).with_private_flag(),
        lookup_view("search_memory", &["query"], show::hits),
        view("get_memory", &["id", "ids"], show::opened_memories),
        lookup_view("list_memories", &[], show::memories),
        view("diff_memories", &[], history::show_differences),
        view("update_memory", &["id"], show::show_changed_memory),
        view("delete_memory", &["id"], show::show_deleted_memory),
        view("restore_memory", &["id"], show::show_changed_memory),
        view("purge_memory", &["id"], show::show_purge),
        view("purge_since", &[], show::show_bulk_result),
        view("adopt_memories", &["agent_name"], show::show_bulk_result),
        view("move_memories", &["from"], show::show_move),
        view("undo_operation", &["operation_id"], show::show_undo_result),
        lookup_view("list_users", &[], show::users),
        view("memory_history", &["id"], history::show_history),
        view("explain_sight", &["id", "reader"], show::sight),
        view("get_memory_stats", &[], show::stats),
        view("list_agents", &[], show::agents),
        view("get_agent", &["name"], show::agent),
        lookup_view("list_events", &[], show::events),
        view("get_event_rates", &[], show::rates),
        lookup_view("list_quarantined", &[], show::show_quarantined),
        view("appeal_memory", &["id"], show::show_appeal),
        view("retract_memory", &["id"], retraction::show_retraction),
        view("who_knows", &[], retraction::show_knowledge),
        view("release_memory", &["id"], show::show_changed_memory),
        view("consolidate_memory", &[], consolidation::show_consolidation),
        view("create_token", &["agent_name"], tokens::show_issued_token),
        view("list_tokens", &[], tokens::list),
        view("revoke_token", &["token_id"], tokens::show_revoked_token),
        view("rotate_token", &["token_id"], tokens::show_issued_token),
        view("add_webhook", &["url"], webhooks::show_new_webhook),
        view("list_webhooks", &[], webhooks::list),
        view("get_webhook", &["webhook_id"], webhooks::show_details),
        view("remove_webhook", &["webhook_id"], webhooks::show_removed),
        view("retry_delivery", &["webhook_id", "sequence"], webhooks::show_retry_result),
        view("test_webhook", &["webhook_id"], webhooks::show_test_result),
        view("save_memories", &["memories"], show::batch).with_list_file("memories"),
        view("get_context", &["task"], context::context),
        view("get_briefing", &["prompt"], context::briefing),
        lookup_view("list_contexts", &[], context::list),
        view("explain_context", &["context"], context::show_explained_context),
        view("learn", &["message"], context::show_learnings),
        view("list_standing", &[], standing::list),
        view("read_standing", &["role"], standing::page),
        view("preview_standing", &["role"], standing::show_preview),
        view("agree_standing", &[], standing::show_agreement),
        view("add_standing", &["role", "text"], standing::show_edit),
        view("remove_standing", &["role", "text"], standing::show_edit),
        view("clean_standing", &["role"], standing::show_edits),
        view("optimize_standing", &["role"], standing::show_edits),
        view("standing_history", &["role"], standing::history),
        view("restore_standing", &["role", "version"], standing::show_edit),
        view("init_standing", &["roles"], standing::show_edits),
        view("route_standing", &["text"], standing::show_route),
        lookup_view("detect_contradictions", &[], contradictions::list),
        view("judge_contradictions", &[], contradictions::show_judgements),
        lookup_view("list_pairs", &[], contradictions::show_pairs),
        view("answer_pair", &["newer", "older", "answer"], contradictions::show_answers),
        view("answer_pairs", &["answers"], contradictions::show_answers).with_list_file("answers"),
        view("get_contradiction", &["contradiction"], contradictions::show_contradiction),
        view(
            "resolve_contradiction",
            &["contradiction", "resolution"],
            contradictions::show_resolution,
        ),
        view("reopen_contradiction", &["contradiction"], contradictions::show_contradiction),
        view("list_outdated", &[], lineage::list),
        view("acknowledge_outdated", &["id"], lineage::show_acknowledged),
        view("open_case", &["key"], case::show_opened_case),
        view("append_entry", &["key", "summary"], case::show_appended_entries),
        view("append_entries", &["key", "entries"], case::show_appended_entries)
            .with_list_file("entries"),
        view("read_case", &["key"], case::entries),
        view("get_case_context", &["key"], case::context),
        view("digest_case", &["key"], case::show_case_digest),
        view("list_proposals", &["key"], case::show_proposals),
        view("decide_proposal", &["key", "number", "decision"], case::show_decision),
        view("branch_case", &["key", "name"], case::show_opened_case),
        view("merge_case", &["key"], case::show_merge),
        view("get_case", &["key"], case::case),
        lookup_view("list_cases", &[], case::list),
        lookup_view("list_branches", &["key"], case::list),
        view("count_unread", &["cases"], case::show_unread),
        view("update_case", &["key"], case::case),
        view("close_case", &["key"], case::case),
        view("archive_case", &["key"], case::case),
        view("reopen_case", &["key"], case::case),
        lookup_view("changes_since", &[], session::changes),
        view("mark_read", &["position"], session::show_marked_cursor),
        view("start_session", &[], session::show_started_session),
        view("end_session", &["session"], session::show_ended_session),
        view("touch_session", &["session"], session::session),
        view("resume_session", &["session"], checkpoint::show_resumed_session),
        view("create_checkpoint", &[], checkpoint::show_new_checkpoint),
        view("checkpoint_and_summarise", &["summary"], checkpoint::show_summarised_checkpoint),
        view("get_checkpoint", &["checkpoint"], checkpoint::show_new_checkpoint),
        view("archive_checkpoint", &["checkpoint"], checkpoint::show_new_checkpoint),
        view("delete_checkpoint", &["checkpoint"], checkpoint::show_deleted_checkpoint),
        lookup_view("list_checkpoints", &["session"], checkpoint::list),
        view("get_session", &["session"], session::show_session_details),
        lookup_view("list_sessions", &[], session::list),
        view("create_handoff", &["to", "task"], handoff::show_new_handoff),
        lookup_view("list_handoffs", &[], handoff::list),
        view("get_handoff", &["handoff"], handoff::receipt),
        view("accept_handoff", &["handoff"], handoff::show_accepted_handoff),
        view("complete_handoff", &["handoff", "result"], handoff::show_handoff_step),
        view("reject_handoff", &["handoff", "reason"], handoff::show_handoff_step),
        view("withdraw_handoff", &["handoff", "reason"], handoff::show_handoff_step),
        view("get_collaborations", &[], handoff::graph),
        view("resolve_entity", &["type", "value"], entities::show_resolved_entity),
        view("find_entity", &["type", "value"], entities::entity),
        view("get_entity", &["entity"], entities::page),
        view("list_entities", &[], entities::list),
        view("entity_mentions", &["entity"], entities::mentions),
        view("merge_entities", &["source", "target"], entities::show_merged_entities),
        view("unmerge_entities", &["source"], entities::show_unmerged_entities),
        view("rename_entity", &["entity", "value"], entities::show_renamed_entity),
        view("delete_entity", &["entity"], entities::show_deleted_entity),
        view("restore_entity", &["entity"], entities::show_restored_entity),
        view("list_reviews", &[], entities::reviews),
        view("decide_review", &["review_id", "judgement"], entities::show_resolved_entity),
        view("add_relation", &["from", "type", "to"], entities::relation),
        view("remove_relation", &["from", "type", "to"], entities::show_removed_relation),
        view("graph_query", &["from"], entities::graph),
        view("forget_memory", &["id"], forgetting::show_forget_result),
        view("list_certificates", &[], forgetting::show_certificates),
        view("get_certificate", &[], forgetting::show_certificate),
        view("allow_forgotten", &["certificate"], forgetting::show_allowed),
    ]
}
