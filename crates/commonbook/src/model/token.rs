//! Tokens: the proof of an agent's identity over HTTP.
//!
//! A token is shown once, when it is created. Commonbook stores the SHA-256 of its 256 random bits;
//! a salt or a slow hash is not needed, because 256 random bits cannot be guessed.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::base::clock::whole_milliseconds;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::{IdSource, TokenId};
use crate::model::agent::{Agent, AgentName};
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

/// The prefix of every token.
const TOKEN_PREFIX: &str = "cbk_";

string_enum! {
    /// What a token permits.
    TokenScope {
        /// Read what its agent may see.
        Read = "read",
        /// Save, change and delete what its agent may.
        Write = "write",
        /// Administer, as a person at the command line: review and release quarantined memories.
        Admin = "admin",
        /// Run a client's hooks: receive context and save learnings.
        Hook = "hook",
    }
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// The agent that it proves.
    pub agent: Agent,
    /// What it permits.
    pub scopes: Vec<TokenScope>,
    /// The only workspace that it opens besides `global`; `null` for all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workspace: Option<Workspace>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revoked_at: Option<Timestamp>,
}

/// A token as stored: with the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// The token.
    pub token: Token,
    /// The SHA-256 of its secret, in hexadecimal.
    pub secret_sha256: String,
}

impl TokenRecord {
    /// Compares the secret in constant time.
    #[must_use]
    pub fn matches_secret(&self, secret: &str) -> bool {
        self.secret_sha256.as_bytes().ct_eq(sha256(secret).as_bytes()).into()
    }
}

impl Token {
    /// Checks that it is valid at this time.
    ///
    /// # Errors
    /// `unauthenticated` if it was revoked or has expired.
    pub fn check_valid(&self, now: Timestamp) -> Result<()> {
        let over = match (self.revoked_at, self.expires_at) {
            (Some(_), _) => "was revoked",
            (None, Some(end)) if end <= now => "has expired",
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::Unauthenticated, format!("the token {over}"))
            .hint("Create another with `commonbook token create`."))
    }
}

/// The text that a caller sends: the token's id and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken {
    /// The token's id.
    pub id: TokenId,
    /// The secret, 64 hexadecimal digits.
    pub secret: String,
}

impl BearerToken {
    /// A new secret for this token.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub fn new(id: TokenId, ids: &dyn IdSource) -> Result<Self> {
        let secret = ids.secret()?.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { id, secret })
    }

    /// Parses the text that a caller sends.
    ///
    /// # Errors
    /// `unauthenticated` if it is not a token. The error does not repeat the text.
    pub fn read(text: &str) -> Result<Self> {
        let parts = text.strip_prefix(TOKEN_PREFIX).and_then(|rest| rest.split_once('_'));
        let bearer = parts.and_then(|(id, secret)| {
            Some(Self { id: format!("tok_{id}").parse().ok()?, secret: secret.to_owned() })
        });
        bearer.ok_or_else(unknown_token)
    }

    /// The text of the token, to be shown once.
    #[must_use]
    pub fn text(&self) -> String {
        let id = self.id.to_string();
        format!("{TOKEN_PREFIX}{}_{}", id.trim_start_matches("tok_"), self.secret)
    }
}

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bearer").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The error for an unknown token. It does not say whether the id or the secret is wrong.
#[must_use]
pub fn unknown_token() -> Error {
    Error::new(ErrorKind::Unauthenticated, "this token does not exist")
        .hint("See the tokens with `commonbook token list`, and send one as `Authorization: Bearer TOKEN`.")
}

/// Creates a token that proves an agent over HTTP. Once a token exists, every HTTP call needs one.
/// The response shows the secret, which cannot be shown again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// The name of the agent. The token also proves the agent's children.
    pub agent_name: String,
    /// What it permits: read, write, admin, hook; read and write by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<TokenScope>,
    /// The only workspace that it opens besides global; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// When it expires: a duration (`30d`, `12h`), the end of a day (`2027-01-01`) or a time (`2027-01-01T00:00:00Z`); never by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl CreateToken {
    /// The token of this request.
    ///
    /// # Errors
    /// `invalid` for a reserved or malformed name, and for a time that is malformed or in the past.
    pub fn token(&self, id: TokenId, now: Timestamp) -> Result<Token> {
        let name =
            self.agent_name.parse::<AgentName>().map_err(|error| error.with_field("agent_name"))?;
        let mut scopes = self.scopes.clone();
        if scopes.is_empty() {
            scopes = vec![TokenScope::Read, TokenScope::Write];
        }
        scopes.sort_unstable();
        scopes.dedup();
        Ok(Token {
            id,
            agent: name.agent,
            scopes,
            workspace: self.workspace.clone(),
            created_at: now,
            expires_at: self.expires.as_deref().map(|text| parse_expiry(text, now)).transpose()?,
            last_used: None,
            revoked_at: None,
        })
    }
}

/// Parses a duration from now, or a time.
fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp> {
    let in_time = |span: Span| now.to_zoned(TimeZone::UTC).checked_add(span).ok();
    let end = match text.parse::<Timestamp>() {
        Ok(end) => Some(end),
        Err(_) => match text.parse::<Date>() {
            Ok(day) => end_of_day(day, &TimeZone::UTC),
            Err(_) => text.parse::<Span>().ok().and_then(in_time).map(|zoned| zoned.timestamp()),
        },
    };
    let end = end.ok_or_else(|| {
        Error::invalid(
            "expires",
            "expected a duration such as 30d or 12h, a day such as 2027-01-01, or a time such as \
             2027-01-01T00:00:00Z",
        )
    })?;
    if end <= now {
        return Err(Error::invalid("expires", "is in the past"));
    }
    Ok(whole_milliseconds(end))
}

/// The expiry that a day of a zone means, which other doors read as a day in UTC; `None` if the text is no day.
#[must_use]
pub fn expiry_in_zone(text: &str, zone: &TimeZone) -> Option<String> {
    end_of_day(text.parse().ok()?, zone).map(|end| end.to_string())
}

/// The end of a day, which is the beginning of the next one.
fn end_of_day(day: Date, zone: &TimeZone) -> Option<Timestamp> {
    Some(day.tomorrow().ok()?.to_zoned(zone.clone()).ok()?.timestamp())
}

/// Lists all tokens, newest first, without their secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {}

/// All tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// The tokens, newest first.
    pub items: Vec<Token>,
}

/// Revokes a token: it is invalid from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// The token's id, from the list of tokens.
    pub token_id: TokenId,
}

/// Replaces the secret of a token. The old secret is invalid at once; nothing else changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateToken {
    /// The token's id, from the list of tokens.
    pub token_id: TokenId,
}

/// A token with its secret, which is shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewToken {
    /// The token.
    pub token: Token,
    /// The secret, to be sent as `Authorization: Bearer SECRET`.
    pub secret: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{CountingIds, RandomIds};

    fn token(request: &CreateToken) -> Result<Token> {
        request.token(
            TokenId::new(&CountingIds::default(), Timestamp::UNIX_EPOCH),
            Timestamp::UNIX_EPOCH,
        )
    }

    #[test]
    fn a_shown_token_can_be_parsed() {
        let id = TokenId::new(&RandomIds::default(), Timestamp::UNIX_EPOCH);
        let bearer = BearerToken::new(id, &RandomIds::default()).unwrap();
        assert_eq!((bearer.secret.len(), bearer.text().len()), (64, 95));
        assert_eq!(BearerToken::read(&bearer.text()).unwrap(), bearer);
        assert!(!format!("{bearer:?}").contains(&bearer.secret));
        let foreign = BearerToken::new(id, &RandomIds::default()).unwrap();
        assert_ne!(foreign.secret, bearer.secret);
        for wrong in ["", "cbk_", "cbk_x_y", "tok_", &bearer.secret, &bearer.text()[1..]] {
            let error = BearerToken::read(wrong).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unauthenticated, "{wrong:?}");
            assert!(wrong.is_empty() || !error.message.contains(wrong));
        }
    }

    #[test]
    fn a_secret_matches_only_its_own_token() {
        let token = token(&CreateToken { agent_name: "rook".into(), ..CreateToken::default() });
        let kept = TokenRecord { token: token.unwrap(), secret_sha256: sha256("right") };
        assert!(kept.matches_secret("right"));
        assert!(!kept.matches_secret("wrong") && !kept.matches_secret(&kept.secret_sha256));
    }

    #[test]
    fn requests_are_checked() {
        let named = |name: &str| CreateToken { agent_name: name.into(), ..CreateToken::default() };
        let made = token(&named("Rook Agent")).unwrap();
        assert_eq!((made.agent.as_str(), made.expires_at), ("rook", None));
        assert_eq!(made.scopes, [TokenScope::Read, TokenScope::Write]);
        for bad in ["", "human", "a//b"] {
            let error = token(&named(bad)).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("agent_name"), "{bad:?}");
        }
        let until = |text: &str| {
            token(&CreateToken { expires: Some(text.into()), ..named("rook") })
                .map(|token| token.expires_at)
        };
        let day = Timestamp::from_second(86_400).ok();
        assert_eq!(until("1d").unwrap(), day);
        assert_eq!(until("24h").unwrap(), day);
        assert_eq!(until("1970-01-02T00:00:00Z").unwrap(), day);
        assert_eq!(until("1970-01-01").unwrap(), day);
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(expiry_in_zone("1970-01-02", &zone).as_deref(), Some("1970-01-02T22:00:00Z"));
        for text in ["30d", "1970-01-02T00:00:00Z", "soon", "1970-13-01"] {
            assert_eq!(expiry_in_zone(text, &zone), None, "{text}");
        }
        for bad in [
            "soon",
            "",
            "-1d",
            "0d",
            "1969-01-01T00:00:00Z",
            "999999999999d",
            "1969-12-31",
            "2027-02-30",
        ] {
            assert_eq!(until(bad).unwrap_err().field.as_deref(), Some("expires"), "{bad:?}");
        }
    }

    #[test]
    fn a_token_is_valid_until_revoked_or_expired() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let made = token(&CreateToken {
            agent_name: "rook".into(),
            expires: Some("10s".into()),
            ..CreateToken::default()
        });
        let made = made.unwrap();
        assert!(made.check_valid(at(9)).is_ok());
        assert_eq!(made.check_valid(at(10)).unwrap_err().kind, ErrorKind::Unauthenticated);
        let revoked = Token { revoked_at: Some(at(1)), ..made };
        assert!(revoked.check_valid(at(2)).is_err());
    }
}
