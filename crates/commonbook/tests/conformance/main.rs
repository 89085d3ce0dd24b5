//! The laws that every store keeps, each in a fresh database. A law's name is the law.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod contexts;
mod contradictions;
mod damage;
mod entities;
mod handoffs;
mod journal;
mod memories;
mod rebuilding;
mod registry;
mod search;
mod sessions;
mod sight;
mod sqlite;
mod vectors;
mod writes;

use std::path::Path;
use std::sync::Arc;

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{CountingIds, IdSource, MemoryId};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{EventKind, JournalRange, NewEvent};
use commonbook::model::memory::{Memory, SaveMemory};
use commonbook::model::workspace::Workspace;
use commonbook::store::sqlite::SqliteStore;
use commonbook::store::{Store, Transaction};

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

/// One test for each law, on each store.
macro_rules! laws {
    ($($module:ident :: $law:ident,)+) => {
        mod on_sqlite { $(#[test] fn $law() { crate::$module::$law(&crate::Sqlite::new()); })+ }
    };
}

laws! {
    writes::a_dropped_write_leaves_nothing,
    writes::a_panicking_write_leaves_nothing_and_the_next_one_works,
    writes::a_failing_write_does_not_touch_the_others_of_its_group,
    writes::a_write_is_seen_by_the_next_read_of_another_process,
    writes::a_read_is_a_snapshot,
    writes::a_kept_answer_is_found_by_its_key_until_it_is_dropped,
    writes::what_a_failed_write_said_is_not_kept_and_what_the_others_said_is,
    writes::a_write_reads_what_it_has_written,
    writes::what_was_answered_is_there_after_closing,
    writes::a_snapshot_holds_against_another_process_too,
    journal::sequences_are_gapless_under_many_writers_in_two_processes,
    journal::each_workspace_has_a_journal_of_its_own,
    journal::the_journal_tells_events_in_order_after_a_place,
    journal::the_journal_is_filtered_before_it_is_limited,
    journal::a_journal_is_read_with_what_decides_who_is_told,
    memories::what_is_inserted_comes_back_as_it_was,
    memories::what_is_replaced_is_kept_as_an_earlier_revision,
    memories::lists_page_in_both_orders_without_repeating_or_skipping,
    memories::a_purged_memory_is_in_no_row,
    memories::ids_are_found_by_their_range,
    memories::topics_are_found_by_their_beginning_the_most_used_first,
    memories::a_copy_of_an_id_elsewhere_is_a_memory_of_its_own,
    registry::an_agent_is_known_from_its_first_write_to_its_last,
    registry::a_later_answer_under_a_key_takes_the_place_of_the_earlier,
    registry::a_purge_forgets_the_answers_about_its_memory_and_no_others,
    registry::an_imported_memory_is_known_by_its_id_and_by_its_line,
    registry::what_was_deleted_before_a_time_is_told_of_every_workspace,
    registry::a_workspace_is_known_from_its_first_event_on,
    registry::a_token_is_kept_whole_and_known_by_its_id,
    registry::an_act_gives_what_it_did_to_each_memory_once,
    cases::a_case_is_kept_whole_and_listed_by_its_opening,
    cases::the_entries_of_a_case_are_those_in_sight_in_their_order,
    cases::no_two_entries_of_a_case_have_one_place,
    cases::entries_of_a_case_that_is_not_open_leave_searches_at_any_stage_of_the_index,
    cases::a_cursor_is_each_agents_own_and_never_goes_back,
    contexts::a_receipt_is_kept_whole_for_its_agent_alone_and_dropped_by_age_and_number,
    contexts::what_is_known_of_a_user_is_seen_as_the_rule_says,
    contexts::what_an_event_says_besides_comes_back_as_it_was,
    contradictions::a_contradiction_exists_for_those_alone_who_see_both_memories,
    contradictions::a_contradiction_is_kept_of_memories_as_they_stand,
    contradictions::who_follows_late_is_told_by_what_both_memories_are_by_then,
    sessions::a_checkpoint_is_kept_whole_under_a_number_of_its_own,
    sessions::a_session_is_kept_whole_and_seen_as_the_rule_says,
    sessions::a_session_is_found_by_its_agents_own_id_and_touched_by_its_agent_alone,
    handoffs::a_handoff_is_kept_whole_and_seen_as_the_rule_says,
    handoffs::a_handoff_names_what_its_reader_sees_and_nothing_that_was_purged,
    handoffs::what_an_agent_accepted_comes_in_the_order_in_which_it_did,
    entities::merges_taken_back_in_turn_leave_everything_as_it_was,
    entities::two_processes_that_merge_both_ways_make_no_circle,
    entities::an_entity_exists_for_those_alone_who_see_what_mentions_it,
    sight::a_store_sees_exactly_what_the_rule_sees,
    search::a_search_finds_what_was_kept_one_call_earlier_in_any_process,
    search::a_search_finds_new_words_and_forgets_old_ones,
    search::an_index_at_any_stage_finds_exactly_what_the_rule_sees,
    rebuilding::a_damaged_index_is_built_anew_and_answers_the_same,
    rebuilding::facts_are_read_from_sheets_and_from_columns_where_a_sheet_is_not_whole,
    rebuilding::sheets_of_segments_that_are_gone_are_removed,
    rebuilding::many_events_that_change_no_memory_are_not_read_by_all_who_start,
    rebuilding::an_index_of_another_history_is_built_anew,
    rebuilding::an_index_of_another_form_is_built_anew,
    rebuilding::what_was_purged_leaves_the_files_of_the_index,
    vectors::a_search_goes_by_words_until_there_are_vectors_and_says_so,
    vectors::a_failing_embedder_keeps_nobody_from_finding,
    vectors::another_model_embeds_everything_anew_and_the_old_vectors_go,
    vectors::damaged_vectors_are_made_anew_and_answer_the_same,
    vectors::a_flipped_bit_in_the_vectors_is_found_by_a_check,
    vectors::the_vectors_of_what_was_purged_leave_the_files,
    vectors::what_says_the_same_shares_a_vector_and_a_long_text_has_several,
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
    request.memory(&caller(agent, workspace), MemoryId::new(ids, now()), now()).unwrap()
}

/// Keeps a memory as the verbs do, with its event.
pub(crate) fn keep(
    tx: &mut dyn Transaction,
    memory: &Memory,
) -> commonbook::base::error::Result<()> {
    let event = NewEvent::of(EventKind::MemorySaved, memory, &memory.owner, now());
    let sequence = tx.append_event(&event)?;
    tx.insert_memory(memory, sequence)
}

/// A store with these texts of one agent in workspace `x`.
pub(crate) fn with_texts(store: &dyn Store, texts: &[&str]) -> Vec<Memory> {
    let ids = CountingIds::default();
    let kept: Vec<Memory> = texts.iter().map(|text| memory(&ids, "ann", "x", text)).collect();
    let given = kept.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    kept
}
