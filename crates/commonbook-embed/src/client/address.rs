//! Where an endpoint is, which model is asked for, and with which key.

use std::fmt;

use ureq::http::Uri;

use crate::error::{EmbedError, EmbedResult};

/// What endpoints are asked for in one place, and what the settings for it are called there.
#[derive(Debug, PartialEq, Eq)]
pub struct EndpointPurpose {
    /// The end of the path that requests go to, after the version.
    pub path: &'static str,
    /// The field that is wrong where the address is.
    pub field: &'static str,
    /// Where the address and the model stand.
    pub setting: &'static str,
    /// How they are written there, as a hint.
    pub example: &'static str,
    /// The environment variable of the key.
    pub key: &'static str,
    /// What goes on without an answer.
    pub otherwise: &'static str,
}

/// Where an endpoint is, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAddress {
    url: String,
    loopback: bool,
    /// The name of the model, as the endpoint knows it.
    pub model: String,
    /// The key, where the endpoint asks for one.
    pub key: Option<ApiKey>,
    /// What it is asked for.
    pub purpose: &'static EndpointPurpose,
}

impl EndpointAddress {
    /// Reads a base, `http(s)://HOST[:PORT][/PATH]`, and the name of a model there.
    ///
    /// # Errors
    /// `invalid` for what is no such address; it is not repeated, as it may have a password in it.
    pub fn read(base: &str, model: &str, purpose: &'static EndpointPurpose) -> EmbedResult<Self> {
        let wrong = |what: &str| Err(purpose.address_error(what));
        let uri: Uri = base.parse().map_err(|_| purpose.address_error("the address is not one"))?;
        let Some(authority) = uri.authority() else { return wrong("the address has no host") };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return wrong("the address is neither http nor https");
        }
        if authority.as_str().contains('@') || uri.query().is_some() {
            return wrong("the address has a user, a password or a query in it");
        }
        let is_odd_port = authority.as_str() != authority.host() && authority.port_u16().is_none();
        if is_odd_port || authority.host().is_empty() {
            return wrong("the address has no host, or its port is no number");
        }
        if model.trim().is_empty() {
            return wrong("it names no model");
        }
        let loopback = is_loopback(authority.host());
        let (url, model) = (full_url(base, purpose.path), model.trim().to_owned());
        Ok(Self { url, loopback, model, key: None, purpose })
    }

    /// The same with this key; a blank one is none.
    ///
    /// # Errors
    /// `invalid` when it has signs that a header cannot carry.
    pub fn with_key(self, key: Option<&str>) -> EmbedResult<Self> {
        let key = key.map(str::trim).filter(|key| !key.is_empty());
        let key = key.map(|key| ApiKey::read(key, self.purpose)).transpose()?;
        Ok(Self { key, ..self })
    }

    /// The address that requests go to: the base with a version (`/v1`) behind unless it ends in one
    /// already, and the path of what is asked for.
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

impl EndpointPurpose {
    /// That the address is wrong in this way.
    pub(crate) fn address_error(&self, what: &str) -> EmbedError {
        EmbedError::invalid(self.field, what).hint(self.example)
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn full_url(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with(&format!("/{path}")) {
        return base.to_owned();
    }
    let last = base.rsplit('/').next().unwrap_or_default();
    let number = last.strip_prefix('v').map(str::parse::<u32>);
    match number {
        Some(Ok(_)) => format!("{base}/{path}"),
        _ => format!("{base}/v1/{path}"),
    }
}

/// A key that is shown to nobody but the endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    bearer: String,
}

impl ApiKey {
    fn read(text: &str, purpose: &EndpointPurpose) -> EmbedResult<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let hint = format!("Set {} to the key alone, without quotes or blanks.", purpose.key);
            let what = "it has signs that no key has";
            return Err(EmbedError::invalid(&format!("{}_key", purpose.field), what).hint(hint));
        }
        Ok(Self { bearer: format!("Bearer {text}") })
    }

    /// The value of the `Authorization` header.
    pub(super) fn bearer(&self) -> &str {
        &self.bearer
    }

    /// The same text without the key, should an endpoint repeat it.
    pub(super) fn hide_key(&self, text: &str) -> String {
        text.replace(self.bearer.trim_start_matches("Bearer "), "(the key)")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}
