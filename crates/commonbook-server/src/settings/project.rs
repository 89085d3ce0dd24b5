//! The project that a process works in: its workspace, its server, and whether it uses Commonbook.
//!
//! A project is a repository, or a folder that a client opened. Its files can only switch Commonbook off.
//! Everything else that belongs to it is in the home, so that a cloned repository cannot send memories
//! elsewhere.

mod first_commit;
mod folder;
mod git;
mod identity;
pub(crate) mod map;
mod remote;
mod remote_settings;
mod switch;
mod version_control;

pub(crate) use folder::{FolderSearch, ProjectFolder};
pub(crate) use identity::Project;
pub(crate) use remote_settings::RemoteSettings;
pub(crate) use switch::{check_switch, read_switch};
pub(crate) use version_control::{VersionRootCache, place_outside};
