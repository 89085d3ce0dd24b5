//! The origin of a request: its host, the web page that sent it, and the type of its body.

use std::net::{IpAddr, SocketAddr};

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use commonbook::base::error::{Error, ErrorKind, Result};

/// The name of the setting, in errors and documents.
const HOSTS_SETTING: &str = "COMMONBOOK_HOSTS";

/// The header by which a browser describes the page that sent a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The paths that a link of another site may open.
const LINKABLE_PATHS: [&str; 2] = ["/", "/docs"];

/// The host names of this server.
#[derive(Debug, Clone)]
pub(crate) struct AllowedHosts {
    address: SocketAddr,
    named: Vec<HostName>,
}

/// A host name, with a port if only that port is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostName {
    name: String,
    port: Option<u16>,
}

impl AllowedHosts {
    /// The host names of a server at this address: its loopback names, and those of the setting, a list
    /// of `HOST` or `HOST:PORT` with commas.
    ///
    /// # Errors
    /// `invalid` if the setting contains a name that is not a host.
    pub(crate) fn new(address: SocketAddr, setting: Option<&str>) -> Result<Self> {
        let named = setting.into_iter().flat_map(|setting| setting.split(','));
        let named = named.map(|text| {
            let authority = text.trim().parse::<Authority>().ok();
            let host = authority.filter(|host| !host.as_str().contains(['@', '*']));
            host.map(|host| HostName { name: normalized_host(&host), port: host.port_u16() })
                .ok_or_else(|| {
                    Error::invalid(HOSTS_SETTING, "a part of it is no host name")
                        .hint("Write host names with commas: book.example,localhost:8080.")
                })
        });
        Ok(Self { address, named: named.collect::<Result<_>>()? })
    }

    /// Whether other machines can reach the server.
    pub(crate) fn is_exposed(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Whether this host is a name of the server.
    fn admits(&self, host: &Authority) -> bool {
        let (name, port) = (normalized_host(host), host.port_u16().unwrap_or(80));
        let is_named =
            |known: &HostName| known.name == name && known.port.is_none_or(|known| known == port);
        let local = ["localhost", "127.0.0.1", "::1"].contains(&name.as_str())
            || name.parse() == Ok(self.address.ip());
        (self.is_exposed() && self.named.is_empty())
            || self.named.iter().any(is_named)
            || (local && port == self.address.port())
    }

    /// Refuses requests of foreign web pages: with a Host that is not this server (DNS rebinding), with a
    /// foreign Origin, or with a Sec-Fetch-Site of another site.
    ///
    /// # Errors
    /// `forbidden`.
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        let headers = request.headers();
        let Some(host) = authority(headers, request.uri()) else {
            return Err(foreign_origin_error("the request has no valid Host header"));
        };
        if !self.admits(&host) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                format!("the Host {host} is not a name of this server"),
            )
            .hint(format!(
                "Call http://{}, or add the host to {HOSTS_SETTING} of the server.",
                self.address
            )));
        }
        if let Some(site) = headers.get(FETCH_SITE)
            && !["same-origin", "none"].iter().any(|own| site == own)
            && !LINKABLE_PATHS.contains(&request.uri().path())
        {
            return Err(foreign_origin_error("a page of another site sent this request"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
        let Some(origin) = origin.and_then(|uri| uri.authority().cloned()) else {
            return Err(foreign_origin_error("the Origin is not on this machine"));
        };
        // A page of this server may call it, under each of its names.
        if is_this_machine(origin.host()) || self.is_exposed() && host == origin {
            return Ok(());
        }
        Err(foreign_origin_error(format!("the Origin {} is not on this machine", origin.host())))
    }
}

/// The host of a request; `None` unless it names exactly one valid host.
pub(super) fn authority(headers: &HeaderMap, uri: &Uri) -> Option<Authority> {
    let mut named = headers.get_all(header::HOST).iter();
    let authority = match (named.next(), named.next()) {
        (None, _) => uri.authority().cloned(),
        (Some(name), None) => name.to_str().ok()?.parse().ok(),
        (Some(_), Some(_)) => None,
    };
    authority.filter(|authority: &Authority| !authority.as_str().contains('@'))
}

/// Whether the body of a request is JSON or empty. A foreign page cannot send JSON without a preflight
/// request.
pub(super) fn is_json(request: &Request) -> bool {
    let path = request.uri().path();
    let takes_body = [Method::POST, Method::PATCH].contains(request.method());
    if !takes_body || !["/v1/", "/mcp"].iter().any(|door| path.starts_with(door)) {
        return true;
    }
    let mut forms = request.headers().get_all(header::CONTENT_TYPE).iter();
    match (forms.next(), forms.next()) {
        (None, _) => request.body().is_end_stream(),
        (Some(form), None) => form.to_str().is_ok_and(|form| {
            let essence = form.split(';').next().unwrap_or_default();
            essence.trim().eq_ignore_ascii_case("application/json")
        }),
        (Some(_), Some(_)) => false,
    }
}

/// The error of a body that is not JSON.
pub(super) fn not_json_error() -> Error {
    Error::invalid("content-type", "the body must have the content type application/json")
        .hint("Send the header `Content-Type: application/json`.")
}

fn foreign_origin_error(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Forbidden, reason)
        .hint("Call the server from a program or from a page of this machine.")
}

/// The name of a host in lower case, without the brackets of an address.
fn normalized_host(host: &Authority) -> String {
    host.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn admits(address: &str, setting: Option<&str>, host: &str) -> bool {
        let hosts = AllowedHosts::new(address.parse().unwrap(), setting).unwrap();
        host.parse().is_ok_and(|host| hosts.admits(&host))
    }

    #[test]
    fn a_server_accepts_its_own_names_with_its_own_port() {
        let own = ["127.0.0.1:7077", "localhost:7077", "LocalHost:7077", "[::1]:7077"];
        let foreign = [
            "127.0.0.1",
            "localhost",
            "localhost:80",
            "localhost:7078",
            "evil.example:7077",
            "localhost.evil.example:7077",
            "127.0.0.1.evil.example:7077",
            "127.0.0.2:7077",
            "localhost.:7077",
            "0.0.0.0:7077",
            "127.1:7077",
        ];
        assert!(own.iter().all(|host| admits("127.0.0.1:7077", None, host)));
        for host in foreign {
            assert!(!admits("127.0.0.1:7077", None, host), "{host}");
        }
        assert!(admits("127.0.0.1:80", None, "localhost"));
    }

    #[test]
    fn a_setting_adds_hosts_and_closes_an_exposed_server_to_others() {
        let setting = Some("book.example, tunnel.example:8080");
        for address in ["127.0.0.1:7077", "0.0.0.0:7077"] {
            for (host, admitted) in [
                ("book.example", true),
                ("BOOK.example:9000", true),
                ("tunnel.example:8080", true),
                ("tunnel.example", false),
                ("evil.example", false),
                ("localhost:7077", true),
            ] {
                assert_eq!(admits(address, setting, host), admitted, "{address} {host}");
            }
        }
        assert!(
            admits("0.0.0.0:7077", None, "any.example:1"),
            "without a setting any name is accepted"
        );
        for wrong in ["", "a b", "book.example,", "me@book.example", "*.example"] {
            let error = AllowedHosts::new("127.0.0.1:1".parse().unwrap(), Some(wrong)).unwrap_err();
            assert_eq!(error.field.as_deref(), Some(HOSTS_SETTING), "{wrong:?}");
        }
    }

    fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &'static str) -> Request {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from(body)).unwrap()
    }

    #[test]
    fn a_page_of_another_site_may_only_link_to_the_documents() {
        let hosts = AllowedHosts::new("127.0.0.1:7077".parse().unwrap(), None).unwrap();
        let let_in = |path: &str, site: &str| {
            let headers = [("host", "127.0.0.1:7077"), ("sec-fetch-site", site)];
            hosts.check(&request("GET", path, &headers, "")).is_ok()
        };
        for site in ["cross-site", "same-site", "anything"] {
            assert!(!let_in("/v1/changes", site) && !let_in("/health", site), "{site}");
            assert!(let_in("/", site) && let_in("/docs", site), "a link may lead there");
        }
        assert!(let_in("/v1/changes", "same-origin") && let_in("/v1/changes", "none"));
        for headers in [&[][..], &[("host", "127.0.0.1:7077"), ("host", "127.0.0.1:7077")]] {
            assert!(hosts.check(&request("GET", "/v1/stats", headers, "")).is_err());
        }
    }

    #[test]
    fn a_body_is_json_and_says_so() {
        let taken = |form: Option<&str>, body| {
            let headers: Vec<_> = form.map(|form| ("content-type", form)).into_iter().collect();
            let both = ["/v1/memories", "/mcp"];
            both.map(|path| is_json(&request("POST", path, &headers, body)))
        };
        for form in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(taken(Some(form), "{}"), [true; 2], "{form}");
        }
        for form in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"] {
            assert_eq!(taken(Some(form), "{}"), [false; 2], "{form}");
            assert_eq!(taken(Some(form), ""), [false; 2], "{form}");
        }
        assert_eq!((taken(None, "{}"), taken(None, "")), ([false; 2], [true; 2]));
        assert!(is_json(&request("GET", "/v1/memories", &[], "")));
    }
}
