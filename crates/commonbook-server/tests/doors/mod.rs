//! The doors: common refusals, the offers of each, and the features of one alone.

mod about;
mod archives;
mod audit;
mod author;
mod bad_input;
mod bound;
mod cases;
mod chains;
mod cli;
mod consolidation;
mod contexts;
mod corrections;
pub(crate) mod dashboard;
mod dashboard_health;
mod dashboard_pages;
mod dashboard_walk;
mod dashboard_work;
mod database;
mod digests;
pub(crate) mod export;
mod forgetting;
mod frame;
mod hidden_ids;
mod history;
mod http;
mod hygiene;
mod import_formats;
mod judging;
mod mcp;
mod mcp_changes;
mod mcp_resources;
mod mcp_sessions;
#[cfg(unix)]
mod metrics;
#[cfg(unix)]
mod monitor;
mod near;
#[cfg(unix)]
mod observed;
mod own_types;
mod rest;
mod retractions;
mod stale;
mod standing;
mod stranger;
#[cfg(unix)]
mod stream;
mod surface;
mod targets;
mod team;
pub(crate) mod tokens;
#[cfg(unix)]
mod traces;
#[cfg(unix)]
mod watch_stats;
mod webhooks;
mod working_sessions;
