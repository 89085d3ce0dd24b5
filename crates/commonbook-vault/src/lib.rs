//! The Markdown vault: what a workspace knows, as files that people read, edit and keep in git.
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
pub mod settings;
pub mod sync;
