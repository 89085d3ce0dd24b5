//! The doors. Each parses a request, calls one verb and maps the answer; none imports another.

pub(crate) mod cli;
pub(crate) mod dashboard;
pub(crate) mod hook;
pub(crate) mod mcp;
pub(crate) mod rest;
