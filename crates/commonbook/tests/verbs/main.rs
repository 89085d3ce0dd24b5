//! The verbs, with a fixed clock and counting ids.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod about;
mod agendas;
mod bound_tokens;
mod branches;
mod briefings;
mod budget;
mod bulk;
mod callers;
mod cases;
mod chains;
mod changing;
mod checkpoints;
mod consolidation;
mod context_order;
mod contexts;
mod contradictions;
mod corrections;
mod cursors;
mod digests;
mod documents;
mod entities;
mod export;
mod figures;
mod forgetting;
mod going_on;
mod graph;
mod handing_over;
mod handles;
mod handoffs;
mod history;
#[path = "../postgres/homes.rs"]
mod homes;
mod hygiene;
mod idempotency;
mod import;
mod journal;
mod kept_entities;
mod knowledge;
mod learn;
mod looking_back;
mod merge_bot;
mod near;
mod near_pairs;
mod observed;
mod one_time;
mod opaque;
mod paired_homes;
mod presence;
mod purge;
mod purge_traces;
mod query_terms;
mod reading;
mod redteam;
mod retractions;
mod save;
mod search_cost;
mod searching;
mod sessions;
mod stale;
mod standing;
mod state_machine;
mod successors;
mod targets;
mod team;
mod tokens;
mod update;
mod webhooks;
mod working_sessions;

use std::path::Path;
use std::sync::Arc;

pub(crate) use callers::{at, caller, elsewhere, person, request};

use commonbook::Commonbook;
use commonbook::base::clock::FixedClock;
use commonbook::base::id::CountingIds;
use commonbook::index::Index;
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::memory::{ListMemories, Memory, SaveMemory, Sharing};
use commonbook::model::search::{SearchMemory, SearchResponse};
use commonbook::store::Store;
use commonbook::store::postgres::PostgresStore;
use commonbook::store::sqlite::SqliteStore;

/// A Commonbook with a home of its own, and its clock.
pub(crate) struct World {
    pub(crate) book: Commonbook,
    pub(crate) clock: Arc<FixedClock>,
    home: tempfile::TempDir,
}

/// The store of a home, opened as by another process: its file, or its database in PostgreSQL.
pub(crate) fn open_store(home: &Path) -> Arc<dyn Store> {
    match homes::is_wanted() {
        true => PostgresStore::open(&homes::way_of_store(home), None).unwrap(),
        false => SqliteStore::open(&home.join("commonbook.db")).unwrap(),
    }
}

/// All that the store of a home holds, as bytes: the file, or every row of every table.
pub(crate) fn stored_bytes(home: &Path) -> Vec<u8> {
    if !homes::is_wanted() {
        return std::fs::read(home.join("commonbook.db")).unwrap();
    }
    let mut client = postgres::Client::connect(&homes::way_of_test(home), postgres::NoTls).unwrap();
    let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
    let mut bytes = Vec::new();
    for table in client.query(tables, &[]).unwrap() {
        let sql = format!("SELECT t::text FROM {} t", table.get::<_, String>(0));
        for row in client.query(&sql, &[]).unwrap() {
            bytes.extend_from_slice(row.get::<_, String>(0).as_bytes());
        }
    }
    bytes
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = open_store(home.path());
        let clock = Arc::new(FixedClock::at(at(0)));
        let ids = Arc::new(CountingIds::default());
        let book = Commonbook::with_clock_and_ids(store, Arc::clone(&clock) as _, ids);
        let book = match homes::is_wanted() {
            true => book.with_index(Arc::new(Index::of_node(None, Arc::clone(&clock) as _))),
            false => book,
        };
        Self { book, clock, home }
    }

    /// The home's folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn save(&self, agent: &str, text: &str) -> Memory {
        let request = SaveMemory { text: text.into(), ..SaveMemory::default() };
        self.book.save_memory(&caller(agent), &request).unwrap().memory
    }

    pub(crate) fn save_private(&self, agent: &str, text: &str) -> Memory {
        let sharing = Some(Sharing::Private);
        let request = SaveMemory { text: text.into(), sharing, ..SaveMemory::default() };
        self.book.save_memory(&caller(agent), &request).unwrap().memory
    }

    /// Sweeps this many hours after the start, with a clock that has advanced long enough to
    /// confirm that time. Returns the number of removed memories.
    pub(crate) fn sweep_at(&self, hours: i64) -> usize {
        let sweep = |hours| {
            self.clock.set(at(hours));
            self.book.sweep().unwrap().purged
        };
        sweep(hours) + sweep(hours + 1)
    }

    pub(crate) fn search(&self, agent: &str, query: &str) -> SearchResponse {
        let request = SearchMemory { query: query.into(), ..SearchMemory::default() };
        self.book.search_memory(&caller(agent), &request).unwrap()
    }

    pub(crate) fn texts(&self, agent: &str, request: &ListMemories) -> Vec<String> {
        let page = self.book.list_memories(&caller(agent), request).unwrap();
        page.items.into_iter().map(|memory| memory.text).collect()
    }

    pub(crate) fn events(&self, agent: &str) -> Vec<(u64, EventKind, String)> {
        let request = ListEvents { limit: Some(100), ..ListEvents::default() };
        let events = self.book.list_events(&caller(agent), &request).unwrap();
        events.items.into_iter().map(|e| (e.sequence, e.kind, e.actor.to_string())).collect()
    }
}
