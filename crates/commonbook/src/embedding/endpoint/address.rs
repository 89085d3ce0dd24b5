//! Where an endpoint is, which model is asked for, and with which key.

use std::fmt;
use std::str::FromStr;

use ureq::http::Uri;

use super::DIMENSIONS;
use crate::error::{Error, Result};

/// Where an endpoint is and what is asked of it. Written `http(s)://HOST[:PORT][/PATH]#MODEL`, with
/// `&dimensions=N` behind when the model can be asked for shorter vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    loopback: bool,
    /// The name of the model, as the endpoint knows it.
    pub model: String,
    /// The key, where the endpoint asks for one.
    pub key: Option<Key>,
    /// How many numbers a vector shall have, where the model has a choice; none for its own number.
    pub dimensions: Option<usize>,
}

impl Address {
    /// The address that requests go to: the base with `/v1/embeddings` behind, or with
    /// `/embeddings` when it ends in a version (`/v1`) already.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the endpoint runs on this machine.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        self.loopback
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (base, fragment) = text.split_once('#').unwrap_or((text, ""));
        let uri: Uri = base.parse().map_err(|_| wrong("the address is not one"))?;
        let authority = uri.authority().ok_or_else(|| wrong("the address has no host"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("the address is neither http nor https"));
        }
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(wrong("the address has a user, a password or a query in it"));
        }
        let is_odd_port = authority.as_str() != authority.host() && authority.port_u16().is_none();
        if is_odd_port || authority.host().is_empty() {
            return Err(wrong("the address has no host, or its port is no number"));
        }
        let (model, dimensions) = match fragment.split_once("&dimensions=") {
            Some((model, number)) => {
                let number = number.parse().ok().filter(|number| (1..=DIMENSIONS).contains(number));
                let number =
                    number.ok_or_else(|| wrong("the dimensions are no number up to 16384"))?;
                (model, Some(number))
            }
            None => (fragment, None),
        };
        if model.trim().is_empty() {
            return Err(wrong("the address names no model after a #"));
        }
        let loopback = is_loopback(authority.host());
        let (url, model) = (full(base), model.trim().to_owned());
        Ok(Self { url, loopback, model, key: None, dimensions })
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn full(base: &str) -> String {
    let base = base.trim_end_matches('/');
    let last = base.rsplit('/').next().unwrap_or_default();
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    match last {
        "embeddings" => base.to_owned(),
        version if is_version(version) => format!("{base}/embeddings"),
        _ => format!("{base}/v1/embeddings"),
    }
}

// The address is not repeated: it may have a password in it.
fn wrong(what: &str) -> Error {
    Error::invalid("embedder", what).hint(
        "Write http://HOST:PORT#MODEL into COMMONBOOK_EMBEDDER, and the key, if there is one, into \
         COMMONBOOK_EMBEDDER_KEY.",
    )
}

/// A key that is shown to nobody but the endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    bearer: String,
}

impl Key {
    /// The value of the `Authorization` header.
    pub(super) fn bearer(&self) -> &str {
        &self.bearer
    }

    /// The same text without the key, should an endpoint repeat it.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        text.replace(self.bearer.trim_start_matches("Bearer "), "(the key)")
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid("embedder_key", "it is blank or has signs that no key has")
                .hint("Set COMMONBOOK_EMBEDDER_KEY to the key alone, without quotes or blanks."));
        }
        Ok(Self { bearer: format!("Bearer {text}") })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}
