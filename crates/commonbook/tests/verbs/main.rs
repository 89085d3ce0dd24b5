//! The verbs, with a clock that stands still until it is set and ids that count.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod ask;
mod bound;
mod budget;
mod cases;
mod change;
mod checkpoints;
mod contact;
mod contexts;
mod contradictions;
mod cursors;
mod digests;
mod entities;
mod find;
mod first_places;
mod graph;
mod handles;
mod handoffs;
mod heirs;
mod hygiene;
mod import;
mod journal;
mod learn;
mod machine;
mod once;
mod one_time;
mod paired;
mod purge;
mod redteam;
mod save;
mod sessions;
mod tokens;
mod update;
mod work;

use std::path::Path;
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::{FixedClock, Timestamp};
use commonbook::base::id::CountingIds;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::memory::{ListMemories, Memory, SaveMemory, Sharing};
use commonbook::model::search::{SearchMemory, SearchResponse};
use commonbook::store::sqlite::SqliteStore;

/// A Commonbook of its own, and the hands on its clock.
pub(crate) struct World {
    pub(crate) book: Commonbook,
    pub(crate) clock: Arc<FixedClock>,
    home: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&home.path().join("commonbook.db")).unwrap();
        let clock = Arc::new(FixedClock::at(at(0)));
        let ids = Arc::new(CountingIds::default());
        Self {
            book: Commonbook::with_clock_and_ids(store, Arc::clone(&clock) as _, ids),
            clock,
            home,
        }
    }

    /// The folder that everything is kept in.
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

    /// Sweeps away what is over after so many hours, by a clock that has gone on for long enough to
    /// be sure of it; answers how many memories were removed.
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

/// A request as a door reads it.
pub(crate) fn request<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    commonbook::base::input::from_value(value).unwrap()
}

/// So many hours after the beginning.
pub(crate) fn at(hours: i64) -> Timestamp {
    let beginning: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    beginning + jiff::SignedDuration::from_hours(hours)
}

pub(crate) fn caller(agent: &str) -> Caller {
    elsewhere(agent, "x")
}

pub(crate) fn elsewhere(agent: &str, workspace: &str) -> Caller {
    let name = (agent != "anonymous")
        .then(|| AgentName { agent: Agent::with_any_name(agent).unwrap(), device: None });
    Caller::new(name, workspace.parse().unwrap(), EntryPoint::Cli)
}
