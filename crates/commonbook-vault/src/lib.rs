//! The Markdown vault: what a workspace knows, as files that people read, edit and keep in git.
//!
//! A vault is a client of three verbs. [`sync::Vault`] reads an export, compares it with the files, sends what
//! people changed as lines of an import, and writes what changed in the store; by the events it knows what
//! [`cache::PassCache`] has to read again. [`plan::plan_memory`] decides what
//! follows from one file, as a pure function; [`rebuild::rebuild_lines`] is the way back.

pub mod arrival;
pub mod cache;
pub mod case_page;
pub mod export;
pub mod files;
pub mod folder;
pub mod frontmatter;
pub mod git;
pub mod memory_file;
pub mod names;
pub mod page;
pub mod pages;
pub mod plan;
pub mod rebuild;
pub mod report;
pub mod settings;
pub mod source;
pub mod state;
pub mod sync;
pub mod writer;
