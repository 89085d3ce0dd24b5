//! The request of a page: who looks at which workspace, and what the URL says.

use axum::http::header;
use axum::http::request::Parts;
use commonbook::Commonbook;
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::access;
use commonbook::model::caller::Caller;
use commonbook::model::event::{EventFilter, ResumeToken};
use commonbook::model::workspace::Workspace;
use commonbook::verbs::names;
use jiff::Timestamp;
use maud::Markup;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::calls::verb;
use crate::http::gate::DASHBOARD_PATH;
use crate::settings::config::Config;

/// The fields of a form that are not part of the request.
pub(super) const FORM_TOKEN_FIELD: &str = "form_token";
pub(super) const BACK_FIELD: &str = "back";
/// What follows the name of a list whose items stand on lines of their own, in a form: an item may then
/// contain a comma.
pub(super) const LINES_SUFFIX: &str = ".lines";
/// What follows the name of a field of which a form may send several values: the verb is called once for each.
pub(super) const EACH_SUFFIX: &str = ".each";
/// The field of a form that acts on the rows that are chosen, also when none is.
pub(super) const BULK_FIELD: &str = "bulk";
/// The query parameter with the verb that a form has just called.
pub(super) const DONE_PARAMETER: &str = "done";
/// The query parameter of a page whose form showed what has changed since.
pub(super) const CHANGED_PARAMETER: &str = "changed";

/// A call of a verb that a page makes, or that one of its forms makes.
pub(super) struct SameCall {
    pub(super) verb: &'static str,
    pub(super) request: Value,
    /// The words of the command behind `commonbook`; empty if the command line has none.
    pub(super) command: Vec<String>,
}

impl SameCall {
    /// A call with the words of its command.
    pub(super) fn new(verb: &'static str, request: Value, command: &[&str]) -> Self {
        Self { verb, request, command: command.iter().map(|word| (*word).to_owned()).collect() }
    }
}

/// The main part of a page, and what stands around it.
pub(super) struct PageContent {
    /// The title of the page, and of the browser's tab.
    pub(super) title: String,
    pub(super) main: Markup,
    /// How to do the same through other doors.
    pub(super) same: Vec<SameCall>,
}

/// A page of the dashboard.
pub(super) struct DashboardPage {
    /// Its part of the path.
    pub(super) path: &'static str,
    pub(super) title: &'static str,
    /// The letter that leads to it, behind `g`; empty if it is not in the navigation.
    pub(super) key: &'static str,
    /// Whether the navigation separates it from the page before.
    pub(super) begins_group: bool,
    pub(super) show: fn(&PageRequest) -> Result<PageContent>,
    /// Shows one thing of the page, which the path names.
    pub(super) show_item: Option<fn(&PageRequest, &str) -> Result<PageContent>>,
}

/// A request for a page.
pub(super) struct PageRequest {
    book: Commonbook,
    config: Config,
    pub(super) page: &'static DashboardPage,
    /// The thing that the page is about: the part of the path behind the page.
    pub(super) item: Option<String>,
    query: Vec<(String, String)>,
    /// The token of the forms of this browser.
    pub(super) form_token: String,
    /// The address of this server, as the browser calls it.
    pub(super) origin: String,
    /// The colours that the person chose; those of the system if none.
    pub(super) theme: Option<&'static str>,
    pub(super) now: Timestamp,
    caller: Option<Caller>,
}

impl PageRequest {
    /// Reads what the URL says.
    ///
    /// # Errors
    /// `invalid` if a parameter is not UTF-8.
    pub(super) fn new(
        book: Commonbook,
        config: &Config,
        page: &'static DashboardPage,
        item: Option<String>,
        parts: &Parts,
        form_token: String,
    ) -> Result<Self> {
        let mut query = Vec::new();
        for (name, value) in
            form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
        {
            if value.contains(char::REPLACEMENT_CHARACTER) {
                return Err(Error::invalid(&name, "the value is not UTF-8"));
            }
            // A form sends its empty inputs too.
            if !value.is_empty() {
                query.push((name.into_owned(), value.into_owned()));
            }
        }
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let origin = format!("http://{}", host.unwrap_or("127.0.0.1:7077"));
        let cookies = parts.headers.get(header::COOKIE).and_then(|line| line.to_str().ok());
        let has = |theme: &str| {
            cookies.is_some_and(|line| line.contains(&format!("commonbook_theme={theme}")))
        };
        let theme = ["dark", "light"].into_iter().find(|theme| has(theme));
        let now = SystemClock.now();
        let config = config.clone();
        Ok(Self { book, config, page, item, query, form_token, origin, theme, now, caller: None })
    }

    /// The same request, of this caller.
    pub(super) fn for_caller(self, caller: &Caller) -> Self {
        Self { caller: Some(caller.clone()), ..self }
    }

    /// The end of the journal before the page is made: it may lack what happens from here on.
    ///
    /// # Errors
    /// Those of reading the journal.
    pub(super) fn journal_position(&self) -> Result<ResumeToken> {
        let filter = EventFilter::default();
        let batch = self.book.follow_events(self.caller()?, &filter, None, 0)?;
        Ok(ResumeToken::new(batch.end, &batch.history))
    }

    /// The content of the page.
    ///
    /// # Errors
    /// Those of the verbs that the page calls.
    pub(super) fn content(&self) -> Result<PageContent> {
        match (&self.item, self.page.show_item) {
            (None, _) => (self.page.show)(self),
            (Some(item), Some(show_item)) => show_item(self, item),
            (Some(item), None) => {
                let message = format!("the page {} has no part {item:?}", self.page.path);
                Err(Error::not_found(message).hint("Follow a link of the page instead."))
            }
        }
    }

    /// Who looks at the page.
    ///
    /// # Errors
    /// `internal` before [`Self::for_caller`].
    pub(super) fn caller(&self) -> Result<&Caller> {
        self.caller
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the page has no caller"))
    }

    /// The workspace of the page.
    ///
    /// # Errors
    /// As [`Self::caller`].
    pub(super) fn workspace(&self) -> Result<&Workspace> {
        Ok(&self.caller()?.workspace)
    }

    /// Whether a call over HTTP needs a token.
    pub(super) fn needs_token(&self) -> bool {
        self.book.admit(None, self.config.hosts.is_some()).is_err()
    }

    /// Calls a verb of the registry as the person who looks.
    ///
    /// # Errors
    /// Those of the verb; `internal` if the registry has no such verb.
    pub(super) fn call<T: DeserializeOwned>(&self, verb: &str, request: Value) -> Result<T> {
        T::deserialize(&self.response(verb, request)?).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("the page cannot read the response of {verb}"))
                .with_cause(error)
        })
    }

    fn response(&self, verb: &str, request: Value) -> Result<Value> {
        let unknown = || Error::new(ErrorKind::Internal, format!("no verb is called {verb}"));
        let found = verb::find(verb).ok_or_else(unknown)?;
        self.config.admit(found)?;
        found.call.run(&self.book, self.caller()?, request)
    }

    /// The workspaces that the caller may look at, by their names.
    ///
    /// # Errors
    /// As [`Self::caller`]; `unavailable` if the store cannot be read.
    pub(super) fn workspaces(&self) -> Result<Vec<Workspace>> {
        match access::may_roam(self.caller()?) {
            Ok(()) => self.book.store().read(|tx| tx.workspaces()),
            Err(_) => Ok(vec![self.workspace()?.clone()]),
        }
    }

    /// The library, for what is no verb.
    pub(super) fn book(&self) -> &Commonbook {
        &self.book
    }

    /// The settings of the server.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The value of a parameter of the URL.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The parameters of the URL.
    pub(super) fn query(&self) -> &[(String, String)] {
        &self.query
    }

    /// The path of a page or of a thing on it, in the same workspace: `memories`, `memories/mem_…`.
    pub(super) fn path(&self, page: &str) -> String {
        match &self.caller {
            Some(caller) => path_in(&caller.workspace, page),
            None => format!("{DASHBOARD_PATH}/w/default/{page}"),
        }
    }

    /// The path of a thing on a page.
    pub(super) fn item_path(&self, page: &str, item: &str) -> String {
        self.path(&format!("{page}/{}", path_segment(item)))
    }

    /// The path of a page with these parameters.
    pub(super) fn path_with(&self, page: &str, parameters: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        format!("{}?{}", self.path(page), query.finish())
    }

    /// The path of this page without its parameters.
    pub(super) fn own_path(&self) -> String {
        match &self.item {
            Some(item) => self.item_path(self.page.path, item),
            None => self.path(self.page.path),
        }
    }

    /// This page with other values of some parameters; `None` removes one.
    pub(super) fn here_with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let is_changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
        let kept = self.query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let once = [DONE_PARAMETER, CHANGED_PARAMETER];
        let kept = kept.filter(|(name, _)| !is_changed(name) && !once.contains(name));
        let set = changes.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(kept).extend_pairs(set);
        match query.finish() {
            query if query.is_empty() => self.own_path(),
            query => format!("{}?{query}", self.own_path()),
        }
    }

    /// The path to which a form that calls this verb is sent.
    pub(super) fn act_path(&self, verb: &str) -> String {
        debug_assert!(is_form_verb(verb), "the door of the forms refuses {verb}");
        self.path(&format!("do/{verb}"))
    }
}

/// The verbs that forms of the pages call. A request for another one comes from no page.
const FORM_VERBS: [&str; 47] = [
    names::ACCEPT_HANDOFF,
    names::ACKNOWLEDGE_OUTDATED,
    names::ADD_RELATION,
    names::ADD_STANDING,
    names::AGREE_STANDING,
    names::ALLOW_FORGOTTEN,
    names::ANSWER_PAIR,
    names::APPEND_ENTRY,
    names::ARCHIVE_CASE,
    names::BRANCH_CASE,
    names::CLEAN_STANDING,
    names::CLOSE_CASE,
    names::COMPLETE_HANDOFF,
    names::CONSOLIDATE_MEMORY,
    names::CREATE_HANDOFF,
    names::CREATE_TOKEN,
    names::DECIDE_PROPOSAL,
    names::DECIDE_REVIEW,
    names::DELETE_ENTITY,
    names::DELETE_MEMORY,
    names::DIGEST_CASE,
    names::FORGET_MEMORY,
    names::INIT_STANDING,
    names::MARK_READ,
    names::MERGE_CASE,
    names::MERGE_ENTITIES,
    names::OPEN_CASE,
    names::REJECT_HANDOFF,
    names::RELEASE_MEMORY,
    names::REMOVE_RELATION,
    names::REMOVE_STANDING,
    names::RENAME_ENTITY,
    names::REOPEN_CASE,
    names::REOPEN_CONTRADICTION,
    names::RESOLVE_CONTRADICTION,
    names::RESOLVE_ENTITY,
    names::RESTORE_ENTITY,
    names::RESTORE_MEMORY,
    names::RESTORE_STANDING,
    names::RETRACT_MEMORY,
    names::RETRY_DELIVERY,
    names::REVOKE_TOKEN,
    names::SAVE_MEMORY,
    names::UNMERGE_ENTITIES,
    names::UPDATE_CASE,
    names::UPDATE_MEMORY,
    names::WITHDRAW_HANDOFF,
];

/// Whether a form may call a verb.
pub(super) fn is_form_verb(name: &str) -> bool {
    FORM_VERBS.contains(&name)
}

/// The items of a list that has one on each line.
pub(super) fn items_on_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|item| !item.is_empty())
}

/// The path of a page of a workspace.
pub(super) fn path_in(workspace: &Workspace, page: &str) -> String {
    format!("{DASHBOARD_PATH}/w/{}/{page}", path_segment(workspace.as_str()))
}

/// A text as one part of a path.
pub(super) fn path_segment(text: &str) -> String {
    // A space is `+` in a form, and `%20` in a path.
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// A path of the dashboard; `None` for any other text, which could lead away from it.
pub(super) fn own_path(text: &str) -> Option<&str> {
    let is_own = text == DASHBOARD_PATH
        || text.strip_prefix(DASHBOARD_PATH).is_some_and(|rest| rest.starts_with(['/', '?']));
    Some(text).filter(|_| is_own && !text.contains(['\\', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_of_the_dashboard_is_a_target() {
        for own in ["/dashboard", "/dashboard/w/default/now", "/dashboard?x=1"] {
            assert_eq!(own_path(own), Some(own));
        }
        for other in [
            "",
            "/",
            "//evil.example",
            "/dashboardevil",
            "https://evil.example/dashboard",
            "/dashboard/\\evil",
        ] {
            assert_eq!(own_path(other), None, "{other}");
        }
    }

    #[test]
    fn every_form_of_a_page_calls_a_verb_of_the_list() {
        let pages =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/doors/dashboard/pages");
        let mut named = std::collections::BTreeSet::new();
        for page in std::fs::read_dir(pages).unwrap() {
            let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
            let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
            for start in ["act_path(", "act_button(request, ", "(step("] {
                let calls =
                    text.split(start).skip(1).filter_map(|call| call.strip_prefix("names::"));
                let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
                let verbs = calls.filter_map(|call| call.split(|c| !is_name(c)).next());
                named.extend(verbs.map(str::to_lowercase));
            }
        }
        let listed: std::collections::BTreeSet<String> = FORM_VERBS.map(str::to_owned).into();
        let unlisted: Vec<&String> = named.difference(&listed).collect();
        assert!(unlisted.is_empty() && named.len() > 30, "{unlisted:?} of {named:?}");
        for verb in FORM_VERBS {
            assert!(
                crate::calls::verb::find(verb).is_some_and(crate::calls::verb::Verb::writes),
                "{verb}"
            );
        }
    }
}
