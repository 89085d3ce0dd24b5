//! Tokens as people read them: the secret once, then only what it is good for.

use commonbook::model::token::{IssuedToken, Token, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use super::show::{show, table};
use crate::output::{line, note};

pub(super) fn issued(answer: &Value) {
    show(answer, |issued: &IssuedToken| {
        line(&issued.secret);
        let Token { id, agent, .. } = &issued.token;
        note(&format!("{id} proves {agent} ({}); it is shown this once", scopes(&issued.token)));
        note("send it as `Authorization: Bearer TOKEN`; nobody calls over HTTP without one now");
    });
}

pub(super) fn revoked(answer: &Value) {
    show(answer, |token: &Token| {
        line(&format!("Revoked {}, which proved {}", token.id, token.agent));
        note("when no token is left, callers of this machine are taken at their word again");
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |tokens: &Tokens| {
        if tokens.items.is_empty() {
            line("No tokens: callers of this machine are taken at their word");
            return;
        }
        let day = |time: Option<Timestamp>| {
            time.map_or_else(String::new, |time| time.strftime("%F %H:%M").to_string())
        };
        let rows = tokens.items.iter().map(|token| {
            let workspace = token.workspace.as_ref().map(ToString::to_string);
            vec![
                token.id.to_string(),
                token.agent.to_string(),
                scopes(token),
                workspace.unwrap_or_default(),
                day(Some(token.created_at)),
                day(token.expires_at),
                day(token.last_used),
                day(token.revoked_at),
            ]
        });
        let head =
            ["id", "agent", "scopes", "workspace", "made", "expires", "last used", "revoked"];
        line(&table(&head, rows));
    });
}

fn scopes(token: &Token) -> String {
    token.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(",")
}
