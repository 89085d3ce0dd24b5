//! The project that a process works in: its workspace, its server, and whether it uses Commonbook.
//!
//! A project is a git repository. Its files can only switch Commonbook off. Everything else that
//! belongs to it is in the home, so that a cloned repository cannot send memories elsewhere.

mod identity;
pub(crate) mod map;
mod switch;

pub(crate) use identity::{Repository, git_root};
pub(crate) use switch::check_switch;
