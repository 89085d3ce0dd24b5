//! The laws that every store keeps, each in a fresh database. A law's name is the law.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod consolidations;
mod contexts;
mod contradictions;
mod damage;
mod entities;
mod handoffs;
mod journal;
mod lineage;
mod memories;
mod node_indexes;
mod postgres;
mod rebuilding;
mod receipts;
mod registry;
mod search;
#[path = "../postgres/server.rs"]
mod server;
mod sessions;
mod sight;
mod sqlite;
mod standing;
mod transfers;
mod vectors;
mod webhooks;
mod writes;

use std::path::Path;
use std::sync::Arc;

use commonbook::base::clock::Timestamp;
use commonbook::base::error::Result;
use commonbook::base::id::{CountingIds, IdSource, MemoryId};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{EventKind, JournalRange, NewEvent};
use commonbook::model::memory::{AdmittedMemory, Memory, SaveMemory, Sharing};
use commonbook::model::workspace::Workspace;
use commonbook::store::sqlite::SqliteStore;
use commonbook::store::{Store, Tx};

/// A store that can be opened a second time, as another process would.
pub(crate) trait Fresh {
    fn open(&self) -> Arc<dyn Store>;
}

/// A fresh SQLite file.
pub(crate) struct Sqlite(tempfile::TempDir);

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }
}

impl Fresh for Sqlite {
    fn open(&self) -> Arc<dyn Store> {
        SqliteStore::open(&self.folder().join("home/commonbook.db")).unwrap()
    }
}

/// One test per law and store.
macro_rules! laws {
    ($($module:ident :: $law:ident,)+) => {
        mod on_sqlite { $(#[test] fn $law() { crate::$module::$law(&crate::Sqlite::new()); })+ }

        mod on_postgres {
            $(
                #[test]
                #[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
                fn $law() { crate::$module::$law(&crate::postgres::Postgres::new()); }
            )+
        }
    };
}

laws! {
    writes::a_dropped_write_leaves_nothing,
    writes::a_panicking_write_leaves_nothing_and_the_next_one_works,
    writes::a_failing_write_does_not_affect_others_of_its_group,
    writes::a_write_is_seen_by_the_next_read_of_another_process,
    writes::a_read_is_a_snapshot,
    writes::a_stored_response_is_found_by_its_key_until_it_is_dropped,
    writes::a_failed_write_stores_nothing_and_the_others_of_its_group_do,
    writes::writes_of_many_workspaces_by_two_processes_are_each_kept_or_undone,
    writes::a_write_reads_what_it_has_written,
    writes::acknowledged_writes_exist_after_reopening,
    writes::a_snapshot_also_holds_against_another_process,
    writes::a_write_counts_as_queued_until_it_is_answered,
    journal::sequences_are_gapless_under_many_writers_in_two_processes,
    journal::each_workspace_has_its_own_journal,
    journal::a_time_has_a_position_and_events_are_counted_in_steps,
    journal::the_journal_returns_events_in_order_after_a_position,
    journal::the_journal_is_filtered_before_it_is_limited,
    journal::an_event_says_from_where_its_caller_called,
    journal::a_journal_is_read_with_the_visibility_of_its_events,
    journal::the_figures_of_a_journal_count_events_out_of_sight_too,
    memories::an_inserted_memory_is_read_back_unchanged,
    memories::an_owner_has_one_current_memory_at_a_path,
    memories::documents_are_listed_and_found_by_path,
    memories::a_replaced_memory_is_stored_as_an_earlier_revision,
    memories::a_revision_ends_with_the_event_of_its_change,
    memories::lists_page_in_both_orders_without_repeating_or_skipping,
    memories::a_purged_memory_is_in_no_row,
    memories::ids_are_found_by_their_range,
    memories::topics_are_found_by_prefix_most_used_first,
    memories::the_same_id_in_another_workspace_is_another_memory,
    registry::the_registry_has_an_agents_first_and_last_write,
    registry::a_later_response_under_a_key_replaces_the_earlier,
    registry::a_purge_drops_the_stored_responses_about_its_memory_and_no_others,
    registry::an_imported_memory_is_recognised_by_its_id_and_by_its_line,
    registry::memories_deleted_before_a_time_are_listed_in_every_workspace,
    registry::a_workspace_exists_from_its_first_event,
    registry::a_token_is_stored_completely_and_found_by_its_id,
    webhooks::a_webhook_is_stored_completely_and_found_by_its_id,
    webhooks::a_webhook_is_due_while_its_journal_is_ahead_and_nothing_holds_it,
    webhooks::dead_letters_are_in_the_order_of_the_journal_and_go_with_their_webhook,
    registry::a_bulk_operation_returns_each_of_its_items_once,
    cases::a_case_is_stored_completely_and_listed_in_order_of_opening,
    cases::the_entries_of_a_case_are_the_visible_ones_in_order,
    cases::the_branches_of_a_case_are_listed_in_order_of_opening,
    cases::the_entries_of_others_are_counted_within_sight,
    cases::two_entries_of_a_case_never_have_the_same_position,
    cases::entries_of_a_closed_case_leave_searches_at_any_stage_of_the_index,
    cases::each_agent_has_its_own_cursor_which_never_moves_back,
    contexts::a_receipt_is_stored_completely_for_its_agent_only_and_dropped_by_age_and_number,
    contexts::the_latest_tasks_of_a_workspace_are_those_of_all_agents,
    contexts::a_list_of_a_rare_type_costs_nothing_for_the_others,
    contexts::the_beginning_of_a_session_follows_the_permission_rule,
    contexts::what_a_session_was_told_is_kept_by_agent_and_session,
    contexts::memories_about_a_user_are_seen_by_the_permission_rule,
    contexts::the_details_of_an_event_are_read_back_unchanged,
    contradictions::a_contradiction_exists_only_for_callers_that_see_both_memories,
    contradictions::a_contradiction_is_shown_only_at_the_compared_revisions,
    contradictions::a_judged_pair_is_known_while_its_texts_stay_and_until_a_purge,
    contradictions::what_agents_said_of_a_pair_is_listed_until_it_is_answered_or_purged,
    contradictions::a_late_follower_sees_events_by_the_present_visibility_of_both_memories,
    sessions::a_checkpoint_is_stored_completely_under_its_own_number,
    sessions::an_open_session_is_found_for_the_same_agent_user_token_and_workspace,
    sessions::older_memories_of_a_session_are_counted_in_sight,
    sessions::a_session_is_stored_completely_and_seen_by_the_permission_rule,
    sessions::a_session_is_found_by_its_clients_id_and_touched_by_its_agent_only,
    handoffs::a_handoff_is_stored_completely_and_seen_by_the_permission_rule,
    handoffs::a_handoff_names_only_what_its_reader_sees_and_nothing_purged,
    handoffs::accepted_handoffs_are_listed_in_order_of_acceptance,
    handoffs::work_goes_on_from_the_handoff_that_moved_last,
    entities::merges_undone_in_turn_leave_everything_unchanged,
    entities::two_processes_merging_in_both_directions_make_no_cycle,
    entities::an_entity_exists_only_for_callers_that_see_a_mention_of_it,
    lineage::what_was_derived_is_found_from_its_memory_and_ends_with_a_purge,
    lineage::a_session_knows_each_memory_at_the_last_revision_that_it_was_told,
    lineage::what_sessions_were_told_is_dropped_by_age,
    standing::the_versions_of_a_file_are_its_own_and_the_oldest_go_first,
    sight::a_store_returns_exactly_what_the_permission_rule_allows,
    receipts::what_an_agent_was_told_is_seen_by_it_those_above_it_and_the_person,
    receipts::a_receipt_is_counted_once_and_counts_follow_the_permission_rule,
    search::a_search_finds_what_any_process_saved_one_call_earlier,
    search::a_search_finds_new_words_and_forgets_old_ones,
    search::an_index_at_any_stage_finds_exactly_the_visible_memories,
    node_indexes::a_node_reads_the_journals_of_the_searched_workspaces_alone,
    node_indexes::a_node_finds_what_a_home_finds_with_the_same_scores,
    node_indexes::the_least_recently_used_index_is_dropped_for_others,
    node_indexes::an_index_that_is_not_used_for_long_is_dropped,
    node_indexes::a_dropped_index_answers_as_before_when_it_is_asked_again,
    node_indexes::a_search_goes_on_while_its_index_is_dropped,
    node_indexes::threads_that_want_one_cold_workspace_build_it_once,
    node_indexes::a_workspace_that_is_built_lets_others_search,
    node_indexes::the_words_of_a_large_workspace_are_opened_again,
    node_indexes::a_node_looks_for_changes_of_what_it_holds,
    node_indexes::files_that_no_process_used_for_a_day_are_deleted,
    node_indexes::the_files_of_a_node_contain_nothing_purged,
    node_indexes::a_node_checks_and_removes_the_files_of_all_workspaces,
    rebuilding::a_damaged_index_is_rebuilt_with_the_same_results,
    rebuilding::facts_are_read_from_segment_files_or_else_from_columns,
    rebuilding::segment_files_of_deleted_segments_are_removed,
    rebuilding::many_events_without_a_memory_are_not_read_by_every_starting_process,
    rebuilding::an_index_of_another_history_is_rebuilt,
    rebuilding::an_index_of_another_format_is_rebuilt,
    rebuilding::the_files_of_the_index_contain_nothing_purged,
    vectors::a_search_uses_words_only_until_vectors_exist_and_says_so,
    vectors::a_failing_embedder_does_not_stop_searches,
    vectors::another_model_embeds_everything_again_and_the_old_vectors_are_deleted,
    vectors::damaged_vectors_are_embedded_again_with_the_same_results,
    vectors::a_flipped_bit_in_the_vectors_is_found_by_a_check,
    vectors::the_vector_files_contain_nothing_purged,
    transfers::a_copy_has_every_row_and_a_second_run_only_compares,
    transfers::a_copy_that_was_cut_goes_on,
    transfers::a_store_with_other_memories_is_not_copied_to,
    vectors::equal_texts_share_a_vector_and_a_long_text_has_several,
    vectors::a_text_that_was_searched_for_what_is_near_is_read_once,
    vectors::single_words_of_the_bundled_model_are_compared,
    vectors::a_turn_has_the_words_of_the_turns_beside_it,
    vectors::a_note_has_its_own_words_alone,
}

/// The whole journal of this workspace.
pub(crate) fn journal(workspace: &str) -> JournalRange {
    JournalRange::entire_journal(workspace.parse().unwrap())
}

pub(crate) fn now() -> Timestamp {
    "2026-11-21T09:00:00Z".parse().unwrap()
}

pub(crate) fn caller(agent: &str, workspace: &str) -> Caller {
    let name = match agent {
        "anonymous" => None,
        name => Some(AgentName { agent: Agent::with_any_name(name).unwrap(), device: None }),
    };
    Caller::new(name, workspace.parse::<Workspace>().unwrap(), EntryPoint::Cli)
}

/// A memory with this text, by this agent, in this workspace.
pub(crate) fn memory(ids: &dyn IdSource, agent: &str, workspace: &str, text: &str) -> Memory {
    let request = SaveMemory { text: text.into(), ..SaveMemory::default() };
    request
        .memory(&caller(agent, workspace), Sharing::Shared, MemoryId::new(ids, now()), now())
        .unwrap()
}

/// Saves a memory like the verbs do, with its event.
pub(crate) fn keep(tx: &mut Tx<'_>, memory: &Memory) -> Result<()> {
    let event = NewEvent::of(EventKind::MemorySaved, memory, &memory.owner, now());
    let sequence = tx.append_event(&event)?;
    insert(tx, memory, sequence)
}

/// Stores a memory, past the gate of the verbs.
pub(crate) fn insert(tx: &mut Tx<'_>, memory: &Memory, sequence: u64) -> Result<()> {
    tx.insert_memory(&AdmittedMemory::unjudged(memory.clone(), "laws of the store"), sequence)
}

/// Replaces a memory, past the gate of the verbs.
pub(crate) fn replace(tx: &mut Tx<'_>, before: &Memory, after: &Memory) -> Result<()> {
    tx.replace_memory(before, &AdmittedMemory::unjudged(after.clone(), "laws of the store"))
}

/// A store with these texts of one agent in workspace `x`.
pub(crate) fn with_texts(store: &dyn Store, texts: &[&str]) -> Vec<Memory> {
    let ids = CountingIds::default();
    let kept: Vec<Memory> = texts.iter().map(|text| memory(&ids, "ann", "x", text)).collect();
    let given = kept.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    kept
}
