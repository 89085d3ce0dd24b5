//! What REST, MCP and the pages share over HTTP: connections, the gate, callers, rates, and streams of events.

pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod connections;
pub(crate) mod gate;
pub(crate) mod http_error;
pub(crate) mod rate;
pub(crate) mod stream;
pub(crate) mod watch;
