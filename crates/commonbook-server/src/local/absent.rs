//! Where there are no such sockets: every command opens the store itself.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Asked, CarryOut, Reply};
use crate::config::Config;

/// A server that is never found.
pub(crate) enum Server {}

impl Server {
    /// Finds none.
    pub(crate) fn near(_: &Config) -> Option<Self> {
        None
    }

    /// Asks nobody.
    pub(crate) fn ask(self, _: &Asked) -> Reply {
        match self {}
    }
}

/// A listener that is never made.
pub(crate) enum Listener {}

impl Listener {
    /// Makes none.
    pub(crate) fn open(_: &Config, _: Arc<CarryOut>) -> Option<Self> {
        None
    }

    /// Answers nobody.
    pub(crate) async fn serve(self, _: CancellationToken) {
        match self {}
    }
}
