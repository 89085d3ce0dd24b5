//! The SQL of tokens; of their secrets only fingerprints are stored.

use jiff::Timestamp;

use super::Tx;
use super::driver::SqlRow;
use super::row::{encode_json, json, text, time};
use crate::base::error::Result;
use crate::base::id::TokenId;
use crate::model::token::{Token, TokenRecord};
use crate::model::workspace::Workspace;

/// The rows of tokens, which belong to the home: the caller is identified before the workspace.
impl Tx<'_> {
    /// The token with this id, revoked and expired ones too.
    pub fn token(&self, id: TokenId) -> Result<Option<TokenRecord>> {
        self.query_one("SELECT * FROM token WHERE id = ?1", [id.to_string()], |row| {
            Ok(TokenRecord { token: from_row(row)?, secret_sha256: row.get("secret_sha256")? })
        })
    }

    /// Every token, newest first.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        self.query_all("SELECT * FROM token ORDER BY id DESC", (), from_row)
    }

    /// Whether any token exists that was not revoked. An expired one counts: its expiry must not
    /// open the server to everybody.
    pub fn has_tokens(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM token WHERE revoked_at IS NULL LIMIT 1";
        Ok(self.query_one(sql, (), |_| Ok(()))?.is_some())
    }

    /// Stores a token, replacing the one with its id.
    pub fn put_token(&mut self, kept: &TokenRecord) -> Result<()> {
        let token = &kept.token;
        let millis = |time: Option<Timestamp>| time.map(Timestamp::as_millisecond);
        self.execute(
            "INSERT OR REPLACE INTO token (id, agent, secret_sha256, scopes, workspace, \
             created_at, expires_at, last_used, revoked_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                token.id.to_string(),
                token.agent.as_str(),
                &kept.secret_sha256,
                encode_json(&token.scopes)?,
                token.workspace.as_ref().map(Workspace::as_str),
                token.created_at.as_millisecond(),
                millis(token.expires_at),
                millis(token.last_used),
                millis(token.revoked_at),
            ),
        )?;
        Ok(())
    }

    /// Records that a token was used.
    pub fn use_token(&mut self, id: TokenId, at: Timestamp) -> Result<()> {
        let sql = "UPDATE token SET last_used = ?2 WHERE id = ?1";
        self.execute(sql, (id.to_string(), at.as_millisecond()))?;
        Ok(())
    }
}

fn from_row(row: &SqlRow<'_>) -> Result<Token> {
    let moment = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(time));
    Ok(Token {
        id: text(row, "id")?,
        agent: text(row, "agent")?,
        scopes: json(row, "scopes")?,
        workspace: match row.get::<_, Option<String>>("workspace")? {
            Some(_) => Some(text(row, "workspace")?),
            None => None,
        },
        created_at: time(row.get("created_at")?),
        expires_at: moment("expires_at")?,
        last_used: moment("last_used")?,
        revoked_at: moment("revoked_at")?,
    })
}
