//! A memory on a server, by its URL: the address of each client and project, the verbs and the
//! events over REST, and a bridge for clients that start an MCP server.
//!
//! A process with an address never uses the store of its home: if the server does not answer, the
//! request fails with `unavailable`.

pub(crate) mod address;
pub(crate) mod bridge;
mod events;
mod http;
pub(crate) mod rest;

pub(crate) use address::ServerAddress;
pub(crate) use events::RemoteEvents;
pub(crate) use rest::RestClient;
