//! The rules of the person for an agent whose project has Commonbook off: in the home, or on a server.

use std::time::Duration;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::model::caller::Caller;
use commonbook::model::standing::ReadStanding;
use commonbook::verbs::names;
use commonbook::verbs::{person_rules, person_rules_elsewhere};

use super::remote::{RestClient, ServerAddress};
use crate::calls::call::encoding_error;
use crate::settings::config::Config;

/// The time limit of the request for the person's rules, below that of a hook.
const RULES_TIMEOUT: Duration = Duration::from_millis(1_500);

/// What an agent receives where Commonbook is off: the rules of the person alone, if the file of a project
/// switches it off, which may be a stranger's. They are on the server of this client, if its memories are
/// there, else in the home. The person's own switch silences them too.
pub(crate) fn rules_where_off(
    config: &Config,
    address: Option<&ServerAddress>,
    caller: &Caller,
    task: &str,
) -> Option<String> {
    let home = config.home.as_deref().filter(|_| config.switch.is_none())?;
    let rules = || {
        let preferences = config.preferences()?;
        match address {
            None => person_rules(caller, home, task, &preferences),
            Some(address) => match standing_text_at(address, caller)? {
                Some(text) => person_rules_elsewhere(caller, home, task, &preferences, text),
                None => Ok(None),
            },
        }
    };
    rules().unwrap_or_else(|error| {
        tracing::warn!(%error, "the rules of the person are not told");
        None
    })
}

/// The standing memory of the caller's role in the home of this server; `None` if it has none. The request
/// names no project.
fn standing_text_at(address: &ServerAddress, caller: &Caller) -> Result<Option<String>> {
    let role = caller.agent.role().to_owned();
    let request = ReadStanding { role, version: None, everywhere: true };
    let request = serde_json::to_value(request).map_err(encoding_error)?;
    let server = RestClient::new(address.clone(), RULES_TIMEOUT);
    match server.call_named(names::READ_STANDING, caller, request) {
        Ok(page) => Ok(page["text"].as_str().map(str::to_owned)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
