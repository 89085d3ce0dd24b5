//! The address of an endpoint, with the model and the key.

use std::fmt;

use ureq::http::Uri;

use crate::error::{EmbedError, EmbedResult};

/// The purpose of an endpoint, and the names of its settings.
#[derive(Debug, PartialEq, Eq)]
pub struct EndpointPurpose {
    /// The end of the path of requests, after the version.
    pub path: &'static str,
    /// The field of an error about the address.
    pub field: &'static str,
    /// The setting with the address and the model.
    pub setting: &'static str,
    /// The format of the setting, as a hint.
    pub example: &'static str,
    /// The environment variable of the key.
    pub key: &'static str,
    /// What works without the endpoint.
    pub otherwise: &'static str,
}

/// The address of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAddress {
    url: String,
    loopback: bool,
    /// The endpoint's name of the model.
    pub model: String,
    /// The key, if the endpoint needs one.
    pub key: Option<ApiKey>,
    /// The purpose of the endpoint.
    pub purpose: &'static EndpointPurpose,
}

impl EndpointAddress {
    /// Parses a base URL, `http(s)://HOST[:PORT][/PATH]`, for the model of a name.
    ///
    /// # Errors
    /// `invalid` for any other URL; the error does not repeat it, because it may contain a password.
    pub fn read(base: &str, model: &str, purpose: &'static EndpointPurpose) -> EmbedResult<Self> {
        let wrong = |what: &str| Err(purpose.address_error(what));
        let uri: Uri =
            base.parse().map_err(|_| purpose.address_error("the address is not a URL"))?;
        let Some(authority) = uri.authority() else { return wrong("the address has no host") };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return wrong("the address is neither http nor https");
        }
        if authority.as_str().contains('@') || uri.query().is_some() {
            return wrong("the address contains a user, a password or a query");
        }
        let is_odd_port = authority.as_str() != authority.host() && authority.port_u16().is_none();
        if is_odd_port || authority.host().is_empty() {
            return wrong("the address has no host, or its port is not a number");
        }
        if model.trim().is_empty() {
            return wrong("the setting names no model");
        }
        let loopback = is_loopback(authority.host());
        let (url, model) = (full_url(base, purpose.path), model.trim().to_owned());
        Ok(Self { url, loopback, model, key: None, purpose })
    }

    /// Sets the key; a blank key removes it.
    ///
    /// # Errors
    /// `invalid` if the key has characters that a header cannot contain.
    pub fn with_key(self, key: Option<&str>) -> EmbedResult<Self> {
        let key = key.map(str::trim).filter(|key| !key.is_empty());
        let key = key.map(|key| ApiKey::read(key, self.purpose)).transpose()?;
        Ok(Self { key, ..self })
    }

    /// Returns the URL of requests: the base, the version `/v1` unless the base ends in a version,
    /// and the path of the purpose.
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
    /// Creates an error about the address.
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

/// A key that only the endpoint receives; its debug output is hidden.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    bearer: String,
}

impl ApiKey {
    fn read(text: &str, purpose: &EndpointPurpose) -> EmbedResult<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let hint = format!("Set {} to the key alone, without quotes or blanks.", purpose.key);
            let what = "the key has characters that no key has";
            return Err(EmbedError::invalid(&format!("{}_key", purpose.field), what).hint(hint));
        }
        Ok(Self { bearer: format!("Bearer {text}") })
    }

    /// The value of the `Authorization` header.
    pub(super) fn bearer(&self) -> &str {
        &self.bearer
    }

    /// Removes the key from a text in which an endpoint may have repeated it.
    pub(super) fn hide_key(&self, text: &str) -> String {
        text.replace(self.bearer.trim_start_matches("Bearer "), "(the key)")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}
