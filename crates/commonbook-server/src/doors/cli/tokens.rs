//! How people read tokens: the secret once, then only id, agent and scopes.

use std::io::IsTerminal;

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, Result};
use commonbook::model::token::{NewToken, Token, TokenList};
use jiff::Timestamp;
use serde_json::Value;

use super::layout::{minute, print_record, short, show};
use crate::calls::output::{print_line, print_note};
use crate::clients::remote::address::ServerMap;
use crate::settings::config::Config;

/// Asks before a token is created while clients use a server of this machine without one: from the
/// first token on, the server refuses them.
///
/// # Errors
/// `conflict` if the person does not agree, or cannot be asked.
pub(super) fn confirm_creation(config: &Config) -> Result<()> {
    let map = ServerMap::read(config.home()?)?;
    let projects = map.projects.iter().map(|(root, server)| (root.display().to_string(), server));
    let clients = map.clients.iter().map(|(client, server)| (client.clone(), server));
    let bare = clients.chain(projects).filter(|(_, server)| {
        server.is_loopback() && !server.has_token() && config.token.is_none()
    });
    let names: Vec<String> = bare.map(|(name, _)| name).collect();
    if names.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    let refused = format!("{names} uses HTTP without a token, and will be refused");
    if std::io::stdin().is_terminal() {
        print_note(&format!("{refused}. Create the token? [y/N]"));
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).is_ok() && line.trim().eq_ignore_ascii_case("y") {
            return Ok(());
        }
    }
    Err(Error::conflict(refused).hint(
        "Repeat it with --yes, and then set the clients up with `--header 'Authorization: Bearer …'`.",
    ))
}

pub(super) fn show_issued_token(response: &Value) {
    show(response, |issued: &NewToken| {
        print_line(&issued.secret);
        let Token { id, agent, .. } = &issued.token;
        let (id, scopes) = (short(id), scopes(&issued.token));
        print_note(&format!(
            "Keep this secret now: it is not shown again. Token {id} proves {agent} ({scopes})."
        ));
        print_note(
            "Send it as `Authorization: Bearer TOKEN`. From now on every caller over HTTP needs a \
             token.",
        );
    });
}

pub(super) fn show_revoked_token(response: &Value) {
    show(response, |token: &Token| {
        print_line(&format!("Revoked {}, the token of {}", short(&token.id), token.agent));
        print_note(
            "If no token is left, a server on a loopback address accepts the name that each \
             caller gives.",
        );
    });
}

pub(super) fn list(response: &Value) {
    show(response, |tokens: &TokenList| {
        if tokens.items.is_empty() {
            print_line(
                "No tokens: a server on a loopback address accepts the name that each caller gives",
            );
            return;
        }
        let at = |name: &str, time: Option<Timestamp>| {
            time.map(|time| format!("{name} {}", minute(time))).unwrap_or_default()
        };
        let now = SystemClock.now();
        let expiry = |token: &Token| match token.expires_at.is_some_and(|end| end <= now) {
            true => "expired",
            false => "expires",
        };
        for token in &tokens.items {
            let workspace = token.workspace.as_ref().map(|name| format!("in {name}"));
            let facts = [
                short(&token.id),
                workspace.unwrap_or_default(),
                at("created", Some(token.created_at)),
                at(expiry(token), token.expires_at),
                at("last used", token.last_used),
                at("revoked", token.revoked_at),
            ];
            print_record(&format!("{} ({})", token.agent, scopes(token)), &facts);
        }
    });
}

/// The scopes of a token, as a person reads them.
pub(super) fn scopes(token: &Token) -> String {
    token.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(",")
}
