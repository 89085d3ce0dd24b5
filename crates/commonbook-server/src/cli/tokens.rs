//! Tokens as people read them: the secret once, then only what it is good for.

use commonbook::model::token::{NewToken, Token, TokenList};
use jiff::Timestamp;
use serde_json::Value;

use super::show::{show, table};
use crate::output::{print_line, print_note};

pub(super) fn show_issued_token(answer: &Value) {
    show(answer, |issued: &NewToken| {
        print_line(&issued.secret);
        let Token { id, agent, .. } = &issued.token;
        print_note(&format!(
            "{id} proves {agent} ({}); it is shown this once",
            scopes(&issued.token)
        ));
        print_note(
            "send it as `Authorization: Bearer TOKEN`; nobody calls over HTTP without one now",
        );
    });
}

pub(super) fn show_revoked_token(answer: &Value) {
    show(answer, |token: &Token| {
        print_line(&format!("Revoked {}, which proved {}", token.id, token.agent));
        print_note("when no token is left, callers of this machine are taken at their word again");
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |tokens: &TokenList| {
        if tokens.items.is_empty() {
            print_line("No tokens: callers of this machine are taken at their word");
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
        print_line(&table(&head, rows));
    });
}

fn scopes(token: &Token) -> String {
    token.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(",")
}
