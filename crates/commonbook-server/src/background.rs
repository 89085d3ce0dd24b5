//! What runs without a call: following journals, webhooks, backups, writers of digests, and the health and the sizes of a home.

pub(crate) mod backups;
pub(crate) mod chat;
pub(crate) mod digest;
pub mod follow;
pub(crate) mod health;
pub(crate) mod home_backup;
pub(crate) mod judge;
pub(crate) mod sizes;
pub(crate) mod vaults;
pub(crate) mod webhook;
