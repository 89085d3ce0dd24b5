//! How the command line takes the request of each verb, and shows its answer to people.

use commonbook::verbs::names;
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
        view(names::SAVE_MEMORY, &["text"], show::show_saved_memory).with_private_flag(),
        lookup_view(names::SEARCH_MEMORY, &["query"], show::hits),
        view(names::GET_MEMORY, &["id", "ids"], show::opened_memories),
        lookup_view(names::LIST_MEMORIES, &[], show::memories),
        view(names::DIFF_MEMORIES, &[], history::show_differences),
        view(names::UPDATE_MEMORY, &["id"], show::show_changed_memory),
        view(names::DELETE_MEMORY, &["id"], show::show_deleted_memory),
        view(names::RESTORE_MEMORY, &["id"], show::show_changed_memory),
        view(names::PURGE_MEMORY, &["id"], show::show_purge),
        view(names::PURGE_SINCE, &[], show::show_bulk_result),
        view(names::ADOPT_MEMORIES, &["agent_name"], show::show_bulk_result),
        view(names::MOVE_MEMORIES, &["from"], show::show_move),
        view(names::UNDO_OPERATION, &["operation_id"], show::show_undo_result),
        lookup_view(names::LIST_USERS, &[], show::users),
        view(names::MEMORY_HISTORY, &["id"], history::show_history),
        view(names::EXPLAIN_SIGHT, &["id", "reader"], show::sight),
        view(names::GET_MEMORY_STATS, &[], show::stats),
        view(names::LIST_AGENTS, &[], show::agents),
        view(names::GET_AGENT, &["name"], show::agent),
        lookup_view(names::LIST_EVENTS, &[], show::events),
        view(names::GET_EVENT_RATES, &[], show::rates),
        lookup_view(names::LIST_QUARANTINED, &[], show::show_quarantined),
        view(names::APPEAL_MEMORY, &["id"], show::show_appeal),
        view(names::RETRACT_MEMORY, &["id"], retraction::show_retraction),
        view(names::WHO_KNOWS, &[], retraction::show_knowledge),
        view(names::RELEASE_MEMORY, &["id"], show::show_changed_memory),
        view(names::CONSOLIDATE_MEMORY, &[], consolidation::show_consolidation),
        view(names::CREATE_TOKEN, &["agent_name"], tokens::show_issued_token),
        view(names::LIST_TOKENS, &[], tokens::list),
        view(names::REVOKE_TOKEN, &["token_id"], tokens::show_revoked_token),
        view(names::ROTATE_TOKEN, &["token_id"], tokens::show_issued_token),
        view(names::ADD_WEBHOOK, &["url"], webhooks::show_new_webhook),
        view(names::LIST_WEBHOOKS, &[], webhooks::list),
        view(names::GET_WEBHOOK, &["webhook_id"], webhooks::show_details),
        view(names::REMOVE_WEBHOOK, &["webhook_id"], webhooks::show_removed),
        view(names::RETRY_DELIVERY, &["webhook_id", "sequence"], webhooks::show_retry_result),
        view(names::TEST_WEBHOOK, &["webhook_id"], webhooks::show_test_result),
        view(names::SAVE_MEMORIES, &["memories"], show::batch).with_list_file("memories"),
        view(names::GET_CONTEXT, &["task"], context::context),
        view(names::GET_BRIEFING, &["prompt"], context::briefing),
        lookup_view(names::LIST_CONTEXTS, &[], context::list),
        view(names::EXPLAIN_CONTEXT, &["context"], context::show_explained_context),
        view(names::LEARN, &["message"], context::show_learnings),
        view(names::LIST_STANDING, &[], standing::list),
        view(names::READ_STANDING, &["role"], standing::page),
        view(names::PREVIEW_STANDING, &["role"], standing::show_preview),
        view(names::AGREE_STANDING, &[], standing::show_agreement),
        view(names::ADD_STANDING, &["role", "text"], standing::show_edit),
        view(names::REMOVE_STANDING, &["role", "text"], standing::show_edit),
        view(names::CLEAN_STANDING, &["role"], standing::show_edits),
        view(names::OPTIMIZE_STANDING, &["role"], standing::show_edits),
        view(names::STANDING_HISTORY, &["role"], standing::history),
        view(names::RESTORE_STANDING, &["role", "version"], standing::show_edit),
        view(names::INIT_STANDING, &["roles"], standing::show_edits),
        view(names::ROUTE_STANDING, &["text"], standing::show_route),
        lookup_view(names::DETECT_CONTRADICTIONS, &[], contradictions::list),
        view(names::JUDGE_CONTRADICTIONS, &[], contradictions::show_judgements),
        lookup_view(names::LIST_PAIRS, &[], contradictions::show_pairs),
        view(names::ANSWER_PAIR, &["newer", "older", "answer"], contradictions::show_answers),
        view(names::ANSWER_PAIRS, &["answers"], contradictions::show_answers)
            .with_list_file("answers"),
        view(names::GET_CONTRADICTION, &["contradiction"], contradictions::show_contradiction),
        view(
            names::RESOLVE_CONTRADICTION,
            &["contradiction", "resolution"],
            contradictions::show_resolution,
        ),
        view(names::REOPEN_CONTRADICTION, &["contradiction"], contradictions::show_contradiction),
        view(names::LIST_OUTDATED, &[], lineage::list),
        view(names::ACKNOWLEDGE_OUTDATED, &["id"], lineage::show_acknowledged),
        view(names::OPEN_CASE, &["key"], case::show_opened_case),
        view(names::APPEND_ENTRY, &["key", "summary"], case::show_appended_entries),
        view(names::APPEND_ENTRIES, &["key", "entries"], case::show_appended_entries)
            .with_list_file("entries"),
        view(names::READ_CASE, &["key"], case::entries),
        view(names::GET_CASE_CONTEXT, &["key"], case::context),
        view(names::DIGEST_CASE, &["key"], case::show_case_digest),
        view(names::LIST_PROPOSALS, &["key"], case::show_proposals),
        view(names::DECIDE_PROPOSAL, &["key", "number", "decision"], case::show_decision),
        view(names::BRANCH_CASE, &["key", "name"], case::show_opened_case),
        view(names::MERGE_CASE, &["key"], case::show_merge),
        view(names::GET_CASE, &["key"], case::case),
        lookup_view(names::LIST_CASES, &[], case::list),
        lookup_view(names::LIST_BRANCHES, &["key"], case::list),
        view(names::COUNT_UNREAD, &["cases"], case::show_unread),
        view(names::UPDATE_CASE, &["key"], case::case),
        view(names::CLOSE_CASE, &["key"], case::case),
        view(names::ARCHIVE_CASE, &["key"], case::case),
        view(names::REOPEN_CASE, &["key"], case::case),
        lookup_view(names::CHANGES_SINCE, &[], session::changes),
        view(names::MARK_READ, &["position"], session::show_marked_cursor),
        view(names::START_SESSION, &[], session::show_started_session),
        view(names::END_SESSION, &["session"], session::show_ended_session),
        view(names::TOUCH_SESSION, &["session"], session::session),
        view(names::RESUME_SESSION, &["session"], checkpoint::show_resumed_session),
        view(names::CREATE_CHECKPOINT, &[], checkpoint::show_new_checkpoint),
        view(names::CHECKPOINT_AND_SUMMARISE, &["summary"], checkpoint::show_summarised_checkpoint),
        view(names::GET_CHECKPOINT, &["checkpoint"], checkpoint::show_new_checkpoint),
        view(names::ARCHIVE_CHECKPOINT, &["checkpoint"], checkpoint::show_new_checkpoint),
        view(names::DELETE_CHECKPOINT, &["checkpoint"], checkpoint::show_deleted_checkpoint),
        lookup_view(names::LIST_CHECKPOINTS, &["session"], checkpoint::list),
        view(names::GET_SESSION, &["session"], session::show_session_details),
        lookup_view(names::LIST_SESSIONS, &[], session::list),
        view(names::CREATE_HANDOFF, &["to", "task"], handoff::show_new_handoff),
        lookup_view(names::LIST_HANDOFFS, &[], handoff::list),
        view(names::GET_HANDOFF, &["handoff"], handoff::receipt),
        view(names::ACCEPT_HANDOFF, &["handoff"], handoff::show_accepted_handoff),
        view(names::COMPLETE_HANDOFF, &["handoff", "result"], handoff::show_handoff_step),
        view(names::REJECT_HANDOFF, &["handoff", "reason"], handoff::show_handoff_step),
        view(names::WITHDRAW_HANDOFF, &["handoff", "reason"], handoff::show_handoff_step),
        view(names::GET_COLLABORATIONS, &[], handoff::graph),
        view(names::RESOLVE_ENTITY, &["type", "value"], entities::show_resolved_entity),
        view(names::FIND_ENTITY, &["type", "value"], entities::entity),
        view(names::GET_ENTITY, &["entity"], entities::page),
        view(names::LIST_ENTITIES, &[], entities::list),
        view(names::ENTITY_MENTIONS, &["entity"], entities::mentions),
        view(names::MERGE_ENTITIES, &["source", "target"], entities::show_merged_entities),
        view(names::UNMERGE_ENTITIES, &["source"], entities::show_unmerged_entities),
        view(names::RENAME_ENTITY, &["entity", "value"], entities::show_renamed_entity),
        view(names::DELETE_ENTITY, &["entity"], entities::show_deleted_entity),
        view(names::RESTORE_ENTITY, &["entity"], entities::show_restored_entity),
        view(names::LIST_REVIEWS, &[], entities::reviews),
        view(names::DECIDE_REVIEW, &["review_id", "judgement"], entities::show_resolved_entity),
        view(names::ADD_RELATION, &["from", "type", "to"], entities::relation),
        view(names::REMOVE_RELATION, &["from", "type", "to"], entities::show_removed_relation),
        view(names::GRAPH_QUERY, &["from"], entities::graph),
        view(names::FORGET_MEMORY, &["id"], forgetting::show_forget_result),
        view(names::LIST_CERTIFICATES, &[], forgetting::show_certificates),
        view(names::GET_CERTIFICATE, &[], forgetting::show_certificate),
        view(names::ALLOW_FORGOTTEN, &["certificate"], forgetting::show_allowed),
    ]
}
