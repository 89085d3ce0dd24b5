//! All rows in SQL, said once for every engine: the statements, the nouns in their rows, and the
//! condition by which a sight sees them.
//!
//! An engine gives a connection (`sql/driver.rs`) and keeps to itself how it opens, locks, commits
//! and checks. The statements are those of SQLite; an engine that says something otherwise
//! translates their text.

mod access;
mod agent;
mod answer;
mod briefing;
mod bulk;
mod case;
mod case_digest;
mod checkpoint;
mod consolidation;
mod context;
mod contradiction;
mod copy;
mod cursor;
pub(crate) mod driver;
mod entity;
mod event;
mod export;
mod filter;
mod follower;
mod forgetting;
mod handoff;
mod knowledge;
mod lineage;
mod memory;
mod mention;
mod name;
mod relation;
mod row;
mod rows;
mod session;
mod standing;
mod token;
mod usage;
mod webhook;
mod workspace;

use std::cell::RefCell;

use crate::model::event::EventOrigin;
use crate::model::workspace::Workspace;
use crate::store::{EngineWork, WorkRows};
use access::AudienceCache;
use driver::SqlConnection;

pub(in crate::store) use driver::SqlValue;
#[cfg(test)]
pub(crate) use forgetting::QUOTING_TABLES;
pub(in crate::store) use forgetting::quoting_places;
pub(crate) use rows::PROTECTED_TABLES;

/// The rows of one store, in a transaction that the caller of this type ends.
pub(crate) struct SqlTransaction<'c> {
    connection: &'c dyn SqlConnection,
    /// The events appended here: their workspaces and positions.
    appended: Vec<(Workspace, u64)>,
    /// From where the caller of this write called.
    origin: Option<EventOrigin>,
    audiences: RefCell<AudienceCache>,
}

impl<'c> SqlTransaction<'c> {
    pub(crate) fn new(connection: &'c dyn SqlConnection) -> Self {
        Self { connection, appended: Vec::new(), origin: None, audiences: RefCell::default() }
    }

    /// The events appended in this transaction: their workspaces and positions.
    pub(crate) fn appended(&self) -> &[(Workspace, u64)] {
        &self.appended
    }
}

impl WorkRows for SqlTransaction<'_> {
    fn work(&self) -> Option<EngineWork> {
        self.connection.work()
    }
}
