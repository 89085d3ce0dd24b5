//! Creating, listing and revoking tokens, and authenticating callers by them.

use jiff::SignedDuration;

use super::Commonbook;
use crate::base::error::{Error, Result};
use crate::base::hash::sha256;
use crate::base::id::TokenId;
use crate::model::access::{self, AccessAttempt};
use crate::model::caller::{Caller, CallerProof};
use crate::model::token::{
    BearerToken, CreateToken, ListTokens, NewToken, RevokeToken, RotateToken, Token, TokenList,
    TokenRecord, TokenScope, unknown_token,
};
use crate::store::Tx;

/// How old `last_used` may be: one write per request would be too many.
const LAST_USED_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

impl Commonbook {
    /// Authenticates a call over HTTP; returns its token, if it presented one.
    ///
    /// # Errors
    /// `unauthenticated` if the token is unknown, revoked or expired, or if a token is required and
    /// missing; `unavailable` if the store cannot be read.
    pub fn admit(&self, shown: Option<&str>, exposed: bool) -> Result<Option<Token>> {
        let bearer = shown.map(BearerToken::read).transpose()?;
        let now = self.clock.now();
        let (kept, tokens) = self.store.read(|tx| match &bearer {
            Some(bearer) => Ok((tx.token(bearer.id)?, true)),
            None => Ok((None, tx.has_tokens()?)),
        })?;
        AccessAttempt { shown: bearer.is_some(), tokens, exposed }.judge()?;
        let Some(bearer) = bearer else { return Ok(None) };
        let kept =
            kept.filter(|kept| kept.matches_secret(&bearer.secret)).ok_or_else(unknown_token)?;
        kept.token.check_valid(now)?;
        let id = kept.token.id;
        if kept.token.last_used.is_none_or(|used| now.duration_since(used) >= LAST_USED_INTERVAL)
            && let Err(error) = self.store.write(move |tx| tx.use_token(id, now))
        {
            tracing::warn!(%error, token = %id, "could not record the use of a token");
        }
        Ok(Some(kept.token))
    }

    /// The token with this id, if it is valid: its holder proved it before.
    ///
    /// # Errors
    /// `unauthenticated` if it is unknown, revoked or expired; `unavailable` if the store cannot be
    /// read.
    pub fn valid_token(&self, id: TokenId) -> Result<Token> {
        let kept = self.store.read(|tx| tx.token(id))?.ok_or_else(unknown_token)?;
        kept.token.check_valid(self.clock.now())?;
        Ok(kept.token)
    }

    /// Checks again a caller over HTTP that was authenticated before.
    ///
    /// # Errors
    /// `unauthenticated` if its token is not valid any more, or if it has none and tokens exist
    /// now; `unavailable` if the store cannot be read.
    pub fn recheck_token(&self, caller: &Caller) -> Result<()> {
        let id = match &caller.proof {
            CallerProof::Token { id, .. } => Some(*id),
            CallerProof::Word => None,
        };
        let (kept, tokens) = self.store.read(|tx| match id {
            Some(id) => Ok((tx.token(id)?, true)),
            None => Ok((None, tx.has_tokens()?)),
        })?;
        AccessAttempt { shown: id.is_some(), tokens, exposed: false }.judge()?;
        match id {
            Some(_) => kept.ok_or_else(unknown_token)?.token.check_valid(self.clock.now()),
            None => Ok(()),
        }
    }

    /// Creates a token that identifies an agent. The holder of a token for one workspace can
    /// create, list and revoke tokens of that workspace only.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator of that workspace; `invalid` with the
    /// field.
    pub fn create_token(&self, caller: &Caller, request: &CreateToken) -> Result<NewToken> {
        access::require_scope(caller, TokenScope::Admin)?;
        let now = self.clock.now();
        let mut token = request.token(TokenId::new(&*self.ids, now), now)?;
        if caller.proof.is_bound() {
            let workspace = token.workspace.get_or_insert_with(|| caller.workspace.clone());
            access::may_write_in(caller, workspace)
                .map_err(|error| error.with_field("workspace"))?;
        }
        self.issue(token.id, move |_| Ok(token.clone()))
    }

    /// Every token, without its secret.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator.
    pub fn list_tokens(&self, caller: &Caller, _request: &ListTokens) -> Result<TokenList> {
        access::require_scope(caller, TokenScope::Admin)?;
        let mut items = self.store.read(|tx| tx.tokens())?;
        items.retain(|token| administers(caller, token));
        Ok(TokenList { items })
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator, `not_found`, `conflict` if the token was
    /// revoked before.
    pub fn revoke_token(&self, caller: &Caller, request: &RevokeToken) -> Result<Token> {
        access::require_scope(caller, TokenScope::Admin)?;
        let (id, now, caller) = (request.token_id, self.clock.now(), caller.clone());
        self.store.write(move |tx| {
            let mut kept = find_token(tx, &caller, id)?;
            if kept.token.revoked_at.is_some() {
                return Err(Error::conflict(format!("token {id} was revoked before")));
            }
            kept.token.revoked_at = Some(now);
            tx.put_token(&kept)?;
            Ok(kept.token)
        })
    }

    /// Gives a token a new secret.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator, `not_found`, `conflict` if the token was
    /// revoked.
    pub fn rotate_token(&self, caller: &Caller, request: &RotateToken) -> Result<NewToken> {
        access::require_scope(caller, TokenScope::Admin)?;
        let (id, caller) = (request.token_id, caller.clone());
        self.issue(id, move |tx| {
            let kept = find_token(tx, &caller, id)?;
            match kept.token.revoked_at {
                None => Ok(kept.token),
                Some(_) => Err(Error::conflict(format!("token {id} was revoked"))
                    .hint("Create another with `commonbook token create`.")),
            }
        })
    }

    /// Stores a token with a new secret.
    fn issue(
        &self,
        id: TokenId,
        mut token: impl FnMut(&mut Tx<'_>) -> Result<Token> + Send + 'static,
    ) -> Result<NewToken> {
        let bearer = BearerToken::new(id, &*self.ids)?;
        let (secret, secret_sha256) = (bearer.text(), sha256(&bearer.secret));
        let token = self.store.write(move |tx| {
            let token = token(tx)?;
            let kept = TokenRecord { token, secret_sha256: secret_sha256.clone() };
            tx.put_token(&kept)?;
            Ok(kept.token)
        })?;
        Ok(NewToken { token, secret })
    }
}

/// Whether the caller, an administrator, administers the workspace of this token.
pub(in crate::verbs) fn administers(caller: &Caller, token: &Token) -> bool {
    !caller.proof.is_bound() || token.workspace.as_ref() == Some(&caller.workspace)
}

pub(in crate::verbs) fn find_token(
    tx: &Tx<'_>,
    caller: &Caller,
    id: TokenId,
) -> Result<TokenRecord> {
    tx.token(id)?.filter(|kept| administers(caller, &kept.token)).ok_or_else(|| {
        Error::not_found(format!("no token {id} exists")).hint("See `commonbook token list`.")
    })
}
