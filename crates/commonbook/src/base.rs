//! The ground that everything stands on: time, ids, errors, limits, pages and the parsing of requests.

pub mod cancellation;
pub mod clock;
pub mod error;
pub mod file_lock;
pub mod file_system;
pub mod hash;
pub mod home_key;
pub mod id;
pub mod input;
pub mod key;
pub mod limits;
pub mod page;
pub mod settled_clock;
pub mod thread;
