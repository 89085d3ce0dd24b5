//! Signing in: by a link that the command line makes, or by a token. A cookie, sealed by the key of the
//! home, says who signed in.
//!
//! Without tokens a person proves to be the one with access to the home: only there is the key that
//! seals the link. With tokens, the cookie holds the id of the token, which is checked at each request.
//!
//! Links that were opened and cookies that were signed out are files of the home, so that every process
//! on it knows them.

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_system::{private_folder, private_options, sync_folder};
use commonbook::base::home_key::{HomeKey, hex};
use commonbook::base::id::{Id, RandomIds, RequestKind, TokenId};
use commonbook::model::workspace::Workspace;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::response::add_page_headers;
use crate::http::gate::DASHBOARD_PATH;
use crate::settings::config::Config;

/// The name of the cookie.
pub(super) const COOKIE: &str = "commonbook_dashboard";

/// How long a link can be opened.
const LINK_LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// How long a browser stays signed in.
const COOKIE_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What the key of the home seals, each for its own purpose.
const LINK_PURPOSE: &str = "dashboard link";
const COOKIE_PURPOSE: &str = "dashboard cookie";
const FORM_PURPOSE: &str = "dashboard form";

/// The folder of the home with a file for each link that was opened and each cookie that was signed out.
const SPENT_FOLDER: &str = "sign-ins";

/// The content of a link: one browser can open it once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SignInLink {
    nonce: String,
    until: Timestamp,
}

impl SignInLink {
    /// The path of a new link to the first page of this workspace.
    ///
    /// # Errors
    /// `unavailable` if the key of the home cannot be read or created.
    pub(crate) fn new_path(home: &FilePath, workspace: &Workspace) -> Result<String> {
        let key = HomeKey::open(home)?;
        let now = SystemClock.now();
        let link = Self { nonce: new_nonce(now), until: now + LINK_LIFETIME };
        let content = serde_json::to_string(&link).unwrap_or_default();
        let code = key.seal(LINK_PURPOSE, &content);
        Ok(format!("{DASHBOARD_PATH}/sign-in?code={code}&workspace={workspace}"))
    }
}

/// Who signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SignInCookie {
    /// The token; without one it is the person with access to the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<TokenId>,
    nonce: String,
    until: Timestamp,
}

/// The key of the home, and what it has sealed that is spent.
pub(super) struct SignIn {
    key: HomeKey,
    pub(super) exposed: bool,
    spent: Option<SpentNonces>,
}

/// The nonces of links that were opened and of cookies that were signed out: each is a file.
struct SpentNonces {
    folder: PathBuf,
}

impl SpentNonces {
    /// Spends a nonce; false if it was spent before.
    fn spend(&self, nonce: &str) -> Result<bool> {
        let created = private_folder(&self.folder).and_then(|()| {
            self.drop_expired();
            let mut options = private_options();
            options.write(true).create_new(true).open(self.folder.join(nonce))?.sync_all()?;
            sync_folder(&self.folder)
        });
        match created {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => {
                let message = format!("cannot write {}: {error}", self.folder.display());
                Err(Error::new(ErrorKind::Unavailable, message)
                    .hint("Check the rights of the home folder.")
                    .with_cause(error))
            }
        }
    }

    fn is_spent(&self, nonce: &str) -> bool {
        self.folder.join(nonce).exists()
    }

    /// Removes those that nothing sealed can name any more.
    fn drop_expired(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries {
            let written = entry.metadata().and_then(|found| found.modified()).ok();
            let written = written.and_then(|at| Timestamp::try_from(at).ok());
            if written.is_some_and(|at| SystemClock.now().duration_since(at) > COOKIE_LIFETIME) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }
}

fn new_nonce(now: Timestamp) -> String {
    Id::<RequestKind>::new(&RandomIds::default(), now).to_string()
}

impl SignIn {
    /// With the key of this home.
    ///
    /// # Errors
    /// `unavailable` if the key cannot be read or created.
    pub(super) fn open(config: &Config, exposed: bool) -> Result<Self> {
        let key = match &config.home {
            Some(home) => HomeKey::open(home)?,
            None => HomeKey::random()?,
        };
        let folder = config.home.as_ref().map(|home| home.join(SPENT_FOLDER));
        Ok(Self { key, exposed, spent: folder.map(|folder| SpentNonces { folder }) })
    }

    /// The token of every form of this browser: only its own pages know it.
    pub(super) fn form_token(&self, headers: &HeaderMap) -> String {
        let cookie = cookie_text(headers).unwrap_or_default();
        hex(&self.key.sign(&format!("{FORM_PURPOSE}\n{cookie}")))
    }

    /// Who the browser signed in as, until the cookie expires or is signed out.
    pub(super) fn cookie(&self, headers: &HeaderMap) -> Option<SignInCookie> {
        let content = self.key.unseal(COOKIE_PURPOSE, cookie_text(headers)?)?;
        let cookie: SignInCookie = serde_json::from_str(&content).ok()?;
        let is_spent = self.spent.as_ref().is_some_and(|spent| spent.is_spent(&cookie.nonce));
        (cookie.until > SystemClock.now() && !is_spent).then_some(cookie)
    }

    /// Signs the browser out: its cookie is worth nothing from now on.
    ///
    /// # Errors
    /// `unavailable` if the home cannot be written.
    pub(super) fn end(&self, headers: &HeaderMap) -> Result<()> {
        if let (Some(cookie), Some(spent)) = (self.cookie(headers), &self.spent) {
            spent.spend(&cookie.nonce)?;
        }
        Ok(())
    }

    /// Opens a link.
    ///
    /// # Errors
    /// `unauthenticated` if it is not a link of this home, has expired, or was opened before; `unavailable`
    /// if the home cannot be written.
    pub(super) fn open_link(&self, code: &str) -> Result<()> {
        let refused =
            |reason: &str| Error::new(ErrorKind::Unauthenticated, reason).hint(NEW_LINK_HINT);
        let content = self.key.unseal(LINK_PURPOSE, code);
        let link = content.and_then(|content| serde_json::from_str::<SignInLink>(&content).ok());
        let link = link.ok_or_else(|| refused("this is not a link of this home"))?;
        if link.until <= SystemClock.now() {
            return Err(refused("the link has expired"));
        }
        let spent =
            self.spent.as_ref().ok_or_else(|| refused("this is not a link of this home"))?;
        match spent.spend(&link.nonce)? {
            true => Ok(()),
            false => Err(refused("the link was opened before")),
        }
    }

    /// The response that signs a browser in and leads it to a page.
    pub(super) fn welcome(
        &self,
        token: Option<TokenId>,
        target: &str,
        request: &HeaderMap,
    ) -> Response {
        let now = SystemClock.now();
        let cookie = SignInCookie { token, nonce: new_nonce(now), until: now + COOKIE_LIFETIME };
        let content = serde_json::to_string(&cookie).unwrap_or_default();
        let sealed = self.key.seal(COOKIE_PURPOSE, &content);
        let encrypted = request.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let secure = if encrypted { "; Secure" } else { "" };
        let seconds = COOKIE_LIFETIME.as_secs();
        let cookie = format!(
            "{COOKIE}={sealed}; Path={DASHBOARD_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        );
        redirect_with_cookie(target, &cookie)
    }
}

pub(super) const NEW_LINK_HINT: &str = "Run `commonbook dashboard` for a new link.";

/// Leads a browser to a page with this cookie.
pub(super) fn redirect_with_cookie(target: &str, cookie: &str) -> Response {
    let mut response = Redirect::to(target).into_response();
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    add_page_headers(response.headers_mut());
    response
}

/// The text of our cookie.
fn cookie_text(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process on a home.
    fn sign_in(home: &FilePath) -> SignIn {
        let config = Config { home: Some(home.to_owned()), ..Config::default() };
        SignIn::open(&config, false).unwrap()
    }

    #[test]
    fn a_link_opens_once_before_it_expires() {
        let home = tempfile::tempdir().unwrap();
        let (sign_in, other) = (sign_in(home.path()), sign_in(home.path()));
        let code = |until: Timestamp| {
            let link = SignInLink { nonce: "n".to_owned(), until };
            sign_in.key.seal(LINK_PURPOSE, &serde_json::to_string(&link).unwrap())
        };
        let now = SystemClock.now();
        let (valid, late) = (code(now + LINK_LIFETIME), code(now - LINK_LIFETIME));
        assert!(sign_in.open_link(&late).unwrap_err().message.contains("expired"));
        assert!(sign_in.open_link(&valid).is_ok());
        for process in [&sign_in, &other] {
            assert!(process.open_link(&valid).unwrap_err().message.contains("before"));
        }
        let cookie =
            sign_in.key.seal(COOKIE_PURPOSE, r#"{"nonce":"m","until":"2999-01-01T00:00:00Z"}"#);
        assert!(sign_in.open_link(&cookie).is_err(), "a cookie is no link");
    }

    #[test]
    fn a_cookie_names_who_signed_in_until_it_expires() {
        let home = tempfile::tempdir().unwrap();
        let (sign_in, other) = (sign_in(home.path()), sign_in(home.path()));
        let headers = |until: &str| {
            let content = format!(r#"{{"nonce":"{}","until":"{until}"}}"#, &until[..4]);
            let sealed = sign_in.key.seal(COOKIE_PURPOSE, &content);
            let line = format!("theme=dark; {COOKIE}={sealed}");
            HeaderMap::from_iter([(header::COOKIE, HeaderValue::try_from(line).unwrap())])
        };
        assert!(sign_in.cookie(&headers("2999-01-01T00:00:00Z")).is_some());
        assert!(sign_in.cookie(&headers("2020-01-01T00:00:00Z")).is_none());
        assert!(sign_in.cookie(&HeaderMap::new()).is_none());
        assert_ne!(
            sign_in.form_token(&headers("2999-01-01T00:00:00Z")),
            sign_in.form_token(&headers("2998-01-01T00:00:00Z")),
            "each browser has forms of its own"
        );
        sign_in.end(&headers("2999-01-01T00:00:00Z")).unwrap();
        for process in [&sign_in, &other] {
            assert!(process.cookie(&headers("2999-01-01T00:00:00Z")).is_none(), "it is signed out");
            assert!(process.cookie(&headers("2998-01-01T00:00:00Z")).is_some());
        }
    }
}
