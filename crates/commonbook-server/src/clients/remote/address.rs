//! The address of a server, and which clients and projects of this home use which one.
//! `servers.json` in the home, with mode 0600, because it can hold tokens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use ureq::http::{HeaderName, HeaderValue, Uri};

use crate::settings::config::Config;
use crate::system::atomic::{self, StagedFile};
use crate::system::secret_string::SecretString;

/// The header of a token.
const AUTHORIZATION: &str = "authorization";

/// The address of a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerAddress {
    /// The base URL, without `/mcp`.
    pub(crate) url: String,
    /// Headers of each request, by their names in lower case: a token, or what a proxy needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// The agent that the client works as, if not under its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
}

/// The servers that clients and projects use.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ServerMap {
    /// By the client that a user has set up: `claude-code`.
    pub(crate) clients: BTreeMap<String, ServerAddress>,
    /// By the root of a project that a user has set up.
    pub(crate) projects: BTreeMap<PathBuf, ServerAddress>,
}

impl ServerAddress {
    /// The address at this URL. `/mcp` at its end is left out.
    ///
    /// # Errors
    /// `invalid` unless it is `http(s)://HOST[:PORT][/PATH]`; the error does not repeat it, because it
    /// may contain a password.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let wrong = |reason: &str| {
            Error::invalid("url", reason).hint("Write it like `https://book.example`.")
        };
        let uri: Uri = url.trim().parse().map_err(|_| wrong("the address is not a URL"))?;
        let authority = uri.authority().ok_or_else(|| wrong("the address has no host"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("the address is neither http nor https"));
        }
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(wrong("the address contains a user, a password or a query"));
        }
        let base = url.trim().trim_end_matches('/');
        let base = base.strip_suffix("/mcp").unwrap_or(base).trim_end_matches('/');
        Ok(Self { url: base.to_owned(), headers: BTreeMap::new(), agent: None })
    }

    /// The address with these headers.
    ///
    /// # Errors
    /// `invalid` for what is not a header.
    pub(crate) fn with_headers(mut self, headers: Vec<(String, String)>) -> Result<Self> {
        for (name, value) in headers {
            let fits = HeaderName::try_from(&name).is_ok() && HeaderValue::try_from(&value).is_ok();
            if !fits {
                return Err(Error::invalid("header", format!("{name:?} is not a valid header")));
            }
            self.headers.insert(name.to_ascii_lowercase(), value);
        }
        Ok(self)
    }

    /// The address with this token, unless it has one.
    pub(crate) fn with_token(mut self, token: Option<&SecretString>) -> Self {
        if let Some(SecretString(token)) = token {
            let bearer = || format!("Bearer {token}");
            self.headers.entry(AUTHORIZATION.to_owned()).or_insert_with(bearer);
        }
        self
    }

    /// Whether requests carry a token.
    pub(crate) fn has_token(&self) -> bool {
        self.headers.contains_key(AUTHORIZATION)
    }

    /// Whether the server runs on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let uri = self.url.parse::<Uri>().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// The address that this process uses: `COMMONBOOK_URL`, else that of the project, else that of the
    /// client. `None` is the home.
    ///
    /// # Errors
    /// As [`Self::parse`] and [`ServerMap::read`].
    pub(crate) fn of(config: &Config, client: Option<&str>) -> Result<Option<Self>> {
        let found = match &config.url {
            Some(url) => Some(Self::parse(url)?),
            None => match &config.home {
                Some(home) => {
                    let map = ServerMap::read(home)?;
                    let root = if map.projects.is_empty() { None } else { config.project_root() };
                    let project = root.and_then(|root| map.projects.get(&root));
                    project.or_else(|| client.and_then(|client| map.clients.get(client))).cloned()
                }
                None => None,
            },
        };
        Ok(found.map(|address| address.with_token(config.token.as_ref())))
    }

    /// The address as [`Self::of`], and the configuration with the name that the client has there.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn with_name(
        config: Config,
        client: Option<&str>,
    ) -> Result<(Option<Self>, Config)> {
        let address = Self::of(&config, client)?;
        let name = address.as_ref().and_then(|address| address.agent.clone());
        let agent = config.agent.clone().or(name);
        Ok((address, Config { agent, ..config }))
    }
}

impl ServerMap {
    /// The map of this home; empty if there is none.
    ///
    /// # Errors
    /// As [`atomic::read`], and `conflict` if it is damaged.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = map_path(home);
        let Some(text) = atomic::read(&path)? else { return Ok(Self::default()) };
        // The error of the parser could repeat a token.
        serde_json::from_str(&text).map_err(|_| {
            Error::new(ErrorKind::Conflict, format!("{} is damaged", path.display()))
                .hint("Repair the file, or remove it and run `commonbook setup` again.")
        })
    }

    /// Writes the map. The caller holds the lock of the setup.
    ///
    /// # Errors
    /// `unavailable` if it cannot be written.
    pub(crate) fn write(&self, home: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::conflict("cannot encode the map").with_cause(error))?;
        StagedFile::write(&map_path(home), &(text + "\n"))?.replace_target()
    }
}

fn map_path(home: &Path) -> PathBuf {
    home.join("servers.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_one_form_and_no_secret() {
        for url in
            ["https://book.example/x", "https://book.example/x/", "https://book.example/x/mcp"]
        {
            assert_eq!(ServerAddress::parse(url).unwrap().url, "https://book.example/x");
        }
        for url in [
            "",
            "book.example",
            "ftp://book.example",
            "https://ann:hunter2@book.example",
            "http://h?t=1",
        ] {
            let message = ServerAddress::parse(url).err().unwrap().message;
            assert!(!message.contains("hunter2"), "{message}");
        }
        let local = |url: &str| ServerAddress::parse(url).unwrap().is_loopback();
        assert!(
            local("http://127.0.0.1:7077") && local("http://[::1]:1") && local("http://localhost")
        );
        assert!(!local("https://book.example"));
    }

    #[test]
    fn the_environment_precedes_the_project_and_that_the_client() {
        let home = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(home.path()).unwrap();
        let address = |host: &str| ServerAddress::parse(&format!("https://{host}")).unwrap();
        let mut map = ServerMap::default();
        map.clients.insert("codex".to_owned(), address("client"));
        map.write(home.path()).unwrap();
        let mut config = Config {
            home: Some(home.path().to_owned()),
            folder: Some(root.clone()),
            token: Some(SecretString("secret".to_owned())),
            ..Config::default()
        };
        let find = |config: &Config, client: Option<&str>| {
            let found = ServerAddress::of(config, client).unwrap();
            found.map(|address| (address.url, address.headers[AUTHORIZATION].clone()))
        };
        let with = |host: &str| Some((format!("https://{host}"), "Bearer secret".to_owned()));
        assert_eq!(find(&config, None), None, "the command line is not that client");
        assert_eq!(find(&config, Some("gemini")), None);
        assert_eq!(find(&config, Some("codex")), with("client"));
        map.projects.insert(root, address("project"));
        map.write(home.path()).unwrap();
        assert_eq!(find(&config, None), with("project"));
        assert_eq!(find(&config, Some("codex")), with("project"));
        config.url = Some("https://environment/mcp".to_owned());
        assert_eq!(find(&config, Some("codex")), with("environment"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(map_path(home.path())).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
