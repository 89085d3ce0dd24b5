//! The settings of a home: the environment and config.json, the database, and the project of a folder.

pub mod config;
pub(crate) mod database;
pub(crate) mod project;
pub(crate) mod sections;
pub(crate) mod store;
