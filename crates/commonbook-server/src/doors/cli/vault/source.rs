//! The Commonbook that a vault is of: the store of this home, or a server.

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::base::input;
use commonbook::model::caller::Caller;
use commonbook::model::export::{ExportPage, ExportWorkspace};
use commonbook::model::import::{ImportLine, ImportRecord};
use commonbook::model::origin::{TextOrigin, sign_line};
use commonbook::verbs::names;
use commonbook_vault::export::RecordLine;
use commonbook_vault::source::{StoreChanges, VaultSource};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clients::remote::RestClient;

/// The Commonbook of a vault.
pub(crate) enum BookSource {
    /// The store of this home.
    Home { book: Box<Commonbook>, caller: Caller },
    /// A server, which takes the lines for its home's if it has the same key.
    Server { server: RestClient, caller: Caller, key: Box<HomeKey> },
}

impl BookSource {
    /// Imports lines of this origin.
    ///
    /// # Errors
    /// `invalid` if a line is none of an export; `unavailable` if the store or the server fails.
    pub(crate) fn import_lines_of(
        &self,
        origin: TextOrigin,
        mut lines: Vec<RecordLine>,
    ) -> Result<Vec<ImportRecord>> {
        match self {
            Self::Home { book, caller } => {
                let line = |line| ImportLine::from_json(Value::Object(line), origin);
                let lines = lines.into_iter().map(line).collect::<Result<Vec<_>>>()?;
                let results = book.import_lines(caller, Some(&caller.workspace), lines)?;
                Ok(results.into_iter().map(ImportRecord::from).collect())
            }
            Self::Server { server, caller, key } => {
                if origin == TextOrigin::ThisHome {
                    lines.iter_mut().for_each(|line| sign_line(line, key));
                }
                server.import_lines(caller, &Map::new(), lines.into_iter().map(Value::Object))
            }
        }
    }
}

impl VaultSource for BookSource {
    fn export_page(&self, request: &ExportWorkspace) -> Result<ExportPage> {
        match self {
            Self::Home { book, caller } => book.export_workspace(caller, request),
            Self::Server { server, caller, .. } => input::from_value(server.call_named(
                names::EXPORT_WORKSPACE,
                caller,
                json_of(request)?,
            )?),
        }
    }

    fn import_lines(&self, lines: Vec<RecordLine>) -> Result<Vec<ImportRecord>> {
        self.import_lines_of(TextOrigin::ThisHome, lines)
    }

    fn changes_after(&self, event: u64) -> Result<StoreChanges> {
        match self {
            Self::Home { book, caller } => StoreChanges::of_home(book, &caller.workspace, event),
            Self::Server { server, caller, .. } => StoreChanges::read_after(event, |request| {
                input::from_value(server.call_named(
                    names::LIST_EVENTS,
                    caller,
                    json_of(request)?,
                )?)
            }),
        }
    }
}

fn json_of(request: &impl Serialize) -> Result<Value> {
    serde_json::to_value(request).map_err(|error| {
        Error::new(ErrorKind::Internal, "the request is not valid").with_cause(error)
    })
}
