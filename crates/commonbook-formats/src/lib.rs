//! Reads what other programs wrote, as lines for an import; without a store, a clock or ids.
//!
//! Nothing here knows memories or agents: each reader takes a file or a folder and yields its rows in order.

pub mod frontmatter;
