//! The MCP server of a project, a session or a machine that has switched Commonbook off.

use commonbook::base::error::Error;
use rmcp::ServerHandler;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

/// A server that offers nothing, with the reason.
pub(crate) struct OffDoor(pub(crate) Error);

impl ServerHandler for OffDoor {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("commonbook", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(format!("{}. It offers no tools.", self.0))
    }
}
