//! The MCP server of a project, a session or a machine that has switched Commonbook off.

use commonbook::base::error::Error;
use commonbook::model::caller::EntryPoint;
use rmcp::model::{
    ErrorData, Implementation, InitializeRequestParams, InitializeResult, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use crate::clients::remote::ServerAddress;
use crate::clients::rules::rules_where_off;
use crate::http::caller::{CallerClaims, resolve_caller};
use crate::settings::config::Config;

/// A server that offers nothing, with the reason.
#[derive(Clone)]
pub(crate) struct OffDoor {
    pub(crate) off: Error,
    pub(crate) claims: CallerClaims,
    pub(crate) config: Config,
}

impl OffDoor {
    /// The rules of the person for a client of this name.
    fn rules(&self, client: &Implementation) -> Option<String> {
        let named = || Some((client.name.clone(), client.version.clone()));
        let client = self.claims.client.clone().or_else(named);
        let configured = self.claims.client.as_ref().map(|(name, _)| name.as_str());
        let (address, config) = ServerAddress::with_name(self.config.clone(), configured).ok()?;
        let claims = CallerClaims { client, ..self.claims.clone() };
        let caller = resolve_caller(&claims, &config, None, EntryPoint::Mcp).ok()?;
        rules_where_off(&config, address.as_ref(), &caller, "")
    }
}

impl ServerHandler for OffDoor {
    /// Adds the rules of the person to the instructions: no tool could tell them.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // They may be on a server.
        let (door, client) = (self.clone(), request.client_info);
        let rules = tokio::task::spawn_blocking(move || door.rules(&client)).await;
        let texts = [result.instructions.take(), rules.ok().flatten()];
        result.instructions = Some(texts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
        Ok(result)
    }

    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("commonbook", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(format!("{}. It offers no tools.", self.off))
    }
}
